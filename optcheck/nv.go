package optcheck

import (
	"optcheck/isa"
	"optcheck/target"
)

// nvidia is NVIDIA's architecture. Instructions run under predicates; parameters and the addresses of variables are
// words of constant banks; each access and fence says how strong it is.
type nvidia struct {
	plain
	sm int
	// params is the offset of the first parameter in constant bank 0, which every ptxas uses (EIATTR_PARAM_CBANK of
	// the kernel's .nv.info).
	params int64
}

var _ = register(target.NVIDIA, func(t target.Target) arch {
	a := nvidia{sm: t.SM}
	switch {
	case t.SM >= 100:
		a.params = 0x380
	case t.SM >= 90:
		a.params = 0x210
	case t.SM >= 70:
		a.params = 0x160
	case t.SM >= 30:
		a.params = 0x140
	default:
		a.params = 0x20
	}
	return a
})

// sharedReserved is the size of the part of the shared window that sm_90 and later reserve, in bytes.
const sharedReserved = 0x400

func (a nvidia) shared() int64 {
	if a.sm >= 90 {
		return sharedReserved
	}
	return 0
}

// Constant banks: parameters, constants that compilers before sm_70 keep there, and addresses of variables.
const (
	bankParams   = 0
	bankLiterals = 2
	bankSymbols  = 4
)

func (a nvidia) bank(m *machine, bank int, off int64) value {
	if bank == bankParams && off >= a.params {
		return m.tr.pool.param(off - a.params)
	}
	if w, ok := m.literals[off]; ok && bank == bankLiterals {
		return m.tr.pool.constant(w)
	}
	return a.plain.bank(m, bank, off)
}

func (nvidia) symbol(word uint64) (key, bool) {
	return key{base: baseBank, num: int64(uint32(word))}, word>>32 == bankSymbols
}

// onStack reports whether an address contains the stack pointer, a word that precedes the parameters.
func (nvidia) onStack(m *machine, in *isa.Inst) bool {
	v, _ := m.arch.address(m, in)
	return m.tr.pool.contains(v, kBank)
}

// branch knows nothing about a decision of the warp's state (BRA.DIV) but that it decides.
func (nvidia) branch(m *machine, in *isa.Inst, guard value) {
	way := m.ways(in, guard)
	warp := false
	for i := range in.Args {
		warp = warp || in.Args[i].Kind == isa.OpdReg && in.Args[i].Reg.Class != isa.ClassBarrier
	}
	for _, mod := range in.Mods {
		warp = warp || mod == "CONV" || mod == "DIV" || mod == "ANY" || mod == "ALL"
	}
	if warp && in.Flow == isa.FlowJump {
		p := m.tr.pool
		way = append(way, sense{p.mk(node{kind: kSpecial, imm: p.str("warp " + in.Text), a: none, b: none, c: none}), true})
	}
	m.taken(way)
}

// instruction evaluates spills, which are accesses to the stack.
func (nvidia) instruction(m *machine, i int, in *isa.Inst, guard value, t taint) bool {
	if in.Mem.Space != isa.SpaceLocal || in.Role != isa.RoleLoad && in.Role != isa.RoleStore || !m.arch.onStack(m, in) {
		return false
	}
	at, _ := m.arch.address(m, in)
	m.private(i, in, at, extension{}, guard, t)
	return true
}
