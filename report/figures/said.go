package figures

import (
	"fmt"
	"strings"

	"optcheck/internal/plain"
)

// runSentences says how much of several presets ran on the H200.
func runSentences(t Tree) ([]string, error) {
	all := map[string]*ran{}
	for _, name := range []string{"paper", "ptx", "strong", "strong-control", "neighbours/loops-13.0.88"} {
		r, err := t.ran(h200 + name + ".jsonl.gz")
		if err != nil {
			return nil, err
		}
		all[name] = r
	}
	paper, ptx, loops := all["paper"], all["ptx"], all["neighbours/loops-13.0.88"]
	text, err := t.text(h200 + "neighbours/run.txt.gz")
	if err != nil {
		return nil, err
	}
	says, err := find(text, `ptx +allowed (\d+)/74, forbidden (\d+)/(\d+)`)
	if err != nil {
		return nil, err
	}
	return []string{
		fmt.Sprintf("%s and %s tests, of which %d and %d were refused because the compiler changed them and %d of `ptx` are unsupported",
			plain.Number(len(paper.tests)+len(paper.refused)+paper.unsupported), plain.Number(len(ptx.tests)+len(ptx.refused)+ptx.unsupported),
			len(paper.refused), len(ptx.refused), ptx.unsupported),
		fmt.Sprintf("%s runs of at least %s instances each, %.1f·10^9 in all, none failed", plain.Number(paper.runs+ptx.runs),
			plain.Number(min(paper.leastRun, ptx.leastRun)), float64(paper.instances+ptx.instances)/1e9),
		fmt.Sprintf("%d tests that `ptx` allows and `ptx-strong` forbids, and %d that both allow", len(all["strong"].tests), len(all["strong-control"].tests)),
		fmt.Sprintf("at least %.1f·10^8 and %d·10^6 instances each; %d and %d were weak", float64(all["strong"].least)/1e8,
			all["strong-control"].least/1e6, len(all["strong"].weak), len(all["strong-control"].weak)),
		fmt.Sprintf("the %d tests of preset", len(loops.tests)+len(loops.refused)),
		fmt.Sprintf("at least %d·10^6 instances each: %d kernels are the test, %d are changed and were not run; %s runs, none failed",
			loops.leastRun/1e6, len(loops.tests), len(loops.refused), plain.Number(loops.runs)),
		fmt.Sprintf("Of 154 conditions that `ptx` allows %s were seen, of %s that it forbids %s", says[0], says[2], map[string]string{"0": "none"}[says[1]]),
	}, nil
}

// idiomSentence says how often the idioms of locks and deques were weak in all runs of the corpus.
func idiomSentence(t Tree) ([]string, error) {
	hs, err := t.histograms(h200 + "corpus.jsonl.gz")
	if err != nil {
		return nil, err
	}
	weak, instances := map[string]uint64{}, map[string]uint64{}
	for _, h := range hs {
		weak[h.Test] += h.Weak
		instances[h.Test] += h.Instances
	}
	var say []string
	for _, form := range []string{"`dlb-lb` was weak %s times", "`cas-sl` %s", "`exch-sl` %s", "`sl-future` %s", "`dlb-mp` %s times"} {
		test := strings.Split(form, "`")[1]
		if instances[test] != instances["dlb-lb"] {
			return nil, fmt.Errorf("%s ran %d times, dlb-lb %d", test, instances[test], instances["dlb-lb"])
		}
		say = append(say, fmt.Sprintf(form, plain.Number(weak[test])))
	}
	return append(say, "of "+plain.Number(instances["dlb-lb"])+" instances each"), nil
}

// signatureSentence says what the hunt on the H100 found.
func signatureSentence(t Tree) ([]string, error) {
	text, err := t.text(h100 + "hunt.txt.gz")
	if err != nil {
		return nil, err
	}
	n, err := find(text, `seed 2026: (\d+) tests, (\d+) cells; (\d+) new signatures, (\d+) known`)
	if err != nil {
		return nil, err
	}
	bad := 0
	for _, line := range strings.Split(text, "\n") {
		if strings.HasPrefix(line, "MISCOMPILED") && strings.Contains(line, "race-free") {
			bad++
		}
	}
	return []string{
		fmt.Sprintf("%s tests, %s cells, %s new signatures beside %s known ones, of them %d miscompiled and race-free", comma(n[0]), comma(n[1]), n[2], n[3], bad),
	}, nil
}

// scoreSentence says how many mutants each contender had in the score that an H100 gave them.
func scoreSentence(t Tree) ([]string, error) {
	text, err := t.text(h100 + "score.txt.gz")
	if err != nil {
		return nil, err
	}
	rows := map[string][]string{}
	for _, name := range []string{"fast", "permuted", "hunt"} {
		if rows[name], err = find(text, `(?m)^`+name+` +[\d.]+ % +(\d+) +(\d+) +[-\d.]+ +([\d.]+) `); err != nil {
			return nil, err
		}
	}
	fast, permuted, adaptive := rows["fast"], rows["permuted"], rows["hunt"]
	return []string{
		fmt.Sprintf("%s (fast), %s (permuted) of %s mutants", fast[0], permuted[0], fast[1]),
		fmt.Sprintf("has %s after %s s", adaptive[0], adaptive[2]),
		fmt.Sprintf("%s s, %s s and %s s are", fast[2], permuted[2], adaptive[2]),
	}, nil
}
