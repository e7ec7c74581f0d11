package serve

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"time"
)

// long are the trials that have had their share of time in a place of their own. They go on beside
// those that have one. If there are too many, the first of them ends.
type long struct {
	mu   sync.Mutex
	most int
	all  []*trial
}

// trial is one that is worked on.
type trial struct {
	end  context.CancelCauseFunc
	done bool
}

var errCrowd = errors.New("took longer than others that were waiting")

// add takes in a trial, unless it is done.
func (l *long) add(t *trial) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if t.done {
		return
	}
	if len(l.all) >= l.most {
		l.all[0].end(errCrowd)
		l.all = l.all[1:]
	}
	l.all = append(l.all, t)
}

func (l *long) remove(t *trial) {
	l.mu.Lock()
	defer l.mu.Unlock()
	t.done = true
	if i := slices.Index(l.all, t); i >= 0 {
		l.all = slices.Delete(l.all, i, i+1)
	}
}

// work does a trial that has a place, which it gives back: after its share of time at the latest,
// so that what takes long keeps nobody waiting. The error, if any, says why it was ended while its
// reader was there.
func (b *bench) work(parent context.Context, try func(context.Context)) error {
	ctx, cancel := context.WithTimeoutCause(parent, b.limit, fmt.Errorf("took longer than %v", b.limit))
	defer cancel()
	ctx, end := context.WithCancelCause(ctx)
	defer end(nil)
	t := &trial{end: end}
	leave := sync.OnceFunc(b.queue.leave)
	timer := time.AfterFunc(b.share, func() {
		b.long.add(t)
		leave()
	})
	defer func() {
		timer.Stop()
		b.long.remove(t)
		leave()
	}()
	try(ctx)
	if parent.Err() != nil {
		return nil
	}
	return context.Cause(ctx)
}
