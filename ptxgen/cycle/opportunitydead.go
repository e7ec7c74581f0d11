package cycle

import (
	"errors"
	"fmt"
	"slices"

	"optcheck/litmus"
)

// unread makes the event's result one that nobody reads: what else the test's
// accesses read is observed, as before.
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

// final makes the test one that observes registers at the end only: all of them.
func (e *editor) final() {
	all := e.t.ObserveAll()
	e.t.Observed = slices.DeleteFunc(slices.Clone(all.Observed), func(x litmus.Term) bool { return x.Kind == litmus.TermLoc })
	e.t.Results = litmus.ResultsFinal
}

// isResult reports whether a term is the event's register.
func (e *editor) isResult(x litmus.Term) bool {
	return x.Kind == litmus.TermReg && x.Thread == e.th.ID && x.Name == e.in.Dst
}

// without drops the comparisons of an expression that speak of a term.
func without(x litmus.Expr, of func(litmus.Term) bool) litmus.Expr {
	list := func(in []litmus.Expr) (out []litmus.Expr) {
		for _, y := range in {
			if y = without(y, of); y != nil {
				out = append(out, y)
			}
		}
		return out
	}
	switch x := x.(type) {
	case litmus.Atom:
		if of(x.Left) || of(x.Right) {
			return nil
		}
	case litmus.Not:
		if y := without(x.X, of); y != nil {
			return litmus.Not{X: y}
		}
		return nil
	case litmus.And:
		if l := list(x.List); len(l) > 1 {
			return litmus.And{List: l}
		} else if len(l) == 1 {
			return l[0]
		}
		return nil
	case litmus.Or:
		if l := list(x.List); len(l) > 1 {
			return litmus.Or{List: l}
		} else if len(l) == 1 {
			return l[0]
		}
		return nil
	}
	return x
}

func (e *editor) drop() error { return e.unread() }

// peek lets an earlier load of the location, strong unless said otherwise, have the
// place of the result in the condition.
func (e *editor) peek() error {
	in, err := e.access(litmus.OpLd)
	if err != nil {
		return err
	}
	r := e.reg("r", e.data())
	e.t.Cond.Expr = renamed(e.t.Cond.Expr, func(x litmus.Term) litmus.Term {
		if e.isResult(x) {
			x.Name = r
		}
		return x
	})
	if err := e.unread(); err != nil {
		return fmt.Errorf("%w (register %s)", err, e.in.Dst)
	}
	in.Dst = r
	e.insert(e.o.Event, in)
	e.observe(r)
	return nil
}

// renamed replaces the terms of an expression.
func renamed(x litmus.Expr, f func(litmus.Term) litmus.Term) litmus.Expr {
	switch x := x.(type) {
	case litmus.Atom:
		x.Left, x.Right = f(x.Left), f(x.Right)
		return x
	case litmus.Not:
		return litmus.Not{X: renamed(x.X, f)}
	case litmus.And:
		l := slices.Clone(x.List)
		for i := range l {
			l[i] = renamed(l[i], f)
		}
		return litmus.And{List: l}
	case litmus.Or:
		l := slices.Clone(x.List)
		for i := range l {
			l[i] = renamed(l[i], f)
		}
		return litmus.Or{List: l}
	}
	return x
}

// clobber overwrites the result and looks at what it was overwritten with.
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

// masked stores what a mask that leaves nothing leaves of the result.
func (e *editor) masked(op litmus.Op, t litmus.Type, src ...litmus.Operand) error {
	if err := e.unread(); err != nil {
		return err
	}
	q := e.reg("r", e.data())
	st := litmus.Instr{Op: litmus.OpSt, Type: e.data(), Addr: e.scratch(), Src: []litmus.Operand{litmus.Reg(q)}}
	e.insert(e.o.Event+1, litmus.Instr{Op: op, Type: t, Dst: q, Src: src}, st)
	return nil
}

// never stores the result under a predicate that the compiler can see to be false.
func (e *editor) never() error {
	zero := func(q string) litmus.Instr {
		return litmus.Instr{Op: litmus.OpXor, Type: litmus.B32, Dst: q, Src: []litmus.Operand{litmus.Reg(q), litmus.Reg(q)}}
	}
	return e.underPredicate(zero)
}

// seldom stores the result under a predicate that is false, which the compiler cannot see.
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
	code = append(code, litmus.Instr{Op: litmus.OpSetp, Cmp: litmus.CmpNe, Type: litmus.S32, Dst: p, Src: []litmus.Operand{litmus.Reg(q), litmus.Const(0)}},
		litmus.Instr{Op: litmus.OpSt, Type: e.data(), Addr: e.scratch(), Src: []litmus.Operand{litmus.Reg(e.in.Dst)}, Guard: &litmus.Guard{Reg: p}})
	e.insert(e.o.Event+1, code...)
	return nil
}

// discard gives an atomic no destination.
func (e *editor) discard() error {
	if err := e.unread(); err != nil {
		return err
	}
	e.at().Dst = "_"
	return nil
}
