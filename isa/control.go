package isa

import (
	"fmt"
	"strings"
)

// Control is what an NVIDIA compiler tells the scheduler about an instruction: hardware checks
// neither fixed latencies nor, by itself, registers of outstanding operations. It applies to
// Maxwell and later (maxas, Control Codes; Jia et al., Dissecting the Volta GPU Architecture,
// table 3.1). Kepler has a byte that is only partly understood, which is kept unchanged.
type Control struct {
	Kind ControlKind
	// Stall is the number of cycles before the warp's next instruction.
	Stall uint8
	// Yield tells the scheduler to prefer another warp.
	Yield bool
	// Write and Read are the scoreboard barriers that the instruction releases when its result
	// is available and when its operands have been read: 0 to 5, or NoBarrier.
	Write, Read uint8
	// Wait is the set of barriers that must be free before the instruction issues: bit i is
	// barrier i.
	Wait uint8
	// Reuse is the set of operand slots whose registers are kept for the next
	// instruction.
	Reuse uint8
	// Sched is the scheduling byte of Kepler.
	Sched uint8
}

// ControlKind says which control code an instruction has.
type ControlKind uint8

// The kinds of control codes.
const (
	ControlNone   ControlKind = iota // unknown: the listing has no encodings
	ControlKepler                    // one byte: Sched
	ControlFields                    // Maxwell and later: all other fields
)

// NoBarrier is the number that stands for no scoreboard barrier.
const NoBarrier = 7

// Bit positions in the 21-bit control code of Maxwell and later.
const (
	controlBits = 21
	yieldShift  = 4
	writeShift  = 5
	readShift   = 8
	waitShift   = 11
	reuseShift  = 17
)

// ControlOf decodes the 21 bits of a control code of Maxwell and later.
func ControlOf(bits uint32) Control {
	return Control{Kind: ControlFields, Stall: uint8(bits & 15), Yield: bits>>yieldShift&1 == 0, Write: uint8(bits >> writeShift & 7),
		Read: uint8(bits >> readShift & 7), Wait: uint8(bits >> waitShift & 63), Reuse: uint8(bits >> reuseShift & 15)}
}

// Bits is the inverse of ControlOf.
func (c Control) Bits() uint32 {
	bits := uint32(c.Stall) | uint32(c.Write)<<writeShift | uint32(c.Read)<<readShift | uint32(c.Wait)<<waitShift | uint32(c.Reuse)<<reuseShift
	if !c.Yield {
		bits |= 1 << yieldShift
	}
	return bits
}

// String formats a control code in the order wait, read, write, yield, stall, as CuAssembler
// does: B01----:R-:W2:Y:S04; Kepler's as its byte.
func (c Control) String() string {
	switch c.Kind {
	case ControlNone:
		return ""
	case ControlKepler:
		return fmt.Sprintf("%02x", c.Sched)
	}
	var b strings.Builder
	b.WriteByte('B')
	for i := range 6 {
		if c.Wait>>i&1 == 1 {
			b.WriteByte('0' + byte(i))
		} else {
			b.WriteByte('-')
		}
	}
	for _, x := range []struct {
		name    string
		barrier uint8
	}{{":R", c.Read}, {":W", c.Write}} {
		b.WriteString(x.name)
		if x.barrier == NoBarrier {
			b.WriteByte('-')
		} else {
			b.WriteByte('0' + x.barrier)
		}
	}
	if c.Yield {
		b.WriteString(":Y")
	} else {
		b.WriteString(":-")
	}
	fmt.Fprintf(&b, ":S%02d", c.Stall)
	return b.String()
}
