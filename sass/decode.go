package sass

import (
	"fmt"
	"slices"
	"strings"

	"optcheck/isa"
)

// decode sets role, memory effect, definitions and uses of an instruction whose opcode,
// modifiers, guard and operands are set. sm is the target as a number (52, 90), 0 if the dump
// does not name one.
func (p *parser) decode(in *isa.Inst, sm int) {
	info, ok := opTable[in.Op]
	if !ok {
		// Not in the tables: every register may be read, nothing is known to be written. The
		// role tells consumers to give up.
		in.Role = isa.RoleUnknown
		p.unknownUses(in)
		return
	}
	in.Role, in.Flow, in.Pair = info.role, info.flow, info.pair
	in.Mem.Space = info.space
	adjust(in, &info, sm)
	// The .S suffix of Fermi and Kepler: the instruction also does SYNC.
	if n := len(in.Mods); n > 0 && in.Mods[n-1] == "S" && sm < 50 && in.Flow == isa.FlowNext {
		in.Flow = isa.FlowPop
	}
	if in.Role.IsAccess() || in.Role == isa.RoleFence || in.Role == isa.RoleCache {
		memory(in, sm)
	}
	setWidths(in, info.width, sm)
	p.registers(in, info.dest, sm)
	p.flushRegs(in)
	lower(p, in, sm)
}

// hasMod reports whether a modifier is present.
func hasMod(in *isa.Inst, m string) bool {
	for _, x := range in.Mods {
		if x == m {
			return true
		}
	}
	return false
}

// adjust corrects the table entry for opcodes whose role depends on modifiers.
func adjust(in *isa.Inst, info *opInfo, sm int) {
	switch in.Op {
	case "QSPC":
		in.Role, in.Mem.Space, info.width = isa.RoleALU, isa.SpaceNone, widthMem
	case "SYNCS":
		if hasMod(in, "CCTL") {
			in.Role, info.dest = isa.RoleCache, destNone
		}
	case "BRA":
		// BRA.CONV, BRA.DIV: conditional on the state of the warp, not only on
		// the guard; they still may fall through.
		in.Flow = isa.FlowJump
	case "BPT":
		if hasMod(in, "DRAIN") || hasMod(in, "PAUSE") {
			in.Flow = isa.FlowNext
		}
	case "VOTE", "VOTEU":
		if len(in.Args) > 0 && in.Args[0].Kind == isa.OpdPred {
			info.dest = destPred1
		}
	}
}

// setWidths sets Operand.Words of the register operands.
func setWidths(in *isa.Inst, w widthRule, sm int) {
	switch w {
	case widthDouble:
		eachReg(in, func(i int, o *isa.Operand) { o.Words = 2 })
	case width64:
		n := 1
		if hasMod(in, "64") {
			n = 2
		} else if hasMod(in, "128") {
			n = 4
		}
		if len(in.Args) > 0 {
			in.Args[0].Words = n
		}
	case widthUniform64:
		if hasMod(in, "64") {
			eachReg(in, func(i int, o *isa.Operand) { o.Words = 2 })
		}
	case widthSR:
		if len(in.Args) > 0 && !hasMod(in, "32") && (sm >= 70 || sm == 0) {
			in.Args[0].Words = 2
		}
	case widthMad:
		if hasMod(in, "WIDE") {
			n := 0
			eachReg(in, func(i int, o *isa.Operand) {
				if i == 0 || n == 3 {
					o.Words = 2
				}
			}, func(i int) { n++ })
		}
	case widthConv:
		convWidths(in, sm)
	case widthMMA:
		mmaWidths(in)
	case widthMatch:
		if (hasMod(in, "U64") || hasMod(in, "64")) && len(in.Args) > 0 {
			in.Args[len(in.Args)-1].Words = 2
		}
	case widthMem:
		memWidths(in, sm)
	}
	if in.Mem.Space == isa.SpaceTexture && sm >= 70 {
		textureWidths(in)
	}
	switch {
	case in.Role == isa.RoleBranch && sm >= 70 && in.Op != "BRA":
		// Code addresses take 64 bits.
		eachReg(in, func(_ int, o *isa.Operand) {
			if o.Reg.Class != isa.ClassBarrier {
				o.Words = 2
			}
		})
	case in.Op == "IMAD" && hasMod(in, "HI") && sm >= 70 && len(in.Args) > 0 && in.Args[len(in.Args)-1].Kind == isa.OpdReg:
		// The addend is a 64-bit number, the result the high half of the sum.
		in.Args[len(in.Args)-1].Words = 2
	}
	if strings.Contains(in.Op, "IADD") && hasMod(in, "64") { // IADD, IADD3 and their uniform forms
		eachReg(in, func(i int, o *isa.Operand) { o.Words = 2 })
	}
}

