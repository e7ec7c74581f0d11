package known

import (
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"optcheck/event"
)

const one = `known:
  - id: a
    rule: merged
    releases: {from: "11.2", to: "11.8"}
    targets: [sm_35, sm_37]
    levels: O3
    layouts: [offsets]
    tests: ["mp*"]
    shapes: mp
    detail: '^#0 ld'
    note: n
    reason: r
`

func cell() *event.Cell {
	return &event.Cell{Test: "mp+x", Toolchain: "ptxas 11.8.89", Target: "sm_35", Level: "O3", Layout: "offsets",
		Result: event.Result{Class: "changed",
			Findings: []event.Finding{{Rule: "merged", Detail: "#0 ld and #1 ld"}}}}
}

// TestMatch: every field of a filter takes part in the match.
func TestMatch(t *testing.T) {
	l, err := Parse("f.yaml", []byte(one))
	require.NoError(t, err)
	c := cell()
	l.Mark(c)
	require.Equal(t, []string{"a"}, c.Known)
	for name, change := range map[string]func(*event.Cell){
		"rule":     func(c *event.Cell) { c.Findings[0].Rule = "missing" },
		"detail":   func(c *event.Cell) { c.Findings[0].Detail = "#1 ld" },
		"too old":  func(c *event.Cell) { c.Toolchain = "ptxas 11.1.99" },
		"too new":  func(c *event.Cell) { c.Toolchain = "ptxas 12.0.1" },
		"nameless": func(c *event.Cell) { c.Toolchain = "ptxas" },
		"target":   func(c *event.Cell) { c.Target = "sm_50" },
		"level":    func(c *event.Cell) { c.Level = "O1" },
		"layout":   func(c *event.Cell) { c.Layout = "symbols" },
		"test":     func(c *event.Cell) { c.Test = "coRR" },
		"shape":    func(c *event.Cell) { c.Test = "mpx+y" },
		"class":    func(c *event.Cell) { c.Class = "miscompiled" },
		"unknown":  func(c *event.Cell) { c.Class = "unknown" },
		"a second finding": func(c *event.Cell) {
			c.Findings = append(c.Findings, event.Finding{Rule: "reordered"})
		},
	} {
		c := cell()
		c.Known = []string{"stale"}
		change(c)
		l.Mark(c)
		require.Empty(t, c.Known, name)
	}
	for _, version := range []string{"11.2.152", "11.2", "11.8.89", "11.5.0 cuda_11.5/x"} {
		c := cell()
		c.Toolchain = "ptxas " + version
		l.Mark(c)
		require.NotEmpty(t, c.Known, version)
	}
}

func TestUnused(t *testing.T) {
	l, err := Parse("f.yaml", []byte(one))
	require.NoError(t, err)
	run := &event.Config{Toolchains: []event.Toolchain{{ID: "ptxas 11.8.89"}}, Targets: []string{"sm_35"}, Levels: []string{"O3"},
		Layouts: []string{"offsets"}}
	require.Len(t, l.Unused(run), 1)
	require.Equal(t, "f.yaml:2:5", l.Unused(run)[0].Origin)
	other := *run
	other.Targets = []string{"sm_80"}
	require.Empty(t, l.Unused(&other), "the run says nothing about the filter")
	l.Mark(cell())
	require.Empty(t, l.Unused(run))

	l, err = Parse("f.yaml", []byte("known:\n  - {id: anywhere, rule: merged, note: n, reason: r}\n  - {id: old, rule: merged, releases: {to: \"11.1\"}, note: n, reason: r}\n"))
	require.NoError(t, err)
	require.Len(t, l.Unused(run), 1, "the run has no release that old")
	require.Equal(t, "anywhere", l.Unused(run)[0].ID)
	for _, change := range []func(*event.Config){
		func(c *event.Config) { c.Toolchains = nil }, func(c *event.Config) { c.Levels = []string{"O0"} }, func(c *event.Config) { c.Layouts = []string{"symbols"} },
	} {
		l, err := Parse("f.yaml", []byte(one))
		require.NoError(t, err)
		other := *run
		change(&other)
		require.Empty(t, l.Unused(&other), other)
	}
}

