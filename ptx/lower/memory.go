package lower

import (
	"strings"

	"optcheck/ir"
	"optcheck/ptx"
)

var spaces = map[string]ir.Space{"": ir.Generic, "global": ir.Global, "shared": ir.Shared, "local": ir.Local,
	"const": ir.ConstBank, "param": ir.Param}

// space is the state space that the instruction names. Shared memory of other CTAs has addresses of its own.
func (x *inst) space() ir.Space {
	base, sub, _ := strings.Cut(x.mods["ss"], "::")
	if sub == "cluster" {
		return ir.Generic
	}
	return spaces[base]
}

// placeIn is operand number i as an address in the space that the instruction names. Addresses of a cluster's shared memory are those
// of the generic window without its beginning.
func (x *inst) placeIn(i int, ss string) (ir.Space, place) {
	if ss != "shared::cluster" {
		s := spaces[strings.TrimSuffix(ss, "::cta")]
		return s, x.place(i, s)
	}
	p := x.place(i, ir.Shared)
	return ir.Generic, place{x.op(ir.Add, ir.U64, p.reg, x.b.Window(ir.Shared)), p.offset, 64}
}

// place is what the operand of an address says.
type place struct {
	reg    ir.Reg
	offset int64
	bits   int
}

// address is where a variable is, plus an offset.
func (x *inst) address(v *variable, offset int64) ir.Reg {
	switch v.space {
	case ir.Global, ir.Shared, ir.ConstBank:
		return x.b.Symbol(v.name, offset, false)
	}
	return x.imm(uint64(v.offset + offset))
}

// place is operand number i as an address in a space.
func (x *inst) place(i int, space ir.Space) place {
	o := &x.in.Args[i]
	if o.Kind != ptx.Mem || len(o.Elems) != 1 {
		x.fail("an address of this kind is not understood")
	}
	e := &o.Elems[0]
	switch {
	case e.Kind == ptx.Reg && !e.Neg && e.Name == "":
		bits := x.width(e.Reg)
		if bits != 32 && bits != 64 {
			x.fail("an address of %d bits is not understood", bits)
		}
		return place{x.regs[e.Reg], o.Value, bits}
	case e.Kind == ptx.Imm && e.Float == 0:
		return place{x.imm(uint64(e.Value)), o.Value, 64}
	case e.Kind == ptx.Sym:
		v := x.variable(e)
		if v == nil {
			x.fail("%s is no variable that is understood", e.Name)
		}
		if v.space != space && (v.space != ir.Global || space != ir.Generic) {
			x.fail("%s is not in the space of the access", e.Name)
		}
		return place{x.address(v, 0), o.Value, 64}
	}
	x.fail("an address of this kind is not understood")
	return place{}
}

// elements are the operands of an access: those of a vector, or the one.
func (x *inst) elements(i int) []ptx.Operand {
	o := &x.in.Args[i]
	n := map[string]int{"": 1, "v2": 2, "v4": 4, "v8": 8}[x.mods["vec"]]
	if n == 1 && o.Kind != ptx.Vec {
		return x.in.Args[i : i+1]
	}
	if o.Kind != ptx.Vec || len(o.Elems) != n {
		x.fail("the number of elements is not understood")
	}
	return o.Elems
}

var sems = map[string]ir.Sem{"": ir.Weak, "weak": ir.Weak, "relaxed": ir.Relaxed, "volatile": ir.Relaxed, "acquire": ir.Acquire,
	"release": ir.Release, "acq_rel": ir.AcqRel, "sc": ir.SC}

var scopes = map[string]ir.Scope{"": ir.NoScope, "cta": ir.CTA, "cluster": ir.Cluster, "gpu": ir.GPU, "gl": ir.GPU, "sys": ir.Sys}

