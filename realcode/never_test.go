package realcode

import (
	"fmt"
	"os"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"optcheck/ptx"
)

// TestNever: nothing comes to the operations that the file says so of, and to all others something may.
func TestNever(t *testing.T) {
	text, err := os.ReadFile("testdata/never.ptx")
	require.NoError(t, err)
	lines := strings.Split(string(text), "\n")
	m := module(t, "testdata/never.ptx")
	for _, f := range Roots(m) {
		src, err := readSource(m, f)
		require.NoError(t, err)
		for _, op := range src.ops {
			pos := op.Inst.Pos
			assert.Equal(t, strings.HasSuffix(lines[pos.Line-1], "// never"), src.never(op), "%s:%d", f.Name, pos.Line)
		}
	}
}

// TestNeverDropped: an operation that something may come to is missed when it is gone, as near as it may be to one
// that nothing comes to.
func TestNeverDropped(t *testing.T) {
	m := module(t, "testdata/never.ptx")
	for _, tc := range releases(t, "12.4") {
		for _, x := range mutants(m) {
			if !strings.HasPrefix(x.kind, "drop") {
				continue
			}
			code := changed(t, tc, m, x.text, "sm_80", "O0")
			src, err := readSource(m, m.Func(x.kernel))
			require.NoError(t, err)
			gone := false
			for _, op := range src.ops {
				_, of := x.text[op.Inst.N]
				gone = gone || of && !src.never(op)
			}
			assert.Equal(t, gone, strings.Contains(fmt.Sprint(Check(m, code.Program, 80).Findings), "missing"), "%s: %s", x.kernel, x.what)
		}
	}
}

// TestOneValue: a value that is computed twice of what never changes is one, in whatever registers; what
// functions return, or what a clock tells, is another one each time.
func TestOneValue(t *testing.T) {
	m, err := ptx.Parse("m.ptx", []byte(`.version 7.0
.target sm_70
.address_size 64
.extern .func (.param .b64 q) make();
.visible .entry k(.param .u64 a) {
	.reg .b32 %r<9>; .reg .b64 %rd<19>;
	ld.param.u64 %rd1, [a];
	mov.u32 %r1, %tid.x;
	mul.wide.u32 %rd2, %r1, 4; add.s64 %rd3, %rd1, %rd2; st.u32 [%rd3+4], 1;
	mul.wide.u32 %rd4, %r1, 4; add.s64 %rd5, %rd1, %rd4; st.u32 [%rd5+4], 1;
	{ .param .b64 q; call (q), make; ld.param.b64 %rd6, [q]; } st.u32 [%rd6], 1;
	{ .param .b64 q; call (q), make; ld.param.b64 %rd7, [q]; } st.u32 [%rd7], 1;
	mov.u64 %rd8, %clock64; add.s64 %rd9, %rd8, %rd1; st.u32 [%rd9], 1;
	mov.u64 %rd10, %clock64; add.s64 %rd11, %rd10, %rd1; st.u32 [%rd11], 1;
	ret;
}`))
	require.NoError(t, err)
	src, err := readSource(m, m.Func("k"))
	require.NoError(t, err)
	require.Len(t, src.ops, 6)
	for k, same := range []bool{true, false, false} {
		assert.Equal(t, same, src.ops[2*k].addr == src.ops[2*k+1].addr, "%d", k)
	}
}
