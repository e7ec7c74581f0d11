package cat

import "strings"

// Format writes an expression on one line, with parentheses only where
// needed. It is meant for messages and for tests.
func Format(x Expr) string {
	var b strings.Builder
	format(&b, x, 0)
	return b.String()
}

// Levels of binding, as in the grammar: a part of a lower level than its
// surroundings gets parentheses.
const (
	levelExpr = iota
	levelUnion
	levelInsert
	levelSeq
	levelDiff
	levelInter
	levelProduct
	levelPrefix
	levelPostfix
	levelArg
)

func open(b *strings.Builder, level, need int) func() {
	if level >= need {
		return func() {}
	}
	b.WriteByte('(')
	return func() { b.WriteByte(')') }
}

var opLevel = [...]int{OpUnion: levelUnion, OpInsert: levelInsert, OpSeq: levelSeq, OpDiff: levelDiff,
	OpInter: levelInter, OpProduct: levelProduct}

func format(b *strings.Builder, x Expr, need int) {
	switch x := x.(type) {
	case *Var:
		b.WriteString(x.Name)
	case *Const:
		if x.Universe {
			b.WriteByte('_')
		} else {
			b.WriteByte('0')
		}
	case *TagLit:
		b.WriteString("'" + x.Name)
	case *Op:
		formatOp(b, x, need)
	case *Unary:
		formatUnary(b, x, need)
	case *Tuple:
		b.WriteByte('(')
		formatList(b, x.Elems)
		b.WriteByte(')')
	case *SetLit:
		b.WriteByte('{')
		formatList(b, x.Elems)
		b.WriteByte('}')
	case *App:
		defer open(b, levelPostfix, need)()
		format(b, x.Fun, levelPostfix)
		b.WriteByte(' ')
		format(b, x.Arg, levelArg)
	default:
		defer open(b, levelExpr, need)()
		formatBlock(b, x)
	}
}

func formatOp(b *strings.Builder, x *Op, need int) {
	l := opLevel[x.Kind]
	defer open(b, l, need)()
	for i, a := range x.Args {
		if i > 0 {
			b.WriteString(" " + x.Kind.String() + " ")
		}
		in := l + 1
		if x.Kind == OpInsert && i > 0 || x.Kind == OpDiff && i == 0 {
			in = l
		}
		format(b, a, in)
	}
}

func formatUnary(b *strings.Builder, x *Unary, need int) {
	switch x.Kind {
	case OpToID:
		b.WriteByte('[')
		format(b, x.X, levelExpr)
		b.WriteByte(']')
	case OpComplement:
		defer open(b, levelPrefix, need)()
		b.WriteByte('~')
		format(b, x.X, levelPrefix)
	default:
		defer open(b, levelPostfix, need)()
		format(b, x.X, levelPostfix)
		b.WriteString(x.Kind.String())
	}
}

func formatList(b *strings.Builder, list []Expr) {
	for i, e := range list {
		if i > 0 {
			b.WriteString(", ")
		}
		format(b, e, levelUnion)
	}
}

func formatPattern(b *strings.Builder, p Pattern) {
	if p.Tuple {
		b.WriteByte('(')
	}
	for i, n := range p.Names {
		if i > 0 {
			b.WriteString(", ")
		}
		b.WriteString(n.Name)
	}
	if p.Tuple {
		b.WriteByte(')')
	}
}

func formatBlock(b *strings.Builder, x Expr) {
	w := func(parts ...any) {
		for _, q := range parts {
			switch q := q.(type) {
			case string:
				b.WriteString(q)
			case Expr:
				format(b, q, levelExpr)
			}
		}
	}
	switch x := x.(type) {
	case *Fun:
		w("fun ")
		formatPattern(b, x.Param)
		w(" -> ", x.Body)
	case *Let:
		w("let ")
		if x.Rec {
			w("rec ")
		}
		for i, d := range x.Binds {
			if i > 0 {
				w(" and ")
			}
			formatPattern(b, d.Pat)
			w(" = ", d.X)
		}
		w(" in ", x.Body)
	case *Try:
		w("try ", x.X, " with ", x.With)
	case *If:
		w("if ")
		formatCond(b, x.Cond)
		w(" then ", x.Then, " else ", x.Else)
	case *Match:
		w("match ", x.X, " with")
		for _, c := range x.Clauses {
			w(" || '", c.Tag.Name, " -> ", c.Body)
		}
		if x.Default != nil {
			w(" || _ -> ", x.Default)
		}
		w(" end")
	case *MatchSet:
		w("match ", x.X, " with || {} -> ", x.Empty, " || ")
		if x.Pre != nil {
			w(x.Pre.Name, " | ")
		}
		w(x.Elem.Name, " ++ ", x.Rest.Name, " -> ", x.Body, " end")
	}
}

func formatCond(b *strings.Builder, c Cond) {
	pair := func(l Cond, op string, r Cond) {
		b.WriteByte('(')
		formatCond(b, l)
		b.WriteString(op)
		formatCond(b, r)
		b.WriteByte(')')
	}
	switch c := c.(type) {
	case *Compare:
		format(b, c.L, levelExpr)
		b.WriteString([...]string{" = ", " subset ", " in "}[c.Kind])
		format(b, c.R, levelExpr)
	case *Variant:
		b.WriteString("\"" + c.Name + "\"")
	case *NotCond:
		b.WriteString("not ")
		formatCond(b, c.X)
	case *AndCond:
		pair(c.L, " && ", c.R)
	case *OrCond:
		pair(c.L, " || ", c.R)
	}
}
