package hunt

import (
	"testing"

	"github.com/stretchr/testify/require"

	"optcheck/event"
	"optcheck/litmus"
	"optcheck/ptxgen/cycle"
)

func testOf(t *testing.T, name string) *litmus.Test {
	t.Helper()
	s, err := cycle.ParseName(name)
	require.NoError(t, err)
	return s.Test().Canonical()
}

const (
	acquired = "MP+po-rel.gpu+acq.gpu-po-p0::p1-xgyg@reload-1.1.0"
	mergedAt = "#0 ld.global [x] and #2 ld.global [x] are one instruction: LDG.E R2, [R2.64]"
)

// TestWhat: texts keep kinds, strengths and what stands between, and nothing else.
func TestWhat(t *testing.T) {
	for _, c := range []struct {
		test     string
		findings []event.Finding
		want     []string
	}{
		{acquired, []event.Finding{{Rule: "merged", Thread: 1, Access: 2, Detail: mergedAt}},
			[]string{"merged ld.global, ld.global of one location across ld.acquire.global"}},
		// Another register, twice: one text.
		{acquired, []event.Finding{{Rule: "merged", Thread: 1, Access: 2, Detail: mergedAt},
			{Rule: "merged", Thread: 1, Access: 0, Detail: "#0 ld.global [x] and #2 ld.global [x] are one instruction: LDG.E R9, [R4.64+0x10]"}},
			[]string{"merged ld.global, ld.global of one location across ld.acquire.global"}},
		// What follows from another finding of the access is left out.
		{acquired, []event.Finding{{Rule: "merged", Thread: 1, Access: 2, Detail: mergedAt},
			{Rule: "control-changed", Thread: 1, Access: 2, Detail: "#2 ld.global [x] is executed unconditionally: LDG.E R4, [R4.64]"}},
			[]string{"merged ld.global, ld.global of one location across ld.acquire.global"}},
		{acquired, []event.Finding{{Rule: "control-changed", Thread: 1, Access: 2, Detail: "#2 ld.global [x] is executed unconditionally: LDG.E R4, [R4.64]"}},
			[]string{"control-changed ld.global"}},
		{acquired, []event.Finding{{Rule: "reordered", Thread: 1, Access: 1, Detail: "#1 ld.acquire.gpu.global [y] is performed before #0 ld.global [x]: LDG.E"}},
			[]string{"reordered ld.acquire.global, ld.global"}},
		{"MP+po-rel.gpu+acq.gpu-po-p0::p1-xgyg@drop-1.0", []event.Finding{{Rule: "missing", Thread: 1, Access: 0, Stage: "ptxas",
			Detail: "#0 ld.acquire.gpu.global [y] is gone: nobody observes what it reads, but others may be ordered by it"}},
			[]string{"missing (ptxas) ld.acquire.global (unread)"}},
		{"MP+po-rel.gpu+acq.gpu-po-p0::p1-xgyg@rewrite-0.0.2", []event.Finding{{Rule: "missing", Thread: 0, Access: 0,
			Detail: "#0 st.global [x] is gone: no machine access stores its value"}},
			[]string{"missing st.global, st.global of one location across st.release.global"}},
		{"MP+fence.sc.gpu+membar.gl-p0::p1-xgyg", []event.Finding{{Rule: "fence-removed", Thread: 1, Access: 1, Detail: "#1 membar.gl is missing"}},
			[]string{"fence-removed membar"}},
		// Hostile or foreign findings.
		{acquired, []event.Finding{{Rule: "missing", Thread: 9, Access: 4, Detail: "#99 ld"}, {Rule: "merged", Thread: 1, Access: -1, Detail: "#99 ld.x and #98 y"}},
			[]string{"merged of two locations", "missing"}},
	} {
		require.Equal(t, c.want, What(testOf(t, c.test), &event.Cell{Result: event.Result{Findings: c.findings}}), c.want)
	}
}

func finding(rule string) event.Finding { return event.Finding{Rule: rule, Thread: 1, Access: -1} }

