package audit

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"optcheck/event"
	"optcheck/isa"
	"optcheck/litmus"
	"optcheck/optcheck"
	"optcheck/ptxgen"
	"optcheck/sass"
	"optcheck/sass/cubin"
	"optcheck/spec"
	"optcheck/toolchain"
)

// edited compiles a test with a real release at -O3, lets edit rewrite the
// disassembly of one thread, a line each, and returns what becomes of it.
func edited(t *testing.T, x *litmus.Test, rel, target string, thread int, edit func(lines []string) []string) (class, reason string, v *event.Verdict) {
	t.Helper()
	return editedAt(t, x, rel, target, "O3", thread, edit)
}

func editedAt(t *testing.T, x *litmus.Test, rel, target, level string, thread int, edit func(lines []string) []string) (class, reason string, v *event.Verdict) {
	t.Helper()
	return editedIn(t, x, spec.Pointers, rel, target, level, thread, edit)
}

func editedIn(t *testing.T, x *litmus.Test, layout spec.Layout, rel, target, level string, thread int, edit func(lines []string) []string) (class, reason string, v *event.Verdict) {
	t.Helper()
	tc := release(t, rel)[0]
	u, err := ptxgen.Emit(x, ptxgen.Options{Target: target, Layout: layout})
	require.NoError(t, err)
	job := toolchain.Job{Target: target, Level: level, LineInfo: true, Header: ptxgen.Header(u.Version, target), Units: []toolchain.Unit{{Name: u.Name, Text: u.Text}}}
	res, err := tc.Compile(t.Context(), job)
	require.NoError(t, err)
	require.Empty(t, res.Failed)
	text, err := tc.Disassemble(t.Context(), res.Batches[0].Cubin, toolchain.DisasmOptions{LineInfo: true, NoDataflow: true})
	require.NoError(t, err)
	file, err := cubin.Parse(res.Batches[0].Cubin)
	require.NoError(t, err)
	consts, lits := file.Constants(), file.Literals()
	s := &subject{t: x, hash: x.Hash(), target: target, changed: true}
	class = event.Preserved
	for i, k := range u.Kernels {
		dump := string(text)
		if i == thread && edit != nil {
			dump = strings.Join(edit(section(strings.Split(dump, "\n"), k.Name)), "\n")
		}
		prog, err := sass.Parse("edited", []byte(dump))
		require.NoError(t, err)
		require.Empty(t, prog.Problems)
		var fn *isa.Func
		for _, f := range prog.Funcs {
			if f.Name == k.Name {
				fn = f
			}
		}
		require.NotNil(t, fn)
		c := optcheck.NewChecker()
		c.Consts, c.Literals = consts, lits[k.Name]
		r, err := c.CheckAgainst(fn, k.Spec)
		require.NoError(t, err)
		if r.Class == optcheck.Unknown {
			return event.Unknown, r.Reason, nil
		}
		for _, f := range r.Findings {
			reason += f.Rule + " "
			class = event.Changed
		}
		l, err := r.Lift()
		if err != nil {
			return event.Unknown, err.Error(), nil
		}
		s.threads = append(s.threads, optcheck.LiftedThread{Lifted: l, Spec: k.Spec, Values: k.Values})
	}
	j := newJudge("", true).judge(t.Context(), s)
	if j.err != nil {
		return event.Unknown, j.err.Error(), nil
	}
	switch {
	case class == event.Preserved && !j.equal:
		reason += "tool error"
		class = event.Unknown
	case class == event.Changed && j.subset:
		class = event.Optimised
	case class == event.Changed:
		class = event.Miscompiled
	}
	return class, reason, j.verdict
}

// section keeps one kernel's part of a disassembly.
func section(lines []string, kernel string) []string {
	var out []string
	keep := true
	for _, l := range lines {
		if i := strings.Index(l, ".text."); i >= 0 && !strings.Contains(l, "BRA") {
			keep = strings.HasPrefix(l[i+len(".text."):], kernel)
		}
		if keep {
			out = append(out, l)
		}
	}
	return out
}

// code is an edit: texts by address, in place of what is there ("" for NOP), or
// before it where the address ends in a digit that is none of an instruction's.
type code map[int]string

func (c code) apply(lines []string) []string {
	var out []string
	var addrs []int
	for a := range c {
		addrs = append(addrs, a)
	}
	slices.Sort(addrs)
	for _, l := range lines {
		var a int
		if n, _ := fmt.Sscanf(strings.TrimSpace(l), "/*%x*/", &a); n == 1 {
			for len(addrs) > 0 && addrs[0] <= a {
				text := c[addrs[0]]
				if text == "" {
					text = "NOP"
				}
				if addrs[0] == a {
					l = ""
				}
				if strings.HasSuffix(text, ":") {
					out = append(out, text)
				} else {
					out = append(out, fmt.Sprintf("        /*%04x*/  %s ;", addrs[0], text))
				}
				addrs = addrs[1:]
			}
		}
		out = append(out, l)
	}
	return out
}

