package figures

import (
	"fmt"
	"slices"
	"strings"

	"optcheck/event"
	"optcheck/internal/plain"
)

// Tables are the tables that pages show.
var Tables = []Table{
	{"docs/results/cuda.md", "classes", byLevel},
	{"docs/results/cuda.md", "changes", changes},
	{"docs/results/known.md", "known", knownAt},
	{"docs/results/nvptx.md", "classes", byLLVM},
	{"docs/results/generated.md", "dependencies", schemes},
	{"docs/results/opportunities.md", "strong-loads", strongLoads},
	{"docs/results/opportunities.md", "overtaken", overtaken},
	{h200 + "hardening.md", "hardening", hardening},
	{h200 + "README.md", "incantations", incantations},
	{h200 + "README.md", "banks", banks},
	{h200 + "README.md", "presets", presets},
	{h200 + "README.md", "divisions", divisions},
	{h200 + "README.md", "scores", scores},
	{h200 + "applications.md", "environments", environments("environments.jsonl.gz")},
	{h200 + "applications.md", "environments-strong", environments("environments-strong.jsonl.gz")},
	{h100 + "README.md", "divisions", twoForms},
	{h200 + "README.md", "published", published},
	{h200 + "README.md", "turns", turns},
	{h200 + "README.md", "stale", stale},
	{h200 + "applications.md", "faults", faults},
	{h200 + "applications.md", "sums", sums},
	{h200x2 + "README.md", "divided", divided},
	{h200x2 + "README.md", "located", located},
}

// Sentences are what pages say with numbers.
var Sentences = []Sentence{
	{"docs/results/cuda.md", matrixSizes(Quick, "**%s cells**", "the %s preserved cells")},
	{"docs/results/cuda.md", caseSentences},
	{"docs/results/known.md", knownSentence},
	{"docs/results/nvptx.md", matrixSizes(LLVM, "%s cells, none unknown", "")},
	{"docs/results/generated.md", matrixSizes(Depends, "%s dependencies, none unknown", "")},
	{"docs/results/opportunities.md", huntSentence},
	{"docs/results/hazards.md", chipSentences},
	{"docs/results/async.md", asyncSentences},
	{h200 + "README.md", corpusSentence},
	{h200 + "README.md", runSentences},
	{h200 + "README.md", speedSentences},
	{h200 + "README.md", levelSentences},
	{h200 + "README.md", firstSentences},
	{h200 + "README.md", publishedSentences},
	{h200 + "README.md", searchSentences},
	{h200 + "README.md", turnSentences},
	{h200 + "README.md", removedSentences},
	{h200 + "applications.md", idiomSentence},
	{h200 + "applications.md", fencedSentences},
	{h200 + "applications.md", orderSentences},
	{h100 + "README.md", signatureSentence},
	{h100 + "README.md", scoreSentence},
	{h200x2 + "README.md", apartSentences},
}

// matrixSizes says how many cells a matrix has, and how many are preserved. It is an error if any is unknown.
func matrixSizes(file, cells, preserved string) func(Tree) ([]string, error) {
	return func(t Tree) ([]string, error) {
		m, err := t.matrix(file)
		if err != nil {
			return nil, err
		}
		n := m.count(func(_ Place, f string) string { return class(f) })
		if n[event.Unknown] > 0 {
			return nil, fmt.Errorf("%s: %d cells are unknown", file, n[event.Unknown])
		}
		say := []string{fmt.Sprintf(cells, plain.Number(len(m)))}
		if preserved != "" {
			say = append(say, fmt.Sprintf(preserved, plain.Number(n[event.Preserved])))
		}
		return say, nil
	}
}

// caseSentences says how many cells the cases of the page have.
func caseSentences(t Tree) ([]string, error) {
	m, err := t.matrix(Quick)
	if err != nil {
		return nil, err
	}
	cells, tests := map[string]int{}, map[string]map[string]bool{}
	for p, f := range m {
		words := strings.Fields(f)
		if len(words) < 2 {
			continue
		}
		keys := []string{words[0] + " " + strings.Split(words[1], "+")[0], words[0] + " " + words[len(words)-1]}
		if slices.Contains(words, newUnderSC) {
			keys = append(keys, newUnderSC)
		}
		for _, k := range keys {
			if cells[k]++; tests[k] == nil {
				tests[k] = map[string]bool{}
			}
			tests[k][p.Test] = true
		}
	}
	const weakened = " fence-weakened"
	bad, fine := cells[event.Miscompiled+weakened], cells[event.Optimised+weakened]
	return []string{
		fmt.Sprintf("in %s cells the compiled program can show a weak outcome", plain.Number(cells[newUnderSC])),
		fmt.Sprintf("%d cells of %d tests: the", bad, len(tests[event.Miscompiled+weakened])),
		fmt.Sprintf("harmless in %s other cells", plain.Number(fine)),
		fmt.Sprintf("%s cells break `fence-weakened`, %d of them matter", plain.Number(bad+fine), bad),
		fmt.Sprintf("(`merged`, %s cells,", plain.Number(cells[event.Optimised+" merged"])),
		fmt.Sprintf("(coWW, %d cells)", cells[event.Optimised+" known:weak-dead-store"]),
	}, nil
}

