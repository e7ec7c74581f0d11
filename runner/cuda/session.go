package cuda

import (
	"context"
	"errors"
	"unsafe"

	"optcheck/runner"
	"optcheck/runner/internal/handle"
)

// session is an open GPU, or several. All calls of the driver are made on one thread,
// to which the contexts belong.
type session struct {
	d       *driver
	gpus    []*card
	current *card // whose context is the thread's
	thread  *runner.Thread
	order   runner.Order
	modules handle.Table[[]uintptr] // by GPU
	kernels handle.Table[*kernel]
	buffers handle.Table[buffer]
	scratch scratch
	marks   []uintptr // events
}

// card is one of a session's.
type card struct {
	handle  int32
	device  runner.Device
	monitor *monitor
	context uintptr
	event   uintptr // marks how far it has come; only beside others
}

type kernel struct {
	functions []uintptr // by GPU
	module    runner.Module
	// sizes of the parameters in bytes; known tells whether they are known.
	sizes  []uint64
	known  bool
	shared uint32 // dynamic shared memory that is allowed already
}

type buffer struct {
	address, size uint64
	gpu           int
}

// Open makes the primary contexts of GPUs usable on a thread of its own.
func (b *Backend) Open(ctx context.Context, devices ...int) (runner.Session, error) {
	d, n, err := ready()
	if err == nil {
		err = runner.CheckDevices(n, devices...)
	}
	if err != nil {
		return nil, err
	}
	s := &session{d: d, thread: runner.NewThread()}
	s.order = runner.Order{Mark: s.mark, Wait: s.wait}
	err = s.thread.Do(ctx, "open", func() error {
		for _, i := range devices {
			if err := s.open(i); err != nil {
				return err
			}
		}
		return s.join()
	})
	if err != nil {
		s.thread.Stop()
		return nil, err
	}
	return s, nil
}

// open retains the context of a GPU and makes it current.
func (s *session) open(index int) error {
	g := &card{}
	if err := s.d.fail("open device", s.d.deviceGet(&g.handle, int32(index))); err != nil {
		return err
	}
	g.device = s.d.describe(index, g.handle)
	g.monitor = nvmlOf(g.device.PCI)
	if err := s.d.fail("create context", s.d.primaryCtxRetain(&g.context, g.handle)); err != nil {
		return err
	}
	s.gpus = append(s.gpus, g)
	return s.on(len(s.gpus) - 1)
}

// on makes the context of a GPU current.
func (s *session) on(i int) error {
	if i < 0 || i >= len(s.gpus) {
		return runner.Errorf(runner.ErrUsage, "device", "there is no device %d of this session", i)
	}
	if g := s.gpus[i]; s.current != g {
		if err := s.d.fail("use context", s.d.ctxSetCurrent(g.context)); err != nil {
			return err
		}
		s.current = g
	}
	return nil
}

func (s *session) Device() runner.Device { return s.gpus[0].device }

func (s *session) Devices() []runner.Device {
	var list []runner.Device
	for _, g := range s.gpus {
		list = append(list, g.device)
	}
	return list
}

func (s *session) Epoch() int { return 0 }

func usage(op string, err error) error {
	if err == nil {
		return nil
	}
	return &runner.Error{Kind: runner.ErrUsage, Op: op, Err: err}
}

// Compile compiles PTX with the driver's compiler.
func (s *session) Compile(ctx context.Context, image runner.Image) (c *runner.Compiled, err error) {
	if image.Kind != runner.ImagePTX {
		return nil, runner.Errorf(runner.ErrUnsupported, "compile", "the driver compiles PTX, not %s", image.Kind)
	}
	err = s.thread.Do(ctx, "compile", func() error {
		if err := s.on(0); err != nil {
			return err
		}
		c, err = s.d.jit(image)
		return err
	})
	return c, err
}

// Load loads a cubin, or PTX compiled by the driver.
func (s *session) Load(ctx context.Context, image runner.Image) (m runner.Module, err error) {
	err = s.thread.Do(ctx, "load", func() error {
		if err := s.on(0); err != nil {
			return err
		}
		cubin := image.Data
		switch image.Kind {
		case runner.ImagePTX:
			c, err := s.d.jit(image)
			if err != nil {
				return s.poisoned(err)
			}
			cubin = c.Binary
		case runner.ImageCubin:
			if err := checkCubin(cubin); err != nil {
				return &runner.Error{Kind: runner.ErrCompile, Op: "load cubin", Err: err}
			}
		default:
			return runner.Errorf(runner.ErrUnsupported, "load", "CUDA takes cubins and PTX, not %s", image.Kind)
		}
		var modules []uintptr
		err := s.each(func(int) error {
			var module uintptr
			if err := s.d.fail("load cubin", s.d.moduleLoadData(&module, unsafe.Pointer(&cubin[0]))); err != nil {
				return s.poisoned(err)
			}
			modules = append(modules, module)
			return nil
		})
		if err != nil {
			return err
		}
		h, err := s.modules.Add(modules)
		m = runner.Module(h)
		return usage("load", err)
	})
	return m, err
}

// poisoned marks an error after which the context no longer works: a refused
// image can leave one behind that fails every later call.
func (s *session) poisoned(err error) error {
	var e *runner.Error
	if errors.As(err, &e) && s.d.ctxSynchronize() != 0 {
		e.Sticky = true
	}
	return err
}

