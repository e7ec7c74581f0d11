package realcode

import (
	"slices"

	"optcheck/ptx"
)

// uneven looks for an operation that a loop of the machine code performs more often than another
// one, or less, although no loop of the PTX does: words do not tell that, for a loop has any
// number of turns. All witnesses among the operations around it have to say so.
func (c *checker) uneven(k int, op *Op, g *images) {
	switch op.Effect.Kind {
	case ptx.Atomic, ptx.Reduction, ptx.Barrier, ptx.Store, ptx.Arrive, ptx.MbarArrive:
	default:
		return
	}
	if !c.counts(k) || !slices.ContainsFunc(c.inPTX[k], c.pg.circular()) {
		return
	}
	for _, rule := range []Rule{Duplicated, Missing} {
		if !c.outrun(k, rule == Missing) {
			continue
		}
		if rule == Missing {
			c.finding(rule, k, c.code(g.main...), "a loop performs it less often than what it is performed with in the PTX")
			return
		}
		c.finding(rule, k, c.code(g.main...), "a loop performs it more often than what it is performed with in the PTX")
		c.because(c.counted(op, 2))
		return
	}
}

// maxWitnesses bounds the operations that another one is compared with.
const maxWitnesses = 3

// outrun reports whether loops of the machine code perform an operation more often, or with less
// set less often, than all of its witnesses.
func (c *checker) outrun(k int, less bool) bool {
	grows := func(g *graph, ks, js []int32) bool {
		if less {
			ks, js = js, ks
		}
		return g.grows(ks, js)
	}
	nodes := func(in [][]int32, images []int32) (out []int32) {
		for _, i := range images {
			out = append(out, in[i]...)
		}
		return out
	}
	witnesses := 0
	for by := 1; by < len(c.src.ops) && by <= 16 && witnesses < maxWitnesses; by++ {
		for _, j := range []int{k - by, k + by} {
			if j < 0 || j >= len(c.src.ops) || !c.src.ops[j].strong() || c.src.ops[j].Dead || !c.counts(j) ||
				grows(c.pg, c.inPTX[k], c.inPTX[j]) {
				continue
			}
			ks, js := c.img[k].main, c.img[j].main
			if !grows(c.loose, nodes(c.inLoose, ks), nodes(c.inLoose, js)) || c.exactly() != nil ||
				!grows(c.exact, nodes(c.inExact, ks), nodes(c.inExact, js)) {
				return false
			}
			witnesses++
		}
	}
	return witnesses > 0
}

// counts reports whether the images of an operation are its own, each performed once.
func (c *checker) counts(k int) bool {
	g := &c.img[k]
	return len(g.main) > 0 && g.by < 0 && !g.moved && !g.stutter && g.doubt == "" && len(c.group(k)) == 1
}

// grows reports whether there is a cycle with more of some nodes than of others.
func (g *graph) grows(more, less []int32) bool {
	weight := map[int32]int{}
	for _, n := range more {
		weight[n] = 1
	}
	for _, n := range less {
		weight[n] = -1
	}
	circular := g.circular()
	sum := make([]int, len(g.next)) // the most on a path that ends before a node
	work := slices.Clone(more)
	for len(work) > 0 {
		n := work[len(work)-1]
		work = work[:len(work)-1]
		after := max(0, sum[n]) + weight[n]
		for _, x := range g.next[n] {
			if !circular(x) || after <= sum[x] {
				continue
			}
			if sum[x] = after; after > len(more) {
				return true
			}
			work = append(work, x)
		}
	}
	return false
}
