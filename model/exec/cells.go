package exec

import (
	"fmt"
	"math/bits"
	"slices"

	"optcheck/litmus"
)

// Accesses of several sizes.
//
// A model that asks which events are parts of one operation (relation sm) gets locations that
// are divided into cells: the largest aligned blocks that no access of the test divides. An
// access to several cells has an event for each; reads-from, coherence and final values are
// those of cells, so that a read may get each of its cells from another write. For all other
// models, and where all accesses to a location have one extent, a cell is a whole location.

// cell is a block of bytes of a location.
type cell struct {
	loc       int16
	off, size int64 // size 0: the whole location
}

// maxCell is the largest cell: that of the largest number.
const maxCell = 8

// cellTypes are the types of the values of cells, by the logarithm of their size.
var cellTypes = [...]litmus.Type{litmus.U8, litmus.U16, litmus.U32, litmus.U64}

func (c *cell) typ() litmus.Type { return cellTypes[bits.TrailingZeros64(uint64(c.size))] }

// init is the initial value of a cell.
func (p *Program) init(k int) int64 {
	c := &p.cells[k]
	if c.size == 0 {
		return p.locs[c.loc].init
	}
	return c.typ().Fit(shifted(p.locs[c.loc].init, -8*c.off))
}

// shifted shifts a number to the left, or to the right if n is negative.
func shifted(v, n int64) int64 {
	if n >= 0 {
		return v << n
	}
	return int64(uint64(v) >> -n)
}

// whole makes every location one cell.
func (p *Program) whole() {
	p.cells = make([]cell, len(p.locs))
	for l := range p.locs {
		p.cells[l].loc = int16(l)
		p.locs[l].first, p.locs[l].n = int16(l), 1
	}
}

// entire rejects parts of locations, for models that do not know them.
func (p *Program) entire() error {
	if p.Test.Extended() {
		return posError(litmus.Pos{}, "test %s has asynchronous operations, mbarriers, or accesses of several registers, of floating point or through no coherent cache: the model has none (ptx-async does)", p.Test.Name)
	}
	for l := range p.locs {
		if p.locs[l].of >= 0 {
			return posError(p.Test.Locations[l].Pos, "%s is a part of a location: the model takes locations for one thing (ptx-async has accesses of several sizes)",
				p.locs[l].name)
		}
	}
	return nil
}

// split returns the program with its locations divided.
func (p *Program) split() *Program {
	q := *p
	q.divided = true
	q.locs = append([]location(nil), p.locs...)
	q.cells = nil
	ends := q.extents()
	for l := range q.locs {
		x := &q.locs[l]
		if x.of >= 0 {
			continue
		}
		x.first, x.size = int16(len(q.cells)), q.locs[x.root].size
		q.divide(int16(l), 0, x.size, ends[x.root])
		x.n = int16(len(q.cells)) - x.first
	}
	for l := range q.locs {
		if x := &q.locs[l]; x.of >= 0 {
			from, to := q.within(int(x.of), x.off, x.size)
			x.first, x.n = q.locs[x.of].first+from, to-from
		}
	}
	return &q
}

// extents determines the size of each location, and where accesses begin and end in it. An
// access whose address is computed may go anywhere.
func (p *Program) extents() (ends []map[int64]bool) {
	ends = make([]map[int64]bool, len(p.locs))
	for l := range p.locs {
		if ends[l], p.locs[l].size = map[int64]bool{}, 4; p.locs[l].init == noValue {
			p.locs[l].size = maxCell // a place of a value that threads pass
		}
		if p.locs[l].of >= 0 {
			p.locs[l].size = 1
		}
	}
	widest := int64(4)
	var computed []int64     // widths
	var copies [][2][2]int64 // location and offset, to and from
	var lengths []int64
	for t := range p.threads {
		th := &p.threads[t]
		for i := range th.code {
			in := &th.code[i]
			if bytes := min(in.in.Bytes(), litmus.MaxBytes); in.in.Op == litmus.OpAsync && in.in.Async.Copies() {
				copies = append(copies, [2][2]int64{p.end(th, in.addr, in.in.Addr, bytes, ends), p.end(th, in.more[0], in.in.More[0], bytes, ends)})
				lengths = append(lengths, bytes)
				for k, width := int64(0), int64(in.in.Async.Type.Bits()/8); in.in.Async.Kind == litmus.BulkReduce && k < bytes; k += width {
					ends[copies[len(copies)-1][0][0]][copies[len(copies)-1][0][1]+k] = true
				}
			}
			if f := in.in.Async; f != nil && (f.Kind == litmus.StoreAsync || f.Kind == litmus.ReduceAsync) {
				width := int64(f.Type.Bits() / 8)
				for i := range in.in.Src {
					a := in.in.Addr
					a.Offset += int64(i) * width
					p.end(th, in.addr, a, width, ends)
				}
			}
			if !in.in.Op.IsAccess() {
				continue
			}
			width := int64(in.in.Type.Bits() / 8)
			addr, known := th.address(in)
			l, off := p.at(addr + in.in.Addr.Offset)
			if !known || l < 0 {
				computed, widest = append(computed, width), max(widest, width)
				continue
			}
			x := &p.locs[p.locs[l].root]
			x.size = max(x.size, ceil2(off+width))
			_, n := in.in.Type.Elements()
			for at := off; at <= off+width; at += width / int64(n) {
				ends[p.locs[l].root][at] = true
			}
		}
	}
	p.parts(ends)
	for range copies { // both sides of a copy are divided alike
		for i, c := range copies {
			for k := range lengths[i] {
				to, from := ends[c[0][0]], ends[c[1][0]]
				both := to[c[0][1]+k] || from[c[1][1]+k]
				to[c[0][1]+k], from[c[1][1]+k] = both, both
			}
		}
	}
	for l := range p.locs {
		x := &p.locs[l]
		if x.of >= 0 || x.init == noValue {
			continue
		}
		if len(computed) > 0 {
			x.size = max(x.size, widest)
		}
		for _, width := range computed {
			for off := int64(0); off < x.size; off += width {
				ends[l][off] = true
			}
		}
	}
	return ends
}

