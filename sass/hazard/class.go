package hazard

import (
	"slices"
	"strings"

	"optcheck/isa"
)

// class is a group of opcodes that issue to one unit and need the same time; see table.txt. An opcode that the table does not
// name is a class of its own, matrix instructions with their modifiers.
func (t *table) class(in *isa.Inst) string {
	key := in.Op
	for _, m := range in.Mods {
		if c, ok := t.classes[in.Op+"."+m]; ok {
			return c
		}
		if matrix(in.Op) {
			key += "." + m // sizes and types take times of their own
		}
	}
	if c, ok := t.classes[in.Op]; ok {
		return c
	}
	return key
}

// matrix reports whether an opcode is one of matrix instructions.
func matrix(op string) bool { return strings.HasSuffix(op, "MMA") }

// unit is the class of an instruction, or the opcode of a matrix instruction: one unit takes all sizes and types, and reads its
// operands in order.
func (t *table) unit(in *isa.Inst) string {
	if matrix(in.Op) {
		return in.Op
	}
	return t.class(in)
}

// result is the part of a key that tells which result of a producer is meant: by register class, and l for the low half of
// the product of a wide multiplication.
func (t *table) result(in *isa.Inst, r isa.Reg) string {
	k := registers[r.Class]
	if r.Class == isa.ClassGPR && in.Op == "IMAD" && slices.Contains(in.Mods, "WIDE") {
		for i := range in.Args {
			if o := &in.Args[i]; o.Kind == isa.OpdReg {
				if r == o.Reg {
					return "l"
				}
				break
			}
		}
	}
	return k
}

var registers = map[isa.Class]string{isa.ClassGPR: "r", isa.ClassUGPR: "u", isa.ClassPred: "p", isa.ClassUPred: "q", isa.ClassBarrier: "b", isa.ClassCC: "c",
	isa.ClassSpecial: "s"}

// slot is the part of a key that tells how a consumer reads a register: guard, address or data of an access, the addend of a
// wide multiplication (which is read later than the factors), or else by register class.
func slot(in *isa.Inst, r isa.Reg) string {
	switch {
	case in.Guard.Reg == r:
		return "guard"
	case slices.Contains(in.Addrs, r):
		return "addr" + registers[r.Class]
	case slices.Contains(in.Data, r):
		return "data" + registers[r.Class]
	case r.Class == isa.ClassGPR && isAddend(in, r):
		return "ra"
	}
	return registers[r.Class]
}

// consumer names an instruction that reads a register. All read their guards, and all accesses of a unit their operands, in the
// same stage.
func (t *table) consumer(in *isa.Inst, r isa.Reg) string {
	class, slot := t.unit(in), slot(in, r)
	switch unit := t.reader[class]; {
	case slot == "guard":
		class = "any"
	case unit != "" && (slot == "u" || strings.HasPrefix(slot, "addr") || strings.HasPrefix(slot, "data")):
		class = unit
	}
	return class + "." + slot
}

// isAddend tells whether a wide multiplication reads a register as its addend alone.
func isAddend(in *isa.Inst, r isa.Reg) bool {
	if in.Op != "IMAD" || !slices.Contains(in.Mods, "WIDE") && !slices.Contains(in.Mods, "HI") {
		return false
	}
	n, last, factor := 0, -1, false
	dst := true
	for i := range in.Args {
		o := &in.Args[i]
		if o.Kind == isa.OpdPred {
			continue
		}
		if dst {
			dst = false
			continue
		}
		n++
		if o.Kind == isa.OpdReg && !o.Zero && r.Class == o.Reg.Class && r.Num >= o.Reg.Num && r.Num < o.Reg.Num+uint16(max(1, o.Words)) {
			last = n
			factor = factor || n < 3
		}
	}
	return last == 3 && !factor
}
