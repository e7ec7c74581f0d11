package optcheck

import (
	"fmt"
	"slices"

	"optcheck/isa"
	"optcheck/spec"
)

// evaluator computes expressions of machine code for chosen words: the values that accesses read, by the position of
// the access that the read was matched to, and the values of parameters.
type evaluator struct {
	p       *pass
	words   spec.Words
	results map[value]int // results of atomics that a warp combines → their positions
	vals    []uint32
	state   []uint8
	round   uint64 // of words
	failed  bool   // an unknown value was asked for
	stuck   value  // the first expression that could not be computed, or none
	warp    *warp  // whose lane is computed, nil for any
	lane    int
}

// States of a node in an evaluator.
const (
	evalNew uint8 = iota
	evalDone
	evalFailed
)

// unmatched plus the number of a read is the position of a read that belongs to no access of the test.
const unmatched = spec.MaxPositions

func newEvaluator(p *pass) *evaluator {
	return &evaluator{p: p, results: p.atomicResults()}
}

// set chooses the words.
func (e *evaluator) set(w spec.Words) {
	e.words, e.failed, e.stuck = w, false, none
	e.round++
	n := len(e.p.tr.pool.nodes)
	if cap(e.vals) < n {
		e.vals, e.state = make([]uint32, n), make([]uint8, n)
	}
	e.vals, e.state = e.vals[:n], e.state[:n]
	clear(e.state)
}

// Read implements spec.Words for the test's thread. It returns what the thread's register holds in the machine code,
// which is what its marker says.
func (e *evaluator) Read(pos, word int) uint32 {
	v := e.p.oper[pos]
	if v == none && e.p.s.Entries[pos].Unread {
		return e.words.Read(pos, word) // the machine code has no access that reads it
	}
	if word > 0 {
		if hi, ok := e.p.extra[[2]int{pos, spec.HighWord}]; ok {
			v = hi
		} else if e.p.tr.pool.nodes[v].kind == kLoad {
			return e.words.Read(e.position(int(e.p.tr.pool.nodes[v].a)), word)
		} else {
			v = none
		}
	}
	x, ok := e.eval(v, 0)
	e.failed = e.failed || !ok
	return x
}

// token returns the parameter that is the operand of markers without a value.
func (e *evaluator) token() uint32 {
	for _, m := range e.p.tr.markers {
		if m.m.Header != nil {
			x, _ := e.eval(m.oper, 0)
			return x
		}
	}
	return 0
}

// Param implements spec.Words.
func (e *evaluator) Param(off int64) uint32 { return e.words.Param(off) }

// position returns the position of the access that a read was matched to.
func (e *evaluator) position(read int) int {
	if o := e.p.owner[e.p.tr.reads[read]]; len(o) > 0 {
		return o[0]
	}
	return unmatched + read
}

// eval computes an expression; ok is false if it is not known.
func (e *evaluator) eval(v value, depth int) (x uint32, ok bool) {
	if v == none || depth > maxSteps {
		return 0, false
	}
	switch e.state[v] {
	case evalDone:
		return e.vals[v], true
	case evalFailed:
		return 0, false
	}
	if x, ok = e.compute(v, depth+1); ok {
		e.vals[v], e.state[v] = x, evalDone
	} else {
		e.state[v] = evalFailed
		if e.stuck == none {
			e.stuck = v // the innermost one comes first
		}
	}
	return x, ok
}

// read returns the word that a reading instruction leaves in its register: a narrow one extends what it reads.
func (p *pass) read(read int, w uint32) uint32 {
	if mask, ok := p.tr.zeroExtended(read); ok {
		return w & mask
	}
	switch mods := p.inst(p.tr.reads[read]).Mods; {
	case slices.Contains(mods, "S8"):
		return uint32(int8(w))
	case slices.Contains(mods, "S16"):
		return uint32(int16(w))
	}
	return w
}

// maxSteps bounds the depth of an expression.
const maxSteps = 10_000

func (e *evaluator) compute(v value, depth int) (uint32, bool) {
	if k, ok := e.results[v]; ok {
		return e.words.Read(k, 0), true
	}
	p := e.p.tr.pool
	n := p.nodes[v]
	switch n.kind {
	case kConst:
		return uint32(n.imm), true
	case kParam:
		return e.words.Param(int64(n.imm)), true
	case kLoad:
		return e.p.read(int(n.a), e.words.Read(e.position(int(n.a)), int(n.b))), true
	case kAdd:
		a, ok := e.eval(n.a, depth)
		if n.b == none || !ok {
			return a + uint32(n.imm), ok
		}
		b, ok := e.eval(n.b, depth)
		return a + b, ok
	case kBits:
		var in [3]uint32
		for i, x := range [3]value{n.a, n.b, n.c} {
			if x == none {
				continue
			}
			w, ok := e.eval(x, depth)
			if !ok {
				return 0, false
			}
			in[i] = w
		}
		return isa.Lut(uint8(n.imm), in[0], in[1], in[2]), true
	case kCmp:
		a, ok := e.eval(n.a, depth)
		if !ok {
			return 0, false
		}
		b, ok := e.eval(n.b, depth)
		return ones(compare(uint8(n.imm), n.imm&cmpSigned != 0, a, b)), ok
	case kSel:
		return e.choose(n.c, true, n.a, n.b, depth)
	case kPhi:
		if j, ok := e.p.tr.joins[v]; ok && n.b != none {
			return e.choose(j.pred, j.want, n.a, n.b, depth)
		}
	case kSpecial:
		if name := p.nameOf(&n); e.warp != nil && name != "" {
			return e.place(name)
		}
		return e.unwritten(&n), n.imm >= unwritten
	case kOpaque:
		if e.warp != nil {
			return e.exchanged(int(n.a), n.c, depth)
		}
	case kFun:
		return e.function(&n, depth)
	}
	return 0, false
}

