package toolchain

import (
	"cmp"
	"context"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"golang.org/x/sync/errgroup"

	"optcheck/internal/input"
)

// LLVM is the kind of a release of LLVM that compiles for AMD: clang and what it has
// beside it.
type LLVM struct {
	// Clang is the compiler; LLC, Objdump and MC are of the same release, or
	// empty.
	Clang   string `json:"clang"`
	LLC     string `json:"llc,omitempty"`
	Objdump string `json:"llvm_objdump,omitempty"`
	MC      string `json:"llvm_mc,omitempty"`
	// LibLLVM is the release's shared library, or empty.
	LibLLVM string `json:"libllvm,omitempty"`
	// Libclc is the folder of libclc's bitcode for this release, or empty.
	Libclc string `json:"libclc,omitempty"`
	// R600 lists those of the targets that belong to the r600 back end.
	R600 []string `json:"r600_targets,omitempty"`

	libraries string // folder that the dynamic linker must search, or ""
}

// Major is the first number of the version, 19 for clang 19.1.7; 0 if there is
// none.
func (t *Toolchain) Major() int {
	s, _, _ := strings.Cut(t.Version, ".")
	n, err := strconv.Atoi(s)
	if err != nil {
		return 0
	}
	return n
}

var clangName = regexp.MustCompile(`^clang-(\d{2})$`)

// DiscoverLLVM finds the releases of clang on this machine, 13 and later,
// sorted by version: clang-N in the folders where Discover looks for ptxas, and
// clang itself in OPTCHECK_TOOLCHAIN_DIRS, in configured folders and in the
// managed folder and those that were added. Each build is listed once. Errors are as with
// Discover.
func DiscoverLLVM(ctx context.Context, o Options) ([]*Toolchain, []error) {
	if o.Runner == nil {
		o.Runner = DefaultRunner()
	}
	cache := openCache(o)
	type found struct {
		tc  *Toolchain
		err error
	}
	type clang struct {
		path string
		from place
	}
	var clangs []clang
	var errs []error
	seen := map[string]bool{}
	for _, p := range o.llvmPlaces() {
		if p.must && !holdsCompiler(p.dir) {
			errs = append(errs, p.empty())
		}
		for _, path := range p.clangs() {
			real, err := filepath.EvalSymlinks(path)
			if err != nil || seen[real] {
				continue
			}
			seen[real] = true
			clangs = append(clangs, clang{real, p})
		}
	}
	results := make([]found, len(clangs))
	var group errgroup.Group
	for i, c := range clangs {
		group.Go(func() error {
			results[i].tc, results[i].err = lookLLVM(ctx, o.Runner, cache, c.path, c.from.source)
			if results[i].err != nil {
				results[i].err = c.from.asked(results[i].err)
			}
			return nil
		})
	}
	_ = group.Wait() // the goroutines return no errors
	cache.save()
	var all []*Toolchain
	for _, r := range results {
		same := func(t *Toolchain) bool { return r.tc != nil && t.Version == r.tc.Version && t.Build == r.tc.Build }
		switch {
		case r.err != nil:
			errs = append(errs, r.err)
		case r.tc == nil:
		default:
			if i := slices.IndexFunc(all, same); i >= 0 {
				all[i].Kind.(*LLVM).lend(r.tc.Kind.(*LLVM))
				continue
			}
			all = append(all, r.tc)
		}
	}
	slices.SortStableFunc(all, func(a, b *Toolchain) int {
		return cmp.Or(CompareVersions(a.Version, b.Version), cmp.Compare(a.Build, b.Build))
	})
	nameLLVM(all)
	return all, errs
}

// lend fills what a release lacks with what another copy of the same build has.
func (l *LLVM) lend(from *LLVM) {
	for _, f := range []struct {
		to   *string
		from string
	}{{&l.LLC, from.LLC}, {&l.Objdump, from.Objdump}, {&l.MC, from.MC}, {&l.LibLLVM, from.LibLLVM},
		{&l.Libclc, from.Libclc}} {
		*f.to = cmp.Or(*f.to, f.from)
	}
}

func nameLLVM(all []*Toolchain) {
	releases, versions := map[int]int{}, map[string]int{}
	for _, t := range all {
		releases[t.Major()]++
		versions[t.Version]++
	}
	for _, t := range all {
		t.ID, t.Name = "clang "+t.Version, "llvm-"+strconv.Itoa(t.Major())
		if releases[t.Major()] > 1 {
			t.Name = "llvm-" + t.Version
		}
		if versions[t.Version] > 1 {
			t.ID += " (" + t.Build + ")"
			t.Name += "-" + strings.Map(func(r rune) rune {
				if r == ' ' || r == '(' || r == ')' {
					return '_'
				}
				return r
			}, t.Build)
		}
	}
}

