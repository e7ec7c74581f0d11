package verify

import (
	"math/bits"
	"slices"

	"optcheck/emu"
	"optcheck/ir"
)

// A product by a warpgroup (wgmma.mma_async) uses registers until its group has been waited for, and it knows what was written into them in
// front of the last wgmma.fence: PTX ISA, 9.7.15.1.5 and 9.7.15.6.1. Moves are none of the program's own accesses, since compilers make them
// where an operand of asm stands: what is moved keeps what is known of it.

// held is what is known of the content of a register.
type held struct {
	product int32  // the instruction of the product that uses it, + 1; 0 if none does
	group   uint32 // the group of the product
	made    int32  // the instruction that has computed it, + 1
	fences  uint32 // how many fences there had been then
}

// registers follow what products of a warp use.
type registers struct {
	m      *monitor
	w      *emu.Warp
	fences uint32
	done   uint32 // the last group that was waited for
	regs   []held
	own    map[emu.Place]held // memory of threads, where compilers keep registers
}

func (m *monitor) followRegisters() {
	p := m.found.program
	for i := range p.Insts {
		if c, ok := p.Insts[i].Do.(*ir.Copy); !ok || c.Kind != ir.CopyProduct {
			continue
		}
		for _, w := range m.grid.Warps {
			r := &registers{m: m, w: w, regs: make([]held, p.Regs+1), own: map[emu.Place]held{}}
			w.Trace = r.trace
		}
		return
	}
}

// trace sees an instruction before it is performed.
func (r *registers) trace(_ *emu.Warp, pc int32, act uint32) {
	if act == 0 {
		return
	}
	in := &r.m.found.program.Insts[pc]
	r.use(pc, act, in.Guard)
	r.ops(pc, act, in.Pre)
	switch do := in.Do.(type) {
	case *ir.Copy:
		r.copy(pc, act, do)
	case *ir.Access:
		r.access(pc, act, do)
	case *ir.Warp:
		r.use(pc, act, append([]ir.Reg{do.Src, do.Lane}, do.Srcs...)...)
		r.write(pc, append([]ir.Reg{do.Dst, do.Pred}, do.Dsts...)...)
	case *ir.Special:
		r.write(pc, do.Dst)
	case *ir.Flow:
		r.use(pc, act, do.Cond, do.Addr)
	}
	r.ops(pc, act, in.Post)
}

func (r *registers) ops(pc int32, act uint32, list []ir.Op) {
	for i := range list {
		o := &list[i]
		if o.Code == ir.Mov {
			r.set(o.Dst, r.of(o.Src[0]))
			continue
		}
		r.use(pc, act, o.Src[:]...)
		r.write(pc, o.Dst)
	}
}

func (r *registers) of(x ir.Reg) held {
	if x < 0 {
		return held{}
	}
	return r.regs[x]
}

func (r *registers) set(x ir.Reg, h held) {
	if x >= 0 {
		r.regs[x] = h
	}
}

func (r *registers) write(pc int32, list ...ir.Reg) {
	for _, x := range list {
		r.set(x, held{made: pc + 1, fences: r.fences})
	}
}

// use reports registers that a product still uses.
func (r *registers) use(pc int32, act uint32, list ...ir.Reg) {
	for _, x := range list {
		if h := r.of(x); h.product > 0 && h.group > r.done {
			r.report(h.product-1, pc, act, "the product is not waited for (wgmma.wait_group): what its registers hold is not defined before")
		}
	}
}

func (r *registers) report(a, b int32, act uint32, why string) {
	by := r.m.id(r.w, bits.TrailingZeros32(act))
	r.m.pair(RegisterRace, a, by, b, by, why)
}

func (r *registers) copy(pc int32, act uint32, c *ir.Copy) {
	g := r.m.copiesOf(r.m.id(r.w, 0)).product
	switch {
	case c.Kind == ir.CopyProductFence:
		r.fences++
	case c.Kind == ir.CopyWait && c.Family == ir.Products:
		r.done = max(r.done, uint32(max(0, int64(g)-1-int64(c.Groups))))
	case c.Kind == ir.CopyProduct:
		r.product(pc, act, c.Product, g)
	case c.Kind == ir.CopyAsync:
		r.use(pc, act, c.To, c.From, c.Size, c.Ignore)
	case c.Kind == ir.CopyBulk, c.Kind == ir.CopyStore, c.Kind == ir.CopyReduce:
		r.use(pc, act, append([]ir.Reg{c.To, c.From, c.Size, c.Mbarrier}, c.Data...)...)
	}
}

// product takes over the registers of a product. Those of D may be in use by the one before, which has the same D.
func (r *registers) product(pc int32, act uint32, p *ir.GroupProduct, group uint32) {
	if r.fences == 0 {
		r.m.at(RegisterRace, pc, r.m.id(r.w, bits.TrailingZeros32(act)), emu.Place{}, "no wgmma.fence stands in front of the first product")
	}
	for _, x := range slices.Concat(p.A, p.D) {
		if h := r.of(x); h.made > 0 && h.fences == r.fences && r.fences > 0 {
			r.report(h.made-1, pc, act, "no wgmma.fence stands between it and the product")
		}
		r.set(x, held{product: pc + 1, group: group})
	}
}

func (r *registers) access(pc int32, act uint32, a *ir.Access) {
	r.use(pc, act, a.Addr)
	at := r.w.Place(a, bits.TrailingZeros32(act))
	spot := func(i int) emu.Place { return emu.Place{Space: at.Space, Addr: at.Addr + uint64(i*a.Bytes)} }
	switch {
	case private(at.Space) && a.Kind == ir.Store:
		for i, x := range a.Data {
			r.own[spot(i)] = r.of(x)
		}
	case private(at.Space):
		for i, x := range a.Data {
			r.set(x, r.own[spot(i)])
		}
	case a.Kind == ir.Load:
		r.write(pc, slices.Concat(a.Data, a.Fragments)...)
	default:
		r.use(pc, act, slices.Concat(a.Data, a.Fragments)...)
		r.write(pc, append(slices.Clip(a.Dst), a.Done)...)
	}
}
