package realcode

import (
	"fmt"
	"strings"

	"optcheck/ptx"
)

// sizeOfMbarrier is in bytes.
const sizeOfMbarrier = 8

// mbarrierAt is the mbarrier that an image names.
func (m *matcher) mbarrierAt(op *Op, i int32) address {
	if op.Effect.Kind == ptx.Bulk {
		return m.mach.behind[i]
	}
	return m.mach.addrs[i]
}

// mbarriers compares the mbarriers that operations name, where both programs say which: those of a variable
// are as far from it as most are, in no other variable's place, and in no other CTA.
func (c *checker) mbarriers() {
	distance := c.apartness()
	users := map[address]map[string]int{} // of an mbarrier of the machine code: variables of the PTX
	each := func(do func(k int, at address, i int32)) {
		for k, op := range c.src.ops {
			if op.barrier.root == "" || len(c.inPTX[k]) == 0 {
				continue
			}
			for _, i := range c.img[k].main {
				if at := c.mbarrierAt(op, i); at.fixed() {
					at.width = 0
					do(k, at, i)
				}
			}
		}
	}
	each(func(k int, at address, i int32) {
		op := c.src.ops[k]
		if d, ok := distance[rootPair{op.barrier.root, at.root}]; ok {
			at.offset = op.barrier.offset + d
		}
		if users[at] == nil {
			users[at] = map[string]int{}
		}
		users[at][op.barrier.root]++
	})
	each(func(k int, at address, i int32) {
		if why := c.misplaced(c.src.ops[k], at, distance, users); why != "" && !c.failed[k] {
			c.finding(Weakened, k, c.code(i), "%s", why)
			c.last().computed = true
		}
	})
}

func (c *checker) misplaced(op *Op, at address, distance map[rootPair]int64, users map[address]map[string]int) string {
	b := op.barrier
	rank, far := strings.CutPrefix(b.root, remote)
	rank, _, _ = strings.Cut(rank, " ")
	own := strings.HasPrefix(at.root, ownCTA)
	switch {
	case far && own && rank != "%cluster_ctarank":
		return "it is about an mbarrier of another CTA, the machine instruction about one of its own"
	case b.variable() && strings.HasPrefix(at.root, "cta ") && !own:
		return "it is about an mbarrier of its own CTA, the machine instruction about one of another"
	case !b.variable():
		return ""
	}
	d, ok := distance[rootPair{b.root, at.root}]
	if away := at.offset - b.offset - d; ok && (away < 0 || away >= sizeOfMbarrier) {
		return fmt.Sprintf("the mbarrier of its machine instruction is %d bytes from where the others of %s are", away, b.root)
	}
	n := 0
	for root, k := range users[address{root: at.root, offset: at.offset}] {
		if root != b.root {
			n += k
		}
	}
	if n > 0 && n >= users[address{root: at.root, offset: at.offset}][b.root] {
		return "the mbarrier of its machine instruction is that of others"
	}
	return ""
}

// apartness is how far, in the machine code, mbarriers are from their variables: what most operations say.
func (c *checker) apartness() map[rootPair]int64 {
	votes := map[rootPair]map[int64]int{}
	for k, op := range c.src.ops {
		if !op.barrier.variable() {
			continue
		}
		for _, i := range c.img[k].main {
			at := c.mbarrierAt(op, i)
			if !at.fixed() {
				continue
			}
			p := rootPair{op.barrier.root, at.root}
			if votes[p] == nil {
				votes[p] = map[int64]int{}
			}
			// Of the two words before sm_90 one tells whether its phase is complete.
			votes[p][(at.offset-op.barrier.offset)&^(sizeOfMbarrier-1)]++
		}
	}
	out := map[rootPair]int64{}
	for p, v := range votes {
		best := 0
		for d, n := range v {
			if n > best || n == best && d < out[p] {
				out[p], best = d, n
			}
		}
	}
	return out
}
