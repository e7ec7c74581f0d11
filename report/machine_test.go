package report

import (
	"fmt"
	"strings"

	"pgregory.net/rapid"

	"optcheck/event"
)

// hostile are names that must do no harm in any report.
var hostile = []string{
	"<script>alert(1)</script>", "../../etc/passwd", "..", "", "a\x00b\x1b[31m\x7f", "]]>", "%0A::error::x", "x\n::error file=a::injected\r\n",
	"`code` **bold** | pipe", "\xff\xfe invalid", "\u202egnp.exe", "\ufffe\uffff", "\u2028", strings.Repeat("x",
		10_000), "]]>&amp;<!--", "::set-output name=x::y", "```\n# h", "[a](http://x) *y* $z$", "a,b:c", "%SRCROOT%",
}

// sample returns a run with a test in a file, one of the corpus, and one cell of
// each class and kind.
func sample() *event.Run {
	r := event.NewRun()
	r.Config = event.Config{Schema: event.Schema, Tool: "v1", Spec: 1, Tests: 4, Cells: 10, Toolchains: []event.Toolchain{{ID: "ptxas 1.0", Build: "b"},
		{ID: "ptxas 2.0", Build: "c"}},
		Targets: []string{"sm_35", "sm_80"}, Levels: []string{"O0", "O3"}, Layouts: []string{"pointers", "offsets"}}
	r.Tests = []event.Test{
		{Name: "mp", Hash: "h1", Dialect: "GPU_PTX", Text: "GPU_PTX mp\n", File: "lib/tests dir/mp.litmus", Lines: [][]int{{8, 9, 11},
			{8, 9, 11}}, Columns: [][]int{{2, 2, 2}, {22, 22, 22}}},
		{Name: "coRR", Hash: "h2", Dialect: "GPU_PTX", Text: coRR, Preset: "corpus"},
		{Name: "sb", Hash: "h3", Dialect: "GPU_PTX", Text: "GPU_PTX sb\n", File: "lib/sb.litmus"},
		{Name: "lb", Hash: "h4", Dialect: "GPU_PTX", Text: "GPU_PTX lb\n", Preset: "quick"},
	}
	cell := func(test, hash, tc, target, level, layout string, res event.Result) {
		r.Cells = append(r.Cells, event.Cell{Test: test, Hash: hash, Toolchain: tc, Target: target, Level: level, Layout: layout, Result: res})
	}
	fence := []event.Finding{{Rule: "fence-weakened", Thread: 1, Access: 1, Detail: "#1 membar.gl became MEMBAR.CTA: its scope is narrower"}}
	bad := &event.Verdict{Model: "ptx-2015", Source: 3, Machine: 4, New: []string{"1:r1=1; 1:r2=0;"}, Check: "gl-constraint",
		Cycle: "a -po-> c -rf-> d -po-> f -fr-> a", Lifted: "x"}
	for _, tc := range []string{"ptxas 1.0", "ptxas 2.0"} {
		cell("mp", "h1", tc, "sm_35", "O3", "pointers", event.Result{Class: event.Miscompiled, Findings: fence, Code: "aa", Verdict: bad})
	}
	merged := []event.Finding{{Rule: "merged", Thread: 1, Access: 1, Detail: "#0 ld.cg [x] and #1 ld.cg [x] are one instruction: LDG"}}
	cell("coRR", "h2", "ptxas 1.0", "sm_80", "O3", "offsets", event.Result{Class: event.Optimised, Findings: merged, Code: "bb",
		Known: []string{"weak-loads"}})
	cell("coRR", "h2", "ptxas 2.0", "sm_80", "O3", "offsets", event.Result{Class: event.Optimised, Findings: merged, Code: "bb",
		Known: []string{"weak-loads"}})
	cell("coRR", "h2", "ptxas 2.0", "sm_80", "O0", "offsets", event.Result{Class: event.Preserved, Code: "cc"})
	cell("sb", "h3", "ptxas 2.0", "sm_80", "O3", "offsets", event.Result{Class: event.Changed, Findings: []event.Finding{{Rule: "reordered", Thread: 0,
		Access: 1, Detail: "swapped", Stage: "back end"}}, Code: "dd"})
	cell("sb", "h3", "ptxas 2.0", "sm_80", "O3", "pointers", event.Result{Class: event.Changed, Findings: []event.Finding{{Rule: "reordered", Thread: 0,
		Access: 1, Detail: "swapped", Stage: "back end"}}, Code: "dd", Known: []string{"old"}})
	cell("lb", "h4", "ptxas 1.0", "sm_80", "O3", "offsets", event.Result{Class: event.Unknown, Reason: "T0: no marker"})
	cell("lb", "h4", "ptxas 2.0", "sm_80", "O3", "offsets", event.Result{Class: event.Unknown, Reason: "timeout"})
	cell("lb", "h4", "ptxas 1.0", "sm_35", "O3", "offsets", event.Result{Class: event.Unsupported, Reason: "needs sm_70"})
	r.Listings["aa"] = &event.Listing{Code: "aa", Threads: []event.ThreadListing{{Thread: 1, Source: []event.Line{{Pos: 0, Text: "#0 ld.cg [y]"},
		{Pos: 1, Text: "#1 membar.gl"}}, Machine: []event.Line{{Pos: 0, Text: "LD"}, {Pos: 1, Text: "MEMBAR.CTA"}}}}}
	r.Problems = []event.Problem{{Kind: "compile", Toolchain: "ptxas 1.0", Target: "sm_80", Level: "O3", Detail: "ptxas said no"}}
	r.Stats = &event.Stats{Cells: 10}
	return r
}

