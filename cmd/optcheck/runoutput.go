package main

import (
	"errors"
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"

	"optcheck/audit/device"
	"optcheck/event"
	"optcheck/internal/plain"
)

// runOutput renders results as they come.
type runOutput struct {
	f       *runFlags
	models  []string
	leveled bool // there are several levels
	log     io.Writer
	text    io.Writer
	err     error

	events *runEvents

	ran, lacking, failed int                // lacking: the devices cannot do the run
	rows                 map[string]*runRow // by test
	order                []string
	forbidden, compiled  []string
	firsts               []device.First     // of an adaptive run
	spent                map[string]float64 // seconds, by setting
}

// runRow gathers what a test showed under all settings.
type runRow struct {
	hits, instances uint64
	says            []string
	byColumn        map[int]*device.Result
	validated       bool
	state           string // of its binaries: the first that is not "unsupported"
	bad             []bool // by model: some outcome it forbids was seen
}

// name is how a result's test is called.
func (o *runOutput) name(r *device.Result) string {
	if o.leveled {
		return r.Test + " " + r.Level
	}
	return r.Test
}

// result takes one result.
func (o *runOutput) result(r *device.Result) {
	o.events.result(r)
	if o.rows == nil {
		o.rows, o.spent = map[string]*runRow{}, map[string]float64{}
	}
	row := o.rows[o.name(r)]
	if row == nil {
		row = &runRow{byColumn: map[int]*device.Result{}, validated: r.Validated}
		o.rows[o.name(r)] = row
		o.order = append(o.order, o.name(r))
	}
	if row.state == "" || row.state == "unsupported" { // a test that lacks one form has others
		row.state = r.Binary.State
	}
	if row.says == nil && len(r.Models) > 0 { // a form that a test does not have is refused before a model is asked
		row.validated, row.says, row.bad = r.Validated, r.Says, make([]bool, len(r.Models))
	}
	if r.Failed() {
		o.failed++
		fmt.Fprintf(o.text, "%-28s %-24s FAILED: %s\n", plain.Line(o.name(r)), r.Setting, strings.SplitN(r.Detail, "\n", 2)[0])
	}
	if !r.Ran() {
		o.notRun(r)
		return
	}
	o.ran++
	o.spent[r.Setting] += r.Seconds
	row.hits += r.Weak
	row.instances += r.Instances
	row.byColumn[r.Column] = r
	o.line(r)
	for i := range r.Outcomes {
		s := &r.Outcomes[i]
		for m := range s.Says {
			row.bad[m] = row.bad[m] || s.Says[m] == device.Forbidden
		}
		if s.ByCompiler() {
			o.compiled = append(o.compiled, fmt.Sprintf("%s under %s: %s: %d of %d; seed %d", plain.Line(o.name(r)), r.Setting,
				r.StateText(*s),
				s.Count, r.Instances, r.Seed))
		}
		if s.ByHardware() {
			o.forbidden = append(o.forbidden, fmt.Sprintf("%s under %s: %s: %d of %d; seen again in %d of %s with other seeds (%s); seed %d",
				plain.Line(o.name(r)), r.Setting, r.StateText(*s), s.Count, r.Instances, s.Confirmed, plain.Count(s.Reruns,
					"rerun"), plain.Count(s.Again, "time"), r.Seed))
		}
	}
	if o.log != nil && o.err == nil {
		_, o.err = o.log.Write(device.LogBlock(&r.Histogram).Append(nil))
	}
	r.Binary = nil // free what a long run does not need
}

// notRun says why a run was not made, if it is not that it failed.
func (o *runOutput) notRun(r *device.Result) {
	state, why := r.Binary.State, r.Binary.Why
	switch {
	case r.Failed():
		return
	case r.Status == event.StatusUnsupported:
		o.lacking++
		state, why = r.Status, r.Detail
	}
	if len(o.order) <= maxRefusedLines && !o.f.brief || state == "unknown" {
		fmt.Fprintf(o.text, "%-28s not run: %s: %s\n", plain.Line(o.name(r)), state, plain.Line(why))
	}
}

