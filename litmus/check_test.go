package litmus

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

const mp2 = `GPU_PTX mp
{ x=0; y=0;
0:.reg .b64 rx = x; 0:.reg .b64 ry = y; 0:.reg .s32 r0; 0:.reg .pred p;
1:.reg .b64 rx = x; 1:.reg .b64 ry = y; 1:.reg .s32 r1; 1:.reg .s32 r2; 1:.reg .b64 rd; 1:.reg .s16 h; 1:.reg .pred p; 1:.reg .s32 r3;
}
T0 | T1 ;
st.cg.s32 [rx],1 | ld.cg.s32 r1,[ry] ;
st.cg.s32 [ry],1 | ld.cg.s32 r2,[rx] ;
ScopeTree(grid(cta(warp T0)) (cta(warp T1)))
x: global, y: global
exists (1:r1=1 /\ 1:r2=0)
`

func TestCheckErrors(t *testing.T) {
	lt, err := Parse("f", []byte(mp2))
	require.NoError(t, err)
	require.NoError(t, lt.Check())
	line8 := func(s string) [2]string {
		return [2]string{" ld.cg.s32 r2,[rx] ;", " ld.cg.s32 r2,[rx] ;\n| " + s + " ;"}
	}
	for _, c := range []struct {
		change [2]string
		want   string
	}{
		{[2]string{"x: global", "x: shared"}, "f:2:3: shared location x is used by threads T0 and T1 of different CTAs"},
		{[2]string{"(cta(warp T1))", ""}, "f:6:6: thread T1 has no place in the execution hierarchy"},
		{[2]string{"1:.reg .pred p", "1:.reg .pred rd"}, "f:4:117: register rd of thread T1 is declared twice"},
		{[2]string{"1:.reg .pred p", "1:.reg .pred y"}, "f:4:117: y names both a register of thread T1 and a location"},
		{[2]string{".s16 h", ".s16 h=70000"}, "f:4:101: 70000 does not fit register h of type s16"},
		{[2]string{".s16 h", ".s16 h=x"}, "f:4:101: register h of type s16 cannot hold the address of x"},
		{[2]string{"x=0;", "x=0; z @ generic aliases q;"}, ""},
		{[2]string{"x=0;", "x=0; u @ generic aliases w; w @ surface aliases x;"}, ""},
		{[2]string{"x=0;", "x=0; u @ generic aliases w; w @ surface aliases u;"}, "f:2:8: location u aliases w in a circle\nf:2:28: location w aliases u in a circle"},
		{[2]string{"x=0;", "x=0; z @ generic aliases z;"}, "f:2:8: location z aliases z in a circle"},
		{[2]string{"1:r2=0", "1:r9=0"}, "f:11:1: condition speaks of register r9, which thread T1 does not have"},
		{[2]string{"1:r2=0", "z=0"}, "f:11:1: condition speaks of location z, which the test does not have"},
		{[2]string{"1:r2=0", "1:p=0"}, "f:11:1: condition speaks of predicate 1:p: a predicate has no final value"},
		{[2]string{"1:r2=0", "1:rx=0"}, "f:11:1: condition speaks of register 1:rx, which holds an address"},
		{[2]string{"1:r2=0", "1:h=0"}, "f:11:1: condition speaks of register 1:h, which is never set"},
		{line8("ld.s32 r9,[rx]"), "f:9:3: register r9 of thread T1 is not declared"},
		{line8("@r1 ld.s32 r1,[rx]"), "f:9:3: @r1 ld.s32 r1,[rx]: r1 is not a predicate"},
		{line8("ld.s32 r1,[p]"), "f:9:3: ld.s32 r1,[p]: predicate p stands where a data register is needed\nf:9:3: register p is read but never set"},
		{line8("ld.s32 h,[rx]"), "f:9:3: ld.s32 h,[rx]: register h has 16 bits, the instruction 32"},
		{line8("ld.s16 r1,[rx]"), ""},
		{line8("mov.s16 r1,3"), "f:9:3: mov.s16 r1,3: register r1 has 32 bits, the instruction 16"},
		{line8("mov.s16 h,70000"), "f:9:3: mov.s16 h,70000: 70000 does not fit type s16"},
		{line8("mov.u32 r1,x"), "f:9:3: mov.u32 r1,x: the address of x does not fit type u32"},
		{line8("setp.eq.s32 r1,r2,0"), "f:9:3: setp.eq.s32 r1,r2,0: r1 is not a predicate"},
		{line8("selp.s32 r1,r2,0,1"), "f:9:3: selp.s32 r1,r2,0,1: a constant stands where a predicate is needed"},
		{line8("ld.s32 r1,[r2]"), "f:9:3: ld.s32 r1,[r2]: register r2 holds no location"},
		{line8("ld.s32 r1,[rx+4]"), "f:9:3: ld.s32 r1,[rx+4] reaches outside of location x, which has 4 bytes"},
		{line8("ld.s16 h,[rx+2]"), ""},
		{line8("ld.s16 h,[rx+1]"), "f:9:3: ld.s16 h,[rx+1] is not aligned to its 2 bytes"},
		{line8("ld.shared.s32 r1,[rx]"), "f:9:3: ld.shared.s32 r1,[rx]: location x is in global memory"},
		{line8("ld.b32 r1,[rx]"), ""},
		{line8("cvt.u64.u32 rd,r1"), ""},
		{line8("bra L"), "f:9:3: thread T1 has no label L"},
		{line8("bra L ;\n| nop;\n| L:"), "f:10:3: nop cannot be reached"},
		{line8("@p bra L;\n|L: L: nop"), "f:9:3: register p is read but never set\nf:10:8: label L is defined twice in thread T1"},
		{line8("st.s32 [rx],h"), "f:9:3: st.s32 [rx],h: register h has 16 bits, the instruction 32\nf:9:3: register h is read but never set"},
		{line8("add.s32 r1,r1,h"), "f:9:3: add.s32 r1,r1,h: register h has 16 bits, the instruction 32\nf:9:3: register h is read but never set"},
		{line8("and.b32 r3,r1,0x80000000;\n|cvt.u64.u32 rd,r3;\n|add.u64 rx,rx,rd;\n|st.s32 [rx],-1"), "f:9:3: the mask of and.b32 r3,r1,0x80000000 is no false dependency: the test's values may have the highest bit set"},
		{line8("and.b32 r3,r1,0x80000000;\n|cvt.u64.u32 rd,r3;\n|add.u64 rx,rx,rd;\n|st.s32 [rx],9"), ""},
	} {
		src := strings.Replace(mp2, c.change[0], c.change[1], 1)
		lt, err := Parse("f", []byte(src))
		require.NoError(t, err, src)
		got := ""
		if err := lt.Check(); err != nil {
			got = err.Error()
		}
		require.Equal(t, c.want, got, "%v", c.change)
	}
}

