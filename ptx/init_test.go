package ptx

import (
	"fmt"
	"math"
	"testing"

	"github.com/stretchr/testify/require"
)

func variable(t *testing.T, decl string) (*Module, *Var) {
	t.Helper()
	m, err := Parse("k.ptx", []byte(head+decl+"\n"))
	require.NoError(t, err)
	require.NotEmpty(t, m.Vars)
	return m, &m.Vars[len(m.Vars)-1]
}

func TestInit(t *testing.T) {
	for decl, want := range map[string]struct {
		bytes []byte
		at    []Address
	}{
		".global .u32 a;": {},
		".const .align 4 .b8 a[6] = {1, 0x2, /* 9, */ -1, 017};":    {bytes: []byte{1, 2, 255, 15}},
		".global .s16 a[] = {-2, 0b11};":                            {bytes: []byte{254, 255, 3, 0}},
		".global .f32 a[2] = {0f3f800000, -2.0};":                   {bytes: []byte{0, 0, 0x80, 0x3f, 0, 0, 0, 0xc0}},
		".global .f64 a = 0d3ff0000000000000;":                      {bytes: []byte{0, 0, 0, 0, 0, 0, 0xf0, 0x3f}},
		".visible .global .align 2 .b8 a[2][2] = {{1, 2}, {3, 4}};": {bytes: []byte{1, 2, 3, 4}},
		".global .u64 a[3] = {b, generic(b+4), generic(b)-8};": {bytes: make([]byte, 24), at: []Address{{Bytes: 8, Symbol: "b"},
			{Offset: 8, Bytes: 8, Symbol: "b", Addend: 4, Generic: true}, {Offset: 16, Bytes: 8, Symbol: "b", Addend: -8, Generic: true}}},
		".global .align 8 .b8 a[2] = {0xff(b), 0xFF00(generic(b))};": {bytes: make([]byte, 2), at: []Address{{Bytes: 1, Symbol: "b"},
			{Offset: 1, Bytes: 1, Symbol: "b", Generic: true, Shift: 8}}},
	} {
		m, v := variable(t, decl)
		got, at, err := m.Init(v)
		require.NoError(t, err, decl)
		require.Equal(t, want.bytes, got, decl)
		require.Equal(t, want.at, at, decl)
	}
}

func TestInitErrors(t *testing.T) {
	for decl, want := range map[string]string{
		".global .u32 a = {{{{{{{{{{1}}}}}}}}}};":      "not understood",
		".global .b8 a[2][3] = {{1, 2}, {3, 4}};":      "rows that are not full",
		".global .b8 a[4] = {{1, 2}, {3}};":            "different lengths",
		".global .b8 a[2] = {1, 2, 3};":                "too many",
		".global .b8 a[2] = {1}, b[2];":                "not understood",
		".global .f32 a = 1;":                          "not understood",
		".global .u32 a = 0d3ff0000000000000;":         "not understood",
		".global .u64 a = 0xffff(b);":                  "not understood",
		".global .u64 a = b+c;":                        "not understood",
		".global .u64 a = {1,;":                        "",
		".global .u64 a = 99999999999999999999999999;": "not understood",
	} {
		m, err := Parse("k.ptx", []byte(head+decl+"\n"))
		if want == "" {
			require.Error(t, err, decl)
			continue
		}
		require.NoError(t, err)
		_, _, err = m.Init(&m.Vars[0])
		require.ErrorContains(t, err, want, decl)
	}
}

func TestNumbers(t *testing.T) {
	for text, want := range map[string]Operand{
		"5": {Kind: Imm, Value: 5}, "-0x10": {Kind: Imm, Value: -16}, "0xFFFFFFFFFFFFFFFFU": {Kind: Imm, Value: -1},
		"0F3f800000": {Kind: Imm, Value: 0x3f800000, Float: 32}, "-0f3f800000": {Kind: Sym, Name: "0f3f800000", Neg: true},
		"1.0": {Kind: Imm, Value: int64(math.Float64bits(1)), Float: 64}, "-1.5e3": {Kind: Imm, Value: int64(math.Float64bits(-1500)), Float: 64},
		"0d8000000000000000": {Kind: Imm, Value: math.MinInt64, Float: 64},
	} {
		m := parse(t, "mov.b64 a, "+text+";")
		require.Equal(t, want, insts(m.Funcs[0])[0].Args[1], text)
	}
}

func TestRegisterParams(t *testing.T) {
	m, err := Parse("k.ptx", []byte(head+".func (.reg .u32 r) f (.reg .b64 a, .param .b32 p)\n{\n.reg .u32 x;\nadd.u32 r, x, 1;\n}\n"))
	require.NoError(t, err)
	f := m.Funcs[0]
	require.Equal(t, []Register{{"a", "b64"}, {"r", "u32"}, {"x", "u32"}}, f.Regs)
	require.Equal(t, []string{"reg", "param", "reg"}, []string{f.Params[0].Space, f.Params[1].Space, f.Returns[0].Space})
	require.Equal(t, 1, insts(f)[0].Args[0].Reg)
}

func TestVariablesOfBlocks(t *testing.T) {
	m, err := Parse("k.ptx", []byte(head+".global .u32 g;\n.func f (.param .b32 p)\n{\n.reg .u32 x; .local .b32 v;\n"+
		"{ .param .b32 p; .param .b32 q; st.param.b32 [p], x; st.param.b32 [q+4], x;\n{ .param .b64 q; st.param.b32 [q], x; } st.param.b32 [q], x; }\n"+
		"{ .param .b64 q; st.param.b32 [q], x; }\n st.local.b32 [v], x; ld.param.b32 x, [p]; mov.b32 x, g;\n}\n"))
	require.NoError(t, err)
	var got []int
	for _, in := range insts(m.Funcs[0]) {
		for _, o := range in.Args {
			if o.Kind == Mem {
				o = o.Elems[0]
			}
			if o.Kind == Sym {
				got = append(got, o.Reg)
			}
		}
	}
	require.Equal(t, []int{2, 3, 4, 3, 5, 1, 0, 0}, got)
}

func TestPointerParams(t *testing.T) {
	m, err := Parse("k.ptx", []byte(head+".entry k(.param .u32 n, .param .u64 .ptr .global .align 1 a, .param .u64 .ptr b, .param .u64 .ptr .align 16 c)\n{\n}\n"))
	require.NoError(t, err)
	var got []string
	for _, v := range m.Funcs[0].Params {
		got = append(got, fmt.Sprint(v.Name, " ", v.Offset, " ", v.Align))
	}
	require.Equal(t, []string{"n 0 4", "a 8 8", "b 16 8", "c 24 8"}, got)
}
