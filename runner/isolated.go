package runner

import (
	"context"
	"errors"
	"fmt"
	"math"
	"sync"
	"time"
)

// Isolation says how to run a back end in a process of its own.
type Isolation struct {
	// Backend is the back end's name.
	Backend string
	// Command is the program with its arguments that calls ServeProcess for
	// this back end.
	Command []string
	// Env are further variables of its environment.
	Env []string
	// LockDir is where lock files lie; "": a folder for all users of this
	// machine below the folder of temporary files.
	LockDir string
	// Notify, if not nil, is told about each device process that was killed and
	// why.
	Notify func(error)
}

// Isolated returns a back end whose devices are each driven by a process of
// its own: a hang or a fault there ends that process and not this one. Opening
// a device that is no CPU takes its lock; ErrBusy says who has it.
func Isolated(o Isolation) Backend { return &isolated{o} }

type isolated struct{ o Isolation }

func (b *isolated) Name() string { return b.o.Backend }

func (b *isolated) Devices(ctx context.Context) ([]Device, error) {
	c, err := startChild(ctx, b.o)
	if err != nil {
		return nil, err
	}
	defer c.kill()
	d, err := c.call(ctx, "list devices", frameDevices, nil, startLimit)
	if err != nil {
		return nil, err
	}
	var list []Device
	d.json(&list)
	if d.end() != nil {
		return nil, Errorf(ErrChild, "list devices", "malformed message")
	}
	return list, nil
}

func (b *isolated) Open(ctx context.Context, devices ...int) (Session, error) {
	if err := CheckDevices(math.MaxInt32, devices...); err != nil {
		return nil, err
	}
	p := &process{o: b.o, index: devices, modules: map[Module]Image{}, kernels: map[Kernel]kernelOf{}, buffers: map[Buffer]memoryOf{}}
	if err := p.start(ctx); err != nil {
		return nil, err
	}
	for _, d := range p.devices {
		if d.Type == "cpu" {
			continue
		}
		lock, err := LockDevice(b.o.LockDir, d)
		if err != nil {
			p.child.close()
			return nil, errors.Join(err, p.release())
		}
		p.locks = append(p.locks, lock)
	}
	return p, nil
}

// release gives the locks back.
func (p *process) release() (err error) {
	for _, l := range p.locks {
		err = errors.Join(err, l.Release())
	}
	return err
}

// process is a Session whose devices are driven by another process. It remembers
// what was loaded and allocated, to do it again in a new process.
type process struct {
	o     Isolation
	index []int

	mu      sync.Mutex
	devices []Device
	locks   []*DeviceLock
	child   *child // nil: to be started again
	gone    error  // why the device is given up
	closed  bool
	epoch   int
	losses  int // processes lost since the last success
	runs    uint64
	last    uint32 // of all handles
	order   []Module
	modules map[Module]Image
	kernels map[Kernel]kernelOf
	buffers map[Buffer]memoryOf
}

type memoryOf struct {
	device int
	bytes  uint64
}

type kernelOf struct {
	module Module
	name   string
}

// maxLosses is how many processes in a row may be lost before the device is
// given up.
const maxLosses = 5

// Device describes the first device.
func (p *process) Device() Device { return p.Devices()[0] }

// Devices describes the devices.
func (p *process) Devices() []Device {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.devices
}

// Epoch counts the lost processes.
func (p *process) Epoch() int {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.epoch
}

// start starts a process and restores what the session has.
func (p *process) start(ctx context.Context) error {
	c, err := startChild(ctx, p.o)
	if err != nil {
		return err
	}
	if err := p.restore(ctx, c); err != nil {
		c.kill()
		return err
	}
	p.child = c
	return nil
}

func (p *process) restore(ctx context.Context, c *child) error {
	var e encoder
	e.u(uint64(len(p.index)))
	for _, i := range p.index {
		e.u(uint64(i))
	}
	d, err := c.call(ctx, "open", frameOpen, e.b, startLimit)
	if err != nil {
		return err
	}
	var devices []Device
	d.json(&devices)
	if d.end() != nil || len(devices) != len(p.index) {
		return Errorf(ErrChild, "open", "malformed message")
	}
	for i, was := range p.devices {
		if was.UUID != "" && devices[i].UUID != was.UUID {
			return Errorf(ErrUnsupported, "open", "device %d was %s and is now %s", p.index[i], was.UUID, devices[i].UUID)
		}
	}
	p.devices = devices
	for _, m := range p.order {
		if err := callLoad(ctx, c, m, p.modules[m]); err != nil {
			return err
		}
	}
	for k, of := range p.kernels {
		if _, err := callKernel(ctx, c, k, of); err != nil {
			return err
		}
	}
	for b, size := range p.buffers {
		if err := callAlloc(ctx, c, b, size); err != nil {
			return err
		}
	}
	return nil
}

