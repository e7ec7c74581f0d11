package model

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"optcheck/litmus"
)

// TestDeciders: what was seen comes first, then what is like tests that were weak,
// and what was run in vain last.
func TestDeciders(t *testing.T) {
	named := func(name string, instances, seen uint64) Difference {
		x := parse(t, strings.Replace(weakMP, "PTX MP", "PTX "+name, 1))
		v := &Verdict{Terms: []litmus.Term{{Kind: litmus.TermReg, Thread: 1, Name: "r1"}}}
		return Difference{Test: x, A: v, B: v, OnlyA: []Single{{Values: []int64{1}, Seen: seen}}, Instances: instances}
	}
	c := &Comparison{A: "a", B: "b", Differences: []Difference{
		named("ZZ+po-p0::p1", 0, 0), named("MP+membar.gls-p0::p1", 0, 0), named("MP+membar.ctas-p0::p1", 0, 0), named("MP+po+membar.cta-p0::p1", 1e9, 0), named("SB+po-p0::p1", 1e5, 1),
	}}
	past := []Past{{"MP+po+membar.cta-p0::p1-xgyg", 1000, 1e5}, {"MP+membar.cta+po-p0::p1-xgyg", 2000, 1e5}, {"MP+membar.gl+po-p0::p1-xgyg", 0, 1e5}, {"SB+po-p0::p1-xgyg", 5, 0}}
	list := Deciders(c, past)
	var names []string
	for i := range list {
		names = append(names, list[i].Test.Name)
	}
	require.Equal(t, []string{"SB+po-p0::p1", "MP+membar.ctas-p0::p1", "MP+membar.gls-p0::p1", "MP+po+membar.cta-p0::p1", "ZZ+po-p0::p1"}, names)
	require.True(t, list[0].Known)
	require.Equal(t, 3, list[1].Alike)
	require.InDelta(t, 3e-9, list[3].Rate, 1e-12)
	require.Zero(t, list[4].Rate)
	var b strings.Builder
	require.NoError(t, WriteDeciders(&b, c, list, 3))
	require.Contains(t, b.String(), "SB+po-p0::p1           4             seen")
	require.Contains(t, b.String(), "and 2 more")
	b.Reset()
	require.NoError(t, list[3].WriteJSON(&b))
	require.Contains(t, b.String(), `{"decider":{"test":"MP+po+membar.cta-p0::p1",`)
	require.Contains(t, b.String(), `"tests_alike":3`)
}
