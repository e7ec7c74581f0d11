package litmus

import "slices"

// Location returns the location with a name, or nil.
func (t *Test) Location(name string) *Location {
	for i := range t.Locations {
		if t.Locations[i].Name == name {
			return &t.Locations[i]
		}
	}
	return nil
}

// Decl returns the declaration of a register of the thread, or nil. Dialect PTX does not
// require declarations.
func (th *Thread) Decl(reg string) *RegDecl {
	for i := range th.Regs {
		if th.Regs[i].Name == reg {
			return &th.Regs[i]
		}
	}
	return nil
}

// IsAccess reports whether the instruction is a memory access.
func (in *Instr) IsAccess() bool { return in.Op.IsAccess() }

// IsEvent reports whether the instruction is an access, a fence or a barrier.
func (in *Instr) IsEvent() bool {
	return in.IsAccess() || in.IsFence() || in.Op == OpBar || in.Op == OpAsync
}

// Dressed reports whether the test says something about its machine code that models ignore:
// that a function performs an instruction, a prefetch, a number of registers.
func (t *Test) Dressed() bool {
	return t.Registers > 0 || slices.ContainsFunc(t.Threads, func(th Thread) bool {
		return slices.ContainsFunc(th.Body, func(in Instr) bool { return in.Call || in.Prefetch > 0 })
	})
}

// IsFence reports whether the instruction is a memory fence.
func (in *Instr) IsFence() bool { return in.Op.IsFence() }

// Order returns the order of a fence. A fence with a scope but no order is .acq_rel (PTX ISA,
// membar, fence).
func (in *Instr) Order() Sem {
	if in.Op == OpFence && in.Sem == SemNone && in.Scope != ScopeNone {
		return SemAcqRel
	}
	return in.Sem
}

// IsRead reports whether the instruction reads memory. A red does, though no register receives
// the value.
func (in *Instr) IsRead() bool { return in.Op == OpLd || in.Op == OpAtom || in.Op == OpRed }

// IsWrite reports whether the instruction may write memory.
func (in *Instr) IsWrite() bool { return in.Op == OpSt || in.Op == OpAtom || in.Op == OpRed }

// Reads returns the registers that the instruction reads, each once: guard,
// address, sources, barrier operands, in this order.
func (in *Instr) Reads() []string {
	var regs []string
	add := func(r string) {
		if r != "" && !slices.Contains(regs, r) {
			regs = append(regs, r)
		}
	}
	if in.Guard != nil {
		add(in.Guard.Reg)
	}
	add(in.Addr.Reg)
	for _, a := range in.More {
		add(a.Reg)
	}
	for _, o := range in.Src {
		if o.Kind == OperandReg {
			add(o.Name)
		}
	}
	if in.Op == OpBar {
		for _, o := range [...]Operand{in.Barrier.ID, in.Barrier.Resource, in.Barrier.Quorum} {
			if o.Kind == OperandReg {
				add(o.Name)
			}
		}
	}
	return regs
}

// Writes returns the register that the instruction writes, or "".
func (in *Instr) Writes() string { return in.Dst }

// Eval reports whether a final state satisfies the expression under the quantifier; value
// returns the final value of a term that is not a constant. A condition without expression
// holds.
func (c Cond) Eval(value func(Term) int64) bool { return evalExpr(c.Expr, value) }

func evalExpr(e Expr, value func(Term) int64) bool {
	switch e := e.(type) {
	case And:
		for _, x := range e.List {
			if !evalExpr(x, value) {
				return false
			}
		}
	case Or:
		for _, x := range e.List {
			if evalExpr(x, value) {
				return true
			}
		}
		return false
	case Not:
		return !evalExpr(e.X, value)
	case Atom:
		return e.Cmp.Holds(evalTerm(e.Left, value), evalTerm(e.Right, value))
	}
	return true
}

func evalTerm(t Term, value func(Term) int64) int64 {
	if t.Kind == TermConst {
		return t.Value
	}
	return value(t)
}

// Terms returns the registers and locations of the condition and of the
// locations clause, each once, in order of appearance.
func (t *Test) Terms() []Term {
	var list []Term
	add := func(x Term) {
		if x.Kind != TermConst && !slices.Contains(list, x) {
			list = append(list, x)
		}
	}
	eachTerm(t.Cond.Expr, add)
	for _, x := range t.Observed {
		add(x)
	}
	return list
}

// eachTerm calls f for every term of e, from left to right.
func eachTerm(e Expr, f func(Term)) {
	switch e := e.(type) {
	case And:
		for _, x := range e.List {
			eachTerm(x, f)
		}
	case Or:
		for _, x := range e.List {
			eachTerm(x, f)
		}
	case Not:
		eachTerm(e.X, f)
	case Atom:
		f(e.Left)
		f(e.Right)
	}
}

// Clone returns a deep copy of the test.
func (t *Test) Clone() *Test {
	c := *t
	c.Meta = slices.Clone(t.Meta)
	c.Locations = slices.Clone(t.Locations)
	c.Observed = slices.Clone(t.Observed)
	c.Threads = slices.Clone(t.Threads)
	for i := range c.Threads {
		th := &c.Threads[i]
		th.Regs = slices.Clone(th.Regs)
		th.Body = slices.Clone(th.Body)
		for j := range th.Body {
			th.Body[j] = th.Body[j].clone()
		}
	}
	c.Cond.Expr = cloneExpr(t.Cond.Expr)
	return &c
}

func (in Instr) clone() Instr {
	in.Labels = slices.Clone(in.Labels)
	in.Src = slices.Clone(in.Src)
	in.More = slices.Clone(in.More)
	if in.Guard != nil {
		g := *in.Guard
		in.Guard = &g
	}
	return in
}

func cloneExpr(e Expr) Expr {
	switch e := e.(type) {
	case And:
		return And{cloneExprs(e.List)}
	case Or:
		return Or{cloneExprs(e.List)}
	case Not:
		return Not{cloneExpr(e.X)}
	}
	return e
}

func cloneExprs(list []Expr) []Expr {
	c := make([]Expr, len(list))
	for i, e := range list {
		c[i] = cloneExpr(e)
	}
	return c
}
