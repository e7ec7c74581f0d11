package machine

import (
	"context"
	"errors"
	"slices"

	"optcheck/litmus"
	"optcheck/model/exec"
	"optcheck/model/explore"
)

// Rules of UGPU, by number in its list.
const (
	ugpuOrder = iota
	ugpuQueue
	ugpuLoadArray
	ugpuStoreWaits
	ugpuBehindFence
	ugpuFenceHead
	ugpuFenceLoads
	ugpuView
	ugpuShared
	ugpuBlockFence
	ugpuDeviceFence
	ugpuBlock
	ugpuGrid
	ugpuBlockFirst
	ugpuVersions
	ugpuMarks
	ugpuAtomic
	ugpuAtomicView
)

var ugpuRules = []Rule{
	ugpuOrder: {
		"program-counter",
		"an instruction enters its queue behind those before it, when its operands and its guard are known",
		"§III-B, rule shown; operands and guards: ours",
	},
	ugpuQueue: {"address-queue", "what is behind a store or an atomic in a queue waits for it", "§III-B, address queues"},
	ugpuLoadArray: {"load-array", "a load leaves its queue for the load array, from where it is performed at any time",
		"§III-B, load array"},
	ugpuStoreWaits: {
		"store-after-loads",
		"a store or an atomic waits for the loads of its address that are in the load array",
		"ours: else a load reads its own thread's later store",
	},
	ugpuBehindFence: {"behind-the-fence", "a fence is enqueued in all queues; what is behind it waits", "§III-B, address queues"},
	ugpuFenceHead:   {"fence-at-the-heads", "a fence is executed when it is at the head of all queues", "§III-B, address queues"},
	ugpuFenceLoads:  {"fence-after-loads", "a fence waits for the loads in the load array", "ours: Fig. 8 and 9, eleven verdicts"},
	ugpuView: {
		"views",
		"a store to global memory changes its thread's view and marks the location there, locally and globally",
		"§III-B, views and flags",
	},
	ugpuShared:      {"shared-memory", "shared memory is one array for a block", "§III-B, Fig. 6"},
	ugpuBlockFence:  {"tfb", "a block's fence distributes what is locally modified within the block", "§III-B"},
	ugpuDeviceFence: {"tf", "a device's fence distributes what is locally or globally modified to all", "§III-B"},
	ugpuBlock: {"block-propagation", "a locally modified location may be distributed within the block at any time",
		"ours: Fig. 8 and 9, five verdicts"},
	ugpuGrid: {
		"grid-propagation",
		"a globally modified location may be distributed to the other blocks at any time",
		"ours, as above",
	},
	ugpuBlockFirst: {
		"block-before-grid",
		"a locally modified location is not distributed to all before the block has it",
		"§III-B: locally but not globally modified is invalid",
	},
	ugpuVersions: {"versions", "a value does not overwrite one that was stored later", "ours: competing stores would have no order"},
	ugpuMarks: {
		"marks-travel",
		"a value that the block gets keeps its global mark: whoever has it distributes it to all",
		"ours: else a device's fence of a thread that read a value does not order it",
	},
	ugpuAtomic: {"atomics", "a read-modify-write reads the newest value and stores its own in one step",
		"ours; the seed has none (§IV-B)"},
	ugpuAtomicView: {"atomics-in-memory", "what a read-modify-write stores is at once in all views",
		"ours: atomics are performed in the memory that all share"},
}

// UGPU returns the machine of Sorensen and others, "Towards shared memory consistency models
// for GPUs" (ICS 2013), §III-B and Fig. 6: per thread a program counter, a first-in-first-out
// queue for each address, a load array, and a view of global memory with two marks for each
// location; shared memory for each block; fences of a block and of the device, which are
// membar.cta and membar.gl.
//
// It covers one device and the features of 2013: plain and volatile accesses and these fences.
// Its rules say what the paper leaves open, and what is added to it.
func UGPU() *Model {
	return &Model{Name: "ugpu", Rules: ugpuRules, accepts: ugpuAccepts,
		run: func(ctx context.Context, m *Model, p *Program, max int, end func(end) error) (int, error) {
			return runUGPU(ctx, m, p, max, end)
		}}
}

