package runner

import (
	"fmt"
	"math"
	"time"
)

// Batch is a list of commands that is repeated on the device without coming
// back to the host between repetitions.
type Batch struct {
	// Setup is executed once, before the first repetition.
	Setup []Command
	// Body is executed Repeat times.
	Body []Command
	// Repeat is the number of repetitions; 0 counts as 1.
	Repeat uint64
	// Budget ends the repetitions when it is used up; 0: no limit. At least
	// one repetition is done.
	Budget time.Duration
	// Final is executed once, after the last repetition, also if the batch was
	// stopped early. Read commands stand only here.
	Final []Command
	// Timeout is how long the device may make no progress before the batch
	// counts as hung; 0: DefaultTimeout. Progress is seen at least after each
	// repetition that takes longer than a tenth of a second.
	Timeout time.Duration
	// Energy asks for what the device has used, in Result.Before and After: reading it takes
	// milliseconds.
	Energy bool
	// Progress, if not nil, is called from time to time with the number of
	// completed repetitions. It must return quickly and not use the session.
	Progress func(done uint64)
}

// Result is what a batch did.
type Result struct {
	// Done is the number of completed repetitions.
	Done uint64
	// Stopped reports that Budget or the context ended the batch before Repeat
	// was reached.
	Stopped bool
	// Elapsed is the time from the start of Setup to the end of Final, measured
	// in the process that drives the device.
	Elapsed time.Duration
	// Body is the part of Elapsed that the repetitions took.
	Body time.Duration
	// Reads are the results of the Read commands of Final, in order.
	Reads [][]byte
	// Marks are the times of the Mark commands, in the order in which they were
	// executed, from the first one on; of a device without clocks that can be asked,
	// those of its process.
	Marks []time.Duration
	// Watts is the mean power of what was read between repetitions, 0 if unknown.
	Watts float64
	// Before and After are the device's state around the batch.
	Before, After State
}

// CommandKind says what a Command does.
type CommandKind uint8

// The kinds of command.
const (
	CommandFill   CommandKind = iota + 1 // set words of a buffer to a value
	CommandWrite                         // copy bytes into a buffer
	CommandRead                          // copy bytes out of a buffer
	CommandCopy                          // copy between buffers of the device
	CommandLaunch                        // run a kernel
	CommandMark                          // note the device's time (Result.Marks)
)

// Command is one step of a batch. Use the functions Fill, Write, Read, Copy
// and Launch to make one. Commands take effect in order, on several devices too,
// except launches that run beside others.
type Command struct {
	Kind   CommandKind
	Buffer Buffer // Fill, Write, Read, Copy (to)
	Offset uint64 // in bytes; Fill, Write, Read, Copy (to)
	Bytes  uint64 // Fill, Read, Copy: how many; Fill: a multiple of 4
	Value  uint32 // Fill
	Data   []byte // Write
	From   Buffer // Copy
	FromAt uint64 // Copy: offset in From
	Kernel Kernel // Launch
	Dims   Dims   // Launch
	Args   []Arg  // Launch
	// Device is which of the session's devices a Launch runs on.
	Device int
	// Beside lets a Launch start together with the one before it, on another device.
	Beside bool
}

// Dims are the dimensions of a launch.
type Dims struct {
	// Grid is the number of CTAs (work-groups), Block the number of threads of
	// each; a zero counts as 1.
	Grid, Block [3]uint32
	// Cluster is the number of CTAs of a cluster, or zero for none. It needs
	// Device.Clusters.
	Cluster [3]uint32
	// Shared is the dynamic shared memory of a CTA in bytes (CUDA only; OpenCL
	// kernels take LocalArg).
	Shared uint32
}

// Dim1 returns dimensions of a launch in one dimension.
func Dim1(ctas, threads uint32) Dims {
	return Dims{Grid: [3]uint32{ctas, 1, 1}, Block: [3]uint32{threads, 1, 1}}
}

