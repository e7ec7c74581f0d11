package realcode

import (
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"optcheck/model"
	"optcheck/ptx"
)

// TestAsync: asynchronous operations are there as they are: copies, their groups and mbarriers, clusters, products of matrices, of which
// ptxas waits for each at O0. What stays open is what only runs show.
func TestAsync(t *testing.T) {
	for _, c := range []struct {
		file, target string
		releases     []string
	}{
		{"async.ptx", "sm_80", nil}, {"async.ptx", "sm_90", []string{"11.8", "12.4"}}, {"cluster.ptx", "sm_90", []string{"12.4"}},
		{"matrices.ptx", "sm_90", []string{"12.4"}}, {"elected.ptx", "sm_90", []string{"12.4"}},
	} {
		o := Options{Toolchains: releases(t, c.releases...), Targets: []string{c.target}, Levels: []string{"O0", "O1", "O3"}}
		require.NoError(t, Audit(t.Context(), o, module(t, "testdata/"+c.file), func(cell *Cell) error {
			require.NotNil(t, cell.Result, cell.Reason)
			assert.Empty(t, cell.Result.Findings, "%s %s %s %s", c.file, cell.Toolchain, cell.Target, cell.Level)
			uncompared(t, cell, c.file)
			return nil
		}))
	}
}

// TestAsyncChanged: what an asynchronous operation is about is a part of it: see the controls for all changes.
func TestAsyncChanged(t *testing.T) {
	tc := releases(t, "12.4")[0]
	for _, c := range []struct{ file, line, with, said string }{
		{"async.ptx", "bar.arrive 1, 64", "bar.arrive 3, 64", "its number is 1, that of the machine instruction 3"},
		{"async.ptx", "bar.arrive 1, 64", "bar.arrive 1, 96", "its number of threads is 64, that of the machine instruction 96"},
		{"async.ptx", "barrier.red.and.pred %p4, 3, 64, %p3", "barrier.red.or.pred %p4, 3, 64, %p3", "it is .and, the machine instruction is not"},
		{"async.ptx", "cp.async.cg.shared.global [%r7], [%rd4], 16", "", "missing"},
		{"async.ptx", "mbarrier.arrive.shared.b64 %rd9, [empty]", "mbarrier.arrive.shared.b64 %rd9, [full]",
			"8 bytes from where the others of empty are"},
		{"cluster.ptx", "cp.async.bulk.wait_group 0", "cp.async.bulk.wait_group 1", "it leaves at most 0 groups, the machine instruction 1"},
		{"cluster.ptx", "fence.proxy.async.shared::cta", "", "missing"},
		{"cluster.ptx", "fence.proxy.alias", "", "missing"},
		{"cluster.ptx", "mbarrier.arrive.release.cluster.shared::cluster.b64 _, [%r17]",
			"mbarrier.arrive.release.cluster.shared::cluster.b64 _, [bar]",
			"an mbarrier of another CTA, the machine instruction about one of its own"},
		{"cluster.ptx", "mbarrier.arrive.release.cluster.shared::cluster.b64 _, [%r17]",
			"mbarrier.arrive.release.cta.shared::cluster.b64 _, [%r17]",
			"no fence of scope cluster"},
		{"cluster.ptx", "barrier.cluster.arrive.release", "barrier.cluster.arrive.relaxed", "no fence of scope cluster"},
		{"cluster.ptx", "mbarrier.inval.shared.b64 [bar]", "", "missing"},
		{"elected.ptx", "cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%r9], [%rd2], 2048, [%r8]", "", "missing"},
		{"elected.ptx", "mbarrier.arrive.expect_tx.release.cta.shared::cta.b64 %rd3, [%r8], 2048", "", "missing"},
		{"matrices.ptx", "wgmma.mma_async.sync.aligned.m64n8k16.f32.f16.f16 {%f4, %f5, %f6, %f7}, %rd10, %rd11, 1, 1, 1, 0, 0", "",
			"operations on matrices fence, 64x8x16 bf16, commit, commit"},
		{"matrices.ptx", "wgmma.wait_group.sync.aligned 0", "wgmma.wait_group.sync.aligned 1", "it leaves at most 0 groups, the machine instruction 1"},
		{"matrices.ptx", "wgmma.wait_group.sync.aligned 0", "", "missing"},
	} {
		m := module(t, "testdata/"+c.file)
		text := map[int]string{}
		for _, f := range m.Funcs {
			for _, st := range f.Body {
				if st.Inst != nil && st.Inst.Text == c.line && len(text) == 0 {
					text[st.Inst.N] = strings.TrimPrefix(c.with+";", ";")
				}
			}
		}
		require.Len(t, text, 1, c.line)
		w := oldest(tc, m)
		res := Check(m, changed(t, tc, m, text, w.target, w.level).Program, number(w.target))
		assert.Contains(t, fmt.Sprint(res.Findings), c.said, c.line)
	}
}

