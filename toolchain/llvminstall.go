package toolchain

import (
	"archive/tar"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
)

// llvmRelease is a release of LLVM in a suite of Debian.
type llvmRelease struct {
	major, suite string
	security     bool // it is in the security archive
}

// llvmPackaged lists the releases of LLVM that are installed, oldest first: those of Debian 12, and the newest
// of unstable, which is for a newer C library than machines have, and so brings its own.
var llvmPackaged = []llvmRelease{{"13", llvmSuite, false}, {"14", llvmSuite, false}, {"15", llvmSuite, false}, {"16", llvmSuite, false},
	{"19", llvmSuite, false}, {"22", llvmSuite, true}, {"23", unstable, false}}

// llvmSuite is the Debian release whose packages run on this and newer ones.
const llvmSuite = "bookworm"

// llvmPackages are the packages of a release: the driver, the front end, the
// libraries, the headers, the tools, and OpenCL's built-in functions.
func llvmPackages(major string) []string {
	return []string{"clang-" + major, "libclang-cpp" + major, "libllvm" + major, "libclang-common-" + major + "-dev",
		"llvm-" + major, "libclc-" + major}
}

// llvmRuntime are the packages of shared libraries that LLVM needs beside the C
// and C++ libraries, by the library's name; what the machine has is not fetched.
var llvmRuntime = [][2]string{{"libz3.so.4", "libz3-4"}, {"libedit.so.2", "libedit2"}, {"libbsd.so.0", "libbsd0"}, {"libmd.so.0", "libmd0"},
	{"libxml2.so.2", "libxml2"}, {"libicuuc.so.72", "libicu72"}, {"libtinfo.so.6", "libtinfo6"}, {"libffi.so.8", "libffi8"},
	{"libzstd.so.1", "libzstd1"}, {"libz.so.1", "zlib1g"}, {"liblzma.so.5", "liblzma5"}}

// llvmWhole are the packages of shared libraries of a release that brings its own C library.
var llvmWhole = []string{"libc6", "libgcc-s1", "libstdc++6", "libz3-4", "libedit2", "libbsd0", "libmd0", "libxml2-16", "libtinfo6", "libffi8", "libzstd1",
	"zlib1g", "liblzma5"}

// llvmTools are the programs that are kept of the packages.
var llvmTools = []string{"clang", "llc", "llvm-objdump", "llvm-mc", "opt"}

// llvmInstall is the installation of one release of LLVM.
type llvmInstall struct {
	*installer
	llvmRelease
}

func (l *llvmInstall) bin(tree string) string {
	return filepath.Join(tree, "root", "usr", "lib", "llvm-"+l.major, "bin")
}

// answers returns the version of the clang in an installed tree, which must be
// whole.
func (l *llvmInstall) answers(ctx context.Context, tree string) (string, error) {
	for _, tool := range llvmTools {
		if path := filepath.Join(l.bin(tree), tool); !executable(path) {
			return "", fmt.Errorf("%s: missing", path)
		}
	}
	tc, err := lookLLVM(ctx, l.r, openCache(Options{Cache: "off"}), filepath.Join(l.bin(tree), "clang"), "managed")
	switch {
	case err != nil:
		return "", err
	case tc == nil:
		return "", errors.New("this clang has no AMD targets")
	case fmt.Sprint(tc.Major()) != l.major:
		return "", fmt.Errorf("%s: it is of release %s", tc.Compilers()[0].Path, tc.Version)
	case tc.Kind.(*LLVM).Libclc == "":
		return "", errors.New("libclc is missing")
	case !tc.Kind.(*LLVM).cudaHeaders():
		return "", errors.New("the headers for CUDA are missing")
	}
	return tc.Version, nil
}

// describe names what was installed.
func (l *llvmInstall) describe(version, final string) []string {
	return []string{fmt.Sprintf("installed clang %s into %s", version, final)}
}

func (l *llvmInstall) tool() string { return "clang" }

