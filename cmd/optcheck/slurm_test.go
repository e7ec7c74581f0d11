package main

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"optcheck/internal/patient"
	"optcheck/internal/required"
	"optcheck/internal/slurmtest"
	"optcheck/runner/opencl"
	"optcheck/toolchain"
	"optcheck/toolchain/tested"
)

// slurmCase is what the tests on Slurm share.
type slurmCase struct {
	t       *testing.T
	cluster *slurmtest.Cluster
	dir     string
	exe     string
}

// run runs the program and returns its output.
func (s *slurmCase) run(args ...string) (stdout, stderr string, code int) {
	s.t.Helper()
	cmd := exec.Command(s.exe, args...)
	var out, errs bytes.Buffer
	cmd.Dir, cmd.Stdout, cmd.Stderr = s.dir, &out, &errs
	err := cmd.Run()
	if cmd.ProcessState == nil {
		s.t.Fatal(err)
	}
	return out.String(), errs.String(), cmd.ProcessState.ExitCode()
}

func (s *slurmCase) ok(args ...string) string {
	s.t.Helper()
	out, errs, code := s.run(args...)
	require.Zero(s.t, code, errs)
	return out
}

func (s *slurmCase) write(name, text string) {
	s.t.Helper()
	require.NoError(s.t, os.WriteFile(filepath.Join(s.dir, name), []byte(text), 0o644))
}

// status asks for the state of a campaign.
func (s *slurmCase) status(folder string) (st status) {
	s.t.Helper()
	require.NoError(s.t, json.Unmarshal([]byte(s.ok("campaign", "status", folder, "--json")), &st))
	return st
}

// TestSlurm audits with real compilers on a real Slurm of two nodes.
func TestSlurm(t *testing.T) {
	tcs, _ := tested.CUDA(context.Background(), toolchain.Options{})
	if len(tcs) == 0 {
		required.Missing(t, "no toolchain found")
	}
	t.Setenv("XDG_CONFIG_HOME", t.TempDir()) // where campaigns are trusted
	s := &slurmCase{t: t, cluster: slurmtest.Start(t), dir: t.TempDir()}
	exe, err := os.Executable()
	require.NoError(t, err)
	s.exe = filepath.Join(s.dir, "optcheck") // under this name the test is the program
	data, err := os.ReadFile(exe)
	require.NoError(t, err)
	require.NoError(t, os.WriteFile(s.exe, data, 0o755))
	t.Run("a node is lost", func(t *testing.T) { s.t = t; s.nodeLost() })
	t.Run("detached and cancelled", func(t *testing.T) { s.t = t; s.detached() })
	t.Run("device", func(t *testing.T) { s.t = t; s.device() })
}

const slurmMatrix = `tests: [corpus]
toolchains: ["12.4"]
targets: [sm_70, sm_80]
levels: [O0, O3]
layouts: [offsets, symbols]
engine: slurm
slurm: {time: "20", memory: 1500M}
`

// nodeLost does eight shards on two nodes, of which one loses its power while it
// works. The merged store is, cell by cell, that of one machine.
func (s *slurmCase) nodeLost() {
	s.ok("audit", "corpus", "--toolchains", "12.4", "--targets", "sm_70,sm_80", "--levels", "O0,O3", "--layouts", "offsets,symbols",
		"--store", "one.store", "-q")
	one := s.ok("store", "export", "one.store")
	s.write("campaign.yaml", "name: lost\nshards: 8\n"+slurmMatrix)
	cmd := exec.Command(s.exe, "campaign", "run", "campaign.yaml", "--poll", "300ms")
	var errs bytes.Buffer
	cmd.Dir, cmd.Stdout, cmd.Stderr = s.dir, io.Discard, &errs
	require.NoError(s.t, cmd.Start())
	done := make(chan error, 1)
	go func() { done <- cmd.Wait() }()
	shards := filepath.Join(s.dir, "lost.campaign", "shard")
	lost := 0
	require.Eventually(s.t, func() bool {
		if s.working(shards, "node1") == 0 {
			return false
		}
		// What is frozen does not end before it is killed.
		s.cluster.Freeze("node1", true)
		if lost = s.working(shards, "node1"); lost == 0 {
			s.cluster.Freeze("node1", false)
		}
		return lost > 0
	}, patient.Long, 5*time.Millisecond, "no shard on node1")
	s.cluster.KillNode("node1")
	end := time.After(2 * patient.Long)
	for over := false; !over; {
		select {
		case err := <-done:
			require.NoError(s.t, err, errs.String())
			over = true
		case <-end:
			_ = cmd.Process.Kill()
			s.t.Fatal("not at an end: ", errs.String())
		case <-time.After(time.Second):
			s.cluster.SkipRequeueDelay()
		}
	}
	require.Equal(s.t, one, s.ok("store", "export", "lost.db"))
	tries, err := filepath.Glob(filepath.Join(shards, "*", "try-2"))
	require.NoError(s.t, err)
	require.Len(s.t, tries, lost, "what node1 was working on was begun again")
	st := s.status("lost.campaign")
	require.True(s.t, st.Complete)
	require.Equal(s.t, st.Total, st.Cells)
	s.cluster.StartNode("node1")
}

