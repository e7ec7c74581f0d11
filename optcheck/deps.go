package optcheck

import "optcheck/spec"

// checkDeps requires that each dependency of the specification still exists as register data flow between the machine
// instructions.
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
			// Selecting a value instead of skipping an instruction keeps the dependency but not the condition: see
			// checkControl.
			has = x.condT&bit != 0
		}
		if !has {
			p.report(DependencyBroken, d.To, to, "the %v dependency from %s to %s is gone: %s", d.Kind, p.name(d.From), p.name(d.To), p.text(to))
		}
	}
}

// checkControl requires that an access is conditional exactly if the test's is. An atomic that one lane performs for
// its warp has no other condition.
func checkControl(p *pass) {
	for k, e := range p.s.Entries {
		ev := p.match[k]
		if ev < 0 {
			continue
		}
		x := &p.tr.events[ev]
		switch {
		case x.cond && !e.Guarded && !(isAtomic(e) && x.condT == 0 && p.byLane(x)):
			p.report(ControlChanged, k, ev, "%s is executed only under a condition: %s", p.name(k), p.text(ev))
		case !x.cond && e.Guarded:
			p.report(ControlChanged, k, ev, "%s is executed unconditionally: %s", p.name(k), p.text(ev))
		}
		if x.loop && !x.mem.Locked {
			p.report(Duplicated, k, ev, "%s is inside a loop: %s", p.name(k), p.text(ev))
		}
	}
}

// byLane reports whether an event depends only on the lane number, or on the loop around a lock.
func (p *pass) byLane(x *event) bool {
	for _, s := range x.when {
		if !x.mem.Locked && !p.tr.pool.lane(s.pred) {
			return false
		}
	}
	return true
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
