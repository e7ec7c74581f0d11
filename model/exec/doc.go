// Package exec gives litmus tests a meaning as events and relations, and enumerates their
// candidate executions under a compiled memory model.
//
// A test is compiled once (Compile). Every thread is unfolded into its paths, on which loads
// have symbolic values. One path per thread makes a graph with a fixed set of events. The
// search then chooses a write for every read (rf), the coherence orders (co), the order of
// fence.sc (sync_fence) and the phases of barriers, and asks the model.
//
// The package knows nothing about particular models: it sees them only as compiled programs of
// package cat.
package exec
