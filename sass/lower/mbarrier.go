package lower

import (
	"strings"

	"optcheck/ir"
	"optcheck/isa"
)

// object takes the address of a barrier object: in the block's own shared memory, or in that of the cluster.
func (s *step) object(kind ir.AccessKind, remote bool) *ir.Access {
	a := s.access(kind, ir.Shared, 8)
	a.Mbarrier, a.Sem, a.Scope = true, ir.Relaxed, ir.CTA
	s.memory(a)
	if remote {
		at := s.op(ir.Add, ir.U32, a.Addr, s.k(uint64(uint32(a.Offset))))
		a.Space, a.AddrBits, a.Addr, a.Offset = ir.Generic, 64, s.op(ir.Add, ir.U64, at, s.u.b.Window(ir.Shared)), 0
	}
	return a
}

// syncs: operations on barrier objects (ptxas makes them of mbarrier, see ptx/lower).
func syncs(s *step) {
	switch s.oneOf("EXCH ARRIVE PHASECHK CCTL") {
	case "EXCH":
		exchange(s)
	case "ARRIVE":
		arrive(s)
	case "PHASECHK":
		phaseCheck(s)
	case "CCTL":
		if !s.mod("IV") {
			s.fail("SYNCS.CCTL that is not .IV")
		}
		s.object(ir.Load, false)
	default:
		s.fail("SYNCS of unknown kind")
	}
}

// exchange: SYNCS.EXCH.64 URZ, [address], v: a new object. Nobody takes what was there.
func exchange(s *step) {
	if !s.mod("64") {
		s.fail("SYNCS.EXCH of unknown size")
	}
	if d := s.dst(); !zeroReg(&d) {
		s.fail("result %s of SYNCS.EXCH", d.Text)
	}
	a := s.object(ir.Store, false)
	a.Sem, a.Scope = ir.Weak, ir.NoScope
	a.Data = s.data(8)
	s.do(a)
}

// arrive: SYNCS.ARRIVE.TRANS64[.RED][.OPTOUT][.AxTy] d, [address], v: arrives x times and changes the bytes of transactions by y, where 1 is
// one, R is v, X is -v, and 0 is nothing; without .AxTy once, with v bytes more. With .RED the object may be another block's.
func arrive(s *step) {
	if !s.mod("TRANS64") {
		s.fail("SYNCS.ARRIVE of unknown size")
	}
	remote := s.mod("RED")
	atom := ir.AtomArrive
	if s.mod("OPTOUT") {
		atom = ir.AtomDrop
	}
	how := s.oneOf("A1T0 ART0 A0T1 A0TR A0TX")
	d := s.dst()
	a := s.object(ir.Atomic, remote)
	a.Atom = atom
	v := s.plain()
	bytes := func(n ir.Reg) ir.Reg { return s.op(ir.Shl, ir.U64, n, s.k(32)) }
	switch how {
	case "A1T0":
		v = s.k(1)
	case "ART0":
	case "A0T1":
		v = s.k(1 << 32)
	case "A0TR":
		v = bytes(v)
	case "A0TX":
		v = bytes(s.op(ir.Sub, ir.U32, s.k(0), v))
	default:
		v = s.op(ir.Or, ir.U64, bytes(v), s.k(1))
	}
	a.Data = []ir.Reg{v}
	if !zeroReg(&d) {
		a.Dst = s.temps(8)
	}
	s.do(a)
	if a.Dst != nil {
		s.loaded(d, a.Dst, 8, false)
	}
}

// phaseCheck: SYNCS.PHASECHK.TRANS64[.TRYWAIT] p, [address], v: whether the parity of the object's phase is not the top bit of v.
func phaseCheck(s *step) {
	if !s.mod("TRANS64") {
		s.fail("SYNCS.PHASECHK of unknown size")
	}
	s.mod("TRYWAIT")
	p := s.predDst()
	a := s.object(ir.Load, false)
	a.Bytes, a.Type, a.Offset = 4, ir.U32, a.Offset+4
	v := s.plain()
	now := s.u.b.Temp()
	a.Data = []ir.Reg{now}
	s.do(a)
	s.setPred(p, s.op(ir.Shr, ir.U32, s.op(ir.Xor, ir.U32, now, v), s.k(31)))
}

// arrives: ARRIVES.LDGSTSBAR.64[.ARVCNT|.TRANSCNT] [address]: arrives, or reports one byte, behind the thread's copies.
func arrives(s *step) {
	if !s.mod("LDGSTSBAR") || !s.mod("64") {
		s.fail("ARRIVES of unknown kind")
	}
	how := s.oneOf("ARVCNT TRANSCNT")
	a := s.object(ir.Atomic, false)
	a.Atom, a.Data, a.Behind = ir.AtomArrive, []ir.Reg{s.k(1)}, true
	if how == "TRANSCNT" {
		a.Data = []ir.Reg{s.k(1<<64 - 1<<32)}
	}
	s.do(a)
}

