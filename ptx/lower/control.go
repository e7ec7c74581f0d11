package lower

import (
	"optcheck/ir"
	"optcheck/ptx"
)

// target is the instruction of a label.
func (x *inst) target(name string) int32 {
	at, ok := x.labels[name]
	if !ok {
		x.fail("there is no label %s", name)
	}
	return at
}

// bra is PTX ISA 9.7.12.3.
func (x *inst) bra() {
	f := flow(ir.Jump)
	f.Target = x.target(x.in.Args[0].Name)
	x.do(f)
}

// brx is brx.idx: PTX ISA 9.7.12.4.
func (x *inst) brx() {
	f := flow(ir.Indirect)
	f.Addr = x.src(0, ir.U32)
	f.Targets = x.table(x.in.Args[1].Name)
	x.do(f)
}

// table are the targets of a table.
func (x *inst) table(name string) []int32 {
	list, ok := x.tables[name]
	if !ok {
		x.fail("there is no table %s", name)
	}
	if x.targets[name] == nil {
		out := make([]int32, len(list))
		for i, label := range list {
			out[i] = x.target(label)
		}
		x.targets[name] = out
	}
	return x.targets[name]
}

func (x *inst) exit() { x.do(flow(ir.Exit)) }
func (x *inst) trap() { x.do(flow(ir.Trap)) }

// call is PTX ISA 9.7.12.5. What is called through a register is one of the functions of the program.
func (x *inst) call() {
	list := x.in.Args
	var returns, args []ptx.Operand
	if list[0].Kind == ptx.List {
		returns, list = list[0].Elems, list[1:]
	}
	if len(list) == 0 {
		x.fail("a call of nothing")
	}
	callee := list[0]
	if list = list[1:]; len(list) > 0 && list[0].Kind == ptx.List {
		args, list = list[0].Elems, list[1:]
	}
	f := flow(ir.Call)
	var formals, results []ptx.Var
	if callee.Kind == ptx.Sym {
		to := x.byName[callee.Name]
		if sys := ir.SystemOf(callee.Name); to == nil && sys != ir.NoSystem {
			x.system(sys, returns)
			return
		}
		if to == nil || len(list) > 0 {
			x.fail("%s is not a function of the module", callee.Name)
		}
		if formals, results = to.f.Params, to.f.Returns; len(formals) != len(args) || len(results) != len(returns) {
			x.fail("the number of arguments is not that of %s", callee.Name)
		}
		f.Target = to.entry
	} else {
		f.Kind, f.Addr = ir.CallAt, x.read(&callee, ir.U64)
		if len(list) != 1 {
			x.fail("a call through a register without a table or prototype is not understood")
		}
		x.form(" indirect")
		f.Signature = signature(x.argumentSizes(returns), x.argumentSizes(args))
	}
	var from, to []ir.Reg
	if max(len(args), len(returns)) > maxArgs {
		x.fail("so many arguments are not understood")
	}
	for i := range args {
		from = append(from, x.argument(&args[i], formals, i)...)
	}
	for i := range returns {
		to = append(to, x.argument(&returns[i], results, i)...)
	}
	if max(len(from), len(to)) > maxWords {
		x.fail("so many arguments are not understood")
	}
	x.copy(nil, from)
	x.do(f)
	x.copy(to, nil)
}

// system calls a function of the CUDA system.
func (x *inst) system(sys ir.System, returns []ptx.Operand) {
	x.form(" system")
	if sys == ir.EndsThread {
		x.exit()
		return
	}
	x.out.System = true
	for i := range returns {
		for _, r := range x.argument(&returns[i], nil, 0) {
			x.to(r, ir.Mov, ir.U64, x.imm(0))
		}
	}
}

// argument are the registers of an argument or result of a call. Those of the function, where they are known, have its size.
func (x *inst) argument(o *ptx.Operand, formals []ptx.Var, i int) []ir.Reg {
	known, bits := i < len(formals), 0
	var t ir.Type
	if known {
		if t, known = types[formals[i].Type]; formals[i].Space == "reg" {
			bits = t.Bits()
		} else {
			bits = int(8 * formals[i].Size)
		}
	}
	size := func(n int) {
		if len(formals) > 0 && n != bits {
			x.fail("an argument of %d bits for a parameter of %d is not understood", n, bits)
		}
	}
	switch p := x.param(o); {
	case p != nil:
		size(int(8 * p.size))
		return p.words
	case o.Kind == ptx.Reg && !o.Neg && o.Name == "":
		if size(x.width(o.Reg)); x.width(o.Reg) == 128 {
			return []ir.Reg{x.regs[o.Reg], x.regs[o.Reg] + 1}
		}
		return []ir.Reg{x.regs[o.Reg]}
	case o.Kind == ptx.Imm && known:
		size(t.Bits())
		return []ir.Reg{x.constant(o, t)}
	}
	x.fail("an argument of this kind is not understood")
	return nil
}

// bar is bar and barrier of the CTA: PTX ISA 9.7.13.1.
func (x *inst) bar() {
	f := &ir.Barrier{ID: ir.None, Count: ir.None, Src: ir.None, Dst: ir.None}
	x.barrier(f, x.in.Args)
	x.do(f)
}

// barrier fills in the number of the barrier and of its threads.
func (x *inst) barrier(f *ir.Barrier, list []ptx.Operand) {
	f.ID, f.Aligned = x.read(&list[0], ir.U32), x.in.Name == "bar" || x.is("aligned")
	if len(list) > 1 {
		f.Count = x.read(&list[1], ir.U32)
	}
}

