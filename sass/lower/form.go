package lower

import (
	"strings"

	"optcheck/isa"
)

// form is the kind of an instruction: opcode, modifiers, and kinds and modifiers of its operands.
func form(in *isa.Inst) string {
	var b strings.Builder
	b.WriteString(in.Op)
	for _, m := range in.Mods {
		b.WriteByte('.')
		b.WriteString(m)
	}
	for i := range in.Args {
		b.WriteByte(" ,"[min(i, 1)])
		kind(&b, &in.Args[i])
	}
	return b.String()
}

var classes = map[isa.Class]string{isa.ClassGPR: "R", isa.ClassUGPR: "UR", isa.ClassPred: "P", isa.ClassUPred: "UP", isa.ClassBarrier: "B",
	isa.ClassCC: "CC"}

// kind is the kind of an operand.
func kind(b *strings.Builder, o *isa.Operand) {
	switch {
	case o.Neg:
		b.WriteByte('-')
	case o.Not && o.Kind == isa.OpdPred:
		b.WriteByte('!')
	case o.Not:
		b.WriteByte('~')
	}
	if o.Abs {
		b.WriteByte('|')
	}
	switch o.Kind {
	case isa.OpdReg, isa.OpdPred:
		b.WriteString(classes[o.Reg.Class])
		if o.Part != "" {
			b.WriteString("." + o.Part)
		}
	case isa.OpdImm:
		b.WriteString("imm")
	case isa.OpdFloat:
		b.WriteString("float")
	case isa.OpdConst:
		b.WriteByte('c')
		if o.Bank >= 0 && o.Bank < 10 {
			b.WriteByte('0' + byte(o.Bank))
		}
		if terms, ok := addressTerms(o.Text); ok && len(terms) > 0 {
			b.WriteString("[" + addressKind(terms) + "]")
		}
		if o.Part != "" {
			b.WriteString("." + o.Part)
		}
	case isa.OpdMem:
		terms, _ := addressTerms(o.Text)
		b.WriteString("[" + addressKind(terms) + "]")
	case isa.OpdLabel:
		b.WriteByte('L')
	case isa.OpdSym:
		b.WriteString("sym." + o.Part)
	default:
		b.WriteString(o.Sym)
	}
	if o.Abs {
		b.WriteByte('|')
	}
}

// addressKind names the registers of an address.
func addressKind(terms []term) string {
	var names []string
	for _, t := range terms {
		if t.class == isa.ClassNone {
			continue
		}
		n := classes[t.class]
		if t.part != "" {
			n += "." + t.part
		}
		names = append(names, n)
	}
	return strings.Join(names, "+")
}
