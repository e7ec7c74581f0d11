package refine

import (
	"fmt"
	"maps"
	"math/bits"
	"slices"

	"optcheck/emu"
	"optcheck/ir"
)

// Use is how an instruction uses a register while an earlier one is in flight.
type Use string

// The uses.
const (
	ReadsOld Use = "raw" // it reads what the register held before the earlier one
	OldStays Use = "waw" // the result of the earlier one lands last
	ReadsNew Use = "war" // the earlier one reads what it writes
)

// Early is an instruction of machine code that uses registers too early, to be executed so.
type Early struct {
	Use  Use   `json:"use"`
	From int32 `json:"from"` // instructions of the program: the earlier one and the later one
	To   int32 `json:"to"`
	// Held is what a register held by that where it shows: in the lane of a finding, or the first such lane.
	Held *Content `json:"held,omitempty"`
	// Path begins the path of a thread.
	Path func() Path `json:"-"`
}

// Path follows what one thread performs; only a pointer is one.
type Path interface {
	// Step performs an instruction, and returns the registers that it uses too early.
	Step(pc int32) []ir.Reg
	// Clone is the path of lanes that go on elsewhere.
	Clone() Path
}

// Content is what a register of a lane holds, and what it should.
type Content struct {
	Reg  string `json:"reg"`
	Held uint64 `json:"held"`
	Due  uint64 `json:"due"`
}

// With says what is performed with a content, in words that something follows.
func (e *Early) With() string {
	if e == nil || e.Held == nil {
		return "with that content"
	}
	return fmt.Sprintf("with %s = %#x, where %#x is due", e.Held.Reg, e.Held.Held, e.Held.Due)
}

// contents are those of registers.
type contents map[ir.Reg]uint64

// hasty makes a warp use registers too early.
type hasty struct {
	*Early
	w       *emu.Warp
	p       *ir.Program
	paths   [emu.Lanes]Path
	pc      int32  // of the instruction that is performed, -1 for none
	act     uint32 // by these lanes
	broken  [emu.Lanes][]ir.Reg
	before  [emu.Lanes]contents // of what From writes
	from    [emu.Lanes]contents // what was there before From, or what it has written
	times   [emu.Lanes]int      // how often a lane has performed From
	newer   map[turn]contents   // what To writes behind a performance of From
	ahead   map[turn]contents   // the same, found out before
	changed [emu.Lanes]contents // to be put back
	seen    otherwise
}

// otherwise is what registers held by an early use.
type otherwise struct {
	count int             // how often one had another content
	first map[int]Content // of each lane
	lane  int             // the first of them
}

func (o *otherwise) add(p *ir.Program, lane int, r ir.Reg, held, due uint64) {
	if o.count++; o.count == 1 {
		o.lane = lane
	}
	if _, ok := o.first[lane]; ok {
		return
	}
	for name, x := range p.Names {
		if x == r {
			o.first[lane] = Content{name, held, due}
		}
	}
}

// in is what a register of a lane held, or of the first lane of which one held something else.
func (o *otherwise) in(lane int) *Content {
	c, ok := o.first[lane]
	if !ok {
		c, ok = o.first[o.lane]
	}
	if !ok {
		return nil
	}
	return &c
}

// turn is a performance of From.
type turn struct{ lane, time int }

// perform begins a replay in which registers are used too early, and says what they then hold. What a later instruction writes is known when it
// was performed.
func (e *Early) perform(c *comparison, ref *emu.Warp, begin func() *replay) (*replay, *otherwise) {
	r := begin()
	h := e.of(r.w, nil)
	if e.Use == ReadsNew {
		_ = r.run(c, ref)
		r = begin()
		h = e.of(r.w, h.newer)
	}
	return r, &h.seen
}

func (e *Early) of(w *emu.Warp, ahead map[turn]contents) *hasty {
	h := &hasty{Early: e, w: w, p: w.Code.P, pc: -1, newer: map[turn]contents{}, ahead: ahead, seen: otherwise{first: map[int]Content{}}}
	path := e.Path()
	for l := range h.paths {
		h.paths[l] = path
	}
	w.Issue, w.Trace = h.issue, h.trace
	return h
}

