package prove

import (
	"math"
	"slices"

	"optcheck/ir"
)

// path is the condition under which a thread comes to an instruction, as far as the jumps say that it has passed last: the last one that leads to it
// alone, and those before that.
func (q *Possible) path(at int32) term {
	var chain []int32
	t := q.x.num(1, 1)
	for ; at >= 0; at = q.up[at] {
		if known, ok := q.paths[at]; ok {
			t = known
			break
		}
		if in := q.seen(at); in != q {
			t = in.path(at)
			break
		}
		if l := q.last; l != nil && at == l.at {
			t = q.x.and(l.of.path(at), l.of.path(l.from))
			if c, ok := l.of.jump(l.from, at); ok {
				t = q.x.and(t, c)
			}
			break
		}
		chain = append(chain, at)
	}
	for _, at := range slices.Backward(chain) {
		if from := q.up[at]; from >= 0 {
			if c, ok := q.edge(from, at); ok {
				t = q.x.and(t, c)
			}
			if c, ok := q.member(from); ok {
				t = q.x.and(t, c)
			}
		}
		q.paths[at] = t
	}
	return t
}

// member is that a lane behind an operation of the warp is one of those that the operation names by a constant: for others nothing is
// defined (PTX ISA, shfl.sync).
func (q *Possible) member(at int32) (term, bool) {
	in := &q.p.Insts[at]
	o, ok := in.Do.(*ir.Warp)
	if !ok || o.Mask < 0 || in.Guard >= 0 {
		return 0, false
	}
	mask, ok := q.x.constant(q.value(at, o.Mask))
	if !ok || uint32(mask) == math.MaxUint32 {
		return 0, false
	}
	return q.x.resize(q.x.shift(shr, q.x.num(32, mask&math.MaxUint32), q.s.register(ir.LaneID)), 1), true
}

// edge is the condition of a jump to an instruction that is come to from there alone, but for what it dominates.
func (q *Possible) edge(from, at int32) (term, bool) {
	for _, b := range q.before[at] {
		if b != from && !q.dominates(at, b) {
			return 0, false
		}
	}
	return q.jump(from, at)
}

// jump is the condition under which control goes from an instruction to one of those behind it.
func (q *Possible) jump(from, at int32) (term, bool) {
	f, ok := q.p.Insts[from].Do.(*ir.Flow)
	if ok && f.Kind == ir.Indirect && f.Addr >= 0 && f.Cond == ir.None && q.p.Insts[from].Guard < 0 {
		return q.chosen(f, from, at), true
	}
	if !ok || f.Kind != ir.Jump && f.Kind != ir.Exit && f.Kind != ir.Trap && f.Kind != ir.Return || f.Cond != ir.None || q.p.Insts[from].Guard < 0 {
		return 0, false
	}
	taken, passed := f.Kind == ir.Jump && f.Target == at, at == from+1
	switch {
	case taken == passed:
		return 0, false
	case taken:
		return q.guard(from), true
	}
	return q.x.not(q.guard(from)), true
}

// chosen is the condition under which a jump of a table goes to a place.
func (q *Possible) chosen(f *ir.Flow, from, at int32) term {
	x, number := q.x, q.behind(from, f.Addr)
	out := x.num(1, 0)
	for k, to := range f.Targets {
		if to == at {
			out = x.or(out, x.eq(number, x.num(x.width(number), uint64(k))))
		}
	}
	return out
}