// TestTable: of a miscompiled cell any finding may be to blame, until a cell shows
// which; of an optimised one each stands for itself.
func TestTable(t *testing.T) {
	test, free := testOf(t, acquired), testOf(t, acquired+"@racefree-0.0")
	tb := table{known: map[string]int{}, failed: map[string]int{}}
	ids := func(_ *event.Cell, f *event.Finding) []string {
		if f.Rule == "reordered" {
			return []string{"an-old-one"}
		}
		return nil
	}
	n := 0
	add := func(t *litmus.Test, class, level, race string, list ...event.Finding) []*Row {
		n++
		c := &event.Cell{Test: t.Name, Toolchain: "ptxas 11.8.89", Target: "sm_80", Level: level, Layout: "pointers",
			Result: event.Result{Class: class, Findings: list, Verdict: &event.Verdict{Race: race}}}
		return tb.add(found{test: t, cell: c, number: n, seconds: float64(n)}, ids)
	}
	require.Len(t, add(test, event.Optimised, "O3", event.DataRace, finding("missing"), finding("weakened")), 2)
	require.Len(t, add(test, event.Optimised, "O0", event.DataRace, finding("missing")), 1, "another level")
	require.Empty(t, add(test, event.Optimised, "O2", event.DataRace, finding("missing")), "above O0 all are one")
	require.Empty(t, add(test, event.Optimised, "O2", event.DataRace, finding("reordered")), "known")
	require.Empty(t, add(test, event.Preserved, "O3", ""))
	// A known name does not cover what crosses synchronisation.
	swap := event.Finding{Rule: "reordered", Thread: 1, Access: 2, Detail: "#2 ld.global [x] is performed before #0 ld.global [x]: LDG"}
	crossing := add(test, event.Optimised, "O3", event.DataRace, swap)
	require.Len(t, crossing, 1)
	require.Equal(t, []string{"reordered ld.global, ld.global of one location across ld.acquire.global"}, crossing[0].What)
	tb.rows, n = tb.rows[:3], n-1
	require.Len(t, tb.rows, 3)

	both := []event.Finding{finding("missing"), finding("weakened")}
	require.Len(t, add(test, event.Miscompiled, "O3", event.DataRace, both...), 1)
	require.Empty(t, add(free, event.Miscompiled, "O3", event.RaceFree, append(both, finding("merged"))...), "the same and more")
	one := add(test, event.Miscompiled, "O3", event.DataRace, finding("missing"))
	require.Len(t, one, 1, "less")
	require.Equal(t, []string{"missing"}, one[0].What)
	require.Equal(t, 3, one[0].Cells)
	require.Equal(t, 3, one[0].Tests)
	require.Equal(t, 6, one[0].After, "it was seen first in the larger one")
	require.Equal(t, event.WordRaceFree, one[0].Race)
	require.Equal(t, free.Name, one[0].Test, "race-free before small")
	require.Len(t, tb.rows, 4)
	require.Equal(t, map[string]int{"an-old-one": 1}, tb.known)

	c := &event.Cell{Level: "O3", Result: event.Result{Class: event.Unknown, Reason: "cannot lift LDG.E R12 at 0x40"}}
	require.Len(t, tb.add(found{test: test, cell: c, number: 20}, ids), 1)
	c.Reason = "cannot lift LDG.E R7 at 0xa0"
	require.Empty(t, tb.add(found{test: test, cell: c, number: 21}, ids))
	require.Equal(t, "thread N: cannot lift ATOMG at N: its operands are not the test's",
		reasonShape("thread 1: cannot lift @P0 ATOMG.E.ADD.STRONG.GPU PT, R7, desc[UR4][R2.64], R5 at 0x1b0: its operands are not the test's"))
	c.Reason = "timeout: 60s"
	require.Empty(t, tb.add(found{test: test, cell: c, number: 22}, ids))
	require.Equal(t, map[string]int{"timeout: Ns": 1}, tb.failed)

	rows := tb.sorted()
	require.Equal(t, []string{event.Miscompiled, event.Unknown, event.Optimised, event.Optimised, event.Optimised},
		[]string{rows[0].Class, rows[1].Class, rows[2].Class, rows[3].Class, rows[4].Class})
	require.Equal(t, []Where{{"ptxas 11.8.89", []string{"O2", "O3"}, []string{"sm_80"}}}, rows[3].Where)
}
