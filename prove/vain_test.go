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
