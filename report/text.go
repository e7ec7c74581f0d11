// Package report renders the event stream of package event: text, tables, pages, and forms for
// machines are made from it and from nothing else, so that a saved run can be rendered
// again in any form.
//
// It does not produce events (audit does) and does not judge.
package report

import (
	"bufio"
	"cmp"
	"errors"
	"fmt"
	"io"
	"maps"
	"slices"
	"sort"
	"strings"
	"text/tabwriter"

	"optcheck/event"
	"optcheck/internal/plain"
)

// TextOptions selects what the text report shows.
type TextOptions struct {
	// Cells lists every changed and unknown cell on its own instead of the first findings,
	// which are many cells that show the same.
	Cells bool
	// Unsupported also lists why cells are unsupported.
	Unsupported bool
	// Notes also lists notes (strengthened, aggregated), which machine codes toolchains have in
	// common, and which findings are in tests without a data race.
	Notes bool
	// NewOnly leaves out the cells of known findings, but counts them.
	NewOnly bool
	// Claims adds what a run of programs claims, and what it does not.
	Claims bool
}

// ClaimsNote stands for the claims where nobody has asked for them.
const ClaimsNote = "What is claimed, and what is not: --explain-claims"

// MaxTold bounds the findings that a text tells in full, the worst first.
const MaxTold = 10

// WriteText renders a run for people: what came out in a sentence, the findings with source
// and machine order side by side, then counts and what else is known of the run.
func WriteText(w io.Writer, r *event.Run, o TextOptions) error {
	text := plain.NewWriter(w)
	b := bufio.NewWriter(text)
	if r.Len() > 0 {
		t := GroupsOf(r).Tally(r.Classes())
		fmt.Fprintln(b, t.Headline())
		if rest := t.Rest(); rest != "" {
			fmt.Fprintf(b, "%s.\n", capital(rest))
		}
	}
	if why := cmp.Or(r.Broken(), r.Incomplete()); why != "" {
		fmt.Fprintf(b, "\nNOT ALL WAS DONE: %s\n", why)
	}
	for _, why := range r.Mixed() {
		fmt.Fprintf(b, "\nNOT OF ONE KIND: %s\n", why)
	}
	shown := r
	if o.NewOnly {
		shown = r.WithoutKnown()
	}
	writeGroups(b, shown, o)
	if r.Len() > 0 || len(r.Histograms) == 0 {
		writeCounts(b, r)
	}
	writeKnown(b, r, o.NewOnly)
	if o.Notes {
		writeShared(b, r)
		writeRaces(b, r)
	}
	writeHardware(b, r)
	for _, line := range limitsOf(r) {
		fmt.Fprintf(b, "  %s\n", line)
	}
	writePrograms(b, r, o)
	writeCrashes(b, r)
	if o.Unsupported || r.Config.Claims != "" { // of programs there are few reasons
		writeReasons(b, r)
	}
	if o.Notes {
		writeNotes(b, r)
		writeProgramNotes(b, r)
	}
	writeHistograms(b, r)
	writeProblems(b, r)
	writeStats(b, r, o)
	if r.Config.Claims != "" && o.Claims {
		fmt.Fprintf(b, "\n%s\n", r.Config.Claims)
	}
	return errors.Join(b.Flush(), text.Flush())
}

// maxRows bounds the rows of the table of counts: of more levels there is a row for each
// toolchain, of more toolchains one for all.
const maxRows = 8

func writeCounts(b *bufio.Writer, r *event.Run) {
	total := r.Classes()
	classes := shownClasses(total)
	rows := countRows(r)
	if slices.Equal(r.Config.Layouts, []string{event.OwnLayout}) && (len(rows) == 1 || r.Config.Tests == 1) {
		return // the first line and the findings say it
	}
	fmt.Fprintf(b, "\n%s, %s", plain.Count(r.Config.Tests, "test"), plain.Count(r.Len(), "cell"))
	if !slices.Equal(r.Config.Layouts, []string{event.OwnLayout}) {
		fmt.Fprintf(b, "; layouts %s", strings.Join(r.Config.Layouts, ", "))
	}
	tw := tabwriter.NewWriter(b, 0, 8, 2, ' ', tabwriter.AlignRight)
	fmt.Fprintf(tw, "\ntoolchain\tlevel\t%s\t\n", strings.Join(classes, "\t"))
	if len(rows) != 1 {
		rows = append(rows, countRow{"all", "", total})
	}
	for _, x := range rows {
		fmt.Fprintf(tw, "%s\t%s\t", x.toolchain, x.level)
		for _, c := range classes {
			fmt.Fprintf(tw, "%d\t", x.n[c])
		}
		fmt.Fprintln(tw)
	}
	tw.Flush()
}

