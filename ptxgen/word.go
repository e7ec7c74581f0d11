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
	var dst, src, before, after []string
	declared := ""
	for i := range parts {
		p := &parts[i]
		if p.Dst != "" {
			dst = append(dst, reg(p.Dst))
		}
		for _, s := range p.Src {
			v, err := k.value(s, p.Type)
			if err != nil {
				return err
			}
			src = append(src, v)
		}
	}
	g := guard(in)
	if in.Word.Whole {
		declared = ".reg .b128 %whole;"
		if len(src) > 0 {
			before, src = append(before, g+"mov.b128 %whole, {"+strings.Join(src, ", ")+"};"), []string{"%whole"}
		}
		if len(dst) > 0 {
			after, dst = append(after, g+"mov.b128 {"+strings.Join(dst, ", ")+"}, %whole;"), []string{"%whole"}
		}
	}
	list := func(regs []string) string {
		if len(regs) > 1 {
			return "{" + strings.Join(regs, ", ") + "}"
		}
		return strings.Join(regs, "")
	}
	ops := slices.DeleteFunc([]string{list(dst), k.operandAddr(in, loc), list(src)}, func(s string) bool { return s == "" })
	access := g + name + " " + strings.Join(ops, ", ") + ";"
	if declared == "" {
		k.c("%s", access)
		return nil
	}
	k.c("{ %s %s }", declared, strings.Join(append(append(before, access), after...), " "))
	return nil
}
