package pipeline

import (
	"errors"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"optcheck/isa"
	"optcheck/litmus/corpus"
	"optcheck/ptxgen"
	"optcheck/spec"
	"optcheck/target"
	"optcheck/toolchain"
)

// some are toolchains of each kind, none of which is there.
var (
	cuda  = &toolchain.Toolchain{ID: "ptxas 12.4.131", Kind: toolchain.CUDA{}, Version: "12.4.131", MaxPTX: "8.4", Targets: []string{"sm_80", "sm_90"}}
	llcs  = &toolchain.Toolchain{ID: "llc 22.1.8 + ptxas 12.4.131", Kind: &toolchain.LLC{Version: "22.1.8"}, Version: "12.4.131", MaxPTX: "8.4", Targets: []string{"sm_80"}}
	clang = &toolchain.Toolchain{ID: "clang 19.1.7", Kind: &toolchain.LLVM{LLC: "llc"}, Version: "19.1.7", Targets: []string{"gfx900", "cypress"}}
	bare  = &toolchain.Toolchain{ID: "clang 15.0.6", Kind: &toolchain.LLVM{}, Version: "15.0.6", Targets: []string{"gfx900"}}
)

// TestOf: the road of each kind of toolchain and source, and what has none.
func TestOf(t *testing.T) {
	front := &toolchain.Toolchain{ID: "nvcc 12.4.131 + ptxas 12.4.131", MaxPTX: "8.4", Ptxas: "/x/ptxas", Kind: &toolchain.Front{}}
	for _, c := range []struct {
		tc           *toolchain.Toolchain
		source, want string // road, or the error
	}{
		{cuda, "", "nvidia ptx"}, {cuda, PTX, "nvidia ptx"}, {cuda, LLVMIR, "ptxas 12.4.131 has no llc"},
		{llcs, "", "nvidia llvm-ir"}, {llcs, LLVMIR, "nvidia llvm-ir"},
		{clang, "", "amd opencl"}, {clang, OpenCL, "amd opencl"}, {clang, LLVMIR, "amd llvm-ir"}, {clang, PTX, "clang 19.1.7 does not compile ptx (opencl, llvm-ir)"},
		{bare, "", "amd opencl"}, {bare, LLVMIR, "clang 15.0.6 has no llc"},
		{cuda, CUDA, "ptxas 12.4.131 does not compile cuda (ptx)"}, {cuda, "fortran", `unknown source "fortran"`},
		{front, "", "nvidia cuda"}, {front, CUDA, "nvidia cuda"},
	} {
		p, err := Of(c.tc, c.source)
		if err != nil {
			require.ErrorContains(t, err, c.want)
			continue
		}
		require.Equal(t, c.want, p.Road().Vendor+" "+p.Road().Source, "%s %s", c.tc.ID, c.source)
	}
	for id, want := range map[string]*Road{cuda.ID: ptxRoad, llcs.ID: llcRoad, clang.ID: clRoad, "gcc 12": nil} {
		require.Equal(t, want, RoadOf(id), id)
	}
	for _, v := range []string{target.NVIDIA, target.AMD} {
		require.Equal(t, v, Usual(v).Vendor)
	}
	require.Nil(t, Usual("intel"))
}

// TestPlaces: the order of the matrix, and what is said of what is not there.
func TestPlaces(t *testing.T) {
	list, err := Places([]*toolchain.Toolchain{cuda, clang}, "", []string{"sm_80", "gfx900"}, []string{"O0", "O3"})
	require.NoError(t, err)
	var got []string
	for _, p := range list {
		got = append(got, p.Toolchain.ID+" "+p.Target+" "+p.Level)
	}
	require.Equal(t, []string{"ptxas 12.4.131 sm_80 O0", "ptxas 12.4.131 sm_80 O3", "clang 19.1.7 gfx900 O0", "clang 19.1.7 gfx900 O3"}, got)
	for want, err := range map[string]error{
		"no toolchain found":                 second(Places(nil, "", nil, Levels)),
		"unknown level \"O9\"":               second(Places([]*toolchain.Toolchain{cuda}, "", nil, []string{"O9"})),
		"target \"sm_99\" (sm_80, sm_90)":    second(Places([]*toolchain.Toolchain{cuda}, "", []string{"sm_99"}, Levels)),
		"has no llc, which compiles LLVM IR": second(Places([]*toolchain.Toolchain{clang, bare}, LLVMIR, nil, Levels)),
	} {
		require.ErrorContains(t, err, want)
	}
}

func second(_ []Place, err error) error { return err }

// TestKey: targets with equal keys take the same text, in every pipeline.
func TestKey(t *testing.T) {
	test, ok := corpus.Lookup("mp")
	require.True(t, ok)
	texts := map[string]string{}
	for _, tc := range []*toolchain.Toolchain{cuda, llcs, clang} {
		for _, source := range []string{"", LLVMIR} {
			p, err := Of(tc, source)
			if err != nil {
				continue
			}
			for _, name := range tc.Targets {
				u, err := p.Emit(test, test.Hash(), ptxgen.Options{Target: name, Layout: spec.Pointers})
				var un *spec.Unsupported
				if errors.As(err, &un) {
					continue
				}
				require.NoError(t, err)
				key := p.Key(name)
				if texts[key] == "" {
					texts[key] = u.Text
				}
				require.Equal(t, texts[key], u.Text, "%s: %s", key, name)
			}
		}
	}
	require.Greater(t, len(texts), 3)
}

// TestWays: ways are sorted by version, then plain before libclc, 1.2 before 2.0.
func TestWays(t *testing.T) {
	want := []Way{{}, {CL2: true}, {Library: true}, {CL2: true, Library: true}, {Version: 60}, {Version: 78}}
	got := slices.Clone(want)
	slices.Reverse(got)
	slices.SortFunc(got, Way.Compare)
	require.Equal(t, want, got)

	p, err := Of(cuda, "")
	require.NoError(t, err)
	_, err = p.Way(&ptxgen.Unit{Needs: 86}, 0, "sm_80")
	var un *spec.Unsupported
	require.ErrorAs(t, err, &un)
	require.Equal(t, "needs PTX 8.6, ptxas 12.4.131 has 8.4", un.Reason)
}

// TestFunc: whose a line is that was not understood. Listings of LLVM say it; of a
// disassembly all functions are in doubt.
func TestFunc(t *testing.T) {
	prog := &isa.Program{Funcs: []*isa.Func{{Name: "a", Line: 1}, {Name: "b", Line: 10}},
		Problems: []isa.Problem{{Line: 12, Text: "frob", Why: "unknown"}, {Line: 13, Text: "nicate"}}}
	apart, whole := &Code{Program: prog, apart: true}, &Code{Program: prog}
	var unread *Unread
	_, err := apart.Func("a")
	require.NoError(t, err)
	_, err = apart.Func("b")
	require.ErrorAs(t, err, &unread)
	require.Equal(t, "line 12 of the listing not understood: frob (unknown)", err.Error())
	_, err = apart.Func("c")
	require.ErrorIs(t, err, ErrNoKernel)
	for _, name := range []string{"a", "b", "c"} {
		_, err = whole.Func(name)
		require.ErrorAs(t, err, &unread, name)
	}
	require.Equal(t, "parse", Kind(err))
	require.Equal(t, "infrastructure", Kind(errors.New("disk")))
}