func ugpuAccepts(p *Program, e *Event) error {
	if p.place[e.thread].GPU != p.place[0].GPU {
		return errors.New("there is one device")
	}
	switch {
	case e.Kind == exec.Barrier:
		return errors.New("there are no barriers")
	case e.Kind == exec.Fence && (e.Sem != litmus.SemSC || e.Scope == litmus.ScopeCluster):
		return errors.New("the fences are membar.cta, membar.gl and membar.sys")
	case e.Kind == exec.Fence:
	case e.SC || e.Sem == litmus.SemAcquire || e.Sem == litmus.SemRelease || e.Sem == litmus.SemRelaxed && !e.Volatile && e.Partner < 0:
		return errors.New("accesses are plain, volatile or atomic")
	case e.Proxy != litmus.ProxyGeneric:
		return errors.New("there is one proxy")
	}
	return nil
}

// ugpu is the machine with its program.
type ugpu struct {
	*Program
	m      *Model
	blocks []uint64 // by thread, the threads of its block, itself included
}

// Marks of a location in a view.
const (
	locally uint8 = 1 << iota
	globally
)

// ugpuState is a state. Versions count the stores to a location; the initial value is version
// 0.
type ugpuState struct {
	// By event: the version that a load has read or a store has made, plus 1; 1 for an executed
	// fence; 0 while the event waits.
	at []uint8
	// By location, its newest version; by thread and location, the version in the thread's
	// view, and the marks.
	newest, view, mark []uint8
	done               uint64
	vals               []int64 // by event, what was read or stored
}

func (s *ugpuState) clone() *ugpuState {
	e, l := len(s.at), len(s.newest)
	b := make([]uint8, e+l+2*len(s.view))
	n := &ugpuState{at: b[:e:e], newest: b[e : e+l : e+l], view: b[e+l : e+l+len(s.view)], mark: b[e+l+len(s.view):], done: s.done}
	copy(n.at, s.at)
	copy(n.newest, s.newest)
	copy(n.view, s.view)
	copy(n.mark, s.mark)
	n.vals = append(make([]int64, 0, len(s.vals)), s.vals...)
	return n
}

func runUGPU(ctx context.Context, m *Model, p *Program, max int, yield func(end) error) (int, error) {
	u := &ugpu{Program: p, m: m, blocks: make([]uint64, len(p.paths))}
	for t := range p.paths {
		for v := range p.paths {
			if p.place[t].SameScope(p.place[v], litmus.ScopeCTA) {
				u.blocks[t] |= 1 << v
			}
		}
	}
	return explore.Run(ctx, u, max, func(s *ugpuState, schedule func() []explore.Step) error {
		if s.done != u.all {
			return nil // a value contradicts the chosen path
		}
		memory := make([]int64, len(p.init))
		for l := range memory {
			memory[l] = u.valueAt(s, l, s.newest[l])
		}
		return yield(end{s.vals, memory, !m.plain, schedule})
	})
}

// Start returns the state in which nothing has happened.
func (u *ugpu) Start() (*ugpuState, error) {
	e, l, t := len(u.events), len(u.init), len(u.paths)
	return &ugpuState{at: make([]uint8, e), newest: make([]uint8, l), view: make([]uint8, t*l), mark: make([]uint8, t*l),
		vals: make([]int64, e)}, nil
}

// Key encodes a state without the values, which follow from the versions; the parts of equal
// threads are sorted.
func (u *ugpu) Key(s *ugpuState) string {
	locs := len(u.init)
	b := append(make([]byte, 0, len(s.at)+locs+2*len(s.view)), s.newest...)
	if len(u.equal) == 0 || u.m.plain {
		return string(append(append(append(b, s.at...), s.view...), s.mark...))
	}
	own := make([][]byte, len(u.paths))
	for t := range own {
		own[t] = slices.Concat(s.at[u.first[t]:u.first[t+1]], s.view[t*locs:(t+1)*locs], s.mark[t*locs:(t+1)*locs])
	}
	for _, group := range u.equal {
		list := make([][]byte, len(group))
		for i, t := range group {
			list[i] = own[t]
		}
		slices.SortFunc(list, slices.Compare)
		for i, t := range group {
			own[t] = list[i]
		}
	}
	return string(append(b, slices.Concat(own...)...))
}