// maxRefusedLines bounds the lines about tests that were not run.
const maxRefusedLines = 200

// line prints a run in one line.
func (o *runOutput) line(r *device.Result) {
	if effect := effectOf(r); o.f.brief && !device.ByHardware(effect) && effect != device.EffectCompilerForbid {
		return
	}
	mark := ""
	if !r.Validated {
		mark = "  [NOT VALIDATED]"
	}
	if r.Unexpected > 0 {
		mark += fmt.Sprintf("  [%d with unexpected values]", r.Unexpected)
	}
	speed := 0.0
	if r.Seconds > 0 {
		speed = float64(r.Instances) / r.Seconds
	}
	found := fmt.Sprintf("%s (%.3g per 100k, %.2g..%.2g)", plain.Count(r.Weak, "time"), r.Rate.Rate*1e5, r.Rate.Low*1e5, r.Rate.High*1e5)
	if r.Weak == 0 {
		found = fmt.Sprintf("never (rates above %.2g per 100k excluded)", r.Rate.Excluded*1e5)
	}
	effect := effectOf(r)
	if effect != "" {
		effect = "; " + effect
	}
	fmt.Fprintf(o.text, "%-28s %-24s %11d in %6.2fs (%.2g/s): %s%s%s\n", plain.Line(o.name(r)), r.Setting, r.Instances, r.Seconds,
		speed, found, effect, mark)
	if o.f.outcome {
		for _, s := range r.Outcomes {
			fmt.Fprintf(o.text, "    %14d  %-32s %s\n", s.Count, r.StateText(s), s.Effect)
		}
		for _, u := range r.Unseen {
			fmt.Fprintf(o.text, "    %14s  %-32s allowed by %s; rates above %.2g excluded\n", "never seen",
				r.StateText(event.Outcome{Values: u.Values}), r.Models[0], u.Excluded)
		}
	}
}

// effectOf names the worst effect of the outcomes seen.
func effectOf(r *device.Result) string {
	rank := map[string]int{device.EffectAllowed: 1, device.EffectCompilerAllow: 2, device.EffectUnknown: 3, device.EffectCompiler: 4,
		device.EffectPatch: 4, device.EffectCompilerForbid: 5,
		device.EffectCodeForbid: 6, device.EffectForbid: 7}
	worst := ""
	for _, s := range r.Outcomes {
		if rank[s.Effect] > rank[worst] {
			worst = s.Effect
		}
	}
	return worst
}

// verdict is the error of a run that came to its end without having done what
// it was asked for.
func (o *runOutput) verdict() error {
	switch {
	case o.ran == 0 && o.failed == 0:
		return errNotRun
	case o.ran == 0:
		return errors.New("no test could be run")
	case o.failed > 0:
		return fmt.Errorf("%s %w", plain.Count(o.failed, "run"), errSomeFailed)
	}
	return nil
}

// summary prints what holds of all.
func (o *runOutput) summary() {
	w := o.text
	states := map[string]int{}
	for _, row := range o.rows {
		states[row.state]++
	}
	fmt.Fprintf(w, "\n%s:", plain.Count(len(o.order), "test"))
	for _, s := range slices.Sorted(maps.Keys(states)) {
		fmt.Fprintf(w, " %d %s;", states[s], s)
	}
	fmt.Fprintf(w, " %s, %d failed", plain.Count(o.ran, "run"), o.failed)
	if o.lacking > 0 {
		fmt.Fprintf(w, ", %d that the device cannot do", o.lacking)
	}
	fmt.Fprintln(w)
	if o.f.table6 {
		o.table6(w)
	}
	o.soundness(w)
	o.families(w)
	if len(o.compiled) > 0 {
		fmt.Fprintf(w, "\nFORBIDDEN by %s, allowed by the machine code, which is not the test (the compiler's effect):\n", o.models[0])
		for _, s := range o.compiled {
			fmt.Fprintf(w, "  %s\n", s)
		}
	}
	if len(o.forbidden) > 0 {
		fmt.Fprintf(w, "\nFORBIDDEN by %s:\n", o.models[0])
		for _, s := range o.forbidden {
			fmt.Fprintf(w, "  %s\n", s)
		}
	}
}

