package toolchain

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	"optcheck/internal/input"
	"optcheck/target"
)

// Front is the kind of a compiler of CUDA C++ to PTX: NVIDIA's nvcc, or clang with the
// headers of a release of CUDA. As DiscoverFronts finds it, a toolchain is the compiler
// alone; as DiscoverCUDA does, there is a ptxas behind it, whose version and tools the
// toolchain's are.
type Front struct {
	// Tool is "nvcc" or "clang-cuda", Path the program.
	Tool string `json:"tool"`
	Path string `json:"path"`
	// Version is the compiler's, CUDA the release whose headers it reads.
	Version string `json:"version"`
	CUDA    string `json:"cuda"`
	Build   string `json:"build"`
	// Targets are the architectures that it knows, in numeric order; PTX is the version
	// of the PTX ISA that it writes.
	Targets []string `json:"targets"`
	PTX     string   `json:"ptx"`

	name   string // "nvcc-12.4"
	runner *Runner
	driver frontDriver
}

// frontDriver is how a compiler of CUDA C++ is called.
type frontDriver interface {
	// args are those before the flags of a job and the names of the files: to make PTX, or
	// to preprocess only.
	args(target string, preprocess bool) []string
	// asWritten are the arguments with which nothing is optimised.
	asWritten() []string
	env() []string
	// headers are the folders whose files any program may include.
	headers() []string
	// rereads reports whether what compiles a preprocessed text follows the directives that are still in it.
	rereads() bool
}

// Vendor is NVIDIA.
func (f *Front) Vendor() string { return target.NVIDIA }

func (f *Front) compilers(t *Toolchain) []Compiler {
	c := Compiler{Tool: f.Tool, Version: f.Version, Path: f.Path, names: []string{f.name}}
	if t.Ptxas == "" {
		return []Compiler{c}
	}
	return append([]Compiler{c}, CUDA{}.compilers(t)...)
}

func (f *Front) describe(t *Toolchain, d *Description) {
	d.Dir, d.Complete, d.Front = filepath.Dir(f.Path), true, f
	if t.Ptxas != "" {
		CUDA{}.describe(t, d)
	}
}

// Command is the command line, in words, by which people without this program's folders compile a file to PTX.
func (f *Front) Command(target string, flags []string, in, out string) []string {
	words := []string{"nvcc"}
	if f.Tool != words[0] {
		words[0] = "clang"
	}
	args := f.driver.args(target, false)
	for i := 0; i < len(args); i++ {
		switch {
		case args[i] == "-isystem":
			i++
		case i+3 < len(args) && args[i+1] == "-mlink-builtin-bitcode":
			i += 3
		case !strings.HasPrefix(args[i], "--cuda-path="):
			words = append(words, args[i])
		}
	}
	return append(append(words, flags...), in, "-o", out)
}

// alone is the toolchain of the compiler without a ptxas.
func (f *Front) alone(source string) *Toolchain {
	return &Toolchain{ID: f.Tool + " " + f.Version, Name: f.name, Version: f.Version, Build: f.Build, Targets: f.Targets,
		MaxPTX: f.PTX, Source: source, Kind: f, runner: f.runner}
}

// with puts a ptxas behind the compiler; nil if they have no target in common. An older
// ptxas gets the PTX as its own newest version, and says what it does not know.
func (f *Front) with(t, ptxas *Toolchain) *Toolchain {
	tc := *ptxas
	tc.Kind = f
	tc.ID, tc.Name, tc.Build = t.ID+" + "+ptxas.ID, t.Name+"+"+ptxas.Name, t.Build+" + "+ptxas.Build
	tc.Targets = nil
	if CompareVersions(f.PTX, tc.MaxPTX) < 0 {
		tc.MaxPTX = f.PTX
	}
	for _, target := range ptxas.Targets {
		if slices.Contains(f.Targets, target) {
			tc.Targets = append(tc.Targets, target)
		}
	}
	if len(tc.Targets) == 0 {
		return nil
	}
	return &tc
}

