package lower

import (
	"optcheck/ir"
	"optcheck/ptx"
)

// tile is the common part of wmma.load and wmma.store: PTX ISA 9.7.14.4.3, 9.7.14.4.4. The address is operand number at, the registers are those
// of operand number of, and the pitch, if it is given, is the last one.
func (x *inst) tile(kind ir.AccessKind, part ir.Part, at, of int) (*ir.Access, []ptx.Operand) {
	t := x.t()
	a := &ir.Access{Kind: kind, Space: x.space(), Type: t, Bytes: t.Bits() / 8, Elems: 1, Done: ir.None, Data: []ir.Reg{x.b.Temp()}}
	p := x.place(at, a.Space)
	a.Addr, a.Offset, a.AddrBits = p.reg, p.offset, p.bits
	a.Tile = &ir.Tile{Part: part, Columns: x.mods["layout"] == "col", Addr: x.b.Temp()}
	pitch := x.imm(16)
	if len(x.in.Args) > 2 {
		pitch = x.ext(ir.U32, ir.U64, x.src(2, ir.U32))
	}
	a.Tile.Pitch = x.op(ir.Mov, ir.U64, pitch)
	return a, x.registers(of, tileRegisters(t, part))
}

// tileRegisters are the registers of a lane's part of a matrix of 16 x 16: those of A and B in f16 hold each element twice.
func tileRegisters(t ir.Type, part ir.Part) int {
	if t == ir.F16 && part == ir.PartSum || t == ir.BF16 {
		return 4
	}
	return 8
}

// loadTile is wmma.load.
func (x *inst) loadTile() {
	part := map[string]ir.Part{"a": ir.PartA, "b": ir.PartB, "c": ir.PartSum}[x.mods["part"]]
	a, list := x.tile(ir.Load, part, 1, 0)
	t := raw(ir.F32)
	held := list[:len(list):len(list)]
	if a.Type == ir.F16 && part != ir.PartSum {
		held = list[:4]
	}
	for i := range held {
		a.Fragments = append(a.Fragments, x.write(&held[i], t))
	}
	x.do(a)
	for i := len(held); i < len(list); i++ { // the same elements once more
		x.to(x.write(&list[i], t), ir.Mov, t, a.Fragments[i-len(held)])
	}
}

// storeTile is wmma.store.
func (x *inst) storeTile() {
	a, list := x.tile(ir.Store, ir.PartSum, 0, 1)
	for i := range list {
		a.Fragments = append(a.Fragments, x.read(&list[i], ir.U32))
	}
	x.do(a)
}

// multiplyTiles is wmma.mma: PTX ISA 9.7.14.4.5.
func (x *inst) multiplyTiles() {
	p := &ir.Product{M: 16, N: 16, K: 16, A: ir.F16, B: ir.F16, Acc: types[x.mods["d"]]}
	if x.mods["c"] != x.mods["d"] {
		x.fail("%s is not understood", x.in.Op)
	}
	if x.mods["a"] == "bf16" {
		p.A, p.B = ir.BF16, ir.BF16
	}
	w := newWarp(ir.Multiply)
	w.Product, w.Mask = p, x.imm(1<<32-1)
	for i, part := range []ir.Part{ir.PartA, ir.PartB, ir.PartSum} {
		t, n := p.A, 4
		if part == ir.PartSum {
			t, n = p.Acc, tileRegisters(p.Acc, part)
		}
		list := x.registers(i+1, tileRegisters(t, part))
		for k := range list[:n] {
			w.Srcs = append(w.Srcs, x.read(&list[k], ir.U32))
		}
	}
	x.sums(w, x.registers(0, tileRegisters(p.Acc, ir.PartSum)), ir.U32)
}
