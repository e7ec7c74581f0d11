package realcode

import "slices"

// unchanged gives two images, the second of which stands behind the first with the same values in
// its registers, on a stretch without branches and without images of what is around the loop, which are
// of its next turn; nil if there are none.
func (c *checker) unchanged(images []int32, own *loop) []int32 {
	around := func(x int32) bool {
		return x >= 0 && !own.has(int32(slices.IndexFunc(c.src.steps, func(s step) bool { return s.letter == x })))
	}
	for n, j := range images {
		for _, i := range images[:n] {
			if c.oneWay(i, j) && c.alike(i, j) && !slices.ContainsFunc(c.owner[i:j], around) {
				return []int32{i, j}
			}
		}
	}
	return nil
}

// oneWay reports whether control goes from one step to another one, and comes from nowhere else.
func (c *checker) oneWay(i, j int32) bool {
	for ; i < j; i++ {
		if !slices.Equal(following(c.mach.steps, i), []int32{i + 1}) || slices.ContainsFunc(c.before(i+1), func(x int32) bool { return x != i }) {
			return false
		}
	}
	return i == j
}

// alike reports whether two instructions do the same with the same values.
func (c *checker) alike(i, j int32) bool {
	a, b := c.mach.insts[i], c.mach.insts[j]
	return sameAccess(a, b) && !c.defined(i, j, a.Uses...)
}
