package campaign

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"optcheck/internal/patient"
	"optcheck/internal/slurmtest"
)

// TestSlurm runs campaigns on a real Slurm.
func TestSlurm(t *testing.T) {
	cluster := slurmtest.Start(t)
	t.Run("failures", func(t *testing.T) {
		c := create(t,
			"name: x\nshards: 5\nengine: slurm\nslurm: {time: '10', memory: 100M, cpus: 1, partition: main, args: [--nice=1]}\n"+gpuText)
		t.Setenv("FAULT_shard_2", "1")
		t.Setenv("FAULT_gpu_3", "1")
		o := follow(t, c)
		require.True(t, o.Complete(), o)
		require.Equal(t, want(c), merged(t, c))
		require.GreaterOrEqual(t, o.Restarted, 2)
		require.NoFileExists(t, "x")
		var gpu Done
		require.NoError(t, readJSON(c.path(Task{Device, 1}.folder(), doneFile), &gpu))
		require.Equal(t, "node2", gpu.Host, "the node with the GPU")
	})
	t.Run("detached", func(t *testing.T) { detached(t, cluster) })
	t.Run("node lost", func(t *testing.T) { nodeLost(t, cluster) })
	t.Run("daemon lost", func(t *testing.T) { daemonLost(t, slurmtest.Start(t)) }) // Slurm is slow to trust a node that it has lost twice
	t.Run("cancelled", func(t *testing.T) {
		c := create(t, "name: x\nshards: 6\nengine: slurm\n"+gpuText)
		hold(t, 1) // for ever
		d, _, err := NewDriver(c)
		require.NoError(t, err)
		_, err = d.Advance(t.Context(), true)
		require.NoError(t, err)
		require.NoError(t, d.Cancel(t.Context()))
		cluster.Wait("empty queue", func() bool {
			out, err := cluster.Run("squeue", "--noheader")
			return err == nil && out == ""
		})
		o, err := d.Advance(t.Context(), true)
		require.NoError(t, err)
		require.True(t, o.Cancelled && !o.Complete())
	})
}

// detached submits, goes away, and expects the cluster to bring it to its end
// alone, with a task that fails on the way.
func detached(t *testing.T, cluster *slurmtest.Cluster) {
	c := create(t, "name: x\nshards: 3\nengine: slurm\n"+gpuText)
	t.Setenv("FAULT_shard_2", "1")
	d, _, err := NewDriver(c)
	require.NoError(t, err)
	_, err = d.Advance(t.Context(), true)
	require.NoError(t, err)
	cluster.Wait("merging", func() bool {
		file, err := c.Result(Task{Merge, 1})
		return err == nil && file != ""
	})
	require.Equal(t, want(c), merged(t, c))
	st, err := c.readState()
	require.NoError(t, err)
	require.Equal(t, map[string]int{"shard 2": 1}, st.Failures)
}

// disturbed follows a campaign to its end. None of its tasks ends before two of
// them are on node1 and kill had its way with it. It returns the tries with such
// a name.
func disturbed(t *testing.T, cluster *slurmtest.Cluster, shards int, tries string, kill func(c *Campaign, release func())) []string {
	c := create(t, fmt.Sprintf("name: x\nshards: %d\nengine: slurm\n", shards))
	release := hold(t, 1)
	d, _, err := NewDriver(c)
	require.NoError(t, err)
	ctx, cancel := context.WithTimeout(t.Context(), 2*patient.Long)
	defer cancel()
	killed := false
	o, err := d.Follow(ctx, 200*time.Millisecond, func(*Overview) {
		cluster.SkipRequeueDelay() // of the merging too, should it be hit
		if !killed && onNode(c, "node1") == 2 {
			killed = true
			kill(c, release)
		}
	}, func(err error) { t.Log(err) })
	require.NoError(t, err)
	require.True(t, killed)
	require.True(t, o.Complete())
	require.Equal(t, want(c), merged(t, c))
	names, err := filepath.Glob(c.path(string(Shards), "*", tryPrefix+tries))
	require.NoError(t, err)
	return names
}

