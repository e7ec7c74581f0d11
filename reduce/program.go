package reduce

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"optcheck/audit"
	"optcheck/event"
	"optcheck/ir"
	"optcheck/ptx"
	"optcheck/realcode"
	"optcheck/refine"
	"optcheck/target"
	"optcheck/toolchain"
)

// KernelFinding is one cell of an audit of real PTX, and a rule that is broken in it.
type KernelFinding struct {
	Module    *ptx.Module
	Toolchain *toolchain.Toolchain
	Target    string
	Level     string
	// Want says which finding is meant: a rule, or the number of a line; "" for the first.
	Want      string
	Signature KernelSignature
	// Input is the one that shows what execution has found, nil if that was something else, or inputs are to be chosen.
	Input *refine.Input

	// params are those of the kernel that Input is of.
	params []ir.Var
}

// KernelSignature identifies a finding in real PTX: findings with equal signatures are the
// same.
type KernelSignature struct {
	Rule  string `json:"rule"`
	Class string `json:"class"` // miscompiled demands a litmus test that shows it; changed does not
	// First and Second are the operations that it is about, as the PTX spells them, and Gist is
	// what is wrong with them.
	First  string `json:"first,omitempty"`
	Second string `json:"second,omitempty"`
	Gist   string `json:"gist"`
	// Behind and Before tell that First acquires and has an access behind it, or releases and
	// has one before it: without, it would order nothing.
	Behind bool `json:"behind,omitempty"`
	Before bool `json:"before,omitempty"`
}

// Address names the finding's cell: FILE@TOOLCHAIN/TARGET/LEVEL:RULE.
func (f *KernelFinding) Address() string {
	return fmt.Sprintf("%s@%s/%s/%s:%s", filepath.Base(f.Module.File), strings.ReplaceAll(f.Toolchain.ID, " ", "-"), f.Target, f.Level,
		f.Signature.Rule)
}

// numbers are what in the words of a finding depends on the rest of a kernel.
var numbers = regexp.MustCompile(`not at all|once|\d+( times)?`)

// signatureOf is the signature of a finding in a module.
func signatureOf(m *ptx.Module, f *realcode.Finding) KernelSignature {
	gist, _, _ := strings.Cut(f.Detail, ":")
	s := KernelSignature{Rule: string(f.Rule), Class: event.Changed, Gist: numbers.ReplaceAllString(gist, "…"),
		First: opOf(f.First), Second: opOf(f.Second)}
	if shown(f) {
		s.Class = event.Miscompiled
	}
	if f.Execution != nil {
		s.Gist = ""
		return s // what stands around a place of memory does not matter
	}
	if f.First != nil {
		s.Before, s.Behind = ordered(m.Func(f.First.Func), f.First.Pos)
	}
	return s
}

// crashOf is the signature of a crash: what the compiler says. Where it dies stays free, for a smaller
// kernel may come there by another way.
func crashOf(f *event.Finding) KernelSignature {
	if f == nil {
		return KernelSignature{}
	}
	return KernelSignature{Rule: f.Rule, Class: event.Crashed, Gist: f.Detail}
}

// shown reports whether a test, or an execution, shows what a finding makes possible.
func shown(f *realcode.Finding) bool {
	return f.Execution != nil || f.Verdict != nil && f.Verdict.Class == realcode.Miscompiled
}

// ordered reports whether there are accesses before an instruction that releases, and behind one
// that acquires.
func ordered(f *ptx.Func, at ptx.Pos) (before, behind bool) {
	if f == nil {
		return false, false
	}
	r := readBody(f)
	access := func(st ptx.Stmt) bool {
		if st.Inst == nil || st.Inst.Pos == at {
			return false
		}
		e := st.Inst.Effect()
		return e.Kind.IsAccess() && !e.Constant && e.Space != "local" && e.Space != "param"
	}
	here := slices.IndexFunc(f.Body, func(st ptx.Stmt) bool { return st.Inst != nil && st.Inst.Pos == at })
	if here < 0 {
		return false, false
	}
	e := f.Body[here].Inst.Effect()
	var from []bool
	if e.Acquires() {
		from = r.reached(here)
	}
	for i, st := range f.Body {
		behind = behind || e.Acquires() && from[i] && access(st)
		before = before || e.Releases() && access(st) && r.reached(i)[here]
	}
	return before, behind
}

// opOf is what an instruction is, without its operands and its guard.
func opOf(p *realcode.Place) string {
	if p == nil {
		return ""
	}
	_, op, _ := taken(p.Text)
	return op
}

// In returns the finding with the signature in the result of a module, nil if there is none. One that was
// only changed may be miscompiled now.
func (s KernelSignature) In(m *ptx.Module, r *realcode.Result) *realcode.Finding {
	if r == nil {
		return nil
	}
	for i := range r.Findings {
		have := signatureOf(m, &r.Findings[i])
		if s.Class == event.Changed {
			have.Class = s.Class
		}
		have.Before, have.Behind = have.Before && s.Before, have.Behind && s.Behind
		if have == s {
			return &r.Findings[i]
		}
	}
	return nil
}

// wanted finds the finding that is meant, and a miscompilation rather than another one.
func (f *KernelFinding) wanted(r *realcode.Result) *realcode.Finding {
	if r == nil {
		return nil
	}
	var found *realcode.Finding
	line, err := strconv.Atoi(f.Want)
	for i := range r.Findings {
		x := &r.Findings[i]
		meant := f.Want == "" || string(x.Rule) == f.Want
		if err == nil {
			meant = x.First != nil && x.First.Pos.Line == line || x.Second != nil && x.Second.Pos.Line == line
		}
		if meant && (found == nil || shown(x) && !shown(found)) {
			found = x
		}
	}
	return found
}

