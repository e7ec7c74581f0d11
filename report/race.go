package report

import (
	"bufio"
	"fmt"
	"slices"
	"strings"
	"text/tabwriter"

	"optcheck/internal/plain"
)

// The values of Verdict.Race: what the language says of the test itself.
const (
	RaceFree = "none"      // no data race
	DataRace = "data-race" // a data race: the language gives the test no meaning
	// FenceScope is a data race as well, but one only because a fence of OpenCL
	// 1.2 (mem_fence) synchronises inside a work-group and the threads are in
	// different ones: OpenCL 2.0 replaces mem_fence by a fence of
	// memory_scope_work_group.
	FenceScope = "fence-scope"
)

// HasRace reports whether the test has a data race, so that no machine code of it
// is wrong.
func (v *Verdict) HasRace() bool { return v.Race == DataRace || v.Race == FenceScope }

// RaceText says in a sentence what the language makes of the test, "" if it was not
// asked.
func (v *Verdict) RaceText() string {
	switch v.Race {
	case RaceFree:
		return "the test has no data race (model " + v.Model + ")"
	case DataRace:
		return "the test has a data race: OpenCL gives it no meaning, no machine code of it is wrong"
	case FenceScope:
		return "the test has a data race between work-groups, where mem_fence does not synchronise: OpenCL gives it no meaning, no machine code of it is wrong"
	}
	return ""
}

// RaceSentence is RaceText as a sentence without its stop.
func (v *Verdict) RaceSentence() string {
	s := v.RaceText()
	if s == "" {
		return ""
	}
	return strings.ToUpper(s[:1]) + s[1:]
}

// raceWord is what the text of a filter finds a result by.
func (v *Verdict) raceWord() string {
	switch {
	case v == nil:
		return ""
	case v.HasRace():
		return "data-race"
	case v.Race == RaceFree:
		return "race-free"
	}
	return "" // nobody asked, or a word of another version
}

// RaceWord is "data-race" or "race-free" if a language was asked about the test of
// a result, else "".
func (c *Result) RaceWord() string { return c.Verdict.raceWord() }

// writeRaces says how many of the changed cells are of tests without a data race:
// those a reader should look at first.
func writeRaces(b *bufio.Writer, r *Run) {
	type row struct{ test, rules string }
	cells, tests := map[string]int{}, map[string][]string{}
	free := map[row]int{}
	all, changed := 0, map[string]bool{}
	for _, c := range r.All() {
		if !c.HasFindings() || c.Verdict == nil || c.Verdict.Race == "" {
			continue
		}
		all++
		changed[c.Test] = true
		race := c.Verdict.Race
		cells[race]++
		if !slices.Contains(tests[race], c.Test) {
			tests[race] = append(tests[race], c.Test)
		}
		if race == RaceFree {
			free[row{c.Test, c.Class + ": " + strings.Join(rulesOf(c), ", ")}]++
		}
	}
	if all == 0 {
		return
	}
	fmt.Fprintf(b, "\n%s with findings, of %s, by what OpenCL says of the test itself:\n", plain.Count(all, "cell"), plain.Count(len(changed), "test"))
	for _, x := range []struct{ race, what string }{
		{DataRace, "with a data race, to which OpenCL gives no meaning"},
		{FenceScope, "with a data race, for mem_fence synchronises only inside a work-group"},
		{RaceFree, "without a data race: to be looked at first"}} {
		if cells[x.race] > 0 {
			fmt.Fprintf(b, "  %6d  of %s %s\n", cells[x.race], plain.Count(len(tests[x.race]), "test"), x.what)
		}
	}
	var rows []row
	for k := range free {
		rows = append(rows, k)
	}
	slices.SortFunc(rows, func(a, b row) int { return strings.Compare(a.test+"\x00"+a.rules, b.test+"\x00"+b.rules) })
	tw := tabwriter.NewWriter(b, 0, 8, 2, ' ', 0)
	for _, k := range rows {
		fmt.Fprintf(tw, "          %d\t%s\t%s\n", free[k], label(k.test), k.rules)
	}
	tw.Flush()
}

// rulesOf lists the rules that the findings of a cell break, each once, sorted.
func rulesOf(c *Cell) []string {
	var out []string
	for _, f := range c.Findings {
		if !slices.Contains(out, f.Rule) {
			out = append(out, f.Rule)
		}
	}
	slices.Sort(out)
	return out
}
