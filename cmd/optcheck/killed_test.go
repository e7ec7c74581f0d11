package main

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"optcheck/internal/patient"
)

// killed kills commands after a part of some time, and tells whether that hit one.
func killed(t *testing.T, within time.Duration, commands ...[]string) bool {
	t.Helper()
	var cmds []*exec.Cmd
	for _, args := range commands {
		cmds = append(cmds, child(t, args...))
	}
	return patient.Kill(t, within, cmds...)
}

// TestKilledStores: whoever is killed while it imports, merges, exports or
// cleans, a store is whole afterwards, and doing it again does it.
func TestKilledStores(t *testing.T) {
	dir := t.TempDir()
	at := func(name string) string { return filepath.Join(dir, name) }
	stream := strings.Split(streamShapes()[1](400_000), "\n")
	half := len(stream) / 2
	require.NoError(t, os.WriteFile(at("a.jsonl"), []byte(strings.Join(stream[:half], "\n")), 0o600))
	require.NoError(t, os.WriteFile(at("b.jsonl"), []byte(stream[0]+"\n"+strings.Join(stream[half:], "\n")), 0o600))
	whole := at("whole.store")
	begin := time.Now()
	stored(t, "store", "import", whole, at("a.jsonl"), at("b.jsonl"))
	within := time.Since(begin)
	want := stored(t, "store", "export", whole)
	require.Greater(t, len(want), 200_000)
	fresh := func(name string, content []byte) string {
		for _, suffix := range []string{"", "-wal", "-shm"} {
			os.Remove(at(name) + suffix)
		}
		if content != nil {
			require.NoError(t, os.WriteFile(at(name), content, 0o600))
		}
		return at(name)
	}
	image, err := os.ReadFile(whole)
	require.NoError(t, err)
	rounds, hits := 8, 0
	if os.Getenv("OPTCHECK_FULL") != "" {
		rounds = 25
	}
	for _, c := range []struct {
		name string
		do   func()
	}{
		{"import by two writers", func() {
			file := fresh("new.store", nil)
			if killed(t, within, []string{"store", "import", file, at("a.jsonl")}, []string{"merge", file, at("b.jsonl")}) {
				hits++
			}
			sound(t, file)
			stored(t, "store", "import", file, at("a.jsonl"), at("b.jsonl"))
			require.Equal(t, strings.Count(want, `{"cell"`), strings.Count(stored(t, "store", "export", file), `{"cell"`))
		}},
		{"export", func() {
			if killed(t, within/4, []string{"store", "export", whole, "-o", at("out.jsonl")}) {
				hits++
			}
			sound(t, whole)
			require.Equal(t, want, stored(t, "store", "export", whole))
		}},
		{"gc", func() {
			file := fresh("gc.store", image)
			if killed(t, 60*time.Millisecond, []string{"store", "gc", file}) {
				hits++
			}
			sound(t, file)
			stored(t, "store", "gc", file)
			require.Equal(t, strings.Count(want, `{"cell"`), strings.Count(stored(t, "store", "export", file), `{"cell"`))
		}},
	} {
		t.Run(c.name, func(t *testing.T) {
			for range rounds {
				c.do()
			}
		})
	}
	t.Logf("%d rounds of each, %d kills", rounds, hits)
	require.Positive(t, hits)
}