// nodeLost kills a node while it works: its tasks are given back to the queue
// and done by the other one.
func nodeLost(t *testing.T, cluster *slurmtest.Cluster) {
	tries := disturbed(t, cluster, 8, "?", func(_ *Campaign, release func()) {
		cluster.KillNode("node1")
		release()
	})
	require.Len(t, tries, 10, "two shards were begun twice")
	cluster.StartNode("node1")
	cluster.Wait("node1", func() bool { return strings.Contains(cluster.Sinfo(), "node1 idle") })
}

// daemonLost kills a node's daemon alone: Slurm gives up its tasks, which run on
// and end well. That counts, and what was given back to the queue is taken out.
func daemonLost(t *testing.T, cluster *slurmtest.Cluster) {
	tries := disturbed(t, cluster, 4, "2", func(c *Campaign, release func()) {
		cluster.KillDaemon("node1")
		cluster.Wait("death of the node", func() bool { return strings.Contains(cluster.Sinfo(), "node1 down") })
		release()
		cluster.Wait("end of what runs on", func() bool { return onNode(c, "node1") == 0 })
	})
	require.Empty(t, tries, "nothing was begun twice")
	cluster.StartNode("node1")
	cluster.Wait("node1", func() bool {
		out, err := cluster.Run("squeue", "--noheader")
		return err == nil && out == "" && strings.Contains(cluster.Sinfo(), "node1 idle")
	})
}

// onNode counts the tasks that a node has begun and not finished.
func onNode(c *Campaign, node string) (n int) {
	for i := 1; i <= c.Tasks(Shards); i++ {
		task := Task{Shards, i}
		text, err := os.ReadFile(c.path(task.folder(), tryPrefix+"1"))
		if d, _ := c.Done(task); err == nil && d == nil && strings.HasPrefix(string(text), node+" ") {
			n++
		}
	}
	return n
}

// TestSlurmFaults replaces Slurm's commands by scripts that fail.
func TestSlurmFaults(t *testing.T) {
	bin := t.TempDir()
	t.Setenv("PATH", bin+":"+os.Getenv("PATH"))
	t.Setenv("COUNT", filepath.Join(bin, "count"))
	fake := func(name, text string) {
		require.NoError(t, os.WriteFile(filepath.Join(bin, name), []byte("#!/bin/sh\n"+text+"\n"), 0o755))
	}
	reset := func() {
		fake("sbatch", `echo x >> "$COUNT"; wc -l < "$COUNT"`)
		fake("squeue", "exit 0")
		fake("scancel", "exit 0")
		_ = os.Remove(os.Getenv("COUNT"))
	}
	begin := func(t *testing.T) *Driver {
		reset()
		d, _, err := NewDriver(create(t, "name: x\nshards: 2\nretries: 1\nengine: slurm\n"))
		require.NoError(t, err)
		d.Grace = 100 * time.Millisecond
		return d
	}
	quiet := func(*Overview) {}
	t.Run("nothing submitted", func(t *testing.T) {
		d := begin(t)
		fake("sbatch", "echo 'sbatch: error: invalid partition' >&2; exit 1")
		_, err := d.Follow(t.Context(), time.Millisecond, quiet, func(error) {})
		require.ErrorContains(t, err, "shard tasks could not be submitted: sbatch: exit status 1: sbatch: error: invalid partition")
		fake("sbatch", "echo Submitted")
		_, err = d.Follow(t.Context(), time.Millisecond, quiet, func(error) {})
		require.ErrorContains(t, err, `sbatch printed no job number: "Submitted\n"`)
	})
	t.Run("vanishing tasks", func(t *testing.T) {
		d := begin(t) // no queue ever knows anything: submitted twice, then lost
		o, err := d.Follow(t.Context(), 10*time.Millisecond, quiet, func(error) {})
		require.NoError(t, err)
		require.Equal(t, map[Task]string{{Shards, 1}: "ended without a result", {Shards, 2}: "ended without a result"}, o.Lost)
		st, err := d.Campaign.readState()
		require.NoError(t, err)
		require.Equal(t, 2, strings.Count(strings.Join(stages(st), " "), "shard"))
	})
	t.Run("silent controller", func(t *testing.T) {
		d := begin(t)
		_, err := d.Advance(t.Context(), true)
		require.NoError(t, err)
		fake("squeue", `if [ -e "$COUNT.up" ]; then exit 0; fi; echo 'slurm_load_jobs error: Unable to contact slurm controller' >&2; exit 1`)
		_, err = d.Advance(t.Context(), true)
		require.ErrorContains(t, err, "Unable to contact slurm controller")
		st, err := d.Campaign.readState()
		require.NoError(t, err)
		require.Empty(t, st.Failures, "a controller that does not answer has lost nothing")
	})
	t.Run("states", func(t *testing.T) {
		d := begin(t)
		_, err := d.Advance(t.Context(), true) // jobs 1 and 2
		require.NoError(t, err)
		fake("squeue", `printf '1|1|NODE_FAIL|node1|None\n1|2|PENDING||BeginTime\n2|1|PENDING||Dependency\n77|1|RUNNING|n|None\nnonsense\n'`)
		o, err := d.Advance(t.Context(), true)
		require.NoError(t, err)
		require.Equal(t, Count{All: 2, Waiting: 2}, *o.Stages[Shards])
		st, err := d.Campaign.readState()
		require.NoError(t, err)
		require.Equal(t, []string{"shard[1 2]", "merge[1]", "shard[1]", "merge[1]"}, stages(st))
		require.Equal(t, "node_fail", st.Reasons["shard 1"])
	})
}

