package spec

// MaxSequence is the maximum number of accesses in a stress sequence. Each of them is a load
// and a store in the code, of which predicates choose one or none.
const MaxSequence = 5

// Harness is what the checker must know about a kernel that runs many instances of a test: each
// thread's specification, and which of the kernel's parameters say which threads play which
// role. Offsets are in bytes from the first parameter.
//
// The parameters begin as in audit form with layout Pointers: one address per location, then
// the address for markers; in the layout Adjacent, the address for markers comes first. After
// these, Memory lists the parameters that are addresses of the harness's own memory; all others
// are numbers.
type Harness struct {
	Specs []*Spec // by thread, layout Pointers or Adjacent
	// Locations holds, by location, the parameters with the addresses of locations. In the
	// layout Adjacent, that of the first location in a memory serves all there.
	Locations []int64
	// Cell is the alignment in bytes of a cell of the layout Adjacent, a power of two; 0 in
	// other layouts.
	Cell int64
	// Roles holds, by thread of the test, the offset of the parameter that a thread of the
	// kernel compares its own slot with to determine whether it plays the role.
	Roles []int64
	// Stress is the same for the threads that execute stress.
	Stress int64
	// Memory lists the offsets of parameters that are addresses of memory which no test access
	// touches: results, counters, windows of shared memory.
	Memory []int64
	// Scratch is the element of Memory that stress accesses use.
	Scratch int64
	// Offsets holds, by location, the parameter that is added to the location's address; it
	// must be that of the location which the address names.
	Offsets []int64
	// Counters is the element of Memory that holds the counters.
	Counters int64
	// Counted is the offset of the counter of stress accesses from them.
	Counted int64
	// Sequences is the number of loops that perform stress sequences.
	Sequences int
	// Rounds is the parameter that the number of rounds is compared with for equality: a thread
	// plays one role in each round, for an instance of its own. 0 if there are no rounds.
	Rounds int64
	// Items is set if the code iterates over the threads of a CTA in loops.
	Items bool
}

// IsMemory reports whether the parameter at an offset is an element of Memory.
func (h *Harness) IsMemory(off int64) bool {
	for _, m := range h.Memory {
		if m == off {
			return true
		}
	}
	return false
}