const threeLoads = `GPU_PTX three
{ x=0; y=0;
0:.reg .b64 rd0 = x; 0:.reg .b64 rd1 = y;
1:.reg .s32 r1; 1:.reg .s32 r2; 1:.reg .s32 r3; 1:.reg .b64 rd0 = y; 1:.reg .b64 rd1 = x;
}
 T0                         | T1                          ;
 st.weak.s32 [rd0],1        | ld.acquire.gpu.s32 r1,[rd0] ;
 st.release.gpu.s32 [rd1],1 | ld.weak.s32 r2,[rd1]        ;
                            | ld.acquire.gpu.s32 r3,[rd0] ;
ScopeTree(grid(cta(warp T0)) (cta(warp T1)))
x: global, y: global
exists (1:r1=1 /\ 1:r2=0 /\ 1:r3=1)
`

const guarded = `GPU_PTX guarded
{ x=0; y=0; z=0;
0:.reg .b64 rd0 = x; 0:.reg .b64 rd1 = y;
1:.reg .s32 r1; 1:.reg .s32 r2; 1:.reg .s32 r3; 1:.reg .b64 rd0 = y; 1:.reg .b64 rd1 = x; 1:.reg .b64 rd2 = z; 1:.reg .pred p1;
}
 T0                         | T1                              ;
 st.relaxed.gpu.s32 [rd0],1 | ld.relaxed.gpu.s32 r1,[rd0]     ;
 st.relaxed.gpu.s32 [rd1],1 | ld.relaxed.gpu.s32 r2,[rd1]     ;
                            | setp.ne.s32 p1,r1,0             ;
                            | @p1 st.relaxed.gpu.s32 [rd2],1  ;
ScopeTree(grid(cta(warp T0)) (cta(warp T1)))
x: global, y: global, z: global
exists (1:r1=0 /\ 1:r2=0 /\ z=1)
`

const guardedLoad = `GPU_PTX guardedLoad
{ x=0; y=0;
0:.reg .b64 rd0 = x; 0:.reg .b64 rd1 = y;
1:.reg .s32 r1; 1:.reg .s32 r2; 1:.reg .b64 rd0 = y; 1:.reg .b64 rd1 = x; 1:.reg .pred p1;
}
 T0                         | T1                              ;
 st.relaxed.gpu.s32 [rd0],1 | ld.relaxed.gpu.s32 r1,[rd0]     ;
 st.relaxed.gpu.s32 [rd1],1 | setp.ne.s32 p1,r1,0             ;
                            | @p1 ld.relaxed.gpu.s32 r2,[rd1] ;
ScopeTree(grid(cta(warp T0)) (cta(warp T1)))
x: global, y: global
exists (1:r1=0 /\ 1:r2=1)
`

const minMax = `GPU_PTX minmax
{ x=-1; y=0;
0:.reg .b64 rd0 = x; 0:.reg .b64 rd1 = y; 0:.reg .s32 r1;
}
 T0                             ;
 atom.relaxed.gpu.min.s32 r1,[rd0],1 ;
ScopeTree(grid(cta(warp T0)))
x: global, y: global
exists (0:r1=0 /\ x=1)
`

const unsignedLoad = `GPU_PTX unsigned
{ x=4294967295; y=0;
0:.reg .b64 rd0 = x; 0:.reg .u32 r1;
}
 T0                            ;
 ld.relaxed.gpu.u32 r1,[rd0]   ;
ScopeTree(grid(cta(warp T0)))
x: global, y: global
exists (0:r1=4294967295)
`

