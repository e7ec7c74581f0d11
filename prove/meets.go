package prove

import (
	"cmp"
	"slices"

	"optcheck/ir"
)

// edge is the way from an instruction to a place where paths meet.
type edge struct{ at, from int32 }

// arrival is the last one at a place where paths meet. What lies behind it is performed anew: of is what is known up to there.
type arrival struct {
	of *Possible
	edge
	level int // how many arrivals there are
}

// meetingPlace is where paths meet, and behind how many arrivals.
type meetingPlace struct {
	at    int32
	level int
}

// level is how many arrivals are told apart.
func (q *Possible) level() int {
	if q.last == nil {
		return 0
	}
	return q.last.level
}

// seen is what knows what an instruction did last: what is on every way to a place was performed before the arrival there.
func (q *Possible) seen(at int32) *Possible {
	for q.last != nil && at != q.last.at && q.dominates(at, q.last.at) {
		q = q.last.of
	}
	return q
}

// along is what is possible behind a place if it was come to from an instruction last.
func (q *Possible) along(e edge) *Possible {
	p := q.arrivals[e]
	if p == nil {
		p = q.fresh(&arrival{q, e, q.level() + 1})
		q.arrivals[e] = p
	}
	return p
}

// fresh is the same program, of which nothing is known yet behind an arrival.
func (q *Possible) fresh(last *arrival) *Possible {
	p := *q
	p.after, p.paths, p.arrivals, p.last = map[int32]contents{}, map[int32]term{}, map[edge]*Possible{}, last
	return &p
}

// inquiry is whether an instruction is come to with a register of a truth.
type inquiry struct {
	q    *Possible
	at   int32
	r    ir.Reg
	is   bool
	left int // paths that are still looked at
}

// never is Never of one copy of an instruction.
func (q *Possible) never(at int32, r ir.Reg, is bool) (never bool) {
	if q.misses > mostMisses {
		return false
	}
	i := &inquiry{q, at, r, is, mostLooks}
	deeper := true
	for most := 0; deeper && most <= mostArrivals && (most < 2 || q.vain < mostVain && q.x.effort > int(Thorough)/2); most++ {
		never, deeper = i.never(nil, most)
	}
	if !never {
		q.vain += mostLooks - i.left
	}
	return never
}

// never reports whether nothing comes there along edges, in the order in which they are taken. If that does not show, it tells apart by
// which edges threads come to a place in front of them, at most so often; deeper tells that there are more such places.
func (i *inquiry) never(along []edge, most int) (never, deeper bool) {
	var meets []int32
	known := guarded(func() {
		here, what := i.claimed(i.q, along)
		if _, known := i.q.answers[[2]term{here, what}]; !known {
			i.left--
		}
		never = i.left >= 0 && i.q.impossible(here, what)
		if !never {
			meets = i.meets(along, here, what)
		}
	})
	if !known && along == nil {
		i.q.misses++
	}
	if never || most == 0 {
		return never, len(meets) > 0
	}
	for _, at := range meets {
		all := true
		for _, from := range i.q.before[at] {
			one, more := i.never(append([]edge{{at, from}}, along...), most-1)
			deeper = deeper || more
			if all = one; !all {
				break
			}
		}
		if all {
			return true, false
		}
	}
	return false, deeper
}

// claimed are the conditions under which the instruction is come to along edges, and that the register has the truth there. By induction
// over the arrivals at the head of a loop, the iteration before did not come there along the edges behind the head, whatever was unknown in
// it.
func (i *inquiry) claimed(q *Possible, along []edge) (here, what term) {
	if len(along) == 0 {
		return q.claimed(i.at, i.r, i.is)
	}
	e := along[0]
	here, what = i.claimed(q.along(e), along[1:])
	if q.dominates(e.at, e.from) {
		was, held := i.claimed(q, along[1:])
		here = q.x.and(here, q.x.not(q.x.and(was, held)))
	}
	return here, what
}

// meets are the last places where paths meet, in front of edges, that bring what terms are made of: at most a few. An arrival there may be
// told apart because the place is on every way to the first edge, and so there is a last one.
func (i *inquiry) meets(along []edge, list ...term) (meets []int32) {
	q, last := i.q, i.at
	if len(along) > 0 {
		last = along[0].from
	}
	seen := map[term]bool{}
	for len(list) > 0 {
		t := list[len(list)-1]
		if list = list[:len(list)-1]; seen[t] {
			continue
		}
		seen[t] = true
		p, ok := q.met[t]
		ok = ok && p.level == 0 && p.at > 0 && q.dominates(p.at, last)
		if ok && len(q.before[p.at]) <= mostPaths && !slices.Contains(meets, p.at) {
			meets = append(meets, p.at)
		}
		list = append(list, q.x.at(t).args...)
	}
	slices.SortFunc(meets, func(a, b int32) int { return cmp.Compare(q.nested[b].from, q.nested[a].from) })
	return meets[:min(len(meets), mostMeets)]
}
