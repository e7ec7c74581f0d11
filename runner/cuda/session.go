package cuda

import (
	"context"
	"errors"
	"unsafe"

	"optcheck/runner"
	"optcheck/runner/internal/handle"
)

// session is an open GPU. All calls of the driver are made on one thread, to
// which the context belongs.
type session struct {
	d       *driver
	handle  int32
	device  runner.Device
	monitor *monitor
	thread  *runner.Thread
	context uintptr
	modules handle.Table[uintptr]
	kernels handle.Table[*kernel]
	buffers handle.Table[buffer]
	scratch scratch
}

type kernel struct {
	function uintptr
	module   runner.Module
	// sizes of the parameters in bytes; known tells whether they are known.
	sizes  []uint64
	known  bool
	shared uint32 // dynamic shared memory that is allowed already
}

type buffer struct{ address, size uint64 }

// Open makes the primary context of a GPU current on a thread of its own.
func (b *Backend) Open(ctx context.Context, index int) (runner.Session, error) {
	d, n, err := ready()
	if err != nil {
		return nil, err
	}
	if index < 0 || index >= n {
		return nil, runner.Errorf(runner.ErrUsage, "open", "there is no CUDA device %d; there are %d", index, n)
	}
	s := &session{d: d, thread: runner.NewThread()}
	err = s.thread.Do(ctx, "open", func() error {
		if err := d.fail("open device", d.deviceGet(&s.handle, int32(index))); err != nil {
			return err
		}
		s.device = d.describe(index, s.handle)
		s.monitor = nvmlOf(s.device.PCI)
		if err := d.fail("create context", d.primaryCtxRetain(&s.context, s.handle)); err != nil {
			return err
		}
		return d.fail("create context", d.ctxSetCurrent(s.context))
	})
	if err != nil {
		s.thread.Stop()
		return nil, err
	}
	return s, nil
}

func (s *session) Device() runner.Device { return s.device }

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
		c, err = s.d.jit(image)
		return err
	})
	return c, err
}

// Load loads a cubin, or PTX compiled by the driver.
func (s *session) Load(ctx context.Context, image runner.Image) (m runner.Module, err error) {
	err = s.thread.Do(ctx, "load", func() error {
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
		var module uintptr
		if err := s.d.fail("load cubin", s.d.moduleLoadData(&module, unsafe.Pointer(&cubin[0]))); err != nil {
			return s.poisoned(err)
		}
		h, err := s.modules.Add(module)
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
		module, ok := s.modules.Get(uint32(m))
		if !ok {
			return runner.Errorf(runner.ErrUsage, "unload", "no module %d", m)
		}
		s.kernels.All(func(h uint32, k *kernel) {
			if k.module == m {
				s.kernels.Remove(h)
			}
		})
		s.modules.Remove(uint32(m))
		return s.d.fail("unload", s.d.moduleUnload(module))
	})
}

func (s *session) Kernel(ctx context.Context, m runner.Module, name string) (h runner.Kernel, i runner.KernelInfo, err error) {
	err = s.thread.Do(ctx, "kernel", func() error {
		module, ok := s.modules.Get(uint32(m))
		if !ok || len(name) > runner.MaxKernelLen {
			return runner.Errorf(runner.ErrUsage, "kernel", "no module %d", m)
		}
		k := &kernel{module: m}
		cname := append([]byte(name), 0)
		if err := s.d.fail("kernel "+name, s.d.moduleGetFunction(&k.function, module, &cname[0])); err != nil {
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
		if s.d.funcGetAttribute(&v, a, k.function) != 0 {
			return 0
		}
		return v
	}
	const maxThreads, shared, local, registers = 0, 1, 3, 4 // CUfunction_attribute
	i := runner.KernelInfo{Registers: int(attribute(registers)), Shared: uint64(attribute(shared)),
		Local: uint64(attribute(local)), MaxBlock: int(attribute(maxThreads)), Params: -1}
	var ctas int32
	if s.d.occupancy(&ctas, k.function, 128, 0) == 0 {
		i.Resident = int(ctas)
	}
	if s.d.funcGetParamInfo != nil {
		for n := range uint64(runner.MaxArgs + 1) {
			var offset, size uint64
			if s.d.funcGetParamInfo(k.function, n, &offset, &size) != 0 {
				break
			}
			k.sizes = append(k.sizes, size)
		}
		k.known, i.Params = true, len(k.sizes)
	}
	return i
}

func (s *session) Alloc(ctx context.Context, bytes uint64) (h runner.Buffer, err error) {
	err = s.thread.Do(ctx, "allocate", func() error {
		if bytes == 0 || bytes > s.device.Memory {
			return runner.Errorf(runner.ErrMemory, "allocate", "%d bytes on a device that has %d", bytes, s.device.Memory)
		}
		b := buffer{size: bytes}
		words := (bytes + 3) / 4
		if err := s.d.fail("allocate", s.d.memAlloc(&b.address, 4*words)); err != nil {
			return err
		}
		if err := s.d.fail("allocate", s.d.memsetD32Async(b.address, 0, words, 0)); err != nil {
			return err
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
		return s.d.fail("free", s.d.memFree(b.address))
	})
}

func (s *session) State(ctx context.Context) (state runner.State, err error) {
	err = s.thread.Do(ctx, "state", func() error {
		state = s.monitor.state()
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
		s.modules.All(func(_ uint32, m uintptr) { s.d.moduleUnload(m) })
		s.buffers.All(func(_ uint32, b buffer) { s.d.memFree(b.address) })
		return s.d.fail("close", s.d.primaryCtxRelease(s.handle))
	})
	s.thread.Stop()
	return err
}
