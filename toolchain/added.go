package toolchain

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"optcheck/internal/input"
	"optcheck/internal/toolname"
	"optcheck/internal/whole"
)

// addedSource is the Source of toolchains in folders that were added.
const addedSource = "added"

// addedName is the file, in the managed folder, that lists folders that were added.
const addedName = "added.json"

// addedFolder is a folder of compilers that somebody added, and who they were then.
type addedFolder struct {
	Dir       string   `json:"dir"`
	Compilers []string `json:"compilers"` // names of toolchains: "cuda-13.0"
}

func readAdded(managed string) ([]addedFolder, error) {
	path := filepath.Join(managed, addedName)
	data, err := input.ReadFile(path, maxRecord)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	var list []addedFolder
	if err := json.Unmarshal(data, &list); err != nil {
		return nil, fmt.Errorf("%s: %w (remove it, and add the folders again)", path, err)
	}
	return list, nil
}

func writeAdded(managed string, list []addedFolder) error {
	data, err := json.MarshalIndent(list, "", "\t")
	if err != nil {
		return err
	}
	return whole.WriteSynced(managed, filepath.Join(managed, addedName), append(data, '\n'), 0o644)
}

// added lists the folders that were added. A list that cannot be read is a place that
// has nothing, which somebody has asked for.
func (o Options) added() (all []place) {
	managed := cmp.Or(o.Managed, ManagedDir(o.env))
	if managed == "" || o.DirsOnly {
		return nil
	}
	list, err := readAdded(managed)
	if err != nil {
		return []place{{dir: filepath.Join(managed, addedName), source: addedSource, must: true}}
	}
	for _, f := range list {
		all = append(all, place{dir: f.Dir, source: addedSource, must: true})
	}
	return all
}

// Add makes compilers known that are on this machine: the path of a ptxas or clang, a
// folder that holds compilers, a toolkit, or a folder above several is noted where it
// is; the tools of NVIDIA's in a Debian package, a wheel or a redistributable archive are
// unpacked into the managed folder with their hashes, one release each (ptxas and
// nvdisasm may be in two archives). It returns what is known now of these. Nothing is
// added where something is no compiler or does not answer.
func Add(ctx context.Context, paths []string, o InstallOptions) ([]*Toolchain, error) {
	o, err := o.withDir()
	if err != nil {
		return nil, err
	}
	if err := os.MkdirAll(o.Dir, 0o755); err != nil {
		return nil, err
	}
	var archives, folders []string
	for _, path := range paths {
		if archiveKind(path) != "" {
			archives = append(archives, path)
			continue
		}
		folders = append(folders, compilerFolders(path)...)
	}
	noted, err := o.note(ctx, folders)
	if err != nil {
		return nil, err
	}
	unpacked, err := o.unpackArchives(ctx, archives)
	if err != nil {
		return nil, err
	}
	return o.known(ctx, append(noted, unpacked...)), nil
}

// withDir fills in the managed folder.
func (o InstallOptions) withDir() (InstallOptions, error) {
	if o.Dir = cmp.Or(o.Dir, ManagedDir(os.Getenv)); o.Dir == "" {
		return o, errors.New("no folder to install to: neither XDG_CACHE_HOME nor HOME is set")
	}
	if o.Runner == nil {
		o.Runner = DefaultRunner()
	}
	dir, err := filepath.Abs(o.Dir)
	o.Dir = dir
	return o, err
}

// note adds folders to the list, if all of them hold compilers that answer.
func (o InstallOptions) note(ctx context.Context, folders []string) ([]string, error) {
	if len(folders) == 0 {
		return nil, nil
	}
	list, err := readAdded(o.Dir)
	if err != nil {
		return nil, err
	}
	for _, dir := range folders {
		only := Options{Dirs: []string{dir}, DirsOnly: true, Managed: o.Dir, Runner: o.Runner}
		found, errs := Discover(ctx, only)
		llvm, more := DiscoverLLVM(ctx, only)
		fronts, most := DiscoverFronts(ctx, only)
		if err := errors.Join(DistinctErrors(slices.Concat(errs, more, most))...); err != nil {
			return nil, err
		}
		f := addedFolder{Dir: dir}
		for _, t := range slices.Concat(found, llvm, fronts) {
			f.Compilers = append(f.Compilers, t.Name)
		}
		if len(f.Compilers) == 0 {
			return nil, fmt.Errorf("%s: its compiler has none of the targets that are audited", dir)
		}
		list = slices.DeleteFunc(list, func(x addedFolder) bool { return x.Dir == dir })
		list = append(list, f)
	}
	return folders, writeAdded(o.Dir, list)
}

