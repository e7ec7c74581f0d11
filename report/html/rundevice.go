package html

import (
	"cmp"
	"crypto/sha256"
	_ "embed"
	"encoding/hex"
	"fmt"
	"html/template"
	"math"
	"slices"
	"strings"

	"optcheck/event"
	"optcheck/internal/plain"
)

// Run is what one device did with one test as one compiler made it: a histogram
// for each setting. A run has one page.
type Run struct {
	ID   string // names the page, as Group.ID
	List []int  // indices into the set's histograms, in order
}

// Runs are the runs of a set, in the order of their first histogram.
type Runs struct {
	Set  *event.Set
	List []*Run
	byID map[string]*Run
	text map[[2]string]int // of the tests, by name and hash
}

// ByID returns the run of a page.
func (r *Runs) ByID(id string) (*Run, bool) {
	x, ok := r.byID[id]
	return x, ok
}

// First returns the first histogram of a run.
func (r *Runs) First(x *Run) *event.Histogram { return &r.Set.Histograms[x.List[0]] }

// NewRuns finds the runs of a set.
func NewRuns(s *event.Set) *Runs {
	out := &Runs{Set: s, byID: map[string]*Run{}, text: map[[2]string]int{}}
	for i := range s.Tests {
		out.text[[2]string{s.Tests[i].Name, s.Tests[i].Hash}] = i
	}
	for i := range s.Histograms {
		h := &s.Histograms[i]
		sum := sha256.Sum256(fmt.Appendf(nil, "%q", []string{h.Test, h.Hash, h.Device.Name, h.Device.UUID, h.Device.ID, h.Device.Driver,
			h.Toolchain, h.Target, h.Level, h.Layout}))
		id := hex.EncodeToString(sum[:10])
		x := out.byID[id]
		if x == nil {
			x = &Run{ID: id}
			out.byID[id] = x
			out.List = append(out.List, x)
		}
		x.List = append(x.List, i)
	}
	return out
}

//go:embed rundevice.tmpl
var runText string

var runTemplates = template.Must(template.New("run").Funcs(funcs).Funcs(template.FuncMap{"count": countText,
	"rate": rateText}).Parse(runText))

const (
	maxPageSettings = 64
	maxPageModels   = 16
)

// RunBody returns the content of a run's page.
func RunBody(rs *Runs, x *Run) (template.HTML, error) {
	return execute(runTemplates, newRunPage(rs, x))
}

// runPage is what rundevice.tmpl shows of one run.
type runPage struct {
	*event.Histogram
	Text     string
	Loose    string // why the binary is not validated, of the first that is not
	Settings []settingView
	More     int
	Wide     bool // too many settings for columns of their own beside the outcomes
	Terms    []string
	Outcomes []runOutcome
	MoreOut  int
	Tables   []agreement
	Plot     template.HTML
}

// settingView is a histogram as a line of the page's table.
type settingView struct {
	*event.Histogram
	Rates bool // there is something to say of rates
	Again string
}

// runOutcome is an outcome under all settings of a run.
type runOutcome struct {
	Values []int64
	Asked  bool // satisfies the condition
	Says   []string
	Effect string
	Counts []share
	Total  uint64
}

// share is how often an outcome was seen under one setting.
type share struct {
	Count   uint64
	Percent float64
	Ran     bool
	Asked   bool // of an outcome that satisfies the condition
}

// agreement is a model's allowed × observed table.
type agreement struct {
	Model                       string
	AllowedSeen, AllowedUnseen  int
	ForbiddenSeen, OthersUnseen int
	UndecidedSeen               int
	Own                         bool // the machine's model: it is known which outcomes it allows
}

func newRunPage(rs *Runs, x *Run) *runPage {
	p := &runPage{Histogram: rs.First(x)}
	if i, ok := rs.text[[2]string{p.Test, p.Hash}]; ok {
		p.Text = clip(rs.Set.Tests[i].Text, maxPageText)
	}
	list := x.List
	if len(list) > maxPageSettings {
		p.More, list = len(list)-maxPageSettings, list[:maxPageSettings]
	}
	hs := make([]*event.Histogram, 0, len(list))
	for _, i := range list {
		h := &rs.Set.Histograms[i]
		hs = append(hs, h)
		if !h.Validated && p.Loose == "" && h.Instances > 0 {
			p.Loose = cmp.Or(h.Unvalidated, "nobody checked it")
		}
		p.Settings = append(p.Settings, newSetting(h))
	}
	if len(p.Parameters) > 64 || len(p.Says) != len(p.Models) || len(p.Models) > maxPageModels {
		h := *p.Histogram
		h.Parameters, h.Says, h.Models = nil, nil, nil
		p.Histogram = &h
	}
	p.outcomes(hs)
	p.agree(hs)
	p.Plot, p.Wide = plotRates(hs), len(hs) > 4
	return p
}

