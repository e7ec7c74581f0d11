package main

import (
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// TestContainer: each file that the Containerfile copies is in the archives of make dist, and where buildah and the image that it
// begins with are to be had, it becomes an image in which optcheck runs.
func TestContainer(t *testing.T) {
	root := filepath.Join("..", "..")
	text, err := os.ReadFile(filepath.Join(root, "Containerfile"))
	require.NoError(t, err)
	makefile, err := os.ReadFile(filepath.Join(root, "Makefile"))
	require.NoError(t, err)
	from := regexp.MustCompile(`(?m)^FROM (\S+)$`).FindStringSubmatch(string(text))
	require.NotNil(t, from)
	dir := t.TempDir()
	for _, m := range regexp.MustCompile(`(?m)^COPY (.*) \S+$`).FindAllStringSubmatch(string(text), -1) {
		for _, file := range strings.Fields(m[1]) {
			require.Regexp(t, `(?m)(bin/dist/\S+/|DIST_FILES := .*)\b`+regexp.QuoteMeta(file)+`\b`, string(makefile))
			require.NoError(t, os.WriteFile(filepath.Join(dir, file), []byte("a stand-in\n"), 0o644))
		}
	}

	ctx, cancel := context.WithTimeout(t.Context(), 5*time.Minute)
	defer cancel()
	buildah := func(args ...string) (string, error) {
		out, err := exec.CommandContext(ctx, "buildah", args...).CombinedOutput()
		return strings.TrimSpace(string(out)), err
	}
	if _, err := exec.LookPath("buildah"); err != nil {
		t.Skip("buildah is not to be had")
	}
	if out, err := buildah("inspect", "--type", "image", from[1]); err != nil {
		if pulled, err := buildah("pull", "-q", from[1]); err != nil {
			t.Skipf("%s is not to be had: %s %s", from[1], out, pulled)
		}
	}
	require.NoError(t, os.Remove(filepath.Join(dir, "optcheck")))
	build := exec.CommandContext(ctx, "go", "build", "-o", filepath.Join(dir, "optcheck"), ".")
	build.Env = append(os.Environ(), "CGO_ENABLED=0")
	out, err := build.CombinedOutput()
	require.NoError(t, err, string(out))
	const image = "localhost/optcheck-containertest"
	said, err := buildah("build", "--pull-never", "--isolation", "chroot", "-t", image, "-f", filepath.Join(root, "Containerfile"), dir)
	require.NoError(t, err, said)
	defer func() { _, _ = buildah("rmi", "-f", image) }()
	container, err := buildah("from", "-q", "--pull-never", image)
	require.NoError(t, err, container)
	defer func() { _, _ = buildah("rm", container) }()
	for _, line := range []string{"version", "model mp"} {
		said, err = buildah(append([]string{"run", "--isolation", "chroot", container, "--", "optcheck"}, strings.Fields(line)...)...)
		require.NoError(t, err, said)
	}
	entry, err := buildah("inspect", "--type", "image", "--format", "{{.OCIv1.Config.Entrypoint}} {{.OCIv1.Config.WorkingDir}}", image)
	require.NoError(t, err, entry)
	require.Equal(t, "[optcheck] /work", entry)
}
