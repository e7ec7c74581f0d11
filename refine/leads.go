package refine

import (
	"slices"

	"optcheck/emu"
	"optcheck/ir"
)

// leads tells of the instructions that nobody has performed from which of them control may come to an operation that writes memory, over
// others that nobody has performed: what decides about those is looked at first.
func leads(p *ir.Program, cover *emu.Coverage) []bool {
	out := make([]bool, len(p.Insts)+1)
	for changed := true; changed; {
		changed = false
		for i := range slices.Backward(p.Insts) {
			if out[i] || cover.Insts[i] {
				continue
			}
			if out[i] = writes(p.Insts[i].Do) || slices.ContainsFunc(p.After(int32(i)), func(to int32) bool { return out[to] }); out[i] {
				changed = true
			}
		}
	}
	return out
}

// lead tells of the goals of a search whether they lead to operations that write memory. It is asked anew when something new was performed.
type lead struct {
	grown int       // see comparison
	of    [2][]bool // of the program, of the machine code
}

// leads reports whether the open outcome of an instruction leads to an operation that writes memory and that nobody has performed.
func (s *search) leads(at spot) bool {
	if s.lead.of[0] == nil || s.grown != s.lead.grown {
		s.lead = lead{s.grown, [2][]bool{leads(s.program, s.sourceCover), leads(s.machine, s.machineCover)}}
	}
	p, of := s.program, s.lead.of[0]
	if at.machine {
		p, of = s.machine, s.lead.of[1]
	}
	return of[at.inst] || slices.ContainsFunc(p.After(at.inst), func(to int32) bool { return of[to] })
}