// DiscoverCUDA finds the ways from CUDA C++ to machine code: each front end with each
// release of ptxas, sorted by the former, then the latter. Errors are those of
// DiscoverFronts.
func DiscoverCUDA(ctx context.Context, o Options) ([]*Toolchain, []error) {
	fronts, errs := DiscoverFronts(ctx, o)
	ptxas, more := Discover(ctx, o)
	var all []*Toolchain
	for _, f := range fronts {
		for _, p := range ptxas {
			if tc := f.Kind.(*Front).with(f, p); tc != nil {
				all = append(all, tc)
			}
		}
	}
	return all, DistinctErrors(append(errs, more...))
}

// DiscoverFronts finds the compilers of CUDA C++: nvcc where Discover looks for ptxas,
// and each clang that knows NVIDIA's targets with the headers of an nvcc that it can
// read. They are sorted, nvcc first, and each build is listed once. Errors are as with
// Discover and DiscoverLLVM.
func DiscoverFronts(ctx context.Context, o Options) ([]*Toolchain, []error) {
	if o.Runner == nil {
		o.Runner = DefaultRunner()
	}
	cache := openCache(o)
	var all []*Toolchain
	var homes []*cudaHome
	var errs []error
	for _, p := range o.nvccPlaces() {
		path := filepath.Join(p.dir, "nvcc")
		id, err := cache.identify(ctx, o.Runner, path, "nvcc")
		if err != nil {
			errs = append(errs, p.asked(err))
			continue
		}
		if slices.ContainsFunc(all, func(t *Toolchain) bool { return t.Version == id.Version && t.Build == id.Build }) {
			continue
		}
		home := homeOf(path)
		home.release, home.ptx = release(id.Version), id.MaxPTX
		homes = append(homes, home)
		f := &Front{Tool: "nvcc", Path: path, Version: id.Version, CUDA: home.release, Build: id.Build, Targets: id.Targets, PTX: id.MaxPTX,
			name: "nvcc-" + home.release, runner: o.Runner, driver: &nvcc{path, home}}
		all = append(all, f.alone(p.source))
	}
	byVersion := func(a, b *Toolchain) int { return CompareVersions(a.Version, b.Version) }
	slices.SortStableFunc(all, byVersion)
	slices.SortFunc(homes, func(a, b *cudaHome) int { return CompareVersions(a.release, b.release) })
	clangs, more := discoverClangFronts(ctx, o, cache, homes)
	slices.SortStableFunc(clangs, byVersion)
	cache.save()
	return append(all, clangs...), append(errs, more...)
}

// nvccPlaces lists the folders that have an nvcc.
func (o Options) nvccPlaces() (out []place) {
	all := o.places()
	if managed := cmp.Or(o.Managed, ManagedDir(o.env)); managed != "" && !o.DirsOnly {
		installed := input.Glob(managed, "*", "root", filepath.FromSlash(frontHome), "bin")
		for _, d := range installed {
			all = append(all, place{dir: d, source: "managed", must: true})
		}
	}
	for _, p := range all {
		if holdsNvcc(p.dir) {
			out = append(out, p)
		}
	}
	return out
}

func holdsNvcc(dir string) bool { return executable(filepath.Join(dir, "nvcc")) }

// cudaHome is a release of CUDA as it lies on a disk.
type cudaHome struct {
	root, bin    string // root holds include, bin nvcc
	release, ptx string
	unpacked     bool // a package of Debian's that is not installed: nvcc does not find its own parts
}

// homeOf finds what belongs to an nvcc.
func homeOf(path string) *cudaHome {
	if real, err := filepath.EvalSymlinks(path); err == nil {
		path = real
	}
	dir := filepath.Dir(path)
	if root, ok := strings.CutSuffix(dir, filepath.FromSlash("/"+frontHome+"/bin")); ok {
		return &cudaHome{root: root + "/usr", bin: dir, unpacked: root != ""}
	}
	return &cudaHome{root: filepath.Dir(dir), bin: dir} // a toolkit, or /usr
}

func (h *cudaHome) include() string { return filepath.Join(h.root, "include") }

// cccl is the folder of the C++ core libraries' headers: CUDA 13 has one of its own.
func (h *cudaHome) cccl() string {
	if own := filepath.Join(h.include(), "cccl"); isDir(own) {
		return own
	}
	return h.include()
}