// bulk: UBLKCP.to.from [to], [from], size, where S is shared memory and G is global. The register behind that of a place in shared memory
// that is written has the address of the barrier object; the low half of the size counts 16 bytes. UBLKRED.to.from.op combines elements.
func bulk(s *step) {
	c := &ir.Copy{Kind: ir.CopyBulk, Mbarrier: ir.None, Ignore: ir.None}
	kinds := strings.Join(s.in.Mods[:min(2, len(s.in.Mods))], ".")
	if kinds != "S.G" && kinds != "G.S" && kinds != "S.S" || s.in.Op == "UBLKRED" && kinds == "S.G" {
		s.fail("%s.%s", s.in.Op, kinds)
		return
	}
	s.mods = s.mods[2:]
	if s.in.Op == "UBLKRED" {
		op := s.oneOf("ADD MIN MAX INC DEC AND OR XOR")
		c.Atom = atoms[op]
		if t := s.oneOf("F16 BF16 F32 F64"); t != "" {
			c.Type = reduced[t]
			if !s.mod("RN") {
				s.fail("UBLKRED of unknown rounding")
			}
		} else {
			c.Type = integers[s.oneOf("S32 U64 S64")]
		}
		if op == "" {
			s.fail("UBLKRED of unknown operation")
		}
	}
	address := func(kind byte, written bool) (ir.Space, ir.Reg) {
		o := s.next()
		terms, ok := addressTerms(o.Text)
		if o.Kind != isa.OpdMem || !ok || len(terms) != 1 || terms[0].class != isa.ClassUGPR || terms[0].zero || terms[0].part != "" ||
			(written || kind == 'G') && terms[0].num%2 != 0 {
			s.fail("address %s of %s", o.Text, s.in.Op)
			return ir.Generic, s.k(0)
		}
		low := s.termReg(terms[0], 0)
		if !written && kind == 'S' {
			return ir.Shared, low
		}
		high := s.termReg(terms[0], 1)
		if kind == 'G' {
			return ir.Global, s.op(ir.Join, ir.U64, low, high)
		}
		c.Mbarrier = s.op(ir.Add, ir.U64, high, s.u.b.Window(ir.Shared))
		return ir.Generic, s.op(ir.Add, ir.U64, low, s.u.b.Window(ir.Shared))
	}
	c.ToSpace, c.To = address(kinds[0], true)
	c.FromSpace, c.From = address(kinds[2], false)
	c.Size = s.op(ir.Shl, ir.U32, s.plain(), s.k(4))
	if o := s.peek(); o != nil && strings.HasPrefix(o.Text, "desc[") { // a policy for caches
		s.next()
	}
	s.do(c)
}

// reduced are the floating-point types of the elements of UBLKRED.
var reduced = map[string]ir.Type{"F16": ir.F16, "BF16": ir.BF16, "F32": ir.F32, "F64": ir.F64}

// storeAsync: STAS, REDAS [to], v. The register behind that of the place has the barrier object's.
func storeAsync(s *step) {
	c := &ir.Copy{Kind: ir.CopyStore, ToSpace: ir.Generic, From: ir.None, Size: ir.None, Ignore: ir.None, Elems: 1, Type: ir.U32}
	if s.in.Op == "REDAS" {
		op := s.oneOf("ADD MIN MAX INC DEC AND OR XOR")
		if c.Kind, c.Atom = ir.CopyReduce, atoms[op]; op == "" {
			s.fail("REDAS of unknown operation")
		}
		c.Type = integers[s.oneOf("S32 64")]
		c.Bytes = c.Type.Bits() / 8
	} else {
		c.Bytes, _ = s.width()
	}
	o := s.next()
	terms, ok := addressTerms(o.Text)
	if o.Kind != isa.OpdMem || !ok || len(terms) == 0 || terms[0].class != isa.ClassGPR || terms[0].zero || terms[0].part != "64" || terms[0].num%2 != 0 ||
		len(terms) > 1 {
		s.fail("address %s of %s", o.Text, s.in.Op)
		return
	}
	low, high := s.termReg(terms[0], 0), s.termReg(terms[0], 1)
	c.To = s.op(ir.Add, ir.U64, low, s.u.b.Window(ir.Shared))
	c.Mbarrier = s.op(ir.Add, ir.U64, high, s.u.b.Window(ir.Shared))
	c.Data = s.data(c.Bytes)
	s.do(c)
}

// clusterBarrier: UCGABAR_ARV and UCGABAR_WAIT.
func clusterBarrier(kind ir.BarrierKind) func(*step) {
	return func(s *step) {
		s.do(&ir.Barrier{Kind: kind, ID: ir.None, Count: ir.None, Src: ir.None, Dst: ir.None, Sem: ir.Relaxed})
	}
}
