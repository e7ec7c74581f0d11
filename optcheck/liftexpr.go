package optcheck

import (
	"crypto/sha256"
	"errors"
	"fmt"
	"strconv"

	"optcheck/isa"
)

// exOp is the operation of an expr.
type exOp uint8

const (
	exConst exOp = iota
	exParam      // the parameter word at byte offset k
	exLoad       // word of what a reading event read
	exAdd
	exMul
	exShl
	exShr  // k is 1 for arithmetic shifts
	exBits // bitwise function k (a truth table) of up to three operands
	exSel  // args[2] ? args[0] : args[1]
	exCmp  // predicate; k as in kCmp
	exPair // of 64 bits: the low word, the high word
)

// expr is a value of machine code, independent of the pool that it was computed in.
type expr struct {
	op   exOp
	k    uint64
	read int
	word int
	args []*expr
}

// isPred reports whether an expression is a predicate.
func (e *expr) isPred() bool {
	switch e.op {
	case exCmp:
		return true
	case exBits:
		for _, a := range e.args {
			if !a.isPred() {
				return false
			}
		}
		return true
	}
	return false
}

// maxExpr bounds the size of an expression.
const maxExpr = 200

// expr copies a value out of the pool and adds the reads in it to seen. inst is the instruction that errors name.
func (l *lifter) expr(v value, inst int, seen *taint) (*expr, error) {
	size := 0
	e, err := l.build(v, seen, &size)
	if err != nil {
		return nil, l.errorAt(inst, "%v", err)
	}
	return e, nil
}

func (l *lifter) build(v value, seen *taint, size *int) (*expr, error) {
	if *size++; *size > maxExpr {
		return nil, fmt.Errorf("a value is too large an expression")
	}
	if v == none {
		return nil, fmt.Errorf("a value is not known")
	}
	if r, ok := l.results[v]; ok {
		*seen |= 1 << uint(r)
		return &expr{op: exLoad, read: r}, nil
	}
	n := l.p.tr.pool.nodes[v]
	switch n.kind {
	case kConst:
		return &expr{op: exConst, k: n.imm}, nil
	case kParam:
		return &expr{op: exParam, k: n.imm}, nil
	case kLoad:
		*seen |= 1 << uint(n.a)
		word := int(n.b)
		if int(n.a) < len(l.out.reads) && l.out.reads[n.a].half == highHalf {
			word++
		}
		return &expr{op: exLoad, read: int(n.a), word: word}, nil
	}
	if n.kind == kFun && n.imm == funPrmt {
		if sel, ok := l.p.tr.pool.isConst(n.b); ok {
			return l.permuted(n.a, n.c, sel, seen, size)
		}
	}
	e, args, err := l.operation(v, &n)
	if err != nil {
		return nil, err
	}
	for _, a := range args {
		if a == none {
			continue
		}
		x, err := l.build(a, seen, size)
		if err != nil {
			return nil, err
		}
		e.args = append(e.args, x)
	}
	switch {
	case n.kind == kAdd && n.b == none:
		e.args = append(e.args, &expr{op: exConst, k: uint64(uint32(n.imm))})
	case n.kind == kFun && n.imm == funNeg:
		e.args = append(e.args, &expr{op: exConst, k: 0xffffffff})
	}
	return e, nil
}

// operation returns the operation of a node that has operands.
func (l *lifter) operation(v value, n *node) (e *expr, args []value, err error) {
	switch n.kind {
	case kAdd:
		return &expr{op: exAdd}, []value{n.a, n.b}, nil
	case kBits:
		return &expr{op: exBits, k: n.imm}, []value{n.a, n.b, n.c}, nil
	case kSel:
		return &expr{op: exSel}, []value{n.a, n.b, n.c}, nil
	case kCmp:
		return &expr{op: exCmp, k: n.imm}, []value{n.a, n.b}, nil
	case kFun:
		op, ok := liftedFuns[n.imm]
		if !ok {
			return nil, nil, errors.New("a value is computed by an operation without a litmus counterpart")
		}
		return &expr{op: op}, []value{n.a, n.b}, nil
	case kPhi:
		j, ok := l.p.tr.joins[v]
		switch {
		case !ok:
			return nil, nil, errors.New("a value comes from one of two paths")
		case !j.want:
			return &expr{op: exSel}, []value{n.b, n.a, j.pred}, nil
		}
		return &expr{op: exSel}, []value{n.a, n.b, j.pred}, nil
	}
	return nil, nil, fmt.Errorf("a value is not known (%s)", l.p.describe(v, 0))
}

