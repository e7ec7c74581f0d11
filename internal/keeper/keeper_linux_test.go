package keeper

import (
	"bytes"
	"fmt"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"optcheck/internal/patient"
)

// TestMain lets the test start itself as a process that starts a shell with the text of
// KEEPER_SCRIPT and waits, as commands do, for its end or a signal.
func TestMain(m *testing.M) {
	text := os.Getenv("KEEPER_SCRIPT")
	if text == "" {
		os.Exit(m.Run())
	}
	stop := make(chan os.Signal, 1)
	signal.Notify(stop, syscall.SIGTERM, syscall.SIGINT)
	grace, _ := time.ParseDuration(os.Getenv("KEEPER_GRACE"))
	p, err := Start(&Cmd{Path: "/bin/sh", Args: []string{"-c", text}, Grace: grace})
	if err != nil {
		fmt.Println(err)
		os.Exit(1)
	}
	select {
	case <-p.Done():
	case <-stop:
	}
	Close()
}

// running are the processes with a word in their command lines, but not this one.
func running(word string) (list []string) {
	files, _ := filepath.Glob("/proc/[0-9]*/cmdline")
	for _, f := range files {
		if line, err := os.ReadFile(f); err == nil && bytes.Contains(line, []byte(word)) {
			list = append(list, string(bytes.ReplaceAll(line, []byte{0}, []byte{' '})))
		}
	}
	return list
}

// programs are shell scripts that go on in many ways, with how many processes have the word.
var programs = map[string]struct {
	text string
	n    int
}{
	"a child":                    {"sleep $W; :", 2},
	"a grandchild":               {"sh -c 'sleep $W; :' & wait", 3},
	"one that ignores signals":   {"trap '' TERM INT HUP; sleep $W; :", 2},
	"a session of its own":       {"setsid sleep $W & wait", 2},
	"a daemon":                   {"(setsid sleep $W &) ; sleep $W; :", 3},
	"a daemon without a name":    {"(env -i setsid sleep $W >/dev/null 2>&1 </dev/null &) ; sleep $W; :", 3},
	"a daemon whose parent left": {"(setsid sh -c 'trap \"\" TERM; (setsid sleep $W &); sleep $W; :' &) ; sleep $W; :", 5},
}

// client is a process that runs a script with a word of its own in it.
func client(t *testing.T, text, grace string) (cmd *exec.Cmd, word string) {
	word = fmt.Sprintf("86%09d", time.Now().UnixNano()%1e9)
	cmd = exec.Command(os.Args[0])
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	cmd.Env = append(os.Environ(), "KEEPER_SCRIPT="+strings.ReplaceAll(text, "$W", word), "KEEPER_GRACE="+grace)
	require.NoError(t, cmd.Start())
	t.Cleanup(func() { _ = cmd.Process.Kill(); _ = cmd.Wait() })
	return cmd, word
}

// TestNothingIsLeft: however a process ends, what it started ends with it.
func TestNothingIsLeft(t *testing.T) {
	for how, end := range map[string]func(pid int) error{
		"SIGTERM":            func(pid int) error { return syscall.Kill(pid, syscall.SIGTERM) },
		"SIGINT":             func(pid int) error { return syscall.Kill(pid, syscall.SIGINT) },
		"SIGKILL":            func(pid int) error { return syscall.Kill(pid, syscall.SIGKILL) },
		"SIGKILL of a group": func(pid int) error { return syscall.Kill(-pid, syscall.SIGKILL) },
	} {
		for name, p := range programs {
			t.Run(how+" "+name, func(t *testing.T) {
				cmd, word := client(t, p.text, "")
				require.Eventually(t, func() bool { return len(running(word)) == p.n }, patient.Long, 5*time.Millisecond)
				keeper := fmt.Sprint(keeperName, cmd.Process.Pid)
				require.Len(t, running(keeper), 1)
				require.NoError(t, end(cmd.Process.Pid))
				_ = cmd.Wait()
				if !strings.HasPrefix(how, "SIGKILL") {
					require.Empty(t, running(word), "a process that is asked to end leaves when all is done")
				}
				require.Eventually(t, func() bool { return len(running(word)) == 0 && len(running(keeper)) == 0 }, patient.Long, 5*time.Millisecond)
			})
		}
	}
}

// TestNothingIsLeftByKeeper: what a keeper that is killed has started ends, and so does what that has started.
func TestNothingIsLeftByKeeper(t *testing.T) {
	for name, p := range programs {
		t.Run(name, func(t *testing.T) {
			cmd, word := client(t, p.text, "")
			require.Eventually(t, func() bool { return len(running(word)) == p.n }, patient.Long, 5*time.Millisecond)
			require.NoError(t, syscall.Kill(keeperOf(t, cmd.Process.Pid), syscall.SIGKILL))
			require.Eventually(t, func() bool { return len(running(word)) == 0 }, patient.Long, 5*time.Millisecond)
			_ = cmd.Wait()
		})
	}
}

// keeperOf is the keeper of a process.
func keeperOf(t *testing.T, pid int) int {
	t.Helper()
	for _, p := range descendants(pid) {
		if name, _ := os.ReadFile(fmt.Sprintf("/proc/%d/cmdline", p)); bytes.HasPrefix(name, []byte(keeperName)) {
			return p
		}
	}
	require.Fail(t, "no keeper")
	return 0
}

