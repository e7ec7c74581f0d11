package realcode

import (
	"fmt"
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
	for _, fn := range called(prog, name) {
		for _, f := range hazard.Check(fn).Findings {
			if !f.Sure {
				continue
			}
			from, to := &fn.Insts[f.From], &fn.Insts[f.To]
			x := Finding{Rule: Rule(f.Rule()), Kernel: k.Name, Detail: fmt.Sprintf("%s: %s", f.Reg, f.Missing(fn)),
				Code: []Code{{fn.Name, from.Addr, from.Text}, {fn.Name, to.Addr, to.Text}}}
			if i := hazard.Reaches(fn, f); i >= 0 {
				x.Hazard = fn.Insts[i].Text
				x.Code = append(x.Code, Code{fn.Name, fn.Insts[i].Addr, x.Hazard})
				x.Detail += fmt.Sprintf("; its content decides what %s does", x.Hazard)
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
