// Package eventtest draws event streams for tests of what reads them.
package eventtest

import (
	"pgregory.net/rapid"

	"optcheck/event"
)

// Run draws a run of some cells with texts of all kinds.
func Run(t *rapid.T) *event.Run {
	r := event.NewRun()
	r.Config = event.Config{Schema: event.Schema, Tool: "t", Tests: 2, Levels: []string{"O0", "O3"}, Layouts: []string{"pointers"},
		Toolchains: []event.Toolchain{{ID: "a 1", Build: "x"}, {ID: "b 2", Build: "y"}}}
	text := rapid.StringMatching(`[ -~<>&"'éß\\]{0,20}`)
	for i, n := 0, rapid.IntRange(0, 12).Draw(t, "cells"); i < n; i++ {
		c := event.Cell{Test: text.Draw(t, "test"), Hash: "h", Toolchain: rapid.SampledFrom([]string{"a 1", "b 2"}).Draw(t, "tc"), Target: "sm_80",
			Level: rapid.SampledFrom(r.Config.Levels).Draw(t, "level"), Layout: "pointers",
			Result: event.Result{Class: rapid.SampledFrom([]string{"preserved", "changed", "unsupported", "unknown"}).Draw(t, "class")}}
		if c.Class == "changed" {
			c.Findings = []event.Finding{{Rule: "merged", Thread: 1, Access: 1, Detail: text.Draw(t, "detail")}}
			c.Code = rapid.SampledFrom([]string{"aa", "bb"}).Draw(t, "code")
			r.Listings[c.Code] = &event.Listing{Code: c.Code, Threads: []event.ThreadListing{{Thread: 1, Source: []event.Line{{Pos: 0, Text: "s"}},
				Machine: []event.Line{{Pos: 0, Text: "m"}}}}}
		}
		r.Cells = append(r.Cells, c)
	}
	r.Tests = []event.Test{{Name: "t", Hash: "h", Dialect: "PTX", Text: text.Draw(t, "text")}}
	r.Stats = &event.Stats{Cells: len(r.Cells), Wall: 1.5}
	return r
}
