package main

import (
	"bytes"
	"fmt"
	"net/http"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"optcheck/internal/patient"
)

// hanging is a folder with tools of a real release, of which one starts a daemon in a session of
// its own, and a child, and waits, where the pattern stands in its arguments. The word is in the
// command lines of both.
func hanging(t *testing.T, tool, pattern string) (dir, word string) {
	bin := filepath.Join(needs(t, "cuda-12.4"), "root/usr/bin")
	dir, word = t.TempDir(), fmt.Sprintf("86%09d", time.Now().UnixNano()%1e9)
	for _, name := range []string{"ptxas", "nvdisasm", "cuobjdump"} {
		text := "#!/bin/sh\n"
		if name == tool {
			text += "case \"$*\" in *probe*|*--version*) ;; " + pattern + ") (setsid sleep " + word + " &); sleep " + word + "; :;; esac\n"
		}
		require.NoError(t, os.WriteFile(filepath.Join(dir, name), []byte(text+"exec "+filepath.Join(bin, name)+" \"$@\"\n"), 0o755))
	}
	return dir, word
}

// processes counts those with a word in their command lines.
func processes(word string) (n int) {
	files, _ := filepath.Glob("/proc/[0-9]*/cmdline")
	for _, f := range files {
		if line, err := os.ReadFile(f); err == nil && bytes.Contains(line, []byte(word)) {
			n++
		}
	}
	return n
}

// TestEnds: however the program ends, nothing that it started lives on, whatever that did to be
// left alone.
func TestEnds(t *testing.T) {
	dir, word := hanging(t, "ptxas", "*.ptx*")
	for _, args := range [][]string{{"audit", "mp"}, {"serve", "--addr", "127.0.0.1:0"}} {
		for _, sig := range []syscall.Signal{syscall.SIGTERM, syscall.SIGINT, syscall.SIGKILL} {
			t.Run(args[0]+" "+sig.String(), func(t *testing.T) {
				cmd, said := child(t, args...), &output{}
				cmd.Env = append(os.Environ(), "HOME="+t.TempDir(), "XDG_CACHE_HOME="+t.TempDir(), "OPTCHECK_TOOLCHAIN_DIRS="+dir)
				cmd.Stderr = said
				require.NoError(t, cmd.Start())
				t.Cleanup(func() { _ = cmd.Process.Kill() })
				if args[0] == "serve" {
					require.Eventually(t, func() bool { return servedAt.MatchString(said.String()) }, patient.Long, 10*time.Millisecond)
					at := servedAt.FindString(said.String())
					go func() {
						if r, err := http.PostForm(at+"try.html", url.Values{"test": {corpusText(t, "mp")}}); err == nil {
							r.Body.Close()
						}
					}()
				}
				require.Eventually(t, func() bool { return processes(word) >= 2 }, patient.Long, 10*time.Millisecond, said)
				require.NoError(t, cmd.Process.Signal(sig))
				_ = cmd.Wait()
				if sig != syscall.SIGKILL {
					require.Zero(t, processes(word), "it ends what it started first")
				}
				require.Eventually(t, func() bool { return processes(word) == 0 }, patient.Long, 10*time.Millisecond)
			})
		}
	}
}

// TestFileTimeout: a file that makes nvdisasm loop costs little time, as much as --timeout says, or
// a setting.
func TestFileTimeout(t *testing.T) {
	dir, word := hanging(t, "nvdisasm", "*batch.cubin*")
	cubin := filepath.Join(t.TempDir(), "k.cubin")
	source := strings.TrimSuffix(cubin, "cubin") + "ptx"
	const text = ".version 7.0\n.target sm_80\n.address_size 64\n.visible .entry k() { ret; }\n"
	require.NoError(t, os.WriteFile(source, []byte(text), 0o600))
	require.NoError(t, exec.Command(filepath.Join(dir, "ptxas"), "-arch=sm_80", "-o", cubin, source).Run())
	for _, c := range []struct {
		limit string
		env   string
		args  []string
	}{
		{`8\.\d+s`, "", []string{"isa", cubin}}, // 20 s for each MiB are added
		{`1\.\d+s`, "", []string{"isa", cubin, "--timeout", "1s"}},
		{`1\.\d+s`, "OPTCHECK_TIMEOUT=1s", []string{"isa", cubin}},
		{`1\.\d+s`, "", []string{"check", cubin, "--timeout", "1s"}},
		{`1\.\d+s`, "", []string{"emulate", cubin, "--timeout", "1s"}},
		{`1\.?\d*s`, "", []string{"audit", cubin, "--timeout", "1s"}},
	} {
		cmd, said := child(t, c.args...), &output{}
		cmd.Env = append(os.Environ(), "HOME="+t.TempDir(), "XDG_CACHE_HOME="+t.TempDir(), "OPTCHECK_TOOLCHAIN_DIRS="+dir,
			c.env)
		cmd.Stderr = said
		require.Error(t, cmd.Run())
		require.Regexp(t, `killed after `+c.limit+`; --timeout allows more`, said.String(), "%v", c.args)
		require.Zero(t, processes(word))
	}
}
