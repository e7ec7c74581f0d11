package realcode

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"optcheck/internal/required"
	"optcheck/isa"
	"optcheck/pipeline"
)

// TestUnrolled: a loop that was unrolled performs nothing twice. What is performed twice in one turn of a loop is found, whether the PTX or
// the machine code was changed: on a path, or by an execution of the kernel. Where no run ends, nobody can tell how often a loop performs it.
func TestUnrolled(t *testing.T) {
	m := module(t, "testdata/unrolled.ptx")
	ended := module(t, "testdata/ended.ptx")
	for _, tc := range required.Some(t, 1, releases(t, "11.8", "12.4")) {
		code, err := Build(t.Context(), tc, m, "sm_80", "O3")
		require.NoError(t, err)
		executed := func(kernel string, prog *isa.Program) (found, open bool) {
			all, err := executions(t.Context(), m, []string{kernel}, &pipeline.Code{Program: prog, File: code.File}, options(Runs))
			require.NoError(t, err)
			require.Len(t, all, 1)
			require.NotNil(t, all[0].Result)
			return len(all[0].Findings) > 0, all[0].Runs == 0 && len(all[0].Unseen) > 0 && !all[0].Proved
		}
		noticed := func(kernel string, prog *isa.Program) bool {
			found, open := executed(kernel, prog)
			return found || open
		}
		whole, err := Build(t.Context(), tc, ended, "sm_80", "O3")
		require.NoError(t, err)
		require.Empty(t, Check(ended, whole.Program, 80).Findings, tc.ID)
		r := &compiled{m: m, prog: code.Program, sm: 80}
		tried := 0
		for _, f := range Roots(m) {
			at := slices.IndexFunc(r.prog.Funcs, func(g *isa.Func) bool { return g.Name == f.Name })
			honest := r.said(f, r.prog.Funcs[at])
			require.Empty(t, honest.Findings, "%s %s", tc.ID, f.Name)
			require.Empty(t, honest.Unknown, "%s %s", tc.ID, f.Name)
			found, open := executed(f.Name, code.Program)
			require.False(t, found, "%s %s", tc.ID, f.Name)
			require.Equal(t, f.Name == "walk", open, "%s %s", tc.ID, f.Name)
			src, err := readSource(m, f)
			require.NoError(t, err)
			for _, x := range codeMutants(src, r.prog.Funcs[at]) {
				if !strings.HasSuffix(x.kind, " twice") {
					continue
				}
				tried++
				prog := *r.prog
				prog.Funcs = slices.Clone(prog.Funcs)
				prog.Funcs[at] = x.code
				found := strings.Contains(fmt.Sprint(r.said(f, x.code).Findings), "duplicated") || noticed(f.Name, &prog)
				assert.True(t, found, "%s: %s: %s", tc.ID, f.Name, x.what)
			}
		}
		for _, x := range mutants(m) {
			if x.kind != "duplicate" {
				continue
			}
			tried++
			code := changed(t, tc, m, x.text, "sm_80", "O3")
			found := strings.Contains(fmt.Sprint(Check(m, code.Program, 80).Findings), "duplicated") || noticed(x.kernel, code.Program)
			assert.True(t, found, "%s: %s: %s", tc.ID, x.kernel, x.what)
		}
		require.Greater(t, tried, 10)
	}
}

// TestFirstTurn: a loop that asks at its end whether there is another turn is unrolled with a flag that none was made
// yet. No path goes without what a turn performs; one does if a part has lost that, or if the flag begins wrong.
func TestFirstTurn(t *testing.T) {
	m := module(t, "testdata/turns.ptx")
	for _, tc := range releases(t, "11.8", "12.4") {
		code, err := Build(t.Context(), tc, m, "sm_80", "O3")
		require.NoError(t, err)
		r := &compiled{m: m, prog: code.Program, sm: 80}
		for _, f := range Roots(m) {
			own := r.prog.Funcs[slices.IndexFunc(r.prog.Funcs, func(g *isa.Func) bool { return g.Name == f.Name })]
			honest := r.said(f, own)
			require.Empty(t, slices.Concat(honest.Findings, honest.Unknown), "%s %s", tc.ID, f.Name)
			missed := func(what string, change func(insts []isa.Inst)) {
				bad := *own
				bad.Insts = slices.Clone(own.Insts)
				change(bad.Insts)
				assert.Contains(t, fmt.Sprint(r.said(f, &bad).Findings), "missing", "%s: %s: %s", tc.ID, f.Name, what)
			}
			parts, flags := 0, []int(nil)
			for _, b := range own.Blocks {
				var has []int
				for i := b.First; i < b.End; i++ {
					switch in := &own.Insts[i]; {
					case in.Op == "BAR" || in.Op == "RED" || in.Mem.Strength == isa.Strong && in.Role == isa.RoleStore:
						has = append(has, i)
					case in.Op == "PLOP3":
						flags = append(flags, i)
					}
				}
				if len(has) > 0 {
					parts++
					missed(fmt.Sprint("dropped: ", has), func(insts []isa.Inst) {
						for _, i := range has {
							nothing(&insts[i])
						}
					})
				}
			}
			require.Equal(t, 3, parts, "%s %s", tc.ID, f.Name)
			require.Len(t, flags, 3, "%s %s", tc.ID, f.Name)
			missed("the flag", func(insts []isa.Inst) { insts[flags[0]].Micro = own.Insts[flags[1]].Micro })
		}
	}
}
