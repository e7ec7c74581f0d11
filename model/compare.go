package model

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"

	"optcheck/litmus"
	"optcheck/litmus/herdlog"
)

// Difference is a test on which two models disagree.
type Difference struct {
	Test         *litmus.Test
	A, B         *Verdict
	OnlyA, OnlyB []Single // states that only one of them allows
	// Instances is how often a device ran the test, 0 if none did.
	Instances uint64
}

// Single is a state that one of two models allows.
type Single struct {
	Values []int64
	Seen   uint64 // how often a device showed it
	// Allows and Forbids say why, each under its model; nil unless asked for.
	Allows, Forbids *Explanation
}

// Comparison is the result of comparing two models on tests.
type Comparison struct {
	A, B  string
	Tests int // on which both have a verdict
	// Differences are sorted by the size of the test.
	Differences []Difference
	// Outside lists tests that a model does not cover.
	Outside []Outside
}

// Outside is a test that a model does not cover.
type Outside struct {
	Test *litmus.Test
	Why  error
}

// Counts returns the numbers of tests on which only A, only B, or each of them allows something
// that the other does not. seenA and seenB count those on which a device showed such a state:
// one that only A, or only B, allows.
func (c *Comparison) Counts() (onlyA, onlyB, both, seenA, seenB int) {
	saw := func(s Single) bool { return s.Seen > 0 }
	for i := range c.Differences {
		d := &c.Differences[i]
		switch {
		case len(d.OnlyB) == 0:
			onlyA++
		case len(d.OnlyA) == 0:
			onlyB++
		default:
			both++
		}
		if slices.ContainsFunc(d.OnlyA, saw) {
			seenA++
		}
		if slices.ContainsFunc(d.OnlyB, saw) {
			seenB++
		}
	}
	return onlyA, onlyB, both, seenA, seenB
}

// Compare judges tests by two models. An undecided test is an error. seen, if not nil, returns
// what a device showed for a test.
func Compare(ctx context.Context, a, b *Model, tests []*litmus.Test, o CommandOptions, seen func(*litmus.Test) *Seen) (*Comparison, error) {
	c := &Comparison{A: a.Name, B: b.Name}
	list := make([]*Difference, len(tests))
	outside := make([]error, len(tests))
	var errs []error
	err := inOrder(ctx, len(tests), o.Jobs, func(i int) result {
		d, err := compareOne(ctx, a, b, tests[i], o)
		if errors.Is(err, ErrOutside) {
			outside[i], err = err, nil
		}
		list[i] = d
		return result{err: err}
	}, func(i int, r result) error {
		switch {
		case r.err != nil:
			errs = append(errs, r.err)
		case outside[i] != nil:
			c.Outside = append(c.Outside, Outside{tests[i], outside[i]})
		default:
			c.Tests++
		}
		return nil
	})
	for _, d := range list {
		if d == nil {
			continue
		}
		if seen != nil {
			d.look(seen(d.Test))
		}
		c.Differences = append(c.Differences, *d)
	}
	slices.SortStableFunc(c.Differences, func(x, y Difference) int {
		return cmp.Or(cmp.Compare(Size(x.Test), Size(y.Test)), cmp.Compare(len(x.Test.Threads), len(y.Test.Threads)),
			cmp.Compare(x.Test.Name, y.Test.Name))
	})
	return c, errors.Join(append(errs, err)...)
}

// Size returns the number of instructions in a test.
func Size(t *litmus.Test) (n int) {
	for i := range t.Threads {
		n += len(t.Threads[i].Body)
	}
	return n
}

func compareOne(ctx context.Context, a, b *Model, t *litmus.Test, o CommandOptions) (*Difference, error) {
	d := &Difference{Test: t}
	for _, side := range []struct {
		m *Model
		v **Verdict
	}{{a, &d.A}, {b, &d.B}} {
		v, err := side.m.Judge(ctx, t, o.Options)
		if err != nil {
			return nil, err
		}
		if v.Undecided != "" {
			return nil, fmt.Errorf("test %s under %s: %w: %s", t.Name, side.m.Name, ErrUndecided, v.Undecided)
		}
		*side.v = v
	}
	d.OnlyA, d.OnlyB = missing(d.A, d.B), missing(d.B, d.A)
	if len(d.OnlyA)+len(d.OnlyB) == 0 {
		return nil, nil
	}
	return d, nil
}

// missing lists the states of v that w lacks.
func missing(v, w *Verdict) (list []Single) {
	for _, s := range v.States {
		if !slices.ContainsFunc(w.States, func(q State) bool { return slices.Equal(q.Values, s.Values) }) {
			list = append(list, Single{Values: s.Values})
		}
	}
	return list
}

// Seen is what a device showed for a test.
type Seen struct {
	Instances uint64
	Terms     []string // as in a log: 1:r0, [x]
	States    map[string]uint64
}

// Add counts a state.
func (s *Seen) Add(values []int64, n uint64) {
	if s.States == nil {
		s.States = map[string]uint64{}
	}
	s.States[fmt.Sprint(values)] += n
}

// look records what a device showed of the states.
func (d *Difference) look(s *Seen) {
	if s == nil {
		return
	}
	d.Instances = s.Instances
	at := make([]int, len(s.Terms))
	for i, x := range s.Terms {
		if at[i] = slices.IndexFunc(d.A.Terms, func(t litmus.Term) bool { return herdlog.Term(t) == x || t.String() == x }); at[i] < 0 {
			return
		}
	}
	for _, list := range [][]Single{d.OnlyA, d.OnlyB} {
		for i := range list {
			values := make([]int64, len(at))
			for k, j := range at {
				values[k] = list[i].Values[j]
			}
			list[i].Seen = s.States[fmt.Sprint(values)]
		}
	}
}

// Explain fills in why each model allows or forbids the states of a difference.
func (d *Difference) Explain(ctx context.Context, a, b *Model, o Options) error {
	for _, side := range []struct {
		list            []Single
		allows, forbids *Model
	}{{d.OnlyA, a, b}, {d.OnlyB, b, a}} {
		for i := range side.list {
			s := &side.list[i]
			t := asking(d.Test, d.A.Terms, s.Values)
			var err error
			if s.Allows, err = side.allows.Explain(ctx, t, o); err == nil {
				s.Forbids, err = side.forbids.Explain(ctx, t, o)
			}
			if err != nil {
				return err
			}
		}
	}
	return nil
}

// asking returns a test that asks for one state.
func asking(t *litmus.Test, terms []litmus.Term, values []int64) *litmus.Test {
	c := t.Clone()
	c.Observed = terms
	var list []litmus.Expr
	for i, x := range terms {
		list = append(list, litmus.Atom{Left: x, Cmp: litmus.CmpEq, Right: litmus.Term{Kind: litmus.TermConst, Value: values[i]}})
	}
	c.Cond = litmus.Cond{Quant: litmus.Exists, Expr: litmus.And{List: list}}
	if len(list) == 1 {
		c.Cond.Expr = list[0]
	}
	return c
}
