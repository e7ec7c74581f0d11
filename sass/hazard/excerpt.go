package hazard

import (
	"fmt"
	"slices"
	"strings"
	"sync"

	"optcheck/isa"
)

// Claim is a finding that is certain, as people read it.
type Claim struct {
	Finding
	// Reaches is the first instruction whose effect the wrong content decides; -1 if there is none.
	Reaches int
	Detail  string
	Excerpt *Excerpt
}

// Verdict is what is known of the registers of a function, as people read it.
type Verdict struct {
	Claims []Claim
	// Doubt says what is not certain: an instruction is not understood, or, on a target of which a chip was asked, there are fewer cycles than
	// compilers leave; "" if nothing is.
	Doubt        string
	Rule         string // which the doubt is about
	Dependencies int    // that were judged
}

// Judge checks a function. The verdict refers to nothing of the function's.
func Judge(fn *isa.Func) (v Verdict) {
	r := Check(fn)
	v.Dependencies = r.Dependencies
	vain := sync.OnceValue(func() []Finding { return inVain(fn) })
	deps := sync.OnceValue(func() []Dependency { list, _ := Dependencies(fn); return list })
	switch {
	case r.Unknown == manyPaths:
		v.Doubt, v.Rule = "registers in flight: "+r.Unknown, Finding{}.Rule()
	case r.Unjudged > 0:
		v.Doubt, v.Rule = fmt.Sprintf("registers in flight: %s is not understood", r.Example), Finding{}.Rule()
	}
	for _, f := range r.Findings {
		if !f.Sure {
			if t, _ := tableOf(fn); v.Doubt == "" && (len(t.harm) > 0 || !f.timed()) {
				v.Doubt, v.Rule = fmt.Sprintf("%s: %s, as far as compilers show; no chip showed harm", f.Reg, f.Missing(fn)), f.Rule()
			}
			continue
		}
		c := Claim{Finding: f, Reaches: reaches(fn, f.effects(vain)), Detail: fmt.Sprintf("%s: %s", f.Reg, f.Missing(fn))}
		if c.Reaches >= 0 {
			c.Detail += "; its content decides what " + fn.Insts[c.Reaches].Text + " does"
		}
		c.Excerpt = excerpt(fn, &c, deps())
		v.Claims = append(v.Claims, c)
	}
	return v
}

// Excerpt is the code around a finding: who waits for whom, and who does not.
type Excerpt struct {
	Lines []Line `json:"lines"`
	Waits []Wait `json:"waits"`
}

// Line is an instruction of an excerpt.
type Line struct {
	At      int64  `json:"at"`
	Control string `json:"control"`
	Text    string `json:"text"`
	// Left is how many instructions before it are left out.
	Left int `json:"left,omitempty"`
	// Source is what of the program it was made of, and Of its line there; empty and 0 if that is not known.
	Source string `json:"source,omitempty"`
	Of     int    `json:"of,omitempty"`
}

// Wait says that the instruction of line To waits for that of From, or should, or that To depends on a content that is wrong
// from From on.
type Wait struct {
	From int    `json:"from"`
	To   int    `json:"to"`
	Kind string `json:"kind"` // Waits, Missing or Reaches
	Says string `json:"says"`
}

// The kinds of waits.
const (
	Waits   = "waits"
	Missing = "hazard"
	Reaches = "reaches"
)

// Step is an instruction on the way from one that is in flight to what its wrong content decides.
type Step struct {
	Line
	Says []string // what is wrong there
}

// Steps are the instructions of the finding itself, without those that wait as they should.
func (x *Excerpt) Steps() (list []Step) {
	if x == nil {
		return nil
	}
	shown := make([]bool, len(x.Lines))
	says := make([][]string, len(x.Lines))
	for _, w := range x.Waits {
		if min(w.From, w.To) < 0 || max(w.From, w.To) >= len(x.Lines) || w.Kind == Waits {
			continue
		}
		shown[w.From], shown[w.To] = true, true
		says[w.To] = append(says[w.To], w.Says)
	}
	for i, l := range x.Lines {
		if shown[i] {
			list = append(list, Step{l, says[i]})
		}
	}
	return list
}

// String is a step in a line, its control code first.
func (s *Step) String() string {
	text := fmt.Sprintf("%04x  %s  %s", s.At, s.Control, s.Text)
	if s.Source != "" {
		text += fmt.Sprintf("  // %d: %s", s.Of, s.Source)
	}
	return text
}

// Text is the finding in lines: each instruction, and under it what is wrong there.
func (x *Excerpt) Text() (lines []string) {
	for _, s := range x.Steps() {
		lines = append(lines, s.String())
		for _, what := range s.Says {
			lines = append(lines, "      "+what)
		}
	}
	return lines
}

func (x *Excerpt) String() string { return strings.Join(x.Text(), "\n") }

// maxExcerpt bounds the lines of an excerpt.
const maxExcerpt = 32

// excerpt chooses the instructions of a claim, their neighbours and what waits for the first, and whatever lies between if there
// is room.
func excerpt(fn *isa.Func, c *Claim, deps []Dependency) *Excerpt {
	deps = slices.DeleteFunc(slices.Clone(deps), func(d Dependency) bool { return d.From != c.From && d.To != c.To })
	ends := []int{c.From, c.To}
	if c.Reaches >= 0 {
		ends = append(ends, c.Reaches)
	}
	first, last := slices.Min(ends), slices.Max(ends)
	shown := map[int]bool{}
	show := func(i int) {
		if i >= 0 && i < len(fn.Insts) && len(shown) < maxExcerpt {
			shown[i] = true
		}
	}
	for _, i := range ends {
		show(i)
	}
	for _, d := range deps {
		show(d.From)
		show(d.To)
	}
	for _, i := range ends {
		show(i - 1)
		show(i + 1)
	}
	if last-first < maxExcerpt-len(shown) {
		for i := first; i <= last; i++ {
			show(i)
		}
	}
	x, at, before := &Excerpt{}, map[int]int{}, -1
	for i := range fn.Insts {
		if !shown[i] {
			continue
		}
		in := &fn.Insts[i]
		l := Line{At: int64(in.Addr), Control: in.Control.String(), Text: strings.Clone(in.Text)}
		if before >= 0 {
			l.Left = i - before - 1
		}
		at[i], before = len(x.Lines), i
		x.Lines = append(x.Lines, l)
	}
	for _, d := range deps {
		from, ok := at[d.From]
		to, both := at[d.To]
		if !ok || !both {
			continue
		}
		kind := Waits
		if d.Broken {
			kind = Missing
		}
		x.Waits = append(x.Waits, Wait{from, to, kind, d.String(fn)})
	}
	if c.Reaches >= 0 && c.Reaches != c.To {
		x.Waits = append(x.Waits, Wait{at[c.To], at[c.Reaches], Reaches, "its content decides what this does"})
	}
	return x
}
