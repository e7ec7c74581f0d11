package lower

import (
	"optcheck/ir"
	"optcheck/ptx"
)

// object is an access to the barrier object whose address is operand number i.
func (x *inst) object(kind ir.AccessKind, i int) *ir.Access {
	a := &ir.Access{Kind: kind, Type: ir.U64, Bytes: 8, Elems: 1, Done: ir.None, Mbarrier: true, Sem: sems[x.mods["sem"]], Scope: scopes[x.mods["scope"]]}
	var p place
	a.Space, p = x.placeIn(i, x.mods["ss"])
	a.Addr, a.Offset, a.AddrBits = p.reg, p.offset, p.bits
	if a.Scope == ir.NoScope {
		a.Scope = ir.CTA
	}
	return a
}

// initObject is mbarrier.init: PTX ISA 9.7.13.15.9.
func (x *inst) initObject() {
	a := x.object(ir.Store, 0)
	a.Scope = ir.NoScope
	count := x.src(1, ir.U32)
	part := func(total, shift ir.MbarrierNumber) ir.Reg {
		less := x.op(ir.Sub, ir.U32, x.b.Mbarrier(total), count)
		return x.op(ir.Shl, ir.U32, less, x.b.Mbarrier(shift))
	}
	low := part(ir.MbarrierExpected, ir.MbarrierExpectedShift)
	a.Data = []ir.Reg{x.op(ir.Join, ir.U64, low, part(ir.MbarrierPending, ir.MbarrierPendingShift))}
	x.do(a)
}

// inval is mbarrier.inval: what the object holds is open, and the memory may be used for something else.
func (x *inst) inval() { x.object(ir.Load, 0) }

// arrive is mbarrier.arrive and arrive_drop, with or without expect_tx: PTX ISA 9.7.13.15.13. Its default is release.
func (x *inst) arrive() {
	a := x.object(ir.Atomic, 1)
	if a.Atom = ir.AtomArrive; x.mods["op"] == "arrive_drop" {
		a.Atom = ir.AtomDrop
	}
	if x.mods["sem"] == "" {
		a.Sem = ir.Release
	}
	switch {
	case x.is("expect_tx"):
		n := x.op(ir.Shl, ir.U64, x.src(2, ir.U32), x.imm(32))
		a.Data = []ir.Reg{x.op(ir.Or, ir.U64, n, x.imm(1))}
	case len(x.in.Args) > 2:
		a.Data = []ir.Reg{x.src(2, ir.U32)}
	default:
		a.Data = []ir.Reg{x.imm(1)}
	}
	if x.in.Args[0].Kind != ptx.Sink {
		a.Dst = []ir.Reg{x.dst(0, ir.U64)}
	}
	x.do(a)
}

// transactions is mbarrier.expect_tx and complete_tx: PTX ISA 9.7.13.15.11, 9.7.13.15.12.
func (x *inst) transactions() {
	a := x.object(ir.Atomic, 0)
	a.Atom, a.Sem = ir.AtomArrive, ir.Relaxed
	n := x.src(1, ir.U32)
	if x.mods["tx"] == "complete_tx" {
		n = x.op(ir.Sub, ir.U32, x.imm(0), n)
	}
	a.Data = []ir.Reg{x.op(ir.Shl, ir.U64, n, x.imm(32))}
	x.do(a)
}

// arriveBehind is cp.async.mbarrier.arrive: PTX ISA 9.7.13.15.15.
func (x *inst) arriveBehind() {
	a := x.object(ir.Atomic, 0)
	a.Sem, a.Behind = ir.Relaxed, true
	if a.Atom, a.Data = ir.AtomArrive, []ir.Reg{x.imm(1)}; !x.is("noinc") {
		a.Atom = ir.AtomArriveBehind
		a.Data = []ir.Reg{x.imm(1 << 32), x.imm(1<<64 - 1<<32), x.imm(1<<32 - 1), x.imm(1)}
	}
	x.do(a)
}

