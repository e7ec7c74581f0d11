package realcode

import (
	"cmp"
	"maps"
	"slices"

	"optcheck/ptx"
)

// most is the distance that most say, how many do, how many say the next one, and how many there are.
func most(votes map[int64]int) (best int64, n, second, all int) {
	for d, c := range votes {
		all += c
		switch {
		case c > n:
			best, n, second = d, c, n
		case c > second:
			second = c
		}
	}
	return best, n, second, all
}

// untie decides about bases that several distances say as often, as ptxas gives accesses side by
// side one line: a variable is not where another one is known to be, and of two distances a register
// that another access of the base lacks has the base itself.
func (m *matcher) untie(votes map[rootPair]map[int64]int, known map[rootPair]int64) {
	size := m.src.sizes()
	pairs := slices.SortedFunc(maps.Keys(votes), func(a, b rootPair) int {
		return cmp.Or(cmp.Compare(a.code, b.code), cmp.Compare(a.ptx, b.ptx))
	})
	for _, p := range pairs {
		v := votes[p]
		if size[p.ptx] == 0 {
			if _, n, _, all := most(v); v[0] == n && all == 2*n && m.lacks(p.ptx) {
				known[p] = 0
			}
			continue
		}
		maps.DeleteFunc(v, func(d int64, _ int) bool {
			for q, e := range known {
				if q.code == p.code && d < e+size[q.ptx] && e < d+size[p.ptx] {
					return true
				}
			}
			return false
		})
		if d, n, second, _ := most(v); n > second {
			known[p] = d
		}
	}
}

// lacks reports whether an access of a base has no image.
func (m *matcher) lacks(root string) bool {
	for k, op := range m.src.ops {
		if op.addr.root == root && op.Effect.Kind.IsAccess() && !op.Dead && len(m.img[k].main) == 0 {
			return true
		}
	}
	return false
}

// sizes are those of the variables, in bytes; 0 of what is none, or whose is not known, as where functions have variables of one name and
// several sizes.
func (s *source) sizes() map[string]int64 {
	out := map[string]int64{}
	add := func(list []ptx.Var) {
		for _, v := range list {
			if size, ok := out[v.Name]; ok && size != v.Size {
				out[v.Name] = 0
				continue
			}
			out[v.Name] = v.Size
		}
	}
	add(s.m.Vars)
	for f := range s.entries {
		add(f.Vars)
	}
	return out
}