// unwritten returns the content of a register that was never written. It is another word each time, so that a result
// that depends on it differs, and often zero, because conditions compare with zero.
func (e *evaluator) unwritten(n *node) uint32 {
	w := (n.imm + e.round) * 0x9e3779b97f4a7c15
	if w>>63 == 0 {
		return 0
	}
	return uint32(w >> 32)
}

func ones(b bool) uint32 {
	if b {
		return 0xffffffff
	}
	return 0
}

// choose returns a if the predicate has the wanted value, else b.
func (e *evaluator) choose(pred value, want bool, a, b value, depth int) (uint32, bool) {
	c, ok := e.eval(pred, depth)
	if !ok {
		return 0, false
	}
	if (c != 0) == want {
		return e.eval(a, depth)
	}
	return e.eval(b, depth)
}

// function computes the result of an instruction from its operands.
func (e *evaluator) function(n *node, depth int) (uint32, bool) {
	p := e.p.tr.pool
	mi, ok := p.microOf(n.imm)
	switch {
	case n.imm == funNeg:
		a, ok := e.eval(n.a, depth)
		return -a, ok
	case n.imm == funPrmt:
		mi, ok = isa.Micro{Op: isa.MicroPrmt}, true
	}
	if !ok {
		return 0, false
	}
	list := [4]value{n.a, n.b, n.c, none}
	if n.c != none && p.nodes[n.c].kind == kFun && p.nodes[n.c].imm == funPair {
		list[2], list[3] = p.nodes[n.c].a, p.nodes[n.c].b
	}
	var buf [4]uint64
	src := buf[:0]
	for i, v := range list {
		if v == none {
			break
		}
		w, ok := e.source(&mi, i, v, depth)
		if !ok {
			return 0, false
		}
		src = append(src, w)
	}
	x, ok := mi.Eval(src)
	if mi.Op.IsPredicate() {
		x = ones(x != 0)
	}
	return x, ok
}

// source computes a source of a micro-operation. A predicate counts as 1, a negated word w as 2^32 - w.
func (e *evaluator) source(mi *isa.Micro, i int, v value, depth int) (uint64, bool) {
	p := e.p.tr.pool
	n := p.nodes[v]
	carries := mi.Op == isa.MicroCarry || mi.Op == isa.MicroCarry2
	if n.kind == kConst && (carries && n.imm == 0 || i >= 2 && uint32(n.imm) == 0xffffffff && (carries || mi.Op == isa.MicroAddHi)) {
		return 0, false // a negated 0 or a true predicate looks the same
	}
	if carries && n.kind == kFun && n.imm == funNeg {
		w, ok := e.eval(n.a, depth)
		return 1<<32 - uint64(w), ok
	}
	w, ok := e.eval(v, depth)
	return uint64(p.number(v, w)), ok
}

// isPredicate reports whether an expression is a predicate, which the pool holds
// as a word of all ones or none.
func (p *valuePool) isPredicate(v value) bool { return known(p, &p.preds, v, p.predicate) }

func (p *valuePool) predicate(v value) bool {
	switch n := p.nodes[v]; n.kind {
	case kCmp:
		return true
	case kBits:
		return p.isPredicate(n.a) && (n.b == none || p.isPredicate(n.b)) && (n.c == none || p.isPredicate(n.c))
	case kSel, kPhi:
		return p.isPredicate(n.a) || p.isPredicate(n.b)
	case kFun:
		mi, _ := p.microOf(n.imm)
		return mi.Op.IsPredicate()
	}
	return false
}

// garbage reports whether a value may be the content of a register that was never written.
func (p *valuePool) garbage(v value) bool {
	p.visit()
	return p.unset(v)
}

func (p *valuePool) unset(v value) bool {
	if !p.first(v) {
		return false
	}
	switch n := p.nodes[v]; n.kind {
	case kSpecial:
		return n.imm >= unwritten
	case kSel, kPhi:
		return p.unset(n.a) || p.unset(n.b)
	}
	return false
}

// microOf returns the micro-operation behind a function of the pool.
func (p *valuePool) microOf(imm uint64) (isa.Micro, bool) {
	if imm < 1<<32 {
		return isa.Micro{Op: isa.MicroOp(imm >> 8), LUT: uint8(imm)}, true
	}
	mi, ok := p.micros[imm]
	return mi, ok
}

// why describes what could not be computed.
func (e *evaluator) why() string {
	if e.stuck == none {
		return "it is not known"
	}
	p := e.p.tr.pool
	n := p.nodes[e.stuck]
	switch n.kind {
	case kOpaque:
		return "it is computed by " + trim(e.p.tr.fn.Insts[n.a].Text)
	case kPhi:
		return "control flow decides, in a way that is not followed"
	case kSpecial:
		if name := p.nameOf(&n); name != "" {
			return "it depends on " + name
		}
		return "it depends on a register that was never written"
	case kFun:
		if mi, ok := p.microOf(n.imm); ok {
			return fmt.Sprintf("it is computed by operation %d", mi.Op)
		}
	}
	return e.p.describe(e.stuck, 0)
}
