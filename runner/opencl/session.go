package opencl

import (
	"context"
	"errors"
	"math"
	"time"
	"unsafe"

	"optcheck/runner"
	"optcheck/runner/internal/handle"
)

// session is an open device, or several. All calls of the driver are made on one
// thread.
type session struct {
	a       *api
	at      []uintptr // the devices
	devices []runner.Device
	thread  *runner.Thread
	context uintptr
	queues  []uintptr // by device
	events  []uintptr // how far each has come, 0: none
	order   runner.Order
	marks   []time.Time
	modules handle.Table[uintptr]
	kernels handle.Table[*kernel]
	buffers handle.Table[buffer]
}

type kernel struct {
	obj    uintptr
	module runner.Module
	params int
	maxCTA uint64
}

type buffer struct {
	mem    uintptr
	size   uint64
	device int
}

// Open makes a context of devices, and a queue on each.
func (b *Backend) Open(ctx context.Context, devices ...int) (runner.Session, error) {
	all, err := b.Devices(ctx)
	if err == nil {
		err = runner.CheckDevices(len(all), devices...)
	}
	if err != nil {
		return nil, err
	}
	a, err := load()
	if err != nil {
		return nil, err
	}
	listing.Lock()
	places, err := a.places()
	listing.Unlock()
	if err != nil || len(places) < len(all) {
		return nil, errors.Join(runner.Errorf(runner.ErrFault, "open", "a device has gone"), err)
	}
	s := &session{a: a, thread: runner.NewThread(), events: make([]uintptr, len(devices))}
	s.order = runner.Order{Mark: s.mark, Wait: s.wait}
	for _, i := range devices {
		s.at, s.devices = append(s.at, places[i].device), append(s.devices, all[i])
		// Other devices have no common view of memory while kernels run.
		if d := all[i]; len(devices) > 1 && (d.Type != "cpu" || places[i].platform != places[devices[0]].platform) {
			s.thread.Stop()
			return nil, runner.Errorf(runner.ErrUnsupported, "open", "by OpenCL only CPUs of one platform work together; %s is none",
				d.Name)
		}
	}
	err = s.thread.Do(ctx, "open", func() error { return s.open(places[devices[0]].platform) })
	if err != nil {
		s.thread.Stop()
		return nil, err
	}
	return s, nil
}

// open makes the context and the queues.
func (s *session) open(platform uintptr) error {
	const contextPlatform = 0x1084
	props := []uintptr{contextPlatform, platform, 0}
	var code int32
	if s.context = s.a.createContext(&props[0], uint32(len(s.at)), &s.at[0], 0, 0, &code); code != 0 {
		return fail("create context", code, true)
	}
	for _, d := range s.at {
		s.queues = append(s.queues, s.a.createCommandQueue(s.context, d, 0, &code))
		if code != 0 {
			return fail("create queue", code, true)
		}
	}
	return nil
}

// mark notes how far a device has come.
func (s *session) mark(i int) error {
	if len(s.at) == 1 {
		return nil
	}
	s.forget(i)
	if code := s.a.enqueueMarker(s.queues[i], 0, nil, &s.events[i]); code != 0 {
		return fail("mark", code, true)
	}
	return fail("mark", s.a.flush(s.queues[i]), true)
}

func (s *session) forget(i int) {
	if s.events[i] != 0 {
		s.a.releaseEvent(s.events[i])
		s.events[i] = 0
	}
}

// wait lets a device wait for another one.
func (s *session) wait(i, other int) error {
	return fail("wait for event", s.a.enqueueBarrier(s.queues[i], 1, &s.events[other], nil), true)
}

func (s *session) Device() runner.Device { return s.devices[0] }

func (s *session) Devices() []runner.Device { return s.devices }

func (s *session) Epoch() int { return 0 }

