package realcode

import (
	"context"
	"sync"

	"optcheck/isa"
	"optcheck/model"
	"optcheck/ptx"
)

// Model is the memory model that judges programs.
const Model = "ptx"

// Verdict is what the model says of the slice of a finding: two tests of the same
// partner, one with the kernel's thread as it is in the PTX, the other as it is in the
// machine code.
type Verdict struct {
	Class   string `json:"class"`   // miscompiled; changed if this pattern does not show it
	Pattern string `json:"pattern"` // of which the partner is: message passing
	Model   string `json:"model"`
	// Source and Machine are the tests. Outcome is what the former forbids, by Check
	// and Cycle; the latter allows it if the class is miscompiled.
	Source  string `json:"source"`
	Machine string `json:"machine"`
	Outcome string `json:"outcome"`
	Check   string `json:"check,omitempty"`
	Cycle   string `json:"cycle,omitempty"`

	states [2]int
}

var judge = sync.OnceValues(func() (*model.Model, error) { return model.Load(Model) })

// verdict asks the model. It is nil if the pattern tells nothing: if the PTX allows
// the outcome, too.
func (s *slice) verdict(ctx context.Context) (*Verdict, error) {
	m, err := judge()
	if err != nil {
		return nil, err
	}
	x, err := m.Explain(ctx, s.source, model.Options{})
	if err != nil || x.Verdict.Undecided != "" || x.Verdict.Positive > 0 {
		return nil, err
	}
	y, err := m.Judge(ctx, s.machine, model.Options{})
	if err != nil || y.Undecided != "" {
		return nil, err
	}
	v := &Verdict{Class: Changed, Pattern: s.pattern, Model: Model, Source: s.source.String(), Machine: s.machine.String(),
		Outcome: s.machine.Cond.String(), states: [2]int{len(x.Verdict.States), len(y.States)}}
	if y.Positive > 0 {
		v.Class = Miscompiled
	}
	if x.Execution != nil {
		v.Check, v.Cycle = x.Execution.Check, x.Execution.Cycle(x.Steps)
	}
	return v, nil
}

// judged asks the model about all findings that have a slice.
func (r *Result) judged(ctx context.Context) error {
	for i := range r.Findings {
		f := &r.Findings[i]
		if f.slice == nil {
			continue
		}
		v, err := f.slice.verdict(ctx)
		if err != nil {
			return err
		}
		f.Verdict, f.slice = v, nil
	}
	return nil
}

// The neighbours of an operation that its slice is made with.

// near is the next operation before or behind another one, in the order of the text,
// that is wanted and goes to another location. There is none if something that
// orders stands between.
func (c *checker) near(k, dir int, wanted func(*Op) bool) *Op {
	op := c.src.ops[k]
	for j := k + dir; j >= 0 && j < len(c.src.ops); j += dir {
		x := c.src.ops[j]
		e := &x.Effect
		if x.Func != op.Func || e.Kind != ptx.Convergent && !e.Kind.IsAccess() || e.Kind.IsAccess() && (e.Acquires() || e.Releases()) {
			return nil
		}
		if len(c.mainOf(j)) > 0 && e.Kind.IsAccess() && e.Space != "shared" &&
			(x.addr.root == "" || x.addr.root != op.addr.root || !overlap(x.addr, op.addr)) && wanted(x) {
			return x
		}
	}
	return nil
}

func reads(op *Op) bool  { return op.Effect.Kind == ptx.Load }
func writes(op *Op) bool { return op.Effect.Kind == ptx.Store }

// plainAccess reports whether an operation is a load or store that orders nothing.
func plainAccess(op *Op) bool {
	return (reads(op) || writes(op)) && !op.Effect.Acquires() && !op.Effect.Releases()
}

// dropped makes the slice of an operation that is gone.
func (c *checker) dropped(k int) *slice {
	op := c.src.ops[k]
	switch e := &op.Effect; {
	case e.Space == "shared":
		return nil
	case e.Kind == ptx.Fence:
		return c.betweenAccesses(k, nil)
	case e.Kind == ptx.Load && e.Acquires():
		return c.unseen(k)
	}
	return nil
}

