package refine

import (
	"errors"
	"slices"
	"strings"

	"optcheck/emu"
	"optcheck/ir"
)

// Doubt says what may explain a difference besides a mistake of the compiler; "" if nothing.
func (f *Finding) Doubt() string {
	switch {
	case f.Approximate:
		return "approximate functions"
	case f.Apart:
		return "that its lanes are never apart where the machine code asks whether they are"
	case len(f.Unproved) > 0:
		return "a reading that no chip has confirmed (" + strings.Join(f.Unproved, "; ") + ")"
	}
	return ""
}

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

// restsOn reports whether a difference may rest on what is not known for sure of what a run performed: forms that are unproved, on what they
// do or on the values that they make, and approximate functions if the program performs some. It does unless it is the same when their results
// are others, on both sides. (The first one of each run is compared: of two differences only the first may be found so.)
func (c *comparison) restsOn(a *accuse, approximate bool, in *Input, g *emu.Grid, open []*undefined, cover *emu.Coverage,
	replay func(*emu.Grid, []*undefined, *emu.Code) error) bool {
	for i := range c.machine.Insts {
		if in := &c.machine.Insts[i]; in.Unproved && cover.Insts[i] && acts(in.Do, a, int(a.Pc) == i) {
			return true
		}
	}
	if approximate && nan(a.Want) && nan(a.Got) {
		return true // whatever the function
	}
	source := false
	for i := range c.program.Insts {
		in := &c.program.Insts[i]
		if in.Unproved && g.Cover.Insts[i] && acts(in.Do, a, a.Event != nil && int(a.Event.Inst) == i) {
			return true
		}
		source = source || g.Cover.Insts[i] && doubtful(in, approximate)
	}
	for _, t := range twists {
		code, err := emu.Prepare(twisted(c.machine, t, approximate))
		run, undefined := g, open
		if err == nil && source {
			run, undefined, err = c.twistedRun(in, t, approximate)
		}
		if err != nil {
			return true
		}
		var b *accuse
		if !errors.As(replay(run, undefined, code), &b) || b.Rule != a.Rule || b.Lane != a.Lane || b.Pc != a.Pc || b.Word != a.Word || b.Want != a.Want || b.Got != a.Got {
			return true
		}
	}
	return false
}

// nan reports whether a word is no number: which one an operation makes is open.
func nan(v uint64) bool { return v>>32 == 0 && v&0x7f800000 == 0x7f800000 && v&0x7fffff != 0 }

// twistedRun runs the program with other results of what is doubtful, and says what depends on undefined content.
func (c *comparison) twistedRun(in *Input, twist uint64, approximate bool) (*emu.Grid, []*undefined, error) {
	code, err := emu.Prepare(twisted(c.program, twist, approximate))
	if err != nil {
		return nil, nil, err
	}
	var runs [2]*emu.Grid
	for i, fill := range fills {
		if runs[i], err = c.prepared(code, in, c.launch(in), fill); err == nil {
			if i > 0 {
				runs[i].Meanwhile = runs[0]
			}
			err = c.ran(runs[i])
		}
		if err != nil {
			return nil, nil, err
		}
	}
	return runs[0], opened(runs[0], runs[1]), nil
}

// doubtful reports whether the result of an instruction is not known for sure.
func doubtful(in *ir.Inst, approximate bool) bool {
	return in.Unproved || approximate && in.Approximate()
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

// twisted is a program whose doubtful instructions have other results.
func twisted(p *ir.Program, twist uint64, approximate bool) *ir.Program {
	q := *p
	k := ir.Reg(q.Regs)
	q.Regs++
	q.Consts = append(slices.Clone(p.Consts), ir.Const{Reg: k, Value: twist})
	q.Insts = slices.Clone(p.Insts)
	for i := range q.Insts {
		if in := &q.Insts[i]; doubtful(in, approximate) {
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
