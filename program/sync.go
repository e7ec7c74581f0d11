package program

import (
	"slices"
	"strings"

	"optcheck/isa"
)

// MachineOp is a kind of machine instruction, and how often a kernel has it.
type MachineOp struct {
	Op    string `json:"op"` // as it is printed, with modifiers: LDG.E.STRONG.GPU
	Count int    `json:"count"`
}

// synchronising lists the instructions of kernels that are strong accesses of global
// memory, atomics, fences, invalidations or barriers, in the order in which the first
// of each stands.
func synchronising(p *isa.Program, kernels []string) (list []MachineOp) {
	for _, f := range p.Funcs {
		if !slices.Contains(kernels, f.Name) {
			continue
		}
		for i := range f.Insts {
			in := &f.Insts[i]
			switch {
			case in.Role == isa.RoleFence, in.Role == isa.RoleBarrier, in.Role == isa.RoleAtomic, in.Role == isa.RoleReduction:
			case in.Role == isa.RoleCache && in.Mem.Invalidate:
			case in.Role.IsAccess() && in.Mem.Strength >= isa.Strong:
			default:
				continue
			}
			op := strings.Join(append([]string{in.Op}, in.Mods...), ".")
			at := slices.IndexFunc(list, func(m MachineOp) bool { return m.Op == op })
			if at < 0 {
				at, list = len(list), append(list, MachineOp{Op: op})
			}
			list[at].Count++
		}
	}
	return list
}
