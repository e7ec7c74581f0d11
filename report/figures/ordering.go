package figures

import (
	"encoding/json"
	"fmt"
	"math"
	"slices"
	"strings"

	"optcheck/internal/plain"
)

// appRun is what a program did in an environment.
type appRun struct {
	Program, Environment string
	Stress               string
	Runs, Wrong          int
	Rate, Low, High      float64
	Effective            bool
}

func (r *appRun) String() string {
	s := percent(r.Rate) + " (" + percent(r.Low) + "–" + percent(r.High) + ")"
	if r.Effective {
		s = "**" + s + "**"
	}
	return s
}

// appRuns are those of a file.
func (t Tree) appRuns(file string) (list []appRun, err error) {
	return list, t.lines(h200+"applications/"+file, func(line []byte) error {
		var x struct {
			appRun         // of an older file
			Test   *appRun `json:"app_test"`
		}
		err := json.Unmarshal(line, &x)
		if x.Test == nil {
			x.Test = &x.appRun
		}
		if x.Test.Program != "" {
			list = append(list, *x.Test)
		}
		return err
	})
}

// planted are the variants that lack one fence, and which.
var planted = [][2]string{
	{"cbe-dot-lock", "before giving the lock back"}, {"cbe-dot-near-unlock", "after taking the lock"}, {"cbe-ht-lock", "before giving a lock back"},
	{"cbe-ht-unlock", "after taking a lock"}, {"ct-octree-push", "between a cell and the tail"}, {"tpo-tm-lock", "before giving a lock back"},
	{"cub-scan-np", "behind the tile's own sum"}, {"cub-scan-ni", "behind the sum up to the tile"}, {"ls-bh-nb", "between a subtree and the pointer to it"},
}

// faults is a row for each planted fault: wrong runs without stress, with that of few blocks, and with that of many.
func faults(t Tree) ([]string, error) {
	few, err := t.appRuns("faults.jsonl.gz")
	if err != nil {
		return nil, err
	}
	many, err := t.appRuns("strong.jsonl.gz")
	if err != nil {
		return nil, err
	}
	// first is the first run of a file in the environment, last the last one.
	first := func(list []appRun, program, environment string) string {
		i := slices.IndexFunc(list, func(r appRun) bool { return r.Program == program && r.Environment == environment })
		if i < 0 {
			return ""
		}
		return fmt.Sprintf("%v of %s", &list[i], plain.Number(list[i].Runs))
	}
	rows := []string{"| program | missing | no stress | few, `cache-str-` | many, `sys-str-` | `sys-str+` | `cache-str-` |", "|---|---|---|---|---|---|---|"}
	for _, p := range planted {
		strong := many
		if p[0] == "ls-bh-nb" { // its strong stress is in the other file, behind the weak one
			i := slices.IndexFunc(few, func(r appRun) bool { return r.Program == p[0] && r.Environment == "sys-str+" })
			strong = few[i+1:]
		}
		rows = append(rows, row("`"+p[0]+"`", p[1], first(few, p[0], "no-str-"), first(few, p[0], "cache-str-"), first(strong, p[0], "sys-str-"),
			first(strong, p[0], "sys-str+"), first(strong, p[0], "cache-str-")))
	}
	return rows, nil
}

// fencedSentences say how many runs of the programs with all fences there were, none of which was wrong.
func fencedSentences(t Tree) ([]string, error) {
	list, err := t.appRuns("strong.jsonl.gz")
	if err != nil {
		return nil, err
	}
	runs := map[string][]string{}
	for _, r := range list {
		if strings.HasSuffix(r.Program, "-fenced") || strings.HasSuffix(r.Program, "-sound") || r.Program == "cub" || r.Program == "cub-wide" {
			if runs[r.Program] = append(runs[r.Program], plain.Number(r.Runs)); r.Wrong != 0 {
				return nil, fmt.Errorf("%s was wrong", r.Program)
			}
		}
	}
	of := func(program string) string { return strings.Join(runs[program], " and ") }
	if of("cub") != of("cub-wide") || of("cbe-dot-fenced") != of("cbe-dot-near-fenced") {
		return nil, fmt.Errorf("not as many runs of both: %v", runs)
	}
	old, err := t.appRuns("app.jsonl.gz")
	if err != nil {
		return nil, err
	}
	in := func(program, environment string) string {
		i := slices.IndexFunc(old, func(r appRun) bool { return r.Program == program && r.Environment == environment })
		return fmt.Sprintf("%d of %s", old[i].Wrong, plain.Number(old[i].Runs))
	}
	var rows []string
	for _, x := range [][2]string{{"cbe-dot-fenced", "`cbe-dot-fenced`, `cbe-dot-near-fenced` (each)"}, {"cbe-ht-fenced", "`cbe-ht-fenced`"},
		{"ct-octree-fenced", "`ct-octree-fenced`"}, {"tpo-tm-fenced", "`tpo-tm-fenced`"}, {"sdk-red-sound", "`sdk-red-sound`"},
		{"cub-scan-sound", "`cub-scan-sound`"}, {"ls-bh-sound", "`ls-bh-sound`"}, {"cub", "CUB's own scan of 32-bit and of 128-bit values (each)"}} {
		rows = append(rows, fmt.Sprintf("| %s | 0 of %s |", x[1], of(x[0])))
	}
	return append(rows,
		fmt.Sprintf("`cbe-ht-volatile` was wrong in all of %s runs, `ct-octree-volatile` in %s without stress, `cbe-dot-volatile` in %s (`cache-str-`)",
			strings.Split(in("cbe-ht-volatile", "cache-str-"), " of ")[1], in("ct-octree-volatile", "no-str-"), in("cbe-dot-volatile", "cache-str-"))), nil
}

