package ptxgen

import (
	"testing"

	"github.com/stretchr/testify/require"

	"optcheck/litmus"
	"optcheck/litmus/corpus"
	"optcheck/ptxgen/cycle"
	"optcheck/spec"
)

// TestGenerations: targets of one generation get the same units, or the same
// refusals, in PTX and in LLVM IR; only the version differs, and VersionFor knows
// how. Neighbouring generations differ in some test, so that none is superfluous.
func TestGenerations(t *testing.T) {
	targets := []string{"sm_20", "sm_30", "sm_32", "sm_35", "sm_37", "sm_50", "sm_52", "sm_53", "sm_60", "sm_61", "sm_62", "sm_70", "sm_72", "sm_75", "sm_80", "sm_86", "sm_87",
		"sm_88", "sm_89", "sm_90", "sm_90a", "sm_100", "sm_100a", "sm_101", "sm_103", "sm_110", "sm_120", "sm_120f", "sm_121"}
	tests := corpus.Tests()
	for _, preset := range []string{"paper", "ptx", "scopes"} {
		g, err := cycle.Preset(preset)
		require.NoError(t, err)
		n := 0
		for x := range g.Tests() {
			if n++; n%700 == 0 {
				tests = append(tests, x)
			}
		}
	}
	for _, in := range []litmus.Instr{{Atom: litmus.AtomMin, Type: litmus.U64}, {Atom: litmus.AtomAdd, Type: litmus.U32, Scope: litmus.ScopeGPU}} {
		mp, ok := corpus.Lookup("mp")
		require.True(t, ok)
		x, body := mp.Clone(), &mp.Threads[0].Body
		in.Op, in.Addr, in.Src = litmus.OpRed, (*body)[0].Addr, []litmus.Operand{litmus.Const(1)}
		x.Threads[0].Body = append(x.Threads[0].Body, in)
		tests = append(tests, x)
	}
	for _, name := range []string{"copy-mbarrier", "bulk-mp", "dsm-mp", "cluster-mp", "vote-ballot", "barred-mp"} {
		x, ok := corpus.Lookup(name)
		require.True(t, ok)
		tests = append(tests, x)
	}
	type emitted struct {
		unit *Unit
		err  error
	}
	differ := map[int]bool{}
	for _, x := range tests {
		for _, l := range spec.Layouts {
			seen := map[int]emitted{}
			for _, target := range targets {
				gen, err := Generation(target)
				require.NoError(t, err)
				u, err := Emit(x, Options{Target: target, Layout: l})
				if err == nil {
					v, err := u.VersionFor(target)
					require.NoError(t, err)
					require.Equal(t, u.Version, v, "%s %s", x.Name, target)
					u.Version = 0
				}
				ir, errIR := EmitLLVMIR(x, Options{Target: target, Layout: l})
				if errIR == nil && err == nil {
					u.Text += ir.Text
				}
				first, ok := seen[gen]
				if !ok {
					if before, ok := seen[gen-1]; ok && (before.err == nil) != (err == nil) {
						differ[gen] = true
					}
					seen[gen] = emitted{u, err}
					continue
				}
				require.Equal(t, first.err, err, "%s %s", x.Name, target)
				require.Equal(t, first.unit, u, "%s %s", x.Name, target)
			}
		}
	}
	for i := range generations {
		require.True(t, differ[i+1], "sm_%d begins no generation", generations[i])
	}
	_, err := Generation("gfx900")
	require.Error(t, err)
}
