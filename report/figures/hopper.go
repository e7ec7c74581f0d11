package figures

import (
	"encoding/json"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"

	"optcheck/event"
	"optcheck/internal/plain"
)

// rows reads a table of columns with tabs in between, without its head.
func (t Tree) rows(name string, columns int, f func(x []string) error) error {
	head := true
	return t.lines(name, func(line []byte) error {
		x := strings.Split(string(line), "\t")
		switch {
		case len(x) != columns:
			return fmt.Errorf("%d columns, expected %d", len(x), columns)
		case head:
			head = false
			return nil
		}
		return f(x)
	})
}

// speedSentences say how many instances and weak outcomes a second has.
func speedSentences(t Tree) ([]string, error) {
	many, one, weak, by := map[string]float64{}, map[string]float64{}, map[string]float64{}, map[string]string{}
	err := t.lines(h200+"bench.jsonl.gz", func(line []byte) error {
		var x struct {
			Test, What, Setting string
			Instances           float64 `json:"instances_per_second"`
			Weak                float64 `json:"weak_per_second"`
			Tuning              struct{ Instances int }
		}
		if err := json.Unmarshal(line, &x); err != nil {
			return err
		}
		switch x.What {
		case "many instances per launch":
			many[x.Test] = x.Instances
		case "weak outcomes":
			if x.Weak > weak[x.Test] {
				weak[x.Test], by[x.Test] = x.Weak, fmt.Sprint(x.Setting, " ", x.Tuning.Instances>>20)
			}
		default:
			one[x.What] = x.Instances
		}
		return nil
	})
	for test, setting := range by {
		if setting != "none 4" && err == nil {
			err = fmt.Errorf("%s is weak most often by %s Mi instances", test, setting)
		}
	}
	counted, copied := one["one instance per launch, counted on the device"], one["one instance per launch, results copied back"]
	return []string{
		fmt.Sprintf("mp %s instances per second, sb %s, lb %s.", digits2(many["mp"]), digits2(many["sb-inter"]), digits2(many["lb"])),
		fmt.Sprintf("%s/s counted on the device (mp is %s times faster with many instances), %s/s", digits2(counted),
			plain.Number(int(math.Round(many["mp"]/counted/1e4))*1e4), digits2(copied)),
		fmt.Sprintf("mp %s, sb %s, lb %s.", digits2(weak["mp"]), digits2(weak["sb-inter"]), digits2(weak["lb"])),
	}, err
}

// two are two numbers of a row.
func two(a, b string) (x, y float64, err error) {
	if x, err = strconv.ParseFloat(a, 64); err == nil {
		y, err = strconv.ParseFloat(b, 64)
	}
	return x, y, err
}

// digits2 writes a number with two digits and a power of ten.
func digits2(x float64) string {
	mantissa, exponent, _ := strings.Cut(fmt.Sprintf("%.1e", x), "e+")
	n, _ := strconv.Atoi(exponent)
	return fmt.Sprintf("%s·10^%d", mantissa, n)
}

// levelSentences say what ran of the corpus at all levels, and what was seen of what the model allows.
func levelSentences(t Tree) ([]string, error) {
	hs, err := t.histograms(h200 + "levels.jsonl.gz")
	if err != nil {
		return nil, err
	}
	done, binaries := 0, len(hs)
	for _, h := range hs {
		if h.Status == event.StatusDone && h.Validated {
			done++
		}
	}
	if hs, err = t.histograms(h200 + "corpus.jsonl.gz"); err != nil {
		return nil, err
	}
	allowed, seen := map[string]bool{}, map[string]bool{}
	for _, h := range hs {
		if h.Instances > 0 && h.Says[0] == "allowed" {
			if allowed[h.Test] = true; h.Weak > 0 {
				seen[h.Test] = true
			}
		}
	}
	return []string{
		fmt.Sprintf("%d of %d binaries validated and run, none failed", done, binaries),
		fmt.Sprintf("Of the %d tests whose condition `ptx` allows, %d were seen", len(allowed), len(seen)),
	}, nil
}

// firstSentences say when the outcomes of the preset divisions were seen first.
func firstSentences(t Tree) ([]string, error) {
	text, err := t.text(h200 + "divisions/until95.txt.gz")
	if err != nil {
		return nil, err
	}
	n, err := find(text, `(\d+) outcomes seen first: half of them in ([\d.]+) s, nine tenths in ([\d.]+) s, all in ([\d.]+) s`)
	if err != nil {
		return nil, err
	}
	full := func(s string) int { x, _ := strconv.ParseFloat(s, 64); return int(math.Ceil(x)) }
	return []string{
		fmt.Sprintf("Half of the %s were seen within %d s, nine tenths within %d s, the last after %d s.", n[0], full(n[1]), full(n[2]), full(n[3])),
	}, nil
}

