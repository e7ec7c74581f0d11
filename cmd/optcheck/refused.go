package main

import (
	"errors"
	"fmt"
	"path/filepath"
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

// names knows tests by their names.
type names struct {
	hashes map[string]string  // by name
	apart  map[[2]string]bool // name as written and hash of those that have another one now
}

func newNames() names { return names{map[string]string{}, map[[2]string]bool{}} }

// take notes a test and reports whether it is known. A different test of a known
// name is called by its file, too, or if the file has that name by its folder.
func (n names) take(env *environment, o origin, t *litmus.Test, hash string) (known bool, err error) {
	old, ok := n.hashes[t.Name]
	switch written := [2]string{t.Name, hash}; {
	case ok && old == hash, n.apart[written]:
		return true, nil
	case ok && o.file == "":
		return false, fmt.Errorf("two different tests have the name %s", t.Name)
	case ok:
		n.apart[written] = true
		by := fileStem(o.file)
		if by == t.Name {
			by = fileStem(filepath.Dir(o.file))
		}
		name := t.Name + "~" + by
		for i := 2; n.hashes[name] != ""; i++ {
			name = fmt.Sprintf("%s~%s~%d", t.Name, by, i)
		}
		t.Name = name
		env.renamed = append(env.renamed, name)
	}
	n.hashes[t.Name] = hash
	return false, nil
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

// fileStem is the name of a file without folder and ending, as it can stand in the
// name of a test.
func fileStem(path string) string {
	return strings.Map(func(c rune) rune {
		if c < 0x80 && (c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c >= '0' && c <= '9' || strings.ContainsRune("_.+-", c)) {
			return c
		}
		return '_'
	}, strings.TrimSuffix(filepath.Base(path), ".litmus"))
}
