// Package cycle generates litmus tests from critical cycles of typed edges, in
// the manner of the diy tools, with the dimensions that GPUs add: scope trees,
// memory maps, cache operators, scoped fences and atomics (Alglave et al., ASPLOS 2015, Sec. 4.1).
//
// It neither emits kernels (ptxgen does) nor judges outcomes (model does).
//
// # Cycles
//
// An edge leads from one access to the next. Communications (Rfe, Fre, Coe)
// lead to another thread and stay on one location; all other edges stay in
// their thread: program order (PodXY to another location, PosXY to the same),
// a fence or barrier between the two accesses, a false dependency, or a
// communication within the thread (Rfi, Fri, Coi). A list of edges that joins
// up is a cycle, a cycle is an execution, and the test asks whether that
// execution can be seen.
//
// # Why sequential consistency forbids every test
//
// No model is needed to know it, because the outcome implies the cycle:
//
// Let an execution be an interleaving of the threads that ends in the outcome.
// Writes to one location have different values, counted from 1 in the
// coherence order that the cycle asks for (walk). An atomic that writes is in
// the outcome with the value that it must return, so it writes just its own
// value: a CAS succeeds, an addition adds to the value before. An atomic that
// stands for a read writes back what it read and so changes nothing. False
// dependencies contribute zero, guards always hold. Hence a value tells which
// write it comes from, and each communication of the cycle is forced:
//
//   - Rf: the value that the read returned is in the outcome.
//   - Fr and Co into the last write of a location: with two or more writes, the
//     final value is in the outcome, so that write comes after all others; with
//     one write, the read returned the initial value, or there is no such edge.
//   - Fr from a read that returned the initial value: every write comes after it.
//   - Fr and Co into an atomic that returned the value read or written at the
//     other end: so it came directly after.
//
// These are the only edges that New lets through (implied). All other edges are
// program order. In an interleaving every edge therefore points forward in
// time, and a cycle cannot. In the other direction, the same values describe a
// candidate execution, so a model without any rule allows the outcome.
//
// # One test, one name
//
// Tests are made in canonical form: of the rotations that keep the family's
// order of threads, the one whose edges, annotations, placement and memory map
// read least (NewSpec). The name spells that form and ParseName reads it back.
// A Generator visits canonical forms only, and a part of a configuration skips
// what an earlier part contains, so nothing has to be remembered: memory does
// not grow with the number of tests.
//
// # Presets
//
//	divisions   1270 tests: three and four threads divided over CTAs, scopes and fences at each place
//	opportunities   8271 tests: something to optimise across every kind of synchronisation
//	opportunities-quick   68 tests: a slice of these, for every day
//	paper   12455 tests: the instructions and hierarchy of the 2015 study
//	ptx     8372 tests: orders, scoped fences and atomics of sm_70 and up, barriers
//	quick   200 tests: a sample of all, for every day
//	scopes  6708 tests: every scope against every placement, clusters and GPUs too
//	score   95 tests: whose mutants score an environment
//	widths  1394 tests: bytes and 16-bit words across every kind of synchronisation
//	async   1782 tests: other ways to meet, and copies
package cycle
