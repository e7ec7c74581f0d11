package verify

import (
	"fmt"
	"slices"

	"optcheck/emu"
	"optcheck/ir"
	"optcheck/litmus"
)

// regName is the register of a test that has the value of one of the program.
func regName(r ir.Reg, t ir.Type) string {
	if t == ir.Pred {
		return fmt.Sprintf("p%d", r)
	}
	return fmt.Sprintf("r%d", r)
}

var litmusTypes = map[ir.Type]litmus.Type{ir.Pred: litmus.Pred, ir.U8: litmus.U8, ir.U16: litmus.U16, ir.U32: litmus.U32, ir.U64: litmus.U64,
	ir.S8: litmus.S8, ir.S16: litmus.S16, ir.S32: litmus.S32, ir.S64: litmus.S64}

func (w *walk) typeOf(t ir.Type) litmus.Type {
	x, ok := litmusTypes[t]
	if !ok {
		w.fail("numbers of type %s that depend on memory", t)
	}
	return x
}

// unknown makes a register one whose value the test knows. With a guard it keeps what it had otherwise.
func (w *walk) unknown(regs []known, r ir.Reg, t ir.Type, guard *litmus.Guard) string {
	name := regName(r, t)
	if guard != nil && !regs[r].sym {
		w.emit(litmus.Instr{Op: litmus.OpMov, Dst: name, Src: []litmus.Operand{litmus.Const(int64(regs[r].v))}, Type: w.typeOf(t)})
	}
	set(regs, r, known{sym: true})
	if _, ok := w.types[name]; !ok || t.Bits() > w.types[name].Bits() {
		w.types[name] = w.typeOf(t)
	}
	return name
}

func (w *walk) operand(regs []known, r ir.Reg, t ir.Type) litmus.Operand {
	if regs[r].sym {
		return litmus.Reg(regName(r, t))
	}
	v := regs[r].v
	if t.Signed() {
		sh := 64 - t.Bits()
		return litmus.Const(int64(v<<sh) >> sh)
	}
	return litmus.Const(int64(v & (^uint64(0) >> (64 - min(t.Bits(), 64)))))
}

var arithmetic = map[ir.Code]litmus.Op{ir.Add: litmus.OpAdd, ir.Sub: litmus.OpSub, ir.Mul: litmus.OpMul, ir.And: litmus.OpAnd, ir.Or: litmus.OpOr,
	ir.Xor: litmus.OpXor, ir.Shl: litmus.OpShl, ir.Shr: litmus.OpShr, ir.Mov: litmus.OpMov, ir.Not: litmus.OpNot}

var comparisons = map[ir.Cond]litmus.Cmp{ir.EQ: litmus.CmpEq, ir.NE: litmus.CmpNe, ir.LT: litmus.CmpLt, ir.LE: litmus.CmpLe, ir.GT: litmus.CmpGt,
	ir.GE: litmus.CmpGe}

// op translates an operation: it is computed if all its sources are known.
func (w *walk) op(o *ir.Op, regs []known, guard *litmus.Guard) {
	var s [4]uint64
	sym := guard != nil
	for i, r := range o.Src {
		if r >= 0 {
			s[i] = regs[r].v
			sym = sym || regs[r].sym
		}
	}
	if !sym {
		set(regs, o.Dst, known{v: ir.Eval(o, &s, 0)})
		return
	}
	in := litmus.Instr{Guard: guard, Type: w.typeOf(o.Type)}
	to := o.Type
	switch op, ok := arithmetic[o.Code]; {
	case ok && o.Mode == 0:
		in.Op = op
		if o.Type == ir.Pred && o.Code != ir.Mov {
			w.fail("conditions that are combined")
		}
	case o.Code == ir.Cmp && o.Cond <= ir.GE:
		in.Op, in.Cmp, to = litmus.OpSetp, comparisons[o.Cond], ir.Pred
	case o.Code == ir.Ext && !o.Type.Signed() && !o.To.Signed() && o.To.Bits() >= o.Type.Bits():
		in.Op, to = litmus.OpMov, o.To
		in.Type = w.typeOf(to)
	default:
		w.fail("an operation that depends on memory is not looked at")
	}
	for _, r := range o.Src {
		if r >= 0 {
			in.Src = append(in.Src, w.operand(regs, r, o.Type))
		}
	}
	compares := o.Code == ir.Cmp && o.Cond <= ir.NE && guard == nil && regs[o.Src[0]].sym && !regs[o.Src[1]].sym
	in.Dst = w.unknown(regs, o.Dst, to, guard)
	if compares {
		regs[o.Dst].compares, regs[o.Dst].differs, regs[o.Dst].v = o.Src[0]+1, o.Cond == ir.NE, s[1]
	}
	w.emit(in)
}

