// Package cuda drives NVIDIA GPUs through the CUDA driver API and NVML, without
// cgo and without a CUDA toolkit: the driver's own libraries are all it needs.
//
// It loads cubins as they are, and PTX by way of the driver's compiler, whose
// cubin it can also hand out to be checked like any other compiler's. Memory is
// taken by plain allocations, never as managed memory, and no setting of the
// card is changed.
package cuda

import (
	"bytes"
	"context"
	"encoding/hex"
	"fmt"
	"strings"

	"optcheck/runner"
)

// Backend is CUDA.
type Backend struct{}

// New returns the back end.
func New() *Backend { return &Backend{} }

// Name is "cuda".
func (*Backend) Name() string { return "cuda" }

// Attributes of devices (CUdevice_attribute in cuda.h).
const (
	attrMaxBlock    = 1
	attrShared      = 8
	attrWarp        = 10
	attrClock       = 13
	attrUnits       = 16
	attrMemoryClock = 36
	attrL2          = 38
	attrUnitThreads = 39
	attrMajor       = 75
	attrMinor       = 76
	attrSharedOptIn = 97
	attrCluster     = 120
)

// ready returns the initialised driver and the number of its devices.
func ready() (*driver, int, error) {
	d, err := load()
	if err != nil {
		return nil, 0, err
	}
	if d.initialised == codeNoDevice {
		return d, 0, nil
	}
	if err := d.fail("start CUDA", d.initialised); err != nil {
		return nil, 0, err
	}
	var n int32
	if code := d.deviceGetCount(&n); code != 0 && code != codeNoDevice {
		return nil, 0, d.fail("list devices", code)
	}
	return d, int(n), nil
}

// Devices lists the GPUs.
func (*Backend) Devices(context.Context) ([]runner.Device, error) {
	d, n, err := ready()
	if err != nil {
		return nil, err
	}
	list := []runner.Device{}
	for i := range min(n, 256) {
		var handle int32
		if err := d.fail("open device", d.deviceGet(&handle, int32(i))); err != nil {
			return nil, err
		}
		list = append(list, d.describe(i, handle))
	}
	return list, nil
}

func (d *driver) describe(i int, handle int32) runner.Device {
	attribute := func(a int32) int {
		var v int32
		if d.deviceGetAttribute(&v, a, handle) != 0 {
			return 0
		}
		return int(v)
	}
	dev := runner.Device{
		Backend: "cuda", Index: i, Vendor: "NVIDIA", Type: "gpu",
		Target: fmt.Sprintf("sm_%d%d", attribute(attrMajor), attribute(attrMinor)),
		Units:  attribute(attrUnits), Warp: attribute(attrWarp), MaxBlock: attribute(attrMaxBlock),
		UnitThreads: attribute(attrUnitThreads), Shared: uint64(max(attribute(attrShared), attribute(attrSharedOptIn))),
		ClockMHz: attribute(attrClock) / 1000, MemoryClockMHz: attribute(attrMemoryClock) / 1000,
		L2: uint64(attribute(attrL2)), Clusters: attribute(attrCluster) != 0 && d.launchKernelEx != nil,
	}
	var name [256]byte
	if d.deviceGetName(&name[0], int32(len(name)), handle) == 0 {
		dev.Name = cstring(name[:])
	}
	var uuid [16]byte
	if d.deviceGetUUID(&uuid, handle) == 0 {
		h := hex.EncodeToString(uuid[:])
		dev.UUID = "GPU-" + strings.Join([]string{h[:8], h[8:12], h[12:16], h[16:20], h[20:]}, "-")
	}
	var pci [64]byte
	if d.deviceGetPCIBusID(&pci[0], int32(len(pci)), handle) == 0 {
		dev.PCI = strings.ToLower(cstring(pci[:]))
	}
	var version int32
	if d.driverGetVersion(&version) == 0 {
		dev.API = fmt.Sprintf("CUDA %d.%d", version/1000, version%1000/10)
	}
	if d.deviceTotalMem(&dev.Memory, handle) != 0 {
		dev.Memory = 0
	}
	if m := nvmlOf(dev.PCI); m != nil {
		m.describe(&dev)
	}
	return dev
}

func cstring(b []byte) string {
	b, _, _ = bytes.Cut(b, []byte{0})
	return string(b)
}