func stages(st *state) (out []string) {
	for _, s := range st.Submissions {
		out = append(out, fmt.Sprint(s.Stage, s.Tasks))
	}
	return out
}

func TestRanges(t *testing.T) {
	for want, n := range map[string][]int{"1": {1}, "1-3": {1, 2, 3}, "1-2,4,7-9": {1, 2, 4, 7, 8, 9}, "": nil} {
		require.Equal(t, want, ranges(n))
	}
}

// TestSbatch checks the command line: every value is one argument, whatever is
// in it, and the script holds none.
func TestSbatch(t *testing.T) {
	c := create(t,
		"name: x\nshards: 3\nparallel: 2\nengine: slurm\nslurm: {partition: p, account: a, qos: q, time: '1:00', memory: 1G, cpus: 2, args: ['--comment=$(x) \"y\"']}\n"+
			"gpu: {target: sm_90, slurm: {partition: g, args: ['--exclusive']}}\n")
	s := &SlurmEngine{c: c}
	require.Equal(t, []string{"sbatch", "--parsable", "--requeue", "--open-mode=append", "--chdir=" + c.Dir,
		"--job-name=optcheck-" + c.Plan.ID + "-shard",
		"--array=1-3%2", "--output=" + strings.ReplaceAll(c.Dir, "%",
			"%%") + "/logs/shard-%a.%A.log", "--partition=p", "--account=a", "--qos=q", "--time=1:00", "--mem=1G", "--cpus-per-task=2",
		`--comment=$(x) "y"`, "job-shard.sh"}, s.sbatch(Job{Stage: Shards, Tasks: []int{1, 2, 3}}, "job-shard.sh"))
	require.Equal(t, []string{"sbatch", "--parsable", "--requeue", "--open-mode=append", "--chdir=" + c.Dir,
		"--job-name=optcheck-" + c.Plan.ID + "-gpu",
		"--array=2%2", "--output=" + strings.ReplaceAll(c.Dir, "%",
			"%%") + "/logs/gpu-%a.%A.log", "--partition=g", "--gres=gpu:1", "--dependency=afterany:1:2,aftercorr:7", "--kill-on-invalid-dep=yes",
		"--exclusive", "job-gpu.sh"}, s.sbatch(Job{Stage: Device, Tasks: []int{2}, After: []string{"1", "2"}, Same: []string{"7"}}, "job-gpu.sh"))
	require.Equal(t,
		"#!/bin/sh\n# Written by optcheck: one task of this campaign.\nexec ./optcheck campaign task . shard \"$SLURM_ARRAY_TASK_ID\" --begun\n",
		scriptFor(Shards))
	require.Equal(t, []string{"A=1", "SLURM_CONF=x"}, outerEnv([]string{"A=1", "SLURM_JOB_ID=3", "SLURM_CONF=x", "SLURM_MEM_PER_CPU=1"}))
}