// libdevice is the bitcode of mathematical functions, "" if it is not there.
func (h *cudaHome) libdevice() string {
	for _, dir := range []string{"nvvm/libdevice", "lib/nvidia-cuda-toolkit/libdevice"} {
		file := filepath.Join(h.root, filepath.FromSlash(dir), "libdevice.10.bc")
		if _, err := os.Stat(file); err == nil {
			return file
		}
	}
	return ""
}

// identifyNvcc asks an nvcc who it is, which architectures it knows, and which version of
// PTX it writes: by compiling a kernel, which takes a host compiler, too.
func identifyNvcc(ctx context.Context, r *Runner, path string, id identity) (identity, error) {
	n := &nvcc{path, homeOf(path)}
	c := command{path: path, args: []string{"--list-gpu-arch"}, timeout: r.askTimeout(), limit: 1 << 20, env: n.env()}
	out, err := r.run(ctx, c)
	if err != nil {
		return identity{}, asInfrastructure(err)
	}
	for _, m := range computeName.FindAllSubmatch(out.stdout, -1) {
		id.Targets = append(id.Targets, "sm_"+string(m[1]))
	}
	if len(id.Targets) == 0 {
		return identity{}, c.fail(ErrInfrastructure, "lists no compute_ architecture", nil)
	}
	slices.SortFunc(id.Targets, target.Compare)
	f := &Front{Tool: "nvcc", Path: path, Version: id.Version, Targets: id.Targets, runner: r, driver: n}
	res, err := f.alone("").CompileCUDA(ctx, CUDAJob{Job: Job{Target: id.Targets[len(id.Targets)-1],
		Units: []Unit{{Name: "k.cu", Text: "__global__ void k() {}\n"}}}})
	if err == nil {
		err = res.Failed[0]
	}
	if err != nil {
		var e *Error
		if errors.As(err, &e) && errors.Is(err, ErrCompile) {
			e.Kind, e.Detail = ErrInfrastructure, "cannot compile an empty kernel (does this machine have g++?)"
		}
		return identity{}, err
	}
	m := ptxVersionLine.FindSubmatch(res.Batches[0].Text)
	if m == nil {
		return identity{}, c.fail(ErrInfrastructure, "writes no PTX", nil)
	}
	id.MaxPTX = string(m[1])
	return id, nil
}

var (
	computeName    = regexp.MustCompile(`(?m)^compute_(\d+[a-z]*)\s*$`)
	ptxVersionLine = regexp.MustCompile(`(?m)^\.version (\d+\.\d+)\s*$`)
)

// nvcc is how NVIDIA's compiler is called.
type nvcc struct {
	path string
	home *cudaHome
}

func (n *nvcc) args(target string, preprocess bool) []string {
	stage := "-ptx"
	if preprocess {
		stage = "-E"
	}
	args := []string{stage, "-arch=compute_" + strings.TrimPrefix(target, "sm_"), "-std=c++17", "-lineinfo", "-allow-unsupported-compiler"}
	if preprocess {
		args = append(args, "-Xcompiler", "-MD,-MF,"+dependencies)
	}
	if n.home.unpacked {
		args = append(args, "-isystem", n.home.include())
	}
	return args
}

func (n *nvcc) asWritten() []string { return []string{"-Xcicc", "-O0"} }

// env: nvcc looks for its parts and for the host's compiler on PATH.
func (n *nvcc) env() []string {
	dir := filepath.Dir(n.path)
	env := append(toolEnv(n.path), "PATH=/usr/bin:/bin:"+dir)
	if n.home.unpacked {
		env = append(env, "LD_LIBRARY_PATH="+filepath.Join(n.home.root, "lib", multiarch))
	}
	return env
}

func (n *nvcc) headers() []string { return []string{n.home.include()} }

func (n *nvcc) rereads() bool { return true }

// cudaHeaders reports whether clang's own headers for CUDA are there.
func (l *LLVM) cudaHeaders() bool {
	found := input.Glob(filepath.Dir(l.Clang), "..", "lib", "clang", "*", "include",
		"__clang_cuda_runtime_wrapper.h")
	return len(found) > 0
}

