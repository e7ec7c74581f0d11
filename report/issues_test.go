package report

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"optcheck/event"
	"optcheck/litmus/corpus"
)

func TestIssues(t *testing.T) {
	require.Len(t, Issues, 10, "the study has ten")
	for _, x := range Issues {
		for _, name := range append(x.Tests, x.Fenced...) {
			_, ok := corpus.Lookup(name)
			require.True(t, ok, name)
		}
	}
	a, d := event.NewRun(), event.NewRun()
	a.Cells = []event.Cell{
		{Test: "coRR-volatile", Toolchain: "ptxas 5.5", Target: "sm_35", Result: event.Result{Class: "optimised", Findings: []event.Finding{{Rule: "reordered"}, {Rule: "reordered"}}}},
		{Test: "coRR-volatile", Toolchain: "ptxas 5.5", Target: "sm_20", Result: event.Result{Class: "preserved"}},
		{Test: "coRR-volatile", Toolchain: "ptxas 12.4", Target: "sm_90", Result: event.Result{Class: "preserved"}},
		{Test: "mp", Toolchain: "ptxas 12.4", Target: "sm_90", Result: event.Result{Class: "preserved"}},
		{Test: "cl-mp+mem_fences", Toolchain: "clang 22", Target: "tahiti", Result: event.Result{Class: "unsupported"}},
	}
	d.Histograms = []event.Histogram{
		{Test: "cas-sl", Device: event.TestedDevice{Name: "H200"}, Toolchain: "ptxas 13.0", Level: "O3", Validated: true, Status: event.StatusDone, Weak: 3, Instances: 100, Says: []string{"allowed"}},
		{Test: "cas-sl", Device: event.TestedDevice{Name: "H200"}, Toolchain: "ptxas 13.0", Level: "O3", Validated: true, Status: event.StatusDone, Instances: 100},
		{Test: "cas-sl+membar.gls", Device: event.TestedDevice{Name: "H200"}, Toolchain: "ptxas 13.0", Level: "O3", Validated: true, Status: event.StatusTimeout, Instances: 7},
		{Test: "coRR", Device: event.TestedDevice{Name: "H200"}, Toolchain: "ptxas 13.0", Level: "O3", Unvalidated: "changed: merged", Status: event.StatusRefused},
	}
	var b strings.Builder
	require.NoError(t, WriteIssues(&b, []*event.Run{a, d}))
	for _, want := range []string{
		"1. Fermi, Kepler: coherence of load-load pairs (Sec. 3.1.1; the chip's)\n   coRR                     H200 (ptxas 13.0 O3): not run: changed: merged\n",
		"   cas-sl                   H200 (ptxas 13.0 O3): seen 3 times of 200; the model: allowed\n",
		"   cas-sl+membar.gls        H200 (ptxas 13.0 O3): no run ended well\n",
		"8. CUDA 5.5: the compiler reorders volatile loads (Sec. 4.4; the compiler's: reordered)\n" +
			"   coRR-volatile            ptxas 12.4: 1 preserved; never reordered\n" +
			"   coRR-volatile            ptxas 5.5: 1 optimised, 1 preserved; reordered in 1 cell (sm_35)\n",
		"   nothing is known of cl-mp+mem_fences: no run has it, nor a test of its shape\n",
	} {
		require.Contains(t, b.String(), want)
	}
}