// access is the common part of loads, stores and read-modify-writes. PTX ISA 8.4: volatile is relaxed with system scope.
func (x *inst) access(kind ir.AccessKind, at int) *ir.Access {
	t := x.t()
	a := &ir.Access{Kind: kind, Space: x.space(), Type: t, Bytes: t.Bits() / 8, Elems: 1, Sem: sems[x.mods["sem"]],
		Scope: scopes[x.mods["scope"]],
		Done:  ir.None}
	if t.Signed() && kind != ir.Atomic {
		a.Type = raw(t) // what extends it stands behind
	}
	if a.Volatile = x.mods["sem"] == "volatile" || x.is("mmio"); x.mods["sem"] == "volatile" {
		a.Scope = ir.Sys
	}
	if (a.Sem == ir.Weak) != (a.Scope == ir.NoScope) {
		x.fail("a strength without a scope, or a scope without one, is not understood")
	}
	var p place
	a.Space, p = x.placeIn(at, x.mods["ss"])
	a.Addr, a.Offset, a.AddrBits = p.reg, p.offset, p.bits
	switch x.mods["cop"] {
	case "ca", "cg", "cv", "wb", "wt":
		a.Cached = a.Sem == ir.Weak
	}
	return a
}

// isParam returns the registers of a variable of .param space that belongs to a function or call, nil for other operands.
func (x *inst) isParam(i int) *param {
	o := &x.in.Args[i]
	if x.space() != ir.Param || o.Kind != ptx.Mem || len(o.Elems) != 1 {
		return nil
	}
	return x.param(&o.Elems[0])
}

// load is ld and ldu: PTX ISA 9.7.9.8.
func (x *inst) load() {
	list, t := x.elements(0), x.t()
	x.hint(2)
	if p := x.isParam(1); p != nil {
		x.loadParam(p, list)
		return
	}
	a := x.access(ir.Load, 1)
	a.Elems = len(list)
	a.Constant = x.is("nc") || x.in.Name == "ldu" || a.Space == ir.ConstBank || a.Space == ir.Param
	type extended struct {
		o *ptx.Operand
		r ir.Reg
	}
	var later []extended
	for i := range list {
		o := &list[i]
		if t == ir.B128 {
			r := x.write(o, t)
			a.Data = append(a.Data, r, r+1)
			continue
		}
		if o.Kind == ptx.Reg && x.width(o.Reg) > t.Bits() && t.Signed() {
			r := x.b.Temp()
			a.Data, later = append(a.Data, r), append(later, extended{o, r})
			continue
		}
		a.Data = append(a.Data, x.writeWide(o, t))
	}
	x.do(a)
	for _, e := range later {
		x.extended(e.o, t, e.r)
	}
}

// writeWide is a destination that may be wider than the type: what is written is zero-extended.
func (x *inst) writeWide(o *ptx.Operand, t ir.Type) ir.Reg {
	if o.Kind == ptx.Reg && x.width(o.Reg) > t.Bits() && !o.Neg && o.Name == "" {
		return x.regs[o.Reg]
	}
	return x.write(o, t)
}

// store is st: PTX ISA 9.7.9.11.
func (x *inst) store() {
	list, t := x.elements(1), x.t()
	x.hint(2)
	if p := x.isParam(0); p != nil {
		x.storeParam(p, list)
		return
	}
	a := x.access(ir.Store, 0)
	a.Elems = len(list)
	for i := range list {
		a.Data = append(a.Data, x.data(&list[i], t)...)
	}
	x.do(a)
}

// data are the registers of an element of a store or read-modify-write.
func (x *inst) data(o *ptx.Operand, t ir.Type) []ir.Reg {
	if t != ir.B128 {
		return []ir.Reg{x.readWide(o, t)}
	}
	r := x.read(o, t)
	return []ir.Reg{r, r + 1}
}

// hint checks that there is an operand number n just if there is a policy for caches: PTX ISA 9.7.9.1.
func (x *inst) hint(n int) {
	if (len(x.in.Args) == n+1) != x.is("L2::cache_hint") {
		x.fail("the number of operands is not understood")
	}
}

var atoms = map[string]ir.Atom{"add": ir.AtomAdd, "min": ir.AtomMin, "max": ir.AtomMax, "inc": ir.AtomInc, "dec": ir.AtomDec,
	"and": ir.AtomAnd, "or": ir.AtomOr, "xor": ir.AtomXor, "exch": ir.AtomExch, "cas": ir.AtomCAS}

