package explore

// Final is how a run of a machine that executes machine code ended.
type Final struct {
	// Read has what each thread's reads gave, Done whether they were performed.
	Read [][]uint32
	Done [][]bool
	// Memory has the words of all locations.
	Memory []uint32
}

// Expr computes a word from what a thread's reads gave; ok is false if it needs
// one that is not there.
type Expr func(read func(i int) (word uint32, ok bool)) (word uint32, ok bool)
