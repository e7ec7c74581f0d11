package realcode

import (
	"fmt"
	"slices"

	"optcheck/isa"
	"optcheck/ptx"
)

// elements are the parts of a vector access, which the model performs in any order and each alone: a compiler may make
// several instructions of them, and leave out those of a load that nobody needs. One that is volatile is performed whole.
func (op *Op) elements() []ptx.Operand {
	if op.Inst.Name != "ld" && op.Inst.Name != "st" || op.Effect.Sem == "volatile" {
		return nil
	}
	for i := range op.Inst.Args {
		if a := &op.Inst.Args[i]; a.Kind == ptx.Vec {
			return a.Elems
		}
	}
	return nil
}

// elementWidth is the size of what is performed at once, in bytes.
func (op *Op) elementWidth() int { return op.Effect.Width / max(1, len(op.elements())) }

// needed counts the elements that somebody needs of a load, or all of a store.
func (op *Op) needed() (n int) {
	for _, x := range op.elements() {
		if op.Effect.Kind != ptx.Load || slices.ContainsFunc(x.Registers(nil), func(r int) bool { return slices.Contains(op.needs, r) }) {
			n++
		}
	}
	return n
}

// all lists the instructions of an operation, with those for which others stand in words.
func (g *images) all() []int32 {
	if len(g.pieces) > 0 {
		return slices.Concat(g.pieces...)
	}
	return g.main
}

// vectors knows strong vector accesses of which several instructions were made, one after the other: in words one of them
// stands for all, the last one, or of a release the first.
func (c *checker) vectors() {
	for k, op := range c.src.ops {
		g := &c.img[k]
		if !op.strong() || len(op.elements()) == 0 || len(g.main) == 0 {
			continue
		}
		var main []int32
		g.pieces = c.pieced(g.main)
		for n, p := range g.pieces {
			p = c.adopted(k, p)
			g.pieces[n] = p
			inside := func(i int32) bool { return p[0] < i && i < p[len(p)-1] } // what is between pieces orders no more than they do
			g.inval, g.flush = slices.DeleteFunc(g.inval, inside), slices.DeleteFunc(g.flush, inside)
			if op.Effect.Releases() {
				main = append(main, p[0])
			} else {
				main = append(main, p[len(p)-1])
			}
		}
		g.main = main
	}
}

// adopted adds pieces behind others that are nobody's: ptxas 11.2 gives some the line of another instruction.
func (c *checker) adopted(k int, pieces []int32) []int32 {
	op, last := c.src.ops[k], pieces[len(pieces)-1]
	for i := last + 1; int(i) < len(c.mach.insts) && c.oneWay(last, i) && c.bytes(pieces) < op.needed()*op.elementWidth(); i++ {
		in := c.mach.insts[i]
		if c.owner[i] >= 0 || partOf(op, in) != mainPart || weaker(op, in, c.sm) != "" ||
			slices.ContainsFunc(pieces, func(j int32) bool { return !c.piecesOfOne(j, i) }) {
			continue
		}
		pieces = append(pieces, i)
		c.owner[i] = int32(k)
	}
	return pieces
}

// bytes counts those of instructions.
func (c *checker) bytes(list []int32) (n int) {
	for _, i := range list {
		n += c.mach.insts[i].Mem.Width
	}
	return n
}

// pieced divides instructions into such that stand one after the other and access different bytes from one base.
func (c *checker) pieced(main []int32) (out [][]int32) {
	for _, i := range slices.Sorted(slices.Values(main)) {
		if n := len(out); n > 0 && !slices.ContainsFunc(out[n-1], func(j int32) bool { return !c.piecesOfOne(j, i) }) {
			out[n-1] = append(out[n-1], i)
			continue
		}
		out = append(out, []int32{i})
	}
	return out
}

// piecesOfOne reports whether two instructions may be pieces of one access.
func (c *checker) piecesOfOne(i, j int32) bool {
	a, b := c.mach.addrs[i], c.mach.addrs[j]
	return c.mach.insts[i].Guard == c.mach.insts[j].Guard && a.root != "" && a.root == b.root && !overlap(a, b) && c.oneWay(i, j)
}

// uncovered says that the instructions of a vector access have fewer bytes than are needed, "" if they do not.
func (c *checker) uncovered(k int) string {
	op := c.src.ops[k]
	need, width := op.needed(), op.elementWidth()
	for _, p := range c.img[k].pieces {
		bytes := c.bytes(p)
		if c.mach.insts[p[0]].Role != isa.RoleCache && bytes < need*width {
			return fmt.Sprintf("%d of its elements of %d bytes are needed, the machine instructions have %d bytes", need, width, bytes)
		}
	}
	return ""
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
