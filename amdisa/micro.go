package amdisa

import (
	"strings"

	"optcheck/isa"
)

// Bitwise functions as tables: bit 4a+2b+c for the bits a, b, c.
const (
	lutNotA  = 0x0f
	lutAnd   = 0xc0
	lutOr    = 0xfc
	lutXor   = 0x3c
	lutXnor  = 0xc3
	lutNand  = 0x3f
	lutNor   = 0x03
	lutAndN2 = 0x30 // a &^ b
	lutOrN2  = 0xf3 // a | ^b
	lutAndN1 = 0x0c // ^a & b
	lutOrN1  = 0xcf // ^a | b
)

var logicLUT = map[string]uint8{
	"and": lutAnd, "or": lutOr, "xor": lutXor, "xnor": lutXnor, "nand": lutNand, "nor": lutNor, "andn2": lutAndN2, "orn2": lutOrN2,
	"and_not1": lutAndN2, "or_not1": lutOrN2, "andn1": lutAndN1, "orn1": lutOrN1, "and_not0": lutAndN1, "or_not0": lutOrN1,
}

var logic3LUT = map[string]uint8{"and_or": 0xea, "or3": 0xfe, "xor3": 0x96, "bfi": 0xca}

func imm(v uint32) isa.Operand {
	return isa.Operand{Kind: isa.OpdImm, Imm: int64(v), Words: 1}
}

// pred returns a register as a predicate: a lane mask or SCC.
func pred(r isa.Reg) isa.Operand { return isa.Operand{Kind: isa.OpdPred, Reg: r, Words: 1} }

func truth() isa.Operand { return isa.Operand{Kind: isa.OpdPred, Zero: true, Words: 1} }

func negated(o isa.Operand) isa.Operand {
	if o.Kind == isa.OpdImm {
		return imm(uint32(-o.Imm))
	}
	o.Neg = !o.Neg
	return o
}

func inverted(o isa.Operand) isa.Operand {
	if o.Kind == isa.OpdImm {
		return imm(^uint32(o.Imm))
	}
	o.Not = !o.Not
	return o
}

// word returns one word of a source operand of an operation on n-bit values.
func word(o isa.Operand, w, n int) isa.Operand {
	switch o.Kind {
	case isa.OpdReg:
		if o.Zero {
			return imm(0)
		}
		return isa.Operand{Kind: isa.OpdReg, Reg: isa.Reg{Class: o.Reg.Class, Num: o.Reg.Num + uint16(w)}, Words: 1}
	case isa.OpdImm:
		return imm(uint32(o.Imm >> (32 * w)))
	case isa.OpdFloat:
		return imm(uint32(floatBits(&o, n) >> (32 * w)))
	case isa.OpdSpecial:
		if strings.HasSuffix(o.Sym, "_base") && w == 0 && n == 64 {
			return imm(0) // apertures begin at multiples of 4 GiB
		}
		if w == 1 {
			return isa.Operand{Kind: isa.OpdSpecial, Sym: o.Sym + ".hi", Words: 1}
		}
		return isa.Operand{Kind: isa.OpdSpecial, Sym: o.Sym, Words: 1}
	case isa.OpdSym:
		s := isa.Operand{Kind: isa.OpdSym, Sym: o.Sym, Part: o.Part, Off: o.Off, Words: 1}
		if s.Part == "" {
			s.Part = [2]string{"lo", "hi"}[min(w, 1)]
		}
		return s
	}
	return isa.Operand{Kind: isa.OpdSpecial, Sym: "?" + o.Text, Words: 1}
}

// known returns the value of a constant operand.
func known(o isa.Operand) (uint32, bool) {
	return uint32(o.Imm), o.Kind == isa.OpdImm
}

// emit adds a micro-operation.
func (d *decoder) emit(op isa.MicroOp, dst isa.Reg, src ...isa.Operand) *isa.Micro {
	d.micros = append(d.micros, isa.Micro{Op: op, Dst: dst, Src: src})
	return &d.micros[len(d.micros)-1]
}

func (d *decoder) lop(dst isa.Reg, lut uint8, src ...isa.Operand) {
	for len(src) < 3 {
		src = append(src, imm(0))
	}
	d.emit(isa.MicroLop3, dst, src...).LUT = lut
}

// dst returns word w of a destination operand.
func dst(o isa.Operand, w int) isa.Reg {
	return isa.Reg{Class: o.Reg.Class, Num: o.Reg.Num + uint16(w)}
}

