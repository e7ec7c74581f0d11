package optcheck

import (
	"slices"

	"optcheck/isa"
)

// addressWords evaluates the address of an access (see amdisa for the form of its operand). It returns the low word,
// and the high word if the address has two, else none. A 32-bit offset reaches the high word only by a carry, which
// is ignored.
func (m *machine) addressWords(in *isa.Inst) (lo, hi value) {
	p := m.tr.pool
	for k := range in.Args {
		o := &in.Args[k]
		if o.Kind != isa.OpdMem {
			continue
		}
		lo, hi = p.constant(uint32(o.Off)), none
		add := func(r isa.Reg, pair bool) {
			if r.Class == isa.ClassNone {
				return
			}
			lo = p.add(lo, m.get(r))
			if !pair {
				return
			}
			switch h := m.get(isa.Reg{Class: r.Class, Num: r.Num + 1}); {
			case hi == none:
				hi = h
			default:
				hi = p.add(hi, h)
			}
		}
		// A scratch descriptor locates the wave's memory; one that the launch provides covers all of memory.
		if in.Mem.Space != isa.SpaceLocal && !m.initial(o.Desc) {
			add(o.Desc, true)
		}
		add(o.Reg, o.Words == 2 || o.Part == "addr64")
		if o.Part == "dword" { // TeraScale's memory writes take a word index
			lo = m.bytes(lo)
		}
		add(o.Base2, o.Desc.Class == isa.ClassNone && !in.Mem.Scalar &&
			slices.Contains(in.Addrs, isa.Reg{Class: o.Base2.Class, Num: o.Base2.Num + 1}))
		return lo, hi
	}
	return none, none
}

// relocated returns the address of a symbol that an instruction adds to the program counter. The addend of the
// relocation counts from the relocated word, which is the instruction's second; the program counter is the address
// after the preceding s_getpc_b64.
func (m *machine) relocated(inst int, o *isa.Operand, sym value) value {
	for i, between := inst-1, int64(4); i >= 0; i-- {
		switch in := &m.tr.fn.Insts[i]; in.Op {
		case "s_getpc_b64", "s_get_pc_i64":
			return m.tr.pool.addConst(sym, uint32(o.Off-between))
		case "s_sext_i32_i16", "s_wait_alu", "s_delay_alu":
			between += 4
		default:
			return m.opaque(inst, 0)
		}
	}
	return m.opaque(inst, 0)
}

// initial reports whether a register still holds what the launch put there.
func (m *machine) initial(r isa.Reg) bool {
	if r.Class == isa.ClassNone {
		return false
	}
	n := m.tr.pool.nodes[m.get(r)]
	return n.kind == kSpecial && n.imm >= unwritten
}

// bytes returns the byte address whose word index is v: compilers shift the address right.
func (m *machine) bytes(v value) value {
	p := m.tr.pool
	sum := p.constant(0)
	k := p.terms(v, func(t value) {
		word := m.shl(t, p.constant(2))
		if n := p.nodes[t]; n.kind == kFun && n.imm == uint64(isa.MicroShr)<<8 && n.b == p.constant(2) {
			word = n.a
		}
		sum = p.add(sum, word)
	})
	return p.addConst(sum, 4*k)
}
