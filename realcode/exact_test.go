package realcode

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// TestExactWords: with all that is known of conditions, the words of a program are those that some run performs: none is lost, and none
// comes to them. So it is of those letters that are asked about. Where a condition is one of two and the other is not known, only none is lost.
func TestExactWords(t *testing.T) {
	r := rand.New(rand.NewPCG(33, 2))
	called := 0
	for n := range 3000 {
		const conds, most = 3, 4
		steps, mixed := randomCalls(r, 3+r.IntN(6), conds)
		var asked []int32
		for i := range steps {
			if called += len(steps[i].call); steps[i].letter >= 0 && r.IntN(2) == 0 {
				asked = append(asked, steps[i].letter)
			}
		}
		compare := func(g *graph, err error, all bool) {
			require.NoError(t, err)
			want := runsOf(steps, conds, most, func(l int32) bool { return all || slices.Contains(asked, l) })
			got := g.words(most)
			for w := range want {
				require.True(t, got[w], "%d: %s is lost of %+v", n, w, steps)
			}
			for w := range got {
				require.True(t, mixed || want[w], "%d: %s is none of %+v", n, w, steps)
			}
		}
		g, err := unroll(steps, 0, conds, everyCondition(conds), maxNodes())
		compare(g, err, true)
		was := fmt.Sprint(steps)
		narrow := about(steps, conds, asked)
		require.Equal(t, was, fmt.Sprint(steps))
		g, err = unroll(narrow, 0, conds, everyCondition(conds), maxNodes())
		compare(g, err, false)
	}
	require.Greater(t, called, 300)
}

// runsOf are the words of all runs, of so many of the letters at most that are asked about.
func runsOf(steps []step, conds, most int, asked func(int32) bool) map[string]bool {
	type state struct {
		at, back int32
		is       uint // conditions
		word     string
		n        int
	}
	out, seen, work := map[string]bool{}, map[state]bool{}, []state{}
	add := func(s state) {
		if !seen[s] {
			seen[s], out[s.word] = true, true
			work = append(work, s)
		}
	}
	for is := range uint(1) << conds {
		add(state{back: end, is: is, word: fmt.Sprint([]int32(nil))})
	}
	for len(work) > 0 {
		s := work[len(work)-1]
		work = work[:len(work)-1]
		if s.at == end {
			out[s.word+"."] = true
			continue
		}
		x := &steps[s.at]
		on := s
		if on.at++; x.guard >= 0 && (s.is>>x.guard&1 != 0) == x.guardNeg {
			add(on)
			continue
		}
		if x.letter >= 0 && asked(x.letter) {
			if on.n++; on.n > most {
				continue
			}
			on.word = strings.Replace(s.word[:len(s.word)-1]+fmt.Sprintf(" %d]", x.letter), "[ ", "[", 1)
			out[on.word] = true
		}
		if x.cond >= 0 && (s.is>>x.cond&1 != 0) == x.condNeg {
			add(on)
			continue
		}
		to := x.next
		switch {
		case len(x.call) > 0:
			on.back, to = s.at+1, x.call
		case x.ret:
			on.back, to = end, []int32{s.back}
		}
		for _, is := range x.outcomes(s.is) {
			for _, at := range to {
				on.at, on.is = at, is
				add(on)
			}
		}
	}
	return out
}

// outcomes are what the conditions may be behind a step.
func (s *step) outcomes(is uint) []uint {
	list := []uint{is}
	for _, c := range s.defs {
		for _, x := range list {
			list = append(list, x^1<<c)
		}
	}
	for _, a := range s.sets {
		list = slices.DeleteFunc(list, func(x uint) bool {
			v := a.neg
			if a.src >= 0 {
				v = (is>>a.src&1 != 0) != a.neg
			}
			got := x>>a.dst&1 != 0
			return (a.with == "" || v == (a.with == "OR")) && got != v
		})
	}
	return list
}

// randomCalls is a program of steps that jump, set conditions, call and return, or are performed under conditions. It also tells whether a
// condition is made of one and another that is not known.
func randomCalls(r *rand.Rand, n, conds int) (steps []step, mixed bool) {
	const callee = 3
	for i := range n + callee {
		s := step{next: []int32{int32(i) + 1}, guard: -1, cond: -1, letter: -1}
		c := int32(r.IntN(conds))
		switch r.IntN(5) {
		case 0:
			s.cond, s.condNeg = c, r.IntN(2) == 0
			if s.next = []int32{int32(r.IntN(n))}; i >= n {
				s.next = []int32{int32(n + r.IntN(callee))}
			}
		case 1:
			a := assign{dst: c, src: -1, neg: r.IntN(2) == 0}
			if from := int32(r.IntN(conds)); r.IntN(3) != 0 && from != c {
				if a.src, a.fork = from, true; r.IntN(8) == 0 {
					a.fork, a.with, mixed = false, []string{"OR", "AND"}[r.IntN(2)], true
				}
				s.uses = []int32{from}
			}
			s.defs, s.sets = []int32{c}, []assign{a}
		case 2:
			s.defs = []int32{c}
		case 3:
			if i < n && r.IntN(2) == 0 {
				s.call = []int32{int32(n)}
			}
		default:
			s.letter = int32(i)
		}
		if s.cond < 0 && r.IntN(2) == 0 {
			s.guard, s.guardNeg = int32(r.IntN(conds)), r.IntN(2) == 0
		}
		steps = append(steps, s)
	}
	steps[n-1] = step{guard: -1, cond: -1, letter: -1, next: []int32{end}}
	steps[n+callee-1] = step{guard: -1, cond: -1, letter: -1, ret: true}
	for i := range steps { // what ends, calls or returns may set a condition, too
		if s := &steps[i]; (i == n-1 || s.ret || s.call != nil) && r.IntN(2) == 0 {
			c := int32(r.IntN(conds))
			s.defs, s.sets = []int32{c}, []assign{{dst: c, src: -1, neg: r.IntN(2) == 0}}
		}
	}
	if r.IntN(4) == 0 { // a trap
		steps[r.IntN(n)].next = nil
	}
	return steps, mixed
}
