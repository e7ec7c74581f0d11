package match

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"optcheck/ptx"
)

// read lists the accesses of a kernel around some instructions.
func read(t *testing.T, lines ...string) ([]PTXAccess, error) {
	text := ".version 8.0\n.target sm_80\n.visible .entry k(.param .u64 k_param_0, .param .u64 k_param_1, .param .u64 k_param_2, .param .u64 k_param_3)\n{\n" +
		".reg .pred %p<4>;\n.reg .b64 %rd<9>;\n.reg .b32 %r<9>;\n" + strings.Join(lines, "\n") + "\n}\n"
	m, err := ptx.Parse("test", []byte(text))
	require.NoError(t, err, text)
	return accesses(m.Func("k"))
}

// TestFlow: what is conditional, and on what.
func TestFlow(t *testing.T) {
	for _, c := range []struct {
		name  string
		lines []string
		maybe []bool
		cond  [][]int
	}{
		{"diamond", []string{"ld.global.b32 %r1, [%rd1];", "setp.ne.b32 %p1, %r1, 0;", "@%p1 bra A;", "st.global.b32 [%rd2], 1;", "bra.uni B;",
			"A:", "st.global.b32 [%rd2], 2;", "B:", "st.global.b32 [%rd3], 3;", "ret;"},
			[]bool{false, true, true, false}, [][]int{nil, {0}, {0}, nil}},
		{"predicate", []string{"ld.global.b32 %r1, [%rd1];", "setp.ne.b32 %p1, %r1, 0;", "@!%p1 st.global.b32 [%rd2], 1;", "ret;"},
			[]bool{false, true}, [][]int{nil, {0}}},
		{"early return", []string{"ld.global.b32 %r1, [%rd1];", "setp.ne.b32 %p1, %r1, 0;", "@%p1 ret;", "st.global.b32 [%rd2], 1;", "ret;"},
			[]bool{false, true}, [][]int{nil, {0}}},
		{"nested", []string{"ld.global.b32 %r1, [%rd1];", "ld.global.b32 %r2, [%rd1];", "setp.ne.b32 %p1, %r1, 0;", "setp.ne.b32 %p2, %r2, 0;", "@%p1 bra E;",
			"@%p2 bra E;", "st.global.b32 [%rd2], 1;", "E: ret;"},
			[]bool{false, false, true}, [][]int{nil, nil, {0, 1}}},
		{"both ways lead there", []string{"ld.global.b32 %r1, [%rd1];", "setp.ne.b32 %p1, %r1, 0;", "@%p1 bra A;", "bra A;", "A: st.global.b32 [%rd2], 1;", "ret;"},
			[]bool{false, false}, [][]int{nil, nil}},
		{"loop", []string{"L:", "atom.global.cas.b32 %r1, [%rd1], 0, 1;", "setp.ne.b32 %p1, %r1, 0;", "@%p1 bra L;", "st.global.b32 [%rd2], 1;", "ret;"},
			[]bool{false, false}, [][]int{{0}, nil}}, // whether it is done again depends on itself
	} {
		acc, err := read(t, c.lines...)
		require.NoError(t, err, c.name)
		require.Len(t, acc, len(c.maybe), c.name)
		for i := range acc {
			require.Equal(t, c.maybe[i], acc[i].maybe, "%s: %s", c.name, acc[i].Text)
			require.Equal(t, c.cond[i], acc[i].cond, "%s: %s", c.name, acc[i].Text)
		}
	}
}

// TestValues: what flows into addresses and values, through both words of a vector.
func TestValues(t *testing.T) {
	acc, err := read(t, "ld.param.b64 %rd1, [k_param_0];", "ld.acquire.gpu.global.b32 %r2, [k1_L0];", "and.b32 %r3, %r2, -2147483648;", "cvt.u64.u32 %rd2, %r3;",
		"add.s64 %rd3, %rd1, %rd2;", "atom.global.exch.b32 %r4, [%rd3+64], %r1;", "xor.b32 %r5, %r4, %r2;", "st.global.v2.b32 [%rd1+16], {%r5, %r1};", "ret;")
	require.NoError(t, err)
	require.Len(t, acc, 3)
	require.Equal(t, "k1_L0", acc[0].global)
	require.Equal(t, []int{0}, acc[1].addr)
	require.Equal(t, []any{0, int64(64)}, []any{acc[1].Arg, acc[1].offset})
	require.Equal(t, []int{0, 1}, acc[2].data)
	require.Equal(t, []any{0, int64(16)}, []any{acc[2].Arg, acc[2].offset})
}

// TestAddresses: bases and offsets, and what is given up.
func TestAddresses(t *testing.T) {
	for _, c := range []struct {
		code   string
		arg    int
		global string
		off    int64
	}{
		{"ld.param.b64 %rd1, [k_param_3];", 3, "", 0},
		{"ld.param.b64 %rd1, [k_param_3+4];", -1, "", 0},
		{"ld.param.b64 %rd2, [k_param_1]; add.s64 %rd1, %rd2, 64;", 1, "", 64},
		{"ld.param.b64 %rd2, [k_param_1]; add.s64 %rd3, %rd2, 64; add.s64 %rd1, -16, %rd3;", 1, "", 48},
		{"ld.param.b64 %rd2, [k_param_1]; or.b64 %rd1, %rd2, 8;", 1, "", 8},
		{"ld.param.b64 %rd2, [k_param_1]; sub.s64 %rd1, %rd2, 8;", 1, "", -8},
		{"ld.param.b64 %rd2, [k_param_1]; cvta.to.global.u64 %rd1, %rd2;", 1, "", 0},
		{"mov.b64 %rd1, k_L2;", -1, "k_L2", 0},
		{"ld.param.b64 %rd2, [k_param_1]; ld.param.b64 %rd3, [k_param_2]; add.s64 %rd1, %rd2, %rd3;", -1, "", 0},
		{"ld.param.b64 %rd2, [k_param_1]; shl.b64 %rd1, %rd2, 1;", -1, "", 0},
		{"ld.param.b64 %rd1, [k_param_1]; @%p1 mov.b64 %rd1, k_L2;", -1, "", 0},
	} {
		acc, err := read(t, c.code, "st.global.b32 [%rd1], %r1;", "ret;")
		require.NoError(t, err)
		require.Equal(t, c.arg, acc[0].Arg, c.code)
		require.Equal(t, c.global, acc[0].global, c.code)
		require.Equal(t, c.off, acc[0].offset, c.code)
	}
	for code, want := range map[string]string{"bra NOWHERE;": `no label "NOWHERE"`, "brx.idx %r1, ts;": "indirect branch",
		strings.Repeat("A: bra A;\n", 300): "more than"} {
		_, err := read(t, code)
		require.ErrorContains(t, err, want)
	}
	_, err := Accesses("other", ".entry k()\n{\nret;\n}\n")
	require.ErrorContains(t, err, "no entry other")
}
