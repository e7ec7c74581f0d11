// Package toolchain finds, identifies, installs and drives the compilers and
// disassemblers whose work is under check. It starts processes, bounds and
// counts them, and hands back their output; what PTX to compile and what the
// output means is not its business.
//
// # Batches
//
// Starting ptxas costs 10–30 ms and starting nvdisasm 170 ms, so many kernels
// go into one file. Measured with BenchmarkBatch (litmus-like kernels of one
// load, one fence, one store and two markers, sm_80, -lineinfo, nvdisasm -c
// -g, two cores of an EPYC; CPU milliseconds per kernel, "own" is this
// process including the test around it):
//
//	            CUDA 11.2 -O3          CUDA 11.2 -O0          CUDA 12.4 -O3          CUDA 12.4 -O0
//	kernels   ptxas nvdisasm  own    ptxas nvdisasm  own    ptxas nvdisasm  own    ptxas nvdisasm  own
//	      1   27.33  168.1   4.10    25.15  168.8   3.93    10.42  173.0   2.51     9.65  167.0   3.53
//	     16    2.19   10.91  0.24     1.89   11.65  0.25     1.29   10.95  0.24     0.85   11.39  0.24
//	     64    1.01    3.06  0.07     0.73    3.76  0.08     0.79    3.07  0.07     0.43    3.37  0.07
//	    256    0.72    1.16  0.04     0.44    1.89  0.05     0.66    1.09  0.03     0.31    1.44  0.04
//	    512    0.68    0.87  0.03     0.41    1.63  0.05     0.66    0.78  0.02     0.29    1.18  0.03
//	   1000    0.69    0.89  0.03     0.39    1.63  0.03     0.66    0.65  0.02     0.30    1.13  0.02
//
// Beyond 512 kernels 11.2 gains nothing and 12.4 at most a tenth, while a
// batch that has to be taken apart gets dearer: DefaultBatchUnits is 512. Of
// 339 kernels of preset opportunities in five sets by size, 12.4 -O3 took 1.2 to
// 1.4 ms per KB of text in each: batches are balanced by their text. Of
// nvdisasm's options, -g costs up to a fifth (at O0, where its output is
// longest), -hex another 5–20 %, and -ndf saves between nothing (12.4) and a
// third (11.2).
//
// # What the tools do that one would not expect
//
//   - ptxas, nvdisasm and cuobjdump of one toolkit need not have the same
//     version: 12.4 has ptxas 12.4.131 and nvdisasm 12.4.127. The release is
//     what they share.
//   - cuobjdump starts the nvdisasm that NVDISASM_PATH or PATH names, which
//     may be another release's; processes therefore get an environment that
//     leads to their own folder and has nothing else in it.
//   - ELF's version field of a cubin holds the toolkit's release, which makes
//     general ELF readers refuse it.
//   - ptxas refuses with status 255, and after a syntax error says nothing of
//     the rest of the file; other errors are reported for all kernels at once.
//   - nvdisasm 11.2 leaves out the padding NOPs after the last function's last
//     label, which cuobjdump prints.
package toolchain