// testWait is mbarrier.test_wait and try_wait: PTX ISA 9.7.13.15.16. The phase of a state, or of a parity, is over if the object's is another one.
func (x *inst) testWait() {
	a := x.object(ir.Load, 1)
	a.Type, a.Bytes, a.Offset = ir.U32, 4, a.Offset+4
	if x.mods["sem"] == "" {
		a.Sem = ir.Acquire
	}
	var phase ir.Reg
	if x.is("parity") {
		phase = x.op(ir.Shl, ir.U32, x.src(2, ir.U32), x.imm(31))
	} else {
		phase = x.op(ir.HighWord, ir.U64, x.src(2, ir.U64))
	}
	if len(x.in.Args) > 3 { // how long it may wait
		x.src(3, ir.U32)
	}
	now := x.b.Temp()
	a.Data = []ir.Reg{now}
	x.do(a)
	x.to(x.dst(0, ir.Pred), ir.Shr, ir.U32, x.op(ir.Xor, ir.U32, now, phase), x.imm(31))
}

// pendingCount is mbarrier.pending_count: PTX ISA 9.7.13.15.17.
func (x *inst) pendingCount() {
	total, shift := x.b.Mbarrier(ir.MbarrierPending), x.b.Mbarrier(ir.MbarrierPendingShift)
	n := x.op(ir.Shr, ir.U32, x.op(ir.HighWord, ir.U64, x.src(1, ir.U64)), shift)
	n = x.op(ir.And, ir.U32, n, x.op(ir.Sub, ir.U32, total, x.imm(1)))
	x.to(x.dst(0, ir.U32), ir.Sub, ir.U32, total, n)
}

// rankShift is where addresses of a cluster's shared memory have the rank of the block: 8 bits.
const rankShift = 24

// mapa is PTX ISA 9.7.9.23.
func (x *inst) mapa() {
	t := x.t()
	x.to(x.dst(0, t), ir.Bfi, t, x.rank(2, t), x.src(1, t), x.imm(rankShift), x.imm(8))
}

// rank is operand number i, of 32 bits, as a number of a type.
func (x *inst) rank(i int, t ir.Type) ir.Reg {
	r := x.src(i, ir.U32)
	if t == ir.U64 {
		r = x.ext(ir.U32, ir.U64, r)
	}
	return r
}

// ctaRank is getctarank: PTX ISA 9.7.9.24.
func (x *inst) ctaRank() {
	t := x.t()
	r := x.op(ir.Shr, t, x.src(1, t), x.imm(rankShift))
	x.to(x.dst(0, ir.U32), ir.And, ir.U32, r, x.imm(255))
}

// bulkCopy is cp.async.bulk and cp.reduce.async.bulk: PTX ISA 9.7.9.25.4, 9.7.9.25.5.
func (x *inst) bulkCopy() {
	c := &ir.Copy{Kind: ir.CopyBulk, Mbarrier: ir.None, Ignore: ir.None}
	var to, from place
	c.ToSpace, to = x.placeIn(0, x.mods["to"])
	c.FromSpace, from = x.placeIn(1, x.mods["from"])
	c.To, c.ToOffset, c.From, c.FromOffset = to.reg, to.offset, from.reg, from.offset
	c.Size = x.src(2, ir.U32)
	n := 3
	if x.is("mbarrier::complete_tx::bytes") {
		_, p := x.placeIn(3, x.mods["to"])
		if x.mods["to"] == "shared::cta" {
			p.reg = x.op(ir.Add, ir.U64, p.reg, x.b.Window(ir.Shared))
		}
		c.Mbarrier, c.MbarrierOffset = p.reg, p.offset
		n++
	}
	if c.Multicast = x.is("multicast::cluster"); c.Multicast {
		c.Blocks = x.src(n, ir.U16)
		n++
	}
	if op := x.mods["op"]; op != "" {
		c.Atom, c.Type = atoms[op], x.t()
	}
	x.hint(n)
	x.do(c)
}

// storeAsync is st.async and red.async.
func (x *inst) storeAsync() {
	list, t := x.elements(1), x.t()
	c := &ir.Copy{Kind: ir.CopyStore, From: ir.None, Size: ir.None, Ignore: ir.None, Elems: len(list), Bytes: t.Bits() / 8, Type: t}
	if op := x.mods["op"]; op != "" {
		c.Kind, c.Atom = ir.CopyReduce, atoms[op]
	}
	var to, object place
	c.ToSpace, to = x.placeIn(0, "shared::cluster")
	_, object = x.placeIn(2, "shared::cluster")
	c.To, c.ToOffset, c.Mbarrier, c.MbarrierOffset = to.reg, to.offset, object.reg, object.offset
	for i := range list {
		c.Data = append(c.Data, x.data(&list[i], t)...)
	}
	x.do(c)
}

// bulkWait waits for groups of bulk copies, or for their reads.
func (x *inst) bulkWait() { x.number(0); x.copyWait() }
