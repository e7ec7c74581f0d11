package campaign

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"

	"optcheck/internal/keeper"
	"optcheck/internal/whole"
)

// Slurm's commands are used only for what needs no accounting. Options are passed to sbatch as
// arguments, never through a shell or the text of a script, and the script itself contains no
// name: it runs in the campaign's folder.

// SlurmEngine submits tasks to Slurm as job arrays.
type SlurmEngine struct {
	c   *Campaign
	env []string
}

// NewSlurm returns an engine that uses the cluster of this machine's sbatch, squeue and
// scancel.
func NewSlurm(c *Campaign) (*SlurmEngine, error) {
	for _, p := range []string{"sbatch", "squeue", "scancel"} {
		if _, err := exec.LookPath(p); err != nil {
			return nil, fmt.Errorf("the engine slurm needs %s: %w", p, err)
		}
	}
	if strings.ContainsAny(c.Dir, "\\\n\r") {
		return nil, fmt.Errorf("the name of the folder %q has a character that Slurm would interpret", c.Dir)
	}
	return &SlurmEngine{c: c, env: outerEnv(os.Environ())}, nil
}

// outerEnv returns an environment without Slurm's variables about the current job, which a job
// submitted from within it would take for options.
func outerEnv(env []string) []string {
	return slices.DeleteFunc(slices.Clone(env), func(kv string) bool {
		return strings.HasPrefix(kv, "SLURM_") && !strings.HasPrefix(kv, "SLURM_CONF=") && !strings.HasPrefix(kv, "SLURM_CLUSTERS=")
	})
}

// scriptFor returns the job script of a stage. The arguments of sbatch say where it runs.
func scriptFor(s Stage) string {
	return fmt.Sprintf(
		"#!/bin/sh\n# Written by optcheck: one task of this campaign.\nexec ./%s campaign task . %s \"$SLURM_ARRAY_TASK_ID\" --begun\n",
		programFile,
		s,
	)
}

// commandLimit bounds the duration of one of Slurm's commands.
const commandLimit = 2 * time.Minute

// command runs one of Slurm's commands and returns its standard output.
func (s *SlurmEngine) command(ctx context.Context, args []string) (string, error) {
	ctx, cancel := context.WithTimeout(ctx, commandLimit)
	defer cancel()
	var out, errs bytes.Buffer
	if err := keeper.Run(ctx, &keeper.Cmd{Path: args[0], Args: args[1:], Env: s.env, Dir: s.c.Dir, Stdout: &out, Stderr: &errs}); err != nil {
		return "", fmt.Errorf("%s: %w: %s", args[0], err, strings.TrimSpace(errs.String()))
	}
	return out.String(), nil
}

// Submit implements Engine.
func (s *SlurmEngine) Submit(ctx context.Context, j Job) (string, error) {
	name := "job-" + string(j.Stage) + ".sh"
	if err := whole.Write(s.c.path(name), []byte(scriptFor(j.Stage)), 0o755); err != nil {
		return "", err
	}
	out, err := s.command(ctx, s.sbatch(j, name))
	if err != nil {
		return "", err
	}
	id, _, _ := strings.Cut(strings.TrimSpace(out), ";") // "12" or "12;cluster"
	if _, err := strconv.ParseUint(id, 10, 64); err != nil {
		return "", fmt.Errorf("sbatch printed no job number: %.100q", out)
	}
	return id, nil
}

// sbatch returns the command line that submits a job.
func (s *SlurmEngine) sbatch(j Job, script string) []string {
	spec := s.c.Plan.Spec
	o := Slurm{}
	if spec.Slurm != nil {
		o = *spec.Slurm
	}
	if j.Stage == Device {
		o = Slurm{Gres: "gpu:1", Account: o.Account, QOS: o.QOS}
		if g := spec.GPU.Slurm; g != nil {
			gres := o.Gres
			if o = *g; o.Gres == "" {
				o.Gres = gres
			}
		}
	}
	array := ranges(j.Tasks)
	if spec.Parallel > 0 && j.Stage != Merge {
		array += "%" + strconv.Itoa(spec.Parallel)
	}
	// If a node fails, the task is requeued and its log continued.
	args := []string{"sbatch", "--parsable", "--requeue", "--open-mode=append", "--chdir=" + s.c.Dir, "--job-name=" +
		s.jobName(j.Stage), "--array=" + array,
		"--output=" + strings.ReplaceAll(s.c.path("logs"), "%", "%%") + "/" + string(j.Stage) + "-%a.%A.log"}
	for _, opt := range []struct{ name, value string }{{"partition", o.Partition}, {"account", o.Account}, {"qos", o.QOS},
		{"time", o.Time}, {"mem", o.Memory},
		{"gres", o.Gres}} {
		if opt.value != "" {
			args = append(args, "--"+opt.name+"="+opt.value)
		}
	}
	if o.CPUs > 0 {
		args = append(args, "--cpus-per-task="+strconv.Itoa(o.CPUs))
	}
	var after []string
	if len(j.After) > 0 {
		after = append(after, "afterany:"+strings.Join(j.After, ":"))
	}
	if len(j.Same) > 0 {
		after = append(after, "aftercorr:"+strings.Join(j.Same, ":"))
	}
	if len(after) > 0 {
		args = append(args, "--dependency="+strings.Join(after, ","), "--kill-on-invalid-dep=yes")
	}
	return append(append(args, o.Args...), script)
}

