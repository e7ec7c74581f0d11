package audit

// generations is a cache of recently used values with a bound in bytes. When half of the bound
// is full, the young values become old, and the old ones are forgotten. It is not safe for
// concurrent use.
type generations[K comparable, V any] struct {
	young, old map[K]sized[V]
	bytes      int // of young
	bound      int // of both
}

type sized[V any] struct {
	value V
	bytes int
}

// newGenerations returns an empty cache of at most about bound bytes.
func newGenerations[K comparable, V any](bound int) *generations[K, V] {
	return &generations[K, V]{young: map[K]sized[V]{}, bound: bound}
}

// get returns the value of a key, and whether it is in the cache.
func (g *generations[K, V]) get(k K) (V, bool) {
	x, ok := g.young[k]
	if !ok {
		if x, ok = g.old[k]; ok {
			g.put(k, x.value, x.bytes)
		}
	}
	return x.value, ok
}

// put stores a value of about the given size, including its key.
func (g *generations[K, V]) put(k K, v V, bytes int) {
	if x, ok := g.young[k]; ok {
		g.bytes -= x.bytes
	}
	g.young[k] = sized[V]{v, bytes}
	if g.bytes += bytes; g.bytes > g.bound/2 {
		g.old, g.young, g.bytes = g.young, map[K]sized[V]{}, 0
	}
}

// forget removes a value.
func (g *generations[K, V]) forget(k K) {
	if x, ok := g.young[k]; ok {
		g.bytes -= x.bytes
		delete(g.young, k)
	}
	delete(g.old, k)
}
