package toolchain

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"time"

	"optcheck/internal/input"
)

// packaged lists the releases of Debian whose non-free component carries a toolkit, oldest first.
var packaged = []struct{ name, suite string }{
	{"cuda-11.2", "bullseye"},
	{"cuda-11.8", "bookworm"},
	{"cuda-12.4", "trixie"},
	{"cuda-12.5", experimental},
}

// experimental holds what is not in a release yet, and only that: what a package needs beside it is in unstable.
const experimental, unstable = "experimental", "unstable"

// packageName is Debian's package with ptxas, nvdisasm and cuobjdump.
const packageName = "nvidia-cuda-toolkit"

// Available lists the names that Install knows, oldest first.
func Available() []string {
	var names []string
	for _, p := range packaged {
		names = append(names, p.name)
	}
	for _, p := range llvmPackaged {
		names = append(names, "llvm-"+p.major)
	}
	for _, p := range frontPackaged {
		names = append(names, "nvcc-"+p.release)
	}
	return names
}

// Recommended lists what is installed when nothing is named: the CUDA releases of Debian's releases,
// and of LLVM the oldest and newest ones whose code differs most. Front ends, for which
// a gigabyte is read each, are not among them.
func Recommended() []string {
	var names []string
	for _, p := range packaged {
		if p.suite != experimental {
			names = append(names, p.name)
		}
	}
	return append(names, "llvm-14", "llvm-19", "llvm-22")
}

// InstallOptions says where to install to.
type InstallOptions struct {
	// Dir is the managed folder; "": ManagedDir of the environment.
	Dir string
	// Progress receives lines for people; nil: none.
	Progress io.Writer
	// Mirror is the Debian mirror to use; "": the one in this machine's apt
	// configuration.
	Mirror string
	// Runner starts the processes; nil: DefaultRunner.
	Runner *Runner
}

// Install puts a release of LLVM (llvm-19: clang, llc, llvm-objdump, llvm-mc,
// opt, libclc), the compiler and the disassemblers of a CUDA release (cuda-12.4), or its
// compiler of CUDA C++ with the headers (nvcc-12.4), into
// Dir/NAME/root/usr. The latter two are NVIDIA's non-free software; the package's
// copyright file with the licence is put beside them. The package comes from
// the Debian mirror that this machine's apt uses; apt verifies its signature
// and checksum. Nothing else on the machine is changed and no root is needed.
// What is already there and answers is left alone (then done is false); an
// interrupted installation leaves nothing that Discover would find.
func Install(ctx context.Context, name string, o InstallOptions) (done bool, err error) {
	suite, err := suiteOf(name)
	if err != nil {
		return false, err
	}
	if o, err = o.withDir(); err != nil {
		return false, err
	}
	in := &installer{name: name, suite: suite, o: o, r: o.Runner}
	in.what = in
	for _, p := range llvmPackaged {
		if name == "llvm-"+p.major {
			in.what = &llvmInstall{in, p}
		}
	}
	for _, p := range frontPackaged {
		if name == "nvcc-"+p.release {
			in.what = &frontInstall{installer: in, release: p.release}
		}
	}
	done, err = in.install(ctx)
	if err != nil {
		return false, fmt.Errorf("install %s: %w", name, err)
	}
	return done, nil
}

func suiteOf(name string) (string, error) {
	for _, p := range packaged {
		if p.name == name {
			return p.suite, nil
		}
	}
	for _, p := range llvmPackaged {
		if "llvm-"+p.major == name {
			return p.suite, nil
		}
	}
	for _, p := range frontPackaged {
		if "nvcc-"+p.release == name {
			return p.suite, nil
		}
	}
	return "", fmt.Errorf("%q is none of what Debian packages, which is %s; any other release is added from its toolkit, "+
		"package, wheel or archive: optcheck toolchain add PATH", name, strings.Join(Available(), ", "))
}

// installer is one installation under way.
type installer struct {
	name, suite string
	o           InstallOptions
	r           *Runner
	what        product
	work        string // private folder, removed at the end
	apt         []string
}

// product is what is being installed.
type product interface {
	// answers returns the version of what is installed in tree; an error if it
	// is not there or not whole.
	answers(ctx context.Context, tree string) (string, error)
	// build puts it into tree and returns its version.
	build(ctx context.Context, tree string) (string, error)
	// tool is the name of the compiler, describe what is said of it at the end.
	tool() string
	describe(version, final string) []string
}

func (in *installer) tool() string { return "ptxas" }

func (in *installer) describe(version, final string) []string {
	return []string{fmt.Sprintf("installed ptxas %s into %s", version, final),
		"this is NVIDIA's non-free software; its licence is in " + filepath.Join(final, "root", copyrightFile)}
}

func (in *installer) say(format string, args ...any) {
	if in.o.Progress != nil {
		fmt.Fprintf(in.o.Progress, in.name+": "+format+"\n", args...)
	}
}