// checkCubin tells whether this is a CUDA ELF file at all, before the driver,
// which trusts what it is given, reads it.
func checkCubin(b []byte) error {
	const elfHeader, machineAt, machineCUDA = 64, 18, 190
	if len(b) < elfHeader || string(b[:4]) != "\x7fELF" || b[4] != 2 || b[5] != 1 {
		return errors.New("no 64-bit ELF file")
	}
	if int(b[machineAt])|int(b[machineAt+1])<<8 != machineCUDA {
		return errors.New("an ELF file, but not of CUDA")
	}
	return nil
}

func (s *session) Unload(ctx context.Context, m runner.Module) error {
	return s.thread.Do(ctx, "unload", func() error {
		modules, ok := s.modules.Get(uint32(m))
		if !ok {
			return runner.Errorf(runner.ErrUsage, "unload", "no module %d", m)
		}
		s.kernels.All(func(h uint32, k *kernel) {
			if k.module == m {
				s.kernels.Remove(h)
			}
		})
		s.modules.Remove(uint32(m))
		return s.each(func(i int) error { return s.d.fail("unload", s.d.moduleUnload(modules[i])) })
	})
}

func (s *session) Kernel(ctx context.Context, m runner.Module, name string) (h runner.Kernel, i runner.KernelInfo, err error) {
	err = s.thread.Do(ctx, "kernel", func() error {
		modules, ok := s.modules.Get(uint32(m))
		if !ok || len(name) > runner.MaxKernelLen {
			return runner.Errorf(runner.ErrUsage, "kernel", "no module %d", m)
		}
		k := &kernel{module: m}
		cname := append([]byte(name), 0)
		err := s.each(func(i int) error {
			k.functions = append(k.functions, 0)
			return s.d.fail("kernel "+name, s.d.moduleGetFunction(&k.functions[i], modules[i], &cname[0]))
		})
		if err == nil {
			err = s.on(0)
		}
		if err != nil {
			return err
		}
		i = s.inspect(k)
		n, err := s.kernels.Add(k)
		h = runner.Kernel(n)
		return usage("kernel", err)
	})
	return h, i, err
}

// inspect reads a kernel's needs and parameters.
func (s *session) inspect(k *kernel) runner.KernelInfo {
	attribute := func(a int32) int32 {
		var v int32
		if s.d.funcGetAttribute(&v, a, k.functions[0]) != 0 {
			return 0
		}
		return v
	}
	const maxThreads, shared, local, registers = 0, 1, 3, 4 // CUfunction_attribute
	i := runner.KernelInfo{Registers: int(attribute(registers)), Shared: uint64(attribute(shared)),
		Local: uint64(attribute(local)), MaxBlock: int(attribute(maxThreads)), Params: -1}
	var ctas int32
	if s.d.occupancy(&ctas, k.functions[0], 128, 0) == 0 {
		i.Resident = int(ctas)
	}
	if s.d.funcGetParamInfo != nil {
		for n := range uint64(runner.MaxArgs + 1) {
			var offset, size uint64
			if s.d.funcGetParamInfo(k.functions[0], n, &offset, &size) != 0 {
				break
			}
			k.sizes = append(k.sizes, size)
		}
		k.known, i.Params = true, len(k.sizes)
	}
	return i
}

func (s *session) Alloc(ctx context.Context, device int, bytes uint64) (h runner.Buffer, err error) {
	err = s.thread.Do(ctx, "allocate", func() error {
		if err := s.on(device); err != nil {
			return err
		}
		if has := s.current.device.Memory; bytes == 0 || bytes > has {
			return runner.Errorf(runner.ErrMemory, "allocate", "%d bytes on a device that has %d", bytes, has)
		}
		b := buffer{size: bytes, gpu: device}
		words := (bytes + 3) / 4
		if err := s.d.fail("allocate", s.d.memAlloc(&b.address, 4*words)); err != nil {
			return err
		}
		if err := s.d.fail("allocate", s.d.memsetD32Async(b.address, 0, words, 0)); err != nil {
			return err
		}
		if len(s.gpus) > 1 { // others do not wait for this one
			if err := s.d.fail("allocate", s.d.ctxSynchronize()); err != nil {
				return err
			}
		}
		n, err := s.buffers.Add(b)
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
		if err := s.on(b.gpu); err != nil {
			return err
		}
		return s.d.fail("free", s.d.memFree(b.address))
	})
}

func (s *session) State(ctx context.Context) (state runner.State, err error) {
	err = s.thread.Do(ctx, "state", func() error {
		if err := s.on(0); err != nil {
			return err
		}
		state = s.current.monitor.state(false)
		var free, total uint64
		if s.d.memGetInfo(&free, &total) == 0 {
			state.FreeMemory = free
		}
		return nil
	})
	return state, err
}

func (s *session) Run(ctx context.Context, b *runner.Batch) (r *runner.Result, err error) {
	// The thread is asked for even if ctx has ended: Execute then does nothing
	// but Setup and Final.
	err = s.thread.Do(context.WithoutCancel(ctx), "batch", func() error {
		r, err = runner.Execute(ctx, b, (*executor)(s))
		return err
	})
	return r, err
}

func (s *session) Close() error {
	err := s.thread.Do(context.Background(), "close", func() error {
		s.buffers.All(func(_ uint32, b buffer) {
			if s.on(b.gpu) == nil {
				s.d.memFree(b.address)
			}
		})
		return s.each(func(i int) error {
			s.modules.All(func(_ uint32, m []uintptr) { s.d.moduleUnload(m[i]) })
			if s.current.event != 0 {
				s.d.eventDestroy(s.current.event)
			}
			return s.d.fail("close", s.d.primaryCtxRelease(s.current.handle))
		})
	})
	s.thread.Stop()
	return err
}