func newSetting(h *event.Histogram) settingView {
	v := settingView{Histogram: h, Rates: h.Rate != nil && h.Instances > 0}
	switch {
	case !v.Rates:
	case h.Weak > 0:
		if v.Again = fmt.Sprintf("%.1f %%", 100*h.Rate.Reproducibility); h.Rate.Reproducibility > 0.999 {
			v.Again = "> 99.9 %"
		}
	case h.Rate.Excluded > 0:
		v.Again = "rates above " + rateText(h.Rate.Excluded) + " are excluded"
	}
	return v
}

// outcomes puts the outcomes of all settings into one table. Settings whose
// terms differ from the first one's have no place in it.
func (p *runPage) outcomes(hs []*event.Histogram) {
	for _, h := range hs {
		if len(h.Terms) > 0 && p.Terms == nil {
			p.Terms = h.Terms[:min(len(h.Terms), 32)]
		}
	}
	at := map[string]int{}
	get := func(values []int64) *runOutcome {
		k := fmt.Sprint(values)
		i, ok := at[k]
		if !ok {
			i = len(p.Outcomes)
			at[k] = i
			p.Outcomes = append(p.Outcomes, runOutcome{Values: values[:min(len(values), 32)], Counts: make([]share, len(hs))})
		}
		return &p.Outcomes[i]
	}
	for i, h := range hs {
		if !slices.Equal(h.Terms[:min(len(h.Terms), 32)], p.Terms) {
			continue
		}
		for _, o := range h.Outcomes {
			x := get(o.Values)
			x.Asked, x.Effect, x.Says = x.Asked || o.Weak, cmp.Or(x.Effect, o.Effect), says(x.Says, o.Says)
			x.Counts[i].Count = o.Count
			x.Total += o.Count
		}
		for _, u := range h.Unseen {
			if x := get(u.Values); x.Total == 0 && len(x.Says) == 0 {
				x.Says = []string{"allowed"} // by the first model; what others say is not told
			}
		}
	}
	for k := range p.Outcomes {
		for i, h := range hs {
			s := &p.Outcomes[k].Counts[i]
			s.Asked = p.Outcomes[k].Asked
			if s.Ran = h.Instances > 0; s.Ran {
				s.Percent = 100 * float64(s.Count) / float64(h.Instances)
			}
		}
	}
	slices.SortStableFunc(p.Outcomes, func(a, b runOutcome) int { return slices.Compare(a.Values, b.Values) })
	if n := len(p.Outcomes) - maxPageOutcomes*4; n > 0 {
		p.Outcomes, p.MoreOut = p.Outcomes[:maxPageOutcomes*4], n
	}
}

// says prefers verdicts that were given with a count to those that follow from
// an outcome not being seen.
func says(old, fresh []string) []string {
	if len(fresh) > 0 {
		return fresh
	}
	return old
}

// agree counts, for each model, which outcomes it allows and which were seen.
func (p *runPage) agree(hs []*event.Histogram) {
	for m, name := range p.Models {
		t := agreement{Model: name, Own: m == 0}
		for _, o := range p.Outcomes {
			switch {
			case m >= len(o.Says) || o.Says[m] == "":
			case o.Says[m] == "allowed" && o.Total > 0:
				t.AllowedSeen++
			case o.Says[m] == "allowed":
				t.AllowedUnseen++
			case o.Says[m] == "forbidden" && o.Total > 0:
				t.ForbiddenSeen++
			case o.Total > 0:
				t.UndecidedSeen++
			}
		}
		p.Tables = append(p.Tables, t)
	}
}

// Bad reports whether the outcome was seen although the machine's model forbids it,
// and that the compiler did not do it.
func (o *runOutcome) Bad() bool {
	return o.Total > 0 && (&event.Outcome{Effect: o.Effect}).ByHardware()
}

// Verdict returns what is said of an outcome that no effect was given for.
func (o *runOutcome) Verdict() string {
	if o.Effect != "" {
		return o.Effect
	}
	if o.Total == 0 {
		return "never seen"
	}
	return ""
}

// countText writes a count with commas.
func countText(n uint64) string {
	if n > 1<<62 {
		return fmt.Sprint(n)
	}
	return plain.Number(int64(n))
}

// rateText writes a rate per instance.
func rateText(x float64) string {
	switch {
	case !(x > 0):
		return "0"
	case x >= 0.001:
		return fmt.Sprintf("%.3g %%", 100*x)
	}
	e := math.Floor(math.Log10(x))
	return fmt.Sprintf("%.2g·10%s", x/math.Pow(10, e), superscript(int(e)))
}

// superscript writes a number above the line.
func superscript(n int) string {
	return strings.Map(func(r rune) rune {
		if r == '-' {
			return '⁻'
		}
		return []rune("⁰¹²³⁴⁵⁶⁷⁸⁹")[r-'0']
	}, fmt.Sprint(n))
}
