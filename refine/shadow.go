package refine

import (
	"math/bits"

	"optcheck/emu"
	"optcheck/ir"
)

// words is a set of what a value depends on: words of the kernel's parameters, by their numbers in a search, the launch, and memory.
type words uint64

const (
	ofLaunch words = 1 << 62
	ofMemory words = 1 << 63
	maxWords       = 62
)

// seen is a comparison that decided a condition, of the lane whose operands were closest.
type seen struct {
	in   *Input
	at   int32 // the instruction
	a, b uint64
	bits int
	from words
}

// distance is what lacks of a to be b.
func (s *seen) distance() int64 {
	shift := 64 - s.bits
	return int64((s.b-s.a)<<shift) >> shift
}

// shadow follows through the runs of a code what its conditions depend on.
type shadow struct {
	*search
	in      *Input
	p       *ir.Program
	cover   *emu.Coverage
	machine bool
}

// shade is what is known of the registers of one warp.
type shade struct {
	*shadow
	from []words
	seen [][]*seen
	last int32 // the instruction that was performed last: it is looked at when its registers are written
	act  uint32
	all  bool
}

// mostSeen bounds the comparisons that are kept of one condition.
const mostSeen = 3

// follow has a warp's instructions seen.
func (s *shadow) follow(w *emu.Warp) {
	h := &shade{shadow: s, from: make([]words, s.p.Regs+1), seen: make([][]*seen, s.p.Regs+1), last: -1}
	for i := range s.p.Consts {
		if c := &s.p.Consts[i]; c.Bytes > 0 && c.Bank == 0 {
			h.from[c.Reg] = s.bank(int64(c.Value), c.Bytes)
		}
	}
	w.Trace = h.trace
}

// bank is what a place of the constant bank of the launch depends on.
func (s *shadow) bank(at int64, bytes int) words {
	if at < s.p.ParamBase {
		return ofLaunch
	}
	return s.params(at-s.p.ParamBase, bytes)
}

func (h *shade) trace(w *emu.Warp, pc int32, act uint32) {
	if h.last >= 0 {
		h.performed(w, &h.p.Insts[h.last])
	}
	h.last, h.act, h.all = pc, act, act == w.Group
	in := &h.p.Insts[pc]
	if f, ok := in.Do.(*ir.Flow); ok && f.Kind == ir.Indirect {
		h.chosen(w, pc, f, act)
	}
	if !open(in, h.cover, pc) {
		return
	}
	h.decided(pc, in.Guard)
	if f, ok := in.Do.(*ir.Flow); ok {
		h.decided(pc, f.Cond)
	}
}

// chosen tells the search what chooses the target of a jump by a table.
func (h *shade) chosen(w *emu.Warp, pc int32, f *ir.Flow, act uint32) {
	from := h.of(f.Addr)
	if from == 0 || act == 0 {
		return
	}
	v := w.Reg(f.Addr, bits.TrailingZeros32(act))
	for i, to := range f.Targets {
		if !h.cover.Insts[to] {
			h.observe(spot{h.machine, to}, &seen{in: h.in, at: pc, a: v, b: uint64(i), bits: 32, from: from})
		}
	}
}

// decided tells the search which comparisons decided about an instruction.
func (h *shade) decided(pc int32, r ir.Reg) {
	if r < 0 {
		return
	}
	for _, s := range h.seen[r] {
		h.observe(spot{h.machine, pc}, s)
	}
}

// open reports whether an outcome of an instruction has not been seen.
func open(in *ir.Inst, cover *emu.Coverage, pc int32) bool {
	if f, ok := in.Do.(*ir.Flow); ok {
		return (in.Guard >= 0 || f.Cond >= 0) && !(cover.Taken[pc] && cover.Passed[pc])
	}
	return in.Guard >= 0 && !cover.Insts[pc]
}

