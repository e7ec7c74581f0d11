package lower

import (
	"encoding/binary"
	"slices"
	"strings"

	"optcheck/ir"
	"optcheck/isa"
)

// peek is the next operand, nil if there is none.
func (s *step) peek() *isa.Operand {
	if len(s.args) == 0 {
		return nil
	}
	return &s.args[0]
}

// next takes an operand.
func (s *step) next() isa.Operand {
	if len(s.args) == 0 {
		s.fail("%s has not enough operands", s.in.Op)
		return isa.Operand{}
	}
	o := s.args[0]
	s.args = s.args[1:]
	return o
}

// isPred reports whether the next operand is a predicate.
func (s *step) isPred() bool { o := s.peek(); return o != nil && o.Kind == isa.OpdPred }

// isReg reports whether an operand is a register of words.
func isReg(o *isa.Operand) bool {
	return o != nil && o.Kind == isa.OpdReg && (o.Reg.Class == isa.ClassGPR || o.Reg.Class == isa.ClassUGPR)
}

// bare fails if an operand has modifiers other than those that the caller reads.
func (s *step) bare(o *isa.Operand, neg, not, abs bool) {
	if o.Neg && !neg || o.Not && !not || o.Abs && !abs || o.Part != "" && o.Kind != isa.OpdSym {
		s.fail("operand %s of %s", o.Text, s.in.Op)
	}
}

// dst takes the register of a result. Its words are set with result and results.
func (s *step) dst() isa.Operand {
	o := s.next()
	if !isReg(&o) {
		s.fail("result %s of %s", o.Text, s.in.Op)
	}
	s.bare(&o, false, false, false)
	return o
}

// zeroReg reports whether a register is RZ or URZ, by number or by name.
func zeroReg(o *isa.Operand) bool { return o.Zero }

// reg is word n of a register operand; None for RZ.
func (s *step) reg(o *isa.Operand, n int) ir.Reg {
	r := o.Reg
	r.Num += uint16(n)
	if zeroReg(o) || r.Class == isa.ClassGPR && r.Num >= 255 {
		return ir.None
	}
	return s.u.reg(r)
}

// result sets a register of one word.
func (s *step) result(o isa.Operand, v ir.Reg) {
	if r := s.reg(&o, 0); r != ir.None {
		s.sets = append(s.sets, set{r, v})
	}
}

// result64 sets a pair of registers.
func (s *step) result64(o isa.Operand, v ir.Reg) {
	if zeroReg(&o) {
		return
	}
	s.aligned(&o)
	s.result(o, s.op(ir.Mov, ir.U32, v))
	if r := s.reg(&o, 1); r != ir.None {
		s.sets = append(s.sets, set{r, s.op(ir.HighWord, ir.U64, v)})
	}
}

// aligned fails if a register cannot begin a pair.
func (s *step) aligned(o *isa.Operand) {
	if o.Kind == isa.OpdReg && !zeroReg(o) && o.Reg.Num%2 != 0 {
		s.fail("odd pair %s of %s", o.Text, s.in.Op)
	}
}

// predDst takes the predicate of a result; ir.None for PT.
func (s *step) predDst() ir.Reg {
	o := s.next()
	if o.Kind != isa.OpdPred || o.Not || o.Part != "" {
		s.fail("result %s of %s", o.Text, s.in.Op)
		return ir.None
	}
	if o.Zero {
		return ir.None
	}
	return s.u.reg(o.Reg)
}

// optPredDst takes the predicate of a result, if the next operand is one.
func (s *step) optPredDst() ir.Reg {
	if !s.isPred() {
		return ir.None
	}
	return s.predDst()
}

// setPred sets a predicate.
func (s *step) setPred(dst, v ir.Reg) {
	if dst != ir.None {
		s.sets = append(s.sets, set{dst, v})
	}
}

// predIn takes a predicate and how it is inverted.
func (s *step) predIn() (r ir.Reg, not bool) {
	o := s.next()
	if o.Kind != isa.OpdPred || o.Part != "" || o.Neg || o.Abs {
		s.fail("predicate %s of %s", o.Text, s.in.Op)
		return s.k(0), false
	}
	if o.Zero {
		return s.k(map[bool]uint64{false: 1, true: 0}[o.Not]), false
	}
	return s.u.reg(o.Reg), o.Not
}

