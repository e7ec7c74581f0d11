package prove

import (
	"fmt"
	"math/bits"
	"slices"

	"optcheck/ir"
)

// term is a number of a node: equal terms are equal numbers.
type term int32

// kind is what a node is.
type kind uint8

const (
	konst   kind = iota // value
	leaf                // something that nothing is known of; value numbers its name
	sum                 // value + Σ coefs[i]*args[i], modulo 2^w
	product             // of its arguments, modulo 2^w
	and                 // bitwise, of two or more
	xor                 // bitwise, of its arguments and value
	cat                 // the arguments side by side, the highest first
	ext                 // w bits from bit value on
	sext                // the argument with its sign
	ite                 // args[0] ? args[1] : args[2]
	eq
	ult
	slt
	shl // by an amount that is not constant; from the width on nothing is left
	shr
	sar
	opaque // ops[value], as ir.Eval computes it
	// Memory has no width. start is its content before the first thread runs, written what a store made of args[0]:
	// args are memory, address, value and guard; stirred what others may have made of it, at an event: args are memory and guard.
	start
	written
	stirred
	read // what args[0] holds at args[1]
)

// node is a term.
type node struct {
	kind  kind
	w     uint8
	space ir.Space // of memory
	value uint64
	args  []term
	coefs []uint64
	may   uint64 // bits that may be 1
	// varies tells that it may be another one of each lane of a warp, iterates that it may be another one of each iteration of a loop.
	varies, iterates bool
	divides          bool // a reciprocal is in it, with which machine code may divide
}

// samples is the number of inputs on which each term is evaluated.
const samples = 32

// terms are the nodes of a comparison.
type terms struct {
	nodes []node
	vals  [][samples]uint64
	index []term // a table of open addressing: numbers of nodes and 1, 0 for none
	names map[string]uint64
	ops   []ir.Op
	opIDs map[opKey]uint64
	ands  map[string]term // conjunctions that were made, by what of
	parts map[window]term // bits of terms that were cut out
	most  int
	depth int // of constructions inside each other
	// effort is how many looks at clauses are left for all questions and terms, each of which takes effortOfTerm.
	effort, effortOfTerm int

	matcher *matcher // none where nothing is compared
	blaster *blaster // of all questions
	// dividing tells that a term is made again, to find a division in it.
	dividing bool
}

// opKey is what tells operations apart that are not understood further.
type opKey struct {
	code     ir.Code
	typ, to  ir.Type
	cond     ir.Cond
	mode     ir.Mode
	imm      uint64
	operands int
}

func newTerms(most int) *terms {
	return &terms{names: map[string]uint64{}, opIDs: map[opKey]uint64{}, ands: map[string]term{},
		parts: map[window]term{}, most: most, effort: int(Thorough)}
}

// window is some bits of a term: so many from one on.
type window struct {
	of      term
	from, w int
}

// limit is the panic of whatever is too large.
type limit struct{ why string }

// tooMuch is why a proof is given up.
const tooMuch = "more work than is done for a proof"

// deeper counts a construction inside another one; what it returns ends it.
func (x *terms) deeper() func() {
	if x.depth++; x.depth > 1<<14 {
		panic(limit{"terms that are too deep"})
	}
	return func() { x.depth-- }
}

func ones(w int) uint64 {
	if w <= 0 {
		return 0
	}
	return ^uint64(0) >> (64 - min(w, 64))
}

func (x *terms) at(t term) *node   { return &x.nodes[t] }
func (x *terms) width(t term) int  { return int(x.nodes[t].w) }
func (x *terms) kind(t term) kind  { return x.nodes[t].kind }
func (x *terms) may(t term) uint64 { return x.nodes[t].may }

// hash is a number of what tells nodes apart.
func (n *node) hash() uint64 {
	h := uint64(n.kind) | uint64(n.w)<<8 | uint64(n.space)<<16
	mix := func(v uint64) { h = bits.RotateLeft64((h^v)*0x9e3779b97f4a7c15, 29) }
	mix(n.value)
	for _, a := range n.args {
		mix(uint64(a))
	}
	for _, c := range n.coefs {
		mix(c)
	}
	return h * 0xbf58476d1ce4e5b9 >> 20
}