// TestIssueShapes: tests belong to issues by what they do, not by their names.
func TestIssueShapes(t *testing.T) {
	corpusText := func(name string) string {
		x, ok := corpus.Lookup(name)
		require.True(t, ok, name)
		return x.String()
	}
	change := strings.NewReplacer
	for _, c := range []struct {
		name, text string
		want       []int
	}{
		{"twice", corpusText("coRR-volatile"), []int{1, 8}},
		{"coRR", corpusText("mp"), nil}, // a name says nothing
		{"numbers", change(",1", ",7", "r1=1", "r1=7").Replace(corpusText("coRR")), []int{1}},
		{"start", change("x=0;", "x=2;", ",1", ",3", "r1=1", "r1=3", "r2=0", "r2=2").Replace(corpusText("coRR")), []int{1}},
		{"types", change("s32", "u32", ".cg", ".relaxed.gpu").Replace(corpusText("coRR")), []int{1}},
		{"orders", change(`1:r1=1 /\ 1:r2=0`, `1:r2=0 /\ 1:r1=1`, "exists", "~exists").Replace(corpusText("coRR")), []int{1}},
		{"wrong", change("1:r2=0", "1:r2=1").Replace(corpusText("coRR")), nil},
		{"mixed", corpusText("coRR-L2-L1"), []int{2}},
		{"fenced", corpusText("coRR-L2-L1+membar.gl"), []int{2}},
		{"registers", change("0:.reg", "0:.reg .s32 one = 1; 0:.reg", "],1", "],one").Replace(corpusText("coRR")), []int{1}},
		{"two-locations", change("x=0;", "x=0; y=0;", "1:.reg .s32 r2;", "1:.reg .s32 r2; 1:.reg .b64 rd1 = y;", "r2,[rd0]", "r2,[rd1]", "x: global", "x: global, y: global").
			Replace(corpusText("coRR")), nil},
		{"turned", change(`1:r1=1 /\ 1:r2=0`, `1=1:r1 /\ 0=1:r2`).Replace(corpusText("coRR")), []int{1}},
		{"unequal", change("1:r1=1", "1:r1!=0").Replace(corpusText("coRR")), nil},
		{"location", change("1:r1=1", "x=1").Replace(corpusText("coRR")), nil},
		{"registers-compared", change("1:r1=1", "1:r1=1:r1").Replace(corpusText("coRR")), nil},
		{"other-fence", change("membar.gl", "fence.acq_rel.gpu").Replace(corpusText("mp-L1+membar.gls")), []int{2}},
		{"not-L1", corpusText("mp"), nil},
		{"shared", corpusText("mp-volatile"), []int{3}},
		{"not-shared", change("shared", "global").Replace(corpusText("mp-volatile")), nil},
		{"thief", corpusText("dlb-lb"), []int{4}},
		{"no-cas", change("atom.cas.b32 r3,[rd1],0,1", "atom.exch.b32 r3,[rd1],1").Replace(corpusText("dlb-lb")), nil},
		{"lock", `GPU_PTX lock
{ held=1; data=0;
0:.reg .s32 r7; 0:.reg .s32 r9; 0:.reg .b64 rd0 = held; 0:.reg .b64 rd1 = data;
1:.reg .s32 r4; 1:.reg .b64 rd0 = held; 1:.reg .b64 rd1 = data; }
 T0                                | T1                          ;
 atom.cas.relaxed.gpu.b32 r7,[rd0],0,1 | st.s32 [rd1],1              ;
 bne r7,0,END                      | fence.acq_rel.gpu           ;
 ld.s32 r9,[rd1]                   | atom.exch.b32 r4,[rd0],0    ;
 END:                              |                             ;
ScopeTree(grid(cta(warp T0)) (cta(warp T1)))
held: global, data: global
exists (0:r7=0 /\ 0:r9=0)
`, []int{5}},
		{"exchange", corpusText("cl-exch-sl"), []int{6}},
		{"future", corpusText("sl-future+membar.gls"), []int{7}},
		{"nothing", "", nil},
		{"fences", corpusText("cl-mp+mem_fences"), []int{9}},
		{"no-fences", change("mem_fence(CLK_GLOBAL_MEM_FENCE)", "").Replace(corpusText("cl-mp+mem_fences")), nil},
		{"strong", change("r0 = *y ", "r0 = atomic_load_explicit(y, memory_order_relaxed, memory_scope_device) ").Replace(corpusText("cl-mp+mem_fences")), nil},
		{"steal", corpusText("cl-dlb-lb"), []int{10}},
	} {
		r := event.NewRun()
		r.Tests = []event.Test{{Name: c.name, Text: c.text}}
		var got []int
		for i, f := range newIssueFacts([]*event.Run{withCell(r, c.name)}) {
			if len(f.cells[c.name]) > 0 {
				got = append(got, i+1)
			}
		}
		require.Equal(t, c.want, got, c.name)
	}
}

// withCell adds a cell of a test.
func withCell(r *event.Run, test string) *event.Run {
	r.Cells = append(r.Cells, event.Cell{Test: test, Toolchain: "ptxas", Target: "sm_80", Result: event.Result{Class: event.Preserved}})
	return r
}
