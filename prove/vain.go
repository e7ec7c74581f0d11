package prove

import (
	"slices"

	"optcheck/ir"
)

// mostStraight bounds the instructions on one way of a jump.
const mostStraight = 32

// Vain reports whether it decides nothing that a jump is taken, or is not: both ways go straight to where they meet, only compute, and
// each register that either writes, and that is read elsewhere, holds the same there. read reports whether an instruction that is none of
// some reads a register.
func (q *Possible) Vain(at int32, read func(r ir.Reg, some map[int32]bool) bool) bool {
	return !q.failed && len(q.copies[at]) > 0 && len(q.copies[at]) <= mostCopies &&
		!slices.ContainsFunc(q.copies[at], func(at int32) bool { return !q.idle(at, read) })
}

// idle is Vain of one copy of a jump.
func (q *Possible) idle(at int32, read func(r ir.Reg, some map[int32]bool) bool) (same bool) {
	f, ok := q.p.Insts[at].Do.(*ir.Flow)
	if !ok || f.Kind != ir.Jump {
		return false
	}
	ways := [2][]int32{q.straight(at, at+1), q.straight(at, f.Target)}
	n := slices.IndexFunc(ways[0], func(i int32) bool { return slices.Contains(ways[1], i) })
	if n < 0 {
		return false
	}
	meet := ways[0][n]
	last, between, some := [2]int32{at, at}, []int32(nil), map[int32]bool{}
	for k, way := range ways {
		for _, i := range way[:slices.Index(way, meet)] {
			last[k], between, some[q.of[i]] = i, append(between, i), true
		}
	}
	guarded(func() {
		here := q.path(at)
		for _, i := range between {
			for r := range q.results(i) {
				a, b := q.behind(last[0], r), q.behind(last[1], r)
				if read(r, some) && !q.impossible(here, q.differ(a, b)) {
					return
				}
			}
		}
		same = true
	})
	return same
}

// differ is that two contents of a register are not the same.
func (q *Possible) differ(a, b term) term {
	k := max(q.x.width(a), q.x.width(b))
	return q.x.not(q.x.eq(q.x.zext(a, k), q.x.zext(b, k)))
}

// straight are the instructions to which a way of a jump leads one after the other, from a first one on: those that only compute and to
// which nothing else leads, and the one behind them.
func (q *Possible) straight(jump, first int32) (way []int32) {
	for i, from := first, jump; len(way) < mostStraight && int(i) < len(q.p.Insts); {
		way = append(way, i)
		in, next := &q.p.Insts[i], q.p.After(i)
		f, flows := in.Do.(*ir.Flow)
		plain := in.Do == nil || flows && f.Kind == ir.Jump && in.Guard < 0 && f.Cond < 0
		if !plain || in.Opaque != "" || len(next) != 1 || !slices.Equal(q.before[i], []int32{from}) {
			break
		}
		from, i = i, next[0]
	}
	return way
}

// Moot reports whether it decides nothing at an instruction that a register has the truth given: the instruction only computes, and
// wherever the register has that truth, it writes what it would write if the register had the other one.
func (q *Possible) Moot(at int32, r ir.Reg, is bool) bool {
	return !q.failed && len(q.copies[at]) > 0 && len(q.copies[at]) <= mostCopies &&
		!slices.ContainsFunc(q.copies[at], func(at int32) bool { return !q.moot(at, r, is) })
}

// moot is Moot of one copy of an instruction.
func (q *Possible) moot(at int32, r ir.Reg, is bool) (same bool) {
	in := &q.p.Insts[at]
	if in.Do != nil || in.Opaque != "" {
		return false
	}
	for _, o := range slices.Concat(in.Pre, in.Post) {
		if divides(&o) || in.Returned(&o) || o.Dst >= 0 && q.s.uniform[o.Dst] { // what is not known is not the same
			return false
		}
	}
	guarded(func() {
		with := func(is bool) contents {
			return q.written(at, func(x ir.Reg) term {
				if x == r {
					return q.x.num(64, uint64(truth(is)))
				}
				return q.value(at, x)
			})
		}
		here, what := q.claimed(at, r, is)
		a, b := with(true), with(false)
		for r := range a {
			if !q.impossible(q.x.and(here, what), q.differ(a[r], b[r])) {
				return
			}
		}
		same = true
	})
	return same
}
