package optcheck

import (
	"optcheck/isa"
	"optcheck/spec"
)

// ResultStride is the distance in bytes between the result slots of a kernel in
// audit form: slot i keeps marker i of the specification alive.
const ResultStride = 16

// recover finds markers whose operand the compiler turned into a constant. The xor is folded, and only a constant in
// the marker's own result slot is left; the emitted specification says which literal belongs to the slot.
func (tr *trace) recover(want *spec.Spec) {
	lits, err := want.Literals()
	if err != nil {
		return
	}
	found := map[uint32]bool{}
	for _, m := range tr.markers {
		found[m.m.Literal] = true
	}
	for i := range tr.events {
		x := &tr.events[i]
		slot := x.addr.off / ResultStride
		if x.role != isa.RoleStore || x.addr.base != baseParam || x.addr.num != want.ResultParam() ||
			x.addr.off%ResultStride != 0 || slot < 0 || slot >= int64(len(lits)) || len(x.data) != 1 || found[lits[slot]] {
			continue
		}
		c, ok := tr.pool.isConst(x.data[0])
		if !ok {
			continue
		}
		m, _ := spec.DecodeLiteral(lits[slot])
		found[lits[slot]] = true
		tr.markers = append(tr.markers, marker{m: m, oper: tr.pool.constant(c ^ lits[slot]), inst: x.inst, recovered: true})
		x.result = true
	}
}