// eachReg calls f for the general and uniform register operands and constants.
// count, if given, is called after each operand that is not a predicate.
func eachReg(in *isa.Inst, f func(int, *isa.Operand), count ...func(int)) {
	for i := range in.Args {
		o := &in.Args[i]
		if o.Kind == isa.OpdPred {
			continue
		}
		if o.Kind == isa.OpdReg && o.Reg.Class != isa.ClassCC || o.Kind == isa.OpdConst {
			f(i, o)
		}
		for _, c := range count {
			c(i)
		}
	}
}

// convWidths handles F2F.D.S, F2I.DST.SRC, I2F.DST.SRC, FRND.T. Before sm_70
// both types are always printed; since then 32-bit ones are left out, and a
// single 64-bit modifier means the destination in F2I.S64, the source in I2F.S64.
func convWidths(in *isa.Inst, sm int) {
	dst, src := 1, 1
	types := 0
	for _, m := range in.Mods {
		wide := 0
		switch m {
		case "F64", "S64", "U64":
			wide = 2
		case "F16", "F32", "S32", "U32", "S16", "U16", "S8", "U8", "BF16":
			wide = 1
		default:
			continue
		}
		types++
		if wide == 1 {
			if types == 1 && sm >= 70 && m[0] != 'F' && in.Op == "I2F" {
				types++
			}
			continue
		}
		switch {
		case in.Op == "I2F" && m != "F64", in.Op == "F2I" && m == "F64", types >= 2:
			src = 2
		case in.Op == "FRND":
			dst, src = 2, 2
		default:
			dst = 2
		}
	}
	n := 0
	eachReg(in, func(i int, o *isa.Operand) {
		if n == 0 {
			o.Words = dst
		} else {
			o.Words = src
		}
		n++
	})
}

// mmaShapes are the rows and columns of A in the shapes of matrix instructions; B and the sum have eight columns.
var mmaShapes = map[string][2]int{
	"HMMA.1684": {16, 4}, "HMMA.1688": {16, 8}, "HMMA.16816": {16, 16}, "HMMA.16832": {16, 32},
	"IMMA.8816": {8, 16}, "IMMA.8832": {8, 32}, "IMMA.8864": {8, 64},
	"IMMA.16816": {16, 16}, "IMMA.16832": {16, 32}, "IMMA.16864": {16, 64}, "IMMA.168128": {16, 128},
	"BMMA.88128": {8, 128}, "BMMA.168128": {16, 128}, "BMMA.168256": {16, 256},
	"DMMA.884": {8, 4}, "QMMA.16832": {16, 32},
}

// mmaShape returns the rows of A, its columns, and the columns of the sum; 0 for a shape that is not known. Newer instructions print them as
// 64x128x16: rows, columns of the sum, columns of A.
func mmaShape(in *isa.Inst) (m, k, n int) {
	for _, mod := range in.Mods {
		if s, ok := mmaShapes[in.Op+"."+mod]; ok {
			return s[0], s[1], 8
		}
		if _, err := fmt.Sscanf(mod, "%dx%dx%d", &m, &n, &k); err == nil && min(m, n, k) > 0 && max(m, n, k) <= 1024 {
			return m, k, n
		}
	}
	return 0, 0, 0
}

// mmaBits returns the sizes of the elements that a matrix instruction multiplies, and of their sums.
func mmaBits(in *isa.Inst) (elem, sum int) {
	elem, sum = 16, 32
	switch {
	case in.Op == "DMMA":
		return 64, 64
	case strings.HasPrefix(in.Op, "B"):
		return 1, 32
	case strings.HasPrefix(in.Op, "I") && (hasMod(in, "S4") || hasMod(in, "U4")):
		return 4, 32
	case strings.HasPrefix(in.Op, "I"):
		return 8, 32
	case strings.HasPrefix(in.Op, "Q"):
		elem = 8
	case hasMod(in, "TF32"):
		elem = 32
	}
	if !hasMod(in, "F32") {
		sum = 16
	}
	return elem, sum
}