// TestWaited: a load that may come before the phase is complete has a verdict of the model with mbarriers.
func TestWaited(t *testing.T) {
	o := Options{Toolchains: releases(t, "12.4"), Targets: []string{"sm_90"}, Levels: []string{"O3"}}
	require.NoError(t, Audit(t.Context(), o, module(t, "testdata/waited.ptx"), func(cell *Cell) error {
		require.Equal(t, Miscompiled, cell.Class, cell.Reason)
		require.Len(t, cell.Result.Findings, 1, "a branch waits for the answer")
		f := cell.Result.Findings[0]
		assert.Equal(t, "late", f.Kernel)
		assert.True(t, f.Order)
		require.NotNil(t, f.Verdict, f.NoTest)
		assert.Equal(t, model.AsyncModel, f.Verdict.Model)
		assert.Equal(t, "exists (1:r0=1 /\\ 1:r1=0)", f.Verdict.Outcome)
		return nil
	}))
}

// TestWaitedTests: each access that the slice of a wait has is forbidden before the wait, and anything else has none.
func TestWaitedTests(t *testing.T) {
	wait := &Op{Inst: &ptx.Inst{Op: "mbarrier.test_wait.shared.b64"}, Effect: ptx.Effect{Kind: ptx.MbarWait, Scope: "cta"}}
	for _, e := range []ptx.Effect{{Kind: ptx.Load, Sem: "weak"}, {Kind: ptx.Load}, {Kind: ptx.Load, Sem: "relaxed", Scope: "gpu"}, {Kind: ptx.Store, Sem: "weak", Space: "shared"},
		{Kind: ptx.Store, Sem: "relaxed", Scope: "cta"}} {
		s := waited(wait, &Op{Effect: e})
		require.Empty(t, s.refused)
		v, err := s.verdict(t.Context())
		require.NoError(t, err)
		require.NotNil(t, v, s.source.String())
		assert.Equal(t, Miscompiled, v.Class, s.source.String())
		assert.Equal(t, e.Space == "shared", strings.Contains(s.source.String(), "x: shared"))
	}
	tried := &Op{Inst: &ptx.Inst{Op: "mbarrier.try_wait.shared.b64", Mods: []string{"try_wait", "shared", "b64"}}, Effect: ptx.Effect{Kind: ptx.MbarWait, Scope: "cluster"}}
	assert.Contains(t, waited(tried, &Op{Effect: ptx.Effect{Kind: ptx.Load}}).source.String(), "mbarrier.try_wait.parity.acquire.cluster.shared.b64 r0")
	assert.NotContains(t, waited(wait, &Op{Effect: ptx.Effect{Kind: ptx.Load}}).source.String(), "cluster")
	assert.Contains(t, waited(wait, &Op{Effect: ptx.Effect{Kind: ptx.Atomic}}).refused, "no litmus test of a wait")
	assert.Contains(t, waited(&Op{Effect: ptx.Effect{Kind: ptx.Load}}, wait).refused, "no litmus test of a wait")
}
