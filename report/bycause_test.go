package report

import (
	"bufio"
	"bytes"
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"optcheck/event"
)

// TestTextByCause: a text tells a cause once, in whichever tests and registers it shows, and names the others; what differs in rule, class
// or being known is told apart.
func TestTextByCause(t *testing.T) {
	r := event.NewRun()
	r.Config = event.Config{Tests: 7, Cells: 7, Toolchains: []event.Toolchain{{ID: "ptxas 1"}}, Levels: []string{"O3"},
		Layouts: []string{"pointers"}}
	add := func(test, class string, known []string, details ...string) {
		c := event.Cell{Test: test, Hash: test, Toolchain: "ptxas 1", Target: "sm_80", Level: "O3", Layout: "pointers"}
		c.Class, c.Known = class, known
		for _, d := range details {
			c.Findings = append(c.Findings, event.Finding{Rule: "merged", Detail: d})
		}
		r.Tests = append(r.Tests, event.Test{Name: test, Hash: test})
		r.Cells = append(r.Cells, c)
	}
	add("a", event.Miscompiled, nil, "#0 ld [x] and #1 ld [x] are one: LDG R2, [R2.64]")
	for _, test := range []string{"b", "c", "d", "e"} {
		add(test, event.Miscompiled, nil, "#3 ld [y] and #4 ld [y] are one: LDG R4, desc[UR4][R6.64]")
	}
	add("f", event.Miscompiled, nil, "#3 ld [y] and #4 ld [y] are one: LDG.E R4, [R6.64]")
	add("g", event.Optimised, []string{"k"}, "#0 ld [x] and #1 ld [x] are one: LDG R2, [R2.64]")
	var b bytes.Buffer
	require.NoError(t, WriteText(&b, r, TextOptions{}))
	var got []string
	for line := range strings.Lines(b.String()) {
		if strings.HasPrefix(line, "MISC") || strings.HasPrefix(line, "OPT") || strings.HasPrefix(line, "  also") || strings.HasPrefix(line,
			"  and") {
			got = append(got, strings.TrimSpace(line))
		}
	}
	require.Equal(t, []string{"MISCOMPILED: a", "also: b, in ptxas 1 sm_80 at O3, layout pointers",
		"also: c, in ptxas 1 sm_80 at O3, layout pointers",
		"also: d, in ptxas 1 sm_80 at O3, layout pointers", "also: e, in ptxas 1 sm_80 at O3, layout pointers", "MISCOMPILED: f", "OPTIMISED: g"},
		got)
	b.Reset()
	require.NoError(t, WriteText(&b, r, TextOptions{Cells: true}))
	require.Equal(t, 6, strings.Count(b.String(), "MISCOMPILED: "))

	x := executions{}
	x.add(&event.Cell{Result: event.Result{Executed: &event.Execution{Runs: 4, Source: 0.8, Machine: 1}}}, false)
	x.add(&event.Cell{Result: event.Result{Executed: &event.Execution{}}}, false)
	b.Reset()
	w := bufio.NewWriter(&b)
	x.write(w, false)
	require.NoError(t, w.Flush())
	require.Equal(t, "executed: 2 of 2 kernels, 1 until the first difference, of the others 4 runs each, in the median 80 % of PTX, 100 % of machine code\n", b.String())
}

// TestTextByCauseBounded: of a cause that shows in many places so many are named, and the others counted.
func TestTextByCauseBounded(t *testing.T) {
	for others, want := range map[int]string{maxAlso - 1: "", maxAlso: "", maxAlso + 1: "  and 1 more finding with this cause: --cells\n",
		maxAlso + 2: "  and 2 more findings with this cause: --cells\n"} {
		r := event.NewRun()
		r.Config = event.Config{Tests: others + 1, Cells: others + 1, Toolchains: []event.Toolchain{{ID: "ptxas 1"}}, Levels: []string{"O3"},
			Layouts: []string{"pointers"}}
		for i := range others + 1 {
			test := fmt.Sprint("t", i)
			c := event.Cell{Test: test, Hash: test, Toolchain: "ptxas 1", Target: "sm_80", Level: "O3", Layout: "pointers"}
			c.Class, c.Findings = event.Miscompiled, []event.Finding{{Rule: "merged", Detail: "#0 ld [x] and #1 ld [x] are one: LDG R2, [R2.64]"}}
			r.Tests, r.Cells = append(r.Tests, event.Test{Name: test, Hash: test}), append(r.Cells, c)
		}
		var b bytes.Buffer
		require.NoError(t, WriteText(&b, r, TextOptions{}))
		require.Equal(t, min(others, maxAlso), strings.Count(b.String(), "  also: "))
		require.Equal(t, want != "", strings.Contains(b.String(), "with this cause"), b.String())
		require.Contains(t, b.String(), want)
	}
}
