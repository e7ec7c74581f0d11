//input:allow tests read logs of their own cluster and /proc

package slurmtest

import (
	"bytes"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"time"

	"optcheck/internal/patient"
)

// process is one process of the machine, as far as it matters here.
type process struct {
	pid     int
	command string
	env     map[string]string
	files   []string // what its descriptors point to
}

// processes lists the processes whose environment can be read.
func processes() []process {
	dirs, _ := filepath.Glob("/proc/[0-9]*")
	var out []process
	for _, d := range dirs {
		pid, err := strconv.Atoi(filepath.Base(d))
		if err != nil || pid == os.Getpid() {
			continue
		}
		env, err := os.ReadFile(d + "/environ")
		if err != nil {
			continue
		}
		p := process{pid: pid, env: map[string]string{}}
		cmd, _ := os.ReadFile(d + "/cmdline")
		p.command = string(bytes.ReplaceAll(cmd, []byte{0}, []byte{' '}))
		for _, kv := range strings.Split(string(env), "\x00") {
			if k, v, ok := strings.Cut(kv, "="); ok {
				p.env[k] = v
			}
		}
		if strings.HasPrefix(p.command, "slurmstepd") {
			links, _ := filepath.Glob(d + "/fd/*")
			for _, l := range links {
				if to, err := os.Readlink(l); err == nil {
					p.files = append(p.files, to)
				}
			}
		}
		out = append(out, p)
	}
	return out
}

// isStep reports whether a process is the daemon of a job step that writes to a log. Its title
// overwrites its environment, so only its descriptors identify it.
func (p process) isStep(log string) bool { return slices.Contains(p.files, log) }

// isOn reports whether a process belongs to what a node runs.
func (c *Cluster) isOn(p process, node string) bool {
	return p.env["SLURMD_NODENAME"] == node || c.isStepOf(p, node)
}

// isStepOf reports whether a process is the daemon of a job step of a node.
func (c *Cluster) isStepOf(p process, node string) bool {
	return p.isStep(c.path("slurmd." + node + ".log"))
}

// ours reports whether a process belongs to a job of this cluster.
func (c *Cluster) ours(p process) bool {
	return p.env["SLURM_CONF"] == c.Conf && p.env["SLURM_JOB_ID"] != "" || slices.ContainsFunc(Nodes,
		func(n string) bool { return c.isStepOf(p, n) })
}

// killAll kills the processes of jobs that is selects, repeatedly until none is left: a job may
// be starting another process. Step daemons die first, or they would report to the controller
// how their jobs ended.
func (c *Cluster) killAll(is func(process) bool) {
	for end := time.Now().Add(patient.Long); time.Now().Before(end); {
		n := 0
		all := processes()
		for _, step := range []bool{true, false} {
			for _, p := range all {
				if c.ours(p) && is(p) && step == strings.HasPrefix(p.command, "slurmstepd") && syscall.Kill(p.pid, syscall.SIGKILL) == nil {
					n++
				}
			}
		}
		if n == 0 {
			return
		}
		time.Sleep(50 * time.Millisecond)
	}
}

// end ends everything that the cluster has started, and removes its folder.
func (c *Cluster) end() {
	for _, n := range append(append([]string{}, Nodes...), "slurmctld", "munged") {
		if d := c.proc[n]; d != nil {
			_ = d.cmd.Process.Signal(syscall.SIGTERM)
			select {
			case <-d.ended:
			case <-time.After(5 * time.Second):
				_ = d.cmd.Process.Kill()
				<-d.ended
			}
		}
	}
	c.killAll(func(process) bool { return true })
	for end := time.Now().Add(patient.Long); os.RemoveAll(c.Dir) != nil && time.Now().Before(end); {
		time.Sleep(50 * time.Millisecond) // what was killed may have been writing
	}
}