const coRR = `GPU_PTX coRR
{
x=0;
0:.reg .b64 rd0 = x; 1:.reg .b64 rd0 = x; 1:.reg .s32 r1; 1:.reg .s32 r2;
}
 T0                | T1                 ;
 st.cg.s32 [rd0],1 | ld.cg.s32 r1,[rd0] ;
                   | ld.cg.s32 r2,[rd0] ;
ScopeTree(grid(cta(warp T0)) (cta(warp T1)))
x: global
exists (1:r1=1 /\ 1:r2=0)
`

// genHostile draws a run whose every text may be hostile.
func genHostile() *rapid.Generator[*event.Run] {
	return rapid.Custom(func(t *rapid.T) *event.Run {
		r := sample()
		text := rapid.OneOf(rapid.SampledFrom(hostile), rapid.String())
		for i := range r.Tests {
			if rapid.Bool().Draw(t, "hostile") {
				name := text.Draw(t, "name")
				for k := range r.Cells {
					if r.Cells[k].Test == r.Tests[i].Name {
						r.Cells[k].Test = name
					}
				}
				r.Tests[i].Name, r.Tests[i].Text = name, text.Draw(t, "text")
				if r.Tests[i].File != "" {
					r.Tests[i].File = text.Draw(t, "file")
				}
			}
		}
		for i := range r.Cells {
			c := &r.Cells[i]
			if !rapid.Bool().Draw(t, "hostile") {
				continue
			}
			c.Class = rapid.SampledFrom([]string{event.Preserved, event.Optimised, event.Miscompiled, event.Changed, event.Unsupported, event.Unknown, "new<class>"}).Draw(t, "class")
			c.Toolchain, c.Target, c.Level, c.Reason = text.Draw(t, "tc"), text.Draw(t, "target"), text.Draw(t, "level"), text.Draw(t, "reason")
			for k := range c.Findings {
				c.Findings = append([]event.Finding(nil), c.Findings...)
				f := &c.Findings[k]
				f.Rule, f.Detail = text.Draw(t, "rule"), text.Draw(t, "detail")
				f.Thread, f.Access = rapid.Int().Draw(t, "thread"), rapid.Int().Draw(t, "access")
			}
			if rapid.Bool().Draw(t, "known") {
				c.Known = []string{text.Draw(t, "known id")}
			}
		}
		r.Problems[0].Detail = text.Draw(t, "problem")
		r.Listings["aa"].Threads[0].Machine[0].Text = text.Draw(t, "machine")
		return r
	})
}

// device returns a run on a device with a forbidden outcome and a fault.
func device() *event.Run {
	r := event.NewRun()
	r.Config = event.Config{Schema: event.Schema, Tool: "v1", Spec: 1, Tests: 2, Toolchains: []event.Toolchain{{ID: "ptxas 2.0"}}, Targets: []string{"sm_90"}}
	for i, effect := range []string{"hardware, allowed", "hardware, forbidden"} {
		r.Histograms = append(r.Histograms, event.Histogram{Test: fmt.Sprint("t", i), Hash: "h", Kind: "Allowed", Device: event.TestedDevice{Name: "GPU"},
			Target: "sm_90", Toolchain: "ptxas 2.0",
			Level: "O3", Validated: true, Setting: "none", Seed: 7, Status: event.StatusDone, Instances: 10, Weak: 10, Terms: []string{"1:r0"},
			Outcomes: []event.Outcome{{Values: []int64{1}, Count: 10, Weak: true, Effect: effect}}})
	}
	r.Histograms = append(r.Histograms, event.Histogram{Test: "t2", Hash: "h", Setting: "none", Status: event.StatusTimeout, Detail: "hung\nlong"},
		event.Histogram{Test: "t3", Hash: "h", Setting: "none", Status: event.StatusRefused, Detail: "changed: merged"})
	return r
}
