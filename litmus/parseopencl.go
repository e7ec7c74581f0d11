package litmus

import "strings"

// cCell reads one statement of dialect GPU_OPENCL.
func (p *parser) cCell(th *Thread, in *Instr) bool {
	if p.isWord("if") {
		p.next()
		if done, ok := p.cIf(th, in); done || !ok {
			return ok && p.cEnd()
		}
	}
	return p.cStatement(th, in) && p.cEnd()
}

func (p *parser) isWord(w string) bool { return p.tok.kind == tWord && p.tok.text == w }

// cEnd requires the end of the cell.
func (p *parser) cEnd() bool {
	if p.tok.kind != '|' && p.tok.kind != ';' {
		return p.errorf(p.pos(), "expected | or ; behind the statement, found %s", p.found())
	}
	return true
}

// cIf reads the condition in parentheses: a predicate, which guards what follows, or a
// comparison before goto, which completes the statement.
func (p *parser) cIf(th *Thread, in *Instr) (done, ok bool) {
	if !p.expect('(', "( behind if") {
		return false, false
	}
	neg := p.accept('!')
	if neg || p.tok.kind == tWord && p.peek() == ')' {
		g := &Guard{Neg: neg}
		if !p.name(&g.Reg, "a predicate") || !p.expect(')', ")") {
			return false, false
		}
		in.Guard = g
		return false, true
	}
	src := [2]Operand{}
	if !p.source(th, &src[0]) {
		return false, false
	}
	c := p.comparison()
	if c == CmpNone {
		return false, p.errorf(p.pos(), "expected a comparison, found %s", p.found())
	}
	if !p.source(th, &src[1]) || !p.expect(')', ")") {
		return false, false
	}
	if !p.isWord("goto") {
		return false, p.errorf(p.pos(), "expected goto behind a comparison, found %s; other statements are guarded by a bool", p.found())
	}
	p.next()
	in.Op, in.Cmp = OpBra, c
	p.ops = append(p.ops, src[:]...)
	in.Src = p.ops[len(p.ops)-2 : len(p.ops) : len(p.ops)]
	return true, p.name(&in.Target, "a label")
}

// comparison consumes a comparison operator; CmpNone if there is none.
func (p *parser) comparison() Cmp {
	c := CmpNone
	switch p.tok.kind {
	case tEq:
		c = CmpEq
	case tNe:
		c = CmpNe
	case tLe:
		c = CmpLe
	case tGe:
		c = CmpGe
	case '<':
		c = CmpLt
	case '>':
		c = CmpGt
	}
	if c != CmpNone {
		p.next()
	}
	return c
}

func (p *parser) cStatement(th *Thread, in *Instr) bool {
	first := len(p.ops)
	ok := false
	switch {
	case p.isWord("goto"):
		p.next()
		in.Op = OpBra
		return p.name(&in.Target, "a label")
	case p.accept('*'):
		in.Op = OpSt
		ok = p.cPointer(th, in) && p.expect('=', "=") && p.cSource(th)
		in.Type = cAccess(in.Type, false)
	case p.tok.kind == tWord && p.peek() == '(':
		ok = p.cCall(th, in)
	case p.tok.kind == tWord:
		ok = p.name(&in.Dst, "a register") && p.expect('=', "=") && p.cValue(th, in)
	default:
		return p.errorf(p.pos(), "expected a statement, found %s", p.found())
	}
	if len(p.ops) > first {
		in.Src = p.ops[first:len(p.ops):len(p.ops)]
	}
	return ok
}

// cSource reads an operand into the arena.
func (p *parser) cSource(th *Thread) bool {
	p.ops = append(p.ops, Operand{})
	return p.source(th, &p.ops[len(p.ops)-1])
}

// cPointer reads x, p or (volatile local long *)x.
func (p *parser) cPointer(th *Thread, in *Instr) bool {
	if p.accept('(') {
		for p.tok.kind == tWord {
			switch w := strings.TrimPrefix(p.tok.text, "__"); {
			case w == "volatile" && in.Sem == SemNone && (in.Op == OpLd || in.Op == OpSt):
				in.Sem = SemVolatile
			case w == "global" && in.Space == Generic:
				in.Space = Global
			case w == "local" && in.Space == Generic:
				in.Space = Shared
			case in.Type == TypeNone && cTypeOf(strings.TrimPrefix(w, "atomic_")).Bits() > 1 &&
				cTypeOf(strings.TrimPrefix(w, "atomic_")) != TypeNone:
				in.Type = cTypeOf(strings.TrimPrefix(w, "atomic_"))
			default:
				return p.errorf(p.pos(), "expected volatile, global, local, int, uint, long or ulong, found %s", p.found())
			}
			p.next()
		}
		if !p.expect('*', "* in the cast of a pointer") || !p.expect(')', ")") {
			return false
		}
	}
	if p.tok.kind != tWord {
		return p.errorf(p.pos(), "expected a pointer, found %s", p.found())
	}
	return p.address(th, &in.Addr)
}

