package optcheck

import (
	"os"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"optcheck/isa"
	"optcheck/litmus"
	"optcheck/litmus/corpus"
	"optcheck/ptxgen"
	"optcheck/spec"
	objects "optcheck/x86"
)

// TestX86: code of x86-64 that PoCL made is the test; without its fences it is not, and a barrier is never taken for kept.
func TestX86(t *testing.T) {
	for _, name := range []string{"mp+membar.gls", "cas-sl"} {
		h, fn := pocl(t, name)
		require.True(t, NewChecker().CheckHarness(fn, h).Validated(), name)

		if name == "mp+membar.gls" {
			bare := *fn
			bare.Insts = slices.Clone(fn.Insts)
			for i := range bare.Insts {
				if bare.Insts[i].Role == isa.RoleFence {
					require.True(t, leftOut(bare.Insts, i))
				}
			}
			r := NewChecker().CheckHarness(&bare, h)
			require.False(t, r.Validated())
			require.Contains(t, harnessSays(r), FenceRemoved.ID)

			own := *h
			own.Specs = slices.Clone(own.Specs)
			barriers := 0
			for i, s := range own.Specs {
				c := *s
				c.Entries = slices.Clone(s.Entries)
				for k := range c.Entries {
					if c.Entries[k].IsFence() {
						c.Entries[k].Kind = spec.Kind{Op: litmus.OpBar}
						barriers++
					}
				}
				own.Specs[i] = &c
			}
			require.Positive(t, barriers)
			r = NewChecker().CheckHarness(fn, &own)
			require.False(t, r.Validated())
			require.NotEqual(t, Preserved, r.Class)
		}
	}
}

// pocl is a harness of a test of the corpus, and what PoCL made of it.
func pocl(t *testing.T, name string) (*spec.Harness, *isa.Func) {
	t.Helper()
	x, ok := corpus.Lookup(name)
	require.True(t, ok)
	h, err := ptxgen.EmitHarnessOpenCL(x, ptxgen.FormFast, spec.Pointers)
	require.NoError(t, err)
	object, err := os.ReadFile("../x86/testdata/" + name + ".so")
	require.NoError(t, err)
	code, at, err := objects.Code(object, objects.WorkGroup(h.Name))
	require.NoError(t, err)
	fn, err := objects.Func(h.Name, code, at)
	require.NoError(t, err)
	return h.Check, fn
}