// known lists the toolchains in folders, among all of this machine.
func (o InstallOptions) known(ctx context.Context, folders []string) (out []*Toolchain) {
	all := Options{Managed: o.Dir, Runner: o.Runner}
	every := discoverEach(ctx, all) // what else is wrong on this machine is for others to say
	for _, dir := range folders {
		only := Options{Dirs: []string{dir}, DirsOnly: true, Managed: o.Dir, Runner: o.Runner}
		for _, x := range discoverEach(ctx, only) {
			tool := x.Compilers()[0].Tool
			i := slices.IndexFunc(every, func(t *Toolchain) bool {
				return t.Version == x.Version && t.Build == x.Build && t.Compilers()[0].Tool == tool
			})
			if i >= 0 {
				out = append(out, every[i])
			}
		}
	}
	return out
}

// discoverEach finds compilers of all kinds, each alone.
func discoverEach(ctx context.Context, o Options) []*Toolchain {
	cuda, _ := Discover(ctx, o)
	llvm, _ := DiscoverLLVM(ctx, o)
	fronts, _ := DiscoverFronts(ctx, o)
	return slices.Concat(cuda, llvm, fronts)
}

// Remove forgets folders that were added, by their paths or the names of their
// compilers, and deletes what was installed or unpacked under a name. It returns what
// it did to each, in words; a name that means nothing is an error, and then nothing is done.
func Remove(managed string, names []string) (did []string, err error) {
	list, err := readAdded(managed)
	if err != nil {
		return nil, err
	}
	var trees []string
	gone := make([]bool, len(list))
	for _, name := range names {
		hit := false
		for i, f := range list {
			if f.means(name) {
				gone[i], hit = true, true
			}
		}
		found := installedTrees(managed, name)
		if len(found) > 1 {
			return nil, fmt.Errorf("%s may be %s or %s: say which", name, filepath.Base(found[0]), filepath.Base(found[1]))
		}
		trees, hit = append(trees, found...), hit || len(found) > 0
		if !hit {
			return nil, fmt.Errorf("%s is neither installed nor added (%s)", name, removable(managed, list))
		}
	}
	kept := []addedFolder{}
	for i, f := range list {
		if !gone[i] {
			kept = append(kept, f)
			continue
		}
		did = append(did, fmt.Sprintf("%s is not looked at any more; nothing in it was touched", f.Dir))
	}
	if len(kept) < len(list) {
		if err := writeAdded(managed, kept); err != nil {
			return nil, err
		}
	}
	for _, tree := range trees {
		if err := os.RemoveAll(tree); err != nil {
			return did, err
		}
		forgetVerified(tree)
		did = append(did, tree+" is deleted")
	}
	return did, nil
}

func (f *addedFolder) means(name string) bool {
	if abs, err := filepath.Abs(name); err == nil && (abs == f.Dir || filepath.Join(abs, "bin") == f.Dir || filepath.Dir(abs) == f.Dir) {
		return true
	}
	return slices.Contains(f.Compilers, name) || slices.Contains(f.Compilers, "cuda-"+name) || slices.Contains(f.Compilers, "llvm-"+name)
}

// installedTrees are the folders of the installations that a name stands for: the one that has it, or its version.
func installedTrees(managed, name string) (trees []string) {
	for _, root := range input.Glob(managed, "*", "root") {
		tree := filepath.Dir(root)
		switch folder := filepath.Base(tree); {
		case strings.HasPrefix(folder, "."):
		case folder == name || folder == "cuda-"+name || folder == "llvm-"+name:
			return []string{tree}
		case toolname.Installed(name, folder):
			trees = append(trees, tree)
		}
	}
	return trees
}

// removable lists what could be removed.
func removable(managed string, list []addedFolder) string {
	var names []string
	roots := input.Glob(managed, "*", "root")
	for _, r := range roots {
		names = append(names, filepath.Base(filepath.Dir(r)))
	}
	for _, f := range list {
		names = append(names, strings.Join(f.Compilers, " and ")+" in "+f.Dir)
	}
	if names == nil {
		return "nothing is"
	}
	return "there are " + strings.Join(names, ", ")
}
