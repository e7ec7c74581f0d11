package optcheck

import (
	"crypto/sha256"
	"encoding/binary"
	"hash/fnv"
	"strconv"
	"strings"

	"optcheck/isa"
)

// CodeHash identifies the machine code of a kernel up to names. It replaces labels by their targets, symbols by what
// follows their last underscore, and slots of constant bank 4 by the symbol in them (consts, by byte offset; nil if
// not known). Padding at the end does not count.
func CodeHash(fn *isa.Func, consts map[int64]string) (h [16]byte) {
	s := sha256.New()
	buf := make([]byte, 0, 4096)
	end := len(fn.Insts)
	for end > 0 && isPadding(fn, end-1) {
		end--
	}
	for i := 0; i < end; i++ {
		in := &fn.Insts[i]
		if strings.IndexByte(in.Text, '(') >= 0 || strings.Contains(in.Text, "c[0x4]") || strings.Contains(in.Text, " .L") {
			buf = appendNameless(buf, in, consts)
		} else {
			buf = append(buf, in.Text...)
		}
		buf = append(buf, '\n')
	}
	s.Write(buf)
	copy(h[:], s.Sum(nil))
	return h
}

// isPadding reports whether an instruction is padding after a kernel: NOP or a jump to itself.
func isPadding(fn *isa.Func, i int) bool {
	in := &fn.Insts[i]
	return in.Role == isa.RoleNop || in.Flow == isa.FlowJump && in.Target == i
}

func appendNameless(buf []byte, in *isa.Inst, consts map[int64]string) []byte {
	if in.Guard.Reg.Class != isa.ClassNone {
		buf = append(buf, '@', boolByte(in.Guard.Neg), '0'+byte(in.Guard.Reg.Num))
	}
	buf = append(buf, in.Op...)
	for _, m := range in.Mods {
		buf = append(append(buf, '.'), m...)
	}
	for i := range in.Args {
		o := &in.Args[i]
		buf = append(buf, ' ')
		switch o.Kind {
		case isa.OpdSym:
			buf = append(buf, o.Part...)
			buf = append(buf, suffix(o.Sym)...)
		case isa.OpdConst:
			if name, ok := consts[o.Off&^7]; ok && o.Bank == 4 {
				buf = append(buf, suffix(name)...)
				buf = append(buf, '+', '0'+byte(o.Off&7))
				break
			}
			buf = append(buf, o.Text...)
		case isa.OpdLabel:
			buf = strconv.AppendInt(buf, int64(in.Target), 10)
		default:
			buf = append(buf, o.Text...)
		}
	}
	return buf
}

// suffix returns the part of a name after its last underscore.
func suffix(name string) string { return name[strings.LastIndexByte(name, '_')+1:] }

func boolByte(b bool) byte {
	if b {
		return '!'
	}
	return ' '
}

// LineHash identifies the line information of a kernel.
func LineHash(fn *isa.Func) uint64 {
	h := fnv.New64a()
	var b [4]byte
	for i := range fn.Insts {
		l := uint32(fn.Insts[i].Src.Line)
		b[0], b[1], b[2], b[3] = byte(l), byte(l>>8), byte(l>>16), byte(l>>24)
		h.Write(b[:])
	}
	return h.Sum64()
}

// ControlHash identifies the control codes of a kernel, which CodeHash leaves out.
func ControlHash(fn *isa.Func) uint64 {
	h := fnv.New64a()
	var buf [8]byte
	for i := range fn.Insts {
		c := fn.Insts[i].Control
		binary.LittleEndian.PutUint32(buf[:], c.Bits())
		buf[4], buf[5] = byte(c.Kind), c.Sched
		h.Write(buf[:6])
	}
	return h.Sum64()
}
