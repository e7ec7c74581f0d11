package toolchain

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"golang.org/x/sync/errgroup"

	"optcheck/internal/input"
)

// Options says where to look for toolchains.
type Options struct {
	// Dirs are configured folders: each holds the tools, or is a toolkit with
	// a bin folder, or is above several, or is the path of a compiler. That nothing
	// is found in one of them is a *PlaceError.
	Dirs []string
	// Managed is the folder of installed toolchains; "": ManagedDir.
	Managed string
	// Env looks up environment variables; nil: os.Getenv.
	Env func(string) string
	// DirsOnly restricts the search to Dirs.
	DirsOnly bool
	// Runner starts all processes of the toolchains found; nil: DefaultRunner.
	Runner *Runner
	// Cache is the file that keeps identification results between runs, by
	// path, size and time of the tool; "": beside the managed folder; "off":
	// none. Dictionaries of encodings are beside it.
	Cache string
	// Listings has nvdisasm print every cubin as a whole.
	Listings bool
}

func (o Options) env(key string) string {
	if o.Env == nil {
		return os.Getenv(key)
	}
	return o.Env(key)
}

// CacheDir is the program's folder in the user's cache, or "" if the user has
// none.
func CacheDir(env func(string) string) string {
	if dir := env("XDG_CACHE_HOME"); filepath.IsAbs(dir) {
		return filepath.Join(dir, "optcheck")
	}
	if home := env("HOME"); home != "" {
		return filepath.Join(home, ".cache", "optcheck")
	}
	return ""
}

// ManagedDir is the folder where Install puts toolchains:
// ${XDG_CACHE_HOME:-~/.cache}/optcheck/toolchains.
func ManagedDir(env func(string) string) string {
	if dir := CacheDir(env); dir != "" {
		return filepath.Join(dir, "toolchains")
	}
	return ""
}

// place is a folder that may hold tools.
type place struct {
	dir, source string
	must        bool // somebody has named it: finding nothing there is an error
}

// PlaceError is what is wrong with a compiler, or a place for compilers, that somebody
// has asked for: by a setting, by adding or by installing it.
type PlaceError struct {
	Source string // as Toolchain.Source
	Err    error
}

func (e *PlaceError) Error() string { return e.Err.Error() }
func (e *PlaceError) Unwrap() error { return e.Err }

// asked makes an error that somebody must act on of one in a place that was named.
func (p place) asked(err error) error {
	if !p.must {
		return err
	}
	return &PlaceError{p.source, err}
}

// empty is the error of a place that was named and has no compilers.
func (p place) empty() error {
	way := p.source
	if p.source == addedSource {
		way = "added; optcheck toolchain remove " + p.dir + " forgets it"
	}
	return p.asked(fmt.Errorf("%s: %s (%s)", p.dir, whyNot(p.dir), way))
}

// Discover finds the toolchains of this machine, sorted by version. Each build
// is listed once, at the first place where it was found, in the order: the
// variable OPTCHECK_TOOLCHAIN_DIRS (folders separated by colons), Options.Dirs,
// PATH, CUDA_HOME, /usr/local/cuda*/bin, the managed folder, folders that were added. A
// tool that cannot be identified (crash, hang, garbage) is one error that names it and
// does not hide the others; it is a *PlaceError if somebody has asked for it.
func Discover(ctx context.Context, o Options) ([]*Toolchain, []error) {
	if o.Runner == nil {
		o.Runner = DefaultRunner()
	}
	cache := openCache(o)
	places := o.places()
	found := make([]candidate, len(places))
	var group errgroup.Group
	for i, p := range places {
		group.Go(func() error {
			found[i] = p.look(ctx, o.Runner, cache)
			return nil
		})
	}
	_ = group.Wait() // the goroutines return no errors
	cache.save()
	var errs []error
	for _, c := range found {
		errs = append(errs, c.errs...)
	}
	return merge(found, o), errs
}

// places lists the folders to look into, each once.
func (o Options) places() []place {
	all := o.named()
	add := func(source string, must bool, dirs ...string) {
		for _, d := range dirs {
			if d != "" {
				all = append(all, place{dir: toolFolder(d), source: source, must: must})
			}
		}
	}
	if !o.DirsOnly {
		for _, dir := range filepath.SplitList(o.env("PATH")) {
			if filepath.IsAbs(dir) { // never what the current folder happens to hold
				add("PATH", false, dir)
			}
		}
		add("CUDA_HOME", false, o.env("CUDA_HOME"))
		system := input.Glob("/usr/local", "cuda*", "bin")
		add("system", false, system...)
		managed := cmp.Or(o.Managed, ManagedDir(o.env))
		if managed != "" {
			installed := input.Glob(managed, "*", "root", "usr", "bin")
			add("managed", true, installed...)
		}
		all = append(all, o.added()...)
	}
	return unique(all)
}