// mask calls f for the words of a lane-mask destination.
func mask(o isa.Operand, f func(isa.Reg)) {
	if o.Kind != isa.OpdReg || o.Zero {
		return
	}
	for w := 0; w < o.Words; w++ {
		f(dst(o, w))
	}
}

// vectorMicro sets the value semantics of vector instructions. Whatever it omits is an unknown
// function of the uses.
func (d *decoder) vectorMicro(in *inst, name, root string, s shape) {
	n := typeBits(name)
	if root != "mov" && root != "cndmask" && root != "pk_mov" && isFloat(name) {
		return
	}
	if root == "pk_mov" {
		d.packedMove()
		return
	}
	to := d.args[0]
	switch {
	case d.odd(in) || n == 8:
		return
	case d.halves():
		d.halfMicro(root, n)
		return
	case n == 16 && root != "mov":
		return
	}
	a := d.sources(n)
	if to.Zero {
		return
	}
	if lut, ok := logicLUT[root]; ok {
		d.lop(dst(to, 0), lut, a(1, 0), a(2, 0))
		return
	}
	if lut, ok := logic3LUT[root]; ok {
		d.lop(dst(to, 0), lut, a(1, 0), a(2, 0), a(3, 0))
		return
	}
	if !d.vectorMoves(root, n, to) {
		d.vectorArithmetic(name, root, n, to, s)
	}
}

// sources returns a function for the words of an instruction's n-bit operands; a missing one is
// unknown.
func (d *decoder) sources(n int) func(i, w int) isa.Operand {
	return func(i, w int) isa.Operand {
		if i >= len(d.args) {
			return isa.Operand{Kind: isa.OpdSpecial, Sym: "?missing", Words: 1}
		}
		return word(d.args[i], w, n)
	}
}

// halfMicro lowers what code for gfx11 and later computes in halves of registers (v_and_b16
// v0.l, 1, v0.l): bitwise functions, moves and selections.
func (d *decoder) halfMicro(root string, n int) {
	to := d.args[0]
	if n != 16 || to.Part != "l" && to.Part != "h" {
		return
	}
	a := func(i int) isa.Operand { return halfWord(d.sources(n)(i, 0), d.arg(i).Part) }
	lut, logic := logicLUT[root]
	switch {
	case logic:
		d.lop(dst(to, 0), lut, a(1), a(2))
	case root == "not":
		d.lop(dst(to, 0), lutNotA, a(1))
	case root == "mov":
		d.emit(isa.MicroMov, dst(to, 0), a(1))
	case root == "cndmask" && len(d.args) < 4:
		d.emit(isa.MicroSel, dst(to, 0), a(2), a(1), pred(isa.RegVCC))
	case root == "cndmask" && d.args[3].Kind == isa.OpdReg && !d.args[3].Zero:
		d.emit(isa.MicroSel, dst(to, 0), a(2), a(1), pred(d.args[3].Reg))
	default:
		return
	}
	d.micros[len(d.micros)-1].Half = to.Part
}

// halfWord returns an operand of an operation on 16 bits; a register of which no half is named
// counts with its low one.
func halfWord(o isa.Operand, part string) isa.Operand {
	switch {
	case o.Kind == isa.OpdImm:
		return imm(uint32(uint16(o.Imm)))
	case o.Kind != isa.OpdReg:
		return isa.Operand{Kind: isa.OpdSpecial, Sym: "?half", Words: 1}
	case part == "":
		part = "l"
	}
	o.Part = part
	return o
}

