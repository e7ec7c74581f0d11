// Package reduce makes findings small: it removes from a litmus test, and from the way it is
// compiled, whatever is not needed for the same rule to be broken with the same classification.
// It also determines which of the installed releases have the finding.
//
// It judges nothing itself: every candidate goes through the audit's own pipeline. It does not
// write reports (bug does).
package reduce

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"optcheck/audit"
	"optcheck/event"
	"optcheck/litmus"
	"optcheck/optcheck"
	"optcheck/spec"
	"optcheck/toolchain"
)

// Signature identifies a finding: the broken rule and the model's verdict on the cell. Findings
// with equal signatures are the same.
type Signature struct {
	Rule  string `json:"rule"`  // ID of a rule
	Class string `json:"class"` // of the cell; "" and "changed", which is no verdict, stand for any class with findings
	// Stage is where the finding arose, "" for anywhere. For toolchains with two compilers it
	// distinguishes their findings.
	Stage string `json:"stage,omitempty"`
	// Visible requires a miscompilation that the condition of the test can detect.
	Visible bool `json:"visible,omitempty"`
	// RaceFree requires a test that a model declares free of data races.
	RaceFree bool `json:"race_free,omitempty"`
	// Gist is what the compiler says, of a crash or hang.
	Gist string `json:"gist,omitempty"`
}

// Holds reports whether a cell has the finding.
func (s Signature) Holds(c *event.Cell) bool {
	if !c.HasFindings() || s.Class != "" && s.Class != event.Changed && c.Class != s.Class {
		return false // a smaller test may have lost the data race that prevented a verdict
	}
	if s.Visible && (c.Verdict == nil || len(c.Verdict.New) == 0 || c.Verdict.Hidden()) {
		return false
	}
	if s.RaceFree && c.RaceWord() != event.WordRaceFree {
		return false
	}
	return slices.ContainsFunc(c.Findings, s.Is)
}

// Is reports whether a finding of a cell has the signature's rule, stage and gist.
func (s Signature) Is(f event.Finding) bool {
	return f.Rule == s.Rule && (s.Stage == "" || f.Stage == s.Stage) && (s.Gist == "" || f.Detail == s.Gist)
}

// Finding is one cell of an audit and a rule that is broken in it.
type Finding struct {
	Test      *litmus.Test
	Toolchain *toolchain.Toolchain
	Target    string
	Level     string
	Layout    spec.Layout
	Flags     []string // further arguments for ptxas
	Signature Signature
}

// Address names the finding's cell as ParseAddress reads it.
func (f *Finding) Address() string {
	return fmt.Sprintf("%s@%s/%s/%s/%v:%s", f.Test.Name, strings.ReplaceAll(f.Toolchain.ID, " ", "-"), f.Target, f.Level,
		f.Layout, f.Signature.Rule)
}

// ErrNotThere is wrapped by the error for a finding that the toolchain does not show, ErrUndecided by that of which this
// cannot be told.
var (
	ErrNotThere  = errors.New("the finding is not there")
	ErrUndecided = errors.New("it cannot be told whether the finding is there")
)

// absent is the error for a cell of a class that does not have the finding that was looked for.
func absent(class string) error {
	if class == event.Unknown {
		return ErrUndecided
	}
	return ErrNotThere
}

// Cell audits the finding's cell alone and returns it with the listing of its machine code, nil
// if there is none.
func Cell(ctx context.Context, f *Finding, base audit.Options) (*event.Cell, *event.Listing, error) {
	run, err := audited(ctx, f, base, []*litmus.Test{f.Test})
	if err != nil {
		return nil, nil, err
	}
	c := &run.Cells[0]
	return c, run.Listings[c.Code], nil
}

