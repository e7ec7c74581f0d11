package archtest

import (
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

// starters are the functions that start processes, by package.
var starters = map[string][]string{
	"os":      {"StartProcess"},
	"exec":    {"Command", "CommandContext"},
	"syscall": {"ForkExec", "StartProcess", "Exec"},
}

// mayStart are the folders that may use them: of one everything that is started ends with the
// program, and the others are no part of the program.
var mayStart = []string{"internal/keeper", "internal/fakeptxas", "internal/mutants", "internal/notices", "internal/patient",
	"internal/slurmtest", "internal/browsertest", "model/internal/herd"}

// TestStarters: whoever starts a program does so by internal/keeper, so that nothing outlives the
// program.
func TestStarters(t *testing.T) {
	found := 0
	err := filepath.WalkDir("../..", func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() || !strings.HasSuffix(path, ".go") || strings.HasSuffix(path, "_test.go") {
			return err
		}
		f, err := parser.ParseFile(token.NewFileSet(), path, nil, 0)
		if err != nil {
			return err
		}
		dir, err := filepath.Rel("../..", filepath.Dir(path))
		if err != nil {
			return err
		}
		ast.Inspect(f, func(n ast.Node) bool {
			sel, ok := n.(*ast.SelectorExpr)
			if !ok {
				return true
			}
			x, ok := sel.X.(*ast.Ident)
			if ok && slices.Contains(starters[x.Name], sel.Sel.Name) {
				found++
				require.Contains(t, mayStart, dir, "%s: %s.%s: programs are started by internal/keeper", path, x.Name, sel.Sel.Name)
			}
			return true
		})
		return nil
	})
	require.NoError(t, err)
	require.Greater(t, found, 2, "the test finds what it looks for")
}
