package verify

import (
	"testing"

	"github.com/stretchr/testify/require"
)

// TestChosen: a finding does not rest on a number that was chosen. A parameter that becomes an address in a way that the program does not
// show is a pointer; what depends on another number is unknown until it is given.
func TestChosen(t *testing.T) {
	m := module(t, "testdata/chosen.ptx")
	buffer := func(name string, n int64) Arg { return Arg{Name: name, Buffer: true, Bytes: n} }
	for _, c := range []struct {
		kernel string
		args   []Arg
		want   []string
	}{
		{"masked", nil, nil},
		{"masked", []Arg{{Name: "data", Number: "2"}}, []string{"misaligned"}},
		{"inlocal", nil, nil},
		{"stored", nil, nil},
		{"members", nil, []string{"data-race"}},
		{"null", nil, []string{"data-race", "out-of-bounds"}},
		{"bound", []Arg{buffer("p", 8)}, []string{"? line 96: the access is out of bounds: it depends on what was chosen: give --arg n=… (here 0x20)"}},
		{"bound", []Arg{buffer("p", 8), {Name: "n", Number: "3"}}, []string{"data-race", "out-of-bounds"}},
		{"bound", []Arg{buffer("p", 8), {Name: "n", Number: "2"}}, []string{"data-race"}},
	} {
		r, err := Kernel(m, c.kernel, &Options{Launch: Launch{Grid: [3]int{2, 1, 1}, Block: [3]int{1, 1, 1}, Args: c.args}, Inputs: 1, Schedules: 2, Steps: 1 << 14, Unmended: true})
		require.NoError(t, err)
		var got []string
		for _, f := range r.Found {
			got = append(got, string(f.Rule))
		}
		for _, u := range r.Unknown {
			got = append(got, "? "+u)
		}
		require.Equal(t, c.want, got, "%s\n%s", c.kernel, r.Text())
	}
}

// TestDirected: an equality that is seldom met by chance is met.
func TestDirected(t *testing.T) {
	r, err := Kernel(module(t, "testdata/chosen.ptx"), "seldom", &Options{Launch: Launch{Grid: [3]int{1, 1, 1}, Block: [3]int{2, 1, 1}}, Schedules: 1, Unmended: true})
	require.NoError(t, err)
	require.Len(t, r.Found, 1, r.Text())
	require.Equal(t, DataRace, r.Found[0].Rule)
	require.Equal(t, "input 0 with n = 0xbeef, threads in the order of their numbers", r.Found[0].Run)
	require.Empty(t, r.Unknown)
}

// TestPast: who goes past a barrier of the block diverges, who has returned before does not.
func TestPast(t *testing.T) {
	for kernel, found := range map[string]int{"past": 1, "before": 0} {
		r, err := Kernel(module(t, "testdata/chosen.ptx"), kernel, &Options{Launch: Launch{Grid: [3]int{1, 1, 1}, Block: [3]int{64, 1, 1}}, Inputs: 1, Schedules: 3, CUDA: true})
		require.NoError(t, err)
		require.Len(t, r.Found, found, r.Text())
		for _, f := range r.Found {
			require.Equal(t, BarrierDivergence, f.Rule)
		}
	}
}
