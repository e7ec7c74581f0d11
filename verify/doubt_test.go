package verify

import (
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// counted are the rules of the findings that count, each once.
func counted(r *Result) string {
	if r.Count(false) == 0 {
		return ""
	}
	return r.Brief()
}

// TestDoubt: where nobody says how a kernel is launched, what rests on the launch and on numbers that do not fit is no finding, but unknown. What
// every launch shows, is found. A place that memory names is such a number: threads that write through a permutation do not race, those that
// write to one of eight places do, whatever memory holds.
func TestDoubt(t *testing.T) {
	for kernel, want := range map[string]string{"rows": "", "neighbours": "data-race", "total": "", "scatter": "", "scattered": "data-race"} {
		r, err := Kernel(module(t, "testdata/doubt.ptx"), kernel, &Options{Schedules: 1, Unmended: true})
		require.NoError(t, err)
		require.Equal(t, want, counted(r), r.Text())
		require.Len(t, r.Unknown, map[bool]int{true: 1, false: 0}[want == ""], r.Text())
	}
	given := &Options{Launch: Launch{Grid: [3]int{2, 1, 1}, Block: [3]int{64, 1, 1}, Args: []Arg{{Name: "width", Number: "32"}}}, Schedules: 1, Unmended: true}
	r, err := Kernel(module(t, "testdata/doubt.ptx"), "rows", given)
	require.NoError(t, err)
	require.Equal(t, "data-race", counted(r), r.Text())
}

// TestDoubtMends: what mends a race is found beside another race that may be the chosen launch's, and no run of an edit looks for launches.
func TestDoubtMends(t *testing.T) {
	runs := 0
	o := &Options{Schedules: 1, watch: func(*monitor) { runs++ }}
	r, err := Kernel(module(t, "testdata/doubt.ptx"), "swapped", o)
	require.NoError(t, err)
	require.Len(t, r.Unknown, 1, r.Text())
	i := slices.IndexFunc(r.Found, func(f *Finding) bool { return !f.astray })
	require.GreaterOrEqual(t, i, 0)
	require.NotEmpty(t, r.Found[i].Mend, r.Text())
	require.Less(t, runs, 20)
}

// TestDoubtSpares: of kernels whose launch nobody gives, those without a mistake are not accused, and the mistakes are found.
func TestDoubtSpares(t *testing.T) {
	found := 0
	for _, file := range []string{"kernels", "pairs"} {
		m := module(t, "testdata/"+file+".ptx")
		for _, f := range m.Funcs {
			if !f.Entry || f.Name == "clustergone_fix" {
				continue
			}
			r, err := Kernel(m, f.Name, &Options{Inputs: 1, Schedules: 1, Unmended: true})
			require.NoError(t, err)
			switch right := strings.HasSuffix(f.Name, "_fix") || strings.HasSuffix(f.Name, "ed") && !strings.Contains(f.Name, "un") || f.Name == "lock_gpu" || f.Name == "last_block"; {
			case right:
				require.Empty(t, counted(r), "%s\n%s", f.Name, r.Text())
			case counted(r) != "":
				found++
			}
		}
	}
	require.GreaterOrEqual(t, found, 22)
}

// TestSameValue: writes that store what is there already are no finding that counts, unless zeros in a buffer made them alike.
func TestSameValue(t *testing.T) {
	for kernel, want := range map[string]string{"done": "", "last": "data-race"} {
		args := []Arg{{Name: "out", Buffer: true, Bytes: 4}, {Name: "in", Buffer: true, Bytes: 512}}
		r, err := Kernel(module(t, "testdata/doubt.ptx"), kernel, &Options{Launch: Launch{Grid: [3]int{1, 1, 1}, Block: [3]int{64, 1, 1}, Args: args}, Unmended: true})
		require.NoError(t, err)
		require.Len(t, r.Found, 1, r.Text())
		require.Equal(t, want, counted(r), r.Text())
	}
}

// TestFetched: what a texture holds is content like any other: kernels that read one are followed.
func TestFetched(t *testing.T) {
	r, err := Kernel(module(t, "testdata/doubt.ptx"), "fetched", &Options{Launch: Launch{Grid: [3]int{1, 1, 1}, Block: [3]int{64, 1, 1}}, Unmended: true})
	require.NoError(t, err)
	require.Empty(t, r.Unknown)
	require.Equal(t, "data-race", counted(r), r.Text())
	require.False(t, r.Every)
}
