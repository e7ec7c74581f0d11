package litmus

// operands reads the operands that the letters of spec name. plain says that
// the mnemonic had no modifiers.
func (p *parser) operands(th *Thread, in *Instr, spec string, plain bool) bool {
	first := len(p.ops)
	for i := range len(spec) {
		if i > 0 && !p.expect(',', ", and another operand") {
			return false
		}
		ok := true
		switch spec[i] {
		case 'd':
			ok = p.name(&in.Dst, "a register")
		case 'l':
			ok = p.name(&in.Target, "a label")
		case 's':
			p.ops = append(p.ops, Operand{})
			ok = p.source(th, &p.ops[len(p.ops)-1])
		case 'a':
			if in.Op == OpLd && p.isMove(th, plain) {
				*in = Instr{Labels: in.Labels, Guard: in.Guard, Op: OpMov, Type: in.Type, Dst: in.Dst, Pos: in.Pos}
				p.ops = append(p.ops, Operand{})
				ok = p.source(th, &p.ops[len(p.ops)-1])
				break
			}
			ok = p.address(th, &in.Addr)
		}
		if !ok {
			return false
		}
	}
	if len(p.ops) > first {
		in.Src = p.ops[first:len(p.ops):len(p.ops)]
	}
	return true
}

// isMove reports whether the second operand of a ld makes it a move to a
// register, which is dialect PTX's way to write one: "ld r0, 1".
func (p *parser) isMove(th *Thread, plain bool) bool {
	if p.t.Dialect != PTX {
		return false
	}
	switch p.tok.kind {
	case tNum, '-', '+':
		return true
	case tWord:
		return plain && (regLike(p.tok.text) && p.t.Location(p.tok.text) == nil || th.Decl(p.tok.text) != nil)
	}
	return false
}

func (p *parser) name(s *string, what string) bool {
	if p.tok.kind != tWord || !isIdent(p.tok.text) {
		return p.errorf(p.pos(), "expected %s, found %s", what, p.found())
	}
	*s = p.tok.text
	p.next()
	return true
}

// source reads a constant, a register or a location's address.
func (p *parser) source(th *Thread, o *Operand) bool {
	switch p.tok.kind {
	case tNum, '-', '+':
		v, ok := p.constant()
		*o = Const(v)
		return ok
	}
	n, pos := p.tok.text, p.pos()
	if !p.name(&n, "a register or a constant") {
		return false
	}
	switch {
	case th.Decl(n) != nil:
		*o = Reg(n)
	case p.t.Location(n) != nil:
		if p.t.Dialect == PTX && regLike(n) {
			return p.errorf(pos, "%s is a location of this test, so that it cannot be a register; a register is declared as P%d:%s=0", n, th.ID, n)
		}
		*o = Loc(n)
	default:
		p.loose = true
		*o = Reg(n)
	}
	return true
}

// address reads [r1], [r1+4], [x], [x-4], x or r1.
func (p *parser) address(th *Thread, a *Addr) bool {
	bracket := p.accept('[')
	n, pos := p.tok.text, p.pos()
	if !p.name(&n, "an address") {
		return false
	}
	switch {
	case th.Decl(n) != nil:
		a.Reg = n
	case p.t.Location(n) != nil:
		a.Loc = n
	case regLike(n):
		p.loose = true
		a.Reg = n
	default:
		if reserved(n) {
			return p.errorf(pos, "%s cannot be a location", n)
		}
		if p.location(n, pos) == nil {
			return false
		}
		p.loose = true
		a.Loc = n
	}
	if !bracket {
		return true
	}
	if p.tok.kind == '+' || p.tok.kind == '-' {
		neg := p.accept('-')
		if !neg {
			p.next()
		}
		pos := p.pos()
		v, ok := p.constant()
		if !ok {
			return false
		}
		if v < -1<<31 || v >= 1<<31 {
			return p.errorf(pos, "offset %d does not fit 32 bits", v)
		}
		if neg {
			v = -v
		}
		a.Offset = v
	}
	return p.expect(']', "]")
}
