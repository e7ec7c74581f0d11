package lower

import (
	"optcheck/ir"
	"optcheck/ptx"
)

// matrices is the common part of ldmatrix and stmatrix: PTX ISA 9.7.14.5.15, 9.7.14.5.16. The address is operand number at.
func (x *inst) matrices(kind ir.AccessKind, at int, list *ptx.Operand) (*ir.Access, []ptx.Operand) {
	n := map[string]int{"x1": 1, "x2": 2, "x4": 4}[x.mods["n"]]
	if list.Kind != ptx.Vec || len(list.Elems) != n {
		x.fail("the number of elements is not understood")
	}
	a := &ir.Access{Kind: kind, Space: x.space(), Type: ir.B128, Bytes: 16, Elems: 1, Done: ir.None, Data: []ir.Reg{x.b.Temp(), x.b.Temp()},
		Transposed: x.is("trans")}
	p := x.place(at, a.Space)
	a.Addr, a.Offset, a.AddrBits = p.reg, p.offset, p.bits
	return a, list.Elems
}

func (x *inst) loadMatrices() {
	a, list := x.matrices(ir.Load, 1, &x.in.Args[0])
	for i := range list {
		a.Fragments = append(a.Fragments, x.write(&list[i], ir.U32))
	}
	x.do(a)
}

func (x *inst) storeMatrices() {
	a, list := x.matrices(ir.Store, 0, &x.in.Args[1])
	for i := range list {
		a.Fragments = append(a.Fragments, x.read(&list[i], ir.U32))
	}
	x.do(a)
}

// moveMatrix is movmatrix: PTX ISA 9.7.14.5.17.
func (x *inst) moveMatrix() {
	w := newWarp(ir.Transpose)
	w.Src, w.Mask = x.src(1, ir.U32), x.imm(1<<32-1)
	x.into(w, x.dst(0, ir.U32), ir.None, ir.U32)
}

// sizes are those of products, by their names.
var sizes = map[string][3]int{"m16n8k16": {16, 8, 16}, "m16n8k8": {16, 8, 8}, "m16n8k4": {16, 8, 4}, "m16n8k32": {16, 8, 32}, "m8n8k16": {8, 8, 16},
	"m8n8k4": {8, 8, 4}}

// multiply is mma: PTX ISA 9.7.14.5.14.
func (x *inst) multiply() {
	size := sizes[x.mods["shape"]]
	p := &ir.Product{M: size[0], N: size[1], K: size[2], A: types[x.mods["a"]], B: types[x.mods["b"]], Acc: types[x.mods["d"]], Sat: x.is("satfinite")}
	if x.mods["c"] != x.mods["d"] {
		x.fail("%s is not understood", x.in.Op)
	}
	w := newWarp(ir.Multiply)
	w.Product, w.Mask = p, x.imm(1<<32-1)
	na, nb, nc := p.Registers()
	t := raw(p.Acc)
	if p.Acc == ir.F16 {
		t = ir.U32
	}
	in := t
	if p.A != ir.F64 {
		in = ir.U32
	}
	for i, n := range []int{na, nb, nc} {
		from := x.registers(i+1, n)
		for k := range from {
			from, as := &from[k], in
			if i == 2 {
				as = t
			}
			w.Srcs = append(w.Srcs, x.read(from, as))
		}
	}
	x.sums(w, x.registers(0, nc), t)
}

// sums performs a product, and puts its sums into registers of a type.
func (x *inst) sums(w *ir.Warp, to []ptx.Operand, t ir.Type) {
	for range to {
		w.Dsts = append(w.Dsts, x.b.Temp())
	}
	x.do(w)
	for i := range to {
		x.to(x.write(&to[i], t), ir.Mov, t, w.Dsts[i])
	}
}

// registers are the n registers of operand number i.
func (x *inst) registers(i, n int) []ptx.Operand {
	o := &x.in.Args[i]
	if o.Kind == ptx.Reg && n == 1 {
		return x.in.Args[i : i+1]
	}
	if o.Kind != ptx.Vec || len(o.Elems) != n {
		x.fail("the number of elements is not understood")
	}
	return o.Elems
}
