package hazard

import (
	"encoding/binary"

	"optcheck/isa"
)

// word is an instruction by its encoding.
type word struct {
	bits [2]uint64
	c    isa.Control
}

// zero is the general register that reads as zero.
const zero = 255

// encode gives an instruction that ptxas made another result and other operands, up to three.
func encode(low, high uint64, result uint64, operands ...uint64) word {
	low = low&^(0xff<<16) | result<<16
	for i, o := range operands {
		switch i {
		case 0:
			low = low&^(0xff<<24) | o<<24
		case 1:
			low = low&^(0xff<<32) | o<<32
		default:
			high = high&^0xff | o
		}
	}
	c := isa.Control{Kind: isa.ControlFields, Stall: 11, Write: isa.NoBarrier, Read: isa.NoBarrier}
	return word{[2]uint64{low, high &^ (controlMask << controlAt)}, c}
}

// The place of the control code in the upper word.
const (
	controlAt   = 41
	controlMask = 1<<21 - 1
)

// upper is the upper word with a control code.
func (w word) upper(c isa.Control) uint64 { return w.bits[1] | uint64(c.Bits())<<controlAt }

// put writes an instruction into a file.
func (w word) put(at []byte) {
	binary.LittleEndian.PutUint64(at, w.bits[0])
	binary.LittleEndian.PutUint64(at[8:], w.upper(w.c))
}

func (w word) result() uint64      { return w.bits[0] >> 16 & 0xff }
func (w word) writes(b uint8) word { w.c.Write = b; return w }
func (w word) waits(b uint8) word  { w.c.Wait = 1 << b; return w }

// stall lets the next instruction issue so many cycles later, which takes a yield from twelve on; 0 stands for all that drained says.
func (w word) stall(n uint8) word {
	w.c.Stall, w.c.Yield = n, n > 11 || n == 0
	return w
}

// third gives an instruction its third operand.
func (w word) third(r uint64) word {
	w.bits[1] = w.bits[1]&^0xff | r
	return w
}

// under makes an instruction depend on a predicate: 0 to 6, and 15 for none that is ever true.
func (w word) under(guard uint64) word {
	w.bits[0] = w.bits[0]&^(15<<12) | guard<<12
	return w
}

const never = 15

// The instructions that a chip is asked about; d is the result.
func nop() word                   { return encode(0x7918, 0, 0) }
func leave() word                 { return encode(0x794d, 0x03800000, 0) }
func mov(d, n uint64) word        { return encode(0x7802|n<<32, 0xf00, d) }
func movr(d, s uint64) word       { return encode(0x7224, 0x078e0000, d, zero, zero, s) }
func movu(d, s uint64) word       { return encode(0x7c02, 0x08000f00, d, 0, s) }
func imadu(d, s uint64) word      { return encode(0x7e24, 0x0f8e00ff, d, zero, s) }
func umovi(d, n uint64) word      { return encode(0x7882|n<<32, 0, d) }
func umov(d, s uint64) word       { return encode(0x7c82, 0x08000000, d, 0, s) }
func uldc(d uint64) word          { return encode(0x7ab9, 0x800, d) } // the threads of a block
func uiadd(d, a, b uint64) word   { return encode(0x7290, 0x0fffe03f, d, a, b) }
func uiadd64(d, a, b uint64) word { return encode(0x7297, 0x0fffe03f, d, a, b) }
func ulop(d, s uint64) word       { return encode(0xffff00007892, 0x0f8ec03f, d, s) } // the low half
func ulea(d, a, b uint64) word    { return encode(0x7291, 0x0f8e583f, d, a, b) }
func uflo(d, s uint64) word       { return encode(0x72bd, 0x080e0000, d, 0, s) }
func r2ur(d, s uint64) word       { return encode(0x72ca, 0x0e0000, d, s) }
func uisetp(a, b uint64) word     { return encode(0x728c, 0x0bf05270, 0, a, b) } // UP0: a ≠ b
func usel(d, a, b uint64) word    { return encode(0x7287, 0x08000000, d, a, b) } // by UP0
func isetp(a, b uint64) word      { return encode(0x720c, 0x03f05270, 0, a, b) } // P0: a ≠ b
func sel(d, a, b uint64) word     { return encode(0x7207, 0, d, a, b) }          // by P0
func lds(d, address uint64) word  { return encode(0x7984, 0x08000800, d, zero, address).writes(0) }
func mufu(d, s uint64) word       { return encode(0x7308, 0x1000, d, 0, s).writes(0) }
func depbarLeft(left uint64) word { return encode(0x8000<<32|left<<38|0x791a, 0, 0).stall(1) }
func ushf(d, s uint64) word       { return encode(0x043f<<24|0x7899, 0x08011600, d).third(s) } // by four to the right
func lop(d, s uint64) word        { return encode(0x7212, 0x078efcff, d, s, zero) }            // as it is
