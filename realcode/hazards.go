package realcode

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync"

	"optcheck/internal/plain"
	"optcheck/isa"
	"optcheck/pipeline"
	"optcheck/ptx"
	"optcheck/refine"
	"optcheck/refine/nvidia"
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
func (k *Kernel) hazards(m *ptx.Module, prog *isa.Program) {
	made := sync.OnceValue(func() operations { return operationsOf(m) })
	for i, fn := range called(prog, k.Name) {
		v := hazard.Judge(fn)
		if i == 0 {
			k.Count.Registers = v.Dependencies
		}
		if v.Doubt != "" {
			k.Unknown = append(k.Unknown, Finding{Rule: Rule(v.Rule), Kernel: k.Name, Detail: v.Doubt})
		}
		for _, c := range v.Claims {
			f := Finding{Rule: Rule(c.Rule()), Kernel: k.Name, Detail: c.Detail, Flight: c.Excerpt, claim: &claim{fn.Name, c.Finding}}
			f.madeOf(made(), fn, &c)
			k.Findings = append(k.Findings, f)
		}
	}
}

// operations are the instructions of a module by their numbers, with their places.
type operations map[int]struct {
	inst  *ptx.Inst
	place Place
}

func operationsOf(m *ptx.Module) operations {
	list := operations{}
	for _, fn := range m.Funcs {
		for i := range fn.Body {
			if in := fn.Body[i].Inst; in != nil {
				x := list[in.N]
				x.inst, x.place = in, placeIn(fn.Name, in)
				list[in.N] = x
			}
		}
	}
	return list
}

// madeOf says of the machine code of a claim what of the PTX it was made of. The finding is about the first operation among its instructions.
func (f *Finding) madeOf(made operations, fn *isa.Func, c *hazard.Claim) {
	for _, i := range []int{c.From, c.To, c.Reaches} {
		if i < 0 {
			continue
		}
		in := &fn.Insts[i]
		f.Code = append(f.Code, Code{fn.Name, in.Addr, in.Text})
		if from, ok := made[in.Src.Line]; ok && f.First == nil && isOperation(from.inst) {
			f.First = &from.place
		}
	}
	if c.Reaches >= 0 {
		f.Hazard = fn.Insts[c.Reaches].Text
	}
	for i := range f.Flight.Lines {
		l := &f.Flight.Lines[i]
		at, _ := slices.BinarySearchFunc(fn.Insts, l.At, func(in isa.Inst, at int64) int { return cmp.Compare(int64(in.Addr), at) })
		if from, ok := made[fn.Insts[at].Src.Line]; ok {
			l.Source, l.Of = cut(from.place.Text, maxText), from.place.Pos.Line
		}
	}
}

// claim is a finding of registers in flight.
type claim struct {
	fn string // the function that it is in
	hazard.Finding
}

// mostPerformed bounds the findings of registers in flight that are performed, of each kernel.
const mostPerformed = 8

// perform executes the kernels whose machine code uses registers in flight, with the content that those then have. What that changes is the
// counterexample; a use that changes nothing stays what it is.
func (r *Result) perform(ctx context.Context, m *ptx.Module, code *pipeline.Code, o refine.Options) error {
	for i := range r.Kernels {
		k, n := &r.Kernels[i], 0
		for j := range k.Findings {
			f := &k.Findings[j]
			if f.claim == nil || n == mostPerformed {
				continue
			}
			n++
			x, err := nvidia.Hazard(ctx, m, code.Program, code.File, k.Name, f.claim.fn, f.claim.Finding, o)
			if ctx.Err() != nil {
				return context.Cause(ctx)
			}
			f.performed(x, err)
			at := slices.IndexFunc(r.Findings, func(g Finding) bool { return g.claim == f.claim })
			r.Findings[at] = *f
		}
	}
	return nil
}

// performed takes over what executing a use of a register in flight has shown.
func (f *Finding) performed(x *refine.Result, err error) {
	switch {
	case err != nil:
		f.Detail += "; not executed: " + cut(oneLineText(err.Error()), 200)
	case len(x.Findings) > 0:
		f.Execution = &x.Findings[0]
		f.Detail += "; executed " + f.Execution.Early.With() + ": " + counterexample(f.Execution)
	case x.Runs+x.Cut == 0:
		f.Detail += "; not executed: " + cut(oneLineText(strings.Join(slices.Sorted(maps.Keys(x.Cannot)), "; ")), 200)
	case x.Early == 0:
		f.Detail += fmt.Sprintf("; in %s no register had another content there", plain.Count(x.Runs+x.Cut, "run"))
	default:
		f.Detail += fmt.Sprintf("; in %s the other content changed nothing", plain.Count(x.Runs+x.Cut, "run"))
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
