package report

import (
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"

	"optcheck/internal/plain"
)

// Issue is one of the ten issues that the study found (Alglave et al., GPU Concurrency,
// ASPLOS 2015, Tab. 2).
type Issue struct {
	Affected, Comment, Section string
	// Tests show the issue; Fenced are the same with fences that may or may not help.
	Tests, Fenced []string
	// Rule is what a compiler breaks where the issue is the compiler's; "" is the chip's.
	Rule string
}

// Issues are the issues of the study, in its order.
var Issues = []Issue{
	{"Fermi, Kepler", "coherence of load-load pairs", "3.1.1", []string{"coRR", "coRR-volatile", "coRR+relaxed.gpus"}, nil, ""},
	{"Fermi", "fences do not restore orderings of the L1 cache", "3.1.2", []string{"mp-L1", "coRR-L2-L1"},
		[]string{"mp-L1+membar.ctas", "mp-L1+membar.gls", "mp-L1+membar.syss", "coRR-L2-L1+membar.cta", "coRR-L2-L1+membar.gl",
			"coRR-L2-L1+membar.sys"}, ""},
	{"PTX ISA", "volatile accesses to shared memory are not in order", "3.1.2", []string{"mp-volatile"}, nil, ""},
	{"GPU Computing Gems", "a deque without fences skips items", "3.2.1", []string{"dlb-lb", "dlb-mp"}, []string{"dlb-lb+membar.gls",
		"dlb-mp+membar.gls"}, ""},
	{"CUDA by Example", "a lock without fences reads stale values", "3.2.2", []string{"cas-sl", "cl-cas-sl"},
		[]string{"cas-sl+membar.ctas", "cas-sl+membar.gls"}, ""},
	{"Stuart-Owens lock", "a lock without fences reads stale values", "3.2.2", []string{"exch-sl", "cl-exch-sl"},
		[]string{"exch-sl+membar.gls"}, ""},
	{"He-Yu lock", "a lock reads future values", "3.2.3", []string{"sl-future"}, []string{"sl-future+membar.gls"}, ""},
	{"CUDA 5.5", "the compiler reorders volatile loads", "4.4", []string{"coRR-volatile"}, nil, "reordered"},
	{"AMD GCN 1.0", "the compiler removes fences between loads", "3.1.2", []string{"cl-mp+mem_fences"}, nil, "fence-removed"},
	{"AMD TeraScale 2", "the compiler reorders load and compare-and-swap", "3.2.1", []string{"cl-dlb-lb"}, nil, "reordered"},
}

// WriteIssues says for each issue of the study what the releases and chips of runs do:
// of compilers the classes of cells and the rules that they break, of chips how often the
// outcome was seen, by validated binaries alone.
func WriteIssues(w io.Writer, runs []*Run) error {
	facts := newIssueFacts(runs)
	for i, x := range Issues {
		kind := "the chip's"
		if x.Rule != "" {
			kind = "the compiler's: " + x.Rule
		}
		if _, err := fmt.Fprintf(w, "%d. %s: %s (Sec. %s; %s)\n", i+1, x.Affected, x.Comment, x.Section, kind); err != nil {
			return err
		}
		n := 0
		for _, test := range append(slices.Clone(x.Tests), x.Fenced...) {
			for _, line := range facts.lines(test, x.Rule) {
				n++
				if _, err := fmt.Fprintf(w, "   %-24s %s\n", test, line); err != nil {
					return err
				}
			}
		}
		if n == 0 {
			if _, err := fmt.Fprintf(w, "   nothing is known of %s: no run has it\n", strings.Join(x.Tests, ", ")); err != nil {
				return err
			}
		}
	}
	return nil
}

// issueFacts are what runs say of the tests of the issues.
type issueFacts struct {
	cells map[string]map[string]*issueCells // by test and toolchain
	chips map[string]map[string]*issueChip  // by test and device
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

func newIssueFacts(runs []*Run) *issueFacts {
	f := &issueFacts{map[string]map[string]*issueCells{}, map[string]map[string]*issueChip{}}
	for _, x := range Issues {
		for _, t := range append(slices.Clone(x.Tests), x.Fenced...) {
			f.cells[t], f.chips[t] = map[string]*issueCells{}, map[string]*issueChip{}
		}
	}
	for _, r := range runs {
		for _, c := range r.All() {
			f.cell(c)
		}
		for i := range r.Histograms {
			f.histogram(&r.Histograms[i])
		}
	}
	return f
}

func (f *issueFacts) cell(c *Cell) {
	by := f.cells[c.Test]
	if by == nil || c.Class == Unsupported {
		return
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

func (f *issueFacts) histogram(h *Histogram) {
	by := f.chips[h.Test]
	if by == nil || h.Placement != nil {
		return
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
	case h.Status == StatusDone || h.Status == StatusInterrupted:
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
			parts = append(parts, fmt.Sprintf("%d %s", x.classes[c], label(c)))
		}
		line := fmt.Sprintf("%s: %s", label(tool), strings.Join(parts, ", "))
		for _, r := range slices.Sorted(maps.Keys(x.rules)) {
			if rule == "" || r == rule {
				line += fmt.Sprintf("; %s in %s (%s)", label(r), plain.Count(x.rules[r], "cell"),
					label(strings.Join(slices.Sorted(maps.Keys(x.targets[r])), " ")))
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
		line := label(chip) + ": "
		switch {
		case x.instances > 0 && x.weak > 0:
			line += fmt.Sprintf("seen %s of %d", plain.Count(x.weak, "time"), x.instances)
		case x.instances > 0:
			line += fmt.Sprintf("never seen in %d", x.instances)
		case x.refused != "":
			line += "not run: " + label(x.refused)
		default:
			line += "no run ended well"
		}
		if x.says != "" {
			line += "; the model: " + label(x.says)
		}
		out = append(out, line)
	}
	return out
}
