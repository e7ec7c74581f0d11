package report

import (
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"

	"optcheck/event"
	"optcheck/internal/plain"
	"optcheck/litmus"
	"optcheck/litmus/corpus"
)

// Issue is one of the ten issues that the study found (Alglave et al., GPU Concurrency,
// ASPLOS 2015, Tab. 2).
type Issue struct {
	Affected, Comment, Section string
	// Tests are those of the corpus that show the issue; Fenced are the same with fences that may or may not help.
	// Other tests of their shapes show it, too.
	Tests, Fenced []string
	// Rule is what a compiler breaks where the issue is the compiler's; "" is the chip's.
	Rule string
	// about leaves of a trait what the issue is about.
	about func(trait) trait
}

// What the issues are about, beside the dialect: synchronisation that is not there is the issue of locks and deques, so
// that with fences and without they have one shape.
func unfenced(x trait) trait { return trait{openCL: x.openCL, fenced: x.fenced} }
func anyFence(x trait) trait { return trait{openCL: x.openCL} }

// Issues are the issues of the study, in its order.
var Issues = []Issue{
	{"Fermi, Kepler", "coherence of load-load pairs", "3.1.1", []string{"coRR", "coRR-volatile", "coRR+relaxed.gpus"}, nil, "",
		func(x trait) trait {
			if x.l1 != "21" { // the next issue
				x.l1 = ""
			}
			return trait{openCL: x.openCL, fenced: x.fenced, l1: x.l1}
		}},
	{"Fermi", "fences do not restore orderings of the L1 cache", "3.1.2", []string{"mp-L1", "coRR-L2-L1"},
		[]string{"mp-L1+membar.ctas", "mp-L1+membar.gls", "mp-L1+membar.syss", "coRR-L2-L1+membar.cta", "coRR-L2-L1+membar.gl",
			"coRR-L2-L1+membar.sys"}, "", func(x trait) trait { return trait{openCL: x.openCL, l1: x.l1} }},
	{"PTX ISA", "volatile accesses to shared memory are not in order", "3.1.2", []string{"mp-volatile"}, nil, "",
		func(x trait) trait {
			return trait{openCL: x.openCL, fenced: x.fenced, volatile: x.volatile, shared: x.shared}
		}},
	{"GPU Computing Gems", "a deque without fences skips items", "3.2.1", []string{"dlb-lb", "dlb-mp"}, []string{"dlb-lb+membar.gls",
		"dlb-mp+membar.gls"}, "", anyFence},
	{"CUDA by Example", "a lock without fences reads stale values", "3.2.2", []string{"cas-sl", "cl-cas-sl"},
		[]string{"cas-sl+membar.ctas", "cas-sl+membar.gls"}, "", anyFence},
	{"Stuart-Owens lock", "a lock without fences reads stale values", "3.2.2", []string{"exch-sl", "cl-exch-sl"},
		[]string{"exch-sl+membar.gls"}, "", anyFence},
	{"He-Yu lock", "a lock reads future values", "3.2.3", []string{"sl-future"}, []string{"sl-future+membar.gls"}, "", anyFence},
	{"CUDA 5.5", "the compiler reorders volatile loads", "4.4", []string{"coRR-volatile"}, nil, "reordered",
		func(x trait) trait { return trait{openCL: x.openCL, fenced: x.fenced, volatile: x.volatile} }},
	{"AMD GCN 1.0", "the compiler removes fences between loads", "3.1.2", []string{"cl-mp+mem_fences"}, nil, "fence-removed",
		func(x trait) trait { return trait{openCL: x.openCL, fenced: x.fenced, weak: x.weak} }},
	{"AMD TeraScale 2", "the compiler reorders load and compare-and-swap", "3.2.1", []string{"cl-dlb-lb"}, nil, "reordered", unfenced},
}

// tests are all of the corpus that show an issue.
func (x *Issue) tests() []string { return append(slices.Clone(x.Tests), x.Fenced...) }

// shapes are those of an issue's tests.
func (x *Issue) shapes() map[shape]bool {
	out := map[shape]bool{}
	for _, name := range x.tests() {
		if t, ok := corpus.Lookup(name); ok {
			if s, ok := shapeOf(t); ok {
				out[shape{s.skeleton, x.about(s.trait)}] = true
			}
		}
	}
	return out
}

// WriteIssues says for each issue of the study what the releases and chips of runs do:
// of compilers the classes of cells and the rules that they break, of chips how often the
// outcome was seen, by validated binaries alone.
func WriteIssues(w io.Writer, runs []*event.Run) error {
	all := newIssueFacts(runs)
	for i, x := range Issues {
		kind := "the chip's"
		if x.Rule != "" {
			kind = "the compiler's: " + x.Rule
		}
		if _, err := fmt.Fprintf(w, "%d. %s: %s (Sec. %s; %s)\n", i+1, x.Affected, x.Comment, x.Section, kind); err != nil {
			return err
		}
		n := 0
		for _, test := range all[i].tests(&x) {
			for _, line := range all[i].lines(test, x.Rule) {
				n++
				if _, err := fmt.Fprintf(w, "   %-24s %s\n", plain.Label(test), line); err != nil {
					return err
				}
			}
		}
		if n == 0 {
			if _, err := fmt.Fprintf(w, "   nothing is known of %s: no run has it, nor a test of its shape\n", strings.Join(x.Tests, ", ")); err != nil {
				return err
			}
		}
	}
	return nil
}

// issueFacts are what runs say of the tests of an issue.
type issueFacts struct {
	cells map[string]map[string]*issueCells // by test and toolchain
	chips map[string]map[string]*issueChip  // by test and device
}

