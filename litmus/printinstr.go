package litmus

import (
	"strconv"
	"strings"
)

// String formats the instruction in PTX's spelling, without its labels: "@!p4 ld.cg.s32
// r1,[r3]". It is meant for messages; Test.String prints the dialect's own spelling.
func (in *Instr) String() string { return string(appendInstr(nil, []Instr{*in}, GPUPTX)) }

// Mnemonic prints the opcode and its modifiers, in PTX's spelling and order.
func (in *Instr) Mnemonic() string { return string(appendMnemonic(nil, in, GPUPTX)) }

// String prints the operand: a number, a register or a location.
func (o Operand) String() string { return string(appendOperand(nil, o)) }

// String prints the address in PTX's spelling: "[r1+4]".
func (a Addr) String() string { return string(appendAddr(nil, a, GPUPTX)) }

// appendConst prints large numbers, which are masks, in hexadecimal.
func appendConst(b []byte, v int64) []byte {
	if v >= 1<<24 {
		return strconv.AppendInt(append(b, "0x"...), v, 16)
	}
	return strconv.AppendInt(b, v, 10)
}

func appendOperand(b []byte, o Operand) []byte {
	switch o.Kind {
	case OperandConst:
		return appendConst(b, o.Value)
	case OperandReg, OperandLoc:
		return append(b, o.Name...)
	}
	return b
}

func appendAddr(b []byte, a Addr, d Dialect) []byte {
	base := a.Reg
	if base == "" {
		base = a.Loc
	}
	if d == PTX && a.Reg == "" && a.Offset == 0 {
		return append(b, base...)
	}
	b = append(append(b, '['), base...)
	if a.Offset != 0 {
		if a.Offset > 0 {
			b = append(b, '+')
		}
		b = strconv.AppendInt(b, a.Offset, 10)
	}
	return append(b, ']')
}

func appendMod(b []byte, m string) []byte {
	if m == "" {
		return b
	}
	return append(append(b, '.'), m...)
}

// mnemonic returns the first word of the instruction in a dialect.
func mnemonic(in *Instr, d Dialect) string {
	if in.Op == OpMov && d == PTX && in.Type == TypeNone && len(in.Src) > 0 &&
		(in.Src[0].Kind == OperandConst || in.Src[0].Kind == OperandReg && regLike(in.Src[0].Name)) {
		return "ld"
	}
	if oc := d.opcodeOf(in); oc != nil {
		return oc.name
	}
	return in.Op.String()
}

// Words before an instruction: a function performs it; the location is prefetched.
const (
	callWord     = "call"
	prefetchWord = "prefetch.L"
)

// dress reads a word that may stand before an instruction, each once.
func (in *Instr) dress(word string) bool {
	level := strings.TrimPrefix(word, prefetchWord)
	switch {
	case word == callWord && !in.Call:
		in.Call = true
	case level != word && (level == "1" || level == "2") && in.Prefetch == 0:
		in.Prefetch = level[0] - '0'
	default:
		return false
	}
	return true
}

// appendInstr prints an instruction, or all parts of one.
func appendInstr(b []byte, parts []Instr, d Dialect) []byte {
	in := &parts[0]
	if g := in.Guard; g != nil {
		b = append(b, '@')
		if g.Neg {
			b = append(b, '!')
		}
		b = append(append(b, g.Reg...), ' ')
	}
	if in.Call {
		b = append(b, callWord+" "...)
	}
	if in.Prefetch > 0 {
		b = append(strconv.AppendUint(append(b, prefetchWord...), uint64(in.Prefetch), 10), ' ')
	}
	b = appendMnemonic(b, in, d)
	if in.Op == OpBar {
		return appendBar(b, in, d)
	}
	if in.Op == OpAsync && in.Async != nil {
		return appendAsync(b, in, d)
	}
	if in.Word != nil {
		return appendWord(b, parts, d)
	}
	return appendOperands(b, in, d)
}

// appendMnemonic prints the opcode with its modifiers.
func appendMnemonic(b []byte, in *Instr, d Dialect) []byte {
	if in.Op == OpAsync && in.Async != nil {
		return append(b, in.Async.Name...)
	}
	if in.Word != nil {
		return append(b, in.Word.Spelled(in.Space)...)
	}
	b = append(b, mnemonic(in, d)...)
	if in.Op == OpFenceProxy {
		return appendMod(b, in.Proxy.String())
	}
	if in.Op > OpBra || len(opcodesOf[in.Op]) == 0 {
		return b
	}
	v := in.values()
	for _, cl := range opcodesOf[in.Op][0].mods {
		if cl == clLo {
			if in.Type != TypeNone {
				b = append(b, ".lo"...)
			}
			continue
		}
		i, _ := cl.dim()
		b = appendMod(b, valueName(in.Op, i, v[i]))
		if i == dimSem && in.Sem == SemMMIO {
			b = append(b, ".relaxed"...)
		}
	}
	return b
}

func appendOperands(b []byte, in *Instr, d Dialect) []byte {
	sep := " "
	comma := func() {
		b = append(b, sep...)
		if sep = ","; d == PTX {
			sep = ", "
		}
	}
	if in.Dst != "" {
		comma()
		b = append(b, in.Dst...)
	}
	if in.Op.IsAccess() {
		comma()
		b = appendAddr(b, in.Addr, d)
	}
	for _, o := range in.Src {
		comma()
		b = appendOperand(b, o)
	}
	if in.Op == OpBra {
		comma()
		b = append(b, in.Target...)
	}
	return b
}

// appendBar prints mode and operands of a barrier. Dialect PTX writes .cta, and a second
// operand then is a barrier resource and not a thread count.
func appendBar(b []byte, in *Instr, d Dialect) []byte {
	sep := ","
	if d == PTX {
		sep = ", "
		if in.Barrier.Quorum.Kind == OperandNone || in.Barrier.Resource.Kind != OperandNone {
			b = append(b, ".cta"...)
		}
	}
	mode := ".sync "
	if in.Barrier.Arrive {
		mode = ".arrive "
	}
	b = appendOperand(append(b, mode...), in.Barrier.ID)
	if in.Barrier.Resource.Kind != OperandNone {
		b = appendOperand(append(b, sep...), in.Barrier.Resource)
	}
	if in.Barrier.Quorum.Kind != OperandNone {
		b = appendOperand(append(b, sep...), in.Barrier.Quorum)
	}
	return b
}
