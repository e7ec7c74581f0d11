package lower

import (
	"strings"

	"optcheck/ir"
	"optcheck/isa"
)

// access is an access of one element.
func (s *step) access(kind ir.AccessKind, space ir.Space, bytes int) *ir.Access {
	a := &ir.Access{Kind: kind, Space: space, Bytes: bytes, Elems: 1, Done: ir.None}
	a.Type = ir.B128
	if bytes <= 8 {
		a.Type = ir.Unsigned(8 * bytes)
	}
	return a
}

// hints are modifiers that concern caches and prefetching only.
const hints = "EF EL LU LTC64B LTC128B LTC256B NA"

// strength takes the strength and scope of an access.
func (s *step) strength(a *ir.Access) {
	s.drop(hints)
	strong, mmio := s.mod("STRONG"), s.mod("MMIO")
	scope := s.oneOf("CTA SM GPU SYS")
	switch {
	case s.mod("CONSTANT"):
		a.Constant = true
		strong = strong && s.why == ""
	case s.mod("WEAK"):
	}
	if !strong && !mmio {
		if scope != "" && scope != "SYS" { // the plain accesses of sm_70 say .SYS
			s.fail("modifier .%s of a weak %s", scope, s.in.Op)
		}
		return
	}
	a.Sem, a.Volatile = ir.Relaxed, mmio
	a.Scope = map[string]ir.Scope{"CTA": ir.CTA, "SM": ir.CTA, "GPU": ir.GPU, "SYS": ir.Sys}[scope]
	if a.Scope == ir.NoScope {
		s.fail("a strong %s without scope", s.in.Op)
	}
}

// width takes the size of an access in bytes, and whether it extends by the sign.
func (s *step) width() (bytes int, signed bool) {
	switch s.oneOf("U8 S8 U16 S16 32 64 128") {
	case "U8":
		return 1, false
	case "S8":
		return 1, true
	case "U16":
		return 2, false
	case "S16":
		return 2, true
	case "64":
		return 8, false
	case "128":
		return 16, false
	}
	return 4, false
}

// wide fails if addresses of the space have not the size that .E says.
func (s *step) wide(space ir.Space) {
	if e := s.mod("E"); e != (space == ir.Global || space == ir.Generic) {
		s.fail("%s with addresses of unknown size", s.in.Op)
	}
}

// load: LDG, LD, LDS, LDL d, [address].
func load(space ir.Space) func(*step) {
	return func(s *step) {
		s.wide(space)
		bytes, signed := s.width()
		if space == ir.Shared || space == ir.Global {
			s.drop("U") // LDS.U, LDG.E.U: unaligned bases are allowed
		}
		a := s.access(ir.Load, space, bytes)
		s.strength(a)
		d := s.dst()
		s.memory(a)
		s.allLanes()
		a.Data = s.temps(bytes)
		s.do(a)
		s.loaded(d, a.Data, bytes, signed)
	}
}

// loadReduce: LDGMC d, [address]: combines what the places of a multicast object hold; see ir.Builder.Replicas.
func loadReduce(s *step) {
	s.wide(ir.Global)
	op := s.oneOf("ADD MIN MAX AND OR XOR")
	t := integers[s.oneOf("32 U32 S32 64 U64 S64")]
	if op == "" {
		s.fail("LDGMC of unknown operation")
	}
	a := s.access(ir.Load, ir.Global, t.Bits()/8)
	s.strength(a)
	d := s.dst()
	s.memory(a)
	s.allLanes()
	old := s.u.b.Temp()
	a.Data = []ir.Reg{old}
	s.do(a)
	all := s.u.b.Replicas(s.list, a, atoms[op], t, old)
	if a.Bytes == 8 {
		s.result64(d, all)
		return
	}
	s.result(d, all)
}

// memory takes an address.
func (s *step) memory(a *ir.Access) {
	o := s.next()
	if o.Kind != isa.OpdMem {
		s.fail("address %s of %s", o.Text, s.in.Op)
		return
	}
	if i := strings.IndexByte(o.Text, '['); i > 0 && o.Text[:i] != "desc" {
		s.fail("address %s of %s", o.Text, s.in.Op)
	}
	s.address(a, &o)
}

// allLanes takes a predicate operand that says nothing.
func (s *step) allLanes() {
	if s.isPred() {
		if p, not := s.predIn(); !s.is(p, 1) || not {
			s.fail("%s with a predicate", s.in.Op)
		}
	}
}

// temps are registers for so many bytes: of 64 bits, if they are more than 4.
func (s *step) temps(bytes int) []ir.Reg {
	var out []ir.Reg
	for range max(1, bytes/8) {
		out = append(out, s.u.b.Temp())
	}
	return out
}

