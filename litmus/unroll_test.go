package litmus

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// unrolls are threads with loops and what they mean, or why that is not known.
var unrolls = []struct{ name, thread, want string }{
	{"none", "ld r0, x; st y, 1", "ld r0, x; st y, 1"},
	{"counter", "xor r9, r9, r9; L: ld r0, x; add r9, r9, 1; blt r9, 3, L; st y, 1",
		"xor r9, r9, r9; ld r0, x; add r9, r9, 1; ld r0, x; add r9, r9, 1; ld r0, x; add r9, r9, 1; st y, 1"},
	{"predicate", "and r9, r8, 0; L: st x, 1; add r9, r9, 1; setp.ne p0, r9, 2; @p0 bra L",
		"and r9, r8, 0; st x, 1; add r9, r9, 1; setp.ne p0, r9, 2; st x, 1; add r9, r9, 1; setp.ne p0, r9, 2"},
	{"down", "xor r9, r9, r9; add r9, r9, 2; L: st x, 1; sub r9, r9, 1; bgt r9, 0, L",
		"xor r9, r9, r9; add r9, r9, 2; st x, 1; sub r9, r9, 1; st x, 1; sub r9, r9, 1"},
	{"once", "xor r9, r9, r9; L: st x, 1; bne r9, 0, L", "xor r9, r9, r9; st x, 1"},
	{"spin", "xor r9, r9, r9; L: ld r0, x; beq r0, 1, D; add r9, r9, 1; blt r9, 2, L; D: st y, 1",
		"xor r9, r9, r9; ld r0, x; beq r0, 1, D; add r9, r9, 1; ld r0, x; beq r0, 1, D; add r9, r9, 1; D: st y, 1"},
	{"branch inside", "xor r9, r9, r9; L: ld r0, x; beq r0, 1, C; st y, 1; C: add r9, r9, 1; blt r9, 2, L",
		"xor r9, r9, r9; ld r0, x; beq r0, 1, C; st y, 1; C: add r9, r9, 1; ld r0, x; beq r0, 1, C_1; st y, 1; C_1: add r9, r9, 1"},
	{"continue", "xor r9, r9, r9; L: add r9, r9, 1; ld r0, x; beq r0, 1, C; st y, 1; C: blt r9, 2, L; st x, 1",
		"xor r9, r9, r9; add r9, r9, 1; ld r0, x; beq r0, 1, C; st y, 1; C: ; add r9, r9, 1; ld r0, x; beq r0, 1, C_1; st y, 1; C_1: ; st x, 1"},
	{"nested", "xor r9, r9, r9; L: xor r8, r8, r8; M: st x, 1; add r8, r8, 1; blt r8, 2, M; add r9, r9, 1; blt r9, 2, L",
		"xor r9, r9, r9; xor r8, r8, r8; st x, 1; add r8, r8, 1; st x, 1; add r8, r8, 1; add r9, r9, 1; xor r8, r8, r8; st x, 1; add r8, r8, 1; st x, 1; add r8, r8, 1; add r9, r9, 1"},
	{"two", "xor r9, r9, r9; L: st x, 1; add r9, r9, 1; blt r9, 2, L; xor r9, r9, r9; M: st y, 1; add r9, r9, 1; blt r9, 2, M",
		"xor r9, r9, r9; st x, 1; add r9, r9, 1; st x, 1; add r9, r9, 1; xor r9, r9, r9; st y, 1; add r9, r9, 1; st y, 1; add r9, r9, 1"},

	{"spin without bound", "L: ld r0, x; bne r0, 1, L", "error: does not follow from constants"},
	{"opaque counter", "mov r9, 0; L: st x, 1; add r9, r9, 1; blt r9, 2, L", "error: does not follow from constants"},
	{"initial counter", "L: st x, 1; add r9, r9, 1; blt r9, 2, L", "error: does not follow from constants"},
	{"counter from memory", "ld r9, x; L: st x, 1; add r9, r9, 1; blt r9, 2, L", "error: does not follow from constants"},
	{"counter on one path", "ld r0, x; xor r9, r9, r9; beq r0, 1, C; add r9, r9, 1; C: st y, 1; L: st x, 1; add r9, r9, 1; blt r9, 3, L", "error: does not follow from constants"},
	{"counter under a guard", "ld r0, x; setp.eq p0, r0, 1; xor r9, r9, r9; @p0 add r9, r9, 1; L: st x, 1; add r9, r9, 1; blt r9, 3, L", "error: does not follow from constants"},
	{"counted in one arm", "xor r9, r9, r9; L: ld r0, x; beq r0, 1, C; add r9, r9, 1; C: blt r9, 3, L", "error: does not follow from constants"},
	{"for ever", "xor r9, r9, r9; L: st x, 1; beq r9, 0, L", "error: more than 8 times"},
	{"often", "xor r9, r9, r9; L: st x, 1; add r9, r9, 1; blt r9, 9, L", "error: more than 8 times"},
}

// loopTest makes a test of one thread.
func loopTest(t *testing.T, thread string) *Test {
	t.Helper()
	x, err := Parse("loop", []byte("PTX loop\n{\n}\n P0@cta 0,gpu 0 ;\n "+strings.Join(strings.Split(thread, ";"), " ;\n ")+" ;\nexists (x == 1)\n"))
	require.NoError(t, err, thread)
	return x
}

func TestUnrolled(t *testing.T) {
	for _, x := range unrolls {
		t.Run(x.name, func(t *testing.T) {
			src := loopTest(t, x.thread)
			u, origin, err := src.Unrolled()
			if want, ok := strings.CutPrefix(x.want, "error: "); ok {
				require.ErrorContains(t, err, want)
				return
			}
			require.NoError(t, err)
			require.False(t, u.Loops())
			if origin == nil {
				require.Same(t, src, u)
				return
			}
			want := loopTest(t, x.want)
			var got, wanted []string
			for i := range u.Threads[0].Body {
				in := &u.Threads[0].Body[i]
				got = append(got, strings.Join(in.Labels, ",")+": "+in.String())
				from := src.Threads[0].Body[origin[0][i]]
				require.True(t, from.Op == in.Op || in.Op == OpNop, "%v of %v", in, from)
			}
			for _, in := range want.Threads[0].Body {
				wanted = append(wanted, strings.Join(in.Labels, ",")+": "+in.String())
			}
			require.Equal(t, wanted, got)
			require.NoError(t, u.Check())
		})
	}
}
