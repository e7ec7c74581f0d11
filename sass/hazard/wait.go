package hazard

import (
	"slices"
	"strings"

	"optcheck/isa"
)

// await removes what an instruction waits for.
func (w *walk) await(s state, in *isa.Inst, i int) state {
	wait := in.Control.Wait
	bar, left, all := depbar(in)
	groups := waitsForGroups(in)
	if wait|all == 0 && bar == 0 && !groups {
		return s
	}
	out := s[:0]
	for _, p := range s {
		own := w.fn.Insts[p.inst].Control
		done, counted := wait, all
		if int(p.age) < w.vain {
			done, counted = 0, 0
		}
		if w.visit != nil && (p.write || p.reads()) && (board(own.Write)|board(own.Read))&in.Control.Wait != 0 {
			w.visit(dep{kind: SetWait, from: int(p.inst), to: i, cycles: int(p.age)})
		}
		if bar&p.counted != 0 && int(p.later) >= left && w.effects[p.inst].inOrder != "" {
			counted |= bar
		}
		if p.wrote&counted != 0 && p.write && p.settle == 0 {
			p.settle = w.table.countWait
			p.reading = 0
		}
		if p.wrote&done != 0 || groups && w.effects[p.inst].has(grouped) && p.committed(&w.fn.Insts[p.inst]) > left {
			p.write, p.settle, p.reading = false, 0, 0
		}
		if p.read&(done|counted) != 0 {
			p.reading = 0
		}
		if p.age < horizon || p.write || p.reads() {
			out = append(out, p)
		}
	}
	return out
}

// waitsForGroups reports whether an instruction waits for groups of asynchronous ones: WARPGROUP.DEPBAR.LE gsb0, n until n of them are left.
func waitsForGroups(in *isa.Inst) bool {
	return in.Op == "WARPGROUP" && slices.Contains(in.Mods, "DEPBAR") && in.Guard == (isa.Guard{})
}

// commits reports whether an instruction ends a group of asynchronous ones.
func commits(in *isa.Inst) bool {
	return slices.ContainsFunc(in.Args, func(o isa.Operand) bool { return o.Kind == isa.OpdSpecial && strings.HasPrefix(o.Sym, "gsb") })
}

// behind takes over that an instruction that answers behind a pending one sets a scoreboard. Whether one whose condition is false
// counts there is not known.
func (p *pending) behind(set uint8, performed bool) {
	switch p.wrote |= set; {
	case set == 0, !performed:
	case p.counted == 0:
		p.counted = set
	case p.counted == set:
		p.later = min(p.later+1, 63)
	}
}

// committed returns the number of groups that have ended since an asynchronous instruction began, its own one included.
func (p *pending) committed(in *isa.Inst) int {
	if commits(in) {
		return int(p.later) + 1
	}
	return int(p.later)
}

// depbar returns what a DEPBAR waits for: that only left operations of scoreboard bar remain, and none of those of all. One whose condition may be
// false waits for nothing.
func depbar(in *isa.Inst) (bar uint8, left int, all uint8) {
	if in.Op != "DEPBAR" && in.Op != "WARPGROUP" || in.Guard != (isa.Guard{}) {
		return 0, 0, 0
	}
	for k := range in.Args {
		o := &in.Args[k]
		switch {
		case o.Kind == isa.OpdSpecial && len(o.Sym) == 3 && o.Sym[:2] == "SB":
			bar = board(o.Sym[2] - '0')
		case o.Kind == isa.OpdImm:
			left = int(o.Imm)
		case o.Kind == isa.OpdSpecial && len(o.Sym) > 0 && o.Sym[0] == '{':
			for _, c := range o.Sym {
				if c >= '0' && c <= '5' {
					all |= 1 << (c - '0')
				}
			}
		}
	}
	if left == 0 {
		all, bar = all|bar, 0
	}
	return bar, left, all
}