// slot is where the table of nodes has a node, or where it belongs.
func (x *terms) slot(n *node) int {
	mask := len(x.index) - 1
	for i := int(n.hash()) & mask; ; i = (i + 1) & mask {
		if x.index[i] == 0 {
			return i
		}
		m := &x.nodes[x.index[i]-1]
		if m.kind == n.kind && m.w == n.w && m.space == n.space && m.value == n.value &&
			slices.Equal(m.args, n.args) && slices.Equal(m.coefs, n.coefs) {
			return i
		}
	}
}

// intern gives a node its number.
func (x *terms) intern(n node) term {
	if 2*len(x.nodes) >= len(x.index) {
		x.index = make([]term, max(256, 2*len(x.index)))
		for i := range x.nodes {
			x.index[x.slot(&x.nodes[i])] = term(i + 1)
		}
	}
	at := x.slot(&n)
	if t := x.index[at]; t > 0 {
		return t - 1
	}
	if len(x.nodes) >= x.most {
		panic(limit{"more terms than are looked at"})
	}
	if x.effort -= x.effortOfTerm; x.effortOfTerm > 0 && x.effort < 0 {
		panic(limit{tooMuch})
	}
	n.may = x.mayOf(&n)
	n.varies = n.varies || n.kind == read
	for _, a := range n.args {
		n.varies, n.iterates, n.divides = n.varies || x.nodes[a].varies, n.iterates || x.nodes[a].iterates, n.divides || x.nodes[a].divides
	}
	n.divides = n.divides || n.kind == opaque && x.ops[n.value].Code == ir.Approx && x.ops[n.value].Imm == uint64(ir.ApproxRcp)
	t := term(len(x.nodes))
	x.index[at] = t + 1
	x.nodes = append(x.nodes, n)
	x.vals = append(x.vals, x.sample(&n))
	return t
}

// mayOf has the bits of a node that may be 1.
func (x *terms) mayOf(n *node) uint64 {
	m := ones(int(n.w))
	switch n.kind {
	case konst:
		return n.value
	case and:
		for _, a := range n.args {
			m &= x.may(a)
		}
	case xor:
		m = n.value
		for _, a := range n.args {
			m |= x.may(a)
		}
	case cat:
		m = 0
		for _, a := range n.args {
			m = m<<x.width(a) | x.may(a)
		}
	case ext:
		m &= x.may(n.args[0]) >> n.value
	case sext:
		if a := n.args[0]; x.may(a)>>(x.width(a)-1) == 0 {
			m = x.may(a)
		}
	case ite:
		m = x.may(n.args[1]) | x.may(n.args[2])
	case sum:
		if lo, hi, ok := x.interval(n); ok && lo >= 0 {
			m &= ones(bits.Len64(uint64(hi)))
		}
	case product:
		w := 0
		for _, a := range n.args {
			w += bits.Len64(x.may(a))
		}
		m &= ones(w)
	case opaque:
		if o := &x.ops[n.value]; !o.Type.Float() && (o.Code == ir.Popc || o.Code == ir.Clz) {
			m = 127
		}
	}
	return m
}

// interval is between which numbers a sum is before it is cut to its width; ok tells that they are small enough to be told.
func (x *terms) interval(n *node) (lo, hi int64, ok bool) {
	c := x.base(n)
	low, high, ok := x.spread(n)
	return c + low, c + high, ok && c > -farthest && c < farthest
}

// farthest bounds the numbers of an interval.
const farthest = 1 << 60

// base is the constant of a sum, as the number modulo 2^w with which the sum does not begin below 0, if there is one.
func (x *terms) base(n *node) int64 {
	c := signed(n.value, int(n.w))
	if low, _, ok := x.spread(n); ok && n.w < 60 && c+low < 0 {
		c += 1 << n.w
	}
	return c
}

// spread is interval without the constant.
func (x *terms) spread(n *node) (lo, hi int64, ok bool) {
	for i, a := range n.args {
		k := signed(n.coefs[i], int(n.w))
		h, l := bits.Mul64(uint64(max(k, -k)), x.may(a))
		if h != 0 || l >= farthest {
			return 0, 0, false
		}
		if k > 0 {
			hi += int64(l)
		} else {
			lo -= int64(l)
		}
		if lo <= -farthest || hi >= farthest {
			return 0, 0, false
		}
	}
	return lo, hi, true
}

