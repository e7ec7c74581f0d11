package ptxgen

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"optcheck/litmus/corpus"
	"optcheck/spec"
)

// TestHarnessShapes: scope trees become units, ranks, warps and lanes.
func TestHarnessShapes(t *testing.T) {
	for name, want := range map[string]Shape{
		"mp":             {Units: 2, Ranks: 1, Warps: 1, Lanes: 1, Roles: []int{0, 1}, Shared: []int{-1, -1}},
		"mp-volatile":    {Units: 1, Ranks: 1, Warps: 2, Lanes: 1, Roles: []int{0, 1}, Shared: []int{0, 0}},
		"ptx-cluster+mp": {Units: 1, Ranks: 2, Warps: 1, Lanes: 1, Clusters: true, Roles: []int{0, 1}, Shared: []int{-1, -1}},
		"iriw":           {Units: 4, Ranks: 1, Warps: 1, Lanes: 1, Roles: []int{0, 1, 2, 3}, Shared: []int{-1, -1}},
		"mp+bar.syncs":   {Units: 1, Ranks: 1, Warps: 2, Lanes: 1, Roles: []int{0, 1}, Shared: []int{0}, Full: true},
	} {
		x, ok := corpus.Lookup(name)
		require.True(t, ok, name)
		want.Devices = make([]int, want.Units)
		h, err := EmitHarness(x, "sm_90", FormFast, spec.Pointers)
		require.NoError(t, err, name)
		require.Equal(t, want, h.Shape, name)
	}
}

// TestHarnessClusters: operations that devices refuse in other launches are launched in clusters, be they of one CTA.
func TestHarnessClusters(t *testing.T) {
	want := map[string]bool{"bulkred-own": true, "sta-own": true, "reda-max": true, "bulk-dsm": true, "cluster-mp": true, "bulk-mp": false, "bulkred-add": false}
	for _, x := range corpus.Async() {
		clusters, ok := want[x.Name]
		if !ok {
			continue
		}
		delete(want, x.Name)
		h, err := EmitHarness(x, "sm_90", FormFast, spec.Pointers)
		require.NoError(t, err, x.Name)
		require.Equal(t, clusters, h.Shape.Clusters, x.Name)
		require.Equal(t, clusters, strings.Contains(h.Text, ".reqnctapercluster"), x.Name)
		_, err = EmitHarness(x, "sm_80", FormFast, spec.Pointers)
		require.Error(t, err, x.Name)
	}
	require.Empty(t, want)
}

// TestHarnessPhases: at the end of a launch one phase of an mbarrier is waited for. Where copies are of several, its parity may be that of a
// phase before them, and the launch would end while memory is still written: an H200 ends such a launch with an error.
func TestHarnessPhases(t *testing.T) {
	n := 0
	for _, x := range corpus.Async() {
		if x.Name != "bulk-other-bytes" {
			continue
		}
		n++
		_, err := EmitHarness(x, "sm_90", FormFast, spec.Pointers)
		require.ErrorContains(t, err, "several phases")
	}
	require.Equal(t, 1, n)
}

// TestHarnessText: the accesses of each role stand once in the text, constants
// are parameters, and offsets of parameters count up without holes in types.
func TestHarnessText(t *testing.T) {
	x, _ := corpus.Lookup("mp")
	h, err := EmitHarness(x, "sm_90", FormFast, spec.Pointers)
	require.NoError(t, err)
	require.Equal(t, 2, strings.Count(h.Text, "st.global.cg.s32"))
	require.Equal(t, 2, strings.Count(h.Text, "ld.global.cg.s32"))
	require.Equal(t, 2, h.Slots)
	at := int64(0)
	for _, p := range h.Params {
		size := int64(4)
		if p.Wide {
			size = 8
		}
		at = (at + size - 1) &^ (size - 1)
		require.Equal(t, at, p.At, p.Name)
		at += size
	}
	require.LessOrEqual(t, len(h.Params), 128)
	require.Less(t, at, int64(4096))
}

// TestHarnessDevices: units of a test that names devices know theirs, and what the
// launches share is of system scope.
func TestHarnessDevices(t *testing.T) {
	x, _ := corpus.Lookup("mp+release.sys+acquire.sys-gpus")
	h, err := EmitHarness(x, "sm_90", FormDevices, spec.Pointers)
	require.NoError(t, err)
	require.Equal(t, []int{0, 1}, h.Shape.Devices)
	require.Contains(t, h.Text, "red.relaxed.sys.global.add.u32")
	require.NotContains(t, h.Text, "red.global.add")
	_, err = EmitHarness(x, "sm_60", FormDevices, spec.Pointers)
	var u *spec.Unsupported
	require.ErrorAs(t, err, &u)
}

// TestHarnessUnsupported: what cannot be run says why.
func TestHarnessUnsupported(t *testing.T) {
	for name, target := range map[string]string{"ptx-mp+spin": "sm_90", "mp+release.sys+acquire.sys-gpus": "sm_90",
		"ptx-cluster+mp": "sm_80"} {
		x, _ := corpus.Lookup(name)
		_, err := EmitHarness(x, target, FormFast, spec.Pointers)
		var u *spec.Unsupported
		require.ErrorAs(t, err, &u, name)
	}
}
