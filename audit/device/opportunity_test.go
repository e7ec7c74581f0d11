package device

import (
	"os"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"

	"optcheck/litmus"
	"optcheck/pipeline"
	"optcheck/ptxgen"
	"optcheck/ptxgen/cycle"
	"optcheck/runner/drive"
	"optcheck/spec"
)

// opportunities are the tests of the preset with a word in their name, each n-th of them;
// all with OPTCHECK_FULL=1.
func opportunities(t *testing.T, word string, n int) (list []*litmus.Test) {
	t.Helper()
	k := 0
	for _, x := range preset() {
		if strings.Contains(x.Name, word) {
			if k++; os.Getenv("OPTCHECK_FULL") == "1" || k%n == 0 {
				list = append(list, x)
			}
		}
	}
	return list
}

// preset has the tests of the preset opportunities.
var preset = sync.OnceValue(func() []*litmus.Test {
	g, err := cycle.Preset("opportunities")
	if err != nil {
		panic(err)
	}
	return slices.Collect(g.Tests())
})

// TestValidateLoops: kernels of tests with loops and spins are the tests in both forms,
// whether the compiler has unrolled them or not, or are known not to be.
func TestValidateLoops(t *testing.T) {
	for _, level := range []string{"O0", "O3"} {
		c := &Compiler{Target: "sm_90", Level: level, Tool: newest(t, "sm_90")}
		for _, form := range []ptxgen.Form{ptxgen.FormFast, ptxgen.FormPermuted} {
			list := append(opportunities(t, "@loop", 61), opportunities(t, "@spin", 6)...)
			bins, err := c.Build(t.Context(), list, form)
			require.NoError(t, err)
			validated := 0
			for _, b := range bins {
				require.Contains(t, []string{"validated", stateChanged}, b.State, "%s %v %s: %s", level, form, b.Test.Name, b.Why)
				if b.Validated {
					validated++
				}
			}
			t.Logf("%s, %v: %d of %d validated", level, form, validated, len(list))
			require.GreaterOrEqual(t, validated, len(list)/2)
		}
	}
}

// TestLoopMutants: a kernel whose loop goes round more or less often than the test's, or
// in which an access is another one, is not the test.
func TestLoopMutants(t *testing.T) {
	x := opportunities(t, "MP+po-rel.gpu+acq.gpu-po-p0:p1-xgyg@loop-0.0.2", 1)[0]
	for level, form := range map[string]ptxgen.Form{"O0": ptxgen.FormFast, "O3": ptxgen.FormPermuted} {
		c := &Compiler{Target: "sm_90", Level: level, Tool: newest(t, "sm_90")}
		for _, edit := range [][2]string{{"", ""}, {"%q_r0, 4;", "%q_r0, 3;"}, {"%q_r0, 4;", "%q_r0, 5;"},
			{"st.release.gpu", "st.relaxed.gpu"}, {"ld.acquire.gpu", "ld.relaxed.gpu"}} {
			b := mutant(t, c, x, form, edit)
			require.Equal(t, edit[0] == "", b.Validated, "%s %q: %s", level, edit, b.Why)
		}
	}
}

// mutant is the binary of a test in whose kernel a text is replaced by another one.
func mutant(t *testing.T, c *Compiler, x *litmus.Test, form ptxgen.Form, edit [2]string) *Binary {
	t.Helper()
	m, err := c.maker()
	require.NoError(t, err)
	h, err := m.Emit(x, form, c.Layout)
	require.NoError(t, err)
	require.Contains(t, h.Text, edit[0])
	h.Text = strings.Replace(h.Text, edit[0], edit[1], 1)
	made, failed, err := m.Make(t.Context(), []*ptxgen.Harness{h})
	require.NoError(t, err)
	require.Empty(t, failed)
	b := &Binary{Test: x, Form: form, Harness: h}
	require.NoError(t, c.read(t.Context(), m, &made[0], []*Binary{b}))
	return b
}

// TestNeighbourMutants: words at other places of a cell, and cells that are aligned
// otherwise, are not the test's.
func TestNeighbourMutants(t *testing.T) {
	c := &Compiler{Target: "sm_90", Level: "O0", Tool: newest(t, "sm_90"), Layout: spec.Adjacent}
	for _, edit := range [][2]string{{"", ""}, {"%hl0, %hl0, -8;", "%hl0, %hl0, -16;"}, {"%hl1, %hl0, 4;", "%hl1, %hl0, 8;"},
		{"%hl1, %hl0, 4;", "%hl1, %hl0, 0;"}, {"[offset0]", "[offset1]"}} {
		b := mutant(t, c, generated(t, neighbours), ptxgen.FormFast, edit)
		require.Equal(t, edit[0] == "", b.Validated, "%q: %s", edit, b.Why)
	}
}

