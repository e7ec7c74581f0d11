package tune

import (
	"cmp"
	"slices"
)

// sizes counts, by size in words, the patches of an idiom: longest runs of stressed
// locations each of which shows more than epsilon weak outcomes. A run from end to end is
// no patch: then it makes no difference what is stressed.
func sizes(list []Patch, idiom int, epsilon uint64) map[int]int {
	found := map[int]int{}
	for _, p := range list {
		if p.Idiom != idiom {
			continue
		}
		run := 0
		for i := 0; i <= len(p.Weak); i++ {
			if i < len(p.Weak) && p.Weak[i] > epsilon {
				run++
				continue
			}
			if run > 0 && run < len(p.Weak) {
				found[run*LocationStep]++
			}
			run = 0
		}
	}
	return found
}

// most is the size with the largest number of patches, the smaller one of two; 0 if
// there is none.
func most(found map[int]int) int {
	best := 0
	for size, n := range found {
		if best == 0 || n > found[best] || n == found[best] && size < best {
			best = size
		}
	}
	return best
}

// critical is the patch size on which all idioms agree. Where they do not, it is what
// two of them say, else that of a line.
func critical(list []Patch, epsilon uint64) (size int, agreed bool) {
	votes := map[int]int{}
	for idiom := range Idioms {
		votes[most(sizes(list, idiom, epsilon))]++
	}
	for size, n := range votes {
		// The second search needs sizes that divide what is stressed.
		if size > 0 && Locations%size == 0 && n >= 2 {
			return size, n == len(Idioms)
		}
	}
	return usualPatch, false
}

// best is the maximally effective row: no other is better for all idioms. Of several such
// rows it is the one that is better than each other one for two of three idioms, else the
// one with the best ranks.
func best(list []Scores) Scores {
	var front []Scores
	for _, a := range list {
		if !slices.ContainsFunc(list, func(b Scores) bool { return wins(b, a) == len(Idioms) }) {
			front = append(front, a)
		}
	}
	for i, a := range front {
		if !slices.ContainsFunc(front, func(b Scores) bool { return b.Name != a.Name && wins(a, b) < 2 }) {
			return front[i]
		}
	}
	if len(front) == 0 {
		return Scores{}
	}
	return slices.MinFunc(front, func(a, b Scores) int { return cmp.Compare(ranks(list, a), ranks(list, b)) })
}

// wins counts the idioms for which a is better.
func wins(a, b Scores) (n int) {
	for i := range a.Score {
		if a.Score[i] > b.Score[i] {
			n++
		}
	}
	return n
}

// ranks sums up the ranks of a row.
func ranks(list []Scores, a Scores) (sum int) {
	for i := range a.Score {
		sum += rank(list, a, i)
	}
	return sum
}

// rank is the place of a row by an idiom, from 1 on.
func rank(list []Scores, a Scores, idiom int) int {
	n := 1
	for _, b := range list {
		if b.Score[idiom] > a.Score[idiom] {
			n++
		}
	}
	return n
}
