package realcode

import (
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"optcheck/isa"
	"optcheck/ptx"
)

// line is a program of letters one after the other, with optional jumps: from a
// position to another, or on.
func line(word string, jumps map[int]int32) []step {
	var steps []step
	for i, c := range word {
		s := step{guard: -1, cond: -1, letter: -1, next: []int32{int32(i) + 1}}
		if c != '.' {
			s.letter = c - 'a'
		}
		if to, ok := jumps[i]; ok {
			s.next = append(s.next, to)
		}
		steps = append(steps, s)
	}
	return append(steps, step{guard: -1, cond: -1, letter: -1, next: []int32{end}})
}

// trapped is a program that ends in a trap.
func trapped(steps []step) []step {
	steps[len(steps)-1].next = nil
	return steps
}

func wordsDiffer(t *testing.T, ptx, code []step, p policy) string {
	t.Helper()
	a, err := unroll(ptx, 0, 0, everyCondition(0), 1000)
	require.NoError(t, err)
	b, err := unroll(code, 0, 0, everyCondition(0), 1000)
	require.NoError(t, err)
	letters := func(g *graph) []int32 {
		out := make([]int32, len(g.letter))
		for i, l := range g.letter {
			out[i] = int32(l + 1)
		}
		return out
	}
	q := &pairing{ptx: a, code: b, inPTX: letters(a), inCode: letters(b), policy: p}
	v := q.check()
	if v == nil {
		return "ok"
	}
	return v.text()
}

func TestInclusion(t *testing.T) {
	loop := map[int]int32{3: 0}
	load := policy{optional: true, early: true}
	for _, c := range []struct {
		name      string
		ptx, code []step
		policy    policy
		want      string
	}{
		{"the same", line("ab", nil), line("ab", nil), policy{}, "ok"},
		{"swapped", line("ab", nil), line("ba", nil), policy{}, "b"},
		{"dropped", line("ab", nil), line("a", nil), policy{}, "a"},
		{"twice", line("ab", nil), line("abb", nil), policy{}, "abb"},
		{"tries again", line("ab", nil), line("ab.", map[int]int32{2: 1}), policy{stutter: [2]bool{false, true}}, "ok"},
		{"made by two that try again", line("ab", nil), line("ab.b.", map[int]int32{2: 1, 4: 3}), policy{stutter: [2]bool{false, true}}, "abb"},
		{"tries again, in a loop", line("a.b.", map[int]int32{1: 0}), line("aab", nil), policy{stutter: [2]bool{true, true}}, "ok"},
		{"a loop that tries again", line("ba..", map[int]int32{2: 0}), line("b.a.", map[int]int32{1: 0}), policy{stutter: [2]bool{true, true}}, "ok"},
		{"a loop unrolled", line("a.b.", loop), line("a.b.a.b.", map[int]int32{3: 8, 7: 0}), policy{}, "ok"},
		{"a loop turned", line("a.b.", loop), line("b.a.", loop), policy{}, "b"},
		{"a load left out", line("ab", nil), line("a", nil), load, "ok"},
		{"a load that rises", line("ab", nil), line("ba", nil), load, "b"},
		{"a load that sinks", line("ba", nil), line("ab", nil), load, "ab"},
		{"a load before its condition", line(".b", map[int]int32{0: 2}), line("b.", nil), load, "ok"},
		{"a load before its condition and a fence", line("a.b", map[int]int32{1: 3}), line("ba.", nil), load, "b"},
		{"sinks below an acquire", line("ba", nil), line("ab", nil), policy{sink: true}, "ok"},
		{"rises above an acquire", line("ab", nil), line("ba", nil), policy{sink: true}, "b"},
		{"rises above a release", line("ab", nil), line("ba", nil), policy{rise: true}, "ok"},
		{"sinks below a release", line("ba", nil), line("ab", nil), policy{rise: true}, "a"},
		{"sinks and is lost", line("ba", nil), line("a", nil), policy{sink: true}, "a"},
		{"rises and comes twice", line("ab", nil), line("bab", nil), policy{rise: true}, "bab"},
		{"before a trap", trapped(line("ab", nil)), trapped(line("ab", nil)), policy{}, "ok"},
		{"more before a trap", trapped(line("ab", nil)), trapped(line("abb", nil)), policy{}, "abb"},
		{"a trap that is gone", trapped(line("ab", nil)), line("ab", nil), policy{}, "ab"},
		{"a loop without end", line("ab.", map[int]int32{2: 2}), line("ab.", map[int]int32{2: 2}), policy{}, "ok"},
		{"a loop turned, released", line("b.a.", loop), line("a.b.", loop), policy{rise: true}, "a"},
	} {
		require.Equal(t, c.want, wordsDiffer(t, c.ptx, c.code, c.policy), c.name)
	}
}

