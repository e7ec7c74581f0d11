package report

import (
	"bytes"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"optcheck/event"
	"optcheck/spec"
)

// TestCauses: changes that differ in what stands around the same instructions are one, those
// that differ in what they mean are not, and what is weaker comes first.
func TestCauses(t *testing.T) {
	fence := "equal: same"
	changes := []*CodeChange{
		{Source: "membar.gl", Left: []string{"A", "X", "B"}, Right: []string{"A", "Y", "B"}, Meaning: fence, Cells: 2, Tests: []string{"t"}},
		{Source: "st.release", Left: []string{"X", "ST"}, Right: []string{"Y", "ST"}, Meaning: fence, Cells: 1, Tests: []string{"u"}},
		{Source: "ld.acquire", Left: []string{"X", "LD"}, Right: []string{"Y", "LD"}, Meaning: "weaker by the scope of the fence", Cells: 1},
		{Source: Order, Left: []string{"#0 ld [x]", "#1 st [y]"}, Right: []string{"#1 st [y]", "#0 ld [x]"}, Meaning: "another order of the same accesses", Cells: 1},
		{Source: Order, Left: []string{"#0 ld [x]", "#1 ld [y]"}, Right: []string{"#1 ld [y]", "#0 ld [x]"}, Meaning: "another order of the same accesses", Cells: 1},
	}
	operations := []*OperationChange{{Operations: []string{"fence.sys"}, Left: "{@P X 0x0 ; C} ; X", Right: "{@P Y 0x0 ; C} ; Y", Meaning: fence},
		{Operations: []string{"ld.mmio"}, Left: OperationRefused, Right: "LD", Meaning: "another: the left release refuses it"}}
	list := Causes(changes, operations)
	var got []string
	for _, c := range list {
		got = append(got, c.Title())
	}
	require.Equal(t, []string{"X -> Y", "another order of the same accesses", "another: the left release refuses it", "X -> Y"}, got)
	require.Equal(t, weaker, list[0].Strength())
	last := list[3]
	require.Len(t, last.Changes, 2)
	require.Equal(t, []string{"membar.gl, st.release, in 3 cells of 2 tests: t, u;  at , layout ", "by the mapping, in 1 operation: fence.sys;  at "}, last.Where())
	require.Equal(t, "1 weaker, 2 without an order of strength, 0 stronger, 1 equal; 0 new findings", Conclude(list, nil).String())
}

// TestFindingChanges: findings of one cause are one in whichever tests, registers and lines
// they are; what is gone is not new, and known findings stand last.
func TestFindingChanges(t *testing.T) {
	cell := func(test, target, class string, known []string, details ...string) event.Cell {
		c := event.Cell{Test: test, Hash: test, Toolchain: "ptxas 1", Target: target, Level: "O3", Layout: string(spec.Pointers)}
		c.Class, c.Known = class, known
		for _, d := range details {
			c.Findings = append(c.Findings, event.Finding{Rule: "missing", Detail: d})
		}
		return c
	}
	run := func(cells ...event.Cell) *event.Run { r := event.NewRun(); r.Cells = cells; return r }
	a := run(cell("a", "sm_80", event.Preserved, nil), cell("b", "sm_80", event.Preserved, nil), cell("c", "sm_80", event.Miscompiled, nil, "12:3 ld.acquire [%rd1] has gone"),
		cell("d", "sm_80", event.Unknown, nil), cell("e", "sm_80", event.Optimised, nil, "#0 fence"), cell("g", "sm_80", event.Unsupported, nil))
	b := run(cell("a", "sm_80", event.Miscompiled, nil, "#1 ld [x] became LDG R2, [R2.64]"), cell("b", "sm_80", event.Miscompiled, nil, "#3 ld [y] became LDG R4, desc[UR4][R4.64]"),
		cell("c", "sm_80", event.Preserved, nil), cell("d", "sm_80", event.Preserved, nil), cell("e", "sm_80", event.Miscompiled, nil, "#0 fence"),
		cell("f", "sm_80", event.Miscompiled, []string{"k"}, "#1 fence"), cell("g", "sm_80", event.Preserved, nil))
	x := Compare(a, b, func(*event.Cell) bool { return true })
	var got []string
	for _, f := range x.Findings {
		got = append(got, f.Title()+" / "+f.Count())
	}
	require.Equal(t, []string{
		"new: miscompiled, was preserved / 2 cells of 2 tests: a, b",
		"changed: miscompiled, was optimised / 1 cell of 1 test: e",
		"gone: miscompiled, is preserved / 1 cell of 1 test: c",
		"gone: unknown, is preserved / 1 cell of 1 test: d",
		"changed: preserved, was unsupported / 1 cell of 1 test: g",
		"new: miscompiled, in cells that the left side lacks / 1 cell of 1 test: f",
	}, got)
	require.Equal(t, "0 weaker, 0 stronger, 0 equal; 2 new findings (2 miscompiled), 1 known; 2 gone findings (1 miscompiled, 1 unknown)", x.Conclusion())
	require.Equal(t, []string{event.Miscompiled}, x.Worse(true))
	require.Empty(t, Compare(b, b, func(*event.Cell) bool { return true }).Findings)
	// What the same cells show is one change; what others show as well is another.
	both := run(cell("a", "sm_80", event.Miscompiled, nil, "#1 ld became X", "nothing waits for #1 ld"), cell("b", "sm_80", event.Miscompiled, nil, "#1 ld became X", "nothing waits for #1 ld"),
		cell("e", "sm_80", event.Miscompiled, nil, "#1 ld became Y"))
	fs := Compare(run(cell("a", "sm_80", event.Preserved, nil), cell("b", "sm_80", event.Preserved, nil), cell("e", "sm_80", event.Preserved, nil)), both, func(*event.Cell) bool { return true }).Findings
	require.Len(t, fs, 2)
	require.Equal(t, []string{"missing: T0 #1 ld became X", "missing: T0 nothing waits for #1 ld"}, fs[0].Lines())
	require.Equal(t, "1 cell of 1 test: e", fs[1].Count())
	var md bytes.Buffer
	require.NoError(t, WriteComparisonMarkdown(&md, x, false))
	require.Contains(t, md.String(), "\n## new: miscompiled, was preserved\n")
	require.Contains(t, md.String(), "\n\nIn 2 cells of 2 tests: a, b.\n\n- ptxas 1 sm\\_80 at O3")
	require.Equal(t, 1, strings.Count(md.String(), "\nKnown: "))
	require.Contains(t, md.String(), "\nKnown: k\n")
	require.Contains(t, md.String(), "\nOnly with right: 1 cell (1 miscompiled)\n- 1 test that the other side lacks: f\n")
}

