package realcode

import (
	"fmt"
	"slices"

	"optcheck/ptx"
)

// want is an order that the model may require of two operations.
type want struct {
	name string
	// first and second are where they are in the machine code.
	first, second []int32
	policy        policy
	steady        bool // the second is a load that might be left out, and is not
}

// pairs compares the order of all pairs.
func (c *checker) pairs() {
	var ops []int
	for k := range c.src.ops {
		if len(c.inPTX[k]) > 0 {
			ops = append(ops, k)
		}
	}
	for _, x := range ops {
		if !c.src.ops[x].strong() {
			continue
		}
		for _, y := range ops {
			if x == y {
				continue
			}
			for _, w := range c.wants(x, y) {
				c.pair(x, y, w)
			}
		}
	}
}

func (c *checker) pair(x, y int, w want) {
	if c.failed[x] || c.failed[y] && c.src.ops[y].strong() || len(w.first) == 0 || len(w.second) == 0 {
		c.count.Open++
		return
	}
	c.count.Pairs++
	if slices.ContainsFunc(w.first, func(i int32) bool { return slices.Contains(w.second, i) }) {
		if c.src.ops[x].Effect.Acquires() == (x < y) { // else that order may go
			c.res.Findings = append(c.res.Findings, Finding{Rule: Merged, Kernel: c.name, First: c.place(x), Second: c.place(y),
				Code: c.code(w.second...), Detail: w.name + ": one instruction performs both", slice: c.swapped(x, y)})
		}
		return
	}
	if c.ordered(y) {
		return
	}
	key := fmt.Sprint(x, w.name, w.policy, c.signature[y])
	if c.signature[y] != "" && c.same[key] {
		return
	}
	v, err := c.compare(x, y, w.first, w.second, w.policy)
	if err != nil && v == nil && w.steady { // too large for that: as if it were not known that it is steady
		w.policy.optional, w.policy.early = true, true
		v, err = c.compare(x, y, w.first, w.second, w.policy)
	}
	if v != nil && w.steady && c.src.spare(y) { // made where its value matters, as execution has to show, and left out elsewhere
		w.policy.optional = true
		if v, err = c.compare(x, y, w.first, w.second, w.policy); v == nil && err == nil {
			c.img[y].shape = "on a path the load is left out"
			return // which says nothing of others like it
		}
	}
	if err != nil && v == nil {
		c.res.Unknown = append(c.res.Unknown, Finding{Rule: Reordered, Kernel: c.name, First: c.place(x), Second: c.place(y),
			Detail: err.Error()})
		return
	}
	if v == nil {
		c.same[key] = true
		return
	}
	f := Finding{Rule: Reordered, Kernel: c.name, First: c.place(x), Second: c.place(y), Word: v.text(), Code: c.code(v.node),
		Detail: fmt.Sprintf("%s: a path through the machine code has them in the order %s, which none through the PTX has", w.name, v.text())}
	if v.node == end {
		f.Detail += " and then ends"
		f.Code = c.code(append(append([]int32{}, w.first...), w.second...)...)
	}
	if c.img[x].moved || c.img[y].moved {
		f.Detail = "line and address disagree about which instruction it is: " + f.Detail
		c.res.Unknown = append(c.res.Unknown, f)
		return
	}
	f.slice = c.swapped(x, y)
	c.res.Findings = append(c.res.Findings, f)
}

func or(a, b []int32) []int32 {
	if len(a) > 0 {
		return a
	}
	return b
}

// wants lists the orders that may be required of two operations, the first of
// which synchronises.
func (c *checker) wants(x, y int) (out []want) {
	a, b := c.src.ops[x], c.src.ops[y]
	ea, eb := &a.Effect, &b.Effect
	memory := eb.Kind.IsAccess() || eb.Kind == ptx.Copy || eb.Kind == ptx.Bulk || eb.Kind == ptx.MbarArrive || eb.Kind == ptx.MbarWait ||
		eb.Kind == ptx.Mbarrier || eb.Kind == ptx.Matrix
	p := policy{stutter: [2]bool{c.img[x].stutter, c.img[y].stutter}, pieces: c.pieces(y)}
	steady := false
	if eb.Kind == ptx.Load && (eb.Weak() || b.Dead) {
		steady = c.steady(y)
		p.optional, p.early = !steady, !steady
	}
	add := func(name string, first []int32, p policy) {
		out = append(out, want{name, first, c.img[y].main, p, steady})
	}
	one := func(rise, sink bool) policy {
		q := p
		q.rise, q.sink = rise, sink
		return q
	}
	g := &c.img[x]
	switch {
	case x < y && !memory && b.strong() && synchronises(ea) && synchronises(eb):
		add("two synchronising operations", c.img[x].main, p)
	case ea.Kind == ptx.ProxyFence:
		if between(a, b) {
			add("a fence between proxies and memory", c.img[x].main, p)
		}
	case ea.Kind == ptx.MatrixWait && memory:
		if c.src.afterMatrices(b) {
			add("the wait for matrices and what follows", c.img[x].main, one(false, true))
		}
	case !memory:
	case ea.Kind == ptx.CopyCommit && eb.Kind == ptx.Copy, ea.Kind == ptx.BulkCommit && eb.Kind == ptx.Bulk:
		add("a copy and its group", c.img[x].main, p)
	case ea.Acquires() && ea.Releases() && !ea.Kind.IsAccess():
		add(ea.Kind.String()+" and memory", c.img[x].main, p)
		if len(g.inval) > 0 && eb.Kind == ptx.Load && eb.Weak() && eb.Space != "shared" {
			add("the invalidation of a fence and a load", g.inval, one(false, true))
		}
	case ea.Acquires() || ea.Releases():
		if ea.Acquires() && !(sourceOnly(a) && eb.Kind == ptx.Load) {
			first := c.img[x].main
			if eb.Kind == ptx.Load && eb.Weak() && eb.Space != "shared" {
				first = or(g.inval, first)
			}
			add("acquire and what follows", first, one(false, true))
		}
		if ea.Releases() {
			add("release and what precedes", or(g.flush, c.img[x].main), one(true, false))
		}
	case x < y && ea.Kind.IsAccess() && eb.Kind.IsAccess() && (b.strong() || ea.Kind == ptx.Load && eb.Kind == ptx.Load) && !apart(a, b):
		add("two accesses of one location", c.img[x].main, p)
	}
	return out
}

