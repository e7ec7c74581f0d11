package refine

import (
	"errors"
	"slices"

	"optcheck/emu"
	"optcheck/ir"
)

// unproved lists the forms that a run performed and whose meaning no chip has confirmed.
func unproved(p *ir.Program, cover *emu.Coverage) (forms []string) {
	for i := range p.Insts {
		if in := &p.Insts[i]; in.Unproved && cover.Insts[i] && !slices.Contains(forms, in.Form) {
			forms = append(forms, in.Form)
		}
	}
	slices.Sort(forms)
	return forms
}

// twists are what results of unproved forms are changed by: one of them changes every predicate and number, the other numbers
// without their lowest bit.
var twists = [2]uint64{1, 0xa5a5a5a4}

// restsOn returns the forms if a difference may rest on them: on what they do, or on the values that they make, unless it is
// the same when these are others. (The first one of each run is compared: of two differences only the first may acquit the forms.)
func (c *comparison) restsOn(a *accuse, forms []string, replay func(*emu.Code) error) []string {
	for i := range c.machine.Insts {
		if in := &c.machine.Insts[i]; in.Unproved && slices.Contains(forms, in.Form) && acts(in.Do, a, int(a.Pc) == i) {
			return forms
		}
	}
	for _, t := range twists {
		if len(forms) == 0 {
			break
		}
		code, err := emu.Prepare(twisted(c.machine, t))
		if err != nil {
			return forms
		}
		var b *accuse
		if !errors.As(replay(code), &b) || b.Rule != a.Rule || b.Lane != a.Lane || b.Pc != a.Pc || b.Word != a.Word || b.Want != a.Want || b.Got != a.Got {
			return forms
		}
	}
	return nil
}

// acts reports whether a difference may be what a misread instruction does, besides setting registers; at tells that it was found
// there. A strong access that was found in the record is no misread one.
func acts(e ir.Effect, a *accuse, at bool) bool {
	switch do := e.(type) {
	case nil, *ir.Warp, *ir.Special:
		return false
	case *ir.Access:
		return at || do.Kind == ir.Store && do.Sem == ir.Weak && a.Pc < 0
	case *ir.Fence:
		return do.Proxy == "" && !do.Part
	case *ir.Flow:
		return do.Kind != ir.Yield
	}
	return true
}

// twisted is a program whose unproved instructions have other results.
func twisted(p *ir.Program, twist uint64) *ir.Program {
	q := *p
	k := ir.Reg(q.Regs)
	q.Regs++
	q.Consts = append(slices.Clone(p.Consts), ir.Const{Reg: k, Value: twist})
	q.Insts = slices.Clone(p.Insts)
	for i := range q.Insts {
		if in := &q.Insts[i]; in.Unproved {
			in.Pre, in.Post = slices.Clone(in.Pre), slices.Clone(in.Post)
			list := &in.Pre
			if in.Do != nil {
				list = &in.Post
			}
			for _, r := range written(&p.Insts[i]) {
				*list = append(*list, ir.Op{Code: ir.Xor, Type: ir.U64, To: ir.U64, Dst: r, Src: [4]ir.Reg{r, k, ir.None, ir.None}})
			}
		}
	}
	return &q
}

// written are the registers that an instruction sets.
func written(in *ir.Inst) (regs []ir.Reg) {
	add := func(list ...ir.Reg) {
		for _, r := range list {
			if r >= 0 && !slices.Contains(regs, r) {
				regs = append(regs, r)
			}
		}
	}
	if in.Do == nil {
		for i := range in.Pre {
			add(in.Pre[i].Dst)
		}
	}
	for i := range in.Post {
		add(in.Post[i].Dst)
	}
	switch do := in.Do.(type) {
	case *ir.Access:
		if do.Kind == ir.Load {
			add(do.Data...)
			add(do.Fragments...)
		}
		add(do.Dst...)
		add(do.Done)
	case *ir.Warp:
		add(do.Dst, do.Pred)
		add(do.Dsts...)
	case *ir.Special:
		add(do.Dst)
	}
	return regs
}
