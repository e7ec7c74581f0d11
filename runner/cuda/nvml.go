package cuda

import (
	"sync"

	"optcheck/runner"
	"optcheck/runner/internal/dl"
)

// monitor reads clocks and temperature of one GPU through NVML. Everything is
// optional: a machine without NVML runs tests as well, it only knows less of
// the conditions. Nothing is ever set.
type monitor struct {
	n      *nvml
	handle uintptr
}

type nvml struct {
	init           func() int32
	driverVersion  func(text *byte, size uint32) int32
	handleByPCI    func(id *byte, handle *uintptr) int32
	clock          func(handle uintptr, kind uint32, mhz *uint32) int32
	maxClock       func(handle uintptr, kind uint32, mhz *uint32) int32
	temperature    func(handle uintptr, sensor uint32, celsius *uint32) int32
	power          func(handle uintptr, milliwatt *uint32) int32
	energy         func(handle uintptr, millijoule *uint64) int32
	throttleReason func(handle uintptr, reasons *uint64) int32
}

var loadNVML = sync.OnceValue(func() *nvml {
	lib, err := dl.Open("libnvidia-ml.so.1", "libnvidia-ml.so")
	if err != nil {
		return nil
	}
	n := &nvml{}
	if lib.Bind(&n.init, "nvmlInit_v2") != nil || lib.Bind(&n.handleByPCI, "nvmlDeviceGetHandleByPciBusId_v2") != nil || n.init() != 0 {
		return nil
	}
	// Functions that are missing stay nil.
	_ = lib.Bind(&n.driverVersion, "nvmlSystemGetDriverVersion")
	_ = lib.Bind(&n.clock, "nvmlDeviceGetClockInfo")
	_ = lib.Bind(&n.maxClock, "nvmlDeviceGetMaxClockInfo")
	_ = lib.Bind(&n.temperature, "nvmlDeviceGetTemperature")
	_ = lib.Bind(&n.power, "nvmlDeviceGetPowerUsage")
	_ = lib.Bind(&n.energy, "nvmlDeviceGetTotalEnergyConsumption")
	_ = lib.Bind(&n.throttleReason, "nvmlDeviceGetCurrentClocksEventReasons", "nvmlDeviceGetCurrentClocksThrottleReasons")
	return n
})

// nvmlOf returns the monitor of the GPU at a bus address, nil if there is none.
func nvmlOf(pci string) *monitor {
	n := loadNVML()
	if n == nil || pci == "" {
		return nil
	}
	m := &monitor{n: n}
	id := append([]byte(pci), 0)
	if n.handleByPCI(&id[0], &m.handle) != 0 {
		return nil
	}
	return m
}

// Kinds of clock (nvmlClockType_t).
const (
	clockSM     = 1
	clockMemory = 2
)

func (m *monitor) describe(d *runner.Device) {
	if m.n.driverVersion != nil {
		var version [96]byte
		if m.n.driverVersion(&version[0], uint32(len(version))) == 0 {
			d.Driver = cstring(version[:])
		}
	}
	if v := m.mhz(m.n.maxClock, clockSM); v > 0 {
		d.ClockMHz = v
	}
	if v := m.mhz(m.n.maxClock, clockMemory); v > 0 {
		d.MemoryClockMHz = v
	}
}

func (m *monitor) mhz(get func(uintptr, uint32, *uint32) int32, kind uint32) int {
	var v uint32
	if get == nil || get(m.handle, kind, &v) != 0 {
		return 0
	}
	return int(v)
}

// reasons names the bits that hold clocks down (nvml.h); the idle bit is none.
var reasons = []struct {
	bit  uint64
	name string
}{
	{1 << 1, "application-clocks"}, {1 << 2, "power-cap"}, {1 << 3, "hardware-slowdown"}, {1 << 4, "sync-boost"},
	{1 << 5, "software-thermal"}, {1 << 6, "hardware-thermal"}, {1 << 7, "power-brake"}, {1 << 8, "display-clocks"},
}

// state reads what the GPU is doing. Of all that, energy takes milliseconds.
func (m *monitor) state(energy bool) runner.State {
	if m == nil {
		return runner.State{}
	}
	s := runner.State{ClockMHz: m.mhz(m.n.clock, clockSM), MemoryClockMHz: m.mhz(m.n.clock, clockMemory)}
	var v uint32
	if m.n.temperature != nil && m.n.temperature(m.handle, 0, &v) == 0 {
		s.Temperature = int(v)
	}
	if m.n.power != nil && m.n.power(m.handle, &v) == 0 {
		s.PowerWatt = float64(v) / 1000
	}
	var used uint64
	if energy && m.n.energy != nil && m.n.energy(m.handle, &used) == 0 {
		s.EnergyJoule = float64(used) / 1000
	}
	var bits uint64
	if m.n.throttleReason != nil && m.n.throttleReason(m.handle, &bits) == 0 {
		for _, r := range reasons {
			if bits&r.bit != 0 {
				s.Throttle = append(s.Throttle, r.name)
			}
		}
	}
	return s
}