// typeOfReg returns the declared type of a register, int without declaration.
func (th *Thread) typeOfReg(r string) Type {
	if d := th.Decl(r); d != nil && d.Type != TypeNone {
		return d.Type
	}
	return S32
}

// cValue reads the right-hand side of an assignment to in.Dst.
func (p *parser) cValue(th *Thread, in *Instr) bool {
	typ := th.typeOfReg(in.Dst)
	switch {
	case p.accept('*'):
		in.Op = OpLd
		ok := p.cPointer(th, in)
		in.Type = cAccess(in.Type, false)
		return ok
	case p.tok.kind == tWord && p.peek() == '(':
		return p.cCall(th, in)
	case p.tok.kind == '(':
		return p.cParens(th, in, typ)
	case p.accept('~'):
		in.Op, in.Type = OpNot, cAccess(typ, true)
		if typ == Pred {
			in.Type = Pred
		}
		return p.cSource(th)
	}
	if !p.cSource(th) {
		return false
	}
	return p.cBinary(th, in, typ)
}

// cBinary reads what follows the first operand of a right-hand side.
func (p *parser) cBinary(th *Thread, in *Instr, typ Type) bool {
	pos := p.pos()
	left := p.ops[len(p.ops)-1]
	if c := p.cCompare(); c != CmpNone {
		in.Op, in.Cmp, in.Type = OpSetp, c, S32
		if left.Kind == OperandReg {
			in.Type = cAccess(th.typeOfReg(left.Name), false)
		}
		return p.cSource(th)
	}
	op := OpNop
	switch {
	case p.accept('+'):
		op = OpAdd
	case p.accept('-'):
		op = OpSub
	case p.accept('*'):
		op = OpMul
	case p.accept('&'):
		op = OpAnd
	case p.tok.kind == '<' && p.ahead(1).kind == '<':
		p.next()
		p.next()
		op = OpShl
	case p.tok.kind == '>' && p.ahead(1).kind == '>':
		p.next()
		p.next()
		op = OpShr
	case p.tok.kind == tBad && p.tok.text == "^":
		p.next()
		op = OpXor
	case p.tok.kind == tBad && p.tok.text == "/":
		p.next()
		op = OpDiv
	case p.tok.kind == tBad && p.tok.text == "?":
		return p.cSelect(th, in, typ)
	default:
		in.Op, in.Type = OpMov, cAccess(typ, false)
		if typ == Pred {
			in.Type = Pred
		}
		return true
	}
	if typ == Pred && op != OpAnd && op != OpXor {
		return p.errorf(pos, "%v of bools", op)
	}
	in.Op, in.Type = op, cAccess(typ, op == OpAnd || op == OpXor || op == OpShl)
	if typ == Pred {
		in.Type = Pred
	}
	return p.cSource(th)
}

// cCompare consumes a comparison operator, but not the first half of a shift.
func (p *parser) cCompare() Cmp {
	if k := p.tok.kind; (k == '<' || k == '>') && p.ahead(1).kind == k {
		return CmpNone
	}
	return p.comparison()
}

// cSelect reads "? a : b" after the predicate, which is the last source.
func (p *parser) cSelect(th *Thread, in *Instr, typ Type) bool {
	p.next()
	n := len(p.ops)
	if !p.cSource(th) || !p.expect(':', ": of ?:") || !p.cSource(th) {
		return false
	}
	p.ops[n-1], p.ops[n], p.ops[n+1] = p.ops[n], p.ops[n+1], p.ops[n-1]
	in.Op, in.Type = OpSelp, cAccess(typ, false)
	return true
}

// cParens reads (a | b) or (ulong)r.
func (p *parser) cParens(th *Thread, in *Instr, typ Type) bool {
	p.next()
	if t := cTypeOf(p.tok.text); p.tok.kind == tWord && t.Bits() > 1 && t != TypeNone {
		p.next()
		if !p.expect(')', ")") {
			return false
		}
		in.Op, in.Type = OpCvt, t
		if p.accept('(') {
			if in.FromType = cTypeOf(p.tok.text); p.tok.kind != tWord || in.FromType == TypeNone || in.FromType == Pred {
				return p.errorf(p.pos(), "expected a type, found %s", p.found())
			}
			p.next()
			if !p.expect(')', ")") {
				return false
			}
		}
		pos := p.pos()
		if !p.cSource(th) {
			return false
		}
		o := p.ops[len(p.ops)-1]
		if o.Kind != OperandReg {
			return p.errorf(pos, "only registers are converted")
		}
		if in.FromType == TypeNone {
			in.FromType = cAccess(th.typeOfReg(o.Name), false)
		}
		return true
	}
	in.Op, in.Type = OpOr, cAccess(typ, true)
	if typ == Pred {
		in.Type = Pred
	}
	return p.cSource(th) && p.expect('|', "| of (a | b)") && p.cSource(th) && p.expect(')', ")")
}

