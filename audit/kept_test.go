package audit

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"optcheck/event"
	"optcheck/litmus/corpus"
	"optcheck/toolchain"
)

// TestKeptCode: judging again from what was kept compiles nothing and gives the
// same events; what is damaged, or of other flags, is compiled.
func TestKeptCode(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "code")
	r := toolchain.NewRunner(0, 0)
	tcs := discovered(t, toolchain.Options{Runner: r})
	o := Options{Tests: corpus.Tests()[:12], Toolchains: tcs, Targets: []string{"sm_35", "sm_61", "sm_90"}, Levels: []string{"O0", "O3"}}
	events := func(o Options) (lines []string, processes int64) {
		before := r.Stats().Processes
		var buf bytes.Buffer
		require.NoError(t, Run(t.Context(), o, event.NewJSONLines(&buf)))
		for line := range strings.Lines(buf.String()) {
			if !strings.HasPrefix(line, `{"stats"`) && !strings.HasPrefix(line, `{"config"`) {
				lines = append(lines, line)
			}
		}
		return lines, r.Stats().Processes - before
	}
	want, all := events(o)
	require.NotZero(t, all)
	o.Code = dir
	first, compiled := events(o)
	require.Equal(t, want, first)
	require.NotZero(t, compiled)
	again, none := events(o)
	require.Equal(t, want, again)
	require.Zero(t, none, "processes were started")

	files, err := filepath.Glob(filepath.Join(dir, "*"))
	require.NoError(t, err)
	require.NotEmpty(t, files)
	for i, f := range files {
		data, err := os.ReadFile(f)
		require.NoError(t, err)
		switch i % 3 {
		case 0:
			data[len(data)/2] ^= 1
		case 1:
			data = data[:len(data)-1]
		case 2:
			data = nil
		}
		require.NoError(t, os.WriteFile(f, data, 0o600))
	}
	mended, compiled := events(o)
	require.Equal(t, want, mended)
	require.EqualValues(t, len(files), compiled, "each damaged file costs one compilation, and no question to nvdisasm")
	o.Flags = []string{"--disable-warnings"}
	_, compiled = events(o)
	require.NotZero(t, compiled, "other flags are other code")
}
