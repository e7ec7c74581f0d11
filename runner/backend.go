package runner

import (
	"context"
	"slices"
	"time"
)

// Backend is one way to reach devices: "cuda", "opencl".
type Backend interface {
	// Name is the back end's name as users write it.
	Name() string
	// Devices lists the devices, in the order of the driver. A machine without
	// the driver's library is an error of kind ErrUnsupported, a machine
	// without devices an empty list.
	Devices(ctx context.Context) ([]Device, error)
	// Open starts to use a device, or several at a time, each of which can access the
	// memory of the others. ErrUnsupported: they cannot, with the reason.
	Open(ctx context.Context, devices ...int) (Session, error)
}

// Device describes one device. Numbers that the driver does not tell are 0,
// texts empty.
type Device struct {
	Backend string `json:"backend"`
	Index   int    `json:"index"` // within the back end
	Name    string `json:"name"`
	Vendor  string `json:"vendor,omitempty"`
	// Platform is the OpenCL platform; empty for CUDA.
	Platform string `json:"platform,omitempty"`
	// Type is "gpu", "cpu" or "accelerator".
	Type string `json:"type"`
	// UUID identifies the device over reboots; "" if the driver has none.
	UUID string `json:"uuid,omitempty"`
	// PCI is the bus address, "0000:17:00.0".
	PCI string `json:"pci,omitempty"`
	// Target is the architecture to compile for, "sm_90"; "" for OpenCL C.
	Target string `json:"target,omitempty"`
	// Driver is the driver's version, "580.159.04".
	Driver string `json:"driver,omitempty"`
	// API is the version of the interface: "CUDA 13.0", "OpenCL 3.0 PoCL 3.1".
	API string `json:"api,omitempty"`
	// Units is the number of multiprocessors or compute units.
	Units int `json:"compute_units"`
	// Warp is the number of threads that run in lockstep.
	Warp int `json:"warp,omitempty"`
	// MaxBlock is the largest number of threads in a CTA (work-group).
	MaxBlock int `json:"max_threads_per_cta"`
	// UnitThreads is the largest number of threads resident on one
	// multiprocessor; 0 if unknown.
	UnitThreads int `json:"threads_per_unit,omitempty"`
	// Shared is the shared (local) memory that a CTA may have, in bytes.
	Shared uint64 `json:"shared_bytes_per_cta"`
	// Memory is the device's memory in bytes.
	Memory uint64 `json:"memory_bytes"`
	// ClockMHz and MemoryClockMHz are the highest clocks of the processors and
	// of the memory.
	ClockMHz       int `json:"max_clock_mhz,omitempty"`
	MemoryClockMHz int `json:"max_memory_clock_mhz,omitempty"`
	// L2 is the size of the last-level cache in bytes.
	L2 uint64 `json:"l2_bytes,omitempty"`
	// Clusters reports whether kernels can be launched in thread-block clusters.
	Clusters bool `json:"clusters,omitempty"`
}

// State is what a device is doing now. Numbers that are not known are 0.
type State struct {
	ClockMHz       int     `json:"clock_mhz,omitempty"`
	MemoryClockMHz int     `json:"memory_clock_mhz,omitempty"`
	Temperature    int     `json:"temperature_c,omitempty"` // degrees Celsius
	PowerWatt      float64 `json:"power_w,omitempty"`
	// EnergyJoule is what the device has used since its driver was loaded, if a batch asks
	// for it.
	EnergyJoule float64 `json:"energy_j,omitempty"`
	// Throttle names what holds the clocks down now, as the driver says.
	Throttle   []string `json:"throttle,omitempty"`
	FreeMemory uint64   `json:"free_memory_bytes,omitempty"`
}

// Module, Kernel and Buffer are handles of a Session. The zero value is none.
type (
	Module uint32
	Kernel uint32
	Buffer uint32
)

// ImageKind says what an Image holds.
type ImageKind uint8

// The kinds of image.
const (
	ImageCubin        ImageKind = iota + 1 // a CUDA ELF file for the device's architecture
	ImagePTX                               // PTX text, compiled by the driver
	ImageOpenCLC                           // OpenCL C source, compiled by the driver
	ImageFake                              // a script of the fake back end
	ImageOpenCLBinary                      // what Compile made of OpenCL C on this device
)