// TestComparisonMarkdown: a cause is a section with what it means, where it is and what stood there; without all, causes that are
// equal are counted.
func TestComparisonMarkdown(t *testing.T) {
	x := &Comparison{Left: "ptxas 1", Right: "ptxas 2", Instructions: NewCodeChanges()}
	side := func(texts ...string) event.ThreadListing {
		th := event.ThreadListing{Source: []event.Line{{Pos: 0, Text: "#0 st [x]"}, {Pos: 1, Text: "#1 ld [y]"}}}
		for i, text := range texts {
			th.Machine = append(th.Machine, event.Line{Pos: i, Text: text})
		}
		return th
	}
	listing := func(code string, th event.ThreadListing) *event.Listing {
		return &event.Listing{Code: code, Threads: []event.ThreadListing{th}}
	}
	c := &event.Cell{Test: "mp", Target: "sm_80", Level: "O3", Layout: "pointers"}
	x.Instructions.Add(c, listing("a", side("STG.E [R2.64], R5", "LDG.E.STRONG.GPU R7, [R4.64]")), listing("b", side("STG.E [R2.64], R5", "LDG.E R7, [R4.64]")))
	swapped := side("STG.E [R2.64], R5")
	swapped.Machine = []event.Line{{Pos: 1, Text: "LDG.E.STRONG.GPU R7, [R4.64]"}, {Pos: 0, Text: "STG.E [R2.64], R5"}}
	x.Instructions.Add(c, listing("a", side("STG.E [R2.64], R5", "LDG.E.STRONG.GPU R7, [R4.64]")), listing("c", swapped))
	var b strings.Builder
	require.NoError(t, WriteComparisonMarkdown(&b, x, true))
	for _, part := range []string{
		"# ptxas 1 → ptxas 2\n\n**1 weaker, 1 without an order of strength, 0 stronger, 0 equal; 0 new findings**\n",
		"\n## LDG.E.STRONG.GPU -&gt; LDG.E\n\nWeaker by the strength of the access and the scope of the access",
		"\nSuch as mp, sm\\_80 O3 pointers:\n\n```text\n",
		"T0  source    | ptxas 1 ",
		"\n## another order of the same accesses\n\nOrder of accesses, in 1 cell",
	} {
		assert.Contains(t, b.String(), part)
	}
	require.Equal(t, 1, strings.Count(b.String(), "nother order of the same accesses\n"), "a title that is the meaning stands once")
}