// Filled returns the dimensions with zeros replaced by ones; Cluster stays as
// it is if it is all zero.
func (d Dims) Filled() Dims {
	for i := range 3 {
		d.Grid[i], d.Block[i] = max(1, d.Grid[i]), max(1, d.Block[i])
	}
	if d.Cluster != [3]uint32{} {
		for i := range 3 {
			d.Cluster[i] = max(1, d.Cluster[i])
		}
	}
	return d
}

// Threads is the number of threads of a CTA.
func (d Dims) Threads() uint64 {
	d = d.Filled()
	return uint64(d.Block[0]) * uint64(d.Block[1]) * uint64(d.Block[2])
}

// ArgKind says what an Arg is.
type ArgKind uint8

// The kinds of argument.
const (
	ArgBuffer    ArgKind = iota + 1 // a buffer's address (64 bits)
	ArgU32                          // a 32-bit word
	ArgU64                          // a 64-bit word
	ArgCounter32                    // Value + Step × repetition, modulo 2^32
	ArgCounter64                    // Value + Step × repetition, modulo 2^64
	ArgLocal                        // Value bytes of local memory (OpenCL only)
)

// Arg is an argument of a kernel.
type Arg struct {
	Kind   ArgKind
	Buffer Buffer
	Value  uint64
	Step   uint64
}

// BufArg passes the address of a buffer.
func BufArg(b Buffer) Arg { return Arg{Kind: ArgBuffer, Buffer: b} }

// U32 passes a 32-bit word.
func U32(v uint32) Arg { return Arg{Kind: ArgU32, Value: uint64(v)} }

// U64 passes a 64-bit word.
func U64(v uint64) Arg { return Arg{Kind: ArgU64, Value: v} }

// Counter32 passes start + step × the number of the repetition, counted from
// 0, as a 32-bit word: a new value in each repetition.
func Counter32(start, step uint32) Arg {
	return Arg{Kind: ArgCounter32, Value: uint64(start), Step: uint64(step)}
}

// Counter64 is Counter32 for a 64-bit word.
func Counter64(start, step uint64) Arg { return Arg{Kind: ArgCounter64, Value: start, Step: step} }

// LocalArg gives an OpenCL kernel that many bytes of local memory.
func LocalArg(bytes uint64) Arg { return Arg{Kind: ArgLocal, Value: bytes} }

// At is the argument's word in a repetition; not for buffers and local memory.
func (a Arg) At(repetition uint64) uint64 {
	switch a.Kind {
	case ArgCounter32:
		return (a.Value + a.Step*repetition) & math.MaxUint32
	case ArgCounter64:
		return a.Value + a.Step*repetition
	}
	return a.Value
}

// Fill sets bytes of a buffer, from offset, to a repeated 32-bit word.
func Fill(b Buffer, offset, bytes uint64, word uint32) Command {
	return Command{Kind: CommandFill, Buffer: b, Offset: offset, Bytes: bytes, Value: word}
}

// Write copies data into a buffer.
func Write(b Buffer, offset uint64, data []byte) Command {
	return Command{Kind: CommandWrite, Buffer: b, Offset: offset, Data: data}
}

// Read copies bytes out of a buffer; they are in Result.Reads.
func Read(b Buffer, offset, bytes uint64) Command {
	return Command{Kind: CommandRead, Buffer: b, Offset: offset, Bytes: bytes}
}

// Copy copies bytes between buffers of the device.
func Copy(to Buffer, toAt uint64, from Buffer, fromAt, bytes uint64) Command {
	return Command{Kind: CommandCopy, Buffer: to, Offset: toAt, From: from, FromAt: fromAt, Bytes: bytes}
}

// Mark notes the time at which the device comes to it.
func Mark() Command { return Command{Kind: CommandMark} }

// Launch runs a kernel.
func Launch(k Kernel, d Dims, args ...Arg) Command {
	return Command{Kind: CommandLaunch, Kernel: k, Dims: d, Args: args}
}

