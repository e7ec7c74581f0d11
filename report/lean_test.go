package report

import (
	"bytes"
	"fmt"
	"io"
	"runtime"
	"testing"

	"github.com/stretchr/testify/require"

	"optcheck/event"
)

// TestLeanRun: a run that reads its cells out of a set is reported exactly as one
// that holds them, in every form.
func TestLeanRun(t *testing.T) {
	set := event.NewSet()
	require.NoError(t, sample().Replay(set))
	full, lean := set.Run(), set.Lean()
	require.Empty(t, lean.Cells)
	require.Equal(t, len(full.Cells), lean.Len())
	n := 0
	for i, c := range lean.All() {
		require.Equal(t, n, i)
		require.Equal(t, full.Cells[i], *c)
		require.Equal(t, full.Cells[i], lean.At(i))
		n++
	}
	require.Equal(t, full.Len(), n)
	require.Equal(t, full.Classes(), lean.Classes())
	for _, hide := range []bool{false, true} {
		forms := map[string]func(io.Writer, *event.Run) error{
			"text": func(w io.Writer, r *event.Run) error {
				return WriteText(w, r, TextOptions{Unsupported: true, Notes: true, NewOnly: hide})
			},
			"cells":    func(w io.Writer, r *event.Run) error { return WriteText(w, r, TextOptions{Cells: true, NewOnly: hide}) },
			"json":     func(w io.Writer, r *event.Run) error { return r.Replay(event.NewJSONLines(w)) },
			"junit":    func(w io.Writer, r *event.Run) error { return WriteJUnit(w, r, hide) },
			"markdown": func(w io.Writer, r *event.Run) error { return WriteMarkdown(w, r, 0) },
			"github":   WriteAnnotations,
			"sarif":    func(w io.Writer, r *event.Run) error { return WriteSARIF(w, r, nil) },
			"diff": func(w io.Writer, r *event.Run) error {
				return WriteComparison(w, Compare(r, sample(), all), true)
			},
			"only": func(w io.Writer, r *event.Run) error {
				one, err := r.Only("2.0")
				if err != nil {
					return err
				}
				return one.Replay(event.NewJSONLines(w))
			},
		}
		for name, write := range forms {
			var a, b bytes.Buffer
			require.NoError(t, write(&a, full))
			require.NoError(t, write(&b, lean))
			require.NotEmpty(t, a.String(), name)
			require.Equal(t, a.String(), b.String(), name)
		}
		full, lean = full.WithoutKnown(), lean.WithoutKnown()
		require.Less(t, lean.Len(), n, "some cells are known")
		require.Equal(t, full.Config, lean.Config)
	}
}

// collect collects garbage, also what pools hold over one collection and what
// has a finalizer.
func collect() {
	for range 3 {
		runtime.GC()
	}
}

// TestLeanRunIsSmall: a further cell of code that is known takes less than 40
// bytes of a run, its report included.
func TestLeanRunIsSmall(t *testing.T) {
	const tests, columns = 2000, 100
	run := func(columns int) float64 {
		var before, after runtime.MemStats
		collect()
		runtime.ReadMemStats(&before)
		set := event.NewSet()
		require.NoError(t, set.Handle(event.Event{Config: &event.Config{Schema: event.Schema, Toolchains: []event.Toolchain{{ID: "tool"}}, Levels: []string{"O3"}}}))
		for k := range columns {
			for i := range tests {
				c := event.Cell{Test: fmt.Sprint("test ", i), Hash: fmt.Sprint("hash ", i), Toolchain: "tool", Target: fmt.Sprint("sm_", k),
					Level: "O3", Layout: "pointers",
					Result: event.Result{Class: event.Preserved, Code: fmt.Sprintf("%016x", i)}}
				require.NoError(t, set.Handle(event.Event{Cell: &c}))
			}
		}
		r := set.Lean()
		require.NoError(t, WriteText(io.Discard, r, TextOptions{}))
		collect()
		runtime.ReadMemStats(&after)
		require.Equal(t, tests*columns, r.Len())
		return float64(after.HeapAlloc) - float64(before.HeapAlloc)
	}
	run(1) // what other tests left goes, and what is made once is made
	small := run(1)
	each := (run(columns) - small) / (tests * (columns - 1))
	t.Logf("a cell takes %.1f bytes", each)
	require.Greater(t, each, 11.0, "nothing was measured")
	require.Less(t, each, 40.0)
}
