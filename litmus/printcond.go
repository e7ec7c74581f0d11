package litmus

import "strconv"

func (t *Test) appendCond(b []byte) []byte {
	if len(t.Observed) > 0 {
		b = append(b, "locations ["...)
		for i, x := range t.Observed {
			if i > 0 {
				b = append(b, ' ')
			}
			b = append(appendTerm(b, x, t), ';')
		}
		b = append(b, "]\n"...)
	}
	if t.Cond.Expr == nil && t.Cond.Quant == Exists {
		return b
	}
	return append(appendCondition(b, t.Cond, t), '\n')
}

// String formats the condition with threads by number: "exists (0:r2=0)".
func (c Cond) String() string { return string(appendCondition(nil, c, nil)) }

// String prints the term: "0:r2", "x" or a number.
func (t Term) String() string { return string(appendTerm(nil, t, nil)) }

func appendCondition(b []byte, c Cond, t *Test) []byte {
	b = append(append(b, c.Quant.String()...), " ("...)
	b = appendExpr(b, c.Expr, t, precOr)
	return append(b, ')')
}

// Binding strengths of conditions.
const (
	precOr = iota
	precAnd
	precUnary
)

func appendExpr(b []byte, e Expr, t *Test, prec int) []byte {
	switch e := e.(type) {
	case And:
		return appendList(b, e.List, t, ` /\ `, precAnd, prec)
	case Or:
		return appendList(b, e.List, t, ` \/ `, precOr, prec)
	case Not:
		if e.X == (Expr)(True{}) {
			return append(b, "false"...)
		}
		return append(appendExpr(append(b, "not ("...), e.X, t, precOr), ')')
	case Atom:
		return appendAtom(b, e, t)
	}
	return append(b, "true"...)
}

// appendList prints a conjunction or disjunction, in parentheses if it is inside one that binds
// as strongly. Lists of one element print as that element; the empty conjunction is true, the
// empty disjunction false.
func appendList(b []byte, list []Expr, t *Test, sign string, own, prec int) []byte {
	switch {
	case len(list) == 0 && own == precAnd:
		return append(b, "true"...)
	case len(list) == 0:
		return append(b, "false"...)
	case len(list) == 1:
		return appendExpr(b, list[0], t, prec)
	}
	paren := own < prec
	if paren {
		b = append(b, '(')
	}
	for i, e := range list {
		if i > 0 {
			b = append(b, sign...)
		}
		b = appendExpr(b, e, t, own+1)
	}
	if paren {
		b = append(b, ')')
	}
	return b
}

func appendAtom(b []byte, a Atom, t *Test) []byte {
	b = appendTerm(b, a.Left, t)
	if t != nil && t.Dialect == PTX {
		sign := a.Cmp.Sign()
		if a.Cmp == CmpEq {
			sign = "=="
		}
		b = append(append(append(b, ' '), sign...), ' ')
	} else {
		b = append(b, a.Cmp.Sign()...)
	}
	return appendTerm(b, a.Right, t)
}

func appendTerm(b []byte, x Term, t *Test) []byte {
	switch x.Kind {
	case TermConst:
		return strconv.AppendInt(b, x.Value, 10)
	case TermLoc:
		return append(b, x.Name...)
	}
	if t != nil && t.Dialect == PTX && x.Thread < len(t.Threads) {
		b = append(b, t.Threads[x.Thread].Name...)
	} else {
		b = strconv.AppendInt(b, int64(x.Thread), 10)
	}
	return append(append(b, ':'), x.Name...)
}
