// Package slurmtest starts a real Slurm on the loopback interface for tests: munge, one
// controller and two node daemons on this machine, with all their state in a folder that is
// removed when the test ends.
//
// It is for tests only and fakes nothing: a node that is killed here is dead for the controller
// just as a machine in a cluster would be.
//
//input:allow tests read logs of their own cluster and /proc
package slurmtest

import (
	"bytes"
	"context"
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"optcheck/internal/patient"
	"optcheck/internal/required"
)

// Nodes are the names of the node daemons. The second one has a GPU as far as Slurm knows (the
// device file is /dev/null).
var Nodes = []string{"node1", "node2"}

// CPUs and MemoryMB are what each node pretends to have.
const (
	CPUs     = 2
	MemoryMB = 8000
)

// tools are the programs that must be installed. Debian's packages are slurm-wlm and munge.
var tools = []string{"munged", "slurmctld", "slurmd", "sbatch", "squeue", "scancel", "scontrol", "sinfo"}

// Cluster is a running Slurm.
type Cluster struct {
	Dir  string // configuration, state and logs
	Conf string // slurm.conf
	t    testing.TB
	host string
	proc map[string]*daemon // those that should be running, by name
}

// daemon is a process of the cluster.
type daemon struct {
	cmd   *exec.Cmd
	ended chan struct{} // closed when it has ended
}

// Missing names the programs that are not installed.
func Missing() []string {
	var out []string
	for _, p := range tools {
		if required.Quick() || tool(p) == "" {
			out = append(out, p)
		}
	}
	return out
}

// tool finds a program on the path or in the folders of daemons.
func tool(name string) string {
	if p, err := exec.LookPath(name); err == nil {
		return p
	}
	for _, dir := range []string{"/usr/sbin", "/usr/local/sbin", "/sbin"} {
		if p, err := exec.LookPath(filepath.Join(dir, name)); err == nil {
			return p
		}
	}
	return ""
}

// Start starts a cluster and waits until both nodes are idle. If Slurm is not installed the
// test is skipped, or fails with OPTCHECK_REQUIRE_TOOLS=1. It sets SLURM_CONF for the test, so
// that sbatch and its relatives find the cluster; the test cannot run in parallel with others.
func Start(t testing.TB) *Cluster {
	t.Helper()
	if m := Missing(); len(m) > 0 {
		required.Missing(t, "no Slurm: %s not found", strings.Join(m, ", "))
	}
	// Another process may take a port between its choice and its use.
	for try := 1; ; try++ {
		c, err := begin(t)
		if err == nil {
			t.Cleanup(func() {
				if t.Failed() {
					t.Log(c.Logs())
				}
				c.end()
			})
			return c
		}
		text := c.Logs()
		c.end()
		if try == 3 {
			t.Fatalf("Slurm does not start: %v\n%s", err, text)
		}
		t.Logf("Slurm does not start: %v", err)
	}
}

// begin starts a cluster in a new folder. After an error, the caller must end what was started.
func begin(t testing.TB) (*Cluster, error) {
	// The path of the test's folder is too long for a socket.
	dir, err := os.MkdirTemp("", "slurm")
	if err != nil {
		t.Fatal(err)
	}
	c := &Cluster{Dir: dir, Conf: filepath.Join(dir, "slurm.conf"), t: t, proc: map[string]*daemon{}}
	if err := c.configure(); err != nil {
		return c, err
	}
	t.Setenv("SLURM_CONF", c.Conf)
	c.start("munged", "munged", "--foreground", "--force", "--socket="+c.path("munge.socket"), "--key-file="+c.path("munge.key"),
		"--log-file="+c.path("munged.log"), "--pid-file="+c.path("munged.pid"), "--seed-file="+c.path("munged.seed"))
	err = c.await("munge", func() bool {
		conn, err := net.Dial("unix", c.path("munge.socket"))
		if err == nil {
			conn.Close()
		}
		return err == nil
	})
	if err != nil {
		return c, err
	}
	c.start("slurmctld", "slurmctld", "-D", "-i", "-f", c.Conf)
	for _, n := range Nodes {
		c.StartNode(n)
	}
	return c, c.await("nodes", func() bool { return c.Sinfo() == "node1 idle\nnode2 idle\n" })
}

func (c *Cluster) path(name string) string { return filepath.Join(c.Dir, name) }

