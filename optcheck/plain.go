package optcheck

import (
	"slices"

	"optcheck/isa"
)

// plain is an architecture without peculiarities: instructions run always or under a predicate register, and private
// memory is the stack.
type plain struct{}

func (plain) registers() int          { return regCount }
func (plain) predicated() bool        { return true }
func (plain) launch(*machine, *state) {}
func (plain) pointer() int64          { return 8 }
func (plain) shared() int64           { return 0 }

func (plain) bank(m *machine, bank int, off int64) value {
	return m.tr.pool.mk(node{kind: kBank, imm: uint64(bank)<<32 | uint64(uint32(off)), a: none, b: none, c: none})
}

func (plain) symbol(uint64) (key, bool) { return key{}, false }

// address adds the registers and the offset of a memory operand.
func (plain) address(m *machine, in *isa.Inst) (value, key) {
	p := m.tr.pool
	for k := range in.Args {
		o := &in.Args[k]
		if o.Kind != isa.OpdMem {
			continue
		}
		v := p.constant(uint32(o.Off))
		hi := none
		if o.Reg.Class != isa.ClassNone {
			v = p.add(v, m.get(o.Reg))
			if slices.Contains(in.Addrs, isa.Reg{Class: o.Reg.Class, Num: o.Reg.Num + 1}) {
				hi = m.get(isa.Reg{Class: o.Reg.Class, Num: o.Reg.Num + 1})
			}
		}
		if o.Base2.Class != isa.ClassNone {
			v = p.add(v, m.get(o.Base2))
			if r := (isa.Reg{Class: o.Base2.Class, Num: o.Base2.Num + 1}); hi == none && slices.Contains(in.Addrs, r) {
				hi = m.get(r)
			}
		}
		return v, m.located(v, hi, in.Mem.Space)
	}
	return none, key{}
}

func (plain) onStack(*machine, *isa.Inst) bool { return true }

func (plain) guard(m *machine, in *isa.Inst) (value, taint, bool) {
	if in.Guard.Reg.Class == isa.ClassNone {
		return none, 0, false
	}
	return m.get(in.Guard.Reg), m.cur.t[regIndex(in.Guard.Reg)], false
}

func (plain) branch(m *machine, in *isa.Inst, guard value) { m.taken(m.ways(in, guard)) }

func (plain) micro(*machine, int, int, *isa.Micro, operands) (value, bool) { return none, false }

func (plain) content(_ *machine, v value) value { return v }

func (plain) join(*machine, value, value, *state, *state, *join) (value, bool) { return none, false }

func (plain) holds(*machine, sense) bool { return false }

func (plain) result(*pass, int) bool { return false }
