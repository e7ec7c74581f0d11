package realcode_test

import (
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"optcheck/audit"
	"optcheck/event"
	"optcheck/internal/required"
	"optcheck/litmus"
	"optcheck/ptx"
	"optcheck/ptxgen"
	"optcheck/ptxgen/cycle"
	"optcheck/realcode"
	"optcheck/spec"
	"optcheck/target"
	"optcheck/toolchain"
	"optcheck/toolchain/tested"
)

// roadTests are of each family of findings that litmus tests have, and of what a compiler
// may do and looked wrong here.
var roadTests = []string{
	"MP+po-rel.gpu+acq.gpu-po-p0::p1-xgyg",                                // neighbours, where they are
	"MP+po-rel.gpu+acq.gpu-po-p0::p1-xgyg@peek-1.0",                       // a dead acquire
	"MP+po-rel.cta+acq.cta-po-p0:p1-xgyg@peek-1.0",                        // of CTA scope
	"MP+po-atom.exch.rel.gpu+atom.add.acq.gpu-po-p0::p1-xgyg@peek-1.0",    // a dead atomic
	"MP+po-rel.gpu+acq.gpu-po-p0::p1-xgyg@reload-1.1.0",                   // a load around an acquire
	"CoRR+all-rlx.gpu-p0::p1-xg@reload.vol-1.1.0",                         // strong loads of one location
	"CoRR+all-vol-p0::p1-xg@reload.cv-1.0.2",                              // a weak one behind a strong one
	"MP+po-rel.cta+acq.cta-po-p0:p1-xgys",                                 // an acquire that nothing waits for
	"MP+po-rel.cta+acq.cta-po-p0:p1-xgyg@twin.rlx.gpu-0.1",                // the same, in the midst of others
	"SB+fence.sc.gpus-p0::p1-xgyg@ring-0.2",                               // a store behind a release
	"LB+po-rel.gpu+acq.gpu-po-p0::p1-xgyg@reload.cg-0.0.2",                // a load between a fence and its release
	"R+po-atom.add.ar.gpu+atom.cas.ar.gpu-po-p0::p1-xgyg@ringstore-1.0",   // a fence with the line of another
	"MP+fence.sc.gpus+all-rlx.gpu-p0::p1-xgyg@overwrite.vol-0.2.0",        // a load with the line of another
	"MP+po-rel.gpu+acq.gpu-po-p0:p1-xgyg@silent-1.0",                      // the same, a weak one
	"R+fence.sc.gpus+all-rlx.gpu-p0::p1-xgyg@self-1.2",                    // a result that is masked to nothing
	"CoWW+all-rlx.gpu-p0-xg@rewrite-0.0.2",                                // relaxed stores that are overwritten
	"MP+po-rel.sys+acq.sys-po-p0::p1-xgyg@prestore-1.1.0",                 // a thread reads what it wrote
	"LB+po-rel.cta+acq.cta-po-p0::p1-xgyg@loop-0.0.2",                     // an unrolled loop
	"LB+all-acq.gpu-rel.gpu-p0::p1-xgyg@loop-0.0.2",                       // the loads of some turns are left out
	"MP+po-rel.cta+acq.cta-po-p0:p1-xgys@arms.rlx.gpu-0.1",                // a fence without the condition of its store
	"MP+po-rel.sys+rlx.sys-fence.acq_rel.sys-p0::p1-xgyg@glance.ca-0.1.2", // a strong load with the line of a weak one
	"MP+fence.acq_rel.sys-rlx.sys+acq.sys-po-p0::p1-xgyg@call-1.0",        // an acquire with the line of another function
	"CoRR+all-acq.gpu-rel.gpu-p0::p1-xg@reload.cv-1.1.0",                  // loads of one address, two with the line of one
	"CoRR+all-vol-p0::p1-xg@reload.rlx.cta-1.0.2",                         // the same, in another order
	"MP+all-rlx.cta-p0:p1-xsyg@rewrite.weak-0.0.2",                        // variables in shared memory of which no line tells
}

// allowed are the findings of litmus tests that need a partner: what the model allows with that
// of the test may be wrong with another one, and is told here.
var allowed = []string{"nobody observes what it reads", "nothing waits for", "no place for the invalidation", "the invalidation behind",
	"is performed before #", "moves 8 bytes instead of 4"}

// cells keeps the cells of an audit.
type cells []event.Cell

func (c *cells) Handle(e event.Event) error {
	if e.Cell != nil {
		*c = append(*c, *e.Cell)
	}
	return nil
}

func (c *cells) Close() error { return nil }

