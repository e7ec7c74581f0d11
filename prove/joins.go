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

// span are the instructions that one dominates, as numbers of the dominator tree: from is its own.
type span struct{ from, to int32 }

// nest numbers the dominator tree; order has dominators first.
func (q *Possible) nest(order []int32) {
	q.nested = make([]span, len(q.up))
	size, next := make([]int32, len(q.up)), make([]int32, len(q.up))
	for _, i := range slices.Backward(order) {
		if size[i]++; q.up[i] >= 0 {
			size[q.up[i]] += size[i]
		}
	}
	for _, i := range order {
		if up := q.up[i]; up >= 0 {
			q.nested[i].from = next[up]
			next[up] += size[i]
		}
		q.nested[i].to, next[i] = q.nested[i].from+size[i], q.nested[i].from+1
	}
}

// dominates reports whether an instruction that is come to is on every way to another one, or is it.
func (q *Possible) dominates(a, b int32) bool {
	return q.nested[a].from <= q.nested[b].from && q.nested[b].from < q.nested[a].to
}
