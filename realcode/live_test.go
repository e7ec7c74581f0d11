package realcode

import (
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"optcheck/ptx"
)

// marks are what a file says behind the instructions of its lines: a word, and perhaps the kernels for which it holds.
func marks(t *testing.T, file string) func(word, kernel string, pos ptx.Pos) bool {
	t.Helper()
	text, err := os.ReadFile(file)
	require.NoError(t, err)
	lines := strings.Split(string(text), "\n")
	return func(word, kernel string, pos ptx.Pos) bool {
		_, mark, _ := strings.Cut(lines[pos.Line-1], "; // ")
		if said, list, some := strings.Cut(mark, " in "); some {
			return said == word && slices.Contains(strings.Split(list, ", "), kernel)
		}
		return slices.Contains(strings.Split(mark, ", "), word)
	}
}

// TestDead: no value that somebody needs is said to be one that nobody does; the text, and what is one number, tell of four.
func TestDead(t *testing.T) {
	const file = "testdata/dead.ptx"
	m, marked, dead := module(t, file), marks(t, file), 0
	for _, f := range Roots(m) {
		src, err := readSource(m, f)
		require.NoError(t, err)
		for _, op := range src.ops {
			if op.Effect.Kind == ptx.Load && op.Effect.Sem == "acquire" && op.Dead {
				dead++
				assert.True(t, marked("dead", f.Name, op.Inst.Pos), "%s:%d", f.Name, op.Inst.Pos.Line)
			}
		}
	}
	require.Equal(t, 4, dead)
}

// TestDeadAcquires: an acquire that ptxas 12.4 leaves out with its value is missed only where it loses the invalidation, too. That nobody
// needs the value runs tell.
func TestDeadAcquires(t *testing.T) {
	const file = "testdata/dead.ptx"
	m, marked := module(t, file), marks(t, file)
	o := Options{Toolchains: releases(t, "12.4"), Targets: []string{"sm_80"}, Levels: []string{"O0", "O3"}, Execute: 2}
	require.NoError(t, Audit(t.Context(), o, m, func(c *Cell) error {
		require.NotNil(t, c.Result, c.Reason)
		for _, f := range c.Result.Unknown { // runs show no border of a choice between two numbers that are one
			require.Equal(t, Uncompared, f.Rule)
			require.Equal(t, "chosen", f.Kernel, f.Detail)
		}
		lost := map[ptx.Pos]bool{}
		for _, f := range c.Result.Findings {
			assert.Equal(t, Missing, f.Rule)
			assert.True(t, marked("lost", f.Kernel, f.First.Pos), "%s %s: %s:%d: %s", c.Target, c.Level, f.Kernel, f.First.Pos.Line, f.Detail)
			require.NotNil(t, f.Verdict)
			assert.Equal(t, Miscompiled, f.Verdict.Class)
			lost[f.First.Pos] = true
		}
		assert.Len(t, lost, 2)
		return nil
	}))
}

// TestDeadDropped: an acquire that is dead and loses its invalidation is missed, and one that is not dead is, too.
func TestDeadDropped(t *testing.T) {
	m := module(t, "testdata/dead.ptx")
	for _, tc := range releases(t, "12.4") {
		for _, name := range []string{"before", "waited", "branch", "guarded", "needed"} {
			for _, st := range m.Func(name).Body {
				if st.Inst == nil || !strings.HasPrefix(st.Inst.Text, "ld.acquire") {
					continue
				}
				code := changed(t, tc, m, map[int]string{st.Inst.N: "mov.u32 %r3, 0;"}, "sm_80", "O3")
				assert.True(t, slices.ContainsFunc(Check(m, code.Program, 80).Findings, func(f Finding) bool {
					return f.Rule == Missing && f.Kernel == name && f.First.Pos == st.Inst.Pos
				}), name)
			}
		}
	}
}

// TestConstants: nothing comes to the operations that the file says so of, whatever kernel calls them, and to all others
// something may; what a compiler leaves out of them is no finding.
func TestConstants(t *testing.T) {
	const file = "testdata/constants.ptx"
	m, marked := module(t, file), marks(t, file)
	for _, f := range Roots(m) {
		src, err := readSource(m, f)
		require.NoError(t, err)
		for _, op := range src.ops {
			pos := op.Inst.Pos
			assert.Equal(t, marked("never", f.Name, pos), src.never(op), "%s:%d", f.Name, pos.Line)
		}
	}
	o := Options{Toolchains: releases(t), Targets: []string{"sm_70", "sm_80"}, Levels: []string{"O0", "O3"}}
	require.NoError(t, Audit(t.Context(), o, m, func(c *Cell) error {
		require.NotNil(t, c.Result, c.Reason)
		assert.Empty(t, c.Result.Findings, "%s %s %s", c.Toolchain, c.Target, c.Level)
		uncompared(t, c, c.Level)
		return nil
	}))
}

