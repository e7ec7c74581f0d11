package refine

import (
	"math/bits"
	"slices"

	"optcheck/emu"
	"optcheck/ir"
)

// seen is a comparison that decided a condition, of the lane whose operands were closest.
type seen struct {
	in   *Input
	at   int32 // the instruction
	a, b uint64
	bits int
	of   ir.Type // of floating-point numbers
	from words
	// at6 is the place of the lane's thread: tid and ctaid. loads are what its operands were loaded as.
	at6     [6]int
	loads   [2]struct{ addr, value uint64 }
	machine bool // of the machine code
	// fault tells that it is none: a is an address that no lane may access, b one in front of it that a lane may.
	fault bool
}

// distance is what lacks of a to be b; of floating-point numbers, how many there are between them.
func (s *seen) distance() int64 {
	if s.of.Float() {
		return rankOf(s.of, s.b) - rankOf(s.of, s.a)
	}
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
	shows   map[showing][]int // see run
	gained  map[int32]uint8
}

// shade is what is known of the registers of one warp.
type shade struct {
	*shadow
	from []words
	load []*origin
	seen [][]*seen
	last int32 // the instruction that was performed last: it is looked at when its registers are written
	act  uint32
	all  bool
	// number is the warp's in its grid.
	number int
}

// mostSeen bounds the comparisons that are kept of one condition.
const mostSeen = 3

// follow has a warp's instructions seen.
func (s *shadow) follow(number int, w *emu.Warp) {
	h := &shade{shadow: s, number: number, from: make([]words, s.p.Regs+1), load: make([]*origin, s.p.Regs+1), seen: make([][]*seen, s.p.Regs+1), last: -1}
	for i := range s.p.Consts {
		switch c := &s.p.Consts[i]; {
		case c.Bytes > 0 && c.Bank == 0:
			h.from[c.Reg] = s.bank(int64(c.Value), c.Bytes)
		case c.Bytes > 0:
			h.from[c.Reg] = s.constantAt(int64(c.Value), c.Bytes)
		}
	}
	w.Trace = h.trace
}

// bank is what a place of the constant bank of the launch depends on.
func (s *shadow) bank(at int64, bytes int) words {
	if at >= s.p.ParamBase {
		return s.params(at-s.p.ParamBase, bytes)
	}
	var from words
	for _, w := range s.p.Launch {
		if at < w.Offset+int64(w.Bytes) && w.Offset < at+int64(bytes) && w.Fixed == 0 {
			from |= ofSpecial(w.Reg)
		}
	}
	return from
}

func (h *shade) trace(w *emu.Warp, pc int32, act uint32) {
	if h.last >= 0 {
		h.performed(w, &h.p.Insts[h.last])
	}
	h.last, h.act, h.all = pc, act, act == w.Group
	in := &h.p.Insts[pc]
	if !h.machine {
		h.uses(w, pc, in, act)
	}
	switch do := in.Do.(type) {
	case *ir.Flow:
		if do.Kind == ir.Indirect {
			h.chosen(w, pc, do, act)
		}
	case *ir.Access:
		if !h.cover.Insts[pc] {
			h.faults(w, pc, do, act)
		}
	}
	if !h.machine && h.needs()[pc]&(seenFirst|seenSecond) != 0 && h.lacks(pc)&(seenFirst|seenSecond) != 0 {
		operations(h.p, pc, func(_ site, o *ir.Op) {
			if chooses(in, o) {
				h.decided(pc, o.Src[0])
			}
		})
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
			h.observe(spot{machine: h.machine, inst: to}, &seen{in: h.in, at: pc, a: v, b: uint64(i), bits: 32, from: from})
		}
	}
}

// faults tells the search what an address depends on that no lane may access.
func (h *shade) faults(w *emu.Warp, pc int32, a *ir.Access, act uint32) {
	from := h.of(a.Addr)
	for x := act; x != 0 && from != 0; x &= x - 1 {
		l := bits.TrailingZeros32(x)
		p := w.Place(a, l)
		to := w.Nearest(a, p)
		if to == p.Addr {
			continue
		}
		s := &seen{in: h.in, at: pc, a: p.Addr, b: to, bits: 64, from: from, at6: place(w.Threads[l]), fault: true}
		if load := h.load[a.Addr]; load != nil {
			s.loads[0].addr, s.loads[0].value = load.addr[l], load.value[l]
		}
		h.observe(spot{machine: h.machine, inst: pc}, s)
		return
	}
}

// place is that of a thread in its launch: tid and ctaid.
func place(t *emu.Thread) (at [6]int) {
	if t != nil {
		copy(at[:3], t.Tid[:])
		copy(at[3:], t.Ctaid[:])
	}
	return at
}

