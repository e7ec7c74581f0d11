package mapping

import (
	"fmt"
	"io"
	"text/tabwriter"
)

// WriteSummary counts, for each toolchain and target, what became of operations that are
// judged, and prints for each way in which one loses something the smallest test that shows it.
func WriteSummary(w io.Writer, cells []Cell) error {
	type place struct{ toolchain, target string }
	counts := map[place]map[string]int{}
	var places []place
	for i := range cells {
		c := &cells[i]
		p := place{c.Toolchain, c.Target}
		if counts[p] == nil {
			counts[p] = map[string]int{}
			places = append(places, p)
		}
		counts[p][c.Status]++
		if c.Status == Mapped && c.Judgement != nil {
			counts[p][c.Judgement.Class]++
			counts[p]["code "+c.Code]++
		}
	}
	tw := tabwriter.NewWriter(w, 0, 8, 2, ' ', 0)
	fmt.Fprintln(tw, "TOOLCHAIN\tTARGET\tMAPPED\tREFUSED\tCRASHED\tKEPT\tLOST\tNOTHING PROMISED\tUNDECIDED\tMACHINE CODE AS PTX")
	for _, p := range places {
		n := counts[p]
		fmt.Fprintf(tw, "%s\t%s\t%d\t%d\t%d\t%d\t%d\t%d\t%d\t%d\n", releaseOf(p.toolchain), p.target, n[Mapped], n[Refused], n[Crashed], n[Kept], n[Lost],
			n[Free],
			n[Mapped]-n[Kept]-n[Lost]-n[Free]+n[Unknown], n["code preserved"])
	}
	if err := tw.Flush(); err != nil {
		return err
	}
	seen := map[string]bool{}
	for i := range cells {
		c := &cells[i]
		if c.Judgement == nil || c.Judgement.Class != Lost {
			continue
		}
		l := &c.Judgement.Lost[0]
		key := c.Group + c.PTX + l.Pattern
		if seen[key] {
			continue
		}
		seen[key] = true
		fmt.Fprintf(w, "\n%s by %s for %s is %s.\nThe language forbids (%s), %s:\n%s", c.Op, c.Toolchain, c.Target, c.PTX, l.Outcome,
			l.Pattern, l.Source)
		if l.Cycle != "" {
			fmt.Fprintf(w, "because of %s.\n", l.Cycle)
		}
		fmt.Fprintf(w, "PTX allows it:\n%s", l.PTX)
	}
	return nil
}
