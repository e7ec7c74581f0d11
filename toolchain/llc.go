package toolchain

import (
	"context"
	"fmt"
	"regexp"
	"slices"
	"strings"

	"optcheck/target"
)

// LLC is the kind of an llc with a ptxas behind it: the back end of a release of LLVM
// as a compiler of LLVM IR to PTX. The toolchain's version and tools are those of ptxas.
type LLC struct {
	// Path is llc, of the release Version; Build is how the release calls itself.
	Path    string `json:"path"`
	Version string `json:"version"`
	Build   string `json:"build"`
	// Targets are NVIDIA's architectures that it knows, in numeric order, and PTX
	// the versions of the PTX ISA that it can write, ascending.
	Targets []string `json:"targets"`
	PTX     []string `json:"ptx"`

	name string // of the release: "llvm-22"
	env  []string
}

// Major is the first number of the release, 22 for 22.1.8.
func (l *LLC) Major() int { return (&Toolchain{Version: l.Version}).Major() }

// DiscoverLLC finds the ways from LLVM IR to NVIDIA's machine code: each release
// of LLVM whose llc has the NVPTX back end with each release of ptxas, sorted by
// the former, then the latter. Such a toolchain is the ptxas with the kind *LLC; its
// targets are those that both know, its MaxPTX is the highest version that one
// writes and the other reads, and which llc is asked for. Errors are those of
// Discover and DiscoverLLVM.
func DiscoverLLC(ctx context.Context, o Options) ([]*Toolchain, []error) {
	if o.Runner == nil {
		o.Runner = DefaultRunner()
	}
	ptxas, errs := Discover(ctx, o)
	llvm, more := DiscoverLLVM(ctx, o)
	errs = DistinctErrors(append(errs, more...))
	cache := openCache(o)
	var all []*Toolchain
	for _, t := range llvm {
		l, err := lookLLC(ctx, o.Runner, cache, t)
		if err != nil {
			errs = append(errs, err)
			continue
		}
		if l == nil {
			continue
		}
		for _, p := range ptxas {
			if tc := l.with(t, p); tc != nil {
				all = append(all, tc)
			}
		}
	}
	cache.save()
	return all, errs
}

// lookLLC asks the llc of a release of LLVM what it can do for NVIDIA; nil if it
// has no llc, or an llc without that back end.
func lookLLC(ctx context.Context, r *Runner, cache *idCache, t *Toolchain) (*LLC, error) {
	tools := t.Kind.(*LLVM)
	if tools.LLC == "" {
		return nil, nil
	}
	id, err := cache.identify(ctx, r, tools.LLC, "llc")
	if err != nil || len(id.Targets) == 0 || len(id.PTX) == 0 {
		return nil, err
	}
	if id.Version != t.Version {
		return nil, fmt.Errorf("%s: %w: it is of release %s, the clang beside it of %s", tools.LLC, ErrInfrastructure, id.Version, t.Version)
	}
	return &LLC{Path: tools.LLC, Version: id.Version, Build: t.Build, Targets: id.Targets, PTX: id.PTX, name: t.Name,
		env: tools.Environment()}, nil
}

// with joins the llc of t with a ptxas; nil if they have nothing in common.
func (l *LLC) with(t, ptxas *Toolchain) *Toolchain {
	tc := *ptxas
	tc.Kind = l
	tc.ID = "llc " + strings.TrimPrefix(t.ID, "clang ") + " + " + ptxas.ID
	tc.Name = t.Name + "+" + ptxas.Name
	tc.Build = t.Build + " + " + ptxas.Build
	tc.MaxPTX, tc.Targets = "", nil
	for _, v := range l.PTX {
		if CompareVersions(v, ptxas.MaxPTX) <= 0 {
			tc.MaxPTX = v
		}
	}
	for _, target := range ptxas.Targets {
		if slices.Contains(l.Targets, target) {
			tc.Targets = append(tc.Targets, target)
		}
	}
	if tc.MaxPTX == "" || len(tc.Targets) == 0 {
		return nil
	}
	return &tc
}

var (
	llcVersion = regexp.MustCompile(`(?m)LLVM version (\d+\.\d+\.\d+)`)
	llcCPU     = regexp.MustCompile(`(?m)^\s+(sm_\d+[a-z]*)\s+- `)
	llcFeature = regexp.MustCompile(`(?m)^\s+ptx(\d)(\d)\s+- `)
	llcNVPTX   = regexp.MustCompile(`nvptx64`)
)

// identifyLLC asks an llc who it is, which of NVIDIA's architectures it knows
// and which versions of PTX. One without NVPTX has no targets.
func identifyLLC(ctx context.Context, r *Runner, path string) (identity, error) {
	id, text, ask, err := introduce(ctx, r, path, "llc", llcVersion)
	if err != nil {
		return identity{}, err
	}
	if !llcNVPTX.Match(text) { // --version lists the targets
		return id, nil
	}
	if text, err = ask("-march=nvptx64", "-mattr=help"); err != nil {
		return identity{}, asInfrastructure(err)
	}
	id.Targets, id.PTX = parseLLCHelp(text)
	return id, nil
}

// parseLLCHelp reads architectures and versions of PTX from the help on -mattr,
// which may list them twice.
func parseLLCHelp(text []byte) (targets, ptx []string) {
	for _, m := range llcCPU.FindAllSubmatch(text, -1) {
		targets = append(targets, string(m[1]))
	}
	for _, m := range llcFeature.FindAllSubmatch(text, -1) {
		ptx = append(ptx, string(m[1])+"."+string(m[2]))
	}
	slices.SortFunc(targets, target.Compare)
	slices.SortFunc(ptx, CompareVersions)
	return slices.Compact(targets), slices.Compact(ptx)
}