// tests are those that something is known of: the corpus's, then others by name.
func (f *issueFacts) tests(x *Issue) []string {
	names := x.tests()
	var others []string
	for name := range f.cells {
		others = append(others, name)
	}
	for name := range f.chips {
		others = append(others, name)
	}
	slices.Sort(others)
	others = slices.DeleteFunc(slices.Compact(others), func(name string) bool { return slices.Contains(names, name) })
	return append(names, others...)
}

// issueCells are the cells of a test by a release.
type issueCells struct {
	total   int
	classes map[string]int
	rules   map[string]int // cells that break a rule
	targets map[string]map[string]bool
}

// issueChip is what a test showed on a chip.
type issueChip struct {
	weak, instances uint64
	refused         string
	says            string
}

// newIssueFacts gives the facts of each issue.
func newIssueFacts(runs []*event.Run) (all []*issueFacts) {
	for range Issues {
		all = append(all, &issueFacts{map[string]map[string]*issueCells{}, map[string]map[string]*issueChip{}})
	}
	shapes := make([]map[shape]bool, len(Issues))
	for i := range Issues {
		shapes[i] = Issues[i].shapes()
	}
	for _, r := range runs {
		of := issuesOf(r, shapes)
		for _, c := range r.All() {
			for _, i := range of(c.Test) {
				all[i].cell(c)
			}
		}
		for k := range r.Histograms {
			for _, i := range of(r.Histograms[k].Test) {
				all[i].histogram(&r.Histograms[k])
			}
		}
	}
	return all
}

// issues returns which issues a test of the run belongs to: those that have one of its shape, or, of a test of which
// the run tells nothing but the name, those that have the name.
func issuesOf(r *event.Run, shapes []map[shape]bool) func(test string) []int {
	texts := map[string]string{}
	for i := range r.Tests {
		texts[r.Tests[i].Name] = r.Tests[i].Text
	}
	memo := map[string][]int{}
	return func(test string) []int {
		if list, ok := memo[test]; ok {
			return list
		}
		var list []int
		text, told := texts[test]
		var s shape
		if t, err := litmus.Parse(test, []byte(text)); told && err == nil {
			s, _ = shapeOf(t)
		}
		for i := range Issues {
			if told && shapes[i][shape{s.skeleton, Issues[i].about(s.trait)}] || !told && slices.Contains(Issues[i].tests(), test) {
				list = append(list, i)
			}
		}
		memo[test] = list
		return list
	}
}

func (f *issueFacts) cell(c *event.Cell) {
	if c.Class == event.Unsupported {
		return
	}
	by := f.cells[c.Test]
	if by == nil {
		by = map[string]*issueCells{}
		f.cells[c.Test] = by
	}
	x := by[c.Toolchain]
	if x == nil {
		x = &issueCells{classes: map[string]int{}, rules: map[string]int{}, targets: map[string]map[string]bool{}}
		by[c.Toolchain] = x
	}
	x.total++
	x.classes[c.Class]++
	broken := map[string]bool{}
	for _, y := range c.Findings {
		broken[y.Rule] = true
	}
	for rule := range broken {
		x.rules[rule]++
		if x.targets[rule] == nil {
			x.targets[rule] = map[string]bool{}
		}
		x.targets[rule][c.Target] = true
	}
}

func (f *issueFacts) histogram(h *event.Histogram) {
	if h.Placement != nil {
		return
	}
	by := f.chips[h.Test]
	if by == nil {
		by = map[string]*issueChip{}
		f.chips[h.Test] = by
	}
	name := h.Device.Name + " (" + h.Toolchain + " " + h.Level + ")"
	x := by[name]
	if x == nil {
		x = &issueChip{}
		by[name] = x
	}
	if len(h.Says) > 0 {
		x.says = h.Says[0]
	}
	switch {
	case !h.Validated:
		x.refused = h.Unvalidated
	case h.Status == event.StatusDone || h.Status == event.StatusInterrupted:
		x.weak += h.Weak
		x.instances += h.Instances
	}
}

// lines returns what is known of a test; rule is the one that is asked for, "" is any.
func (f *issueFacts) lines(test, rule string) (out []string) {
	for _, tool := range slices.Sorted(maps.Keys(f.cells[test])) {
		x := f.cells[test][tool]
		var parts []string
		for _, c := range slices.Sorted(maps.Keys(x.classes)) {
			parts = append(parts, fmt.Sprintf("%d %s", x.classes[c], plain.Label(c)))
		}
		line := fmt.Sprintf("%s: %s", plain.Label(tool), strings.Join(parts, ", "))
		for _, r := range slices.Sorted(maps.Keys(x.rules)) {
			if rule == "" || r == rule {
				line += fmt.Sprintf("; %s in %s (%s)", plain.Label(r), plain.Count(x.rules[r], "cell"),
					plain.Label(strings.Join(slices.Sorted(maps.Keys(x.targets[r])), " ")))
			}
		}
		if rule != "" && x.rules[rule] == 0 {
			line += "; never " + rule
		}
		out = append(out, line)
	}
	if rule != "" {
		return out // what a chip shows says nothing of a compiler
	}
	for _, chip := range slices.Sorted(maps.Keys(f.chips[test])) {
		x := f.chips[test][chip]
		line := plain.Label(chip) + ": "
		switch {
		case x.weak > 0:
			line += fmt.Sprintf("seen %s of %d", plain.Count(x.weak, "time"), x.instances)
		case x.instances > 0:
			line += fmt.Sprintf("never seen in %d", x.instances)
		case x.refused != "":
			line += "not run: " + plain.Label(x.refused)
		default:
			line += "no run ended well"
		}
		if x.says != "" {
			line += "; the model: " + plain.Label(x.says)
		}
		out = append(out, line)
	}
	return out
}