// On returns a launch on another device; beside: with the one before it.
func (c Command) On(device int, beside bool) Command {
	c.Device, c.Beside = device, beside
	return c
}

// Limits of a batch; it may come from another process.
const (
	MaxCommands  = 1 << 16
	MaxArgs      = 128
	MaxTransfer  = 256 << 20 // bytes that the Writes, and the Reads, of a batch move
	MaxImage     = 128 << 20 // bytes
	MaxKernelLen = 1 << 10   // bytes of a kernel's name
	MaxMarks     = 1 << 14   // Mark commands that a batch executes
)

// Check reports what is wrong with a batch that does not depend on a device.
func (b *Batch) Check() error {
	n := len(b.Setup) + len(b.Body) + len(b.Final)
	if n > MaxCommands {
		return fmt.Errorf("batch of %d commands, at most %d are taken", n, MaxCommands)
	}
	if b.Timeout < 0 || b.Budget < 0 {
		return fmt.Errorf("batch with a negative time limit")
	}
	var in, out, marks uint64
	parts := [...]struct {
		name string
		list []Command
	}{{"setup", b.Setup}, {"body", b.Body}, {"final", b.Final}}
	for _, part := range parts {
		for i := range part.list {
			c := &part.list[i]
			if err := c.check(); err != nil {
				return fmt.Errorf("batch %s, command %d: %w", part.name, i, err)
			}
			if c.Beside && (i == 0 || c.Kind != CommandLaunch || part.list[i-1].Kind != CommandLaunch) {
				return fmt.Errorf("batch %s, command %d: only a launch runs beside another one", part.name, i)
			}
			if c.Kind == CommandRead {
				if part.name != "final" {
					return fmt.Errorf("batch %s, command %d: reads stand only in Final", part.name, i)
				}
				out += min(c.Bytes, MaxTransfer+1)
			}
			in += uint64(len(c.Data))
			if c.Kind == CommandMark {
				marks += map[bool]uint64{true: max(1, b.Repeat), false: 1}[part.name == "body"]
			}
		}
	}
	if marks > MaxMarks {
		return fmt.Errorf("batch with more than %d marks", MaxMarks)
	}
	if in > MaxTransfer || out > MaxTransfer {
		return fmt.Errorf("batch moves more than %d bytes between host and device", uint64(MaxTransfer))
	}
	return nil
}

func (c *Command) check() error {
	switch c.Kind {
	case CommandFill:
		if c.Bytes%4 != 0 || c.Offset%4 != 0 {
			return fmt.Errorf("fill of %d bytes at %d: not whole words", c.Bytes, c.Offset)
		}
	case CommandWrite, CommandRead, CommandCopy, CommandMark:
	case CommandLaunch:
		return c.checkLaunch()
	default:
		return fmt.Errorf("unknown kind %d", c.Kind)
	}
	return nil
}

func (c *Command) checkLaunch() error {
	if len(c.Args) > MaxArgs {
		return fmt.Errorf("%d arguments, at most %d are taken", len(c.Args), MaxArgs)
	}
	if c.Device < 0 || c.Device >= MaxDevices {
		return fmt.Errorf("launch on device %d", c.Device)
	}
	d := c.Dims.Filled()
	if d.Threads() > 1<<16 {
		return fmt.Errorf("CTA of %d threads", d.Threads())
	}
	for i := range 3 {
		if n := d.Cluster[i]; n > 0 && d.Grid[i]%n != 0 {
			return fmt.Errorf("grid of %d CTAs is no multiple of clusters of %d", d.Grid[i], n)
		}
	}
	for i, a := range c.Args {
		if a.Kind < ArgBuffer || a.Kind > ArgLocal {
			return fmt.Errorf("argument %d: unknown kind %d", i, a.Kind)
		}
	}
	return nil
}