func TestCheckPTX(t *testing.T) {
	for _, c := range []struct{ body, want string }{
		{"ld.weak r0, x", ""},
		{"st.weak x, tmp", "f:4:1: tmp is neither a register of thread P0 nor a location"},
		{"tld.weak r0, x", ""},
		{"ld.weak r0, [r3]", "f:4:1: ld.weak r0,[r3]: register r3 holds no location"},
		{"bar.cta.sync 20, 1, 3", ""},
	} {
		lt, err := Parse("f", []byte("PTX t\n{x=0;}\nP0@cta 0,gpu 0;\n"+c.body+";"))
		require.NoError(t, err)
		got := ""
		if err := lt.Check(); err != nil {
			got = err.Error()
		}
		require.Equal(t, c.want, got, c.body)
	}
}

// Tests that no parser gives, from other packages' mistakes.
func TestCheckBuilt(t *testing.T) {
	require.ErrorContains(t, (&Test{}).Check(), "no threads")
	in := func(in Instr) *Test {
		return &Test{Locations: []Location{{Name: "x"}}, Threads: []Thread{{Name: "T0", Placed: true, Body: []Instr{in}}}}
	}
	require.ErrorContains(t, in(Instr{Op: OpSt, Addr: Addr{Loc: "x"}}).Check(), "0 source operands, not 1")
	require.ErrorContains(t, in(Instr{Op: OpLd, Addr: Addr{Loc: "x"}}).Check(), "no destination")
	require.ErrorContains(t, in(Instr{Op: OpSt, Src: []Operand{Const(1)}}).Check(), "needs one address")
	require.ErrorContains(t, in(Instr{Op: OpSt, Addr: Addr{Loc: "z"}, Src: []Operand{Const(1)}}).Check(), "no location z")
	require.ErrorContains(t, in(Instr{Op: OpSt, Addr: Addr{Loc: "x"}, Src: []Operand{{}}}).Check(), "lacks an operand")
	require.ErrorContains(t, in(Instr{Op: 99}).Check(), "outside of its range")
	require.ErrorContains(t, in(Instr{Op: OpSt, Addr: Addr{Loc: "x"}, Src: []Operand{Const(1)}, Dst: "r0"}).Check(), "destination")
}

