package figures

import (
	"fmt"
	"slices"
	"strings"

	"optcheck/internal/plain"
)

const h200x2 = "docs/results/h200x2/"

// divided is a row for each run on two devices: its tests, runs and instances, and what was seen of what the model allows
// and forbids.
func divided(t Tree) ([]string, error) {
	rows := []string{"| | divided tests | runs | instances | `ptx` allows: seen | forbids: seen |", "|---|---|---|---|---|---|"}
	for _, f := range [][2]string{{"corpus", "[corpus](corpus.md)"}, {"corpus-none", "corpus, fixed places"},
		{"ptx", "preset `ptx`, as far as 2 minutes reach"}, {"scopes", "preset `scopes`"}} {
		hs, err := t.histograms(h200x2 + f[0] + ".jsonl.gz")
		if err != nil {
			return nil, err
		}
		all, seen := map[string]map[string]bool{}, map[string]map[string]bool{}
		tests, runs, instances := map[string]bool{}, 0, uint64(0)
		for _, h := range hs {
			if h.Instances == 0 {
				continue
			}
			runs++
			instances += h.Instances
			tests[h.Test] = true
			put(all, h.Says[0], h.Test)
			if h.Weak > 0 {
				put(seen, h.Says[0], h.Test)
			}
		}
		of := func(says string) string {
			return plain.Number(len(seen[says])) + " of " + plain.Number(len(all[says]))
		}
		rows = append(rows, row(f[1], len(tests), runs, digits2(float64(instances)), of("allowed"), of("forbidden")))
	}
	return rows, nil
}

// located is the rate of tests by the devices of their two locations.
func located(t Tree) ([]string, error) {
	hs, err := t.histograms(h200x2 + "corpus.jsonl.gz")
	if err != nil {
		return nil, err
	}
	at := map[string]string{}
	for _, h := range hs {
		if p := h.Placement; p != nil {
			at[fmt.Sprint(strings.TrimSuffix(h.Test, "@01"), p.Locations["x"], p.Locations["y"])] = rate(h.Weak, h.Instances)
		}
	}
	rows := []string{"| test | both on 0 | x on 0, y on 1 | x on 1, y on 0 | both on 1 |", "|---|---|---|---|---|"}
	for _, test := range []string{"mp+relaxed.syss", "mp+relaxed.gpus", "mp+release.cta+acquire.cta-inter", "sb-inter", "sb-inter+membar.gls",
		"sb+fence.sc.syss", "lb", "mp+fence.acq_rel.gpus", "mp+release.gpu+acquire.gpu"} {
		cells := []any{test}
		for _, place := range []string{"0 0", "0 1", "1 0", "1 1"} {
			cells = append(cells, at[fmt.Sprint(test, place)])
		}
		rows = append(rows, row(cells...))
	}
	return rows, nil
}

// published is a row for each family of the tests that others have published: how many of those that were seen each of
// four runs saw, and what the last one saw first.
func published(t Tree) ([]string, error) {
	type sum struct {
		tests, allowed, known, fresh int
		seen                         [4]int
	}
	var order []string
	sums := map[string]*sum{}
	header := true
	err := t.lines(h200+"adaptive/published.tsv.gz", func(line []byte) error {
		x := strings.Split(string(line), "\t")
		if len(x) != 24 {
			return fmt.Errorf("%d columns, expected 24", len(x))
		}
		if header {
			header = false
			return nil
		}
		for _, name := range []string{x[1], "all"} {
			s := sums[name]
			if s == nil {
				s = &sum{}
				sums[name] = s
				if name != "all" {
					order = append(order, name)
				}
			}
			s.tests++
			if x[2] == "allowed" {
				s.allowed++
			}
			known := x[3] == "seen"
			if known {
				s.known++
			}
			for i := range s.seen {
				weak := x[6+5*i] != "0" && x[6+5*i] != "-"
				if weak && known {
					s.seen[i]++
				}
				if weak && !known && i == 3 {
					s.fresh++
				}
			}
		}
		return nil
	})
	if err != nil {
		return nil, err
	}
	rows := []string{"| family | tests | allowed | seen by others | of these first run | second | third | fourth | not seen on Hopper before, here in the fourth |",
		"|---|---|---|---|---|---|---|---|---|"}
	slices.Sort(order)
	for _, name := range append(order, "all") {
		s := sums[name]
		rows = append(rows, row(name, s.tests, s.allowed, s.known, s.seen[0], s.seen[1], s.seen[2], s.seen[3], s.fresh))
	}
	return rows, nil
}
