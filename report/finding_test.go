package report

import (
	"bytes"
	"fmt"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"optcheck/event"
	"optcheck/event/eventtest"
)

// TestGroups: every cell with findings lies in exactly one group, the group of
// its test and of what it shows.
func TestGroups(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		s := event.NewSet()
		n := rapid.IntRange(0, 60).Draw(t, "cells")
		for i := range n {
			c := event.Cell{Test: rapid.SampledFrom([]string{"a", "b"}).Draw(t, "test"), Level: fmt.Sprint(i),
				Result: event.Result{Class: rapid.SampledFrom(event.Severities).Draw(t, "class"), Code: rapid.SampledFrom([]string{"", "x"}).Draw(t, "code")}}
			if c.HasFindings() {
				c.Findings = []event.Finding{{Rule: rapid.SampledFrom([]string{"merged", "missing"}).Draw(t, "rule")}}
			}
			require.NoError(t, s.Handle(event.Event{Cell: &c}))
		}
		gs := NewGroups(s)
		in := map[uint32]string{}
		for _, g := range gs.List {
			back, ok := gs.ByID(g.ID)
			require.True(t, ok && back == g)
			first := s.Cell(int(g.Cells[0]))
			for _, i := range g.Cells {
				c := s.Cell(int(i))
				require.Equal(t, first.Test+first.Class+first.Signature(), c.Test+c.Class+c.Signature())
				require.Empty(t, in[i])
				in[i] = g.ID
			}
		}
		for i, c := range s.All() {
			require.Equal(t, c.HasFindings() || c.Class == event.Unknown || c.Class == event.Invalid, in[uint32(i)] != "")
		}
		all := 0
		for test := range s.Tests {
			for _, i := range gs.TestCells(uint32(test)) {
				require.Equal(t, uint32(test), s.Cells[i].Test)
				all++
			}
		}
		require.Equal(t, n, all)
	})
}

// TestFindingsEverywhere: every form lists the same findings; a text tells those of one cause together, and says how many it leaves out.
func TestFindingsEverywhere(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		r := eventtest.Run(t)
		if rapid.Bool().Draw(t, "sample") {
			r = sample()
		}
		n, causes, left := len(GroupsOf(r).List), GroupsOf(r).byCause(), 0
		for _, list := range causes[min(len(causes), MaxTold):] {
			left += len(list)
		}
		var text bytes.Buffer
		require.NoError(t, WriteText(&text, r, TextOptions{}))
		require.Len(t, regexp.MustCompile(`(?m)^(MISCOMPILED|CHANGED|UNKNOWN|OPTIMISED): `).FindAllString(text.String(), -1), min(len(causes), MaxTold))
		require.Equal(t, left > 0, strings.Contains(text.String(), fmt.Sprintf("%d more of %d findings", left, n)))
		require.Equal(t, n, strings.Count(markdownOf(t, r, 0), "\n### "))
		require.Len(t, parseSARIF(t, sarifOf(t, r)).Runs[0].Results, n)
	})
}
