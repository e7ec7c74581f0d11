package hunt

import (
	"bufio"
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"

	"optcheck/internal/plain"
)

// WriteText writes the report for people. Of what is done, times and rates alone depend
// on the machine.
func (r *Report) WriteText(w io.Writer) error {
	b := bufio.NewWriter(w)
	fmt.Fprintf(b, "seed %d: %s, %s; %s, %d known\n", r.Seed, plain.Count(r.Tests, "test"), plain.Count(r.Cells, "cell"),
		plain.Count(len(r.Rows), "new signature"), len(r.Aside))
	fmt.Fprintf(b, "round %d has tried %d of %s of opportunity and synchronisation\n", r.Round, r.Covered, plain.Count(r.Keys, "pair"))
	for _, row := range r.Rows {
		row.write(b)
	}
	if len(r.Aside) > 0 {
		fmt.Fprintf(b, "\nknown, set aside:\n")
	}
	for _, id := range slices.Sorted(maps.Keys(r.Aside)) {
		fmt.Fprintf(b, "  %s: %s\n", id, plain.Count(r.Aside[id], "cell"))
	}
	for _, why := range slices.Sorted(maps.Keys(r.Failed)) {
		fmt.Fprintf(b, "\nNOT DECIDED: %s: %s\n", plain.Count(r.Failed[why], "cell"), why)
	}
	return b.Flush()
}

func (row *Row) write(b *bufio.Writer) {
	race := ""
	if row.Race != "" {
		race = ", " + row.Race
	}
	fmt.Fprintf(b, "\n%s at %s%s\n", strings.ToUpper(row.Class), row.Level, race)
	for _, s := range row.What {
		fmt.Fprintf(b, "  %s\n", s)
	}
	for _, w := range row.Where {
		fmt.Fprintf(b, "    in %s %s at %s\n", w.Toolchain, strings.Join(w.Targets, " "), strings.Join(w.Levels, " "))
	}
	fmt.Fprintf(b, "    %s of %s, the first was test %d\n", plain.Count(row.Cells, "cell"), plain.Count(row.Tests, "test"), row.After)
	fmt.Fprintf(b, "    smallest: %s, layout %s\n", row.Test, row.Cell.Layout)
	if row.Bundle != "" {
		fmt.Fprintf(b, "    bundle: %s\n", row.Bundle)
	}
}

// WriteTimes says what the hunt cost, and when each signature came.
func (r *Report) WriteTimes(w io.Writer) error {
	b := bufio.NewWriter(w)
	fmt.Fprintf(b, "%.0f s, %.1f tests/s, %.0f cells/s; CPU: %.0f s of the compilers, %.0f s own (%.0f %%)\n", r.Seconds,
		float64(r.Tests)/r.Seconds, float64(r.Cells)/r.Seconds, r.ToolCPU, r.OwnCPU, 100*r.OwnCPU/max(r.ToolCPU, 0.001))
	rows := slices.Clone(r.Rows)
	slices.SortStableFunc(rows, func(a, b *Row) int { return a.After - b.After })
	for _, row := range rows {
		fmt.Fprintf(b, "%8.1f s %6d tests  %s at %s: %s\n", row.Seconds, row.After, row.Class, row.Level, strings.Join(row.What, "; "))
	}
	return b.Flush()
}

// Line is a line about the progress.
func (p Progress) Line() string {
	rate := func(n int) float64 { return float64(n) / max(p.Seconds, 0.001) }
	last := "none yet"
	if p.New > 0 {
		last = fmt.Sprintf("the last after %.0f s", p.Last)
	}
	return fmt.Sprintf("%.0f s: %d tests (%.1f/s), %d cells (%.0f/s), round %d: %d of %d pairs; %d new, %d known, %s",
		p.Seconds, p.Tests, rate(p.Tests), p.Cells+p.UnderWay, rate(p.Cells+p.UnderWay), p.Round, p.Covered, p.Keys, p.New, p.Known, last)
}