// loaded sets the registers of a load.
func (s *step) loaded(d isa.Operand, data []ir.Reg, bytes int, signed bool) {
	switch {
	case bytes > 4:
		s.block(&d, bytes/4)
		for i, v := range data {
			s.half(d, 2*i, v)
		}
	case signed:
		t := ir.Signed(8 * bytes)
		s.result(d, s.opTo(ir.Ext, t, func(o *ir.Op) { o.To = ir.U32 }, data[0]))
	default:
		if r := s.reg(&d, 0); r != ir.None {
			data[0] = r
		}
	}
}

// half sets words n and n+1 of a block of registers.
func (s *step) half(d isa.Operand, n int, v ir.Reg) {
	if lo := s.reg(&d, n); lo != ir.None {
		s.sets = append(s.sets, set{lo, s.op(ir.Mov, ir.U32, v)})
	}
	if hi := s.reg(&d, n+1); hi != ir.None {
		s.sets = append(s.sets, set{hi, s.op(ir.HighWord, ir.U64, v)})
	}
}

// block fails if a register cannot begin a block of so many words.
func (s *step) block(o *isa.Operand, words int) {
	if !zeroReg(o) && int(o.Reg.Num)%words != 0 {
		s.fail("unaligned registers %s of %s", o.Text, s.in.Op)
	}
}

// data takes the registers of a stored value.
func (s *step) data(bytes int) []ir.Reg {
	o := s.next()
	s.bare(&o, false, false, false)
	if !isReg(&o) {
		s.fail("operand %s of %s", o.Text, s.in.Op)
		return nil
	}
	if bytes <= 4 {
		return []ir.Reg{s.orZero(s.reg(&o, 0))}
	}
	s.block(&o, bytes/4)
	var out []ir.Reg
	for i := 0; i < bytes/4; i += 2 {
		if zeroReg(&o) {
			out = append(out, s.k(0))
			continue
		}
		out = append(out, s.op(ir.Join, ir.U64, s.orZero(s.reg(&o, i)), s.orZero(s.reg(&o, i+1))))
	}
	return out
}

// store: STG, ST, STS, STL [address], v.
func store(space ir.Space) func(*step) {
	return func(s *step) {
		s.wide(space)
		bytes, _ := s.width()
		a := s.access(ir.Store, space, bytes)
		s.strength(a)
		s.memory(a)
		a.Data = s.data(bytes)
		s.allLanes()
		s.do(a)
	}
}

// ldc: LDC[.64|.U8 …] d, c[bank][address].
func ldc(s *step) {
	bytes, signed := s.width()
	d := s.dst()
	o := s.next()
	if o.Kind != isa.OpdConst || o.Neg || o.Not || o.Abs {
		s.fail("operand %s of %s", o.Text, s.in.Op)
		return
	}
	if bytes == 16 {
		s.fail("LDC.128")
		return
	}
	v := s.bank(&o, bytes)
	switch {
	case bytes == 8:
		s.block(&d, 2)
		s.half(d, 0, v)
	case signed:
		s.result(d, s.opTo(ir.Ext, ir.Signed(8*bytes), func(o *ir.Op) { o.To = ir.U32 }, v))
	default:
		s.result(d, v)
	}
}

// qspc: QSPC.E.S|L|G p, RZ, [address]: whether a generic address is one of a space.
func qspc(s *step) {
	s.wide(ir.Generic)
	space := s.oneOf("S L D G")
	p := s.predDst()
	if d := s.dst(); !zeroReg(&d) {
		s.fail("operand %s of QSPC", d.Text)
	}
	a := s.access(ir.Load, ir.Generic, 4)
	s.memory(a)
	if space == "" {
		s.fail("QSPC of unknown space")
		return
	}
	high := s.op(ir.HighWord, ir.U64, s.op(ir.Add, ir.U64, a.Addr, s.k(uint64(a.Offset))))
	in := func(x ir.Space) ir.Reg {
		return s.cmp(ir.EQ, ir.U64, high, s.op(ir.HighWord, ir.U64, s.u.b.Window(x)))
	}
	switch space {
	case "G": // what is in no other space
		others := s.op(ir.Or, ir.Pred, s.op(ir.Or, ir.Pred, in(ir.Shared), in(ir.Local)), in(ir.Param))
		s.setPred(p, s.op(ir.Xor, ir.Pred, others, s.k(1)))
	case "L":
		s.setPred(p, in(ir.Local))
	default: // D: shared memory of the cluster
		s.setPred(p, in(ir.Shared))
	}
}
