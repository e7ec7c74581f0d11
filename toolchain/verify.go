package toolchain

import (
	"context"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"

	"optcheck/internal/input"
	"optcheck/internal/whole"
)

// Installed is the record of one installation, kept in installed.json.
type Installed struct {
	Name    string `json:"name"`
	Package string `json:"package,omitempty"`
	Version string `json:"version,omitempty"` // of the package
	SHA256  string `json:"sha256,omitempty"`  // of the package file, as apt's signed index has it
	// Archives are the files that somebody added, by their base names, with their SHA-256.
	Archives map[string]string `json:"archives,omitempty"`
	Ptxas    string            `json:"ptxas,omitempty"` // version, asked after unpacking
	Clang    string            `json:"clang,omitempty"` // likewise
	Nvcc     string            `json:"nvcc,omitempty"`  // likewise
	// Packages are the versions of all packages of an installation of several.
	Packages map[string]string `json:"packages,omitempty"`
	// Files are all files of the installation: by their names below it the
	// SHA-256, or of a link "-> " and where it leads. Whatever is there and not
	// here could be loaded by a tool.
	Files map[string]string `json:"files"`
}

// recordName is the file that holds the record, oldRecord one without Files.
const (
	recordName = "installed.json"
	oldRecord  = "install.json"
)

// ErrChanged is a tool that is not what was installed.
var ErrChanged = errors.New("has changed since it was installed")

// maxRecord bounds records of installations, in bytes: those of a whole LLVM have 2 MB.
const maxRecord = 256 << 20

// hasher gives the hash of a file.
type hasher func(path string) (string, error)

func hashOf(path string) (string, error) {
	sum, err := hashFile(path)
	return hex.EncodeToString(sum), err
}

// files lists what is in an installation, but for its records.
func files(tree string, hash hasher) (map[string]string, error) {
	out := map[string]string{}
	err := input.Walk(tree, func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		name, err := filepath.Rel(tree, path)
		if err != nil || name == recordName || name == oldRecord {
			return err
		}
		var what string
		switch {
		case d.Type() == fs.ModeSymlink:
			what, err = os.Readlink(path)
			what = "-> " + what
		case d.Type().IsRegular():
			what, err = hash(path)
		default:
			what = d.Type().String()
		}
		out[filepath.ToSlash(name)] = what
		return err
	})
	return out, err
}

// record notes what was installed in a tree.
func record(tree string, r Installed) error {
	var err error
	if r.Files, err = files(tree, hashOf); err != nil {
		return err
	}
	data, err := json.MarshalIndent(r, "", "\t")
	if err != nil {
		return err
	}
	// Outside of the tree, where a killed installation's files are swept.
	return whole.WriteSynced(filepath.Dir(tree), filepath.Join(tree, recordName), append(data, '\n'), 0o644)
}

// verify compares an installation with its record. The error is ErrChanged if
// they differ, fs.ErrNotExist if there is no record.
func verify(tree string, hash hasher) error {
	data, err := input.ReadFile(filepath.Join(tree, recordName), maxRecord)
	if err != nil {
		return err
	}
	var r Installed
	if err := json.Unmarshal(data, &r); err != nil || len(r.Files) == 0 {
		return fmt.Errorf("%s %w", filepath.Join(tree, recordName), ErrChanged)
	}
	have, err := files(tree, hash)
	if err != nil {
		return err
	}
	all := slices.Sorted(maps.Keys(have))
	all = append(all, slices.Sorted(maps.Keys(r.Files))...)
	for _, name := range all {
		if have[name] != r.Files[name] {
			return fmt.Errorf("%s %w", filepath.Join(tree, filepath.FromSlash(name)), ErrChanged)
		}
	}
	return nil
}

// treeOf is the installation that a tool belongs to, "" if it belongs to none
// that has a record.
func treeOf(path string) string {
	if real, err := filepath.EvalSymlinks(path); err == nil {
		path = real
	}
	i := strings.LastIndex(path, filepath.FromSlash("/root/usr/"))
	if i <= 0 {
		return ""
	}
	if _, err := os.Lstat(filepath.Join(path[:i], recordName)); err != nil {
		return ""
	}
	return path[:i]
}

// putRight says how a broken installation is mended.
func putRight(name string) string {
	if slices.Contains(Available(), name) {
		return "optcheck toolchain install " + name + " puts it right"
	}
	return "optcheck toolchain remove " + name + ", then add its archive again"
}

// verified remembers, by its tree, what was found of an installation, so that a
// process looks at it once: when it first wants to use it.
var verified struct {
	sync.Mutex
	trees map[string]error
}

// forgetVerified has a tree looked at again.
func forgetVerified(tree string) {
	verified.Lock()
	defer verified.Unlock()
	delete(verified.trees, tree)
}

// verifyTool verifies the installation that a tool belongs to, unless this
// process has done so.
func verifyTool(path string, hash hasher) error {
	tree := treeOf(path)
	if tree == "" {
		return nil
	}
	verified.Lock()
	defer verified.Unlock()
	err, known := verified.trees[tree]
	if !known {
		if err = verify(tree, hash); err != nil {
			err = &Error{Kind: ErrInfrastructure, Tool: path, ExitCode: -1,
				Detail: "is not run; " + putRight(filepath.Base(tree)), Err: err}
		}
		if verified.trees == nil {
			verified.trees = map[string]error{}
		}
		verified.trees[tree] = err
	}
	return err
}

// Verification is what Verify found of an installation.
type Verification struct {
	Name  string
	Files int   // of its record
	Err   error // ErrChanged; fs.ErrNotExist: installed by a version that kept no hashes
}

// Verify reads all files of installations in the managed folder and compares them
// with their records. No names mean all; one that is not installed is an error.
func Verify(ctx context.Context, dir string, names []string) ([]Verification, error) {
	if len(names) == 0 {
		roots := input.Glob(dir, "*", "root")
		for _, r := range roots {
			names = append(names, filepath.Base(filepath.Dir(r)))
		}
	}
	var trees []string
	for _, name := range names {
		found := installedTrees(dir, name)
		if len(found) == 0 {
			return nil, fmt.Errorf("%q is not installed in %s", name, dir)
		}
		trees = append(trees, found...)
	}
	slices.Sort(trees)
	var out []Verification
	for _, tree := range slices.Compact(trees) {
		if ctx.Err() != nil {
			return out, ctx.Err()
		}
		v := Verification{Name: filepath.Base(tree)}
		v.Err = verify(tree, func(path string) (string, error) { v.Files++; return hashOf(path) })
		out = append(out, v)
	}
	return out, nil
}