// TestEdited: machine code that a compiler could have made wrong, or differently
// and right, is judged by what it does. None of the wrong ones is "optimised"
// or "preserved"; where the checker alone cannot tell, lifting does (unknown,
// with the new outcome).
func TestEdited(t *testing.T) {
	own := map[string]string{"three": threeLoads, "guarded": guarded, "guardedLoad": guardedLoad, "minmax": minMax, "unsigned": unsignedLoad}
	const never = "ISETP.EQ.U32.AND P0, PT, RZ, c[0x0][0x178], PT"
	for _, w := range []struct {
		what, test string
		thread     int
		edits      code
		class      string
		fresh      string // a new outcome
	}{
		{"a fence under a condition that never holds", "mp+fence.acq_rel.gpus", 1,
			code{0x61: "ISETP.NE.AND P0, PT, RZ, RZ, PT", 0x70: "@P0 MEMBAR.ALL.GPU", 0x90: "@P0 CCTL.IVALL"}, event.Miscompiled, "1:r1=1; 1:r2=0;"},
		{"a store under a condition that never holds", "mp+release.gpu+acquire.gpu", 0, code{0x71: never, 0x80: "@P0 STG.E [R2.64], R17"}, event.Miscompiled, "1:r1=1; 1:r2=0;"},
		{"no invalidation in front of a weak load", "mp+fence.acq_rel.gpus", 1, code{0x90: ""}, event.Miscompiled, "1:r1=1; 1:r2=0;"},
		{"an acquire load merged with one whose invalidation comes late", "three", 1,
			code{0x70: "", 0x90: "", 0x110: "LOP3.LUT R13, R0, 0xf7b9cc4, RZ, 0x3c, !PT"}, event.Miscompiled, "1:r1=1; 1:r2=0; 1:r3=1;"},
		{"a store reached by either of two branches", "guarded", 1, code{0x111: "ISETP.NE.AND P1, PT, R4, RZ, PT", 0x130: "@P0 BRA `(.L_a)", 0x140: "@P1 BRA `(.L_b)",
			0x141: ".L_a:", 0x142: "IMAD.MOV.U32 R6, RZ, RZ, c[0x0][0x170]", 0x143: "IMAD.MOV.U32 R7, RZ, RZ, c[0x0][0x174]",
			0x150: "STG.E.STRONG.GPU [R6.64], R19", 0x151: ".L_b:"}, event.Miscompiled, "1:r1=0; 1:r2=0; z=1;"},
		{"a branch with two predicates", "guarded", 1, code{0x111: "ISETP.NE.AND P1, PT, R4, RZ, PT", 0x130: "@!P0 BRA P1, `(.L_b)",
			0x142: "IMAD.MOV.U32 R6, RZ, RZ, c[0x0][0x170]", 0x143: "IMAD.MOV.U32 R7, RZ, RZ, c[0x0][0x174]", 0x140: "",
			0x150: "STG.E.STRONG.GPU [R6.64], R19", 0x151: ".L_b:"}, event.Miscompiled, "1:r1=0; 1:r2=0; z=1;"},
		{"a value chosen by either of two branches", "guarded", 1, code{0x111: "ISETP.NE.AND P1, PT, R4, RZ, PT", 0x112: "@P0 BRA `(.L_a)", 0x113: "@P1 BRA `(.L_b)",
			0x114: ".L_a:", 0x115: "MOV R19, 0x5", 0x116: ".L_b:"}, event.Miscompiled, "1:r1=1; 1:r2=0; z=5;"},
		{"a load performed in any case, its result chosen", "guardedLoad", 1, code{0x70: "IMAD.MOV.U32 R4, RZ, RZ, c[0x0][0x160]",
			0x80: "IMAD.MOV.U32 R5, RZ, RZ, c[0x0][0x164]", 0x90: "LDG.E.STRONG.GPU R8, [R4.64]", 0x91: "@P0 IMAD.MOV.U32 R0, RZ, RZ, R8"}, event.Optimised, ""},
		{"a signed minimum made unsigned", "minmax", 0, code{0x50: "ATOMG.E.MIN.STRONG.GPU PT, R2, [R2.64], R15"}, event.Miscompiled, "0:r1=4294967295; x=1;"},
		{"a weakened load of an unsigned word", "unsigned", 0, code{0x40: "LDG.E R2, [R2.64]"}, event.Optimised, ""},
		{"the result of an atomic changed", "minmax", 0, code{0x51: "IADD3 R2, R2, 0x5, RZ"}, event.Miscompiled, ""},
		{"a combined atomic of another value", "add+add.gpus", 0, code{0x90: "IMAD R11, R0, 0x2, RZ"}, event.Unknown, ""},
		{"a combined atomic of twice the value", "add+add.gpus", 0, code{0x91: "IMAD.SHL.U32 R11, R11, 0x2, RZ"}, event.Unknown, ""},
		{"an atomic under a condition that no lane decides", "add+add.gpus", 0, code{0x70: "ISETP.EQ.U32.AND P0, PT, RZ, c[0x0][0x170], PT"}, event.Miscompiled, ""},
		{"the same, of twice the value", "add+add.gpus", 0,
			code{0x70: "ISETP.EQ.U32.AND P0, PT, RZ, c[0x0][0x170], PT", 0x91: "IMAD.SHL.U32 R11, R11, 0x2, RZ"}, event.Unknown, ""},
	} {
		t.Run(w.what, func(t *testing.T) {
			var test *litmus.Test
			if x, ok := own[w.test]; ok {
				var err error
				test, err = litmus.Parse("edited", []byte(x))
				require.NoError(t, err)
				require.NoError(t, test.Check())
			} else {
				test = corpusTest(t, w.test)
			}
			class, reason, v := edited(t, test, "12.4", "sm_80", w.thread, w.edits.apply)
			if v != nil {
				t.Log(v.Lifted, v.New)
			}
			require.Equal(t, w.class, class, reason)
			if w.fresh != "" {
				require.True(t, slices.ContainsFunc(v.New, func(s string) bool { return strings.HasPrefix(s, w.fresh) }), "%v", v.New)
			}
		})
	}
}
