package machine

import (
	"optcheck/model/exec"
	"optcheck/model/explore"
)

// promises is the first phase of the machines that correspond to axioms: accesses get their
// values, out of program order, before anything is performed. A load takes the value of any
// store of its location whose value is known, although no memory has it yet; the machine must
// then keep that promise. Whatever an access's address, data or condition depends on must be
// known first: no value comes out of thin air.
type promises struct {
	known uint64
	// src is by read the write that it reads from: -1 the initial one.
	src  []int8
	vals []int64
}

const initial = -1

func (s *promises) clone() promises {
	return promises{s.known, append([]int8(nil), s.src...), append([]int64(nil), s.vals...)}
}

func newPromises(p *Program) promises {
	return promises{src: make([]int8, len(p.events)), vals: make([]int64, len(p.events))}
}

// accesses returns the set of the reads and writes.
func (p *Program) accesses() (set uint64) {
	for l := range p.reads {
		set |= p.reads[l] | p.writes[l]
	}
	return set
}

// promise makes the moves in which accesses get a value. Stores, which have no choice, come
// first, each as the only move. may says what a load may read. It reports whether all values
// are known.
func (p *Program) promise(s *promises, deps bool, may func(read, write int) bool,
	yield func(promises, func() explore.Step) error) (all bool, err error) {
	left := p.accesses() &^ s.known
	if left == 0 {
		return true, nil
	}
	ready := func(i int) bool { return !deps || p.events[i].deps&^s.known == 0 }
	for set := left; set != 0; set &= set - 1 {
		if i := low(set); p.events[i].Kind == exec.Write && ready(i) {
			n := s.clone()
			n.known |= 1 << i
			n.vals[i] = p.value(i, n.vals)
			return false, yield(n, nil)
		}
	}
	for set := left; set != 0; set &= set - 1 {
		i := low(set)
		if p.events[i].Kind != exec.Read || !ready(i) {
			continue
		}
		for from := p.writes[p.events[i].Loc] & s.known; ; from &= from - 1 {
			w := initial
			if from != 0 {
				w = low(from)
			}
			if may(i, w) {
				if err := p.read(s, i, w, yield); err != nil {
					return false, err
				}
			}
			if from == 0 {
				break
			}
		}
	}
	return false, nil
}

// read makes the move of a load that takes the value of a write.
func (p *Program) read(s *promises, i, w int, yield func(promises, func() explore.Step) error) error {
	e := &p.events[i]
	n := s.clone()
	n.known |= 1 << i
	n.src[i], n.vals[i] = int8(w), p.init[e.Loc]
	step := told(e.thread, "%s takes %d, the initial value", e.text, p.init[e.Loc])
	if w >= 0 {
		n.vals[i] = s.vals[w]
		step = told(e.thread, "%s takes %d, which %s of T%d stores", e.text, s.vals[w], p.events[w].text, p.events[w].thread)
	}
	if !p.holds(e.thread, n.known&p.of(e.thread), n.vals) {
		return nil
	}
	return yield(n, step)
}

// own checks a load that takes a write's value against the thread's own stores: future is set
// if the write comes later in the thread, stale if another of its stores has overwritten the
// value before the load. A write of another thread may be newer than all of them.
func (p *Program) own(r, w int) (future, stale bool) {
	mine := p.of(p.events[r].thread) & p.writes[p.events[r].Loc]
	between := mine & p.before(r)
	switch {
	case w == initial:
	case mine>>w&1 == 0:
		between = 0
	case w > r:
		return true, false
	default:
		between &^= below(w + 1)
	}
	return false, between != 0
}

// key identifies promises by where values come from.
func (s *promises) key(b []byte) []byte {
	for i := range 8 {
		b = append(b, byte(s.known>>(8*i)))
	}
	for _, k := range s.src {
		b = append(b, byte(k))
	}
	return b
}