// vectorMoves lowers moves, selections, bitwise functions by table, and exchanges
// between lanes.
func (d *decoder) vectorMoves(root string, n int, to isa.Operand) bool {
	a := d.sources(n)
	switch root {
	case "mov", "accvgpr_read", "accvgpr_write", "accvgpr_mov":
		for w := 0; w < to.Words && (n == 64 || w == 0); w++ {
			d.emit(isa.MicroMov, dst(to, w), a(1, w))
		}
	case "not":
		d.lop(dst(to, 0), lutNotA, a(1, 0))
	case "cndmask":
		m := isa.RegVCC
		if len(d.args) == 4 {
			m = d.args[3].Reg
			if d.args[3].Kind != isa.OpdReg || d.args[3].Zero {
				return true
			}
		}
		if n == 32 {
			d.emit(isa.MicroSel, dst(to, 0), a(2, 0), a(1, 0), pred(m))
		}
	case "bitop3", "bitop2":
		d.lop(dst(to, 0), d.bitop(), a(1, 0), a(2, 0), bitopThird(root, a(3, 0)))
	case "readfirstlane":
		d.emit(isa.MicroFirst, dst(to, 0), a(1, 0))
	case "readlane":
		d.emit(isa.MicroFirst, dst(to, 0), a(1, 0), a(2, 0))
	case "writelane":
		d.emit(isa.MicroLaneSet, dst(to, 0), word(to, 0, 32), a(1, 0), a(2, 0))
	case "mbcnt_lo", "mbcnt_hi":
		d.emit(isa.MicroLaneCount, dst(to, 0), a(1, 0), a(2, 0)).Sym = root[6:]
	case "swap":
		d.emit(isa.MicroMov, dst(to, 0), a(1, 0))
		if b := d.arg(1); b.Kind == isa.OpdReg {
			d.emit(isa.MicroMov, dst(b, 0), word(to, 0, 32))
		}
	default:
		return false
	}
	return true
}

// vectorArithmetic lowers arithmetic on numbers.
func (d *decoder) vectorArithmetic(name, root string, n int, to isa.Operand, s shape) {
	a := d.sources(n)
	switch root {
	case "add", "add_nc", "add_co", "sub", "sub_nc", "sub_co", "subrev", "subrev_nc", "subrev_co", "addc", "addc_co", "add_co_ci",
		"subb", "subb_co", "sub_co_ci", "subbrev", "subbrev_co", "subrev_co_ci":
		d.vectorSum(root, s, n)
	case "mul_lo":
		d.emit(isa.MicroMul, dst(to, 0), a(1, 0), a(2, 0))
	case "mul_hi":
		d.emit(isa.MicroMulHi, dst(to, 0), a(1, 0), a(2, 0)).Signed = strings.HasSuffix(name, "i32")
	case "mad":
		if name == "mad_u32" {
			d.emit(isa.MicroMad, dst(to, 0), a(1, 0), a(2, 0), a(3, 0))
		}
	case "mad_u64_u32", "mad_i64_i32", "mad_co", "mad_nc":
		k := 2
		if root == "mad_nc" {
			k = 1
		}
		x, y := word(d.arg(k), 0, 32), word(d.arg(k+1), 0, 32)
		c0, c1 := word(d.arg(k+2), 0, 64), word(d.arg(k+2), 1, 64)
		d.emit(isa.MicroMad, dst(to, 0), x, y, c0)
		d.emit(isa.MicroMadHi, dst(to, 1), x, y, c0, c1).Signed = strings.Contains(name, "i64")
	case "lshlrev", "lshrrev", "ashrrev":
		d.shift(root[:len(root)-3], n, to, d.arg(2), a(1, 0))
	case "lshl", "lshr", "ashr":
		d.shift(root, n, to, d.arg(1), a(2, 0))
	case "alignbit":
		if k, ok := known(a(3, 0)); ok {
			d.emit(isa.MicroShfLo, dst(to, 0), a(2, 0), a(1, 0), imm(k&31))
		}
	case "bfe":
		d.bfe(dst(to, 0), a(1, 0), a(2, 0), a(3, 0), strings.HasSuffix(name, "i32"))
	case "lshl_or":
		if k, ok := known(a(2, 0)); ok {
			d.emit(isa.MicroShlOr, dst(to, 0), a(1, 0), imm(k&31), a(3, 0))
		}
	case "lshl_add":
		d.shiftAdd(to, n)
	case "add_lshl":
		if k, ok := known(a(3, 0)); ok {
			d.emit(isa.MicroAddShl, dst(to, 0), a(1, 0), a(2, 0), imm(k&31))
		}
	case "add3":
		d.emit(isa.MicroAdd, dst(to, 0), a(1, 0), a(2, 0), a(3, 0))
	case "xad":
		d.emit(isa.MicroXorAdd, dst(to, 0), a(1, 0), a(2, 0), a(3, 0))
	case "min", "max":
		op := isa.MicroMin
		if root == "max" {
			op = isa.MicroMax
		}
		if n == 32 {
			d.emit(op, dst(to, 0), a(1, 0), a(2, 0)).Signed = strings.HasSuffix(name, "i32")
		}
	}
}

