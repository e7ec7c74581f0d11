package cuda

import (
	"runtime"
	"time"
	"unsafe"

	"optcheck/runner"
)

// executor runs the commands of a batch; its methods run on the thread. All
// work goes to the default stream, whose order is the order of the commands.
type executor session

const stream = 0

// scratch holds the arguments of a launch while the driver copies them.
type scratch struct {
	values   [runner.MaxArgs]uint64
	pointers [runner.MaxArgs]unsafe.Pointer
	config   launchConfig
	cluster  launchAttribute
}

// launchConfig and launchAttribute are CUlaunchConfig and CUlaunchAttribute of
// cuda.h for 64-bit hosts.
type launchConfig struct {
	grid, block [3]uint32
	shared      uint32
	stream      uintptr
	attributes  *launchAttribute
	n           uint32
}

type launchAttribute struct {
	id    uint32
	_     uint32
	value [16]uint32
}

const attributeCluster = 4 // CU_LAUNCH_ATTRIBUTE_CLUSTER_DIMENSION

func (x *executor) State(energy bool) runner.State { return x.gpus[0].monitor.state(energy) }

func (x *executor) Synchronise() error {
	return (*session)(x).each(func(int) error { return x.d.fail("wait", x.d.ctxSynchronize()) })
}

// next makes a GPU current for its next command and lets it wait for what stands
// before that.
func (x *executor) next(gpu int, beside bool) error {
	s := (*session)(x)
	if gpu >= len(s.gpus) {
		return runner.Errorf(runner.ErrUsage, "launch", "there is no device %d of this session", gpu)
	}
	if err := s.order.Next(gpu, beside); err != nil {
		return err
	}
	return s.on(gpu)
}

func (x *executor) Enqueue(c *runner.Command, i uint64) ([]byte, error) {
	switch c.Kind {
	case runner.CommandLaunch:
		return nil, x.launch(c, i)
	case runner.CommandMark:
		return nil, x.mark()
	}
	at, gpu, err := x.span(c.Buffer, c.Offset, max(c.Bytes, uint64(len(c.Data))))
	if err == nil {
		err = x.next(gpu, false)
	}
	if err != nil {
		return nil, err
	}
	switch c.Kind {
	case runner.CommandFill:
		return nil, x.d.fail("fill", x.d.memsetD32Async(at, c.Value, c.Bytes/4, stream))
	case runner.CommandWrite:
		if len(c.Data) == 0 {
			return nil, nil
		}
		return nil, x.d.fail("write", x.d.memcpyHtoD(at, unsafe.Pointer(&c.Data[0]), uint64(len(c.Data))))
	case runner.CommandRead:
		data := make([]byte, c.Bytes)
		if c.Bytes == 0 {
			return data, nil
		}
		return data, x.d.fail("read", x.d.memcpyDtoH(unsafe.Pointer(&data[0]), at, c.Bytes))
	case runner.CommandCopy:
		from, _, err := x.span(c.From, c.FromAt, c.Bytes)
		if err != nil || c.Bytes == 0 {
			return nil, err
		}
		return nil, x.d.fail("copy", x.d.memcpyDtoDAsync(at, from, c.Bytes, stream))
	}
	return nil, runner.Errorf(runner.ErrUsage, "batch", "command of kind %d", c.Kind)
}

// mark records an event of the first GPU.
func (x *executor) mark() error {
	if err := x.next(0, false); err != nil {
		return err
	}
	var event uintptr
	if err := x.d.fail("create event", x.d.eventCreate(&event, 0)); err != nil {
		return err
	}
	x.marks = append(x.marks, event)
	return x.d.fail("record event", x.d.eventRecord(event, stream))
}

func (x *executor) Marks() (list []time.Duration, err error) {
	for _, e := range x.marks {
		var ms float32
		if err == nil {
			err = x.d.fail("time of event", x.d.eventElapsed(&ms, x.marks[0], e))
		}
		list = append(list, time.Duration(float64(ms)*1e6))
	}
	for _, e := range x.marks {
		x.d.eventDestroy(e)
	}
	x.marks = nil
	return list, err
}

