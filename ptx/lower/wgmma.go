package lower

import (
	"fmt"

	"optcheck/ir"
	"optcheck/ptx"
)

// productFence is wgmma.fence: PTX ISA 9.7.15.6.1.
func (x *inst) productFence() {
	x.do(&ir.Copy{Kind: ir.CopyProductFence, To: ir.None, From: ir.None, Size: ir.None, Ignore: ir.None, Mbarrier: ir.None})
}

// groupProduct is wgmma.mma_async: PTX ISA 9.7.15.5.2. Its operands are D, A (registers or a descriptor), the descriptor of B, whether D is
// added, and, as constants, the signs of A and B and which of their dimensions is that of neighbours in memory.
func (x *inst) groupProduct() {
	p := &ir.GroupProduct{Product: ir.Product{A: types[x.mods["a"]], B: types[x.mods["b"]], Acc: types[x.mods["d"]], Sat: x.is("satfinite")}}
	if _, err := fmt.Sscanf(x.mods["shape"], "m%dn%dk%d", &p.M, &p.N, &p.K); err != nil {
		x.fail("the shape %s is not understood", x.mods["shape"])
	}
	t := p.Acc
	if t == ir.F16 {
		t = ir.U32
	}
	for i, list := 0, x.registers(0, p.M*p.N*p.Acc.Bits()/(4*32*32)); i < len(list); i++ {
		p.D = append(p.D, x.write(&list[i], t))
	}
	if o := &x.in.Args[1]; o.Kind == ptx.Vec {
		for i, list := 0, x.registers(1, 4); i < len(list); i++ {
			p.A = append(p.A, x.read(&list[i], ir.U32))
		}
		p.ADesc = ir.None
	} else {
		p.ADesc = x.src(1, ir.U64)
	}
	p.BDesc, p.Keep = x.src(2, ir.U64), x.src(3, ir.Pred)
	x.signs(p)
	x.do(&ir.Copy{Kind: ir.CopyProduct, To: ir.None, From: ir.None, Size: ir.None, Ignore: ir.None, Mbarrier: ir.None, Product: p})
}

// signs reads the constants behind the operand that tells whether D is added.
func (x *inst) signs(p *ir.GroupProduct) {
	rest := len(x.in.Args) - 4
	if rest == 0 {
		return
	}
	sign := func(i int) bool {
		n := int32(x.number(i))
		if n != 1 && n != -1 {
			x.fail("the factor %d of a matrix is not understood", n)
		}
		return n < 0
	}
	turned := func(i int) bool { return x.number(i) != 0 }
	switch p.NegA, p.NegB = sign(4), sign(5); {
	case rest == 4 && p.A == nil:
		p.TransA, p.TransB = turned(6), turned(7)
	case rest == 3 && p.A != nil:
		p.TransB = turned(6)
	case rest != 2:
		x.fail("the number of operands is not understood")
	}
}
