package runner

import (
	"bufio"
	"context"
	"errors"
	"io"
	"os"
	"sync"
	"time"
)

// The file descriptors of a device process; standard output and error are left
// to drivers, which print there.
const (
	requestFD = 3
	replyFD   = 4
)

// processVariable is set in the environment of device processes.
const processVariable = "OPTCHECK_DEVICE_PROCESS"

// ServeProcess drives a device for the process that started this one: the
// whole work of a device process. It returns when that process closes the pipe
// or ends.
func ServeProcess(ctx context.Context, b Backend) error {
	if os.Getenv(processVariable) == "" {
		return Errorf(ErrUsage, "serve", "this command is started by optcheck itself")
	}
	in, out := os.NewFile(requestFD, "requests"), os.NewFile(replyFD, "replies")
	// Whoever started this process has gone: nothing is worth finishing, and a
	// thread that waits for a hung device would wait forever.
	abandon := func() {
		time.Sleep(time.Second)
		os.Exit(1)
	}
	return serve(ctx, b, bufio.NewReaderSize(in, 1<<16), out, abandon)
}

// server is the device process's side of the protocol.
type server struct {
	backend Backend
	session Session

	mu      sync.Mutex // of writing, and of what follows
	out     io.Writer
	running uint64 // sequence number of the current run, 0 for none
	stopped uint64 // highest sequence number that was stopped
	cancel  context.CancelFunc

	modules map[uint64]Module
	kernels map[uint64]Kernel
	buffers map[uint64]Buffer
}

// serve answers requests until in ends. gone is called in a goroutine of its
// own when in has ended.
func serve(ctx context.Context, b Backend, in io.Reader, out io.Writer, gone func()) error {
	s := &server{backend: b, out: out, modules: map[uint64]Module{}, kernels: map[uint64]Kernel{}, buffers: map[uint64]Buffer{}}
	if err := writeFrame(out, frameHello, encodeHello()); err != nil {
		return err
	}
	hello, err := readFrame(in)
	if err == nil {
		err = checkHello(hello)
	}
	if err != nil {
		return err
	}
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	requests := make(chan frame)
	var ended error
	go func() {
		defer close(requests)
		for {
			f, err := readFrame(in)
			if err != nil {
				if !errors.Is(err, io.EOF) {
					ended = err
				}
				cancel()
				if gone != nil {
					go gone()
				}
				return
			}
			if f.kind == frameStop {
				s.stop(f)
				continue
			}
			select {
			case requests <- f:
			case <-ctx.Done():
				return
			}
		}
	}()
	defer func() {
		if s.session != nil {
			s.session.Close()
		}
	}()
	for f := range requests {
		if f.kind == frameClose {
			return nil
		}
		if err := s.answer(ctx, f); err != nil {
			return err
		}
	}
	return ended
}

// stop ends the run of that sequence number, now or when it begins.
func (s *server) stop(f frame) {
	d := decoder{b: f.body}
	n := d.u()
	if d.end() != nil {
		return
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.stopped = max(s.stopped, n)
	if s.running != 0 && s.running <= s.stopped {
		s.cancel()
	}
}

func (s *server) send(k frameKind, body []byte) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	return writeFrame(s.out, k, body)
}

// answer executes a request and sends its reply or failure. Its own error is
// that of the pipe.
func (s *server) answer(ctx context.Context, f frame) error {
	var e encoder
	if err := s.handle(ctx, f, &e); err != nil {
		var x encoder
		x.failure(err)
		return s.send(frameFailure, x.b)
	}
	return s.send(frameReply, e.b)
}

