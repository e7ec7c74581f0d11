package store

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"optcheck/event"
)

// text draws short strings, some of them nasty.
var text = rapid.OneOf(rapid.SampledFrom([]string{"", "mp", "coRR", "<script>", "../../x", "a\x00b", "läng\u2028", "'; DROP TABLE cell",
	"\"\\"}), rapid.StringN(0, 8, 20))

// genConfig draws the config of a run.
func genConfig(t *rapid.T) event.Config {
	c := event.Config{Schema: event.Schema, Tool: "test", Spec: 2, Levels: []string{"O0", "O3"}, Layouts: []string{"pointers", "offsets"},
		Targets: []string{"sm_80", "sm_90a"}, Model: "default", Build: rapid.SampledFrom([]string{"b1", "b2"}).Draw(t, "build")}
	for _, v := range []string{"9.2", "11.8.89", "12.4.131"} {
		c.Toolchains = append(c.Toolchains, event.Toolchain{ID: "ptxas " + v, Build: "build " + v,
			MaxPTX: rapid.SampledFrom([]string{"", "8.4"}).Draw(t, "ptx")})
	}
	return c
}

// genResult draws a result.
func genResult(t *rapid.T) event.Result {
	finding := func(label string) []event.Finding {
		return rapid.SliceOfN(rapid.Custom(func(t *rapid.T) event.Finding {
			return event.Finding{Rule: "merged", Thread: rapid.IntRange(0, 2).Draw(t, "thread"), Access: -1, Detail: text.Draw(t, "detail")}
		}), 0, 2).Draw(t, label)
	}
	r := event.Result{Class: rapid.SampledFrom([]string{event.Preserved, event.Optimised, event.Unknown, event.Unsupported,
		event.Crashed, event.Invalid}).Draw(t, "class"),
		Code: rapid.SampledFrom([]string{"", "0123456789abcdef", "ffffffffffffffff", "0123456789ABCDEF", "zz", "12",
			"0000000000000000"}).Draw(t, "code"),
		Reason: text.Draw(t, "reason"), Findings: finding("findings"), Notes: finding("notes")}
	if r.Class == event.Optimised {
		r.Verdict = &event.Verdict{Model: "ptx", Source: 3, Machine: 2, Lost: []string{"x=1;"}, Lifted: text.Draw(t, "lifted")}
		r.Known = rapid.SliceOfN(text, 0, 2).Draw(t, "known")
	}
	return r
}

// genStream draws a run. The same place always has the same test.
func genStream(t *rapid.T) []event.Event {
	cfg := genConfig(t)
	out := []event.Event{{Config: &cfg}}
	type key struct{ name, hash string }
	var tests []key
	seen := map[key]bool{}
	for i := range rapid.IntRange(0, 5).Draw(t, "tests") {
		x := event.Test{Name: text.Draw(t, "name"), Hash: fmt.Sprintf("h%d", i/2), Dialect: "GPU_PTX", Text: text.Draw(t, "text"),
			File: text.Draw(t, "file")}
		if k := (key{x.Name, x.Hash}); !seen[k] {
			seen[k] = true
			tests = append(tests, k)
			if rapid.Bool().Draw(t, "announced") {
				out = append(out, event.Event{Test: &x})
			}
		}
	}
	listed := map[string]bool{}
	done := map[string]bool{}
	for range rapid.IntRange(0, 30).Draw(t, "events") {
		switch rapid.IntRange(0, 5).Draw(t, "kind") {
		case 0:
			out = append(out, event.Event{Problem: &event.Problem{Kind: "compile", Detail: text.Draw(t, "problem")}})
		case 1:
			out = append(out, event.Event{Histogram: &event.Histogram{Test: text.Draw(t, "histogram"), Status: event.StatusDone}})
		default:
			if len(tests) == 0 {
				continue
			}
			k := tests[rapid.IntRange(0, len(tests)-1).Draw(t, "test")]
			c := &event.Cell{Test: k.name, Hash: k.hash, Toolchain: rapid.SampledFrom([]string{"ptxas 9.2", "ptxas 12.4.131",
				"other"}).Draw(t, "toolchain"),
				Target: rapid.SampledFrom([]string{"sm_80", "sm_100", "gfx900"}).Draw(t, "target"), Level: "O3",
				Layout: rapid.SampledFrom([]string{"pointers", "offsets"}).Draw(t, "layout"), Result: genResult(t)}
			if p := fmt.Sprintf("%q %q %q %q %q", c.Test, c.Hash, c.Toolchain, c.Target, c.Layout); done[p] {
				continue
			} else {
				done[p] = true
			}
			if c.HasFindings() && !listed[c.Code] {
				listed[c.Code] = true
				out = append(out, event.Event{Listing: &event.Listing{Code: c.Code,
					Threads: []event.ThreadListing{{Source: []event.Line{{Text: text.Draw(t, "line")}}}}}})
			}
			out = append(out, event.Event{Cell: c})
		}
	}
	if rapid.Bool().Draw(t, "ended") {
		out = append(out, event.Event{Stats: &event.Stats{Cells: len(done), Wall: 1.5}})
	}
	return out
}

// lines returns the events that write hands over, as JSON lines.
func lines(t require.TestingT, write func(event.Handler) error) []byte {
	var b bytes.Buffer
	h := event.NewJSONLines(&b)
	require.NoError(t, write(h))
	require.NoError(t, h.Close())
	return b.Bytes()
}

// stream writes events as JSON lines.
func stream(t require.TestingT, events []event.Event) []byte {
	return lines(t, func(h event.Handler) error {
		for _, e := range events {
			if err := h.Handle(e); err != nil {
				return err
			}
		}
		return nil
	})
}

// exported returns the canonical export of a store.
func exported(t require.TestingT, s *Store, v View) string {
	return string(lines(t, func(h event.Handler) error { return s.Export(context.Background(), v, h) }))
}

// ran returns the export of a run.
func ran(t require.TestingT, s *Store, run int64) string {
	return string(lines(t, func(h event.Handler) error { return s.ExportRun(context.Background(), run, h) }))
}

// fresh makes an empty store in a folder.
func fresh(t require.TestingT, dir, name string) *Store {
	s, err := Open(context.Background(), filepath.Join(dir, name), Create)
	require.NoError(t, err)
	return s
}

// imported makes a store of streams.
func imported(t require.TestingT, dir, name string, streams ...[]byte) *Store {
	s := fresh(t, dir, name)
	for _, x := range streams {
		_, err := s.Import(context.Background(), name, bytes.NewReader(x))
		require.NoError(t, err)
	}
	return s
}

// folder makes a new folder for each check of a property.
func folder(t *testing.T) func() string {
	top := t.TempDir()
	return func() string {
		dir, err := os.MkdirTemp(top, "")
		require.NoError(t, err)
		return dir
	}
}
