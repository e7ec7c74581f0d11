// Package toolchain finds, identifies, installs and drives the compilers and
// disassemblers whose work is under check. It starts processes, bounds and
// counts them, and hands back their output; what the output means is not its
// business.
package toolchain
