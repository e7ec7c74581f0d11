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

// llvmPackaged lists the releases of LLVM that Debian 12 carries, oldest first.
// Newer suites carry others, but for a newer C library than Debian 12 has.
var llvmPackaged = []struct {
	major    string
	security bool // it is in the security archive
}{{"13", false}, {"14", false}, {"15", false}, {"16", false}, {"19", false}, {"22", true}}

// llvmSuite is the Debian release whose packages are installed.
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

// llvmTools are the programs that are kept of the packages.
var llvmTools = []string{"clang", "llc", "llvm-objdump", "llvm-mc", "opt"}

// llvmInstall is the installation of one release of LLVM.
type llvmInstall struct {
	*installer
	major    string
	security bool
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
	packages := append(llvmPackages(l.major), missingRuntime()...)
	if err := l.packages(ctx, packages, filepath.Join(tree, "root"), wanted(l.major), &what); err != nil {
		return "", err
	}
	version, err := l.answers(ctx, tree)
	if err != nil {
		return "", fmt.Errorf("the unpacked tools: %w", err)
	}
	what.Clang = version
	return version, record(tree, what)
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
	list := []aptSource{{mirror, l.suite, "main"}}
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
		list = append(list, aptSource{security, l.suite + "-security", "main"})
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