// build downloads, verifies and unpacks the packages into tree.
func (l *llvmInstall) build(ctx context.Context, tree string) (string, error) {
	if err := l.sources(ctx); err != nil {
		return "", err
	}
	what := Installed{Name: l.name, Package: "clang-" + l.major, Packages: map[string]string{}}
	runtime := missingRuntime()
	if l.llvmRelease.suite == unstable {
		runtime = llvmWhole
	}
	if err := l.packages(ctx, append(llvmPackages(l.major), runtime...), filepath.Join(tree, "root"), wanted(l.major), &what); err != nil {
		return "", err
	}
	if l.llvmRelease.suite == unstable {
		if err := l.standAlone(filepath.Join(tree, "root", "usr", "lib")); err != nil {
			return "", err
		}
	}
	version, err := l.answers(ctx, tree)
	if err != nil {
		return "", fmt.Errorf("the unpacked tools: %w", err)
	}
	what.Clang = version
	return version, record(tree, what)
}

// loader is the dynamic linker that belongs to a C library beside it.
const loader = "ld-linux-x86-64.so.2"

// standAlone puts a script in the place of each tool that starts it with its own dynamic linker and libraries, so that it
// runs on machines with an older C library; and libclc where the releases before had it.
func (l *llvmInstall) standAlone(lib string) error {
	bin := filepath.Join(lib, "llvm-"+l.major, "bin")
	for _, tool := range llvmTools {
		path, first := filepath.Join(bin, tool), ""
		if err := os.Rename(path, path+".bin"); err != nil {
			return err
		}
		if tool == "clang" {
			first = " -no-canonical-prefixes" // else it takes the linker's place for its own
		}
		script := fmt.Sprintf("#!/bin/sh\nd=${0%%/*}\nexec \"$d/../../%[1]s/%[2]s\" --library-path \"$d/../lib:$d/../../%[1]s\" --argv0 \"$0\" \"$d/%[3]s.bin\"%[4]s \"$@\"\n",
			multiarch, loader, tool, first)
		if err := writeSynced(path, strings.NewReader(script), 0o755); err != nil {
			return err
		}
	}
	for _, name := range []string{"clc", filepath.Join("llvm-"+l.major, "lib", "clang", l.major, "lib", "amdgcn-amd-amdhsa-llvm", "libclc.bc")} {
		if _, err := os.Stat(filepath.Join(lib, name)); (name == "clc") == (err == nil) {
			return nil // it is there, or nowhere
		}
	}
	if err := os.Mkdir(filepath.Join(lib, "clc"), 0o755); err != nil {
		return err
	}
	return os.Symlink(filepath.Join("..", "llvm-"+l.major, "lib", "clang", l.major, "lib", "amdgcn-amd-amdhsa-llvm", "libclc.bc"), filepath.Join(lib, "clc", "amdgcn-amd-amdhsa.bc"))
}

// missingRuntime lists the packages of shared libraries that this machine has
// not.
func missingRuntime() []string {
	var out []string
	for _, lib := range llvmRuntime {
		found := false
		for _, dir := range []string{"/usr/lib/" + multiarch, "/lib/" + multiarch, "/usr/lib64", "/lib64", "/usr/lib"} {
			if _, err := os.Stat(filepath.Join(dir, lib[0])); err == nil {
				found = true
			}
		}
		if !found {
			out = append(out, lib[1])
		}
	}
	return out
}

var sharedObject = regexp.MustCompile(`\.so(\.[\w.]+)?$`)

// wanted tells which files of the packages are kept: the tools, shared
// libraries, the compiler's headers (CUDA's among them), bitcode for AMD, licences.
func wanted(major string) func(name string) bool {
	home := "usr/lib/llvm-" + major + "/"
	return func(name string) bool {
		base := path.Base(name)
		switch {
		case strings.HasPrefix(name, home+"bin/"):
			return slices.Contains(llvmTools, base)
		case strings.HasPrefix(name, home+"lib/clang/"), strings.HasPrefix(name, "usr/lib/clang/"):
			return !strings.Contains(name, "/lib/linux/") // sanitizers
		case strings.HasPrefix(name, home+"lib/"), strings.HasPrefix(name, "usr/lib/"+multiarch+"/"),
			strings.HasPrefix(name, "lib/"+multiarch+"/"):
			return sharedObject.MatchString(base)
		case strings.HasPrefix(name, "usr/lib/clc/"):
			return strings.Contains(base, "amdgcn") || strings.Contains(base, "r600")
		case strings.HasPrefix(name, "usr/share/doc/"):
			return base == "copyright" || strings.Contains(name, "/libclc-")
		}
		return false
	}
}

