package optcheck

import (
	"errors"
	"fmt"
	"slices"

	"optcheck/internal/limits"
	"optcheck/isa"
	"optcheck/spec"
)

// The specification of a loop is that of the copies of its body. Machine code that still has the loop is unrolled in
// the same way: its instructions are copied once for each iteration of the test, and once more; branches back to its
// head lead to the next copy; and branches that constants decide (the counter) are pruned. The unrolled code does
// what the loop does: the last copy leads to a trap, and a kernel is undecided unless constants show that the trap is
// unreachable.

// trapped is the text of the instruction that stands for further iterations.
const trapped = "further rounds"

// maxReduced bounds the steps in which a kernel is brought into its final form.
const maxReduced = 64

// unroll is trace without the loops that the test's are compiled to.
func (c *Checker) unroll(fn *isa.Func, want *spec.Spec) (*trace, error) {
	fn, err := followed(fn)
	if err != nil {
		return nil, err
	}
	return c.reduced(fn, walkOptions{pool: takePool(), fold: true}, want)
}

// reduced is trace of the code without what is never executed and, if want is not nil, with the test's loops
// unrolled.
func (c *Checker) reduced(fn *isa.Func, o walkOptions, want *spec.Spec) (*trace, error) {
	cur := *fn
	cur.Insts = slices.Clone(cur.Insts)
	for range maxReduced {
		tr, err := c.trace(&cur, o)
		if err != nil {
			return nil, err
		}
		if !prune(&cur, tr) {
			if want == nil {
				return tr, nil
			}
			done, err := simplify(&cur, tr, o.view, want)
			if done || err != nil {
				return tr, err
			}
			if err := limits.Check("instructions", len(cur.Insts), limits.Now().Instructions); err != nil {
				return nil, err
			}
		}
		cur.BuildCFG()
	}
	return nil, errors.New("the code could not be brought to a form in which it is compared")
}

// simplify brings code one step nearer to the form without loops and reports whether it has that form.
func simplify(fn *isa.Func, tr *trace, v *view, want *spec.Spec) (done bool, err error) {
	f, err := newFlow(fn)
	if err != nil {
		return false, err
	}
	l, loops := f.loop(fn, want, v != nil)
	switch {
	case loops && (l.gathered || v != nil):
		copies := want.Rounds() + 1
		v.copied(l.lo, l.hi, copies)
		fn.Insts = copyLoop(fn.Insts, l.lo, l.hi, copies)
		return false, nil
	case loops:
		fn.Insts = f.gather(fn.Insts, l)
		return false, nil
	}
	if err = f.finite(fn); v != nil {
		return true, err
	}
	if tr.settle(f, err != nil) && prune(fn, tr) {
		return false, nil
	}
	if b, ok := f.parted(fn, tr); ok && err != nil {
		fn.Insts = f.apart(fn.Insts, b)
		return false, nil
	}
	return true, err
}

// finite returns an error if the code may iterate more often than the test.
func (f *flow) finite(fn *isa.Func) error {
	for _, b := range f.order {
		for i := f.blocks[b].First; i < f.blocks[b].End; i++ {
			if in := &fn.Insts[i]; in.Text == trapped {
				return fmt.Errorf("the loop at 0x%x may go round more often than in the test", in.Addr)
			}
		}
	}
	return nil
}

// stretch is a loop in the text of a function: instructions [lo, hi), blocks of which
// belong to it. It is gathered if the head is the first and the others only lead out of
// the loop.
type stretch struct {
	lo, hi, head int
	blocks       []int // other than the head, as they stand
	gathered     bool
}

