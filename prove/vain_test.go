package prove_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"optcheck/ir"
	"optcheck/prove"
)

// TestVain: a jump decides nothing if both ways leave the same where they meet.
func TestVain(t *testing.T) {
	for _, c := range []struct {
		name, body string
		vain       bool
	}{
		{"a sign that a known number keeps", "mov.f32 f, 0f40000000; cvt.rzi.f32.f32 g, f; setp.neu.f32 q, f, g; @p bra meet; neg.f32 h, y; selp.f32 y, h, y, q", true},
		{"one that it changes", "mov.f32 f, 0f40000000; cvt.rzi.f32.f32 g, f; setp.eq.f32 q, f, g; @p bra meet; neg.f32 h, y; selp.f32 y, h, y, q", false},
		{"one that any number changes", "setp.neu.f32 q, y, 0f40000000; @p bra meet; neg.f32 h, y; selp.f32 y, h, y, q", false},
		{"the same sum", "add.u32 a, n, m; @p bra meet; sub.u32 b, n, 0; add.u32 a, m, b", true},
		{"another sum", "add.u32 a, n, m; @p bra meet; sub.u32 b, n, 1; add.u32 a, m, b", false},
		{"two ways", "@p bra other; add.u32 a, n, n; bra meet; other: shl.b32 a, n, 1", true},
		{"two that differ", "@p bra other; add.u32 a, n, n; bra meet; other: shl.b32 a, n, 2", false},
		{"a store", "@p bra meet; st.global.u32 [d], n", false},
		{"another way in", "setp.eq.u32 q, n, m; add.u32 a, n, m; @q bra in; add.u32 a, n, m; @p bra meet; in: add.u32 a, m, n", false},
		{"what nobody reads", "@p bra meet; add.u32 c, n, m", true},
	} {
		text := ".visible .entry k(.param .u64 at, .param .u32 pn, .param .u32 pm)\n{\n.reg .pred p, q;\n.reg .b32 n, m, a, b, c;\n.reg .f32 f, g, h, y;\n.reg .b64 d;\n" +
			"ld.param.u64 d, [at];\nld.param.u32 n, [pn];\nld.param.u32 m, [pm];\nmov.u32 a, 0;\nmov.b32 y, n;\nsetp.lt.u32 p, n, m;\n" +
			strings.ReplaceAll(c.body, "; ", ";\n") + ";\nmeet:\nst.global.u32 [d], a;\nst.global.f32 [d+4], y;\nret;\n}\n"
		p := program(t, "k", text)
		jump := int32(slices.IndexFunc(p.Insts, func(in ir.Inst) bool { return strings.HasPrefix(in.Text, "@p bra") }))
		read := func(r ir.Reg, some map[int32]bool) bool {
			for i := range p.Insts {
				in := &p.Insts[i]
				reads := in.Guard == r
				if a, ok := in.Do.(*ir.Access); ok && a.Kind == ir.Store {
					reads = reads || slices.Contains(a.Data, r)
				}
				for _, o := range slices.Concat(in.Pre, in.Post) {
					reads = reads || slices.Contains(o.Src[:], r)
				}
				if reads && !some[int32(i)] {
					return true
				}
			}
			return false
		}
		require.Equal(t, c.vain, prove.NewPossible(p).Vain(jump, read), c.name)
	}
}

