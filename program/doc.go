// Package program runs real programs under stress, looks for the fences that they
// lack, and measures what those cost.
//
// A program is a file: kernels, buffers, launches, and a post-condition that says
// whether a run was right. The package rewrites its PTX, so that ids of blocks and
// warps are permuted and further blocks stress the memory, runs it in the process
// that drives a device, counts the runs that were wrong, and takes fences away as
// long as none is. What it looks for is what Sorensen and Donaldson, Exposing Errors
// Related to Weak Memory in GPU Applications (PLDI 2016), look for; whether the
// fences are in the machine code, and whether a model demands them, is asked of
// realcode.
//
// It knows no litmus tests but those that realcode makes of a program, and it does
// not drive devices itself (runner does).
package program