// atom is atom and red: PTX ISA 9.7.13.6, 9.7.13.7. Their default is relaxed, of gpu scope.
func (x *inst) atom() {
	first := 1
	if x.in.Name == "red" {
		first = 0
	}
	if x.mods["sem"] == "" || x.mods["scope"] == "" {
		x.mods = withDefaults(x.mods, map[string]string{"sem": "relaxed", "scope": "gpu"})
	}
	a := x.access(ir.Atomic, first)
	a.Atom = atoms[x.mods["op"]]
	n := first + 2
	if a.Data = x.data(&x.in.Args[n-1], x.t()); a.Atom == ir.AtomCAS {
		if len(x.in.Args) <= n {
			x.fail("the number of operands is not understood")
		}
		a.Compare, a.Data = a.Data, x.data(&x.in.Args[n], x.t())
		n++
	}
	x.hint(n)
	// PTX ISA 9.7.13.6: an addition of f32 in global memory flushes subnormal numbers, one in shared memory does not.
	a.FTZ = a.Type == ir.F32 && a.Space != ir.Shared
	if first == 0 || x.in.Args[0].Kind == ptx.Sink {
		x.do(a)
		return
	}
	switch t := x.t(); {
	case t == ir.B128:
		r := x.write(&x.in.Args[0], t)
		a.Dst = []ir.Reg{r, r + 1}
		x.do(a)
	default:
		a.Dst = []ir.Reg{x.b.Temp()}
		x.do(a)
		x.extended(&x.in.Args[0], t, a.Dst[0])
	}
}

// loadReduce is multimem.ld_reduce: PTX ISA 9.7.9.13. What runs is one device: the other places of a
// multicast object are made up (ir.Builder.Replicas).
func (x *inst) loadReduce() {
	t := x.t()
	if x.mods["sem"] == "" || x.mods["sem"] == "weak" { // machines have a strong one alone, which is not less
		x.mods = withDefaults(x.mods, nil)
		x.mods["sem"], x.mods["scope"] = "relaxed", "sys"
	}
	a := x.access(ir.Load, 1)
	old := x.b.Temp()
	a.Data = []ir.Reg{old}
	x.do(a)
	x.to(x.dst(0, t), ir.Mov, t, x.b.Replicas(x.list(), a, atoms[x.mods["op"]], t, old))
}

// reduceAll is multimem.red: PTX ISA 9.7.9.13. Without a scope it is that of the system.
func (x *inst) reduceAll() {
	x.mods = withDefaults(x.mods, map[string]string{"sem": "relaxed", "scope": "sys"})
	a := x.access(ir.Atomic, 0)
	a.Atom, a.Data = atoms[x.mods["op"]], x.data(&x.in.Args[1], x.t())
	x.do(a)
}

func withDefaults(m, defaults map[string]string) map[string]string {
	out := map[string]string{}
	for k, v := range defaults {
		out[k] = v
	}
	for k, v := range m {
		out[k] = v
	}
	return out
}

// fence is fence and membar: PTX ISA 9.7.13.4.
func (x *inst) fence() {
	f := &ir.Fence{Sem: sems[x.mods["sem"]], Scope: scopes[x.mods["scope"]], Proxy: x.mods["proxy"]}
	if x.in.Name == "membar" {
		f.Sem = ir.SC
	} else if f.Sem == ir.Weak {
		f.Sem = ir.AcqRel
	}
	if x.mods["objects"] != "" { // of shared memory alone, which the CTA and the others of the cluster see alike
		f.Scope = ir.CTA
	}
	x.do(f)
}

// proxyFence is fence.proxy of the kinds that have no operands.
func (x *inst) proxyFence() {
	if x.is("sub") && x.mods["kind"] != "async" {
		x.fail("%s is not understood", x.in.Op)
	}
	x.do(&ir.Fence{Sem: ir.AcqRel, Scope: ir.Sys, Proxy: x.mods["kind"]})
}

// asyncCopy is cp.async: PTX ISA 9.7.9.25.3.
func (x *inst) asyncCopy() {
	to, from := x.place(0, ir.Shared), x.place(1, ir.Global)
	c := &ir.Copy{Kind: ir.CopyAsync, To: to.reg, ToOffset: to.offset, From: from.reg, FromOffset: from.offset,
		Bytes: int(x.number(2)), Size: ir.None,
		Ignore: ir.None}
	if c.Bytes != 16 && (c.Bytes != 4 && c.Bytes != 8 || x.mods["cop"] != "ca") {
		x.fail("a copy of %d bytes is not understood", c.Bytes)
	}
	n := 3
	if rest := len(x.in.Args) - n; rest == 2 || rest == 1 && !x.is("L2::cache_hint") {
		if o := &x.in.Args[n]; o.Kind == ptx.Reg && x.f.Regs[o.Reg].Type == "pred" {
			c.Ignore, c.IgnoreNot = x.regs[o.Reg], o.Neg
		} else {
			c.Size = x.src(n, ir.U32)
		}
		n++
	}
	x.hint(n)
	x.do(c)
}

