// Package fake is a back end without a device, for tests: its kernels add
// numbers and fail on demand in each way that devices, drivers and processes
// fail.
//
// An image of kind ImageFake is text with one kernel a line: its name and its
// steps. Steps:
//
//	add         adds argument 1 (32 bits) to each word of the buffer that is
//	            argument 0
//	sleep=20ms  takes that long
//	hang        never ends
//	fault       an illegal address; every later call of the session fails too
//	lost        the device is lost; likewise
//	gone        the device is lost and cannot be opened again: the file that the
//	            variable OPTCHECK_FAKE_GONE names is made
//	memory      not enough memory for the launch
//	exit        the process ends with status 7
//	kill        the process kills itself
//	panic       the process panics
//	garbage     nonsense is written into the pipe of replies
//
// A step with "@N" behind it is taken in repetition N of a batch only.
package fake

import (
	"context"
	"encoding/binary"
	"fmt"
	"os"
	"strconv"
	"strings"
	"time"

	"optcheck/runner"
	"optcheck/runner/internal/handle"
)

// Backend is the fake back end.
type Backend struct{}

// New returns the back end.
func New() *Backend { return &Backend{} }

// Name is "fake".
func (*Backend) Name() string { return "fake" }

// Memory is the device's memory in bytes.
const Memory = 1 << 20

// Devices lists the devices: two that can access each other's memory, and one that
// cannot.
func (*Backend) Devices(context.Context) ([]runner.Device, error) {
	var list []runner.Device
	for i := range loner + 1 {
		list = append(list, runner.Device{
			Backend: "fake", Index: i, Name: "Fake GPU", Vendor: "none", Type: "gpu", UUID: fmt.Sprintf("FAKE-%d", i+1),
			Driver: "1.0", API: "Fake 1",
			Units: 2, Warp: 4, MaxBlock: 64, Shared: 1 << 10, Memory: Memory, ClockMHz: 1,
		})
	}
	return list, nil
}

// loner is the device that cannot access the memory of others.
const loner = 2

func goneFile() string { return os.Getenv("OPTCHECK_FAKE_GONE") }

// Open opens devices.
func (b *Backend) Open(ctx context.Context, devices ...int) (runner.Session, error) {
	list, err := b.Devices(ctx)
	if err == nil {
		err = runner.CheckDevices(len(list), devices...)
	}
	if err != nil {
		return nil, err
	}
	s := &session{}
	for _, i := range devices {
		if i == loner && len(devices) > 1 {
			return nil, runner.Errorf(runner.ErrUnsupported, "open", "device %d cannot access the memory of others", i)
		}
		s.devices = append(s.devices, list[i])
	}
	if _, err := os.Stat(goneFile()); err == nil {
		return nil, runner.Errorf(runner.ErrUnsupported, "open", "the device is gone")
	}
	return s, nil
}

type session struct {
	devices []runner.Device
	modules handle.Table[map[string][]string]
	kernels handle.Table[[]string]
	buffers handle.Table[[]byte]
	used    uint64
	broken  error
	marks   []time.Time
}

func (s *session) Device() runner.Device    { return s.devices[0] }
func (s *session) Devices() []runner.Device { return s.devices }
func (s *session) Epoch() int               { return 0 }
func (s *session) Close() error             { return nil }

func (s *session) State(context.Context) (runner.State, error) {
	return runner.State{ClockMHz: 1, Temperature: 20}, s.broken
}

func (s *session) Compile(_ context.Context, i runner.Image) (*runner.Compiled, error) {
	if _, err := parse(i); err != nil {
		return nil, err
	}
	return &runner.Compiled{Binary: append([]byte("FAKE"), i.Data...), Log: "compiled"}, s.broken
}

var known = map[string]bool{"add": true, "sleep": true, "hang": true, "fault": true, "lost": true, "gone": true, "memory": true,
	"exit": true, "kill": true, "panic": true, "garbage": true}

func parse(i runner.Image) (map[string][]string, error) {
	if i.Kind != runner.ImageFake {
		return nil, runner.Errorf(runner.ErrUnsupported, "load", "%s", i.Kind)
	}
	kernels := map[string][]string{}
	n := 0
	for line := range strings.Lines(string(i.Data)) {
		n++
		words := strings.Fields(line)
		if len(words) == 0 {
			continue
		}
		for _, w := range words[1:] {
			step, _, _ := strings.Cut(w, "@")
			step, _, _ = strings.Cut(step, "=")
			if !known[step] {
				return nil, runner.Errorf(runner.ErrCompile, "load", "line %d: unknown step %q", n, w)
			}
		}
		kernels[words[0]] = words[1:]
	}
	return kernels, nil
}

func (s *session) Load(_ context.Context, i runner.Image) (runner.Module, error) {
	kernels, err := parse(i)
	if err != nil {
		return 0, err
	}
	h, err := s.modules.Add(kernels)
	return runner.Module(h), err
}

func (s *session) Unload(_ context.Context, m runner.Module) error {
	s.modules.Remove(uint32(m))
	return s.broken
}

func (s *session) Kernel(_ context.Context, m runner.Module, name string) (runner.Kernel, runner.KernelInfo, error) {
	kernels, _ := s.modules.Get(uint32(m))
	steps, ok := kernels[name]
	if !ok {
		return 0, runner.KernelInfo{}, runner.Errorf(runner.ErrUsage, "kernel", "no kernel %s", name)
	}
	h, err := s.kernels.Add(steps)
	return runner.Kernel(h), runner.KernelInfo{Params: 2, MaxBlock: 64}, err
}

