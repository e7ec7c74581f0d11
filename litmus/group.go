package litmus

import (
	"slices"
	"strings"
)

// Operations that threads perform together: reductions at a barrier of the CTA, and what the lanes of a warp do
// (PTX ISA, Parallel Synchronization: bar, barrier; bar.warp.sync; vote.sync; match.sync; activemask; redux.sync;
// elect.sync; Data Movement: shfl.sync). They pass values between threads without memory. bar.red and bar.warp.sync
// order memory, too; of the others the manual says nothing.
//
// A thread's lane is its number among the threads of its warp, in the order of the test. Of a mask, bits of lanes
// that the test does not have mean nothing: those have ended. elect.sync is written with its predicate alone, for |
// separates threads.

// The kinds of these operations.
const (
	BarReduce   AsyncKind = GridControl + 1 + iota // bar.red: Dst, Src[0] (the barrier), Src[1] (a predicate)
	WarpBarrier                                    // bar.warp.sync: Src[0] (the mask)
	WarpShuffle                                    // shfl.sync: Dst, Src: value, lane, clamp, mask
	WarpVote                                       // vote.sync: Dst, Src: predicate, mask
	WarpMatch                                      // match.sync: Dst, Src: value, mask
	WarpReduce                                     // redux.sync: Dst, Src: value, mask
	WarpActive                                     // activemask: Dst
	WarpElect                                      // elect.sync: Dst, Src: mask
	BulkReduce                                     // cp.reduce.async.bulk: as BulkCopy, with Atom and Type
)

// Group is which function of its threads' values an operation of several threads computes.
type Group uint8

// The functions.
const (
	GroupNone Group = iota
	GroupPopc       // the number of true predicates
	GroupAnd
	GroupOr
	GroupXor
	GroupAdd
	GroupMin
	GroupMax
	GroupBallot // a bit for each lane
	GroupUni    // all predicates are the same
	GroupAny    // of match: a bit for each lane with the same value
	GroupAll    // of match: the mask, if all values are the same; else 0
	GroupIdx    // of shfl: from the lane
	GroupUp     // from a lane before
	GroupDown   // from a lane behind
	GroupBfly   // from the lane with other bits
)

// WarpLanes is the number of lanes of a warp.
const WarpLanes = 32

// groupForms lists the mnemonics.
func groupForms() (list []AsyncForm) {
	add := func(name string, k AsyncKind, g Group, operands string, dst, src Type, ptx, sm int) {
		list = append(list, AsyncForm{Name: name, Kind: k, Group: g, Operands: operands, To: dst, Type: src, PTX: ptx, SM: sm})
	}
	for _, op := range []struct {
		name string
		g    Group
		t    Type
	}{{"popc", GroupPopc, U32}, {"and", GroupAnd, Pred}, {"or", GroupOr, Pred}} {
		add("bar.red."+op.name+"."+op.t.String(), BarReduce, op.g, "dsp", op.t, Pred, 50, 20)
		add("barrier.red."+op.name+".aligned."+op.t.String(), BarReduce, op.g, "dsp", op.t, Pred, 60, 20)
	}
	add("bar.warp.sync", WarpBarrier, GroupNone, "s", TypeNone, TypeNone, 60, 30)
	for name, g := range map[string]Group{"all": GroupAnd, "any": GroupOr, "uni": GroupUni} {
		add("vote.sync."+name+".pred", WarpVote, g, "dps", Pred, Pred, 60, 30)
	}
	add("vote.sync.ballot.b32", WarpVote, GroupBallot, "dps", B32, Pred, 60, 30)
	for name, g := range map[string]Group{"idx": GroupIdx, "up": GroupUp, "down": GroupDown, "bfly": GroupBfly} {
		add("shfl.sync."+name+".b32", WarpShuffle, g, "dvsss", B32, B32, 60, 30)
	}
	for _, t := range []Type{B32, B64} {
		add("match.any.sync."+t.String(), WarpMatch, GroupAny, "dvs", B32, t, 60, 70)
		add("match.all.sync."+t.String(), WarpMatch, GroupAll, "dvs", B32, t, 60, 70)
	}
	for _, op := range []struct {
		name  string
		g     Group
		types []Type
	}{{"add", GroupAdd, []Type{U32, S32}}, {"min", GroupMin, []Type{U32, S32}}, {"max", GroupMax, []Type{U32, S32}},
		{"and", GroupAnd, []Type{B32}}, {"or", GroupOr, []Type{B32}}, {"xor", GroupXor, []Type{B32}}} {
		for _, t := range op.types {
			add("redux.sync."+op.name+"."+t.String(), WarpReduce, op.g, "dvs", t, t, 70, 80)
		}
	}
	add("activemask.b32", WarpActive, GroupNone, "d", B32, TypeNone, 62, 30)
	add("elect.sync", WarpElect, GroupNone, "ds", Pred, TypeNone, 80, 90)
	return list
}

