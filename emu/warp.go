package emu

import (
	"fmt"
	"math/bits"

	"optcheck/ir"
)

func lowest(mask uint32) int { return bits.TrailingZeros32(mask) & 31 }

// Thread is one lane's thread.
type Thread struct {
	// Index is its number in the block, Block the block's number.
	Index, Block int
	Tid, Ctaid   [3]int

	local  map[uint64]*[localPage]byte
	stack  []frame
	result uint64 // of the last bar.red
	phase  uint64 // of the cluster's barrier, behind the thread's last arrival
}

// SetResult is what a reduction at a barrier gives the thread.
func (t *Thread) SetResult(v uint64) { t.result = v }

type frame struct {
	ret  int32
	save []uint64
}

// state says what a lane does.
type state uint8

const (
	running    state = iota
	collective       // waits for other lanes at a warp operation, at its pc
	meeting          // waits at a convergence barrier, for the set in wait
	syncing          // waits at WARPSYNC for the lanes of wait, goes on at next
	barrier          // waits for the environment
	done
)

type group struct {
	pc   int32
	mask uint32
}

// Warp is 32 lanes that execute a program.
type Warp struct {
	Code   *Code
	Launch *Launch
	// committed is how many groups of products of its warpgroup it has committed.
	committed int
	async     *[Lanes]asyncCopies // nil if no lane has begun one
	Threads   [Lanes]*Thread      // nil where the block has no thread
	ID        int                 // number in the block
	// Steps counts instructions of lanes; Turns those of the warp.
	Steps, Turns int64
	// Ran are the lanes that performed something since it was cleared.
	Ran uint32
	// Group are the lanes that are at the current instruction, Voted those that took part in a lane's last vote or reduction.
	Group uint32
	Voted [Lanes]uint32
	// Together are the lanes that a lane was told to be active, one after the other.
	Together [Lanes][]uint32
	// Cover tells what was performed.
	Cover *Coverage
	// Trace, if not nil, is called for each instruction, before it is performed by the lanes of act.
	Trace func(w *Warp, pc int32, act uint32)
	// Issue, if not nil, is called for each instruction that the lanes of mask are at, before anything of it is read.
	Issue func(pc int32, mask uint32)
	// Computed, if not nil, is called behind each instruction that does nothing but compute.
	Computed func(pc int32, act uint32)
	// Data is for the environment.
	Data any

	env    Env
	block  int
	policy Policy
	regs   []row
	banks  map[int][]byte
	live   uint32
	st     [Lanes]state
	wait   [Lanes]uint32 // mask
	next   [Lanes]int32
	home   [Lanes]int32 // where it goes on behind a collective
	groups []group
	sets   []set // convergence barriers; register value n is set n-1
	turn   int
	ran    uint32    // the lanes of the group that ran last
	args   [4]uint64 // of the operation that is being computed
}

// set is the lanes that a convergence barrier waits for, and where they go on.
type set struct {
	mask uint32
	to   int32
}

// Coverage tells which instructions were performed, and which jumps were taken and were not; warps of one program share it.
type Coverage struct {
	Insts         []bool
	Taken, Passed []bool
}

// NewCoverage has nothing covered.
func NewCoverage(c *Code) *Coverage {
	n := len(c.insts)
	return &Coverage{make([]bool, n), make([]bool, n), make([]bool, n)}
}

// NewWarp makes warp number id of a block.
func NewWarp(c *Code, l *Launch, block, id int, env Env, p Policy) *Warp {
	w := &Warp{Code: c, Launch: l, ID: id, env: env, block: block, policy: p, Cover: NewCoverage(c)}
	w.regs = make([]row, c.regs)
	for i := range w.regs[:c.zero] {
		for k := range w.regs[i] {
			w.regs[i][k] = p.Fill
		}
	}
	bx, by := l.Block[0], l.Block[1]
	for lane := range Lanes {
		i := id*Lanes + lane
		if i >= l.Threads() {
			break
		}
		w.Threads[lane] = &Thread{Index: i, Block: block, Tid: [3]int{i % bx, i / bx % by, i / bx / by},
			Ctaid: l.ctaid(block)}
		w.live |= 1 << lane
	}
	for lane := range w.st {
		if w.Threads[lane] == nil {
			w.st[lane] = done
		}
	}
	w.groups = []group{{0, w.live}}
	w.banks = c.banks(l)
	for i := range c.P.Consts {
		x := &c.P.Consts[i]
		v := w.constant(x)
		for k := range w.regs[x.Reg] {
			if w.regs[x.Reg][k] = v; x.Lanes != 0 {
				w.regs[x.Reg][k] = uint64(x.Lanes >> k & 1)
			}
		}
	}
	return w
}