// TestUndecided: why a cell could not be decided can be known, but only by a filter that says so of such cells.
func TestUndecided(t *testing.T) {
	l, err := Parse("f.yaml", []byte("known:\n  - {id: slow, rule: undecided, class: unknown, detail: 'time limit', note: n, reason: r}\n"+
		"  - {id: shy, rule: undecided, note: n, reason: r}\n  - {id: merged, rule: merged, class: [unknown, changed], note: n, reason: r}\n"))
	require.NoError(t, err)
	for _, c := range []struct {
		r    event.Result
		want []string
	}{
		{event.Result{Class: event.Unknown, Reason: "the time limit of 5s"}, []string{"slow"}},
		{event.Result{Class: event.Unknown, Reason: "a register that nobody knows"}, nil},
		{event.Result{Class: event.Preserved, Reason: "the time limit of 5s"}, nil},
		{event.Result{Class: event.Unsupported, Reason: "the time limit of 5s"}, nil},
		{event.Result{Class: event.Changed, Reason: "the time limit of 5s", Findings: []event.Finding{{Rule: "merged"}}}, []string{"merged"}},
	} {
		x := cell()
		x.Result = c.r
		l.Mark(x)
		require.Equal(t, c.want, x.Known, c.r)
	}
}

// TestBuiltin: the built-in list reads, has reasons, and covers no
// miscompilation but the Kepler fence, and what llc makes of atomics.
func TestBuiltin(t *testing.T) {
	l := Builtin()
	require.NotEmpty(t, l.Filters)
	// What a model forbids and a document says has been looked at.
	illegal := []string{"kepler-membar-gl", "dead-acquire", "dead-acquire-of-cta", "loads-of-one-location-swapped", "dead-atomic-acquire",
		"load-around-acquire", "load-before-dead-acquire", "cta-acquire-not-awaited", "moved-beside-cta-acquire"}
	for _, f := range l.Filters {
		require.NotEmpty(t, f.Link, f.ID)
		require.NotEmpty(t, f.Classes, f.ID)
		if f.ID == "llc-atomic-order" {
			require.Equal(t, []string{"llc"}, f.Stages)
		} else if !slices.Contains(illegal, f.ID) {
			require.Equal(t, []string{event.Optimised}, f.Classes, f.ID)
		}
	}
	for _, c := range []struct {
		rule, detail, id string
	}{
		{"merged", "#0 ld.global.cg [x] and #1 ld.global [x] are one instruction: LD.E R2, [R2]", "weak-loads-merged"},
		{"merged", "#0 ld.volatile.global [x] and #1 ld.volatile.global [x] are one instruction: LD.E R2, [R2]", ""},
		{"merged", "#0 ld.relaxed.gpu.global [x] and #1 ld.global [x] are one instruction: LD.E R2, [R2]", ""},
		{"missing", "#0 st.global.cg [x] is gone: no machine access stores its value", "weak-dead-store"},
		{"missing", "#0 st.volatile.global [x] is gone: no machine access stores its value", ""},
		{"missing", "#0 st.release.gpu.global [x] is gone: no machine access stores its value", ""},
		{"missing", "#1 ld.global.cg [x] is gone: its value is the value that #0 st.global.cg [x] stores (forwarded from a register)",
			"weak-store-forwarded"},
		{"missing", "#1 ld.volatile.global [x] is gone: its value is the value that #0 st.global.cg [x] stores (forwarded from a register)", ""},
		{"missing", "#1 ld.global [x] is gone: its value is the constant 0x0", ""},
		{"reordered", "#2 ld.global.cg [y] is performed before #0 st.global.cg [x], #1 st.global [z]: LD.E R0", "weak-store-load-swap"},
		{"reordered", "#2 ld.global.cg [y] is performed before #0 st.global.cg [x], #1 ld.global [z]: LD.E R0", ""},
		{"reordered", "#1 st.global.cg [y] is performed before #0 st.global.cg [x]: ST.E R0", ""},
		{"reordered", "#1 ld.volatile.global [t] is performed before #0 st.global.cg [d]: LD.E.CV R0", "volatile-load-over-weak-store"},
		{"reordered", "#1 ld.volatile.global [t] is performed before #0 st.volatile.global [d]: LD.E.CV R0", ""},
		{"reordered", "#1 ld.global [y] is performed before #0 st.relaxed.gpu.global [x]: LDG.E R0", "weak-load-over-relaxed-store"},
		{"reordered", "#1 ld.relaxed.gpu.global [y] is performed before #0 st.relaxed.gpu.global [x]: LDG.E R0", ""},
		{"reordered", "#1 ld.global [y] is performed before #0 ld.relaxed.gpu.global [x]: LDG.E R0", ""},
		{"reordered", "#1 ld.global [y] is performed before #0 st.relaxed.sys.global [x]: LDG.E R0", ""},
		{"reordered", "#1 ld.global [y] is performed before #0 st.release.gpu.global [x]: LDG.E R0", "weak-load-over-release-store"},
		{"reordered", "#1 ld.acquire.gpu.global [y] is performed before #0 st.release.gpu.global [x]: LDG.E R0", ""},
		{"reordered", "#1 st.global [y] is performed before #0 st.release.gpu.global [x]: STG.E R0", ""},
		{"reordered", "#2 ld.global [y] is performed before #0 st.release.gpu.global [x], #1 fence.sc.gpu: LDG.E R0", ""},
		{"reordered", "#1 st.shared.cg [y] is performed before #0 st.global.cg [x]: STS", "weak-accesses-of-two-spaces"},
		{"reordered", "#1 st.shared.cg [y] is performed before #0 st.shared.cg [x]: STS", ""},
		{"reordered", "#1 st.release.cta.shared [y] is performed before #0 st.global.cg [x]: STS", ""},
		{"reordered", "#1 atom.global.exch [y] is performed before #0 atom.shared.add [x]: ATOM", "atomics-of-two-spaces"},
		{"reordered", "#1 atom.acquire.gpu.global.exch [y] is performed before #0 atom.shared.add [x]: ATOM", ""},
		{"reordered", "#1 atom.global.exch [y] is performed before #0 atom.global.add [x]: ATOM", ""},
		{"reordered", "#1 ld.acquire.gpu.global [t] is performed before #0 st.global [d]: LD.E.CV R0", ""},
	} {
		x := &event.Cell{Test: "t", Toolchain: "ptxas 12.4.131", Target: "sm_80", Level: "O3", Layout: "offsets",
			Result: event.Result{Class: event.Optimised,
				Findings: []event.Finding{{Rule: c.rule, Detail: c.detail}}}}
		l.Mark(x)
		require.Equal(t, c.id, strings.Join(x.Known, " "), c.detail)
		x.Class = event.Miscompiled
		l.Mark(x)
		require.Empty(t, x.Known, c.detail)
	}
}