// discoverClangFronts makes front ends of the clangs that have what it takes.
func discoverClangFronts(ctx context.Context, o Options, cache *idCache, homes []*cudaHome) (all []*Toolchain, errs []error) {
	if len(homes) == 0 {
		return nil, nil
	}
	llvm, errs := DiscoverLLVM(ctx, o)
	for _, t := range llvm {
		tools := t.Kind.(*LLVM)
		l, err := lookLLC(ctx, o.Runner, cache, t)
		switch home := homeFor(t.Major(), homes); {
		case err != nil && !errors.Is(err, fs.ErrNotExist):
			errs = append(errs, err)
		case l != nil && home != nil && tools.cudaHeaders():
			f := &Front{Tool: "clang-cuda", Path: tools.Clang, Version: t.Version, CUDA: home.release, Build: t.Build, Targets: l.Targets,
				name: fmt.Sprintf("clang-cuda-%d", t.Major()), runner: o.Runner}
			for _, v := range l.PTX {
				if CompareVersions(v, home.ptx) <= 0 {
					f.PTX = v
				}
			}
			f.driver = &clangCUDA{tools: tools, home: home, cccl: homes[len(homes)-1].cccl(), ptx: f.PTX}
			all = append(all, f.alone(t.Source))
		}
	}
	return all, errs
}

// textureless is the first clang whose headers for CUDA do without texture references,
// which CUDA 12 does not have any more.
const textureless = 16

// homeFor chooses the headers for a clang: the newest that it can read, nil if there
// are none.
func homeFor(major int, homes []*cudaHome) *cudaHome {
	for _, h := range slices.Backward(homes) {
		if major >= textureless || CompareVersions(h.release, "12") < 0 {
			return h
		}
	}
	return nil
}

// clangCUDA is how clang is called for CUDA C++.
type clangCUDA struct {
	tools *LLVM
	home  *cudaHome
	cccl  string // the newest C++ core libraries: older ones are for nvcc alone
	ptx   string
}

func (c *clangCUDA) args(target string, preprocess bool) []string {
	args := []string{"-x", "cuda", "--cuda-device-only", "--cuda-gpu-arch=" + target, "--cuda-path=" + here + "cuda", "-nocudalib",
		"-std=c++17", "-Xclang", "-target-sdk-version=11.0", // known to every clang; without one kernels are launched as before CUDA 9.2
		"-O3", "-g1", "-Xclang", "-target-feature", "-Xclang", "+ptx" + strings.ReplaceAll(c.ptx, ".", ""), "-Wno-unknown-cuda-version",
		"-fno-crash-diagnostics",
		"-fno-color-diagnostics", "-fno-caret-diagnostics", "-ferror-limit=0",
		"-ftemplate-backtrace-limit=2", "-fshow-overloads=best", "-Xclang", "-fcuda-allow-variadic-functions"}
	if file := c.home.libdevice(); file != "" && !preprocess { // clang looks for it by releases that it knows
		args = append(args, "-Xclang", "-mlink-builtin-bitcode", "-Xclang", file)
	}
	if c.cccl != c.home.include() {
		args = append(args, "-isystem", here+"cccl")
	}
	if preprocess {
		return append(args, "-E", "-MD", "-MF", dependencies)
	}
	return append(args, "-S")
}

func (c *clangCUDA) asWritten() []string { return []string{"-O0"} }

func (c *clangCUDA) env() []string { return c.tools.Environment() }

// links are the parts of CUDA in the places where clang looks for them, and the core
// libraries in a folder by themselves where they are of another release.
func (c *clangCUDA) links() map[string]string {
	links := map[string]string{"cuda/include": c.home.include(), "cuda/bin": c.home.bin, "cuda/lib": c.home.bin} // lib has to be there
	if c.cccl == c.home.include() {
		return links
	}
	for _, name := range []string{"cuda", "nv", "cub", "thrust"} {
		links[filepath.Join("cccl", name)] = filepath.Join(c.cccl, name)
	}
	return links
}

func (c *clangCUDA) rereads() bool { return false }

func (c *clangCUDA) headers() []string {
	return []string{c.home.include(), c.cccl, filepath.Join(filepath.Dir(c.tools.Clang), "..", "lib", "clang")}
}