// build compiles source or takes a binary; the caller releases the program.
func (s *session) build(image runner.Image) (uintptr, string, error) {
	if image.Kind != runner.ImageOpenCLC && image.Kind != runner.ImageOpenCLBinary {
		return 0, "", runner.Errorf(runner.ErrUnsupported, "build", "OpenCL takes OpenCL C and binaries of its own, not %s", image.Kind)
	}
	if image.Kind == runner.ImageOpenCLBinary && len(s.at) > 1 {
		return 0, "", runner.Errorf(runner.ErrUnsupported, "build", "a binary is for one device, not for %d", len(s.at))
	}
	if len(image.Data) == 0 || len(image.Data) > runner.MaxImage {
		return 0, "", runner.Errorf(runner.ErrUsage, "build", "source of %d bytes", len(image.Data))
	}
	var code int32
	if image.Kind == runner.ImageOpenCLBinary {
		image.Data = ownFolder(image.Data)
	}
	text := &image.Data[0]
	size := uintptr(len(image.Data))
	var prog uintptr
	if image.Kind == runner.ImageOpenCLC {
		prog = s.a.createProgram(s.context, 1, unsafe.Pointer(&text), &size, &code)
	} else {
		var status int32
		prog = s.a.createFromBinary(s.context, 1, &s.at[0], &size, unsafe.Pointer(&text), &status, &code)
	}
	if code != 0 {
		return 0, "", fail("create program", code, true)
	}
	options := append([]byte(image.Options), 0)
	code = s.a.buildProgram(prog, uint32(len(s.at)), &s.at[0], &options[0], 0, 0)
	const buildLog = 0x1183
	log := bounded(info(func(size uintptr, to unsafe.Pointer, need *uintptr) int32 {
		return s.a.getProgramBuildInfo(prog, s.at[0], buildLog, size, to, need)
	}))
	if code != 0 {
		s.a.releaseProgram(prog)
		var e *runner.Error
		errors.As(fail("build", code, true), &e)
		if e.Kind == runner.ErrUsage { // invalid build options
			e.Kind = runner.ErrCompile
		}
		e.Detail = log
		return 0, log, e
	}
	return prog, log, nil
}

func bounded(b []byte) string {
	s := text(b)
	const limit = 16 << 10
	if len(s) > limit {
		s = s[:limit] + "…"
	}
	return s
}

func (s *session) Compile(ctx context.Context, image runner.Image) (c *runner.Compiled, err error) {
	err = s.thread.Do(ctx, "build", func() error {
		prog, log, err := s.build(image)
		if err != nil {
			return err
		}
		defer s.a.releaseProgram(prog)
		c = &runner.Compiled{Log: log}
		const binarySizes, binaries = 0x1165, 0x1166
		sizes, to := make([]uintptr, len(s.at)), make([]*byte, len(s.at)) // those of the first device are read
		room := unsafe.Sizeof(sizes[0]) * uintptr(len(sizes))
		if code := s.a.getProgramInfo(prog, binarySizes, room, unsafe.Pointer(&sizes[0]), nil); code != 0 {
			return fail("read binary", code, false)
		}
		size := sizes[0]
		if size == 0 || size > runner.MaxImage {
			return runner.Errorf(runner.ErrUnsupported, "read binary", "the driver gives a binary of %d bytes", size)
		}
		c.Binary = make([]byte, size)
		to[0] = &c.Binary[0]
		return fail("read binary", s.a.getProgramInfo(prog, binaries, room, unsafe.Pointer(&to[0]), nil), false)
	})
	if err != nil {
		return nil, err
	}
	return c, nil
}

func (s *session) Load(ctx context.Context, image runner.Image) (m runner.Module, err error) {
	err = s.thread.Do(ctx, "build", func() error {
		prog, _, err := s.build(image)
		if err != nil {
			return err
		}
		h, err := s.modules.Add(prog)
		m = runner.Module(h)
		return usage("load", err)
	})
	return m, err
}

func usage(op string, err error) error {
	if err == nil {
		return nil
	}
	return &runner.Error{Kind: runner.ErrUsage, Op: op, Err: err}
}

func (s *session) Unload(ctx context.Context, m runner.Module) error {
	return s.thread.Do(ctx, "unload", func() error {
		prog, ok := s.modules.Get(uint32(m))
		if !ok {
			return runner.Errorf(runner.ErrUsage, "unload", "no module %d", m)
		}
		s.kernels.All(func(h uint32, k *kernel) {
			if k.module == m {
				s.a.releaseKernel(k.obj)
				s.kernels.Remove(h)
			}
		})
		s.modules.Remove(uint32(m))
		return fail("unload", s.a.releaseProgram(prog), false)
	})
}

