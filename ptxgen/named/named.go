// Package named finds litmus tests by what users call them: the corpus, its tests, files, folders, and names of generated tests,
// which say all of them.
//
// It does not choose what tests a command takes, and asks no compiler.
package named

import (
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
	"strings"

	"optcheck/internal/input"
	"optcheck/internal/plain"
	"optcheck/litmus"
	"optcheck/litmus/corpus"
	"optcheck/ptxgen/cycle"
)

// Corpus is the word that names the built-in tests, CorpusCL those in OpenCL C.
const Corpus, CorpusCL = "corpus", "corpus-cl"

// generated says where a test is from that was made from its name alone.
const generated = "by name"

// Origin is where a test is from: a preset's name (corpus is one too) or a file.
type Origin struct{ Preset, File string }

// Finder finds tests.
type Finder struct {
	Stdin io.Reader
	// Expect refuses a file that is clearly something else than a test.
	Expect func(file string) error
	// Nearest is the word that is most like another one, "" if none is.
	Nearest func(word string, words []string) string
}

// parsedAtOnce is the number of files that are read before their tests are
// passed on.
const parsedAtOnce = 512

// Each passes on the tests that arguments name: the word corpus (or corpus-cl, for those in OpenCL C), a test of the
// corpus, a .litmus file, a folder of them, or - for standard input. Files that
// do not parse are left out and refused; it is an error if nothing else is there.
func (f *Finder) Each(args []string, yield func(Origin, *litmus.Test) error) (refused []error, err error) {
	var wrong []error // arguments
	n := 0
	for _, a := range args {
		err := f.of(a, func(o Origin, t *litmus.Test, err error) error {
			switch {
			case err != nil && o.File != "":
				refused = append(refused, err)
				return nil
			case err != nil:
				wrong = append(wrong, err)
				return nil
			}
			n++
			return yield(o, t)
		})
		if err != nil {
			return nil, err
		}
	}
	if n == 0 || len(wrong) > 0 {
		return nil, errors.Join(append(wrong, refused...)...)
	}
	return refused, nil
}

// of passes on the tests that one argument names, and what is wrong with
// single ones.
func (f *Finder) of(a string, add func(Origin, *litmus.Test, error) error) error {
	switch a {
	case Corpus, CorpusCL:
		tests := corpus.Tests()
		if a == CorpusCL {
			tests = corpus.OpenCL()
		}
		for _, t := range tests {
			if err := add(Origin{Preset: Corpus}, t, nil); err != nil {
				return err
			}
		}
		return nil
	case "-":
		src, err := input.Read("standard input", f.Stdin, litmus.MaxFileBytes)
		if err != nil {
			return err
		}
		t, err := litmus.Parse("<stdin>", src)
		return add(Origin{}, t, err)
	}
	st, err := os.Stat(a)
	switch {
	case err == nil && st.IsDir():
		return in(a, add)
	case err == nil:
		if err := f.Expect(a); err != nil {
			return add(Origin{}, nil, err)
		}
		t, err := litmus.ParseFile(a)
		return add(Origin{File: a}, t, err)
	}
	if t, ok := corpus.Lookup(a); ok {
		return add(Origin{Preset: Corpus}, t, nil)
	}
	if sp, err := cycle.ParseName(a); err == nil { // the name of a generated test says all of it
		return add(Origin{Preset: generated}, sp.Test(), nil)
	}
	if base, list, err := cycle.SplitName(a); err == nil && len(list) > 0 {
		if t, ok := corpus.Lookup(base); ok {
			t, err := cycle.Apply(t, list...)
			return add(Origin{Preset: generated}, t, err)
		}
	}
	return add(Origin{}, nil, f.none(a))
}

// IsTest reports whether a file is one of a litmus test by its name.
func IsTest(file string) bool { return strings.HasSuffix(file, ".litmus") }

// in passes on the tests of a folder.
func in(dir string, add func(Origin, *litmus.Test, error) error) error {
	files, _, err := input.Files(dir, IsTest)
	if err != nil {
		return err
	}
	if len(files) == 0 {
		return add(Origin{}, nil, fmt.Errorf("%s: no .litmus files", dir))
	}
	for some := range slices.Chunk(files, parsedAtOnce) {
		parsed, failed := litmus.ParseFiles(some)
		for i := range some {
			if err := add(Origin{File: some[i]}, parsed[i], failed[i]); err != nil {
				return err
			}
		}
	}
	return nil
}

// none is the error of a word that names no test.
func (f *Finder) none(word string) error {
	var names []string
	for _, t := range slices.Concat(corpus.Tests(), corpus.OpenCL()) {
		names = append(names, t.Name)
	}
	hint := ""
	if n := f.Nearest(word, names); n != "" {
		hint = fmt.Sprintf("; did you mean %s?", n)
	}
	return fmt.Errorf("%s: no such file, folder, test of the corpus, or name of a generated test%s", plain.Line(word), hint)
}
