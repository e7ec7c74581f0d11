package figures

import (
	"fmt"
	"slices"
	"strings"

	"optcheck/event"
	"optcheck/internal/plain"
	"optcheck/report"
)

// placements is the page that optcheck report --format placements makes of the corpus on two devices.
func placements(t Tree) (string, error) {
	r := event.NewRun()
	f, err := t.open(h200x2 + "corpus.jsonl.gz")
	if err != nil {
		return "", err
	}
	defer f.Close()
	if err := event.Read("corpus.jsonl.gz", f, r.Handle); err != nil {
		return "", err
	}
	var b strings.Builder
	err = report.WritePlacements(&b, r)
	return b.String(), err
}

// apartSentences say what ran on two devices, which tests failed across them that one device keeps, and what a lock loses.
func apartSentences(t Tree) ([]string, error) {
	runs, unsupported := 0, 0
	var seen []string
	narrow, quiet := map[string]bool{}, map[string]bool{}
	var lock []uint64
	var instances uint64
	for _, name := range []string{"corpus", "corpus-none", "ptx", "scopes"} {
		hs, err := t.histograms(h200x2 + name + ".jsonl.gz")
		if err != nil {
			return nil, err
		}
		own := map[string]bool{}
		for _, h := range hs {
			if h.Instances > 0 {
				runs++
			}
			if h.Status == event.StatusUnsupported {
				unsupported++
			}
			if name == "corpus-none" || h.Placement == nil || h.Placement.OneDevice != "forbidden" || len(h.Says) == 0 || h.Says[0] != "allowed" {
				continue
			}
			if h.Weak > 0 {
				narrow[h.Hash], own[h.Hash] = true, true
			} else {
				quiet[h.Hash] = true
			}
			if h.Test == "ptx-lock+cas@01" && h.Weak > 0 {
				lock, instances = append(lock, h.Weak), h.Instances
			}
		}
		if len(own) > 0 {
			seen = append(seen, fmt.Sprint(len(own)))
		}
	}
	for h := range narrow {
		delete(quiet, h)
	}
	if len(seen) != 3 || len(lock) != 2 {
		return nil, fmt.Errorf("%d files with tests that fail across devices, %d placements of the lock", len(seen), len(lock))
	}
	slices.SortFunc(lock, func(a, b uint64) int { return int(b) - int(a) })
	return []string{
		fmt.Sprintf("in %s runs. %d runs of tests for three devices are `unsupported`", plain.Number(runs), unsupported),
		fmt.Sprintf("Of such tests %d were seen (%s of the corpus, %s of `ptx`, %s of `scopes`, some in two of them), %d were not", len(narrow), seen[0],
			seen[1], seen[2], len(quiet)),
		fmt.Sprintf("**%.2f %% of runs** (%s and %s of %s in the two placements", 100*float64(max(lock[0], lock[1]))/float64(instances),
			plain.Number(lock[0]), plain.Number(lock[1]), plain.Number(instances)),
	}, nil
}
