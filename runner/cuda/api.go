package cuda

import (
	"errors"
	"fmt"
	"sync"
	"unsafe"

	"optcheck/runner"
	"optcheck/runner/internal/dl"
)

// driver holds the functions of the CUDA driver API that are used here, under
// the symbols of its versioned interface; objects and device addresses are
// numbers.
type driver struct {
	init               func(flags uint32) int32
	driverGetVersion   func(*int32) int32
	getErrorName       func(code int32, name **byte) int32
	deviceGetCount     func(*int32) int32
	deviceGet          func(device *int32, ordinal int32) int32
	deviceGetName      func(name *byte, size, device int32) int32
	deviceGetUUID      func(uuid *[16]byte, device int32) int32
	deviceGetAttribute func(value *int32, attribute, device int32) int32
	deviceTotalMem     func(bytes *uint64, device int32) int32
	deviceGetPCIBusID  func(id *byte, size, device int32) int32
	primaryCtxRetain   func(ctx *uintptr, device int32) int32
	primaryCtxRelease  func(device int32) int32
	ctxSetCurrent      func(ctx uintptr) int32
	ctxSynchronize     func() int32
	eventCreate        func(event *uintptr, flags uint32) int32
	eventDestroy       func(event uintptr) int32
	eventRecord        func(event, stream uintptr) int32
	eventElapsed       func(ms *float32, from, to uintptr) int32
	streamWaitEvent    func(stream, event uintptr, flags uint32) int32
	canAccessPeer      func(can *int32, device, peer int32) int32
	getP2PAttribute    func(value *int32, attribute, device, peer int32) int32
	enablePeerAccess   func(ctx uintptr, flags uint32) int32
	memGetInfo         func(free, total *uint64) int32
	memAlloc           func(address *uint64, bytes uint64) int32
	memFree            func(address uint64) int32
	memcpyHtoD         func(to uint64, from unsafe.Pointer, bytes uint64) int32
	memcpyDtoH         func(to unsafe.Pointer, from uint64, bytes uint64) int32
	memcpyDtoDAsync    func(to, from, bytes uint64, stream uintptr) int32
	memsetD32Async     func(to uint64, value uint32, words uint64, stream uintptr) int32
	moduleLoadData     func(module *uintptr, image unsafe.Pointer) int32
	moduleUnload       func(module uintptr) int32
	moduleGetFunction  func(function *uintptr, module uintptr, name *byte) int32
	funcGetAttribute   func(value *int32, attribute int32, function uintptr) int32
	funcSetAttribute   func(function uintptr, attribute, value int32) int32
	occupancy          func(ctas *int32, function uintptr, threads int32, shared uint64) int32
	launchKernel       func(function uintptr, gx, gy, gz, bx, by, bz, shared uint32, stream uintptr, params, extra unsafe.Pointer) int32
	launchKernelEx     func(config unsafe.Pointer, function uintptr, params, extra unsafe.Pointer) int32
	linkCreate         func(n uint32, options *int32, values *uintptr, state *uintptr) int32
	linkAddData        func(state uintptr, kind int32, data unsafe.Pointer, size uint64, name *byte, n uint32,
		options *int32, values *uintptr) int32
	linkComplete     func(state uintptr, cubin *unsafe.Pointer, size *uint64) int32
	linkDestroy      func(state uintptr) int32
	funcGetParamInfo func(function uintptr, index uint64, offset, size *uint64) int32 // 12.4 and later, else nil
	initialised      int32
}

