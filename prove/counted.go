package prove

import "optcheck/ir"

// site is a register at an instruction.
type site struct {
	at int32
	r  ir.Reg
}

// step is what each iteration of a loop adds to a register, and how wide that is; none if that is not one number.
type step struct {
	by    term
	width int
}

// joined is what a register holds where several contents of it meet. At the head of a loop that adds a number to it in each iteration, it
// is what it held in front of the loop, and that number for each iteration before: one count serves all registers of the loop.
func (q *Possible) joined(at int32, r ir.Reg) term {
	t := q.unknown(64, "at", at, r)
	q.met[t] = meetingPlace{at, q.level()}
	if q.raw == nil {
		return t
	}
	s := q.step(at, r)
	if s.by == none {
		return t
	}
	first := q.behind(q.entry(at), r)
	if q.x.needs(first) > s.width {
		return t
	}
	first = q.x.resize(first, s.width)
	if q.x.is(s.by, 0) {
		return first
	}
	n := q.unknown(64, "iterations", at, ir.None)
	q.met[n] = meetingPlace{at, q.level()}
	return q.x.add(first, q.x.product(q.x.resize(n, s.width), s.by))
}

// entry is the instruction from which alone a loop is entered; -1 if there is none.
func (q *Possible) entry(head int32) (from int32) {
	from = -1
	for _, b := range q.before[head] {
		switch {
		case q.dominates(head, b):
		case from >= 0:
			return -1
		default:
			from = b
		}
	}
	return from
}

// step finds what the iterations of a loop add to a register.
func (q *Possible) step(head int32, r ir.Reg) step {
	s, known := q.steps[site{head, r}]
	if known {
		return s
	}
	s = step{none, 0}
	for _, b := range q.before[head] {
		if q.entry(head) < 0 || !q.dominates(head, b) {
			continue
		}
		x, next := q.x, q.raw.behind(b, r)
		w := x.needs(next)
		by := x.sub(x.resize(next, w), x.resize(q.raw.value(head, r), w))
		if _, ok := x.constant(by); !ok || s.by != none && s.by != by {
			s.by = none
			break
		}
		s = step{by, w}
	}
	q.steps[site{head, r}] = s
	return s
}
