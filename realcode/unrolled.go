package realcode

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"optcheck/isa"
	"optcheck/ptx"
)

// unrolled looks for an operation that one turn of a loop of the machine code performs several
// times, although the loop of the PTX that has it once was not unrolled: nothing else of that
// loop is there as often. Words do not tell, for a loop has any number of turns.
func (c *checker) unrolled(k int, op *Op, g *images) {
	switch op.Effect.Kind {
	case ptx.Load, ptx.Fence, ptx.ProxyFence:
		return
	}
	if len(g.main) < 2 || !c.counts(k) || !slices.ContainsFunc(c.inPTX[k], c.pg.circular()) {
		return
	}
	own := c.loopOf(k)
	if own == nil {
		return
	}
	if twice := c.unchanged(g.main, own); len(twice) > 0 && c.lonely(op, own, c.codeLoops.of[twice[0]]) {
		c.finding(Duplicated, k, c.code(twice...), "it stands there again with the same values, and not in another turn")
		c.because(c.counted(op, 2))
		return
	}
	for _, images := range c.copies(g.main) {
		n := len(images)
		for n > 1 && c.single(op, own, c.codeLoops.of[images[0]], n) {
			most := c.inTurn(images)
			if most < n {
				n = most
				continue
			}
			c.finding(Duplicated, k, c.code(images...), "one iteration of a loop performs it %s, and nothing else of its loop in the PTX", times(n))
			c.because(c.counted(op, 2))
			return
		}
	}
}

// counts reports whether the images of an operation are its own, each performed once.
func (c *checker) counts(k int) bool {
	g := &c.img[k]
	return len(g.main) > 0 && g.by < 0 && !g.moved && !g.stutter && g.doubt == "" && len(c.group(k)) == 1
}

// loopOf is the innermost loop of the PTX that has an operation, nil if there is none.
func (c *checker) loopOf(k int) *loop {
	if c.ptxLoops == nil {
		c.ptxLoops = loopsOf(c.src.steps, slices.Sorted(maps.Values(c.src.entries)))
		c.codeLoops = c.mach.loops()
	}
	at := int32(slices.IndexFunc(c.src.steps, func(s step) bool { return s.letter == int32(k) }))
	if n := c.ptxLoops.of[at]; n >= 0 {
		return &c.ptxLoops.list[n]
	}
	return nil
}

var reduced = strings.NewReplacer("ATOMG", "RED", "REDG", "RED", "ATOM", "RED")

// copies groups images that may be one and the same: of one loop, and with the same offset, in
// which the copies of a loop that is unrolled often differ. An atomic whose result nobody needs
// is a reduction.
func (c *checker) copies(images []int32) (out [][]int32) {
	groups := map[string][]int32{}
	for _, i := range images {
		in := c.mach.insts[i]
		key := fmt.Sprint(c.codeLoops.of[i], reduced.Replace(in.Op), in.Mods, place(in).Off)
		groups[key] = append(groups[key], i)
	}
	for _, key := range slices.Sorted(maps.Keys(groups)) {
		out = append(out, groups[key])
	}
	return out
}

// single reports whether what a loop of the PTX has beside an operation is fewer than n times
// in a loop of the machine code, in which the operation is n times; -1 is all that is in no
// loop. Who is there as often in one turn is counted, too: lines are not always right. Loops
// within the loop say nothing there: they are unrolled for themselves.
func (c *checker) single(op *Op, own *loop, in int32, n int) bool {
	inside := func(int32) bool { return true }
	if in >= 0 {
		inside = c.codeLoops.list[in].has
	}
	varies := c.varyIn(own, op.Func)
	fewer := 0
	var often [][]int32
	for _, x := range own.body {
		w := c.src.inst(x)
		if w == nil || w == op.Inst || warpWide(w) || w.Name == "div" || w.Name == "rem" {
			continue
		}
		switch least, most := c.times(x, w, inside); {
		case len(least) >= n && &c.ptxLoops.list[c.ptxLoops.of[x]] == own:
			often = append(often, least)
		case most > 0 && most < n && c.lasts(x, w, own, in, varies, inside):
			fewer++
		}
	}
	return fewer > len(often) || fewer > 0 && fewer > len(slices.DeleteFunc(often, func(l []int32) bool { return c.onPath(l) < n }))
}

