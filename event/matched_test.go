package event

import (
	"testing"

	"github.com/stretchr/testify/require"
)

// TestMatchedLimits: what found everything as written says what it is not about.
func TestMatchedLimits(t *testing.T) {
	for want, c := range map[string]Matched{
		"": {Strong: 1, StrongFound: 1, Weak: 2, WeakFound: 2},
		"nothing in it synchronises or is strong":                                                                           {Weak: 2, WeakFound: 2},
		"1 synchronising or strong operation without an instruction":                                                        {Strong: 2, StrongFound: 1},
		"3 synchronising or strong operations without an instruction":                                                       {Strong: 2, StrongFound: 1, Warp: 2},
		"1 weak operation without an instruction of its own":                                                                {Warp: 1, WarpFound: 1, Weak: 2, WeakFound: 1},
		"1 synchronising or strong operation without an instruction, 2 weak operations without an instruction of their own": {Strong: 1, Weak: 2},
	} {
		require.Equal(t, want, c.Limits(), "%+v", c)
		var sum Matched
		sum.Add(c)
		require.Equal(t, c, sum)
		sum.Add(c)
		require.Equal(t, 2*c.Weak, sum.Weak)
	}
}
