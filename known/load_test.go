package known

import (
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"optcheck/event"
	"optcheck/verify"
)

func TestErrors(t *testing.T) {
	rest := "    note: n\n    reason: r\n"
	for _, c := range []struct{ text, want string }{
		{"", "empty"},
		{"known: 5", "f:1:8: known: expected a list"},
		{"konwn: []", `f:1:1: the file: unknown key "konwn"`},
		{"- a", "f:1:1: the file: expected keys"},
		{"known: [", "line 1"},
		{"known: []\n---\nknown: []", "more than one document"},
		{"known:\n  - 7", "f:2:5: filter: expected keys"},
		{"known:\n  - id: a\n    rule: merged\n" + rest + "    colour: red", `f:6:5: filter: unknown key "colour"`},
		{"known:\n  - id: a\n    rule: mergde\n" + rest, `f:3:11: rule: "mergde" is not a rule`},
		{"known:\n  - id: a\n    rule: line-lost\n" + rest, "is not a rule that a finding can break"},
		{"known:\n  - id: a\n    rule: merged\n    rule: missing\n" + rest, `f:4:5: filter: duplicate key "rule"`},
		{"known:\n  - id: a\n    rule: merged\n    with: mergde\n" + rest, `f:4:11: with: "mergde" is not a rule`},
		{"known:\n  - id: a\n    rule: merged\n    class: preserved\n" + rest, "is not a class with findings"},
		{"known:\n  - id: a\n    rule: merged\n    levels: [O3, O9]\n" + rest, `f:4:18: levels: "O9" is not a level`},
		{"known:\n  - id: a\n    rule: merged\n    layouts: sideways\n" + rest, "unknown layout"},
		{"known:\n  - id: a\n    rule: merged\n    targets: []\n" + rest, "empty list"},
		{"known:\n  - id: a\n    rule: merged\n    tests: '[x'\n" + rest, "syntax error in pattern"},
		{"known:\n  - id: a\n    rule: merged\n    detail: '('\n" + rest, "missing closing"},
		{"known:\n  - id: a\n    rule: merged\n    releases: {from: new}\n" + rest, "is not a release"},
		{"known:\n  - id: a\n    rule: merged\n    releases: {}\n" + rest, "expected from, to or both"},
		{"known:\n  - id: a\n    rule: merged\n    note: n", "lacks a reason"},
		{"known:\n  - rule: merged\n" + rest, "lacks an id"},
		{"known:\n  - id: a\n" + rest, "lacks a rule"},
		{"known:\n  - id: a\n    rule: merged\n    link: ''\n" + rest, "f:4:11: link: expected a text"},
		{"known:\n  - id: a\n    rule: merged\n    link: [x]\n" + rest, "f:4:11: link: expected a text"},
		{"known:\n  - id: a\n    rule: merged\n    releases: {since: '11.2'}\n" + rest, `unknown key "since"`},
		{"known:\n  - &x\n    id: a\n    rule: merged\n" + rest + "  - *x", "expected keys and values"},
		{"known:\n  - id: a\n    rule: merged\n" + rest + "  - id: a\n    rule: merged\n" + rest, "f:6:5: filter \"a\" is already defined at f:2:5"},
	} {
		_, err := Parse("f", []byte(c.text))
		require.ErrorContains(t, err, c.want, c.text)
		require.True(t, strings.HasPrefix(err.Error(), "f:"), err.Error())
	}
}

func FuzzParse(f *testing.F) {
	f.Add([]byte(one))
	f.Add(builtin)
	f.Add([]byte("known: &a [*a]"))
	f.Fuzz(func(t *testing.T, text []byte) {
		if l, err := Parse("f", text); err == nil {
			l.Mark(cell())
		}
	})
}

// TestRules: a rule that the checker or verify can break may be known, and what is undecided.
func TestRules(t *testing.T) {
	for _, r := range verify.Rules() {
		require.NoError(t, isRule(string(r.Rule)))
	}
	require.NoError(t, isRule("merged"))
	require.NoError(t, isRule(event.Undecided))
	require.Error(t, isRule("race-free"))
}

// TestManyErrors: a file with many mistakes is told of the first ones, and that there are more; once.
func TestManyErrors(t *testing.T) {
	text := "known:\n"
	for i := range maxErrors + 5 {
		text += fmt.Sprintf("  - {id: f%d, rule: nonsense, note: n, reason: r}\n", i)
	}
	_, err := Parse("f.yaml", []byte(text))
	lines := strings.Split(err.Error(), "\n")
	require.Len(t, lines, maxErrors+1)
	require.Equal(t, "f.yaml: and more", lines[maxErrors])
	require.NotContains(t, strings.Join(lines[:maxErrors], "\n"), "and more")

	few := strings.Join(strings.SplitAfter(text, "\n")[:4], "")
	_, err = Parse("f.yaml", []byte(few))
	require.NotContains(t, err.Error(), "and more")

	again := "known:\n" + strings.Repeat("  - {id: a, rule: merged, note: n, reason: r}\n", 2*maxErrors)
	_, err = Parse("f.yaml", []byte(again))
	require.Len(t, strings.Split(err.Error(), "\n"), maxErrors+1, "of whatever kind they are")
}

// TestKeys: a key is a word.
func TestKeys(t *testing.T) {
	_, err := Parse("f.yaml", []byte("known:\n  - ? [id]\n    : f\n    rule: merged\n    note: n\n    reason: r\n"))
	require.ErrorContains(t, err, "a key must be a word")
}

// TestEmpty: a file without a list says what was expected.
func TestEmpty(t *testing.T) {
	for _, text := range []string{"", "# nothing\n"} {
		_, err := Parse("f.yaml", []byte(text))
		require.EqualError(t, err, "f.yaml: empty; expected a key known with a list of filters", "%q", text)
	}
}

// TestReleases: a bound is enough.
func TestReleases(t *testing.T) {
	for text, want := range map[string][2]string{`{from: "11.2"}`: {"11.2", ""}, `{to: "11.8.89"}`: {"", "11.8.89"}, `{from: "11.2", to: "12"}`: {"11.2", "12"}} {
		l, err := Parse("f.yaml", []byte("known:\n  - {id: a, rule: merged, releases: "+text+", note: n, reason: r}\n"))
		require.NoError(t, err, text)
		require.Equal(t, want, [2]string{l.Filters[0].From, l.Filters[0].To})
	}
}

// TestOnce: a mistake is told once, and what follows from it is not.
func TestOnce(t *testing.T) {
	for field, want := range map[string][]string{
		"targets: ['']":                  {"f:5:15: targets: expected a text"},
		"rules: ['', merged]":            {"f:5:13: rules: expected a text"},
		"levels: [O3, [O2]]":             {"f:5:18: levels: expected a text"},
		"link: *n":                       {"f:5:11: link: expected a text"},
		"releases: {from: '', to: '12'}": {"f:5:22: from: expected a text"},
		"releases: {to: ''}":             {"f:5:20: to: expected a text", "f:5:15: releases: expected from, to or both"},
	} {
		_, err := Parse("f", []byte("known:\n  - id: a\n    rule: merged\n    note: &n n\n    "+field+"\n    reason: r\n"))
		require.Error(t, err, field)
		require.Equal(t, want, strings.Split(err.Error(), "\n"), field)
	}
}