// TestMoot: it decides nothing what an instruction chooses by if it chooses between equals.
func TestMoot(t *testing.T) {
	for _, c := range []struct {
		name, body string
		moot       [2]bool // that p is false, that it is true
	}{
		{"equals where it is true", "setp.eq.u32 p, n, 0; selp.u32 a, 0, n, p", [2]bool{false, true}},
		{"equals where it is false", "setp.ne.u32 p, n, 3; selp.u32 a, n, 3, p", [2]bool{true, false}},
		{"others", "setp.lt.u32 p, n, 2; selp.u32 a, 0, n, p", [2]bool{}},
		{"a move", "mov.u32 a, n; setp.lt.u32 p, n, 2; @p mov.u32 a, n", [2]bool{true, true}},
		{"a move of a number that is there", "mov.u32 a, n; setp.eq.u32 p, n, 5; @p mov.u32 a, 5", [2]bool{false, true}},
		{"a division", "mov.u32 a, n; setp.eq.u32 p, m, 0; @p div.u32 a, n, m", [2]bool{}},
		{"an atomic", "setp.eq.u32 p, n, 5; @p atom.global.add.u32 a, [d], 0", [2]bool{}},
		{"lanes that none is below of", "mov.u32 b, %laneid; shfl.sync.up.b32 a|q, n, 4, 0, -1; setp.lt.u32 p, b, 4; @p mov.u32 a, n", [2]bool{false, true}},
		{"lanes that one is below of", "mov.u32 b, %laneid; shfl.sync.up.b32 a|q, n, 4, 0, -1; setp.lt.u32 p, b, 5; @p mov.u32 a, n", [2]bool{}},
		{"lanes that none is above of", "mov.u32 b, %laneid; shfl.sync.down.b32 a|q, n, 4, 31, -1; setp.gt.u32 p, b, 27; @p mov.u32 a, n", [2]bool{false, true}},
		{"lanes of a part", "mov.u32 b, %laneid; and.b32 c, b, 7; shfl.sync.bfly.b32 a|q, n, 4, 0x1807, -1; setp.eq.u32 p, c, 7; @p mov.u32 a, n", [2]bool{}},
		{"a lane of its own part", "mov.u32 b, %laneid; shfl.sync.idx.b32 a|q, n, b, 31, -1; setp.eq.u32 p, b, 7; @p mov.u32 a, n", [2]bool{}},
		{"whether one is below", "mov.u32 b, %laneid; shfl.sync.up.b32 c|p, n, 1, 0, -1; setp.ne.u32 q, b, 0; selp.u32 c, 1, 2, q; mov.u32 a, 1; @!p mov.u32 a, c", [2]bool{false, true}},
	} {
		text := ".visible .entry k(.param .u64 at, .param .u32 pn, .param .u32 pm)\n{\n.reg .pred p, q;\n.reg .b32 n, m, a, b, c;\n.reg .b64 d;\n" +
			"ld.param.u64 d, [at];\nld.param.u32 n, [pn];\nld.param.u32 m, [pm];\n" + strings.ReplaceAll(c.body, "; ", ";\n") + ";\nst.global.u32 [d], a;\nret;\n}\n"
		p := program(t, "k", text)
		last := int32(len(p.Insts)) - 3
		in := &p.Insts[last]
		r := in.Guard
		for _, o := range in.Pre {
			if r < 0 && o.Code == ir.Sel {
				r = o.Src[0]
			}
		}
		q := prove.NewPossible(p)
		require.Equal(t, c.moot, [2]bool{q.Moot(last, r, false), q.Moot(last, r, true)}, "%s: %s", c.name, in.Text)
	}
}

// TestMembers: behind an operation of the warp a lane is one of those that it names.
func TestMembers(t *testing.T) {
	for _, c := range []struct {
		name, body string
		never      bool // that p is true
	}{
		{"lanes that are not named", "shfl.sync.up.b32 a|q, n, 1, 0, 255; setp.gt.u32 p, b, 7", true},
		{"the last one named", "shfl.sync.up.b32 a|q, n, 1, 0, 255; setp.gt.u32 p, b, 6", false},
		{"by all", "shfl.sync.up.b32 a|q, n, 1, 0, -1; setp.gt.u32 p, b, 7", false},
		{"by a vote", "vote.sync.any.pred q, q, 0x0f; setp.gt.u32 p, b, 3", true},
		{"where it may not be performed", "setp.lt.u32 q, n, m; @q shfl.sync.up.b32 a, n, 1, 0, 255; setp.gt.u32 p, b, 7", false},
		{"before it", "setp.gt.u32 p, b, 7; @p mov.u32 a, 7; shfl.sync.up.b32 a|q, n, 1, 0, 255", false},
	} {
		text := ".visible .entry k(.param .u64 at, .param .u32 pn, .param .u32 pm)\n{\n.reg .pred p, q;\n.reg .b32 n, m, a, b;\n.reg .b64 d;\n" +
			"ld.param.u64 d, [at];\nld.param.u32 n, [pn];\nld.param.u32 m, [pm];\nmov.u32 a, 0;\nmov.u32 b, %laneid;\nsetp.eq.u32 q, n, m;\n" +
			strings.ReplaceAll(c.body, "; ", ";\n") + ";\n@p st.global.u32 [d], a;\nret;\n}\n"
		p := program(t, "k", text)
		at := slices.IndexFunc(p.Insts, func(in ir.Inst) bool { return strings.HasPrefix(in.Text, "@p ") })
		require.Equal(t, c.never, prove.NewPossible(p).Never(int32(at), p.Insts[at].Guard, true), c.name)
	}
}