// countRow is a row of the table of counts.
type countRow struct {
	toolchain, level string
	n                map[string]int // cells by class
}

// rows are those of the table of counts: one for each toolchain and level, or for each toolchain if all levels say the same or
// there are many.
func countRows(r *event.Run) (rows []countRow) {
	by := map[[2]string]map[string]int{}
	for _, c := range r.All() {
		for _, k := range [][2]string{{c.Toolchain, c.Level}, {c.Toolchain, ""}} {
			if by[k] == nil {
				by[k] = map[string]int{}
			}
			by[k][c.Class]++
		}
	}
	if len(r.Config.Toolchains) > maxRows {
		return nil
	}
	for _, t := range r.Config.Toolchains {
		var levels []countRow
		same := true
		for _, l := range r.Config.Levels {
			if n := by[[2]string{t.ID, l}]; n != nil {
				levels = append(levels, countRow{t.ID, l, n})
				same = same && maps.Equal(n, levels[0].n)
			}
		}
		if all := by[[2]string{t.ID, ""}]; all != nil && (len(r.Config.Toolchains)*len(r.Config.Levels) > maxRows || same && len(levels) > 1) {
			levels = []countRow{{t.ID, "all", all}}
		}
		rows = append(rows, levels...)
	}
	return rows
}

// shownClasses are the columns of a table of counts: the usual classes, and those of the others that
// there are.
func shownClasses(n map[string]int) []string {
	unjudged := n[event.Changed] > 0 && n[event.Optimised]+n[event.Miscompiled] == 0
	return slices.DeleteFunc([]string{event.Preserved, event.Optimised, event.Miscompiled, event.Changed, event.Crashed, event.Unknown, event.Invalid, event.Unsupported}, func(c string) bool {
		switch c {
		case event.Optimised, event.Miscompiled:
			return unjudged
		case event.Changed, event.Crashed, event.Invalid:
			return n[c] == 0
		}
		return false
	})
}

// writeKnown says how many of the cells with findings are known.
func writeKnown(b *bufio.Writer, r *event.Run, hidden bool) {
	by := map[string]int{}
	known, all, open := 0, 0, 0
	for _, c := range r.All() {
		if c.HasFindings() {
			all++
		}
		switch {
		case len(c.Known) == 0:
			continue
		case c.HasFindings():
			known++
		default:
			open++
		}
		by[strings.Join(c.Known, ", ")]++
	}
	if len(by) == 0 {
		return
	}
	not := ""
	if hidden {
		not = ", not shown"
	}
	fmt.Fprintf(b, "\nof %s with findings, %d %s new and %d known%s", plain.Count(all, "cell"), all-known,
		plain.Form(all-known, "is", "are"), known, not)
	if open > 0 {
		fmt.Fprintf(b, "; %s %s known without a finding", plain.Count(open, "cell"), plain.Form(open, "is", "are"))
	}
	fmt.Fprintln(b, ":")
	for _, k := range sortedKeys(by) {
		fmt.Fprintf(b, "  %6d  %s\n", by[k], k)
	}
}

// writeShared says how much machine code the toolchains have in common.
func writeShared(b *bufio.Writer, r *event.Run) {
	var sets toolSets
	by := map[string]int{} // code → set of toolchains
	for _, c := range r.All() {
		if c.Code != "" {
			by[c.Code] = sets.with(by[c.Code], c.Toolchain)
		}
	}
	if len(by) == 0 {
		return
	}
	codes := map[string]int{}
	for _, s := range by {
		codes[strings.Join(sets.list[s], ", ")]++
	}
	fmt.Fprintf(b, "\n%s; emitted by\n", plain.Count(len(by), "distinct machine code"))
	for _, s := range sortedKeys(codes) {
		fmt.Fprintf(b, "  %6d  %s\n", codes[s], s)
	}
}

