package model

import (
	"context"
	"fmt"
	"io"
	"strings"

	"optcheck/internal/plain"
	"optcheck/litmus"
	"optcheck/litmus/herdlog"
)

// LogFinding describes what is wrong with one test of a log.
type LogFinding struct {
	Test    *litmus.Test
	Name    string
	States  []herdlog.State // states that the model forbids
	Skipped string          // why the test was not checked, "" if it was
}

// CheckLog compares a log with a model: it lists, for every test of the log in order, the
// states that were seen and that the model forbids. lookup returns the tests that the log does
// not contain itself, by name; nil if it does not know one. A test that cannot be checked is a
// finding with a reason; none is skipped silently.
func (m *Model) CheckLog(ctx context.Context, name string, r io.Reader, lookup func(name string) *litmus.Test,
	o Options) (findings []LogFinding, tests int, err error) {
	o.StatesOnly = true
	err = herdlog.Read(name, r, func(l *herdlog.Test) error {
		tests++
		f, err := m.checkLogTest(ctx, name, l, lookup, o)
		if err != nil {
			return err
		}
		if f != nil {
			findings = append(findings, *f)
		}
		return nil
	})
	if err == nil && tests == 0 {
		err = fmt.Errorf("%s: no test in this log", name)
	}
	return findings, tests, err
}

func (m *Model) checkLogTest(ctx context.Context, name string, l *herdlog.Test, lookup func(string) *litmus.Test,
	o Options) (*LogFinding, error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	f := &LogFinding{Name: l.Name}
	if l.Source != "" {
		t, err := litmus.Parse(fmt.Sprintf("%s:%d", name, l.SourceLine), []byte(l.Source))
		if err == nil && t.Name == l.Name {
			f.Test = t
		}
	}
	if f.Test == nil && lookup != nil {
		f.Test = lookup(l.Name)
	}
	if f.Test == nil {
		f.Skipped = "its source is neither in the log nor among the tests given"
		return f, nil
	}
	t := observing(f.Test, l)
	states, terms, err := m.Outcomes(ctx, t, o)
	if err != nil {
		if ctx.Err() != nil {
			return nil, err
		}
		f.Skipped = err.Error()
		return f, nil
	}
	for _, s := range l.States {
		if s.Count != 0 && !allowedState(states, terms, s) {
			f.States = append(f.States, s)
		}
	}
	if f.States == nil {
		return nil, nil
	}
	return f, nil
}

// observing returns the test with everything observed that the log's states name. Names that
// the test does not have are left out: see allowedState.
func observing(t *litmus.Test, l *herdlog.Test) *litmus.Test {
	c := t.Clone()
	for _, s := range l.States {
		for _, it := range s.Items {
			x := it.Term
			if x.Kind == litmus.TermLoc && t.Location(x.Name) == nil || x.Kind == litmus.TermReg && x.Thread >= len(t.Threads) {
				continue
			}
			if !containsTerm(c.Observed, x) {
				c.Observed = append(c.Observed, x)
			}
		}
	}
	return c
}

func containsTerm(list []litmus.Term, x litmus.Term) bool {
	for _, y := range list {
		if x == y {
			return true
		}
	}
	return false
}

// allowedState reports whether some allowed state agrees with all values of a state of the log.
// A value of something that the test does not have is not allowed.
func allowedState(states []State, terms []litmus.Term, s herdlog.State) bool {
	for _, q := range states {
		ok := true
		for _, it := range s.Items {
			found := false
			for i, x := range terms {
				if x == it.Term {
					found = q.Values[i] == it.Value || int64(int32(q.Values[i])) == it.Value
				}
			}
			ok = ok && found
		}
		if ok {
			return true
		}
	}
	return false
}

// WriteText writes a finding for people.
func (f *LogFinding) WriteText(w io.Writer, model string) error {
	var b strings.Builder
	if f.Skipped != "" {
		fmt.Fprintf(&b, "%s: not checked: %s\n", plain.Line(f.Name), f.Skipped)
	}
	for _, s := range f.States {
		var parts []string
		for _, it := range s.Items {
			parts = append(parts, fmt.Sprintf("%s=%d;", herdlog.Term(it.Term), it.Value))
		}
		seen := ""
		if s.Count >= 0 {
			seen = ", seen " + plain.Count(s.Count, "time")
		}
		fmt.Fprintf(&b, "%s: forbidden by %s: %s (line %d%s)\n", plain.Line(f.Name), model, strings.Join(parts, " "), s.Line, seen)
	}
	_, err := io.WriteString(w, b.String())
	return err
}
