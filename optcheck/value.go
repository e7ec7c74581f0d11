package optcheck

import (
	"math"
	"sync"

	"optcheck/isa"
	"optcheck/spec"
)

// value is the number of a node in a valuePool. It stands for the content of a 32-bit register or a predicate, as an
// expression over parameters, constants and loads. Equal expressions have equal numbers.
type value int32

type valueKind uint8

const (
	kConst   valueKind = iota // imm
	kParam                    // parameter word at byte offset imm of the entry's parameters
	kBank                     // constant bank imm>>32 at byte offset imm&0xffffffff
	kSym                      // address of symbol imm (string number), word a (0 lo, 1 hi)
	kSpecial                  // special register imm (string number), or an initial register
	kLoad                     // word b of the value that event a reads
	kAdd                      // a + b, or a + imm
	kBits                     // bitwise function imm (LUT) of a, b, c
	kSel                      // c ? a : b
	kFun                      // function op imm of a, b, c
	kOpaque                   // definition b of instruction a: nothing known
	kPhi                      // register b at the head of block a
	kCmp                      // predicate: a compared with b; imm is comparison and signedness
)

type node struct {
	kind    valueKind
	imm     uint64
	a, b, c value
}

const none value = -1

// valuePool interns nodes.
type valuePool struct {
	nodes   []node
	index   map[node]value
	strings map[string]uint64
	names   []string
	micros  map[uint64]isa.Micro // behind functions with a name
	bools   []int8               // by node, 1 if it is all ones or all zeros, -1 if not
	preds   []int8               // by node, 1 if it is a predicate, -1 if not
	marks   []uint32             // by node, the round of the walk that saw it last
	round   uint32
}

func newValuePool() *valuePool {
	return &valuePool{index: make(map[node]value, 64), strings: map[string]uint64{}, micros: map[uint64]isa.Micro{}}
}

// pools holds what finished checks have returned.
var pools = sync.Pool{New: func() any { return newValuePool() }}

func takePool() *valuePool { return pools.Get().(*valuePool) }

func (p *valuePool) reset() {
	p.nodes = p.nodes[:0]
	p.bools, p.preds = p.bools[:0], p.preds[:0]
	clear(p.index)
	clear(p.strings)
	clear(p.micros)
	p.names = p.names[:0]
}

func (p *valuePool) mk(n node) value {
	if v, ok := p.index[n]; ok {
		return v
	}
	v := value(len(p.nodes))
	p.nodes = append(p.nodes, n)
	p.index[n] = v
	return v
}

func (p *valuePool) str(s string) uint64 {
	if i, ok := p.strings[s]; ok {
		return i
	}
	i := uint64(len(p.names))
	p.names = append(p.names, s)
	p.strings[s] = i
	return i
}

func (p *valuePool) constant(c uint32) value {
	return p.mk(node{kind: kConst, imm: uint64(c), a: none, b: none, c: none})
}

// param returns a word of the entry's parameters.
func (p *valuePool) param(off int64) value {
	return p.mk(node{kind: kParam, imm: uint64(off), a: none, b: none, c: none})
}

func (p *valuePool) isConst(v value) (uint32, bool) {
	if v == none || p.nodes[v].kind != kConst {
		return 0, false
	}
	return uint32(p.nodes[v].imm), true
}

// add returns a + b, keeping constants outermost.
func (p *valuePool) add(a, b value) value {
	ca, aConst := p.isConst(a)
	cb, bConst := p.isConst(b)
	switch {
	case aConst && bConst:
		return p.constant(ca + cb)
	case aConst:
		return p.addConst(b, ca)
	case bConst:
		return p.addConst(a, cb)
	}
	na, nb := p.nodes[a], p.nodes[b]
	var k uint32
	if na.kind == kAdd && na.b == none {
		a, k = na.a, k+uint32(na.imm)
	}
	if nb.kind == kAdd && nb.b == none {
		b, k = nb.a, k+uint32(nb.imm)
	}
	if a > b {
		a, b = b, a
	}
	return p.addConst(p.mk(node{kind: kAdd, a: a, b: b, c: none}), k)
}

func (p *valuePool) addConst(a value, k uint32) value {
	n := p.nodes[a]
	if n.kind == kConst {
		return p.constant(uint32(n.imm) + k)
	}
	if n.kind == kAdd && n.b == none {
		a, k = n.a, k+uint32(n.imm)
	}
	if k == 0 {
		return a
	}
	return p.mk(node{kind: kAdd, a: a, b: none, c: none, imm: uint64(k)})
}

// maxTerms bounds the summands that terms visits.
const maxTerms = 1000

// terms calls f for every summand of v that is not constant and returns the sum of the constants. A sum with too many
// summands counts as one summand.
func (p *valuePool) terms(v value, f func(value)) uint32 {
	left := maxTerms
	return p.summands(v, f, &left)
}

func (p *valuePool) summands(v value, f func(value), left *int) uint32 {
	n := p.nodes[v]
	*left--
	switch {
	case n.kind == kConst:
		return uint32(n.imm)
	case n.kind == kAdd && *left > 0:
		k := p.summands(n.a, f, left)
		if n.b == none {
			return k + uint32(n.imm)
		}
		return k + p.summands(n.b, f, left)
	}
	f(v)
	return 0
}

// Truth tables of the two-input functions on the inputs a=0xf0, b=0xcc, c=0xaa.
const (
	lutA, lutB, lutC = 0xf0, 0xcc, 0xaa
	lutXor           = lutA ^ lutB
	lutAnd           = lutA & lutB
	lutOr            = lutA | lutB
)

