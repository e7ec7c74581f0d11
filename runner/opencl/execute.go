package opencl

import (
	"time"
	"unsafe"

	"optcheck/runner"
)

// executor runs the commands of a batch; its methods run on the thread.
type executor session

func (x *executor) State(bool) runner.State { return runner.State{} }

func (x *executor) Synchronise() error {
	for _, q := range x.queues { // each works while the others are waited for
		if code := x.a.flush(q); code != 0 {
			return fail("wait", code, false)
		}
	}
	for _, q := range x.queues {
		if code := x.a.finish(q); code != 0 {
			return fail("wait", code, false)
		}
	}
	return nil
}

// next is the queue of a device, which waits for what stands before its next command.
func (x *executor) next(device int, beside bool) (uintptr, error) {
	if device >= len(x.queues) {
		return 0, runner.Errorf(runner.ErrUsage, "launch", "there is no device %d of this session", device)
	}
	return x.queues[device], x.order.Next(device, beside)
}

func (x *executor) Enqueue(c *runner.Command, i uint64) ([]byte, error) {
	switch c.Kind {
	case runner.CommandLaunch:
		return nil, x.launch(c, i)
	case runner.CommandMark:
		err := x.Synchronise()
		x.marks = append(x.marks, time.Now())
		return nil, err
	}
	b, err := x.span(c.Buffer, c.Offset, max(c.Bytes, uint64(len(c.Data))))
	if err != nil {
		return nil, err
	}
	queue, err := x.next(b.device, false)
	if err != nil {
		return nil, err
	}
	switch c.Kind {
	case runner.CommandFill:
		if c.Bytes == 0 {
			return nil, nil
		}
		word := c.Value
		return nil, fail("fill", x.a.enqueueFillBuffer(queue, b.mem, unsafe.Pointer(&word), 4, uintptr(c.Offset),
			uintptr(c.Bytes), 0, 0, 0), true)
	case runner.CommandWrite:
		if len(c.Data) == 0 {
			return nil, nil
		}
		return nil, fail("write", x.a.enqueueWriteBuffer(queue, b.mem, 1, uintptr(c.Offset), uintptr(len(c.Data)),
			unsafe.Pointer(&c.Data[0]), 0, 0, 0), true)
	case runner.CommandRead:
		data := make([]byte, c.Bytes)
		if c.Bytes == 0 {
			return data, nil
		}
		return data, fail("read", x.a.enqueueReadBuffer(queue, b.mem, 1, uintptr(c.Offset), uintptr(c.Bytes),
			unsafe.Pointer(&data[0]), 0, 0, 0), false)
	case runner.CommandCopy:
		from, err := x.span(c.From, c.FromAt, c.Bytes)
		if err != nil || c.Bytes == 0 {
			return nil, err
		}
		return nil, fail("copy", x.a.enqueueCopyBuffer(queue, from.mem, b.mem, uintptr(c.FromAt), uintptr(c.Offset),
			uintptr(c.Bytes), 0, 0, 0), false)
	}
	return nil, runner.Errorf(runner.ErrUsage, "batch", "command of kind %d", c.Kind)
}

func (x *executor) Marks() (list []time.Duration, _ error) {
	list, x.marks = runner.Since(x.marks), nil
	return list, nil
}

// span checks that a range lies within a buffer.
func (x *executor) span(h runner.Buffer, at, bytes uint64) (buffer, error) {
	b, ok := x.buffers.Get(uint32(h))
	if !ok {
		return b, runner.Errorf(runner.ErrUsage, "batch", "no buffer %d", h)
	}
	if at > b.size || bytes > b.size-at {
		return b, runner.Errorf(runner.ErrUsage, "batch", "%d bytes at %d of a buffer of %d", bytes, at, b.size)
	}
	return b, nil
}

func (x *executor) launch(c *runner.Command, i uint64) error {
	k, ok := x.kernels.Get(uint32(c.Kernel))
	if !ok {
		return runner.Errorf(runner.ErrUsage, "launch", "no kernel %d", c.Kernel)
	}
	if k.params >= 0 && len(c.Args) != k.params {
		return runner.Errorf(runner.ErrUsage, "launch", "%d arguments for %d parameters", len(c.Args), k.params)
	}
	d := c.Dims.Filled()
	switch {
	case d.Cluster != [3]uint32{}:
		return runner.Errorf(runner.ErrUnsupported, "launch", "OpenCL has no clusters")
	case d.Shared != 0:
		return runner.Errorf(runner.ErrUsage, "launch", "OpenCL kernels take local memory by LocalArg")
	case k.maxCTA > 0 && d.Threads() > k.maxCTA:
		return runner.Errorf(runner.ErrUsage, "launch", "work-group of %d threads, the kernel allows %d", d.Threads(), k.maxCTA)
	}
	for n := range c.Args {
		if err := x.argument(k.obj, uint32(n), &c.Args[n], i); err != nil {
			return err
		}
	}
	var global, local [3]uintptr
	for n := range 3 {
		local[n] = uintptr(d.Block[n])
		global[n] = local[n] * uintptr(d.Grid[n])
	}
	queue, err := x.next(c.Device, c.Beside)
	if err != nil {
		return err
	}
	return fail("launch", x.a.enqueueNDRangeKernel(queue, k.obj, 3, nil, &global[0], &local[0], 0, 0, 0), false)
}

func (x *executor) argument(k uintptr, n uint32, a *runner.Arg, i uint64) error {
	switch a.Kind {
	case runner.ArgBuffer:
		b, err := x.span(a.Buffer, 0, 0)
		if err != nil {
			return err
		}
		return fail("argument", x.a.setKernelArg(k, n, unsafe.Sizeof(b.mem), unsafe.Pointer(&b.mem)), false)
	case runner.ArgU32, runner.ArgCounter32:
		v := uint32(a.At(i))
		return fail("argument", x.a.setKernelArg(k, n, 4, unsafe.Pointer(&v)), false)
	case runner.ArgU64, runner.ArgCounter64:
		v := a.At(i)
		return fail("argument", x.a.setKernelArg(k, n, 8, unsafe.Pointer(&v)), false)
	}
	return fail("argument", x.a.setKernelArg(k, n, uintptr(a.Value), nil), true)
}
