package dict

import (
	"encoding/binary"
	"iter"
)

// table holds entries in the form in which they are stored: there are millions, and those of
// which a program has need are few.
type table struct {
	places map[Key]place
	texts  []string
}

// place is where an entry stands: in which text, and where in it.
type place struct{ text, at uint32 }

func newTable() *table { return &table{places: map[Key]place{}} }

func (t *table) has(k Key) bool {
	_, ok := t.places[k]
	return ok
}

func (t *table) get(k Key) (entry, bool) {
	p, ok := t.places[k]
	if !ok {
		return entry{}, false
	}
	r := segment{rest: t.texts[p.text][p.at:]}
	return r.entry(), true
}

// all runs over the table, in no order.
func (t *table) all() iter.Seq2[Key, entry] {
	return func(yield func(Key, entry) bool) {
		for k := range t.places {
			if e, _ := t.get(k); !yield(k, e) {
				return
			}
		}
	}
}

// put adds entries.
func (t *table) put(keys []Key, entries []entry) {
	var text []byte
	places := make([]uint32, len(keys))
	for i := range keys {
		places[i] = uint32(len(text))
		text = appendEntry(text, &entries[i])
	}
	t.add(string(text), keys, places)
}

// add takes over a text with entries.
func (t *table) add(text string, keys []Key, places []uint32) {
	t.texts = append(t.texts, text)
	for i, k := range keys {
		t.places[k] = place{uint32(len(t.texts) - 1), places[i]}
	}
}

func appendEntry(b []byte, e *entry) []byte {
	b = append(b, byte(e.kind))
	return binary.AppendVarint(appendText(appendText(b, e.text), e.after), e.rel)
}

func (r *segment) entry() entry {
	return entry{kind: kind(r.byte()), text: r.text(), after: r.text(), rel: r.signed()}
}
