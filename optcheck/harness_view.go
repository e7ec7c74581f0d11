package optcheck

import (
	"optcheck/isa"
	"optcheck/spec"
)

// view is how the walk sees a harness kernel: the role is known, and so is
// which parameters are addresses. A nil view changes nothing.
type view struct {
	h       *spec.Harness
	plays   map[int64]bool // offset of a role's parameter → whether it is the thread's
	address map[int64]bool // offsets of the parameters that are addresses
	stress  bool           // whose summands may be anything: only its base counts
	holds   []uint8        // what each expression of the pool contains
	loops   *loops         // nil if all of the code runs once
}

func newView(h *spec.Harness, l *loops, role int) *view {
	v := &view{h: h, plays: map[int64]bool{h.Stress: role == stressRole}, address: map[int64]bool{}, stress: role == stressRole, loops: l}
	for i, off := range h.Roles {
		v.plays[off] = i == role
	}
	if h.Rounds != 0 {
		v.plays[h.Rounds] = true
	}
	for _, off := range h.Memory {
		v.address[off] = true
	}
	if len(h.Specs) > 0 {
		for off := int64(0); off <= h.Specs[0].ResultParam(); off += 8 {
			v.address[off] = true
		}
	}
	return v
}

// learns reports whether the walk is one that finds out what loops change.
func (v *view) learns() bool { return v != nil && v.loops != nil && v.loops.open }

// compare decides a comparison of the thread's slot with that of a role.
func (v *view) compare(p *valuePool, cmp uint8, a, b value) (value, bool) {
	if v == nil || cmp > cmpCodes["NE"] || a < 0 || b < 0 {
		return none, false
	}
	x, isX := v.role(p, a)
	y, isY := v.role(p, b)
	switch {
	case isX && isY:
		return p.truth((a == b) == (cmp == cmpCodes["EQ"])), true // no two roles are one
	case isX || isY:
		return p.truth((x || y) == (cmp == cmpCodes["EQ"])), true
	}
	return none, false
}

// role reports whether a value is the parameter of a role, and the thread plays it.
func (v *view) role(p *valuePool, x value) (plays, is bool) {
	if n := p.nodes[x]; n.kind == kParam {
		plays, is = v.plays[int64(n.imm)]
	}
	return plays, is
}

// instance reports whether a summand of an address only says which instance
// or which cell is meant: it is no address and depends on no memory.
func (v *view) instance(p *valuePool, t value) bool {
	if v == nil {
		return false
	}
	if n := p.nodes[t]; n.kind == kParam {
		return !v.address[int64(n.imm)]
	} else if n.kind == kSym || n.kind == kBank {
		return false
	}
	k := v.of(p, t)
	return k&holdsAddress == 0 && (v.stress || k&holdsRead == 0)
}

// What an expression contains.
const (
	holdsRead    = 1 << iota // a value read from memory
	holdsAddress             // a parameter that is an address
	holdsKnown               // the answer is in the table
)

// of returns what an expression contains. Expressions share parts, so that
// answers are kept.
func (v *view) of(p *valuePool, t value) uint8 {
	if t < 0 {
		return 0
	}
	for int(t) >= len(v.holds) {
		v.holds = append(v.holds, 0)
	}
	if k := v.holds[t]; k != 0 {
		return k &^ holdsKnown
	}
	n := p.nodes[t]
	var k uint8
	switch n.kind {
	case kParam:
		if v.address[int64(n.imm)] {
			k = holdsAddress
		}
	case kLoad:
		k = holdsRead
	case kConst, kBank, kSym, kSpecial:
	case kOpaque: // a conversion or the like, never an address
		k = v.of(p, n.c) & holdsRead
	default: // operands are older than the expression: this ends
		k = v.of(p, n.a) | v.of(p, n.b) | v.of(p, n.c)
	}
	v.holds[t] = k | holdsKnown
	return k
}

// located reports whether an address of a location has that location's offset
// and no other's.
func (v *view) located(p *valuePool, addr value, k key) bool {
	if v == nil || k.base != baseParam || k.num%8 != 0 || k.num/8 >= int64(len(v.h.Offsets)) {
		return true
	}
	right, wrong := false, false
	own, known := p.index[node{kind: kParam, imm: uint64(v.h.Offsets[k.num/8]), a: none, b: none, c: none}]
	p.terms(addr, func(t value) {
		// Before sm_70 the offset goes into the multiplication by halves.
		right = right || known && p.mentions(t, own)
		if n := p.nodes[t]; n.kind == kParam {
			for l, off := range v.h.Offsets {
				if int64(n.imm) == off {
					right = right || int64(l) == k.num/8
					wrong = wrong || int64(l) != k.num/8
				}
			}
		}
	})
	return right && !wrong
}

// owns reports whether an address lies in the harness's own memory.
func (v *view) owns(k key) bool {
	return v != nil && k.base == baseParam && v.h.IsMemory(k.num)
}

// decides records the predicate on which an instruction depends.
func (m *machine) decides(i int, in *isa.Inst, guard value) {
	if guard != none {
		m.tr.guards[i] = guard
		return
	}
	if in.Flow != isa.FlowJump {
		return
	}
	for k := range in.Args {
		if o := &in.Args[k]; o.Kind == isa.OpdPred {
			v, _ := m.operand(*o)
			m.tr.guards[i] = v
		}
	}
}

// prune removes what is never executed, and the predicates that always hold. It
// reports whether anything changed.
func prune(fn *isa.Func, tr *trace) bool {
	changed := false
	for i := range fn.Insts {
		g, ok := tr.guards[i]
		if !ok {
			continue
		}
		c, ok := tr.pool.isConst(g)
		if !ok {
			continue
		}
		changed = true
		in := &fn.Insts[i]
		holds := c != 0
		if in.Guard.Reg.Class != isa.ClassNone {
			holds = holds != in.Guard.Neg
		}
		if !holds {
			*in = isa.Inst{Addr: in.Addr, Op: "NOP", Text: "NOP", Line: in.Line, Src: in.Src, Role: isa.RoleALU, Target: -1}
			continue
		}
		if in.Guard.Reg.Class != isa.ClassNone {
			in.Guard = isa.Guard{}
			continue
		}
		in.Args, in.Mods = nil, nil
	}
	return changed
}
