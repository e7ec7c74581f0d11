package audit

import (
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"optcheck/event"
	"optcheck/internal/fakeptxas"
	"optcheck/internal/required"
	"optcheck/litmus"
	"optcheck/optcheck"
	"optcheck/ptxgen"
	"optcheck/spec"
)

// conditional returns a test whose second thread stores under a condition of both words
// that it reads; code computes p3 from r1 and r2. A register of its own keeps its
// kernels from being shared with another test.
func conditional(t *testing.T, name, code string) *litmus.Test {
	var rows strings.Builder
	for _, in := range strings.Split(code, "; ") {
		rows.WriteString(" | " + in + " ;\n")
	}
	x, err := litmus.Parse(name, []byte(`GPU_PTX `+name+`
{ x=0; y=0; z=0;
0:.reg .b64 rd0 = x; 0:.reg .b64 rd1 = y;
1:.reg .s32 r1; 1:.reg .s32 r2; 1:.reg .s32 r3; 1:.reg .pred p1; 1:.reg .pred p2; 1:.reg .pred p3;
1:.reg .b64 rd0 = y; 1:.reg .b64 rd1 = x; 1:.reg .b64 rd2 = z; 1:.reg .s32 own_`+name+`;
}
 T0 | T1 ;
 st.volatile.s32 [rd0],1 | ld.volatile.s32 r1,[rd0] ;
 st.volatile.s32 [rd1],1 | ld.volatile.s32 r2,[rd1] ;
`+rows.String()+` | @p3 st.volatile.s32 [rd2],1 ;
ScopeTree(grid(cta(warp T0)) (cta(warp T1)))
x: global, y: global, z: global
exists (1:r1=1 /\ 1:r2=0 /\ z=1)
`))
	require.NoError(t, err)
	require.NoError(t, x.Check())
	return x
}

// TestControlConditions: a compiler that makes a store depend on another condition
// of several reads is found out, on every generation, and one that writes the same
// condition differently is not accused.
func TestControlConditions(t *testing.T) {
	both := "setp.eq.s32 p1,r1,0; setp.eq.s32 p2,r2,0; "
	controls := []struct {
		name, code, from, to, class string
	}{
		{"and", both + "and.pred p3,p1,p2", "and.pred %q_p3", "or.pred %q_p3", event.Miscompiled},
		{"or", both + "or.pred p3,p1,p2", "or.pred %q_p3", "and.pred %q_p3", event.Miscompiled},
		{"xor", both + "xor.pred p3,p1,p2", "xor.pred %q_p3", "or.pred %q_p3", event.Miscompiled},
		{"one", both + "and.pred p3,p1,p2", "%q_p3, %q_p1, %q_p2", "%q_p3, %q_p1, %q_p1", event.Miscompiled},
		{"not", both + "not.pred p2,p2; and.pred p3,p1,p2", "not.pred %q_p2, %q_p2", "mov.pred %q_p2, %q_p2", event.Miscompiled},
		{"constant", both + "or.pred p3,p1,p2", "setp.eq.s32 %q_p2, %q_r2, 0", "setp.eq.s32 %q_p2, %q_r2, 1", event.Miscompiled},
		{"words", "setp.lt.s32 p3,r1,r2", "setp.lt.s32", "setp.gt.s32", event.Miscompiled},
		{"swapped", both + "and.pred p3,p1,p2", "%q_p3, %q_p1, %q_p2", "%q_p3, %q_p2, %q_p1", event.Preserved},
		{"respelled", "setp.lt.s32 p1,r1,1; setp.eq.s32 p2,r2,0; and.pred p3,p1,p2", "setp.lt.s32 %q_p1, %q_r1, 1", "setp.le.s32 %q_p1, %q_r1, 0", event.Preserved},
		{"turned", "setp.lt.s32 p3,r1,r2", "setp.lt.s32 %q_p3, %q_r1, %q_r2", "setp.gt.s32 %q_p3, %q_r2, %q_r1", event.Preserved},
		{"never", both + "and.pred p3,p1,p2", "setp.eq.s32 %q_p2, %q_r2, 0", "setp.lt.s32 %q_p2, %q_r2, 1", event.Optimised},
		{"sum", "add.s32 r3,r1,r2; setp.eq.s32 p3,r3,1", "%q_r3, 1;", "%q_r3, 2;", event.Miscompiled},
	}
	s := newControlSuite(t)
	for _, at := range []struct{ target, release string }{{"sm_35", "11.8"}, {"sm_60", "12.4"}, {"sm_70", "11.2"}, {"sm_80", "12.4"}, {"sm_90", "11.8"}} {
		t.Run(at.target, func(t *testing.T) {
			tc := s.fakes[at.release]
			if tc == nil {
				required.Missing(t, "no ptxas %s", at.release)
			}
			edits := map[string][]fakeptxas.Edit{}
			var tests []*litmus.Test
			for _, c := range controls {
				x := conditional(t, c.name, c.code)
				tests = append(tests, x)
				for _, l := range spec.Layouts {
					u, err := ptxgen.Emit(x, ptxgen.Options{Target: at.target, Layout: l})
					require.NoError(t, err)
					edits[u.Kernels[1].Name] = []fakeptxas.Edit{{Op: fakeptxas.Replace, From: c.from, To: c.to}}
				}
			}
			honest := runControls(t, s.real[at.release], at.target, tests, []string{"O0", "O3"}, spec.Layouts, 0)
			require.NoError(t, (&fakeptxas.Config{Real: s.real[at.release].Ptxas, Edits: map[string]map[string][]fakeptxas.Edit{at.target: edits}}).Write(s.dirs[at.release]))
			wrong := runControls(t, tc, at.target, tests, []string{"O0", "O3"}, spec.Layouts, 0)
			require.Len(t, wrong.cells, len(controls)*len(spec.Layouts)*2)
			for i, c := range controls {
				for k, cell := range wrong.cells {
					if k.test != tests[i].Name {
						continue
					}
					require.Equal(t, event.Preserved, honest.cells[k].Class, "%v: %+v", k, honest.cells[k])
					require.Equal(t, c.class, cell.Class, "%v: %+v", k, cell)
					if c.class == event.Miscompiled || c.class == event.Optimised {
						require.True(t, slices.ContainsFunc(cell.Findings, func(f event.Finding) bool { return f.Rule == optcheck.ControlChanged.ID }), "%+v", cell)
					}
				}
			}
		})
	}
}