// start starts a daemon in the foreground, with its output in a file.
func (c *Cluster) start(name, program string, args ...string) {
	c.t.Helper()
	out, err := os.OpenFile(c.path(name+".out"), os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o644)
	if err != nil {
		c.t.Fatal(err)
	}
	defer out.Close()
	d := &daemon{exec.Command(tool(program), args...), make(chan struct{})}
	d.cmd.Stdout, d.cmd.Stderr = out, out
	d.cmd.Dir = c.Dir
	d.cmd.SysProcAttr = daemonAttr()
	if err := d.cmd.Start(); err != nil {
		c.t.Fatal(err)
	}
	go func() { _ = d.cmd.Wait(); close(d.ended) }()
	c.proc[name] = d
}

// StartNode starts a node daemon, possibly one that was killed.
func (c *Cluster) StartNode(node string) {
	c.t.Helper()
	c.start(node, "slurmd", "-D", "-N", node, "-f", c.Conf)
}

// KillDaemon kills a node's daemon with SIGKILL, and tells Slurm what it would find out itself within a minute. What the daemon
// has started continues, as after a crash of it alone.
func (c *Cluster) KillDaemon(node string) {
	c.t.Helper()
	d := c.proc[node]
	if d == nil {
		c.t.Fatalf("no daemon of %s", node)
	}
	_ = d.cmd.Process.Kill()
	<-d.ended
	delete(c.proc, node)
	if out, err := c.Run("scontrol", "update", "NodeName="+node, "State=DOWN", "Reason=killed"); err != nil {
		c.t.Fatal(err, out)
	}
}

// KillNode kills a node's daemon and everything that it runs, as when the machine loses its power.
func (c *Cluster) KillNode(node string) {
	c.t.Helper()
	c.KillDaemon(node)
	c.killAll(func(p process) bool { return c.isOn(p, node) })
}

// Freeze stops the processes of a node's jobs, or lets them continue.
func (c *Cluster) Freeze(node string, stop bool) {
	s := syscall.SIGCONT
	if stop {
		s = syscall.SIGSTOP
	}
	for _, p := range processes() {
		if c.ours(p) && c.isOn(p, node) && !strings.HasPrefix(p.command, "slurmstepd") {
			_ = syscall.Kill(p.pid, s)
		}
	}
}

// Run runs one of Slurm's commands and returns its output.
func (c *Cluster) Run(name string, args ...string) (string, error) {
	ctx, cancel := context.WithTimeout(context.Background(), patient.Long)
	defer cancel()
	cmd := exec.CommandContext(ctx, tool(name), args...)
	var out bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &out
	err := cmd.Run()
	return out.String(), err
}

// Sinfo returns a line for each node with its state.
func (c *Cluster) Sinfo() string {
	out, err := c.Run("sinfo", "-h", "-N", "-o", "%N %t")
	if err != nil {
		return ""
	}
	return out
}

// SkipRequeueDelay lets jobs that were requeued from a dead node start at once
// instead of two minutes later, which is what Slurm makes them wait.
func (c *Cluster) SkipRequeueDelay() {
	out, err := c.Run("squeue", "-h", "-r", "-t", "PENDING", "-o", "%i %r")
	if err != nil {
		return
	}
	for _, line := range strings.Split(out, "\n") {
		if id, ok := strings.CutSuffix(line, " BeginTime"); ok {
			_, _ = c.Run("scontrol", "update", "JobId="+id, "StartTime=now")
		}
	}
}

// Wait waits until a condition holds, and fails the test if it never does.
func (c *Cluster) Wait(what string, is func() bool) {
	c.t.Helper()
	if err := c.await(what, is); err != nil {
		c.t.Fatal("Slurm: ", err)
	}
}

// await waits until a condition holds, as long as all daemons live.
func (c *Cluster) await(what string, is func() bool) error {
	for end := time.Now().Add(patient.Long); !is(); time.Sleep(100 * time.Millisecond) {
		for name, d := range c.proc {
			select {
			case <-d.ended:
				return fmt.Errorf("waiting for %s: %s has ended: %v", what, name, d.cmd.ProcessState)
			default:
			}
		}
		if time.Now().After(end) {
			return fmt.Errorf("no %s after %v", what, patient.Long)
		}
	}
	return nil
}

// Logs returns the ends of all logs.
func (c *Cluster) Logs() string {
	var b strings.Builder
	files, _ := filepath.Glob(c.path("*.log"))
	outs, _ := filepath.Glob(c.path("*.out"))
	for _, f := range append(files, outs...) {
		data, _ := os.ReadFile(f)
		fmt.Fprintf(&b, "== %s\n%s\n", filepath.Base(f), data[max(0, len(data)-4000):])
	}
	return b.String()
}