// sourceOnly reports whether an operation waits for what bulk copies read alone: what a load behind it reads does not depend on that.
func sourceOnly(op *Op) bool { return op.Effect.Kind == ptx.BulkWait && op.Inst.Has("read") }

// pieces reports whether several instructions may make a weak access: of a matrix, or if
// one has less than its bytes.
func (c *checker) pieces(y int) bool {
	op := c.src.ops[y]
	less := func(i int32) bool { return c.mach.insts[i].Mem.Width < op.Effect.Width }
	return op.Effect.Kind.IsAccess() && op.Effect.Weak() &&
		(op.Inst.Name != "ld" && op.Inst.Name != "st" || slices.ContainsFunc(c.img[y].main, less))
}

// steady reports whether a load is made as often as the PTX has it: none was left
// out, or made in advance, so that none of another turn stands for it.
func (c *checker) steady(y int) bool {
	if c.isSteady[y] == 0 {
		c.isSteady[y] = -1
		if c.ordered(y) || c.compareIn(c.loose, c.inLoose, 1, -1, y, nil, c.img[y].main, policy{pieces: c.pieces(y)}) == nil {
			c.isSteady[y] = 1
		}
	}
	return c.isSteady[y] > 0
}

func overlap(a, b address) bool {
	return a.offset < b.offset+int64(b.width) && b.offset < a.offset+int64(a.width)
}

// synchronises reports whether the order of two such operations is compared.
func synchronises(e *ptx.Effect) bool {
	switch e.Kind {
	case ptx.Fence, ptx.Barrier, ptx.Arrive, ptx.Await, ptx.CopyCommit, ptx.CopyWait, ptx.BulkCommit, ptx.BulkWait, ptx.MatrixFence,
		ptx.MatrixWait, ptx.GridWait, ptx.GridLaunch, ptx.CopyArrive:
		return true
	}
	return false
}

// sign gives weak accesses a signature: where they are among the operations that
// synchronise, in both programs. Those of one signature make the same words.
func (c *checker) sign() {
	c.same, c.signature = map[string]bool{}, make([]string, len(c.src.ops))
	ptxRuns := c.pg.runs(func(n int) bool { l := c.pg.letter[n]; return l >= 0 && c.src.ops[l].strong() })
	codeRuns := c.loose.runs(func(n int) bool {
		l := c.loose.letter[n]
		return l >= 0 && (c.owner[l] < 0 || c.src.ops[c.owner[l]].strong())
	})
	for k, op := range c.src.ops {
		if op.strong() || c.img[k].doubt != "" {
			continue
		}
		var a, b []int32
		for _, n := range c.inPTX[k] {
			a = append(a, ptxRuns[n])
		}
		for _, i := range c.img[k].main {
			for _, n := range c.inLoose[i] {
				b = append(b, codeRuns[n])
			}
		}
		slices.Sort(a)
		slices.Sort(b)
		c.signature[k] = fmt.Sprint(op.Effect.Kind, c.pieces(k), a, b)
	}
}

// runs numbers the stretches of a graph without branches and without nodes that
// stand alone.
func (g *graph) runs(alone func(n int) bool) []int32 {
	before := make([]int32, len(g.next))
	for _, next := range g.next {
		for _, x := range next {
			before[x]++
		}
	}
	run := make([]int32, len(g.next))
	for i := range run {
		run[i] = -1
	}
	fresh := int32(0)
	for n := range g.next {
		if run[n] >= 0 {
			continue
		}
		if n < 2 || alone(n) {
			run[n] = fresh
			fresh++
			continue
		}
		// Back to the beginning of the stretch is not needed: nodes are numbered in
		// the order in which they are reached, and a stretch is reached at its head.
		for x := int32(n); ; x = g.next[x][0] {
			run[x] = fresh
			if len(g.next[x]) != 1 {
				break
			}
			y := g.next[x][0]
			if before[y] != 1 || run[y] >= 0 || y < 2 || alone(int(y)) {
				break
			}
		}
		fresh++
	}
	return run
}