// mmaWords returns the numbers of registers of D, A, B and C: a warp, or the four warps of a group (GMMA), hold a matrix in as many as its elements
// need (PTX ISA, Warp Level Matrix Instructions and Asynchronous Warpgroup Level Matrix Instructions), of a sparse A half of it. They are 0 for a
// shape that is not known.
func mmaWords(in *isa.Inst) (words [4]int) {
	elem, sum := mmaBits(in)
	if in.Op == "HMMA" && hasMod(in, "884") { // a step computes two registers of the matrix of a quarter of the warp
		return [4]int{2, 2, 2, 2}
	}
	bits := 32 * 32 // of a register of all lanes
	if byGroup(in) {
		bits *= 4
	}
	m, k, n := mmaShape(in)
	words = [4]int{m * n * sum / bits, m * k * elem / bits, n * k * elem / bits, m * n * sum / bits}
	if hasMod(in, "SP") {
		words[1] /= 2
	}
	return words
}

// byGroup reports whether the warps of a group compute a product of matrices together, and asynchronously.
func byGroup(in *isa.Inst) bool { return strings.HasSuffix(in.Op, "GMMA") }

// mmaWidths sets operand widths of matrix instructions. A shape that is not known makes the instruction unknown rather than wrong.
func mmaWidths(in *isa.Inst) {
	if in.Op == "MOVM" {
		return
	}
	words := mmaWords(in)
	regs := words[:]
	if byGroup(in) { // B is in shared memory, and so is A unless it is a register
		regs = []int{words[0], words[1], words[3]}
		if len(in.Args) > 1 && in.Args[1].Kind == isa.OpdMem {
			regs = []int{words[0], words[3]}
		}
	}
	if slices.Contains(regs, 0) {
		in.Role = isa.RoleUnknown
		return
	}
	n := 0
	eachReg(in, func(i int, o *isa.Operand) {
		if n < len(regs) {
			o.Words = regs[n]
		}
		n++
	})
}

// registers sets Defs, Uses, Addrs and Data.
func (p *parser) registers(in *isa.Inst, d destRule, sm int) {
	dests := destCount(in, d, sm)
	for i := range in.Args {
		o := &in.Args[i]
		if i < dests {
			p.def(o)
			if o.Part == "CC" {
				p.addDef(isa.Reg{Class: isa.ClassCC})
			}
			continue
		}
		p.use(in, o, sm)
	}
	if in.Op == "R2P" {
		p.maskedPreds(in, p.addDef)
	}
	if in.Op == "P2R" {
		p.maskedPreds(in, p.addUse)
	}
	if usesCC(in, sm) {
		p.addUse(isa.Reg{Class: isa.ClassCC})
	}
	if g := in.Guard.Reg; g.Class != isa.ClassNone {
		p.addUse(g)
	}
}

// usesCC reports whether an instruction reads the carry flag without printing it: .X forms
// before sm_70 (since then the carry is a predicate operand).
func usesCC(in *isa.Inst, sm int) bool {
	if sm >= 70 {
		return false
	}
	return hasMod(in, "X") || hasMod(in, "XLO") || hasMod(in, "XMED") || hasMod(in, "XHI")
}

// maskedPreds calls f for the predicates that P2R/R2P name by their mask.
func (p *parser) maskedPreds(in *isa.Inst, f func(isa.Reg)) {
	mask := int64(0x7f)
	cc := false
	for i := range in.Args {
		switch o := &in.Args[i]; {
		case o.Kind == isa.OpdImm:
			mask = o.Imm
		case o.Kind == isa.OpdReg && o.Reg.Class == isa.ClassCC:
			cc = true
		}
	}
	if cc {
		f(isa.Reg{Class: isa.ClassCC})
		return
	}
	for n := uint16(0); n < 7; n++ {
		if mask>>n&1 != 0 {
			f(isa.Reg{Class: isa.ClassPred, Num: n})
		}
	}
}

// destCount returns the number of leading operands that are written.
func destCount(in *isa.Inst, d destRule, sm int) int {
	n := len(in.Args)
	isPred := func(i int) bool { return i < n && in.Args[i].Kind == isa.OpdPred }
	switch d {
	case destPred1, destFirst:
		return min(1, n)
	case destPred:
		i := 0
		for i < 2 && isPred(i) {
			i++
		}
		return i
	case destReg, destReg1:
		i := 0
		for isPred(i) {
			i++
		}
		if i < n && in.Args[i].Kind == isa.OpdReg {
			i++
		}
		if texture(in) && i < n && in.Args[i].Kind == isa.OpdReg && sm >= 70 {
			i++ // the first two components, or the only ones
		}
		if d == destReg {
			for isPred(i) && i+1 < n && !in.Args[i].Not {
				i++
			}
			if in.Op == "B2R" {
				return n
			}
		}
		return i
	}
	return 0
}