func (w *walk) effect(e ir.Effect, regs []known, guard *litmus.Guard) {
	switch x := e.(type) {
	case nil:
	case *ir.Special:
		if guard != nil {
			w.fail("a special register under a condition")
		}
		set(regs, x.Dst, known{v: w.special(x.Reg)})
	case *ir.Access:
		for i := range x.Elems {
			w.access(x, i, regs, guard)
		}
	case *ir.Fence:
		if x.Proxy != "" {
			w.fail("fences between proxies")
		}
		w.emit(litmus.Instr{Op: litmus.OpFence, Sem: litmusSem(x.Sem), Scope: litmus.Scope(x.Scope), Guard: guard})
	case *ir.Barrier:
		w.barrier(x, regs, guard)
	default:
		w.fail("operations of a warp and asynchronous copies")
	}
}

func litmusSem(s ir.Sem) litmus.Sem {
	return map[ir.Sem]litmus.Sem{ir.Weak: litmus.SemWeak, ir.Relaxed: litmus.SemRelaxed, ir.Acquire: litmus.SemAcquire, ir.Release: litmus.SemRelease,
		ir.AcqRel: litmus.SemAcqRel, ir.SC: litmus.SemSC}[s]
}

func (w *walk) barrier(b *ir.Barrier, regs []known, guard *litmus.Guard) {
	if b.Kind > ir.BarrierArrive || guard != nil {
		w.fail("barriers other than bar.sync and bar.arrive without a condition")
	}
	in := litmus.Instr{Op: litmus.OpBar, Barrier: litmus.Barrier{Arrive: b.Kind == ir.BarrierArrive, ID: litmus.Const(0)}}
	for i, r := range []ir.Reg{b.ID, b.Count} {
		if r < 0 {
			continue
		}
		if regs[r].sym {
			w.fail("the number of a barrier depends on memory")
		}
		if c := litmus.Const(int64(regs[r].v)); i == 0 {
			in.Barrier.ID = c
		} else {
			in.Barrier.Quorum = c
		}
	}
	w.emit(in)
}

func (w *walk) special(r ir.SpecialReg) uint64 {
	a, t := w.a, w.a.Thread
	bx, by := a.Block[0], a.Block[1]
	switch r {
	case ir.TidX, ir.TidY, ir.TidZ:
		return uint64([3]int{t % bx, t / bx % by, t / bx / by}[r-ir.TidX])
	case ir.NtidX, ir.NtidY, ir.NtidZ:
		return uint64(a.Block[r-ir.NtidX])
	case ir.CtaidX, ir.CtaidY, ir.CtaidZ:
		gx, gy := a.Grid[0], a.Grid[1]
		return uint64([3]int{a.CTA % gx, a.CTA / gx % gy, a.CTA / gx / gy}[r-ir.CtaidX])
	case ir.NctaidX, ir.NctaidY, ir.NctaidZ:
		return uint64(a.Grid[r-ir.NctaidX])
	case ir.LaneID:
		return uint64(t % emu.Lanes)
	case ir.WarpID:
		return uint64(t / emu.Lanes)
	}
	w.fail("a special register that is not looked at")
	return 0
}

