package lower

import (
	"strings"

	"optcheck/ir"
	"optcheck/isa"
)

// here is the address of the instruction.
func (s *step) here() place { return place{s.fn, s.in.Addr} }

// label takes the target of a jump.
func (s *step) label() int32 {
	o := s.next()
	fn := &s.u.funcs[s.fn]
	if o.Kind == isa.OpdLabel && s.in.Target >= 0 {
		return fn.first + int32(s.in.Target)
	}
	if at, ok := s.base(&o); ok {
		if i, ok := s.u.b.P.Code[at.address()]; ok {
			return i
		}
		if f := &s.u.funcs[at.fn]; at.addr == 0 && len(f.Insts) > 0 {
			return f.first
		}
	}
	s.fail("target %s of %s", o.Text, s.in.Op)
	return 0
}

// base is the place that a label names: a function.
func (s *step) base(o *isa.Operand) (place, bool) {
	at, ok := s.u.names[o.Sym]
	return at, ok && o.Kind == isa.OpdLabel && !strings.ContainsAny(o.Sym, " +")
}

// flow is a transfer of control without registers.
func flow(kind ir.FlowKind) *ir.Flow {
	return &ir.Flow{Kind: kind, Cond: ir.None, Addr: ir.None, Bar: ir.None, Mask: ir.None}
}

// bra: BRA[.U] [p,] L; BRA.U.ANY L with a guard; BRA.DIV|CONV [mask,] L.
func bra(s *step) {
	f := flow(ir.Jump)
	u := s.mod("U")
	switch {
	case s.mod("DIV"):
		f.Kind, f.Mask = ir.JumpApart, s.whose()
	case s.mod("CONV"):
		f.Kind, f.Mask = ir.JumpTogether, s.whose()
	case s.mod("ANY") && u && s.out.Guard != ir.None && !s.isPred():
		f.Kind, f.Cond, f.Not = ir.JumpAny, s.out.Guard, s.out.Not
		s.out.Guard, s.out.Not = ir.None, false
	case s.isPred():
		f.Cond, f.Not = s.predIn()
	}
	f.Target = s.label()
	s.do(f)
}

// whose is the mask of lanes of a question whether they are apart: before sm_80 there is none, and it is about the warp.
func (s *step) whose() ir.Reg {
	if o := s.peek(); o != nil && o.Kind == isa.OpdLabel {
		return ir.None
	}
	return s.word()
}

// indirect jumps to a place plus a 64-bit number.
func (s *step) indirect(base uint64, w ir.Reg) {
	f := flow(ir.Indirect)
	f.Addr = w
	if base != 0 {
		f.Addr = s.op(ir.Add, ir.U64, w, s.k(base))
	}
	s.do(f)
}

// brx: BRX[U] r off: to the next instruction plus off plus r.
func brx(s *step) {
	if s.isPred() {
		s.fail("BRX with a predicate")
	}
	w := s.codeOffset()
	o := s.next()
	if o.Kind != isa.OpdImm {
		s.fail("operand %s of %s", o.Text, s.in.Op)
	}
	s.indirect(s.here().address()+16+uint64(o.Imm), w)
}

// codeOffset takes a pair of registers with an address or offset of code.
func (s *step) codeOffset() ir.Reg {
	o := s.next()
	s.bare(&o, false, false, false)
	if !isReg(&o) {
		s.fail("operand %s of %s", o.Text, s.in.Op)
		return s.k(0)
	}
	return s.raw64(&o)
}

// call: CALL.REL|ABS.NOINC L, or by a register: r `(base), r imm. The code called returns by the address in a register.
func call(s *step) {
	rel, abs := s.mod("REL"), s.mod("ABS")
	if !s.mod("NOINC") || rel == abs {
		s.fail("CALL of unknown kind")
		return
	}
	if o := s.peek(); o != nil && o.Kind == isa.OpdLabel {
		f := flow(ir.Jump)
		_, f.Calls = s.base(o) // the others are jumps to a label
		f.Target = s.label()
		s.do(f)
		return
	}
	s.toRegister(abs)
}

// ret: RET.REL|ABS.NODEC r `(base).
func ret(s *step) {
	rel, abs := s.mod("REL"), s.mod("ABS")
	if !s.mod("NODEC") || rel == abs {
		s.fail("RET of unknown kind")
		return
	}
	s.toRegister(abs)
	if f, ok := s.out.Do.(*ir.Flow); ok {
		f.Returns = true
	}
}

