// Package amdhw is a small operational model of AMD's memory systems, from GCN 1
// to RDNA 4 and CDNA 3, explored exhaustively: which final states a few waves can
// reach whose memory instructions, waits and cache operations are given.
//
// It over-approximates: whatever a chip of the family can do, the model can do, as
// far as the facts below are right; it may do more. They are those of LLVM's "User
// Guide for AMDGPU Backend", section "Memory Model" (the introductions and tables
// of GFX6-GFX9, GFX90A, GFX942, GFX10-GFX11 and GFX12), as package optcheck's
// amdmodel.go has them:
//
//   - A wave issues its instructions in order. A memory instruction is outstanding
//     until the counters say otherwise; it is performed at any time until then.
//     Operations of one counter and kind complete in the order of issue, scalar
//     loads in any order. Performing is not in that order: two loads may read
//     memory in one order and complete in the other. This allows more than a
//     hardware queue does.
//   - Vector accesses of a wave to one location are performed in order; a load may
//     take its value from an earlier store of its own wave that memory has not yet.
//     Scalar loads have no such order.
//   - A store goes to the second-level cache, which all waves of the agent share,
//     and is visible to all from one moment on; in three or more work-groups a
//     cached load may see it before, as two of them may share a compute unit. On
//     GFX942 (System.WriteBack) it may stay in a cache of its own work-group until a
//     write-back, unless it carries the scope: that it is complete says nothing then.
//     In three or more any load may see such a one before, as two may share that cache.
//   - A load that may hit the caches reads any value that the location has had since
//     the cache was invalidated last, or ever if it was not: a line may have been
//     brought in by somebody else at any time, and nothing makes it leave. A load
//     that bypasses a cache reads behind it. The caches are a first level (vector L1
//     or L0), a middle one where the family has it (GL1 of GFX10 to GFX12, the L2 of
//     a part of GFX942), and the scalar cache, which no invalidation of the others
//     reaches.
//   - An invalidation takes effect for the wave's later vector loads. A load that is
//     still outstanding may fill its line behind it, so that it leaves such a line.
//   - Waves of one work-group: where they share the first-level cache
//     (System.SharedL1) it performs their vector accesses in the order of issue, and
//     they see each other's stores there (LLVM has no wait for them between waves of a
//     work-group, not even before a barrier or a flag in LDS, so that this order must
//     hold between waves); elsewhere each has a first level of its own and all share
//     what is behind it. LDS performs each wave's operations in order.
//   - A barrier waits for the other waves and for no memory.
//
// Out of its reach, and refused: work-groups of several waves beside others, more
// than two waves of a work-group on families without a shared first level, clauses
// of TeraScale, several agents. It reads no machine code; package optcheck does.
package amdhw

import (
	"errors"

	"optcheck/model/explore"
)

// System describes what differs between families.
type System struct {
	Name string
	// SharedL1 is set if the waves of a work-group share the first-level cache.
	SharedL1 bool
	// Middle is set if there is a cache between the first level and memory that work-groups do
	// not share.
	Middle bool
	// WriteBack is set if stores may remain in such a cache.
	WriteBack bool
}

// Kind says what an operation does.
type Kind uint8

// The kinds of operations.
const (
	Load       Kind = iota
	Store           // also an atomic's store, but no read-modify-write
	RMW             // read-modify-write, with or without a result
	Other           // memory that no other wave sees: it only counts
	Wait            // for counters
	Invalidate      // of caches
	WriteBack       // of stores that remained in a cache
	Arrive          // at the barrier
	Meet            // waits until all waves have arrived
)

// Level says which caches a load bypasses.
type Level uint8

// The levels.
const (
	Cached      Level = iota // any cache may serve it
	BypassFirst              // not the first level
	Coherent                 // none: it reads what all waves see
)

// Count is a counter that an operation increments.
type Count struct {
	Counter uint8
	// Class groups operations of a counter that complete in the order of issue; 0 completes in
	// any order.
	Class uint8
	// Completes is set if the counter confirms that the operation is complete.
	Completes bool
}

// Until is the condition of a wait: at most N operations of Counter outstanding.
type Until struct {
	Counter uint8
	N       int
}

// Expr computes a word from the values of a thread's reads.
type Expr = explore.Expr

// Op is one operation of a wave.
type Op struct {
	Kind    Kind
	Text    string // its name in schedules
	Loc     int    // of accesses: index into Program.Init
	LDS     bool
	Scalar  bool
	Level   Level // of loads
	Through bool  // of stores: goes to the level that all work-groups share
	Read    int   // number of what it reads, -1 for nothing
	Data    []Expr
	Guard   Expr // not zero: performed; nil: always
	// Apply computes the new word of a read-modify-write.
	Apply  func(old uint32, data []uint32) uint32
	Counts []Count
	Until  []Until
	// The caches that an invalidation reaches.
	First, Middle, ScalarCache bool
}

// Thread is a wave, represented by one lane.
type Thread struct {
	Ops []Op
	// Group is its work-group.
	Group int
	Reads int // numbers of reads are below it
}

// Program is a program for a System.
type Program struct {
	System  System
	Threads []Thread
	Init    []uint32 // of each location
	// Fresh lets no cache keep a stale line: what is possible then is possible whatever the
	// caches hold when the program begins.
	Fresh bool
}

// Final is the final state of a run.
type Final = explore.Final

// Errors of Explore: there is no answer.
var (
	ErrRefused = errors.New("the machine model does not know it")
	ErrHazard  = errors.New("a register is used before it was loaded")
	ErrLimit   = explore.ErrLimit
)

// Step is one event in a schedule.
type Step = explore.Step
