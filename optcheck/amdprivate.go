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

// extended says what an access to less than a word does to the rest of its register: buffer_load_ubyte and
// scratch_load_u8 clear it; buffer_load_ubyte_d16, scratch_load_d16_u8 and those with hi keep the other half;
// scratch_store_d16_hi_b8 stores from the upper half.
func extended(in *isa.Inst) (e extension) {
	op, behind := strings.CutSuffix(strings.Replace(in.Op, "_d16_hi", "_d16", 1), "_d16")
	switch {
	case strings.Contains(in.Op, "_d16_hi"):
		e.half = "h"
	case behind || strings.Contains(op, "_d16_"):
		e.half = "l"
	}
	e.zero = e.half != "" && in.Mem.Width == 2
	for _, s := range []string{"_ubyte", "_ushort", "_u8", "_u16"} {
		e.zero = e.zero || strings.HasSuffix(op, s)
	}
	return e
}

// privateBase reports whether an address is in the private aperture of flat addresses. Its high word then is
// src_private_base or, where the hardware has no such register (gfx8), hidden_private_base, which follows the
// kernel's arguments, or private_segment_aperture_base_hi of the queue. No pointer of the test has a constant low
// word.
func (m *machine) privateBase(lo, hi value) bool {
	p := m.tr.pool
	if hi == none {
		return false
	}
	n := p.nodes[hi]
	_, fixed := p.isConst(lo)
	switch n.kind {
	case kSpecial:
		return strings.Contains(p.nameOf(&n), "private_base")
	case kParam: // at a multiple of 8 after the arguments; hidden_shared_base follows
		return fixed && n.imm%8 == 0
	case kBank:
		return fixed && n.imm == isa.ConstQueue<<32|0x44
	}
	return false
}
