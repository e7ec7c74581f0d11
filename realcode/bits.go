package realcode

import (
	"math/bits"

	"optcheck/ptx"
)

// knownBits are what is known of a number: its bits, but for those that are set in open, which
// value does not have.
type knownBits struct{ value, open uint64 }

func constant(v uint64) knownBits { return knownBits{value: v} }
func open(width int) knownBits    { return knownBits{open: mask(width)} }

func mask(width int) uint64 {
	if width == 0 {
		return 0
	}
	return ^uint64(0) >> (64 - width)
}

func (a knownBits) most() uint64      { return a.value | a.open }
func (a knownBits) may(v uint64) bool { return (a.value^v)&^a.open == 0 }
func (a knownBits) cut(width int) knownBits {
	return knownBits{a.value & mask(width), a.open & mask(width)}
}

// or is what is known if it is one of two numbers.
func (a knownBits) or(b knownBits) knownBits {
	open := a.open | b.open | (a.value ^ b.value)
	return knownBits{a.value &^ open, open}
}

func (a knownBits) plus(b knownBits) knownBits {
	most, least := a.most()+b.most(), a.value+b.value
	open := a.open | b.open | (most ^ least)
	return knownBits{least &^ open, open}
}

func (a knownBits) minus(b knownBits) knownBits {
	most, least := a.most()-b.value, a.value-b.most()
	open := a.open | b.open | (most ^ least)
	return knownBits{least &^ open, open}
}

// times knows of a product how many zeros it ends with, and how large it is at most.
func (a knownBits) times(b knownBits) knownBits {
	if a.open|b.open == 0 {
		return constant(a.value * b.value)
	}
	high, low := bits.Mul64(a.most(), b.most())
	if high > 0 {
		low = ^uint64(0)
	}
	zeros := bits.TrailingZeros64(a.most()) + bits.TrailingZeros64(b.most())
	if low == 0 || zeros > 63 {
		return constant(0)
	}
	return knownBits{open: ^uint64(0) >> bits.LeadingZeros64(low) &^ (1<<zeros - 1)}
}

// less compares two numbers: ok tells whether that is known.
func (a knownBits) less(b knownBits) (less, ok bool) {
	return a.most() < b.value, a.most() < b.value || a.value >= b.most()
}

// combination is what a function of two numbers makes of them.
func combination(name, typ string, a, b knownBits, width int) knownBits {
	switch name {
	case "add":
		return a.plus(b)
	case "sub":
		return a.minus(b)
	case "and":
		v := a.value & b.value
		return knownBits{v, a.most() & b.most() &^ v}
	case "or":
		v := a.value | b.value
		return knownBits{v, (a.open | b.open) &^ v}
	case "xor":
		open := a.open | b.open
		return knownBits{(a.value ^ b.value) &^ open, open}
	}
	switch { // shifts
	case b.open != 0 || b.value > 63:
	case name == "shl":
		return knownBits{a.value << b.value, a.open << b.value}
	case typ[0] != 's' || a.most() < 1<<(width-1):
		return knownBits{a.value >> b.value, a.open >> b.value}
	}
	return open(64)
}

// mul is that of mul and mad, of the low half or wide.
func mul(in *ptx.Inst, a, b knownBits, width int) knownBits {
	sign, signed := uint64(1)<<(width-1), in.Mods[len(in.Mods)-1][0] == 's'
	switch {
	case in.Has("lo"):
		return a.times(b).cut(width)
	case in.Has("wide") && width < 64 && (!signed || a.most() < sign && b.most() < sign):
		return a.times(b).cut(2 * width)
	}
	return open(64)
}

// comparedAs is the result of a comparison of integers, which may be one number.
func comparedAs(cmp, typ string, width int, a, b knownBits, same bool) knownBits {
	if typ[0] == 's' { // the order of signed numbers is that of unsigned ones with the other sign
		sign := constant(1 << (width - 1))
		a, b = a.plus(sign).cut(width), b.plus(sign).cut(width)
	}
	not := false
	if opposite := map[string]string{"ne": "eq", "ge": "lt", "hs": "lt", "le": "gt", "ls": "gt"}[cmp]; opposite != "" {
		cmp, not = opposite, true
	}
	var is, ok bool
	switch cmp {
	case "eq":
		is = same || a.open|b.open == 0 && a.value == b.value
		ok = is || (a.value^b.value)&^(a.open|b.open) != 0
	case "lt", "lo":
		is, ok = a.less(b)
		ok = ok || same
	case "gt", "hi":
		is, ok = b.less(a)
		ok = ok || same
	}
	if !ok {
		return open(1)
	}
	return constant(bit(is != not))
}

// comparedFloats is the result of a comparison of floating-point numbers, of which only is known whether they are one: it
// may be no number.
func comparedFloats(cmp string, same bool) knownBits {
	if same && (cmp == "lt" || cmp == "gt" || cmp == "ne") {
		return constant(0)
	}
	return open(1)
}

// bounded is what is known of unsigned results that are no larger than an operand.
func bounded(name string, a, b knownBits) knownBits {
	most := a.most()
	switch {
	case a.open|b.open == 0 && (b.value != 0 || name == "min" || name == "max"):
		return constant(map[string]uint64{"min": min(a.value, b.value), "max": max(a.value, b.value), "rem": a.value % max(1, b.value),
			"div": a.value / max(1, b.value)}[name])
	case name == "min":
		most = min(most, b.most())
	case name == "max":
		most = max(most, b.most())
	case b.value == 0: // a division by zero gives anything
		return open(64)
	case name == "rem":
		most = min(most, b.most()-1)
	}
	return open(bits.Len64(most))
}

// lop3 is a function of three numbers, bit by bit, by its table.
func lop3(a, b, c knownBits, table uint64) (v knownBits) {
	for i := range 64 {
		var may [2]bool
		for row := range uint64(8) {
			x, y, z := row>>2&1, row>>1&1, row&1
			fits := func(k knownBits, bit uint64) bool { return (k.value>>i&1 == bit) || k.open>>i&1 == 1 }
			if fits(a, x) && fits(b, y) && fits(c, z) {
				may[table>>row&1] = true
			}
		}
		switch {
		case may[0] && may[1]:
			v.open |= 1 << i
		case may[1]:
			v.value |= 1 << i
		}
	}
	return v
}