// decided tells the search which comparisons decided about an instruction.
func (h *shade) decided(pc int32, r ir.Reg) {
	if r < 0 {
		return
	}
	for _, s := range h.seen[r] {
		h.observe(spot{machine: h.machine, inst: pc}, s)
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
		case do.Space == ir.Param && do.Kind == ir.Load:
			from = 0
			for i, r := range do.Data {
				h.set(r, h.given(w, do, i, h.params), nil, nil)
			}
		case do.Space == ir.ConstBank && !h.machine:
			from = 0
			for i, r := range do.Data {
				h.set(r, h.given(w, do, i, h.constantAt), nil, nil)
			}
		case do.Space == ir.ConstBank && do.Bank == 0:
			if at, ok := h.fixed(do.Addr); ok {
				from = h.bank(at+do.Offset, do.Bytes*do.Elems)
			}
		}
		if from == 0 {
			break
		}
		for i, r := range do.Data {
			if do.Kind == ir.Load {
				h.set(r, from, nil, h.loaded(w, do, i))
			}
		}
		for _, r := range append([]ir.Reg{do.Done}, do.Dst...) {
			h.set(r, from, nil, nil)
		}
		if do.Kind == ir.Load {
			for _, r := range do.Fragments {
				h.set(r, from, nil, nil)
			}
		}
	case *ir.Special:
		h.set(do.Dst, ofSpecial(do.Reg), nil, nil)
	case *ir.Warp:
		from := h.of(do.Src) | h.of(do.Lane)
		for _, r := range []ir.Reg{do.Dst, do.Pred} {
			if r >= 0 {
				h.set(r, from, h.conditions(do.Src), nil)
			}
		}
	}
	for i := range in.Post {
		h.op(w, &in.Post[i])
	}
}

// given is what element i of an access depends on that lanes have loaded of the parameters, or of variables of constant memory: its address, and
// what of tells of each place.
func (h *shade) given(w *emu.Warp, a *ir.Access, i int, of func(at int64, bytes int) words) words {
	from, last := h.of(a.Addr), int64(-1)
	for x := h.act; x != 0; x &= x - 1 {
		if at := int64(w.Place(a, bits.TrailingZeros32(x)).Addr); at != last {
			from |= of(at+int64(i*a.Bytes), a.Bytes)
			last = at
		}
	}
	return from
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

// loaded is from where the lanes have just loaded element i of an access. (Its address may be gone: then it is not known.)
func (h *shade) loaded(w *emu.Warp, a *ir.Access, i int) *origin {
	if h.machine && slices.Contains(a.Data, a.Addr) || a.Space != ir.Global && a.Space != ir.Generic {
		return nil
	}
	o := &origin{}
	for x := h.act; x != 0; x &= x - 1 {
		l := bits.TrailingZeros32(x)
		if p := w.Place(a, l); p.Space == ir.Global {
			o.addr[l], o.value[l] = p.Addr+uint64(i*a.Bytes), w.Reg(a.Data[i], l)
		}
	}
	return o
}

func (h *shade) set(r ir.Reg, from words, list []*seen, load *origin) {
	if r < 0 {
		return
	}
	if !h.all {
		from |= h.from[r]
		list = together(list, h.seen[r])
	}
	h.from[r], h.seen[r], h.load[r] = from, list, load
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
	var load *origin
	for _, r := range o.Src {
		if r >= 0 {
			from |= h.from[r]
			if load == nil {
				load = h.load[r]
			}
			list = together(list, h.seen[r])
		}
	}
	if o.Code == ir.Cmp && from != 0 {
		if !h.machine {
			h.show(w, o)
		}
		if floats := o.Type.Float(); !floats || o.Type == ir.F32 || o.Type == ir.F64 {
			x := h.compared(w, o, from)
			if list = together([]*seen{x}, list); !h.machine {
				if !floats { // both outcomes show the border
					h.beside(x)
				}
			} else if was := h.cheap[x.at]; was == nil || h.costs[h.in] < h.costs[was] {
				h.cheap[x.at] = h.in
			}
		}
	}
	h.set(o.Dst, from, list, load)
}

// border is told what a lane of the program compares.
func (h *shadow) border(x *seen) {
	if d := x.distance(); d >= -1 && d <= 1 && h.borders[x.at]>>(d+1)&1 == 0 {
		h.gained[x.at] |= 1 << (d + 1)
	}
}

// compared is a comparison as the lane with the closest operands made it.
func (h *shade) compared(w *emu.Warp, o *ir.Op, from words) *seen {
	best := &seen{in: h.in, at: h.last, machine: h.machine, bits: min(o.Type.Bits(), 64), of: o.Type, from: from}
	first, lane := true, 0
	for l := range emu.Lanes {
		if h.act>>l&1 == 0 {
			continue
		}
		x := *best
		x.a, x.b = operand(w, o.Src[0], l), operand(w, o.Src[1], l)
		if !h.machine && !x.of.Float() {
			h.border(&x)
		}
		if first || magnitude(x.distance()) < magnitude(best.distance()) {
			*best, first = x, false
			lane = l
		}
	}
	best.at6 = place(w.Threads[lane])
	for i, r := range o.Src[:2] {
		if r >= 0 && h.load[r] != nil {
			best.loads[i].addr, best.loads[i].value = h.load[r].addr[lane], h.load[r].value[lane]
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
