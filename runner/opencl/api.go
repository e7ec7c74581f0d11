package opencl

import (
	"errors"
	"fmt"
	"sync"
	"unsafe"

	"optcheck/runner"
	"optcheck/runner/internal/dl"
)

// api holds the functions of the ICD loader that are used here; names and
// types are those of the OpenCL 1.2 API specification, objects are addresses.
type api struct {
	getPlatformIDs       func(n uint32, ids *uintptr, num *uint32) int32
	getPlatformInfo      func(p uintptr, what uint32, size uintptr, to unsafe.Pointer, need *uintptr) int32
	getDeviceIDs         func(p uintptr, kind uint64, n uint32, ids *uintptr, num *uint32) int32
	getDeviceInfo        func(d uintptr, what uint32, size uintptr, to unsafe.Pointer, need *uintptr) int32
	createContext        func(props *uintptr, n uint32, devices *uintptr, notify, user uintptr, code *int32) uintptr
	createCommandQueue   func(ctx, device uintptr, props uint64, code *int32) uintptr
	createProgram        func(ctx uintptr, n uint32, texts unsafe.Pointer, lengths *uintptr, code *int32) uintptr
	createFromBinary     func(ctx uintptr, n uint32, devices *uintptr, sizes *uintptr, binaries unsafe.Pointer, status, code *int32) uintptr
	buildProgram         func(prog uintptr, n uint32, devices *uintptr, options *byte, notify, user uintptr) int32
	getProgramBuildInfo  func(prog, device uintptr, what uint32, size uintptr, to unsafe.Pointer, need *uintptr) int32
	getProgramInfo       func(prog uintptr, what uint32, size uintptr, to unsafe.Pointer, need *uintptr) int32
	createKernel         func(prog uintptr, name *byte, code *int32) uintptr
	getKernelInfo        func(k uintptr, what uint32, size uintptr, to unsafe.Pointer, need *uintptr) int32
	getKernelWorkGroup   func(k, device uintptr, what uint32, size uintptr, to unsafe.Pointer, need *uintptr) int32
	setKernelArg         func(k uintptr, i uint32, size uintptr, value unsafe.Pointer) int32
	createBuffer         func(ctx uintptr, flags uint64, size uintptr, host uintptr, code *int32) uintptr
	enqueueFillBuffer    func(q, mem uintptr, pattern unsafe.Pointer, patternSize, offset, size uintptr, n uint32, wait, event uintptr) int32
	enqueueWriteBuffer   func(q, mem uintptr, block uint32, offset, size uintptr, from unsafe.Pointer, n uint32, wait, event uintptr) int32
	enqueueReadBuffer    func(q, mem uintptr, block uint32, offset, size uintptr, to unsafe.Pointer, n uint32, wait, event uintptr) int32
	enqueueCopyBuffer    func(q, from, to uintptr, fromAt, toAt, size uintptr, n uint32, wait, event uintptr) int32
	enqueueNDRangeKernel func(q, k uintptr, dims uint32, offset, global, local *uintptr, n uint32, wait, event uintptr) int32
	enqueueMarker        func(q uintptr, n uint32, wait, event *uintptr) int32
	enqueueBarrier       func(q uintptr, n uint32, wait, event *uintptr) int32
	flush, finish        func(q uintptr) int32
	releaseEvent         func(x uintptr) int32
	releaseMemObject     func(x uintptr) int32
	releaseKernel        func(x uintptr) int32
	releaseProgram       func(x uintptr) int32
	releaseCommandQueue  func(x uintptr) int32
	releaseContext       func(x uintptr) int32
}

var load = sync.OnceValues(func() (*api, error) {
	lib, err := dl.Open("libOpenCL.so.1", "libOpenCL.so")
	if err != nil {
		return nil, &runner.Error{Kind: runner.ErrUnsupported, Op: "open OpenCL", Detail: "no ICD loader (libOpenCL.so.1)", Err: err}
	}
	a := &api{}
	var errs []error
	for _, f := range []struct {
		fn   any
		name string
	}{
		{&a.getPlatformIDs, "clGetPlatformIDs"}, {&a.getPlatformInfo, "clGetPlatformInfo"},
		{&a.getDeviceIDs, "clGetDeviceIDs"}, {&a.getDeviceInfo, "clGetDeviceInfo"},
		{&a.createContext, "clCreateContext"}, {&a.createCommandQueue, "clCreateCommandQueue"},
		{&a.createProgram, "clCreateProgramWithSource"}, {&a.createFromBinary, "clCreateProgramWithBinary"}, {&a.buildProgram, "clBuildProgram"},
		{&a.getProgramBuildInfo, "clGetProgramBuildInfo"}, {&a.getProgramInfo, "clGetProgramInfo"},
		{&a.createKernel, "clCreateKernel"}, {&a.getKernelInfo, "clGetKernelInfo"},
		{&a.getKernelWorkGroup, "clGetKernelWorkGroupInfo"}, {&a.setKernelArg, "clSetKernelArg"},
		{&a.createBuffer, "clCreateBuffer"}, {&a.enqueueFillBuffer, "clEnqueueFillBuffer"},
		{&a.enqueueWriteBuffer, "clEnqueueWriteBuffer"}, {&a.enqueueReadBuffer, "clEnqueueReadBuffer"},
		{&a.enqueueCopyBuffer, "clEnqueueCopyBuffer"}, {&a.enqueueNDRangeKernel, "clEnqueueNDRangeKernel"},
		{&a.enqueueMarker, "clEnqueueMarkerWithWaitList"}, {&a.enqueueBarrier, "clEnqueueBarrierWithWaitList"},
		{&a.releaseEvent, "clReleaseEvent"}, {&a.flush, "clFlush"}, {&a.finish, "clFinish"}, {&a.releaseMemObject, "clReleaseMemObject"},
		{&a.releaseKernel, "clReleaseKernel"}, {&a.releaseProgram, "clReleaseProgram"},
		{&a.releaseCommandQueue, "clReleaseCommandQueue"}, {&a.releaseContext, "clReleaseContext"},
	} {
		errs = append(errs, lib.Bind(f.fn, f.name))
	}
	if err := errors.Join(errs...); err != nil {
		return nil, &runner.Error{Kind: runner.ErrUnsupported, Op: "open OpenCL", Err: err}
	}
	return a, nil
})

