// Package nvhw is a small operational model of the memory system of NVIDIA's chips
// from Volta on (sm_70), explored exhaustively: which final states the warps of a
// few CTAs on one GPU can reach, given their memory instructions, fences,
// invalidations, and waits for scoreboard barriers.
//
// Each CTA has the first-level cache (L1) of a multiprocessor to itself; all share
// the second level (L2), which is where memory is. What else the machine does is in
// Rules, one by one, with what supports it: an experiment on a chip, or, where there
// is none, the word "assumed". A machine without one of its rules can do more
// (Program.Without); where no compiled idiom breaks without a rule, nobody needs it.
//
// A thread issues its instructions in program order (Jia et al., Dissecting the
// Volta GPU Architecture, ch. 2), each when its address, data and condition are known.
// Between issue and completion an access is performed at any time, so that those of
// a thread to different locations, in shared memory too, are in no order unless a
// rule says so. A line of L1 holds one version of a location, any one between the
// oldest it can have and the newest: others may have filled it, and it may have been
// evicted, at any time. So the machine may do more than a chip does.
//
// Out of its reach, and refused: several GPUs, more than 64 operations, barriers at
// which not all of a CTA's threads of the test meet. It reads no machine code;
// package optcheck does.
package nvhw

import (
	"errors"

	"optcheck/model/explore"
)

// Rule is one property of the machine.
type Rule struct {
	ID   string
	Text string
	// Support names the experiment in docs/results that shows it, or says that it is assumed.
	Support string
}

// The numbers of the rules in Rules.
const (
	Scoreboard = iota
	SameLocation
	OneQueue
	StoreThrough
	AtomicDrops
	StrongMemory
	StrongFills
	Invalidates
	FenceLoads
	FenceStores
	FenceSC
	FenceGroup
	BarrierDrains
)

// Rules lists the properties of the machine, by number.
var Rules = []Rule{
	Scoreboard: {
		"scoreboard",
		"an instruction that waits for a barrier is issued when the results are there that release it",
		"h100/patch: CCTL.IVALL without its wait, 12 per 100,000",
	},
	SameLocation: {"same-location", "accesses of a thread to one location are performed in program order",
		"h100/patch: patch-coRR, never; reversed by a compiler (docs/results/opportunities.md) 3,200 per 100,000"},
	OneQueue: {"one-queue", "what a CTA does to one location reaches L2 in the order in which L1 saw it",
		"h100/patch: patch-queue, never; no patch takes it away"},
	StoreThrough: {"store-through", "a store goes through L1, and leaves no older version there",
		"h100/patch: patch-cta, never; no patch takes it away"},
	AtomicDrops: {"atomic-drops", "an atomic is performed in L2 and leaves no older version in its CTA's L1",
		"h100/patch: patch-atomic, never; no patch takes it away"},
	StrongMemory: {"strong-memory", "a load STRONG.GPU or .SYS reads L2",
		"h100/patch: patch-strong without CCTL.IVALL, never; patch-fence, whose load is weak, 24 per 100,000"},
	StrongFills: {"strong-fills", "a load STRONG.GPU or .SYS leaves no older version of its location in L1",
		"h100/patch: patch-fills, never; patch-stale, of another location, 17 per 100,000"},
	Invalidates: {"invalidates", "CCTL.IVALL leaves no version in L1 that is older than the newest of L2",
		"h100/patch: patch-acquire without it, 21 per 100,000"},
	FenceLoads: {
		"fence-loads",
		"MEMBAR waits for the earlier loads and atomics: .GPU and .SYS until they are performed, .CTA until they have passed L1",
		"what .CTA does not wait for: h200, S+membar.ctas+all-atom.cas between CTAs, 6,116 times; the rest is assumed: patch-fence without the reader's MEMBAR was never seen",
	},
	FenceStores: {
		"fence-stores",
		"accesses that write wait, behind MEMBAR, until L2 has the earlier stores (.GPU, .SYS), or L1 (.CTA)",
		"h100/patch: patch-acquire without the writer's MEMBAR, 320 per 100,000",
	},
	FenceSC: {"fence-sc", "behind MEMBAR.SC, loads wait for the earlier stores, too",
		"h100/patch: patch-sb without MEMBAR, 909 per 100,000; with MEMBAR.ALL never, so that the chip does more than the rule"},
	FenceGroup: {"fence-group", "MEMBAR.GPU and .SYS wait for the stores of others that their CTA's L1 has, too",
		"h100/patch: patch-group without it, 6.5 per 100,000"},
	BarrierDrains: {"barrier-drains", "BAR waits for the earlier loads, and until L1 has the earlier stores",
		"assumed: ptxas puts nothing else there"},
}

// Kind says what an operation does.
type Kind uint8

// The kinds of operations.
const (
	Load Kind = iota
	Store
	RMW        // atomic or reduction
	Fence      // MEMBAR
	Invalidate // CCTL.IVALL
	Barrier    // BAR.SYNC of all threads of the CTA
	Wait       // for scoreboard barriers alone
)

// Expr computes a word from the values of a thread's reads.
type Expr = explore.Expr

// NoBarrier is the number that stands for no scoreboard barrier.
const NoBarrier = 7

// Op is one operation of a thread.
type Op struct {
	Kind   Kind
	Text   string // its name in schedules
	Loc    int    // of accesses: index into Program.Init; of barriers: their number
	Shared bool   // of accesses: shared memory
	// Far: a load reads L2 (STRONG.GPU, .SYS); a fence has the scope of the GPU or more.
	Far bool
	// SC: a fence is MEMBAR.SC.
	SC   bool
	Read int // number of what it reads, -1 for nothing
	Data []Expr
	// Guard is the condition of the operation: it is performed if the word is not zero; nil
	// means always.
	Guard Expr
	// Apply computes the new word of a read-modify-write. If it writes nothing, as a failing
	// compare-and-swap, Apply returns the old word.
	Apply func(old uint32, data []uint32) uint32
	// Sets is the scoreboard barrier that is released when the result is available.
	Sets uint8
	// Waits is the set of barriers that must be free before it is issued.
	Waits uint8
}

// Thread is a warp, represented by one lane.
type Thread struct {
	Ops   []Op
	CTA   int // from 0
	Reads int // numbers of reads are below it
}

// Program is a program for the machine.
type Program struct {
	Threads []Thread
	Init    []uint32 // of each location
	// Fresh lets no cache keep a stale line: what is possible then is possible whatever the
	// caches hold when the program begins.
	Fresh bool
	// Without is the set of disabled rules: bit i is Rules[i].
	Without uint32
}

// Final is the final state of a run.
type Final = explore.Final

// Errors of Explore: there is no answer.
var (
	ErrRefused = errors.New("the machine model does not know it")
	ErrHazard  = errors.New("a register is used before its scoreboard barrier was waited for")
	ErrLimit   = explore.ErrLimit
)

// Step is one event in a schedule.
type Step = explore.Step