// lonely reports whether nearly all that is different in each turn of a loop of the PTX is there once in
// a loop of the machine code, so that copies there are not those of several turns.
func (c *checker) lonely(op *Op, own *loop, in int32) bool {
	if in < 0 {
		return false
	}
	varies := c.varyIn(own, op.Func)
	once, often := 0, 0
	for _, x := range own.body {
		w := c.src.inst(x)
		if w == nil || w == op.Inst || &c.ptxLoops.list[c.ptxLoops.of[x]] != own ||
			!slices.ContainsFunc(defined(w), func(r int) bool { return varies[r] }) {
			continue
		}
		switch least, most := c.times(x, w, c.codeLoops.list[in].has); {
		case len(least) > 1:
			often++
		case most == 1:
			once++
		}
	}
	return once >= 8 && once > 4*often
}

// times are the copies of an instruction of the PTX in a part of the machine code: those of what
// there is least of in its code, and how many there are of what there is most of.
func (c *checker) times(at int32, w *ptx.Inst, inside func(i int32) bool) (least []int32, most int) {
	parts := map[string][]int32{}
	if k := c.src.steps[at].letter; k >= 0 {
		parts[""] = c.standing(w, c.img[k].main)
	} else {
		for _, i := range c.byLine[w.N] {
			in := c.mach.insts[i]
			if len(in.Micro) == 1 && in.Micro[0].Op == isa.MicroMov { // at O0 there are several
				continue
			}
			key := fmt.Sprint(in.Op, in.Mods)
			parts[key] = append(parts[key], i)
		}
	}
	for _, key := range slices.Sorted(maps.Keys(parts)) {
		list := slices.DeleteFunc(parts[key], func(i int32) bool { return !inside(i) })
		if len(list) > 0 && (least == nil || len(list) < len(least)) {
			least = list
		}
		most = max(most, len(list))
	}
	return least, most
}

// standing are the images of an operation, and those like them on its line that an address has
// given to another operation.
func (c *checker) standing(w *ptx.Inst, images []int32) []int32 {
	list := slices.Clone(images)
	for _, i := range c.byLine[w.N] {
		alike := func(x int32) bool { return c.mach.insts[x].Role == c.mach.insts[i].Role }
		if c.owner[i] >= 0 && !slices.Contains(list, i) && slices.ContainsFunc(images, alike) {
			list = append(list, i)
		}
	}
	return list
}

// onPath is how many of some instructions stand at most on a path that does not jump back.
func (c *checker) onPath(list []int32) (most int) {
	l := c.codeLoops
	sum := map[int32]int{} // the most on a path to a step
	for _, x := range l.order {
		n := sum[x] + int(b2i(slices.Contains(list, x)))
		if most = max(most, n); n == 0 {
			continue
		}
		for _, t := range following(c.mach.steps, x) {
			if l.number[t] > l.number[x] {
				sum[t] = max(sum[t], n)
			}
		}
	}
	return most
}

// lasts reports whether a loop that is unrolled has an instruction in each copy: one that
// synchronises, or an access or a sum of floats that is another one in each turn. Of what is
// unrolled to the end, only the former; of what is under a condition, only where the
// condition has not been decided.
func (c *checker) lasts(at int32, w *ptx.Inst, own *loop, in int32, varies map[int]bool, inside func(i int32) bool) bool {
	e := w.Effect()
	strong := compared(&e) && !(e.Kind.IsAccess() && e.Weak()) && !c.src.ops[c.src.steps[at].letter].Dead
	if in < 0 {
		return strong && c.ptxLoops.every(own, at) && w.Guard < 0
	}
	if !c.ptxLoops.every(own, at) && !c.tested(at, own, inside) {
		return false
	}
	if strong {
		return true
	}
	any := func(list []int) bool { return slices.ContainsFunc(list, func(r int) bool { return varies[r] }) }
	switch k := c.src.steps[at].letter; {
	case k >= 0 && e.Kind.IsAccess():
		wide := func(i int32) bool { return c.mach.insts[i].Mem.Width > e.Width }
		i := slices.IndexFunc(w.Args, func(o ptx.Operand) bool { return o.Kind == ptx.Mem })
		return i >= 0 && any(w.Args[i].Registers(nil)) && !slices.ContainsFunc(c.img[k].main, wide)
	case w.Name == "add" || w.Name == "sub" || w.Name == "mul" || w.Name == "fma":
		return w.Has("f32", "f64") && any(defined(w))
	}
	return false
}

