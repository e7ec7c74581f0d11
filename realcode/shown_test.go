package realcode

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"optcheck/isa"
)

// shows says what a slice is and what the model says of it: its pattern and the class, why there is none, or "" without one.
func shows(t *testing.T, s *slice) string {
	t.Helper()
	if s == nil {
		return ""
	}
	if s.refused != "" {
		return s.refused
	}
	v, err := s.verdict(t.Context())
	require.NoError(t, err)
	if v == nil {
		return s.pattern + ": nothing is forbidden"
	}
	return s.pattern + ": " + v.Class
}

// What the tests of slices are made of.
const (
	anAcquire, aRelease = "ld.acquire.gpu.global.u32 r1, [d1];", "st.release.gpu.global.u32 [d1], 1;"
	aLoad, aStore       = "ld.global.u32 r2, [d2];", "st.global.u32 [d2], 2;"
	aFence              = "fence.sc.gpu;"
	aRead, aWrite       = "ld.relaxed.gpu.global.u32 r3, [d1];", "st.relaxed.gpu.global.u32 [d1], 3;"
	anAdd               = "atom.acq_rel.gpu.global.add.u32 r4, [d1], 1;"
)

// TestSwappedShow: of two operations that stand in the other order the slice shows it, wherever the model orders them.
func TestSwappedShow(t *testing.T) {
	for _, x := range []struct {
		name, body string
		x, y       int // the one that synchronises, and the other
		want       string
	}{
		{"an acquire and a load", anAcquire + aLoad, 0, 1, "message passing, the reader: miscompiled"},
		{"an acquire and a store", anAcquire + aStore, 0, 1, "load buffering: miscompiled"},
		{"an acquire and an atomic that orders", anAcquire + "atom.acquire.gpu.global.add.u32 r5, [d2], 1;", 0, 1, ""},
		{"what stands before an acquire", aLoad + anAcquire, 1, 0, ""},
		{"a store and a release", aStore + aRelease, 1, 0, "message passing, the writer: miscompiled"},
		{"a load and a release", aLoad + aRelease, 1, 0, "load buffering: miscompiled"},
		{"what stands behind a release", aRelease + aLoad, 0, 1, ""},
		{"an atomic before a release", "atom.relaxed.gpu.global.add.u32 r5, [d2], 1;" + aRelease, 1, 0, ""},
		{"behind an atomic that does both", anAdd + aLoad, 0, 1, "message passing, the reader: miscompiled"},
		{"before an atomic that does both", aStore + anAdd, 1, 0, "message passing, the writer: miscompiled"},
		{"two that order nothing", aRead + aStore, 0, 1, ""},
		{"a fence before a load", aStore + aFence + aRead, 1, 2, "store buffering: miscompiled"},
		{"a fence behind a store", aStore + aFence + aRead, 1, 0, "store buffering: miscompiled"},
		{"a fence with nothing before it", aFence + aRead, 0, 1, ""},
		{"a fence and one that orders", aStore + aFence + anAcquire, 1, 2, ""},
		{"an operation that is no access", anAcquire + aFence, 0, 1, ""},
		{"a store and a load of one place", aWrite + aRead, 0, 1, "coherence: miscompiled"},
		{"a load and a store of one place", aRead + aWrite, 0, 1, "coherence: miscompiled"},
		{"two stores of one place", aWrite + aWrite, 0, 1, "coherence: miscompiled"},
		{"two loads of one place", aRead + aRead, 0, 1, ""},
		{"an atomic and a load of one place", anAdd + aRead, 0, 1, ""},
		{"a load and an atomic of one place", aRead + anAdd, 0, 1, ""},
		{"an arrival at an mbarrier", aStore + "mbarrier.arrive.release.cta.shared.b64 _, [s];", 1, 0, "the model has no axioms for mbarrier-arrive"},
	} {
		c := checkerOf(t, "", strings.ReplaceAll(x.body, ";", ";\n"))
		require.Equal(t, x.want, shows(t, c.swapped(x.x, x.y)), x.name)
	}
}

