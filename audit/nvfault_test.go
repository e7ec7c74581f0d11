package audit

import (
	"fmt"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"optcheck/event"
	"optcheck/internal/patient"
	"optcheck/spec"
	"optcheck/toolchain"
	"optcheck/toolchain/tested"
)

// faultyLLC returns a pair whose llc misbehaves whenever its input mentions the test
// coRR+relaxed.gpus.
func faultyLLC(t *testing.T, real *toolchain.Toolchain, misbehave string) *toolchain.Toolchain {
	path := filepath.Join(t.TempDir(), "llc")
	script := "#!/bin/sh\nif grep -q t_coRR_ batch.ll; then " + misbehave + "; fi\nexec " + real.Kind.(*toolchain.LLC).Path + " \"$@\"\n"
	require.NoError(t, os.WriteFile(path, []byte(script), 0o755))
	tc, llc := *real, *real.Kind.(*toolchain.LLC)
	llc.Path = path
	tc.Kind = &llc
	return &tc
}

// TestFaultyLLC: an llc that crashes, hangs or prints garbage costs the cells that
// it fails on and no others; only what it says that it cannot do is unsupported.
func TestFaultyLLC(t *testing.T) {
	pairs(t, "22+12.4") // or skip
	pair := func(limit time.Duration) *toolchain.Toolchain {
		found, _ := tested.LLC(t.Context(), toolchain.Options{Runner: toolchain.NewRunner(0, limit)})
		tcs, err := toolchain.Find(found, "22+12.4")
		require.NoError(t, err)
		return tcs[0]
	}
	patientPair := pair(patient.Long)
	o := Options{Tests: lookup(t, "coRR+relaxed.gpus", "mp+relaxed.gpus", "lb+relaxed.gpus", "sb+fence.sc.gpus"), Targets: []string{"sm_80"},
		Levels: []string{"O3"}, Layouts: []spec.Layout{spec.Pointers}}
	const name = "n=$(grep -o 't_coRR_[A-Za-z0-9_]*' batch.ll | head -n 1); "
	for _, c := range []struct {
		name, do, class, reason string
		problem                 bool
	}{
		{"nothing", ":", "preserved", "", false},
		{"crash", "kill -SEGV $$", "crashed", "", true},
		{"hang", "exec sleep 36000", "crashed", "", true},
		{"silent", "exit 1", "unknown", "infrastructure: ", true},
		{"no output", "exit 0", "unknown", "infrastructure: ", true},
		{"garbage", "echo garbage >batch.ptx; exit 0", "unknown", "infrastructure: ", true},
		{"another target", "printf '//\\n.version 8.4\\n.target sm_70\\n' >batch.ptx; exit 0", "unknown", "the module does not say .target sm_80", true},
		{"a function", "printf '//\\n.version 8.4\\n.target sm_80\\n.visible .func f()\\n{\\n}\\n' >batch.ptx; exit 0", "unknown", "parse: the PTX of llc: line 4", true},
		{"no kernel", "printf '//\\n.version 8.4\\n.target sm_80\\n' >batch.ptx; exit 0", "unknown", "is not in it", true},
		{"bad PTX", name + "printf \"//\\n.version 8.4\\n.target sm_80\\n.address_size 64\\n.visible .entry $n()\\n{\\n\\tnonsense;\\n}\\n\" >batch.ptx; exit 0", "unknown", "compile: ", true},
		{"memory", "echo 'LLVM ERROR: out of memory' >&2; kill -ABRT $$", "unknown", "infrastructure: ", true},
		{"refusal", name + "printf \"LLVM ERROR: Cannot select: 0x55abfcc0: ch = Thing\\nIn function: $n\\n\" >&2; kill -ABRT $$", "unsupported", "llc: the compiler cannot: Cannot select: ch = Thing", false},
	} {
		t.Run(c.name, func(t *testing.T) {
			audit := func(trial require.TestingT, tc *toolchain.Toolchain) {
				o.Toolchains, o.BatchUnits = []*toolchain.Toolchain{faultyLLC(t, tc, c.do)}, 1
				run := event.NewRun()
				require.NoError(trial, Run(t.Context(), o, run))
				require.Len(trial, run.Cells, 4)
				for _, cell := range run.Cells {
					if cell.Test != "coRR+relaxed.gpus" {
						require.Equal(trial, "preserved", cell.Class, fmt.Sprint(cell))
						continue
					}
					require.Equal(trial, c.class, cell.Class, cell.Reason)
					require.Contains(trial, cell.Reason, c.reason)
				}
				require.Equal(trial, c.problem, len(run.Problems) > 0, "%v", run.Problems)
			}
			if c.name != "hang" {
				audit(t, patientPair)
				return
			}
			patient.Limits(t, 5*time.Second, func(trial *patient.Trial, limit time.Duration) {
				audit(trial, pair(limit))
			})
		})
	}
}
