package optcheck

import (
	"cmp"

	"optcheck/internal/limits"
	"optcheck/isa"
	"optcheck/spec"
)

// maxReads bounds the reading events of a function: taints are 64-bit sets.
const maxReads = 64

// taint is a set of read events whose values flow into a register.
type taint uint64

// event is one memory-relevant instruction of a function, in flow order.
type event struct {
	inst  int      // index into Func.Insts
	role  isa.Role // access, fence, barrier or cache control
	mem   isa.Mem
	read  int // number of the reading event, or -1
	addr  key
	lo    value // low word of the address, or none
	data  []value
	addrT taint
	dataT taint
	// cond is set if the instruction may be skipped. condT holds the reads that decide it; when holds the predicates,
	// with the sense in which each must hold.
	cond  bool
	condT taint
	when  []sense
	loop  bool // may be performed more than once
	arm   bool // stands for a matched reduction on the other side of a predicate
	// result marks stores that only keep marker results alive.
	result bool
	// partner is the other of two instructions that act as one (lock loops), for values that come from both.
	partner int
	own     bool // an access to a harness's own memory
}

// sense is a predicate and the value that it must have.
type sense struct {
	pred value
	want bool
}

// marker is a decoded marker found in a function.
type marker struct {
	m    spec.Marker
	oper value
	t    taint
	inst int
	// recovered markers have lost their xor: the operand became a constant.
	recovered bool
}

// trace is the result of one pass over a function.
type trace struct {
	fn      *isa.Func
	arch    arch
	pool    *valuePool
	events  []event
	markers []marker
	calls   []int   // calls, whose callees are not seen
	effects []int   // instructions with effects that nobody asked for
	folded  []value // constants that are markers of constants
	unknown []int   // instructions in no table
	reads   []int   // reading event number → index into events
	tooMany bool
	wild    bool // see Checked.Wild
	// joins says, for values that come from one of two paths, which path it is.
	joins map[value]join
	// indirect is set for a branch whose targets are not known.
	indirect bool
	guards   map[int]value // predicates of instructions, in specialised code
	// order lists the blocks in flow order, and when the predicates under which each runs; loops is set if some block
	// may run more than once.
	order []int
	when  map[int][]sense
	loops bool
}

// machine walks a function in flow order and evaluates it symbolically.
type machine struct {
	walkOptions
	tr    *trace
	arch  arch
	in    []*state // state at the end of each block
	cur   *state
	block int
	cond  bool  // the block may be skipped
	condT taint // reads that decide whether the block runs
	when  []sense
	loop  bool          // the block is part of a loop
	preds map[int]sense // block → predicate under which its final branch is taken
	conds map[int]blockCondition
	flow  *flow
	loopT [][]taint // taint at loop heads from the previous pass
	// guardV is the predicate of the current instruction, or none; guardNeg is set if the instruction runs when the
	// predicate is false.
	guardV   value
	guardNeg bool
	// chosen holds the registers that were defined under a predicate in this block; nil if the architecture has no
	// such predicates.
	chosen map[int]chosen
	laneT  map[value]taint // taint of what a lane of a register was set to
}

// walkOptions controls how a function is evaluated.
type walkOptions struct {
	// pool is reused, and its content discarded; nil for a new one.
	pool *valuePool
	// literals holds the words of constant bank 2 by byte offset, nil if unknown.
	literals map[int64]uint32
	view     *view // of a harness kernel
	fold     bool  // decide comparisons of constants
	// unsettled are registers that may hold anything; nil for none.
	unsettled []Unsettled
}

// walk evaluates a function.
func walk(fn *isa.Func, o walkOptions) (*trace, error) {
	a, err := archOf(fn.Arch)
	if err != nil {
		return nil, err
	}
	fl, err := newFlow(fn)
	if err != nil {
		return nil, err
	}
	pool := o.pool
	if pool == nil {
		pool = takePool()
	}
	m := &machine{arch: a, flow: fl, guardV: none, walkOptions: o}
	if a.predicated() {
		m.chosen = map[int]chosen{}
	}
	passes := 1
	if fl.loops {
		passes = 2
	}
	for i := 0; i < passes; i++ {
		pool.reset()
		m.tr = &trace{fn: fn, arch: a, pool: pool, joins: map[value]join{}}
		if o.view != nil || o.fold {
			m.tr.guards = map[int]value{}
		}
		if o.view != nil {
			o.view.holds = o.view.holds[:0]
		}
		err := m.run()
		if o.view.learns() {
			o.view.loops.learn(m)
		}
		for _, st := range m.in {
			if st != nil {
				states.Put(st)
			}
		}
		if err != nil {
			return nil, err
		}
	}
	m.tr.joinLocked()
	return m.tr, nil
}

// over returns an error if a walk has reached a limit.
func (m *machine) over(lim *limits.Limits) error {
	return cmp.Or(m.flow.over(), limits.Check("values", len(m.tr.pool.nodes), lim.Values),
		limits.Check("events", len(m.tr.events), lim.Events))
}

func (m *machine) run() error {
	lim := limits.Now()
	m.in = make([]*state, len(m.flow.blocks))
	m.preds, m.conds = map[int]sense{}, map[int]blockCondition{}
	m.tr.order, m.tr.when, m.tr.loops = m.flow.order, map[int][]sense{}, m.flow.loops
	for _, b := range m.flow.order {
		m.block = b
		m.cur = m.entry(b)
		clear(m.chosen)
		m.cond, m.condT, m.when = m.blockCond(b)
		m.tr.when[b] = m.when
		m.loop = m.flow.inLoop[b]
		blk := m.flow.blocks[b]
		for i := blk.First; i < blk.End; i++ {
			m.enter(i)
			if m.unsettled != nil {
				m.settled(i, func() { m.step(i) })
			} else {
				m.step(i)
			}
		}
		if m.unsettled != nil {
			m.leave(b)
		}
		m.in[b] = m.cur
		for _, s := range blk.Succs {
			if m.flow.isLoopHead(s, b) {
				m.keepLoopTaint(s)
			}
		}
		if err := m.over(&lim); err != nil {
			return err
		}
	}
	return nil
}
