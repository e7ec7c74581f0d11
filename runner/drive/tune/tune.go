// Package tune finds the stress that makes a chip show most weak outcomes: the critical
// patch size, the sequence of accesses and the spread of Sorensen and Donaldson, Exposing
// Errors Related to Weak Memory in GPU Applications (PLDI 2016, Sec. 3).
//
// It decides what is measured and what follows from it. It runs nothing: see Tuner.Measure.
package tune

import (
	"context"
	"fmt"
	"math/rand/v2"
	"strings"
	"time"
)

// Idioms are the tests by which a chip is tuned, in the order of all lists by idiom.
var Idioms = []string{"mp", "lb", "sb-inter"}

// What is searched, in words of four bytes.
const (
	Distances    = 256 // below this lie the distances of the two locations of a test
	Locations    = 256 // below this lie the stressed locations
	LocationStep = 8   // a sector of the L2 cache: no finer patch is looked for
	MaxSpread    = 64
	usualPatch   = 32 // where the idioms do not agree: a line of 128 bytes
)

// Cell is what is measured at a time: an idiom whose locations lie Distance words apart,
// under stress by a sequence at lines that begin at Location, Spread of them, Step words
// apart, modulo Wrap words (0: none).
type Cell struct {
	Idiom    int    `json:"idiom"`
	Distance int    `json:"distance"`
	Location int    `json:"location"`
	Sequence string `json:"sequence"`
	Spread   int    `json:"spread"`
	Step     int    `json:"step,omitempty"`
	Wrap     int    `json:"wrap,omitempty"`
}

// Count is what a cell showed.
type Count struct {
	Weak      uint64 `json:"weak"`
	Instances uint64 `json:"instances"`
}

// Tuner runs the procedure.
type Tuner struct {
	// Measure runs a cell.
	Measure func(ctx context.Context, c Cell) (Count, error)
	// Total is how long the whole may take: each of the three searches has a share and
	// goes from coarse to fine, one distance of the locations after the other. The first
	// distance of each is always completed.
	Total time.Duration
	// Epsilon is how many weak outcomes are noise.
	Epsilon uint64
	Seed    uint64
	// Now is the clock; nil: the real one.
	Now func() time.Time
	// Progress, if not nil, is told what is done.
	Progress func(search string, distances int)
}

// Tuned is what was found.
type Tuned struct {
	Patch     int      // critical patch size in words
	Agreed    bool     // the idioms agree on it
	Sequence  string   // "ld st st"
	Spread    int      // stressed patches
	Patches   []Patch  // the first search
	Sequences []Scores // the second, by sequence
	Spreads   []Scores // the third, by spread
	// Rounds are the distances that each search went through.
	Rounds [3]int
	Took   time.Duration
}

// Patch is what an idiom showed at a distance, by stressed location.
type Patch struct {
	Idiom, Distance int
	Weak            []uint64
}

// Scores are the weak outcomes of the idioms, over all distances and locations.
type Scores struct {
	Name  string   `json:"name"`
	Score []uint64 `json:"score"` // by idiom
}

// shares of the time, by search, in per cent from the start.
var shares = [3]time.Duration{35, 80, 100}

// Run runs the procedure.
func (t *Tuner) Run(ctx context.Context) (*Tuned, error) {
	if t.Now == nil {
		t.Now = time.Now
	}
	out, start := &Tuned{}, t.Now()
	searches := []struct {
		name  string
		round func(ctx context.Context, out *Tuned, distance int) error
		end   func(out *Tuned)
	}{{"patches", t.patches, func(o *Tuned) { o.Patch, o.Agreed = critical(o.Patches, t.Epsilon) }},
		{"sequences", t.sequences, func(o *Tuned) { o.Sequence = best(o.Sequences).Name }},
		{"spreads", t.spreads, func(o *Tuned) { fmt.Sscan(best(o.Spreads).Name, &o.Spread) }}}
	for i, s := range searches {
		for d := range coarse(Distances) {
			if err := s.round(ctx, out, d); err != nil {
				return nil, err
			}
			out.Rounds[i]++
			if t.Progress != nil {
				t.Progress(s.name, out.Rounds[i])
			}
			if t.Now().Sub(start) >= t.Total*shares[i]/100 {
				break
			}
		}
		s.end(out)
	}
	out.Took = t.Now().Sub(start)
	return out, nil
}

// patches stresses each location on its own.
func (t *Tuner) patches(ctx context.Context, out *Tuned, distance int) error {
	for idiom := range Idioms {
		p := Patch{Idiom: idiom, Distance: distance}
		for l := 0; l < Locations; l += LocationStep {
			n, err := t.Measure(ctx, Cell{Idiom: idiom, Distance: distance, Location: l, Sequence: "st ld", Spread: 1})
			if err != nil {
				return err
			}
			p.Weak = append(p.Weak, n.Weak)
		}
		out.Patches = append(out.Patches, p)
	}
	return nil
}

// sequences stresses the first location of each patch by each sequence.
func (t *Tuner) sequences(ctx context.Context, out *Tuned, distance int) error {
	for i, s := range allSequences() {
		row := rowOf(&out.Sequences, i, s)
		for idiom := range Idioms {
			for l := 0; l < Locations; l += out.Patch {
				n, err := t.Measure(ctx, Cell{Idiom: idiom, Distance: distance, Location: l, Sequence: s, Spread: 1})
				if err != nil {
					return err
				}
				row.Score[idiom] += n.Weak
			}
		}
	}
	return nil
}

// spreads stresses several patches. Which ones is drawn: an odd step through the patches,
// of which there is a power of two, reaches each of them once.
func (t *Tuner) spreads(ctx context.Context, out *Tuned, distance int) error {
	rnd := rand.New(rand.NewPCG(t.Seed, uint64(distance)))
	for m := 1; m <= MaxSpread; m++ {
		row := rowOf(&out.Spreads, m-1, fmt.Sprint(m))
		for idiom := range Idioms {
			n, err := t.Measure(ctx, Cell{Idiom: idiom, Distance: distance, Sequence: out.Sequence, Spread: m,
				Location: rnd.IntN(MaxSpread) * out.Patch, Step: (2*rnd.IntN(MaxSpread/2) + 1) * out.Patch, Wrap: MaxSpread * out.Patch})
			if err != nil {
				return err
			}
			row.Score[idiom] += n.Weak
		}
	}
	return nil
}

func rowOf(list *[]Scores, i int, name string) *Scores {
	if i == len(*list) {
		*list = append(*list, Scores{name, make([]uint64, len(Idioms))})
	}
	return &(*list)[i]
}

// coarse yields the numbers below a power of two so that the first of them lie evenly.
func coarse(n int) func(yield func(int) bool) {
	return func(yield func(int) bool) {
		for i := range n {
			r := 0
			for b := 1; b < n; b *= 2 {
				r *= 2
				if i&b != 0 {
					r++
				}
			}
			// Close locations show little on most chips: the wide distances first.
			if !yield(n - 1 - r) {
				return
			}
		}
	}
}

// allSequences are those of one to five accesses: 62.
func allSequences() []string {
	var list []string
	for n := 1; n <= 5; n++ {
		for bits := range 1 << n {
			words := make([]string, n)
			for k := range words {
				words[k] = []string{"ld", "st"}[bits>>k&1]
			}
			list = append(list, strings.Join(words, " "))
		}
	}
	return list
}
