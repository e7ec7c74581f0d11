package realcode

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"math"
	"slices"
	"strings"

	"optcheck/event"
	"optcheck/pipeline"
	"optcheck/ptx"
	"optcheck/refine"
	"optcheck/refine/nvidia"
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
	// Uncontracted tells that machine code was executed in which ptxas contracts no product and sum (--fmad=false).
	Uncontracted bool `json:"uncontracted,omitempty"`
	// undecided are the conditions of Result.Undecided, seen what Result.Seen has.
	undecided []Place
	seen      map[Place]bool
}

// proved reports whether the machine code, or that in which nothing is contracted, does what the kernel does on every input.
func (x *Executed) proved() bool { return x.Result != nil && x.Proved }

// executions runs kernels of a module and their machine code on the same inputs: those of a list, or, if that is nil, all.
func executions(ctx context.Context, m *ptx.Module, kernels []string, code *pipeline.Code, o refine.Options) ([]Executed, error) {
	if code.File == nil {
		return nil, errors.New("machine code of which only a text is known cannot be executed: compile the module again")
	}
	var out []Executed
	for _, f := range m.Funcs {
		if !f.Entry || kernels != nil && !slices.Contains(kernels, f.Name) {
			continue
		}
		x := Executed{Kernel: f.Name}
		k, err := nvidia.Lower(m, code.Program, code.File, f.Name)
		if err == nil {
			o.Proof = k.Prove
			x.Result, err = k.Compare(ctx, o)
		}
		if ctx.Err() != nil {
			return nil, context.Cause(ctx)
		}
		switch {
		case err != nil:
			x.Why = err.Error()
		case x.Runs+x.Cut == 0 && len(x.Findings) == 0:
			x.Why = strings.Join(slices.Sorted(maps.Keys(x.Cannot)), "; ")
		}
		out = append(out, x)
	}
	return out, nil
}

// execute adds to a result what its kernels do when they are executed. A difference is a miscompilation, with the input
// on which it shows, unless approximate functions or contracted products may explain it. Where ptxas may have contracted some, what
// it makes without that (uncontracted; nil: nobody knows) is executed in the place of its code; approximate functions leave it unknown.
func (r *Result) execute(ctx context.Context, m *ptx.Module, code *pipeline.Code, uncontracted func() (*pipeline.Code, error),
	o refine.Options) error {
	var names, differ []string
	for i := range r.Kernels {
		names = append(names, r.Kernels[i].Name)
	}
	all, err := executions(ctx, m, names, code, o)
	if err != nil {
		return err
	}
	for i := range all {
		switch x := &all[i]; {
		case x.Result == nil || len(x.Findings) == 0 || !contracts(m, x.Kernel):
		case uncontracted == nil:
			*x = Executed{Kernel: x.Kernel, Why: "a product and a sum may be one operation"}
		default:
			differ = append(differ, x.Kernel)
		}
	}
	if len(differ) > 0 {
		again, err := r.uncontracted(ctx, m, differ, uncontracted, o)
		if err != nil {
			return err
		}
		for _, x := range again {
			all[slices.IndexFunc(all, func(y Executed) bool { return y.Kernel == x.Kernel })] = x
		}
	}
	r.Executed = all
	places := places(m)
	for i := range all {
		if all[i].Result == nil {
			continue
		}
		for _, n := range all[i].Undecided {
			all[i].undecided = append(all[i].undecided, places[n])
		}
		all[i].seen = map[Place]bool{}
		for n := range all[i].Seen {
			all[i].seen[places[n]] = true
		}
		k := &r.Kernels[slices.IndexFunc(r.Kernels, func(k Kernel) bool { return k.Name == all[i].Kernel })]
		k.Findings, r.Findings = slices.DeleteFunc(k.Findings, all[i].explains), slices.DeleteFunc(r.Findings, all[i].explains)
		for j := range all[i].Findings {
			x := &all[i].Findings[j]
			f := executedFinding(m, k.Name, x, places)
			switch why := x.Doubt(); {
			case why != "":
				f.Detail += "; " + why + " may explain it"
				f.Execution = nil
				k.Unknown, r.Unknown = append(k.Unknown, *f), append(r.Unknown, *f)
			case f.Rule == NotPerformed && confirmed(k.Findings, f) && confirmed(r.Findings, f): // the model has the word on what is missing
			default:
				k.Findings, r.Findings = append(k.Findings, *f), append(r.Findings, *f)
			}
		}
	}
	return r.perform(ctx, m, code, o)
}

