package audit

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"optcheck/litmus"
	"optcheck/litmus/corpus"
	"optcheck/optcheck"
	"optcheck/ptx"
	"optcheck/ptxgen"
	"optcheck/realcode"
	"optcheck/spec"
)

// TestChanges: what a finding says is a change of the test's instruction, and nothing else is.
func TestChanges(t *testing.T) {
	for _, c := range []struct {
		test    string
		thread  int
		finding realcode.Finding
		line    int // of the kernel's text, as the emitter numbers it
		want    string
	}{
		{"mbar-mp-unguarded", 1, realcode.Finding{Rule: realcode.Missing, Order: true, Second: &realcode.Place{}}, 500,
			"ld.weak r1,[x]; mbarrier.test_wait.parity.shared.b64 r0,[b],0"},
		{"mbar-mp-try-unguarded", 1, realcode.Finding{Rule: realcode.Missing, Order: true, Second: &realcode.Place{}}, 500,
			"ld.weak r1,[x]; mbarrier.try_wait.parity.shared.b64 r0,[b],0"},
		{"mbar-back", 0, realcode.Finding{Rule: realcode.Merged, Second: &realcode.Place{}}, 2, "st.weak [x],1; mbarrier.arrive.shared.b64 _,[b]; " +
			"mbarrier.test_wait.parity.shared.b64 r0,[c],0; @r0 mov r1,1"},
		{"mbar-back-reload", 0, realcode.Finding{Rule: realcode.Merged, Second: &realcode.Place{}}, 2, "ld.weak r2,[x]; mbarrier.arrive.shared.b64 _,[b]; " +
			"mbarrier.test_wait.parity.shared.b64 r0,[c],0; @r0 mov r1,r2"},
		{"mbar-cumulative", 0, realcode.Finding{}, 1, "?"},
		{"dsm-mp-fences", 1, realcode.Finding{Rule: realcode.Weakened, Fence: &ptx.Effect{Kind: ptx.Fence, Sem: "acq_rel", Scope: "cta"}}, 501,
			"ld.relaxed.cluster r0,[f]; fence.acq_rel.cta; ld.weak r1,[s]"},
		{"dsm-mp-fences", 1, realcode.Finding{Rule: realcode.Missing, Fence: &ptx.Effect{}}, 501,
			"ld.relaxed.cluster r0,[f]; nop; ld.weak r1,[s]"},
		{"mbar-mp-unguarded", 1, realcode.Finding{Rule: realcode.Merged, Second: &realcode.Place{}}, 1, "?"},
		{"mbar-mp-unguarded", 1, realcode.Finding{Rule: realcode.Missing, Order: true}, 1, "?"},
		{"mbar-mp-unguarded", 1, realcode.Finding{Rule: realcode.Missing}, 500, "?"},
		{"mbar-mp-unguarded", 1, realcode.Finding{Rule: realcode.Missing, Order: true}, ptxgen.LineOther, "?"},
	} {
		x, ok := corpus.Lookup(c.test)
		require.True(t, ok, c.test)
		u, err := ptxgen.Emit(x, ptxgen.Options{Target: "sm_90", Layout: spec.Pointers})
		require.NoError(t, err)
		k := &u.Kernels[c.thread]
		k.Lines = map[int]int{1: c.line}
		c.finding.First = &realcode.Place{}
		c.finding.First.Made.Line = 1
		if k.Lines[2] = 1; c.finding.Second != nil { // the thread's first access
			c.finding.Second.Made.Line = 2
		}
		list, err := changesOf(k, []realcode.Finding{c.finding})
		threads := make([]optcheck.LiftedThread, len(x.Threads))
		for i := range threads {
			threads[i].Lifted = changes(nil)
		}
		threads[c.thread].Lifted = list
		var lifted *litmus.Test
		if err == nil {
			lifted, ok, err = programs(x, threads)
			require.True(t, ok)
		}
		got := "?"
		if err == nil {
			got = ""
			for i := range lifted.Threads[c.thread].Body {
				if i > 0 {
					got += "; "
				}
				got += lifted.Threads[c.thread].Body[i].String()
			}
		}
		assert.Equal(t, c.want, got, c.test)
	}
}
