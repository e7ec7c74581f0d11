package prove

import (
	"encoding/binary"
	"fmt"
	"slices"

	"optcheck/ir"
)

// plan is what is known of the loops of both sides: found by following them, in one round after the other.
type plan struct {
	cuts     bool // loops without a bound are cut
	effort   Effort
	matches  bool // terms of the machine code are made those of the program
	round    int
	related  bool     // what the sides hold is related
	rejected int      // guesses
	sides    [2]shape // the program's, the machine code's
}

// shape are the loops of a side.
type shape struct {
	heads map[int32]bool // of those that are cut
	loops []*loop
}

// loop is what is known of a loop that is cut.
type loop struct {
	held    map[ir.Reg]held   // what is written in it
	stores  bool              // into memory that others see, or others may write it meanwhile
	spills  bool              // into the thread's own
	guesses map[ir.Reg][]part // of what registers hold, the best first
	apart   bool              // lanes may be in several iterations
	varies  bool              // the number of iterations may be another one of each lane
}

// held is what a register holds at the head of a loop. It is what it held in front, plus so many steps as iterations were made; or a
// part of what a register of the program holds; or a variable of its own.
type held struct {
	width  int
	varies bool
	step   term   // none if it is not the same in each iteration
	pair   ir.Reg // with the step of 64 bits: the register of the other half
	high   bool   // the high half
	of     ir.Reg // of the program; ir.None if it is none
	from   int    // its lowest bit
}

func (s *shape) loop(n int) *loop {
	for len(s.loops) <= n {
		s.loops = append(s.loops, &loop{held: map[ir.Reg]held{}, guesses: map[ir.Reg][]part{}, stores: true, spills: true})
	}
	return s.loops[n]
}

// at is what a register holds at the head of a loop that is entered; n is the number of iterations before.
func (h held) at(s *side, c *cut, r ir.Reg, n term) term {
	x := s.x
	before := func(r ir.Reg) term { return x.resize(s.made(c.entry, r), h.width) }
	switch {
	case h.of != ir.None:
		return h.part(x, s.other.cuts[c.number].regs[h.of])
	case h.step == none:
		return x.iterating(x.named(h.width, fmt.Sprintf("loop:%d.%s.%d.%d", c.number, s.name, r, s.plan.round), h.varies))
	case h.pair != ir.None && h.high:
		full := x.add(x.concat(before(r), before(h.pair)), x.product(n, h.step))
		return x.ext(full, 32, 32)
	case h.pair != ir.None:
		full := x.add(x.concat(before(h.pair), before(r)), x.product(n, h.step))
		return x.ext(full, 0, 32)
	}
	return x.add(before(r), x.product(x.resize(n, h.width), h.step))
}

// part is the part that a register holds of what one of the program does.
func (h held) part(x *terms, v term) term {
	return x.zext(x.ext(v, h.from, min(h.width, x.width(v)-h.from)), h.width)
}

// learn takes what a walk of both sides has shown; changed tells that another one is needed.
func (p *plan) learn(x *terms, a, b *side) (changed bool) {
	p.round++
	for _, s := range []*side{a, b} {
		for _, c := range s.cuts {
			changed = s.shape.loop(c.number).learn(x, s, c) || changed
		}
	}
	if !changed && !p.related && len(a.cuts) > 0 {
		p.related = true
		p.relate(x, a, b)
		return true
	}
	return changed
}

// learn takes what an iteration has shown.
func (l *loop) learn(x *terms, s *side, c *cut) (changed bool) {
	for i, v := range c.next {
		r := ir.Reg(i)
		h, known := l.held[r]
		if v == none || !known && v == c.regs[r] || s.bars[r] {
			continue
		}
		was := h
		if !known {
			h.step, h.pair, h.of = none, ir.None, ir.None
		}
		h.width, h.varies = max(h.width, x.needs(v)), h.varies || x.at(v).varies
		if e := c.entry.regs[r]; e != none {
			h.width, h.varies = max(h.width, x.needs(e)), h.varies || x.at(e).varies
		}
		if !known || h != was {
			l.held[r], changed = h, true
		}
	}
	if apart := slices.ContainsFunc(c.backs, func(b *state) bool { return !b.together }); apart && !l.apart && c.entry.together {
		l.apart, changed = true, true
	}
	if !c.together && !l.varies {
		l.varies, changed = true, true
	}
	return changed
}

// needs is the width that a term needs: a number of 32 bits may stand in 64.
func (x *terms) needs(t term) int {
	if x.may(t)>>32 == 0 {
		return min(x.width(t), 32)
	}
	return x.width(t)
}

// relate says what registers hold in each iteration, in terms of what they held in front of the loop and of what the program's hold.
func (p *plan) relate(x *terms, a, b *side) {
	for k := range a.cuts {
		stores := false
		for _, s := range []*side{a, b} {
			c, l := s.cuts[k], s.shape.loop(k)
			stores = stores || c.last.mem != c.start.mem
			l.spills = c.last.local != c.start.local
			l.steps(x, c)
		}
		a.shape.loop(k).stores, b.shape.loop(k).stores = stores, stores
	}
	runs := newRuns(x, a, b)
	for k, c := range a.cuts {
		of := map[string][]part{}
		for _, r := range sortedRegs(a.shape.loop(k).held) {
			runs.parts(of, c.regs[r], r)
		}
		l := b.shape.loop(k)
		for _, r := range sortedRegs(l.held) {
			h := l.held[r]
			if h.step == none {
				l.guesses[r] = of[runs.key(b.cuts[k].regs[r], 0, h.width)]
				l.guess(r)
			}
		}
	}
}

