package audit

import (
	"encoding/json"
	"slices"
	"strconv"
	"testing"

	"github.com/stretchr/testify/require"

	"optcheck/event"
	"optcheck/litmus"
	"optcheck/toolchain"
)

// respelled returns a test as another file may write it: declarations in the
// opposite order, other names of threads, another doc string, other line numbers.
// Name and hash are the same.
func respelled(t *testing.T, lt *litmus.Test) *litmus.Test {
	c := lt.Clone()
	c.Doc = "the same test,\n\n\nin other words"
	slices.Reverse(c.Locations)
	for i := range c.Locations {
		if c.Locations[i].Space == litmus.Global {
			c.Locations[i].Space = litmus.Generic
		}
	}
	for i := range c.Threads {
		slices.Reverse(c.Threads[i].Regs)
		c.Threads[i].Name = "thread" + strconv.Itoa(i)
	}
	again, err := litmus.Parse("other/"+lt.Name, []byte(c.String()))
	require.NoError(t, err, "%s", c)
	require.Equal(t, lt.Hash(), again.Hash())
	require.NotEqual(t, lt.String(), again.String())
	return again
}

// results returns the cells and listings of a run, as a store would hold them.
func results(t *testing.T, o Options) (cells []string, listings map[string]*event.Listing) {
	run := event.NewRun()
	require.NoError(t, Run(t.Context(), o, run))
	require.Empty(t, run.Problems)
	for i := range run.Cells {
		b, err := json.Marshal(&run.Cells[i])
		require.NoError(t, err)
		cells = append(cells, string(b))
	}
	return cells, run.Listings
}

// TestOneHashOneResult: results are kept under name and hash of a test, so that
// nothing that the hash leaves out may decide them: neither kernels, nor verdicts
// and what explains them, nor reasons.
func TestOneHashOneResult(t *testing.T) {
	clang, err := toolchain.Find(llvms(t), "19")
	require.NoError(t, err)
	for name, o := range map[string]Options{
		"ptxas": {Tests: lookup(t, "mp+membar.gls", "coRR", "sb", "dlb-mp", "cas-sl", "ptx-mp+spin", "ptx-mp+release+acquire", "ptx-lock+cas", "ptx-constant+fence.proxy.constant"),
			Toolchains: release(t, "11.8"), Targets: []string{"sm_35", "sm_80"}},
		"clang": {Tests: lookup(t, "cl-mp", "cl-dlb-lb", "cl-cas-sl+mem_fences", "cl-mp-local", "atoms", "sb", "ptx-mp+spin"),
			Toolchains: clang, Targets: []string{"gfx900", "cayman"}},
	} {
		t.Run(name, func(t *testing.T) {
			o.Levels, o.KeepVerdicts = []string{"O3"}, true
			other := o
			other.Tests = nil
			for _, x := range o.Tests {
				other.Tests = append(other.Tests, respelled(t, x))
			}
			cells, listings := results(t, o)
			require.NotEmpty(t, listings)
			otherCells, otherListings := results(t, other)
			require.Equal(t, cells, otherCells)
			require.Equal(t, listings, otherListings)
		})
	}
}
