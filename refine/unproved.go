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
	case f.Shared:
		return "that its lanes are together where they share uniform registers"
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

// misread reports whether a run performed a form whose meaning no chip has confirmed: of an approximate function only the rounding is not.
func misread(p *ir.Program, cover *emu.Coverage) bool {
	for i := range p.Insts {
		if in := &p.Insts[i]; in.Unproved && cover.Insts[i] && !in.Approximate() {
			return true
		}
	}
	return false
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
		change := twist(t, approximate)
		code, err := emu.Prepare(twisted(c.machine, change))
		run, undefined := g, open
		if err == nil && source {
			run, undefined, err = c.twistedRun(in, change)
		}
		if err != nil {
			return true
		}
		var b *accuse
		if !errors.As(replay(run, undefined, code), &b) || !b.like(a) || b.Want != a.Want || b.Got != a.Got {
			return !approximate || misread(c.machine, cover) || misread(c.program, g.Cover) || !c.exceeds(a, in, replay)
		}
	}
	return false
}

// like reports whether a difference is at the place of another one.
func (a *accuse) like(b *accuse) bool {
	return a.Rule == b.Rule && a.Lane == b.Lane && a.Pc == b.Pc && a.Word == b.Word
}

// roundings are errors of approximate functions that are tried, in units of the last place of most of them.
var roundings = [...]uint64{1, 2, 3}

// margin is how much greater a difference is than what errors of approximate functions change if these do not explain it.
const margin = 64

// exceeds reports whether a difference is far beyond what the errors of approximate functions make of what both codes do: the program runs with
// results that are off by as much as PTX allows (PTX ISA, 9.7.3 and 9.7.4: two units in the last place, more of some).
func (c *comparison) exceeds(a *accuse, in *Input, replay func(*emu.Grid, []*undefined, *emu.Code) error) bool {
	values := a.Rule == WrongValue
	if values && (special(a.Want) || special(a.Got)) {
		return false
	}
	moved, least := uint64(1), apart(a.Want, a.Got)
	for _, t := range roundings {
		run, undefined, err := c.twistedRun(in, rounding(t))
		var b *accuse
		if err != nil || !errors.As(replay(run, undefined, c.code), &b) || !b.like(a) {
			return false
		}
		if values {
			moved = max(moved, apart(a.Want, b.Want), apart(a.Got, b.Got))
			least = min(least, apart(b.Want, b.Got))
		}
	}
	return !values || least/margin > moved
}

// special reports whether a word is an infinity, or no number.
func special(v uint64) bool { return v>>32 == 0 && v&0x7f800000 == 0x7f800000 || v>>52&0x7ff == 0x7ff }

// apart counts the floating-point numbers between two words. Those of f32 below the least normal number may be 0.
func apart(a, b uint64) uint64 {
	sign := uint64(1) << 63
	if (a|b)>>32 == 0 {
		sign = 1 << 31
		for _, v := range []*uint64{&a, &b} {
			if *v&0x7f800000 == 0 {
				*v &= sign
			}
		}
	}
	x, y := a&^sign, b&^sign
	if (a^b)&sign != 0 {
		return x + y
	}
	return max(x, y) - min(x, y)
}

// nan reports whether a word is no number: which one an operation makes is open.
func nan(v uint64) bool { return v>>32 == 0 && v&0x7f800000 == 0x7f800000 && v&0x7fffff != 0 }

// twistedRun runs the program with other results of some instructions, and says what depends on undefined content.
func (c *comparison) twistedRun(in *Input, change func(*ir.Inst) uint64) (*emu.Grid, []*undefined, error) {
	code, err := emu.Prepare(twisted(c.program, change))
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

// twist changes the results of doubtful instructions.
func twist(by uint64, approximate bool) func(*ir.Inst) uint64 {
	return func(in *ir.Inst) uint64 {
		if doubtful(in, approximate) {
			return by
		}
		return 0
	}
}

// rounding changes the results of approximate functions by some units of their errors.
func rounding(by uint64) func(*ir.Inst) uint64 {
	return func(in *ir.Inst) uint64 {
		if !in.Approximate() {
			return 0
		}
		for _, o := range slices.Concat(in.Pre, in.Post) {
			if o.Code != ir.Approx {
				continue
			}
			switch ir.Approximate(o.Imm) {
			case ir.ApproxLg2, ir.ApproxSin, ir.ApproxCos, ir.ApproxTanh, ir.ApproxSinTurn, ir.ApproxCosTurn:
				return by << 12
			}
		}
		return by
	}
}

// twisted is a program in which instructions have other results: what is not 0 is added without carries.
func twisted(p *ir.Program, change func(*ir.Inst) uint64) *ir.Program {
	q := alter(p)
	made := map[uint64]ir.Reg{}
	for i := range p.Insts {
		by := change(&p.Insts[i])
		if by == 0 {
			continue
		}
		k, ok := made[by]
		if !ok {
			k = q.constant(ir.Const{Value: by})
			made[by] = k
		}
		in := q.own(int32(i))
		list := &in.Pre
		if in.Do != nil {
			list = &in.Post
		}
		for _, r := range p.Insts[i].Written() {
			*list = append(*list, ir.Op{Code: ir.Xor, Type: ir.U64, To: ir.U64, Dst: r, Src: [4]ir.Reg{r, k, ir.None, ir.None}})
		}
	}
	return &q.Program
}
