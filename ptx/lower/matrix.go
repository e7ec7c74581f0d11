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
