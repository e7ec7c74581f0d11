package fakeptxas

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"optcheck/litmus/corpus"
	"optcheck/ptxgen"
	"optcheck/spec"
)

// located puts before each instruction the line directive in force.
func located(text string) string {
	var b strings.Builder
	loc := ""
	for line := range strings.Lines(text) {
		switch code := strings.TrimSpace(line); {
		case strings.HasPrefix(code, ".loc"):
			loc = code + " "
		case strings.HasSuffix(code, ":"), strings.HasPrefix(code, ".reg"):
			b.WriteString(line)
		case code != "":
			b.WriteString(loc + line)
		}
	}
	return b.String()
}

// TestBodyRoundTrip: whatever the emitter writes is printed as it was read.
func TestBodyRoundTrip(t *testing.T) {
	n := 0
	for _, x := range corpus.Tests() {
		for _, l := range spec.Layouts {
			u, err := ptxgen.Emit(x.ObserveAll(), ptxgen.Options{Target: "sm_90", Layout: l, Lines: true})
			if err != nil {
				continue // unsupported
			}
			for _, k := range u.Kernels {
				from, to, err := braces(k.Text, strings.Index(k.Text, "("))
				require.NoError(t, err)
				b, err := parseBody(k.Text[from:to])
				require.NoError(t, err)
				require.Equal(t, located(k.Text[from:to]), located(b.String()), x.Name)
				n++
			}
		}
	}
	require.Greater(t, n, 500)
}

// TestOptimise: passes run over every kernel of a module, one after the other.
func TestOptimise(t *testing.T) {
	two := moduleOf(load1+acq+load2) + strings.Replace(moduleOf(store1+sc+ar+load2), "entry k(", "entry k2(", 1)
	all := func(names ...string) map[string][]string { return map[string][]string{"": names} }
	got, did, err := Optimise(two, all("merge-fences", "load-across-acquire", "forward-across-fence.acq_rel"))
	require.NoError(t, err)
	require.Equal(t, []Optimised{{Kernel: "k", Passes: []string{"load-across-acquire"}},
		{Kernel: "k2", Passes: []string{"merge-fences", "forward-across-fence.acq_rel"}}}, did)
	require.Equal(t, 2, strings.Count(got, ".reg .b32 %opt0;\n"))
	require.Equal(t, 2, strings.Count(got, "ret;\n}\n"))
	require.NotContains(t, got, "fence.sc")
	same, did, err := Optimise(two, all("last-barrier"))
	require.NoError(t, err)
	require.Equal(t, two, same)
	require.Empty(t, did)

	_, did, err = Optimise(two, map[string][]string{"": {"merge-fences", "load-across-acquire"}, "k": nil})
	require.NoError(t, err)
	require.Equal(t, []Optimised{{Kernel: "k2", Passes: []string{"merge-fences"}}}, did)

	_, _, err = Optimise(two, all("no such pass"))
	require.ErrorContains(t, err, "no such pass")
	for _, bad := range []string{
		".visible .entry k(.param .u64 p0)", ".visible .entry k(.param .u64 p0)\n{\n\tmov.b32 %r1, %r2; ret;\n}\n",
		".visible .entry k()\n{\n\tmov.b32 %r1\n}\n", ".visible .entry k()\n{\n\t@%p;\n}\n",
	} {
		_, _, err := Optimise(bad, all("legal-load"))
		require.Error(t, err, bad)
	}
}

// TestOptimiseInPlace: the fake optimises what it is given and says so beside it.
func TestOptimiseInPlace(t *testing.T) {
	dir := t.TempDir()
	require.NoError(t, Build(dir, "", ""))
	keep := filepath.Join(dir, "real")
	require.NoError(t, os.WriteFile(keep, []byte("#!/bin/sh\ncp \"$1\" "+dir+"/seen.ptx\n"), 0o700))
	require.NoError(t, (&Config{Real: keep, Optimise: map[string][]string{"": {"dead-acquire", "load-across-acquire"}}}).Write(dir))
	ptx := filepath.Join(dir, "k.ptx")
	for range 2 {
		require.NoError(t, os.WriteFile(ptx, []byte(moduleOf(load1+acq+load2)), 0o600))
		out, err := exec.Command(filepath.Join(dir, "ptxas"), ptx, "-arch=sm_80").CombinedOutput()
		require.NoError(t, err, "%s", out)
	}
	seen, err := os.ReadFile(filepath.Join(dir, "seen.ptx"))
	require.NoError(t, err)
	require.Contains(t, string(seen), "mov.b32 %r2, %opt0;")
	did, err := Notes(dir)
	require.NoError(t, err)
	one := Optimised{Kernel: "k", Target: "sm_80", Passes: []string{"load-across-acquire"}}
	require.Equal(t, []Optimised{one, one}, did)
	require.NoError(t, (&Config{Real: keep}).Write(dir))
	did, err = Notes(dir)
	require.NoError(t, err)
	require.Empty(t, did)
}
