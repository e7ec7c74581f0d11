package model

import (
	"cmp"
	"fmt"
	"io"
	"math"
	"slices"
	"strings"
	"text/tabwriter"
)

// Past is the result of a test on a device: in how many of how many instances its condition's
// proposition held.
type Past struct {
	Name            string
	Weak, Instances uint64
}

// Decider is a test whose result would decide between two models.
type Decider struct {
	*Difference
	// Rate is the expected rate per instance at which a runner sees a state that only one model
	// allows, estimated from similar tests; 0 if nothing is known.
	Rate float64
	// Alike is the number of similar tests behind the estimate.
	Alike int
	// Known is set if such a state was seen: the test has decided.
	Known bool
}

// unseen divided by the number of instances is the rate that is excluded at 95 % if nothing was
// seen.
const unseen = 3

// Deciders orders the tests that distinguish two models by how likely a device is to show a
// state that only one of them allows: first those that have shown one, then by the expected
// rate, then the smallest.
//
// The expected rate is that of similar tests that the device has run: tests of the same family,
// weighted by the parts of the name that they share. Tests in which no weak outcome was seen
// contribute a rate of one in three times their instances. A test that was run in vain is
// expected at no more than the rate that its run excludes.
func Deciders(c *Comparison, past []Past) []Decider {
	words := words{}
	families := map[int][]alike{}
	for _, p := range past {
		if p.Instances > 0 {
			f := words.parts(p.Name)
			families[f[0]] = append(families[f[0]], alike{f, math.Log(max(float64(p.Weak), 1.0/unseen) / float64(p.Instances))})
		}
	}
	var list []Decider
	for i := range c.Differences {
		d := Decider{Difference: &c.Differences[i]}
		for _, states := range [][]Single{d.OnlyA, d.OnlyB} {
			d.Known = d.Known || slices.ContainsFunc(states, func(s Single) bool { return s.Seen > 0 })
		}
		f := words.parts(d.Test.Name)
		d.Rate, d.Alike = expected(f, families[f[0]])
		if d.Instances > 0 && !d.Known {
			d.Rate = min(d.Rate, unseen/float64(d.Instances))
		}
		list = append(list, d)
	}
	slices.SortStableFunc(list, func(a, b Decider) int {
		if a.Known != b.Known {
			if a.Known {
				return -1
			}
			return 1
		}
		return cmp.Compare(b.Rate, a.Rate)
	})
	return list
}

// alike is a test that was run: the parts of its name, and the logarithm of its rate.
type alike struct {
	parts []int
	rate  float64
}

// words assigns numbers to the parts of names.
type words map[string]int

// parts returns the parts of a generated test's name: family, tags, placement, map. Plural tags
// count once.
func (w words) parts(name string) []int {
	var out []int
	for i, p := range strings.FieldsFunc(name, func(r rune) bool { return r == '+' || r == '-' }) {
		if i > 0 {
			p = strings.TrimSuffix(p, "s")
		}
		k, ok := w[p]
		if !ok {
			k = len(w) + 1
			w[p] = k
		}
		out = append(out, k)
	}
	return append(out, 0)
}

// expected returns the mean logarithmic rate of tests, weighted by what they share.
func expected(f []int, past []alike) (rate float64, n int) {
	sum, weight := 0.0, 0.0
	for i := range past {
		p := &past[i]
		common := 0
		for _, x := range f {
			if slices.Contains(p.parts, x) {
				common++
			}
		}
		w := float64(common) / float64(len(f)+len(p.parts)-common)
		w *= w
		w *= w
		w *= w // similar tests count for nearly everything
		sum += w * p.rate
		weight += w
	}
	if len(past) == 0 {
		return 0, 0
	}
	return math.Exp(sum / weight), len(past)
}

// WriteDeciders writes a table of tests, most likely first, at most limit (0: all).
func WriteDeciders(w io.Writer, c *Comparison, list []Decider, limit int) error {
	tw := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	fmt.Fprintf(tw, "test\tinstructions\texpected\tonly %s\tonly %s\n", c.A, c.B)
	for i := range list {
		if limit > 0 && i == limit {
			fmt.Fprintf(tw, "and %d more\n", len(list)-limit)
			break
		}
		d := &list[i]
		rate := "–"
		switch {
		case d.Known:
			rate = "seen"
		case d.Alike > 0:
			rate = fmt.Sprintf("%.1e", d.Rate)
		}
		fmt.Fprintf(tw, "%s\t%d\t%s\t%s\t%s\n", d.Test.Name, Size(d.Test), rate, d.list(d.OnlyA), d.list(d.OnlyB))
	}
	return tw.Flush()
}

// WriteJSON writes a test as a JSON line.
func (d *Decider) WriteJSON(w io.Writer) error {
	return encode(w, jsonLine{Decider: &jsonDecider{d.json(), d.Rate, d.Alike, d.Known}})
}