// cCall reads a call of a built-in function; its name is the current token.
func (p *parser) cCall(th *Thread, in *Instr) bool {
	name, pos := p.tok.text, p.pos()
	p.next()
	p.next()
	switch name {
	case "mem_fence", "read_mem_fence", "write_mem_fence":
		in.Op = OpFence
		for _, s := range []Sem{SemAcqRel, SemAcquire, SemRelease} {
			if memFence(s) == name {
				in.Sem = s
			}
		}
		return p.noResult(in, pos) && p.cFlags(in) && p.expect(')', ")")
	case "barrier", "work_group_barrier":
		in.Op, in.Barrier.ID = OpBar, Const(0)
		return p.noResult(in, pos) && p.cFlags(in) && p.expect(')', ")")
	case "atomic_work_item_fence":
		in.Op = OpFence
		return p.noResult(in, pos) && p.cFlags(in) && p.cOrder(in) && p.expect(')', ")")
	case "atomic_load_explicit":
		in.Op = OpLd
		if in.Dst == "" {
			return p.errorf(pos, "the result of %s must be kept", name)
		}
		ok := p.cPointer(th, in)
		in.Type = cAccess(in.Type, false)
		return ok && p.cOrder(in) && p.expect(')', ")")
	case "atomic_store_explicit":
		in.Op = OpSt
		ok := p.noResult(in, pos) && p.cPointer(th, in) && p.expect(',', ", and a value") && p.cSource(th)
		in.Type = cAccess(in.Type, false)
		return ok && p.cOrder(in) && p.expect(')', ")")
	}
	return p.cAtomic(th, in, name, pos)
}

func (p *parser) noResult(in *Instr, pos Pos) bool {
	if in.Dst != "" {
		return p.errorf(pos, "this function has no result")
	}
	return true
}

// cAtomic reads the arguments of a read-modify-write.
func (p *parser) cAtomic(th *Thread, in *Instr, name string, pos Pos) bool {
	v1, _ := strings.CutPrefix(name, "atomic_")
	v2, explicit := strings.CutSuffix(v1, "_explicit")
	for _, a := range cAtoms {
		if explicit && a.name2 == v2 && v2 != "" || !explicit && a.name == v1 {
			in.Atom = a.op
		}
	}
	if in.Atom == AtomNone {
		return p.errorf(pos, "unknown function %s", name)
	}
	in.Op = OpAtom
	if in.Dst == "" {
		in.Op = OpRed
	}
	if !p.cPointer(th, in) {
		return false
	}
	switch in.Atom {
	case AtomExch, AtomCAS, AtomAnd, AtomOr, AtomXor:
		in.Type = cAccess(in.Type, true)
	case AtomAdd:
		if in.Type = cAccess(in.Type, false); in.Type == S64 {
			in.Type = U64 // PTX has no signed one; the sum is the same
		}
	default:
		in.Type = cAccess(in.Type, false)
	}
	for range arity(&Instr{Op: OpAtom, Atom: in.Atom}) {
		if !p.expect(',', ", and a value") || !p.cSource(th) {
			return false
		}
	}
	if explicit && !p.cOrder(in) {
		return false
	}
	return p.expect(')', ")")
}

// cOrder reads ", memory_order_…, memory_scope_…", with the failure order in
// between for a compare-and-exchange.
func (p *parser) cOrder(in *Instr) bool {
	order := func(s *Sem) bool {
		if !p.expect(',', ", and a memory order") {
			return false
		}
		for _, o := range cOrders {
			if p.isWord(o.name) {
				*s = o.sem
				p.next()
				return true
			}
		}
		return p.errorf(p.pos(), "expected a memory order, found %s", p.found())
	}
	if !order(&in.Sem) {
		return false
	}
	if in.Op != OpFence && in.Atom == AtomCAS {
		var fail Sem
		pos := p.pos()
		if !order(&fail) {
			return false
		}
		if fail != failureOrder(in.Sem) {
			return p.errorf(pos, "the failure order must be the strongest possible, %s", cOrders[failureOrder(in.Sem)-SemRelaxed].name)
		}
	}
	if !p.expect(',', ", and a memory scope") {
		return false
	}
	for _, s := range cScopes {
		if p.isWord(s.name) {
			in.Scope = s.scope
			p.next()
			return true
		}
	}
	return p.errorf(p.pos(), "expected a memory scope, found %s", p.found())
}

// cFlags reads CLK_LOCAL_MEM_FENCE, CLK_GLOBAL_MEM_FENCE or both with a bar.
func (p *parser) cFlags(in *Instr) bool {
	var local, global bool
	for {
		switch {
		case p.isWord(cLocalFlag) && !local:
			local = true
		case p.isWord(cGlobalFlag) && !global:
			global = true
		default:
			return p.errorf(p.pos(), "expected %s or %s, found %s", cLocalFlag, cGlobalFlag, p.found())
		}
		p.next()
		if !p.accept('|') {
			break
		}
	}
	switch {
	case local && !global:
		in.Space = Shared
	case global && !local:
		in.Space = Global
	}
	return true
}
