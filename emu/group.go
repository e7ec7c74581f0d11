package emu

import (
	"errors"
	"fmt"
	"math/bits"

	"optcheck/ir"
)

// ChunkBytes is the size of the pieces in which a matrix lies in shared memory: PTX ISA, 9.7.15.5.1 (core matrices).
const ChunkBytes = 16

// tile is where a matrix of a warpgroup lies in shared memory: PTX ISA, 9.7.15.5.1.2 (matrix descriptor).
type tile struct {
	base, leading, stride uint64
	row                   uint64 // bytes of a row of a swizzled tile, 0 if it is not swizzled
	swizzle               uint64 // the bits of addresses that are swizzled
	size                  uint64 // of an element
	turned                bool   // neighbours in memory are those along M or N, not along K
}

// newTile reads a descriptor.
func newTile(desc uint64, t ir.Type, turned bool) (tile, error) {
	field := func(at uint) uint64 { return desc >> at & 0x3fff << 4 }
	out := tile{base: field(0), leading: field(16), stride: field(32), size: uint64(t.Bits() / 8), turned: turned}
	if desc>>49&7 != 0 {
		return out, fmt.Errorf("a matrix descriptor with a base offset")
	}
	if kind := desc >> 62; kind != 0 { // 1: 128 bytes, 2: 64, 3: 32
		out.row = 256 >> kind
		out.swizzle = out.row - ChunkBytes
	}
	return out, nil
}

// at is the address of the element at a place along M or N, and along K.
func (t *tile) at(i, k int) uint64 {
	n := ChunkBytes / int(t.size)
	var a uint64
	switch {
	case !t.turned && t.row == 0:
		a = uint64(i%8)*ChunkBytes + uint64(i/8)*t.stride + uint64(k/n)*t.leading + uint64(k%n)*t.size
	case !t.turned:
		a = uint64(i%8)*t.row + uint64(i/8)*t.stride + uint64(k)*t.size
	case t.row == 0:
		a = uint64(i%n)*t.size + uint64(i/n)*t.stride + uint64(k%8)*ChunkBytes + uint64(k/8)*t.leading
	default:
		wide := int(t.row / t.size)
		a = uint64(i%wide)*t.size + uint64(i/wide)*t.leading + uint64(k%8)*t.row + uint64(k/8)*t.stride
	}
	a += t.base
	return a ^ a>>3&t.swizzle
}

// operand is one matrix of a product by a warpgroup that lies in shared memory: n places along M or N, from the first one on.
type operand struct {
	tile
	first, n int
}

// operands are the matrices that a warp reads from shared memory.
func (w *Warp) operands(p *ir.GroupProduct, act uint32) (a, b *operand, err error) {
	if bits.OnesCount32(act) == 0 {
		return nil, nil, nil
	}
	l := lowest(act)
	for x := act; x != 0; x &= x - 1 {
		if k := lowest(x); w.regs[p.BDesc][k] != w.regs[p.BDesc][l] || p.A == nil && w.regs[p.ADesc][k] != w.regs[p.ADesc][l] {
			return nil, nil, fmt.Errorf("lanes with different matrix descriptors")
		}
	}
	t, err := newTile(w.regs[p.BDesc][l], p.B, p.TransB)
	if err != nil {
		return nil, nil, err
	}
	b = &operand{t, 0, p.N}
	if p.A == nil {
		if t, err = newTile(w.regs[p.ADesc][l], p.Product.A, p.TransA); err != nil {
			return nil, nil, err
		}
		a = &operand{t, w.ID % 4 * 16, 16}
	}
	return a, b, nil
}

// EachChunk calls do for each piece of shared memory, of 16 bytes, that a warp's part of a product by its warpgroup reads.
func (w *Warp) EachChunk(pc int32, p *ir.GroupProduct, act uint32, do func(p Place)) error {
	a, b, err := w.operands(p, act)
	if err != nil {
		return &Cannot{Inst: int(pc), Why: err.Error(), Input: true}
	}
	for _, o := range []*operand{a, b} {
		if o == nil {
			continue
		}
		for i := range o.n {
			for k := range p.K {
				if at := o.at(o.first+i, k); at%ChunkBytes == 0 {
					do(Place{ir.Shared, at})
				}
			}
		}
	}
	return nil
}

// errLater makes lanes come to an operation again, since other warps are behind.
var errLater = errors.New("other warps are behind")

// wait is wgmma.wait_group: products are the whole warpgroup's, so that those of a group are complete when its four warps have performed them.
func (g *Grid) wait(w *Warp, c *ir.Copy) error {
	for _, s := range w.Data.(*Block).warps {
		if s.ID/4 == w.ID/4 && !s.Done() && s.committed < w.committed-c.Groups {
			return errLater
		}
	}
	return nil
}

// product performs a warp's part of a product by its warpgroup at once: what the registers hold before it is waited for is undefined in PTX.
func (g *Grid) product(w *Warp, pc int32, p *ir.GroupProduct, act uint32) error {
	if !g.Policy.Products {
		return &Cannot{Inst: int(pc), Why: "not understood: a product by a warpgroup, of which no chip was asked what it computes: " + w.Code.P.Insts[pc].Text}
	}
	a, b, err := w.operands(p, act)
	if err != nil {
		return &Cannot{Inst: int(pc), Why: err.Error(), Input: true}
	}
	block := w.Threads[lowest(act)].Block
	left, right := make([]uint64, 16*p.K), make([]uint64, p.K*p.N)
	if a != nil {
		g.read(a, p.K, block, func(i, k int, v uint64) { left[i*p.K+k] = v })
	} else {
		w.fragments(p.A, act, &ir.Product{M: 16, K: p.K, A: p.Product.A}, left)
	}
	g.read(b, p.K, block, func(i, k int, v uint64) { right[i*p.K+k] = v })
	negate(left, p.Product.A, p.NegA)
	negate(right, p.B, p.NegB)
	f, per := factorsOf(&p.Product, left, right), max(1, 32/p.Acc.Bits())
	for x := act; x != 0; x &= x - 1 {
		l := lowest(x)
		keep := w.regs[p.Keep][l]&1 == 1
		for r, d := range p.D {
			var v uint64
			for e := range per {
				at, sum := r*per+e, uint64(0)
				row, col := ir.PartSum.Place(l, at, 0, 1)
				if keep {
					sum = w.regs[d][l] >> (e * p.Acc.Bits()) & (1<<p.Acc.Bits() - 1)
				}
				v |= f.dot(row, col, sum) << (e * p.Acc.Bits())
			}
			w.SetReg(d, l, v)
		}
	}
	return nil
}

// read reads a matrix out of a block's shared memory.
func (g *Grid) read(o *operand, k, block int, do func(i, k int, v uint64)) {
	for i := range o.n {
		for j := range k {
			at := o.at(o.first+i, j)
			v := uint64(g.Memory.Now(WordOf(Place{ir.Shared, at}, block), Integer)) >> (at & 3 * 8)
			do(i, j, v&(1<<(o.size*8)-1))
		}
	}
}

// negate changes the sign of the elements of a matrix of floating point.
func negate(m []uint64, t ir.Type, yes bool) {
	for i := range m {
		if yes {
			m[i] ^= 1 << (t.Bits() - 1)
		}
	}
}
