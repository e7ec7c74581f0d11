package figures

import (
	"cmp"
	"fmt"
	"maps"
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

// turns is the rate of weak outcomes a second of each runner, and the ratios.
func turns(t Tree) ([]string, error) {
	rates := map[string]map[string]map[string]float64{} // runner and test, setting, turn
	first := true
	err := t.lines(h200+"adaptive/turns.tsv.gz", func(line []byte) error {
		x := strings.Split(string(line), "\t")
		if len(x) != 8 {
			return fmt.Errorf("%d columns, expected 8", len(x))
		}
		if first {
			first = false
			return nil
		}
		weak, err := strconv.ParseFloat(x[4], 64)
		if err != nil {
			return err
		}
		seconds, err := strconv.ParseFloat(x[6], 64)
		if err != nil {
			return err
		}
		k := x[0] + " " + x[2]
		if rates[k] == nil {
			rates[k] = map[string]map[string]float64{}
		}
		if rates[k][x[3]] == nil {
			rates[k][x[3]] = map[string]float64{}
		}
		rates[k][x[3]][x[1]] = weak / seconds
		return nil
	})
	if err != nil {
		return nil, err
	}
	rows := []string{"| weak outcomes a second | before | by | after | by | ratio | before, by `none` with 32 warps | ratio |", "|---|---|---|---|---|---|---|---|"}
	for _, x := range turnTests {
		for _, runner := range []string{"before ", "after ", "before, 32 warps "} {
			if rates[runner+x[0]] == nil {
				return nil, fmt.Errorf("no %sof %s", runner, x[0])
			}
		}
		old, by := chosen(rates["before "+x[0]])
		now, nowBy := chosen(rates["after "+x[0]])
		warps, _ := chosen(rates["before, 32 warps "+x[0]])
		rows = append(rows, row(x[1], second(old), by, second(now), nowBy, ratio(now, old), second(warps), ratio(now, warps)))
	}
	return rows, nil
}

// chosen is the rate of the setting that one of two turns chooses, measured in the other: the mean of both, and the
// settings chosen, – where nothing was seen.
func chosen(settings map[string]map[string]float64) (sum float64, by string) {
	var names []string
	for _, turn := range [][2]string{{"1", "2"}, {"2", "1"}} {
		best := slices.MaxFunc(slices.Sorted(maps.Keys(settings)), func(a, b string) int {
			return cmp.Compare(settings[a][turn[0]], settings[b][turn[0]])
		})
		sum += settings[best][turn[1]] / 2
		names = append(names, best)
	}
	if sum == 0 {
		return 0, "–"
	}
	return sum, strings.Join(slices.Compact(names), ", ")
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
