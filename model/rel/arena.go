package rel

// Arena hands out zeroed sets and relations of one universe from blocks that
// it keeps across Reset, so that a search loop allocates only while it grows.
// It is not safe for concurrent use; the zero value has no universe and must
// be given one by Init.
type Arena struct {
	n      int
	blocks [][]uint64
	block  int // index of the block in use
	off    int // words used of it
}

// arenaBlock is the size of a block in words; the largest relation
// (MaxEvents × 4 words) fits.
const arenaBlock = 4096

// Init gives the arena a universe of n events and forgets everything handed
// out before; the memory is reused.
func (a *Arena) Init(n int) {
	a.n = n
	a.Reset()
}

// Reset takes back all memory handed out. Values from before must not be used.
func (a *Arena) Reset() { a.block, a.off = 0, 0 }

// Mark is a point in the life of an arena.
type Mark struct{ block, off int }

// Mark returns the present point for Release.
func (a *Arena) Mark() Mark { return Mark{a.block, a.off} }

// Release takes back everything handed out since the mark.
func (a *Arena) Release(m Mark) { a.block, a.off = m.block, m.off }

// Set returns an empty set.
func (a *Arena) Set() Set { return Set(a.take(Words(a.n))) }

// Rel returns an empty relation.
func (a *Arena) Rel() Rel { return Rel(a.take(a.n * Words(a.n))) }

func (a *Arena) take(k int) []uint64 {
	if a.block < len(a.blocks) && a.off+k > arenaBlock {
		a.block, a.off = a.block+1, 0
	}
	if a.block >= len(a.blocks) {
		a.blocks = append(a.blocks, make([]uint64, arenaBlock))
		a.off = 0
	}
	x := a.blocks[a.block][a.off : a.off+k : a.off+k]
	a.off += k
	Clear(x)
	return x
}
