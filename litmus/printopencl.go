package litmus

import "strings"

// appendCDecl prints "int *p = x;" after the thread's number.
func appendCDecl(b []byte, d *RegDecl) []byte {
	switch {
	case d.Type == B64:
		b = append(b, "int *"...)
	default:
		b = append(append(b, cName(d.Type)...), ' ')
	}
	b = append(b, d.Name...)
	if d.Init.Kind != OperandNone {
		b = appendOperand(append(b, " = "...), d.Init)
	}
	return append(b, ';')
}

// cPointer formats the pointer argument of an access.
func cPointer(in *Instr) string {
	base := in.Addr.Reg
	if base == "" {
		base = in.Addr.Loc
	}
	var words []string
	if in.Sem == SemVolatile {
		words = append(words, "volatile")
	}
	switch in.Space {
	case Global:
		words = append(words, "global")
	case Shared:
		words = append(words, "local")
	}
	if t := cName(in.Type); t != "int" || len(words) > 0 {
		words = append(words, t)
	}
	if len(words) == 0 {
		return base
	}
	return "(" + strings.Join(words, " ") + " *)" + base
}

func cFlags(s Space) string {
	switch s {
	case Global:
		return cGlobalFlag
	case Shared:
		return cLocalFlag
	}
	return cLocalFlag + " | " + cGlobalFlag
}

// cOrder formats ", memory_order_…, memory_scope_…".
func cOrder(in *Instr) string {
	order := func(s Sem) string {
		if s < SemRelaxed {
			return ", " + s.String()
		}
		return ", " + cOrders[s-SemRelaxed].name
	}
	out := order(in.Sem)
	if in.Op == OpAtom && in.Atom == AtomCAS {
		out += order(failureOrder(in.Sem))
	}
	for _, s := range cScopes {
		if s.scope == in.Scope {
			return out + ", " + s.name
		}
	}
	return out + ", " + in.Scope.String()
}

// appendC prints a statement of dialect GPU_OPENCL without its labels. What the dialect cannot
// express is printed in PTX's spelling, which the dialect does not read.
func appendC(b []byte, in *Instr) []byte {
	s, ok := cStatement(in)
	if !ok {
		return appendInstr(b, []Instr{*in}, GPUPTX)
	}
	if g := in.Guard; g != nil {
		neg := ""
		if g.Neg {
			neg = "!"
		}
		b = append(b, "if ("+neg+g.Reg+") "...)
	}
	if in.Dst != "" {
		b = append(b, in.Dst+" = "...)
	}
	return append(b, s...)
}

var cSigns = map[Op]string{OpAdd: "+", OpSub: "-", OpMul: "*", OpDiv: "/", OpAnd: "&", OpXor: "^", OpShl: "<<", OpShr: ">>"}

func cStatement(in *Instr) (string, bool) {
	src := make([]string, len(in.Src))
	for i, o := range in.Src {
		src[i] = o.String()
	}
	if len(src) != arity(in) {
		return "", false
	}
	switch in.Op {
	case OpLd:
		if in.Sem >= SemRelaxed {
			return "atomic_load_explicit(" + cPointer(in) + cOrder(in) + ")", true
		}
		return "*" + cPointer(in), true
	case OpSt:
		if in.Sem >= SemRelaxed {
			return "atomic_store_explicit(" + cPointer(in) + ", " + src[0] + cOrder(in) + ")", true
		}
		return "*" + cPointer(in) + " = " + src[0], true
	case OpAtom, OpRed:
		return cAtomCall(in, src)
	case OpFence:
		if in.Scope == ScopeNone {
			return memFence(in.Sem) + "(" + cFlags(in.Space) + ")", memFence(in.Sem) != ""
		}
		return "atomic_work_item_fence(" + cFlags(in.Space) + cOrder(in) + ")", true
	case OpBar:
		return "barrier(" + cFlags(in.Space) + ")", true
	case OpBra:
		if in.Cmp != CmpNone {
			return "if (" + src[0] + " " + cSign(in.Cmp) + " " + src[1] + ") goto " + in.Target, true
		}
		return "goto " + in.Target, true
	case OpMov:
		return src[0], true
	case OpCvt:
		return "(" + cName(in.Type) + ")(" + cName(in.FromType) + ")" + src[0], true
	case OpNot:
		return "~" + src[0], true
	case OpOr:
		return "(" + src[0] + " | " + src[1] + ")", true
	case OpSetp:
		return src[0] + " " + cSign(in.Cmp) + " " + src[1], true
	case OpSelp:
		return src[2] + " ? " + src[0] + " : " + src[1], true
	}
	sign, ok := cSigns[in.Op]
	if !ok {
		return "", false
	}
	return src[0] + " " + sign + " " + src[1], true
}

func cSign(c Cmp) string {
	if c == CmpEq {
		return "=="
	}
	return c.Sign()
}

func cAtomCall(in *Instr, src []string) (string, bool) {
	for _, a := range cAtoms {
		if a.op != in.Atom {
			continue
		}
		args := strings.Join(append([]string{cPointer(in)}, src...), ", ")
		if in.Sem == SemNone {
			return "atomic_" + a.name + "(" + args + ")", true
		}
		return "atomic_" + a.name2 + "_explicit(" + args + cOrder(in) + ")", a.name2 != ""
	}
	return "", false
}
