package hazard

import (
	"cmp"
	"slices"

	"optcheck/isa"
)

// walk follows all paths of a function: what may be in flight at the start of each block, joined over the paths to it. A function
// that is called within the section is followed once for each place that calls it.
type walk struct {
	fn      *isa.Func
	table   *table
	effects []effect
	visit   func(dep) // nil while the states are not complete
	// vain is within how many cycles behind what sets a scoreboard waiting for it is for nothing; 0: never.
	vain    int
	sites   []site // the first stands for what calls the function itself
	blockOf map[int]int
	returns []bool // blocks from which a return is reached
	in      map[node]*state
	todo    []node
	steps   int
	// outermost tells that the block that is followed belongs to the function itself, not to one that it calls.
	outermost bool
}

// site is a place that calls: where it goes on, and what is in flight there, by the site that called the code around it.
type site struct {
	back    int // block; -1 if there is none
	callers []caller
	ends    []int // blocks that return
}

// caller is a site from which a call was reached.
type caller struct {
	site   int
	flying state
}

// node is a block of what a site calls.
type node struct{ site, block int }

// follow calls visit for all dependencies of a function. It reports false if that takes too many steps.
func follow(fn *isa.Func, t *table, steps, vain int, visit func(dep)) bool {
	if len(fn.Blocks) == 0 {
		return true
	}
	w := &walk{fn: fn, table: t, sites: []site{{back: -1}}, blockOf: map[int]int{}, in: map[node]*state{}, steps: steps,
		effects: t.effects(fn), vain: vain}
	for b := range fn.Blocks {
		w.blockOf[fn.Blocks[b].First] = b
	}
	w.findReturns()
	for w.push(node{}, nil); len(w.todo) > 0; {
		n := w.todo[len(w.todo)-1]
		w.todo = w.todo[:len(w.todo)-1]
		s, ok := w.block(n)
		if !ok {
			return false
		}
		w.leave(n, s)
	}
	order := make([]node, 0, len(w.in))
	for n := range w.in {
		order = append(order, n)
	}
	slices.SortFunc(order, func(a, b node) int { return cmp.Or(a.site-b.site, a.block-b.block) })
	w.steps = steps
	seen := make([]bool, len(fn.Blocks))
	for _, n := range order {
		again := seen[n.block]
		seen[n.block] = true
		w.visit = func(d dep) { d.again = again; visit(d) }
		w.block(n)
	}
	return true
}

// findReturns finds the blocks from which the function that they are in may return.
func (w *walk) findReturns() {
	w.returns = make([]bool, len(w.fn.Blocks))
	for changed := true; changed; {
		changed = false
		for b := len(w.fn.Blocks) - 1; b >= 0; b-- {
			x := &w.fn.Blocks[b]
			last := &w.fn.Insts[x.End-1]
			goes := func(to int) bool {
				return w.returns[to] && (last.Flow != isa.FlowCall || w.fn.Blocks[to].First == x.End)
			}
			if !w.returns[b] && (last.Flow == isa.FlowReturn || slices.ContainsFunc(x.Succs, goes)) {
				w.returns[b], changed = true, true
			}
		}
	}
}

// push gives a block a state to begin with.
func (w *walk) push(n node, s state) {
	have := w.in[n]
	if have == nil {
		c := slices.Clone(s)
		w.in[n] = &c
	} else if !have.join(s) {
		return
	}
	w.queue(n)
}

func (w *walk) queue(n node) {
	if !slices.Contains(w.todo, n) {
		w.todo = append(w.todo, n)
	}
}

// block follows the instructions of a block, and returns what is then in flight; false if that takes too many steps.
func (w *walk) block(n node) (state, bool) {
	b := &w.fn.Blocks[n.block]
	s := slices.Clone(*w.in[n])
	w.outermost = n.site == 0
	for i := b.First; i < b.End; i++ {
		if w.steps -= 1 + len(s); w.steps < 0 {
			return nil, false
		}
		s = w.step(s, i)
	}
	return s, true
}

// leave passes what is in flight behind a block to those that may follow.
func (w *walk) leave(n node, s state) {
	b := &w.fn.Blocks[n.block]
	switch last := &w.fn.Insts[b.End-1]; last.Flow {
	case isa.FlowCall:
		w.call(n, last, s)
	case isa.FlowReturn:
		c := &w.sites[n.site]
		if !slices.Contains(c.ends, n.block) {
			c.ends = append(c.ends, n.block)
		}
		for _, from := range c.callers {
			w.push(node{from.site, c.back}, s.back(from.flying))
		}
		if last.Guard != (isa.Guard{}) {
			w.next(n.site, b.End, s)
		}
	default:
		for _, t := range b.Succs {
			w.push(node{n.site, t}, s)
		}
	}
}

func (w *walk) next(site, inst int, s state) {
	if to, ok := w.blockOf[inst]; ok {
		w.push(node{site, to}, s)
	}
}

// call enters a function in the same section; behind one elsewhere nothing is in flight, as far as is known. A call of code that
// never returns is a jump, as which compilers use it.
func (w *walk) call(n node, in *isa.Inst, s state) {
	end := w.fn.Blocks[n.block].End
	if in.Guard != (isa.Guard{}) {
		w.next(n.site, end, s)
	}
	to, here := w.blockOf[in.Target]
	back, ok := w.blockOf[end]
	switch {
	case in.Target < 0 || !here:
		w.next(n.site, end, nil)
		return
	case !ok || !w.returns[to]:
		w.push(node{n.site, to}, s)
		return
	}
	k := slices.IndexFunc(w.sites, func(c site) bool { return c.back == back })
	if k < 0 {
		k = len(w.sites)
		w.sites = append(w.sites, site{back: back})
	}
	w.sites[k].from(n.site, s)
	for _, b := range w.sites[k].ends {
		w.queue(node{k, b})
	}
	inner := slices.Clone(s)
	for i := range inner {
		inner[i].outer = true
	}
	w.push(node{k, to}, inner)
}

// from notes what is in flight where a site is reached.
func (c *site) from(parent int, s state) {
	i := slices.IndexFunc(c.callers, func(x caller) bool { return x.site == parent })
	if i < 0 {
		i = len(c.callers)
		c.callers = append(c.callers, caller{site: parent})
	}
	c.callers[i].flying = slices.Clone(s)
}

// back is what is in flight behind a call: what the function has issued, and of what was in flight at the call what still is. Other
// callers' do not count: while a function runs, what was in flight before is only waited for.
func (s state) back(flying state) (out state) {
	for _, p := range s {
		i, ok := slices.BinarySearchFunc(flying, p, func(a, b pending) int { return int(a.inst) - int(b.inst) })
		switch {
		case p.outer && !ok:
			continue
		case p.outer:
			q := &flying[i]
			p.age, p.later = max(p.age, q.age), max(p.later, q.later)
			p.wrote, p.read = p.wrote|q.wrote, p.read|q.read
			p.meetResults(*q)
			p.reading = min(p.reading, q.reading)
			p.guarded, p.outer, p.stale = p.guarded && q.guarded, q.outer, p.stale|q.stale
			if p.age == horizon && !p.write && !p.reads() {
				continue
			}
		}
		out = append(out, p)
	}
	return out
}

// away reports whether an instruction goes on in another section, of which nothing is known: a call, or a function's return to who called it
// from there.
func (w *walk) away(i int) bool {
	in := &w.fn.Insts[i]
	_, here := w.blockOf[in.Target]
	switch in.Flow {
	case isa.FlowCall:
		return in.Target < 0 || !here
	case isa.FlowReturn:
		return w.outermost
	}
	return false
}
