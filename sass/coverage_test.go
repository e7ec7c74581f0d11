package sass

import "optcheck/isa"

// coverageReport counts how much of a program the opcode tables know.
type coverageReport struct {
	Insts   int            // instructions
	Known   map[string]int // opcode root → instructions, with a role
	Unknown map[string]int // opcode root (or the whole text) → instructions, without
	Micro   int            // instructions with value semantics
}

// coverage counts known and unknown opcodes.
func coverage(prog *isa.Program) *coverageReport {
	c := &coverageReport{Known: map[string]int{}, Unknown: map[string]int{}}
	for _, f := range prog.Funcs {
		for i := range f.Insts {
			in := &f.Insts[i]
			c.Insts++
			if len(in.Micro) > 0 {
				c.Micro++
			}
			switch {
			case in.Role != isa.RoleUnknown:
				c.Known[in.Op]++
			case in.Op != "":
				c.Unknown[in.Op]++
			default:
				c.Unknown[in.Text]++
			}
		}
	}
	return c
}
