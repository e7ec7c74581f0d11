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
				right[row*p.N+col] = v
			})
		}
		for r := range c {
			w.elements(c[r], l, act, p.Acc, func(i, n int, v uint64) { sum[accumulator(p, l, r*n+i)] = v })
		}
	}
	for i := range p.M {
		for j := range p.N {
			sum[i*p.N+j] = dot(p, left[i*p.K:(i+1)*p.K], right[j:], sum[i*p.N+j])
		}
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

// dot is c plus the products of a row and a column, the elements of which are stride apart.
func dot(p *ir.Product, row, column []uint64, c uint64) uint64 {
	if !p.A.Float() {
		return integerDot(p, row, column, c)
	}
	sum := ir.ToFloat64(p.Acc, c)
	for k := range row {
		x, y := ir.ToFloat64(p.A, row[k]), ir.ToFloat64(p.B, column[k*p.N])
		if p.A == ir.F64 {
			sum = math.FMA(x, y, sum)
		} else {
			sum += x * y
		}
	}
	return ir.FromFloat64(p.Acc, sum)
}

func integerDot(p *ir.Product, row, column []uint64, c uint64) uint64 {
	signed := func(t ir.Type, v uint64) int64 {
		if sh := 64 - t.Bits(); t.Signed() {
			return int64(v<<sh) >> sh
		}
		return int64(v)
	}
	sum := int64(int32(c))
	for k := range row {
		sum += signed(p.A, row[k]) * signed(p.B, column[k*p.N])
	}
	if p.Sat {
		sum = min(max(sum, math.MinInt32), math.MaxInt32)
	}
	return uint64(uint32(sum))
}
