package refine

import (
	"maps"
	"slices"

	"optcheck/ir"
)

// fact is a comparison of two registers that holds.
type fact struct {
	cond ir.Cond
	of   ir.Type
	a, b ir.Reg
}

// not is what holds if a fact does not.
func (f fact) not() fact {
	f.cond = [...]ir.Cond{ir.EQ: ir.NE, ir.NE: ir.EQ, ir.LT: ir.GE, ir.LE: ir.GT, ir.GT: ir.LE, ir.GE: ir.LT}[f.cond]
	return f
}

// truth is what holds if a predicate is 1, and if it is 0.
type truth struct{ yes, no []fact }

// about reports whether a register was compared.
func (t truth) about(r ir.Reg) bool {
	is := func(f fact) bool { return f.a == r || f.b == r }
	return slices.ContainsFunc(t.yes, is) || slices.ContainsFunc(t.no, is)
}

// known is what holds of the registers of a thread wherever it comes to a place.
type known struct {
	regs   []bounds
	few    map[ir.Reg][]uint64 // the numbers that a register may hold, if those are few: in order, more than one
	truths map[ir.Reg]truth
	warp   ofWarp
}

// mostFew is how many numbers are few: as many as a function has calls.
const mostFew = 32

func (k *known) clone() *known {
	return &known{slices.Clone(k.regs), maps.Clone(k.few), maps.Clone(k.truths), ofWarp{maps.Clone(k.warp.holds), k.warp.alone}}
}

// numbers are those that a register may hold, nil if they are many.
func (k *known) numbers(r ir.Reg) []uint64 {
	if b := k.regs[r]; b.low == b.high {
		return []uint64{b.low}
	}
	return k.few[r]
}

// either are the numbers of two lists, nil if they are many.
func either(a, b []uint64) []uint64 {
	if a == nil || b == nil {
		return nil
	}
	out := slices.Concat(a, b)
	slices.Sort(out)
	if out = slices.Compact(out); len(out) > mostFew {
		return nil
	}
	return out
}

// choose gives a register some numbers, if they are few.
func (k *known) choose(r ir.Reg, some []uint64) {
	if len(some) == 0 {
		delete(k.few, r)
		return
	}
	k.regs[r] = bounds{some[0], some[len(some)-1]}
	if k.few[r] = some; len(some) == 1 {
		delete(k.few, r)
	}
}

// join adds what holds of threads that come from elsewhere, and reports whether that is new. Where numbers grow turn by turn they go up to
// the next width at once.
func (k *known) join(from *known, grow bool) (changed bool) {
	for r := range k.regs {
		was := k.regs[r]
		now, few := was.join(from.regs[r]), k.few[ir.Reg(r)]
		if now == was && few == nil {
			continue
		}
		if some := either(k.numbers(ir.Reg(r)), from.numbers(ir.Reg(r))); some != nil {
			k.choose(ir.Reg(r), some)
			changed = changed || k.regs[r] != was || len(some) > len(few)
			continue
		}
		changed = changed || few != nil
		delete(k.few, ir.Reg(r))
		if grow && now != was {
			if now.low < was.low {
				now.low = 0
			}
			for _, bits := range []int{8, 16, 31, 32, 64} {
				if w := within(bits); now.high > was.high && w.high >= now.high {
					now.high = w.high
					break
				}
			}
		}
		changed = changed || now != was
		k.regs[r] = now
	}
	for r, t := range k.truths {
		o := from.truths[r]
		both := truth{common(t.yes, o.yes), common(t.no, o.no)}
		if k.truths[r] = both; len(both.yes) < len(t.yes) || len(both.no) < len(t.no) {
			changed = true
		}
	}
	return k.joinWarp(from) || changed
}

// common are the facts of two lists.
func common(a, b []fact) []fact {
	return slices.DeleteFunc(slices.Clone(a), func(f fact) bool { return !slices.Contains(b, f) })
}

// set writes a register: what was known of it, and what was compared with it, is over.
func (k *known) set(r ir.Reg, b bounds) {
	k.regs[r] = b
	delete(k.few, r)
	delete(k.truths, r)
	delete(k.warp.holds, r)
	for p, t := range k.truths {
		if t.about(r) {
			k.truths[p] = truth{without(t.yes, r), without(t.no, r)}
		}
	}
}

// without are the facts that are not about a register.
func without(list []fact, r ir.Reg) []fact {
	return slices.DeleteFunc(slices.Clone(list), func(f fact) bool { return f.a == r || f.b == r })
}

// assume adds that a predicate is 1, or 0, and reports whether it can be. What is known of other predicates may say more then: that a number with
// a sign is below a bound does so once it is above another one.
func (k *known) assume(p ir.Reg, is bool) bool {
	about := k.truths[p]
	if !k.decided(p, is) {
		return false
	}
	if len(about.yes)+len(about.no) == 0 {
		return true
	}
	for _, q := range slices.Sorted(maps.Keys(k.truths)) {
		if b := k.regs[q]; q != p && b.low == b.high && k.truths[q].meets(about) && !k.decided(q, b.low == 1) {
			return false
		}
	}
	return true
}

// meets reports whether two truths are about a register that is the same.
func (t truth) meets(s truth) bool {
	for _, f := range slices.Concat(s.yes, s.no) {
		if t.about(f.a) || t.about(f.b) {
			return true
		}
	}
	return false
}

// decided adds that a predicate is 1, or 0, and what that says.
func (k *known) decided(p ir.Reg, is bool) bool {
	v, facts := bit(is), k.truths[p].no
	if is {
		facts = k.truths[p].yes
	}
	if b := k.regs[p]; b.high <= 1 && (v < b.low || v > b.high) {
		return false
	}
	if k.regs[p].high <= 1 {
		k.regs[p] = bounds{v, v}
	}
	for _, f := range facts {
		if !k.holds(f) {
			return false
		}
	}
	return true
}

func bit(b bool) uint64 {
	if b {
		return 1
	}
	return 0
}

// holds adds a fact, and reports whether it can be one.
func (k *known) holds(f fact) bool {
	switch f.cond {
	case ir.GT:
		return k.holds(fact{ir.LT, f.of, f.b, f.a})
	case ir.GE:
		return k.holds(fact{ir.LE, f.of, f.b, f.a})
	}
	most := within(f.of.Bits()).high
	a, b := k.regs[f.a], k.regs[f.b]
	if a.high > most || b.high > most {
		return true
	}
	if most >>= 1; f.of.Signed() && f.cond != ir.EQ && f.cond != ir.NE {
		if a.high <= most && b.high > most { // b is above a number without a sign, so it has none
			b.high = most
		}
		if a.high > most || b.high > most {
			return true
		}
	}
	one := bit(f.cond == ir.LT)
	switch f.cond {
	case ir.EQ:
		if k.warp.holds[f.a] == lowerOnes && b == (bounds{}) || k.warp.holds[f.b] == lowerOnes && a == (bounds{}) {
			k.warp.alone = true
		}
		a = bounds{max(a.low, b.low), min(a.high, b.high)}
		b = a
	case ir.NE:
		if a.low == a.high && b.low == b.high {
			return a != b
		}
	case ir.LT, ir.LE:
		if b.high < one {
			return false
		}
		a.high, b.low = min(a.high, b.high-one), max(b.low, a.low+one)
	}
	if a.low > a.high || b.low > b.high {
		return false
	}
	k.regs[f.a], k.regs[f.b] = a, b
	return true
}