// TestBuiltinWhere: what was looked at on some targets, or in one compiler of two, is known there only.
func TestBuiltinWhere(t *testing.T) {
	wider := event.Finding{Rule: "strengthened", Stage: "llc",
		Detail: "#0 atom.relaxed.cta.global.add [x] has more strength, or the wider scope gpu: ATOMG.E.ADD.STRONG.GPU PT, R4, [R4], R6"}
	swapped := event.Finding{Rule: "reordered", Detail: "#1 st.shared.cg [y] is performed before #0 st.shared.cg [x]: STS [R0+0x40], R15"}
	with := func(f event.Finding, change func(*event.Finding)) event.Finding {
		change(&f)
		return f
	}
	for _, c := range []struct {
		what, target, id string
		finding          event.Finding
	}{
		{"a wider scope", "sm_80", "llc-atomic-scope", wider},
		{"of ptxas", "sm_80", "", with(wider, func(f *event.Finding) { f.Stage = "ptxas" })},
		{"of the system", "sm_80", "", with(wider, func(f *event.Finding) { f.Detail = strings.Replace(f.Detail, "scope gpu", "scope sys", 1) })},
		{"of a release", "sm_80", "", with(wider, func(f *event.Finding) { f.Detail = strings.Replace(f.Detail, "relaxed", "release", 1) })},
		{"stores swapped", "sm_70", "weak-shared-stores-swap", swapped},
		{"elsewhere", "sm_75", "", swapped},
		{"a volatile one", "sm_70", "", with(swapped, func(f *event.Finding) { f.Detail = strings.Replace(f.Detail, "#0 st", "#0 st.volatile", 1) })},
	} {
		x := &event.Cell{Test: "t", Toolchain: "llc 22.1.8 + ptxas 12.4.131", Target: c.target, Level: "O3", Layout: "offsets",
			Result: event.Result{Class: event.Optimised, Findings: []event.Finding{c.finding}}}
		Builtin().Mark(x)
		require.Equal(t, c.id, strings.Join(x.Known, " "), c.what)
		x.Class, x.Known = event.Miscompiled, nil
		Builtin().Mark(x)
		require.Empty(t, x.Known, c.what)
	}
}

