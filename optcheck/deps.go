package optcheck

import "optcheck/spec"

// checkDeps demands that each dependency of the specification is still there
// as register data flow between the machine instructions.
func checkDeps(p *pass) {
	for _, d := range p.s.Deps {
		from, to := p.match[d.From], p.match[d.To]
		if from < 0 || to < 0 {
			continue // reported as missing; fences are checked by place
		}
		r := p.tr.events[from].read
		if r < 0 {
			continue // reported as another kind
		}
		bit := taint(1) << uint(r)
		x := &p.tr.events[to]
		has := false
		switch d.Kind {
		case spec.DepAddr:
			has = x.addrT&bit != 0
		case spec.DepData:
			has = x.dataT&bit != 0
		case spec.DepCtrl:
			// A selected value instead of a skipped instruction keeps the
			// dependency but not the condition: see checkControl.
			has = x.condT&bit != 0
		}
		if !has {
			p.report(DependencyBroken, d.To, to, "the %v dependency from %s to %s is gone: %s", d.Kind, p.name(d.From), p.name(d.To), p.text(to))
		}
	}
}

// checkControl demands that an access is conditional exactly if the test's is.
// An atomic that one lane performs for its warp is no change of condition.
func checkControl(p *pass) {
	for k, e := range p.s.Entries {
		ev := p.match[k]
		if ev < 0 || e.IsFence() {
			continue
		}
		x := &p.tr.events[ev]
		switch {
		case x.cond && !e.Guarded && !(isAtomic(e) && x.condT == 0 && p.byLane(x)):
			p.report(ControlChanged, k, ev, "%s is executed only under a condition: %s", p.name(k), p.text(ev))
		case !x.cond && e.Guarded:
			p.report(ControlChanged, k, ev, "%s is executed unconditionally: %s", p.name(k), p.text(ev))
		case x.cond && e.When != nil:
			p.checkCondition(k, ev, e.When)
		}
		if x.loop && !x.mem.Locked {
			p.report(Duplicated, k, ev, "%s is inside a loop: %s", p.name(k), p.text(ev))
		}
	}
}

// byLane reports whether only the number of the lane decides whether an event
// is performed, or the loop around a lock.
func (p *pass) byLane(x *event) bool {
	for _, s := range x.when {
		if !x.mem.Locked && !p.tr.pool.lane(s.pred) {
			return false
		}
	}
	return true
}

// checkCondition compares the condition in the machine code with that of the
// test, by what they say of a handful of words read: around the constant and at
// the ends of the ranges a comparison can tell apart.
func (p *pass) checkCondition(k, ev int, want *spec.Condition) {
	from := p.match[want.Pos]
	if from < 0 {
		return // reported as missing
	}
	c := uint32(want.Const)
	for _, w := range []uint32{0, 1, c - 1, c, c + 1, 0x7fffffff, 0x80000000, 0xffffffff} {
		runs := true
		for _, s := range p.tr.events[ev].when {
			p.steps = 0
			v, ok := p.predicate(s.pred, p.tr.events[from].read, w, 0)
			if !ok {
				p.report(ConditionUnread, k, ev, "%s: the condition of %s could not be read", p.name(k), p.text(ev))
				return
			}
			runs = runs && v == s.want
		}
		if runs != want.Holds(w) {
			p.report(ControlChanged, k, ev, "%s is executed under another condition: for instance when %s reads 0x%x: %s",
				p.name(k), p.name(want.Pos), w, p.text(ev))
			return
		}
	}
}

// predicate evaluates a predicate for a word that a reading event reads.
func (p *pass) predicate(v value, read int, word uint32, depth int) (holds, ok bool) {
	if p.steps++; v < 0 || depth > maxDepth || p.steps > maxSteps {
		return false, false
	}
	n := p.tr.pool.nodes[v]
	switch {
	case n.kind == kConst:
		return n.imm != 0, true
	case n.kind == kBits:
		idx := 0
		for _, x := range []value{n.a, n.b, n.c} {
			idx <<= 1
			if x == none {
				continue
			}
			h, ok := p.predicate(x, read, word, depth+1)
			if !ok {
				return false, false
			}
			if h {
				idx |= 1
			}
		}
		return n.imm>>idx&1 != 0, true
	case n.kind == kSel && p.abi.amd != nil:
		c, ok := p.predicate(n.c, read, word, depth+1)
		if !ok {
			return false, false
		}
		if c {
			return p.predicate(n.a, read, word, depth+1)
		}
		return p.predicate(n.b, read, word, depth+1)
	case n.kind == kCmp:
		a, okA := p.compared(n.a, read, word)
		b, okB := p.compared(n.b, read, word)
		return compare(uint8(n.imm), n.imm&cmpSigned != 0, a, b), okA && okB
	}
	return false, false
}

// maxSteps bounds the evaluation of one predicate, whose parts may be shared.
const maxSteps = 10_000

// compared evaluates a compared operand: the word read, or a constant.
func (p *pass) compared(v value, read int, word uint32) (uint32, bool) {
	if c, ok := p.tr.pool.isConst(v); ok {
		return c, true
	}
	n := p.tr.pool.nodes[v]
	return word, n.kind == kLoad && int(n.a) == read && n.b == 0
}

// cmpSigned marks a signed comparison in the imm of a kCmp node.
const cmpSigned = 1 << 8

// cmpCodes numbers the comparisons of predicate-setting instructions.
var cmpCodes = map[string]uint8{"EQ": 0, "NE": 1, "LT": 2, "LE": 3, "GT": 4, "GE": 5}

func compare(code uint8, signed bool, a, b uint32) bool {
	x, y := int64(a), int64(b)
	if signed {
		x, y = int64(int32(a)), int64(int32(b))
	}
	switch code {
	case 0:
		return x == y
	case 1:
		return x != y
	case 2:
		return x < y
	case 3:
		return x <= y
	case 4:
		return x > y
	}
	return x >= y
}

func isAtomic(e spec.Entry) bool { return e.Writes() && e.Kind.Atom != 0 }