// unseen makes the slice of an acquire that is gone with its load: what was read of
// its location before tells that it would have seen the release, and a path leads
// from there to a load without an invalidation.
func (c *checker) unseen(k int) *slice {
	op := c.src.ops[k]
	for j := k - 1; j >= 0; j-- {
		x := c.src.ops[j]
		if x.Func != op.Func || x.addr != op.addr || !x.strong() || x.Effect.Kind != ptx.Load || len(c.img[j].main) == 0 {
			continue
		}
		for _, i := range c.img[j].main {
			old := func(i int32) bool { // behind barriers, too: those order the threads of a block
				o := c.owner[i]
				return o > int32(k) && reads(c.src.ops[o]) && c.stale(i) && c.src.ops[o].addr.root != op.addr.root
			}
			at := c.search(i, c.after, func(in *isa.Inst) bool { return in.Mem.Invalidate }, old)
			if at >= 0 {
				return c.reader(x, op, c.src.ops[c.owner[at]], nil)
			}
		}
	}
	return nil
}

// betweenAccesses makes the slice of a fence, with the accesses around it.
func (c *checker) betweenAccesses(k int, lost *Op) *slice {
	return c.fencedBy(c.near(k, -1, plainAccess), k, c.near(k, 1, plainAccess), lost)
}

// fencedBy makes the slice of a fence between two accesses, if they are of different
// locations.
func (c *checker) fencedBy(a *Op, k int, b, lost *Op) *slice {
	if a == nil || b == nil || a.addr.root == b.addr.root && overlap(a.addr, b.addr) {
		return nil
	}
	return c.fenced(a, c.src.ops[k], b, lost)
}

// lessened makes the slice of an operation whose image is less than it.
func (c *checker) lessened(k int, in *isa.Inst) *slice {
	op := c.src.ops[k]
	e := &op.Effect
	lost := op.as(in)
	switch {
	case e.Space == "shared" || in.Mem.Width != e.Width && e.Kind.IsAccess():
		return nil
	case e.Kind == ptx.Fence:
		return c.betweenAccesses(k, lost)
	case e.Acquires():
		if b := c.near(k, 1, reads); b != nil {
			return c.reader(nil, op, b, lost)
		}
	case e.Releases():
		if b := c.near(k, -1, writes); b != nil {
			return c.writer(b, op, lost)
		}
	}
	return nil
}

// bare makes the slice of an access without its invalidation, or its fence, at an
// instruction that it should have ordered.
func (c *checker) bare(k int, at int32, acquires bool) *slice {
	op := c.src.ops[k]
	sem := "relaxed"
	if o := c.owner[at]; o >= 0 {
		b := c.src.ops[o]
		switch {
		case acquires && reads(b):
			if op.Effect.Releases() {
				sem = "release"
			}
			return c.reader(nil, op, b, op.less(sem, op.Effect.Scope))
		case !acquires && writes(b):
			if op.Effect.Acquires() {
				sem = "acquire"
			}
			return c.writer(b, op, op.less(sem, op.Effect.Scope))
		}
	}
	return nil
}

// swapped makes the slice of two operations in the wrong order.
func (c *checker) swapped(x, y int) *slice {
	a, b := c.src.ops[x], c.src.ops[y]
	switch {
	case b.Effect.Space == "shared" || !b.Effect.Kind.IsAccess():
		return nil
	case a.Effect.Kind == ptx.Fence && x < y && plainAccess(b):
		return c.fencedBy(c.near(x, -1, plainAccess), x, b, nil)
	case a.Effect.Kind == ptx.Fence && plainAccess(b):
		return c.fencedBy(b, x, c.near(x, 1, plainAccess), nil)
	case a.Effect.Acquires() && a.Effect.Kind.IsAccess() && reads(b) && x < y:
		return c.risen(a, b)
	case a.Effect.Releases() && a.Effect.Kind.IsAccess() && writes(b) && x > y:
		return c.sunk(b, a)
	}
	return nil
}
