package lower

import (
	"optcheck/ir"
	"optcheck/ptx"
)

// tensorCopy is what copies of boxes of tensors have in common: the operand of the map and the place, number i.
func (x *inst) tensorCopy(i int) (c *ir.Copy, tensor ir.Reg) {
	o := &x.in.Args[i]
	if o.Kind != ptx.Mem || len(o.Elems) != 2 || o.Value != 0 {
		x.fail("the place in a tensor is not understood")
	}
	c = &ir.Copy{Kind: ir.CopyBulk, Tensor: true, Mbarrier: ir.None, Ignore: ir.None, Size: ir.None}
	coords := []ptx.Operand{o.Elems[1]}
	if o.Elems[1].Kind == ptx.Vec {
		coords = o.Elems[1].Elems
	}
	if n := int(x.mods["dim"][0] - '0'); len(coords) != n {
		x.fail("%d coordinates of %d dimensions", len(coords), n)
	}
	for k := range coords {
		c.Coords = append(c.Coords, x.read(&coords[k], ir.U32))
	}
	return c, x.read(&o.Elems[0], ir.U64)
}

// tensorLoad is cp.async.bulk.tensor into shared memory: PTX ISA 9.7.9.25.5.2.
func (x *inst) tensorLoad() {
	c, tensor := x.tensorCopy(1)
	c.From, c.FromSpace = tensor, ir.Generic
	var to, object place
	c.ToSpace, to = x.placeIn(0, x.mods["to"])
	_, object = x.placeIn(2, x.mods["to"])
	if x.mods["to"] == "shared::cta" {
		object.reg = x.op(ir.Add, ir.U64, object.reg, x.b.Window(ir.Shared))
	}
	c.To, c.ToOffset, c.Mbarrier, c.MbarrierOffset = to.reg, to.offset, object.reg, object.offset
	n := 3
	if c.Multicast = x.is("multicast::cluster"); c.Multicast {
		c.Blocks = x.src(n, ir.U16)
		n++
	}
	x.hint(n)
	x.do(c)
}

// tensorStore is cp.async.bulk.tensor out of shared memory, and cp.reduce.async.bulk.tensor: PTX ISA 9.7.9.25.5.2, 9.7.9.25.5.3. What a tensor
// holds is not followed.
func (x *inst) tensorStore() {
	c, tensor := x.tensorCopy(0)
	c.To, c.ToSpace = tensor, ir.Generic
	var from place
	c.FromSpace, from = x.placeIn(1, "shared::cta")
	c.From, c.FromOffset = from.reg, from.offset
	x.hint(2)
	x.do(c)
}
