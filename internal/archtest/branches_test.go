package archtest

import (
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// mostBranches is how many branches on a vendor, a kind of toolchain or a road there
// are outside of the files that implement them. It may fall; a new one belongs after
// an interface (pipeline.Pipeline, toolchain.Kind) or into a table.
const mostBranches = 11

// implementing are the files, by the beginning of their paths, that may branch on what
// they implement: the types themselves.
var implementing = []string{"target/", "toolchain/", "pipeline/", "sass/", "amdisa/", "optcheck/amd", "optcheck/nvidia", "bug/llc", "mapping/amd", "mapping/ptx"}

// kinds are the names that stand for one vendor, kind or road: constants, types, and
// what is nil unless it is there.
var kinds = struct{ constants, types, pointers, predicates, prefixes []string }{
	constants:  []string{"NVIDIA", "AMD", "PTX", "OpenCL", "LLVMIR", "TeraScale"},
	types:      []string{"CUDA", "LLVM", "LLC"},
	pointers:   []string{"LLVM", "LLC", "amd"},
	predicates: []string{"IsAMD", "IsAMDObject", "IsTeraScale", "amd", "forAMD", "isAMD"},
	prefixes:   []string{`"sm_"`, `"gfx"`, `"gfx6"`, `"gfx7"`, `"clang "`, `"llc "`, `"ptxas "`},
}

// TestBranches counts the branches.
func TestBranches(t *testing.T) {
	var found []string
	err := filepath.WalkDir("../..", func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() && strings.HasPrefix(d.Name(), ".") && len(d.Name()) > 2 {
			return err
		}
		name := filepath.ToSlash(strings.TrimPrefix(path, filepath.Join("..", "..")+string(filepath.Separator)))
		own := slices.ContainsFunc(implementing, func(p string) bool { return strings.HasPrefix(name, p) })
		if d.IsDir() || !strings.HasSuffix(name, ".go") || strings.HasSuffix(name, "_test.go") || own {
			return nil
		}
		set := token.NewFileSet()
		f, err := parser.ParseFile(set, path, nil, parser.SkipObjectResolution)
		if err != nil {
			return err
		}
		for _, at := range branches(f) {
			found = append(found, fmt.Sprintf("%s:%d", name, set.Position(at).Line))
		}
		return nil
	})
	require.NoError(t, err)
	t.Logf("%d branches on vendors, kinds of toolchains and roads outside of what implements them", len(found))
	require.LessOrEqualf(t, len(found), mostBranches, "branches on vendors, kinds of toolchains and roads:\n%s", strings.Join(found, "\n"))
	require.GreaterOrEqual(t, len(found), mostBranches, "fewer than mostBranches: lower it")
}

// TestBranchesSeen: each form of a branch is one, and what is none is not.
func TestBranchesSeen(t *testing.T) {
	for text, want := range map[string]int{
		`if v == target.AMD {}`:                                         1,
		`if tc.Vendor() != gpu.NVIDIA && x {}`:                          1,
		`switch v { case target.AMD: case target.NVIDIA: }`:             2,
		`if tc.LLVM != nil {}`:                                          1,
		`ok := nil == m.abi.amd`:                                        1,
		`if _, ok := tc.Kind.(*toolchain.LLC); ok {}`:                   1,
		`switch tc.Kind.(type) { case toolchain.CUDA: default: }`:       1,
		`if optcheck.IsAMD(arch) {}`:                                    1,
		`if b.amd() {}`:                                                 1,
		`if strings.HasPrefix(t, "sm_") {}`:                             1,
		`if s == pipeline.LLVMIR {}`:                                    1,
		`x := pipeline.LLVMIR; m := map[string]int{target.AMD: 1}`:      0,
		`if a.LLC == b.LLC {}; if err != nil {}; f(target.AMD)`:         0,
		`if strings.HasPrefix(t, ".text") {}; _ = e.(*toolchain.Error)`: 0,
	} {
		f, err := parser.ParseFile(token.NewFileSet(), "x.go", "package x\nfunc f() {\n"+text+"\n}", 0)
		require.NoError(t, err, text)
		require.Len(t, branches(f), want, text)
	}
}

// branches returns the places in a file that ask which vendor, kind or road it is.
func branches(f *ast.File) (at []token.Pos) {
	add := func(n ast.Node) { at = append(at, n.Pos()) }
	ast.Inspect(f, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.BinaryExpr:
			if n.Op == token.EQL || n.Op == token.NEQ {
				for _, x := range [][2]ast.Expr{{n.X, n.Y}, {n.Y, n.X}} {
					if constant(x[0]) || named(x[0], kinds.pointers) && isNil(x[1]) {
						add(n)
						break
					}
				}
			}
		case *ast.CaseClause:
			for _, e := range n.List {
				if constant(e) || kind(e) {
					add(e)
				}
			}
		case *ast.TypeAssertExpr:
			if n.Type != nil && kind(n.Type) {
				add(n)
			}
		case *ast.CallExpr:
			last := len(n.Args) - 1
			prefix := named(n.Fun, []string{"HasPrefix", "CutPrefix"}) && last == 1 && literal(n.Args[last], kinds.prefixes)
			if prefix || named(n.Fun, kinds.predicates) {
				add(n)
			}
		}
		return true
	})
	return at
}

// named reports whether an expression is a selector that ends in one of some names.
func named(e ast.Expr, names []string) bool {
	s, ok := e.(*ast.SelectorExpr)
	return ok && slices.Contains(names, s.Sel.Name)
}

// constant reports whether an expression is a constant of a package that stands for a
// vendor or road.
func constant(e ast.Expr) bool {
	s, ok := e.(*ast.SelectorExpr)
	if !ok || !slices.Contains(kinds.constants, s.Sel.Name) {
		return false
	}
	pkg, ok := s.X.(*ast.Ident)
	return ok && slices.Contains([]string{"target", "gpu", "pipeline", "audit", "toolchain"}, pkg.Name)
}

// kind reports whether a type is a kind of toolchain.
func kind(e ast.Expr) bool {
	if star, ok := e.(*ast.StarExpr); ok {
		e = star.X
	}
	return named(e, kinds.types)
}

func isNil(e ast.Expr) bool {
	id, ok := e.(*ast.Ident)
	return ok && id.Name == "nil"
}

func literal(e ast.Expr, texts []string) bool {
	l, ok := e.(*ast.BasicLit)
	return ok && slices.Contains(texts, l.Value)
}
