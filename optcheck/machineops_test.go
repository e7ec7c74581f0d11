package optcheck

import (
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"optcheck/isa"
	"optcheck/litmus"
	"optcheck/model/amdhw"
	"optcheck/spec"
)

// TestBarrierOfMachine: the model of NVIDIA's hardware knows barriers of a number that the code names, at which all threads wait.
func TestBarrierOfMachine(t *testing.T) {
	for text, known := range map[string]bool{"BAR.SYNC 0x0": true, "BAR.SYNC 0x3": true, "BAR.SYNC R4": false, "BAR.ARV 0x0, 0x40": false,
		"BAR.SYNC 0x0, 0x40": false, "BAR.RED.POPC R7, 0x0": false, "@P0 BAR.SYNC 0x0": false} {
		fn := sassCode(t, withFence(spec.Kind{Op: litmus.OpBar}), addresses+"\nLDG.E.STRONG.GPU R4, [R2.64]\n"+
			"ISETP.EQ.AND P0, PT, R4, RZ, PT\n"+text+
			"\nLDG.E.STRONG.GPU R5, [R0.64]"+fenceResults)
		for i := range fn.Insts {
			fn.Insts[i].Control = isa.Control{Kind: isa.ControlFields, Write: isa.NoBarrier, Read: isa.NoBarrier}
		}
		r, err := NewChecker().check(fn, nil)
		require.NoError(t, err)
		_, err = r.LiftMachine()
		require.Equal(t, known, err == nil, "%s: %v", text, err)
	}
}

// TestCacheOperationsOfMachine: what AMD's code does to caches are different operations where waves of one agent see a difference.
func TestCacheOperationsOfMachine(t *testing.T) {
	for target, groups := range map[string][][]string{ // each group does the same
		"gfx900":  {{""}, {"buffer_wbinvl1", "buffer_wbinvl1_vol"}, {"s_dcache_inv", "s_dcache_inv_vol"}},
		"gfx1030": {{""}, {"buffer_gl0_inv"}, {"buffer_gl1_inv"}, {"s_dcache_inv"}},
		"gfx942": {{"", "buffer_wbl2 sc0"}, {"buffer_inv sc1", "buffer_inv sc0 sc1"}, {"buffer_inv sc0"},
			{"buffer_wbl2 sc1", "buffer_wbl2 sc0 sc1"}},
		"gfx90a": {{""}, {"buffer_wbinvl1_vol"}},
	} {
		seen := map[string]int{}
		for n, group := range groups {
			for _, op := range group {
				cache := ""
				if target == "gfx942" {
					cache = " sc1"
				} else if cache = " glc"; target == "gfx1030" {
					cache = " glc dlc"
				}
				body := strings.NewReplacer("FIRST", "global_load_dword v1, v0, s[2:3]"+cache, "FENCE", "s_waitcnt vmcnt(0)\n"+op, "SECOND",
					"global_load_dword v2, v0, s[0:1]"+cache).Replace(loadsAround)
				r, err := NewChecker().check(amdCode(t, target, fenced(litmus.OpLd, litmus.SemRelaxed, agentFence), body), nil)
				require.NoError(t, err)
				l, err := r.LiftMachine()
				require.NoError(t, err, "%s %s", target, op)
				does := ""
				for _, o := range l.(*LiftedAMD).ops {
					if o.Kind == amdhw.Invalidate || o.Kind == amdhw.WriteBack {
						does += fmt.Sprint(o.Kind, o.First, o.Middle, o.ScalarCache, ";")
					}
				}
				if m, ok := seen[does]; ok {
					require.Equal(t, m, n, "%s %s: %s", target, op, does)
				}
				seen[does] = n
				require.Positive(t, l.Size())
			}
		}
		require.Len(t, seen, len(groups), "%s: %v", target, seen)
	}
}

// TestNoMachine: code of AMD's whose operations do not say what it does is no machine.
func TestNoMachine(t *testing.T) {
	second := "global_load_dword v2, v0, s[0:1] glc"
	for what, x := range map[string]struct{ fence, why string }{
		"as written":           {"s_waitcnt vmcnt(0)", ""},
		"a register in flight": {"v_mov_b32_e32 v9, v1\ns_waitcnt vmcnt(0)", "although"},
		"a barrier":            {"s_waitcnt vmcnt(0)\ns_barrier", ""},
		"a barrier of some lanes": {"s_waitcnt vmcnt(0)\nv_cmp_ne_u32_e32 vcc, 0, v1\ns_cbranch_vccz .LBB0_1\ns_barrier\n.LBB0_1:",
			"a barrier under a condition"},
		"two accesses of one":       {"s_waitcnt vmcnt(0)\nds_read2_b32 v[10:11], v0 offset1:1\ns_waitcnt lgkmcnt(0)", "two accesses"},
		"a call":                    {"s_waitcnt vmcnt(0)\ns_swappc_b64 s[30:31], s[28:29]", "a call"},
		"a barrier of another kind": {"s_waitcnt vmcnt(0)\nds_gws_barrier v0 gds", "a barrier of another kind"},
	} {
		body := strings.NewReplacer("FIRST", "global_load_dword v1, v0, s[2:3] glc", "FENCE", x.fence, "SECOND", second).Replace(loadsAround)
		r, err := NewChecker().check(amdCode(t, "gfx900", fenced(litmus.OpLd, litmus.SemRelaxed, agentFence), body), nil)
		require.NoError(t, err)
		_, err = r.LiftMachine()
		if x.why == "" {
			require.NoError(t, err, what)
			continue
		}
		require.ErrorContains(t, err, x.why, what)
	}
}
