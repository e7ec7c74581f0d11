package program

import (
	"testing"

	"github.com/stretchr/testify/require"

	"optcheck/realcode"
)

// order is what a demand is about, whatever fences stand in the text.
type order struct {
	first, second int // sites
	pattern       string
}

// demands are the orders that the model demands of a program, and what gives each.
func demands(t *testing.T, name string) map[order][]int {
	t.Helper()
	p, err := Load(name)
	require.NoError(t, err)
	sites, err := p.Sites()
	require.NoError(t, err)
	at := map[int]int{}
	for _, s := range sites {
		at[s.Pos.Line] = s.N
	}
	list, _, err := p.Demands(t.Context())
	require.NoError(t, err)
	out := map[order][]int{}
	for _, d := range list {
		require.Contains(t, at, d.First.Pos.Line)
		require.Contains(t, at, d.Second.Pos.Line)
		out[order{at[d.First.Pos.Line], at[d.Second.Pos.Line], d.Pattern}] = d.By
	}
	return out
}

// TestPlanted: where a variant lacks a fence that its control has, the model demands
// orders that it does not demand of the control, and none the other way round; a fence at
// the place where it is missing gives all of them.
func TestPlanted(t *testing.T) {
	for _, c := range []struct {
		variant, control string
		missing          int // the site behind which the fence is missing
	}{
		{"cbe-dot-lock", "cbe-dot-fenced", 6},
		{"cbe-dot-unlock", "cbe-dot-fenced", 3},
		{"cbe-dot-near-unlock", "cbe-dot-near-fenced", 4},
		{"cbe-ht-lock", "cbe-ht-fenced", 8},
		{"cbe-ht-unlock", "cbe-ht-fenced", 2},
		{"ct-octree-push", "ct-octree-fenced", 33},
		{"sdk-red-nf", "sdk-red", 2},
		{"cub-scan-np", "cub-scan", 5},
		{"cub-scan-ni", "cub-scan", 11},
		{"ls-bh-nb", "ls-bh", 89},
	} {
		has, lacks := demands(t, c.control), demands(t, c.variant)
		more := 0
		for o, by := range lacks {
			if _, ok := has[o]; ok {
				continue
			}
			more++
			require.Contains(t, by, c.missing, "%s: %v", c.variant, o)
		}
		require.Positive(t, more, c.variant)
		for o := range has {
			require.Contains(t, lacks, o, c.variant)
		}
	}
	// The compiler lays tpo-tm-lock out in another order than its control. What its critical
	// sections end with is an order before each of the three exchanges.
	lacks := demands(t, "tpo-tm-lock")
	for o, by := range map[order][]int{{7, 9, "message passing, the writer"}: {7, 8}, {8, 9, "load buffering"}: {8},
		{15, 16, "message passing, the writer"}: {15}, {18, 19, "load buffering"}: {18}} {
		require.Equal(t, by, lacks[o], o)
	}
	for _, name := range []string{"cbe-dot-fenced", "cbe-dot-near-fenced", "cbe-ht-fenced", "sdk-red-sound"} {
		require.Empty(t, demands(t, name), name)
	}
}

// TestVerify: each release's machine code is looked at at each level, in that order, and
// has the fences.
func TestVerify(t *testing.T) {
	p, err := Load("cbe-dot")
	require.NoError(t, err)
	tools := compilers(t)
	r, err := NewPTXRoad(p, p.PTX.Text, tools[0], "sm_80", "O3")
	require.NoError(t, err)
	levels := []string{"O0", "O3"}
	list, err := r.Verify(t.Context(), tools, levels, Full(3, 6))
	require.NoError(t, err)
	require.Len(t, list, len(tools)*len(levels))
	for i, v := range list {
		require.Equal(t, Verified{Toolchain: tools[i/2].ID, Target: "sm_80", Level: levels[i%2], Class: realcode.Preserved,
			Fences: map[int]string{3: "there", 6: "there"}}, v)
	}
}