// Confirm audits the finding's cell and sets what the signature leaves open: the rule, if the
// finding names none (the first broken one in the order of optcheck.Rules), the class, and, for
// a toolchain of two compilers, the one in which it arose. If the finding is not there, the
// error wraps ErrNotThere and says what the cell is instead.
func (f *Finding) Confirm(ctx context.Context, base audit.Options) (*event.Cell, *event.Listing, error) {
	c, l, err := Cell(ctx, f, base)
	if err != nil {
		return nil, nil, err
	}
	if f.Signature.Rule == "" {
		for _, r := range optcheck.Rules {
			if f.Signature.Rule == "" && r.Breakable() && (Signature{Rule: r.ID, Stage: f.Signature.Stage}).Holds(c) {
				f.Signature.Rule = r.ID
			}
		}
	}
	if !f.Signature.Holds(c) {
		return c, l, fmt.Errorf("%w: %s is %s", absent(c.Class), where(c), say(c))
	}
	f.Signature.Class = c.Class
	f.Signature.Visible = c.Class == event.Miscompiled && c.Verdict != nil && len(c.Verdict.New) > 0 && !c.Verdict.Hidden()
	f.Signature.RaceFree = c.Class == event.Miscompiled && c.Verdict != nil && c.Verdict.Race == event.RaceFree
	x := &c.Findings[slices.IndexFunc(c.Findings, f.Signature.Is)]
	if len(f.Toolchain.Compilers()) > 1 {
		f.Signature.Stage = x.Stage
	}
	if c.Class == event.Crashed {
		f.Signature.Gist = x.Detail
	}
	return c, l, nil
}

func where(c *event.Cell) string {
	return strings.Join([]string{c.Test, "in", c.Toolchain, c.Target, c.Level, c.Layout}, " ")
}

// say describes class, broken rules and reason of a cell.
func say(c *event.Cell) string {
	s := c.Class
	if rs := Rules(c); len(rs) > 0 {
		s += " (" + strings.Join(rs, ", ") + ")"
	}
	if c.Reason != "" {
		s += ": " + c.Reason
	}
	return s
}

// Rules lists the rules that are broken in a cell, each once, in the order of
// its findings.
func Rules(c *event.Cell) []string {
	var list []string
	for _, f := range c.Findings {
		if !slices.Contains(list, f.Rule) {
			list = append(list, f.Rule)
		}
	}
	return list
}

// audited audits several tests in place of the finding's, with one process for all.
func audited(ctx context.Context, f *Finding, base audit.Options, tests []*litmus.Test) (*event.Run, error) {
	o := base
	o.Tests, o.Toolchains, o.Targets, o.Levels = tests, []*toolchain.Toolchain{f.Toolchain}, []string{f.Target}, []string{f.Level}
	o.Layouts, o.Flags, o.Progress = []spec.Layout{f.Layout}, f.Flags, nil
	return matrix(ctx, o)
}

// matrix audits a matrix into memory. Failures that candidates cause in the compiler do not
// matter; a tool that breaks down is an error, because a result without it might not be the
// smallest one.
func matrix(ctx context.Context, o audit.Options) (*event.Run, error) {
	run := event.NewRun()
	if err := audit.Run(ctx, o, run); err != nil {
		return nil, err
	}
	for _, p := range run.Problems {
		if p.Kind == "infrastructure" || p.Kind == "timeout" {
			return nil, fmt.Errorf("%s %s %s: %s: %s", p.Toolchain, p.Target, p.Level, p.Kind, p.Detail)
		}
	}
	return run, nil
}

// Cells audits several tests in place of a finding's, with one process for all, and returns
// their cells in the same order. The tests must differ.
func Cells(ctx context.Context, f *Finding, base audit.Options, tests []*litmus.Test) ([]event.Cell, error) {
	run, err := audited(ctx, f, base, tests)
	if err != nil {
		return nil, err
	}
	if len(run.Cells) != len(tests) {
		return nil, fmt.Errorf("%d of %d tests were audited", len(run.Cells), len(tests))
	}
	return run.Cells, nil
}
