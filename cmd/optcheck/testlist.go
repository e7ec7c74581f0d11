package main

import (
	"errors"
	"fmt"

	"optcheck/audit"
	"optcheck/litmus"
)

// testList gathers the tests of an audit, each name once, without holding them
// all in memory at once.
type testList struct {
	packed *audit.Packed
	hashes map[string]string // by name
	// clash tells of two different tests of one name, bad of tests that are not
	// sane.
	clash error
	bad   []error
}

func newTestList() (*testList, error) {
	p, err := audit.NewPacked()
	return &testList{packed: p, hashes: map[string]string{}}, err
}

// add takes in a test.
func (l *testList) add(o origin, t *litmus.Test) error {
	h := t.Hash()
	if old, ok := l.hashes[t.Name]; ok {
		if old != h && l.clash == nil {
			l.clash = clash(t.Name)
		}
		return nil
	}
	if err := t.Check(); err != nil {
		l.bad = append(l.bad, err)
	}
	if err := l.packed.Add(t, h, o.preset, o.file); err != nil {
		return err
	}
	l.hashes[l.packed.Name(l.packed.Len()-1)] = h
	return nil
}

// err is what is wrong with the tests.
func (l *testList) err() error {
	if l.clash != nil {
		return l.clash
	}
	return errors.Join(l.bad...)
}

func clash(name string) error { return fmt.Errorf("two different tests have the name %s", name) }