// Execute compares what the kernels of a module and their machine code do, also with the registers that it uses while they are in flight, and
// nothing else. What was not executed, or what only differs where ptxas may contract, is unknown.
func Execute(ctx context.Context, m *ptx.Module, code *pipeline.Code, o refine.Options) (*Result, error) {
	var kernels []Kernel
	for _, f := range m.Funcs {
		if f.Entry {
			k := Kernel{Name: f.Name}
			k.hazards(m, code.Program)
			kernels = append(kernels, k)
		}
	}
	r := gather(kernels)
	if err := r.execute(ctx, m, code, nil, o); err != nil {
		return nil, err
	}
	for i := range r.Executed {
		if x := &r.Executed[i]; x.Why != "" {
			r.Unknown = append(r.Unknown, Finding{Rule: Uncompared, Kernel: x.Kernel, Detail: "not executed: " + cut(oneLineText(x.Why), 200)})
		}
	}
	return r, nil
}

// uncontracted executes kernels with the machine code in which nothing is contracted.
func (r *Result) uncontracted(ctx context.Context, m *ptx.Module, kernels []string, make func() (*pipeline.Code, error),
	o refine.Options) ([]Executed, error) {
	code, err := make()
	if err != nil {
		return nil, fmt.Errorf("with --fmad=false: %w", err)
	}
	again, err := executions(ctx, m, kernels, code, o)
	for i := range again {
		again[i].Uncontracted = true
	}
	return again, err
}

// places are the instructions of a module, by their numbers.
func places(m *ptx.Module) map[int]Place {
	out := map[int]Place{}
	for _, f := range m.Funcs {
		for i := range f.Body {
			if in := f.Body[i].Inst; in != nil {
				out[in.N] = placeIn(f.Name, in)
			}
		}
	}
	return out
}

// confirmed reports whether findings are about the operation of another one: then runs have shown them.
func confirmed(findings []Finding, f *Finding) (found bool) {
	for i := range findings {
		if g := &findings[i]; f.First != nil && g.First != nil && *f.First == *g.First {
			g.computed, found = false, true
		}
	}
	return found
}

// explains reports whether runs have compared what a finding is about, and found no difference: what a weak store without a counterpart
// stores, which several stores of the PTX may have become, which barrier object an instruction names, or what depends on a load that is
// left out.
func (x *Executed) explains(f Finding) bool {
	compared := len(f.Code) > 0 || f.First != nil && x.seen[*f.First]
	return f.computed && compared && f.Kernel == x.Kernel && x.Result != nil && len(x.Findings) == 0 &&
		!slices.ContainsFunc(f.Code, func(c Code) bool { return c.Func != x.Kernel || !x.Performed[c.Addr] })
}

// executedFinding is a difference as a finding, with its counterexample in words.
func executedFinding(m *ptx.Module, kernel string, x *refine.Finding, places map[int]Place) *Finding {
	f := &Finding{Rule: Rule(x.Rule), Kernel: kernel, Execution: x}
	f.Detail = counterexample(x)
	if p, ok := places[x.SourceNumber]; ok {
		f.First = &p
	}
	if x.MachineText != "" {
		f.Code = []Code{{Func: kernel, Addr: x.MachineAddr, Text: x.MachineText}}
	}
	return f
}

// counterexample says in words where and on which input a difference shows.
func counterexample(x *refine.Finding) string {
	s := fmt.Sprintf("%s; thread %d of block %d, grid %v, block %v, input of seed %d", x.Why, x.Warp*32+x.Lane, x.Block,
		x.Input.Grid, x.Input.Block, x.Input.Seed)
	if !x.Both {
		s += "; it shows with one order of diverged lanes, or one content of what is undefined"
	}
	return s
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
func (x *Executed) Known() string { return x.event().Text() }

// event is an execution as the event stream has it.
func (x *Executed) event() *event.Execution {
	if x.Why != "" {
		return &event.Execution{Why: cut(oneLineText(x.Why), 300), Proved: x.proved()}
	}
	share := func(s float64) float64 { return math.Round(s*1e4) / 1e4 }
	return &event.Execution{Runs: x.Runs + x.Cut, Cut: x.Cut, Forced: x.Forced, Source: share(x.Source.Share()), Machine: share(x.Machine.Share()),
		Uncontracted: x.Uncontracted, Proved: x.proved()}
}

func oneLineText(s string) string { return strings.Join(strings.Fields(s), " ") }
