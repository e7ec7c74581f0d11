package realcode

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"
)

// TestAlikeUnder: what a run performs is a word of the graph with all that is known of conditions, of one with less, and of one with
// nothing, so that what is alike in any of them is alike. Knowledge that takes a run away would show here.
func TestAlikeUnder(t *testing.T) {
	r := rand.New(rand.NewPCG(33, 1))
	fewer := 0
	for n := range 2000 {
		const conds, most = 3, 6
		steps := randomSteps(r, 4+r.IntN(9), conds)
		some := newConditions(conds)
		some.add(int32(r.IntN(conds)))
		var words []map[string]bool
		for _, track := range []conditions{everyCondition(conds), some, nil} {
			g, err := unroll(steps, 0, conds, track, maxNodes())
			require.NoError(t, err)
			words = append(words, g.words(most))
		}
		fewer += len(words[2]) - len(words[0])
		for range 20 {
			w := performed(r, steps, conds, most)
			for i := range words {
				require.True(t, words[i][w], "%d, %d: %s of %+v", n, i, w, steps)
			}
		}
	}
	require.Greater(t, fewer, 1000, "knowledge takes paths away")
}

// performed is what one run performs, of so many letters at most; what conditions nobody has set are is chosen at random.
func performed(r *rand.Rand, steps []step, conds, most int) string {
	is := make([]bool, conds)
	for c := range is {
		is[c] = r.IntN(2) == 0
	}
	word := []int32(nil)
	for at, n := int32(0), 0; n < 100; n++ {
		s := &steps[at]
		if s.guard >= 0 && is[s.guard] == s.guardNeg {
			at++
			continue
		}
		if s.letter >= 0 {
			if len(word) == most {
				break
			}
			word = append(word, s.letter)
		}
		next := s.next[0]
		if s.cond >= 0 && is[s.cond] == s.condNeg {
			next = at + 1
		}
		for _, c := range s.defs {
			is[c] = r.IntN(2) == 0
		}
		for _, a := range s.sets {
			if is[a.dst] = a.neg; a.src >= 0 {
				is[a.dst] = is[a.src] != a.neg
			}
		}
		if next == end {
			return fmt.Sprint(word) + "."
		}
		at = next
	}
	return fmt.Sprint(word)
}

// randomSteps is a program of steps that jump, set conditions, or are performed under them.
func randomSteps(r *rand.Rand, n, conds int) []step {
	steps := make([]step, n)
	for i := range steps {
		s := step{next: []int32{int32(i) + 1}, guard: -1, cond: -1, letter: -1}
		c := int32(r.IntN(conds))
		switch r.IntN(4) {
		case 0:
			s.cond, s.condNeg = c, r.IntN(2) == 0
			s.uses = []int32{c}
			s.next = []int32{int32(r.IntN(n))}
		case 1:
			a := assign{dst: c, src: -1, neg: r.IntN(2) == 0}
			if from := int32(r.IntN(conds)); r.IntN(2) == 0 && from != c {
				a = assign{dst: c, src: from, neg: r.IntN(2) == 0, fork: r.IntN(2) == 0}
				s.uses = []int32{from}
			}
			s.defs, s.sets = []int32{c}, []assign{a}
		case 2:
			s.defs = []int32{c}
		default:
			s.letter = int32(i)
		}
		if s.cond < 0 && r.IntN(2) == 0 {
			s.guard, s.guardNeg = int32(r.IntN(conds)), r.IntN(2) == 0
			s.uses = append(s.uses, s.guard)
		}
		steps[i] = s
	}
	steps[n-1] = step{guard: -1, cond: -1, letter: -1, next: []int32{end}}
	return steps
}

// words are those of so many letters at most, the ends of complete ones marked.
func (g *graph) words(most int) map[string]bool {
	out := map[string]bool{}
	type state struct {
		node int32
		word string
	}
	seen := map[state]bool{}
	var walk func(n int32, word []int32)
	walk = func(n int32, word []int32) {
		if n > 1 && g.letter[n] >= 0 {
			if len(word) == most {
				return
			}
			word = append(slices.Clone(word), g.letter[n])
		}
		s := state{n, fmt.Sprint(word)}
		if seen[s] {
			return
		}
		seen[s] = true
		if out[s.word] = true; n == 1 {
			out[s.word+"."] = true
		}
		for _, next := range g.next[n] {
			walk(next, word)
		}
	}
	walk(0, nil)
	return out
}