func (s *server) handle(ctx context.Context, f frame, e *encoder) error {
	d := &decoder{b: f.body}
	switch {
	case f.kind == frameDevices:
		list, err := s.backend.Devices(ctx)
		e.json(list)
		return err
	case f.kind == frameOpen:
		return s.open(ctx, d, e)
	case s.session == nil:
		return Errorf(ErrUsage, "request", "no device is open")
	}
	switch f.kind {
	case frameCompile:
		image := d.image()
		if d.end() != nil {
			return malformed
		}
		c, err := s.session.Compile(ctx, image)
		if err != nil {
			return err
		}
		e.bytes(c.Binary)
		e.text(clip(c.Log, maxDetail))
		return nil
	case frameLoad, frameUnload, frameKernel:
		return s.code(ctx, f.kind, d, e)
	case frameAlloc, frameFree:
		return s.memory(ctx, f.kind, d)
	case frameRun:
		return s.run(ctx, d, e)
	case frameState:
		state, err := s.session.State(ctx)
		e.json(state)
		return err
	}
	return Errorf(ErrUsage, "request", "unknown kind %d", f.kind)
}

var malformed = Errorf(ErrUsage, "request", "malformed message")

func (s *server) open(ctx context.Context, d *decoder, e *encoder) (err error) {
	devices := make([]int, d.count(MaxDevices, 1))
	for i := range devices {
		devices[i] = int(d.u32())
	}
	if d.end() != nil {
		return malformed
	}
	if s.session != nil {
		return Errorf(ErrUsage, "open", "a device is open")
	}
	if s.session, err = s.backend.Open(ctx, devices...); err != nil {
		s.session = nil
		return err
	}
	e.json(s.session.Devices())
	return nil
}

// code handles modules and kernels. The client chooses the numbers.
func (s *server) code(ctx context.Context, k frameKind, d *decoder, e *encoder) error {
	id := d.u()
	switch k {
	case frameLoad:
		image := d.image()
		if d.end() != nil || s.modules[id] != 0 {
			return malformed
		}
		m, err := s.session.Load(ctx, image)
		if err == nil {
			s.modules[id] = m
		}
		return err
	case frameUnload:
		if d.end() != nil {
			return malformed
		}
		m := s.modules[id]
		delete(s.modules, id)
		return s.session.Unload(ctx, m)
	}
	module, name := d.u(), d.text(MaxKernelLen)
	if d.end() != nil || s.kernels[id] != 0 {
		return malformed
	}
	kernel, info, err := s.session.Kernel(ctx, s.modules[module], name)
	if err == nil {
		s.kernels[id] = kernel
		e.json(info)
	}
	return err
}

func (s *server) memory(ctx context.Context, k frameKind, d *decoder) error {
	id := d.u()
	if k == frameFree {
		if d.end() != nil {
			return malformed
		}
		b := s.buffers[id]
		delete(s.buffers, id)
		return s.session.Free(ctx, b)
	}
	device, size := int(d.byte()), d.u()
	if d.end() != nil || s.buffers[id] != 0 {
		return malformed
	}
	b, err := s.session.Alloc(ctx, device, size)
	if err == nil {
		s.buffers[id] = b
	}
	return err
}

func (s *server) run(ctx context.Context, d *decoder, e *encoder) error {
	number := d.u()
	b := d.batch()
	if d.end() != nil || number == 0 {
		return malformed
	}
	for _, list := range [][]Command{b.Setup, b.Body, b.Final} {
		for i := range list {
			s.rename(&list[i])
		}
	}
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	s.mu.Lock()
	s.running, s.cancel = number, cancel
	if s.running <= s.stopped {
		cancel()
	}
	s.mu.Unlock()
	defer func() {
		s.mu.Lock()
		s.running, s.cancel = 0, nil
		s.mu.Unlock()
	}()
	last := time.Time{}
	b.Progress = func(done uint64) {
		if now := time.Now(); now.Sub(last) >= beatShort/2 {
			last = now
			var p encoder
			p.u(done)
			// A pipe that broke is noticed by the reader.
			_ = s.send(frameProgress, p.b)
		}
	}
	r, err := s.session.Run(ctx, b)
	if r == nil {
		return err
	}
	e.result(r)
	return nil
}

// rename replaces the client's handles by the session's; one that does not
// exist becomes 0, which the session refuses.
func (s *server) rename(c *Command) {
	c.Buffer, c.From = s.buffers[uint64(c.Buffer)], s.buffers[uint64(c.From)]
	c.Kernel = s.kernels[uint64(c.Kernel)]
	for i := range c.Args {
		c.Args[i].Buffer = s.buffers[uint64(c.Args[i].Buffer)]
	}
}
