package figures

import (
	"fmt"
	"math"

	"optcheck/event"
	"optcheck/internal/plain"
)

const asyncRuns = "docs/results/h200/async/"

// askedRuns sums up what runs showed of tests whose condition one model judges.
type askedRuns struct {
	tests                    int    // that are validated and ran
	instances, least         uint64 // of all; of the test with the fewest
	forbiddenSeen, forbidden int    // tests whose condition the model forbids
	allowedSeen, allowed     int
	enough                   int // tests with 10^8 instances
	forbiddenOutcomes        int
}

// asked reads the runs of a stored stream.
func (t Tree) asked(name, model string) (r askedRuns, err error) {
	hs, err := t.histograms(asyncRuns + name)
	type test struct {
		n, seen uint64
		says    string
	}
	tests := map[string]*test{}
	for _, h := range hs {
		if h.Status != event.StatusDone || !h.Validated || h.Instances == 0 {
			continue
		}
		x := tests[h.Test]
		if x == nil {
			x = &test{}
			tests[h.Test] = x
		}
		x.n += h.Instances
		x.seen += h.Weak
		for m := range h.Models {
			if h.Models[m] != model {
				continue
			}
			x.says = h.Says[m]
			for _, o := range h.Outcomes {
				if o.Says[m] == "forbidden" {
					r.forbiddenOutcomes++
				}
			}
		}
	}
	r.tests, r.least = len(tests), math.MaxUint64
	for _, x := range tests {
		r.instances += x.n
		r.least = min(r.least, x.n)
		if x.n >= 1e8 {
			r.enough++
		}
		switch {
		case x.says == "forbidden" && x.seen > 0:
			r.forbiddenSeen++
		case x.says == "forbidden":
			r.forbidden++
		case x.says == "allowed" && x.seen > 0:
			r.allowedSeen++
		case x.says == "allowed":
			r.allowed++
		}
	}
	return r, err
}

// asyncSentences say what an H200 showed of the asynchronous corpus and of narrowed flags.
func asyncSentences(t Tree) ([]string, error) {
	var runs [3]askedRuns
	for i, name := range []string{"corpus", "adaptive", "narrow"} {
		r, err := t.asked(name+".jsonl.gz", "ptx-async")
		if err != nil {
			return nil, err
		}
		if runs[i] = r; r.forbiddenOutcomes > 0 {
			return nil, fmt.Errorf("%s: %d forbidden outcomes, and the page says that there are none", name, r.forbiddenOutcomes)
		}
	}
	corpus, adaptive, narrow := runs[0], runs[1], runs[2]
	line := func(how string, r askedRuns) string {
		return row(how, r.tests, plain.Number(int(r.instances)), r.forbiddenSeen, r.forbidden, r.allowedSeen, r.allowed)
	}
	return []string{
		line("two settings", corpus), line("adaptive", adaptive),
		fmt.Sprintf("each of the %d tests ran in at least %s instances", corpus.tests, plain.Number(int(corpus.least))),
		fmt.Sprintf("%d of them ran, all validated, %d in at least 10^8 instances, %s in all", narrow.tests, narrow.enough,
			plain.Number(int(narrow.instances))),
		fmt.Sprintf("neither the %d that `ptx-async` forbids, nor the %d that it allows", narrow.forbidden, narrow.allowed),
	}, nil
}
