package main

import (
	"errors"

	"optcheck/audit"
	"optcheck/litmus"
	"optcheck/ptxgen/named"
)

// testList gathers the tests of an audit, each name once, without holding them
// all in memory at once.
type testList struct {
	env    *environment
	packed *audit.Packed
	names  *named.Names
	bad    []error // tests that are not sane
}

func newTestList(env *environment) (*testList, error) {
	p, err := audit.NewPacked()
	return &testList{env: env, packed: p, names: named.NewNames()}, err
}

// add takes in a test.
func (l *testList) add(o named.Origin, t *litmus.Test) error {
	h := t.Hash()
	if known, err := l.names.Take(o, t, h); known || err != nil {
		return err
	}
	if err := t.Check(); err != nil {
		l.bad = append(l.bad, err)
		return nil
	}
	return l.packed.Add(t, h, o.Preset, o.File)
}

// end is an error if no test is left; what is wrong with others is said at the end.
func (l *testList) end() error {
	l.env.renamed = append(l.env.renamed, l.names.Renamed...)
	if l.packed.Len() == 0 {
		return errors.Join(l.bad...)
	}
	l.env.refused = append(l.env.refused, l.bad...)
	return nil
}