// constant is the value of a constant register. A variable without an address gets one that no launch uses, so that
// what depends on it differs from everything.
func (w *Warp) constant(c *ir.Const) uint64 {
	switch {
	case c.Symbol != "":
		v, ok := w.Launch.Vars[c.Symbol]
		if !ok {
			v, ok = w.Code.P.Functions[c.Symbol]
		}
		if !ok {
			v = unknownAddress
		}
		if v += c.Value; v < 1<<32 && ok && !w.Code.P.Machine {
			v += w.own(c.Symbol)
		}
		if c.Generic && v < 1<<32 {
			v |= SharedWindow
		}
		return v
	case c.Mbarrier != 0:
		return w.Code.P.Mbarriers.Number(c.Mbarrier)
	case c.Window == ir.Shared:
		return SharedWindow + c.Value
	case c.Window == ir.Param:
		return ParamWindow + c.Value
	case c.Window == ir.Local:
		return LocalWindow + c.Value
	case c.Bytes > 0:
		b := w.banks[c.Bank]
		if n := uint64(len(b)); c.Value > n || uint64(c.Bytes) > n-c.Value {
			return 0
		}
		return Number(b[c.Value : c.Value+uint64(c.Bytes)])
	}
	return c.Value
}

// unknownAddress is the address of variables that have none.
const unknownAddress = 0x6666_0000_0000

// Done reports whether all lanes have ended; Live has those that have not.
func (w *Warp) Done() bool   { return w.live == 0 }
func (w *Warp) Live() uint32 { return w.live }

// Reg is the content of a register of a lane.
func (w *Warp) Reg(r ir.Reg, lane int) uint64 { return w.regs[r][lane] }

// SetReg writes a register of a lane, of all lanes if it is uniform.
func (w *Warp) SetReg(r ir.Reg, lane int, v uint64) {
	if r < 0 {
		return
	}
	if w.Code.uniform[r] {
		w.setUniform(r, v)
		return
	}
	w.regs[r][lane] = v
}

// setUniform writes a uniform register of the lanes that share it.
func (w *Warp) setUniform(r ir.Reg, v uint64) {
	d := &w.regs[r]
	for i := range d {
		if !w.policy.Own || w.Group>>i&1 == 1 {
			d[i] = v
		}
	}
}

// Run executes up to n instructions. It reports whether anything was done; an error ends the warp.
func (w *Warp) Run(n int) (progress bool, err error) {
	for n > 0 && w.live != 0 {
		if len(w.groups) == 0 || w.turn&15 == 15 || w.Code.grouped {
			if _, err := w.release(); err != nil {
				return true, err
			}
		}
		if len(w.groups) == 0 {
			return progress, nil
		}
		g := w.pick()
		used, err := w.burst(g, n)
		if err != nil {
			return true, err
		}
		n -= used
		progress = true
	}
	return progress, nil
}

// pick takes a group of lanes to run: of PTX those that are furthest behind, of machine code the newest, or,
// now and then, another one, because a group may wait in a loop for what another will do.
func (w *Warp) pick() group {
	w.turn++
	if !w.Code.P.Machine {
		w.merge()
	}
	at := 0
	if w.Code.P.Machine != w.policy.Reverse && !w.Code.grouped {
		at = len(w.groups) - 1
	}
	if w.policy.Patient {
		at = w.same(at)
	}
	if n := w.patience(); len(w.groups) > 1 && w.turn%n == n-1 {
		at = w.turn / n % len(w.groups)
	}
	g := w.groups[at]
	w.groups = append(w.groups[:at], w.groups[at+1:]...)
	w.ran = g.mask
	return g
}

// same is the number of a group of the lanes that ran last: in the order of the policy. If there is none, it is the one that is given.
func (w *Warp) same(other int) int {
	for i := range w.groups {
		if !w.policy.Reverse {
			i = len(w.groups) - 1 - i
		}
		if w.groups[i].mask&w.ran != 0 {
			return i
		}
	}
	return other
}

// patience is after how many turns another group comes. Where a program asks which lanes are active they stay together as long as they can,
// as on a device.
func (w *Warp) patience() int {
	switch {
	case w.policy.Patient:
		return 1 << 12
	case w.Code.grouped:
		return 256
	}
	return 5
}

