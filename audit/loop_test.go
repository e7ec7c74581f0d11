package audit

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"optcheck/event"
	"optcheck/litmus"
	"optcheck/ptxgen/cycle"
	"optcheck/spec"
)

// loopNames and loopShapes are tests with bounded loops, of which the shapes have what
// the generator does not make.
var (
	loopNames = []string{
		"MP+vol-po-rel.gpu+acq.gpu-po-vol-p0::p1-xgyg@loop-1.0.2",
		"MP+fence.acq_rel.gpu-rlx.gpu+acq.gpu-po-p0::p1-xgyg@loop-1.0.1",
		"MP+fence.acq_rel.gpu-rlx.gpu+acq.gpu-po-p0::p1-xgyg@loop-0.0.3",
		"MP+fence.acq_rel.gpu-rlx.gpu+acq.gpu-po-p0::p1-xgyg@spin-1.0",
		"MP+fence.acq_rel.gpu-rlx.gpu+acq.gpu-po-p0::p1-xgyg@spin-1.1",
		"MP+bars-p0:p1-xsys@spin-1.2",
		"CoRW1+all-cg-p0-xg@spin-0.0",
		"LB+datas+all-rlx.gpu-p0::p1-xgyg@spin-0.0",
		"LB+addrs-p0::p1-xgyg@loop-0.0.1",
	}
	loopShapes = map[string]string{
		"spin":     "xor r9, r9, r9; LC: ld.acquire.gpu r0, f; beq r0, 1, LD; add r9, r9, 1; blt r9, 5, LC; LD: ld.weak r1, x || st.weak x, 1; st.release.gpu f, 1",
		"counted":  "xor r9, r9, r9; LC: st.weak x, r9; st.release.gpu f, 1; add r9, r9, 1; blt r9, 3, LC || ld.acquire.gpu r0, f; ld.weak r1, x",
		"atomic":   "xor r9, r9, r9; LC: atom.relaxed.gpu.add r0, f, 1; fence.acq_rel.gpu; ld.weak r1, x; add r9, r9, 1; blt r9, 3, LC || st.weak x, 1; fence.acq_rel.gpu; atom.relaxed.gpu.add r0, f, 1",
		"some":     "xor r9, r9, r9; LC: ld.acquire.gpu r0, f; bne r0, 1, LD; ld.weak r1, x; LD: add r9, r9, 1; blt r9, 3, LC || st.weak x, 1; st.release.gpu f, 1",
		"guarded":  "xor r9, r9, r9; LC: ld.relaxed.gpu r0, f; membar.sys; setp.eq p0, r0, 1; @p0 ld.relaxed.gpu r2, f; ld.relaxed.gpu r1, x; add r9, r9, 1; blt r9, 4, LC || st.relaxed.gpu x, 1; membar.sys; st.relaxed.gpu f, 1",
		"nested":   "xor r9, r9, r9; LC: xor r8, r8, r8; LD: st.relaxed.gpu x, 1; add r8, r8, 1; blt r8, 2, LD; st.release.gpu f, 1; add r9, r9, 1; blt r9, 2, LC || ld.acquire.gpu r0, f; ld.weak r1, x",
		"two":      "xor r9, r9, r9; LC: ld.acquire.gpu r0, f; add r9, r9, 1; blt r9, 2, LC; xor r9, r9, r9; LD: ld.weak r1, x; add r9, r9, 1; blt r9, 2, LD || st.weak x, 1; st.release.gpu f, 1",
		"wide":     "xor r9, r9, r9; LC: ld.relaxed.gpu.b64 r0, x; add r9, r9, 1; blt r9, 3, LC || st.relaxed.gpu.b64 x, 4294967297",
		"unbroken": "xor r9, r9, r9; LC: st.weak x, 1; st.weak y, 1; add r9, r9, 1; blt r9, 3, LC || ld.weak r0, y; ld.weak r1, x",
	}
)

func loopTests(t *testing.T) (tests []*litmus.Test) {
	for _, n := range loopNames {
		s, err := cycle.ParseName(n)
		require.NoError(t, err)
		tests = append(tests, s.Test())
	}
	for _, n := range sortedKeys(loopShapes) {
		tests = append(tests, killShape(t, n, loopShapes[n]))
	}
	return tests
}

