package optcheck

import (
	"slices"

	"optcheck/isa"
)

// hasEffect reports whether an instruction has an effect that nothing else checks: it is more than a register
// operation, an access, fence, barrier or call, which are matched, and is not in the architecture's table of harmless
// ones (by opcode, or by opcode and modifier).
func hasEffect(in *isa.Inst, harmless map[string]string) bool {
	switch {
	case in.Flow == isa.FlowTrap:
		return true
	case in.Role == isa.RoleWait, in.Role == isa.RoleCache, in.Role == isa.RoleNop:
		return in.Op != "" && harmless[in.Op] == "" &&
			!slices.ContainsFunc(in.Mods, func(m string) bool { return harmless[in.Op+"."+m] != "" })
	}
	return false
}