// loop finds the shortest loop. A loop around an atomic that the test has in no loop implements that atomic, and one
// without accesses that votes waits for the lanes of its warp (sm_70 at O0). Among the loops of a harness, the test's
// are those with an instruction that the test performs several times; their heads come first.
func (f *flow) loop(fn *isa.Func, want *spec.Spec, harness bool) (shortest stretch, ok bool) {
	for _, head := range f.order {
		var from []int
		for _, p := range f.blocks[head].Preds {
			if f.pos[p] >= 0 && f.isLoopHead(head, p) {
				from = append(from, p)
			}
		}
		if len(from) == 0 {
			continue
		}
		l := stretch{lo: f.blocks[head].First, hi: f.blocks[head].End, head: head}
		f.before(from, head, head, func(b int) { l.blocks = append(l.blocks, b) })
		slices.SortFunc(l.blocks, func(a, b int) int { return f.blocks[a].First - f.blocks[b].First })
		plain, votes, accesses, repeats := true, false, false, !harness
		inside := map[int]bool{}
		for _, b := range append([]int{head}, l.blocks...) {
			l.lo, l.hi = min(l.lo, f.blocks[b].First), max(l.hi, f.blocks[b].End)
			for i := f.blocks[b].First; i < f.blocks[b].End; i++ {
				in := &fn.Insts[i]
				inside[i] = true
				plain = plain && (in.Role != isa.RoleAtomic || want.Copies(in.Src.Line) > 1) && !in.Mem.Locked && in.Flow != isa.FlowIndirect &&
					in.Flow != isa.FlowCall
				votes, accesses = votes || in.Op == "VOTE", accesses || in.Role.IsAccess()
				repeats = repeats || want.Copies(in.Src.Line) > 1
			}
		}
		l.gathered = l.lo == f.blocks[head].First
		for i := l.lo; i < l.hi && l.gathered; i++ {
			in := &fn.Insts[i]
			l.gathered = inside[i] || in.Flow == isa.FlowJump && in.Guard == isa.Guard{}
		}
		plain = plain && repeats && (!harness || l.lo == f.blocks[head].First)
		if plain && (accesses || !votes) && (!ok || l.hi-l.lo < shortest.hi-shortest.lo) {
			shortest, ok = l, true
		}
	}
	return shortest, ok
}

// jumpTo is a jump in the place where control went on by itself.
func jumpTo(from isa.Inst, to int) isa.Inst {
	return isa.Inst{Addr: from.Addr, Op: "BRA", Text: "BRA", Role: isa.RoleBranch, Flow: isa.FlowJump, Target: to}
}

// goesOn reports whether control may go on behind a block without a jump.
func (f *flow) goesOn(code []isa.Inst, block int) bool {
	b := &f.blocks[block]
	last := &code[b.End-1]
	return slices.ContainsFunc(b.Succs, func(s int) bool { return f.blocks[s].First == b.End }) &&
		(last.Flow != isa.FlowJump || last.Target != b.End || last.Guard != isa.Guard{})
}

// gather puts the blocks of a loop one behind the other, its head in front and others of
// its stretch behind them. Jumps lead where control went on by itself.
func (f *flow) gather(code []isa.Inst, l stretch) []isa.Inst {
	order := append([]int{l.head}, l.blocks...)
	for b := range f.blocks {
		if f.blocks[b].First >= l.lo && f.blocks[b].End <= l.hi && !slices.Contains(order, b) {
			order = append(order, b)
		}
	}
	out := slices.Clone(code[:l.lo])
	if f.blocks[l.head].First != l.lo {
		out = append(out, jumpTo(code[l.lo], l.lo))
	}
	moved := make(map[int]int, len(order)) // where blocks begin
	for n, b := range order {
		k := &f.blocks[b]
		moved[k.First] = len(out)
		out = append(out, code[k.First:k.End]...)
		if f.goesOn(code, b) && (n+1 == len(order) || f.blocks[order[n+1]].First != k.End) {
			out = append(out, jumpTo(code[k.End-1], k.End))
		}
	}
	added := len(out) - l.hi
	out = append(out, code[l.hi:]...)
	target := func(t int) int {
		if to, ok := moved[t]; ok {
			return to
		}
		if t >= l.hi {
			return t + added
		}
		return t
	}
	for i := range out {
		in := &out[i]
		in.Target, in.Targets = target(in.Target), slices.Clone(in.Targets)
		for k, t := range in.Targets {
			in.Targets[k] = target(t)
		}
	}
	return out
}

