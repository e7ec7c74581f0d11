package optcheck

import (
	"math"

	"pgregory.net/rapid"

	"optcheck/isa"
	"optcheck/litmus"
)

// drawnLift draws machine code of one thread, and knows what each of its reads reads.
type drawnLift struct {
	*rapid.T
	params map[int64]uint32
	reads  []liftRead
	memory []uint64 // of each location
	read   []uint64 // what was read
	done   []bool
	own    [2]bool // loads of the test that the machine code has
}

func (d *drawnLift) below(n int) int { return rapid.IntRange(0, n-1).Draw(d.T, "n") }

func (d *drawnLift) word() uint32 {
	return rapid.SampledFrom([]uint32{0, 1, 2, 5, 31, 32, 33, 0x7fffffff, 0x80000000, 0xffffffff, 0x10001}).Draw(d.T, "w")
}

// expr is an expression of what has been read.
func (d *drawnLift) expr(depth int) *expr {
	n := 10
	if depth == 0 {
		n = 3
	}
	sub := func() *expr { return d.expr(depth - 1) }
	switch d.below(n) {
	case 0:
		return &expr{op: exConst, k: uint64(d.word())}
	case 1:
		return &expr{op: exParam, k: uint64(8 + 4*d.below(3))}
	case 2:
		if len(d.reads) == 0 {
			return d.expr(0)
		}
		r := d.below(len(d.reads))
		e := &expr{op: exLoad, read: r}
		if d.reads[r].wide || d.reads[r].split {
			e.word = d.below(2)
		}
		return e
	case 3:
		return d.pred(depth)
	case 4:
		return &expr{op: exSel, args: []*expr{sub(), sub(), d.pred(depth - 1)}}
	case 5:
		return &expr{op: exBits, k: uint64(1 + d.below(255)), args: []*expr{sub(), sub(), sub()}}
	case 6:
		return &expr{op: exBits, k: rapid.SampledFrom([]uint64{lutAnd, lutOr, lutXor, lutA &^ lutB}).Draw(d.T, "lut"), args: []*expr{sub(),
			sub()}}
	default:
		return &expr{op: exAdd + exOp(d.below(4)), args: []*expr{sub(), sub()}}
	}
}

// pred is a predicate, or what is not 0 if it is true.
func (d *drawnLift) pred(depth int) *expr {
	k := d.below(4)
	switch {
	case k == 0:
		return &expr{op: exParam, k: uint64(8 + 4*d.below(3))}
	case k == 1 && depth > 0:
		return &expr{op: exBits, k: uint64(^uint8(lutA)), args: []*expr{d.cmp(depth - 1)}}
	case k == 2 && depth > 0:
		return &expr{op: exBits, k: lutAnd, args: []*expr{d.cmp(depth - 1), d.cmp(depth - 1)}}
	}
	return d.cmp(depth)
}

func (d *drawnLift) cmp(depth int) *expr {
	return &expr{op: exCmp, k: uint64(d.below(6)) | uint64(d.below(2))*cmpSigned, args: []*expr{d.expr(max(0, depth-1)), d.expr(max(0,
		depth-1))}}
}

// is computes an expression by definition.
func (d *drawnLift) is(e *expr) uint32 {
	a := func(i int) uint32 { return d.is(e.args[i]) }
	switch e.op {
	case exConst:
		return uint32(e.k)
	case exParam:
		return d.params[int64(e.k)]
	case exLoad:
		return uint32(d.read[e.read] >> (32 * e.word))
	case exAdd:
		return a(0) + a(1)
	case exMul:
		return a(0) * a(1)
	case exShl:
		return uint32(uint64(a(0)) << min(a(1), 32))
	case exShr:
		return uint32(uint64(a(0)) >> min(a(1), 32))
	case exSel:
		if a(2) != 0 {
			return a(0)
		}
		return a(1)
	case exCmp:
		return ones(compare(uint8(e.k), e.k&cmpSigned != 0, a(0), a(1)))
	}
	var in [3]uint32
	for i := range e.args {
		in[i] = a(i)
	}
	return isa.Lut(uint8(e.k), in[0], in[1], in[2])
}

// reads of an expression, as a set.
func readsOf(e *expr) (t taint) {
	if e.op == exLoad {
		t = 1 << e.read
	}
	for _, a := range e.args {
		t |= readsOf(a)
	}
	return t
}

// performed is what an access of the machine code or of the test does: its address, what it writes, and what these depend on.
type performed struct {
	loc        string
	wrote      uint64
	addr, data taint
	cond       taint
}

// allReads stand for any reads.
const allReads = ^taint(0)

// some reads, as dependencies that no value shows.
func (d *drawnLift) some() (list []int) {
	for r := range d.reads {
		if d.below(4) == 0 {
			list = append(list, r)
		}
	}
	return list
}