// working counts the shards that a node has begun and not finished.
func (s *slurmCase) working(shards, node string) (n int) {
	tries, _ := filepath.Glob(filepath.Join(shards, "*", "try-1"))
	for _, f := range tries {
		text, err := os.ReadFile(f)
		_, done := os.Stat(filepath.Join(filepath.Dir(f), "done.json"))
		if err == nil && done != nil && strings.HasPrefix(string(text), node+" ") {
			n++
		}
	}
	return n
}

// detached leaves the following by Ctrl-C, cancels, and goes on.
func (s *slurmCase) detached() {
	args := []string{"audit", "corpus", "--toolchains", "12.4", "--targets", "sm_70,sm_80", "--levels", "O0,O3",
		"--layouts", "offsets,symbols",
		"--store", "two.store", "--engine", "slurm", "--shards", "4", "--slurm", "memory=1500M", "--slurm", "--comment=$(touch x) 'y'"}
	// Nothing is begun, so that nothing is at an end before it is left.
	nodes := func(state string) {
		out, err := s.cluster.Run("scontrol", "update", "NodeName="+strings.Join(slurmtest.Nodes, ","), "State="+state, "Reason=test")
		require.NoError(s.t, err, out)
	}
	nodes("DRAIN")
	cmd := exec.Command(s.exe, args...)
	var errs bytes.Buffer
	cmd.Dir, cmd.Stdout, cmd.Stderr = s.dir, io.Discard, &errs
	require.NoError(s.t, cmd.Start())
	state := filepath.Join(s.dir, "two.campaign", "state.json")
	require.Eventually(s.t, func() bool {
		text, err := os.ReadFile(state)
		return err == nil && bytes.Contains(text, []byte(`"merge"`))
	}, patient.Long, 20*time.Millisecond)
	require.NoError(s.t, cmd.Process.Signal(syscall.SIGINT))
	_ = cmd.Wait()
	require.Equal(s.t, exitInterrupted, cmd.ProcessState.ExitCode(), errs.String())
	require.Contains(s.t, errs.String(), "detached; the cluster goes on. Follow it again with: optcheck campaign attach ")
	s.ok("campaign", "cancel", "two.campaign")
	require.Eventually(s.t, func() bool {
		out, err := s.cluster.Run("squeue", "--noheader")
		return err == nil && out == ""
	}, patient.Long, 100*time.Millisecond)
	nodes("RESUME")
	require.True(s.t, s.status("two.campaign").Cancelled)
	_, stderr, code := s.run("campaign", "attach", "two.campaign", "--poll", "300ms", "--fail-on", "optimised")
	require.Equal(s.t, exitFound, code, stderr)
	require.Equal(s.t, s.ok("store", "export", "one.store"), s.ok("store", "export", "two.store"))
	require.NoFileExists(s.t, filepath.Join(s.dir, "x"))
}

// device runs tests on the node with a GPU: OpenCL on the CPU stands in for it,
// but Slurm grants the resource and sends the jobs there.
func (s *slurmCase) device() {
	if devices, _ := opencl.New().Devices(context.Background()); len(devices) == 0 {
		required.Missing(s.t, "no OpenCL device found")
	}
	s.write("device.yaml", `name: device
tests: [mp, sb-inter, coRR, lb]
toolchains: ["12.4"]
targets: [sm_80]
levels: [O3]
layouts: [offsets]
shards: 2
engine: slurm
slurm: {memory: 1500M}
gpu: {device: "opencl:0", unvalidated: true, iterations: 1000, incantations: [none, stress], slurm: {gres: "gpu:1", memory: 1500M}}
`)
	out := s.ok("campaign", "run", "device.yaml", "--poll", "300ms", "--format", "json")
	require.Equal(s.t, 4, strings.Count(out, `{"cell":`))
	require.Equal(s.t, 8, strings.Count(out, `{"histogram":`))
	for i := 1; i <= 2; i++ {
		text, err := os.ReadFile(filepath.Join(s.dir, "device.campaign", "gpu", fmt.Sprintf("%05d", i), "done.json"))
		require.NoError(s.t, err)
		require.Contains(s.t, string(text), `"host": "node2"`)
	}
}
