package main

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"optcheck/internal/required"
	"optcheck/toolchain"
)

// documents are the pages whose commands are run as they stand there, in a folder of their own.
var documents = []string{"README.md", "docs/start.md", "docs/audit.md", "docs/understand.md", "docs/compare.md", "docs/verify.md",
	"docs/litmus.md", "docs/models.md", "docs/hunting.md", "docs/bugs.md", "docs/ci.md", "docs/scale.md", "docs/trust.md",
	"docs/internals/toolchains.md"}

// TestDocuments runs every command of the pages for newcomers and looks for what they show
// of its output. A newcomer's machine is pretended: it has an installed CUDA 11.8 and nvcc, and an
// unpacked CUDA 12.4 that nobody has told of.
func TestDocuments(t *testing.T) {
	installed := toolchain.ManagedDir(os.Getenv)
	for _, name := range []string{"cuda-11.8", "cuda-12.4", "nvcc-12.4"} {
		if _, err := os.Stat(filepath.Join(installed, name)); err != nil {
			required.Missing(t, "no %s", name)
		}
	}
	for _, page := range documents {
		t.Run(filepath.Base(page), func(t *testing.T) {
			t.Parallel()
			text, err := os.ReadFile(filepath.Join("..", "..", page))
			require.NoError(t, err)
			home := t.TempDir()
			for _, name := range []string{"cuda-11.8", "nvcc-12.4"} {
				if strings.Contains(string(text), name) || name == "cuda-11.8" {
					copyTree(t, filepath.Join(installed, name), filepath.Join(home, ".cache/optcheck/toolchains", name))
				}
			}
			copyTree(t, filepath.Join(installed, "cuda-12.4/root/usr/bin"), filepath.Join(home, "cuda-12.4/bin"))
			runPage(t, page, string(text), home)
		})
	}
}

// copyTree copies a folder, by links where that can be: its files keep their times.
func copyTree(t *testing.T, from, to string) {
	require.NoError(t, filepath.WalkDir(from, func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		rel, _ := filepath.Rel(from, path)
		if d.IsDir() {
			return os.MkdirAll(filepath.Join(to, rel), 0o755)
		}
		if os.Link(path, filepath.Join(to, rel)) == nil {
			return nil
		}
		data, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		return os.WriteFile(filepath.Join(to, rel), data, 0o755)
	}))
}

var (
	fence  = regexp.MustCompile("(?ms)^(<!-- ([^\n]*) -->\n)?```(console|litmus|ptx|cuda|yaml)\n(.*?)^```$")
	exitIn = regexp.MustCompile(`# exit code (\d+)`)
)

// runPage writes the files and runs the commands of a page in a new folder.
func runPage(t *testing.T, page, text, home string) {
	dir := filepath.Join(home, "work")
	require.NoError(t, os.Mkdir(dir, 0o755))
	ran := 0
	for _, m := range fence.FindAllStringSubmatch(text, -1) {
		about, kind, body := m[2], m[3], m[4]
		if file, ok := strings.CutPrefix(about, "file: "); ok {
			require.NoError(t, os.MkdirAll(filepath.Dir(filepath.Join(dir, file)), 0o755))
			require.NoError(t, os.WriteFile(filepath.Join(dir, file), []byte(body), 0o644))
			continue
		}
		name, needs := strings.CutPrefix(about, "needs: ")
		if kind != "console" || strings.HasPrefix(about, "not run: ") || needs && !given(t, home, name) {
			require.True(t, about != "" || kind == "yaml", "%s: a test without a file", page)
			continue
		}
		for _, step := range strings.Split("\n"+body, "\n$ ")[1:] {
			command, want, _ := strings.Cut(step, "\n")
			runStep(t, dir, home, command, want)
			ran++
		}
	}
	require.Positive(t, ran)
}

// given puts a toolchain into the newcomer's home that few machines have, and tells whether this one does.
func given(t *testing.T, home, name string) bool {
	from := filepath.Join(toolchain.ManagedDir(os.Getenv), name)
	if _, err := os.Stat(from); err != nil {
		return false
	}
	copyTree(t, from, filepath.Join(home, ".cache/optcheck/toolchains", name))
	return true
}

// runStep runs a command and looks for the lines that are shown of what it prints, in order.
// … stands for lines that are left out, and for the beginning of a line.
func runStep(t *testing.T, dir, home, command, want string) {
	code := 0
	if m := exitIn.FindStringSubmatch(command); m != nil && m[1] != "0" {
		code = int(m[1][0] - '0')
	}
	ctx, cancel := context.WithTimeout(t.Context(), 5*time.Minute)
	defer cancel()
	cmd := exec.CommandContext(ctx, "sh", "-c", command)
	cmd.Dir = dir
	cmd.Env = []string{"PATH=" + os.Getenv("PATH"), "HOME=" + home}
	out, err := cmd.CombinedOutput()
	var exit *exec.ExitError
	if errors.As(err, &exit) {
		require.Equal(t, code, exit.ExitCode(), "$ %s\n%s", command, out)
	} else {
		require.NoError(t, err, "$ %s\n%s", command, out)
		require.Zero(t, code, "$ %s\n%s", command, out)
	}
	lines := strings.Split(string(out), "\n")
	for line := range strings.Lines(want) {
		line = strings.TrimRight(line, " \n")
		if line == "" || line == "…" {
			continue
		}
		i := 0
		for ; i < len(lines); i++ {
			have := strings.TrimRight(lines[i], " ")
			if tail, cut := strings.CutPrefix(strings.TrimPrefix(line, "optcheck: "), "…"); have == line || cut && strings.HasSuffix(have, tail) {
				break
			}
		}
		require.Less(t, i, len(lines), "$ %s\nprints no such line behind the one before: %q\n%s", command, line, out)
		lines = lines[i+1:]
	}
}
