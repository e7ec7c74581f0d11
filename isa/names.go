package isa

import "strconv"

func name(names []string, i int) string {
	if i < len(names) {
		return names[i]
	}
	return "?" + strconv.Itoa(i)
}

var roleNames = []string{"unknown", "alu", "const", "load", "store", "atomic", "reduction", "fence", "barrier", "cache", "branch", "wait",
	"nop", "copy"}

// String returns the role in lower case: load, fence, …
func (r Role) String() string { return name(roleNames, int(r)) }

var spaceNames = []string{"none", "generic", "global", "shared", "local", "const", "texture", "region"}

// String returns the space in lower case: global, shared, …
func (s Space) String() string { return name(spaceNames, int(s)) }

var strengthNames = []string{"weak", "constant", "strong", "mmio", "fence.all", "fence.sc"}

// String returns the strength in lower case: weak, strong, fence.sc, …
func (s Strength) String() string { return name(strengthNames, int(s)) }

var scopeNames = []string{"none", "cta", "cluster", "gpu", "sys"}

// String returns the scope in lower case: cta, gpu, …
func (s Scope) String() string { return name(scopeNames, int(s)) }

var flowNames = []string{"next", "jump", "indirect", "call", "return", "exit", "push", "pop", "trap"}

// String returns the flow in lower case: jump, exit, …
func (f Flow) String() string { return name(flowNames, int(f)) }

var classNames = []string{"none", "gpr", "ugpr", "pred", "upred", "cc", "barrier", "special", "acc"}

// String returns the register class in lower case: gpr, pred, …
func (c Class) String() string { return name(classNames, int(c)) }

var kindNames = []string{"none", "reg", "pred", "imm", "float", "const", "mem", "label", "special", "sym"}

// String returns the operand kind in lower case: reg, imm, …
func (k OperandKind) String() string { return name(kindNames, int(k)) }

var microNames = []string{"opaque", "mov", "add", "addhi", "carry", "lop3", "mul", "mulhi", "mad", "madhi", "shl", "shr", "shfhi", "sel",
	"setp", "plop",
	"special", "prmt", "carry2", "lea", "leacarry", "leahi", "shflo", "addwide", "bfe", "shlor", "addshl", "xoradd", "min", "max", "bit",
	"setpwide", "first", "lanecount", "lanebits", "test", "selcmp", "laneset"}

// String returns the micro-operation in lower case: mov, lop3, …
func (op MicroOp) String() string { return name(microNames, int(op)) }

var classPrefix = []string{"?", "R", "UR", "P", "UP", "CC", "B", "S", "A"}

// String returns the register as NVIDIA writes it: R4, UR2, P0, UP1, CC, B0; AMD's
// special registers have their own names: exec_lo, vcc_lo, scc.
func (r Reg) String() string {
	switch r.Class {
	case ClassNone:
		return "-"
	case ClassCC:
		return "CC"
	case ClassSpecial:
		if int(r.Num) < len(specialNames) {
			return specialNames[r.Num]
		}
	}
	return name(classPrefix, int(r.Class)) + strconv.Itoa(int(r.Num))
}

// String returns the guard as printed, "" if there is none: @P0, @!UP1, @!PT.
func (g Guard) String() string {
	switch {
	case g.Never:
		return "@!PT"
	case g.Reg.Class == ClassNone:
		return ""
	case g.Neg:
		return "@!" + g.Reg.String()
	}
	return "@" + g.Reg.String()
}