// TestConditions: two branches of one condition are one choice, and a condition that
// is computed anew is another.
func TestConditions(t *testing.T) {
	// 0: @!p0 goto 2; 1: a; 2: @!p0 goto 4; 3: b; 4: end
	two := func(defs []int32) []step {
		s := line(".a.b", nil)
		s[0].cond, s[0].condNeg, s[0].next = 0, true, []int32{2}
		s[2].cond, s[2].condNeg, s[2].next = 0, true, []int32{4}
		s[1].defs = defs
		return s
	}
	g := func(s []step) *graph {
		g, err := unroll(s, 0, 1, everyCondition(1), 1000)
		require.NoError(t, err)
		return g
	}
	words := func(g *graph) map[string]bool {
		out := map[string]bool{}
		var walk func(n int32, w string)
		walk = func(n int32, w string) {
			if l := g.letter[n]; l >= 0 {
				w += string(rune('a' + l))
			}
			if n == 1 {
				out[w] = true
			}
			for _, x := range g.next[n] {
				walk(x, w)
			}
		}
		walk(0, "")
		return out
	}
	require.Equal(t, map[string]bool{"": true, "ab": true}, words(g(two(nil))))
	require.Equal(t, map[string]bool{"": true, "ab": true, "a": true}, words(g(two([]int32{0}))))
	_, err := unroll(two(nil), 0, 1, everyCondition(1), 3)
	require.Error(t, err)
	other, err := unroll(two(nil), 0, 2, conditions{1 << 1}, 1000)
	require.NoError(t, err)
	require.Equal(t, map[string]bool{"": true, "ab": true, "a": true, "b": true}, words(other), "nothing is known of the first condition")
	s := line("a", nil)
	s[0].call = []int32{0}
	_, err = unroll(s, 0, 0, everyCondition(0), 1000)
	require.ErrorContains(t, err, "recursion")
}

// TestOrders: if all words of several letters are in order, those of each two of them are,
// whatever of the second may move.
func TestOrders(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	program := func() *graph {
		word, jumps := []byte(".."), map[int]int32{}
		for range 3 + rng.IntN(5) {
			word = append(word, "abcd...."[rng.IntN(8)])
		}
		for range rng.IntN(4) {
			jumps[rng.IntN(len(word))] = int32(rng.IntN(len(word) + 1))
		}
		g, err := unroll(line(string(word), jumps), 0, 0, everyCondition(0), 1000)
		require.NoError(t, err)
		return g
	}
	letters := func(g *graph, of [4]int32) []int32 {
		out := make([]int32, len(g.letter))
		for i, l := range g.letter {
			if l >= 0 {
				out[i] = of[l]
			}
		}
		return out
	}
	coin := func() bool { return rng.IntN(2) == 0 }
	inOrder := 0
	for range 20_000 {
		a, b := program(), program()
		p := policy{stutter: [2]bool{coin(), coin()}, pieces: coin()}
		ask := func(of [4]int32, p policy) *violation {
			return (&pairing{ptx: a, code: b, inPTX: letters(a, of), inCode: letters(b, of), policy: p,
				more: slices.Repeat([]bool{p.stutter[0]}, 6)}).check()
		}
		if ask([4]int32{3, 2, 4, 5}, p) != nil {
			continue
		}
		inOrder++
		for range 4 {
			p.optional, p.early, p.rise, p.sink = coin(), coin(), coin(), coin()
			for _, of := range [][4]int32{{1, 2, 0, 0}, {0, 2, 1, 0}, {0, 2, 0, 1}} {
				require.Nil(t, ask(of, p), "%v %v %+v: %v in %v", a.letter, a.next, p, b.letter, b.next)
			}
		}
	}
	require.Greater(t, inOrder, 300)
}

// TestTooManyPairs: a kernel of too many operations is unknown at once.
func TestTooManyPairs(t *testing.T) {
	text := ".version 7.0\n.target sm_70\n.entry k(.param .u64 p)\n{\n" + strings.Repeat("membar.gl;\nst.global.u32 [p], 1;\n", 5000) + "}\n"
	m, err := ptx.Parse("k.ptx", []byte(text))
	require.NoError(t, err)
	r := Check(m, &isa.Program{Funcs: []*isa.Func{{Name: "k"}}}, 70)
	require.Len(t, r.Unknown, 1)
	require.Contains(t, r.Unknown[0].Detail, "10000 operations, of which 5000 synchronise, make 50000000 pairs: more than the 20000000 of one kernel")
}
