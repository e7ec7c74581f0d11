// Package mutants changes Go code on purpose and checks whether its tests notice: it measures
// the tests of code that judges. It is for tests and needs the go command.
package mutants

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"go/ast"
	"go/format"
	"go/parser"
	"go/token"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"optcheck/internal/input"
)

// Mutant is one change of one file.
type Mutant struct {
	Path string // the file that is changed
	// Name says where and what, without line numbers: "ready: a && b → a".
	Name   string
	source []byte
}

// Of returns the mutants of a Go file, in the order of its text: each condition made true and
// false, each operand of && and || removed, each comparison shifted, each assignment and
// stand-alone call removed. What only builds errors or texts is left alone.
func Of(path string) ([]Mutant, error) {
	src, err := input.ReadFile(path, 16<<20)
	if err != nil {
		return nil, err
	}
	m := &mutator{path: path, fset: token.NewFileSet()}
	if m.file, err = parser.ParseFile(m.fset, path, src, parser.ParseComments); err != nil {
		return nil, err
	}
	for _, d := range m.file.Decls {
		if fn, ok := d.(*ast.FuncDecl); ok && fn.Body != nil {
			m.fn = fn.Name.Name
			ast.Inspect(fn.Body, m.visit)
		}
	}
	return m.out, m.err
}

// Unchanged returns a file as it is: tests must pass with it before they can be said to notice something.
func Unchanged(path string) (Mutant, error) {
	src, err := input.ReadFile(path, 16<<20)
	return Mutant{Path: path, Name: "as it is", source: src}, err
}

type mutator struct {
	path string
	fset *token.FileSet
	file *ast.File
	fn   string
	seen map[string]int
	out  []Mutant
	err  error
}

// text prints a node on one line.
func (m *mutator) text(n ast.Node) string {
	var b bytes.Buffer
	if err := format.Node(&b, m.fset, n); err != nil {
		m.err = err
	}
	return strings.Join(strings.Fields(b.String()), " ")
}

// add prints the file in its changed state and undoes the change.
func (m *mutator) add(what string, undo func()) {
	defer undo()
	var b bytes.Buffer
	if err := format.Node(&b, m.fset, m.file); err != nil {
		m.err = err
		return
	}
	name := m.fn + ": " + what
	if m.seen == nil {
		m.seen = map[string]int{}
	}
	if m.seen[name]++; m.seen[name] > 1 {
		name += fmt.Sprintf(" (%d)", m.seen[name])
	}
	m.out = append(m.out, Mutant{m.path, name, b.Bytes()})
}

// replace replaces an expression by another.
func (m *mutator) replace(at *ast.Expr, by ast.Expr) {
	old := *at
	was := m.text(old)
	*at = by
	m.add(was+" → "+m.text(by), func() { *at = old })
}

func (m *mutator) visit(n ast.Node) bool {
	switch x := n.(type) {
	case *ast.IfStmt:
		if strings.Contains(m.text(x.Cond), "err != nil") {
			return false
		}
		m.condition(&x.Cond)
	case *ast.ForStmt:
		if x.Cond != nil {
			m.operands(&x.Cond)
		}
	case *ast.SwitchStmt:
		if x.Tag == nil {
			for _, c := range x.Body.List {
				for i := range c.(*ast.CaseClause).List {
					m.condition(&c.(*ast.CaseClause).List[i])
				}
			}
		}
	case *ast.ReturnStmt:
		for i := range x.Results {
			m.operands(&x.Results[i])
		}
	case *ast.BlockStmt:
		m.statements(x.List)
	case *ast.CaseClause:
		m.statements(x.Body)
	}
	return true
}

// condition makes a condition true and false, and weakens it.
func (m *mutator) condition(at *ast.Expr) {
	m.replace(at, ast.NewIdent("true"))
	m.replace(at, ast.NewIdent("false"))
	m.operands(at)
}

// weaker maps comparisons to similar ones.
var weaker = map[token.Token]token.Token{token.LSS: token.LEQ, token.LEQ: token.LSS, token.GTR: token.GEQ, token.GEQ: token.GTR,
	token.EQL: token.NEQ, token.NEQ: token.EQL}

