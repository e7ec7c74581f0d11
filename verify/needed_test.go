package verify

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"optcheck/ir"
)

// needs leaves out or weakens each synchronisation of a kernel of testdata/needed.ptx, in a launch of two blocks.
func needs(t *testing.T, kernel string, threads, schedules int) []Need {
	o := &Options{Launch: Launch{Grid: [3]int{2, 1, 1}, Block: [3]int{threads, 1, 1}}, Inputs: 1, Schedules: schedules}
	for _, name := range map[string][]string{"tail": {"counter", "out"}, "hidden": {"counter"}, "data": {"flag", "data"}}[kernel] {
		o.Launch.Args = append(o.Launch.Args, Arg{Name: name, Buffer: true, Bytes: 256})
	}
	out, r, err := Needed(module(t, "testdata/needed.ptx"), kernel, o)
	require.NoError(t, err)
	require.Empty(t, r.Found, r.Text())
	return out
}

// TestSpare: a barrier is needed in no schedule if what is done beside it does not depend on memory, whatever the rest of the kernel
// does; one that another order of blocks needs is not taken for such.
func TestSpare(t *testing.T) {
	every := func(list []Need) (out []bool) {
		for _, n := range list {
			if strings.HasPrefix(n.Side.Text, "bar.sync") {
				require.Equal(t, len(n.Noticed) == 0 && n.Every, strings.Contains(n.Text(), "nor is it needed in any schedule"))
				out = append(out, n.Every)
			}
		}
		return out
	}
	require.Equal(t, []bool{false, true}, every(needs(t, "tail", 32, 2)))
	both := needs(t, "hidden", 32, 1)
	require.Equal(t, []Rule{DataRace}, both[len(both)-1].Noticed)
	p, err := lowered(module(t, "testdata/needed.ptx"), "hidden", &Launch{})
	require.NoError(t, err)
	foot, last := newFootprint(p), 0
	for i := range p.Insts {
		if foot.whole(int32(i)) {
			last = i
		}
	}
	_, _, ok := foot.sides(int32(last))
	require.False(t, ok)
}

// TestLostOrder: a fence between volatile accesses is needed though nothing races without it; a volatile access that the fence orders
// need not be one.
func TestLostOrder(t *testing.T) {
	for _, n := range needs(t, "data", 1, 2) {
		a, access := n.change.to.(*ir.Access)
		switch flag := strings.Contains(n.Side.Text, "[%rd1]"); {
		case !access:
			require.Len(t, n.Loses, 2, n.Text())
			require.Contains(t, n.Text(), "no race, but the strong accesses of lines 70 and 73 are ordered no more")
		case flag:
			require.NotEmpty(t, n.Noticed, "%s %v", n.Text(), a)
		default:
			require.True(t, n.Ordered, n.Text())
			require.Contains(t, n.Text(), "all that conflicts with it is ordered with it in each run")
		}
	}
}

// TestNarrow: an access with too small a scope is remembered though the thread looks again with a larger one.
func TestNarrow(t *testing.T) {
	o := &Options{Launch: Launch{Grid: [3]int{2, 1, 1}, Block: [3]int{1, 1, 1}}, Schedules: 1, Unmended: true}
	r, err := Kernel(module(t, "testdata/needed.ptx"), "narrow", o)
	require.NoError(t, err)
	require.Equal(t, []Rule{DataRace}, []Rule{r.Found[0].Rule})
	require.Contains(t, r.Found[0].Second.Text, "st.relaxed.gpu")
}