var litmusAtoms = map[ir.Atom]litmus.AtomOp{ir.AtomAdd: litmus.AtomAdd, ir.AtomMin: litmus.AtomMin, ir.AtomMax: litmus.AtomMax, ir.AtomInc: litmus.AtomInc,
	ir.AtomDec: litmus.AtomDec, ir.AtomAnd: litmus.AtomAnd, ir.AtomOr: litmus.AtomOr, ir.AtomXor: litmus.AtomXor, ir.AtomExch: litmus.AtomExch,
	ir.AtomCAS: litmus.AtomCAS}

// ofBits are the read-modify-writes whose types tell a width alone.
var ofBits = []ir.Atom{ir.AtomExch, ir.AtomCAS, ir.AtomAnd, ir.AtomOr, ir.AtomXor}

// access translates an element of an access.
func (w *walk) access(a *ir.Access, i int, regs []known, guard *litmus.Guard) {
	if a.Mbarrier || a.Atom >= ir.AtomArrive {
		w.fail("barrier objects")
	}
	if a.Bytes > 8 || len(a.Fragments) > 0 {
		w.fail("accesses of 16 bytes and matrices")
	}
	addr := uint64(a.Offset) + uint64(i*a.Bytes)
	if a.Addr >= 0 {
		if regs[a.Addr].sym {
			w.fail("an address depends on memory")
		}
		addr += regs[a.Addr].v
	}
	if a.Space == ir.Param {
		if guard != nil || addr+uint64(a.Bytes) > uint64(len(w.a.Params)) {
			w.fail("a parameter under a condition")
		}
		set(regs, a.Data[i], known{v: emu.Number(w.a.Params[addr : addr+uint64(a.Bytes)])})
		return
	}
	s := spot{addr: addr}
	switch {
	case a.Space == ir.Shared:
		s.shared, s.block = true, w.a.CTA
	case a.Space == ir.Generic && addr>>32 == emu.SharedWindow>>32:
		s = spot{true, w.a.CTA, addr & 0xffffffff}
	case a.Space == ir.Generic && addr>>32 == emu.LocalWindow>>32, a.Space != ir.Global && a.Space != ir.Generic:
		w.fail("local and constant memory")
	}
	w.use(s, a)
	t := a.Type
	if t.Float() {
		t = ir.Unsigned(8 * a.Bytes)
	}
	in := litmus.Instr{Guard: guard, Addr: litmus.Addr{Loc: s.name()}, Type: w.typeOf(t), Sem: litmusSem(a.Sem), Scope: litmus.Scope(a.Scope), Space: litmus.Global}
	if s.shared {
		in.Space = litmus.Shared
	}
	switch a.Kind {
	case ir.Load:
		in.Op, in.Dst = litmus.OpLd, w.unknown(regs, a.Data[i], t, guard)
	case ir.Store:
		in.Op, in.Src = litmus.OpSt, []litmus.Operand{w.operand(regs, a.Data[i], t)}
	default:
		in.Op, in.Atom = litmus.OpRed, litmusAtoms[a.Atom]
		if bits, ok := map[int]litmus.Type{2: litmus.B16, 4: litmus.B32, 8: litmus.B64}[a.Bytes]; ok && slices.Contains(ofBits, a.Atom) {
			in.Type = bits
		}
		if in.Atom == litmus.AtomNone || a.Elems > 1 || a.Type.Float() {
			w.fail("this read-modify-write")
		}
		if a.Atom == ir.AtomCAS {
			in.Src = append(in.Src, w.operand(regs, a.Compare[0], t))
		}
		in.Src = append(in.Src, w.operand(regs, a.Data[0], t))
		if len(a.Dst) > 0 {
			in.Op, in.Dst = litmus.OpAtom, w.unknown(regs, a.Dst[0], t, guard)
		}
	}
	w.emit(in)
}

func (w *walk) use(s spot, a *ir.Access) {
	if n, ok := w.sizes[s]; ok && n != a.Bytes {
		w.fail("accesses of different sizes of %s", s.name())
	}
	w.sizes[s] = a.Bytes
	if w.users[s] == nil {
		w.users[s] = map[int]bool{}
	}
	w.users[s][w.n] = true
	if a.Kind != ir.Store {
		w.reads[s] = true
	}
}
