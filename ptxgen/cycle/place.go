package cycle

import (
	"fmt"
	"iter"
	"slices"
	"strings"

	"optcheck/litmus"
)

// Levels says which levels of the execution hierarchy may lie between two
// threads of a test.
type Levels struct {
	Warp    bool // threads of one warp
	CTA     bool // warps of one CTA
	Cluster bool // CTAs of one cluster
	GPU     bool // clusters, or CTAs outside of clusters, of one grid
	Sys     bool // different GPUs
}

// Placements yields every way to place n threads that differs in which levels they share, each
// once. Numbers count from 0 in the order of the threads. The slice is reused for the next
// placement.
func Placements(n int, l Levels) iter.Seq[[]litmus.Place] {
	return func(yield func([]litmus.Place) bool) {
		place := make([]litmus.Place, n)
		var rec func(i int) bool
		rec = func(i int) bool {
			if i == n {
				return yield(place)
			}
			for _, p := range l.next(place[:i]) {
				place[i] = p
				if !rec(i + 1) {
					return false
				}
			}
			return true
		}
		rec(0)
	}
}

// next lists the places that a further thread may have.
func (l Levels) next(before []litmus.Place) []litmus.Place {
	if len(before) == 0 {
		return []litmus.Place{{}}
	}
	var out []litmus.Place
	add := func(p litmus.Place) {
		if !slices.Contains(out, p) {
			out = append(out, p)
		}
	}
	for _, p := range before {
		if l.Warp {
			add(p)
		}
		if l.CTA {
			q := p
			q.Warp = 1 + top(before, func(x litmus.Place) (int, bool) { return x.Warp, x.SameScope(p, litmus.ScopeCTA) })
			add(q)
		}
		if l.Cluster {
			q := p
			q.Warp, q.CTA = 0, 1+top(before, func(x litmus.Place) (int, bool) { return x.CTA, x.SameScope(p, litmus.ScopeCluster) })
			add(q)
		}
		if l.GPU {
			q := p
			q.Warp, q.CTA, q.Cluster = 0, 0, 1+top(before, func(x litmus.Place) (int, bool) { return x.Cluster, x.SameGrid(p) })
			add(q)
		}
	}
	if l.Sys {
		add(litmus.Place{GPU: 1 + top(before, func(x litmus.Place) (int, bool) { return x.GPU, true })})
	}
	return out
}

// top returns the highest number among the places that count.
func top(ps []litmus.Place, of func(litmus.Place) (n int, counts bool)) int {
	m := 0
	for _, p := range ps {
		if n, ok := of(p); ok {
			m = max(m, n)
		}
	}
	return m
}

// renumber numbers places as Placements does.
func renumber(ps []litmus.Place) []litmus.Place {
	out := make([]litmus.Place, len(ps))
	for i, p := range ps {
		q := litmus.Place{}
		gpus := map[int]int{}
		grids, clusters, ctas, warps := map[litmus.Place]int{}, map[litmus.Place]int{}, map[litmus.Place]int{}, map[litmus.Place]int{}
		for _, x := range ps[:i+1] {
			number(gpus, x.GPU)
			if x.GPU == p.GPU {
				number(grids, litmus.Place{GPU: x.GPU, Grid: x.Grid})
			}
			if x.SameGrid(p) {
				number(clusters, litmus.Place{Cluster: x.Cluster})
			}
			if x.SameScope(p, litmus.ScopeCluster) {
				number(ctas, litmus.Place{CTA: x.CTA})
			}
			if x.SameScope(p, litmus.ScopeCTA) {
				number(warps, litmus.Place{Warp: x.Warp})
			}
		}
		q.GPU, q.Grid = gpus[p.GPU], grids[litmus.Place{GPU: p.GPU, Grid: p.Grid}]
		q.Cluster, q.CTA, q.Warp = clusters[litmus.Place{Cluster: p.Cluster}], ctas[litmus.Place{CTA: p.CTA}], warps[litmus.Place{Warp: p.Warp}]
		out[i] = q
	}
	return out
}