func (s *session) Kernel(ctx context.Context, m runner.Module, name string) (h runner.Kernel, i runner.KernelInfo, err error) {
	err = s.thread.Do(ctx, "kernel", func() error {
		prog, ok := s.modules.Get(uint32(m))
		if !ok || len(name) > runner.MaxKernelLen {
			return runner.Errorf(runner.ErrUsage, "kernel", "no module %d", m)
		}
		var code int32
		cname := append([]byte(name), 0)
		obj := s.a.createKernel(prog, &cname[0], &code)
		if code != 0 {
			return fail("kernel "+name, code, true)
		}
		i = s.kernelInfo(obj)
		n, err := s.kernels.Add(&kernel{obj, m, i.Params, uint64(i.MaxBlock)})
		h = runner.Kernel(n)
		return usage("kernel", err)
	})
	return h, i, err
}

func (s *session) kernelInfo(obj uintptr) runner.KernelInfo {
	group := func(what uint32) uint64 {
		return word(info(func(size uintptr, to unsafe.Pointer, need *uintptr) int32 {
			return s.a.getKernelWorkGroup(obj, s.at[0], what, size, to, need)
		}))
	}
	const numArgs, groupSize, localMem, privateMem = 0x1191, 0x11B0, 0x11B2, 0x11B4
	params := info(func(size uintptr, to unsafe.Pointer, need *uintptr) int32 {
		return s.a.getKernelInfo(obj, numArgs, size, to, need)
	})
	i := runner.KernelInfo{MaxBlock: int(group(groupSize)), Shared: group(localMem), Local: group(privateMem), Params: -1}
	if params != nil {
		i.Params = int(word(params))
	}
	return i
}

func (s *session) Alloc(ctx context.Context, device int, bytes uint64) (h runner.Buffer, err error) {
	err = s.thread.Do(ctx, "allocate", func() error {
		if device < 0 || device >= len(s.at) {
			return runner.Errorf(runner.ErrUsage, "allocate", "there is no device %d of this session", device)
		}
		if has := s.devices[device].Memory; bytes == 0 || bytes > math.MaxInt64 || bytes > has {
			return runner.Errorf(runner.ErrMemory, "allocate", "%d bytes on a device that has %d", bytes, has)
		}
		size := (bytes + 3) &^ 3
		const readWrite = 1
		var code int32
		mem := s.a.createBuffer(s.context, readWrite, uintptr(size), 0, &code)
		if code != 0 {
			return fail("allocate", code, true)
		}
		// Drivers allocate on first use: the zeros make sure that it is there.
		var zero uint32
		code = s.a.enqueueFillBuffer(s.queues[device], mem, unsafe.Pointer(&zero), 4, 0, uintptr(size), 0, 0, 0)
		if code == 0 {
			code = s.a.finish(s.queues[device])
		}
		if code != 0 {
			s.a.releaseMemObject(mem)
			return fail("allocate", code, true)
		}
		n, err := s.buffers.Add(buffer{mem, bytes, device})
		h = runner.Buffer(n)
		return usage("allocate", err)
	})
	return h, err
}

func (s *session) Free(ctx context.Context, h runner.Buffer) error {
	return s.thread.Do(ctx, "free", func() error {
		b, ok := s.buffers.Get(uint32(h))
		if !ok {
			return runner.Errorf(runner.ErrUsage, "free", "no buffer %d", h)
		}
		s.buffers.Remove(uint32(h))
		return fail("free", s.a.releaseMemObject(b.mem), false)
	})
}

// State is empty: OpenCL tells neither clocks nor temperature.
func (s *session) State(context.Context) (runner.State, error) { return runner.State{}, nil }

func (s *session) Run(ctx context.Context, b *runner.Batch) (r *runner.Result, err error) {
	// The thread is asked for even if ctx has ended: Execute then does nothing
	// but Final.
	err = s.thread.Do(context.WithoutCancel(ctx), "batch", func() error {
		r, err = runner.Execute(ctx, b, (*executor)(s))
		return err
	})
	return r, err
}

func (s *session) Close() error {
	err := s.thread.Do(context.Background(), "close", func() error {
		s.kernels.All(func(_ uint32, k *kernel) { s.a.releaseKernel(k.obj) })
		s.modules.All(func(_ uint32, m uintptr) { s.a.releaseProgram(m) })
		s.buffers.All(func(_ uint32, b buffer) { s.a.releaseMemObject(b.mem) })
		for i, q := range s.queues {
			s.forget(i)
			s.a.releaseCommandQueue(q)
		}
		return fail("close", s.a.releaseContext(s.context), false)
	})
	s.thread.Stop()
	return err
}