// merge joins the groups at one place, and orders them: deeper calls first, then the lower place.
func (w *Warp) merge() {
	var out []group
next:
	for _, g := range w.groups {
		for i := range out {
			if out[i].pc == g.pc && w.depth(out[i].mask) == w.depth(g.mask) {
				out[i].mask |= g.mask
				continue next
			}
		}
		at := len(out)
		for at > 0 && w.before(g, out[at-1]) {
			at--
		}
		out = append(out[:at], append([]group{g}, out[at:]...)...)
	}
	w.groups = out
}

func (w *Warp) depth(mask uint32) int { return len(w.Threads[lowest(mask)].stack) }

func (w *Warp) before(a, b group) bool {
	x, y := w.depth(a.mask), w.depth(b.mask)
	return x > y || x == y && a.pc < b.pc
}

// limit is the lowest place of another group behind pc, where lanes of PTX meet again.
func (w *Warp) limit(pc int32) int32 {
	lim := int32(1<<31 - 1)
	if !w.Code.P.Machine {
		for _, g := range w.groups {
			if g.pc > pc {
				lim = min(lim, g.pc)
			}
		}
	}
	return lim
}

// burst runs a group until it diverges, waits or ends, or has used n instructions.
func (w *Warp) burst(g group, n int) (used int, err error) {
	lim := w.limit(g.pc)
	pc := g.pc
	c := w.Code
	// Diverged lanes of machine code share uniform registers, which compilers use between two jumps: another group runs only
	// behind one.
	jumped, began := true, w.Turns
	for used < n || !jumped {
		if int(pc) >= len(c.insts) || pc < 0 {
			return used, &Cannot{Inst: -1, Why: fmt.Sprintf("control leaves the code of %s", c.P.Kernel)}
		}
		in := &c.insts[pc]
		if w.Issue != nil {
			w.Issue(pc, g.mask)
		}
		act := g.mask
		if in.guard >= 0 {
			act &= w.bits(in.guard, in.not)
		}
		used++
		w.Group = g.mask
		w.Ran |= g.mask
		w.Turns++
		w.Steps += int64(bits.OnesCount32(g.mask))
		if w.Trace != nil {
			w.Trace(w, pc, act)
		}
		if f, flows := in.do.(*ir.Flow); flows {
			w.Cover.Insts[pc] = true // a jump that is not taken is performed, too
			jumped = f.Kind != ir.BarrierSet
		} else {
			jumped = !c.P.Machine
		}
		if act != 0 {
			w.Cover.Insts[pc] = true
			if in.opaque {
				return used, &Cannot{Inst: int(pc), Why: "not understood: " + c.P.Insts[pc].Opaque + ": " + c.P.Insts[pc].Text}
			}
			w.exec(in.pre, act)
		}
		if in.do == nil {
			if len(in.post) > 0 && act != 0 {
				w.exec(in.post, act)
			}
			if w.Computed != nil {
				w.Computed(pc, act)
			}
			pc++
		} else {
			next, stop, err := w.effect(pc, in, act, g.mask)
			if err != nil {
				return used, err
			}
			if stop {
				return used, nil
			}
			pc = next
		}
		if pc >= lim && lim > g.pc || w.Turns-began >= 1024 && jumped {
			break
		}
	}
	w.groups = append(w.groups, group{pc, g.mask})
	return used, nil
}

// bits are the lanes of which a predicate holds.
func (w *Warp) bits(r int32, not bool) uint32 {
	var m uint32
	row := &w.regs[r]
	for i := range row {
		m |= uint32(row[i]&1) << i
	}
	if not {
		return ^m
	}
	return m
}

// suspend stops the lanes of a mask; to is where they go on when they are released.
func (w *Warp) suspend(mask uint32, st state, to int32) {
	for x := mask; x != 0; x &= x - 1 {
		l := lowest(x)
		w.st[l], w.next[l] = st, to
	}
}

// resume lets lanes go on.
func (w *Warp) resume(mask uint32, pc int32) {
	for x := mask; x != 0; x &= x - 1 {
		w.st[lowest(x)] = running
	}
	if mask != 0 {
		w.groups = append(w.groups, group{pc, mask})
	}
}

// Wake lets lanes go on that wait for the environment.
func (w *Warp) Wake(mask uint32) {
	for mask != 0 {
		to := w.next[lowest(mask)]
		var same uint32
		for x := mask; x != 0; x &= x - 1 {
			if l := lowest(x); w.next[l] == to {
				same |= 1 << l
			}
		}
		mask &^= same
		w.resume(same, to)
	}
}

// exit ends lanes.
func (w *Warp) exit(mask uint32) {
	w.live &^= mask
	w.suspend(mask, done, 0)
}

func (w *Warp) lanes(st state) (m uint32) {
	for l, s := range w.st {
		if s == st {
			m |= 1 << l
		}
	}
	return m
}