func number[K comparable](m map[K]int, k K) {
	if _, ok := m[k]; !ok {
		m[k] = len(m)
	}
}

// Separators of placements in names, from the closest to the farthest.
const (
	sepWarp    = "."
	sepCTA     = ":"
	sepCluster = ":c:"
	sepGPU     = "::"
	sepSys     = ":::"
)

// placeName formats a placement: p0:p1 are warps of one CTA, p0::p1 different CTAs, p0:c:p1
// CTAs of one cluster, p0:::p1 different GPUs, p0.p1 one warp.
func placeName(ps []litmus.Place) string {
	order := make([]int, len(ps))
	for i := range order {
		order[i] = i
	}
	slices.SortStableFunc(order, func(a, b int) int { return slices.Compare(placeKey(ps[a]), placeKey(ps[b])) })
	var b strings.Builder
	for k, i := range order {
		if k > 0 {
			b.WriteString(separator(ps[order[k-1]], ps[i]))
		}
		fmt.Fprintf(&b, "p%d", i)
	}
	return b.String()
}

func placeKey(p litmus.Place) []int { return []int{p.GPU, p.Grid, p.Cluster, p.CTA, p.Warp} }

func separator(p, q litmus.Place) string {
	switch {
	case p.SameWarp(q):
		return sepWarp
	case p.SameScope(q, litmus.ScopeCTA):
		return sepCTA
	case p.SameScope(q, litmus.ScopeCluster):
		return sepCluster
	case p.GPU == q.GPU:
		return sepGPU
	}
	return sepSys
}

// parsePlace reads what placeName spells, for n threads.
func parsePlace(s string, n int) ([]litmus.Place, error) {
	out := make([]litmus.Place, n)
	seen := make([]bool, n)
	cur, rest := litmus.Place{}, s
	for k := range n {
		if k > 0 {
			end := strings.IndexByte(rest, 'p')
			if end < 0 {
				return nil, fmt.Errorf("placement %q does not name all %d threads", s, n)
			}
			switch rest[:end] {
			case sepWarp:
			case sepCTA:
				cur.Warp++
			case sepCluster:
				cur.Warp, cur.CTA = 0, cur.CTA+1
			case sepGPU:
				cur.Warp, cur.CTA, cur.Cluster = 0, 0, cur.Cluster+1
			case sepSys:
				cur = litmus.Place{GPU: cur.GPU + 1}
			default:
				return nil, fmt.Errorf("placement %q: unknown separator %q", s, rest[:end])
			}
			rest = rest[end:]
		}
		if len(rest) < 2 || rest[0] != 'p' || rest[1] < '0' || int(rest[1]-'0') >= n || seen[rest[1]-'0'] {
			return nil, fmt.Errorf("placement %q does not name each of the threads p0 to p%d once", s, n-1)
		}
		seen[rest[1]-'0'] = true
		out[rest[1]-'0'] = cur
		rest = rest[2:]
	}
	if rest != "" {
		return nil, fmt.Errorf("placement %q: %q behind the last thread", s, rest)
	}
	return renumber(out), nil
}

// locNames are the locations in the order in which tests use them.
var locNames = [...]string{"x", "y", "z", "a", "b", "c", "d", "e"}

func mapName(m []litmus.Space) string {
	var b strings.Builder
	for i, s := range m {
		b.WriteString(locNames[i])
		b.WriteByte(s.String()[0])
	}
	return b.String()
}

func parseMap(s string, n int) ([]litmus.Space, error) {
	if len(s) != 2*n {
		return nil, fmt.Errorf("memory map %q does not name %d locations", s, n)
	}
	out := make([]litmus.Space, n)
	for i := range out {
		out[i] = litmus.Global
		if s[2*i+1] == 's' {
			out[i] = litmus.Shared
		} else if s[2*i+1] != 'g' {
			return nil, fmt.Errorf("memory map %q: %c is no state space (g, s)", s, s[2*i+1])
		}
		if s[2*i:2*i+1] != locNames[i] {
			return nil, fmt.Errorf("memory map %q: location %d is %s", s, i+1, locNames[i])
		}
	}
	return out, nil
}