// bulkReductions lists the reductions of bulk copies: of the integers and, to global memory, of the floating-point numbers that they have.
func bulkReductions() (list []AsyncForm) {
	bits, words := []Type{B32}, []Type{U32}
	ops := map[AtomOp][2][]Type{ // to shared memory; to global memory
		AtomAnd: {bits, {B32, B64}}, AtomOr: {bits, {B32, B64}}, AtomXor: {bits, {B32, B64}}, AtomInc: {words, words}, AtomDec: {words, words},
		AtomAdd: {{U32, S32, U64}, {U32, S32, U64, F32, F64, F16, BF16}},
		AtomMin: {{U32, S32}, {U32, S32, U64, S64, F16, BF16}}, AtomMax: {{U32, S32}, {U32, S32, U64, S64, F16, BF16}},
	}
	for op, types := range ops {
		for i, head := range []string{"shared::cluster.shared::cta.mbarrier::complete_tx::bytes", "global.shared::cta.bulk_group"} {
			for _, t := range types[i] {
				word := op.String()
				if op == AtomAdd && (t == F16 || t == BF16) {
					word += ".noftz"
				}
				list = append(list, AsyncForm{Name: "cp.reduce.async.bulk." + head + "." + word + "." + t.String(), Kind: BulkReduce,
					Operands: []string{"aasa", "aas"}[i], Sem: SemRelaxed, Scope: ScopeGPU, Atom: op, Type: t, PTX: 80, SM: 90})
			}
		}
	}
	return list
}

// Copies reports whether an operation moves bytes between two places: Addr, More[0], Src[0] bytes.
func (f *AsyncForm) Copies() bool {
	return f.Kind == AsyncCopy || f.Kind == BulkCopy || f.Kind == BulkReduce
}

// Warp reports whether the lanes of a warp perform an operation.
func (f *AsyncForm) Warp() bool { return f.Kind >= WarpBarrier && f.Kind <= WarpElect }

// Together reports whether several threads perform an operation.
func (f *AsyncForm) Together() bool { return f.Warp() || f.Kind == BarReduce }

// Mask is the mask of lanes of an operation of a warp.
func (in *Instr) Mask() uint32 {
	if n := len(in.Src); n > 0 && in.Async != nil && in.Async.Warp() {
		return uint32(in.Src[n-1].Value)
	}
	return 0
}

// Lane returns the number of a thread among those of its warp.
func (t *Test) Lane(thread int) (lane int) {
	for i := range thread {
		if t.Threads[i].Placed && t.Threads[i].Place == t.Threads[thread].Place {
			lane++
		}
	}
	return lane
}

// WarpThreads returns the number of threads of a thread's warp.
func (t *Test) WarpThreads(thread int) (n int) {
	for i := range t.Threads {
		if i == thread || t.Threads[i].Placed && t.Threads[i].Place == t.Threads[thread].Place {
			n++
		}
	}
	return n
}

// hasLane reports whether a thread of the warp at a place has a lane.
func (t *Test) hasLane(warp Place, lane int) bool {
	for i := range t.Threads {
		if t.Threads[i].Placed && t.Threads[i].Place == warp && t.Lane(i) == lane {
			return true
		}
	}
	return false
}

// Meeting lists who performs an operation of several threads together with a thread, by the number of their
// instruction, -1 for threads that do not: for the n-th of a barrier or of a mask, the n-th of the others.
func (t *Test) Meeting(thread, at int) (instrs []int) {
	in := &t.Threads[thread].Body[at]
	n := 0
	for j := range at {
		if t.Threads[thread].Body[j].meets(in) {
			n++
		}
	}
	me := t.Threads[thread].Place
	for i := range t.Threads {
		th := &t.Threads[i]
		instrs = append(instrs, -1)
		if i != thread && (!th.Placed || !me.SameScope(th.Place, ScopeCTA)) {
			continue
		}
		if in.Async.Warp() && (i != thread && me != th.Place || in.Async.Kind != WarpActive && in.Mask()>>t.Lane(i)&1 == 0) {
			continue
		}
		left := n
		for j := range th.Body {
			if !th.Body[j].meets(in) {
				continue
			}
			if left == 0 {
				instrs[i] = j
				break
			}
			left--
		}
	}
	return instrs
}

