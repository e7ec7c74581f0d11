// Package onlyinput checks that files are opened by package internal/input alone, which takes
// regular files of bounded size: who calls os.Open himself waits for ever for the writer of a pipe,
// or reads a device to its end, which it does not have.
//
// What must be opened otherwise says why:
//
//	//input:allow the program's own lock, which it writes
//
// at the end of the line, in the line above, or above a function or the package clause, for all of
// it. Outputs are opened there, too, or by internal/whole: who writes where a link leads destroys what somebody else chose, and who
// writes a pipe that nobody reads waits for ever. It does not look at tests, nor at files that must be new (O_EXCL).
package onlyinput

import (
	"go/ast"
	"go/constant"
	"go/token"
	"os"
	"slices"
	"strings"

	"golang.org/x/tools/go/analysis"
)

// Analyzer reports functions of other packages that open files.
var Analyzer = &analysis.Analyzer{Name: "onlyinput", Doc: "files are opened by internal/input, or it is said why not", Run: run}

// openers are the packages that may.
var openers = []string{"optcheck/internal/input", "optcheck/internal/whole"}

// forbidden are functions, methods and types that open files, by package.
var forbidden = map[string][]string{
	"os":                    {"Open", "OpenFile", "Create", "WriteFile", "ReadFile", "ReadDir", "OpenInRoot", "DirFS", "FS"},
	"path/filepath":         {"Walk", "WalkDir", "Glob"},
	"io/ioutil":             {"ReadFile", "ReadDir"},
	"syscall":               {"Open", "Openat"},
	"golang.org/x/sys/unix": {"Open", "Openat", "Openat2"},
	"archive/zip":           {"OpenReader"},
	"debug/elf":             {"Open"},
	"debug/macho":           {"Open", "OpenFat"},
	"debug/pe":              {"Open"},
	"debug/plan9obj":        {"Open"},
	"debug/buildinfo":       {"ReadFile"},
	"text/template":         {"ParseFiles", "ParseGlob"},
	"html/template":         {"ParseFiles", "ParseGlob"},
	"net/http":              {"ServeFile", "Dir"},
	"crypto/tls":            {"LoadX509KeyPair"},
	"go/parser":             {"ParseFile", "ParseDir"},
	"plugin":                {"Open"},
}

// directive begins the comment that allows a use; the reason follows.
const directive = "//input:allow"

// allowance is such a comment, and where it holds: in lines from one to another.
type allowance struct {
	pos         token.Pos
	first, last int
	used        bool
}

func run(pass *analysis.Pass) (any, error) {
	if slices.Contains(openers, pass.Pkg.Path()) {
		return nil, nil
	}
	for _, f := range pass.Files {
		if !strings.HasSuffix(pass.Fset.File(f.FileStart).Name(), "_test.go") {
			check(pass, f)
		}
	}
	return nil, nil
}

func check(pass *analysis.Pass, f *ast.File) {
	allowed := allowances(pass, f)
	fresh := map[*ast.Ident]bool{}
	ast.Inspect(f, func(n ast.Node) bool {
		if call, ok := n.(*ast.CallExpr); ok && onlyNew(pass, call) {
			fresh[name(call.Fun)] = true
		}
		id, ok := n.(*ast.Ident)
		if !ok || fresh[id] {
			return true
		}
		fn := pass.TypesInfo.Uses[id]
		if fn == nil || fn.Pkg() == nil || !slices.Contains(forbidden[fn.Pkg().Path()], fn.Name()) {
			return true
		}
		line := pass.Fset.Position(id.Pos()).Line
		for _, a := range allowed {
			if a.first <= line && line <= a.last {
				a.used = true
				return true
			}
		}
		pass.Reportf(id.Pos(), "%s.%s opens what may be a pipe or a device: use internal/input, or say why not (%s REASON)",
			fn.Pkg().Name(), fn.Name(), directive)
		return true
	})
	for _, a := range allowed {
		if !a.used {
			pass.Reportf(a.pos, "nothing is opened here that needs to be allowed")
		}
	}
}

// allowances lists the comments of a file that allow something; those without a reason are
// reported.
func allowances(pass *analysis.Pass, f *ast.File) (out []*allowance) {
	line := func(p token.Pos) int { return pass.Fset.Position(p).Line }
	for _, group := range f.Comments {
		for _, c := range group.List {
			rest, ok := strings.CutPrefix(c.Text, directive)
			if !ok {
				continue
			}
			if len(strings.Fields(rest)) < 2 {
				pass.Reportf(c.Pos(), "%s needs a reason", directive)
			}
			a := &allowance{pos: c.Pos(), first: line(c.Pos()), last: line(c.Pos()) + 1}
			if c.Pos() < f.Package {
				a.last = line(f.FileEnd)
			}
			for _, d := range f.Decls {
				if fn, ok := d.(*ast.FuncDecl); ok && fn.Doc == group {
					a.last = line(fn.End())
				}
			}
			out = append(out, a)
		}
	}
	return out
}

// name is the identifier of the function that is called, nil if there is none.
func name(fun ast.Expr) *ast.Ident {
	switch x := fun.(type) {
	case *ast.SelectorExpr:
		return x.Sel
	case *ast.Ident:
		return x
	}
	return nil
}

// onlyNew reports whether a call is one of OpenFile that opens only what it makes.
func onlyNew(pass *analysis.Pass, call *ast.CallExpr) bool {
	if id := name(call.Fun); id == nil || id.Name != "OpenFile" || len(call.Args) != 3 {
		return false
	}
	v := pass.TypesInfo.Types[call.Args[1]].Value
	if v == nil {
		return false
	}
	flags, ok := constant.Int64Val(v)
	return ok && flags&int64(os.O_CREATE|os.O_EXCL) == int64(os.O_CREATE|os.O_EXCL)
}
