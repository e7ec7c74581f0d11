package optcheck

import (
	"testing"

	"github.com/stretchr/testify/require"

	"optcheck/isa"
	"optcheck/litmus"
	"optcheck/spec"
)

// TestIsBarrier: which instructions are the barrier of a test: the same number, as many threads, and waiting or only arriving as it does.
func TestIsBarrier(t *testing.T) {
	imm := func(n int64) isa.Operand { return isa.Operand{Kind: isa.OpdImm, Imm: n} }
	zero, reg := isa.Operand{Kind: isa.OpdReg, Zero: true}, isa.Operand{Kind: isa.OpdReg}
	bar := func(op string, mods []string, args ...isa.Operand) *isa.Inst {
		return &isa.Inst{Op: op, Mods: mods, Args: args}
	}
	sync := []string{"SYNC"}
	for _, c := range []struct {
		in               *isa.Inst
		barrier, threads int
		arrive, is       bool
	}{
		{bar("BAR", sync, imm(1)), 1, 0, false, true},
		{bar("BAR", sync, imm(1)), 0, 0, false, false},
		{bar("BAR", sync, imm(0)), 0, 0, false, true},
		{bar("BAR", sync, zero), 0, 0, false, true},
		{bar("BAR", sync, zero), 1, 0, false, false},
		{bar("BAR", sync, reg), 0, 0, false, false},
		{bar("BAR", sync), 0, 0, false, false},
		{bar("BAR", nil, imm(0)), 0, 0, false, false},
		{bar("WARPSYNC", sync, imm(0)), 0, 0, false, false},
		{bar("BAR", sync, imm(0)), 0, 0, true, false},
		{bar("BAR", []string{"ARV"}, imm(0), imm(64)), 0, 64, true, true},
		{bar("BAR", []string{"ARV"}, imm(0), imm(64)), 0, 64, false, false},
		{bar("BAR", sync, imm(0), imm(64)), 0, 64, false, true},
		{bar("BAR", sync, imm(0), imm(64)), 0, 32, false, false},
		{bar("BAR", sync, imm(0), imm(64)), 0, 0, false, false},
		{bar("BAR", sync, imm(0), zero), 0, 0, false, true},
		{bar("BAR", sync, imm(0), reg), 0, 0, false, false},
		{bar("BAR", sync, imm(0), reg), 0, -1, false, true},
	} {
		e := spec.Entry{Kind: spec.Kind{Op: litmus.OpBar, Barrier: c.barrier, Arrive: c.arrive}, Threads: c.threads}
		require.Equal(t, c.is, isBarrier(c.in, e), "%+v", c)
		if e.Instr = -1; !c.is && c.in.Op == "BAR" && len(c.in.Args) == 2 && c.threads != 64 { // without its test, nobody knows how many
			require.True(t, isBarrier(c.in, e), "%+v", c)
		}
	}
}

// TestSameKind: without markers, an access is of a kind by its operation alone.
func TestSameKind(t *testing.T) {
	for _, c := range []struct {
		role isa.Role
		atom string
		op   litmus.Op
		by   litmus.AtomOp
		is   bool
	}{
		{isa.RoleLoad, "", litmus.OpLd, litmus.AtomNone, true}, {isa.RoleStore, "", litmus.OpLd, litmus.AtomNone, false},
		{isa.RoleStore, "", litmus.OpSt, litmus.AtomNone, true}, {isa.RoleLoad, "", litmus.OpSt, litmus.AtomNone, false},
		{isa.RoleLoad, "", litmus.OpAtom, litmus.AtomAdd, false}, {isa.RoleAtomic, "", litmus.OpAtom, litmus.AtomAdd, true},
		{isa.RoleAtomic, "ADD", litmus.OpAtom, litmus.AtomAdd, true}, {isa.RoleReduction, "ADD", litmus.OpAtom, litmus.AtomAdd, true},
		{isa.RoleAtomic, "AND", litmus.OpAtom, litmus.AtomAdd, false}, {isa.RoleAtomic, "MAX", litmus.OpRed, litmus.AtomMax, true},
		{isa.RoleAtomic, "INC", litmus.OpAtom, litmus.AtomIncOne, true}, {isa.RoleAtomic, "ADD", litmus.OpAtom, litmus.AtomDecOne, true},
		{isa.RoleAtomic, "AND", litmus.OpAtom, litmus.AtomIncOne, false},
	} {
		x := &event{role: c.role, mem: isa.Mem{Atom: c.atom}}
		require.Equal(t, c.is, sameKind(x, spec.Kind{Op: c.op, Atom: c.by}), "%+v", c)
	}
}

