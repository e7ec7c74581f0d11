package optcheck

import (
	"optcheck/isa"
	"optcheck/litmus"
	"optcheck/spec"
)

// guard reads the condition under which an event is performed. An atomic that one lane performs for its warp counts
// as performed.
func (l *lifter) guard(ev int, op *liftOp) error {
	x := &l.p.tr.events[ev]
	condT := x.condT &^ l.own(ev)
	if !x.cond || condT == 0 && x.mem.Locked {
		return nil
	}
	seen := taint(0)
	for _, s := range x.when {
		if (isAtomicRole(x.role) || !x.role.IsAccess()) && l.p.tr.pool.lane(s.pred) {
			continue // which lane performs it, and its fence, for its warp
		}
		e, err := l.expr(s.pred, x.inst, &seen)
		if err != nil {
			return err
		}
		op.guard = append(op.guard, guardTerm{e, s.want})
	}
	op.ctrlDeps = bitsOf(condT &^ seen)
	return nil
}

// own returns the read event itself as a set: the loop around a lock, and the value stored in it, depend on what the
// access reads.
func (l *lifter) own(ev int) taint {
	if r := l.p.tr.events[ev].read; r >= 0 {
		return 1 << uint(r)
	}
	return 0
}

// data reads what an access stores or combines.
func (l *lifter) data(ev int, op *liftOp) error {
	p := l.p
	x := &p.tr.events[ev]
	if x.role == isa.RoleLoad {
		return nil
	}
	seen := l.own(ev)
	if x.mem.Locked || x.cond && x.condT == 0 && isAtomicRole(x.role) {
		if len(p.owner[ev]) > 0 {
			return l.combined(ev, op)
		}
		v, ok := p.ofOneLane(x)
		if !ok {
			return l.errorAt(x.inst, "an atomic made of several instructions that is none of the test's")
		}
		e, err := l.expr(v, x.inst, &seen)
		if err != nil {
			return err
		}
		op.data = [][]*expr{{e}}
		op.dataDeps = bitsOf(x.dataT &^ seen)
		return nil
	}
	words := max(x.mem.Width/4, 1)
	for i := range len(x.data) / words {
		var ws []*expr
		for w := range words {
			e, err := l.expr(x.data[i*words+w], x.inst, &seen)
			if err != nil && isAtomicRole(x.role) && len(p.owner[ev]) > 0 && len(x.data) == words {
				return l.combined(ev, op) // a warp's operands, combined
			}
			if err != nil {
				return err
			}
			ws = append(ws, e)
		}
		op.data = append(op.data, ws)
	}
	op.dataDeps = bitsOf(l.beyondGuard(ev, op.entry, spec.DepData, x.dataT) &^ seen)
	return nil
}

// beyondGuard removes the reads that decide an access's guard from the set that its address or data depend on: code
// under a predicate often sets up its operands under that predicate too. Dependencies that the test has stay.
func (l *lifter) beyondGuard(ev, entry int, kind spec.DepKind, t taint) taint {
	x := &l.p.tr.events[ev]
	out := t &^ x.condT
	if entry < 0 {
		return out
	}
	for _, d := range l.p.s.Deps {
		if d.To == entry && d.Kind == kind && l.p.match[d.From] >= 0 {
			out |= t & (1 << uint(l.p.tr.events[l.p.match[d.From]].read)) // 0 for what reads nothing
		}
	}
	return out
}

func isAtomicRole(r isa.Role) bool { return r == isa.RoleAtomic || r == isa.RoleReduction }

// ofOneLane returns the operand of a combined atomic that is none of the test's. Of a product with the number of
// lanes it is the other factor, since a test thread is alone in its warp.
func (p *pass) ofOneLane(x *event) (value, bool) {
	if x.mem.Locked || x.mem.Width != 4 || len(x.data) != 1 {
		return none, false
	}
	n := p.tr.pool.nodes[x.data[0]]
	if n.kind != kFun || n.imm != uint64(isa.MicroMul)<<8 {
		return none, false
	}
	for _, f := range [][2]value{{n.a, n.b}, {n.b, n.a}} {
		if p.tr.pool.nodes[f[1]].kind == kOpaque && !p.tr.pool.reads(f[1]) && !p.tr.pool.contains(f[1], kParam) {
			return f[0], true
		}
	}
	return none, false
}