// Codes of the specification (CL/cl.h) that are told apart here.
const (
	codeDeviceNotFound   = -1
	codeAllocation       = -4
	codeOutOfResources   = -5
	codeOutOfHostMemory  = -6
	codeBuildFailure     = -11
	codeBufferSize       = -61
	codeNVIDIAIllegal    = -9999 // NVIDIA's driver after an illegal address
	codePlatformNotFound = -1001 // of the ICD loader
)

var codeNames = map[int32]string{
	-1: "CL_DEVICE_NOT_FOUND", -2: "CL_DEVICE_NOT_AVAILABLE", -3: "CL_COMPILER_NOT_AVAILABLE",
	-4: "CL_MEM_OBJECT_ALLOCATION_FAILURE", -5: "CL_OUT_OF_RESOURCES", -6: "CL_OUT_OF_HOST_MEMORY",
	-11: "CL_BUILD_PROGRAM_FAILURE", -14: "CL_EXEC_STATUS_ERROR_FOR_EVENTS_IN_WAIT_LIST", -30: "CL_INVALID_VALUE",
	-34: "CL_INVALID_CONTEXT", -36: "CL_INVALID_COMMAND_QUEUE", -38: "CL_INVALID_MEM_OBJECT", -43: "CL_INVALID_BUILD_OPTIONS",
	-44: "CL_INVALID_PROGRAM", -45: "CL_INVALID_PROGRAM_EXECUTABLE", -46: "CL_INVALID_KERNEL_NAME", -48: "CL_INVALID_KERNEL",
	-49: "CL_INVALID_ARG_INDEX", -50: "CL_INVALID_ARG_VALUE", -51: "CL_INVALID_ARG_SIZE", -52: "CL_INVALID_KERNEL_ARGS",
	-53: "CL_INVALID_WORK_DIMENSION", -54: "CL_INVALID_WORK_GROUP_SIZE", -55: "CL_INVALID_WORK_ITEM_SIZE",
	-59: "CL_INVALID_OPERATION", -61: "CL_INVALID_BUFFER_SIZE", -63: "CL_INVALID_GLOBAL_WORK_SIZE",
	-1001: "CL_PLATFORM_NOT_FOUND_KHR", -9999: "-9999 (illegal address, as NVIDIA's driver says it)",
}

// fail turns a code into an error, nil for success. memory says that running
// out of resources means memory here.
func fail(op string, code int32, memory bool) error {
	if code == 0 {
		return nil
	}
	e := &runner.Error{Op: op, Kind: runner.ErrUsage, Code: codeNames[code]}
	if e.Code == "" {
		e.Code = fmt.Sprintf("OpenCL error %d", code)
	}
	switch {
	case code == codeAllocation, memory && (code == codeOutOfResources || code == codeOutOfHostMemory || code == codeBufferSize):
		e.Kind = runner.ErrMemory
	case code == codeBuildFailure:
		e.Kind = runner.ErrCompile
	case code == -36, code == -34, code == codeNVIDIAIllegal, code > -30, code < -70:
		// A queue that became invalid is what NVIDIA's driver leaves behind a fault.
		e.Kind = runner.ErrFault
	}
	return e
}

// info reads a variable-sized property with one of the get…Info functions.
func info(get func(size uintptr, to unsafe.Pointer, need *uintptr) int32) []byte {
	var need uintptr
	if get(0, nil, &need) != 0 || need == 0 || need > 64<<20 {
		return nil
	}
	b := make([]byte, need)
	if get(need, unsafe.Pointer(&b[0]), nil) != 0 {
		return nil
	}
	return b
}