// TestCounting: counting by one is the machine's own operation without a bound, or an addition of one; one lane may count for all.
func TestCounting(t *testing.T) {
	p := &pass{tr: &trace{pool: newValuePool()}}
	c := func(k uint32) []value { return []value{p.tr.pool.constant(k)} }
	unknown := []value{p.tr.pool.mk(node{kind: kLoad, a: 0, b: 0, c: none})}
	for _, x := range []struct {
		atom  string
		data  []value
		by    litmus.AtomOp
		cond  bool
		taint taint
		is    bool
	}{
		{"ADD", c(1), litmus.AtomIncOne, false, 0, true}, {"ADD", c(2), litmus.AtomIncOne, false, 0, false},
		{"ADD", unknown, litmus.AtomIncOne, false, 0, false}, {"ADD", nil, litmus.AtomIncOne, false, 0, false},
		{"ADD", c(2), litmus.AtomIncOne, true, 0, true}, {"ADD", c(2), litmus.AtomIncOne, true, 1, false},
		{"ADD", c(2), litmus.AtomIncOne, false, 1, false},
		{"ADD", c(1), litmus.AtomDecOne, false, 0, false}, {"ADD", c(1<<32 - 1), litmus.AtomDecOne, false, 0, true},
		{"ADD", unknown, litmus.AtomDecOne, false, 0, false},
		{"SUB", c(1), litmus.AtomDecOne, false, 0, true}, {"SUB", c(1), litmus.AtomIncOne, false, 0, false},
		{"INC", c(1<<32 - 1), litmus.AtomIncOne, false, 0, true}, {"INC", c(1), litmus.AtomIncOne, false, 0, false},
		{"INC", unknown, litmus.AtomIncOne, false, 0, false},
		{"DEC", c(1<<32 - 1), litmus.AtomDecOne, false, 0, true}, {"DEC", c(7), litmus.AtomDecOne, false, 0, false},
		{"AND", c(1), litmus.AtomIncOne, true, 0, false},
	} {
		e := event{mem: isa.Mem{Atom: x.atom}, data: x.data, cond: x.cond, condT: x.taint}
		require.Equal(t, x.is, p.operation(&e, spec.Entry{Kind: spec.Kind{Op: litmus.OpAtom, Atom: x.by}}), "%+v", x)
	}
}

// TestComputeWord: what a register holds that is computed, and when nobody knows.
func TestComputeWord(t *testing.T) {
	regs := map[string]wordReg{"a": {v: 6}, "b": {v: 3}, "t": {v: 1}, "f": {v: 0}, "lost": {lost: true}}
	op := func(o litmus.Op, typ litmus.Type, src ...any) *litmus.Instr {
		in := &litmus.Instr{Op: o, Type: typ, Dst: "d"}
		for _, s := range src {
			if r, ok := s.(string); ok {
				in.Src = append(in.Src, litmus.Reg(r))
			} else {
				in.Src = append(in.Src, litmus.Const(int64(s.(int))))
			}
		}
		return in
	}
	lost := wordReg{lost: true}
	for i, c := range []struct {
		in   *litmus.Instr
		want wordReg
	}{
		{op(litmus.OpAdd, litmus.S32, "a", "b"), wordReg{v: 9}}, {op(litmus.OpAdd, litmus.S32, "a", 5), wordReg{v: 11}},
		{op(litmus.OpAdd, litmus.S32, "lost", "b"), lost}, {op(litmus.OpAdd, litmus.S32, "a", "lost"), lost},
		{op(litmus.OpAdd, litmus.S64, "a", "b"), lost}, {op(litmus.OpMov, litmus.S64, "a"), wordReg{v: 6}},
		{op(litmus.OpShl, litmus.B32, "a", 1), wordReg{v: 12}}, {op(litmus.OpShl, litmus.B32, "a", 0), wordReg{v: 6}},
		{op(litmus.OpShl, litmus.B32, "b", 31), wordReg{v: 1 << 31}},
		{op(litmus.OpShl, litmus.B32, "a", 32), lost}, {op(litmus.OpShl, litmus.B32, "a", -1), lost},
		{op(litmus.OpSelp, litmus.S32, "a", "b", "t"), wordReg{v: 6}}, {op(litmus.OpSelp, litmus.S32, "a", "b", "f"), wordReg{v: 3}},
		{op(litmus.OpSelp, litmus.S32, "a", "lost", "t"), wordReg{v: 6}}, {op(litmus.OpSelp, litmus.S32, "lost", "b", "f"), wordReg{v: 3}},
		{op(litmus.OpSelp, litmus.S32, "lost", "b", "t"), lost}, {op(litmus.OpSelp, litmus.S32, "a", "lost", "f"), lost},
		{op(litmus.OpSelp, litmus.S32, "a", "b", "lost"), lost},
		{&litmus.Instr{Op: litmus.OpMov, Type: litmus.B64, Dst: "d", Src: []litmus.Operand{litmus.Loc("x")}}, lost},
	} {
		got := computeWord(c.in, regs)
		if c.want.lost {
			require.True(t, got.lost, "%d: %v", i, c.in)
		} else {
			got.v = int64(uint32(got.v))
			require.Equal(t, c.want, got, "%d: %v", i, c.in)
		}
	}
}

