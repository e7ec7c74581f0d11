// Package archtest asserts who may import whom: exactly what the tables of
// docs/architecture.md say.
package archtest

import (
	"os"
	"os/exec"
	"regexp"
	"slices"
	"sort"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// module is the path of this module.
const module = "optcheck/"

// room is a row of a table: a folder with all folders below it that have no row
// of their own.
type room struct {
	name string
	may  []string // the rooms that it imports
}

// The rows and the names in them, and the boxes of the picture.
var (
	row  = regexp.MustCompile("(?m)^\\| `([a-z0-9/]+)` \\| [^|]+ \\| ([^|]*) \\|$")
	name = regexp.MustCompile("`([a-z0-9/]+)`")
	box  = regexp.MustCompile(`(?m)\["?([a-z0-9/, ]+)<br>`)
)

func rooms(t *testing.T) (text string, list []room) {
	data, err := os.ReadFile("../../docs/architecture.md")
	require.NoError(t, err)
	for _, m := range row.FindAllStringSubmatch(string(data), -1) {
		r := room{name: m[1]}
		for _, n := range name.FindAllStringSubmatch(m[2], -1) {
			r.may = append(r.may, n[1])
		}
		list = append(list, r)
	}
	require.Greater(t, len(list), 20, "the tables were not found")
	return string(data), list
}

// of returns the index of the room that a package lies in, -1 for none.
func of(list []room, pkg string) int {
	for p := strings.TrimPrefix(pkg, module); ; {
		if i := slices.IndexFunc(list, func(r room) bool { return r.name == p }); i >= 0 {
			return i
		}
		at := strings.LastIndexByte(p, '/')
		if at < 0 {
			return -1
		}
		p = p[:at]
	}
}

// TestImports checks every package of the module, tests left out: a room imports
// what its row says, no less and no more, and only rooms that stand above it.
func TestImports(t *testing.T) {
	_, list := rooms(t)
	out, err := exec.Command("go", "list", "-f", `{{.ImportPath}}{{range .Imports}} {{.}}{{end}}`, module+"...").Output()
	require.NoError(t, err)
	used := make([]map[string]bool, len(list))
	for _, line := range strings.Split(strings.TrimSpace(string(out)), "\n") {
		fields := strings.Fields(line)
		from := of(list, fields[0])
		require.GreaterOrEqualf(t, from, 0, "%s lies in no room of docs/architecture.md", fields[0])
		if used[from] == nil {
			used[from] = map[string]bool{}
		}
		for _, imp := range fields[1:] {
			if !strings.HasPrefix(imp, module) {
				continue // the standard library and other modules are not restricted here
			}
			to := of(list, imp)
			require.GreaterOrEqualf(t, to, 0, "%s lies in no room of docs/architecture.md", imp)
			if to == from {
				continue
			}
			require.Containsf(t, list[from].may, list[to].name, "docs/architecture.md: %s may not import %s", fields[0], imp)
			require.Lessf(t, to, from, "docs/architecture.md: %s stands below %s, which imports it", list[to].name, list[from].name)
			used[from][list[to].name] = true
		}
	}
	for i, r := range list {
		require.NotNilf(t, used[i], "docs/architecture.md: there is no package in %s", r.name)
		for _, n := range r.may {
			require.Truef(t, used[i][n], "docs/architecture.md: %s does not import %s", r.name, n)
		}
		require.Truef(t, sort.StringsAreSorted(r.may), "docs/architecture.md: imports of %s in alphabetical order", r.name)
	}
}

// renderers are the rooms that may depend on what renders events: report itself, whose output bug puts into bundles, and the
// command line.
var renderers = []string{"report", "bug", "cmd"}

// rendering are packages that only renderers need, by the beginnings of their paths.
var rendering = []string{module + "report", "gonum.org/v1/plot", "github.com/owenrumney/go-sarif", "codeberg.org/go-fonts"}

// TestRenderers: what judges depends on event, and on no renderer, not through others either.
func TestRenderers(t *testing.T) {
	_, list := rooms(t)
	out, err := exec.Command("go", "list", "-f", `{{.ImportPath}}{{range .Deps}} {{.}}{{end}}`, module+"...").Output()
	require.NoError(t, err)
	drawn := map[string]bool{} // of rendering, by those that may
	for _, line := range strings.Split(strings.TrimSpace(string(out)), "\n") {
		fields := strings.Fields(line)
		may := slices.Contains(renderers, list[of(list, fields[0])].name)
		for _, dep := range fields[1:] {
			i := slices.IndexFunc(rendering, func(p string) bool { return strings.HasPrefix(dep, p) })
			if i < 0 {
				continue
			}
			require.Truef(t, may, "%s judges and depends on %s, which renders: import event", fields[0], dep)
			drawn[rendering[i]] = true
		}
	}
	require.Len(t, drawn, len(rendering), "a package that nobody needs is not one to keep away")
}

// TestPicture: the picture shows rooms that there are.
func TestPicture(t *testing.T) {
	text, list := rooms(t)
	_, picture, ok := strings.Cut(text, "```mermaid\n")
	require.True(t, ok)
	picture, _, _ = strings.Cut(picture, "```")
	boxes := box.FindAllStringSubmatch(picture, -1)
	require.Greater(t, len(boxes), 8)
	for _, b := range boxes {
		for _, n := range strings.Split(b[1], ", ") {
			require.Truef(t, slices.ContainsFunc(list, func(r room) bool { return r.name == n }), "the picture shows %s, which is no room", n)
		}
	}
}

// TestDocs: each package says what it is for.
func TestDocs(t *testing.T) {
	out, err := exec.Command("go", "list", "-f", `{{if and .GoFiles (not .Doc)}}{{.ImportPath}}{{end}}`, module+"...").Output()
	require.NoError(t, err)
	require.Empty(t, strings.Fields(string(out)), "packages without a comment")
}