// knownSentence says how many cells of the matrix at O3 are of each class, and how many with findings are new.
func knownSentence(t Tree) ([]string, error) {
	m, err := t.matrix(Quick)
	if err != nil {
		return nil, err
	}
	n := m.count(func(p Place, f string) string {
		if p.Level != "O3" {
			return ""
		}
		return class(f)
	})
	fresh, all := 0, 0
	for p, f := range m {
		if p.Level == "O3" {
			all++
			if strings.HasSuffix(f, " new") {
				fresh++
			}
		}
	}
	found := n[event.Optimised] + n[event.Miscompiled]
	return []string{
		fmt.Sprintf("%s cells, of which %s preserved, %s optimised, %s miscompiled, %s unsupported, none unknown", plain.Number(all),
			plain.Number(n[event.Preserved]), plain.Number(n[event.Optimised]), plain.Number(n[event.Miscompiled]), plain.Number(n[event.Unsupported])),
		fmt.Sprintf("Of the %s cells with findings **%s new**", plain.Number(found), map[bool]string{true: "none is", false: fmt.Sprint(fresh, " are")}[fresh == 0]),
	}, nil
}

// huntSentence says what the hunt on the H200's machine did, and what it could not decide.
func huntSentence(t Tree) ([]string, error) {
	text, err := t.text(h200 + "opportunities/hunt.txt.gz")
	if err != nil {
		return nil, err
	}
	n, err := find(text, `seed 1: (\d+) tests, (\d+) cells; (\d+) new signatures`)
	if err != nil {
		return nil, err
	}
	open, err := find(text, `NOT DECIDED: (\d+) cells`)
	if err != nil {
		return nil, err
	}
	bad, free, wide := 0, 0, 0
	for _, part := range strings.Split(text, "\n\n") {
		if !strings.Contains(part, "MISCOMPILED") {
			continue
		}
		bad++
		head, rest, _ := strings.Cut(part, "\n")
		if strings.Contains(head, "race-free") {
			free++
		}
		if strings.Contains(rest, "width-changed") {
			wide++
		}
	}
	return []string{
		fmt.Sprintf("%s tests, %s cells, %s new signatures, %d of them miscompiled, %d of these race-free", comma(n[0]), comma(n[1]), n[2], bad, free),
		fmt.Sprintf("%s of the cells could not be decided", comma(open[0])),
		fmt.Sprintf("%d have accesses that became wider", wide),
		fmt.Sprintf("the other %d are merged or reordered loads", bad-wide),
	}, nil
}

// comma groups the digits of a number that a file writes without.
func comma(digits string) string {
	for i := len(digits) - 3; i > 0; i -= 3 {
		digits = digits[:i] + "," + digits[i:]
	}
	return digits
}

// corpusSentence says what ran of the corpus on the H200: the instances of the run with three settings, and of all.
func corpusSentence(t Tree) ([]string, error) {
	name := h200 + "corpus.jsonl.gz"
	f, err := t.open(name)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	var runs []map[string]uint64 // by test and setting
	tests, refused, least := map[string]bool{}, map[string]int{}, ^uint64(0)
	err = event.Read(name, f, func(e event.Event) error {
		h := e.Histogram
		switch {
		case e.Config != nil:
			runs = append(runs, map[string]uint64{})
		case h == nil:
		case h.Instances > 0:
			runs[len(runs)-1][h.Test+" "+h.Setting] = h.Instances
			if len(runs) == 1 {
				tests[h.Test], least = true, min(least, h.Instances)
			}
		case len(runs) == 1:
			why, _, _ := strings.Cut(h.Detail, ":")
			refused[why]++
		}
		return nil
	})
	if err != nil {
		return nil, err
	}
	sum := func(runs []map[string]uint64) (n uint64) {
		for _, r := range runs {
			for _, k := range r {
				n += k
			}
		}
		return n
	}
	text, err := t.text(h200 + "report.txt.gz")
	if err != nil {
		return nil, err
	}
	took, err := find(text, `(?m)^== corpus: (\d+) s, status 0$`)
	if err != nil {
		return nil, err
	}
	if least < 1e8 || slices.Max([]int{len(tests), 1}) == 1 {
		return nil, fmt.Errorf("%s: %d tests, and %d instances of one", name, len(tests), least)
	}
	return []string{
		fmt.Sprintf("%d of %d tests ran (%d refused as changed by the compiler, %d unsupported)", len(tests),
			len(tests)+refused["changed"]+refused["unsupported"], refused["changed"], refused["unsupported"]),
		fmt.Sprintf("%s·10^10 in %s s with compiling and checking (all five runs: %s·10^10)", tens(sum(runs[:1])), took[0], tens(sum(runs))),
	}, nil
}

// tens writes a number of instances in units of 10^10.
func tens(n uint64) string { return fmt.Sprintf("%.1f", float64(n)/1e10) }