// pred takes a predicate as a value.
func (s *step) pred() ir.Reg {
	r, not := s.predIn()
	if not {
		return s.op(ir.Xor, ir.Pred, r, s.k(1))
	}
	return r
}

// literal is the 32-bit immediate in an instruction's encoding: bits 32 to 63.
func (s *step) literal() uint64 {
	code := s.u.funcs[s.fn].code.Code
	if n := uint64(len(code)); s.in.Addr > n || n-s.in.Addr < 8 {
		s.fail("an immediate without encoding")
		return 0
	}
	return uint64(binary.LittleEndian.Uint32(code[s.in.Addr+4:]))
}

// raw is the word of an operand without its modifiers.
func (s *step) raw(o *isa.Operand) ir.Reg {
	switch o.Kind {
	case isa.OpdReg:
		if !isReg(o) {
			break
		}
		if r := s.reg(o, 0); r != ir.None {
			return r
		}
		return s.k(0)
	case isa.OpdImm:
		if o.Imm < -1<<31 || o.Imm >= 1<<32 {
			break
		}
		return s.k(uint64(uint32(o.Imm)))
	case isa.OpdFloat:
		return s.k(s.literal())
	case isa.OpdConst:
		return s.bank(o, 4)
	case isa.OpdSym, isa.OpdLabel:
		return s.symbol(o)
	}
	s.fail("operand %s of %s", o.Text, s.in.Op)
	return s.k(0)
}

// filled reports whether it is known what a word of constant bank 0 holds: a parameter, or one of the words of the launch.
func (u *unit) filled(off int64, bytes int) bool {
	p := &u.b.P
	for end := off + int64(bytes); off < end; off += 4 {
		if off < p.ParamBase && !slices.ContainsFunc(p.Launch, func(w ir.LaunchWord) bool { return w.Offset <= off && off < w.Offset+int64(w.Bytes) }) {
			return false
		}
	}
	return true
}

// bank reads a constant.
func (s *step) bank(o *isa.Operand, bytes int) ir.Reg {
	if o.Bank < 0 || o.Desc.Class != isa.ClassNone || o.Sym != "" {
		s.fail("operand %s of %s", o.Text, s.in.Op)
		return s.k(0)
	}
	if o.Reg.Class == isa.ClassNone && o.Base2.Class == isa.ClassNone {
		at := int64(uint16(o.Off)) // of 64 KiB, of which nvdisasm prints the upper half as negative numbers
		if o.Off < -1<<15 || o.Off >= 1<<16 || at%int64(bytes) != 0 {
			s.fail("operand %s of %s", o.Text, s.in.Op)
		}
		if o.Bank == 0 && !s.u.filled(at, bytes) {
			s.fail("%s: what a launch puts there is not known", o.Text)
		}
		return s.u.b.BankWord(o.Bank, at, bytes)
	}
	a := s.access(ir.Load, ir.ConstBank, bytes)
	a.Bank, a.Constant = o.Bank, true
	s.address(a, o)
	v := s.u.b.Temp()
	a.Data = []ir.Reg{v}
	s.do(a)
	return v
}

// word takes an operand of 32 bits, with - and ~ applied.
func (s *step) word() ir.Reg {
	w, neg := s.addend()
	if neg {
		return s.op(ir.Sub, ir.U32, s.k(0), w)
	}
	return w
}

// plain takes an operand of 32 bits that has no modifiers.
func (s *step) plain() ir.Reg {
	o := s.next()
	s.bare(&o, false, false, false)
	return s.raw(&o)
}

// addend takes an operand of 32 bits, with ~ applied, and whether it is negated.
func (s *step) addend() (w ir.Reg, neg bool) {
	o := s.next()
	s.bare(&o, true, true, false)
	if o.Neg && o.Not {
		s.fail("operand %s of %s", o.Text, s.in.Op)
	}
	w = s.raw(&o)
	if v, ok := s.constant(w); ok && o.Not {
		return s.k(uint64(^uint32(v))), false
	}
	if o.Not {
		w = s.op(ir.Not, ir.U32, w)
	}
	return w, o.Neg
}

