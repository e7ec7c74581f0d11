package realcode

import (
	"bytes"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/stretchr/testify/require"

	"optcheck/event"
	"optcheck/ptx"
	"optcheck/report"
)

// TestFirstScreen: what an audit of a kernel by two releases for two targets says of one finding fits 24 lines of 100
// columns, with the instruction, both codes side by side, what may happen, and what to do next.
func TestFirstScreen(t *testing.T) {
	m, err := ptx.Parse("wait.ptx", []byte(".version 7.0\n.target sm_80\n.address_size 64\n.visible .entry wait(.param .u64 p, .param .u64 q, .param .u64 r)\n{\n"+
		".reg .pred %p<2>; .reg .b32 %r<4>; .reg .b64 %rd<4>;\nld.param.u64 %rd1, [p]; ld.param.u64 %rd2, [q]; ld.param.u64 %rd3, [r];\nW: ld.relaxed.gpu.u32 %r1, [%rd1];\n"+
		"setp.eq.u32 %p1, %r1, 0;\n@%p1 bra W;\nld.acquire.gpu.u32 %r2, [%rd1];\nld.global.u32 %r3, [%rd2];\n"+
		"st.global.u32 [%rd3], %r3;\nret;\n}\n"))
	require.NoError(t, err)
	o := Options{Toolchains: releases(t, "11.8", "12.4"), Targets: []string{"sm_80", "sm_90"}, Levels: []string{"O0", "O1", "O2", "O3"}, Execute: Runs}
	run, p := event.NewRun(), NewProgram(m, Origin{})
	require.NoError(t, run.Handle(event.Event{Config: Config(&o, []*Program{p})}))
	require.NoError(t, run.Handle(event.Event{Test: &p.Tests[0]}))
	require.NoError(t, Audit(t.Context(), o, m, func(c *Cell) error { return p.Events(c, run.Handle) }))
	var out bytes.Buffer
	screen := report.Screen(&out, 100, false)
	require.NoError(t, report.WriteText(screen, run, report.TextOptions{}))
	require.NoError(t, screen.Close())
	require.LessOrEqual(t, bytes.Count(out.Bytes(), []byte("\n")), 24, out.String())
	for line := range strings.Lines(out.String()) {
		require.LessOrEqual(t, utf8.RuneCountInString(line), 101, line)
	}
	for _, want := range []string{"wait.ptx:11:1: missing: ld.acquire.gpu.u32 %r2, [%rd1]", "| LD.E.STRONG.GPU", "may happen:", "next:", report.ClaimsNote} {
		require.Contains(t, out.String(), want)
	}
}