func signed(v uint64, w int) int64 {
	sh := 64 - w
	return int64(v<<sh) >> sh
}

// num is a constant.
func (x *terms) num(w int, v uint64) term {
	return x.intern(node{kind: konst, w: uint8(w), value: v & ones(w)})
}

// value is that of a constant.
func (x *terms) constant(t term) (uint64, bool) {
	n := x.at(t)
	return n.value, n.kind == konst
}

func (x *terms) is(t term, v uint64) bool {
	c, ok := x.constant(t)
	return ok && c == v
}

func (x *terms) truth(b bool) term {
	if b {
		return x.num(1, 1)
	}
	return x.num(1, 0)
}

// named is something of which only the name is known; varies tells that it may be another one of each lane.
func (x *terms) named(w int, name string, varies bool) term {
	id, ok := x.names[name]
	if !ok {
		id = uint64(len(x.names))
		x.names[name] = id
	}
	return x.intern(node{kind: leaf, w: uint8(w), value: id, varies: varies})
}

// iterating marks a leaf, which nothing was made of yet, as what may be another one of each iteration of a loop.
func (x *terms) iterating(t term) term {
	x.nodes[t].iterates = true
	return t
}

// operation is one that is not understood further.
func (x *terms) operation(o *ir.Op, w int, args ...term) term {
	k := opKey{o.Code, o.Type, o.To, o.Cond, o.Mode, o.Imm, len(args)}
	id, ok := x.opIDs[k]
	if !ok {
		id = uint64(len(x.ops))
		x.opIDs[k] = id
		x.ops = append(x.ops, ir.Op{Code: o.Code, Type: o.Type, To: o.To, Cond: o.Cond, Mode: o.Mode, Imm: o.Imm})
	}
	if commutes(o) && args[1] < args[0] {
		args[0], args[1] = args[1], args[0]
	}
	return x.fold(node{kind: opaque, w: uint8(w), value: id, args: args})
}

// commutes reports whether an operation's first two operands may change places.
func commutes(o *ir.Op) bool { return o.Code == ir.FAdd || o.Code == ir.FMul || o.Code == ir.FFma }

// fold interns a node, or its value if all its operands are constant.
func (x *terms) fold(n node) term {
	for _, a := range n.args {
		if x.kind(a) != konst {
			return x.intern(n)
		}
	}
	if n.kind == opaque && x.ops[n.value].Code == ir.Approx { // only the chip knows
		return x.intern(n)
	}
	return x.num(int(n.w), x.sample(&n)[0])
}

// text prints a term, for people who look for what is not proved.
func (x *terms) text(t term, depth int) string {
	n := x.at(t)
	names := [...]string{"", "v", "+", "*", "&", "^", "cat", "ext", "sext", "ite", "=", "<u", "<s", "<<", ">>", ">>s",
		"op", "M0", "store", "havoc", "load"}
	switch {
	case n.kind == konst:
		return fmt.Sprintf("%#x:%d", n.value, n.w)
	case n.kind == leaf:
		for s, id := range x.names {
			if id == n.value {
				return s
			}
		}
	case depth == 0:
		return fmt.Sprintf("t%d", t)
	}
	s := fmt.Sprintf("(%s:%d", names[n.kind], n.w)
	if n.kind == opaque {
		o := &x.ops[n.value]
		s += fmt.Sprintf(" %d.%s", o.Code, o.Type)
	} else if n.value != 0 {
		s += fmt.Sprintf(" %#x", n.value)
	}
	for i, a := range n.args {
		s += " "
		if n.coefs != nil && n.coefs[i] != 1 {
			s += fmt.Sprintf("%d·", signed(n.coefs[i], int(n.w)))
		}
		s += x.text(a, depth-1)
	}
	return s + ")"
}

// sorted are the arguments in order.
func sorted(args []term) []term {
	out := slices.Clone(args)
	slices.Sort(out)
	return out
}
