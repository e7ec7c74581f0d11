// Package archtest asserts who may import whom.
package archtest

import (
	"os/exec"
	"slices"
	"sort"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// allowed lists, for each room of the house, the rooms that it may import.
// A folder below a room belongs to the room; each one in internal is a room of
// its own. The standard library and other modules are not restricted here.
var allowed = map[string][]string{
	"target":    {},
	"litmus":    {},
	"isa":       {"internal/limits"},
	"spec":      {"litmus"},
	"sass":      {"target", "isa"},
	"amdisa":    {"target", "isa"},
	"depgen":    {"litmus", "isa", "spec"},
	"ptxgen":    {"target", "internal/strictyaml", "litmus", "spec", "depgen"},
	"model":     {"internal/plain", "litmus"},
	"optcheck":  {"target", "internal/limits", "internal/plain", "litmus", "isa", "spec", "depgen", "model"},
	"toolchain": {"target", "internal/scratch", "sass"}, // sass/cubin
	"llvmir":    {},
	"ptxtext":   {},
	"runner":    {"litmus", "ptxgen"},
	"report":    {"internal/plain", "litmus", "isa", "spec", "optcheck", "model"},
	"audit":     {"target", "internal/input", "internal/limits", "internal/plain", "internal/strictyaml", "llvmir", "ptxtext", "litmus", "isa", "spec", "sass", "amdisa", "depgen", "ptxgen", "optcheck", "model", "toolchain", "runner", "report"},
	"reduce":    {"target", "litmus", "spec", "optcheck", "toolchain", "report", "audit"},
	"bug":       {"target", "internal/plain", "ptxtext", "litmus", "isa", "spec", "amdisa", "ptxgen", "optcheck", "model", "toolchain", "report", "audit", "reduce"},
	"known":     {"internal/strictyaml", "spec", "optcheck", "toolchain", "report"},
	"cmd":       {"target", "internal/input", "internal/limits", "internal/scratch", "internal/plain", "internal/strictyaml", "llvmir", "litmus", "isa", "spec", "sass", "amdisa", "depgen", "ptxgen", "optcheck", "model", "toolchain", "runner", "report", "audit", "reduce", "bug", "known"},

	"internal/archtest":    {},
	"internal/browsertest": {"internal/patient"},
	"internal/fakeptxas":   {},
	"internal/input":       {},
	"internal/limits":      {},
	"internal/notices":     {},
	"internal/patient":     {},
	"internal/plain":       {},
	"internal/scratch":     {},
	"internal/slurmtest":   {"internal/patient"},
	"internal/strictyaml":  {"internal/input"},
}

// narrow lists folders that may import less than their room; of their own room
// they may import the packages that are named here.
var narrow = map[string][]string{
	"optcheck/model/explore": {},
	"optcheck/model/amdhw":   {"optcheck/model/explore"},
	"optcheck/model/nvhw":    {"optcheck/model/explore"},
	"optcheck/model/machine": {"litmus", "optcheck/model/exec", "optcheck/model/explore"},
	"optcheck/sass/cubin":    {"isa"},
	"optcheck/audit/store":   {"target", "internal/input", "litmus", "report", "spec", "toolchain"},
}

func room(pkg string) string {
	rest, ok := strings.CutPrefix(pkg, "optcheck/")
	if !ok {
		return ""
	}
	r, below, _ := strings.Cut(rest, "/")
	if r == "internal" {
		below, _, _ = strings.Cut(below, "/")
		return r + "/" + below
	}
	return r
}

// TestImports checks every package of the module, tests left out.
func TestImports(t *testing.T) {
	out, err := exec.Command("go", "list", "-f", `{{.ImportPath}}{{range .Imports}} {{.}}{{end}}`, "optcheck/...").Output()
	require.NoError(t, err)
	n := 0
	for _, line := range strings.Split(strings.TrimSpace(string(out)), "\n") {
		fields := strings.Fields(line)
		from := room(fields[0])
		may, known := allowed[from]
		require.Truef(t, known, "%s lies in no known room", fields[0])
		if less, ok := narrow[fields[0]]; ok {
			may = less
			for _, imp := range fields[1:] {
				require.Truef(t, from != room(imp) || slices.Contains(less, imp), "%s may not import %s", fields[0], imp)
			}
		}
		sort.Strings(may)
		for _, imp := range fields[1:] {
			to := room(imp)
			if to == "" || to == from {
				continue
			}
			require.Containsf(t, may, to, "%s may not import %s", fields[0], imp)
			n++
		}
	}
	require.Positive(t, n, "no import between rooms was seen")
}
