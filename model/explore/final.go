package explore

// Final is the final state of a run of a machine that executes machine code.
type Final struct {
	// Read holds the values of each thread's reads; Done says which of them were performed.
	Read [][]uint32
	Done [][]bool
	// Memory holds the words of all locations.
	Memory []uint32
}

// Expr computes a word from the values of a thread's reads; ok is false if it needs an
// unavailable one.
type Expr func(read func(i int) (word uint32, ok bool)) (word uint32, ok bool)