// Confirm audits the finding's cell and sets the signature. If the finding is not there, the
// error wraps ErrNotThere and says what the cell is instead.
func (f *KernelFinding) Confirm(ctx context.Context) (*realcode.Cell, *realcode.Finding, error) {
	c, err := f.cell(ctx, f.Module)
	if err != nil {
		return nil, nil, err
	}
	x := f.wanted(c.Result)
	if f.Signature != (KernelSignature{}) {
		x = f.Signature.In(f.Module, c.Result)
	}
	if s := crashOf(c.Crash); c.Crash != nil && (f.Want == "" || f.Want == s.Rule) && (f.Signature == (KernelSignature{}) || f.Signature == s) {
		f.Signature = s
		return c, &realcode.Finding{Rule: realcode.Rule(s.Rule), Detail: c.Crash.Full()}, nil
	}
	if x == nil {
		what := c.Class
		if c.Reason != "" {
			what += ": " + c.Reason
		}
		return c, nil, fmt.Errorf("%w: %s in %s %s %s is %s", absent(c.Class), f.Module.File, c.Toolchain, c.Target, c.Level, what)
	}
	f.Signature = signatureOf(f.Module, x)
	if x.Execution != nil && f.Input == nil {
		return c, x, f.Show(x.Kernel, x.Execution.Input)
	}
	return c, x, nil
}

// cell audits another module in the finding's place.
func (f *KernelFinding) cell(ctx context.Context, m *ptx.Module) (cell *realcode.Cell, err error) {
	o := realcode.Options{Toolchains: []*toolchain.Toolchain{f.Toolchain}, Targets: []string{f.Target}, Levels: []string{f.Level}, Execute: f.runs()}
	if f.Input != nil {
		if x, err := f.execution(m); err == nil {
			o.Inputs = x.Inputs
		}
	}
	err = realcode.Audit(ctx, o, m, func(c *realcode.Cell) error {
		kept := *c
		cell = &kept
		return nil
	})
	return cell, err
}

// Find looks for the wanted finding of a module in the given places, and returns the first that
// has it: toolchains from the newest on, targets and levels as given. The error is
// ErrNotThere if none has, ErrUndecided if that cannot be told of some.
func Find(ctx context.Context, m *ptx.Module, want string, tcs []*toolchain.Toolchain, targets, levels []string) (*KernelFinding, error) {
	var last error
	for _, tc := range slices.Backward(tcs) {
		for _, t := range targets {
			for _, level := range levels {
				f := &KernelFinding{Module: m, Toolchain: tc, Target: t, Level: level, Want: want}
				_, _, err := f.Confirm(ctx)
				switch {
				case errors.Is(err, ErrUndecided):
					last = err
				case !errors.Is(err, ErrNotThere):
					return f, err
				case !errors.Is(last, ErrUndecided):
					last = err
				}
			}
		}
	}
	return nil, cmp.Or(last, ErrNotThere)
}

// LocateKernel determines which of the toolchains have the finding: on all targets at its
// level, and at all levels on its target.
func LocateKernel(ctx context.Context, f *KernelFinding, all []*toolchain.Toolchain, jobs int) (*Where, error) {
	w := &Where{}
	look := func(targets, levels []string, tc *toolchain.Toolchain) error {
		o := realcode.Options{Toolchains: []*toolchain.Toolchain{tc}, Targets: targets, Levels: levels, Jobs: jobs, Execute: f.runs()}
		if x, err := f.execution(f.Module); f.Input != nil && err == nil {
			o.Inputs = x.Inputs
		}
		return realcode.Audit(ctx, o, f.Module, func(c *realcode.Cell) error {
			p := Place{Toolchain: c.Toolchain, Target: c.Target, Level: c.Level, There: f.Signature.In(f.Module, c.Result) != nil || c.Crash != nil && crashOf(c.Crash) == f.Signature, Class: c.Class,
				Reason: c.Reason}
			for _, x := range ruled(c.Result) {
				p.Rules = append(p.Rules, string(x))
			}
			w.Places = append(w.Places, p)
			return nil
		})
	}
	others := slices.DeleteFunc(slices.Clone(audit.Levels), func(l string) bool { return l == f.Level })
	for _, tc := range all {
		var targets []string
		for _, t := range tc.Targets {
			if target.Compare(f.Module.Target, t) <= 0 && target.Compare(realcode.Targets[0], t) <= 0 {
				targets = append(targets, t)
			}
		}
		if len(targets) == 0 {
			continue
		}
		w.Releases = append(w.Releases, tc.ID)
		if err := look(targets, []string{f.Level}, tc); err != nil {
			return nil, err
		}
		if tc.HasTarget(f.Target) {
			if err := look([]string{f.Target}, others, tc); err != nil {
				return nil, err
			}
		}
	}
	w.Range = w.rangeOf(f.Toolchain.ID, f.Target, f.Level)
	return w, nil
}

// ruled lists the rules that are broken, each once.
func ruled(r *realcode.Result) (out []realcode.Rule) {
	if r == nil {
		return nil
	}
	for i := range r.Findings {
		if !slices.Contains(out, r.Findings[i].Rule) {
			out = append(out, r.Findings[i].Rule)
		}
	}
	return out
}