// permuted is a permutation of bytes: those that come from one word and move by one distance are masked and shifted.
func (l *lifter) permuted(a, b value, selector uint32, seen *taint, size *int) (out *expr, err error) {
	masks := map[[2]int]uint32{} // of the result, by word and distance
	for i := range 4 {
		from := int(selector >> (4 * i) & 7)
		masks[[2]int{from / 4, i - from%4}] |= 0xff << (8 * i)
	}
	constant := func(k uint32) *expr { return &expr{op: exConst, k: uint64(k)} }
	for at := range 14 { // in a fixed order
		group := [2]int{at / 7, at%7 - 3}
		mask := masks[group]
		if mask == 0 {
			continue
		}
		e, err := l.build([2]value{a, b}[group[0]], seen, size)
		if err != nil {
			return nil, err
		}
		if e.op == exConst && e.k == 0 {
			continue
		}
		switch by := 8 * group[1]; {
		case by > 0:
			e = &expr{op: exShl, args: []*expr{e, constant(uint32(by))}}
		case by < 0:
			e = &expr{op: exShr, args: []*expr{e, constant(uint32(-by))}}
		}
		e = &expr{op: exBits, k: lutAnd, args: []*expr{e, constant(mask)}}
		if out != nil {
			e = &expr{op: exBits, k: lutOr, args: []*expr{out, e}}
		}
		out = e
	}
	if out == nil {
		out = constant(0)
	}
	return out, nil
}

// liftedFuns maps the functions of the pool that have a litmus counterpart to it.
var liftedFuns = map[uint64]exOp{uint64(isa.MicroMul) << 8: exMul, uint64(isa.MicroShl) << 8: exShl, uint64(isa.MicroShr) << 8: exShr,
	funNeg: exMul}

// render appends everything that determines what an expression means.
func (e *expr) render(b []byte) []byte {
	b = append(b, '(')
	b = strconv.AppendUint(b, uint64(e.op), 10)
	b = strconv.AppendUint(append(b, ' '), e.k, 16)
	b = ints(b, e.read, e.word)
	for _, a := range e.args {
		b = a.render(b)
	}
	return append(b, ')')
}

func ints(b []byte, list ...int) []byte {
	for _, k := range list {
		b = strconv.AppendInt(append(b, ' '), int64(k), 10)
	}
	return append(b, ';')
}

func bools(b []byte, list ...bool) []byte {
	for _, k := range list {
		b = strconv.AppendBool(b, k)
	}
	return b
}

// identify returns a hash of everything that determines what a Lifted means.
func (l *Lifted) identify(family string) string {
	b := append(make([]byte, 0, 1024), family...)
	for i := range l.ops {
		o := &l.ops[i]
		if o.entry < 0 {
			b = fmt.Append(b, o.raw, o.typ)
		}
		if o.raised != nil {
			b = fmt.Append(b, "raised", o.raised.Sem, o.raised.Scope, o.raised.Cache)
		}
		b = bools(b, o.texture)
		b = ints(b, o.entry, o.loc, o.read, o.group, o.word, o.like, int(o.half))
		for _, list := range [][]int{o.addrDeps, o.dataDeps, o.ctrlDeps} {
			b = ints(b, list...)
		}
		b = bools(b, o.unsigned)
		for _, d := range o.data {
			for _, w := range d {
				b = w.render(b)
			}
			b = append(b, ',')
		}
		for _, g := range o.guard {
			b = g.e.render(bools(b, g.want))
		}
		b = append(b, ';')
	}
	for i, r := range l.reads {
		b = bools(ints(append(b, 'r'), i, r.op, r.entry, int(r.half)), r.wide, r.split, r.chosen)
	}
	for k := range 64 {
		if e := l.regs[k]; e != nil {
			b = e.render(ints(append(b, 'v'), k))
		}
	}
	for _, x := range l.Extra {
		b = append(append(b, 'x'), x...)
	}
	sum := sha256.Sum256(b)
	return string(sum[:])
}
