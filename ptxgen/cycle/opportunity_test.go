package cycle

import (
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"optcheck/litmus"
	"optcheck/ptxgen"
	"optcheck/spec"
)

// TestOpportunities composes bases of all shapes with everything: the result is a sane
// test, prints and parses, its name is read back, and kernels can be made of it.
func TestOpportunities(t *testing.T) {
	done := map[string]int{}
	kinds := slices.DeleteFunc(OpportunityKinds(), func(k string) bool { return k == "racefree" }) // TestRaceFree
	for _, name := range []string{"MP+fence.sc.gpu+acq.gpu-po-p0::p1-xgyg", "SB+fence.sc.gpus-p0::p1-xgyg", "CoRR-p0::p1-xg", "MP+bars-p0:p1-xsys",
		"2+2W+fence.acq_rel.ctas-p0:p1-xgyg", "LB+datas-p0::p1-xgyg", "MP+po-atom.exch.rel.gpu+atom.add.acq.gpu-po-p0::p1-xgyg", "R+membar.gls-p0::p1-xgyg"} {
		base, err := ParseName(name)
		require.NoError(t, err)
		bt := base.Test()
		Opportunities(bt, kinds, func(o Opportunity) bool {
			again, err := ParseOpportunity(o.String())
			require.NoError(t, err)
			require.Equal(t, o, again)
			x, err := Apply(bt, o)
			if err != nil {
				return true
			}
			done[o.Kind]++
			back, err := litmus.Parse(x.Name, []byte(x.String()))
			require.NoError(t, err, "%s", x)
			require.Equal(t, x.Hash(), back.Hash())
			require.NotEqual(t, bt.Hash(), x.Hash())
			sp, err := ParseName(x.Name)
			require.NoError(t, err)
			require.Equal(t, x.Hash(), sp.Test().Hash())
			_, err = ptxgen.Emit(x, ptxgen.Options{Target: "sm_90", Layout: spec.Pointers})
			require.NoError(t, err, "%s", x)
			return true
		})
	}
	for _, k := range kinds {
		require.NotZero(t, done[k], "nothing could be composed with %s", k)
	}
}

// TestOpportunityErrors: what does not fit is told.
func TestOpportunityErrors(t *testing.T) {
	for name, why := range map[string]string{
		"MP-p0::p1-xgyg@nothing-0.0":          "is no opportunity",
		"MP-p0::p1-xgyg@reload-1.0":           "want 3 numbers",
		"MP-p0::p1-xgyg@drop-1.x":             "is no number",
		"MP-p0::p1-xgyg@drop.frob-1.0":        "unknown annotation",
		"MP-p0::p1-xgyg@drop-0.0":             "not at st.s32",
		"MP-p0::p1-xgyg@drop-7.0":             "has 2 threads",
		"MP-p0::p1-xgyg@drop-1.9":             "has 2 events",
		"MP-p0::p1-xgyg@byte-1.0":             "not the first event of the location",
		"MP-p0::p1-xgyg@bytes-0.1":            "stands at thread 0, event 0",
		"CoRR-p0::p1-xg@halves-0.0":           "has one location",
		"MP-p0::p1-xgyg@half-0.0@byte-0.0":    "has no narrower form",
		"MP-p0::p1-xgyg@rewrite-0.1.0":        "on the other side",
		"LB+datas-p0::p1-xgyg@drop-0.0":       "is used by",
		"MP-p0::p1-xgyg@reload.rel.gpu-1.0.0": "a load cannot be",
		"MP-p0::p1-xgyg@drop-1.0@drop-1.0":    "",
	} {
		_, err := ParseName(name)
		if why == "" {
			require.NoError(t, err, name)
		} else {
			require.ErrorContains(t, err, why, name)
		}
	}
}
