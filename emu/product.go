package emu

import (
	"math"

	"optcheck/ir"
)

// product multiplies matrices. Lanes that do not take part have undefined elements.
func (w *Warp) product(o *ir.Warp, act uint32) {
	p := o.Product
	na, nb, nc := p.Registers()
	a, b, c := o.Srcs[:na], o.Srcs[na:na+nb], o.Srcs[na+nb:na+nb+nc]
	left, right, sum := make([]uint64, p.M*p.K), make([]uint64, p.K*p.N), make([]uint64, p.M*p.N)
	w.fragments(a, act, p, left)
	for l := range Lanes {
		for r := range b {
			w.elements(b[r], l, act, p.B, func(i, n int, v uint64) {
				row, col := ir.PartB.Place(l, r, i, n)
				right[col*p.K+row] = v
			})
		}
		for r := range c {
			w.elements(c[r], l, act, p.Acc, func(i, n int, v uint64) { sum[accumulator(p, l, r*n+i)] = v })
		}
	}
	f := factorsOf(p, left, right)
	for i := range sum {
		sum[i] = f.dot(i/p.N, i%p.N, sum[i])
	}
	for x := act; x != 0; x &= x - 1 {
		l := lowest(x)
		for r := range c {
			v, n := uint64(0), max(1, 32/p.Acc.Bits())
			for i := range n {
				v |= sum[accumulator(p, l, r*n+i)] << (i * p.Acc.Bits())
			}
			w.SetReg(o.Dsts[r], l, v)
		}
	}
}

// fragments are the elements of A that the registers of lanes hold.
func (w *Warp) fragments(a []ir.Reg, act uint32, p *ir.Product, left []uint64) {
	for l := range Lanes {
		for r := range a {
			w.elements(a[r], l, act, p.A, func(i, n int, v uint64) {
				row, col := l/4, r*4*n+l%4*n+i
				if p.M == 16 {
					row, col = ir.PartA.Place(l, r, i, n)
				}
				left[row*p.K+col] = v
			})
		}
	}
}

// elements calls do for the elements in a lane's register: n of them.
func (w *Warp) elements(r ir.Reg, l int, act uint32, t ir.Type, do func(i, n int, v uint64)) {
	v := w.policy.Fill
	if act>>l&1 == 1 {
		v = w.regs[r][l]
	}
	bits := t.Bits()
	n := max(1, 32/bits)
	for i := range n {
		do(i, n, v>>(i*bits)&(^uint64(0)>>(64-bits)))
	}
}

// accumulator is the place of element i of a lane's part of C and D.
func accumulator(p *ir.Product, l, i int) int {
	row, col := ir.PartSum.Place(l, i, 0, 1)
	return row*p.N + col
}

// factors are two matrices to multiply, the left one by rows, the right one by columns.
type factors struct {
	p           *ir.Product
	left, right []uint64  // of integers
	x, y        []float64 // of floating point
}

func factorsOf(p *ir.Product, left, right []uint64) *factors {
	f := &factors{p: p, left: left, right: right}
	if p.A.Float() {
		f.x, f.y = ir.Float64s(p.A, left), ir.Float64s(p.B, right)
	}
	return f
}

// dot is c plus the products of a row and a column.
func (f *factors) dot(row, column int, c uint64) uint64 {
	k := f.p.K
	if !f.p.A.Float() {
		return integerDot(f.p, f.left[row*k:][:k], f.right[column*k:][:k], c)
	}
	x, y := f.x[row*k:][:k], f.y[column*k:][:k]
	sum := ir.ToFloat64(f.p.Acc, c)
	for i := range x {
		if f.p.A == ir.F64 {
			sum = math.FMA(x[i], y[i], sum)
		} else {
			sum += float64(x[i] * y[i])
		}
	}
	return ir.FromFloat64(f.p.Acc, sum)
}

// integerDot is c plus the products of a row and a column.
func integerDot(p *ir.Product, row, column []uint64, c uint64) uint64 {
	signed := func(t ir.Type, v uint64) int64 {
		if sh := 64 - t.Bits(); t.Signed() {
			return int64(v<<sh) >> sh
		}
		return int64(v)
	}
	sum := int64(int32(c))
	for k := range row {
		sum += signed(p.A, row[k]) * signed(p.B, column[k])
	}
	if p.Sat {
		sum = min(max(sum, math.MinInt32), math.MaxInt32)
	}
	return uint64(uint32(sum))
}