// llvmPlaces lists the folders to look into.
func (o Options) llvmPlaces() []place {
	all := o.named()
	if !o.DirsOnly {
		for _, d := range filepath.SplitList(o.env("PATH")) {
			if filepath.IsAbs(d) {
				all = append(all, place{dir: d, source: "PATH"})
			}
		}
		if managed := cmp.Or(o.Managed, ManagedDir(o.env)); managed != "" {
			installed := input.Glob(managed, "*", "root", "usr", "lib", "llvm-*", "bin")
			for _, d := range installed {
				all = append(all, place{dir: d, source: "managed", must: true})
			}
		}
		all = append(all, o.added()...)
	}
	return all
}

// clangs lists the compilers in a folder: clang-N, and plain clang where a
// person has named the folder.
func (p place) clangs() []string {
	entries, err := input.ReadDir(p.dir)
	if err != nil {
		return nil
	}
	var out []string
	for _, e := range entries {
		path := filepath.Join(p.dir, e.Name())
		if m := clangName.FindStringSubmatch(e.Name()); m != nil {
			if n, _ := strconv.Atoi(m[1]); n >= 13 && executable(path) {
				out = append(out, path)
			}
		} else if e.Name() == "clang" && p.must && executable(path) {
			out = append(out, path)
		}
	}
	return out
}

// holdsClang tells whether a configured folder has a clang, so that the search
// for ptxas need not complain of it.
func holdsClang(dir string) bool {
	return len(place{dir: dir, must: true}.clangs())+len(place{dir: filepath.Join(dir, "bin"), must: true}.clangs()) > 0
}

// lookLLVM identifies a clang and finds what belongs to it. A clang without AMD
// targets is none of ours: nil.
func lookLLVM(ctx context.Context, r *Runner, cache *idCache, path, source string) (*Toolchain, error) {
	l := &LLVM{Clang: path, libraries: librariesOf(path)}
	id, err := cache.identify(ctx, r, path, "clang")
	if err != nil {
		return nil, err
	}
	if n, _ := strconv.Atoi(strings.SplitN(id.Version, ".", 2)[0]); n < 13 || len(id.Targets) == 0 {
		return nil, nil
	}
	dir := filepath.Dir(path)
	major, _, _ := strings.Cut(id.Version, ".")
	for _, t := range []struct {
		path *string
		name string
	}{{&l.LLC, "llc"}, {&l.Objdump, "llvm-objdump"}, {&l.MC, "llvm-mc"}} {
		for _, name := range []string{t.name, t.name + "-" + major} {
			if file := filepath.Join(dir, name); *t.path == "" && executable(file) {
				*t.path = file
			}
		}
	}
	l.R600 = id.R600
	l.libs(dir, major)
	return &Toolchain{Version: id.Version, Build: id.Build, Targets: append(slices.Clone(id.R600), id.Targets...),
		Source: source, Kind: l, runner: r}, nil
}

// rootOf is the folder that holds usr/lib/llvm-N/bin, or "" for other layouts.
func rootOf(bin string) string {
	root, ok := strings.CutSuffix(filepath.Dir(filepath.Dir(bin)), filepath.Join("usr", "lib"))
	if !ok {
		return ""
	}
	return filepath.Clean(root)
}

const multiarch = "x86_64-linux-gnu"

// librariesOf is the folder of shared libraries that came with an unpacked
// clang, which the dynamic linker does not know; "" for an installed one.
func librariesOf(clang string) string {
	root := rootOf(filepath.Dir(clang))
	if root == "" || root == "/" {
		return ""
	}
	dir := filepath.Join(root, "usr", "lib", multiarch)
	if _, err := os.Stat(filepath.Join(dir, loader)); err == nil {
		return "" // its tools find them; the machine's own programs would not stand this C library
	}
	return dir
}

// libs finds the release's libraries.
func (l *LLVM) libs(bin, major string) {
	root := rootOf(bin)
	dirs := []string{filepath.Join(bin, "..", "lib")}
	if root != "" {
		dirs = append(dirs, filepath.Join(root, "usr", "lib", multiarch))
	}
	for _, d := range dirs {
		for _, pattern := range []string{"libLLVM-" + major + ".so*", "libLLVM.so." + major + ".*"} {
			if files := input.Glob(d, pattern); l.LibLLVM == "" && len(files) > 0 {
				l.LibLLVM = files[len(files)-1]
			}
		}
	}
	upstream := filepath.Join(bin, "..", "share", "clc")
	if isDir(upstream) {
		l.Libclc = filepath.Clean(upstream)
	}
	if root == "" {
		return
	}
	// Debian's libclc packages of all releases share one folder; the one that is
	// installed is told by its documentation.
	if clc := filepath.Join(root, "usr", "lib", "clc"); isDir(clc) && isDir(filepath.Join(root, "usr", "share", "doc", "libclc-"+major)) {
		l.Libclc = clc
	}
}

func isDir(path string) bool {
	info, err := os.Stat(path)
	return err == nil && info.IsDir()
}

// Environment is the environment of this release's processes: where its libraries are, and that one that crashes does not
// spend seconds on the names of its functions.
func (l *LLVM) Environment() []string {
	env := append(toolEnv(l.Clang), "LLVM_DISABLE_SYMBOLIZATION=1")
	if l.libraries != "" {
		env = append(env, "LD_LIBRARY_PATH="+l.libraries)
	}
	return env
}
