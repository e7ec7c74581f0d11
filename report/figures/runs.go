package figures

import (
	"encoding/json"
	"fmt"
	"math"
	"regexp"
	"slices"
	"strings"

	"optcheck/event"
	"optcheck/internal/plain"
)

// rate writes a rate in 100,000.
func rate(weak, instances uint64) string {
	switch x := 1e5 * float64(weak) / float64(instances); {
	case instances == 0:
		return "–"
	case x == 0:
		return "0"
	case x >= 10:
		return plain.Number(int(math.Round(x)))
	case x >= 0.1:
		return fmt.Sprintf("%.1f", x)
	default:
		return fmt.Sprintf("%.1g", x)
	}
}

// incantations is a row for each test: the rate under each set of them, in the file's order.
func incantations(t Tree) ([]string, error) {
	hs, err := t.histograms(h200 + "table6-equal.jsonl.gz")
	if err != nil {
		return nil, err
	}
	at := map[[2]string]string{}
	var settings []string
	for _, h := range hs {
		at[[2]string{h.Test, h.Setting}] = rate(h.Weak, h.Instances)
		if !slices.Contains(settings, h.Setting) {
			settings = append(settings, h.Setting)
		}
	}
	slices.SortFunc(settings, func(a, b string) int { return column(a) - column(b) })
	head := []any{"test"}
	for i := range settings {
		head = append(head, i+1)
	}
	rows := []string{row(head...), "|---|" + strings.Repeat("---|", len(settings))}
	for _, test := range []string{"mp", "sb-inter", "lb", "coRR-volatile"} {
		cells := []any{test}
		for _, s := range settings {
			cells = append(cells, at[[2]string{test, s}])
		}
		rows = append(rows, row(cells...))
	}
	return rows, nil
}

// column is where the study's Tab. 6 has a set of incantations.
func column(setting string) (n int) {
	for _, s := range strings.Split(setting, "+") {
		n += map[string]int{"random": 1, "sync": 2, "banks": 4, "stress": 8}[s]
	}
	return n
}

// banks is the rate of each test and set of incantations, by the number of lanes that do not test.
func banks(t Tree) ([]string, error) {
	at := map[[3]string]string{}
	lanes := []string{"0", "16", "28", "31"}
	for _, n := range lanes {
		hs, err := t.histograms(h200 + "banks/banks-" + n + ".jsonl.gz")
		if err != nil {
			return nil, err
		}
		for _, h := range hs {
			at[[3]string{h.Test, h.Setting, n}] = rate(h.Weak, h.Instances)
		}
	}
	rows := []string{"| test | incantations | 0 lanes | 16 | 28 | 31 |", "|---|---|---:|---:|---:|---:|"}
	for _, test := range []string{"mp", "sb-inter", "lb", "iriw"} {
		for _, s := range []string{"banks", "banks+random", "banks+sync+random"} {
			cells := []any{test, s}
			for _, n := range lanes {
				c := at[[3]string{test, s, n}]
				if c == "" {
					c = "–"
				}
				cells = append(cells, c)
			}
			rows = append(rows, row(cells...))
		}
	}
	return rows, nil
}

// families is what a run's table has of each family: name, tests, allowed, seen, forbidden, seen.
func (t Tree) families(name string) ([][]string, error) {
	text, err := t.text(name)
	if err != nil {
		return nil, err
	}
	all := regexp.MustCompile(`(?m)^ +(\S+) +(\d+) +(\d+) +(\d+) +\d+ % +(\d+) +(\d+)$`).FindAllStringSubmatch(text, -1)
	if len(all) < 2 {
		return nil, fmt.Errorf("%s: no table of families", name)
	}
	for _, f := range all {
		for i := range f[2:] {
			f[2+i] = comma(f[2+i])
		}
	}
	return all, nil
}

// divisions is the families of the H200's run.
func divisions(t Tree) ([]string, error) {
	all, err := t.families(h200 + "divisions/until95.txt.gz")
	rows := []string{"| family | allowed by `ptx` | seen | forbidden | seen |", "|---|---|---|---|---|"}
	for _, f := range all {
		rows = append(rows, row(f[1], f[3], f[4], f[5], f[6]))
	}
	return rows, err
}

// twoForms is the families of the H100's runs, fast and adaptive.
func twoForms(t Tree) ([]string, error) {
	fast, err := t.families(h100 + "divisions/fast.txt.gz")
	if err != nil {
		return nil, err
	}
	adaptive, err := t.families(h100 + "divisions/until95.txt.gz")
	if err != nil {
		return nil, err
	}
	rows := []string{"| family | allowed | fast | adaptive |", "|---|---|---|---|"}
	for i, f := range fast {
		if i >= len(adaptive) || adaptive[i][1] != f[1] || adaptive[i][3] != f[3] {
			return nil, fmt.Errorf("%s: the runs are not of the same tests", f[1])
		}
		rows = append(rows, row(f[1], f[3], f[4], adaptive[i][4]))
	}
	return rows, nil
}