// isFloat reports whether an operation is one on floating-point numbers, by its last type.
func isFloat(name string) bool {
	i := strings.LastIndexByte(name, '_')
	t := name[i+1:]
	return strings.HasPrefix(t, "f") || strings.HasPrefix(t, "bf")
}

func bitopThird(root string, third isa.Operand) isa.Operand {
	if root == "bitop2" {
		return imm(0)
	}
	return third
}

// bitop returns the truth table of v_bitop3_b32.
func (d *decoder) bitop() uint8 {
	for _, m := range d.mods {
		if v, ok := strings.CutPrefix(m, "bitop3:"); ok {
			n, _ := integer(v)
			return uint8(n)
		}
	}
	return 0
}

// packedMove lowers v_pk_mov_b32, which takes a word of each source.
func (d *decoder) packedMove() {
	if len(d.args) != 3 || d.args[0].Words != 2 {
		return
	}
	sel := [2]int{0, 0}
	for _, m := range d.mods {
		v, ok := strings.CutPrefix(m, "op_sel:[")
		switch {
		case ok && len(v) == 4:
			sel[0], sel[1] = int(v[0]-'0')&1, int(v[2]-'0')&1
		case strings.HasPrefix(m, "op_sel_hi:"):
		case !modSet(" vop3p e64 ", m):
			return
		}
	}
	for w := 0; w < 2; w++ {
		o := d.args[1+w]
		if o.Kind == isa.OpdImm && o.Imm>>31 != 0 && o.Imm>>31 != -1 {
			return
		}
		if o.Kind == isa.OpdReg && o.Words < 2 && sel[w] == 1 {
			return
		}
		s := word(o, sel[w], 64)
		if o.Kind != isa.OpdReg {
			s = word(o, 0, 32)
		}
		d.emit(isa.MicroMov, dst(d.args[0], w), s)
	}
}

// vectorSum lowers additions and subtractions with and without carries.
func (d *decoder) vectorSum(root string, s shape, n int) {
	to := d.args[0]
	i := 1
	if s&writes2nd != 0 {
		i = 2
	}
	x, y := d.arg(i), d.arg(i+1)
	if strings.Contains(root, "rev") {
		x, y = y, x
	}
	sub := strings.HasPrefix(root, "sub")
	a, b := word(x, 0, n), word(y, 0, n)
	if s&readsVCC != 0 { // with a carry in
		c := pred(isa.RegVCC)
		if len(d.args) == 5 {
			c = pred(d.args[4].Reg)
		}
		if sub {
			c.Not = true
			d.emit(isa.MicroAddHi, dst(to, 0), a, inverted(b), c)
			return
		}
		d.emit(isa.MicroAddHi, dst(to, 0), a, b, c)
		mask(d.arg(1), func(r isa.Reg) { d.emit(isa.MicroCarry, r, a, b, c) })
		return
	}
	if n == 64 {
		if !sub {
			d.emit(isa.MicroAdd, dst(to, 0), a, b)
			d.emit(isa.MicroAddWide, dst(to, 1), a, word(x, 1, n), b, word(y, 1, n))
		}
		return
	}
	if sub {
		d.emit(isa.MicroAdd, dst(to, 0), a, negated(b))
	} else {
		d.emit(isa.MicroAdd, dst(to, 0), a, b)
	}
	if s&writes2nd == 0 {
		return
	}
	mask(d.arg(1), func(r isa.Reg) {
		if sub {
			d.setp(r, "LT", false, a, b, truth())
			return
		}
		d.emit(isa.MicroCarry, r, a, b)
	})
}

// setp emits dst = (a cmp b) and with.
func (d *decoder) setp(dst isa.Reg, cmp string, signed bool, a, b, with isa.Operand) {
	m := d.emit(isa.MicroSetp, dst, a, b, with)
	m.Cmp, m.Bool, m.Signed = cmp, "AND", signed
}

