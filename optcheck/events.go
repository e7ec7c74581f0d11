package optcheck

import (
	"fmt"
	"slices"

	"optcheck/isa"
)

// base says what an address is relative to.
type base uint8

const (
	baseUnknown base = iota
	baseNone         // a constant address (shared windows)
	baseParam        // parameter word at byte offset num
	baseSym          // symbol name
	baseBank         // constant bank 4 at byte offset num: the address of some symbol
)

// key is a normalised address: base plus constant offset. Terms that only carry a false dependency are left out.
type key struct {
	base base
	num  int64
	name string
	off  int64
}

// String renders the address for messages.
func (k key) String() string {
	s := ""
	switch k.base {
	case baseNone:
		return fmt.Sprintf("[0x%x]", k.off)
	case baseParam:
		s = fmt.Sprintf("param+0x%x", k.num)
	case baseSym:
		s = k.name
	case baseBank:
		s = fmt.Sprintf("c[0x4][0x%x]", k.num)
		if b := k.num >> 32; b != 0 {
			s = fmt.Sprintf("cb%d+0x%x", b-isa.ConstBuffer, uint32(k.num))
		}
	default:
		return "[unknown address]"
	}
	if k.off != 0 {
		s += fmt.Sprintf("%+d", k.off)
	}
	return "[" + s + "]"
}

// event records a memory-relevant instruction and returns its index.
func (m *machine) event(i int, in *isa.Inst) int {
	if in.Role.IsAccess() && in.Role != isa.RoleCopy && (in.Mem.Space == isa.SpaceConst || in.Mem.Space == isa.SpaceLocal &&
		m.arch.onStack(m, in)) {
		return -1
	}
	e := event{inst: i, role: in.Role, mem: in.Mem, read: -1, lo: none, cond: m.cond, condT: m.condT, when: m.when, loop: m.loop, partner: -1}
	if m.guardV != none {
		e.cond = true
		e.condT |= m.cur.t[regIndex(in.Guard.Reg)]
		e.when = append(e.when[:len(e.when):len(e.when)], sense{m.guardV, !in.Guard.Neg})
	}
	if in.Role.IsAccess() {
		e.addrT = m.taintOf(in.Addrs)
		e.dataT = m.taintOf(in.Data)
		for _, r := range in.Data {
			if r.Class == isa.ClassNone {
				e.data = append(e.data, m.tr.pool.constant(0))
				continue
			}
			e.data = append(e.data, m.tr.pool.cut(m.get(r), in.Mem.Width))
		}
		e.lo, e.addr = m.arch.address(m, in)
		e.result = in.Role == isa.RoleStore && e.addr.base == baseParam && m.isResult(e.data)
		if m.view.owns(e.addr) {
			e.role, e.own = isa.RoleALU, true
		}
	}
	if in.Role == isa.RoleLoad || in.Role == isa.RoleAtomic {
		e.read = len(m.tr.reads)
		m.tr.reads = append(m.tr.reads, len(m.tr.events))
		if len(m.tr.reads) > maxReads {
			m.tr.tooMany = true
			e.read = maxReads - 1
		}
	}
	m.tr.events = append(m.tr.events, e)
	return len(m.tr.events) - 1
}

// isResult reports whether all stored words are markers.
func (m *machine) isResult(data []value) bool {
	for _, v := range data {
		_, k, _ := m.tr.pool.xorConst(v) // 0 of another expression, which is no marker
		if !isMarker(k) && !slices.Contains(m.tr.folded, v) {
			return false
		}
	}
	return len(data) > 0
}

// located returns the address with low word lo and high word hi, which is none for one-word addresses.
func (m *machine) located(lo, hi value, space isa.Space) key {
	k := m.normalise(lo, space)
	if hi != none && !m.upper(k, hi) {
		k.base = baseUnknown // the halves do not belong together
	}
	return m.view.neighbour(k, space, m.arch.shared())
}

// upper reports whether a value can be the high word of an address: it is computed from the high word of the same
// base.
func (m *machine) upper(k key, hi value) bool {
	p := m.tr.pool
	var want node
	switch k.base {
	case baseParam:
		want = node{kind: kParam, imm: uint64(k.num + 4), a: none, b: none, c: none}
	case baseSym:
		want = node{kind: kSym, imm: p.str(k.name), a: 1, b: none, c: none}
	case baseBank:
		want = node{kind: kBank, imm: 4<<32 | uint64(uint32(k.num+4)), a: none, b: none, c: none}
	default:
		return true // unknown anyway, or a shared window
	}
	v, ok := p.index[want]
	return ok && p.mentions(hi, v)
}

