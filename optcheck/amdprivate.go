package optcheck

import (
	"strings"

	"optcheck/isa"
)

// scratch returns the address of a load from private memory or a store to it, and whether the instruction is one.
func (m *machine) scratch(in *isa.Inst) (value, bool) {
	space := in.Mem.Space
	if space != isa.SpaceLocal && space != isa.SpaceGeneric || in.Role != isa.RoleLoad && in.Role != isa.RoleStore {
		return none, false
	}
	lo, hi := m.addressWords(in)
	return lo, space == isa.SpaceLocal || m.privateBase(lo, hi)
}

// unsignedLoad reports whether a load clears the upper bytes: buffer_load_ubyte, scratch_load_u8.
func unsignedLoad(op string) bool {
	return strings.HasSuffix(op, "_ubyte") || strings.HasSuffix(op, "_ushort") || strings.HasSuffix(op, "_u8") || strings.HasSuffix(op, "_u16")
}

// privateBase reports whether an address is in the private aperture of flat addresses. Its high word then is
// src_private_base or, where the hardware has no such register (gfx8), hidden_private_base, which follows the
// kernel's arguments, or private_segment_aperture_base_hi of the queue. No pointer of the test has a constant low
// word.
func (m *machine) privateBase(lo, hi value) bool {
	p := m.tr.pool
	if hi < 0 {
		return false
	}
	n := p.nodes[hi]
	_, fixed := p.isConst(lo)
	switch n.kind {
	case kSpecial:
		return n.imm < uint64(len(p.names)) && strings.Contains(p.names[n.imm], "private_base")
	case kParam: // at a multiple of 8 after the arguments; hidden_shared_base follows
		return fixed && n.imm%8 == 0
	case kBank:
		return fixed && n.imm == isa.ConstQueue<<32|0x44
	}
	return false
}