// operands removes operands of && and ||, and shifts comparisons.
func (m *mutator) operands(at *ast.Expr) {
	switch x := (*at).(type) {
	case *ast.ParenExpr:
		m.operands(&x.X)
	case *ast.UnaryExpr:
		if x.Op == token.NOT {
			m.operands(&x.X)
		}
	case *ast.BinaryExpr:
		if x.Op == token.LAND || x.Op == token.LOR {
			m.replace(at, x.X)
			m.replace(at, x.Y)
			m.operands(&x.X)
			m.operands(&x.Y)
		} else if w, ok := weaker[x.Op]; ok {
			m.replace(at, &ast.BinaryExpr{X: x.X, Op: w, Y: x.Y})
		}
	}
}

// statements removes assignments and calls.
func (m *mutator) statements(list []ast.Stmt) {
	for i, s := range list {
		switch x := s.(type) {
		case *ast.AssignStmt:
			if x.Tok == token.DEFINE {
				continue
			}
		case *ast.ExprStmt, *ast.IncDecStmt:
		default:
			continue
		}
		was := m.text(s)
		list[i] = &ast.EmptyStmt{Implicit: true}
		m.add(was+" left out", func() { list[i] = s })
	}
}

// Score tests each mutant of the files with the tests of their package (go test -run tests) and
// logs the score. It fails for each mutant that passes and has no entry in equal, which says by
// name why a mutant is not worse, and for entries of mutants that are noticed or do not exist.
// Mutants that do not compile do not count.
func Score(t *testing.T, tests string, equal map[string]string, files ...string) {
	t.Helper()
	dir, err := os.Getwd()
	require.NoError(t, err)
	all, noticed, passed := 0, 0, map[string]bool{}
	for _, file := range files {
		list, err := Of(filepath.Join(dir, file))
		require.NoError(t, err)
		for i := range list {
			ok, built, err := list[i].Passes(t.Context(), t.TempDir(), time.Minute, Tests{dir, tests})
			require.NoError(t, err)
			switch {
			case !built:
			case ok:
				all++
				passed[list[i].Name] = true
				if equal[list[i].Name] == "" {
					t.Errorf("nobody notices %s: %s", file, list[i].Name)
				}
			default:
				all++
				noticed++
			}
		}
	}
	for name := range equal {
		if !passed[name] {
			t.Errorf("%s: noticed, or no mutant", name)
		}
	}
	t.Logf("%d mutants that compile: %d noticed, %d as good as the code", all, noticed, len(passed))
}

// Tests are tests of a package: its folder, and what go test -run takes.
type Tests struct{ Dir, Run string }

// Passes reports whether the tests pass with a mutant, and whether it compiles. It goes on only while they pass, so the
// fast ones come first. What is built lies in tmp. A test binary that takes longer than the limit has noticed something.
func (m *Mutant) Passes(ctx context.Context, tmp string, limit time.Duration, tests ...Tests) (ok, built bool, err error) {
	changed, overlay := filepath.Join(tmp, filepath.Base(m.Path)), filepath.Join(tmp, "overlay.json")
	data, err := json.Marshal(map[string]any{"Replace": map[string]string{m.Path: changed}})
	if err == nil {
		err = errors.Join(os.WriteFile(changed, m.source, 0o600), os.WriteFile(overlay, data, 0o600))
	}
	if err != nil {
		return false, false, err
	}
	last, bin := "", filepath.Join(tmp, "test")
	for _, s := range tests {
		if s.Dir != last {
			build := exec.CommandContext(ctx, "go", "test", "-c", "-overlay", overlay, "-o", bin, ".")
			build.Dir = s.Dir
			if build.Run() != nil {
				return false, false, ctx.Err()
			}
			last = s.Dir
		}
		run := exec.CommandContext(ctx, bin, "-test.run", s.Run, "-test.failfast", "-test.timeout", limit.String())
		run.Dir, run.WaitDelay = s.Dir, time.Second
		if run.Run() != nil {
			return false, true, ctx.Err()
		}
	}
	return true, true, ctx.Err()
}
