package event

import (
	"testing"

	"github.com/stretchr/testify/require"
)

// TestRaceTexts: what a race says of a test, and which take its meaning.
func TestRaceTexts(t *testing.T) {
	for _, x := range []struct {
		race, model, text string
		meaningless       bool
	}{
		{RaceFree, "ptx", "the test has no data race (model ptx)", false},
		{DataRace, "ptx", "the test has a data race (model ptx)", false},
		{DataRace, "opencl", "OpenCL gives it no meaning", true},
		{FenceScope, "opencl", "where mem_fence does not synchronise", true},
		{MixedSize, "ptx", "accesses of different sizes: PTX gives it no meaning", true},
		{NonCoherent, "ptx", "through a cache that is not coherent", true},
		{RaceUnknown, "ptx", "is not known: too many", false},
		{"", "ptx", "", false},
	} {
		v := &Verdict{Model: x.model, Race: x.race, RaceWhy: "too many"}
		require.Contains(t, v.RaceText(), x.text, x.race)
		require.Equal(t, x.text == "", v.RaceText() == "", x.race)
		require.Equal(t, x.meaningless, v.Meaningless(), x.race+x.model)
	}
}
