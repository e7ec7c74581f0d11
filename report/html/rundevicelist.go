package html

import (
	_ "embed"
	"html/template"
	"slices"
	"strings"

	"optcheck/event"
)

//go:embed rundevicelist.tmpl
var runsText string

var runsTemplate = template.Must(template.New("runs").Funcs(funcs).Funcs(template.FuncMap{"count": countText,
	"rate": rateText}).Parse(runsText))

// RunsOptions selects what a page that lists runs shows.
type RunsOptions struct {
	// From and Limit choose a part of the list; Limit 0 is all.
	From, Limit int
	// Link is the address of a run's page; nil means that it lies beside this
	// one: ID.html. It is "" for a run without a page.
	Link func(x *Run) string
	// Next and Before are the addresses of the neighbouring parts, "" for none.
	Before, Next string
}

// RunsBody returns the content of the page that lists all runs: what the models allow
// and the devices showed, then a line for each test.
func RunsBody(rs *Runs, o RunsOptions) (template.HTML, error) {
	p := runsPage{RunsOptions: o, Runs: len(rs.List), Sound: soundness(rs)}
	for i := range rs.Set.Histograms {
		h := &rs.Set.Histograms[i]
		p.Instances += h.Instances
		name := h.Device.Name
		if h.Device.Driver != "" {
			name += ", driver " + h.Device.Driver
		}
		if h.Toolchain != "" {
			name += ", " + strings.TrimSpace(h.Toolchain+" "+h.Target+" "+h.Level)
		}
		if !slices.Contains(p.Devices, name) && len(p.Devices) < 32 {
			p.Devices = append(p.Devices, name)
		}
	}
	from := min(max(o.From, 0), len(rs.List))
	to := len(rs.List)
	if o.Limit > 0 {
		to = min(to, from+o.Limit)
	}
	for _, x := range rs.List[from:to] {
		p.List = append(p.List, newRunLine(rs, x, o.Link))
	}
	p.First, p.Last = from+1, to
	return execute(runsTemplate, p)
}

type runsPage struct {
	RunsOptions
	Runs        int
	Instances   uint64
	Devices     []string
	Sound       []soundRow
	List        []runLine
	First, Last int
}

// runLine is a run in the list.
type runLine struct {
	Link      string
	Test      string
	Device    string
	Settings  int
	Instances uint64
	Weak      uint64
	Best      float64
	At        string // the setting with the highest rate
	Says      string // the machine's own model on the condition
	Model     string
	Effect    string // the worst
	Loose     bool
	Ended     string // statuses other than done
}

func newRunLine(rs *Runs, x *Run, link func(*Run) string) runLine {
	first := rs.First(x)
	l := runLine{Link: x.ID + ".html", Test: first.Test, Device: first.Device.Name, Settings: len(x.List)}
	if link != nil {
		l.Link = link(x)
	}
	var ended []string
	for _, i := range x.List {
		h := &rs.Set.Histograms[i]
		l.Instances += h.Instances
		l.Weak += h.Weak
		l.Loose = l.Loose || !h.Validated && h.Instances > 0
		if h.Rate != nil && h.Weak > 0 && h.Rate.Rate > l.Best {
			l.Best, l.At = h.Rate.Rate, h.Setting
		}
		if len(h.Says) > 0 && len(h.Says) == len(h.Models) {
			l.Says, l.Model = h.Says[0], h.Models[0]
		}
		if h.Status != event.StatusDone && !slices.Contains(ended, h.Status) && len(ended) < 8 {
			ended = append(ended, h.Status)
		}
		for _, o := range h.Outcomes {
			if effectRank(o.Effect) > effectRank(l.Effect) {
				l.Effect = o.Effect
			}
		}
	}
	l.Ended = strings.Join(ended, ", ")
	return l
}

// effectBad is the rank of what the machine's own model forbids it.
const effectBad = 6

// effectRank orders effects from harmless to bad.
func effectRank(effect string) int {
	o := event.Outcome{Effect: effect}
	switch {
	case effect == "":
		return 0
	case strings.HasPrefix(effect, "sequentially"):
		return 1
	case o.ByHardware():
		return effectBad
	case o.ByCompiler():
		return 5
	case strings.Contains(effect, "undecided"):
		return 3
	case strings.HasPrefix(effect, "compiler or"):
		return 4
	}
	return 2
}

// Bad reports whether something was seen that the machine's own model forbids.
func (l *runLine) Bad() bool { return effectRank(l.Effect) == effectBad }

// soundRow counts the runs whose condition a model allows, forbids or does not
// decide, by whether it was seen.
type soundRow struct {
	Model                                              string
	AllowedSeen, AllowedNot, ForbiddenSeen, ForbidNot  int
	UndecidedSeen, UndecidedNot, Unvalidated, Nothings int
	Own                                                bool // the machine's own model
}

// soundness compares what models say of conditions with what devices showed.
// Runs of binaries that were not validated and runs that counted nothing say
// nothing of the device; they are counted apart.
func soundness(rs *Runs) []soundRow {
	var out []soundRow
	for _, x := range rs.List {
		var seen, ran, loose bool
		var models, says []string
		for _, i := range x.List {
			h := &rs.Set.Histograms[i]
			seen, ran, loose = seen || h.Weak > 0, ran || h.Instances > 0, loose || !h.Validated && h.Instances > 0
			if len(h.Says) == len(h.Models) && len(h.Says) > 0 {
				models, says = h.Models, h.Says
			}
		}
		for m, name := range models {
			k := slices.IndexFunc(out, func(r soundRow) bool { return r.Model == name })
			if k < 0 {
				if len(out) == 16 {
					continue
				}
				k, out = len(out), append(out, soundRow{Model: name, Own: m == 0})
			}
			out[k].add(says[m], seen, ran, loose)
		}
	}
	return out
}

func (r *soundRow) add(says string, seen, ran, loose bool) {
	n := &r.UndecidedNot
	switch {
	case !ran:
		n = &r.Nothings
	case loose:
		n = &r.Unvalidated
	case says == "allowed" && seen:
		n = &r.AllowedSeen
	case says == "allowed":
		n = &r.AllowedNot
	case says == "forbidden" && seen:
		n = &r.ForbiddenSeen
	case says == "forbidden":
		n = &r.ForbidNot
	case seen:
		n = &r.UndecidedSeen
	}
	*n++
}
