// Package runner runs compiled litmus tests on real devices and counts what
// they do.
//
// Its lower half is machinery that knows nothing of litmus tests: back ends
// (CUDA's driver interface, OpenCL) behind one small interface, a child process
// per device with a watchdog, faults, lock files, histograms and their
// statistics. A back end executes batches: buffers filled, kernels launched
// many times with changing arguments, results read back. Incantations, the
// layout of kernels and the meaning of the counted words are the business of
// the upper half.
//
// It does not compile PTX by a toolchain's release (toolchain does), does not
// check machine code (optcheck does) and does not judge outcomes (model does).
//
// Rules that everything here keeps:
//
//   - What was counted is never lost: a batch that is cancelled still reads its
//     histogram back, and a fault costs only the batch that it happened in.
//   - A batch that hung is a timeout. It says nothing of what was not observed.
//   - Settings of a device are read, never changed; memory is taken by plain
//     allocations.
package runner