// named lists the folders that hold compilers where the environment and the
// configuration name places.
func (o Options) named() (all []place) {
	add := func(source string, paths []string) {
		for _, path := range paths {
			if path == "" {
				continue
			}
			for _, dir := range compilerFolders(path) {
				all = append(all, place{dir: dir, source: source, must: true})
			}
		}
	}
	if !o.DirsOnly {
		add("OPTCHECK_TOOLCHAIN_DIRS", filepath.SplitList(o.env("OPTCHECK_TOOLCHAIN_DIRS")))
	}
	add("configured", o.Dirs)
	return all
}

// unique leaves out places that lead to a folder that was there before.
func unique(all []place) (out []place) {
	seen := map[string]bool{}
	for _, p := range all {
		key := p.dir
		if real, err := filepath.EvalSymlinks(p.dir); err == nil {
			key = real
		}
		if !seen[key] {
			seen[key] = true
			out = append(out, p)
		}
	}
	return out
}

// toolFolder is dir, or its bin folder if only that has a ptxas.
func toolFolder(dir string) string {
	if abs, err := filepath.Abs(dir); err == nil {
		dir = abs
	}
	if !executable(filepath.Join(dir, "ptxas")) && executable(filepath.Join(dir, "bin", "ptxas")) {
		return filepath.Join(dir, "bin")
	}
	return dir
}

func executable(path string) bool {
	info, err := os.Stat(path)
	return err == nil && info.Mode().IsRegular() && info.Mode()&0o111 != 0
}

// candidate is what was found in one place.
type candidate struct {
	tc   *Toolchain // nil if there is no usable ptxas
	errs []error
}

// look identifies the tools of one folder.
func (p place) look(ctx context.Context, r *Runner, cache *idCache) candidate {
	path := filepath.Join(p.dir, "ptxas")
	if !executable(path) {
		if !p.must || holdsClang(p.dir) || holdsNvcc(p.dir) {
			return candidate{}
		}
		return candidate{errs: []error{p.empty()}}
	}
	id, err := cache.identify(ctx, r, path, "ptxas")
	if err != nil {
		return candidate{errs: []error{p.asked(err)}}
	}
	c := candidate{tc: &Toolchain{Kind: CUDA{}, Version: id.Version, Build: id.Build, Ptxas: path,
		Targets: id.Targets, MaxPTX: id.MaxPTX, Source: p.source}}
	for _, tool := range []struct {
		name string
		path *string
	}{{"nvdisasm", &c.tc.Nvdisasm}, {"cuobjdump", &c.tc.Cuobjdump}} {
		beside := filepath.Join(p.dir, tool.name)
		if !executable(beside) {
			continue
		}
		other, err := cache.identify(ctx, r, beside, tool.name)
		if err == nil && release(other.Version) != release(id.Version) {
			err = fmt.Errorf("%s: %w: it is of release %s, the ptxas beside it of %s",
				beside, ErrInfrastructure, other.Version, id.Version)
		}
		if err != nil {
			c.errs = append(c.errs, p.asked(err))
			continue
		}
		*tool.path = beside
	}
	return c
}

// merge lists each build once, lends missing disassemblers from other places
// with the same release, names the toolchains and sorts them.
func merge(found []candidate, o Options) []*Toolchain {
	var all []*Toolchain
	for _, c := range found {
		if c.tc == nil {
			continue
		}
		same := func(t *Toolchain) bool { return t.Version == c.tc.Version && t.Build == c.tc.Build }
		if i := slices.IndexFunc(all, same); i >= 0 {
			all[i].Nvdisasm = cmp.Or(all[i].Nvdisasm, c.tc.Nvdisasm)
			all[i].Cuobjdump = cmp.Or(all[i].Cuobjdump, c.tc.Cuobjdump)
			continue
		}
		c.tc.runner, c.tc.listings, c.tc.dictionaries = o.Runner, o.Listings, o.dictionaries()
		all = append(all, c.tc)
	}
	for _, t := range all {
		for _, other := range all {
			if t.Release() == other.Release() {
				t.Nvdisasm = cmp.Or(t.Nvdisasm, other.Nvdisasm)
				t.Cuobjdump = cmp.Or(t.Cuobjdump, other.Cuobjdump)
			}
		}
	}
	slices.SortStableFunc(all, func(a, b *Toolchain) int {
		return cmp.Or(CompareVersions(a.Version, b.Version), cmp.Compare(a.Build, b.Build))
	})
	lend(all)
	name(all)
	return all
}