// tested reports whether the machine code tests the last condition before a step of a loop.
func (c *checker) tested(at int32, own *loop, inside func(i int32) bool) bool {
	for at = c.ptxLoops.up[at]; at >= 0 && at != own.head; at = c.ptxLoops.up[at] {
		if in := c.src.inst(at); in != nil && in.Name == "bra" && in.Guard >= 0 {
			for _, x := range own.body {
				if w := c.src.inst(x); w != nil && slices.Contains(defined(w), in.Guard) && slices.ContainsFunc(c.byLine[w.N], inside) {
					return true
				}
			}
			return false
		}
	}
	return false
}

// varyIn lists the registers that are others in each turn of a loop.
func (c *checker) varyIn(own *loop, f *ptx.Func) map[int]bool {
	n := map[int]int{}
	for i := range f.Body {
		if in := f.Body[i].Inst; in != nil {
			for _, r := range defined(in) {
				n[r]++
			}
		}
	}
	v := map[int]bool{}
	for news := true; news; {
		news = false
		for _, x := range own.body {
			in := c.src.inst(x)
			if in == nil {
				continue
			}
			from := slices.ContainsFunc(used(in), func(r int) bool { return v[r] })
			for _, r := range defined(in) {
				if !v[r] && (from || n[r] > 1) {
					v[r], news = true, true
				}
			}
		}
	}
	return v
}

// inTurn is how many of some instructions of one loop are performed at most in one turn of it.
func (c *checker) inTurn(images []int32) (most int) {
	steps := slices.Clone(c.mach.steps)
	for i := range steps {
		steps[i].letter = -1
	}
	head := int32(-1)
	if l := c.codeLoops.of[images[0]]; l >= 0 {
		head = c.codeLoops.list[l].head
		steps[head].letter = head
	}
	for _, i := range images {
		steps[i].letter = i
	}
	n := len(c.mach.conds.ids)
	g, err := unroll(steps, 0, n, everyCondition(n), maxNodes())
	if err != nil {
		return c.inRow(images)
	}
	sum := make([]int, len(g.next)) // the most on a path that ends with a node
	var work []int32
	for n, l := range g.letter {
		if slices.Contains(images, l) {
			sum[n], work = 1, append(work, int32(n))
		}
	}
	for len(work) > 0 && most <= len(images) {
		n := work[len(work)-1]
		work = work[:len(work)-1]
		most = max(most, sum[n])
		for _, x := range g.next[n] {
			if l := g.letter[x]; l < 0 || l != head {
				if after := sum[n] + int(b2i(slices.Contains(images, l))); after > sum[x] {
					sum[x], work = after, append(work, x)
				}
			}
		}
	}
	return most
}

// inRow is how many of some instructions stand at most on a stretch without branches, under one
// condition: those are all performed, or none.
func (c *checker) inRow(images []int32) (most int) {
	slices.Sort(images)
	row := 0
	for n, i := range images {
		if row++; n > 0 && !(c.oneWay(images[n-1], i) && c.mach.insts[i].Guard == c.mach.insts[images[n-1]].Guard &&
			!c.defined(images[n-1], i, c.mach.insts[i].Guard.Reg)) {
			row = 1
		}
		most = max(most, row)
	}
	return most
}

// defined reports whether a stretch writes one of some registers.
func (c *checker) defined(from, to int32, regs ...isa.Reg) bool {
	return slices.ContainsFunc(c.mach.insts[from:to], func(in *isa.Inst) bool {
		return slices.ContainsFunc(in.Defs, func(r isa.Reg) bool { return slices.Contains(regs, r) })
	})
}
