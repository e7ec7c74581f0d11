package optcheck

import (
	"errors"
	"testing"

	"github.com/stretchr/testify/require"

	"optcheck/isa"
	"optcheck/litmus"
	"optcheck/spec"
)

// TestWordRegisters: which registers hold a word of data.
func TestWordRegisters(t *testing.T) {
	for _, x := range []struct {
		r    isa.Reg
		want bool
	}{{isa.Reg{Class: isa.ClassGPR}, true}, {isa.Reg{Class: isa.ClassUGPR}, true}, {isa.Reg{Class: isa.ClassAcc}, true}, {isa.Reg{Class: isa.ClassPred}, false},
		{isa.Reg{Class: isa.ClassSpecial, Num: isa.SpecVCCLo}, true}, {isa.Reg{Class: isa.ClassSpecial, Num: isa.SpecVCCHi}, true},
		{isa.Reg{Class: isa.ClassSpecial, Num: isa.SpecSCC}, false}} {
		require.Equal(t, x.want, isWordReg(x.r), x.r)
	}
}

// TestTwoAddresses: an access with two addresses is two, each with its half of the data.
func TestTwoAddresses(t *testing.T) {
	mem := func(at int64) isa.Operand { return isa.Operand{Kind: isa.OpdMem, Imm: at} }
	for role, two := range map[isa.Role]bool{isa.RoleLoad: true, isa.RoleStore: true, isa.RoleAtomic: true, isa.RoleBarrier: false, isa.RoleFence: false} {
		in := &isa.Inst{Role: role, Mem: isa.Mem{Width: 8}, Args: []isa.Operand{mem(1), {Kind: isa.OpdReg}, mem(2)}, Defs: make([]isa.Reg, 2), Data: make([]isa.Reg, 4)}
		got := twoAddresses(in)
		require.Equal(t, two, got != nil, role)
		for k := range got {
			require.Equal(t, []isa.Operand{mem(int64(k) + 1)}, got[k].Args)
			require.Equal(t, []int{4, 1, 2}, []int{got[k].Mem.Width, len(got[k].Defs), len(got[k].Data)})
		}
		in.Args = in.Args[:2]
		require.Nil(t, twoAddresses(in))
	}
}

// TestReductionsOfAtomics: a reduction stands for an atomic that acquires nothing.
func TestReductionsOfAtomics(t *testing.T) {
	for sem, want := range map[litmus.Sem]bool{litmus.SemNone: true, litmus.SemRelaxed: true, litmus.SemRelease: true, litmus.SemAcquire: false, litmus.SemAcqRel: false,
		litmus.SemSC: false} {
		require.Equal(t, want, mayReduce(spec.Entry{Kind: spec.Kind{Op: litmus.OpAtom, Sem: sem}}), sem)
		require.True(t, mayReduce(spec.Entry{Kind: spec.Kind{Op: litmus.OpRed, Sem: sem}}))
	}
}

// TestNamesTaken: what is lifted has names that the test does not.
func TestNamesTaken(t *testing.T) {
	src := &litmus.Test{Locations: []litmus.Location{{Name: "x"}, {Name: "x_nc"}, {Name: "rd200"}, {Name: "r100"}}}
	require.Equal(t, "x_nc0", aliasOf(src, 0))
	require.Equal(t, "x_nc_nc", aliasOf(src, 1))
	out := &litmus.Test{}
	addAlias(out, src, 0)
	addAlias(out, src, 0)
	require.Equal(t, []litmus.Location{{Name: "x_nc0", Alias: "x", Proxy: litmus.ProxyTexture}}, out.Locations)

	l := &threadLifter{t: src, th: &litmus.Thread{}, addrs: map[int]string{}, taken: map[string]bool{"rd2000": true, "rd201": true, "r101": true}}
	for loc, want := range []string{"rd20000", "rd2010", "rd202"} {
		for range 2 {
			a, err := l.address(&liftOp{loc: loc})
			require.NoError(t, err)
			require.Equal(t, want, a.Reg)
		}
	}
	require.Len(t, l.th.Regs, 3)
	require.Equal(t, "r102", l.fresh("r", litmus.S32))
	require.Equal(t, "r103", l.fresh("r", litmus.S32))
}

// TestLiftedGuards: conditions that are known guard nothing, or what is never performed; negations are the guard's.
func TestLiftedGuards(t *testing.T) {
	constant := func(k uint64) *expr { return &expr{op: exConst, k: k} }
	not := func(e *expr) *expr { return &expr{op: exBits, k: uint64(^uint8(lutA)), args: []*expr{e}} }
	compared := &expr{op: exCmp, args: []*expr{{op: exLoad}, constant(1)}}
	for _, x := range []struct {
		name  string
		e     *expr
		want  bool
		never bool
		guard bool
		neg   bool
	}{
		{"true", constant(1), true, false, false, false}, {"false", constant(0), true, true, false, false}, {"not true", constant(1), false, true, false, false},
		{"not false", constant(0), false, false, false, false}, {"the negation of false", not(constant(0)), true, false, false, false},
		{"a comparison", compared, true, false, true, false}, {"its contrary", compared, false, false, true, true}, {"its negation", not(compared), true, false, true, true},
		{"twice", not(not(compared)), true, false, true, false},
	} {
		l := &threadLifter{t: &litmus.Test{}, th: &litmus.Thread{}, regs: map[int]string{0: "r1"}, preds: map[string]string{}, taken: map[string]bool{},
			code: &Lifted{reads: make([]liftRead, 1)}}
		g, err := l.guard(&liftOp{guard: []guardTerm{{e: x.e, want: x.want}}})
		require.Equal(t, x.never, errors.Is(err, errNever), x.name)
		require.Equal(t, x.guard, g != nil, x.name)
		if g != nil {
			require.Equal(t, x.neg, g.Neg, x.name)
		}
	}
}
