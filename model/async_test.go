package model

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"optcheck/litmus"
	"optcheck/litmus/corpus"
	"optcheck/ptxgen/cycle"
)

// TestAsyncKeepsVerdicts: on tests that need nothing else, ptx-async says what ptx says, state by
// state.
func TestAsyncKeepsVerdicts(t *testing.T) {
	var tests []*litmus.Test
	files, err := filepath.Glob("testdata/known/*.litmus")
	require.NoError(t, err)
	for _, file := range files {
		test, err := litmus.ParseFile(file)
		require.NoError(t, err)
		tests = append(tests, test)
	}
	tests = append(tests, corpus.Tests()...)
	require.Greater(t, len(tests), 150)
	old := load(t, "ptx")
	n := 0
	for _, test := range tests {
		want, err := old.Judge(t.Context(), test, Options{})
		require.NoError(t, err, test.Name)
		if want.Undecided != "" || test.Mixed() {
			continue
		}
		for _, name := range []string{"ptx-async", "ptx-bytes"} {
			assert.Equal(t, want.States, judge(t, load(t, name), test).States, "%s under %s", test.Name, name)
		}
		n++
	}
	t.Logf("%d tests", n)
	assert.Greater(t, n, 150)
}

// TestAsyncKeepsPreset: nor do the tests of preset ptx tell the two apart, whose fences also stand where one thread hands on what
// another has released.
func TestAsyncKeepsPreset(t *testing.T) {
	g, err := cycle.Preset("ptx")
	require.NoError(t, err)
	old, models, n := load(t, "ptx"), []*Model{load(t, AsyncModel), load(t, BytesModel)}, 0
	for test := range g.Tests() {
		if n++; n%4 != 0 && os.Getenv("OPTCHECK_FULL") == "" {
			continue
		}
		want, err := old.Judge(t.Context(), test, Options{StatesOnly: true})
		require.NoError(t, err, test.Name)
		for _, m := range models {
			got, err := m.Judge(t.Context(), test, Options{StatesOnly: true})
			require.NoError(t, err, test.Name)
			require.Equal(t, want.States, got.States, test.Name)
		}
	}
	require.Greater(t, n, 8000)
}

// TestAsyncLimits: what cannot be judged says so, and does not take for ever.
func TestAsyncLimits(t *testing.T) {
	arrive := strings.Repeat(" mbarrier.arrive.shared.b64 _, [b] | mbarrier.arrive.shared.b64 _, [b] ;\n", 9)
	head := "PTX t\n{ x=0; s=0; b=2; }\n P0@cta 0, gpu 0 | P1@cta 0, gpu 0 ;\n"
	for _, c := range [][2]string{
		{arrive + " mbarrier.test_wait.parity.shared.b64 r0, [b], 0 | ;\n", "too many ways"},
		{" cp.async.ca.shared.global [s], [x], 1099511627776 | ;\n ld.weak r0, s | ;\n", "copies 1099511627776 bytes"},
		{" cp.async.ca.shared.global [s+4000], [x], 4 | ;\n ld.weak r0, s | ;\n", ""},
		{" mbarrier.test_wait.shared.b64 r0, [b], r7 | ;\n", "no mbarrier.arrive of the thread returned"},
	} {
		x := parse(t, head+c[0]+"b: shared, s: shared\nexists (P0:r0=1)\n")
		v, err := load(t, "ptx-async").Judge(t.Context(), x, Options{})
		require.NoError(t, err)
		if c[1] == "" {
			require.Empty(t, v.Undecided)
			continue
		}
		require.Contains(t, v.Undecided, c[1])
	}
	x := parse(t, head+" cp.async.wait_all | ;\n ld.weak r0, s | ;\ns: shared\nexists (P0:r0=1)\n")
	for _, name := range []string{"ptx", "ptx-op", "sc"} {
		_, err := load(t, name).Judge(t.Context(), x, Options{})
		require.ErrorContains(t, err, "asynchronous operations", name)
	}
}