var load = sync.OnceValues(func() (*driver, error) {
	lib, err := dl.Open("libcuda.so.1", "libcuda.so")
	if err != nil {
		return nil, &runner.Error{Kind: runner.ErrUnsupported, Op: "open CUDA", Detail: "no driver (libcuda.so.1)", Err: err}
	}
	d := &driver{}
	var errs []error
	for _, f := range []struct {
		fn   any
		name string
	}{
		{&d.init, "cuInit"}, {&d.driverGetVersion, "cuDriverGetVersion"}, {&d.getErrorName, "cuGetErrorName"},
		{&d.deviceGetCount, "cuDeviceGetCount"}, {&d.deviceGet, "cuDeviceGet"}, {&d.deviceGetName, "cuDeviceGetName"},
		{&d.deviceGetUUID, "cuDeviceGetUuid"}, {&d.deviceGetAttribute, "cuDeviceGetAttribute"},
		{&d.deviceTotalMem, "cuDeviceTotalMem_v2"}, {&d.deviceGetPCIBusID, "cuDeviceGetPCIBusId"},
		{&d.primaryCtxRetain, "cuDevicePrimaryCtxRetain"}, {&d.primaryCtxRelease, "cuDevicePrimaryCtxRelease_v2"},
		{&d.ctxSetCurrent, "cuCtxSetCurrent"}, {&d.ctxSynchronize, "cuCtxSynchronize"},
		{&d.eventCreate, "cuEventCreate"}, {&d.eventDestroy, "cuEventDestroy_v2"}, {&d.eventRecord, "cuEventRecord"},
		{&d.eventElapsed, "cuEventElapsedTime"},
		{&d.streamWaitEvent, "cuStreamWaitEvent"}, {&d.canAccessPeer, "cuDeviceCanAccessPeer"},
		{&d.getP2PAttribute, "cuDeviceGetP2PAttribute"}, {&d.enablePeerAccess, "cuCtxEnablePeerAccess"},
		{&d.memGetInfo, "cuMemGetInfo_v2"}, {&d.memAlloc, "cuMemAlloc_v2"}, {&d.memFree, "cuMemFree_v2"},
		{&d.memcpyHtoD, "cuMemcpyHtoD_v2"}, {&d.memcpyDtoH, "cuMemcpyDtoH_v2"},
		{&d.memcpyDtoDAsync, "cuMemcpyDtoDAsync_v2"}, {&d.memsetD32Async, "cuMemsetD32Async"},
		{&d.moduleLoadData, "cuModuleLoadData"}, {&d.moduleUnload, "cuModuleUnload"},
		{&d.moduleGetFunction, "cuModuleGetFunction"}, {&d.funcGetAttribute, "cuFuncGetAttribute"},
		{&d.funcSetAttribute, "cuFuncSetAttribute"}, {&d.occupancy, "cuOccupancyMaxActiveBlocksPerMultiprocessor"},
		{&d.launchKernel, "cuLaunchKernel"}, {&d.linkCreate, "cuLinkCreate_v2"}, {&d.linkAddData, "cuLinkAddData_v2"},
		{&d.linkComplete, "cuLinkComplete"}, {&d.linkDestroy, "cuLinkDestroy"},
	} {
		errs = append(errs, lib.Bind(f.fn, f.name))
	}
	if err := errors.Join(errs...); err != nil {
		return nil, &runner.Error{Kind: runner.ErrUnsupported, Op: "open CUDA", Err: err}
	}
	// What older drivers do not have stays nil.
	_ = lib.Bind(&d.launchKernelEx, "cuLaunchKernelEx")
	_ = lib.Bind(&d.funcGetParamInfo, "cuFuncGetParamInfo")
	d.initialised = d.init(0)
	return d, nil
})

// Codes of cuda.h that are told apart here.
const (
	codeOutOfMemory     = 2
	codeNoDevice        = 100
	codeOutOfResources  = 701
	codeJITNotFound     = 221
	codeJITDisabled     = 223
	codeNotSupported    = 801
	codeSystemNotReady  = 802
	codeDriverMismatch  = 803
	codeInvalidImage    = 200
	codeNoBinary        = 209
	codeInvalidPTX      = 218
	codeUnsupportedPTX  = 222
	codeInvalidSource   = 300
	codeNotInitialised  = 3
	codeInvalidValue    = 1
	codeInvalidHandle   = 400
	codeNotFound        = 500
	codeUnsupportedExec = 224
	codeInvalidDevice   = 101
	codeInvalidClusters = 912
	codeNotPermitted    = 800
)

func kindOf(code int32) error {
	switch code {
	case codeOutOfMemory:
		return runner.ErrMemory
	case codeNoDevice, codeJITNotFound, codeJITDisabled, codeNotSupported, codeSystemNotReady, codeDriverMismatch, codeUnsupportedExec:
		return runner.ErrUnsupported
	case codeInvalidImage, codeNoBinary, codeInvalidPTX, codeUnsupportedPTX, codeInvalidSource:
		return runner.ErrCompile
	case codeInvalidValue, codeNotInitialised, codeInvalidDevice, codeInvalidHandle, codeNotFound, codeOutOfResources,
		codeInvalidClusters, codeNotPermitted:
		return runner.ErrUsage
	}
	// Illegal addresses, lost devices, a context that is no longer one, and
	// whatever is not known: nothing may be concluded.
	return runner.ErrFault
}

// fail turns a code into an error, nil for success.
func (d *driver) fail(op string, code int32) error {
	if code == 0 {
		return nil
	}
	return &runner.Error{Kind: kindOf(code), Op: op, Code: d.name(code)}
}

func (d *driver) name(code int32) string {
	var p *byte
	if d.getErrorName(code, &p) == 0 && p != nil {
		return text(p)
	}
	return fmt.Sprintf("CUDA error %d", code)
}

// text copies a C string of the driver, bounded.
func text(p *byte) string {
	n := 0
	for n < 256 && *(*byte)(unsafe.Add(unsafe.Pointer(p), n)) != 0 {
		n++
	}
	return string(unsafe.Slice(p, n))
}
