package audit

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"optcheck/event"
	"optcheck/internal/patient"
	"optcheck/litmus"
	"optcheck/litmus/corpus"
	"optcheck/spec"
	"optcheck/toolchain"
)

// onCoRR returns a command that a tool does whenever its input mentions the test coRR.
func onCoRR(do string) string {
	return "for f in \"$@\"; do if [ -f \"$f\" ] && grep -q t_coRR_ \"$f\"; then " + do + "; fi; done"
}

// faulty builds a toolchain around a real one of which one tool misbehaves:
// before anything else it does what is given.
func faulty(t require.TestingT, dir string, real *toolchain.Toolchain, tool, misbehave string, limit time.Duration, listings bool) *toolchain.Toolchain {
	for name, path := range map[string]string{"ptxas": real.Ptxas, "nvdisasm": real.Nvdisasm, "cuobjdump": real.Cuobjdump} {
		script := "exec " + path + " \"$@\"\n"
		if name == tool {
			script = misbehave + "\n" + script
		}
		require.NoError(t, os.WriteFile(filepath.Join(dir, name), []byte("#!/bin/sh\n"+script), 0o755))
	}
	tcs, errs := toolchain.Discover(context.Background(), toolchain.Options{Dirs: []string{dir}, DirsOnly: true, Cache: "off", Runner: toolchain.NewRunner(0, limit), Listings: listings})
	require.Empty(t, errs)
	require.Len(t, tcs, 1)
	return tcs[0]
}

// TestFaultyTools: a compiler that crashes, hangs or prints garbage, and a
// disassembler that fails, cost the cells that they fail on and no others.
func TestFaultyTools(t *testing.T) {
	tcs := releases(t)
	real := tcs[len(tcs)-1]
	var tests []*litmus.Test
	for _, n := range []string{"coRR", "mp", "sb", "lb", "2+2w", "iriw"} {
		x, ok := corpus.Lookup(n)
		require.True(t, ok, n)
		tests = append(tests, x)
	}
	o := Options{Tests: tests, Targets: []string{"sm_80"}, Levels: []string{"O3"}, Layouts: []spec.Layout{spec.Pointers}}
	audit := func(tc *toolchain.Toolchain) *event.Run {
		run := event.NewRun()
		o.Toolchains = []*toolchain.Toolchain{tc}
		require.NoError(t, Run(t.Context(), o, run))
		return run
	}
	want := audit(real)
	cases := []struct{ name, tool, do, reason string }{
		{"crash", "ptxas", "kill -SEGV $$", event.Crashed},
		{"killed", "ptxas", "kill -KILL $$", "infrastructure"},
		{"hang", "ptxas", "exec sleep 36000", event.Crashed},
		{"garbage", "ptxas", "shift; for o in \"$@\"; do case $o in *.cubin) echo garbage > $o;; esac; done; exit 0", ""},
		{"refusal", "ptxas", "echo 'ptxas fatal : no' >&2; exit 255", "compile"},
		{"no cubin", "ptxas", "exit 0", "infrastructure"},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			limit := patient.Long
			if c.name == "hang" {
				limit = 3 * time.Second
			}
			patient.Limits(t, limit, func(trial *patient.Trial, limit time.Duration) {
				run := audit(faulty(trial, t.TempDir(), real, c.tool, onCoRR(c.do), limit, false))
				require.Len(trial, run.Cells, len(want.Cells))
				for i, cell := range run.Cells {
					if cell.Test == "coRR" {
						if c.reason == event.Crashed {
							require.Equal(trial, event.Crashed, cell.Class, cell.Reason)
							require.Equal(trial, c.name, cell.Findings[0].Rule)
							continue
						}
						require.Equal(trial, "unknown", cell.Class, cell.Reason)
						require.Contains(trial, cell.Reason, c.reason)
						continue
					}
					require.Equal(trial, want.Cells[i].Class, cell.Class)
					require.Equal(trial, want.Cells[i].Code, cell.Code, fmt.Sprint(cell))
				}
				require.Equal(trial, c.reason == event.Crashed, len(run.Problems) == 0)
			})
		})
	}
	for _, c := range []struct{ name, do string }{
		{"fails", "echo 'nvdisasm fatal : no' >&2; exit 1"}, {"prints nothing", "exit 0"}, {"prints garbage", "head -c 1000 /dev/urandom; exit 0"},
		{"prints another vendor's code", "printf '\\tv_mov_b32 v0, v1\\n'; exit 0"},
		{"forgets instructions", real.Nvdisasm + " \"$@\" | sed 10~7d; exit 0"},
	} {
		t.Run("nvdisasm "+c.name+" when asked for encodings", func(t *testing.T) {
			run := audit(faulty(t, t.TempDir(), real, "nvdisasm", "case \"$*\" in *-b*) "+c.do+";; esac", patient.Long, false))
			require.Equal(t, want.Cells, run.Cells, "then it prints all of the code")
			require.Empty(t, run.Problems)
		})
	}
	t.Run("nvdisasm fails", func(t *testing.T) {
		o.BatchUnits = 2
		defer func() { o.BatchUnits = 0 }()
		run := audit(faulty(t, t.TempDir(), real, "nvdisasm", onCoRR("echo 'nvdisasm fatal : no' >&2; exit 1"), patient.Long, true))
		decided := 0
		for _, cell := range run.Cells {
			if cell.Class != "unknown" {
				decided++
			} else {
				require.NotEmpty(t, cell.Reason)
			}
		}
		require.GreaterOrEqual(t, decided, 4, "cells of other batches must survive")
		require.NotEmpty(t, run.Problems)
	})
	t.Run("nvdisasm prints another vendor's code", func(t *testing.T) {
		run := audit(faulty(t, t.TempDir(), real, "nvdisasm", onCoRR("printf '\\tv_mov_b32 v0, v1\\n\\ts_endpgm\\n'; exit 0"), patient.Long, true))
		for _, cell := range run.Cells {
			require.Equal(t, "unknown", cell.Class)
		}
	})
}

// TestDuplicateTests: two tests that would give the same kernels are refused.
func TestDuplicateTests(t *testing.T) {
	x, _ := corpus.Lookup("mp")
	err := Run(t.Context(), Options{Tests: []*litmus.Test{x, x}, Toolchains: releases(t), Targets: []string{"sm_80"}}, event.NewRun())
	require.ErrorContains(t, err, "occurs twice")
}

// TestLongNames: hostile names give legal PTX identifiers.
func TestLongNames(t *testing.T) {
	x, _ := corpus.Lookup("mp")
	y := x.Clone()
	y.Name = strings.Repeat("ü<script>../%s\"", 700)
	run := event.NewRun()
	require.NoError(t, Run(t.Context(), Options{Tests: []*litmus.Test{y}, Toolchains: releases(t), Targets: []string{"sm_80"}, Levels: []string{"O3"}}, run))
	_, _, _, unknown := run.Count()
	require.Zero(t, unknown)
}