// TestBeside: what moves beside an acquire that nothing waits for is known only with that, and only
// in 11.2, whose acquire it is.
func TestBeside(t *testing.T) {
	cell := func() *event.Cell {
		return &event.Cell{Test: "MP+po-rel.cta+acq.cta-po-p0:p1-xgys@readback-0.0.2", Toolchain: "ptxas 11.2.152", Target: "sm_80", Level: "O3",
			Layout: "symbols", Result: event.Result{Class: event.Miscompiled, Findings: []event.Finding{
				{Rule: "fence-removed", Thread: 1, Detail: "nothing waits for #0 ld.acquire.cta.shared [y] before LDG.E.SYS R2, [R2] is issued"},
				{Rule: "reordered", Access: 2, Detail: "#2 ld.global [x] is performed before #1 st.release.cta.shared [y]: LDG.E.SYS R2, [R2]"}}}}
	}
	c := cell()
	Builtin().Mark(c)
	require.Equal(t, []string{"cta-acquire-not-awaited", "moved-beside-cta-acquire"}, c.Known)
	for what, change := range map[string]func(*event.Cell){
		"awaited": func(c *event.Cell) { c.Findings = c.Findings[1:] },
		"11.8":    func(c *event.Cell) { c.Toolchain = "ptxas 11.8.89" },
		"a fence is gone": func(c *event.Cell) {
			c.Findings[0].Detail = "the fence in front of #1 st.release.cta.shared [y] is missing"
		},
		"before the acquire": func(c *event.Cell) {
			c.Findings[1].Detail = "#2 ld.global [x] is performed before #0 ld.acquire.cta.shared [y]: LDG"
		},
		"a release that goes": func(c *event.Cell) {
			c.Findings[1].Detail = "#1 st.release.cta.shared [y] is performed before #0 st.global [x]: STS"
		},
		"a wider release": func(c *event.Cell) {
			c.Findings[1].Detail = "#2 ld.global [x] is performed before #1 st.release.gpu.global [y]: LDG"
		},
	} {
		c := cell()
		change(c)
		Builtin().Mark(c)
		require.Empty(t, c.Known, what)
	}
}