// TestGrace: a program that is given time after its starter's death ends in order.
func TestGrace(t *testing.T) {
	file := filepath.Join(t.TempDir(), "said")
	for _, c := range []struct{ text, grace, said string }{
		{"trap 'sleep 0.2; echo bye >" + file + "; exit' TERM; echo up >" + file + "; while :; do sleep 0.02; done # $W", "1h", "bye\n"},
		{"trap '' TERM; echo up >" + file + "; sleep $W; :", "50ms", "up\n"},
	} {
		require.NoError(t, os.RemoveAll(file))
		cmd, word := client(t, c.text, c.grace)
		require.Eventually(t, func() bool { return says(file, "up\n") }, patient.Long, 5*time.Millisecond)
		require.NoError(t, cmd.Process.Kill())
		_ = cmd.Wait()
		require.Eventually(t, func() bool { return len(running(word)) == 0 }, patient.Long, 5*time.Millisecond)
		said, err := os.ReadFile(file)
		require.NoError(t, err)
		require.Equal(t, c.said, string(said))
	}
}

// TestLeftBehind: what a program leaves when it ends, or is killed, ends with it while the process
// that started it goes on.
func TestLeftBehind(t *testing.T) {
	for name, p := range programs {
		for _, killed := range []bool{false, true} {
			word := fmt.Sprintf("86%09d", time.Now().UnixNano()%1e9)
			text := strings.ReplaceAll(p.text, "$W", word)
			if !killed {
				text = "(" + text + ") & sleep 0.1"
			}
			run, err := Start(&Cmd{Path: "sh", Args: []string{"-c", text}, Stdout: &bytes.Buffer{}})
			require.NoError(t, err)
			if killed {
				require.Eventually(t, func() bool { return len(running(word)) >= p.n }, patient.Long, 5*time.Millisecond)
				run.Kill()
			}
			s, err := run.Wait()
			require.NoError(t, err)
			require.Equal(t, killed, s.Signal() == syscall.SIGKILL, s)
			require.Eventually(t, func() bool { return len(running(word)) == 0 }, patient.Long, 5*time.Millisecond, name)
		}
	}
}

// TestStart: output, status, costs, folder, environment, files, and what cannot be started.
func TestStart(t *testing.T) {
	dir := t.TempDir()
	r, w, err := os.Pipe()
	require.NoError(t, err)
	var out, errs bytes.Buffer
	p, err := Start(&Cmd{Path: "sh", Name: "me", Args: []string{"-c", `pwd; echo "$0 $A"; cat; echo no >&2; echo three >&3; exit 7`, "you"},
		Env: []string{"A=b", "PATH=" + os.Getenv("PATH")}, Dir: dir, Stdout: &out, Stderr: &errs, Files: []*os.File{w}})
	require.NoError(t, err)
	w.Close()
	s, err := p.Wait()
	require.NoError(t, err)
	require.Equal(t, dir+"\nyou b\n", out.String())
	require.Equal(t, "no\n", errs.String())
	three := make([]byte, 9)
	n, err := r.Read(three)
	require.NoError(t, err)
	require.Equal(t, "three\n", string(three[:n]))
	require.False(t, s.Success())
	require.Equal(t, 7, s.ExitCode())
	require.Equal(t, "exit status 7", s.String())
	require.Positive(t, s.MaxRSS)
	p.Signal(syscall.SIGTERM) // nobody is there

	both, err := os.Create(filepath.Join(dir, "both"))
	require.NoError(t, err)
	p, err = Start(&Cmd{Path: "/bin/sh", Args: []string{"-c", "echo a; echo b >&2; kill -9 $$"}, Stdout: both, Stderr: both})
	require.NoError(t, err)
	s, err = p.Wait()
	require.NoError(t, err)
	require.Equal(t, "signal: killed", s.String())
	require.Equal(t, -1, s.ExitCode())
	text, _ := os.ReadFile(both.Name())
	require.Equal(t, "a\nb\n", string(text))

	_, err = Start(&Cmd{Path: "no-such-program"})
	require.ErrorIs(t, err, exec.ErrNotFound)
	for _, c := range []Cmd{{Path: filepath.Join(dir, "none")}, {Path: "/bin/sh", Dir: filepath.Join(dir, "none")}} {
		_, err = Start(&c)
		require.ErrorIs(t, err, os.ErrNotExist, c.Path)
	}
	_, err = Start(&Cmd{Path: both.Name()})
	require.ErrorIs(t, err, os.ErrPermission)
}

// TestKeeperKilled: without a keeper what it started ends, and the next program has another one.
func TestKeeperKilled(t *testing.T) {
	p, err := Start(&Cmd{Path: "/bin/sleep", Args: []string{"86400"}})
	require.NoError(t, err)
	pid, ok := parentOf(p.Pid)
	require.True(t, ok)
	require.NoError(t, syscall.Kill(pid, syscall.SIGKILL))
	_, err = p.Wait()
	require.ErrorContains(t, err, "died")
	require.Eventually(t, func() bool { _, ok := parentOf(p.Pid); return !ok }, patient.Long, time.Millisecond)
	p, err = Start(&Cmd{Path: "/bin/true"})
	require.NoError(t, err)
	s, err := p.Wait()
	require.NoError(t, err)
	require.True(t, s.Success())
}

func BenchmarkStart(b *testing.B) {
	b.Run("keeper", func(b *testing.B) {
		for b.Loop() {
			p, err := Start(&Cmd{Path: "/bin/true", Stdout: &bytes.Buffer{}})
			require.NoError(b, err)
			_, _ = p.Wait()
		}
	})
	b.Run("os-exec", func(b *testing.B) {
		for b.Loop() {
			cmd := exec.Command("/bin/true")
			cmd.Stdout = &bytes.Buffer{}
			require.NoError(b, cmd.Run())
		}
	})
}

func says(file, text string) bool {
	data, _ := os.ReadFile(file)
	return string(data) == text
}
