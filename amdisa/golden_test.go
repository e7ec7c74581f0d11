package amdisa

import (
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"sort"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"optcheck/isa"
)

var update = flag.Bool("update", false, "write the golden files anew, with the installed compilers")

// golden is a compilation whose output is kept.
type golden struct{ version, triple, target, level, src string }

var goldens = []golden{
	{"14", "amdgcn-mesa-mesa3d", "tahiti", "2", "kernels.cl"},
	{"14", "amdgcn-amd-amdhsa", "gfx900", "2", "kernels.cl"},
	{"14", "r600--", "cypress", "0", "r600.cl"},
	{"19", "amdgcn-mesa-mesa3d", "tahiti", "0", "kernels.cl"},
	{"19", "amdgcn-amd-amdhsa", "gfx700", "2", "kernels.cl"},
	{"19", "amdgcn-amd-amdhsa", "gfx803", "0", "kernels.cl"},
	{"19", "amdgcn-amd-amdhsa", "gfx1030", "2", "kernels.cl"},
	{"19", "r600--", "cypress", "2", "r600.cl"},
	{"19", "r600--", "cayman", "2", "r600.cl"},
	{"22", "amdgcn-amd-amdhsa", "gfx90a", "2", "kernels.cl"},
	{"22", "amdgcn-amd-amdhsa", "gfx942", "2", "kernels.cl"},
	{"22", "amdgcn-amd-amdhsa", "gfx1100", "0", "kernels.cl"},
	{"22", "amdgcn-amd-amdhsa", "gfx1200", "2", "kernels.cl"},
	{"22", "amdgcn-amd-amdhsa", "gfx1250", "3", "kernels.cl"},
}

func (g golden) name() string { return "llvm" + g.version + "_" + g.target + "_O" + g.level }

func (g golden) hasDump() bool {
	return g.triple != "r600--" && g.target != "tahiti" && g.target != "gfx700"
}

// writeGolden compiles and keeps what the compiler printed.
func writeGolden(t *testing.T, g golden) {
	have := false
	for _, v := range clangs(t) {
		have = have || v == g.version
	}
	require.True(t, have, "clang-%s is missing", g.version)
	dir := t.TempDir()
	b, err := os.ReadFile(filepath.Join("testdata", g.src))
	require.NoError(t, err)
	require.NoError(t, os.WriteFile(filepath.Join(dir, g.src), b, 0o600))
	asm := compile(t, dir, g.version, g.triple, g.target, g.level, g.src, "-DSMALL")
	require.NotEmpty(t, asm)
	require.NoError(t, os.WriteFile(filepath.Join("testdata/golden", g.name()+".s"), []byte(asm), 0o644))
	if g.hasDump() {
		text := disassemble(t, dir, g.version, g.triple, g.target, asm)
		require.NoError(t, os.WriteFile(filepath.Join("testdata/golden", g.name()+".dump"), []byte(text), 0o644))
	}
}

// TestGolden reads kept outputs of real compilers: everything is understood, the
// disassembly is the same program, and the counts of what was found are those
// that were looked at.
func TestGolden(t *testing.T) {
	var sum strings.Builder
	for _, g := range goldens {
		if *update {
			writeGolden(t, g)
		}
		b, err := os.ReadFile(filepath.Join("testdata/golden", g.name()+".s"))
		require.NoError(t, err)
		p, err := Parse(g.name(), b)
		require.NoError(t, err)
		understood(t, g.name(), p)
		sane(t, g.name(), p)
		summary(&sum, g.name(), p)
		if !g.hasDump() {
			continue
		}
		b, err = os.ReadFile(filepath.Join("testdata/golden", g.name()+".dump"))
		require.NoError(t, err)
		q, err := Parse(g.name(), b)
		require.NoError(t, err)
		assert.Empty(t, differences(p, q), g.name())
	}
	file := "testdata/golden/summary.txt"
	if *update {
		require.NoError(t, os.WriteFile(file, []byte(sum.String()), 0o644))
	}
	want, err := os.ReadFile(file)
	require.NoError(t, err)
	w, g := strings.Split(string(want), "\n"), strings.Split(sum.String(), "\n")
	require.Len(t, g, len(w))
	bad := 0
	for i := range w {
		if w[i] != g[i] && bad < 3 {
			t.Errorf("%s:%d: want %s\ngot %s", file, i+1, w[i], g[i])
			bad++
		}
	}
}

// summary counts what a program consists of.
func summary(w *strings.Builder, name string, p *isa.Program) {
	fmt.Fprintf(w, "%s %s\n", name, p.Dialect)
	for _, f := range p.Funcs {
		n := map[string]int{}
		for i := range f.Insts {
			in := &f.Insts[i]
			key := in.Role.String()
			switch {
			case in.Role.IsAccess():
				key += "." + in.Mem.Space.String()
				if in.Mem.Scalar {
					key += ".scalar"
				}
				if in.Mem.Bits != 0 {
					key += "[" + in.Mem.Bits.String() + "]"
				}
				if in.Mem.Atom != "" {
					key += "." + in.Mem.Atom
				}
			case in.Role == isa.RoleCache:
				key += "." + in.Op + "." + in.Mem.Scope.String()
			case in.Role == isa.RoleWait:
				for _, x := range in.Waits {
					key += "." + x.String()
				}
			case in.Role == isa.RoleBranch:
				key += "." + in.Flow.String()
			}
			n[key]++
			n["micro"] += len(in.Micro)
		}
		var keys []string
		for k := range n {
			keys = append(keys, k)
		}
		sort.Strings(keys)
		fmt.Fprintf(w, "  %s %s wave %d callable %v:", f.Name, f.Arch, f.Wave, f.Callable)
		for _, k := range keys {
			fmt.Fprintf(w, " %s=%d", k, n[k])
		}
		w.WriteString("\n")
	}
}
