// Package opencl drives devices through the OpenCL ICD loader, without cgo: CPUs
// by PoCL, GPUs by their vendor's driver.
//
// Programs are OpenCL C source. Where the loader looks for drivers is its own
// business (OCL_ICD_FILENAMES, /etc/OpenCL/vendors).
package opencl

import (
	"context"
	"encoding/binary"
	"encoding/hex"
	"fmt"
	"strings"
	"sync"
	"unsafe"

	"optcheck/runner"
)

// Backend is OpenCL.
type Backend struct{}

// New returns the back end.
func New() *Backend { return &Backend{} }

// Name is "opencl".
func (*Backend) Name() string { return "opencl" }

// place is a device with its platform.
type place struct{ platform, device uintptr }

// listing is held while devices are listed: PoCL 3.1 crashes when two threads
// make it initialise its devices at once.
var listing sync.Mutex

// Devices lists the devices of all platforms.
func (*Backend) Devices(context.Context) ([]runner.Device, error) {
	a, err := load()
	if err != nil {
		return nil, err
	}
	listing.Lock()
	defer listing.Unlock()
	places, err := a.places()
	if err != nil {
		return nil, err
	}
	devices := []runner.Device{}
	for i, p := range places {
		devices = append(devices, a.describe(i, p))
	}
	return devices, nil
}

// most bounds the numbers of platforms and devices.
const most = 64

func (a *api) places() ([]place, error) {
	var n uint32
	switch code := a.getPlatformIDs(0, nil, &n); {
	case code == codePlatformNotFound || code == 0 && n == 0:
		return nil, nil
	case code != 0:
		return nil, fail("list platforms", code, false)
	}
	platforms := make([]uintptr, min(n, most))
	if code := a.getPlatformIDs(uint32(len(platforms)), &platforms[0], nil); code != 0 {
		return nil, fail("list platforms", code, false)
	}
	var all []place
	for _, p := range platforms {
		const any = 0xFFFFFFFF
		if code := a.getDeviceIDs(p, any, 0, nil, &n); code != 0 || n == 0 {
			continue
		}
		devices := make([]uintptr, min(n, most))
		if code := a.getDeviceIDs(p, any, uint32(len(devices)), &devices[0], nil); code != 0 {
			continue
		}
		for _, d := range devices {
			all = append(all, place{p, d})
		}
	}
	return all, nil
}

func (a *api) platformText(p uintptr, what uint32) string {
	return text(info(func(size uintptr, to unsafe.Pointer, need *uintptr) int32 {
		return a.getPlatformInfo(p, what, size, to, need)
	}))
}

func (a *api) deviceBytes(d uintptr, what uint32) []byte {
	return info(func(size uintptr, to unsafe.Pointer, need *uintptr) int32 {
		return a.getDeviceInfo(d, what, size, to, need)
	})
}

func (a *api) deviceText(d uintptr, what uint32) string { return text(a.deviceBytes(d, what)) }

// number reads a property of 4 or 8 bytes.
func (a *api) number(d uintptr, what uint32) uint64 { return word(a.deviceBytes(d, what)) }

func text(b []byte) string { return strings.TrimSpace(strings.TrimRight(string(b), "\x00")) }

func word(b []byte) uint64 {
	switch len(b) {
	case 4:
		return uint64(binary.NativeEndian.Uint32(b))
	case 8:
		return binary.NativeEndian.Uint64(b)
	}
	return 0
}

// Properties of the specification (CL/cl.h) and, from 0x4000 on, of the
// extensions cl_nv_device_attribute_query and cl_khr_device_uuid.
const (
	platformName    = 0x0902
	deviceType      = 0x1000
	deviceUnits     = 0x1002
	deviceMaxGroup  = 0x1004
	deviceClock     = 0x100C
	deviceCache     = 0x101E
	deviceMemory    = 0x101F
	deviceLocal     = 0x1023
	deviceName      = 0x102B
	deviceVendor    = 0x102C
	deviceDriver    = 0x102D
	deviceVersion   = 0x102F
	deviceUUID      = 0x106A
	nvidiaMajor     = 0x4000
	nvidiaMinor     = 0x4001
	nvidiaWarp      = 0x4003
	nvidiaBus       = 0x4008
	nvidiaSlot      = 0x4009
	nvidiaDomain    = 0x400A
	typeCPU         = 1 << 1
	typeGPU         = 1 << 2
	typeAccelerator = 1 << 3
)

func (a *api) describe(i int, p place) runner.Device {
	d := runner.Device{
		Backend: "opencl", Index: i,
		Name: a.deviceText(p.device, deviceName), Vendor: a.deviceText(p.device, deviceVendor),
		Platform: a.platformText(p.platform, platformName), Driver: a.deviceText(p.device, deviceDriver),
		API: a.deviceText(p.device, deviceVersion), Units: int(a.number(p.device, deviceUnits)),
		MaxBlock: int(a.number(p.device, deviceMaxGroup)), Shared: a.number(p.device, deviceLocal),
		Memory: a.number(p.device, deviceMemory), ClockMHz: int(a.number(p.device, deviceClock)),
		L2: a.number(p.device, deviceCache), Warp: int(a.number(p.device, nvidiaWarp)),
	}
	switch t := a.number(p.device, deviceType); {
	case t&typeGPU != 0:
		d.Type = "gpu"
	case t&typeCPU != 0:
		d.Type = "cpu"
	case t&typeAccelerator != 0:
		d.Type = "accelerator"
	}
	if u := a.deviceBytes(p.device, deviceUUID); len(u) == 16 {
		h := hex.EncodeToString(u)
		d.UUID = strings.Join([]string{h[:8], h[8:12], h[12:16], h[16:20], h[20:]}, "-")
	}
	if major := a.deviceBytes(p.device, nvidiaMajor); len(major) == 4 && d.Warp > 0 {
		d.Target = fmt.Sprintf("sm_%d%d", word(major), a.number(p.device, nvidiaMinor))
		d.UUID = "GPU-" + d.UUID
		d.PCI = fmt.Sprintf("%04x:%02x:%02x.0", a.number(p.device, nvidiaDomain), a.number(p.device, nvidiaBus),
			a.number(p.device, nvidiaSlot))
	}
	return d
}
