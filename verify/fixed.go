package verify

import (
	"strings"

	"optcheck/ir"
)

// A launch is fixed if every schedule of the same values does the same: its accesses are ordered by barriers that all threads come to, and no
// value depends on which of two accesses comes first. A run that shows no race then stands for all.

// fixed reports whether no instruction of a program gives a value that depends on the schedule by itself.
func fixed(p *ir.Program) bool {
	for i := range p.Insts {
		switch do := p.Insts[i].Do.(type) {
		case *ir.Access:
			if do.Mbarrier {
				return false
			}
		case *ir.Copy:
			if do.Kind >= ir.CopyBulk && !do.Warp() {
				return false
			}
		case *ir.Barrier:
			if do.Kind != ir.BarrierWarp && (do.Kind >= ir.BarrierCluster || do.Count >= 0) {
				return false
			}
		case *ir.Warp:
			if do.Kind == ir.ActiveMask || do.Mask < 0 {
				return false
			}
		case *ir.Special:
			switch do.Reg {
			case ir.WarpID, ir.SMID, ir.Clock, ir.Clock64, ir.GlobalTimer, ir.VirtualID, ir.Undefined:
				return false
			}
		case *ir.Flow:
			if do.Kind == ir.CallAt || strings.Contains(p.Insts[i].Text, "malloc") { // addresses in the order of the calls
				return false
			}
		}
	}
	return true
}

// contest notes that the order of a strong access and an earlier one is the schedule's choice, and matters.
func (m *monitor) contest(s *strongCell, t *touch, by id, k *clock) {
	if m.contested || t.adds != ir.NoAtom && t.adds == s.adds {
		return
	}
	m.contested = len(s.list) > manyStrong
	for i := range s.list {
		if e := &s.list[i]; (e.write || t.write) && (e.adds == ir.NoAtom || e.adds != t.adds) && !m.ordered(e, by, k) {
			m.contested = true
			return
		}
	}
}

// adds is what a reduction does whose result does not depend on the order of those that do the same.
func adds(a *ir.Access) ir.Atom {
	if a.Kind != ir.Atomic || len(a.Dst) > 0 || a.Type.Float() {
		return ir.NoAtom
	}
	switch a.Atom {
	case ir.AtomAdd, ir.AtomMin, ir.AtomMax, ir.AtomAnd, ir.AtomOr, ir.AtomXor:
		return a.Atom
	}
	return ir.NoAtom
}