// TestCompareWanted: cells that nobody wants are not compared, whichever side has them.
func TestCompareWanted(t *testing.T) {
	run := func(class string, tests ...string) *event.Run {
		r := event.NewRun()
		for _, name := range tests {
			c := event.Cell{Test: name, Hash: name, Toolchain: "ptxas 1", Target: "sm_80", Level: "O3", Layout: "pointers"}
			c.Class = class
			r.Cells = append(r.Cells, c)
		}
		return r
	}
	for _, wanted := range []string{"a", "b", "c"} {
		x := Compare(run(event.Preserved, "a", "b"), run(event.Optimised, "b", "c"), func(c *event.Cell) bool { return c.Test == wanted })
		require.Len(t, x.Differences, 1, wanted)
		require.Equal(t, wanted, x.Differences[0].Test)
		require.Equal(t, wanted != "b", x.Differences[0].Missing, wanted)
		require.Equal(t, map[string]Compared{"a": {OnlyLeft: 1}, "b": {Both: 1, Class: 1}, "c": {OnlyRight: 1}}[wanted], x.Compared)
	}
}

// TestInstructionLines: long lists are cut, and say how much is missing.
func TestInstructionLines(t *testing.T) {
	require.Equal(t, [2]string{"A ; B", "nothing"}, instructionLines([]string{"A", "B"}, nil))
	just, more := slices.Repeat([]string{"A"}, maxInstructions), slices.Repeat([]string{"B"}, maxInstructions+2)
	got := instructionLines(just, more)
	require.Equal(t, strings.Repeat("A ; ", maxInstructions-1)+"A", got[0])
	require.Equal(t, strings.Repeat("B ; ", maxInstructions)+"2 more", got[1])
	for text, want := range map[string]string{"#0 st.relaxed [x]": "st.relaxed", "st [x]": "st", "#1": "#1", "": "", " ": ""} {
		require.Equal(t, want, operation(text), text)
	}
}

// TestOrderCut: of two long orders only what lies between their first and last difference is shown.
func TestOrderCut(t *testing.T) {
	order := func(places ...int) (out []event.Line) {
		for _, p := range places {
			out = append(out, event.Line{Pos: p})
		}
		return out
	}
	short := [2][]event.Line{order(1, 2, 3), order(1, 3, 2)}
	l, r := where(short[0], short[1])
	require.Equal(t, short, [2][]event.Line{l, r})
	a, b := order(0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12), order(0, 1, 2, 4, 3, 5, 6, 7, 8, 10, 9, 11, 12)
	l, r = where(a, b)
	require.Equal(t, [2][]event.Line{order(3, 4, 5, 6, 7, 8, 9, 10), order(4, 3, 5, 6, 7, 8, 10, 9)}, [2][]event.Line{l, r})
}

// TestOrderOf: accesses stand in the order in which machine code begins them; what is a part of one, or of none, has no place.
func TestOrderOf(t *testing.T) {
	source := []event.Line{{Pos: 0, Text: "#0"}, {Pos: 1, Text: "#1"}, {Pos: 2, Text: "#2"}}
	got := orderOf(event.ThreadListing{Source: source, Machine: []event.Line{{Pos: 2}, {Pos: 0, Part: true}, {Pos: -1}, {Pos: 1}, {Pos: 2}, {Pos: 7}}})
	require.Equal(t, []event.Line{source[2], source[1]}, got)
}

// TestFindingTitle: what became of a finding.
func TestFindingTitle(t *testing.T) {
	for want, f := range map[string]FindingChange{
		"new: changed, in cells that the left side lacks": {Change: FindingNew, Class: event.Changed},
		"new: changed, was preserved":                     {Change: FindingNew, Class: event.Changed, From: event.Preserved},
		"new: changed":                                    {Change: FindingNew, Class: event.Changed, From: event.Changed},
		"gone: changed, is preserved":                     {Change: FindingGone, Class: event.Changed, From: event.Changed, To: event.Preserved},
		"gone: changed":                                   {Change: FindingGone, Class: event.Changed, From: event.Changed, To: event.Changed},
		"changed: changed, was optimised":                 {Change: FindingChanged, Class: event.Changed, From: event.Optimised, To: event.Changed},
		"changed: changed":                                {Change: FindingChanged, Class: event.Changed, From: event.Changed, To: event.Changed},
	} {
		require.Equal(t, want, f.Title())
	}
}

