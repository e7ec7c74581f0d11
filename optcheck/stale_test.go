package optcheck

import (
	"testing"

	"github.com/stretchr/testify/require"

	"optcheck/isa"
)

// TestUnderPredicate: an instruction under a predicate sees of a register what was defined under the same predicate, until something else
// defines it; the next instruction is not under the predicate of the last one.
func TestUnderPredicate(t *testing.T) {
	reg := func(n uint16) isa.Reg { return isa.Reg{Class: isa.ClassGPR, Num: n} }
	pred := func(n uint16) isa.Reg { return isa.Reg{Class: isa.ClassPred, Num: n} }
	load := func(to uint16) isa.Inst {
		return isa.Inst{Op: "LD", Role: isa.RoleLoad, Target: -1, Defs: []isa.Reg{reg(to)}, Mem: isa.Mem{Width: 4, Space: isa.SpaceGlobal}}
	}
	mov := func(to, from isa.Reg) isa.Inst {
		return isa.Inst{Op: "MOV", Role: isa.RoleALU, Target: -1, Defs: []isa.Reg{to}, Uses: []isa.Reg{from},
			Micro: []isa.Micro{{Op: isa.MicroMov, Dst: to, Src: []isa.Operand{{Kind: isa.OpdReg, Reg: from, Words: 1}}}}}
	}
	store := func(from uint16) isa.Inst {
		return isa.Inst{Op: "ST", Role: isa.RoleStore, Target: -1, Uses: []isa.Reg{reg(from)}, Data: []isa.Reg{reg(from)},
			Mem: isa.Mem{Width: 4, Space: isa.SpaceGlobal}}
	}
	under := func(p uint16, in isa.Inst) isa.Inst {
		in.Guard, in.Uses = isa.Guard{Reg: pred(p)}, append(in.Uses, pred(p))
		return in
	}
	exit := isa.Inst{Op: "EXIT", Role: isa.RoleBranch, Flow: isa.FlowExit, Target: -1}
	jump := isa.Inst{Op: "BRA", Role: isa.RoleBranch, Flow: isa.FlowJump, Target: 5}
	for what, x := range map[string]struct {
		code []isa.Inst
		data taint // of the store
		when int   // how many nodes its condition has
	}{
		"what the predicate chose": {[]isa.Inst{load(3), load(2), under(1, mov(reg(3), reg(2))), under(1, store(3)), exit}, 2, 1},
		"under another predicate":  {[]isa.Inst{load(1), load(3), under(1, mov(reg(3), reg(1))), under(2, store(3)), exit}, 3, 1},
		"defined again by all": {[]isa.Inst{load(1), load(2), under(1, mov(reg(3), reg(1))), mov(reg(3), reg(2)), under(1, store(3)),
			exit}, 2, 1},
		"behind a jump": {[]isa.Inst{load(1), load(3), under(1, mov(reg(3), reg(1))), mov(reg(4), reg(1)), jump, under(1,
			store(3)), exit}, 3, 1},
		"a predicate chosen by another": {[]isa.Inst{load(1), under(1, mov(pred(0), pred(2))), under(1, mov(reg(4), reg(1))), under(0,
			store(1)), exit}, 1, 4},
		"a predicate chosen by the same": {[]isa.Inst{load(1), under(1, mov(pred(0), pred(2))), mov(reg(4), reg(1)), under(0, store(1)), exit},
			1, 4},
	} {
		f := &isa.Func{Arch: "sm_70", Insts: x.code}
		f.BuildCFG()
		tr, err := walk(f, walkOptions{})
		require.NoError(t, err, what)
		last := tr.events[len(tr.events)-1]
		require.Equal(t, isa.RoleStore, last.role, what)
		require.Equal(t, x.data, last.dataT, what)
		require.Len(t, last.when, 1, what)
		nodes := 0
		tr.pool.visit()
		tr.pool.search(last.when[0].pred, func(value, *node) bool { nodes++; return false })
		require.Equal(t, x.when, nodes, what)
	}
}
