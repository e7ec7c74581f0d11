package prove_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"optcheck/ir"
	"optcheck/prove"
)

// remainder adds each 256th of n elements, of which there are less than so many: what four do not divide, then four at once.
const remainder = "mov.u32 a, %%tid.x; setp.ge.s32 q, n, %d; @q bra gone; setp.ge.s32 q, a, n; @q bra begun; add.u32 a, a, 256; " +
	"begun: setp.ge.s32 q, a, n; @q bra gone; not.b32 b, a; add.s32 b, b, n; shr.u32 c, b, 8; add.u32 c, c, 1; and.b32 c, c, 3; " +
	"setp.eq.s32 q, c, 0; @q bra rest; single: add.u32 x, x, a; add.u32 a, a, 256; add.u32 c, c, -1; setp.ne.s32 q, c, 0; @q bra single; " +
	"rest: setp.lt.u32 q, b, 768; @q bra gone; asked: add.u32 x, x, a; add.s32 a, a, 1024; setp.lt.s32 p, a, n; @p bra asked"

// TestPossible: of a jump that no input makes, or all do, that is found out; what an earlier iteration left is not taken for what this one does.
func TestPossible(t *testing.T) {
	for _, c := range []struct {
		name, body  string
		never, also bool // that the last jump, or that to "asked", is made, that it is not
	}{
		{"an odd number", "shr.u32 a, n, 1; add.u32 b, a, a; add.u32 b, b, 1; and.b32 c, b, 3; setp.eq.u32 p, c, 2", true, false},
		{"any number", "shr.u32 a, n, 1; add.u32 b, a, n; and.b32 c, b, 3; setp.eq.u32 p, c, 2", false, false},
		{"behind its opposite", "setp.ge.s32 q, n, m; @q bra gone; setp.lt.s32 p, n, m", false, true},
		{"behind another", "setp.ge.s32 q, n, m; @q bra gone; setp.lt.u32 p, n, m", false, false},
		{"where paths meet", "setp.ge.s32 q, n, m; @q bra meet; add.u32 x, x, 1; meet: setp.lt.s32 p, n, m", false, false},
		{"guarded", "mov.u32 a, 4; setp.ge.s32 q, n, m; @q mov.u32 a, 5; setp.eq.u32 p, a, 6", true, false},
		{"of either", "mov.u32 a, 4; setp.ge.s32 q, n, m; @q mov.u32 a, 5; setp.eq.u32 p, a, 5", false, false},
		{"of an earlier iteration", "mov.u32 a, 0; mov.u32 b, 0; again: add.u32 c, a, 1; setp.eq.u32 q, b, c; @q bra gone; mov.u32 b, c; add.u32 a, a, n; " +
			"setp.lt.u32 q, a, m; @q bra again; setp.eq.u32 p, b, c", false, true},
		{"of the one before", "mov.u32 a, 0; mov.u32 b, 7; again: add.u32 c, a, 1; setp.eq.u32 p, b, c; @p bra gone; mov.u32 b, c; mov.u32 a, x; " +
			"ld.global.u32 x, [d]; setp.lt.u32 q, a, m; @q bra again; setp.ne.u32 p, x, a", false, false},
		{"loaded", "ld.global.u8 a, [d]; setp.gt.u32 p, a, 255", true, false},
		{"loaded with a sign", "ld.global.s8 a, [d]; setp.lt.s32 p, a, 0", false, false},
		{"loaded with a sign, as a word", "ld.global.s16 a, [d]; setp.gt.u32 p, a, 65535", false, false},
		{"a number of a thread", "mov.u32 a, %tid.x; setp.gt.u32 p, a, 1023", true, false},
		{"in each iteration", "mov.u32 a, n; setp.ge.u32 q, a, m; @q bra gone; again: setp.ge.u32 p, a, m; @p bra asked; add.u32 x, x, a; asked: add.u32 a, a, 7; " +
			"setp.lt.u32 q, a, m; @q bra again", true, false},
		{"but for the first iteration", "mov.u32 a, n; again: setp.ge.u32 p, a, m; @p bra asked; add.u32 x, x, a; asked: add.u32 a, a, 7; " +
			"setp.lt.u32 q, a, m; @q bra again", false, false},
		{"but for the others", "mov.u32 a, n; setp.ge.u32 q, a, m; @q bra gone; again: setp.ge.u32 p, a, m; @p bra asked; add.u32 x, x, a; asked: add.u32 a, a, 7; " +
			"setp.lt.u32 q, x, m; @q bra again", false, false},
		{"loaded in the iteration before", "mov.u32 a, 0; mov.u32 b, 0; setp.eq.u32 q, m, 0; @q bra gone; again: setp.ge.u32 p, b, m; @p bra asked; " +
			"asked: ld.global.u32 c, [d]; setp.ge.u32 q, c, m; @q bra gone; mov.u32 b, c; add.u32 a, a, 1; setp.lt.u32 q, a, n; @q bra again", true, false},
		{"loaded again", "mov.u32 a, 0; again: ld.global.u32 c, [d]; setp.ge.u32 p, c, m; @p bra asked; asked: setp.ge.u32 q, c, m; @q bra gone; " +
			"add.u32 a, a, 1; setp.lt.u32 q, a, n; @q bra again", false, false},
		{"a quotient by zero", "mov.u32 b, 0; div.u32 a, n, b; setp.eq.u32 p, a, 7", false, false},
		{"a quotient", "mov.u32 b, 2; setp.gt.u32 q, n, 9; @q bra gone; div.u32 a, n, b; setp.gt.u32 p, a, 7", true, false},
		{"of either path", "mov.u32 a, 4; setp.ge.s32 q, n, m; @q bra other; mov.u32 a, 6; other: setp.eq.u32 p, a, 5", true, false},
		{"of either path that holds", "mov.u32 a, 4; setp.ge.s32 q, n, m; @q bra other; mov.u32 a, 5; other: setp.eq.u32 p, a, 5", false, false},
		{"unrolled for more", "add.u32 a, n, 4; min.s32 a, a, m; setp.ge.s32 q, n, a; @q bra gone; sub.u32 b, a, n; add.u32 b, b, -1; setp.gt.u32 p, b, 3", true, false},
		{"unrolled for as many", "add.u32 a, n, 4; min.s32 a, a, m; setp.ge.s32 q, n, a; @q bra gone; sub.u32 b, a, n; add.u32 b, b, -1; setp.gt.u32 p, b, 2", false, false},
		{"a multiple of four in each iteration", "mov.u32 a, 0; again: and.b32 b, a, 3; setp.ne.u32 p, b, 0; @p bra asked; add.u32 x, x, 1; asked: add.u32 a, a, 12; " +
			"setp.lt.u32 q, a, m; @q bra again", true, false},
		{"but for what is added", "mov.u32 a, 0; again: and.b32 b, a, 3; setp.ne.u32 p, b, 0; @p bra asked; add.u32 x, x, 1; asked: add.u32 a, a, 6; " +
			"setp.lt.u32 q, a, m; @q bra again", false, false},
		{"but for what is loaded", "mov.u32 a, 0; again: and.b32 b, a, 3; setp.ne.u32 p, b, 0; @p bra asked; ld.global.u32 a, [d]; asked: add.u32 a, a, 12; " +
			"setp.lt.u32 q, a, m; @q bra again", false, false},
		{"but for where it begins", "mov.u32 a, n; again: and.b32 b, a, 3; setp.ne.u32 p, b, 0; @p bra asked; add.u32 x, x, 1; asked: add.u32 a, a, 12; " +
			"setp.lt.u32 q, a, m; @q bra again", false, false},
		{"in the inner of two loops", "mov.u32 a, 0; outer: mov.u32 c, a; again: and.b32 b, c, 3; setp.ne.u32 p, b, 0; @p bra asked; add.u32 x, x, 1; " +
			"asked: add.u32 c, c, 8; setp.lt.u32 q, c, m; @q bra again; add.u32 a, a, 6; setp.lt.u32 q, a, n; @q bra outer", false, false},
		{"behind a loop", "mov.u32 a, 0; again: add.u32 a, a, 2; setp.lt.u32 q, a, m; @q bra again; and.b32 b, a, 1; " +
			"setp.eq.u32 p, b, 1", true, false},
		{"in the inner of two loops, of multiples", "mov.u32 a, 0; outer: mov.u32 c, a; again: and.b32 b, c, 3; setp.ne.u32 p, b, 0; " +
			"@p bra asked; add.u32 x, x, 1; asked: add.u32 c, c, 8; setp.lt.u32 q, c, m; @q bra again; add.u32 a, a, 12; setp.lt.u32 q, a, n; @q bra outer", true, false},
		{"in the inner of two loops, of what is loaded", "mov.u32 a, 0; outer: mov.u32 c, a; again: and.b32 b, c, 3; setp.ne.u32 p, b, 0; " +
			"@p bra asked; add.u32 x, x, 1; asked: add.u32 c, c, 8; setp.lt.u32 q, c, m; @q bra again; ld.global.u32 b, [d]; shl.b32 b, b, 2; add.u32 a, a, b; setp.lt.u32 q, a, n; @q bra outer", true, false},
		{"what is left, unrolled by four", fmt.Sprintf(remainder, 2049), true, false},
		{"what is left, unrolled by four, of more", fmt.Sprintf(remainder, 2050), false, false},
	} {
		text := ".visible .entry k(.param .u64 at, .param .u32 pn, .param .u32 pm)\n{\n.reg .pred p, q;\n.reg .b32 n, m, x, a, b, c;\n.reg .b64 d;\n" +
			"ld.param.u64 d, [at];\nld.param.u32 n, [pn];\nld.param.u32 m, [pm];\nmov.u32 x, 1;\n" + strings.ReplaceAll(c.body, "; ", ";\n") +
			";\n@p bra gone;\nst.global.u32 [d], x;\ngone:\nret;\n}\n"
		p := program(t, "k", text)
		last := 0
		for i := range p.Insts {
			if asked := strings.Contains(c.body, "@p bra asked"); strings.HasPrefix(p.Insts[i].Text, map[bool]string{true: "@p bra asked", false: "@p bra gone"}[asked]) {
				last = i
			}
		}
		possible := prove.NewPossible(p)
		at, r := int32(last), p.Insts[last].Guard
		require.Equal(t, [2]bool{c.never, c.also}, [2]bool{possible.Never(at, r, true), possible.Never(at, r, false)}, c.name)
	}
}

