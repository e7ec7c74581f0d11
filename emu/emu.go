// Package emu executes programs in the form of package ir: grids of blocks, warps of 32 lanes that
// diverge and meet again, memory, barriers and warp operations.
//
// A Warp executes instructions; an Env says what its lanes see of memory and of other threads. A Grid is
// the Env in which all warps of a launch run together; others replay one warp against a record.
//
// Everything is deterministic: what is left open (the order of warps, of diverged lanes, the content of
// what nobody wrote) follows from a Policy, so that two runs with opposite policies show what depends on it.
package emu

import (
	"cmp"
	"errors"
	"fmt"

	"optcheck/ir"
)

// Launch is how a kernel is started.
type Launch struct {
	Grid, Block [3]int
	// Cluster is the size of clusters in blocks; zero if the launch has none.
	Cluster [3]int
	// Started, if not 0, is how many blocks run at most: the first ones of a launch without clusters. The others have not begun.
	Started int
	// Dynamic is the size of dynamic shared memory in bytes.
	Dynamic int64
	// Params are the bytes of the kernel's parameters, as laid out by the program.
	Params []byte
	// Vars are the addresses of variables: those of shared memory as offsets in its window.
	Vars map[string]uint64
	// Constants are what variables of constant memory hold in the place of what machine code's file says.
	Constants map[string][]byte
	// Boxes are the bytes of a box of the tensors whose maps are at these places.
	Boxes map[Place]uint64

	banks map[*Code]map[int][]byte // constants, once made
}

// Threads is the number of threads of a block.
func (l *Launch) Threads() int { return l.Block[0] * l.Block[1] * l.Block[2] }

// Blocks is the number of blocks that run.
func (l *Launch) Blocks() int {
	n := l.Grid[0] * l.Grid[1] * l.Grid[2]
	if l.Started > 0 && !l.clustered() {
		n = min(n, l.Started)
	}
	return n
}

// Bounds of a launch.
const (
	MaxThreads = 1 << 16
	Lanes      = 32
)

func (l *Launch) check() error {
	for _, d := range [][3]int{l.Grid, l.Block} {
		for _, n := range d {
			if n < 1 || n > MaxThreads {
				return fmt.Errorf("a launch of grid %v and block %v: each dimension is from 1 to %d", l.Grid, l.Block, MaxThreads)
			}
		}
	}
	if err := l.checkCluster(); err != nil {
		return err
	}
	if l.Threads() > 1024 || l.Blocks()*l.Threads() > MaxThreads {
		return fmt.Errorf("a launch of %d blocks of %d threads: at most 1024 a block, %d together", l.Blocks(), l.Threads(), MaxThreads)
	}
	return nil
}

// Policy decides what the architecture leaves open.
type Policy struct {
	// Quantum is how many instructions a warp runs before the next one; 0: 97.
	Quantum int
	// Reverse runs the warps, and diverged groups of lanes, in the opposite order.
	Reverse bool
	// Apart lets one lane go ahead of the others wherever machine code asks whether they are apart (BRA.DIV,
	// BRA.CONV): they may be.
	Apart bool
	// Own gives diverged groups of lanes uniform registers of their own.
	Own bool
	// Patient lets a group of lanes of machine code go on until it waits or ends, or has gone on for very long.
	Patient bool
	// Fill is what undefined content is made of.
	Fill uint64
	// Shuffle, if not 0, is the seed of a random order of warps and of random quanta.
	Shuffle uint64
	// Tick is by how much a clock is later each time that a thread reads it; 0: 64.
	Tick uint64
	// MaxSteps bounds the instructions of lanes, all together; 0: 1<<24.
	MaxSteps int64
	// Done, if not nil, ends runs when it is closed, as the bound of steps does.
	Done <-chan struct{}
	// Products executes products by warpgroups (wgmma), of which no chip was asked what they compute.
	Products bool
	// TrapEnds makes a trap end its thread alone; else it is a Fault.
	TrapEnds bool
	// Anywhere performs accesses at addresses that no lane may access, too: misaligned ones as they are, and behind the
	// parameters there are numbers that follow from where they are.
	Anywhere bool
}

// Time is what a clock says to a thread that has read it so many times.
func (p *Policy) Time(readings uint64) uint64 {
	return 1000 + cmp.Or(p.Tick, 64)*readings
}

// Workspace is the address of the memory through which a grid synchronises.
const Workspace = 0x7f5e_0000_0000

// Windows of generic addresses: shared memory of a block, local memory of a thread, parameters, and variables of constant memory.
const (
	SharedWindow = 0x7f5a_0000_0000
	LocalWindow  = 0x7f5c_0000_0000
	ParamWindow  = 0x7f58_0000_0000
	ConstWindow  = 0x7f56_0000_0000
	windowMask   = 0xffff_ffff_0000_0000
)

// Cannot is why an execution cannot go on: something is not understood, or is not defined. It says nothing of
// the program's meaning.
type Cannot struct {
	Inst int // -1 if it is about no instruction
	Why  string
	// Input tells that another input may not lead there.
	Input bool
}

// Error says why.
func (e *Cannot) Error() string { return "cannot say: " + e.Why }

// ErrSteps is that a bound of steps was reached, ErrStuck that lanes wait for each other for ever.
var (
	ErrSteps = errors.New("the bound of steps was reached")
	ErrStuck = errors.New("threads wait for each other for ever")
)

// Fault is something that the program does and must not: a misaligned access, a trap.
type Fault struct {
	Inst   int
	Thread int
	Why    string
}

// Error names the fault.
func (e *Fault) Error() string { return e.Why }

// Place is an address of memory: that of Global memory as it is, those of Shared in the block's window.
type Place struct {
	Space ir.Space
	Addr  uint64
}

// Env is what the lanes of a warp see of memory and of other threads. Lanes are bits of act; the error ends
// the execution.
type Env interface {
	// Access performs an access to global or shared memory.
	Access(w *Warp, pc int32, a *ir.Access, act uint32, at *[Lanes]Place) error
	Fence(w *Warp, pc int32, f *ir.Fence, act uint32) error
	// Barrier reports whether the lanes wait; who releases them calls Warp.Wake.
	Barrier(w *Warp, pc int32, b *ir.Barrier, act uint32) (wait bool, err error)
	// WarpBarrier is told of a barrier of the warp when all its lanes have come.
	WarpBarrier(w *Warp, pc int32, b *ir.Barrier, act uint32) error
	Copy(w *Warp, pc int32, c *ir.Copy, act uint32, to, from *[Lanes]Place) error
	// Clock is what a thread reads from a clock.
	Clock(w *Warp, lane int, r ir.SpecialReg) uint64
}
