package report

import (
	"errors"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"

	"optcheck/event"
	"optcheck/internal/plain"
)

// WritePlacements writes, for people, what tests divided over several devices showed:
// the tests whose condition is forbidden on one device, allowed across them and was
// seen, which are those whose scopes are too narrow; what the model forbids and was seen
// all the same; and a table of weak outcomes per 100,000 instances for each test and
// placement of its locations, over all settings.
func WritePlacements(w io.Writer, r *event.Run) error {
	tests, order := map[string]*placedTest{}, []string{}
	runs, instances := 0, uint64(0)
	var failed []string
	for i := range r.Histograms {
		h := &r.Histograms[i]
		if h.Placement == nil {
			continue
		}
		if h.Status != event.StatusDone && h.Status != event.StatusInterrupted {
			failed = append(failed, fmt.Sprintf("%s %s: %s", plain.Label(h.Test), plain.Label(h.Setting), plain.Label(h.Status)))
			continue
		}
		t := tests[h.Test]
		if t == nil {
			t = &placedTest{name: plain.Label(h.Test), one: h.Placement.OneDevice, validated: h.Validated, by: map[string][2]uint64{}}
			for _, l := range sortedLocations(h.Placement) {
				t.locations = append(t.locations, plain.Label(l))
			}
			tests[h.Test], order = t, append(order, h.Test)
		}
		t.add(h)
		runs++
		instances += h.Instances
	}
	if runs == 0 {
		return errors.New("no run on several devices (optcheck run --devices 0,1)")
	}
	p := &placementWriter{w: w}
	p.f("%s, %s of %s.\n", plain.Count(len(order), "divided test"), plain.Count(runs, "run"), plain.Count(instances, "instance"))
	p.list("Forbidden by the model, and seen", order, tests, func(t *placedTest) bool { return t.forbidden > 0 })
	p.list("Forbidden on one device, allowed and seen across devices (scopes too narrow)", order, tests,
		func(t *placedTest) bool { return t.one == saysForbidden && t.says == saysAllowed && t.weak > 0 })
	p.list("Forbidden on one device, allowed across devices, not seen", order, tests,
		func(t *placedTest) bool { return t.one == saysForbidden && t.says == saysAllowed && t.weak == 0 })
	if len(failed) > 0 {
		p.f("\nRuns that failed, from which nothing follows: %s\n", strings.Join(failed, "; "))
	}
	p.tables(order, tests)
	return p.err
}

const (
	saysAllowed   = "allowed"
	saysForbidden = "forbidden"
)

// placedTest is what a divided test showed.
type placedTest struct {
	name, one, says            string
	validated                  bool
	locations                  []string
	by                         map[string][2]uint64 // weak, instances
	weak, instances, forbidden uint64
}

func (t *placedTest) add(h *event.Histogram) {
	if len(h.Says) > 0 {
		t.says = h.Says[0]
	}
	key := ""
	for _, l := range sortedLocations(h.Placement) {
		key += strconv.Itoa(h.Placement.Locations[l])
	}
	x := t.by[key]
	t.by[key] = [2]uint64{x[0] + h.Weak, x[1] + h.Instances}
	t.weak += h.Weak
	t.instances += h.Instances
	for i := range h.Outcomes {
		if h.Outcomes[i].ByHardware() {
			t.forbidden += h.Outcomes[i].Count
		}
	}
}

func sortedLocations(p *event.Placement) []string {
	var list []string
	for l := range p.Locations {
		list = append(list, l)
	}
	slices.Sort(list)
	return list
}

type placementWriter struct {
	w   io.Writer
	err error
}

func (p *placementWriter) f(format string, args ...any) {
	if p.err == nil {
		_, p.err = fmt.Fprintf(p.w, format, args...)
	}
}

// list writes the tests that are of a kind.
func (p *placementWriter) list(title string, order []string, tests map[string]*placedTest, is func(*placedTest) bool) {
	n := 0
	for _, name := range order {
		if is(tests[name]) {
			n++
		}
	}
	p.f("\n%s: %s\n", title, plain.Count(n, "test"))
	for _, name := range order {
		if t := tests[name]; is(t) {
			p.f("- %s: weak %d, forbidden %d of %d\n", t.name, t.weak, t.forbidden, t.instances)
		}
	}
}

// tables writes a table for each list of locations that tests have.
func (p *placementWriter) tables(order []string, tests map[string]*placedTest) {
	groups := map[string][]*placedTest{}
	for _, name := range order {
		t := tests[name]
		key := strings.Join(t.locations, " ")
		groups[key] = append(groups[key], t)
	}
	keys := make([]string, 0, len(groups))
	for k := range groups {
		keys = append(keys, k)
	}
	slices.Sort(keys)
	for _, k := range keys {
		var columns []string
		for _, t := range groups[k] {
			for c := range t.by {
				put(&columns, c)
			}
		}
		slices.Sort(columns)
		p.f("\nWeak per 100,000 by the devices of %s\n\n| test | one device | across | %s |\n|---|---|---|%s\n", k,
			strings.Join(columns, " | "), strings.Repeat("---|", len(columns)))
		for _, t := range groups[k] {
			p.row(t, columns)
		}
	}
}

func (p *placementWriter) row(t *placedTest, columns []string) {
	name := t.name
	if !t.validated {
		name += " (not validated)"
	}
	p.f("| %s | %s | %s |", name, t.one, t.says)
	for _, c := range columns {
		switch x := t.by[c]; {
		case x[1] == 0:
			p.f(" – |")
		case x[0] == 0:
			p.f(" 0 |")
		default:
			p.f(" %.3g |", 1e5*float64(x[0])/float64(x[1]))
		}
	}
	p.f("\n")
}