// TestLessenedShow: of an operation that has become less the slice shows it, with what stands beside it.
func TestLessenedShow(t *testing.T) {
	weak, strong := isa.Mem{Strength: isa.Weak, Width: 4}, isa.Mem{Strength: isa.Strong, Scope: isa.ScopeGPU, Width: 4}
	cta, wide, far := strong, strong, strong
	cta.Scope, wide.Width, far.Width = isa.ScopeCTA, 8, 16
	for _, x := range []struct {
		name, body string
		k          int
		mem        isa.Mem
		want       string
	}{
		{"an acquire before a load", anAcquire + aLoad, 0, weak, "message passing, the reader: miscompiled"},
		{"an acquire before a store", anAcquire + aStore, 0, weak, "load buffering: miscompiled"},
		{"an acquire of fewer threads", anAcquire + aLoad, 0, cta, "message passing, the reader: miscompiled"},
		{"an acquire with nothing behind", anAcquire, 0, weak, ""},
		{"an acquire of another size", anAcquire + aLoad, 0, wide, "message passing, the reader: changed"},
		{"an acquire of another size in a loop", aLoad + anAcquire, 1, wide, ""},
		{"an acquire of no size", anAcquire + aLoad, 0, far, "litmus tests have no accesses of 4 and 16 bytes instead of 4"},
		{"a release behind a store", aStore + aRelease, 1, weak, "message passing, the writer: miscompiled"},
		{"a release behind a load", aLoad + aRelease, 1, weak, "load buffering: miscompiled"},
		{"a release for fewer threads", aStore + aRelease, 1, cta, "message passing, the writer: miscompiled"},
		{"a release with nothing before it", aRelease, 0, weak, ""},
		{"a release of another size", aStore + aRelease, 1, wide, "message passing, the writer: changed"},
		{"a fence for fewer threads", aStore + aFence + aRead, 1, isa.Mem{Strength: isa.FenceAll, Scope: isa.ScopeCTA}, "store buffering: miscompiled"},
		{"a fence that is less", aStore + aFence + aRead, 1, isa.Mem{Strength: isa.FenceAll, Scope: isa.ScopeSys}, "store buffering: miscompiled"},
		{"a fence with nothing behind", aStore + aFence, 1, isa.Mem{Strength: isa.FenceAll, Scope: isa.ScopeSys}, ""},
		{"a relaxed load", aRead, 0, weak, ""},
		{"a relaxed load of another size", aRead, 0, wide, "coherence: changed"},
		{"a relaxed store of another size", aWrite, 0, wide, ""},
		{"an atomic that does both, before a load", anAdd + aLoad, 0, cta, "message passing, the reader: miscompiled"},
		{"an atomic that does both, behind a store", aStore + anAdd, 1, cta, "message passing, the writer: miscompiled"},
	} {
		c := checkerOf(t, "", strings.ReplaceAll(x.body, ";", ";\n"))
		line := lineOf(make([]isa.Inst, len(c.src.ops))...)
		c.mach, c.owner = line.mach, line.owner
		for k := range c.src.ops {
			c.owner[k] = int32(k)
		}
		require.Equal(t, x.want, shows(t, c.lessened(x.k, &isa.Inst{Mem: x.mem})), x.name)
	}
}

// TestChain: where an operation stands at a node of a graph, its letters stand there one after the other, and what followed follows the last.
func TestChain(t *testing.T) {
	for n := range 4 {
		g, o := &graph{next: [][]int32{{1, 2}, {end}, {1}}}, &orders{inPTX: make([]int32, 3)}
		letters := []int32{7, 8, 9, 10}[:n]
		o.chain(g, 0, letters)
		at, got := int32(0), []int32(nil)
		for i := range letters {
			got = append(got, o.inPTX[at])
			if i+1 < n {
				require.Len(t, g.next[at], 1)
				at = g.next[at][0]
			}
		}
		require.ElementsMatch(t, letters, got)
		require.Equal(t, []int32{1, 2}, g.next[at])
		require.Equal(t, [][]int32{{end}, {1}}, g.next[1:3], "others stay")
		require.Len(t, o.inPTX, len(g.next))
	}
}
