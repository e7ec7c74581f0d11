package runner

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"
	"sync"
	"syscall"
	"time"

	"optcheck/internal/keeper"
)

// child is a running device process.
type child struct {
	process *keeper.Process
	in      *os.File
	write   sync.Mutex // of in: a stop may be sent beside another request
	frames  chan frame
	broken  error // why frames was closed; set before that
	said    tail
}

// Limits of the time that a device process may be silent.
const (
	startLimit = 60 * time.Second  // hello, list and open: drivers start slowly
	buildLimit = 120 * time.Second // compile and load
	killLimit  = 30 * time.Second  // from the kill, or from the end of the pipe, to the end
)

// startChild starts a device process, which neither gets a terminal's interrupt
// nor leaves children behind.
func startChild(ctx context.Context, o Isolation) (*child, error) {
	if len(o.Command) == 0 {
		return nil, Errorf(ErrUsage, "start device process", "no command")
	}
	theirIn, in, err := os.Pipe()
	if err != nil {
		return nil, &Error{Kind: ErrChild, Op: "start device process", Err: err}
	}
	out, theirOut, err := os.Pipe()
	if err != nil {
		theirIn.Close()
		in.Close()
		return nil, &Error{Kind: ErrChild, Op: "start device process", Err: err}
	}
	c := &child{in: in, frames: make(chan frame, 16)}
	c.process, err = keeper.Start(&keeper.Cmd{Path: o.Command[0], Args: o.Command[1:],
		Name: "optcheck", // what it is, for lists of processes and for tests
		Env:  append(append(os.Environ(), o.Env...), processVariable+"=1"), Stdout: &c.said, Stderr: &c.said,
		Files: []*os.File{theirIn, theirOut}})
	theirIn.Close()
	theirOut.Close()
	if err != nil {
		in.Close()
		out.Close()
		return nil, &Error{Kind: ErrChild, Op: "start device process", Err: err}
	}
	go c.read(out)
	if err = c.send(frameHello, encodeHello(), startLimit); err == nil {
		var hello frame
		if hello, err = c.next(ctx, "start device process", startLimit); err == nil {
			err = checkHello(hello)
		}
	}
	if err != nil {
		c.kill()
		return nil, c.failed("start device process", err)
	}
	return c, nil
}

func (c *child) read(out *os.File) {
	defer out.Close()
	r := bufio.NewReaderSize(out, 1<<16)
	for {
		f, err := readFrame(r)
		if err != nil {
			c.broken = err
			close(c.frames)
			return
		}
		c.frames <- f
	}
}

func (c *child) send(k frameKind, body []byte, limit time.Duration) error {
	c.write.Lock()
	defer c.write.Unlock()
	if err := c.in.SetWriteDeadline(time.Now().Add(limit)); err != nil {
		return err
	}
	return writeFrame(c.in, k, body)
}

// next waits for a frame.
func (c *child) next(ctx context.Context, op string, limit time.Duration) (frame, error) {
	timer := time.NewTimer(limit)
	defer timer.Stop()
	select {
	case f, ok := <-c.frames:
		if !ok {
			return frame{}, c.failed(op, c.broken)
		}
		return f, nil
	case <-ctx.Done():
		return frame{}, cancelled(ctx, op)
	case <-timer.C:
		return frame{}, Errorf(ErrTimeout, op, "no sign of life for %v", limit)
	}
}

// call sends a request and waits for its answer. An error other than the
// device's own refusals leaves the process in a state that only kill ends.
func (c *child) call(ctx context.Context, op string, k frameKind, body []byte, limit time.Duration) (*decoder, error) {
	if err := c.send(k, body, limit); err != nil {
		return nil, c.failed(op, err)
	}
	for {
		f, err := c.next(ctx, op, limit)
		if err != nil {
			return nil, err
		}
		if d, done, err := c.answer(op, f); done {
			return d, err
		}
	}
}

// answer sorts a frame that is not progress.
func (c *child) answer(op string, f frame) (d *decoder, done bool, err error) {
	switch f.kind {
	case frameReply:
		return &decoder{b: f.body}, true, nil
	case frameFailure:
		d := decoder{b: f.body}
		return nil, true, d.failure()
	case frameProgress:
		return nil, false, nil
	}
	return nil, true, Errorf(ErrChild, op, "unexpected message of kind %d", f.kind)
}

// failed is the error of a process that died or whose pipe broke, with what
// can be learnt about it.
func (c *child) failed(op string, err error) error {
	var x *Error
	if errors.As(err, &x) {
		return err
	}
	// Where a pipe has an end, the process has ended or is about to: a moment
	// later if it leaves a core file or the machine is busy.
	limit := 200 * time.Millisecond
	if errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) || errors.Is(err, syscall.EPIPE) {
		limit = killLimit
	}
	detail := ""
	select {
	case <-c.process.Done():
		state, _ := c.process.Wait()
		detail = state.String()
	case <-time.After(limit):
		detail = "its pipe broke"
	}
	if s := c.said.String(); s != "" {
		detail += "; it said: " + s
	}
	return &Error{Kind: ErrChild, Op: op, Detail: detail, Err: err}
}

// kill ends the process and whatever it started, and waits for its end.
func (c *child) kill() error {
	c.process.Kill()
	c.in.Close()
	go func() { // a reader that has no listener
		for range c.frames {
		}
	}()
	select {
	case <-c.process.Done():
		return nil
	case <-time.After(killLimit):
		return fmt.Errorf("process %d cannot be killed; it hangs in its driver", c.process.Pid)
	}
}

// close lets the process end by itself for a while.
func (c *child) close() {
	_ = c.send(frameClose, nil, time.Second)
	select {
	case <-c.process.Done():
	case <-time.After(2 * time.Second):
	}
	_ = c.kill()
}

// tail keeps the end of what a process prints.
type tail struct {
	mu sync.Mutex
	b  []byte
}

const tailBytes = 4 << 10

// Write implements io.Writer.
func (t *tail) Write(p []byte) (int, error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.b = append(t.b, p[max(0, len(p)-tailBytes):]...)
	t.b = t.b[max(0, len(t.b)-tailBytes):]
	return len(p), nil
}

func (t *tail) String() string {
	t.mu.Lock()
	defer t.mu.Unlock()
	return strings.TrimSpace(strings.ToValidUTF8(string(t.b), "?"))
}