// toolSets are sets of toolchains by number; 0 is the empty one. There are few
// of them, and each of very many codes has one.
type toolSets struct {
	list   [][]string // sorted
	number map[string]int
	next   map[toolStep]int
}

type toolStep struct {
	set  int
	tool string
}

// with returns the set that has one more toolchain.
func (s *toolSets) with(set int, tool string) int {
	if s.list == nil {
		s.list, s.number, s.next = [][]string{nil}, map[string]int{"": 0}, map[toolStep]int{}
	}
	step := toolStep{set, tool}
	n, ok := s.next[step]
	if !ok {
		more := s.list[set]
		if i, has := slices.BinarySearch(more, tool); !has {
			more = slices.Insert(slices.Clone(more), i, tool)
		}
		key := strings.Join(more, "\x00")
		if n, ok = s.number[key]; !ok {
			n = len(s.list)
			s.list, s.number[key] = append(s.list, more), n
		}
		s.next[step] = n
	}
	return n
}

func sortedKeys[V any](m map[string]V) []string {
	ks := make([]string, 0, len(m))
	for k := range m {
		ks = append(ks, k)
	}
	sort.Strings(ks)
	return ks
}

func writeReasons(b *bufio.Writer, r *event.Run) {
	n := map[string]int{}
	for _, c := range r.All() {
		if c.Class == event.Unsupported {
			n[c.Reason]++
		}
	}
	if len(n) == 0 {
		return
	}
	fmt.Fprintf(b, "\nunsupported:\n")
	for _, k := range sortedKeys(n) {
		fmt.Fprintf(b, "  %6d  %s\n", n[k], k)
	}
}

func writeNotes(b *bufio.Writer, r *event.Run) {
	n := map[string]int{}
	for _, c := range r.All() {
		for _, f := range c.Notes {
			n[f.Rule]++
		}
	}
	fmt.Fprintf(b, "\nnotes:\n")
	for _, k := range sortedKeys(n) {
		fmt.Fprintf(b, "  %6d  %s\n", n[k], k)
	}
}

func writeProblems(b *bufio.Writer, r *event.Run) {
	if len(r.Problems) == 0 {
		return
	}
	fmt.Fprintf(b, "\nproblems of the run:\n")
	for _, p := range r.Problems {
		fmt.Fprintf(b, "  %s\n", strings.ReplaceAll(p.String(), "\n", "\n    "))
	}
}

func writeStats(b *bufio.Writer, r *event.Run, o TextOptions) {
	s := r.Stats
	if s == nil {
		return
	}
	if s.Kernels == 0 && len(r.Histograms) > 0 {
		fmt.Fprintf(b, "\n%s in %.1f s\n", plain.Count(len(r.Histograms), "run"), s.Wall)
		if s.Interrupted {
			fmt.Fprintln(b, "The run was interrupted: some were not done.")
		}
		return
	}
	if r.Config.Claims == "" || o.Notes { // what programs cost is of no interest to those who wait for it
		writeCost(b, s)
	}
	if s.Interrupted {
		fmt.Fprintln(b, "The run was interrupted: cells are missing.")
	}
}

func writeCost(b *bufio.Writer, s *event.Stats) {
	fmt.Fprintf(b, "\n%s, %s, %s in %.1f s; CPU: compilers and disassemblers %.1f s, optcheck %.1f s", plain.Count(s.Cells, "cell"),
		plain.Count(s.Kernels, "kernel"), plain.Count(s.Processes, "process"), s.Wall, s.ToolCPU, s.OwnCPU)
	if s.ToolCPU > 0 {
		fmt.Fprintf(b, " (%.0f %%)", 100*s.OwnCPU/s.ToolCPU)
	}
	fmt.Fprintln(b)
	if s.Registers > 0 {
		fmt.Fprintf(b, "control codes: %d dependencies over registers\n", s.Registers)
	}
}