// normalise splits an address into base and offset. A summand that depends on memory is an artificial dependency and
// counts as zero; in shared memory the window's base (from a special register) counts as zero too.
func (m *machine) normalise(v value, space isa.Space) key {
	p := m.tr.pool
	k := key{base: baseNone}
	v = m.view.unmasked(p, v)
	off := p.terms(v, func(t value) {
		n := p.nodes[t]
		if m.view.instance(p, t) {
			return
		}
		switch n.kind {
		case kParam:
			k.set(key{base: baseParam, num: int64(n.imm)})
		case kSym:
			k.set(key{base: baseSym, name: p.names[n.imm]})
		case kBank:
			if at, ok := m.arch.symbol(n.imm); ok {
				k.set(at)
				return
			}
			k.base = baseUnknown
		default:
			if space == isa.SpaceShared && p.special(t) && (n.kind == kBits || n.kind == kFun && n.imm == funPrmt) {
				// sm_90 code inserts the number of the CTA in its cluster into the upper byte of the offset, by mask
				// or by byte permutation.
				if n.kind == kFun {
					k.off += int64(p.permutedConst(n))
				} else {
					k.off += int64(p.insertedConst(n))
				}
				return
			}
			if p.falseDependency(n) && p.vanishes(t) || space == isa.SpaceShared && n.kind != kSel && n.kind != kPhi && p.special(t) && !p.reads(t) {
				return
			}
			k.base = baseUnknown
		}
	})
	k.off += int64(int32(off))
	if m.view != nil && space == isa.SpaceShared && k.off == m.arch.shared() {
		k.off = 0 // where dynamic shared memory begins
	}
	if !m.view.located(p, v, k) {
		k.base = baseUnknown
	}
	return k
}

// falseDependency reports whether a summand has one of the forms that package depgen builds to be zero: a word and
// the high bit, a word and a parameter, a word shifted right by 31, a selection of zero.
func (p *valuePool) falseDependency(n node) bool {
	switch n.kind {
	case kBits:
		for _, v := range []value{n.a, n.b, n.c} {
			if v == none {
				continue
			}
			c, isC := p.isConst(v)
			if isC && c == 0x80000000 || p.nodes[v].kind == kParam {
				return p.within(uint8(n.imm), n, v)
			}
		}
	case kFun:
		k, isC := p.isConst(n.b)
		return n.imm == uint64(isa.MicroShr)<<8 && isC && k == 31
	case kSel:
		a, okA := p.isConst(n.a)
		b, okB := p.isConst(n.b)
		return (okA && a == 0 || okB && b == 0) && p.reads(n.c)
	}
	return false
}

// vanishes reports whether an expression is zero whenever all words read are small, as far as that can be computed.
func (p *valuePool) vanishes(v value) bool {
	for _, w := range []uint32{0, 1, 2} {
		if x, ok := p.at(v, w, 0); ok && x != 0 {
			return false
		}
	}
	return true
}

// at evaluates an expression with every read returning the same word.
func (p *valuePool) at(v value, read uint32, depth int) (uint32, bool) {
	if v == none || depth > 12 {
		return 0, v == none
	}
	n := p.nodes[v]
	switch n.kind {
	case kConst:
		return uint32(n.imm), true
	case kLoad:
		return read, n.b == 0
	case kAdd, kBits, kCmp, kSel, kFun:
	default:
		return 0, false
	}
	a, okA := p.at(n.a, read, depth+1)
	b, okB := p.at(n.b, read, depth+1)
	c, okC := p.at(n.c, read, depth+1)
	switch {
	case !okA || !okB || !okC:
		return 0, false
	case n.kind == kAdd:
		return a + b + uint32(n.imm), true
	case n.kind == kBits:
		return isa.Lut(uint8(n.imm), a, b, c), true
	case n.kind == kCmp:
		return ones(compare(uint8(n.imm), n.imm&cmpSigned != 0, a, b)), true
	case n.kind == kSel && c != 0:
		return a, true
	case n.kind == kSel:
		return b, true
	case n.imm == uint64(isa.MicroShr)<<8:
		return p.number(n.a, a) >> p.number(n.b, b), true
	}
	return 0, false
}

