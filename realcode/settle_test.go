package realcode

import (
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"optcheck/pipeline"
	"optcheck/ptx"
	"optcheck/refine"
)

// TestSettle: a kernel is preserved if its stores were performed by runs that were compared or if it is proved, and else unknown.
func TestSettle(t *testing.T) {
	for _, c := range []struct{ name, body, class, reason string }{
		{"all", "setp.eq.u32 %p, %n, 12345; @%p st.global.u32 [%at+64], %n; st.global.u32 [%at], %n;", Preserved, ""},
		{"one that no input reaches, proved",
			"mul.lo.u32 %a, %n, %n; and.b32 %a, %a, 3; setp.eq.u32 %p, %a, 2; @%p st.global.u32 [%at+64], %n; " +
				"st.global.u32 [%at], %n;", Preserved, ""},
		{"one that no input reaches, forced",
			"activemask.b32 %a; setp.eq.u32 %p, %a, 5; @%p st.global.u32 [%at+64], %n; st.global.u32 [%at], %n;",
			Preserved, ""},
		{"one that no input reaches", "activemask.b32 %a; and.b32 %a, %a, 1; ts: .branchtargets A, B; brx.idx %a, ts; " +
			"A: st.global.u32 [%at+64], %n; B: st.global.u32 [%at], %n;", Unknown,
			"1 of 2 operations that write memory were performed by no run that was compared"},
		{"one that nothing reaches", "setp.ne.u32 %p, %n, %n; @%p st.global.u32 [%at+64], %n; st.global.u32 [%at], %n;", Preserved, ""},
		{"what is stored is undefined", "st.global.u32 [%at], %b;", Unknown, "in each run what they write is undefined"},
		{"a form that is not understood", "mov.u32 %a, %pm0; st.global.u32 [%at], %a;", Unknown, "not understood"},
		{"a product and a sum", "mov.u32 %a, %tid.x; mul.wide.u32 %o, %a, 4; add.u64 %at, %at, %o; cvt.rn.f32.u32 %f, %n; ld.global.f32 %g, [%at+128]; mul.f32 %h, %g, %g; add.f32 %f, %h, %f; mul.f32 %g, %f, 0f3F9D70A4; sub.f32 %f, %g, %h; " +
			"st.global.f32 [%at], %f;", Preserved, ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			m, err := ptx.Parse("t.ptx", []byte(`.version 7.8
.target sm_80
.address_size 64
.visible .entry k(.param .u64 out, .param .u32 number)
{
	.reg .b32 %n, %a, %b; .reg .b64 %at, %o; .reg .f32 %f, %g, %h; .reg .pred %p;
	ld.param.u64 %at, [out];
	ld.param.u32 %n, [number];
	`+c.body+`
	ret;
}
`))
			require.NoError(t, err)
			tc := releases(t, "12.4")[0]
			b, err := build(t.Context(), tc, m, "sm_80", "O3")
			require.NoError(t, err)
			code, err := pipeline.Decode(t.Context(), tc, m.File, "sm_80", b.lined)
			require.NoError(t, err)
			cell := &Cell{Target: "sm_80", Level: "O3"}
			require.NoError(t, cell.judge(t.Context(), m, tc, code, Runs))
			require.Equal(t, c.class, cell.Class, cell.Reason)
			require.Contains(t, cell.Reason, c.reason)
			if strings.HasPrefix(c.name, "a product") {
				require.True(t, cell.Result.Executed[0].Uncontracted)
			}
		})
	}
}

// TestOpen: what only runs decide is unknown without one, and stays a finding beside a difference that execution found.
func TestOpen(t *testing.T) {
	guess := Finding{Rule: Weakened, Kernel: "k", computed: true}
	for _, x := range []struct {
		also []Finding
		want string
	}{
		{nil, Unknown}, {[]Finding{{Rule: Missing, Kernel: "k"}}, Changed},
		{[]Finding{{Rule: WrongValue, Kernel: "k", Execution: &refine.Finding{}}}, Miscompiled},
	} {
		r := gather([]Kernel{{Name: "k", Result: Result{Findings: append([]Finding{guess}, x.also...)}}, {Name: "other"}})
		r.settle(false)
		class, _ := r.Class()
		require.Equal(t, x.want, class)
		require.Equal(t, class == Miscompiled, len(r.Findings) == 2, r.Findings)
		require.Equal(t, class != Miscompiled, len(r.Kernels[0].Unknown) == 1)
		require.Empty(t, r.Kernels[1].Unknown)
	}
}

