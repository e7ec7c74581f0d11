package prove

import (
	"slices"

	"optcheck/ir"
)

// following is where control may go from an instruction; false if that is not known of one. In machine code lanes that wait for each other go
// on where a convergence barrier says that was set before.
func following(p *ir.Program) (next func(int32) []int32, known bool) {
	targets := map[ir.Reg][]int32{}
	for i := range p.Insts {
		f, ok := p.Insts[i].Do.(*ir.Flow)
		if !ok {
			continue
		}
		switch f.Kind {
		case ir.BarrierSet:
			targets[f.Bar] = append(targets[f.Bar], f.Target)
			targets[ir.None] = append(targets[ir.None], f.Target)
		case ir.Call, ir.CallAt, ir.WarpCollective, ir.CollectiveEnd:
			return nil, false
		case ir.Indirect:
			if f.Targets == nil {
				return nil, false
			}
		}
	}
	for i := range p.Insts { // what was set may have been moved
		in := &p.Insts[i]
		for _, r := range in.Written() {
			if f, ok := in.Do.(*ir.Flow); targets[r] != nil && (!ok || f.Kind != ir.BarrierSet) {
				targets[r] = targets[ir.None]
			}
		}
		for _, o := range slices.Concat(in.Pre, in.Post) {
			if targets[o.Dst] != nil {
				targets[o.Dst] = targets[ir.None]
			}
		}
	}
	return func(i int32) []int32 {
		if f, ok := p.Insts[i].Do.(*ir.Flow); ok && f.Kind == ir.BarrierWait {
			if list := targets[f.Bar]; list != nil {
				return slices.Concat(p.After(i), list)
			}
			return slices.Concat(p.After(i), targets[ir.None])
		}
		return p.After(i)
	}, true
}

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
