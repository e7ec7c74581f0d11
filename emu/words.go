package emu

import (
	"iter"
	"math/bits"
)

// Words is a map from words of memory, in the order in which they were put in. Its zero value is empty, and a nil one may be read. Maps of
// the language were most of what stores cost.
type Words[V any] struct {
	list []entry[V]
	// slots are the places of a table of open addressing: numbers of entries and 1, 0 for none. Few entries have no table.
	slots []uint32
}

type entry[V any] struct {
	word  Word
	value V
}

// fewWords are searched one by one.
const fewWords = 6

// Len is how many words there are.
func (m *Words[V]) Len() int {
	if m == nil {
		return 0
	}
	return len(m.list)
}

// Get is the value of a word, nil if there is none. It is valid until another word is put in.
func (m *Words[V]) Get(w Word) *V {
	if m == nil {
		return nil
	}
	if len(m.slots) == 0 {
		for i := range m.list {
			if m.list[i].word == w {
				return &m.list[i].value
			}
		}
		return nil
	}
	if n := m.slots[m.slot(w)]; n > 0 {
		return &m.list[n-1].value
	}
	return nil
}

// Of is the value of a word, that of its type that is empty if there is none.
func (m *Words[V]) Of(w Word) (v V) {
	if x := m.Get(w); x != nil {
		v = *x
	}
	return v
}

// At is the value of a word, which is put in if it is not there.
func (m *Words[V]) At(w Word) *V {
	if v := m.Get(w); v != nil {
		return v
	}
	m.list = append(m.list, entry[V]{word: w})
	switch n := len(m.list); {
	case n > len(m.slots)/2 && n > fewWords:
		m.grow()
	case len(m.slots) > 0:
		m.slots[m.slot(w)] = uint32(n)
	}
	return &m.list[len(m.list)-1].value
}

// slot is the place of a word in the table, or that in which it belongs.
func (m *Words[V]) slot(w Word) int {
	mask := len(m.slots) - 1
	for i := int(uint64(w) * 0x9e3779b97f4a7c15 >> (64 - bits.Len(uint(mask)))); ; i = (i + 1) & mask {
		if n := m.slots[i]; n == 0 || m.list[n-1].word == w {
			return i
		}
	}
}

func (m *Words[V]) grow() {
	m.slots = make([]uint32, max(32, 2*len(m.slots)))
	for i := range m.list {
		m.slots[m.slot(m.list[i].word)] = uint32(i + 1)
	}
}

// Clear removes all words.
func (m *Words[V]) Clear() {
	if m.list = m.list[:0]; len(m.slots) > 64 { // to clear a large table costs more than to make a small one
		m.slots = nil
	}
	clear(m.slots)
}

// Equal reports whether two maps have the same words with values that are the same.
func (m *Words[V]) Equal(o *Words[V], same func(a, b V) bool) bool {
	if m.Len() != o.Len() {
		return false
	}
	for w, v := range m.All() {
		if x := o.Get(w); x == nil || !same(v, *x) {
			return false
		}
	}
	return true
}

// All are the words and their values, in order.
func (m *Words[V]) All() iter.Seq2[Word, V] {
	return func(yield func(Word, V) bool) {
		if m == nil {
			return
		}
		for i := range m.list {
			if !yield(m.list[i].word, m.list[i].value) {
				return
			}
		}
	}
}
