package cycle

import (
	"errors"
	"fmt"
	"slices"

	"optcheck/litmus"
)

// unread makes the event's result unused: only what the test's other accesses read is observed,
// as before.
func (e *editor) unread() error {
	r := e.in.Dst
	if r == "" || r == "_" {
		return errors.New("it has no result")
	}
	for i := range e.th.Body {
		if in := &e.th.Body[i]; slices.Contains(in.Reads(), r) || in.Dst == r && i != e.events[e.o.Event] {
			return fmt.Errorf("its result is used by %s", in)
		}
	}
	e.final()
	e.t.Observed = slices.DeleteFunc(e.t.Observed, e.isResult)
	e.t.Cond.Expr = without(e.t.Cond.Expr, e.isResult)
	return nil
}

// final makes the test observe registers only at the end: all of them.
func (e *editor) final() {
	all := e.t.ObserveAll()
	e.t.Observed = slices.DeleteFunc(slices.Clone(all.Observed), func(x litmus.Term) bool { return x.Kind == litmus.TermLoc })
	e.t.Results = litmus.ResultsFinal
}

// isResult reports whether a term is the event's register.
func (e *editor) isResult(x litmus.Term) bool {
	return x.Kind == litmus.TermReg && x.Thread == e.th.ID && x.Name == e.in.Dst
}

// without drops the comparisons of an expression that contain a term.
func without(x litmus.Expr, of func(litmus.Term) bool) litmus.Expr {
	return rewritten(x, func(a litmus.Atom) litmus.Expr {
		if of(a.Left) || of(a.Right) {
			return nil
		}
		return a
	})
}

// rewritten returns an expression with its comparisons replaced; it drops those that become
// nil.
func rewritten(x litmus.Expr, f func(litmus.Atom) litmus.Expr) litmus.Expr {
	list := func(in []litmus.Expr, all func([]litmus.Expr) litmus.Expr) litmus.Expr {
		var out []litmus.Expr
		for _, y := range in {
			if y = rewritten(y, f); y != nil {
				out = append(out, y)
			}
		}
		switch len(out) {
		case 0:
			return nil
		case 1:
			return out[0]
		}
		return all(out)
	}
	switch x := x.(type) {
	case litmus.Atom:
		return f(x)
	case litmus.Not:
		if y := rewritten(x.X, f); y != nil {
			return litmus.Not{X: y}
		}
		return nil
	case litmus.And:
		return list(x.List, func(l []litmus.Expr) litmus.Expr { return litmus.And{List: l} })
	case litmus.Or:
		return list(x.List, func(l []litmus.Expr) litmus.Expr { return litmus.Or{List: l} })
	}
	return x
}

func (e *editor) drop() error { return e.unread() }

// peek replaces the result in the condition by that of an earlier load of the location, which
// is strong unless specified otherwise.
func (e *editor) peek() error {
	in, err := e.access(litmus.OpLd)
	if err != nil {
		return err
	}
	r := e.reg("r", e.data())
	e.t.Cond.Expr = rewritten(e.t.Cond.Expr, func(a litmus.Atom) litmus.Expr {
		for _, x := range []*litmus.Term{&a.Left, &a.Right} {
			if e.isResult(*x) {
				x.Name = r
			}
		}
		return a
	})
	if err := e.unread(); err != nil {
		return fmt.Errorf("%w (register %s)", err, e.in.Dst)
	}
	in.Dst = r
	e.insert(e.o.Event, in)
	e.observe(r)
	return nil
}

// clobber overwrites the result and observes the overwriting value.
func (e *editor) clobber() error {
	if err := e.unread(); err != nil {
		return err
	}
	e.insert(e.o.Event+1, litmus.Instr{Op: litmus.OpMov, Type: e.data(), Dst: e.in.Dst, Src: []litmus.Operand{litmus.Const(0)}})
	e.observe(e.in.Dst)
	return nil
}

func (e *editor) maskAnd() error {
	return e.masked(litmus.OpAnd, bitsType(e.data()), litmus.Reg(e.in.Dst), litmus.Const(0))
}
func (e *editor) maskTimes() error {
	return e.masked(litmus.OpMul, e.data(), litmus.Reg(e.in.Dst), litmus.Const(0))
}
func (e *editor) maskSelf() error {
	return e.masked(litmus.OpXor, bitsType(e.data()), litmus.Reg(e.in.Dst), litmus.Reg(e.in.Dst))
}

func bitsType(t litmus.Type) litmus.Type {
	if t.Bits() == 64 {
		return litmus.B64
	}
	return litmus.B32
}

// masked stores the result under a mask that leaves nothing of it.
func (e *editor) masked(op litmus.Op, t litmus.Type, src ...litmus.Operand) error {
	if err := e.unread(); err != nil {
		return err
	}
	q := e.reg("r", e.data())
	st := litmus.Instr{Op: litmus.OpSt, Type: e.data(), Addr: e.scratch(), Src: []litmus.Operand{litmus.Reg(q)}}
	e.insert(e.o.Event+1, litmus.Instr{Op: op, Type: t, Dst: q, Src: src}, st)
	return nil
}

// never stores the result under a predicate that the compiler can prove false.
func (e *editor) never() error {
	zero := func(q string) litmus.Instr {
		return litmus.Instr{Op: litmus.OpXor, Type: litmus.B32, Dst: q, Src: []litmus.Operand{litmus.Reg(q), litmus.Reg(q)}}
	}
	return e.underPredicate(zero)
}

// seldom stores the result under a predicate that is false, which the compiler cannot know.
func (e *editor) seldom() error { return e.underPredicate(nil) }

func (e *editor) underPredicate(known func(q string) litmus.Instr) error {
	if err := e.unread(); err != nil {
		return err
	}
	q, p := e.reg("r", litmus.S32), e.reg("p", litmus.Pred)
	code := []litmus.Instr{{Op: litmus.OpMov, Type: litmus.S32, Dst: q, Src: []litmus.Operand{litmus.Const(0)}}}
	if known != nil {
		code = append(code, known(q))
	}
	code = append(code, litmus.Instr{Op: litmus.OpSetp, Cmp: litmus.CmpNe, Type: litmus.S32, Dst: p, Src: []litmus.Operand{litmus.Reg(q),
		litmus.Const(0)}},
		litmus.Instr{Op: litmus.OpSt, Type: e.data(), Addr: e.scratch(), Src: []litmus.Operand{litmus.Reg(e.in.Dst)},
			Guard: &litmus.Guard{Reg: p}})
	e.insert(e.o.Event+1, code...)
	return nil
}

// discard removes the destination of an atomic.
func (e *editor) discard() error {
	if err := e.unread(); err != nil {
		return err
	}
	e.at().Dst = "_"
	return nil
}