// parts determines the sizes of parts of locations, which are those of the widest accesses that name them.
func (p *Program) parts(ends []map[int64]bool) {
	if !p.Test.Parted() {
		return
	}
	for t := range p.threads {
		for i := range p.threads[t].code {
			in := p.threads[t].code[i].in
			if l := p.location(p.Test.Threads[t].AddrLoc(in)); in.Op.IsAccess() && l >= 0 && p.locs[l].of >= 0 {
				p.locs[l].size = max(p.locs[l].size, int64(in.Type.Bits()/8))
			}
		}
	}
	for l := range p.locs {
		if x := &p.locs[l]; x.of >= 0 {
			root := &p.locs[x.of]
			root.size = max(root.size, ceil2(x.off+x.size))
			ends[x.of][x.off], ends[x.of][x.off+x.size] = true, true
		}
	}
}

// end notes where one side of a copy begins and ends.
func (p *Program) end(th *thread, o operand, a litmus.Addr, bytes int64, ends []map[int64]bool) [2]int64 {
	addr := o.k
	if o.reg >= 0 {
		addr = th.init[o.reg]
	}
	l, off := p.at(addr + a.Offset)
	l = max(l, 0)
	root := int(p.locs[l].root)
	p.locs[root].size = max(p.locs[root].size, ceil2(off+bytes))
	ends[root][off], ends[root][off+bytes] = true, true
	return [2]int64{int64(root), off}
}

// ceil2 is the next power of two.
func ceil2(n int64) int64 { return 1 << bits.Len64(uint64(n-1)) }

// address returns the address of an access if no instruction computes it.
func (th *thread) address(in *instr) (int64, bool) {
	if in.addr.reg < 0 {
		return in.addr.k, true
	}
	for i := range th.code {
		if th.code[i].dst == in.addr.reg {
			return 0, false
		}
	}
	return th.init[in.addr.reg], true
}

// divide appends the cells of an aligned block.
func (p *Program) divide(l int16, off, size int64, ends map[int64]bool) {
	divided := size > maxCell
	for k := off + 1; k < off+size; k++ {
		divided = divided || ends[k]
	}
	if !divided {
		p.cells = append(p.cells, cell{l, off, size})
		return
	}
	p.divide(l, off, size/2, ends)
	p.divide(l, off+size/2, size/2, ends)
}

// within returns the cells of location l that an access touches, as numbers within it; none if it is not
// in the location, or not aligned.
func (p *Program) within(l int, off, width int64) (from, to int16) {
	x := &p.locs[l]
	if x.size == 0 {
		if off != 0 {
			return 0, 0
		}
		return 0, 1
	}
	if width <= 0 || off%width != 0 || off+width > x.size {
		return 0, 0
	}
	for k := range x.n {
		switch c := &p.cells[x.first+k]; {
		case c.off+c.size <= off:
			from = k + 1
		case c.off < off+width:
			to = k + 1
		}
	}
	return from, to
}

// space is the state space of a cell.
func (p *Program) space(k int16) litmus.Space { return p.locs[p.cells[k].loc].space }

// in reports whether a location is one of the objects, as a thread at a place sees them. Shared memory is that of the CTA of the
// first thread that names it.
func (p *Program) in(l int16, objects litmus.Objects, at litmus.Place) bool {
	x := &p.locs[l]
	if objects == litmus.GlobalObjects || x.space != litmus.Shared {
		return (objects == litmus.GlobalObjects) == (x.space != litmus.Shared)
	}
	if objects == litmus.SharedCluster {
		return true
	}
	t := slices.IndexFunc(p.Test.Threads, func(th litmus.Thread) bool {
		return slices.ContainsFunc(p.Test.Locations, func(y litmus.Location) bool { return (y.Name == x.name || y.Of == x.name) && th.Mentions(y.Name) })
	})
	return t < 0 || p.threads[t].place.SameScope(at, litmus.ScopeCTA)
}

// CellName names what an event accesses: a location, or a block of one, "x[2:4]".
func (p *Program) CellName(k int) string {
	c := &p.cells[k]
	x := &p.locs[c.loc]
	if x.n == 1 {
		return x.name
	}
	return fmt.Sprintf("%s[%d:%d]", x.name, c.off, c.off+c.size)
}

// part returns those bytes of a value that an access at off writes to a cell.
func (s *state) part(v value, c *cell, off int64) value {
	v = s.build(node{op: nodeArith, sub: uint8(litmus.OpShr), typ: litmus.U64, a: v, b: constant(8 * (c.off - off)), c: constant(0)})
	return s.fitted(v, c.typ())
}

// join adds the value of a cell to that of an access at off.
func (s *state) join(v, part value, c *cell, off int64) value {
	zero := constant(0)
	part = s.build(node{op: nodeArith, sub: uint8(litmus.OpShl), typ: litmus.U64, a: part, b: constant(8 * (c.off - off)), c: zero})
	return s.build(node{op: nodeArith, sub: uint8(litmus.OpOr), typ: litmus.U64, a: v, b: part, c: zero})
}