// use gives a living process to f and deals with its loss.
func (p *process) use(ctx context.Context, op string, f func(*child) error) error {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.closed {
		return Errorf(ErrUsage, op, "the session is closed")
	}
	if p.gone != nil {
		return p.gone
	}
	if p.child == nil {
		if err := p.start(ctx); err != nil {
			return p.lost(ctx, op, err)
		}
	}
	err := f(p.child)
	if sticky(err) || ctx.Err() != nil && err != nil {
		return p.lost(ctx, op, err)
	}
	if err == nil {
		p.losses = 0
	}
	return err
}

// lost ends a process that failed or that was left in the middle of a call.
func (p *process) lost(ctx context.Context, op string, err error) error {
	p.epoch++
	if ctx.Err() == nil {
		p.losses++
	}
	if p.o.Notify != nil {
		p.o.Notify(err)
	}
	if p.child != nil {
		if e := p.child.kill(); e != nil {
			p.gone = &Error{Kind: ErrUnsupported, Op: op, Detail: "the device is given up", Err: e}
		}
		p.child = nil
	}
	if p.losses >= maxLosses {
		p.gone = &Error{Kind: ErrUnsupported, Op: op,
			Detail: fmt.Sprintf("the device is given up after %d failures in a row; the last: %v", p.losses, err)}
	}
	return err
}

// Close ends the process and gives the lock back.
func (p *process) Close() error {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.closed {
		return nil
	}
	p.closed = true
	if p.child != nil {
		p.child.close()
		p.child = nil
	}
	return p.release()
}

// Run executes a batch. See Session.
func (p *process) Run(ctx context.Context, b *Batch) (r *Result, err error) {
	if err := b.Check(); err != nil {
		return nil, &Error{Kind: ErrUsage, Op: "batch", Err: err}
	}
	if ctx.Err() != nil { // nothing has been begun, nothing is lost
		return nil, cancelled(ctx, "batch")
	}
	limit := b.Timeout
	if limit == 0 {
		limit = DefaultTimeout
	}
	err = p.use(ctx, "batch", func(c *child) error {
		p.runs++
		r, err = c.run(ctx, p.runs, b, limit)
		return err
	})
	if err == nil && r.Stopped && ctx.Err() != nil {
		err = cancelled(ctx, "batch")
	}
	return r, err
}

// run sends a batch, passes progress on, stops the batch when ctx ends, and
// watches over the signs of life.
func (c *child) run(ctx context.Context, number uint64, b *Batch, limit time.Duration) (*Result, error) {
	var e encoder
	e.u(number)
	e.batch(b)
	if err := c.send(frameRun, e.b, limit+startLimit); err != nil {
		return nil, c.failed("batch", err)
	}
	stop := context.AfterFunc(ctx, func() {
		var s encoder
		s.u(number)
		_ = c.send(frameStop, s.b, time.Second) // a broken pipe is noticed below
	})
	defer stop()
	var done uint64
	for {
		f, err := c.next(context.Background(), "batch", limit)
		if err != nil {
			return nil, noting(err, done, b)
		}
		if f.kind == frameProgress {
			d := decoder{b: f.body}
			if n := d.u(); d.end() == nil {
				done = n
			}
			if b.Progress != nil {
				b.Progress(done)
			}
			continue
		}
		d, _, err := c.answer("batch", f)
		if err != nil {
			return nil, noting(err, done, b)
		}
		r := d.result()
		if d.end() != nil {
			return nil, Errorf(ErrChild, "batch", "malformed message")
		}
		return r, nil
	}
}

// noting adds to a failure how far the batch had come.
func noting(err error, done uint64, b *Batch) error {
	if x, ok := err.(*Error); ok && Lost(err) {
		at := fmt.Sprintf("after at least %d of %d repetitions", done, max(1, b.Repeat))
		if x.Detail != "" {
			at += ": " + x.Detail
		}
		y := *x
		y.Detail = at
		return &y
	}
	return err
}