// String names the kind.
func (k ImageKind) String() string {
	switch k {
	case ImageCubin:
		return "cubin"
	case ImagePTX:
		return "ptx"
	case ImageOpenCLC:
		return "opencl-c"
	case ImageOpenCLBinary:
		return "opencl-binary"
	case ImageFake:
		return "fake"
	}
	return "unknown"
}

// Image is code for a device, in one of the forms that drivers take.
type Image struct {
	Kind ImageKind
	Data []byte
	// Options are the options of the driver's own compiler: for OpenCL C the
	// build options; for PTX "-O0" to "-O3" and "-lineinfo"; for cubins none.
	Options string
}

// Compiled is what a driver's own compiler made of an image.
type Compiled struct {
	// Binary is a cubin for PTX; for OpenCL C the program's binary in the
	// driver's form, which NVIDIA's driver gives as PTX.
	Binary []byte
	// Log is what the compiler said.
	Log string
}

// KernelInfo describes a loaded kernel. Numbers that are not known are 0.
type KernelInfo struct {
	Registers int    // registers per thread
	Shared    uint64 // static shared memory in bytes
	Local     uint64 // local memory per thread in bytes
	MaxBlock  int    // largest CTA in threads
	Params    int    // number of parameters, -1 if not known
	// Resident is how many CTAs of 128 threads fit on one multiprocessor.
	Resident int
}

// MaxDevices is how many devices a session may use.
const MaxDevices = 8

// CheckDevices tells whether a session may use devices that are asked for, of n that
// are there.
func CheckDevices(n int, devices ...int) error {
	if len(devices) == 0 || len(devices) > MaxDevices {
		return Errorf(ErrUsage, "open", "%d devices, from 1 to %d are taken", len(devices), MaxDevices)
	}
	for i, d := range devices {
		switch {
		case d >= n && len(devices) > 1:
			return Errorf(ErrUnsupported, "open", "tests across devices need device %d; there are %d", d, n)
		case d < 0 || d >= n:
			return Errorf(ErrUsage, "open", "there is no device %d; there are %d", d, n)
		case slices.Contains(devices[:i], d):
			return Errorf(ErrUsage, "open", "device %d is named twice", d)
		}
	}
	return nil
}

// Session uses one device, or several: these are numbered from 0 on, in the order in
// which they were opened, and modules and kernels are there on all of them. Its methods are called by one goroutine at a time;
// any will do. After an error of kind ErrFault, ErrTimeout or ErrChild of a
// Session that runs in a child process the session lives on: the child was
// started again, modules, kernels and buffers exist as before, and only the
// contents of buffers are lost (see Epoch).
type Session interface {
	// Device describes the device, the first of several.
	Device() Device
	// Devices describes all.
	Devices() []Device
	// Compile runs the driver's own compiler and returns what it made, without
	// loading it. ErrCompile: the driver refused the code.
	Compile(ctx context.Context, image Image) (*Compiled, error)
	// Load makes the kernels of an image ready. ErrCompile: the driver refused
	// the code; ErrUnsupported: the device does not take this kind of image.
	Load(ctx context.Context, image Image) (Module, error)
	// Unload forgets a module and its kernels.
	Unload(ctx context.Context, m Module) error
	// Kernel finds a kernel of a module by name.
	Kernel(ctx context.Context, m Module, name string) (Kernel, KernelInfo, error)
	// Alloc takes memory of one of the devices; its contents are zero. ErrMemory:
	// there is not enough.
	Alloc(ctx context.Context, device int, bytes uint64) (Buffer, error)
	// Free gives memory back.
	Free(ctx context.Context, b Buffer) error
	// Run executes a batch. A non-nil Result is valid even if the error is not
	// nil: a cancelled batch has been stopped between repetitions, its Final
	// commands were executed, and Result.Done counts what was completed.
	Run(ctx context.Context, b *Batch) (*Result, error)
	// State reads clocks and temperature of the first device.
	State(ctx context.Context) (State, error)
	// Epoch counts how often the contents of all buffers were lost because the
	// child process was started again; 0 at first.
	Epoch() int
	// Close ends the use of the device.
	Close() error
}

// DefaultTimeout is how long a device may make no progress before it counts as
// hung, unless a Batch says otherwise.
const DefaultTimeout = 20 * time.Second
