package realcode

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"

	"optcheck/isa"
	"optcheck/ptx"
	ptxlower "optcheck/ptx/lower"
	"optcheck/refine"
	"optcheck/sass/cubin"
	sasslower "optcheck/sass/lower"
)

// The rules that execution finds broken, each with an input on which it shows.
const (
	WrongValue   = Rule(refine.WrongValue)
	WrongAddress = Rule(refine.WrongAddress)
	NotPerformed = Rule(refine.NotPerformed)
	DoesNotEnd   = Rule(refine.DoesNotEnd)
)

// Executed is what execution says of one kernel.
type Executed struct {
	Kernel string `json:"kernel"`
	*refine.Result
	// Why is why no run was compared, "" if one was.
	Why string `json:"why,omitempty"`

	performed map[int]bool // by ptx.Inst.N
}

// executions runs the kernels of a module and their machine code on the same inputs.
// They are tried on more while an operation of those wanted, by kernel, has not been performed.
func executions(ctx context.Context, m *ptx.Module, prog *isa.Program, data []byte, wanted map[string][]int, o refine.Options) ([]Executed, error) {
	file, err := cubin.Parse(data)
	if err != nil {
		return nil, err
	}
	var out []Executed
	for _, f := range m.Funcs {
		if !f.Entry {
			continue
		}
		x := Executed{Kernel: f.Name}
		program, err := ptxlower.Kernel(m, f.Name)
		machine, err2 := sasslower.Kernel(prog, file, f.Name)
		switch err := cmp.Or(err, err2); {
		case err != nil:
			x.Why = err.Error()
		default:
			o.Wanted = wanted[f.Name]
			if x.Result, err = refine.Compare(ctx, program, machine, o); err != nil {
				return nil, err
			}
			if x.Runs+x.Cut == 0 && len(x.Findings) == 0 {
				x.Why = strings.Join(slices.Sorted(maps.Keys(x.Cannot)), "; ")
				break
			}
			x.performed = map[int]bool{}
			for i := range program.Insts {
				if _, missed := slices.BinarySearch(x.Source.Missed, i); !missed {
					x.performed[program.Insts[i].Source] = true
				}
			}
		}
		out = append(out, x)
	}
	return out, nil
}

// execute adds to a result what its kernels do when they are executed. A difference is a miscompilation, with the input
// on which it shows, unless approximate functions or contracted products may explain it: then it is unknown.
func (r *Result) execute(ctx context.Context, m *ptx.Module, prog *isa.Program, data []byte, o refine.Options) error {
	wanted := map[string][]int{}
	for i := range r.Kernels {
		for _, l := range r.Kernels[i].lost {
			wanted[r.Kernels[i].Name] = append(wanted[r.Kernels[i].Name], l.n)
		}
	}
	all, err := executions(ctx, m, prog, data, wanted, o)
	if err != nil {
		return err
	}
	r.Executed = all
	places := map[int]Place{}
	for _, f := range m.Funcs {
		for i := range f.Body {
			if in := f.Body[i].Inst; in != nil {
				places[in.N] = Place{f.Name, in.Pos, in.Text}
			}
		}
	}
	for i := range all {
		x := &all[i]
		at := slices.IndexFunc(r.Kernels, func(k Kernel) bool { return k.Name == x.Kernel })
		if x.Result == nil || at < 0 {
			continue
		}
		for k := range x.Findings {
			f := executedFinding(m, x.Kernel, &x.Findings[k], places)
			if why := explained(&x.Findings[k], contracts(m, x.Kernel)); why != "" {
				f.Detail += "; " + why + " may explain it"
				f.Execution = nil
				r.Kernels[at].Unknown = append(r.Kernels[at].Unknown, *f)
				r.Unknown = append(r.Unknown, *f)
				continue
			}
			if f.Rule == NotPerformed && slices.ContainsFunc(r.Kernels[at].Findings, func(g Finding) bool { return sameFirst(&g, f) }) {
				continue // the model has the word on what is missing
			}
			r.Kernels[at].Findings = append(r.Kernels[at].Findings, *f)
			r.Findings = append(r.Findings, *f)
		}
	}
	return nil
}