// orders are the medians, and the wrong runs, of the programs of bench-ordering, by group and program, in the order of sizes.
func (t Tree) orders() (medians map[string][]float64, wrong map[string][]int, runs map[string]int, err error) {
	medians, wrong, runs = map[string][]float64{}, map[string][]int{}, map[string]int{}
	return medians, wrong, runs, t.lines(h200+"ordering/bench.jsonl", func(line []byte) error {
		var x struct {
			Group, Program string
			Runs, Wrong    int
			Median         float64 `json:"median_us"`
		}
		err := json.Unmarshal(line, &x)
		name := strings.TrimPrefix(x.Program, "order-")
		medians[name] = append(medians[name], x.Median)
		wrong[name] = append(wrong[name], x.Wrong)
		runs[x.Group] += x.Runs
		return err
	})
}

// microseconds writes a median.
func microseconds(x float64) string {
	s := fmt.Sprintf("%.1f", x)
	if x >= 1000 {
		s = comma(s[:len(s)-2]) + s[len(s)-2:]
	}
	return s
}

// sums is the table of prefix sums and sums.
func sums(t Tree) ([]string, error) {
	medians, _, _, err := t.orders()
	rows := []string{"| elements | 2^14 | 2^16 | 2^18 | 2^20 | 2^22 | | | 2^14 | 2^16 | 2^18 | 2^20 | 2^22 |", "|---|---|---|---|---|---|---|---|---|---|---|---|---|"}
	half := func(name string) []any {
		if name == "" {
			return []any{"", "", "", "", "", ""}
		}
		cells := []any{"`" + name + "`"}
		for _, x := range medians[name] {
			cells = append(cells, microseconds(x))
		}
		return cells
	}
	for _, pair := range [][2]string{{"scan-three", "reduce-two"}, {"scan-chained", "reduce-fence"}, {"scan-look-back", "reduce-release"},
		{"scan-fenced", "reduce-acq-rel"}, {"", "reduce-seq-cst"}} {
		rows = append(rows, row(append(append(half(pair[0]), ""), half(pair[1])...)...))
	}
	return rows, err
}

// orderSentences say what orders cost, and what was seen.
func orderSentences(t Tree) ([]string, error) {
	medians, wrong, runs, err := t.orders()
	if err != nil {
		return nil, err
	}
	var say []string
	for _, name := range []string{"plain", "volatile", "fence-writer", "fence-reader", "fences", "release-acquire", "ld-cg", "word"} {
		var cells []any
		for i, x := range medians["mp-"+name] {
			cell := microseconds(x)
			if wrong["mp-"+name][i] > 0 && name != "plain" {
				cell = "**" + cell + "**"
			}
			cells = append(cells, cell)
		}
		say = append(say, row(append([]any{"`" + name + "`"}, cells...)...))
	}
	more := func(a, b string, i int) int { return int(math.Round(100 * (medians[a][i]/medians[b][i] - 1))) }
	release := func(i int) int { return -more("mp-release-acquire", "mp-fences", i) }
	span := func(names ...string) (low, high int) {
		var all []float64
		for _, n := range names {
			all = append(all, medians[n]...)
		}
		return int(math.Round(slices.Min(all))), int(math.Round(slices.Max(all)))
	}
	for _, n := range append(slices.Concat(wrong["interleave-one"], wrong["interleave-one-fenced"], wrong["corr-weak"], wrong["corr-volatile"]), wrong["scan-look-back"]...) {
		if n != 0 {
			return nil, fmt.Errorf("a run was wrong of which the page says that none was")
		}
	}
	list := func(n []int) string { return strings.NewReplacer("[", "", "]", "", " ", ", ").Replace(fmt.Sprint(n)) }
	two, fenced := list(wrong["interleave-two"]), list(wrong["interleave-two-fenced"])
	and := func(s string) string { i := strings.LastIndex(s, ", "); return s[:i] + " and " + s[i+2:] }
	lowAll, highAll := span("broadcast-all")
	lowOne, highOne := span("broadcast-block")
	lowNap, highNap := span("broadcast-nap")
	lowGrow, highGrow := span("broadcast-wait")
	return append(say,
		fmt.Sprintf("Release and acquire take %d and %d %% less than two fences with 1 and 4 words, %d %% less with 16, %d %% more with 64", release(0), release(1), release(2), -release(3)),
		fmt.Sprintf("Decoupled look-back with fences takes %d and %d %% longer at 2^20 and 2^22", more("scan-fenced", "scan-look-back", 3), more("scan-fenced", "scan-look-back", 4)),
		fmt.Sprintf("%d to %d µs if all threads look, %d to %d if one of a block does, %d to %d with naps of 250 ns, %d to %d with naps that grow", lowAll, highAll,
			lowOne, highOne, lowNap, highNap, lowGrow, highGrow),
		fmt.Sprintf("in %s of 100 runs with 16, 64, 256 and 1,024 blocks, with fences in %s.", and(two), and(fenced)),
		fmt.Sprintf("never seen apart, with and without fences, in %d runs", runs["interleave"]/2),
		fmt.Sprintf("no older value in %d runs, weak or volatile", runs["corr"]),
	), nil
}