// meets reports whether two operations are at the same barrier, or of the same lanes.
func (in *Instr) meets(other *Instr) bool {
	f, g := in.Async, other.Async
	switch {
	case f == nil || g == nil || !f.Together():
		return false
	case f.Kind == BarReduce:
		return g.Kind == BarReduce && in.Src[0] == other.Src[0]
	}
	return g.Warp() && (f.Kind == WarpActive) == (g.Kind == WarpActive) && in.Mask() == other.Mask()
}

// together checks an operation of several threads.
func (c *checker) together(th *Thread, in *Instr) {
	f, t := in.Async, c.t
	i := th.index(t)
	j := 0
	for &th.Body[j] != in {
		j++
	}
	if n := len(strings.Trim(f.Operands, "d")); len(in.Src) != n || (in.Dst == "") != (f.To == TypeNone) {
		c.errorf(in.Pos, "%s has not the operands that it wants", in)
		return
	}
	if in.Dst != "" {
		c.reg(th, in, in.Dst, f.To, exact)
	}
	for k, s := range in.Src {
		switch f.Operands[k+len(f.Operands)-len(in.Src)] {
		case 'p', 'v':
			c.source(th, in, s, f.Type, exact)
		default:
			if s.Kind != OperandConst {
				c.errorf(in.Pos, "%s: a constant is wanted in place of %s", in, s)
				return
			}
		}
	}
	if in.Guard != nil || slices.ContainsFunc(th.Body, func(x Instr) bool { return x.Op == OpBra }) {
		c.errorf(in.Pos, "%s: what threads perform together is under no condition, nor in a thread with branches", in)
		return
	}
	if f.Kind == BarReduce && (in.Src[0].Value < 0 || in.Src[0].Value > 15) {
		c.errorf(in.Pos, "%s: barriers are numbered 0 to 15", in)
		return
	}
	if f.Warp() && f.Kind != WarpActive && (in.Src[len(in.Src)-1].Value>>WarpLanes != 0 || in.Mask()>>t.Lane(i)&1 == 0) {
		c.errorf(in.Pos, "%s: the mask has 32 bits, and that of the thread, lane %d, is among them", in, t.Lane(i))
		return
	}
	if f.Kind == WarpActive {
		return
	}
	if from := in.From(t.Lane(i)); f.Kind == WarpShuffle && (in.Mask()>>from&1 == 0 || !t.hasLane(th.Place, from)) {
		c.errorf(in.Pos, "%s: lane %d, from which lane %d gets a value, is not among those that the test has and the mask names", in, from, t.Lane(i))
	}
	for u, at := range t.Meeting(i, j) {
		switch other := &t.Threads[u]; {
		case at < 0 && u != i && f.Warp() && other.Placed && other.Place == th.Place && in.Mask()>>t.Lane(u)&1 == 1:
			c.errorf(in.Pos, "%s: thread %s is in the mask, and performs fewer such operations", in, other.Name)
		case at >= 0 && !in.alike(&other.Body[at]):
			c.errorf(in.Pos, "%s: thread %s performs %s instead", in, other.Name, &other.Body[at])
		}
		c.mixed(th, in, &t.Threads[u])
	}
}

// alike reports whether two operations may be performed together.
func (in *Instr) alike(other *Instr) bool {
	return in.Async == other.Async
}

// mixed rejects other barriers at the number of a reduction: PTX gives them no meaning together.
func (c *checker) mixed(th *Thread, in *Instr, other *Thread) {
	if in.Async.Kind != BarReduce || !th.Place.SameScope(other.Place, ScopeCTA) {
		return
	}
	if slices.ContainsFunc(other.Body, func(x Instr) bool { return x.Op == OpBar && x.Barrier.ID == in.Src[0] }) {
		c.errorf(in.Pos, "%s: thread %s has another kind of barrier with this number", in, other.Name)
	}
}

// From returns the lane from which a lane gets its value by shfl.sync (PTX ISA, shfl.sync).
func (in *Instr) From(lane int) int {
	if in.Async == nil || in.Async.Kind != WarpShuffle || len(in.Src) != 4 {
		return lane
	}
	b, c := int(in.Src[1].Value)&31, int(in.Src[2].Value)
	segment := c >> 8 & 31
	first, last := lane&segment, lane&segment|c&31&^segment
	j, inside := lane, false
	switch in.Async.Group {
	case GroupUp:
		j = lane - b
		inside = j >= last
	case GroupDown:
		j = lane + b
		inside = j <= last
	case GroupBfly:
		j = lane ^ b
		inside = j <= last
	case GroupIdx:
		j = first | b&^segment
		inside = j <= last
	}
	if !inside {
		return lane
	}
	return j
}
