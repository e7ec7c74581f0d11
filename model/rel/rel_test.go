package rel

import (
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"
)

type pair = [2]int

// naive is the obvious implementation: a set of pairs.
type naive map[pair]bool

func drawN(t *rapid.T) int {
	return rapid.SampledFrom([]int{0, 1, 2, 5, 16, 63, 64, 65, 100, 128, 129, 192, 193, 256}).Draw(t, "n")
}

func drawRel(t *rapid.T, n int, name string) (Rel, naive) {
	r, m := NewRel(n), naive{}
	if n == 0 {
		return r, m
	}
	at := rapid.IntRange(0, n-1)
	for i, k := 0, rapid.IntRange(0, 3*min(n, 20)).Draw(t, name); i < k; i++ {
		p := pair{at.Draw(t, "i"), at.Draw(t, "j")}
		r.Add(p[0], p[1])
		m[p] = true
	}
	return r, m
}

func drawSet(t *rapid.T, n int, name string) (Set, map[int]bool) {
	s, m := NewSet(n), map[int]bool{}
	if n == 0 {
		return s, m
	}
	for i, k := 0, rapid.IntRange(0, n).Draw(t, name); i < k; i++ {
		e := rapid.IntRange(0, n-1).Draw(t, "e")
		s.Add(e)
		m[e] = true
	}
	return s, m
}

func same(t *rapid.T, what string, got Rel, want naive) {
	if Count(got) != len(want) {
		t.Fatalf("%s: %d pairs, want %d", what, Count(got), len(want))
	}
	for _, p := range got.Pairs() {
		if !want[p] {
			t.Fatalf("%s: pair %v is too much", what, p)
		}
	}
}

func (m naive) filter(f func(p pair) bool) naive {
	out := naive{}
	for p := range m {
		if f(p) {
			out[p] = true
		}
	}
	return out
}

func (m naive) union(o naive) naive {
	out := naive{}
	for p := range m {
		out[p] = true
	}
	for p := range o {
		out[p] = true
	}
	return out
}

func (m naive) seq(o naive) naive {
	out := naive{}
	by := map[int][]int{}
	for q := range o {
		by[q[0]] = append(by[q[0]], q[1])
	}
	for p := range m {
		for _, j := range by[p[1]] {
			out[pair{p[0], j}] = true
		}
	}
	return out
}

func (m naive) plus() naive {
	cur := m
	for {
		next := cur.union(cur.seq(m))
		if len(next) == len(cur) {
			return cur
		}
		cur = next
	}
}

func ident(n int) naive {
	out := naive{}
	for i := 0; i < n; i++ {
		out[pair{i, i}] = true
	}
	return out
}

func all(n int) naive {
	out := naive{}
	for i := 0; i < n; i++ {
		for j := 0; j < n; j++ {
			out[pair{i, j}] = true
		}
	}
	return out
}

func TestAgainstNaive(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		n := drawN(t)
		a, ma := drawRel(t, n, "a")
		b, mb := drawRel(t, n, "b")
		s, ms := drawSet(t, n, "s")
		u, mu := drawSet(t, n, "u")
		d := NewRel(n)
		d.Fill() // old contents must not show through
		check := func(what string, f func(), want naive) { f(); same(t, what, d, want) }
		check("union", func() { Union(d, a, b) }, ma.union(mb))
		check("inter", func() { Inter(d, a, b) }, ma.filter(func(p pair) bool { return mb[p] }))
		check("diff", func() { Diff(d, a, b) }, ma.filter(func(p pair) bool { return !mb[p] }))
		check("complement", func() { Complement(d, a) }, all(n).filter(func(p pair) bool { return !ma[p] }))
		d.Fill()
		check("seq", func() { Seq(d, a, b) }, ma.seq(mb))
		d.Fill()
		inv := naive{}
		for p := range ma {
			inv[pair{p[1], p[0]}] = true
		}
		check("inverse", func() { Inverse(d, a) }, inv)
		d.Fill()
		check("plus", func() { Plus(d, a) }, ma.plus())
		check("star", func() { Star(d, a) }, ma.plus().union(ident(n)))
		check("opt", func() { Opt(d, a) }, ma.union(ident(n)))
		check("identity", func() { Identity(d) }, ident(n))
		d.Fill()
		check("toid", func() { ToID(d, s) }, ident(n).filter(func(p pair) bool { return ms[p[0]] }))
		d.Fill()
		cross := all(n).filter(func(p pair) bool { return ms[p[0]] && mu[p[1]] })
		check("cross", func() { Cross(d, s, u) }, cross)
		d.Fill()
		check("restrict", func() { Restrict(d, s, a, u) }, ma.filter(func(p pair) bool { return ms[p[0]] && mu[p[1]] }))
		d.Fill()
		check("restrict domain", func() { RestrictDomain(d, s, a) }, ma.filter(func(p pair) bool { return ms[p[0]] }))
		d.Fill()
		check("restrict range", func() { RestrictRange(d, a, u) }, ma.filter(func(p pair) bool { return mu[p[1]] }))

		c := NewSet(n)
		c.Fill(n)
		Domain(c, a)
		for i := 0; i < n; i++ {
			want := len(ma.filter(func(p pair) bool { return p[0] == i })) > 0
			require.Equal(t, want, c.Has(i), "domain of %v at %d", ma, i)
		}
		c.Fill(n)
		Range(c, a)
		for i := 0; i < n; i++ {
			want := len(ma.filter(func(p pair) bool { return p[1] == i })) > 0
			require.Equal(t, want, c.Has(i), "range of %v at %d", ma, i)
		}
		ComplementSet(c, s, n)
		for i := 0; i < n; i++ {
			require.Equal(t, !ms[i], c.Has(i))
		}
		require.Equal(t, n-len(ms), Count(c))
		require.Equal(t, len(ms), len(s.Events()))
	})
}

