// Package verify asks whether a program itself is right: it emulates a launch and reports data races as the PTX memory model
// defines them, barriers that threads reach differently, waits that nobody ends, and accesses that must not be.
//
// The engine is predictive: of each run it keeps which operations causality order relates, with the scopes that they have,
// and so finds races of other executions with the same synchronisation. What it reports is a claim about the launch and input
// that it says; that it found nothing proves nothing about others.
//
// It does not compare machine code with its source (realcode, refine), and knows no file formats but PTX's.
package verify
