// Package handle numbers the things that a session of a device owns.
package handle

import "fmt"

// Max bounds the number of things of one kind that may exist at a time.
const Max = 1 << 16

// Table maps handles to things. Handles start at 1 and are not used twice.
type Table[T any] struct {
	last  uint32
	items map[uint32]T
}

// Add stores a thing under a new handle.
func (t *Table[T]) Add(x T) (uint32, error) {
	if len(t.items) >= Max || t.last == ^uint32(0) {
		return 0, fmt.Errorf("more than %d handles of a kind", Max)
	}
	if t.items == nil {
		t.items = map[uint32]T{}
	}
	t.last++
	t.items[t.last] = x
	return t.last, nil
}

// Get returns the thing behind a handle.
func (t *Table[T]) Get(h uint32) (T, bool) {
	x, ok := t.items[h]
	return x, ok
}

// Remove forgets a handle.
func (t *Table[T]) Remove(h uint32) { delete(t.items, h) }

// All calls f for everything in the table, in no order.
func (t *Table[T]) All(f func(h uint32, x T)) {
	for h, x := range t.items {
		f(h, x)
	}
}
