package realcode

import (
	"slices"

	"optcheck/isa"
	"optcheck/sass/hazard"
)

// Rules of registers that machine code uses while they are in flight (package hazard).
const (
	HazardRAW Rule = "hazard-raw" // a register is read before it is written
	HazardWAW Rule = "hazard-waw" // a register is written before an earlier write, which then wins
	HazardWAR Rule = "hazard-war" // a register is written before an earlier instruction has read it
)

// hazards adds what a function, and the functions that it calls, do to registers that are in flight. Without control codes
// nothing is known, and nothing is claimed.
func (k *Kernel) hazards(prog *isa.Program, name string) {
	for i, fn := range called(prog, name) {
		v := hazard.Judge(fn)
		if i == 0 {
			k.Count.Registers = v.Dependencies
		}
		if v.Doubt != "" {
			k.Unknown = append(k.Unknown, Finding{Rule: HazardRAW, Kernel: k.Name, Detail: v.Doubt})
		}
		for _, c := range v.Claims {
			x := Finding{Rule: Rule(c.Rule()), Kernel: k.Name, Detail: c.Detail, Flight: c.Excerpt}
			for _, i := range []int{c.From, c.To, c.Reaches} {
				if i >= 0 {
					x.Code = append(x.Code, Code{fn.Name, fn.Insts[i].Addr, fn.Insts[i].Text})
				}
			}
			if c.Reaches >= 0 {
				x.Hazard = fn.Insts[c.Reaches].Text
			}
			k.Findings = append(k.Findings, x)
		}
	}
}

// called lists a function and what it names, as far as they are in the program.
func called(prog *isa.Program, name string) (list []*isa.Func) {
	todo, seen := []string{name}, map[string]bool{name: true}
	for len(todo) > 0 {
		i := slices.IndexFunc(prog.Funcs, func(f *isa.Func) bool { return f.Name == todo[0] })
		todo = todo[1:]
		if i < 0 {
			continue
		}
		list = append(list, prog.Funcs[i])
		for k := range prog.Funcs[i].Insts {
			for _, o := range prog.Funcs[i].Insts[k].Args {
				if (o.Kind == isa.OpdLabel || o.Kind == isa.OpdSym) && !seen[o.Sym] {
					seen[o.Sym] = true
					todo = append(todo, o.Sym)
				}
			}
		}
	}
	return list
}