// scores is a row for each contender of both scores, with the time that it had.
func scores(t Tree) ([]string, error) {
	rows := []string{"| of 604 mutants | seen | seconds | a second |", "|---|---:|---:|---:|"}
	for _, name := range []string{"score.txt.gz", "score-profile.txt.gz"} {
		text, err := t.text(h200 + "tune/" + name)
		if err != nil {
			return nil, err
		}
		for _, m := range regexp.MustCompile(`(?m)^(\S+(?: \S+)?) +[\d.]+ % +(\d+) +604 +- +([\d.]+) +([\d.]+)$`).FindAllStringSubmatch(text, -1) {
			rows = append(rows, row(m[1], m[2], m[3], m[4]))
		}
	}
	return rows, nil
}

// environments is a row for each program: wrong runs in each environment, as a file has them.
func environments(file string) func(Tree) ([]string, error) {
	return func(t Tree) ([]string, error) {
		var programs []string
		at := map[[2]string]string{}
		err := t.lines(h200+"applications/"+file, func(line []byte) error {
			var x struct {
				Test *struct {
					Program, Environment string
					Rate, Low, High      float64
					Effective            bool
				} `json:"app_test"`
			}
			if err := json.Unmarshal(line, &x); err != nil || x.Test == nil {
				return err
			}
			r := x.Test
			cell := percent(r.Rate) + " (" + percent(r.Low) + "–" + percent(r.High) + ")"
			if r.Effective {
				cell = "**" + cell + "**"
			}
			at[[2]string{r.Program, r.Environment}] = cell
			if !slices.Contains(programs, r.Program) {
				programs = append(programs, r.Program)
			}
			return nil
		})
		if err != nil {
			return nil, err
		}
		head := "| program |"
		names := []string{"no-str-", "no-str+", "sys-str-", "sys-str+", "rand-str-", "rand-str+", "cache-str-", "cache-str+"}
		for _, n := range names {
			head += " `" + n + "` |"
		}
		rows := []string{head, "|---|" + strings.Repeat("---|", len(names))}
		for _, p := range programs {
			cells := []any{"`" + p + "`"}
			for _, n := range names {
				cells = append(cells, at[[2]string{p, n}])
			}
			rows = append(rows, row(cells...))
		}
		return rows, nil
	}
}

// percent writes a share in per cent.
func percent(x float64) string {
	switch x *= 100; {
	case x == 0:
		return "0"
	case x >= 10:
		return fmt.Sprintf("%.0f", x)
	case x >= 1:
		return fmt.Sprintf("%.1f", x)
	default:
		return fmt.Sprintf("%.2f", x)
	}
}

// presets says what the models say of the generated tests that ran, and what was seen of them.
func presets(t Tree) ([]string, error) {
	type key struct{ ptx, old, preset string }
	tests, seen := map[key]map[string]bool{}, map[key]map[string]bool{}
	for _, preset := range []string{"paper", "ptx"} {
		hs, err := t.histograms(h200 + preset + ".jsonl.gz")
		if err != nil {
			return nil, err
		}
		for _, h := range hs {
			if h.Instances == 0 {
				continue
			}
			k := key{h.Says[0], h.Says[1], preset}
			put(tests, k, h.Test)
			if h.Weak > 0 {
				put(seen, k, h.Test)
			}
		}
	}
	rows := []string{"| `ptx` says | `ptx-2015` says | paper: tests | seen | ptx: tests | seen |", "|---|---|---|---|---|---|"}
	for _, ptx := range []string{"allowed", "forbidden"} {
		for _, old := range []string{"allowed", "forbidden"} {
			a, b := key{ptx, old, "paper"}, key{ptx, old, "ptx"}
			rows = append(rows, row(ptx, old, len(tests[a]), len(seen[a]), len(tests[b]), len(seen[b])))
		}
	}
	return rows, nil
}

func put[K comparable](m map[K]map[string]bool, k K, name string) {
	if m[k] == nil {
		m[k] = map[string]bool{}
	}
	m[k][name] = true
}

// ran is what ran of a file: instances by test, which were weak or refused, and the fewest instances of a test and a run.
type ran struct {
	tests                      map[string]uint64 // instances
	weak, refused              map[string]bool
	unsupported, runs          int
	instances, least, leastRun uint64
}

func (t Tree) ran(name string) (*ran, error) {
	hs, err := t.histograms(name)
	if err != nil {
		return nil, err
	}
	r := &ran{tests: map[string]uint64{}, weak: map[string]bool{}, refused: map[string]bool{}, least: math.MaxUint64, leastRun: math.MaxUint64}
	for _, h := range hs {
		switch {
		case h.Status == event.StatusDone:
			r.runs++
			r.instances += h.Instances
			r.tests[h.Test] += h.Instances
			r.leastRun = min(r.leastRun, h.Instances)
			if h.Weak > 0 {
				r.weak[h.Test] = true
			}
		case strings.HasPrefix(h.Detail, "changed"):
			r.refused[h.Test] = true
		default:
			r.unsupported++
		}
	}
	for _, n := range r.tests {
		r.least = min(r.least, n)
	}
	return r, nil
}