// bits returns the bitwise function lut of up to three values, simplified by
// constants that are all zeros or all ones and by equal inputs.
func (p *valuePool) bits(lut uint8, a, b, c value) value {
	in := [3]value{a, b, c}
	for i, v := range in {
		if k, ok := p.isConst(v); ok && (k == 0 || k == math.MaxUint32) {
			lut = restrict(lut, i, k != 0)
			in[i] = none
		}
	}
	for i := range 3 {
		for j := i + 1; j < 3; j++ {
			if in[i] != none && in[i] == in[j] {
				lut = identify(lut, i, j)
				in[j] = none
			}
		}
	}
	for i := range in {
		if in[i] != none && restrict(lut, i, false) == restrict(lut, i, true) {
			in[i] = none
		}
	}
	// Gather the inputs that matter at the front.
	var live [3]value
	n := 0
	perm := [3]int{}
	for i, v := range in {
		if v != none {
			live[n], perm[n] = v, i
			n++
		}
	}
	if n > 1 && n < 3 && live[0] > live[1] {
		live[0], live[1] = live[1], live[0]
		perm[0], perm[1] = perm[1], perm[0]
	}
	for i := n; i < 3; i++ {
		live[i] = none
	}
	table := reorder(lut, perm[:n])
	switch n {
	case 0:
		if table&1 != 0 {
			return p.constant(math.MaxUint32)
		}
		return p.constant(0)
	case 1:
		if table == lutA {
			return live[0]
		}
	}
	if v, ok := p.foldConst(table, live, n); ok {
		return v
	}
	if n == 2 && table == lutXor {
		// x ^ y ^ y is x: unoptimised code swaps registers that way.
		for i := range 2 {
			if x := p.nodes[live[i]]; x.kind == kBits && uint8(x.imm) == lutXor {
				if x.a == live[1-i] {
					return x.b
				}
				if x.b == live[1-i] {
					return x.a
				}
			}
		}
	}
	return p.mk(node{kind: kBits, imm: uint64(table), a: live[0], b: live[1], c: live[2]})
}

// foldConst computes the function when every live input is constant.
func (p *valuePool) foldConst(table uint8, live [3]value, n int) (value, bool) {
	var k [3]uint32
	for i := range n {
		c, ok := p.isConst(live[i])
		if !ok {
			return none, false
		}
		k[i] = c
	}
	return p.constant(isa.Lut(table, k[0], k[1], k[2])), true
}

// restrict fixes input i of a truth table.
func restrict(lut uint8, i int, one bool) uint8 {
	mask := [3]uint8{lutA, lutB, lutC}[i]
	shift := [3]uint{4, 2, 1}[i]
	if one {
		h := lut & mask
		return h | h>>shift
	}
	l := lut &^ mask
	return l | l<<shift
}

// identify makes input j of a truth table follow input i.
func identify(lut uint8, i, j int) uint8 {
	var out uint8
	for idx := range uint(8) {
		b := [3]uint{idx >> 2 & 1, idx >> 1 & 1, idx & 1}
		b[j] = b[i]
		if lut>>(b[0]<<2|b[1]<<1|b[2])&1 != 0 {
			out |= 1 << idx
		}
	}
	return out
}

// reorder moves input perm[k] of a truth table to place k; inputs beyond do not
// matter.
func reorder(lut uint8, perm []int) uint8 {
	var out uint8
	for idx := range uint(8) {
		var b [3]uint
		for k, i := range perm {
			b[i] = idx >> uint(2-k) & 1
		}
		if lut>>(b[0]<<2|b[1]<<1|b[2])&1 != 0 {
			out |= 1 << idx
		}
	}
	return out
}

// xorConst splits v into x ^ k; ok is false if v is no such expression.
func (p *valuePool) xorConst(v value) (x value, k uint32, ok bool) {
	n := p.nodes[v]
	if n.kind != kBits || uint8(n.imm) != lutXor {
		return 0, 0, false
	}
	if c, isC := p.isConst(n.a); isC {
		return n.b, c, true
	}
	if c, isC := p.isConst(n.b); isC {
		return n.a, c, true
	}
	return 0, 0, false
}

// isMarker reports whether a literal is a marker.
func isMarker(lit uint32) bool {
	_, ok := spec.DecodeLiteral(lit)
	return ok
}

// anyOf returns the predicate that all senses of some way hold, none if one of them is unknown.
func (p *valuePool) anyOf(ways [][]sense) value {
	const not = ^uint8(lutA)
	out := p.constant(0)
	for _, way := range ways {
		all := p.constant(math.MaxUint32)
		for _, s := range way {
			v := s.pred
			if v == none {
				return none
			}
			if !s.want {
				v = p.bits(not, v, none, none)
			}
			all = p.bits(lutAnd, all, v, none)
		}
		out = p.bits(lutOr, out, all, none)
	}
	return out
}

// lane reports whether a predicate only selects a lane of the warp: it depends on no memory, but on something that
// the pool does not know.
func (p *valuePool) lane(v value) bool {
	return !p.reads(v) && (p.special(v) || p.contains(v, kOpaque))
}

// shuffled reports whether a value is computed from data that lanes exchange: by an instruction of which the pool
// knows only the operands.
func (p *valuePool) shuffled(v value) bool { return p.contains(v, kOpaque) || p.special(v) }
