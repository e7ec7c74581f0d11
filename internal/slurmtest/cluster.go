// Package slurmtest starts a real Slurm on the loopback for tests: munge, one
// controller and two node daemons of this machine, with all their state in a
// folder that goes when the test ends.
//
// It is for tests only and fakes nothing: a node that is killed here is dead
// for the controller as a machine in a cluster would be.
package slurmtest

import (
	"bytes"
	"context"
	"crypto/rand"
	"fmt"
	"net"
	"os"
	"os/exec"
	"os/user"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// Nodes are the names of the node daemons. The second one has a GPU as far as
// Slurm is concerned (the device file is /dev/null).
var Nodes = []string{"node1", "node2"}

// CPUs and MemoryMB are what each node pretends to have.
const (
	CPUs     = 2
	MemoryMB = 8000
)

// tools are the programs that must be there. Debian's packages are slurm-wlm
// and munge.
var tools = []string{"munged", "slurmctld", "slurmd", "sbatch", "squeue", "scancel", "scontrol", "sinfo"}

// Cluster is a running Slurm.
type Cluster struct {
	Dir  string // configuration, state and logs
	Conf string // slurm.conf
	t    testing.TB
	host string
	proc map[string]*exec.Cmd
}

// Missing names the programs that are not installed.
func Missing() []string {
	var out []string
	for _, p := range tools {
		if tool(p) == "" {
			out = append(out, p)
		}
	}
	return out
}

// tool finds a program on the path or where daemons live.
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

// Start starts a cluster and waits until both nodes are idle. Where Slurm is
// not installed the test is skipped, or fails with OPTCHECK_REQUIRE_TOOLS=1.
// SLURM_CONF is set for the test, so that sbatch and its relatives find the
// cluster; the test cannot run in parallel to others.
func Start(t testing.TB) *Cluster {
	t.Helper()
	if m := Missing(); len(m) > 0 {
		if os.Getenv("OPTCHECK_REQUIRE_TOOLS") == "1" {
			t.Fatalf("no Slurm (slurm-wlm and munge): %s not found", strings.Join(m, ", "))
		}
		t.Skipf("no Slurm: %s not found", strings.Join(m, ", "))
	}
	// The folder of the test is too long a path for a socket.
	dir, err := os.MkdirTemp("", "slurm")
	if err != nil {
		t.Fatal(err)
	}
	c := &Cluster{Dir: dir, Conf: filepath.Join(dir, "slurm.conf"), t: t, proc: map[string]*exec.Cmd{}}
	t.Cleanup(func() {
		if t.Failed() {
			t.Log(c.Logs())
		}
		c.stop()
		os.RemoveAll(dir)
	})
	if err := c.configure(); err != nil {
		t.Fatal(err)
	}
	t.Setenv("SLURM_CONF", c.Conf)
	c.start("munged", "--foreground", "--force", "--socket="+c.path("munge.socket"), "--key-file="+c.path("munge.key"),
		"--log-file="+c.path("munged.log"), "--pid-file="+c.path("munged.pid"), "--seed-file="+c.path("munged.seed"))
	c.wait("munge", 10*time.Second, func() bool {
		conn, err := net.Dial("unix", c.path("munge.socket"))
		if err == nil {
			conn.Close()
		}
		return err == nil
	})
	c.start("slurmctld", "-D", "-i", "-f", c.Conf)
	for _, n := range Nodes {
		c.StartNode(n)
	}
	c.wait("nodes", 60*time.Second, func() bool { return c.Sinfo() == "node1 idle\nnode2 idle\n" })
	return c
}

func (c *Cluster) path(name string) string { return filepath.Join(c.Dir, name) }

// configure writes the configuration.
func (c *Cluster) configure() error {
	host, err := os.Hostname()
	if err != nil {
		return err
	}
	c.host, _, _ = strings.Cut(host, ".")
	key := make([]byte, 1024)
	if _, err := rand.Read(key); err != nil {
		return err
	}
	if err := os.WriteFile(c.path("munge.key"), key, 0o600); err != nil {
		return err
	}
	if err := os.Chmod(c.Dir, 0o755); err != nil { // munge refuses a socket that others cannot reach
		return err
	}
	for _, d := range []string{"state", "spool.node1", "spool.node2"} {
		if err := os.Mkdir(c.path(d), 0o700); err != nil {
			return err
		}
	}
	ports, err := freePorts(3)
	if err != nil {
		return err
	}
	me, err := user.Current()
	if err != nil {
		return err
	}
	conf := fmt.Sprintf(slurmConf, c.host, ports[0], c.Dir, me.Username, CPUs, MemoryMB, ports[1], ports[2])
	if err := os.WriteFile(c.Conf, []byte(conf), 0o644); err != nil {
		return err
	}
	return os.WriteFile(c.path("gres.conf"), []byte("NodeName=node2 Name=gpu File=/dev/null\n"), 0o644)
}

// slurmConf is the configuration: no cgroups, no accounting, short timeouts.
const slurmConf = `ClusterName=loopback
SlurmctldHost=%[1]s(127.0.0.1)
SlurmctldPort=%[2]d
AuthType=auth/munge
AuthInfo=socket=%[3]s/munge.socket
SlurmUser=%[4]s
SlurmdUser=%[4]s
StateSaveLocation=%[3]s/state
SlurmdSpoolDir=%[3]s/spool.%%n
SlurmctldPidFile=%[3]s/slurmctld.pid
SlurmdPidFile=%[3]s/slurmd.%%n.pid
SlurmctldLogFile=%[3]s/slurmctld.log
SlurmdLogFile=%[3]s/slurmd.%%n.log
MailProg=/bin/true
MpiDefault=none
ProctrackType=proctrack/linuxproc
TaskPlugin=task/none
SwitchType=switch/none
JobAcctGatherType=jobacct_gather/none
AccountingStorageType=accounting_storage/none
SelectType=select/cons_tres
SelectTypeParameters=CR_Core_Memory
DefMemPerCPU=1000
SchedulerType=sched/backfill
SchedulerParameters=sched_interval=2,bf_interval=2,batch_sched_delay=0
ReturnToService=2
SlurmdTimeout=6
KillWait=2
InactiveLimit=0
SlurmdParameters=config_overrides
GresTypes=gpu
NodeName=node1 NodeHostname=%[1]s NodeAddr=127.0.0.1 Port=%[7]d CPUs=%[5]d RealMemory=%[6]d State=UNKNOWN
NodeName=node2 NodeHostname=%[1]s NodeAddr=127.0.0.1 Port=%[8]d CPUs=%[5]d RealMemory=%[6]d Gres=gpu:1 State=UNKNOWN
PartitionName=main Nodes=ALL Default=YES MaxTime=INFINITE State=UP
`

// freePorts finds ports that nobody listens on.
func freePorts(n int) ([]int, error) {
	var out []int
	for range n {
		l, err := net.Listen("tcp", "127.0.0.1:0")
		if err != nil {
			return nil, err
		}
		defer l.Close()
		out = append(out, l.Addr().(*net.TCPAddr).Port)
	}
	return out, nil
}

// start starts a daemon in the foreground, with its output in a file.
func (c *Cluster) start(name string, args ...string) *exec.Cmd {
	c.t.Helper()
	out, err := os.OpenFile(c.path(name+".out"), os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o644)
	if err != nil {
		c.t.Fatal(err)
	}
	defer out.Close()
	cmd := exec.Command(tool(name), args...)
	cmd.Stdout, cmd.Stderr = out, out
	cmd.Dir = c.Dir
	cmd.SysProcAttr = daemonAttr()
	if err := cmd.Start(); err != nil {
		c.t.Fatal(err)
	}
	c.proc[name] = cmd
	return cmd
}

// StartNode starts a node daemon, also one that was killed.
func (c *Cluster) StartNode(node string) {
	c.t.Helper()
	cmd := c.start("slurmd", "-D", "-N", node, "-f", c.Conf)
	delete(c.proc, "slurmd")
	c.proc[node] = cmd
}

// KillDaemon kills a node's daemon with SIGKILL. What it has started runs on,
// as after a crash of the daemon alone.
func (c *Cluster) KillDaemon(node string) {
	c.t.Helper()
	cmd := c.proc[node]
	if cmd == nil {
		c.t.Fatalf("no daemon of %s", node)
	}
	_ = cmd.Process.Kill()
	_ = cmd.Wait()
	delete(c.proc, node)
}

// KillNode kills a node's daemon and everything that it runs, as when the
// machine loses its power.
func (c *Cluster) KillNode(node string) {
	c.t.Helper()
	c.KillDaemon(node)
	c.killAll(func(p process) bool { return p.env["SLURMD_NODENAME"] == node || c.isStepOf(p, node) })
}

// Run runs one of Slurm's commands and returns its output.
func (c *Cluster) Run(name string, args ...string) (string, error) {
	ctx, cancel := context.WithTimeout(context.Background(), 20*time.Second)
	defer cancel()
	cmd := exec.CommandContext(ctx, tool(name), args...)
	var out bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &out
	err := cmd.Run()
	return out.String(), err
}

// Sinfo is a line for each node with its state.
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

// wait waits until something is the case.
func (c *Cluster) wait(what string, limit time.Duration, is func() bool) {
	c.t.Helper()
	for end := time.Now().Add(limit); !is(); time.Sleep(100 * time.Millisecond) {
		if time.Now().After(end) {
			c.t.Fatalf("Slurm: %s not ready after %v", what, limit)
		}
	}
}

// Logs are the ends of all logs.
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
