package campaign

import (
	"context"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"optcheck/internal/patient"
	"optcheck/litmus/corpus"
)

func follow(t *testing.T, c *Campaign) *Overview {
	t.Helper()
	d, release, err := NewDriver(c)
	require.NoError(t, err)
	defer release()
	d.Grace = min(d.Grace, testGrace)
	ctx, cancel := context.WithTimeout(context.Background(), 2*patient.Long)
	defer cancel()
	o, err := d.Follow(ctx, 50*time.Millisecond, func(*Overview) {}, func(err error) { t.Log(err) })
	require.NoError(t, err)
	return o
}

const gpuText = "gpu: {target: sm_90}\n"

func TestLocal(t *testing.T) {
	c := create(t, "name: x\nshards: 5\nparallel: 3\n"+gpuText)
	t.Setenv("FAULT_shard_2", "2")
	t.Setenv("FAULT_gpu_3", "1")
	t.Setenv("FAULT_merge_1", "1")
	o := follow(t, c)
	require.True(t, o.Complete())
	require.GreaterOrEqual(t, o.Restarted, 3) // the merging may fail once before its time, which does not count
	require.Equal(t, 5, o.Cells)
	require.Equal(t, want(c), merged(t, c))
	again := follow(t, c)
	require.Equal(t, o, again)
}

// TestLost checks that a task that keeps failing is given up, that nothing is
// merged then, and that it can be tried again.
func TestLost(t *testing.T) {
	c := create(t, "name: x\nshards: 3\nretries: 1\n"+gpuText)
	t.Setenv("FAULT_shard_2", "2")
	o := follow(t, c)
	require.False(t, o.Complete())
	require.True(t, o.Stuck())
	require.Equal(t, map[Task]string{{Shards, 2}: "exit status 2"}, o.Lost)
	require.Equal(t, Count{All: 3, Done: 2, Lost: 1}, *o.Stages[Shards])
	require.Equal(t, 2, o.Stages[Device].Done)
	_, text := c.Log(Task{Shards, 2}, 1000)
	require.Contains(t, text, "fault in try 2")
	_, err := c.Result(Task{Merge, 1})
	require.Error(t, err)
	require.NoError(t, (&Driver{Campaign: c}).Resume())
	require.True(t, follow(t, c).Complete())
	require.Equal(t, want(c), merged(t, c))
}

// TestElsewhere does by hand, as another machine would, what failed here: going
// on needs no retries.
func TestElsewhere(t *testing.T) {
	c := create(t, "name: x\nshards: 2\nretries: 0\n"+gpuText)
	t.Setenv("FAULT_gpu_1", "1")
	t.Setenv("FAULT_gpu_2", "1")
	require.Len(t, follow(t, c).Lost, 2)
	for _, i := range []string{"1", "2"} {
		require.NoError(t, task(taskArgs(c.Dir, Task{Device, number(i)})))
	}
	require.NoError(t, (&Driver{Campaign: c}).Resume())
	require.True(t, follow(t, c).Complete())
	require.Equal(t, want(c), merged(t, c))
}

// TestInterrupted ends following in the middle; the next one continues.
func TestInterrupted(t *testing.T) {
	c := create(t, "name: x\nshards: 6\nparallel: 2\n"+gpuText)
	goOn := hold(t, 3)
	d, release, err := NewDriver(c)
	require.NoError(t, err)
	ctx, cancel := context.WithCancel(context.Background())
	_, err = d.Follow(ctx, 20*time.Millisecond, func(o *Overview) {
		if o.Stages[Shards].Done >= 2 {
			cancel()
		}
	}, func(error) {})
	require.ErrorIs(t, err, context.Canceled)
	release()
	goOn()
	o := follow(t, c)
	require.True(t, o.Complete())
	require.Equal(t, want(c), merged(t, c))
}

// TestCancel: the tasks here end when the campaign is cancelled, also when another
// process does it than the one that follows.
func TestCancel(t *testing.T) {
	for name, elsewhere := range map[string]bool{"here": false, "elsewhere": true} {
		t.Run(name, func(t *testing.T) {
			c := create(t, "name: x\nshards: 3\n")
			hold(t, 1) // for ever
			d, release, err := NewDriver(c)
			require.NoError(t, err)
			defer release()
			_, err = d.Advance(context.Background(), true)
			require.NoError(t, err)
			by := d
			if elsewhere {
				var done func()
				by, done, err = NewDriver(c)
				require.NoError(t, err)
				defer done()
			}
			require.NoError(t, by.Cancel(context.Background()))
			require.Eventually(t, func() bool {
				o, err := d.Advance(context.Background(), true)
				return err == nil && o.Stuck() && o.Cancelled
			}, patient.Long, 50*time.Millisecond)
		})
	}
}

