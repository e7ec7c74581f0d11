package prove

import "optcheck/ir"

// shuffled is what a shuffle leaves in a register: whether the lane that it reads is in range, and if it is not, the lane's own value.
// Nothing is known of what others hold (PTX ISA, shfl.sync).
func (q *Possible) shuffled(at int32, o *ir.Warp, r ir.Reg, get func(ir.Reg) term) term {
	x := q.x
	five := func(t term, from int) term { return x.zext(x.ext(x.zext(t, 64), from, 5), 32) }
	lane, by, clamp, seg := five(q.s.register(ir.LaneID), 0), five(get(o.Lane), 0), five(get(o.Clamp), 0), five(get(o.Clamp), 8)
	rest := x.xor(seg, x.num(32, 31))
	most := x.or(x.and(lane, seg), x.and(clamp, rest))
	var in term
	switch o.Kind {
	case ir.ShflUp:
		in = x.not(x.slt(x.sub(lane, by), most))
	case ir.ShflDown:
		in = x.not(x.slt(most, x.add(lane, by)))
	case ir.ShflBfly:
		in = x.not(x.slt(most, x.xor(lane, by)))
	default:
		in = x.not(x.slt(most, x.or(x.and(lane, seg), x.and(by, rest))))
	}
	if r == o.Pred {
		return in
	}
	return q.s.choice(in, q.unknown(64, "result", at, r), get(o.Src))
}
