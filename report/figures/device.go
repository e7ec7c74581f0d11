package figures

import (
	"bufio"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"

	"optcheck/event"
	"optcheck/internal/plain"
)

const (
	h100 = "docs/results/h100/"
	h200 = "docs/results/h200/"
)

// compilers are the files of runs by compiler, as pages name these.
var compilers = [][2]string{{"11.8", "ptxas 11.8.89"}, {"12.4", "ptxas 12.4.131"}, {"12.8", "ptxas 12.8.93"}, {"13.0.88", "ptxas 13.0.88"},
	{"driver", "driver 580.159.04"}}

// byCompiler calls f for each histogram of a test in the runs of all compilers, whose files differ in the name.
func byCompiler(t Tree, files, test string, f func(compiler string, h *event.Histogram)) error {
	for _, c := range compilers {
		hs, err := t.histograms(fmt.Sprintf(files, c[0]))
		if err != nil {
			return err
		}
		for i := range hs {
			if hs[i].Test == test {
				f(c[1], &hs[i])
			}
		}
	}
	return nil
}

// histograms are those of a stored run, of all its parts.
func (t Tree) histograms(name string) (list []event.Histogram, err error) {
	f, err := t.open(name)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	return list, event.Read(name, f, func(e event.Event) error {
		if e.Histogram != nil {
			list = append(list, *e.Histogram)
		}
		return nil
	})
}

// forbidden counts the instances with outcomes that the model forbids and the machine code allows.
func forbidden(h *event.Histogram) (n uint64) {
	for _, o := range h.Outcomes {
		if o.ByCompiler() {
			n += o.Count
		}
	}
	return n
}

// strongLoads is how often two strong loads of one location were seen in the other order.
func strongLoads(t Tree) ([]string, error) {
	cells := map[string]map[string]string{}
	err := byCompiler(t, h200+"opportunities/run-%s.jsonl.gz", "CoRR+all-rlx.gpu-p0::p1-xg@reload.vol-1.1.0", func(c string, h *event.Histogram) {
		if cells[c] == nil {
			cells[c] = map[string]string{}
		}
		cells[c][h.Setting] = plain.Number(forbidden(h)) + " of " + plain.Number(h.Instances)
	})
	rows := []string{"| compiler | none | stress+random |", "|---|---:|---:|"}
	for _, c := range compilers {
		rows = append(rows, row(c[1], cells[c[1]]["none"], cells[c[1]]["stress+random"]))
	}
	return rows, err
}

// overtaken is how often a flag was seen and not the data that stand in front of it.
func overtaken(t Tree) ([]string, error) {
	cells := map[string]map[string]string{}
	add := func(c string, h *event.Histogram) {
		if cells[c] == nil {
			cells[c] = map[string]string{}
		}
		cells[c][h.Setting] = plain.Number(h.Weak)
	}
	if err := byCompiler(t, h200+"neighbours/over-%s.jsonl.gz", "overtaken", add); err != nil {
		return nil, err
	}
	const control = "*control:* 13.0.88, alignment not known"
	hs, err := t.histograms(h200 + "neighbours/overapart-13.0.88.jsonl.gz")
	for i := range hs {
		add(control, &hs[i])
	}
	rows := []string{"| compiler | none | random | stress+random |", "|---|---:|---:|---:|"}
	for _, c := range append(slices.Clone(compilers), [2]string{"", control}) {
		rows = append(rows, row(c[1], cells[c[1]]["none"], cells[c[1]]["random"], cells[c[1]]["stress+random"]))
	}
	return rows, err
}

// trial is a line of what hardening has kept: some runs of a program with some fences.
type trial struct {
	Key struct {
		Program, What string
		Fences        map[string]string
	}
	Count struct {
		Runs, Wrong int
		Seconds     float64
	}
}

// hardened is what is known of a program's hardening: the sites, the fences found, and the runs that decided.
type hardened struct {
	sites   int
	result  *trial
	without map[string]*trial
	singles []*trial
	model   string
}

