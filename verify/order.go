package verify

import (
	"slices"
	"sync"

	"optcheck/ir"
)

// A synchronisation may order strong accesses: of volatile data, say. Without it they do not race, but may see values in another order.
// Whether a launch needs it is seen from the pairs of strong accesses that conflict: those that are ordered in each run with it, and are
// not without.

// manyStrong is how many strong accesses of a place are looked through.
const manyStrong = 64

// strongPair are the instructions of two strong accesses that conflict.
type strongPair [2]int32

// orders gathers which strong accesses that conflict were ordered in some run, and which were not in one.
type orders struct {
	lock           sync.Mutex
	ordered, loose map[strongPair]bool
}

func newOrders() *orders {
	return &orders{ordered: map[strongPair]bool{}, loose: map[strongPair]bool{}}
}

// watch makes a run tell of its pairs.
func (o *orders) watch(m *monitor) { m.orders = &runOrders{o, map[strongPair][2]bool{}} }

// runOrders are the pairs of a run.
type runOrders struct {
	all  *orders
	seen map[strongPair][2]bool
}

// note looks at a strong access of a lane and earlier ones of the place. k is what the lane knows in front of it.
func (r *runOrders) note(m *monitor, s *strongCell, t *touch, by id, k *clock) {
	if r == nil {
		return
	}
	for i := range s.list[:min(len(s.list), manyStrong)] {
		e := &s.list[i]
		if !e.write && !t.write || e.block == by.block && e.warp == by.warp && e.mask == 1<<by.lane {
			continue
		}
		p, how := strongPair{min(e.pc, t.pc), max(e.pc, t.pc)}, 0
		if !m.ordered(e, by, k) {
			how = 1
		}
		if x := r.seen[p]; !x[how] {
			x[how] = true
			r.seen[p] = x
			r.all.add(p, how == 0)
		}
	}
}

func (o *orders) add(p strongPair, ordered bool) {
	o.lock.Lock()
	defer o.lock.Unlock()
	if ordered {
		o.ordered[p] = true
	} else {
		o.loose[p] = true
	}
}

// lost is the first pair, but for two read-modify-writes, that was ordered whenever it was seen, and is no more.
func (o *orders) lost(without *orders, p *ir.Program) (strongPair, bool) {
	modifies := func(pc int32) bool {
		a, ok := p.Insts[pc].Do.(*ir.Access)
		return ok && a.Kind == ir.Atomic
	}
	var out []strongPair
	for p := range without.loose {
		if o.ordered[p] && !o.loose[p] && !(modifies(p[0]) && modifies(p[1])) {
			out = append(out, p)
		}
	}
	if len(out) == 0 {
		return strongPair{}, false
	}
	return slices.MinFunc(out, func(a, b strongPair) int { return slices.Compare(a[:], b[:]) }), true
}

// always reports whether all that conflicts with an access was ordered with it in each run.
func (o *orders) always(inst int) bool {
	for p := range o.loose {
		if int(p[0]) == inst || int(p[1]) == inst {
			return false
		}
	}
	return true
}
