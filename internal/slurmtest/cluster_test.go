package slurmtest

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"optcheck/internal/required"
)

// TestCluster checks what the tests of the engine rely on: arrays run on both
// nodes, a node that is killed is noticed, its job is requeued, a GPU is
// granted, and nothing is left after.
func TestCluster(t *testing.T) {
	var c *Cluster
	work := t.TempDir()
	t.Run("running", func(t *testing.T) {
		c = Start(t)
		out, err := c.Run("sbatch", "--parsable", "--requeue", "--open-mode=append", "--array=1-4", "-o", filepath.Join(work, "%a"), "--wrap",
			"echo $SLURMD_NODENAME $SLURM_RESTART_COUNT; test -n \"$SLURM_RESTART_COUNT\" || sleep 36000")
		require.NoError(t, err, out)
		gpu, err := c.Run("sbatch", "--parsable", "--gres=gpu:1", "-o", filepath.Join(work, "gpu"), "--wrap",
			"echo on $SLURMD_NODENAME with $CUDA_VISIBLE_DEVICES")
		require.NoError(t, err, gpu)
		c.Wait("jobs", func() bool {
			on := map[string]int{}
			for _, f := range []string{"1", "2", "3", "4"} {
				text, _ := os.ReadFile(filepath.Join(work, f))
				on[string(text)]++
			}
			return on["node1\n"] == 2 && on["node2\n"] == 2
		})
		c.KillNode("node1")
		c.Wait("death of the node", func() bool { return strings.Contains(c.Sinfo(), "node1 down") })
		for _, p := range processes() {
			require.False(t, c.ours(p) && c.isOn(p, "node1"), "%s runs on", p.command)
		}
		_, err = c.Run("scancel", "--state=RUNNING", strings.TrimSpace(out))
		require.NoError(t, err)
		c.Wait("requeued jobs", func() bool {
			c.SkipRequeueDelay()
			s, _ := c.Run("squeue", "-h", "-r")
			return s == ""
		})
		restarted, texts := 0, ""
		for _, f := range []string{"1", "2", "3", "4"} {
			text, err := os.ReadFile(filepath.Join(work, f))
			require.NoError(t, err)
			texts += string(text)
			if strings.Contains(string(text), "node2 1\n") {
				restarted++
			}
		}
		require.Equal(t, 2, restarted, texts)
		text, err := os.ReadFile(filepath.Join(work, "gpu"))
		require.NoError(t, err)
		require.Equal(t, "on node2 with 0\n", string(text))
		c.StartNode("node1")
		c.Wait("return of the node", func() bool { return strings.Contains(c.Sinfo(), "node1 idle") })
	})
	if c == nil {
		required.Missing(t, "no Slurm")
	}
	for _, p := range processes() {
		require.False(t, c.ours(p), "%s is left", p.command)
	}
	_, err := os.Stat(c.Dir)
	require.ErrorIs(t, err, os.ErrNotExist)
}
