package prove

import (
	"slices"

	"optcheck/ir"
)

// frontiers finds the dominance frontiers, and which instructions write which registers.
func (q *Possible) frontiers() {
	for i := range int32(len(q.p.Insts)) {
		in := &q.p.Insts[i]
		regs := in.Written()
		for _, o := range slices.Concat(in.Pre, in.Post) {
			regs = append(regs, o.Dst)
		}
		for _, r := range regs {
			if list := q.writes[r]; len(list) == 0 || list[len(list)-1] != i {
				q.writes[r] = append(list, i)
			}
		}
		if n := len(q.before[i]); n == 0 || n == 1 && i > 0 { // a thread begins with the first one
			continue
		}
		for _, from := range q.before[i] {
			for at := from; at >= 0 && at != q.up[i] && (q.up[at] >= 0 || at == 0); at = q.up[at] {
				if !slices.Contains(q.front[at], i) {
					q.front[at] = append(q.front[at], i)
				}
			}
		}
	}
}

// joinsOf are the places where several contents of a register may meet.
func (q *Possible) joinsOf(r ir.Reg) []bool {
	if out, ok := q.joins[r]; ok {
		return out
	}
	out := make([]bool, len(q.p.Insts))
	work := slices.Clone(q.writes[r])
	for len(work) > 0 {
		at := work[len(work)-1]
		work = work[:len(work)-1]
		for _, to := range q.front[at] {
			if !out[to] {
				out[to] = true
				work = append(work, to)
			}
		}
	}
	q.joins[r] = out
	return out
}