// TestRows: two listings stand side by side by accesses where both are in order, else as they are, with the numbers of accesses; what is
// of none has no number.
func TestRows(t *testing.T) {
	source := []event.Line{{Pos: 0, Text: "#0 st"}, {Pos: 1, Text: "#1 ld"}}
	st, ld, fence := event.Line{Pos: 0, Text: "ST"}, event.Line{Pos: 1, Text: "LD"}, event.Line{Pos: -1, Text: "MEMBAR"}
	of := func(lines ...event.Line) event.ThreadListing {
		return event.ThreadListing{Source: source, Machine: lines}
	}
	for what, x := range map[string]struct {
		left, right event.ThreadListing
		want        [][3]string
	}{
		"in order":        {of(st, ld), of(st, ld, ld), [][3]string{{"#0 st", "ST", "ST"}, {"#1 ld", "LD", "LD"}, {"", "", "LD"}}},
		"nothing":         {of(), of(ld), [][3]string{{"#0 st", "", ""}, {"#1 ld", "", "LD"}}},
		"another order":   {of(ld, st), of(st), [][3]string{{"#0 st", "#1 LD", "#0 ST"}, {"#1 ld", "#0 ST", ""}}},
		"beside accesses": {of(fence, st, ld), of(st), [][3]string{{"#0 st", "MEMBAR", "#0 ST"}, {"#1 ld", "#0 ST", ""}, {"", "#1 LD", ""}}},
	} {
		require.Equal(t, x.want, Trio{Left: x.left, Right: x.right}.Rows(), what)
	}
	for name, want := range map[string]string{"mp": "mp", "k.ptx:_Z1fi": "k.ptx:f(int)", "k.ptx:f": "k.ptx:f"} {
		require.Equal(t, want, readable(name))
	}
}

// TestPathNames: a name becomes one element of a path, and different names different ones. A place of programs has no layout.
func TestPathNames(t *testing.T) {
	require.Equal(t, "mp", fileName("mp"))
	seen := map[string]bool{"mp": true}
	for _, name := range []string{"a/b", `a\b`, "a_b", ".", "..", "", "a/../b"} {
		s := fileName(name)
		require.False(t, strings.ContainsAny(s, `/\`) || s == "." || s == ".." || s == "", "%q: %q", name, s)
		require.False(t, seen[s], s)
		seen[s] = true
	}
	p := Place{Toolchain: "ptxas 1", Targets: []string{"sm_80", "sm_90"}, Levels: []string{"O3"}, Layouts: []string{event.OwnLayout}}
	require.Equal(t, "ptxas 1 sm_80 sm_90 at O3", p.String())
	p.Layouts = []string{event.OwnLayout, "pointers"}
	require.Equal(t, "ptxas 1 sm_80 sm_90 at O3, layout "+event.OwnLayout+" pointers", p.String())
}

// TestUndecidedChanges: a cell that is no longer decided is new, one that is decided now is gone, one that is undecided for another
// reason has changed; findings that both sides have are none of it.
func TestUndecidedChanges(t *testing.T) {
	cell := func(class, reason string, details ...string) *event.Cell {
		c := &event.Cell{Test: "mp", Toolchain: "ptxas 1", Target: "sm_80", Level: "O3", Layout: "pointers"}
		c.Class, c.Reason = class, reason
		for _, d := range details {
			c.Findings = append(c.Findings, event.Finding{Rule: "missing", Detail: d})
		}
		return c
	}
	for what, x := range map[string]struct {
		l, r *event.Cell
		want []string
	}{
		"undecided now":    {cell(event.Preserved, ""), cell(event.Unknown, "a call"), []string{"new: unknown, was preserved: a call"}},
		"undecided alone":  {nil, cell(event.Unknown, ""), []string{"new: unknown, in cells that the left side lacks: undecided"}},
		"decided now":      {cell(event.Unknown, "a call"), cell(event.Preserved, ""), []string{"gone: unknown, is preserved: a call"}},
		"otherwise":        {cell(event.Unknown, "a call"), cell(event.Unknown, "a loop"), []string{"changed: unknown: unknown -> unknown"}},
		"better":           {cell(event.Miscompiled, "", "#0 st"), cell(event.Changed, "", "#0 st"), []string{"changed: changed, was miscompiled: miscompiled missing -> changed missing"}},
		"both":             {cell(event.Changed, "", "#0 st"), cell(event.Unknown, "a call", "#0 st"), []string{"new: unknown, was changed: a call"}},
		"another, decided": {cell(event.Unknown, "a call"), cell(event.Changed, "", "#0 st"), []string{"new: changed, was unknown: missing: T0 #0 st"}},
		"twice":            {cell(event.Preserved, ""), cell(event.Changed, "", "#0 st", "#0 st"), []string{"new: changed, was preserved: missing: T0 #0 st"}},
	} {
		var got []string
		for _, f := range findingsOf([]Difference{{Left: x.l, Right: x.r, Class: true}}) {
			got = append(got, f.Title()+": "+strings.Join(f.Lines(), "; "))
		}
		require.Equal(t, x.want, got, what)
	}
	require.Empty(t, findingsOf([]Difference{{Left: cell(event.Preserved, ""), Right: cell(event.Preserved, ""), Code: true}, {Left: cell(event.Changed, "", "#0 st")}}))
}