// combined reads the operands of an atomic from its markers, where the machine code combines those of a warp's lanes
// or computes the new value in a loop.
func (l *lifter) combined(ev int, op *liftOp) error {
	p := l.p
	k := p.owner[ev][0]
	e, inst := p.s.Entries[k], p.tr.events[ev].inst
	if p.found(ValueChanged, k) {
		return l.errorAt(inst, "its operands are not the test's")
	}
	seen := l.own(ev)
	for _, v := range p.marked(k) {
		w, err := l.expr(p.unguarded(v), inst, &seen)
		if err != nil {
			return err
		}
		ws := []*expr{w}
		if e.Kind.Width == 8 {
			hi := *w
			switch w.op {
			case exParam:
				hi.k += 4
			case exLoad:
				hi.word++
			default:
				return l.errorAt(inst, "the upper word of a combined operand is not known")
			}
			ws = append(ws, &hi)
		}
		op.data = append(op.data, ws)
	}
	op.dataDeps = bitsOf(p.tr.events[ev].dataT &^ seen)
	return nil
}

// words splits a wide access that matches no entry as a whole into its words; done reports whether it did.
func (l *lifter) words(ev int, op liftOp) (done bool, err error) {
	p := l.p
	x := &p.tr.events[ev]
	words := x.mem.Width / 4
	if op.entry >= 0 || words < 2 || x.role == isa.RoleAtomic || x.role == isa.RoleReduction {
		return false, nil
	}
	if _, ok := p.wordLocation(x, 1); !ok && words == 2 {
		return false, nil // one 64-bit location, or an error that locationOf reports
	}
	for w := range words {
		one := op
		one.group = ev + 1
		one.typ, one.raw.Type = litmus.S32, litmus.S32
		loc, ok := p.wordLocation(x, w)
		if !ok && x.role == isa.RoleLoad && w > 0 {
			continue // beyond the last location, where nobody looks
		}
		if !ok {
			return true, l.errorAt(x.inst, "byte %d of the access is at none of the test's locations", 4*w)
		}
		one.loc = loc
		if x.role == isa.RoleStore {
			one.data = [][]*expr{{op.data[0][w]}}
		} else {
			one.word = w
		}
		l.add(one)
	}
	return true, nil
}

// wordLocation returns the location of a word of a wide access.
func (p *pass) wordLocation(x *event, w int) (int, bool) {
	y := *x
	y.addr.off += int64(4 * w)
	return p.locationOf(&y)
}

// placeOf returns the word of a wide access at which an entry's own word or words begin.
func (p *pass) placeOf(k int, x *event) int {
	e := p.s.Entries[k]
	if x.mem.Width <= e.Kind.Width {
		return 0
	}
	if e.Reads() {
		return p.word[k]
	}
	for w, d := range x.data {
		if d == p.oper[k] {
			return w
		}
	}
	return 0
}

// unguarded returns the value that a guarded access read: its marker's operand selects between that and the token.
func (p *pass) unguarded(v value) value {
	if v == none {
		return v
	}
	token := func(x value) bool {
		n := p.tr.pool.nodes[x]
		return n.kind == kParam && int64(n.imm) > p.s.ResultParam()
	}
	if n := p.tr.pool.nodes[v]; n.kind == kSel || n.kind == kPhi {
		if n.b != none && token(n.b) && !token(n.a) {
			return n.a
		}
		if n.a != none && token(n.a) {
			return n.b
		}
	}
	return v
}

func bitsOf(t taint) []int {
	var out []int
	for i := 0; t != 0; i, t = i+1, t>>1 {
		if t&1 != 0 {
			out = append(out, i)
		}
	}
	return out
}