// number is a word that an expression has as what arithmetic takes: a true predicate counts as 1.
func (p *valuePool) number(v value, w uint32) uint32 {
	if w != 0 && p.isPredicate(v) {
		return 1
	}
	return w
}

// within reports whether a bitwise function is zero wherever its input v is.
func (p *valuePool) within(lut uint8, n node, v value) bool {
	for i, x := range []value{n.a, n.b, n.c} {
		if x == v {
			return restrict(lut, i, false) == 0
		}
	}
	return false
}

// insertedConst returns the constant operand of a bitwise function, 0 if there is none.
func (p *valuePool) insertedConst(n node) uint32 {
	for _, v := range []value{n.a, n.b, n.c} {
		if c, ok := p.isConst(v); ok {
			return c
		}
	}
	return 0
}

// permutedConst returns the byte permutation with its unknown operand taken as zero.
func (p *valuePool) permutedConst(n node) uint32 {
	a, _ := p.isConst(n.a)
	sel, _ := p.isConst(n.b)
	b, _ := p.isConst(n.c)
	return isa.Permute(a, sel, b)
}

// set sets the base of an address; a second base makes the address unknown.
func (k *key) set(b key) {
	if k.base != baseNone {
		k.base = baseUnknown
		return
	}
	b.off = k.off
	*k = b
}

// reads reports whether an expression contains a loaded value.
func (p *valuePool) reads(v value) bool { return p.contains(v, kLoad) }

// special reports whether an expression contains a special register.
func (p *valuePool) special(v value) bool {
	p.visit()
	return p.search(v, func(_ value, n *node) bool { return n.kind == kSpecial && n.imm < unwritten })
}

const maxDepth = 64

// visit starts a walk over expressions that sees each node once: expressions share parts, so an expression of n nodes
// can have 2^n paths.
func (p *valuePool) visit() {
	p.round++
	for len(p.marks) < len(p.nodes) {
		p.marks = append(p.marks, 0)
	}
}

// first reports whether the current walk sees a node for the first time.
func (p *valuePool) first(v value) bool {
	if v == none || p.marks[v] == p.round {
		return false
	}
	p.marks[v] = p.round
	return true
}

// contains reports whether an expression has a node of a kind.
func (p *valuePool) contains(v value, k valueKind) bool {
	p.visit()
	return p.search(v, func(_ value, n *node) bool { return n.kind == k })
}

// mentions reports whether expression v contains w.
func (p *valuePool) mentions(v, w value) bool {
	p.visit()
	return p.search(v, func(x value, _ *node) bool { return x == w })
}

func (p *valuePool) search(v value, found func(value, *node) bool) bool {
	if !p.first(v) {
		return false
	}
	n := &p.nodes[v]
	if found(v, n) {
		return true
	}
	switch n.kind {
	case kConst, kParam, kBank, kSym, kSpecial, kLoad:
		return false
	case kOpaque:
		return p.search(n.c, found)
	}
	return p.search(n.a, found) || p.search(n.b, found) || p.search(n.c, found)
}

// joinLocked merges each lock-protected pair (Kepler's LDSLK … STSCUL loop) into one read-modify-write: the load
// becomes the atomic, the store disappears.
func (tr *trace) joinLocked() {
	for i := range tr.events {
		st := &tr.events[i]
		if st.role != isa.RoleStore || !st.mem.Locked {
			continue
		}
		for j := i - 1; j >= 0; j-- {
			ld := &tr.events[j]
			if ld.role == isa.RoleLoad && ld.mem.Locked && ld.addr == st.addr {
				ld.role = isa.RoleAtomic
				ld.data, ld.dataT = st.data, st.dataT
				ld.partner, st.partner = i, j
				break
			}
		}
	}
	out := tr.events[:0]
	for _, e := range tr.events {
		if e.role == isa.RoleStore && e.partner >= 0 {
			continue
		}
		out = append(out, e)
	}
	tr.events = out
	for i := range tr.events {
		if r := tr.events[i].read; r >= 0 {
			tr.reads[r] = i
		}
	}
}
