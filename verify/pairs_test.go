package verify

import (
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"optcheck/ptx"
)

// TestPairs: of kernels with asynchronous copies, barrier objects, clusters and fences between proxies, what is left out in one of each pair
// is found, and nothing in the other.
func TestPairs(t *testing.T) {
	m := module(t, "testdata/pairs.ptx")
	want := map[string]Rule{"count": Stuck, "parity": Stuck, "bytes": Stuck, "left": CopyLeft, "clustergone": Lifetime, "arrivals": Stuck}
	pairs := 0
	for _, f := range m.Funcs {
		name, bug := strings.CutSuffix(f.Name, "_bug")
		name, _ = strings.CutSuffix(name, "_fix")
		o := Options{Launch: Launch{Grid: [3]int{1, 1, 1}, Block: [3]int{32, 1, 1}}, Inputs: 1, Schedules: 3, Unmended: true}
		if strings.HasPrefix(name, "cluster") || name == "scope" {
			o.Launch.Grid[0] = 2
		}
		r, err := Kernel(m, f.Name, &o)
		require.NoError(t, err)
		require.Empty(t, r.Unknown, r.Text())
		if !bug {
			require.Empty(t, r.Found, r.Text())
			continue
		}
		pairs++
		rule := want[name]
		if rule == "" {
			rule = DataRace
		}
		require.True(t, slices.ContainsFunc(r.Found, func(x *Finding) bool { return x.Rule == rule }), r.Text())
	}
	require.Equal(t, 19, pairs)
}

// TestApart: blocks that do the same beside each other disturb nobody.
func TestApart(t *testing.T) {
	m := module(t, "testdata/pairs.ptx")
	for _, k := range []string{"early_fix", "stage_fix", "parity_fix", "behind_fix", "handed_fix"} {
		r, err := Kernel(m, k, &Options{Launch: Launch{Grid: [3]int{3, 1, 1}, Block: [3]int{32, 1, 1}}, Inputs: 1, Schedules: 2, Unmended: true})
		require.NoError(t, err)
		require.Empty(t, r.Found, r.Text())
		require.Empty(t, r.Unknown, r.Text())
	}
}

// TestEarly: an access of another block's shared memory that no barrier of the cluster comes before is told, but does not count.
func TestEarly(t *testing.T) {
	m, err := ptx.Parse("early.ptx", []byte(`.version 8.4
.target sm_90
.address_size 64
.visible .entry early() .reqnctapercluster 2, 1, 1
{
	.reg .b32 %r<4>;
	.shared .align 16 .b8 s[128];
	mov.u32 %r1, s;
	mov.u32 %r3, %cluster_ctarank;
	xor.b32 %r3, %r3, 1;
	mapa.shared::cluster.u32 %r2, %r1, %r3;
	st.shared::cluster.u32 [%r2], 1;
	barrier.cluster.arrive;
	barrier.cluster.wait;
	ret;
}
`))
	require.NoError(t, err)
	r, err := Kernel(m, "early", &Options{Launch: Launch{Grid: [3]int{2, 1, 1}, Block: [3]int{1, 1, 1}}, Unmended: true})
	require.NoError(t, err)
	require.Zero(t, r.Count(true))
	require.Contains(t, r.Text(), "shared-early")
}