// valueAt returns the value of a version.
func (u *ugpu) valueAt(s *ugpuState, loc int, version uint8) int64 {
	out := u.init[loc]
	each(u.writes[loc]&s.done, func(i int) bool {
		if s.at[i] == version+1 && version > 0 {
			out = s.vals[i]
		}
		return true
	})
	return out
}

// Moves performs queued instructions, executes fences and distributes values. Enqueueing, and
// moving from a queue to the load array, disable nothing and are part of the move that enables
// them. A move whose effect nobody can observe is the only move.
func (u *ugpu) Moves(s *ugpuState, yield func(*ugpuState, func() explore.Step) error) error {
	for t := range u.paths {
		if i := u.alone(s, t); i >= 0 && !u.m.plain && u.m.has(ugpuVersions) {
			return u.perform(s, i, yield)
		}
	}
	for t := range u.paths {
		for i := u.first[t]; i < u.first[t+1]; i++ {
			if !u.enqueued(s, i) {
				break
			}
			if s.done>>i&1 != 0 || !u.ready(s, i) {
				continue
			}
			if err := u.perform(s, i, yield); err != nil {
				return err
			}
		}
		if err := u.propagate(s, t, yield); err != nil {
			return err
		}
	}
	return nil
}

// alone returns an event of a thread that commutes with everything that can happen, now or
// later: a load of a location that has its last value for this thread. It returns -1 if there
// is none.
func (u *ugpu) alone(s *ugpuState, t int) int {
	for i := u.first[t]; i < u.first[t+1] && u.enqueued(s, i); i++ {
		e := &u.events[i]
		if s.done>>i&1 != 0 || e.Kind != exec.Read || e.Partner >= 0 || !u.ready(s, i) {
			continue
		}
		if u.writes[e.Loc]&^s.done == 0 && u.seen(s, t, int(e.Loc)) == s.newest[e.Loc] {
			return i
		}
	}
	return -1
}

// enqueued reports whether the program counter is past an event, given that it is past those
// before.
func (u *ugpu) enqueued(s *ugpuState, i int) bool {
	if e := &u.events[i]; e.Kind == exec.Write && e.Partner >= 0 {
		// An atomic is one instruction: it does not wait for its own read.
		return e.deps&^s.done&^(1<<u.partner(i)) == 0
	}
	return !u.m.has(ugpuOrder) || u.events[i].deps&^s.done == 0
}

// ready reports whether an enqueued event is at the head of its queue, or in the
// load array, or a fence that may be executed.
func (u *ugpu) ready(s *ugpuState, i int) bool {
	e := &u.events[i]
	for left := u.before(i) &^ s.done; left != 0; left &= left - 1 {
		if u.waitsFor(e, &u.events[low(left)]) {
			return false
		}
	}
	return e.Kind != exec.Write || e.Partner < 0 // an atomic's write is performed with its read
}

// waitsFor reports whether an event waits for an earlier one of its thread that is
// not done.
func (u *ugpu) waitsFor(e, earlier *Event) bool {
	load := earlier.Kind == exec.Read && earlier.Partner < 0
	switch {
	case e.Kind == exec.Fence && load:
		return u.m.has(ugpuFenceLoads)
	case e.Kind == exec.Fence:
		return u.m.has(ugpuFenceHead)
	case earlier.Kind == exec.Fence:
		return u.m.has(ugpuBehindFence)
	case e.Loc != earlier.Loc:
		return false
	case !load:
		return u.m.has(ugpuQueue)
	case e.Kind == exec.Read && e.Partner < 0:
		return !u.m.has(ugpuLoadArray)
	}
	return u.m.has(ugpuStoreWaits)
}
