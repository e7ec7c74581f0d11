package emu

import (
	"maps"
	"math/rand/v2"
	"slices"
	"testing"
)

// TestWords: a map of words is one of the language, in the order in which words were put in.
func TestWords(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	for range 300 {
		var m, twin Words[uint32]
		want, order, most := map[Word]uint32{}, []Word(nil), 1<<r.IntN(10)
		for range r.IntN(600) {
			w := Word(r.IntN(most))<<r.IntN(2) | sharedWord&-Word(r.IntN(2))
			switch r.IntN(50) {
			case 0:
				m.Clear()
				clear(want)
				order = nil
			default:
				if _, ok := want[w]; !ok {
					order = append(order, w)
				}
				v := r.Uint32()
				*m.At(w), want[w] = v, v
			}
			if x := Word(r.IntN(most)); m.Of(x) != want[x] || (m.Get(x) == nil) != (!has(want, x)) || m.Len() != len(want) {
				t.Fatalf("word %d of %d: %v, want %v", x, m.Len(), m.Of(x), want[x])
			}
		}
		if got := maps.Collect(m.All()); !maps.Equal(got, want) {
			t.Fatalf("%v, want %v", got, want)
		}
		i := 0
		for w := range m.All() {
			if w != order[i] {
				t.Fatalf("word %d is %d, want %d", i, w, order[i])
			}
			i++
		}
		slices.Reverse(order)
		for _, w := range order {
			*twin.At(w) = want[w]
		}
		same := func(a, b uint32) bool { return a == b }
		if !m.Equal(&twin, same) {
			t.Fatal("maps with the same words differ")
		}
		if len(order) > 0 {
			*twin.At(order[0])++
			if m.Equal(&twin, same) || twin.Equal(&m, same) {
				t.Fatal("maps with other values are equal")
			}
		}
		*twin.At(1 << 40)++
		if m.Equal(&twin, same) || twin.Equal(&m, same) {
			t.Fatal("maps with other words are equal")
		}
	}
	var none *Words[uint32]
	if none.Len() != 0 || none.Get(1) != nil || !none.Equal(&Words[uint32]{}, nil) {
		t.Error("nil is not empty")
	}
}

func has(m map[Word]uint32, w Word) bool { _, ok := m[w]; return ok }