// TestVectors: elements of vectors that nobody needs, as the text or runs tell, may be gone, and others performed one by one.
func TestVectors(t *testing.T) {
	const file = "testdata/vectors.ptx"
	m, marked := module(t, file), marks(t, file)
	o := Options{Toolchains: releases(t), Targets: []string{"sm_70", "sm_80"}, Levels: []string{"O3"}, Execute: 2}
	require.NoError(t, Audit(t.Context(), o, m, func(c *Cell) error {
		require.NotNil(t, c.Result, c.Reason)
		require.Empty(t, c.Result.Unknown)
		lost := map[string]bool{}
		for _, f := range c.Result.Findings {
			if f.Execution != nil { // behind others
				assert.True(t, lost[f.Kernel], f.Detail)
				continue
			}
			lost[f.Kernel] = true
			assert.Equal(t, Weakened, f.Rule)
			assert.True(t, marked("lost", f.Kernel, f.First.Pos), "%s %s: %s: %s", c.Toolchain, c.Target, f.Kernel, f.Detail)
		}
		assert.Len(t, lost, 5)
		return nil
	}))
}

// TestVectorsChanged: an element that is needed is missed, and one that is performed twice is seen.
func TestVectorsChanged(t *testing.T) {
	m := module(t, "testdata/vectors.ptx")
	const one = "ld.relaxed.gpu.global.u32 "
	for _, x := range []struct {
		kernel, by string
		want       Rule
	}{
		{"bothRelaxed", one + "%r1, [%rd1]; mov.u32 %r2, 0;", Weakened},
		{"bothRelaxed", one + "%r1, [%rd1]; " + one + "%r2, [%rd1+4];", ""},
		{"bothRelaxed", one + "%r1, [%rd1]; " + one + "%r2, [%rd1+4]; " + one + "%r3, [%rd1+4]; add.u32 %r2, %r2, %r3;", Weakened},
		{"bothRelaxed", one + "%r1, [%rd1]; " + one + "%r2, [%rd1+4]; " + one + "%r3, [%rd1]; " + one +
			"%r4, [%rd1+4]; add.u32 %r1, %r1, %r3; add.u32 %r2, %r2, %r4;", Duplicated},
		{"bothRelaxed", "ld.global.u32 %r1, [%rd1]; " + one + "%r2, [%rd1+4];", Weakened},
		{"bothRelaxed", "mov.u32 %r1, 0; mov.u32 %r2, 0;", Missing},
		{"threeRelaxed", "ld.relaxed.gpu.global.v2.u32 {%r1, %r2}, [%rd1]; mov.u32 %r3, 0;", Weakened},
		{"threeRelaxed", "ld.relaxed.gpu.global.v2.u32 {%r1, %r2}, [%rd1]; " + one + "%r3, [%rd1+8];", ""},
		{"later", "ld.acquire.sys.global.u32 %r1, [%rd1]; ld.acquire.sys.global.u32 %r2, [%rd1+4];", ""},
		{"later", "ld.acquire.sys.global.u32 %r1, [%rd1]; ld.relaxed.sys.global.u32 %r2, [%rd1+4];", Missing},
		{"stores", "st.relaxed.gpu.global.u32 [%rd1], %r1; st.relaxed.gpu.global.u32 [%rd1+4], %r1;", ""},
		{"stores", "st.relaxed.gpu.global.u32 [%rd1], %r1;", Weakened},
	} {
		for _, st := range m.Func(x.kernel).Body {
			if st.Inst == nil || !strings.Contains(st.Inst.Text, "global.v") {
				continue
			}
			for _, tc := range releases(t, "11.8", "12.4") {
				code := changed(t, tc, m, map[int]string{st.Inst.N: x.by}, "sm_80", "O0")
				var got []Rule
				for _, f := range Check(m, code.Program, 80).Findings {
					if f.Kernel == x.kernel {
						got = append(got, f.Rule)
					}
				}
				if x.want == "" {
					assert.Empty(t, got, "%s %s: %s", tc.ID, x.kernel, x.by)
				} else {
					assert.Contains(t, got, x.want, "%s %s: %s", tc.ID, x.kernel, x.by)
				}
			}
		}
	}
}

// TestExchanged: what lanes exchange is needed if somebody takes it, and if another instruction may take it.
func TestExchanged(t *testing.T) {
	m := module(t, "testdata/unneeded.ptx")
	for kernel, dead := range map[string]bool{"exchanged": true, "given": false} {
		src, err := readSource(m, m.Func(kernel))
		require.NoError(t, err)
		i := slices.IndexFunc(src.ops, func(op *Op) bool { return op.Effect.Kind == ptx.Load })
		require.Equal(t, dead, src.ops[i].Dead, kernel)
	}
}