// publishedSentences say how soon the runs against a published list saw what others have seen.
func publishedSentences(t Tree) ([]string, error) {
	var seen, known, forbidden [4]int
	var after [4][]float64
	tests, others, never, both := 0, 0, 0, 0
	by := map[string]int{}
	var all, unseen, missed [4]float64 // seconds of each run: of all tests, of those that nobody has seen, and of those that it did not see again
	err := t.rows(h200+"adaptive/published.tsv.gz", 24, func(x []string) error {
		weak := func(run int) bool { return x[6+5*run] != "0" && x[6+5*run] != "-" }
		tests++
		if x[2] == "forbidden" {
			never++
		}
		if x[3] == "seen" {
			if others++; weak(2) || weak(3) {
				both++
			}
		}
		for run := range seen {
			spent, err := strconv.ParseFloat(x[5+5*run], 64)
			if err != nil && x[5+5*run] != "-" {
				return err
			}
			all[run] += spent
			if x[3] != "seen" {
				unseen[run] += spent
			} else if !weak(run) {
				missed[run] += spent
			}
			if !weak(run) {
				continue
			}
			seen[run]++
			by[fmt.Sprint(run, " ", x[8+5*run])]++
			if x[2] == "forbidden" {
				forbidden[run]++
			}
			if x[3] == "seen" {
				known[run]++
				at, err := strconv.ParseFloat(x[7+5*run], 64)
				if err != nil {
					return err
				}
				after[run] = append(after[run], at)
			}
		}
		return nil
	})
	if forbidden != [4]int{} {
		return nil, fmt.Errorf("%v forbidden outcomes were seen", forbidden)
	}
	within := func(run int, seconds float64) (n int) {
		for _, at := range after[run] {
			if at <= seconds {
				n++
			}
		}
		return n
	}
	return []string{
		fmt.Sprintf("%s published tests", plain.Number(tests)),
		fmt.Sprintf("Of %d of them an allowed outcome has been seen", others),
		fmt.Sprintf("It saw %d outcomes: those %d, and the %d of the last column", seen[3], known[3], seen[3]-known[3]),
		fmt.Sprintf("Of the %d that `ptx` forbids none was seen in any run", never),
		fmt.Sprintf("**95 %% (%d) is not reached.**", (others*95+50)/100),
		fmt.Sprintf("%d of the %d were seen after 30 s, %d after 60 s (the second run had %d and %d), %d after 120 s; the last 170 s gave %s",
			within(3, 30), others, within(3, 60), within(1, 30), within(1, 60), within(3, 120), map[int]string{10: "ten"}[known[3]-within(3, 120)]),
		fmt.Sprintf("The third and fourth run together show %d.", both),
		fmt.Sprintf("`dense-wide`, the best of its settings (%d outcomes first)", by["2 dense-wide"]),
		fmt.Sprintf("`march-far` (%d) and `sys-str+` (%d) showed nine tenths of all", by["3 march-far"], by["3 sys-str+"]),
		fmt.Sprintf("Its tests had %.0f s of the fourth run.", all[3]),
		fmt.Sprintf("%.0f s of it went to tests of which nobody has seen the outcome", unseen[1]),
		fmt.Sprintf("What is missing, %d: the tests of these had %.0f s of the fourth run, and %.0f s went to tests that nobody has seen.",
			others-known[3], missed[3], unseen[3]),
	}, err
}