// neighbours is message passing by words that lie in one cell.
const neighbours = "MP+po-rel.gpu+acq.gpu-po-p0::p1-xgyg"

// TestValidateNeighbours: in the layout adjacent kernels are the tests if nothing is
// optimised, and if it is, two words become one access across a release and an acquire.
// The same words are kept apart in the layout pointers.
func TestValidateNeighbours(t *testing.T) {
	list := append(opportunities(t, "", 997), opportunities(t, "xsys", 301)...)
	for _, form := range []ptxgen.Form{ptxgen.FormFast, ptxgen.FormPermuted} {
		c := &Compiler{Target: "sm_90", Level: "O0", Tool: newest(t, "sm_90"), Layout: spec.Adjacent}
		bins, err := c.Build(t.Context(), list, form)
		require.NoError(t, err)
		for _, b := range bins {
			require.Contains(t, []string{"validated", stateChanged, "unsupported"}, b.State, "%v %s: %s", form, b.Test.Name, b.Why)
		}
		c.Level = "O3"
		for layout, rule := range map[spec.Layout]string{spec.Adjacent: "width-changed", spec.Pointers: ""} {
			c.Layout = layout
			bins, err := c.Build(t.Context(), []*litmus.Test{generated(t, neighbours)}, form)
			require.NoError(t, err)
			require.Equal(t, rule == "", bins[0].Validated, bins[0].Why)
			if rule != "" {
				require.Equal(t, rule, bins[0].Findings[0].Rule)
				require.Empty(t, bins[0].Unlifted)
			}
		}
	}
}

// generated is a test by its name.
func generated(t *testing.T, name string) *litmus.Test {
	t.Helper()
	s, err := cycle.ParseName(name)
	require.NoError(t, err)
	return s.Test()
}

// TestPoCLOpportunities: tests with loops, and with neighbours, run on a CPU, and show
// nothing that they must not, nor values from elsewhere.
func TestPoCLOpportunities(t *testing.T) {
	s := pocl(t)
	j, err := NewJudge("tso")
	require.NoError(t, err)
	tune := drive.DefaultTuning(s.Device())
	apart, err := litmus.Parse("apart.litmus", []byte("PTX apart\n{ x=1; y=2; z=3; }\n P0@cta 0,gpu 0 | P1@cta 1,gpu 0 ;\n"+
		" st.relaxed.gpu x, 4 | ld.relaxed.gpu r0, y ;\n st.relaxed.gpu y, 5 | ld.relaxed.gpu r1, x ;\n"+
		"exists (P1:r0 == 5 /\\ P1:r1 == 1 /\\ z == 3)\n"))
	require.NoError(t, err)
	for _, layout := range []spec.Layout{spec.Pointers, spec.Adjacent} {
		ran := 0
		want := 4
		o := Options{Tests: append(opportunities(t, "MP+rlx.gpu-po-rel.gpu+acq.gpu-po-rlx.gpu-p0::p1-xgyg@spin", 1)[:1],
			opportunities(t, "MP+po-rel.gpu+acq.gpu-po-p0:p1-xgyg@loop", 1)[0], apart), Session: s,
			Compiler: &Compiler{Maker: pipeline.NewOpenCLMaker(s), Layout: layout}, Judge: j, Seed: 1, Instances: 1000,
			Settings: []drive.Setting{{Incantations: drive.Random, Tuning: tune}},
			Emit: func(r *Result) {
				ran++
				require.True(t, r.Validated, "%s: %s", r.Test, r.Unvalidated)
				require.GreaterOrEqual(t, r.Instances, uint64(1000), r.Detail)
				require.Zero(t, r.Unexpected, r.Test)
				require.Equal(t, layoutName(layout), r.Layout)
				for _, x := range r.Outcomes {
					require.NotEqual(t, Forbidden, x.Says[0], "%s: %v", r.Test, x.Values)
				}
			}}
		if layout == spec.Pointers {
			o.Tests = o.Tests[:2] // those with loops, in both forms
			o.Settings = append(o.Settings, drive.Setting{Form: ptxgen.FormPermuted, Tuning: tune})
		} else {
			want = 3
		}
		require.NoError(t, Run(t.Context(), o))
		require.Equal(t, want, ran)
	}
}