// shape draws an access without its operands.
func (d *drawnLift) shape() liftOp {
	o := liftOp{entry: -1, like: -1, read: -1, loc: d.below(4), addrDeps: d.some(), dataDeps: d.some(), typ: litmus.S32}
	if o.loc >= 2 {
		o.typ = litmus.S64
	}
	wide := o.typ.Bits() == 64
	if d.below(4) == 0 && !d.own[o.loc/2] { // the test's own load of x or w
		d.own[o.loc/2] = true
		o.entry, o.loc = o.loc/2, o.loc/2*2
		o.raw = litmus.Instr{Op: litmus.OpLd}
		return o
	}
	if wide && d.below(3) == 0 {
		o.half = lowHalf + half(d.below(2))
		o.raw = litmus.Instr{Op: rapid.SampledFrom([]litmus.Op{litmus.OpLd, litmus.OpSt}).Draw(d.T, "op"), Type: o.typ}
		return o
	}
	o.like = d.below(3) - 1
	o.raw = litmus.Instr{Op: rapid.SampledFrom([]litmus.Op{litmus.OpLd, litmus.OpSt, litmus.OpSt, litmus.OpAtom, litmus.OpRed}).Draw(d.T,
		"op"),
		Sem: litmus.SemRelaxed, Scope: litmus.ScopeGPU, Type: o.typ}
	if o.raw.Op == litmus.OpAtom || o.raw.Op == litmus.OpRed {
		o.raw.Atom = rapid.SampledFrom([]litmus.AtomOp{litmus.AtomAdd, litmus.AtomExch, litmus.AtomCAS}).Draw(d.T, "atom")
		if o.raw.Op == litmus.OpRed {
			o.raw.Atom = litmus.AtomAdd
		}
		if o.raw.Atom != litmus.AtomAdd {
			o.raw.Type = litmus.B32
			if wide {
				o.raw.Type = litmus.B64
			}
		} else if wide {
			o.raw.Type = litmus.U64
		}
		o.typ = o.raw.Type
	}
	return o
}

// op draws one access, and performs it if it runs.
func (d *drawnLift) op(t *litmus.Test) (o liftOp, did *performed) {
	o = d.shape()
	wide := o.typ.Bits() == 64
	stores := o.half != noHalf && o.raw.Op == litmus.OpSt
	for range d.below(3) {
		if stores {
			break
		}
		o.guard = append(o.guard, guardTerm{d.pred(2), d.below(2) == 0})
	}
	if len(o.guard) > 0 {
		o.ctrlDeps = d.some()
	}
	runs, cond := true, taint(0)
	for _, g := range o.guard {
		runs = runs && (d.is(g.e) != 0) == g.want
		cond |= readsOf(g.e)
	}
	for _, r := range o.ctrlDeps {
		cond |= 1 << r
	}
	p := &performed{loc: t.Locations[o.loc].Name, cond: cond}
	for _, r := range o.addrDeps {
		p.addr |= 1 << r
	}
	var data []uint64
	operands := map[litmus.Op]int{litmus.OpSt: 1, litmus.OpAtom: 1, litmus.OpRed: 1}[o.raw.Op]
	if o.raw.Atom == litmus.AtomCAS {
		operands = 2
	}
	for range operands {
		ws := []*expr{d.expr(3)}
		k := uint64(d.is(ws[0]))
		if wide && !stores {
			ws = d.pair()
			k = uint64(d.is(ws[1]))<<32 | uint64(d.is(ws[0]))
		}
		o.data, data = append(o.data, ws), append(data, k)
		for _, w := range ws {
			p.data |= readsOf(w)
		}
	}
	if operands > 0 && !stores {
		for _, r := range o.dataDeps {
			p.data |= 1 << r
		}
	}
	now := &d.memory[o.loc]
	before := *now
	if runs {
		did = p
		switch {
		case stores:
			*now = *now&^(math.MaxUint32<<(32*(o.half-lowHalf))) | data[0]<<(32*(o.half-lowHalf))
			p.data = allReads // of what was stored before, too
		case o.raw.Op == litmus.OpSt || o.raw.Atom == litmus.AtomExch:
			*now = data[0]
		case o.raw.Atom == litmus.AtomAdd:
			*now += data[0]
		case o.raw.Atom == litmus.AtomCAS && before == data[0]:
			*now = data[1]
		}
		if !wide {
			*now = uint64(uint32(*now))
		}
		p.wrote = *now
	}
	if o.raw.Op == litmus.OpLd || o.raw.Op == litmus.OpAtom && d.below(2) == 0 {
		o.read = len(d.reads)
		d.reads, d.done = append(d.reads, liftRead{op: -1, entry: o.entry, wide: wide, half: o.half}), append(d.done, runs)
		if d.read = append(d.read, before); !runs {
			d.read[o.read] = 0
		}
	}
	return o, did
}

// pair is a value of 64 bits that a test can write: a constant, what was read, or a parameter.
func (d *drawnLift) pair() []*expr {
	for range 4 {
		if r := d.below(len(d.reads) + 1); r < len(d.reads) && d.reads[r].wide {
			return []*expr{{op: exLoad, read: r}, {op: exLoad, read: r, word: 1}}
		}
	}
	if d.below(2) == 0 {
		return []*expr{{op: exParam, k: 8}, {op: exParam, k: 12}}
	}
	return []*expr{{op: exConst, k: uint64(d.word())}, {op: exConst, k: uint64(d.word())}}
}