// Register lists of the instruction being decoded are collected in the parser
// and copied out by flushRegs.
func appendReg(l []isa.Reg, r isa.Reg) []isa.Reg {
	for _, x := range l {
		if x == r {
			return l
		}
	}
	return append(l, r)
}

func (p *parser) addDef(r isa.Reg) { p.defs = appendReg(p.defs, r) }
func (p *parser) addUse(r isa.Reg) { p.uses = appendReg(p.uses, r) }

// regLimit returns the number of the always-zero register of a class: pairs never
// reach it.
func regLimit(c isa.Class) uint16 {
	switch c {
	case isa.ClassGPR:
		return 255
	case isa.ClassUGPR:
		return 255
	}
	return 1 << 10
}

// expand calls f for the Words registers from r.
func expand(r isa.Reg, words int, f func(isa.Reg)) {
	for k := 0; k < max(1, words); k++ {
		if x := r.Num + uint16(k); x < regLimit(r.Class) {
			f(isa.Reg{Class: r.Class, Num: x})
		}
	}
}

func (p *parser) def(o *isa.Operand) {
	if o.Zero || o.Reg.Class == isa.ClassNone {
		return
	}
	expand(o.Reg, o.Words, p.addDef)
}

// use adds the registers that an operand reads, and sorts those of memory
// instructions into address and data.
func (p *parser) use(in *isa.Inst, o *isa.Operand, sm int) {
	switch o.Kind {
	case isa.OpdReg:
		data := in.Role.IsAccess() && o.Reg.Class != isa.ClassPred
		if o.Zero {
			for range max(1, o.Words) {
				if data {
					p.data = append(p.data, isa.Reg{})
				}
			}
			return
		}
		expand(o.Reg, o.Words, p.addUse)
		if data {
			expand(o.Reg, o.Words, func(r isa.Reg) { p.data = append(p.data, r) })
		}
	case isa.OpdPred:
		if !o.Zero {
			p.addUse(o.Reg)
		}
	case isa.OpdMem:
		addr := func(r isa.Reg) {
			p.addUse(r)
			p.addrs = appendReg(p.addrs, r)
		}
		if o.Reg.Class != isa.ClassNone {
			expand(o.Reg, o.Words, addr)
		}
		if o.Base2.Class != isa.ClassNone {
			expand(o.Base2, base2Words(in, o), addr)
		}
		if o.Desc.Class != isa.ClassNone {
			expand(o.Desc, 2, p.addUse)
		}
	case isa.OpdConst:
		if o.Reg.Class != isa.ClassNone {
			p.addUse(o.Reg)
		}
		if o.Desc.Class != isa.ClassNone {
			expand(o.Desc, 2, p.addUse)
		}
	}
}

// unknownUses marks every register in the operands of an unknown instruction as
// read, so that nothing seems unused because of it.
func (p *parser) unknownUses(in *isa.Inst) {
	for i := range in.Args {
		p.use(in, &in.Args[i], 0)
	}
	if g := in.Guard.Reg; g.Class != isa.ClassNone {
		p.addUse(g)
	}
	p.flushRegs(in)
}

// flushRegs copies the collected register lists into the instruction.
func (p *parser) flushRegs(in *isa.Inst) {
	in.Defs, in.Uses = p.copyRegs(p.defs), p.copyRegs(p.uses)
	in.Addrs, in.Data = p.copyRegs(p.addrs), p.copyRegs(p.data)
	p.defs, p.uses, p.addrs, p.data = p.defs[:0], p.uses[:0], p.addrs[:0], p.data[:0]
}

func (p *parser) copyRegs(l []isa.Reg) []isa.Reg {
	if len(l) == 0 {
		return nil
	}
	if cap(p.regArena)-len(p.regArena) < len(l) {
		p.regArena = make([]isa.Reg, 0, 1024+len(l))
	}
	n := len(p.regArena)
	p.regArena = append(p.regArena, l...)
	return p.regArena[n:len(p.regArena):len(p.regArena)]
}

// modSet reports whether m is one of the blank-separated words.
func modSet(words, m string) bool {
	i := strings.Index(words, m)
	return i >= 0 && (i == 0 || words[i-1] == ' ') && (i+len(m) == len(words) || words[i+len(m)] == ' ')
}