// TestCompany: a load that lost its condition is known only if it is the one that
// was merged, and only with what the merged load may lose.
func TestCompany(t *testing.T) {
	ca, cg := "ld.global.ca [x]", "ld.shared.cg [x]"
	cell := func(mem string) *event.Cell {
		return &event.Cell{Test: "CoRR+ctrl+all-ca-cg-p0::p1-xg", Toolchain: "ptxas 12.4.131", Target: "sm_80", Level: "O3", Layout: "symbols",
			Result: event.Result{Class: event.Optimised, Findings: []event.Finding{
				{Rule: "merged", Thread: 1, Access: 1, Detail: "#0 " + mem + " and #1 " + mem + " are one instruction: LDG"},
				{Rule: "dependency-broken", Thread: 1, Access: 1, Detail: "the control dependency from #0 " + mem + " to #1 " + mem + " is gone: LDG"},
				{Rule: "control-changed", Thread: 1, Access: 1, Detail: "#1 " + mem + " is executed unconditionally: LDG"}}}}
	}
	for _, mem := range []string{ca, cg, "ld.global [x]"} {
		c := cell(mem)
		Builtin().Mark(c)
		require.Equal(t, []string{"merged-load-loses-its-condition", "weak-loads-merged"}, c.Known, mem)
	}
	for what, change := range map[string]func(*event.Cell){
		"not merged":        func(c *event.Cell) { c.Findings = c.Findings[1:] },
		"another is merged": func(c *event.Cell) { c.Findings[0].Access = 2 },
		"another thread's":  func(c *event.Cell) { c.Findings[0].Thread = 0 },
		"miscompiled":       func(c *event.Cell) { c.Class = event.Miscompiled },
		"changed":           func(c *event.Cell) { c.Class = event.Changed },
		"another shape":     func(c *event.Cell) { c.Test = "MP+ctrl-p0::p1-xg" },
		"an address": func(c *event.Cell) {
			c.Findings[1].Detail = strings.Replace(c.Findings[1].Detail, "control", "address", 1)
		},
		"a volatile load": func(c *event.Cell) {
			c.Findings[2].Detail = "#1 ld.volatile.global [x] is executed unconditionally: LDG"
		},
		"from a volatile": func(c *event.Cell) {
			c.Findings[1].Detail = strings.Replace(c.Findings[1].Detail, "#0 ld.global.ca", "#0 ld.volatile.global", 1)
		},
		"never executed": func(c *event.Cell) { c.Findings[2].Detail = "#1 ld.global.ca [x] is never executed: LDG" },
	} {
		c := cell(ca)
		change(c)
		Builtin().Mark(c)
		require.Empty(t, c.Known, what)
	}
	release := &event.Cell{Test: "R", Toolchain: "ptxas 12.4.131", Target: "sm_90", Level: "O3", Layout: "offsets",
		Result: event.Result{Class: event.Optimised,
			Findings: []event.Finding{{Rule: "reordered", Detail: "#1 ld.global [y] is performed before #0 st.release.gpu.global [x]: LDG.E R0"}}}}
	Builtin().Mark(release)
	require.Empty(t, release.Known, "sm_90 keeps a release before a weak load")
}

// TestPairs: of llc and ptxas the release of ptxas counts, and filters can ask
// for the compiler in which a finding arose.
func TestPairs(t *testing.T) {
	cell := func(detail, stage string) *event.Cell {
		return &event.Cell{Test: "t", Toolchain: "llc 22.1.8 + ptxas 12.4.131", Target: "sm_80", Level: "O0", Layout: "offsets",
			Result: event.Result{Class: event.Miscompiled,
				Findings: []event.Finding{{Rule: "fence-removed", Detail: detail, Stage: stage}}}}
	}
	lost := "the fence in front of #1 atom.release.gpu.global.exch [m] is missing"
	for _, c := range []struct{ detail, stage, id string }{
		{lost, "llc", "llc-atomic-order"}, {lost, "ptxas", ""}, {lost, "", ""},
		{"the invalidation behind #0 atom.acquire.sys.shared.cas [m] is missing", "llc", "llc-atomic-order"},
		{"the fence in front of #1 st.release.gpu.global [m] is missing", "llc", ""},
		{"#1 fence.sc.gpu has no counterpart between the accesses around it", "llc", ""},
	} {
		x := cell(c.detail, c.stage)
		Builtin().Mark(x)
		require.Equal(t, c.id, strings.Join(x.Known, " "), c.detail)
	}
	for bounds, want := range map[[2]string]bool{{"12.4", "12.4"}: true, {"", "11.8"}: false, {"22.1", ""}: false, {"11.2", ""}: true} {
		f := &Filter{From: bounds[0], To: bounds[1]}
		require.Equal(t, want, f.release("llc 22.1.8 + ptxas 12.4.131"), bounds)
	}
}