// shift lowers shifts by a constant. The machine uses the low 5 (6) bits of the amount; a shift
// by a register is left unknown.
func (d *decoder) shift(op string, n int, to, x, amount isa.Operand) {
	k, ok := known(amount)
	if !ok {
		return
	}
	signed := op == "ashr"
	if n == 32 {
		a := word(x, 0, 32)
		if op == "lshl" {
			d.emit(isa.MicroShl, dst(to, 0), a, imm(k&31))
		} else {
			d.emit(isa.MicroShr, dst(to, 0), a, imm(k&31)).Signed = signed
		}
		return
	}
	if n != 64 || to.Words < 2 {
		return
	}
	k &= 63
	lo, hi := word(x, 0, 64), word(x, 1, 64)
	switch {
	case op == "lshl" && k < 32:
		d.emit(isa.MicroShl, dst(to, 0), lo, imm(k))
		d.emit(isa.MicroShfHi, dst(to, 1), lo, hi, imm(k))
	case op == "lshl":
		d.emit(isa.MicroMov, dst(to, 0), imm(0))
		d.emit(isa.MicroShl, dst(to, 1), lo, imm(k-32))
	case k < 32:
		d.emit(isa.MicroShfLo, dst(to, 0), lo, hi, imm(k))
		d.emit(isa.MicroShr, dst(to, 1), hi, imm(k)).Signed = signed
	default:
		d.emit(isa.MicroShr, dst(to, 0), hi, imm(k-32)).Signed = signed
		if signed {
			d.emit(isa.MicroShr, dst(to, 1), hi, imm(31)).Signed = true
		} else {
			d.emit(isa.MicroMov, dst(to, 1), imm(0))
		}
	}
}

// bfe lowers bit-field extraction with constant position and width.
func (d *decoder) bfe(to isa.Reg, x, off, width isa.Operand, signed bool) {
	k, okK := known(off)
	w, okW := known(width)
	if okK && okW {
		d.emit(isa.MicroBfe, to, x, imm(k&31), imm(w&31)).Signed = signed
	}
}

// shiftAdd lowers v_lshl_add_u32 and v_lshl_add_u64.
func (d *decoder) shiftAdd(to isa.Operand, n int) {
	x, c := d.arg(1), d.arg(3)
	k, ok := known(word(d.arg(2), 0, 32))
	if !ok {
		return
	}
	if n == 32 {
		d.emit(isa.MicroLea, dst(to, 0), word(x, 0, n), imm(k&31), word(c, 0, n))
		return
	}
	if k > 4 || to.Words < 2 {
		return
	}
	if k == 0 {
		d.emit(isa.MicroAdd, dst(to, 0), word(x, 0, n), word(c, 0, n))
		d.emit(isa.MicroAddWide, dst(to, 1), word(x, 0, n), word(x, 1, n), word(c, 0, n), word(c, 1, n))
		return
	}
	d.emit(isa.MicroLea, dst(to, 0), word(x, 0, n), imm(k), word(c, 0, n))
	d.emit(isa.MicroAddWide, dst(to, 1), word(x, 0, n), word(x, 1, n), word(c, 0, n), word(c, 1, n), imm(k))
}

var cmpNames = map[string]string{"eq": "EQ", "ne": "NE", "lg": "NE", "lt": "LT", "le": "LE", "gt": "GT", "ge": "GE"}

// compareMicro lowers integer comparisons into lane masks.
func (d *decoder) compareMicro(in *inst, name string, from int) {
	if d.odd(in) || isFloat(name) {
		return
	}
	parts := strings.Split(name, "_") // cmp eq u32
	cmp, ok := cmpNames[parts[1]]
	n := typeBits(name)
	if !ok || len(parts) != 3 {
		return
	}
	signed := parts[2][0] == 'i'
	x, y := d.args[from], d.args[from+1]
	if n < 16 || d.halves() && n > 16 || n == 16 && signed && cmp != "EQ" && cmp != "NE" {
		return
	}
	write := func(r isa.Reg) {
		switch n {
		case 16:
			d.setp(r, cmp, false, halfWord(word(x, 0, n), x.Part), halfWord(word(y, 0, n), y.Part), pred(isa.RegExec))
			return
		case 32:
			d.setp(r, cmp, signed, word(x, 0, n), word(y, 0, n), pred(isa.RegExec))
			return
		}
		m := d.emit(isa.MicroSetpWide, r, word(x, 0, n), word(x, 1, n), word(y, 0, n), word(y, 1, n), pred(isa.RegExec))
		m.Cmp, m.Bool, m.Signed = cmp, "AND", signed
	}
	if from == 1 {
		mask(d.args[0], write)
	}
	for _, r := range d.defs {
		if r.Class == isa.ClassSpecial && (r.Num == isa.SpecExecLo || r.Num == isa.SpecExecHi) && (from == 0 || d.args[0].Reg != isa.RegExec) {
			write(r)
		}
	}
}