func (in *installer) install(ctx context.Context) (bool, error) {
	if err := os.MkdirAll(in.o.Dir, 0o755); err != nil {
		return false, err
	}
	unlock, err := in.lock(ctx)
	if err != nil {
		return false, err
	}
	defer unlock()
	in.sweep()
	final := filepath.Join(in.o.Dir, in.name)
	there, err := in.there(ctx, final)
	if there || err != nil {
		return false, err
	}
	if in.work, err = os.MkdirTemp(in.o.Dir, ".new-"+in.name+"-"); err != nil {
		return false, err
	}
	defer os.RemoveAll(in.work)
	tree := filepath.Join(in.work, "tree")
	version, err := in.what.build(ctx, tree)
	if err != nil {
		return false, err
	}
	// What is in the way did not answer; it goes with the work folder.
	if err := os.Rename(final, filepath.Join(in.work, "old")); err != nil && !errors.Is(err, os.ErrNotExist) {
		return false, err
	}
	if err := os.Rename(tree, final); err != nil {
		return false, err
	}
	forgetVerified(final)
	for _, line := range in.what.describe(version, final) {
		in.say("%s", line)
	}
	return true, nil
}

// there reports whether the toolchain is installed, as it was, and answers. What a
// version installed that kept no hashes is taken as it is found.
func (in *installer) there(ctx context.Context, final string) (bool, error) {
	err := verify(final, hashOf)
	old := errors.Is(err, os.ErrNotExist)
	if err != nil && !old {
		in.say("%v: it is installed anew", err)
		return false, nil
	}
	forgetVerified(final)
	v, err := in.what.answers(ctx, final)
	if err != nil {
		return false, nil
	}
	in.say("already there: %s %s", in.what.tool(), v)
	if !old {
		return true, nil
	}
	what := Installed{Name: in.name}
	if data, err := input.ReadFile(filepath.Join(final, oldRecord), maxRecord); err == nil {
		_ = json.Unmarshal(data, &what) // what it says is for people
	}
	return true, record(final, what)
}

// lock makes sure that one process at a time installs this toolchain. The lock
// goes with the process, however it ends; its file stays.
func (in *installer) lock(ctx context.Context) (func(), error) {
	path := filepath.Join(in.o.Dir, ".lock-"+in.name)
	f, err := input.Update(path, 0o644)
	if err != nil {
		return nil, err
	}
	for waiting := false; ; waiting = true {
		ok, err := lockFile(f)
		if err != nil {
			f.Close()
			return nil, fmt.Errorf("lock %s: %w", path, err)
		}
		if ok {
			return func() { f.Close() }, nil
		}
		if !waiting {
			in.say("waiting for another installation")
		}
		select {
		case <-ctx.Done():
			f.Close()
			return nil, fmt.Errorf("lock %s: %w: %w", path, ErrCancelled, ctxErr(ctx))
		case <-time.After(lockPoll):
		}
	}
}

// sweep removes what interrupted installations left; the lock is held.
func (in *installer) sweep() {
	left := input.Glob(in.o.Dir, ".new-"+in.name+"-*")
	for _, dir := range left {
		os.RemoveAll(dir)
	}
}

// answers returns the version of the ptxas in an installed tree, all of whose
// tools must be of the release.
func (in *installer) answers(ctx context.Context, tree string) (string, error) {
	version := ""
	for _, tool := range toolNames {
		path := filepath.Join(tree, "root", "usr", "bin", tool)
		if !executable(path) {
			return "", fmt.Errorf("%s: missing", path)
		}
		id, err := identify(ctx, in.r, path, tool)
		if err != nil {
			return "", err
		}
		if "cuda-"+release(id.Version) != in.name {
			return "", fmt.Errorf("%s: it is of release %s", path, id.Version)
		}
		version = cmp.Or(version, id.Version)
	}
	return version, nil
}

// build downloads, verifies and unpacks the package into tree.
func (in *installer) build(ctx context.Context, tree string) (string, error) {
	what := Installed{Name: in.name, Package: packageName}
	deb, err := in.fetch(ctx, &what)
	if err != nil {
		return "", err
	}
	in.say("unpacking")
	if err := in.unpack(ctx, deb, filepath.Join(tree, "root")); err != nil {
		return "", err
	}
	if what.Ptxas, err = in.answers(ctx, tree); err != nil {
		return "", fmt.Errorf("the unpacked tools: %w", err)
	}
	return what.Ptxas, record(tree, what)
}

// writeSynced writes a file that will still be whole after a power failure
// that follows the rename of its folder.
func writeSynced(path string, from io.Reader, mode os.FileMode) error {
	f, err := os.OpenFile(path, os.O_CREATE|os.O_EXCL|os.O_WRONLY, mode)
	if err != nil {
		return err
	}
	_, err = io.Copy(f, from)
	return errors.Join(err, f.Sync(), f.Close())
}