// soundness prints, for each model, how often the condition's outcome was seen
// where the model allows and forbids it.
func (o *runOutput) soundness(w io.Writer) {
	type cell struct{ seen, unseen int }
	fmt.Fprintf(w, "\n%-10s  %s\n", "model",
		"tests: condition allowed seen/not seen, forbidden seen/not seen, undecided; tests with any forbidden outcome")
	for m, name := range o.models {
		var c = map[string]*cell{device.Allowed: {}, device.Forbidden: {}, device.Undecided: {}}
		bad := 0
		for _, t := range o.order {
			r := o.rows[t]
			if r.instances == 0 || m >= len(r.says) {
				continue
			}
			x := c[r.says[m]]
			if r.hits > 0 {
				x.seen++
			} else {
				x.unseen++
			}
			if m < len(r.bad) && r.bad[m] {
				bad++
			}
		}
		fmt.Fprintf(w, "%-10s  allowed %d/%d, forbidden %d/%d, undecided %d; %s with forbidden outcomes\n", name,
			c[device.Allowed].seen, c[device.Allowed].unseen,
			c[device.Forbidden].seen, c[device.Forbidden].unseen, c[device.Undecided].seen+c[device.Undecided].unseen,
			plain.Count(bad, "test"))
	}
}

// perLaunch is how many instances the launches of a column had, over all tests.
func (o *runOutput) perLaunch(column int) string {
	low, high := uint64(0), uint64(0)
	for _, t := range o.order {
		if r := o.rows[t].byColumn[column]; r != nil && r.Launches > 0 {
			n := r.Instances / r.Launches
			if low == 0 || n < low {
				low = n
			}
			high = max(high, n)
		}
	}
	if low == high {
		return fmt.Sprint(low)
	}
	return fmt.Sprintf("%d..%d", low, high)
}

// table6 prints the study's table: hits per 100,000 instances by column.
func (o *runOutput) table6(w io.Writer) {
	marks := []struct {
		name string
		bit  int
	}{{"memory stress", 8}, {"general bank conflicts", 4}, {"thread synchronisation", 2}, {"thread randomisation", 1}}
	fmt.Fprintf(w, "\nper 100,000 instances  ")
	for c := 1; c <= 16; c++ {
		fmt.Fprintf(w, "%8d", c)
	}
	fmt.Fprintln(w)
	for _, m := range marks {
		fmt.Fprintf(w, "%-23s", m.name)
		for c := 0; c < 16; c++ {
			dot := ""
			if c&m.bit != 0 {
				dot = "*"
			}
			fmt.Fprintf(w, "%8s", dot)
		}
		fmt.Fprintln(w)
	}
	for _, t := range o.order {
		row := o.rows[t]
		name := plain.Line(t)
		if !row.validated {
			name += " (NOT VALIDATED)"
		}
		fmt.Fprintf(w, "%-23s", name)
		for c := 1; c <= 16; c++ {
			r := row.byColumn[c]
			if r == nil {
				fmt.Fprintf(w, "%8s", "-")
				continue
			}
			fmt.Fprintf(w, "%8.4g", r.Rate.Rate*1e5)
		}
		fmt.Fprintln(w)
	}
	fmt.Fprintf(w, "%-23s", "instances a launch")
	for c := 1; c <= 16; c++ {
		fmt.Fprintf(w, "%8s", o.perLaunch(c))
	}
	fmt.Fprintf(w, "\nhits per second of host time\n")
	for _, t := range o.order {
		fmt.Fprintf(w, "%-23s", plain.Line(t))
		for c := 1; c <= 16; c++ {
			if r := o.rows[t].byColumn[c]; r != nil && r.Seconds > 0 {
				fmt.Fprintf(w, "%8.2g", float64(r.Weak)/r.Seconds)
			} else {
				fmt.Fprintf(w, "%8s", "-")
			}
		}
		fmt.Fprintln(w)
	}
}
