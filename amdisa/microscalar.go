package amdisa

import (
	"strings"

	"optcheck/isa"
)

// scalarMicro sets the value semantics of scalar arithmetic. Whatever it omits (SCC of shifts
// and of 64-bit logic, overflow, bit counts) is an unknown function of the uses.
func (d *decoder) scalarMicro(in *inst, name string) {
	n := typeBits(name)
	root := name
	if i := strings.LastIndexByte(name, '_'); i > 0 {
		root = name[:i]
	}
	words := n / 32
	a := func(i, w int) isa.Operand { return word(d.arg(i), w, n) }
	var to isa.Operand
	if len(d.args) > 0 {
		to = d.args[0]
	}
	if op, ok := strings.CutSuffix(root, "_saveexec"); ok {
		d.saveExec(op, to, n, false)
		return
	}
	if op, ok := strings.CutSuffix(root, "_wrexec"); ok {
		d.saveExec(op, to, n, true)
		return
	}
	if strings.HasPrefix(name, "cmp") || strings.HasPrefix(name, "bitcmp") {
		d.scalarCompare(name, n)
		return
	}
	if to.Kind != isa.OpdReg || isFloat(name) || n < 32 && !strings.HasPrefix(name, "pack") && !strings.HasPrefix(name, "sext") {
		return
	}
	if lut, ok := logicLUT[root]; ok {
		for w := 0; w < words && !to.Zero; w++ {
			d.lop(dst(to, w), lut, a(1, w), a(2, w))
		}
		if n == 32 {
			d.emit(isa.MicroTest, isa.RegSCC, a(1, 0), a(2, 0), imm(0)).LUT = lut
		}
		return
	}
	if to.Zero {
		return
	}
	if !d.scalarMoves(name, root, n, to) {
		d.scalarArithmetic(name, root, n, to)
	}
}

// scalarMoves lowers moves, selections and inversions, which may have several words.
func (d *decoder) scalarMoves(name, root string, n int, to isa.Operand) bool {
	words := n / 32
	a := func(i, w int) isa.Operand { return word(d.arg(i), w, n) }
	switch root {
	case "mov":
		for w := 0; w < words; w++ {
			d.emit(isa.MicroMov, dst(to, w), a(1, w))
		}
	case "movk":
		if k, ok := known(a(1, 0)); ok {
			d.emit(isa.MicroMov, dst(to, 0), imm(uint32(int32(int16(k)))))
		}
	case "not":
		for w := 0; w < words; w++ {
			d.lop(dst(to, w), lutNotA, a(1, w))
		}
		if n == 32 {
			d.emit(isa.MicroTest, isa.RegSCC, a(1, 0), imm(0), imm(0)).LUT = lutNotA
		}
	case "cselect":
		for w := 0; w < words; w++ {
			d.emit(isa.MicroSel, dst(to, w), a(1, w), a(2, w), pred(isa.RegSCC))
		}
	case "cmov":
		for w := 0; w < words; w++ {
			d.emit(isa.MicroSel, dst(to, w), a(1, w), word(to, w, n), pred(isa.RegSCC))
		}
	case "cmovk":
		if k, ok := known(a(1, 0)); ok {
			d.emit(isa.MicroSel, dst(to, 0), imm(uint32(int32(int16(k)))), word(to, 0, 32), pred(isa.RegSCC))
		}
	case "sext_i32":
		bits := uint32(16)
		if strings.HasSuffix(name, "i8") {
			bits = 8
		}
		d.bfe(dst(to, 0), word(d.arg(1), 0, 32), imm(0), imm(bits), true)
	case "pack_ll_b32", "pack_lh_b32", "pack_hh_b32", "pack_hl_b32":
		sel := map[string]uint32{"ll": 0x5410, "lh": 0x7610, "hh": 0x7632, "hl": 0x5432}[root[5:7]]
		d.emit(isa.MicroPrmt, dst(to, 0), word(d.arg(1), 0, 32), imm(sel), word(d.arg(2), 0, 32))
	default:
		return false
	}
	return true
}

