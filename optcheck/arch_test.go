package optcheck

import (
	"go/ast"
	"go/parser"
	"go/token"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// TestArchitecturesApart: what is the same for all architectures names none of them.
func TestArchitecturesApart(t *testing.T) {
	own := regexp.MustCompile(`^(nvidia|nv[A-Z].*|amd|amd[A-Z].*)$`)
	files, err := filepath.Glob("*.go")
	require.NoError(t, err)
	shared := 0
	for _, name := range files {
		if strings.HasPrefix(name, "nv") || strings.HasPrefix(name, "amd") || strings.HasSuffix(name, "_test.go") {
			continue
		}
		shared++
		fset := token.NewFileSet()
		f, err := parser.ParseFile(fset, name, nil, 0)
		require.NoError(t, err)
		ast.Inspect(f, func(n ast.Node) bool {
			if id, ok := n.(*ast.Ident); ok {
				assert.False(t, own.MatchString(id.Name), "%s names %s", fset.Position(id.Pos()), id.Name)
			}
			return true
		})
	}
	assert.Greater(t, shared, 30)
}

// TestArchOf: every vendor's targets have an architecture, other names have none.
func TestArchOf(t *testing.T) {
	for _, name := range []string{"sm_35", "sm_90a", "tahiti", "gfx90a:xnack+", "gfx9-4-generic", "cypress", "gfx1250"} {
		a, err := archOf(name)
		require.NoError(t, err, name)
		if x, ok := a.(*amd); ok {
			assert.NotNil(t, x.model, name)
		}
	}
	for _, name := range []string{"", "gfx", "sm_", "x86", "gfx5"} {
		_, err := archOf(name)
		assert.ErrorContains(t, err, "no known calling convention", name)
	}
}
