package ptxgen

import (
	"fmt"
	"slices"
	"strings"

	"optcheck/litmus"
	"optcheck/spec"
)

// word emits an access whose mnemonic is a fixed word, with the first of its registers, and with each of them what its
// result needs.
func (k *body) word(in *litmus.Instr, ents []*spec.Entry) error {
	if in.Part == 0 {
		if err := k.parts(k.th.Parts(k.at), ents[0].Loc); err != nil {
			return err
		}
	}
	if in.Op != litmus.OpLd && in.Op != litmus.OpAtom {
		return nil
	}
	_, read := k.copies(ents)
	k.inRounds(read)
	for _, c := range read {
		k.keep(c.guard, fmt.Sprintf("%%m%d", c.Pos), reg(in.Dst), k.regs[in.Dst])
		if in.Op == litmus.OpLd && c.Kind.Width == 8 {
			k.keepHigh(c.guard, c.Pos, reg(in.Dst))
		}
	}
	return nil
}

// typeOf is the type of what holds a value: a register of the test, or one for a number of 32 bits.
func (k *body) typeOf(o litmus.Operand) litmus.Type {
	if o.Kind == litmus.OperandReg {
		return k.regs[o.Name]
	}
	return litmus.U32
}

// parts emits an access of some registers; of 128 bits in a block, with registers of its own.
func (k *body) parts(parts []litmus.Instr, loc int) error {
	in := &parts[0]
	name := in.Word.Spelled(k.e.space(loc))
	if !slices.Contains(in.Word.Spaces, k.e.space(loc)) {
		return unsupported("%s in %v memory", in.Mnemonic(), k.e.space(loc))
	}
	if k.far(loc) {
		name = spelledFar(name)
	}
	var dst, before, after []string
	src := make([][]string, len(in.Src)) // by operand
	declared := ""
	for i := range parts {
		p := &parts[i]
		if p.Dst != "" {
			dst = append(dst, reg(p.Dst))
		}
		for n, s := range p.Src {
			v, err := k.value(s, p.Type)
			if err != nil {
				return err
			}
			src[n] = append(src[n], v)
		}
	}
	g := guard(in)
	if in.Word.Whole {
		declared = ".reg .b128 %whole, %more;"
		for n, name := range []string{"%whole", "%more"}[:len(src)] {
			before, src[n] = append(before, g+"mov.b128 "+name+", {"+strings.Join(src[n], ", ")+"};"), []string{name}
		}
		if len(dst) > 0 {
			after, dst = append(after, g+"mov.b128 {"+strings.Join(dst, ", ")+"}, %whole;"), []string{"%whole"}
		}
	}
	if (in.Op == litmus.OpAtom || in.Op == litmus.OpRed) && in.Type.Bits() == 16 { // other registers have 32
		declared = ".reg .b16 %new, %old;"
		before, src[0] = append(before, fmt.Sprintf("%scvt.u16.%s %%new, %s;", g, unsignedOf(k.typeOf(in.Src[0])), src[0][0])), []string{"%new"}
		if len(dst) > 0 {
			after, dst = append(after, fmt.Sprintf("%scvt.%s.u16 %s, %%old;", g, unsignedOf(k.regs[in.Dst]), dst[0])), []string{"%old"}
		}
	}
	list := func(regs []string) string {
		if len(regs) > 1 {
			return "{" + strings.Join(regs, ", ") + "}"
		}
		return strings.Join(regs, "")
	}
	ops := []string{list(dst), k.operandAddr(in, loc)}
	for _, regs := range src {
		ops = append(ops, list(regs))
	}
	ops = slices.DeleteFunc(ops, func(s string) bool { return s == "" })
	access := g + name + " " + strings.Join(ops, ", ") + ";"
	if declared == "" {
		k.c("%s", access)
		return nil
	}
	k.c("{ %s %s }", declared, strings.Join(append(append(before, access), after...), " "))
	return nil
}
