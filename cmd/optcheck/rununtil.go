package main

import (
	"cmp"
	"errors"
	"fmt"
	"io"
	"math"
	"slices"
	"strconv"
	"strings"
	"text/tabwriter"
	"time"

	"optcheck/audit/device"
	"optcheck/internal/plain"
	"optcheck/ptxgen"
	"optcheck/runner"
	"optcheck/runner/drive"
)

// parseUntil reads --until: seen, a share (95%) or a time; nil for "".
func parseUntil(s string) (*device.Until, error) {
	if s == "" {
		return nil, nil
	}
	if s == "seen" {
		return &device.Until{Share: 1}, nil
	}
	if n, percent := strings.CutSuffix(s, "%"); percent {
		if x, err := strconv.ParseFloat(n, 64); err == nil && x > 0 && x <= 100 {
			return &device.Until{Share: x / 100}, nil
		}
	} else if d, err := time.ParseDuration(s); err == nil && d > 0 {
		return &device.Until{Share: 1, Time: d}, nil
	}
	return nil, fmt.Errorf("--until %s: want seen, a share (95%%) or a time (5m)", s)
}

// settings are those that tests are run under: incantations in the forms asked for,
// or environments.
func (f *runFlags) settings(d runner.Device, t drive.Tuning, seed uint64) ([]drive.Setting, error) {
	list, err := f.onOne(d, t, seed)
	if err == nil && f.across.devices != "" {
		list, err = f.spread(list)
	}
	return list, err
}

// onOne are the settings for runs on one device.
func (f *runFlags) onOne(d runner.Device, t drive.Tuning, seed uint64) ([]drive.Setting, error) {
	names, drawn := f.environments, f.drawn
	if f.until != "" && names == "" && drawn == 0 {
		names = drive.Hunt
	}
	var out []drive.Setting
	if names != "" {
		list, err := drive.Find(drive.Environments(d, t), names)
		if err != nil {
			return nil, err
		}
		out = list
	}
	if drawn < 0 || drawn > 4096 {
		return nil, fmt.Errorf("--drawn %d: want 0 to 4096", drawn)
	}
	if out = append(out, drive.Drawn(t, seed, drawn)...); len(out) > 0 {
		if f.table6 {
			return nil, errors.New("--table6 has its own sets of incantations")
		}
		return out, nil
	}
	forms, err := drive.ParseForms(cmp.Or(f.form, ptxgen.FormFast.String()))
	if err != nil {
		return nil, err
	}
	if f.table6 && len(forms) > 1 {
		return nil, errors.New("--table6 is one table: --form fast or permuted")
	}
	sets, err := drive.ParseIncantations(f.incantations)
	if err != nil {
		return nil, err
	}
	for _, form := range forms {
		for _, i := range sets {
			if form == ptxgen.FormPermuted && i&drive.Banks != 0 && t.BankLanes.High > 0 {
				return nil, errors.New("--tune bank-lanes: lanes that do not test are of the fast form alone; want --form fast")
			}
			out = append(out, drive.Setting{Form: form, Incantations: i, Tuning: t})
		}
	}
	return out, nil
}

// first hears that the outcome of a test was seen first.
func (o *runOutput) first(x device.First) {
	o.firsts = append(o.firsts, x)
	if !o.f.brief {
		fmt.Fprintf(o.text, "%7.1fs  %-40s first seen under %s (slice %d, seed %d)\n", x.After.Seconds(), plain.Line(x.Test),
			x.Setting, x.Slices+1, x.Seed)
	}
}

// family is what a test's name begins with.
func family(name string) string {
	f, _, _ := strings.Cut(name, "+")
	if strings.HasPrefix(name, "2+2W") || strings.HasPrefix(name, "2+2w") || strings.HasPrefix(name,
		"WRW+2W") || strings.HasPrefix(name, "WRR+2W") {
		second, _, _ := strings.Cut(name[len(f)+1:], "+")
		return f + "+" + second
	}
	return f
}

// decided is what the first of the models says that has an answer.
func (r *runRow) decided() string {
	for _, says := range r.says {
		if says != device.Undecided {
			return says
		}
	}
	return device.Undecided
}

// families prints by family how many of the tests whose condition the model allows
// showed it.
func (o *runOutput) families(w io.Writer) {
	type row struct{ tests, allowed, seen, forbidden, bad int }
	rows, order := map[string]*row{}, []string{}
	all := &row{}
	for _, name := range o.order {
		t := o.rows[name]
		if t.instances == 0 || len(t.says) == 0 {
			continue
		}
		f := family(name)
		if rows[f] == nil {
			rows[f] = &row{}
			order = append(order, f)
		}
		for _, r := range []*row{rows[f], all} {
			r.tests++
			switch t.decided() {
			case device.Allowed:
				r.allowed++
				if t.hits > 0 {
					r.seen++
				}
			case device.Forbidden:
				r.forbidden++
				if t.hits > 0 {
					r.bad++
				}
			}
		}
	}
	if o.f.until == "" && o.f.gen == "" {
		return
	}
	slices.Sort(order)
	tw := tabwriter.NewWriter(w, 0, 0, 2, ' ', tabwriter.AlignRight)
	fmt.Fprintf(w, "\nconditions that %s allows and forbids, by family\n", o.models[0])
	fmt.Fprintf(tw, "family\ttests\tallowed\tseen\t\tforbidden\tseen\t\n")
	print := func(name string, r *row) {
		share := "-"
		if r.allowed > 0 {
			share = fmt.Sprintf("%.0f %%", 100*float64(r.seen)/float64(r.allowed))
		}
		fmt.Fprintf(tw, "%s\t%d\t%d\t%d\t%s\t%d\t%d\t\n", plain.Line(name), r.tests, r.allowed, r.seen, share, r.forbidden, r.bad)
	}
	for _, f := range order {
		print(f, rows[f])
	}
	print("all", all)
	tw.Flush()
	o.paid(w)
}

// paid prints how many outcomes were seen first under each setting.
func (o *runOutput) paid(w io.Writer) {
	if o.firsts == nil {
		return
	}
	type row struct {
		name    string
		first   int
		seconds float64
	}
	var rows []*row
	of := map[string]*row{}
	for name, s := range o.spent {
		of[name] = &row{name: name, seconds: s}
		rows = append(rows, of[name])
	}
	for _, x := range o.firsts {
		if of[x.Setting] != nil {
			of[x.Setting].first++
		}
	}
	slices.SortFunc(rows, func(a, b *row) int {
		if a.first != b.first {
			return b.first - a.first
		}
		return strings.Compare(a.name, b.name)
	})
	last := o.firsts[len(o.firsts)-1].After.Seconds()
	fmt.Fprintf(w, "\n%s seen first: half of them in %.1f s, nine tenths in %.1f s, all in %.1f s\n", plain.Count(len(o.firsts), "outcome"),
		o.firsts[len(o.firsts)/2].After.Seconds(), o.firsts[len(o.firsts)*9/10].After.Seconds(), last)
	tw := tabwriter.NewWriter(w, 0, 0, 2, ' ', tabwriter.AlignRight)
	fmt.Fprintf(tw, "setting\tseen first\tseconds\tper second\t\n")
	for _, r := range rows {
		fmt.Fprintf(tw, "%s\t%d\t%.1f\t%.2f\t\n", r.name, r.first, r.seconds, float64(r.first)/math.Max(r.seconds, 1e-9))
	}
	tw.Flush()
}