// TestLiftedOperand: which two words are one value, and that others are refused.
func TestLiftedOperand(t *testing.T) {
	word := func(read, w int) *expr { return &expr{op: exLoad, read: read, word: w} }
	k := func(n uint64) *expr { return &expr{op: exConst, k: n} }
	param := func(off uint64) *expr { return &expr{op: exParam, k: off} }
	l := &threadLifter{regs: map[int]string{0: "r7"}, values: map[int64]spec.Value{8: {Bytes: 8, Const: 1 << 40}, 16: {Bytes: 4, Const: 3}},
		code: &Lifted{}}
	for i, c := range []struct {
		lo, hi *expr
		want   *litmus.Operand
	}{
		{word(0, 0), word(0, 1), &litmus.Operand{Kind: litmus.OperandReg, Name: "r7"}},
		{word(0, 0), word(0, 0), nil}, {word(0, 1), word(0, 1), nil}, {word(0, 0), word(1, 1), nil}, {word(0, 0), k(1), nil}, {k(1), word(0, 1), nil},
		{k(5), k(1), &litmus.Operand{Kind: litmus.OperandConst, Value: 1<<32 + 5}},
		{param(8), param(12), &litmus.Operand{Kind: litmus.OperandConst, Value: 1 << 40}},
		{param(8), param(8), nil}, {param(16), param(20), nil}, {param(24), param(28), nil}, {param(8), k(12), nil}, {k(8), param(12), nil},
	} {
		got, err := l.operand([]*expr{c.lo, c.hi}, litmus.S64)
		if c.want == nil {
			require.Error(t, err, "%d", i)
			continue
		}
		require.NoError(t, err, "%d", i)
		require.Equal(t, *c.want, got, "%d", i)
	}
	for typ, want := range map[litmus.Type]litmus.Type{litmus.B32: litmus.S32, litmus.U32: litmus.S32, litmus.B64: litmus.S64} {
		require.Equal(t, want, withSign(typ, false))
		require.Equal(t, map[litmus.Type]litmus.Type{litmus.S32: litmus.U32, litmus.S64: litmus.U64}[want], withSign(typ, true))
	}
	for atom, bits := range map[litmus.AtomOp][2]bool{litmus.AtomAdd: {true, false}, litmus.AtomExch: {false, true}, litmus.AtomCAS: {false, true},
		litmus.AtomAnd: {false, true}, litmus.AtomOr: {false, true}, litmus.AtomXor: {false, true}, litmus.AtomMin: {false, false}} {
		require.Equal(t, bits, [2]bool{suits(litmus.OpAtom, atom, litmus.S32), suits(litmus.OpAtom, atom, litmus.B32)}, "%v", atom)
		require.Equal(t, bits, [2]bool{suits(litmus.OpRed, atom, litmus.U64), suits(litmus.OpRed, atom, litmus.B64)}, "%v", atom)
	}
	require.True(t, suits(litmus.OpLd, litmus.AtomNone, litmus.S32) && suits(litmus.OpSt, litmus.AtomNone, litmus.B64))
}

// TestDepbar: only a wait for all operations of one of the six barriers is one that is understood.
func TestDepbar(t *testing.T) {
	arg := func(s string) isa.Operand { return isa.Operand{Text: s} }
	imm := func(n int64) isa.Operand { return isa.Operand{Kind: isa.OpdImm, Imm: n} }
	for _, c := range []struct {
		op   string
		args []isa.Operand
		of   uint8
		all  bool
	}{
		{"DEPBAR", []isa.Operand{arg("SB4"), imm(0)}, 4, true}, {"DEPBAR", []isa.Operand{arg("SB5"), {Zero: true}}, 5, true},
		{"DEPBAR", []isa.Operand{arg("SB6"), imm(0)}, 6, false}, {"DEPBAR", []isa.Operand{arg("SB4"), imm(1)}, 0, false},
		{"DEPBAR", []isa.Operand{arg("SB4"), {}}, 0, false}, {"DEPBAR", []isa.Operand{arg("SB4")}, 0, false},
		{"DEPBAR", []isa.Operand{arg("gsb0"), imm(0)}, 0, false}, {"BAR", []isa.Operand{arg("SB4"), imm(0)}, 0, false},
	} {
		of, all := depbar(&isa.Inst{Op: c.op, Args: c.args})
		require.Equal(t, c.all, all, "%+v", c)
		if all {
			require.Equal(t, c.of, of)
		}
	}
}
