// Package hazard tells whether NVIDIA's machine code waits for its registers. The chip does not: the compiler makes each
// instruction wait, by stall counts and by six scoreboards, in control codes that listings omit.
//
// Check follows all paths of a function and finds reads and writes of registers whose producers may still be in flight. What
// an instruction needs is one table in data (table.txt): its class, whether its latency is fixed, and the least number of
// cycles between classes. The package compares no programs and knows no tests; docs/hazards.md says what is assumed.
package hazard