// lend gives the disassemblers of the next newer release to compilers that have
// none of their own: wheels and some toolkits hold ptxas alone. It takes the
// toolchains from the oldest to the newest, and tells each of the next newer one.
func lend(all []*Toolchain) {
	var newer *Toolchain
	for _, t := range slices.Backward(all) {
		t.newer = newer
		switch {
		case t.Nvdisasm != "":
			newer = t
		case newer != nil && t.Ptxas != "":
			t.Nvdisasm, t.Cuobjdump, t.Reader = newer.Nvdisasm, newer.Cuobjdump, newer.Release()
		}
	}
}

// name gives each toolchain an ID and a Name that no other has.
func name(all []*Toolchain) {
	releases, versions := map[string]int{}, map[string]int{}
	for _, t := range all {
		releases[t.Release()]++
		versions[t.Version]++
	}
	for _, t := range all {
		t.ID, t.Name = "ptxas "+t.Version, "cuda-"+t.Release()
		if releases[t.Release()] > 1 {
			t.Name = "cuda-" + t.Version
		}
		if versions[t.Version] > 1 {
			t.ID += " " + t.Build
			t.Name += "-" + t.Build[strings.LastIndexAny(t.Build, "./")+1:]
		}
	}
}

// Find picks the toolchains that the names mean: a Name, an ID, a version, a
// release, or any prefix of a version that ends at a dot ("11" means all of
// CUDA 11). No names mean all. A name that means none is an error. Of toolchains
// of two compilers (llc and ptxas, nvcc and ptxas) a name may mean either compiler, which is what names of the
// other one are combined with (22 and 12.4), or both (22+12.4).
func Find(all []*Toolchain, names ...string) ([]*Toolchain, error) {
	if len(names) == 0 {
		return all, nil
	}
	picked, meant := map[*Toolchain]bool{}, map[*Toolchain][]bool{}
	asked := map[int]bool{} // stages of which a name was given
	var errs []error
	for _, n := range names {
		hit := false
		for _, t := range all {
			whole, some := t.meant(n)
			picked[t], hit = picked[t] || whole, hit || whole
			if whole || !slices.Contains(some, true) {
				continue
			}
			hit = true
			if meant[t] == nil {
				meant[t] = make([]bool, len(some))
			}
			for i := range some {
				meant[t][i], asked[i] = meant[t][i] || some[i], asked[i] || some[i]
			}
		}
		if !hit {
			errs = append(errs, &NameError{n, nameList(all)})
		}
	}
	var out []*Toolchain
	for _, t := range all {
		each := meant[t] != nil
		for i := range meant[t] {
			each = each && (meant[t][i] || !asked[i])
		}
		if picked[t] || each {
			out = append(out, t)
		}
	}
	return out, errors.Join(errs...)
}

// NameError is that a name stands for none of the toolchains that were found.
type NameError struct {
	Name  string
	Found string // the names of those
}

func (e *NameError) Error() string {
	return fmt.Sprintf("no toolchain %q (found: %s)", e.Name, e.Found)
}

// meant tells what of a toolchain a name stands for: whole for its own name, for its
// only compiler, or for all of its compilers, joined by a +; else some of them.
func (t *Toolchain) meant(name string) (whole bool, some []bool) {
	list := t.Compilers()
	some = make([]bool, len(list))
	for i := range list {
		some[i] = list[i].means(name)
	}
	whole = len(list) == 1 && some[0]
	if parts := strings.Split(name, "+"); len(parts) == len(list) && len(list) > 1 {
		whole = true
		for i := range list {
			whole = whole && list[i].means(strings.Trim(parts[i], " -"))
		}
	}
	return whole || name == t.ID || name == t.Name, some
}

func nameList(all []*Toolchain) string {
	var s []string
	for _, t := range all {
		s = append(s, t.Name)
	}
	if s == nil {
		return "none; optcheck toolchain install gets some"
	}
	return strings.Join(s, ", ")
}
