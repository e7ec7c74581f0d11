package optcheck

import (
	"slices"

	"optcheck/isa"
	"optcheck/spec"
)

// view is how the walk sees a harness kernel: which role the thread plays, and which parameters are addresses. A nil
// view changes nothing.
type view struct {
	h       *spec.Harness
	plays   map[int64]bool // offset of a role's parameter → whether it is the thread's
	address map[int64]bool // offsets of the parameters that are addresses
	stress  bool           // stress code, whose summands may be anything: only the base counts
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
		v.address[h.Specs[0].ResultParam()] = true
	}
	for _, off := range h.Locations {
		v.address[off] = true
	}
	return v
}

// learns reports whether the walk is one that finds what loops change.
func (v *view) learns() bool { return v != nil && v.loops != nil && v.loops.open }

// compare decides a comparison of the thread's slot with that of a role.
func (v *view) compare(p *valuePool, cmp uint8, a, b value) (value, bool) {
	if v == nil || cmp > cmpCodes["NE"] {
		return none, false
	}
	x, isX := v.role(p, a)
	y, isY := v.role(p, b)
	switch {
	case isX && isY:
		return p.truth((a == b) == (cmp == cmpCodes["EQ"])), true // no two roles are the same
	case isX || isY:
		return p.truth((x || y) == (cmp == cmpCodes["EQ"])), true
	}
	return none, false
}

// role reports whether a value is the parameter of a role, and whether the thread plays that role.
func (v *view) role(p *valuePool, x value) (plays, is bool) {
	if n := p.nodes[x]; n.kind == kParam {
		plays, is = v.plays[int64(n.imm)]
	}
	return plays, is
}

// instance reports whether a summand of an address only selects the instance or the cell: it is no address and does
// not depend on memory.
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

// of returns what an expression contains. Expressions share parts, so the answers are cached.
func (v *view) of(p *valuePool, t value) uint8 {
	if t == none {
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
	default: // operands are older than the expression, so this terminates
		k = v.of(p, n.a) | v.of(p, n.b) | v.of(p, n.c)
	}
	v.holds[t] = k | holdsKnown
	return k
}

// unmasked returns an address without the mask that tells compilers how cells of neighbours are aligned.
func (v *view) unmasked(p *valuePool, addr value) value {
	if v == nil || v.h.Cell == 0 {
		return addr
	}
	switch n := p.nodes[addr]; n.kind {
	case kAdd:
		a, b := v.unmasked(p, n.a), n.b
		if b != none {
			b = v.unmasked(p, b)
		}
		if a != n.a || b != n.b {
			n.a, n.b = a, b
			return p.mk(n)
		}
	case kBits:
		in, lut := [3]value{n.a, n.b, n.c}, uint8(n.imm)
		for i, x := range in {
			if c, ok := p.isConst(x); !ok || c != uint32(-v.h.Cell) || restrict(lut, i, false) != 0 {
				continue
			}
			for j, y := range in {
				if y != none && restrict(lut, i, true) == [3]uint8{lutA, lutB, lutC}[j] && p.terms(y, func(value) {})%uint32(v.h.Cell) == 0 {
					return y
				}
			}
		}
	}
	return addr
}

// neighbour returns the variable of the layout Adjacent that an address refers to by a parameter.
func (v *view) neighbour(k key, space isa.Space, shared int64) key {
	if v == nil || v.h.Cell == 0 || k.base != baseParam || !slices.Contains(v.h.Locations, k.num) {
		return k
	}
	if space != isa.SpaceShared {
		return key{base: baseSym, name: "_LG", off: k.off}
	}
	if k.off >= shared {
		k.off -= shared
	}
	return key{base: baseSym, name: "_LS", off: k.off}
}

// located reports whether an address of a location has that location's offset and no other's.
func (v *view) located(p *valuePool, addr value, k key) bool {
	if v == nil || k.base != baseParam {
		return true
	}
	at := slices.Index(v.h.Locations, k.num)
	if at < 0 || at >= len(v.h.Offsets) {
		return true
	}
	right, wrong := false, false
	own, known := p.index[node{kind: kParam, imm: uint64(v.h.Offsets[at]), a: none, b: none, c: none}]
	p.terms(addr, func(t value) {
		// Before sm_70 the offset enters the multiplication in halves.
		right = right || known && p.mentions(t, own)
		if n := p.nodes[t]; n.kind == kParam {
			for l, off := range v.h.Offsets {
				if int64(n.imm) == off {
					right = right || l == at
					wrong = wrong || l != at
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

// decides records the predicate that an instruction depends on.
func (m *machine) decides(i int, in *isa.Inst, guard value) {
	if guard != none {
		m.tr.guards[i] = guard
		return
	}
	if in.Flow != isa.FlowJump {
		return
	}
	if in.Guard.Reg.Class != isa.ClassNone { // known, so that it is no guard
		v, _ := m.operand(isa.Operand{Kind: isa.OpdReg, Reg: in.Guard.Reg, Words: 1})
		m.tr.guards[i] = m.asBool(v)
		return
	}
	for k := range in.Args {
		if o := &in.Args[k]; o.Kind == isa.OpdPred {
			v, _ := m.operand(*o)
			m.tr.guards[i] = v
		}
	}
}

// prune removes what is never executed, and predicates that always hold. It reports whether anything changed.
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
