package rel

import "math/bits"

// Union sets dst to a ∪ b.
func Union[T ~[]uint64](dst, a, b T) {
	a, b = a[:len(dst)], b[:len(dst)]
	for i := range dst {
		dst[i] = a[i] | b[i]
	}
}

// Inter sets dst to a ∩ b.
func Inter[T ~[]uint64](dst, a, b T) {
	a, b = a[:len(dst)], b[:len(dst)]
	for i := range dst {
		dst[i] = a[i] & b[i]
	}
}

// Diff sets dst to a \ b.
func Diff[T ~[]uint64](dst, a, b T) {
	a, b = a[:len(dst)], b[:len(dst)]
	for i := range dst {
		dst[i] = a[i] &^ b[i]
	}
}

// ComplementSet sets dst to the events of 0…n-1 that are not in a.
func ComplementSet(dst, a Set, n int) {
	for k, w := range a {
		m := ^uint64(0)
		if left := n - 64*k; left < 64 {
			m = 1<<left - 1
		}
		dst[k] = ^w & m
	}
}

// Complement sets dst to all pairs that are not in a.
func Complement(dst, a Rel) {
	n := len(a)
	if n <= 64 {
		m := ^uint64(0) >> (64 - uint(n))
		for i, w := range a {
			dst[i] = ^w & m
		}
		return
	}
	n = a.N()
	for i := 0; i < n; i++ {
		ComplementSet(dst.Row(i), a.Row(i), n)
	}
}

// Seq sets dst to the composition a;b. dst must not be the slice b.
func Seq(dst, a, b Rel) {
	if len(a) <= 64 {
		dst, b = dst[:len(a)], b[:len(a)]
		for i, w := range a {
			var acc uint64
			for ; w != 0; w &= w - 1 {
				if j := bits.TrailingZeros64(w); j < len(b) {
					acc |= b[j]
				}
			}
			dst[i] = acc
		}
		return
	}
	n, w := a.N(), a.words()
	for i := 0; i < n; i++ {
		var acc [4]uint64
		for k, x := range a[i*w : i*w+w] {
			for ; x != 0; x &= x - 1 {
				j := k<<6 + bits.TrailingZeros64(x)
				for q, y := range b[j*w : j*w+w] {
					acc[q] |= y
				}
			}
		}
		copy(dst[i*w:i*w+w], acc[:w])
	}
}

// Inverse sets dst to the set of (j, i) for (i, j) in a. dst must not be a.
func Inverse(dst, a Rel) {
	Clear(dst)
	if len(a) <= 64 {
		dst = dst[:len(a)]
		for i, w := range a {
			for ; w != 0; w &= w - 1 {
				if j := bits.TrailingZeros64(w); j < len(dst) {
					dst[j] |= 1 << i
				}
			}
		}
		return
	}
	a.Each(func(i, j int) bool { dst.Add(j, i); return true })
}

// Opt sets dst to a ∪ identity.
func Opt(dst, a Rel) {
	if len(a) <= 64 {
		dst = dst[:len(a)]
		for i, w := range a {
			dst[i] = w | 1<<i
		}
		return
	}
	copy(dst, a)
	for i, n := 0, a.N(); i < n; i++ {
		dst.Add(i, i)
	}
}

// Identity sets dst to the identity on all events.
func Identity(dst Rel) {
	Clear(dst)
	for i, n := 0, dst.N(); i < n; i++ {
		dst.Add(i, i)
	}
}

// ToID sets dst to the identity on s.
func ToID(dst Rel, s Set) {
	if len(dst) <= 64 {
		if len(dst) == 0 {
			return
		}
		w := s[0]
		for i := range dst {
			dst[i] = w & (1 << i)
		}
		return
	}
	Clear(dst)
	s.Each(func(e int) bool { dst.Add(e, e); return true })
}

// Cross sets dst to the cartesian product a × b.
func Cross(dst Rel, a, b Set) {
	if len(dst) <= 64 {
		if len(dst) == 0 {
			return
		}
		x, y := a[0], b[0]
		for i := range dst {
			dst[i] = y & -(x >> i & 1)
		}
		return
	}
	for i, n := 0, dst.N(); i < n; i++ {
		if a.Has(i) {
			copy(dst.Row(i), b)
		} else {
			Clear(dst.Row(i))
		}
	}
}

// Restrict sets dst to the pairs of r from a to b: [a];r;[b].
func Restrict(dst Rel, a Set, r Rel, b Set) {
	if len(dst) <= 64 {
		if len(dst) == 0 {
			return
		}
		x, y := a[0], b[0]
		r = r[:len(dst)]
		for i := range dst {
			dst[i] = r[i] & y & -(x >> i & 1)
		}
		return
	}
	for i, n := 0, dst.N(); i < n; i++ {
		if a.Has(i) {
			Inter(dst.Row(i), r.Row(i), b)
		} else {
			Clear(dst.Row(i))
		}
	}
}

// RestrictDomain sets dst to the pairs of r that start in a: [a];r.
func RestrictDomain(dst Rel, a Set, r Rel) {
	if len(dst) <= 64 {
		if len(dst) == 0 {
			return
		}
		x := a[0]
		r = r[:len(dst)]
		for i := range dst {
			dst[i] = r[i] & -(x >> i & 1)
		}
		return
	}
	for i, n := 0, dst.N(); i < n; i++ {
		if a.Has(i) {
			copy(dst.Row(i), r.Row(i))
		} else {
			Clear(dst.Row(i))
		}
	}
}

// RestrictRange sets dst to the pairs of r that end in b: r;[b].
func RestrictRange(dst, r Rel, b Set) {
	if len(dst) <= 64 {
		if len(dst) == 0 {
			return
		}
		y := b[0]
		r = r[:len(dst)]
		for i := range dst {
			dst[i] = r[i] & y
		}
		return
	}
	for i, n := 0, dst.N(); i < n; i++ {
		Inter(dst.Row(i), r.Row(i), b)
	}
}

// Domain sets dst to the events with a successor in r.
func Domain(dst Set, r Rel) {
	if len(r) <= 64 {
		if len(r) == 0 {
			return
		}
		var acc uint64
		for i, w := range r {
			if w != 0 {
				acc |= 1 << i
			}
		}
		dst[0] = acc
		return
	}
	Clear(dst)
	for i, n := 0, r.N(); i < n; i++ {
		if !IsEmpty(r.Row(i)) {
			dst.Add(i)
		}
	}
}

// Range sets dst to the events with a predecessor in r.
func Range(dst Set, r Rel) {
	if len(r) <= 64 {
		if len(r) == 0 {
			return
		}
		var acc uint64
		for _, w := range r {
			acc |= w
		}
		dst[0] = acc
		return
	}
	Clear(dst)
	for i, n := 0, r.N(); i < n; i++ {
		Union(dst, dst, r.Row(i))
	}
}
