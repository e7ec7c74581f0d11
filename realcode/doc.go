// Package realcode compares PTX that people ship with the machine code that
// ptxas makes of it.
//
// Each synchronising instruction of the PTX is looked for in the machine code by
// its line, its address and its class, and the order of what was found is
// compared over the two control-flow graphs. See docs/internals/comparing-programs.md for what a
// result says, and what it does not.
package realcode
