package mutants

import (
	"bytes"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"strings"
)

// mutator writes all mutants of a file into it, as insertions: each asks isMutant(n) whether it is alive. Mutants are each
// condition made true and false, each operand of && and || removed, each comparison shifted, each assignment and
// stand-alone call left out. What only builds errors or texts is left alone.
type mutator struct {
	src           []byte
	fset          *token.FileSet
	base          int            // the position of the file's first byte
	before, after map[int]string // what is inserted at an offset: at the beginning of something, and behind its end
	first         int            // the number of the first mutant
	fn            string
	seen          map[string]int
	names         []string
}

// file finds the mutants of a file and returns the name of its package.
func (m *mutator) file(path string) (string, error) {
	m.fset = token.NewFileSet()
	f, err := parser.ParseFile(m.fset, path, m.src, parser.SkipObjectResolution) //input:allow the text has been read
	if err != nil {
		return "", err
	}
	m.base = m.fset.File(f.Pos()).Base()
	for _, d := range f.Decls {
		if fn, ok := d.(*ast.FuncDecl); ok && fn.Body != nil {
			m.fn = fn.Name.Name
			ast.Inspect(fn.Body, m.visit)
		}
	}
	return f.Name.Name, nil
}

// changed is the file with its mutants.
func (m *mutator) changed() []byte {
	var b bytes.Buffer
	for i := range len(m.src) + 1 {
		b.WriteString(m.after[i])
		b.WriteString(m.before[i])
		if i < len(m.src) {
			b.WriteByte(m.src[i])
		}
	}
	return b.Bytes()
}

// text prints a node on one line.
func (m *mutator) text(n ast.Node) string {
	from, to := m.span(n)
	return strings.Join(strings.Fields(string(m.src[from:to])), " ")
}

// span is where a node stands.
func (m *mutator) span(n ast.Node) (from, to int) {
	return int(n.Pos()) - m.base, int(n.End()) - m.base
}

// wrap puts something around a node. What is put around first is outside.
func (m *mutator) wrap(n ast.Node, before, after string) {
	from, to := m.span(n)
	m.before[from] += before
	m.after[to] = after + m.after[to]
}

// add names a mutant and returns its number.
func (m *mutator) add(what string) int {
	name := m.fn + ": " + what
	if m.seen[name]++; m.seen[name] > 1 {
		name += fmt.Sprintf(" (%d)", m.seen[name])
	}
	m.names = append(m.names, name)
	return m.first + len(m.names) - 1
}

// become names a mutant that makes a condition true or false.
func (m *mutator) become(e ast.Expr, what string, value bool) {
	m.wrap(e, fmt.Sprintf("ofMutant(%d, %v, ", m.add(what), value), ")")
}

func (m *mutator) visit(n ast.Node) bool {
	switch x := n.(type) {
	case *ast.IfStmt:
		if strings.Contains(m.text(x.Cond), "err != nil") {
			return false
		}
		m.condition(x.Cond)
	case *ast.ForStmt:
		if x.Cond != nil {
			m.operands(x.Cond)
		}
	case *ast.SwitchStmt:
		if x.Tag == nil {
			for _, c := range x.Body.List {
				for _, e := range c.(*ast.CaseClause).List {
					m.condition(e)
				}
			}
		}
	case *ast.ReturnStmt:
		for _, e := range x.Results {
			m.operands(e)
		}
	case *ast.BlockStmt:
		m.statements(x.List)
	case *ast.CaseClause:
		m.statements(x.Body)
	}
	return true
}

// condition makes a condition true and false, and weakens it.
func (m *mutator) condition(e ast.Expr) {
	was := m.text(e)
	m.become(e, was+" → true", true)
	m.become(e, was+" → false", false)
	m.operands(e)
}

// weaker maps comparisons to similar ones.
var weaker = map[token.Token]token.Token{token.LSS: token.LEQ, token.LEQ: token.LSS, token.GTR: token.GEQ, token.GEQ: token.GTR,
	token.EQL: token.NEQ, token.NEQ: token.EQL}

// operands removes operands of && and ||, and shifts comparisons.
func (m *mutator) operands(e ast.Expr) {
	switch x := e.(type) {
	case *ast.ParenExpr:
		m.operands(x.X)
	case *ast.UnaryExpr:
		if x.Op == token.NOT {
			m.operands(x.X)
		}
	case *ast.BinaryExpr:
		if x.Op == token.LAND || x.Op == token.LOR {
			was := m.text(x)
			m.become(x.Y, was+" → "+m.text(x.X), x.Op == token.LAND)
			m.become(x.X, was+" → "+m.text(x.Y), x.Op == token.LAND)
			m.operands(x.X)
			m.operands(x.Y)
		} else if w, ok := weaker[x.Op]; ok {
			m.shift(x, w)
		}
	}
}

// shift makes another comparison of one.
func (m *mutator) shift(x *ast.BinaryExpr, by token.Token) {
	op := int(x.OpPos) - m.base
	from, to := m.span(x)
	other := string(m.src[from:op]) + by.String() + string(m.src[op+len(x.Op.String()):to])
	if strings.Contains(other, "//") && strings.Contains(other, "\n") {
		return // a comment would end the line
	}
	alive := fmt.Sprintf("isMutant(%d)", m.add(m.text(x)+" → "+strings.Join(strings.Fields(other), " ")))
	m.wrap(x, "("+alive+" && ("+other+") || !"+alive+" && (", "))") // twice in the text, evaluated once
}

// statements leaves out assignments and calls.
func (m *mutator) statements(list []ast.Stmt) {
	for _, s := range list {
		switch x := s.(type) {
		case *ast.AssignStmt:
			if x.Tok == token.DEFINE {
				continue
			}
		case *ast.ExprStmt:
			if call, ok := x.X.(*ast.CallExpr); ok {
				if f, ok := call.Fun.(*ast.Ident); ok && f.Name == "panic" {
					continue // a function may end with it
				}
			}
		case *ast.IncDecStmt:
		default:
			continue
		}
		m.wrap(s, fmt.Sprintf("if !isMutant(%d) { ", m.add(m.text(s)+" left out")), " }")
	}
}
