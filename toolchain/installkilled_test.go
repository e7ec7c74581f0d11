package toolchain

import (
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"optcheck/internal/patient"
)

// childVariable has TestMain install instead of testing.
const childVariable = "OPTCHECK_TEST_INSTALL"

// installChild installs a release into a folder.
func installChild(dir string) int {
	if _, err := Install(context.Background(), "cuda-11.8", InstallOptions{Dir: dir}); err != nil {
		os.Stderr.WriteString(err.Error())
		return 1
	}
	return 0
}

// TestInstallKilled: an installation that is killed at any moment leaves nothing
// that is used, and the next one installs.
func TestInstallKilled(t *testing.T) {
	d := newDebian(t, "11.8.89", func(files map[string]string) {
		files["usr/bin/ptxas"] += strings.Repeat("# much to write\n", 200_000)
	})
	child := func() *exec.Cmd {
		cmd := exec.Command(os.Args[0])
		cmd.Env = append(os.Environ(), childVariable+"="+d.managed)
		return cmd
	}
	begin := time.Now()
	require.NoError(t, child().Run())
	within := time.Since(begin)
	kills := 0
	for range 25 {
		require.NoError(t, os.RemoveAll(filepath.Join(d.managed, "cuda-11.8")))
		if patient.Kill(t, within, child()) {
			kills++
		}
		forgetVerified(filepath.Join(d.managed, "cuda-11.8"))
		all, errs := Discover(t.Context(), Options{Managed: d.managed, Cache: "off", Env: func(string) string { return "" }})
		require.Empty(t, errs, "what is half there is not seen")
		if len(all) > 0 {
			found, err := Verify(t.Context(), d.managed, nil)
			require.NoError(t, err)
			require.NoError(t, found[0].Err)
		}
		_, err := d.install(t.Context(), "cuda-11.8")
		require.NoError(t, err)
		require.Equal(t, []string{"cuda-11.8"}, d.visible(t), "nothing else is left")
	}
	t.Logf("25 rounds, %d kills", kills)
	require.Positive(t, kills)
}
