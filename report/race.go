package report

import (
	"bufio"
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"
	"text/tabwriter"

	"optcheck/event"
	"optcheck/internal/plain"
)

// maxRaceFree bounds the tests without a race that a text report lists by name.
const maxRaceFree = 20

// raceKinds are what the races of tests with findings are counted by.
var raceKinds = []struct {
	of   func(v *event.Verdict) bool
	what string
}{
	{func(v *event.Verdict) bool { return v.Race == event.RaceFree }, "without a data race: to be looked at first"},
	{func(v *event.Verdict) bool { return v.Race == event.RaceUnknown }, "of which it is not known"},
	{func(v *event.Verdict) bool { return v.Race == event.DataRace && !v.Meaningless() }, "with a data race, to which PTX gives a meaning"},
	{func(v *event.Verdict) bool { return v.Race == event.MixedSize }, "with a data race of mixed sizes, to which PTX gives no meaning"},
	{func(v *event.Verdict) bool { return v.Race == event.NonCoherent }, "that load what is written meanwhile through a cache that is not coherent: no meaning in PTX"},
	{func(v *event.Verdict) bool { return v.Race == event.DataRace && v.Meaningless() }, "with a data race, to which OpenCL gives no meaning"},
	{func(v *event.Verdict) bool { return v.Race == event.FenceScope }, "with a data race, for mem_fence synchronises only inside a work-group"},
}

// writeRaces says how many of the changed cells are of tests without a data race:
// those a reader should look at first.
func writeRaces(b *bufio.Writer, r *event.Run) {
	type row struct{ class, test, rules string }
	cells, tests := make([]int, len(raceKinds)), make([]map[string]bool, len(raceKinds))
	free := map[row]int{}
	all, changed := 0, map[string]bool{}
	for _, c := range r.All() {
		if !c.HasFindings() || c.Verdict == nil || c.Verdict.Race == "" {
			continue
		}
		all++
		changed[c.Test] = true
		for i, k := range raceKinds {
			if !k.of(c.Verdict) {
				continue
			}
			if tests[i] == nil {
				tests[i] = map[string]bool{}
			}
			cells[i]++
			tests[i][c.Test] = true
		}
		if c.Verdict.Race == event.RaceFree {
			free[row{c.Class, c.Test, strings.Join(rulesOf(c), ", ")}]++
		}
	}
	if all == 0 {
		return
	}
	fmt.Fprintf(b, "\n%s with findings, of %s, by whether the test has a data race:\n", plain.Count(all, "cell"),
		plain.Count(len(changed), "test"))
	for i, k := range raceKinds {
		if cells[i] > 0 {
			fmt.Fprintf(b, "  %6d  of %s %s\n", cells[i], plain.Count(len(tests[i]), "test"), k.what)
		}
		if i > 0 {
			continue
		}
		rows := slices.SortedFunc(maps.Keys(free), func(a, b row) int {
			return cmp.Or(cmp.Compare(severity(a.class), severity(b.class)), cmp.Compare(a.test, b.test), cmp.Compare(a.rules, b.rules))
		})
		tw := tabwriter.NewWriter(b, 0, 8, 2, ' ', 0)
		for _, k := range rows[:min(len(rows), maxRaceFree)] {
			fmt.Fprintf(tw, "          %d\t%s\t%s: %s\n", free[k], plain.Label(k.test), k.class, k.rules)
		}
		tw.Flush()
		if n := len(rows) - maxRaceFree; n > 0 {
			fmt.Fprintf(b, "          and %d more\n", n)
		}
	}
}

// rulesOf lists the rules that the findings of a cell break, each once, sorted.
func rulesOf(c *event.Cell) []string {
	var out []string
	for _, f := range c.Findings {
		if !slices.Contains(out, f.Rule) {
			out = append(out, f.Rule)
		}
	}
	slices.Sort(out)
	return out
}
