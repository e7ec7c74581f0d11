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
}

// Sentences are what pages say with numbers.
var Sentences = []Sentence{
	{"docs/results/cuda.md", matrixSizes(Quick, "**%s cells**", "the %s preserved cells")},
	{"docs/results/cuda.md", caseSentences},
	{"docs/results/known.md", knownSentence},
	{"docs/results/nvptx.md", matrixSizes(LLVM, "%s cells, none unknown", "")},
	{"docs/results/generated.md", matrixSizes(Depends, "%s dependencies, none unknown", "")},
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