// TestPossibleCalls: what functions return is known of each call, and nothing of what may call itself.
func TestPossibleCalls(t *testing.T) {
	const functions = ".func (.reg .u32 r) half(.reg .u32 v)\n{\nshr.u32 r, v, 1;\nret;\n}\n" +
		".func (.reg .u32 r) quarter(.reg .u32 v)\n{\n.reg .u32 h;\ncall (h), half, (v);\ncall (r), half, (h);\nret;\n}\n" +
		".func (.reg .u32 r) other(.reg .u32 v)\n{\nor.b32 r, v, 1;\nret;\n}\n" +
		".func (.reg .u32 r) below(.reg .u32 v, .reg .u32 w)\n{\n.reg .pred p;\nmov.u32 r, 0;\nsetp.lt.u32 p, v, w;\n@!p ret;\nmov.u32 r, 1;\nret;\n}\n"
	const again = ".func (.reg .u32 r) again(.reg .u32 v)\n{\n.reg .pred p;\n.reg .u32 h;\nmov.u32 r, 3;\nsetp.eq.u32 p, v, 0;\n@p ret;\nsub.u32 h, v, 1;\ncall (r), again, (h);\nret;\n}\n"
	for _, c := range []struct {
		name, body  string
		never, also bool // that the jump is made, that it is not
	}{
		{"returned", "call (a), half, (n); setp.gt.u32 p, a, 0x7fffffff", true, false},
		{"returned at most", "call (a), half, (n); setp.gt.u32 p, a, 0x7ffffffe", false, false},
		{"of either call", "call (a), half, (n); mov.u32 c, 8; call (b), half, (c); setp.ne.u32 p, b, 4", true, false},
		{"of the other call", "call (a), half, (n); mov.u32 c, 8; call (b), half, (c); setp.ne.u32 p, a, 4", false, false},
		{"inside another", "call (a), quarter, (n); setp.gt.u32 p, a, 0x3fffffff", true, false},
		{"known before", "setp.ge.s32 q, n, m; @q bra gone; call (a), half, (n); setp.ge.s32 p, n, m", true, false},
		{"a condition of what is called", "call (a), below, (n, m); setp.eq.u32 q, a, 0; @q bra gone; setp.gt.u32 p, a, 1", true, false},
		{"a condition of what is called, of either path", "call (a), below, (n, m); setp.eq.u32 p, a, 0", false, false},
		{"guarded", "setp.ge.s32 q, n, m; mov.u32 a, 1; @q call (a), half, (n); setp.gt.u32 p, a, 0x7fffffff", true, false},
		{"guarded, and left out", "setp.ge.s32 q, n, m; mov.u32 a, 0x80000000; @q call (a), half, (n); setp.gt.u32 p, a, 0x7fffffff", false, false},
		{"in a loop", "mov.u32 a, n; again: call (a), half, (a); setp.ge.u32 q, a, m; @q bra again; setp.gt.u32 p, a, 0x7fffffff", true, false},
		{"by address", "mov.u32 c, 4; mov.u64 d, other; setp.ge.s32 q, n, m; @q mov.u64 d, half; call (a), d, (c), prototype; setp.eq.u32 p, a, 3", true, false},
		{"by address, either", "mov.u32 c, 4; mov.u64 d, other; setp.ge.s32 q, n, m; @q mov.u64 d, half; call (a), d, (c), prototype; setp.eq.u32 p, a, 5", false, false},
		{"memory that is found", "call (e), malloc, (e); setp.eq.u64 p, e, 0", false, false},
		{"calls itself", "call (a), again, (n); setp.eq.u32 p, a, 4", false, false},
	} {
		text := ".extern .func (.reg .u64 r) malloc(.reg .u64 v);\n" + functions
		if strings.Contains(c.body, "again, (n)") {
			text += again
		}
		text += ".visible .entry k(.param .u64 at, .param .u32 pn, .param .u32 pm)\n{\n.reg .pred p, q;\n.reg .b32 n, m, x, a, b, c;\n.reg .b64 d, e;\n" +
			"prototype: .callprototype (.reg .u32 _) _ (.reg .u32 _);\nld.param.u64 e, [at];\nld.param.u32 n, [pn];\nld.param.u32 m, [pm];\nmov.u32 x, 1;\n" +
			strings.ReplaceAll(c.body, "; ", ";\n") + ";\n@p bra gone;\nst.global.u32 [e], x;\ngone:\nret;\n}\n"
		p := program(t, "k", text)
		last := int32(slices.IndexFunc(p.Insts, func(in ir.Inst) bool { return strings.HasPrefix(in.Text, "@p bra gone") }))
		possible := prove.NewPossible(p)
		r := p.Insts[last].Guard
		require.Equal(t, [2]bool{c.never, c.also}, [2]bool{possible.Never(last, r, true), possible.Never(last, r, false)}, c.name)
	}
}
