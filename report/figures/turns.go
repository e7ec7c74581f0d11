package figures

import (
	"cmp"
	"fmt"
	"maps"
	"math"
	"slices"
	"strconv"
	"strings"
)

// turnTests are the tests of which two runners were measured in turn, as the page calls them.
var turnTests = [][2]string{
	{"IRIW+fence.acq_rel.ctas+all-rlx.gpu-p0::p1::p2::p3-xgyg", "IRIW, CTA fences, four CTAs"},
	{"IRIW+fence.acq_rel.ctas+all-rlx.gpu-p0:p1::p2::p3-xgyg", "IRIW, CTA fences, T0 and T1 in a CTA"},
	{"WRC+fence.acq_rel.ctas+all-rlx.gpu-p0::p1::p2-xgyg", "WRC, CTA fences, three CTAs"},
	{"WRC+fence.acq_rel.ctas+all-rlx.gpu-p0:p1::p2-xgyg", "WRC, CTA fences, T0 and T1 in a CTA"},
	{"ISA2+fence.acq_rel.ctas+all-rlx.gpu-p0::p1:p2-xgygzg", "ISA2, CTA fences, T1 and T2 in a CTA"},
	{"ISA2+fence.acq_rel.ctas+all-rlx.gpu-p0::p1::p2-xgygzg", "ISA2, CTA fences, three CTAs"},
	{"mp", "mp"}, {"lb", "lb"}, {"sb-inter", "sb-inter"},
}

// turned is how many weak outcomes were seen in how many seconds: by runner and test, setting, and turn.
func (t Tree) turned() (map[string]map[string]map[string][2]float64, error) {
	counts := map[string]map[string]map[string][2]float64{}
	return counts, t.rows(h200+"adaptive/turns.tsv.gz", 8, func(x []string) error {
		weak, seconds, err := two(x[4], x[6])
		if err != nil {
			return err
		}
		k := x[0] + " " + x[2]
		if counts[k] == nil {
			counts[k] = map[string]map[string][2]float64{}
		}
		if counts[k][x[3]] == nil {
			counts[k][x[3]] = map[string][2]float64{}
		}
		counts[k][x[3]][x[1]] = [2]float64{weak, seconds}
		return nil
	})
}

// turns is the rate of weak outcomes a second of each runner, and the ratios.
func turns(t Tree) ([]string, error) {
	counts, err := t.turned()
	if err != nil {
		return nil, err
	}
	rows := []string{"| weak outcomes a second | before | by | after | by | ratio | before, by `none` with 32 warps | ratio |", "|---|---|---|---|---|---|---|---|"}
	for _, x := range turnTests {
		for _, runner := range []string{"before ", "after ", "before, 32 warps "} {
			if counts[runner+x[0]] == nil {
				return nil, fmt.Errorf("no %sof %s", runner, x[0])
			}
		}
		old, by := chosen(counts["before "+x[0]])
		now, nowBy := chosen(counts["after "+x[0]])
		warps, _ := chosen(counts["before, 32 warps "+x[0]])
		rows = append(rows, row(x[1], second(old), by, second(now), nowBy, ratio(now, old), second(warps), ratio(now, warps)))
	}
	return rows, nil
}

// chosen is the rate of the setting that one of two turns chooses, measured in the other: the mean of both, and the
// settings chosen, – where nothing was seen.
func chosen(settings map[string]map[string][2]float64) (sum float64, by string) {
	rate := func(setting, turn string) float64 { return settings[setting][turn][0] / settings[setting][turn][1] }
	var names []string
	for _, turn := range [][2]string{{"1", "2"}, {"2", "1"}} {
		best := slices.MaxFunc(slices.Sorted(maps.Keys(settings)), func(a, b string) int {
			return cmp.Compare(rate(a, turn[0]), rate(b, turn[0]))
		})
		sum += rate(best, turn[1]) / 2
		names = append(names, best)
	}
	if sum == 0 {
		return 0, "–"
	}
	return sum, strings.Join(slices.Compact(names), ", ")
}

// turnSentences say what the page says of these counts beside the table.
func turnSentences(t Tree) ([]string, error) {
	counts, err := t.turned()
	if err != nil {
		return nil, err
	}
	both := func(runner, test, setting string) (weak, seconds float64) {
		for _, c := range counts[runner+" "+test][setting] {
			weak, seconds = weak+c[0], seconds+c[1]
		}
		return weak, seconds
	}
	kept := func(test string) float64 {
		now, of := both("after", test, "dense")
		old, ofOld := both("before", test, "none")
		return now / of / (old / ofOld)
	}
	rarest := math.Inf(1)
	for _, x := range turnTests[:5] {
		old, _ := chosen(counts["before "+x[0]])
		now, _ := chosen(counts["after "+x[0]])
		rarest = min(rarest, now/old)
	}
	iriw := turnTests[0][0]
	old, ofOld := both("before", iriw, "none")
	now, of := both("after", iriw, "march-far")
	return []string{
		fmt.Sprintf("are shown %.0f times as often and more", math.Floor(rarest/10)*10),
		fmt.Sprintf("`dense` shows %.2f, %.2f and %.2f of the old runner's `none`", kept("mp"), kept("sb-inter"), kept("lb")),
		fmt.Sprintf("%s a second are %.0f events of %.2f s, %s are %s of %.2f s", second(old/ofOld), old/32, ofOld, second(now/of), comma(fmt.Sprintf("%.0f", now/32)), of),
	}, nil
}

// second writes a rate a second with three digits.
func second(x float64) string {
	if x == 0 {
		return "0"
	}
	mantissa, exponent, _ := strings.Cut(fmt.Sprintf("%.2e", x), "e+")
	if n, _ := strconv.Atoi(exponent); n >= 6 {
		return fmt.Sprintf("%s·10^%d", mantissa, n)
	}
	rounded, _ := strconv.ParseFloat(fmt.Sprintf("%.2e", x), 64)
	return comma(fmt.Sprintf("%.0f", rounded))
}

// ratio writes how many times as large a rate is as another.
func ratio(x, of float64) string {
	switch r := x / of; {
	case of == 0:
		return "–"
	case r >= 1000:
		return second(r)
	case r >= 10:
		return fmt.Sprintf("%.0f", r)
	case r >= 2:
		return fmt.Sprintf("%.1f", r)
	default:
		return fmt.Sprintf("%.2f", r)
	}
}
