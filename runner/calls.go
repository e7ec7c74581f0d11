package runner

import "context"

// The requests of a session to its process, each with the bookkeeping that a
// new process needs.

func callLoad(ctx context.Context, c *child, m Module, image Image) error {
	var e encoder
	e.u(uint64(m))
	e.image(image)
	_, err := c.call(ctx, "load "+image.Kind.String(), frameLoad, e.b, buildLimit)
	return err
}

func callKernel(ctx context.Context, c *child, k Kernel, of kernelOf) (info KernelInfo, err error) {
	var e encoder
	e.u(uint64(k))
	e.u(uint64(of.module))
	e.text(of.name)
	d, err := c.call(ctx, "kernel "+of.name, frameKernel, e.b, buildLimit)
	if err != nil {
		return info, err
	}
	d.json(&info)
	if d.end() != nil {
		return info, Errorf(ErrChild, "kernel", "malformed message")
	}
	return info, nil
}

func callAlloc(ctx context.Context, c *child, b Buffer, of memoryOf) error {
	var e encoder
	e.u(uint64(b))
	e.u(uint64(of.device))
	e.u(of.bytes)
	_, err := c.call(ctx, "allocate", frameAlloc, e.b, startLimit)
	return err
}

// Compile runs the driver's compiler. See Session.
func (p *process) Compile(ctx context.Context, image Image) (out *Compiled, err error) {
	if len(image.Data) > MaxImage {
		return nil, Errorf(ErrUsage, "compile", "image of %d bytes", len(image.Data))
	}
	err = p.use(ctx, "compile", func(c *child) error {
		var e encoder
		e.image(image)
		d, err := c.call(ctx, "compile "+image.Kind.String(), frameCompile, e.b, buildLimit)
		if err != nil {
			return err
		}
		out = &Compiled{Binary: d.bytes(MaxImage), Log: d.text(maxDetail + 8)}
		if d.end() != nil {
			return Errorf(ErrChild, "compile", "malformed message")
		}
		return nil
	})
	if err != nil {
		return nil, err
	}
	return out, nil
}

// Load makes an image's kernels ready. See Session.
func (p *process) Load(ctx context.Context, image Image) (m Module, err error) {
	if len(image.Data) > MaxImage {
		return 0, Errorf(ErrUsage, "load", "image of %d bytes", len(image.Data))
	}
	err = p.use(ctx, "load", func(c *child) error {
		p.last++
		m = Module(p.last)
		if err := callLoad(ctx, c, m, image); err != nil {
			return err
		}
		p.modules[m] = image
		p.order = append(p.order, m)
		return nil
	})
	if err != nil {
		return 0, err
	}
	return m, nil
}

// Unload forgets a module and its kernels. See Session.
func (p *process) Unload(ctx context.Context, m Module) error {
	return p.use(ctx, "unload", func(c *child) error {
		if _, ok := p.modules[m]; !ok {
			return Errorf(ErrUsage, "unload", "no module %d", m)
		}
		delete(p.modules, m)
		for i, x := range p.order {
			if x == m {
				p.order = append(p.order[:i:i], p.order[i+1:]...)
				break
			}
		}
		for k, of := range p.kernels {
			if of.module == m {
				delete(p.kernels, k)
			}
		}
		var e encoder
		e.u(uint64(m))
		_, err := c.call(ctx, "unload", frameUnload, e.b, startLimit)
		return err
	})
}

// Kernel finds a kernel. See Session.
func (p *process) Kernel(ctx context.Context, m Module, name string) (k Kernel, info KernelInfo, err error) {
	if len(name) > MaxKernelLen {
		return 0, info, Errorf(ErrUsage, "kernel", "name of %d bytes", len(name))
	}
	err = p.use(ctx, "kernel", func(c *child) error {
		if _, ok := p.modules[m]; !ok {
			return Errorf(ErrUsage, "kernel", "no module %d", m)
		}
		p.last++
		k = Kernel(p.last)
		of := kernelOf{m, name}
		if info, err = callKernel(ctx, c, k, of); err != nil {
			return err
		}
		p.kernels[k] = of
		return nil
	})
	if err != nil {
		return 0, KernelInfo{}, err
	}
	return k, info, nil
}

// Alloc takes memory. See Session.
func (p *process) Alloc(ctx context.Context, device int, bytes uint64) (b Buffer, err error) {
	err = p.use(ctx, "allocate", func(c *child) error {
		p.last++
		b = Buffer(p.last)
		of := memoryOf{device, bytes}
		if err := callAlloc(ctx, c, b, of); err != nil {
			return err
		}
		p.buffers[b] = of
		return nil
	})
	if err != nil {
		return 0, err
	}
	return b, nil
}

// Free gives memory back. See Session.
func (p *process) Free(ctx context.Context, b Buffer) error {
	return p.use(ctx, "free", func(c *child) error {
		if _, ok := p.buffers[b]; !ok {
			return Errorf(ErrUsage, "free", "no buffer %d", b)
		}
		delete(p.buffers, b)
		var e encoder
		e.u(uint64(b))
		_, err := c.call(ctx, "free", frameFree, e.b, startLimit)
		return err
	})
}

// State reads clocks and temperature. See Session.
func (p *process) State(ctx context.Context) (state State, err error) {
	err = p.use(ctx, "state", func(c *child) error {
		d, err := c.call(ctx, "state", frameState, nil, startLimit)
		if err != nil {
			return err
		}
		d.json(&state)
		if d.end() != nil {
			return Errorf(ErrChild, "state", "malformed message")
		}
		return nil
	})
	return state, err
}
