package litmus

// Mixed reports whether the test may access some bytes as parts of words of different sizes, or
// of different addresses: whether two of its accesses may overlap in part.
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
			}
			if old, ok := seen[base]; ok && old != e {
				return true
			}
			seen[base] = e
		}
	}
	for _, e := range seen {
		computed[e.width] = computed[e.width] || len(computed) > 0
	}
	return len(computed) > 1
}
