package emu

import (
	"testing"

	"optcheck/ir"
)

// TestAliases: the result of an operation may be one of its operands, whatever lanes are active.
func TestAliases(t *testing.T) {
	for dst := range ir.Reg(3) {
		for _, act := range []uint32{^uint32(0), 1} {
			b := ir.NewBuilder("k")
			p, x, y := b.Reg(), b.Reg(), b.Reg()
			in := b.Begin()
			b.To(&in.Pre, dst, ir.Sel, ir.U32, p, x, y)
			b.Begin().Do = &ir.Flow{Kind: ir.Exit, Cond: ir.None, Mask: ir.None}
			c, err := Prepare(&b.P)
			if err != nil {
				t.Fatal(err)
			}
			for truth := range uint64(2) {
				w := NewWarp(c, launch(32), 0, 0, nil, Policy{})
				for l := range Lanes {
					w.SetReg(p, l, truth)
					w.SetReg(x, l, 10)
					w.SetReg(y, l, 20)
				}
				w.exec(c.insts[0].pre, act)
				if got, want := w.Reg(dst, 0), 20-10*truth; got != want {
					t.Errorf("result in operand %d, %d lanes, predicate %d: %d, want %d", dst, act&2+1, truth, got, want)
				}
			}
		}
	}
}
