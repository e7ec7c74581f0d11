package litmus

import "slices"

// Parted reports whether the test has parts of locations.
func (t *Test) Parted() bool {
	return slices.ContainsFunc(t.Locations, func(l Location) bool { return l.Of != "" })
}

// NonCoherent reports whether the test has loads through a cache that is not coherent.
func (t *Test) NonCoherent() bool {
	return slices.ContainsFunc(t.Threads, func(th Thread) bool {
		return slices.ContainsFunc(th.Body, func(in Instr) bool { return in.Word != nil && in.Proxy == ProxyTexture })
	})
}

// Mixed reports whether two accesses to one location may have different extents: whether the test
// has more than accesses that overlap completely or not at all.
func (t *Test) Mixed() bool {
	type extent struct{ off, width int64 }
	seen := map[string]extent{} // of the accesses to a location
	computed := map[int64]bool{}
	for i := range t.Threads {
		th := &t.Threads[i]
		f := flow{th: th}
		f.index()
		for j := range th.Body {
			in := &th.Body[j]
			if !in.IsAccess() {
				continue
			}
			e := extent{in.Addr.Offset, int64(in.Type.Bits() / 8)}
			base := f.base(in)
			if base == "" {
				computed[e.width] = true
				continue
			}
			if l := t.Location(base); l != nil && l.Alias != "" {
				base = l.Alias
			} else if l != nil && l.Of != "" {
				base, e.off = l.Of, e.off+l.Offset
			}
			if old, ok := seen[base]; ok && old != e {
				return true
			}
			seen[base] = e
		}
	}
	if len(computed) == 0 {
		return false
	}
	for _, e := range seen {
		computed[e.width] = true
	}
	return len(computed) > 1
}