// jobName returns the name of a stage's jobs in the queue.
func (s *SlurmEngine) jobName(st Stage) string {
	return fmt.Sprintf("optcheck-%s-%s", s.c.Plan.ID, st)
}

// ranges formats numbers as Slurm does: 1-4,7.
func ranges(n []int) string {
	var parts []string
	for i := 0; i < len(n); {
		k := i
		for k+1 < len(n) && n[k+1] == n[k]+1 {
			k++
		}
		if k == i {
			parts = append(parts, strconv.Itoa(n[i]))
		} else {
			parts = append(parts, fmt.Sprintf("%d-%d", n[i], n[k]))
		}
		i = k + 1
	}
	return strings.Join(parts, ",")
}

// phases maps the states of squeue. Others, such as CONFIGURING or REQUEUED, are transitional
// and count as waiting.
var phases = map[string]Phase{"RUNNING": Running, "SUSPENDED": Running, "STOPPED": Running, "COMPLETING": Running,
	"STAGE_OUT": Running, "SIGNALING": Running,
	"COMPLETED": Ended, "FAILED": Failed, "TIMEOUT": Failed, "OUT_OF_MEMORY": Failed, "NODE_FAIL": Failed,
	"BOOT_FAIL": Failed, "CANCELLED": Failed,
	"DEADLINE": Failed, "PREEMPTED": Failed, "REVOKED": Failed}

// never lists the reasons for which a pending job will never start.
var never = []string{"DependencyNeverSatisfied", "launch failed requeued held", "JobHoldMaxRequeue"}

var queueLine = regexp.MustCompile(`^(\d+)\|(\d+)\|([A-Z_]+)\|([^|]*)\|(.*)$`)

// Status implements Engine.
func (s *SlurmEngine) Status(ctx context.Context, jobs []Submission) (map[Task]State, error) {
	at := map[string]int{} // job → its place among jobs
	var names []string
	for k, j := range jobs {
		at[j.ID] = k
		if n := s.jobName(j.Stage); !slices.Contains(names, n) {
			names = append(names, n)
		}
	}
	if len(jobs) == 0 {
		return nil, nil
	}
	// By name and not by number: a number that Slurm has forgotten is an error.
	text, err := s.command(ctx, []string{"squeue", "--noheader", "--array", "--states=all", "--name=" + strings.Join(names, ","),
		"--format=%F|%K|%T|%N|%r"})
	if err != nil {
		return nil, err
	}
	states := make([]map[Task]State, len(jobs))
	for _, line := range strings.Split(text, "\n") {
		m := queueLine.FindStringSubmatch(strings.TrimSpace(line))
		if m == nil {
			continue
		}
		k, ours := at[m[1]]
		i, err := strconv.Atoi(m[2])
		if !ours || err != nil {
			continue
		}
		if states[k] == nil {
			states[k] = map[Task]State{}
		}
		states[k][Task{jobs[k].Stage, i}] = queueState(m[3], m[4], m[5])
	}
	return latest(states), nil
}

// queueState reads a line of the queue.
func queueState(word, host, reason string) State {
	p, known := phases[word]
	if !known {
		p = Waiting
	}
	if p == Waiting && slices.Contains(never, reason) {
		p = Failed
	}
	st := State{Phase: p, Host: host, Reason: strings.ToLower(word)}
	if reason != "" && reason != "None" {
		st.Reason += " (" + reason + ")"
	}
	return st
}

// Cancel implements Engine.
func (s *SlurmEngine) Cancel(ctx context.Context, jobs []Submission) error {
	// The numbers are from a file: what is not in the queue under a name of this campaign is none of its jobs.
	states, err := s.Status(ctx, jobs)
	if err != nil {
		return err
	}
	var errs []error
	for _, j := range jobs {
		if !slices.ContainsFunc(j.Tasks, func(i int) bool { return states[Task{j.Stage, i}].Phase >= Waiting }) {
			continue
		}
		_, err := s.command(ctx, []string{"scancel", "--quiet", j.ID})
		if err != nil && !strings.Contains(err.Error(), "Invalid job id") { // over and forgotten
			errs = append(errs, err)
		}
	}
	return errors.Join(errs...)
}