// TestTwoRoads: what an audit of litmus tests calls miscompiled is never preserved for the
// same PTX read as a program, and what it calls preserved is never accused; of what it calls
// optimised, nothing but what another partner might show. With OPTCHECK_FULL=1 every 40th test of
// the whole preset, of whose other cells at most five are accused: four are right, results being stored before
// an acquire is awaited.
func TestTwoRoads(t *testing.T) {
	tcs, errs := tested.CUDA(t.Context(), toolchain.Options{})
	require.Empty(t, errs)
	tcs, err := toolchain.Find(tcs, "ptxas 11.2.152", "ptxas 11.8.89", "ptxas 12.4.131")
	if err != nil {
		required.Missing(t, "%v", err)
	}
	o := audit.Options{Toolchains: tcs, Targets: []string{"sm_70", "sm_80", "sm_90"}, Levels: []string{"O3"},
		Layouts: []spec.Layout{spec.Pointers, spec.Symbols, spec.Offsets, spec.Adjacent}}
	for _, name := range roadTests {
		s, err := cycle.ParseName(name)
		require.NoError(t, err)
		o.Tests = append(o.Tests, s.Test())
	}
	full := os.Getenv("OPTCHECK_FULL") == "1"
	if full {
		g, err := cycle.Preset("opportunities")
		require.NoError(t, err)
		n := 0
		for x := range g.Tests() {
			if n++; n%40 == 0 && !slices.Contains(roadTests, x.Name) {
				o.Tests = append(o.Tests, x)
			}
		}
		o.Levels = []string{"O0", "O3"}
	} else {
		o.Targets = []string{"sm_80"}
	}
	var list cells
	require.NoError(t, audit.Run(t.Context(), o, &list))
	tests := map[string]*litmus.Test{}
	for _, x := range o.Tests {
		tests[x.Name] = x
	}
	counts := map[string]int{}
	for len(list) > 0 { // cells that are compiled alike, as one program
		n := 1
		for n < len(list) && n < 200 && alike(&list[n], &list[0]) {
			n++
		}
		program(t, tcs, tests, list[:n], counts)
		list = list[n:]
	}
	t.Log(counts)
	most := 0
	if full {
		most = 5
	}
	assert.LessOrEqual(t, counts["accused"], most)
	require.Positive(t, counts[event.Miscompiled])
	require.Positive(t, counts[event.Preserved])
	require.Positive(t, counts[event.Optimised])
}

func alike(a, b *event.Cell) bool {
	return a.Toolchain == b.Toolchain && a.Target == b.Target && a.Level == b.Level
}

// program compares the two answers for the kernels of some cells.
func program(t *testing.T, tcs []*toolchain.Toolchain, tests map[string]*litmus.Test, list []event.Cell, counts map[string]int) {
	c := &list[0]
	tc, err := toolchain.Find(tcs, c.Toolchain)
	require.NoError(t, err)
	var text strings.Builder
	fmt.Fprintf(&text, ".version %s\n.target %s\n.address_size 64\n", tc[0].MaxPTX, c.Target)
	units := make([]*ptxgen.Unit, len(list))
	some := false
	for i := range list {
		switch list[i].Class {
		case event.Preserved, event.Optimised, event.Miscompiled:
			layout, err := spec.ParseLayout(list[i].Layout)
			require.NoError(t, err)
			units[i], err = ptxgen.Emit(tests[list[i].Test], ptxgen.Options{Target: c.Target, Layout: layout})
			require.NoError(t, err)
			text.WriteString(units[i].Text)
			some = true
		}
	}
	if !some {
		return
	}
	m, err := ptx.Parse("k.ptx", []byte(text.String()))
	require.NoError(t, err)
	code, err := realcode.Build(t.Context(), tc[0], m, c.Target, c.Level)
	require.NoError(t, err)
	sm, _ := target.SM(c.Target)
	kernels := map[string]realcode.Kernel{}
	for _, k := range realcode.Check(m, code.Program, sm).Kernels {
		kernels[k.Name] = k
	}
	for i, u := range units {
		if u == nil {
			continue
		}
		var found []realcode.Finding
		unknown := 0
		for _, k := range u.Kernels {
			found = append(found, kernels[k.Name].Findings...)
			unknown += len(kernels[k.Name].Unknown)
		}
		x := &list[i]
		counts[x.Class]++
		at := fmt.Sprint(x.Test, " ", x.Toolchain, " ", x.Target, " ", x.Level, " ", x.Layout)
		switch {
		case x.Class == event.Miscompiled:
			assert.NotZero(t, len(found)+unknown, "%s: preserved; %v", at, x.Findings)
		case len(found) > 0 && (x.Class == event.Preserved || !partner(x)):
			counts["accused"]++
			t.Logf("%s: %s, and accused: %s: %s", at, x.Class, found[0].Rule, found[0].Detail)
		}
	}
}

// partner reports whether an optimised cell has a finding that needs a partner.
func partner(c *event.Cell) bool {
	for _, f := range c.Findings {
		for _, a := range allowed {
			if strings.Contains(f.Detail, a) {
				return true
			}
		}
	}
	return false
}