// TestLeftUnknown: what stays unknown of a kernel that was executed, or was not, is the first thing that no run shows.
func TestLeftUnknown(t *testing.T) {
	at := func(line int) *Place { return &Place{Func: "k", Pos: ptx.Pos{Line: line}} }
	may, not := func() bool { return false }, func() bool { return true }
	writes := []write{{n: 1, at: at(1), never: may, code: []uint64{16}}, {n: 2, at: at(2), never: may, lost: true},
		{n: 3, at: at(3), never: not, lost: true, code: []uint64{48}}}
	seven := slices.Repeat(writes[:1], 7)
	shapes := []shape{{at: at(4), why: "odd", code: []Code{{Addr: 64}, {Addr: 80}}}}
	ran := func(r refine.Result) *Executed { return &Executed{Kernel: "k", Result: &r} }
	proved := ran(refine.Result{Unseen: []int{1}})
	proved.Proved, proved.undecided = true, []Place{*at(5)}
	asked := ran(refine.Result{})
	asked.undecided = []Place{*at(5), *at(6)}
	differs := ran(refine.Result{Findings: make([]refine.Finding, 1), Unseen: []int{1}})
	differs.undecided = asked.undecided
	const lacks, forms = " operations that write memory were performed by no run that was compared",
		"no run shows how often it is performed: odd"
	for _, x := range []struct {
		name   string
		writes []write
		shapes []shape
		x      *Executed // nil: the kernel was not executed
		all    bool      // though others were
		line   int       // 0: nothing is unknown, or the machine code alone has it
		said   string
	}{
		{"nothing was executed: what was not found", writes, shapes, nil, false, 2, "1 of 3" + lacks + ": nothing was executed"},
		{"nothing was executed: what the form of the code tells", writes[:1], shapes, nil, false, 4, forms},
		{"nothing was executed, and all was found", writes[:1], nil, nil, false, 0, ""},
		{"others were executed", writes, shapes, nil, true, 1, "2 of 3" + lacks + " (lines 2 …): no kernel calls the function"},
		{"others were executed, and nothing writes", nil, shapes, nil, true, 4, forms},
		{"it could not be", writes, nil, &Executed{Kernel: "k", Why: "no\nway"}, true, 1, "2 of 3" + lacks + " (lines 2 …): no way"},
		{"many could not be", seven, nil, &Executed{Kernel: "k", Why: "no"}, true, 1, "7 of 7" + lacks + " (lines 1, 1, 1, 1, 1 …): no"},
		{"runs show all", writes, nil, ran(refine.Result{}), true, 0, ""},
		{"a run shows not all", writes, nil, ran(refine.Result{Unseen: []int{2}}), true, 2, "1 of 3" + lacks},
		{"nobody comes to what no run shows", writes, nil, ran(refine.Result{Unseen: []int{3}}), true, 0, ""},
		{"what hinders most runs", writes, nil, ran(refine.Result{Unseen: []int{2}, Cannot: map[string]int{"a": 1, "b": 3, "c": 3}}), true, 2,
			"1 of 3" + lacks + ": b"},
		{"what it writes is undefined", writes, nil, ran(refine.Result{Unseen: []int{2}, Undefined: []int{2}}), true, 2, "undefined in PTX"},
		{"what one writes is undefined", writes, nil, ran(refine.Result{Unseen: []int{1, 2}, Undefined: []int{2}}), true, 1,
			"2 of 3" + lacks + " (lines 2 …)"},
		{"undefined, where something hinders", writes, nil, ran(refine.Result{Unseen: []int{2}, Undefined: []int{2},
			Cannot: map[string]int{"a": 1}}), true, 2, ": a"},
		{"the machine code writes more", writes, nil, ran(refine.Result{Unwritten: []refine.Code{{Addr: 48}, {Addr: 16}, {Addr: 96}}}), true, 0,
			"2 instructions of the machine code"},
		{"it writes where nobody comes to", writes, nil, ran(refine.Result{Unwritten: []refine.Code{{Addr: 48}}}), true, 0, ""},
		{"conditions", writes, shapes, asked, true, 5, "2 conditions of which runs did not show both outcomes"},
		{"a form of code that no run performs", writes, shapes, ran(refine.Result{Performed: map[uint64]bool{64: true}}), true, 4, forms},
		{"a form of code that runs perform", writes, shapes, ran(refine.Result{Performed: map[uint64]bool{64: true, 80: true}}), true, 0, ""},
		{"a form of code to which nobody comes", writes, shapes, ran(refine.Result{Performed: map[uint64]bool{80: true},
			Unreached: []uint64{64}}), true, 0, ""},
		{"it is proved", writes, shapes, proved, true, 0, ""},
		{"it differs", writes, shapes, differs, true, 0, ""},
		{"no run at all, and nothing writes", nil, shapes, &Executed{Kernel: "k", Why: "no"}, true, 4, forms},
	} {
		t.Run(x.name, func(t *testing.T) {
			r := gather([]Kernel{{Name: "k", writes: x.writes, shapes: x.shapes}})
			if x.x != nil {
				r.Executed = []Executed{*x.x}
			}
			r.settle(x.all)
			require.Equal(t, r.Kernels[0].Unknown, r.Unknown)
			if x.said == "" {
				require.Empty(t, r.Unknown)
				return
			}
			require.Len(t, r.Unknown, 1)
			f := r.Unknown[0]
			require.Equal(t, Uncompared, f.Rule)
			require.Equal(t, "k", f.Kernel)
			require.Contains(t, f.Detail+"$", x.said+map[bool]string{true: "$"}[strings.HasPrefix(x.said, "1 of") || strings.HasPrefix(x.said,
				"2 of")])
			if x.line == 0 {
				require.Nil(t, f.First)
				require.Equal(t, []Code{{Func: "k", Addr: 16}}, f.Code)
			} else {
				require.Equal(t, at(x.line), f.First)
			}
			if x.said == forms {
				require.False(t, x.x != nil && x.x.Result != nil && x.x.Performed[f.Code[0].Addr])
			}
		})
	}
}

// TestKernelOfCell: a cell's result is asked for its kernels by name.
func TestKernelOfCell(t *testing.T) {
	c := &Cell{Result: gather([]Kernel{{Name: "a", Hash: "1"}, {Name: "b", Hash: "2"}})}
	for name, hash := range map[string]string{"a": "1", "b": "2"} {
		require.Equal(t, hash, c.kernel(name).Hash)
	}
	require.Nil(t, c.kernel("c"))
	require.Nil(t, (&Cell{}).kernel("a"))
}
