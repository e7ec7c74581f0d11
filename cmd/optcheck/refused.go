package main

import (
	"errors"
	"fmt"
	"strings"

	"optcheck/internal/plain"
	"optcheck/litmus"
)

// refusedTests says that some of the tests that a command was given could not be
// taken, and that it did what it does for the others.
type refusedTests struct{ errs []error }

func (e *refusedTests) Error() string {
	tests := "tests were"
	if len(e.errs) == 1 {
		tests = "test was"
	}
	return fmt.Sprintf("%d %s refused, the others were taken:\n%v", len(e.errs), tests, errors.Join(e.errs...))
}

// Unwrap gives access to the single faults.
func (e *refusedTests) Unwrap() []error { return e.errs }

// ended is the end of a command: that tests were refused is said last, and is more
// than that something was found in the others.
func (env *environment) ended(err error) error {
	env.tellNames()
	switch {
	case len(env.refused) == 0:
		return err
	case err == nil, errors.Is(err, errFound):
		return &refusedTests{env.refused}
	}
	return errors.Join(err, &refusedTests{env.refused})
}

// strict makes refused tests an error at once.
func (env *environment) strict(err error) error {
	err = errors.Join(append(env.refused, err)...)
	env.refused = nil
	return err
}

// sane leaves out tests that make no sense; an error if none is left.
func (env *environment) sane(tests []*litmus.Test) (out []*litmus.Test, err error) {
	var errs []error
	for _, t := range tests {
		if err := t.Check(); err != nil {
			errs = append(errs, err)
		} else {
			out = append(out, t)
		}
	}
	if len(out) == 0 {
		return nil, errors.Join(errs...)
	}
	env.refused = append(env.refused, errs...)
	return out, nil
}

// tellNames says which tests have other names than in their files.
func (env *environment) tellNames() {
	const shown = 5
	if len(env.renamed) == 0 {
		return
	}
	list := strings.Join(env.renamed[:min(shown, len(env.renamed))], ", ")
	if len(env.renamed) > shown {
		list += ", …"
	}
	n := len(env.renamed)
	fmt.Fprintf(env.stderr,
		"optcheck: %s the name of a different one and %s called by %s, too: %s\n",
		plain.Count(n, "test")+plain.Form(n, " has", " have"), plain.Form(n, "is", "are"), plain.Form(n, "its file", "their files"), list)
}