// raw64 is the pair of an operand without its modifiers.
func (s *step) raw64(o *isa.Operand) ir.Reg {
	s.aligned(o)
	switch {
	case isReg(o) && zeroReg(o):
		return s.k(0)
	case isReg(o):
		return s.op(ir.Join, ir.U64, s.reg(o, 0), s.orZero(s.reg(o, 1)))
	case o.Kind == isa.OpdConst:
		return s.bank(o, 8)
	}
	s.fail("operand %s of %s", o.Text, s.in.Op)
	return s.k(0)
}

func (s *step) orZero(r ir.Reg) ir.Reg {
	if r == ir.None {
		return s.k(0)
	}
	return r
}

// pair takes an operand of 64 bits and whether it is negated. Immediates are those that are the same signed and unsigned.
func (s *step) pair() (w ir.Reg, neg bool) {
	o := s.next()
	s.bare(&o, true, false, false)
	if o.Kind == isa.OpdImm && o.Imm >= 0 && o.Imm < 1<<31 {
		return s.k(uint64(o.Imm)), false
	}
	return s.raw64(&o), o.Neg
}

// imm takes an immediate below a limit.
func (s *step) imm(limit int64) uint64 {
	o := s.next()
	if o.Kind != isa.OpdImm || o.Imm < 0 || o.Imm >= limit {
		s.fail("operand %s of %s", o.Text, s.in.Op)
		return 0
	}
	return uint64(o.Imm)
}

// symbolName is the symbol of 32@lo(symbol), .L_x_1 or (symbol + 0x10).
func symbolName(s string) string {
	s = strings.Trim(s, "`() ")
	if i := strings.IndexAny(s, " +@"); i >= 0 {
		s = s[:i]
	}
	return s
}

// symbol is a word of the address of a function or variable, which the linker fills in.
func (s *step) symbol(o *isa.Operand) ir.Reg {
	shift := map[string]int{"lo": 0, "hi": 32}
	n, ok := shift[o.Part]
	rel, linked := s.u.funcs[s.fn].relocs[s.in.Addr]
	switch {
	case !ok:
		if v, ok := s.sharedSymbol(o.Sym); ok && o.Part == "" && s.literal() == 0 {
			return v
		}
	case strings.HasSuffix(o.Sym, "@srel") && !linked: // relative to the section, and in the encoding
		return s.k(s.literal())
	case s.literal() != 0: // an addend in place
	case linked && rel.Symbol != "" && symbolName(o.Sym) == rel.Symbol:
		if at, ok := s.u.names[rel.Symbol]; ok {
			at.addr += uint64(rel.Addend)
			return s.k(at.address() >> n & (1<<32 - 1))
		}
		if s.u.funcNamed(rel.Symbol) {
			break
		}
		v := s.u.b.Symbol(rel.Symbol, rel.Addend, true)
		if n == 32 {
			return s.op(ir.HighWord, ir.U64, v)
		}
		return s.op(ir.Mov, ir.U32, v)
	}
	s.fail("symbol %s of %s", o.Text, s.in.Op)
	return s.k(0)
}

// sharedSymbol is the place of a variable in shared memory, from where variables begin: code that is not linked has that of the block
// elsewhere.
func (s *step) sharedSymbol(text string) (v ir.Reg, ok bool) {
	rel, ok := s.u.funcs[s.fn].relocs[s.in.Addr]
	if !ok || rel.Symbol == "" || symbolName(text) != rel.Symbol {
		return ir.None, false
	}
	return s.u.b.Symbol(rel.Symbol, rel.Addend-s.u.arch.shared, false), true
}

// funcNamed reports whether the file has a function of a name.
func (u *unit) funcNamed(name string) bool {
	for i := range u.file.Funcs {
		if u.file.Funcs[i].Name == name {
			return true
		}
	}
	return false
}