// programs reads what was kept of hardening, and which programs have a record.
func programs(t Tree) (map[string]*hardened, error) {
	all := map[string]*hardened{}
	err := t.lines(h200+"hardening/kept.jsonl.gz", func(line []byte) error {
		x := &trial{}
		if err := json.Unmarshal(line, x); err != nil {
			return err
		}
		h := all[x.Key.Program]
		if h == nil {
			h = &hardened{model: "not asked: ended before", without: map[string]*trial{}}
			all[x.Key.Program] = h
		}
		switch {
		case strings.HasSuffix(x.Key.What, ": all"):
			h.sites = max(h.sites, len(x.Key.Fences))
		case strings.HasSuffix(x.Key.What, ": singles") && x.Count.Wrong > 0:
			h.singles = append(h.singles, x)
		case strings.HasSuffix(x.Key.What, ": stability") && x.Count.Wrong == 0:
			h.result = x
		}
		return nil
	})
	if err != nil {
		return nil, err
	}
	for _, h := range all {
		for f := range h.result.Key.Fences {
			for _, x := range h.singles {
				rest := maps.Clone(h.result.Key.Fences)
				delete(rest, f)
				if _, has := x.Key.Fences[f]; !has && covers(x.Key.Fences, rest) {
					h.without[f] = x
				}
			}
		}
	}
	return all, t.lines(h200+"hardening/programs.jsonl.gz", func(line []byte) error {
		var x struct {
			Harden *struct {
				Program  string
				Verdicts map[string]string
			} `json:"app_harden"`
		}
		if err := json.Unmarshal(line, &x); err != nil || x.Harden == nil || all[x.Harden.Program] == nil {
			return err
		}
		h := all[x.Harden.Program]
		h.model = "yes"
		for _, v := range x.Harden.Verdicts {
			if v != "demanded by the model" {
				h.model = "no"
			}
		}
		if len(x.Harden.Verdicts) == 0 {
			h.model = "–"
		}
		return nil
	})
}

// covers reports whether a set of fences has all of another.
func covers(set, of map[string]string) bool {
	for f := range of {
		if _, ok := set[f]; !ok {
			return false
		}
	}
	return true
}

// lines calls f for each line of a stored file.
func (t Tree) lines(name string, f func([]byte) error) error {
	r, err := t.open(name)
	if err != nil {
		return err
	}
	defer r.Close()
	s := bufio.NewScanner(r)
	s.Buffer(nil, 16<<20)
	for s.Scan() {
		if err := f(s.Bytes()); err != nil {
			return fmt.Errorf("%s: %w", name, err)
		}
	}
	return s.Err()
}

// hardening is a row for each program: the fences found, what happens without each, and with all of them.
func hardening(t Tree) ([]string, error) {
	all, err := programs(t)
	if err != nil {
		return nil, err
	}
	rows := []string{"| program | fences | of | without each, wrong runs | with them, wrong runs | demanded by the model |", "|---|---|---:|---|---|---|"}
	for _, name := range slices.Sorted(maps.Keys(all)) {
		h := all[name]
		var fences []int
		for f := range h.result.Key.Fences {
			n, err := strconv.Atoi(f)
			if err != nil {
				return nil, err
			}
			fences = append(fences, n)
		}
		slices.Sort(fences)
		var which, without []string
		for _, f := range fences {
			which = append(which, fmt.Sprint(f))
			if x := h.without[fmt.Sprint(f)]; x != nil {
				without = append(without, fmt.Sprintf("%d of %d", x.Count.Wrong, x.Count.Runs))
			} else {
				without = append(without, "–")
			}
		}
		if len(fences) == 0 {
			which, without = []string{"none"}, []string{"–"}
		}
		rows = append(rows, row(name, strings.Join(which, ", "), h.sites, strings.Join(without, ", "),
			fmt.Sprintf("%d of %s, in %.1f s", h.result.Count.Wrong, plain.Number(h.result.Count.Runs), h.result.Count.Seconds), h.model))
	}
	return rows, nil
}