// lanes are the numbers of the lanes of a mask.
func lanes(mask uint32, f func(l int)) {
	for ; mask != 0; mask &= mask - 1 {
		f(bits.TrailingZeros32(mask))
	}
}

// issue changes registers before an instruction reads any.
func (h *hasty) issue(pc int32, mask uint32) {
	h.finish()
	h.step(pc, mask)
	h.pc, h.act = pc, 0
	lanes(mask, func(l int) {
		var now contents
		if pc == h.From && h.Use == ReadsOld {
			now = h.now(l, results(&h.p.Insts[pc]))
		}
		switch {
		case pc == h.To && h.Use == ReadsOld:
			h.change(l, h.broken[l], h.from[l])
		case pc == h.From && h.Use == ReadsNew:
			if next := h.ahead[turn{l, h.times[l]}]; next != nil {
				h.change(l, slices.Collect(maps.Keys(next)), next)
			}
		}
		h.before[l] = now
	})
}

// trace is told which lanes perform the instruction.
func (h *hasty) trace(_ *emu.Warp, pc int32, act uint32) {
	if h.act = act; pc != h.From {
		return
	}
	lanes(h.w.Group, func(l int) {
		h.from[l] = nil
		if act>>l&1 == 1 {
			h.from[l] = h.before[l]
			h.times[l]++
		}
	})
}

// finish looks at what the instruction before has written, and puts back what was changed for it.
func (h *hasty) finish() {
	if h.pc < 0 {
		return
	}
	writes := results(&h.p.Insts[h.pc])
	for l := range h.changed {
		for r, v := range h.changed[l] {
			if h.act>>l&1 == 0 || !slices.Contains(writes, r) {
				h.w.SetReg(r, l, v)
			}
		}
		h.changed[l] = nil
	}
	lanes(h.act, func(l int) {
		switch {
		case h.pc == h.To && h.Use == OldStays:
			h.change(l, h.broken[l], h.from[l])
			h.changed[l] = nil // it stays
		case h.pc == h.To && h.Use == ReadsNew && len(h.broken[l]) > 0:
			h.newer[turn{l, h.times[l] - 1}] = h.now(l, h.broken[l])
		}
		if h.pc == h.From && h.Use == OldStays {
			h.from[l] = h.now(l, writes)
		}
	})
}

// now is what registers of a lane hold.
func (h *hasty) now(l int, regs []ir.Reg) contents {
	c := contents{}
	for _, r := range regs {
		c[r] = h.w.Reg(r, l)
	}
	return c
}

// change gives registers of a lane other contents, as far as those are known.
func (h *hasty) change(l int, regs []ir.Reg, to contents) {
	for _, r := range regs {
		v, ok := to[r]
		if was := h.w.Reg(r, l); ok && was != v {
			if h.changed[l] == nil {
				h.changed[l] = contents{}
			}
			h.changed[l][r] = was
			h.w.SetReg(r, l, v)
			h.seen.add(h.p, l, r, v, was)
		}
	}
}

// step lets lanes perform an instruction; those whose paths part are followed apart.
func (h *hasty) step(pc int32, mask uint32) {
	for mask != 0 {
		path := h.paths[bits.TrailingZeros32(mask)]
		var same uint32
		for l, q := range h.paths {
			if q == path {
				same |= 1 << l
			}
		}
		here := same & mask
		if here != same {
			path = path.Clone()
			lanes(here, func(l int) { h.paths[l] = path })
		}
		regs := slices.Clone(path.Step(pc))
		lanes(here, func(l int) { h.broken[l] = regs })
		mask &^= here
	}
}

// results are the registers that an instruction sets, those of divergence among them.
func results(in *ir.Inst) []ir.Reg {
	regs := in.Written()
	if f, ok := in.Do.(*ir.Flow); ok && f.Kind == ir.BarrierSet {
		regs = append(regs, f.Bar)
	}
	return regs
}