func (s *session) Alloc(_ context.Context, device int, bytes uint64) (runner.Buffer, error) {
	if device < 0 || device >= len(s.devices) {
		return 0, runner.Errorf(runner.ErrUsage, "allocate", "no device %d", device)
	}
	if s.broken != nil {
		return 0, s.broken
	}
	if bytes > Memory-s.used {
		return 0, runner.Errorf(runner.ErrMemory, "allocate", "%d bytes", bytes)
	}
	s.used += bytes
	h, err := s.buffers.Add(make([]byte, bytes))
	return runner.Buffer(h), err
}

func (s *session) Free(_ context.Context, b runner.Buffer) error {
	data, _ := s.buffers.Get(uint32(b))
	s.used -= uint64(len(data))
	s.buffers.Remove(uint32(b))
	return s.broken
}

func (s *session) Run(ctx context.Context, b *runner.Batch) (*runner.Result, error) {
	return runner.Execute(ctx, b, (*executor)(s))
}

type executor session

func (x *executor) Synchronise() error { return x.broken }

func (x *executor) Marks() (list []time.Duration, _ error) {
	list, x.marks = runner.Since(x.marks), nil
	return list, nil
}

func (x *executor) State(energy bool) runner.State {
	s := runner.State{ClockMHz: 1, Temperature: 20}
	if energy {
		s.EnergyJoule = 1
	}
	return s
}

func (x *executor) Enqueue(c *runner.Command, i uint64) ([]byte, error) {
	if x.broken != nil {
		return nil, x.broken
	}
	if c.Kind == runner.CommandMark {
		x.marks = append(x.marks, time.Now())
		return nil, nil
	}
	if c.Kind == runner.CommandLaunch {
		if c.Device >= len(x.devices) {
			return nil, runner.Errorf(runner.ErrUsage, "launch", "no device %d", c.Device)
		}
		steps, ok := x.kernels.Get(uint32(c.Kernel))
		if !ok {
			return nil, runner.Errorf(runner.ErrUsage, "launch", "no kernel %d", c.Kernel)
		}
		for _, s := range steps {
			if err := x.step(s, c, i); err != nil {
				return nil, err
			}
		}
		return nil, nil
	}
	b, ok := x.buffers.Get(uint32(c.Buffer))
	n := max(c.Bytes, uint64(len(c.Data)))
	if !ok || c.Offset > uint64(len(b)) || n > uint64(len(b))-c.Offset {
		return nil, runner.Errorf(runner.ErrUsage, "batch", "no such range of buffer %d", c.Buffer)
	}
	b = b[c.Offset : c.Offset+n]
	switch c.Kind {
	case runner.CommandFill:
		for ; len(b) >= 4; b = b[4:] {
			binary.NativeEndian.PutUint32(b, c.Value)
		}
	case runner.CommandWrite:
		copy(b, c.Data)
	case runner.CommandRead:
		return append([]byte{}, b...), nil
	case runner.CommandCopy:
		from, ok := x.buffers.Get(uint32(c.From))
		if !ok || c.FromAt > uint64(len(from)) || c.Bytes > uint64(len(from))-c.FromAt {
			return nil, runner.Errorf(runner.ErrUsage, "batch", "no such range of buffer %d", c.From)
		}
		copy(b, from[c.FromAt:c.FromAt+c.Bytes])
	}
	return nil, nil
}

func (x *executor) fail(code string) error {
	x.broken = &runner.Error{Kind: runner.ErrFault, Op: "launch", Code: code}
	return x.broken
}

func (x *executor) step(s string, c *runner.Command, i uint64) error {
	s, at, only := strings.Cut(s, "@")
	if n, err := strconv.ParseUint(at, 10, 64); only && (err != nil || n != i) {
		return nil
	}
	s, value, _ := strings.Cut(s, "=")
	switch s {
	case "add":
		b, ok := x.buffers.Get(uint32(c.Args[0].Buffer))
		if !ok {
			return runner.Errorf(runner.ErrUsage, "launch", "no buffer %d", c.Args[0].Buffer)
		}
		for ; len(b) >= 4; b = b[4:] {
			binary.NativeEndian.PutUint32(b, binary.NativeEndian.Uint32(b)+uint32(c.Args[1].At(i)))
		}
	case "sleep":
		d, err := time.ParseDuration(value)
		time.Sleep(d)
		return err
	case "hang":
		select {}
	case "fault":
		return x.fail("FAKE_ILLEGAL_ADDRESS")
	case "lost":
		return x.fail("FAKE_DEVICE_LOST")
	case "gone":
		//input:allow a note to the next process of a test
		if err := os.WriteFile(goneFile(), nil, 0o600); err != nil {
			return err
		}
		return x.fail("FAKE_DEVICE_LOST")
	case "memory":
		return runner.Errorf(runner.ErrMemory, "launch", "on demand")
	default:
		ruin(s)
	}
	return nil
}

// ruin ends or spoils the process.
func ruin(how string) {
	switch how {
	case "exit":
		fmt.Fprintln(os.Stderr, "fake driver: giving up")
		os.Exit(7)
	case "kill":
		if p, err := os.FindProcess(os.Getpid()); err == nil {
			_ = p.Kill()
		}
		select {}
	case "panic":
		panic("fake driver: panic on demand")
	case "garbage":
		f := os.NewFile(4, "replies")
		_, _ = f.WriteString("driver says: warning, warning, warning\n")
	}
}