// scalarArithmetic lowers arithmetic on numbers.
func (d *decoder) scalarArithmetic(name, root string, n int, to isa.Operand) {
	a := func(i, w int) isa.Operand { return word(d.arg(i), w, n) }
	switch root {
	case "add", "add_co", "sub", "sub_co", "addc", "add_co_ci", "subb", "sub_co_ci":
		d.scalarSum(name, root, to)
	case "add_nc":
		d.emit(isa.MicroAdd, dst(to, 0), a(1, 0), a(2, 0))
		d.emit(isa.MicroAddWide, dst(to, 1), a(1, 0), a(1, 1), a(2, 0), a(2, 1))
	case "addk", "addk_co":
		if k, ok := known(a(1, 0)); ok {
			d.emit(isa.MicroAdd, dst(to, 0), word(to, 0, 32), imm(uint32(int32(int16(k)))))
		}
	case "mul":
		if n == 32 {
			d.emit(isa.MicroMul, dst(to, 0), a(1, 0), a(2, 0))
		}
	case "mulk":
		if k, ok := known(a(1, 0)); ok {
			d.emit(isa.MicroMul, dst(to, 0), word(to, 0, 32), imm(uint32(int32(int16(k)))))
		}
	case "mul_hi":
		d.emit(isa.MicroMulHi, dst(to, 0), a(1, 0), a(2, 0)).Signed = strings.HasSuffix(name, "i32")
	case "lshl", "lshr", "ashr":
		d.shift(root, n, to, d.arg(1), word(d.arg(2), 0, 32))
	case "lshl1_add", "lshl2_add", "lshl3_add", "lshl4_add":
		d.emit(isa.MicroLea, dst(to, 0), a(1, 0), imm(uint32(root[4]-'0')), a(2, 0))
	case "bfe":
		if k, ok := known(a(2, 0)); ok && n == 32 {
			d.bfe(dst(to, 0), a(1, 0), imm(k&31), imm(k>>16&127), strings.HasSuffix(name, "i32"))
		}
	case "min", "max":
		op := isa.MicroMin
		if root == "max" {
			op = isa.MicroMax
		}
		d.emit(op, dst(to, 0), a(1, 0), a(2, 0)).Signed = strings.HasSuffix(name, "i32")
	case "bcnt1_i32":
		src := []isa.Operand{a(1, 0)}
		if n == 64 {
			src = append(src, a(1, 1))
		}
		d.emit(isa.MicroLaneBits, dst(to, 0), src...)
	}
}

// scalarSum lowers 32-bit additions and subtractions. The sum of the program counter and a
// pc-relative symbol is the symbol's address. The addend of the relocation, which counts from
// the relocated word, stays in the operand.
func (d *decoder) scalarSum(name, root string, to isa.Operand) {
	a, b := word(d.arg(1), 0, 32), word(d.arg(2), 0, 32)
	if b.Kind == isa.OpdSym && strings.Contains(d.arg(2).Text, "@") && strings.Contains(d.arg(2).Text, "rel32") {
		if strings.HasSuffix(b.Sym, "@got") {
			b.Off = 0
		}
		d.emit(isa.MicroMov, dst(to, 0), b)
		return
	}
	unsigned := strings.HasSuffix(name, "u32")
	switch root {
	case "add", "add_co":
		d.emit(isa.MicroAdd, dst(to, 0), a, b)
		if unsigned {
			d.emit(isa.MicroCarry, isa.RegSCC, a, b)
		}
	case "sub", "sub_co":
		d.emit(isa.MicroAdd, dst(to, 0), a, negated(b))
		if unsigned {
			d.setp(isa.RegSCC, "LT", false, a, b, truth())
		}
	case "addc", "add_co_ci":
		d.emit(isa.MicroAddHi, dst(to, 0), a, b, pred(isa.RegSCC))
		d.emit(isa.MicroCarry, isa.RegSCC, a, b, pred(isa.RegSCC))
	default:
		c := pred(isa.RegSCC)
		c.Not = true
		d.emit(isa.MicroAddHi, dst(to, 0), a, inverted(b), c)
	}
}

// saveExec lowers s_and_saveexec_b64 and the like: the old EXEC goes to the destination (for
// wrexec, the new one), and EXEC = src op EXEC.
func (d *decoder) saveExec(op string, to isa.Operand, n int, wrexec bool) {
	lut, ok := logicLUT[op]
	if !ok {
		return
	}
	for w := 0; w < n/32; w++ {
		exec := isa.Reg{Class: isa.ClassSpecial, Num: uint16(isa.SpecExecLo + w)}
		old := isa.Operand{Kind: isa.OpdReg, Reg: exec, Words: 1}
		src := word(d.arg(1), w, n)
		d.lop(exec, lut, src, old)
		switch {
		case to.Zero:
		case wrexec:
			d.lop(dst(to, w), lut, src, old)
		default:
			d.emit(isa.MicroMov, dst(to, w), old)
		}
	}
}

// scalarCompare lowers comparisons into SCC.
func (d *decoder) scalarCompare(name string, n int) {
	x, y := d.arg(0), d.arg(1)
	if rest, ok := strings.CutPrefix(name, "bitcmp"); ok {
		v := word(x, 0, n)
		if n != 32 {
			return
		}
		if rest[0] == '0' {
			v = inverted(v)
		}
		if k, ok := known(word(y, 0, 32)); ok {
			d.emit(isa.MicroBit, isa.RegSCC, v, imm(k&31))
		}
		return
	}
	parts := strings.Split(name, "_")
	cmp, ok := cmpNames[parts[1]]
	if !ok || isFloat(name) || len(parts) != 3 || n < 32 {
		return
	}
	signed := parts[2][0] == 'i'
	if n == 64 {
		m := d.emit(isa.MicroSetpWide, isa.RegSCC, word(x, 0, n), word(x, 1, n), word(y, 0, n), word(y, 1, n))
		m.Cmp, m.Signed = cmp, signed
		return
	}
	b := word(y, 0, 32)
	if k, ok := known(b); ok && parts[0] == "cmpk" {
		b = imm(k & 0xffff)
		if signed {
			b = imm(uint32(int32(int16(k))))
		}
	}
	d.setp(isa.RegSCC, cmp, signed, word(x, 0, 32), b, truth())
}
