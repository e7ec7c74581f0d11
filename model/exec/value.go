package exec

import "optcheck/litmus"

// value is the content of a register on a path: a constant (node < 0) or the expression of a
// node over values of reads.
type value struct {
	node int32
	k    int64
}

func constant(k int64) value { return value{-1, k} }

func (v value) isConst() bool { return v.node < 0 }

// nodeOp is the operation of an expression node.
type nodeOp uint8

const (
	nodeRead  nodeOp = iota // value of the read event a
	nodeFit                 // a, cut to the width of typ
	nodeArith               // litmus op of a and b
	nodeCmp                 // comparison of a and b: 1 or 0
	nodeSel                 // c != 0 ? a : b
	nodeAtom                // new value of an atomic: old a, operands b and c
)

type node struct {
	op      nodeOp
	sub     uint8 // litmus.Op, litmus.Cmp or litmus.AtomOp
	typ     litmus.Type
	a, b, c value
	sup     uint64 // reads below the node
}

// atomic computes what atom and red write: old is the value read, b and c the operands. A
// failing compare-and-swap writes the old value back; of a sum of floating point, c says whether subnormal numbers are flushed.
func atomic(op litmus.AtomOp, t litmus.Type, old, b, c int64) int64 {
	old, b, c = t.Fit(old), t.Fit(b), t.Fit(c)
	r := old
	less := func(x, y int64) bool { return litmus.Compare(litmus.CmpLt, t, x, y) }
	if op == litmus.AtomMin || op == litmus.AtomMax {
		if t >= litmus.F16 {
			return litmus.FloatLeast(t, old, b, op == litmus.AtomMax)
		}
	}
	switch op {
	case litmus.AtomAdd:
		if r = old + b; t >= litmus.F16 {
			r = litmus.FloatAdd(t, old, b, c != 0)
		}
	case litmus.AtomInc: // wraps to 0 at b, as the PTX instruction does
		if r = old + 1; litmus.Compare(litmus.CmpGe, unsigned(t), old, b) {
			r = 0
		}
	case litmus.AtomDec:
		if r = old - 1; old == 0 || litmus.Compare(litmus.CmpGt, unsigned(t), old, b) {
			r = b
		}
	case litmus.AtomIncOne:
		r = old + 1
	case litmus.AtomDecOne:
		r = old - 1
	case litmus.AtomExch:
		r = b
	case litmus.AtomCAS:
		if old == b {
			r = c
		}
	case litmus.AtomAnd:
		r = old & b
	case litmus.AtomOr:
		r = old | b
	case litmus.AtomXor:
		r = old ^ b
	case litmus.AtomMin:
		if less(b, old) {
			r = b
		}
	case litmus.AtomMax:
		if less(old, b) {
			r = b
		}
	}
	return t.Fit(r)
}

func unsigned(t litmus.Type) litmus.Type {
	if t.Bits() == 64 {
		return litmus.U64
	}
	return litmus.U32
}

// build returns a node, or a constant if everything that it needs is known.
func (p *Path) build(n node) value {
	if n.op != nodeRead && n.a.isConst() && n.b.isConst() && n.c.isConst() {
		return constant(n.apply(n.a.k, n.b.k, n.c.k))
	}
	if n.op == nodeRead {
		n.sup = 1 << n.sub
	} else {
		n.sup = p.support(n.a) | p.support(n.b) | p.support(n.c)
	}
	p.nodes = append(p.nodes, n)
	return value{node: int32(len(p.nodes) - 1)}
}

// fitted truncates a value to a type.
func (p *Path) fitted(v value, t litmus.Type) value {
	if v.isConst() {
		return constant(t.Fit(v.k))
	}
	if n := &p.nodes[v.node]; n.typ == t {
		return v
	}
	return p.build(node{op: nodeFit, typ: t, a: v, b: constant(0), c: constant(0)})
}

func (n *node) apply(a, b, c int64) int64 {
	switch n.op {
	case nodeFit:
		return n.typ.Fit(a)
	case nodeArith:
		return litmus.Arith(litmus.Op(n.sub), n.typ, a, b)
	case nodeCmp:
		return b2i(litmus.Compare(litmus.Cmp(n.sub), n.typ, a, b))
	case nodeSel:
		if c != 0 {
			return n.typ.Fit(a)
		}
		return n.typ.Fit(b)
	}
	return atomic(litmus.AtomOp(n.sub), n.typ, a, b, c)
}

// eval computes a value; known and val are the known values of the path's reads. ok is false if
// a needed one is not known. The arm of a selection that is not taken is not needed. Nodes are
// computed in order, each once, since shared subexpressions would make a recursion exponential.
func (p *Path) eval(v value, known uint64, val []int64, buf *evalBuf) (k int64, ok bool) {
	if v.isConst() {
		return v.k, true
	}
	n := int(v.node) + 1
	if cap(buf.k) < n {
		buf.k, buf.ok = make([]int64, 2*n), make([]bool, 2*n)
	}
	ks, oks := buf.k[:n], buf.ok[:n]
	get := func(x value) (int64, bool) {
		if x.isConst() {
			return x.k, true
		}
		return ks[x.node], oks[x.node]
	}
	for i := range ks {
		nd := &p.nodes[i]
		if nd.op == nodeRead {
			ks[i], oks[i] = nd.typ.Fit(val[nd.sub]), known>>nd.sub&1 != 0
			continue
		}
		a, oka := get(nd.a)
		b, okb := get(nd.b)
		c, okc := get(nd.c)
		if nd.op == nodeSel {
			oka, okb = oka || c == 0, okb || c != 0
		}
		if oks[i] = oka && okb && okc; oks[i] {
			ks[i] = nd.apply(a, b, c)
		}
	}
	return ks[n-1], oks[n-1]
}

// evalBuf is scratch memory of eval.
type evalBuf struct {
	k  []int64
	ok []bool
}

// support returns the reads (bit set over the path's events) that a value
// mentions.
func (p *Path) support(v value) uint64 {
	if v.isConst() {
		return 0
	}
	return p.nodes[v.node].sup
}

func b2i(b bool) int64 {
	if b {
		return 1
	}
	return 0
}
