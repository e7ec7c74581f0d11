package prove

import "slices"

// arrival is a place where paths meet, and the instruction from which it was come to last. What lies behind it is performed anew: of is what is
// known up to there.
type arrival struct {
	of       *Possible
	at, from int32
}

// meets are the places where paths meet that bring what terms are made of.
func (q *Possible) meets(list ...term) (meets []int32) {
	seen := map[term]bool{}
	for len(list) > 0 && len(meets) < mostMeets {
		t := list[0]
		if list = list[1:]; seen[t] {
			continue
		}
		seen[t] = true
		if at, ok := q.met[t]; ok && at > 0 && len(q.before[at]) <= mostPaths && !slices.Contains(meets, at) {
			meets = append(meets, at)
		}
		list = append(slices.Clone(q.x.at(t).args), list...)
	}
	return meets
}

// along is what is possible behind a place if it was come to from an instruction last. That proves by induction what holds in each iteration of a
// loop: of the iteration before nothing is known but what its own jumps say.
func (q *Possible) along(at, from int32) *Possible {
	p := q.arrivals[[2]int32{at, from}]
	if p == nil {
		behind := *q
		p = &behind
		p.after, p.paths, p.last = map[int32]contents{}, map[int32]term{}, &arrival{q, at, from}
		q.arrivals[[2]int32{at, from}] = p
	}
	return p
}
