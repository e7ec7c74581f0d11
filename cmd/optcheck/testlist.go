package main

import (
	"errors"

	"optcheck/audit"
	"optcheck/litmus"
)

// testList gathers the tests of an audit, each name once, without holding them
// all in memory at once.
type testList struct {
	env    *environment
	packed *audit.Packed
	names  names
	bad    []error // tests that are not sane
}

func newTestList(env *environment) (*testList, error) {
	p, err := audit.NewPacked()
	return &testList{env: env, packed: p, names: newNames()}, err
}

// add takes in a test.
func (l *testList) add(o origin, t *litmus.Test) error {
	h := t.Hash()
	if known, err := l.names.take(l.env, o, t, h); known || err != nil {
		return err
	}
	if err := t.Check(); err != nil {
		l.bad = append(l.bad, err)
		return nil
	}
	return l.packed.Add(t, h, o.preset, o.file)
}

// end is an error if no test is left; what is wrong with others is said at the end.
func (l *testList) end() error {
	if l.packed.Len() == 0 {
		return errors.Join(l.bad...)
	}
	l.env.refused = append(l.env.refused, l.bad...)
	return nil
}
