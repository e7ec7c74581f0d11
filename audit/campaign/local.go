package campaign

import (
	"context"
	"errors"
	"fmt"
	"os"
	"slices"
	"strconv"
	"sync"
	"time"

	"optcheck/internal/input"
	"optcheck/internal/keeper"
)

// Local executes tasks on this machine, in processes of their own. They end with the engine: it
// does not detach.
type Local struct {
	c        *Campaign
	name     string // of this engine, different from all before it
	parallel chan struct{}

	mu    sync.Mutex
	state map[string]map[Task]State // by job
	ended map[string]chan struct{}  // closed when a job is over
	stop  map[string]context.CancelFunc
	wg    sync.WaitGroup
}

// NewLocal returns an engine that executes up to parallel tasks at once.
func NewLocal(c *Campaign, parallel int) *Local {
	return &Local{c: c, name: fmt.Sprintf("%d-%x", os.Getpid(), time.Now().UnixNano()), parallel: make(chan struct{}, max(1, parallel)),
		state: map[string]map[Task]State{},
		ended: map[string]chan struct{}{}, stop: map[string]context.CancelFunc{}}
}

// Submit implements Engine. The tasks end when ctx does.
func (l *Local) Submit(ctx context.Context, j Job) (string, error) {
	ctx, cancel := context.WithCancel(ctx)
	l.mu.Lock()
	defer l.mu.Unlock()
	id := fmt.Sprintf("%s-%d", l.name, len(l.state)+1)
	st := map[Task]State{}
	for _, i := range j.Tasks {
		st[Task{j.Stage, i}] = State{Phase: Waiting}
	}
	ended := make(chan struct{})
	l.state[id], l.ended[id], l.stop[id] = st, ended, cancel
	l.wg.Go(func() {
		defer close(ended)
		defer cancel()
		l.job(ctx, id, j)
	})
	return id, nil
}

// job executes a job.
func (l *Local) job(ctx context.Context, id string, j Job) {
	l.mu.Lock()
	var wait []chan struct{}
	for _, other := range append(slices.Clone(j.After), j.Same...) {
		if ch := l.ended[other]; ch != nil {
			wait = append(wait, ch)
		}
	}
	l.mu.Unlock()
	for _, ch := range wait {
		select {
		case <-ch:
		case <-ctx.Done():
		}
	}
	var wg sync.WaitGroup
	for _, i := range j.Tasks {
		t := Task{j.Stage, i}
		if !l.mayStart(t, j.Same) {
			l.set(id, t, State{Phase: Failed, Reason: "a job it depends on failed"})
			continue
		}
		select {
		case l.parallel <- struct{}{}:
		case <-ctx.Done():
			l.set(id, t, State{Phase: Failed, Reason: "cancelled"})
			continue
		}
		l.set(id, t, State{Phase: Running, Host: host()})
		wg.Go(func() {
			defer func() { <-l.parallel }()
			if err := l.run(ctx, t); err != nil {
				l.set(id, t, State{Phase: Failed, Reason: err.Error()})
				return
			}
			l.set(id, t, State{Phase: Ended})
		})
	}
	wg.Wait()
}

// mayStart reports whether no namesake of a task has failed.
func (l *Local) mayStart(t Task, same []string) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	for _, id := range same {
		for other, s := range l.state[id] {
			if other.Index == t.Index && s.Phase != Ended {
				return false
			}
		}
	}
	return true
}

func (l *Local) set(id string, t Task, s State) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.state[id][t] = s
}

// run executes a task in a process.
func (l *Local) run(ctx context.Context, t Task) error {
	log, err := input.Append(l.c.path("logs", logName(t, strconv.Itoa(os.Getpid()))))
	if err != nil {
		return err
	}
	defer log.Close()
	err = keeper.Run(ctx, &keeper.Cmd{Path: l.c.Program(), Args: taskArgs(l.c.Dir, t), Stdout: log, Stderr: log, Grace: taskGrace})
	if ctx.Err() != nil {
		return errors.New("cancelled")
	}
	return err
}

// taskGrace is how long a task may write what it has when it is asked to end.
const taskGrace = 20 * time.Second

// taskArgs returns the program's arguments for executing a task of a campaign that the user has begun.
func taskArgs(dir string, t Task) []string {
	return []string{"campaign", "task", dir, string(t.Stage), strconv.Itoa(t.Index), "--begun"}
}

// logName returns the name of the log file of an attempt.
func logName(t Task, try string) string { return fmt.Sprintf("%s-%d.%s.log", t.Stage, t.Index, try) }

// Status implements Engine.
func (l *Local) Status(_ context.Context, jobs []Submission) (map[Task]State, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	states := make([]map[Task]State, len(jobs))
	for k, j := range jobs {
		states[k] = l.state[j.ID] // nothing is known of another process's job
	}
	return latest(states), nil
}

// Cancel implements Engine.
func (l *Local) Cancel(_ context.Context, jobs []Submission) error {
	for _, j := range jobs {
		l.mu.Lock()
		stop := l.stop[j.ID]
		l.mu.Unlock()
		if stop != nil {
			stop()
		}
	}
	return nil
}

// Close waits until all processes have ended.
func (l *Local) Close() { l.wg.Wait() }