func TestPredicatesAgainstNaive(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		n := drawN(t)
		a, ma := drawRel(t, n, "a")
		b, mb := drawRel(t, n, "b")
		loops := ma.filter(func(p pair) bool { return p[0] == p[1] })
		require.Equal(t, len(loops) == 0, Irreflexive(a))
		closed := ma.plus()
		loops = closed.filter(func(p pair) bool { return p[0] == p[1] })
		require.Equal(t, len(loops) == 0, Acyclic(a))
		require.Equal(t, len(ma) == 0, IsEmpty(a))
		sub := len(ma.filter(func(p pair) bool { return !mb[p] })) == 0
		require.Equal(t, sub, Subset(a, b))
		require.Equal(t, sub && len(ma) == len(mb), Equal(a, b))
		cyc := Cycle(a)
		require.Equal(t, len(loops) != 0, cyc != nil)
		seen := map[int]bool{}
		for k, e := range cyc {
			require.True(t, ma[pair{e, cyc[(k+1)%len(cyc)]}], "%v is no cycle of %v", cyc, ma)
			require.False(t, seen[e], "%v repeats", cyc)
			seen[e] = true
		}
		if n > 0 {
			x, y := rapid.IntRange(0, n-1).Draw(t, "x"), rapid.IntRange(0, n-1).Draw(t, "y")
			p := Path(a, x, y)
			require.Equal(t, closed[pair{x, y}], p != nil)
			for k := 1; k < len(p); k++ {
				require.True(t, ma[pair{p[k-1], p[k]}])
			}
			if p != nil {
				require.Equal(t, []int{x, y}, []int{p[0], p[len(p)-1]})
			}
		}
	})
}

func TestAliasing(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		n := drawN(t)
		a, ma := drawRel(t, n, "a")
		b, mb := drawRel(t, n, "b")
		keep := Clone(a)
		Seq(a, a, b)
		same(t, "seq in place", a, ma.seq(mb))
		copy(a, keep)
		Plus(a, a)
		same(t, "plus in place", a, ma.plus())
		copy(a, keep)
		Complement(a, a)
		Complement(a, a)
		require.True(t, Equal(a, keep))
	})
}

func TestNOfEverySize(t *testing.T) {
	for n := 0; n <= MaxEvents; n++ {
		r := NewRel(n)
		require.Equal(t, n, r.N())
		r.Fill()
		require.Equal(t, n*n, Count(r))
		Complement(r, r)
		require.True(t, IsEmpty(r))
	}
}

func TestArena(t *testing.T) {
	for _, n := range []int{1, 64, 200, 256} {
		a := &Arena{}
		a.Init(n)
		var rs []Rel
		for i := 0; i < 50; i++ {
			r := a.Rel()
			require.True(t, IsEmpty(r))
			r.Fill()
			s := a.Set()
			require.True(t, IsEmpty(s))
			s.Fill(n)
			rs = append(rs, r)
		}
		for _, r := range rs {
			require.Equal(t, n*n, Count(r))
		}
		m := a.Mark()
		x := a.Rel()
		a.Release(m)
		y := a.Rel()
		require.Same(t, &x[0], &y[0])
		require.Zero(t, testing.AllocsPerRun(10, func() {
			a.Reset()
			for i := 0; i < 50; i++ {
				a.Rel()
			}
		}))
	}
}

func BenchmarkOps(b *testing.B) {
	for _, n := range []int{16, 64, 128} {
		x, y, d := NewRel(n), NewRel(n), NewRel(n)
		for i := 0; i < n; i++ {
			for j := i + 1; j < min(n, i+4); j++ {
				x.Add(i, j)
			}
			y.Add(i, (i*7+3)%n)
		}
		run := func(name string, f func()) {
			b.Run(fmt.Sprintf("%s/%d", name, n), func(b *testing.B) {
				b.ReportAllocs()
				for i := 0; i < b.N; i++ {
					f()
				}
			})
		}
		run("union", func() { Union(d, x, y) })
		run("seq", func() { Seq(d, x, y) })
		run("plus", func() { Plus(d, x) })
		run("plusCyclic", func() { Plus(d, y) })
		run("acyclic", func() { Acyclic(x) })
	}
}