// extractTree writes the wanted plain files and symbolic links of a tar stream
// below root. A link is kept only if it is relative and stays below root.
func extractTree(r io.Reader, root string, want func(string) bool) error {
	archive := tar.NewReader(r)
	for {
		h, err := archive.Next()
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return fmt.Errorf("read package: %w", err)
		}
		name := strings.TrimPrefix(path.Clean("/"+h.Name), "/")
		if !want(name) || h.Typeflag != tar.TypeReg && h.Typeflag != tar.TypeSymlink {
			continue
		}
		// /lib is a link to /usr/lib on every Debian since 2019.
		if rest, ok := strings.CutPrefix(name, "lib/"); ok {
			name = "usr/lib/" + rest
		}
		to := filepath.Join(root, filepath.FromSlash(name))
		if err := safeParent(root, filepath.Dir(to)); err != nil {
			return fmt.Errorf("unpack %s: %w", name, err)
		}
		if h.Typeflag == tar.TypeSymlink {
			target := path.Join(path.Dir(name), h.Linkname)
			if path.IsAbs(h.Linkname) || target == ".." || strings.HasPrefix(target, "../") {
				continue
			}
			if err := os.Symlink(h.Linkname, to); err != nil && !errors.Is(err, os.ErrExist) {
				return err
			}
			continue
		}
		if h.Size > maxUnpacked {
			return fmt.Errorf("package: %s has more than %d bytes", name, maxUnpacked)
		}
		mode := os.FileMode(0o644)
		if h.Mode&0o111 != 0 {
			mode = 0o755
		}
		if err := writeSynced(to, archive, mode); err != nil && !errors.Is(err, os.ErrExist) {
			return fmt.Errorf("unpack %s: %w", name, err)
		}
	}
}

// safeParent makes the folder and refuses one that a link of the package leads
// out of root.
func safeParent(root, dir string) error {
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return err
	}
	real, err := filepath.EvalSymlinks(dir)
	if err != nil {
		return err
	}
	base, err := filepath.EvalSymlinks(root)
	if err != nil {
		return err
	}
	if real != base && !strings.HasPrefix(real, base+string(filepath.Separator)) {
		return errors.New("it lies outside of the folder")
	}
	return nil
}

// sources writes apt's private configuration for main, and for the security
// archive where the release is there.
func (l *llvmInstall) sources(ctx context.Context) error {
	mirror := l.o.Mirror
	var err error
	if mirror == "" {
		if mirror, err = l.mirror(ctx); err != nil {
			return err
		}
	}
	list := []aptSource{{mirror, l.llvmRelease.suite, "main"}}
	if l.security {
		security := ""
		if l.o.Mirror == "" {
			if security, err = l.securityMirror(ctx); err != nil {
				return err
			}
		}
		if security == "" {
			security = strings.TrimSuffix(mirror, "/") + "-security"
		}
		list = append(list, aptSource{security, l.llvmRelease.suite + "-security", "main"})
	}
	return l.prepareSources(list)
}

// securityMirror asks apt for the machine's mirror of the security archive; ""
// if it has none.
func (l *llvmInstall) securityMirror(ctx context.Context) (string, error) {
	out, err := l.indexTargets(ctx)
	if err != nil {
		return "", err
	}
	for line := range strings.Lines(out) {
		f := strings.Split(strings.TrimSpace(line), "|")
		if len(f) == 3 && f[0] != "" && !strings.ContainsAny(f[0], " \t") &&
			(f[2] == "Debian-Security" || strings.HasSuffix(strings.TrimSuffix(f[0], "/"), "/debian-security")) {
			return f[0], nil
		}
	}
	return "", nil
}
