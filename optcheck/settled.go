package optcheck

import (
	"slices"

	"optcheck/isa"
)

// maxCases bounds in how many cases a predicate is evaluated, and maxCaseValues how many
// values are for all predicates of a function.
const (
	maxCases      = 1024
	maxCaseValues = 4_000_000
)

// settle notes of branches, or of all instructions, that they are always performed, or
// never.
func (tr *trace) settle(f *flow, branches bool) (any bool) {
	known, s := map[value]value{}, &cases{tr: tr, known: make([]word, len(tr.pool.nodes)), left: maxCaseValues}
	for _, b := range f.order {
		for i := f.blocks[b].First; i < f.blocks[b].End; i++ {
			g, ok := tr.guards[i]
			if !ok || branches && tr.fn.Insts[i].Flow != isa.FlowJump {
				continue
			}
			v, ok := known[g]
			if !ok {
				v = s.settled(g)
				known[g] = v
			}
			if v != none {
				tr.guards[i], any = v, true
			}
		}
	}
	return any
}

// settled is what a predicate is whatever its atoms are: comparisons of what is read, and
// which way control came where that is not known. LLVM keeps truth values as words, and
// combines the masks of a loop's ends so that only all cases together show when the last
// lane leaves it. It is none if that differs.
func (s *cases) settled(v value) value {
	s.atoms, s.values = s.atoms[:0], s.values[:0]
	first, ok := s.next(v)
	for range maxCases {
		if !ok {
			break
		}
		if !s.more() {
			return s.tr.pool.truth(first != 0)
		}
		var x uint32
		if x, ok = s.next(v); (x != 0) != (first != 0) {
			break
		}
	}
	return none
}

// cases goes through the values of atoms, in the order in which they are asked for.
type cases struct {
	tr     *trace
	atoms  []int64
	values []bool
	known  []word // by value
	at     int    // the case, from 1 on
	left   int    // how many values may still be computed
}

// word is what a value is in a case, if that is known.
type word struct {
	w  uint32
	ok bool
	at int
}

// next evaluates a value in the present case.
func (s *cases) next(v value) (uint32, bool) {
	s.at++
	w := s.word(v)
	return w.w, w.ok
}

// more goes on to the next case.
func (s *cases) more() bool {
	n := len(s.values)
	for n > 0 && s.values[n-1] {
		n--
	}
	s.atoms, s.values = s.atoms[:n], s.values[:n]
	if n > 0 {
		s.values[n-1] = true
	}
	return n > 0
}

// atom is the value of an atom in the present case, false where it is new.
func (s *cases) atom(a int64) word {
	i := slices.Index(s.atoms, a)
	if i < 0 {
		i = len(s.atoms)
		s.atoms, s.values = append(s.atoms, a), append(s.values, false)
	}
	return word{w: ones(s.values[i]), ok: true}
}

func (s *cases) word(v value) word {
	if v == none || s.left < 0 {
		return word{}
	}
	if s.known[v].at == s.at {
		return s.known[v]
	}
	s.left--
	w := s.compute(v)
	if !w.ok && s.tr.pool.isBool(v) {
		w = s.atom(int64(v))
	}
	w.at = s.at
	s.known[v] = w
	return w
}

func (s *cases) compute(v value) word {
	n := s.tr.pool.nodes[v]
	switch n.kind {
	case kConst:
		return word{w: uint32(n.imm), ok: true}
	case kAdd:
		a, b := s.word(n.a), word{w: uint32(n.imm), ok: true}
		if n.b != none {
			b = s.word(n.b)
		}
		return word{w: a.w + b.w, ok: a.ok && b.ok}
	case kSel:
		return s.either(s.word(n.c), true, n)
	case kPhi:
		if j, ok := s.tr.joins[v]; ok {
			return s.either(s.word(j.pred), j.want, n)
		}
		return s.either(s.atom(-1-int64(n.imm>>16)), true, n) // the way, for all registers
	case kBits:
		a, b, c := s.word(n.a), s.word(n.b), s.word(n.c)
		ok := a.ok && (b.ok || n.b == none) && (c.ok || n.c == none)
		return word{w: isa.Lut(uint8(n.imm), a.w, b.w, c.w), ok: ok}
	case kCmp:
		a, b := s.word(n.a), s.word(n.b)
		return word{w: ones(compare(uint8(n.imm), n.imm&cmpSigned != 0, a.w, b.w)), ok: a.ok && b.ok}
	}
	return word{}
}

// either is what a condition chooses.
func (s *cases) either(c word, want bool, n node) word {
	switch {
	case !c.ok:
		return word{}
	case (c.w != 0) == want:
		return s.word(n.a)
	}
	return s.word(n.b)
}
