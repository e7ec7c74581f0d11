package cubin

import (
	"encoding/binary"
	"fmt"
	"slices"

	"optcheck/isa"
)

// Word is one instruction in the code.
type Word struct {
	Addr uint64
	// Code is the encoding without the parts that only control the scheduler: one word before
	// sm_70, two since. The flags for the reuse of operands stay, because disassemblers print
	// them; before sm_70 they are the second word.
	Code [2]uint64
	// Raw is the complete encoding, since sm_70 including the control code.
	Raw     [2]uint64
	Control isa.Control
}

// Format is how a generation arranges its code.
type Format struct {
	Wide  bool // instructions of 16 bytes, each with its control code (sm_70 and newer)
	Group int  // bytes of a group that begins with a word of control codes; 0 if Wide
}

// FormatOf returns the format of a target's code.
func FormatOf(sm int) (Format, error) {
	switch {
	case sm >= 70 && sm < 200:
		return Format{Wide: true}, nil
	case sm >= 50 && sm < 70:
		return Format{Group: 32}, nil
	case sm >= 35 && sm < 40:
		return Format{Group: 64}, nil
	}
	return Format{}, fmt.Errorf("the encoding of sm_%d is not known", sm)
}

// Size returns the number of bytes of an instruction.
func (f Format) Size() int {
	if f.Wide {
		return 16
	}
	return 8
}

// Positions of control codes.
const (
	wideControl = 41 // their lowest bit in the upper word of an instruction
	controlMask = 1<<21 - 1
	reuseMask   = 15 << 17
	// idle is a control code without effect: one cycle, no yield, no barrier.
	// (With no cycle, Maxwell's instructions are issued in pairs.)
	idle = 1 | 1<<4 | 7<<5 | 7<<8

	keplerFirst = 2 // bits before the first byte in Kepler's word
)

// Words splits code into instructions, without words of control codes.
func (f Format) Words(code []byte) []Word {
	return f.AppendWords(make([]Word, 0, len(code)/f.Size()), code)
}

// AppendWords is Words, appending to a slice.
func (f Format) AppendWords(out []Word, code []byte) []Word {
	le := binary.LittleEndian
	if f.Wide {
		for at := 0; at+16 <= len(code); at += 16 {
			w := Word{Addr: uint64(at), Raw: [2]uint64{le.Uint64(code[at:]), le.Uint64(code[at+8:])}}
			w.Control = f.Control(w.Raw[1], 0)
			w.Code = w.Raw
			w.Code[1] &^= (controlMask &^ reuseMask) << wideControl
			out = append(out, w)
		}
		return out
	}
	var control uint64
	for at := 0; at+8 <= len(code); at += 8 {
		v := le.Uint64(code[at:])
		slot := at % f.Group / 8
		if slot == 0 {
			if control = v; f.IsControl(v) {
				continue
			}
		}
		w := Word{Addr: uint64(at), Raw: [2]uint64{v}}
		if f.IsControl(control) && slot > 0 {
			w.Control = f.Control(control, f.Slot(w.Addr))
		}
		w.Code = [2]uint64{v, uint64(w.Control.Reuse)}
		out = append(out, w)
	}
	return out
}

// IsControl reports whether the first word of a group holds control codes. A group of Kepler
// need not begin with one: ptxas 11.2 pads code of -O0 with groups that have none. The control
// word has an opcode of its own.
func (f Format) IsControl(word uint64) bool {
	return f.Group == 32 || word&3 == 0 && word>>58 == keplerControl>>58
}

// Slot returns the index of an instruction in its group, from 0; 0 if there are no groups.
func (f Format) Slot(addr uint64) int {
	if f.Wide {
		return 0
	}
	return int(addr%uint64(f.Group)/8) - 1
}

// Control decodes the control code of an instruction, from its upper word or from the word of
// its group.
func (f Format) Control(word uint64, slot int) isa.Control {
	switch {
	case f.Wide:
		return isa.ControlOf(uint32(word >> wideControl & controlMask))
	case slot < 0:
		return isa.Control{}
	case f.Group == 64:
		return isa.Control{Kind: isa.ControlKepler, Sched: uint8(word >> (keplerFirst + 8*slot))}
	}
	return isa.ControlOf(uint32(word >> (21 * slot) & controlMask))
}

// Place returns the address of instruction n of code.
func (f Format) Place(n int) uint64 {
	if f.Wide {
		return uint64(n) * 16
	}
	per := f.Group/8 - 1
	return uint64(n/per*f.Group + (n%per+1)*8)
}

// Join assembles code from encodings, with control codes that have no effect except the reuse
// of operands. Up to these it is the inverse of Words.
func (f Format) Join(words [][2]uint64) []byte {
	if len(words) == 0 {
		return nil
	}
	if !f.Wide { // full groups, of instructions
		words = slices.Clip(words)
		for len(words)%(f.Group/8-1) != 0 {
			words = append(words, words[0])
		}
	}
	size := int(f.Place(len(words)-1)) + f.Size()
	code, le := make([]byte, size), binary.LittleEndian
	for n, w := range words {
		at := f.Place(n)
		le.PutUint64(code[at:], w[0])
		switch {
		case f.Wide:
			le.PutUint64(code[at+8:], w[1]|idle<<wideControl)
		case f.Group == 32:
			group := code[at-at%32:]
			le.PutUint64(group, le.Uint64(group)|(idle|w[1]<<17)<<(21*(at%32/8-1)))
		}
	}
	if f.Group == 64 {
		for at := 0; at < size; at += 64 {
			le.PutUint64(code[at:], keplerControl)
		}
	}
	return code
}

// keplerControl is a word of control codes of Kepler: its opcode, and no stalls.
const keplerControl = 0x08 << 56