// performed takes over what the results of an instruction depend on.
func (h *shade) performed(w *emu.Warp, in *ir.Inst) {
	if h.act == 0 {
		return
	}
	for i := range in.Pre {
		h.op(w, &in.Pre[i])
	}
	switch do := in.Do.(type) {
	case *ir.Access:
		from := ofMemory
		switch {
		case do.Space == ir.Param:
			if at, ok := h.fixed(do.Addr); ok {
				from = 0
				for i, r := range do.Data {
					h.set(r, h.params(at+do.Offset+int64(i*do.Bytes), do.Bytes), nil)
				}
			}
		case do.Space == ir.ConstBank && do.Bank == 0:
			if at, ok := h.fixed(do.Addr); ok {
				from = h.bank(at+do.Offset, do.Bytes*do.Elems)
			}
		}
		for _, r := range written(in) {
			if from != 0 {
				h.set(r, from, nil)
			}
		}
	case *ir.Special:
		h.set(do.Dst, ofLaunch, nil)
	case *ir.Warp:
		from := h.of(do.Src) | h.of(do.Lane)
		for _, r := range []ir.Reg{do.Dst, do.Pred} {
			if r >= 0 {
				h.set(r, from, h.conditions(do.Src))
			}
		}
	}
	for i := range in.Post {
		h.op(w, &in.Post[i])
	}
}

// fixed is the value of an address that never changes.
func (h *shade) fixed(r ir.Reg) (int64, bool) {
	if r < 0 {
		return 0, true
	}
	v, ok := h.constant[h.machine][r]
	return int64(v), ok
}

func (h *shade) of(r ir.Reg) words {
	if r < 0 {
		return 0
	}
	return h.from[r]
}

func (h *shade) conditions(r ir.Reg) []*seen {
	if r < 0 {
		return nil
	}
	return h.seen[r]
}

func (h *shade) set(r ir.Reg, from words, list []*seen) {
	if r < 0 {
		return
	}
	if !h.all {
		from |= h.from[r]
		list = together(list, h.seen[r])
	}
	h.from[r], h.seen[r] = from, list
}

// together joins what is known of two conditions.
func together(a, b []*seen) []*seen {
	switch {
	case len(a) == 0:
		return b
	case len(b) == 0 || len(a) >= mostSeen:
		return a
	}
	out := append([]*seen(nil), a...)
next:
	for _, s := range b {
		for _, t := range out {
			if s == t {
				continue next
			}
		}
		if len(out) < mostSeen {
			out = append(out, s)
		}
	}
	return out
}

func (h *shade) op(w *emu.Warp, o *ir.Op) {
	if o.Dst < 0 {
		return
	}
	var from words
	var list []*seen
	for _, r := range o.Src {
		if r >= 0 {
			from |= h.from[r]
			list = together(list, h.seen[r])
		}
	}
	if o.Code == ir.Cmp && !o.Type.Float() && from != 0 {
		x := h.compared(w, o, from)
		if list = together([]*seen{x}, list); !h.machine {
			h.beside(x)
		}
	}
	h.set(o.Dst, from, list)
}

// compared is a comparison as the lane with the closest operands made it.
func (h *shade) compared(w *emu.Warp, o *ir.Op, from words) *seen {
	best := &seen{in: h.in, at: h.last, bits: min(o.Type.Bits(), 64), from: from}
	first := true
	for l := range emu.Lanes {
		if h.act>>l&1 == 0 {
			continue
		}
		x := *best
		x.a, x.b = operand(w, o.Src[0], l), operand(w, o.Src[1], l)
		if !h.machine {
			h.border(&x)
		}
		if first || magnitude(x.distance()) < magnitude(best.distance()) {
			*best, first = x, false
		}
	}
	return best
}

func operand(w *emu.Warp, r ir.Reg, lane int) uint64 {
	if r < 0 {
		return 0
	}
	return w.Reg(r, lane)
}

func magnitude(d int64) uint64 {
	if d < 0 {
		return uint64(-d)
	}
	return uint64(d)
}
