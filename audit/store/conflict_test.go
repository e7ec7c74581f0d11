package store

import (
	"bytes"
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"

	"optcheck/event"
)

// TestStages: a finding whose stage could not be found is no other finding, in
// whatever order the results come; two stages for one finding are a conflict.
func TestStages(t *testing.T) {
	cfg := event.Config{Schema: event.Schema, Spec: 2, Toolchains: []event.Toolchain{{ID: "clang 1", Build: "b"}}}
	run := func(stages ...string) []byte {
		r := event.Result{Class: event.Changed, Code: "0123456789abcdef"}
		for i, s := range stages {
			r.Findings = append(r.Findings, event.Finding{Rule: "merged", Thread: i, Stage: s})
		}
		return stream(t, []event.Event{{Config: &cfg}, {Cell: &event.Cell{Test: "mp", Hash: "h", Toolchain: "clang 1", Target: "tahiti",
			Level: "O3", Layout: "pointers", Result: r}}})
	}
	all, none, one := run("IR passes", "back end"), run("", ""), run("", "back end")
	dir := t.TempDir()
	s := imported(t, dir, "a", all)
	want := exported(t, s, View{})
	for i, order := range [][][]byte{{all, none, one}, {none, one, all}, {one, all, none}, {none, all, one}} {
		x := imported(t, dir, fmt.Sprint("x", i), order...)
		require.Equal(t, want, exported(t, x, View{}))
		require.NoError(t, x.Close())
	}
	_, err := s.Import(t.Context(), "bad", bytes.NewReader(run("", "IR passes")))
	require.ErrorIs(t, err, ErrConflict)
	require.NoError(t, s.Close())
}

// TestOtherWords: a test that several files write differently is one test, in
// whatever order they come.
func TestOtherWords(t *testing.T) {
	text := func(locations string) []byte {
		return stream(t, []event.Event{{Config: &event.Config{Schema: event.Schema}},
			{Test: &event.Test{Name: "mp", Hash: "h", Dialect: "GPU_PTX", Text: "GPU_PTX mp\n{\n" + locations + "\n}\n"}},
			{Cell: cellOf("mp", event.Result{Class: event.Preserved})}})
	}
	one, two := text("x=0; y=0;"), text("y=0; x=0;")
	a, b := imported(t, t.TempDir(), "a", one, two), imported(t, t.TempDir(), "b", two, one)
	require.Contains(t, exported(t, a, View{}), "x=0; y=0;")
	require.Equal(t, exported(t, a, View{}), exported(t, b, View{}))
	require.NoError(t, a.Close())
	require.NoError(t, b.Close())
}

// TestConflicting: whatever two results of one cell do not share is a conflict, their class first of all, in either
// order, of streams and of stores; the store keeps what it had.
func TestConflicting(t *testing.T) {
	finding := func(rule string, change func(*event.Finding)) []event.Finding {
		f := event.Finding{Rule: rule, Detail: "#0"}
		if change != nil {
			change(&f)
		}
		return []event.Finding{f}
	}
	result := func(change func(*event.Result)) event.Result {
		r := event.Result{Class: event.Changed, Code: "0123456789abcdef", Findings: finding("merged", nil)}
		if change != nil {
			change(&r)
		}
		return r
	}
	run := func(r event.Result) []byte {
		return stream(t, []event.Event{{Config: &event.Config{Schema: event.Schema, Spec: 2, Toolchains: []event.Toolchain{{ID: "ptxas 1", Build: "b"}}}},
			{Cell: &event.Cell{Test: "mp", Hash: "h", Toolchain: "ptxas 1", Target: "sm_80", Level: "O3", Layout: "pointers", Result: r}}})
	}
	for what, other := range map[string]func(*event.Result){
		"optimised":       func(r *event.Result) { r.Class = event.Optimised },
		"miscompiled":     func(r *event.Result) { r.Class = event.Miscompiled },
		"preserved":       func(r *event.Result) { r.Class, r.Findings = event.Preserved, nil },
		"unsupported":     func(r *event.Result) { *r = event.Result{Class: event.Unsupported, Reason: "no target"} },
		"undecided":       func(r *event.Result) { *r = event.Result{Class: event.Unknown, Reason: "not understood"} },
		"other code":      func(r *event.Result) { r.Code = "0123456789abcdee" },
		"another rule":    func(r *event.Result) { r.Findings = finding("missing", nil) },
		"another thread":  func(r *event.Result) { r.Findings = finding("merged", func(f *event.Finding) { f.Thread = 1 }) },
		"another detail":  func(r *event.Result) { r.Findings = finding("merged", func(f *event.Finding) { f.Detail = "#1" }) },
		"no finding":      func(r *event.Result) { r.Findings = nil },
		"a verdict":       func(r *event.Result) { r.Verdict = &event.Verdict{Model: "ptx"} },
		"one finding too": func(r *event.Result) { r.Findings = append(r.Findings, finding("missing", nil)...) },
	} {
		t.Run(what, func(t *testing.T) {
			dir := t.TempDir()
			one, two := run(result(nil)), run(result(other))
			for i, order := range [][2][]byte{{one, two}, {two, one}} {
				s := imported(t, dir, fmt.Sprint("s", i), order[0])
				before := exported(t, s, View{})
				_, err := s.Import(t.Context(), "again", bytes.NewReader(order[0]))
				require.NoError(t, err)
				_, err = s.Import(t.Context(), "bad", bytes.NewReader(order[1]))
				require.ErrorIs(t, err, ErrConflict)
				from := imported(t, dir, fmt.Sprint("from", i), order[1])
				_, err = s.Merge(t.Context(), from)
				require.ErrorIs(t, err, ErrConflict)
				require.NoError(t, from.Close())
				require.Equal(t, before, exported(t, s, View{}))
				require.NoError(t, s.Close())
			}
		})
	}
}