// family is whose groups a commit or wait is of.
func (x *inst) family() ir.CopyFamily {
	switch {
	case x.in.Name == "wgmma":
		return ir.Products
	case x.is("bulk"):
		return ir.BulkCopies
	}
	return ir.Copies
}

func (x *inst) copyCommit() {
	x.do(&ir.Copy{Kind: ir.CopyCommit, Size: ir.None, Ignore: ir.None, Family: x.family()})
}
func (x *inst) copyWaitAll() { x.do(&ir.Copy{Kind: ir.CopyWaitAll, Size: ir.None, Ignore: ir.None}) }
func (x *inst) copyWait() {
	x.do(&ir.Copy{Kind: ir.CopyWait, Groups: int(x.number(0)), Size: ir.None, Ignore: ir.None, Family: x.family(), OnlyReads: x.is("read")})
}

// windowBits is the size of a window of generic addresses.
const windowBits = 32

// cvta converts addresses: PTX ISA 9.7.9.20. Variables of .const lie in global memory here, where nobody writes them.
func (x *inst) cvta() {
	t, s := x.t(), x.space()
	from := &x.in.Args[1]
	if from.Kind == ptx.Sym && (s == ir.Global || s == ir.Shared || s == ir.ConstBank) {
		x.cvtaVariable(from, t, s)
		return
	}
	r := x.read(from, t)
	if s == ir.Global || s == ir.ConstBank {
		x.to(x.dst(0, t), ir.Mov, t, r)
		return
	}
	if s == ir.Generic { // of the cluster
		s = ir.Shared
	}
	if s != ir.Shared && s != ir.Local && s != ir.Param || t != ir.U64 {
		x.fail("generic addresses of .%s are not understood", s)
	}
	code := ir.Add
	if x.is("to") {
		code = ir.Sub
	}
	x.to(x.dst(0, t), code, t, r, x.b.Window(s))
}

// cvtaVariable is the generic address of a variable.
func (x *inst) cvtaVariable(o *ptx.Operand, t ir.Type, s ir.Space) {
	v := x.variable(o)
	if v == nil || v.space != s || x.is("to") || o.Neg || t != ir.U64 {
		x.fail("the generic address of %s is not understood", o.Name)
	}
	x.form(" variable")
	x.to(x.dst(0, t), ir.Mov, t, x.b.Symbol(v.name, o.Value, true))
}

// isspacep is PTX ISA 9.7.9.19. What is in no window is global.
func (x *inst) isspacep() {
	p, r := x.dst(0, ir.Pred), x.src(1, ir.U64)
	in := func(s ir.Space) ir.Reg {
		return x.cmp(ir.LT, ir.U64, x.op(ir.Sub, ir.U64, r, x.b.Window(s)), x.imm(1<<windowBits))
	}
	switch s := x.space(); s {
	case ir.Shared, ir.Local, ir.Param:
		x.to(p, ir.Mov, ir.Pred, in(s))
	case ir.Generic: // of the cluster
		x.to(p, ir.Mov, ir.Pred, in(ir.Shared))
	case ir.Global:
		windows := x.op(ir.Or, ir.Pred, x.op(ir.Or, ir.Pred, in(ir.Shared), in(ir.Local)), in(ir.Param))
		x.to(p, ir.Xor, ir.Pred, windows, x.imm(1))
	default:
		x.fail("isspacep of .%s is not understood", s)
	}
}

// nothing is an instruction that does nothing that the program can see.
func (x *inst) nothing() {}

// policy makes a policy for caches, whose bits nobody has defined: PTX ISA 9.7.9.24.
func (x *inst) policy() {
	x.do(&ir.Special{Reg: ir.Undefined, Dst: x.dst(0, ir.U64)})
}
