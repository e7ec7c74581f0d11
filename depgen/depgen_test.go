package depgen

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"optcheck/litmus"
)

// eval runs the straight-line code of a thread on given registers.
func eval(t *testing.T, th *litmus.Thread, regs map[string]int64) {
	t.Helper()
	value := func(o litmus.Operand) int64 {
		if o.Kind == litmus.OperandConst {
			return o.Value
		}
		v, ok := regs[o.Name]
		require.True(t, ok, "register %s is read before it is set", o.Name)
		return v
	}
	for i := range th.Body {
		in := &th.Body[i]
		var v [3]int64
		for k, s := range in.Src {
			v[k] = value(s)
		}
		require.NotNil(t, th.Decl(in.Dst), "%s writes an undeclared register", in)
		switch in.Op {
		case litmus.OpMov, litmus.OpCvt:
			regs[in.Dst] = v[0]
		case litmus.OpXor:
			regs[in.Dst] = v[0] ^ v[1]
		case litmus.OpSub:
			regs[in.Dst] = v[0] - v[1]
		case litmus.OpAnd:
			regs[in.Dst] = v[0] & v[1]
		case litmus.OpShr:
			regs[in.Dst] = int64(uint32(v[0]) >> v[1])
		case litmus.OpAdd:
			regs[in.Dst] = v[0] + v[1]
		case litmus.OpSetp:
			regs[in.Dst] = map[bool]int64{true: 1}[in.Cmp.Holds(v[0], v[1])]
		case litmus.OpSelp:
			regs[in.Dst] = map[bool]int64{true: v[0], false: v[1]}[v[2] != 0]
		default:
			t.Fatalf("unexpected %s", in)
		}
	}
}

func TestSchemesHaveNoEffect(t *testing.T) {
	for _, s := range Schemes {
		for _, read := range []int64{0, 1, 7, 1<<31 - 1} {
			th := &litmus.Thread{}
			b := &Builder{Thread: th}
			r, a64, a32 := b.Reg("r", litmus.S32), b.Reg("rd", litmus.B64), b.Reg("rd", litmus.B32)
			wide, narrow := s.Addr(b, r, a64, 64), s.Addr(b, r, a32, 32)
			data, ctrl := s.Data(b, r, 5), s.Ctrl(b, r)
			regs := map[string]int64{r: read, a64: 1 << 40, a32: 1 << 20}
			eval(t, th, regs)
			require.Equal(t, int64(1<<40), regs[wide], "%s of %d", s.Name, read)
			require.Equal(t, int64(1<<20), regs[narrow], "%s of %d", s.Name, read)
			require.Equal(t, int64(5), regs[data], "%s of %d", s.Name, read)
			require.True(t, (regs[ctrl.Reg] != 0) != ctrl.Neg, "%s of %d", s.Name, read)
			require.Equal(t, litmus.B64, th.Decl(wide).Type)
			require.Equal(t, litmus.B32, th.Decl(narrow).Type)
		}
	}
}

func TestLookup(t *testing.T) {
	for _, s := range Schemes {
		got, err := Lookup(s.Name)
		require.NoError(t, err)
		require.Same(t, s, got)
		require.NotEmpty(t, s.Title)
		require.NotEmpty(t, s.Explain)
		require.Equal(t, strings.ToLower(s.Name), s.Name)
	}
	_, err := Lookup("wish")
	require.ErrorContains(t, err, "xor, sub, and-high-bit")
}
