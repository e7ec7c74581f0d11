package realcode

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"
)

// TestInclusionHolds: a violation is a word of the code that the PTX has under no policy's freedom, and without one there is none. All words
// of small random programs are listed for that.
func TestInclusionHolds(t *testing.T) {
	r := rand.New(rand.NewPCG(33, 3))
	kinds := map[string]int{}
	for n := range 4000 {
		const most = 5
		p := policy{optional: r.IntN(4) == 0, sink: r.IntN(3) == 0, rise: r.IntN(3) == 0, pieces: r.IntN(4) == 0,
			stutter: [2]bool{r.IntN(4) == 0, r.IntN(4) == 0}}
		source, code := randomLetters(t, r), randomLetters(t, r)
		if r.IntN(3) == 0 { // nearly the same
			code = source
		}
		q := &pairing{ptx: source, code: code, inPTX: twoLetters(source), inCode: twoLetters(code), policy: p}
		v := q.check()
		free := &freely{pairing: q, most: most + 2, prefixes: map[string]bool{"": true}, whole: map[string]bool{}, seen: map[freeState]bool{}}
		free.behind(freeState{})
		shown := false
		q.eachWord(most, func(w []codeLetter, whole bool) {
			list := free.prefixes
			if whole {
				list = free.whole
			}
			has := slices.ContainsFunc(q.reductions(w), func(s string) bool { return list[s] })
			said := fmt.Sprintf("%d: %v, whole %v, %+v\n%v %v\n%v %v", n, w, whole, p, source.next, q.inPTX, code.next, q.inCode)
			require.True(t, has || v != nil, said)
			shown = shown || v != nil && !has && whole == (v.node == 1) && spelled(w) == fmt.Sprint(v.word)
			ends := map[bool]int{true: 1}[whole] // the end counts as a letter
			require.True(t, has || len(w)+ends >= len(v.word), "a shorter one: %s", said)
		})
		require.True(t, v == nil || shown || len(v.word) > most, "%d: %+v is none", n, v)
		kinds[fmt.Sprint(v != nil)]++
	}
	require.Greater(t, min(kinds["true"], kinds["false"]), 500, kinds)
}

func spelled(w []codeLetter) string {
	var list []int32
	for _, x := range w {
		list = append(list, x.letter)
	}
	return fmt.Sprint(list)
}

// randomLetters is a small program of the two letters.
func randomLetters(t *testing.T, r *rand.Rand) *graph {
	n := 2 + r.IntN(5)
	steps := make([]step, n)
	for i := range steps {
		s := step{guard: -1, cond: -1, letter: int32(r.IntN(3)) - 1, next: []int32{int32(i) + 1}}
		switch r.IntN(4) {
		case 0:
			s.next = append(s.next, int32(r.IntN(n)))
		case 1:
			if r.IntN(6) == 0 {
				s.next = nil
			}
		}
		steps[i] = s
	}
	steps[n-1] = step{guard: -1, cond: -1, letter: -1, next: []int32{end}}
	g, err := unroll(steps, 0, 0, everyCondition(0), maxNodes())
	require.NoError(t, err)
	return g
}

func twoLetters(g *graph) (out []int32) {
	for _, l := range g.letter {
		out = append(out, l+1)
	}
	return out
}

// codeLetter is one of a word of the code, and its instruction.
type codeLetter struct{ letter, of int32 }

// eachWord lists the words of the code, whole ones and their beginnings.
func (p *pairing) eachWord(most int, do func(w []codeLetter, whole bool)) {
	seen := map[string]bool{}
	var walk func(n int32, w []codeLetter)
	walk = func(n int32, w []codeLetter) {
		key := fmt.Sprint(n, w)
		if seen[key] {
			return
		}
		seen[key] = true
		for _, y := range p.code.next[n] {
			x := w
			switch l := p.inCode[y]; {
			case y == 1:
				do(w, true)
				continue
			case l != 0:
				if len(w) == most {
					continue
				}
				x = append(slices.Clone(w), codeLetter{l, p.code.of[y]})
				do(x, false)
			}
			walk(y, x)
		}
	}
	walk(0, nil)
}

// reductions are what a word of the code may count as: an instruction that follows itself may count once.
func (p *pairing) reductions(w []codeLetter) []string {
	out := []string{""}
	for i, x := range w {
		again := i > 0 && (p.policy.stutter[x.letter-1] && w[i-1].of == x.of || x.letter == 2 && p.policy.pieces && w[i-1].letter == 2)
		if x.letter == 2 && p.policy.pieces { // then its instruction does not matter
			again = i > 0 && w[i-1].letter == 2
		}
		for _, s := range slices.Clone(out) {
			if !again {
				out = out[1:]
			}
			out = append(out, s+fmt.Sprint(x.letter))
		}
	}
	return out
}

// freely lists the words that the PTX has with the freedom of a policy: letters 2 that are owed have moved behind others, at most two
// at a time, and those that are lent in front of others.
type freely struct {
	*pairing
	most            int
	prefixes, whole map[string]bool
	seen            map[freeState]bool
}

type freeState struct {
	node int32
	at   bool // the node is not performed yet
	owed int  // below 0: lent
	word string
}

// behind goes on from a node that has been performed.
func (f *freely) behind(s freeState) {
	for _, y := range f.ptx.next[s.node] {
		f.at(freeState{y, true, s.owed, s.word})
	}
}

func (f *freely) at(s freeState) {
	if f.seen[s] || len(s.word) > f.most {
		return
	}
	f.seen[s], f.prefixes[s.word] = true, true
	if s.node != 1 && f.inPTX[s.node] == 0 {
		f.behind(s)
		return
	}
	say := func(letter string, owed int, performed bool) {
		to := freeState{s.node, true, owed, s.word + letter}
		f.prefixes[to.word] = true
		if performed {
			f.behind(to)
		} else {
			f.at(to)
		}
	}
	if s.owed > 0 || f.policy.rise && s.owed > -pending && f.mayFollow(s.node, map[int32]bool{}) {
		say("2", s.owed-1, false)
	}
	switch {
	case s.node == 1:
		if s.owed == 0 || f.policy.optional {
			f.whole[s.word] = true
		}
	case f.inPTX[s.node] == 1:
		say("1", s.owed, true)
	default:
		say("2", s.owed, true)
		if f.policy.optional {
			say("", s.owed, true)
		}
		if (f.policy.sink || s.owed < 0) && s.owed < pending {
			say("", s.owed+1, true)
		}
	}
}

// mayFollow reports whether the second letter is at a node or behind it.
func (f *freely) mayFollow(n int32, seen map[int32]bool) bool {
	if n == 1 || seen[n] {
		return false
	}
	seen[n] = true
	return f.inPTX[n] == 2 || slices.ContainsFunc(f.ptx.next[n], func(x int32) bool { return f.mayFollow(x, seen) })
}
