package runner

import (
	"context"
	"runtime"
)

// Thread runs functions one after another on one operating-system thread of
// its own. A CUDA context belongs to a thread: a goroutine that moves to
// another thread loses it.
type Thread struct {
	work chan func()
	done chan struct{}
}

// NewThread starts a thread.
func NewThread() *Thread {
	t := &Thread{work: make(chan func()), done: make(chan struct{})}
	go func() {
		// Never unlocked: the thread ends with the goroutine.
		runtime.LockOSThread()
		defer close(t.done)
		for f := range t.work {
			f()
		}
	}()
	return t
}

// Do runs f on the thread and waits for it. A context that has ended already
// keeps f from being run; one that ends later does not stop it.
func (t *Thread) Do(ctx context.Context, op string, f func() error) error {
	if ctx.Err() != nil {
		return cancelled(ctx, op)
	}
	var err error
	ready := make(chan struct{})
	select {
	case t.work <- func() { defer close(ready); err = f() }:
	case <-t.done:
		return Errorf(ErrUsage, op, "the session is closed")
	case <-ctx.Done():
		return cancelled(ctx, op)
	}
	<-ready
	return err
}

// Stop ends the thread. Nothing may be given to it afterwards.
func (t *Thread) Stop() {
	close(t.work)
	<-t.done
}
