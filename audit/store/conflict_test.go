package store

import (
	"bytes"
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"

	"optcheck/report"
)

// TestStages: a finding whose stage could not be found is no other finding, in
// whatever order the results come; two stages for one finding are a conflict.
func TestStages(t *testing.T) {
	cfg := report.Config{Schema: report.Schema, Spec: 2, Toolchains: []report.Toolchain{{ID: "clang 1", Build: "b"}}}
	run := func(stages ...string) []byte {
		r := report.Result{Class: report.Changed, Code: "0123456789abcdef"}
		for i, s := range stages {
			r.Findings = append(r.Findings, report.Finding{Rule: "merged", Thread: i, Stage: s})
		}
		return stream(t, []report.Event{{Config: &cfg}, {Cell: &report.Cell{Test: "mp", Hash: "h", Toolchain: "clang 1", Target: "tahiti",
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
		return stream(t, []report.Event{{Config: &report.Config{Schema: report.Schema}},
			{Test: &report.Test{Name: "mp", Hash: "h", Dialect: "GPU_PTX", Text: "GPU_PTX mp\n{\n" + locations + "\n}\n"}}})
	}
	one, two := text("x=0; y=0;"), text("y=0; x=0;")
	a, b := imported(t, t.TempDir(), "a", one, two), imported(t, t.TempDir(), "b", two, one)
	require.Equal(t, exported(t, a, View{}), exported(t, b, View{}))
	require.NoError(t, a.Close())
	require.NoError(t, b.Close())
}