// parted finds a block without accesses that ends with a branch which is decided by the
// way that control took to the block: LLVM leaves a loop by one branch, whichever of its
// ends is reached.
func (f *flow) parted(fn *isa.Func, tr *trace) (block int, ok bool) {
	access := map[int]bool{}
	for i := range tr.events {
		access[tr.events[i].inst] = true
	}
	for _, b := range f.order {
		k := &f.blocks[b]
		g, decided := tr.guards[k.End-1]
		if !decided || fn.Insts[k.End-1].Flow != isa.FlowJump || len(k.Preds) < 2 || !tr.pool.joinedAt(g, b) {
			continue
		}
		plain := true
		for i := k.First; i < k.End; i++ {
			plain = plain && !access[i]
		}
		if plain {
			return b, true
		}
	}
	return 0, false
}

// joinedAt reports whether a value depends on the way to the head of a block.
func (p *valuePool) joinedAt(v value, block int) bool {
	p.visit()
	return p.search(v, func(_ value, n *node) bool { return n.kind == kPhi && int(n.imm>>40) == block })
}

// apart gives each way to a block, but for one, a copy of it.
func (f *flow) apart(code []isa.Inst, block int) []isa.Inst {
	b := &f.blocks[block]
	out, kept := slices.Clone(code), slices.ContainsFunc(b.Preds, func(p int) bool { return f.goesOn(code, p) })
	for _, p := range b.Preds {
		from := &out[f.blocks[p].End-1]
		if f.pos[p] < 0 || from.Target != b.First {
			continue
		}
		if !kept {
			kept = true
			continue
		}
		from.Target = len(out)
		out = append(append(out, code[b.First:b.End]...), jumpTo(code[b.End-1], b.End))
	}
	return out
}

// copied records that copyLoop copies instructions [lo, hi), a loop.
func (v *view) copied(lo, hi, copies int) {
	if v == nil || v.loops == nil {
		return
	}
	l := &loops{varies: map[int]map[int]bool{}, lost: map[int]map[int64]bool{}, exact: v.loops.exact}
	size := hi - lo + 1
	for first := range v.loops.varies {
		at, n := []int{first}, copies*size-(hi-lo)
		switch {
		case first >= hi:
			at[0] += n
		case first == lo:
			at = nil
		case first > lo:
			for k := range copies - 1 {
				at = append(at, first+(k+1)*size)
			}
		}
		for _, to := range at {
			l.varies[to], l.lost[to] = v.loops.varies[first], v.loops.lost[first]
		}
	}
	v.loops = l
}

// copyLoop makes copies of instructions [lo, hi).
func copyLoop(code []isa.Inst, lo, hi, copies int) []isa.Inst {
	size := hi - lo + 1 // with the jump after it
	trap := len(code) + copies*size - (hi - lo)
	start := func(n int) int { return lo + n*size }
	target := func(t, n int) int {
		switch {
		case t < lo:
			return t
		case t >= hi:
			return t + copies*size - (hi - lo)
		case t > lo || n < 0:
			return start(max(n, 0)) + t - lo
		case n+1 < copies:
			return start(n + 1)
		}
		return trap
	}
	out := make([]isa.Inst, 0, trap+1)
	place := func(list []isa.Inst, n int) {
		for _, in := range list {
			in.Target = target(in.Target, n)
			in.Targets = slices.Clone(in.Targets)
			for i, t := range in.Targets {
				in.Targets[i] = target(t, n)
			}
			out = append(out, in)
		}
	}
	place(code[:lo], -1)
	for n := range copies {
		place(code[lo:hi], n)
		out = append(out, jumpTo(code[hi-1], target(hi, -1)))
	}
	place(code[hi:], -1)
	return append(out, isa.Inst{Addr: code[lo].Addr, Op: "EXIT", Text: trapped, Role: isa.RoleBranch, Flow: isa.FlowExit, Target: -1})
}
