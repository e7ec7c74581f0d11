package event

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// TestOneLine: no name of a stream begins a line of its own.
func TestOneLine(t *testing.T) {
	config := Config{Schema: Schema, Toolchains: []Toolchain{{ID: "ptxas 12.4.131"}}}
	read := func(events ...Event) error {
		var text strings.Builder
		for _, e := range events {
			line, err := json.Marshal(e)
			require.NoError(t, err)
			text.Write(append(line, '\n'))
		}
		return ReadLines("run.jsonl", strings.NewReader(text.String()), func(int, Event) error { return nil })
	}
	require.NoError(t, read(Event{Config: &config}))
	evil := "x\n::add-mask::y"
	for _, c := range []Config{{Tool: evil}, {Source: evil}, {Targets: []string{"sm_80", evil}}, {Levels: []string{evil}},
		{Layouts: []string{evil}},
		{Toolchains: []Toolchain{{ID: evil}}}, {Model: "x\ry"}} {
		c.Schema = Schema
		require.ErrorContains(t, read(Event{Config: &c}), "is no name: it has several lines")
	}
	for _, e := range []Event{{Cell: &Cell{Test: "mp", Toolchain: evil}}, {Cell: &Cell{Test: "mp", Target: evil}},
		{Cell: &Cell{Test: "mp", Level: evil}},
		{Problem: &Problem{Kind: "compile", Toolchain: evil}}, {Problem: &Problem{Kind: evil}}, {Histogram: &Histogram{Test: "mp",
			Setting: evil}},
		{Histogram: &Histogram{Test: "mp", Device: TestedDevice{Name: evil}}}} {
		require.ErrorContains(t, read(Event{Config: &config}, e), "run.jsonl:2: bad event: ")
	}
	for _, change := range []func(*Cell){func(c *Cell) { c.Toolchain = evil }, func(c *Cell) { c.Target = evil }, func(c *Cell) { c.Level = evil },
		func(c *Cell) { c.Layout = evil }, func(c *Cell) { c.Class = evil }} {
		c := Cell{Test: "mp", Hash: "h", Toolchain: "ptxas 12.4.131", Target: "sm_80", Level: "O3", Layout: "pointers"}
		c.Class = Preserved
		require.NoError(t, (&Event{Cell: &c}).oneLine())
		change(&c)
		require.ErrorContains(t, (&Event{Cell: &c}).oneLine(), "is no name: it has several lines")
	}
	for _, e := range []Event{{Problem: &Problem{Level: evil}}, {Problem: &Problem{Target: evil}}, {Histogram: &Histogram{Status: evil}}, {Histogram: &Histogram{Layout: evil}}} {
		require.ErrorContains(t, e.oneLine(), "is no name: it has several lines")
	}
}