// guess takes the next guess of what a register holds; without one it is a variable of its own.
func (l *loop) guess(r ir.Reg) {
	h := l.held[r]
	h.of, h.from = ir.None, 0
	if g := l.guesses[r]; len(g) > 0 {
		h.of, h.from, l.guesses[r] = g[0].reg, g[0].from, g[1:]
	}
	l.held[r] = h
}

// reject takes other guesses for wrong ones.
func (p *plan) reject(wrong []*guess) {
	seen := map[guess]bool{}
	for _, g := range wrong {
		if !seen[*g] {
			g.loop.guess(g.reg)
			p.rejected++
		}
		seen[*g] = true
	}
}

func sortedRegs(m map[ir.Reg]held) []ir.Reg {
	var out []ir.Reg
	for r := range m {
		out = append(out, r)
	}
	slices.Sort(out)
	return out
}

// steps finds what each iteration adds to.
func (l *loop) steps(x *terms, c *cut) {
	for _, r := range sortedRegs(l.held) {
		h := l.held[r]
		if c.entry.regs[r] == none {
			continue
		}
		if d := x.sub(x.resize(c.next[r], h.width), c.regs[r]); !x.at(d).iterates && (h.width > 1 || x.is(d, 0)) {
			h.step = d
			l.held[r] = h
		}
	}
	for _, high := range sortedRegs(l.held) {
		if h := l.held[high]; h.step == none && h.width == 32 && c.entry.regs[high] != none {
			l.wide(x, c, high)
		}
	}
}

// wide finds the low half of a number of 64 bits to which each iteration adds.
func (l *loop) wide(x *terms, c *cut, high ir.Reg) {
	for _, low := range sortedRegs(l.held) {
		h := l.held[low]
		if low == high || h.width != 32 || h.pair != ir.None || c.entry.regs[low] == none || h.step == none ||
			!x.within(c.regs[low], c.next[high]) || x.width(c.regs[low]) != 32 || x.width(c.regs[high]) != 32 {
			continue
		}
		d := x.sub(x.concat(x.resize(c.next[high], 32), x.resize(c.next[low], 32)), x.concat(c.regs[high], c.regs[low]))
		if x.at(d).iterates {
			continue
		}
		h.step, h.pair = d, high
		l.held[low] = h
		g := l.held[high]
		g.step, g.pair, g.high = d, low, true
		l.held[high] = g
		return
	}
}

// within reports whether a term is a part of another one.
func (x *terms) within(part, t term) bool {
	seen := map[term]bool{}
	stack := []term{t}
	for len(stack) > 0 {
		t := stack[len(stack)-1]
		stack = stack[:len(stack)-1]
		if t == part {
			return true
		}
		if t < part || seen[t] {
			continue
		}
		seen[t] = true
		stack = append(stack, x.at(t).args...)
	}
	return false
}

// part is one of a register of the program, from a bit on.
type part struct {
	reg  ir.Reg
	from int
}

// runs are the values of terms in three runs through all loops: before the first iteration, after one, and after two.
type runs struct {
	x    *terms
	vals [3][][samples]uint64
}

func newRuns(x *terms, a, b *side) *runs {
	type change struct{ first, next term }
	of := map[term]change{}
	for _, s := range []*side{a, b} {
		for _, c := range s.cuts {
			for r := range s.shape.loop(c.number).held {
				e := c.entry.regs[r]
				if t := c.regs[r]; x.kind(t) == leaf {
					of[t] = change{e, c.next[r]}
				}
			}
		}
	}
	out := &runs{x: x}
	own := x.vals
	for i := range out.vals {
		x.vals = make([][samples]uint64, 0, len(own))
		for t := range x.nodes {
			var v [samples]uint64
			switch c, changes := of[term(t)]; {
			case !changes:
				v = x.sample(&x.nodes[t])
			case i > 0 && c.next != none:
				v = out.vals[i-1][c.next]
			case c.first != none:
				v = x.vals[c.first]
			}
			x.vals = append(x.vals, v)
		}
		out.vals[i] = x.vals
	}
	x.vals = own
	return out
}

// key are the values of some bits of a term.
func (r *runs) key(t term, from, w int) string {
	b := make([]byte, 0, len(r.vals)*samples*8)
	for _, vals := range r.vals {
		for _, v := range vals[t] {
			b = binary.LittleEndian.AppendUint64(b, v>>from&ones(w))
		}
	}
	return string(b)
}

// parts notes what a register of the program may be found by.
func (r *runs) parts(of map[string][]part, t term, reg ir.Reg) {
	note := func(from, w int) {
		k := r.key(t, from, w)
		of[k] = append(of[k], part{reg, from})
	}
	note(0, 64)
	if r.x.width(t) == 64 {
		note(0, 32)
		note(32, 32)
	}
}