// settle makes unknown what nothing was found of, and what was not performed by any run that was compared, either.
func (r *Result) settle() {
	for i := range r.Kernels {
		k := &r.Kernels[i]
		why, performed := "", map[int]bool(nil)
		if at := slices.IndexFunc(r.Executed, func(x Executed) bool { return x.Kernel == k.Name }); at >= 0 {
			why, performed = r.Executed[at].Why, r.Executed[at].performed
		}
		for _, l := range k.lost {
			if performed[l.n] {
				continue
			}
			f := Finding{Rule: Uncompared, Kernel: k.Name, First: l.at,
				Detail: "nothing of it was found in the machine code, and no run that was compared performed it"}
			if why != "" {
				f.Detail += ": " + cut(oneLineText(why), 200)
			}
			k.Unknown = append(k.Unknown, f)
			r.Unknown = append(r.Unknown, f)
		}
	}
}

// sameFirst reports whether two findings are about one operation.
func sameFirst(f, g *Finding) bool { return f.First != nil && g.First != nil && *f.First == *g.First }

// explained says what may explain a difference besides a mistake of the compiler; "" if nothing.
func explained(f *refine.Finding, contracts bool) string {
	switch {
	case f.Approximate || contracts:
		return "approximate functions, or products and sums that ptxas contracts (--fmad),"
	case len(f.Unproved) > 0:
		return "a reading that no chip has confirmed (" + strings.Join(f.Unproved, "; ") + ")"
	}
	return ""
}

// executedFinding is a difference as a finding, with its counterexample in words.
func executedFinding(m *ptx.Module, kernel string, x *refine.Finding, places map[int]Place) *Finding {
	f := &Finding{Rule: Rule(x.Rule), Kernel: kernel, Execution: x}
	f.Detail = fmt.Sprintf("%s; thread %d of block %d, grid %v, block %v, input of seed %d", x.Why, x.Warp*32+x.Lane, x.Block,
		x.Input.Grid, x.Input.Block, x.Input.Seed)
	if !x.Both {
		f.Detail += "; it shows with one order of diverged lanes, or one content of what is undefined"
	}
	if p, ok := places[x.SourceNumber]; ok {
		f.First = &p
	}
	if x.MachineText != "" {
		f.Code = []Code{{Func: kernel, Addr: x.MachineAddr, Text: x.MachineText}}
	}
	return f
}

// contracts reports whether ptxas may make one operation of a product and a sum of a kernel, or of what it calls (PTX ISA,
// 9.7.3): those in f32 and f64 that name no rounding.
func contracts(m *ptx.Module, kernel string) bool {
	for _, f := range m.Funcs {
		if f.Entry && f.Name != kernel {
			continue
		}
		for i := range f.Body {
			in := f.Body[i].Inst
			if in != nil && in.Name == "mul" && in.Has("f32", "f64", "f16", "f16x2", "bf16", "bf16x2") && !in.Has("rn", "rz", "rm", "rp") {
				return true
			}
		}
	}
	return false
}

// Known says in words how much of a kernel was executed.
func (x *Executed) Known() string {
	if x.Why != "" {
		return "not executed: " + cut(oneLineText(x.Why), 300)
	}
	s := fmt.Sprintf("executed: %d runs, %.0f %% of the PTX, %.0f %% of the machine code, %d values and events compared", x.Runs+x.Cut,
		100*x.Source.Share(), 100*x.Machine.Share(), x.Compared)
	if x.Cut > 0 {
		s += fmt.Sprintf(" (%d runs were cut)", x.Cut)
	}
	return s
}

func oneLineText(s string) string { return strings.Join(strings.Fields(s), " ") }