// TestPlan checks what a folder accepts.
func TestPlan(t *testing.T) {
	c := create(t, "name: x\nshards: 2\n")
	exe, err := os.Executable()
	require.NoError(t, err)
	plan := func(shards, cells int) *Plan {
		p, s := *c.Plan, *c.Plan.Spec
		s.Shards = shards
		p.Spec, p.Cells = &s, cells
		p.Parts = append([]Part{}, p.Parts...)
		return &p
	}
	same, err := Create(c.Dir, exe, plan(2, 2), [][]Test{tests()})
	require.NoError(t, err)
	require.Equal(t, c.Plan.ID, same.Plan.ID)
	_, err = Create(c.Dir, exe, plan(2, 3), [][]Test{tests()})
	require.ErrorContains(t, err, "another plan that is not complete")
	frozen, err := c.Tests(&c.Plan.Parts[0])
	require.NoError(t, err)
	require.Len(t, frozen, len(corpus.Tests()))
	for i, want := range corpus.Tests() {
		require.Equal(t, [2]string{want.Name, want.Hash()}, [2]string{frozen[i].Name, frozen[i].Hash()})
	}
	require.True(t, follow(t, c).Complete())

	// A complete one can be extended: earlier results are what shards begin with.
	require.Equal(t, "corpus", frozen[0].Preset)
	more, err := Create(c.Dir, exe, plan(2, 3), [][]Test{tests()[:5]})
	require.NoError(t, err)
	_, err = more.Result(Task{Shards, 1})
	require.ErrorContains(t, err, "not done")
	a, err := more.Begin(Task{Shards, 1})
	require.NoError(t, err)
	require.True(t, a.Resumed)
	require.Equal(t, "shard 1\n", source(t, a.Store))
	require.True(t, follow(t, more).Complete())

	// Cut differently, they are of no use.
	cut, err := Create(c.Dir, exe, plan(3, 3), [][]Test{tests()})
	require.NoError(t, err)
	a, err = cut.Begin(Task{Shards, 1})
	require.NoError(t, err)
	require.False(t, a.Resumed)
	require.NoFileExists(t, a.Store)
}

// TestDamaged checks that damaged files are refused and not believed.
func TestDamaged(t *testing.T) {
	for file, text := range map[string]string{
		planFile:                     `{"id": "0", "spec": {"shards": 1}}`,
		testsFile("nvidia"):          "no zstd",
		"shard/00001/" + doneFile:    `{"plan": "ID", "store": "../../x.db"}`,
		"shard/00001/../" + doneFile: ``,
		stateFile:                    `{"submissions": 3}`,
	} {
		if text == "" {
			continue
		}
		c := create(t, "name: x\nshards: 1\n")
		require.NoError(t, os.MkdirAll(c.path("shard/00001"), 0o755))
		if filepath.Base(file) == doneFile {
			text = `{"plan": "` + c.Plan.ID + `", "store": "../../x.db"}`
		}
		require.NoError(t, os.WriteFile(c.path(file), []byte(text), 0o644))
		again, err := Open(c.Dir)
		if err == nil {
			_, err = again.Tests(&again.Plan.Parts[0])
		}
		if err == nil {
			d := &Driver{Campaign: again, Engine: NewLocal(again, 1), Name: EngineLocal}
			_, err = d.Advance(context.Background(), false)
		}
		require.Error(t, err, file)
		require.ErrorContains(t, err, c.Dir, file)
	}
}

// TestAttempts checks that a try copies what an earlier one has left, its log,
// too, and that a store that is being written is left alone.
func TestAttempts(t *testing.T) {
	c := create(t, "name: x\nshards: 1\n")
	one, err := c.Begin(Task{Shards, 1})
	require.NoError(t, err)
	require.False(t, one.Resumed)
	require.False(t, one.Last)
	require.NoError(t, os.WriteFile(one.Store, []byte("pages"), 0o644))
	require.NoError(t, os.WriteFile(one.Store+walSuffix, []byte("log"), 0o644))
	two, err := c.Begin(Task{Shards, 1})
	require.NoError(t, err)
	require.True(t, two.Resumed)
	require.NotEqual(t, one.Store, two.Store)
	require.Equal(t, "pages", source(t, two.Store))
	require.Equal(t, "log", source(t, two.Store+walSuffix))
	two.Discard()
	require.NoFileExists(t, two.Store)
	require.NoError(t, os.WriteFile(one.Store, nil, 0o644))
	require.NoError(t, os.Remove(one.Store+walSuffix))
	three, err := c.Begin(Task{Shards, 1})
	require.NoError(t, err)
	require.False(t, three.Resumed)
	require.True(t, three.Last, "after two retries")
	require.NoError(t, os.WriteFile(three.Store, []byte("whole"), 0o644))
	require.NoError(t, three.Finish(7, true))
	file, err := c.Result(Task{Shards, 1})
	require.NoError(t, err)
	require.Equal(t, three.Store, file)
	_, err = c.Begin(Task{Shards, 1})
	require.ErrorIs(t, err, ErrDone)
}
