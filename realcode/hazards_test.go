package realcode

import (
	"encoding/json"
	"fmt"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"optcheck/isa"
	"optcheck/pipeline"
	"optcheck/ptx"
	"optcheck/refine"
)

// TestHazards: a kernel waits for its registers. Where it does not, execution with the content that they then have is the counterexample; a use
// that changes nothing stays a finding.
func TestHazards(t *testing.T) {
	m := module(t, "testdata/execute.ptx")
	tc := releases(t, "12.4")[0]
	const gpu = "sm_80"
	b, err := build(t.Context(), tc, m, gpu, "O3")
	require.NoError(t, err)
	code, err := pipeline.Decode(t.Context(), tc, m.File, gpu, b.lined)
	require.NoError(t, err)
	at := slices.IndexFunc(code.Program.Funcs, func(f *isa.Func) bool { return f.Name == "passed" })
	require.GreaterOrEqual(t, at, 0)
	fn := code.Program.Funcs[at]
	judge := func() *Cell {
		c := &Cell{File: m.File, Toolchain: tc.ID, Target: gpu, Level: "O3"}
		require.NoError(t, c.judge(t.Context(), m, tc, code, 2))
		return c
	}
	require.Equal(t, Preserved, judge().Class)
	shown := 0
	for i := range fn.Insts {
		in := &fn.Insts[i]
		if in.Role != isa.RoleLoad || in.Control.Write == isa.NoBarrier || in.Mem.Space != isa.SpaceGlobal {
			continue
		}
		was := in.Control
		in.Control.Write = isa.NoBarrier
		c := judge()
		alone, err := Execute(t.Context(), m, code, refine.Options{Runs: 2})
		require.NoError(t, err)
		for _, f := range c.Result.Findings {
			require.True(t, slices.ContainsFunc(alone.Findings, func(g Finding) bool { return g.Rule == f.Rule && *g.First == *f.First }), "what reduces a kernel executes it alone")
		}
		in.Control = was
		require.Equal(t, Miscompiled, c.Class, in.Text)
		for _, f := range c.Result.Findings {
			require.Contains(t, []Rule{HazardRAW, HazardWAW}, f.Rule)
			if f.Execution == nil {
				continue
			}
			shown++
			held := f.Execution.Early.Held
			require.NotNil(t, held)
			require.NotEqual(t, held.Due, held.Held)
			require.Contains(t, f.Detail, fmt.Sprintf("; executed with %s = %#x, where %#x is due: ", held.Reg, held.Held, held.Due))
			require.Equal(t, in.Src.Line, instruction(m, f.First.Pos).N, "the load is what the finding is about")
			steps := f.Flight.Steps()
			require.NotEmpty(t, steps)
			require.Equal(t, f.First.Text, steps[0].Source)
			require.Equal(t, f.First.Pos.Line, steps[0].Of)
			data, err := json.Marshal(f)
			require.NoError(t, err)
			require.Contains(t, string(data), `"early":{"use":"`)
		}
	}
	require.Positive(t, shown)
}

// instruction is the one at a place of a module.
func instruction(m *ptx.Module, at ptx.Pos) *ptx.Inst {
	for _, f := range m.Funcs {
		for _, st := range f.Body {
			if st.Inst != nil && st.Inst.Pos == at {
				return st.Inst
			}
		}
	}
	return nil
}