// TestLoops audits bounded loops in real machine code, in which they stay loops at O0 and
// O1 and are unrolled above: every cell is decided, and none is miscompiled.
func TestLoops(t *testing.T) {
	o := Options{Tests: loopTests(t), Toolchains: releases(t), Targets: []string{"sm_70", "sm_80", "sm_90"}, Levels: []string{"O0", "O1", "O2", "O3"},
		Layouts: []spec.Layout{spec.Pointers, spec.Symbols}}
	run := event.NewRun()
	require.NoError(t, Run(t.Context(), o, run))
	classes := map[string]int{}
	for i := range run.Cells {
		c := &run.Cells[i]
		classes[c.Level+" "+c.Class]++
		if c.Toolchain == "ptxas 11.2.152" && c.Class == event.Unsupported {
			continue // sm_90
		}
		require.Contains(t, []string{event.Preserved, event.Optimised}, c.Class, "%s %s %s %s %s: %s %v", c.Test, c.Toolchain, c.Target, c.Level, c.Layout, c.Reason, c.Findings)
		if c.Level == "O0" {
			require.Equal(t, event.Preserved, c.Class, "%s %s %s %s %s: %v", c.Test, c.Toolchain, c.Target, c.Level, c.Layout, c.Findings)
		}
	}
	t.Log(classes)
	require.Positive(t, classes["O3 "+event.Optimised])
}

// TestLoopEdited: machine code with a loop is not the test if the loop is another one.
func TestLoopEdited(t *testing.T) {
	const (
		loop = "MP+vol-po-rel.gpu+acq.gpu-po-vol-p0::p1-xgyg@loop-1.0.2"
		spin = "MP+fence.acq_rel.gpu-rlx.gpu+acq.gpu-po-p0::p1-xgyg@spin-1.1"
	)
	for _, w := range []struct {
		what, test, old, by string
		class, reason       string
	}{
		{"nothing", loop, "", "", event.Preserved, ""},
		{"nothing", spin, "", "", event.Preserved, ""},
		{"fewer rounds", loop, "R0, 0x4, PT", "R0, 0x3, PT", event.Optimised, "missing"},
		{"one more round", loop, "R0, 0x4, PT", "R0, 0x5, PT", event.Optimised, "duplicated"},
		{"many rounds", loop, "R0, 0x4, PT", "R0, 0x6, PT", event.Unknown, "may go round more often"},
		{"no end", loop, "IADD3 R0, R0, 0x1, RZ", "NOP", event.Unknown, "may go round more often"},
		{"an unknown start", loop, "IMAD.MOV.U32 R0, RZ, RZ, RZ", "IMAD.MOV.U32 R0, RZ, RZ, c[0x0][0x17c]", event.Unknown, "may go round more often"},
		{"an end that a value decides", loop, "GE.AND P0, PT, R0, 0x4, PT", "NE.AND P0, PT, R2, RZ, PT", event.Unknown, "may go round more often"},
		{"no loop", loop, "@!P0 BRA", "@!PT BRA", event.Optimised, "missing"},
		{"no invalidation", loop, "CCTL.IVALL", "NOP", event.Miscompiled, "fence-removed"},
		{"weak loads", loop, "LDG.E.STRONG.GPU", "LDG.E", event.Miscompiled, "weakened"},
	} {
		t.Run(w.what, func(t *testing.T) {
			s, err := cycle.ParseName(w.test)
			require.NoError(t, err)
			class, reason, _ := editedAt(t, s.Test(), "12.4", "sm_80", "O1", 1, func(lines []string) []string {
				found := w.old == ""
				for i := range lines {
					if w.old != "" && strings.Contains(lines[i], w.old) {
						lines[i], found = strings.Replace(lines[i], w.old, w.by, 1), true
					}
				}
				require.True(t, found, strings.Join(lines, "\n"))
				return lines
			})
			require.Equal(t, w.class, class, reason)
			require.Contains(t, reason, w.reason)
		})
	}
}