// span checks that a range lies within a buffer and returns its address and GPU.
func (x *executor) span(h runner.Buffer, at, bytes uint64) (address uint64, gpu int, err error) {
	b, ok := x.buffers.Get(uint32(h))
	if !ok {
		return 0, 0, runner.Errorf(runner.ErrUsage, "batch", "no buffer %d", h)
	}
	if at > b.size || bytes > b.size-at {
		return 0, 0, runner.Errorf(runner.ErrUsage, "batch", "%d bytes at %d of a buffer of %d", bytes, at, b.size)
	}
	return b.address + at, b.gpu, nil
}

func (x *executor) launch(c *runner.Command, i uint64) error {
	k, ok := x.kernels.Get(uint32(c.Kernel))
	if !ok {
		return runner.Errorf(runner.ErrUsage, "launch", "no kernel %d", c.Kernel)
	}
	// The driver reads as many arguments as the kernel has parameters, wherever
	// they end.
	if k.known && len(c.Args) != len(k.sizes) {
		return runner.Errorf(runner.ErrUsage, "launch", "%d arguments for %d parameters", len(c.Args), len(k.sizes))
	}
	if err := x.arguments(c, k, i); err != nil {
		return err
	}
	d := c.Dims.Filled()
	if err := x.allowShared(k, d.Shared); err != nil {
		return err
	}
	if err := x.next(c.Device, c.Beside); err != nil {
		return err
	}
	function := k.functions[c.Device]
	params := unsafe.Pointer(&x.scratch.pointers[0])
	defer runtime.KeepAlive(x)
	if d.Cluster == [3]uint32{} {
		return x.d.fail("launch", x.d.launchKernel(function, d.Grid[0], d.Grid[1], d.Grid[2], d.Block[0], d.Block[1], d.Block[2],
			d.Shared, stream, params, nil))
	}
	if !x.current.device.Clusters {
		return runner.Errorf(runner.ErrUnsupported, "launch", "%s has no thread-block clusters", x.current.device.Name)
	}
	s := &x.scratch
	s.cluster = launchAttribute{id: attributeCluster}
	copy(s.cluster.value[:], d.Cluster[:])
	s.config = launchConfig{grid: d.Grid, block: d.Block, shared: d.Shared, stream: stream, attributes: &s.cluster, n: 1}
	return x.d.fail("launch", x.d.launchKernelEx(unsafe.Pointer(&s.config), function, params, nil))
}

// arguments puts the words of a launch where the driver reads them.
func (x *executor) arguments(c *runner.Command, k *kernel, i uint64) error {
	for n := range c.Args {
		a := &c.Args[n]
		size := uint64(8)
		switch a.Kind {
		case runner.ArgBuffer:
			b, ok := x.buffers.Get(uint32(a.Buffer))
			if !ok {
				return runner.Errorf(runner.ErrUsage, "launch", "argument %d: no buffer %d", n, a.Buffer)
			}
			x.scratch.values[n] = b.address
		case runner.ArgU32, runner.ArgCounter32:
			size = 4
			x.scratch.values[n] = a.At(i)
		case runner.ArgU64, runner.ArgCounter64:
			x.scratch.values[n] = a.At(i)
		default:
			return runner.Errorf(runner.ErrUnsupported, "launch", "argument %d: CUDA kernels take shared memory by Dims.Shared", n)
		}
		if k.known && size != k.sizes[n] {
			return runner.Errorf(runner.ErrUsage, "launch", "argument %d has %d bytes, the parameter %d", n, size, k.sizes[n])
		}
		x.scratch.pointers[n] = unsafe.Pointer(&x.scratch.values[n])
	}
	return nil
}

// allowShared lets a kernel have more dynamic shared memory than the default.
// This is a property of the loaded kernel, not of the card.
func (x *executor) allowShared(k *kernel, bytes uint32) error {
	const normal, attribute = 48 << 10, 8
	if bytes <= normal || bytes <= k.shared {
		return nil
	}
	err := (*session)(x).each(func(i int) error {
		return x.d.fail("launch", x.d.funcSetAttribute(k.functions[i], attribute, int32(min(bytes, 1<<30))))
	})
	if err != nil {
		return err
	}
	k.shared = bytes
	return nil
}