// toRegister jumps to a register plus a label (of relative kinds) or number (of absolute ones).
func (s *step) toRegister(abs bool) {
	w := s.codeOffset()
	if abs && s.peek() == nil {
		s.indirect(0, w)
		return
	}
	o := s.next()
	at, ok := s.base(&o)
	switch {
	case ok && !abs:
		s.indirect(at.address(), w)
	case abs && o.Kind == isa.OpdImm:
		s.indirect(uint64(o.Imm), w)
	default:
		s.fail("operand %s of %s", o.Text, s.in.Op)
	}
}

// lepc: LEPC d [L]: the instruction's own address, or that of the label. ptxas subtracts the former from an address of the
// function that it knows, so that the call's place alone matters.
func lepc(s *step) {
	d, at := s.dst(), s.here()
	if o := s.peek(); o != nil {
		if t := int(s.in.Target); o.Kind == isa.OpdLabel && t >= 0 {
			at.addr = s.u.funcs[s.fn].Insts[t].Addr
			s.next()
		}
	}
	s.result64(d, s.k(at.address()))
}

// simple is a transfer of control without operands.
func simple(kind ir.FlowKind) func(*step) {
	return func(s *step) { s.do(flow(kind)) }
}

// exit: EXIT [p].
func exit(s *step) {
	f := flow(ir.Exit)
	if s.isPred() {
		f.Cond, f.Not = s.predIn()
	}
	s.do(f)
}

// bpt: BPT.TRAP n.
func bpt(s *step) {
	if !s.mod("TRAP") {
		s.fail("BPT without .TRAP")
	}
	s.imm(256)
	s.do(flow(ir.Trap))
}

// barrier takes a convergence barrier.
func (s *step) barrier() ir.Reg {
	o := s.next()
	s.bare(&o, false, false, false)
	if !isBarrier(&o) {
		s.fail("operand %s of %s", o.Text, s.in.Op)
		return s.k(0)
	}
	return s.u.reg(o.Reg)
}

// bssy: BSSY b, L.
func bssy(s *step) {
	s.drop("RELIABLE RECONVERGENT")
	f := flow(ir.BarrierSet)
	f.Bar, f.Target = s.barrier(), s.label()
	s.do(f)
}

// bsync: BSYNC b and BREAK [p,] b.
func bsync(kind ir.FlowKind) func(*step) {
	return func(s *step) {
		s.drop("RELIABLE RECONVERGENT")
		f := flow(kind)
		if s.isPred() {
			f.Cond, f.Not = s.predIn()
		}
		f.Bar = s.barrier()
		s.do(f)
	}
}

// bmov: BMOV.32[.CLEAR] d, s: convergence barriers are saved in registers, or in other barriers. CLEAR empties the one that is read.
func bmov(s *step) {
	if !s.mod("32") {
		s.fail("BMOV of unknown kind")
		return
	}
	clear := s.mod("CLEAR")
	if o := s.peek(); isReg(o) {
		d := s.dst()
		b := s.barrier()
		s.result(d, b)
		if clear {
			s.sets = append(s.sets, set{b, s.k(0)})
		}
		return
	}
	b := s.barrier()
	if !isBarrier(s.peek()) {
		s.sets = append(s.sets, set{b, s.plain()})
		if clear {
			s.fail("BMOV.CLEAR of a register")
		}
		return
	}
	from := s.barrier()
	s.sets = append(s.sets, set{b, from})
	if clear && from != b {
		s.sets = append(s.sets, set{from, s.k(0)})
	}
}

// warpsync: WARPSYNC mask; .ALL; .EXCLUSIVE mask; .COLLECTIVE mask, L, where L is behind the ENDCOLLECTIVE.
func warpsync(s *step) {
	f := flow(ir.WarpSync)
	all, collective := s.mod("ALL"), s.mod("COLLECTIVE")
	s.mod("EXCLUSIVE")
	if all {
		f.Mask = s.k(1<<32 - 1)
	} else {
		f.Mask = s.plain()
	}
	if collective {
		f.Kind, f.Target = ir.WarpCollective, s.label()
	}
	s.do(f)
}

// nothing has no effect on values.
func nothing(mods string) func(*step) {
	return func(s *step) { s.drop(mods) }
}

// ignore has no effect on values, whatever its operands are.
func ignore(mods string) func(*step) {
	return func(s *step) { s.drop(mods); s.args = nil }
}

func isBarrier(o *isa.Operand) bool {
	return o != nil && o.Kind == isa.OpdReg && o.Reg.Class == isa.ClassBarrier
}
