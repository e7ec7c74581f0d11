package device

import (
	"context"
	"testing"

	"github.com/stretchr/testify/require"

	"optcheck/litmus"
	"optcheck/litmus/corpus"
	"optcheck/ptxgen"
)

// TestValidateDevices: the kernels of divided tests are the tests, as in the fast form.
func TestValidateDevices(t *testing.T) {
	divided, parents := Divide(corpus.Tests(), 2)
	require.Greater(t, len(divided), 100)
	names := map[string]bool{}
	var list []*litmus.Test
	for i, x := range divided {
		require.False(t, names[x.Name], x.Name)
		names[x.Name] = true
		require.True(t, x.OnSeveralDevices())
		require.True(t, parents[x] != nil || x.Name == "mp+release.sys+acquire.sys-gpus", x.Name)
		if i%3 == 0 {
			list = append(list, x)
		}
	}
	c := &Compiler{Target: "sm_90", Level: "O3", Tool: newest(t, "sm_90")}
	bins, err := c.Build(context.Background(), list, ptxgen.FormDevices)
	require.NoError(t, err)
	validated := 0
	for _, b := range bins {
		require.Contains(t, []string{"validated", "changed", "unsupported"}, b.State, "%s: %s", b.Test.Name, b.Why)
		if b.Validated {
			validated++
		}
	}
	require.Greater(t, validated, len(list)*9/10)
	bins, err = c.Build(context.Background(), list[:1], ptxgen.FormFast)
	require.NoError(t, err)
	require.Equal(t, "unsupported", bins[0].State)
	require.Contains(t, bins[0].Why, "--devices")
}

// TestAcrossDevices: threads on other devices are outside the scope of the GPU, and
// inside that of the system.
func TestAcrossDevices(t *testing.T) {
	j, err := NewJudge("ptx")
	require.NoError(t, err)
	for name, want := range map[string][2]string{ // on one device, on two
		"mp+release.gpu+acquire.gpu": {Forbidden, Allowed},
		"mp+release.sys+acquire.sys": {Forbidden, Forbidden},
	} {
		x := tests(t, name)[0]
		require.Equal(t, want[0], j.First(t.Context(), x), name)
		divided, _ := Divide([]*litmus.Test{x}, 2)
		require.Len(t, divided, 1)
		require.Equal(t, want[1], j.First(t.Context(), divided[0]), name)
	}
}