func (x *inst) barArrive() {
	f := &ir.Barrier{Kind: ir.BarrierArrive, ID: ir.None, Count: ir.None, Src: ir.None, Dst: ir.None}
	x.barrier(f, x.in.Args)
	x.do(f)
}

// barRed is bar.red.
func (x *inst) barRed() {
	n := len(x.in.Args)
	f := &ir.Barrier{Kind: ir.BarrierRed, ID: ir.None, Count: ir.None, Red: x.mods["op"]}
	x.barrier(f, x.in.Args[1:n-1])
	f.Dst, f.Src = x.dst(0, x.t()), x.src(n-1, ir.Pred)
	x.do(f)
}

// warpSync is bar.warp.sync: PTX ISA 9.7.13.2.
func (x *inst) warpSync() {
	x.do(&ir.Barrier{Kind: ir.BarrierWarp, ID: ir.None, Count: x.src(0, ir.U32), Src: ir.None, Dst: ir.None})
}

// clusterBarrier is barrier.cluster: PTX ISA 9.7.13.3.
func (x *inst) clusterBarrier() {
	f := &ir.Barrier{Kind: ir.BarrierClusterWait, ID: ir.None, Count: ir.None, Src: ir.None, Dst: ir.None, Sem: ir.Acquire}
	if x.is("arrive") {
		f.Kind, f.Sem = ir.BarrierClusterArrive, ir.Release
		if x.is("relaxed") {
			f.Sem = ir.Relaxed
		}
	}
	x.do(f)
}

// newWarp is an operation of a warp without operands.
func newWarp(k ir.WarpKind) *ir.Warp {
	return &ir.Warp{Kind: k, Mask: ir.None, Src: ir.None, Lane: ir.None, Clamp: ir.None, Dst: ir.None, Pred: ir.None, Type: ir.U32}
}

// mask is the last operand of an operation with .sync; without, the active lanes take part.
func (x *inst) mask(n int) ir.Reg {
	if (len(x.in.Args) == n+1) != x.is("sync") {
		x.fail("the number of operands is not understood")
	}
	if !x.is("sync") {
		return ir.None
	}
	return x.src(n, ir.U32)
}

// into gives the results of an operation of a warp registers of the instruction, and the destinations their values: the
// lanes of the warp read each other's sources.
func (x *inst) into(w *ir.Warp, d, p ir.Reg, t ir.Type) {
	x.do(w)
	if d != ir.None {
		w.Dst = x.b.Temp()
		x.to(d, ir.Mov, t, w.Dst)
	}
	if p != ir.None {
		w.Pred = x.b.Temp()
		x.to(p, ir.Mov, ir.Pred, w.Pred)
	}
}

var shuffles = map[string]ir.WarpKind{"idx": ir.ShflIdx, "up": ir.ShflUp, "down": ir.ShflDown, "bfly": ir.ShflBfly}

// shfl is PTX ISA 9.7.9.6, 9.7.9.7.
func (x *inst) shfl() {
	w := newWarp(shuffles[x.mods["mode"]])
	d, p := x.pair(0, ir.U32, ir.Pred)
	w.Src, w.Lane, w.Clamp, w.Mask = x.src(1, ir.U32), x.src(2, ir.U32), x.src(3, ir.U32), x.mask(4)
	x.into(w, d, p, ir.U32)
}

var votes = map[string]ir.WarpKind{"all": ir.VoteAll, "any": ir.VoteAny, "uni": ir.VoteUni, "ballot": ir.VoteBallot}

// vote is PTX ISA 9.7.13.9.
func (x *inst) vote() {
	w := newWarp(votes[x.mods["mode"]])
	w.Src, w.Mask = x.src(1, ir.Pred), x.mask(2)
	if w.Kind == ir.VoteBallot {
		x.into(w, x.dst(0, ir.U32), ir.None, ir.U32)
		return
	}
	x.into(w, ir.None, x.dst(0, ir.Pred), ir.U32)
}

// match is PTX ISA 9.7.13.10.
func (x *inst) match() {
	k := ir.MatchAny
	if x.mods["mode"] == "all" {
		k = ir.MatchAll
	}
	w := newWarp(k)
	d, p := x.pair(0, ir.U32, ir.Pred)
	if p != ir.None && k == ir.MatchAny {
		x.fail("match.any with a predicate is not understood")
	}
	w.Type = x.t()
	w.Src, w.Mask = x.src(1, w.Type), x.mask(2)
	x.into(w, d, p, ir.U32)
}

var reductions = map[string]ir.WarpKind{"add": ir.ReduxAdd, "min": ir.ReduxMin, "max": ir.ReduxMax,
	"and": ir.ReduxAnd, "or": ir.ReduxOr, "xor": ir.ReduxXor}

// redux is PTX ISA 9.7.13.12.
func (x *inst) redux() {
	w := newWarp(reductions[x.mods["op"]])
	w.Type = x.t()
	w.Src, w.Mask = x.src(1, w.Type), x.mask(2)
	x.into(w, x.dst(0, w.Type), ir.None, ir.U32)
}

// activemask is PTX ISA 9.7.13.11.
func (x *inst) activemask() { x.into(newWarp(ir.ActiveMask), x.dst(0, ir.U32), ir.None, ir.U32) }

// elect is PTX ISA 9.7.13.15.
func (x *inst) elect() {
	w := newWarp(ir.Elect)
	d, p := x.pair(0, ir.U32, ir.Pred)
	w.Mask = x.mask(1)
	x.into(w, d, p, ir.U32)
}