// staleTests are the tests of the table of stale values, by its columns; staleRows its rows and their settings.
var (
	staleTests = []string{turnTests[0][0], turnTests[1][0], turnTests[2][0], turnTests[3][0]}
	staleRows  = [][2]string{
		{"fast, 8 warps, those of an instance beside each other (`dense`)", "fast none instances=4194304"},
		{"32 warps", "fast none instances=4194304,warps=32"},
		{"8 warps, those of an instance 9 apart, idle ones between", "fast stress near=1,instances=4194304,stress-every=9,stress-rounds=0,stress-own=1,stress-line=128"},
		{"8 warps, 9 apart, stress between at the test's own locations", "fast stress near=1,instances=4194304,stress-every=9,stress-rounds=5,stress-own=1,stress-line=128"},
		{"the same, 17 apart", "fast stress near=1,instances=4194304,stress-every=17,stress-rounds=5,stress-own=1,stress-line=128"},
		{"the same, 33 apart", "fast stress near=1,instances=4194304,stress-every=33,stress-rounds=5,stress-own=1,stress-line=128"},
		{"32 warps, 9 apart, idle ones between", "fast stress near=1,instances=4194304,stress-every=9,stress-rounds=0,stress-own=1,stress-line=128,warps=32"},
		{"32 warps, 9 apart, stress between", "fast stress near=1,instances=4194304,stress-every=9,stress-rounds=5,stress-own=1,stress-line=128,warps=32"},
		{"**32 warps, 17 apart, stress between** (`march-stress`)", "fast stress near=1,instances=4194304,stress-every=17,stress-rounds=5,stress-own=1,stress-line=128,warps=32"},
		{"permuted, 8 warps, lanes on one line", "permuted random near=1,launches=8,instances=4194304,scatter=0,stride=4,warps=8"},
		{"the same, all of a CTA play the roles in one order (`roles-march`)", "permuted random near=1,launches=8,instances=4194304,warps=8,scatter=0,stride=4,order-shift=8"},
		{"permuted, lanes on many lines (stride 8, `scatter=30`)", "permuted random near=1,launches=8,instances=4194304,scatter=30,stride=8,warps=8"},
	}
)

// searched is the rate a second of weak outcomes in the search for settings, by setting and test; of two rounds it is the
// second's.
func (t Tree) searched() (map[string]map[string]float64, error) {
	rates := map[string]map[string]float64{}
	return rates, t.rows(h200+"adaptive/search.tsv.gz", 9, func(x []string) error {
		weak, seconds, err := two(x[5], x[8])
		if err != nil {
			return err
		}
		k := strings.Join(x[2:5], " ")
		if rates[k] == nil {
			rates[k] = map[string]float64{}
		}
		rates[k][x[1]] = weak / seconds
		return nil
	})
}

func stale(t Tree) ([]string, error) {
	rates, err := t.searched()
	if err != nil {
		return nil, err
	}
	rows := []string{"| form, CTAs | IRIW, four CTAs | IRIW, T0 and T1 | WRC, three CTAs | WRC, T0 and T1 |", "|---|---:|---:|---:|---:|"}
	for _, r := range staleRows {
		cells := []any{r[0]}
		for _, test := range staleTests {
			x, ok := rates[r[1]][test]
			if !ok {
				return nil, fmt.Errorf("no rate of %s with %s", test, r[1])
			}
			cells = append(cells, second(x))
		}
		rows = append(rows, row(cells...))
	}
	return rows, nil
}

// searchSentences say what the search was of.
func searchSentences(t Tree) ([]string, error) {
	rates, err := t.searched()
	if err != nil {
		return nil, err
	}
	of := func(instances string) string {
		return second(rates["fast stress near=1,instances="+instances+",stress-every=9,stress-rounds=5,stress-own=1,stress-line=128"][staleTests[0]])
	}
	best := func(test string) string {
		most := 0.0
		for _, by := range rates {
			most = max(most, by[test])
		}
		return second(most)
	}
	return []string{
		fmt.Sprintf("show IRIW with an acquire at one reader %s times a second, and WWC %s times", best("IRIW 6cb0777d054a0f0f0c345b27e9e8e237"), best("WWC a56077af4cdd9c211511420e5105cf79")),
		fmt.Sprintf("`adaptive/search.tsv.gz`: %d settings in two rounds", len(rates)),
		fmt.Sprintf("(8 warps, 9 apart: IRIW %s with 2^21, %s with 2^24)", of("2097152"), of("16777216")),
	}, nil
}

// removedSentences say what the experiments with instructions that were removed showed.
func removedSentences(t Tree) ([]string, error) {
	text, err := t.text(h200 + "patch/patch.txt.gz")
	if err != nil {
		return nil, err
	}
	all, seen := 0, 0
	for _, part := range strings.Split(text, "== ")[1:] {
		all++
		if slices.ContainsFunc(strings.Split(part, "\n"), func(l string) bool {
			return strings.Contains(l, "/s): ") && !strings.Contains(l, ": never")
		}) {
			seen++
		}
	}
	return []string{
		fmt.Sprintf("the %d experiments of the", all),
		fmt.Sprintf("%d with the outcome, 0 in 10^8 in all others", seen),
	}, nil
}
