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
	return c.reduced(followed(fn), walkOptions{pool: takePool(), fold: true}, want)
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
			f, err := newFlow(&cur)
			if err != nil {
				return nil, err
			}
			lo, hi, ok := f.loop(&cur, want, o.view != nil)
			if !ok {
				return tr, f.finite(&cur)
			}
			copies := want.Rounds() + 1
			o.view.copied(lo, hi, copies)
			cur.Insts = copyLoop(cur.Insts, lo, hi, copies)
			if err := limits.Check("instructions", len(cur.Insts), limits.Now().Instructions); err != nil {
				return nil, err
			}
		}
		cur.BuildCFG()
	}
	return nil, errors.New("the code could not be brought to a form in which it is compared")
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

// loop finds the shortest loop that is a contiguous range of code [lo, hi) beginning with its head. A loop around an
// atomic that the test has in no loop implements that atomic, and one without accesses that votes waits for the lanes
// of its warp (sm_70 at O0). Among the loops of a harness, the test's are those with an instruction that the test
// performs several times.
func (f *flow) loop(fn *isa.Func, want *spec.Spec, harness bool) (lo, hi int, ok bool) {
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
		first, end := f.blocks[head].First, f.blocks[head].End
		plain, votes, accesses, repeats := true, false, false, !harness
		f.before(from, head, head, func(b int) {
			plain = plain && f.blocks[b].First >= first
			end = max(end, f.blocks[b].End)
		})
		for i := first; i < end && plain; i++ {
			in := &fn.Insts[i]
			plain = (in.Role != isa.RoleAtomic || want.Copies(in.Src.Line) > 1) && !in.Mem.Locked && in.Flow != isa.FlowIndirect &&
				in.Flow != isa.FlowCall
			votes, accesses = votes || in.Op == "VOTE", accesses || in.Role.IsAccess()
			repeats = repeats || want.Copies(in.Src.Line) > 1
		}
		if plain && repeats && (accesses || !votes) && (!ok || end-first < hi-lo) {
			lo, hi, ok = first, end, true
		}
	}
	return lo, hi, ok
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
		out = append(out, isa.Inst{Addr: code[hi-1].Addr, Op: "BRA", Text: "BRA", Role: isa.RoleBranch, Flow: isa.FlowJump,
			Target: target(hi, -1)})
	}
	place(code[hi:], -1)
	return append(out, isa.Inst{Addr: code[lo].Addr, Op: "EXIT", Text: trapped, Role: isa.RoleBranch, Flow: isa.FlowExit, Target: -1})
}