func TestAddrLoc(t *testing.T) {
	for _, c := range []struct{ code, want string }{
		{"", "x"},
		{"and.b32 r3,r1,0x80000000; cvt.u64.u32 rd,r3; add.u64 rx,rx,rd", "x"},
		{"and.b32 r3,r1,0x80000000; cvt.u64.u32 rd,r3; add.u64 rx,rd,rx", "x"},
		{"xor.b32 r3,r1,r1; cvt.u64.u32 rd,r3; add.u64 rx,rx,rd", "x"},
		{"and.b32 r3,r1,0x40000000; cvt.u64.u32 rd,r3; add.u64 rx,rx,rd", ""},
		{"and.b32 r3,r1,0x80000001; cvt.u64.u32 rd,r3; add.u64 rx,rx,rd", ""},
		{"cvt.u64.u32 rd,r1; add.u64 rx,rx,rd", ""},
		{"add.u64 rx,rx,4", ""},
		{"add.u64 rx,rx,rx", ""},
		{"add.u64 rx,rx,0", "x"},
		{"mov.u64 rx,ry", ""},
		{"mov.u64 rd,rx; mov.u64 rx,rd", "x"},
		{"mov.u64 rx,x", "x"},
		{"@p mov.u64 rx,y", ""},
		{"ld.u64 rx,[ry]", ""},
		{"selp.u64 rx,rx,rx,p", ""},
	} {
		lt, err := Parse("f", []byte("GPU_PTX t\n{0:.reg .b64 rx=x;0:.reg .b64 ry=y;0:.reg .b64 rd;0:.reg .s32 r1;0:.reg .s32 r3;0:.reg .pred p;}\nT0;\n"+
			strings.ReplaceAll(c.code, "; ", ";\n")+";\nst.s32 [rx],1;\n(cta T0)"))
		require.NoError(t, err)
		th := &lt.Threads[0]
		require.Equal(t, c.want, th.AddrLoc(&th.Body[len(th.Body)-1]), c.code)
	}
	// A register without initial location: only what surely set it counts.
	for _, c := range []struct{ code, want string }{
		{"mov.u64 rd,x; st.s32 [rd],1", "x"},
		{"@p mov.u64 rd,x; st.s32 [rd],1", ""},
		{"st.s32 [rd],1; mov.u64 rd,x", ""},
		{"bra L; mov.u64 rd,x; L: st.s32 [rd],1", ""},
		{"st.s32 [x+4],1", ""},
		{"st.s32 [x],1", "x"},
	} {
		lt, err := Parse("f", []byte("GPU_PTX t\n{x=0;0:.reg .b64 rd;0:.reg .pred p;}\nT0;\n"+strings.ReplaceAll(c.code, "; ", ";\n")+";\n(cta T0)"))
		require.NoError(t, err)
		th := &lt.Threads[0]
		for i := range th.Body {
			if th.Body[i].IsAccess() {
				require.Equal(t, c.want, th.AddrLoc(&th.Body[i]), c.code)
			}
		}
	}
}

func TestSmallHelpers(t *testing.T) {
	lt, err := Parse("f", []byte(strings.Replace(mp2, "exists (1:r1=1", "locations [x;1:r2;] exists (x=2 \\/ not (0:r0<1:r1) /\\ 1:r1=1", 1)))
	require.NoError(t, err)
	var names []string
	for _, x := range lt.Terms() {
		names = append(names, x.String())
	}
	require.Equal(t, []string{"x", "0:r0", "1:r1", "1:r2"}, names)
	at := func(x, r0, r1, r2 int64) bool {
		return lt.Cond.Eval(func(t Term) int64 {
			return map[string]int64{"x": x, "0:r0": r0, "1:r1": r1, "1:r2": r2}[t.String()]
		})
	}
	require.True(t, at(2, 0, 1, 0))
	require.False(t, at(1, 0, 1, 0))
	require.True(t, at(1, 1, 1, 0))
	require.False(t, at(1, 1, 1, 1))
	require.True(t, Cond{}.Eval(nil))

	in := Instr{Guard: &Guard{Reg: "p"}, Op: OpAtom, Atom: AtomCAS, Dst: "r0", Addr: Addr{Reg: "r1"}, Src: []Operand{Reg("r2"), Reg("r1")}}
	require.Equal(t, []string{"p", "r1", "r2"}, in.Reads())
	require.Equal(t, "r0", in.Writes())
	require.True(t, in.IsAccess() && in.IsRead() && in.IsWrite() && !in.IsFence())
	require.Equal(t, "@p atom.cas r0,[r1],r2,r1", in.String())
	require.Nil(t, lt.Location("q"))
	require.Nil(t, lt.Threads[0].Decl("q"))
	require.Equal(t, S16, lt.Threads[1].Decl("h").Type)
	require.Equal(t, "?", Op(200).String())
	require.Equal(t, "acq_rel gpu shared cg alias b64 exch ~exists GPU_PTX", strings.Join([]string{SemAcqRel.String(), ScopeGPU.String(),
		Shared.String(), CacheCG.String(), ProxyAlias.String(), B64.String(), AtomExch.String(), NotExists.String(), GPUPTX.String()}, " "))
	require.Equal(t, "-", Pos{}.String())
	require.Equal(t, "f", Pos{File: "f"}.String())
}
