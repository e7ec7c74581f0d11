package spec

import (
	"fmt"
	"math/bits"
	"slices"

	"optcheck/litmus"
)

// Unsupported says why a test cannot be specified, emitted or compiled for a target. It makes a
// cell unsupported; it is not a failure of a run.
type Unsupported struct{ Reason string }

// Error implements error.
func (u *Unsupported) Error() string { return "unsupported: " + u.Reason }

func unsupported(format string, args ...any) error {
	return &Unsupported{Reason: fmt.Sprintf(format, args...)}
}

// posSet is a set of positions: bit p stands for the access at position p.
type posSet uint32

// flow describes a register at one point of a thread.
type flow struct {
	from posSet // reads whose values flow into it through registers
	loc  int    // index of the location whose address it holds, or -1
}

// FromTest computes the specification of a thread of a test: accesses and fences in program
// order, and the dependencies that follow from register data flow and predication. A dependency
// through a guarded definition counts only its sources, not its guard: compilers may move a
// value across a guard that the consuming access shares.
//
// A bounded loop is specified as the copies of its body (litmus.Test.Unrolled), whose
// instructions Entry.Instr numbers.
//
// Asynchronous operations, mbarriers and barriers of clusters have no entries: kernels with them carry no markers. Nor do those
// with accesses that litmus.Word lists, of which each register has an entry.
//
// It returns an *Unsupported error if the thread exceeds the encoding, a loop has no known
// bound, or an access's location is not known statically. Locations must be in the order of
// litmus.CompareLocations, which numbers them; another order is an error, because readers that
// number locations by the test would name wrong ones.
func FromTest(t *litmus.Test, thread int, layout Layout) (*Spec, error) {
	if !t.LocationsSorted() {
		return nil, fmt.Errorf("test %s: its locations are not in the order of litmus.CompareLocations", t.Name)
	}
	if len(t.Threads) > MaxThreads {
		return nil, unsupported("%d threads (at most %d)", len(t.Threads), MaxThreads)
	}
	if len(t.Locations) > MaxLocations {
		return nil, unsupported("%d locations (at most %d)", len(t.Locations), MaxLocations)
	}
	th, origin, err := t.Threads[thread].Unrolled()
	if err != nil {
		return nil, unsupported("%v", err)
	}
	if origin != nil {
		flat := *t
		flat.Threads = slices.Clone(t.Threads)
		flat.Threads[thread], t = th, &flat
	}
	b := &builder{t: t, th: &t.Threads[thread], s: &Spec{Thread: thread, Layout: layout, Locations: max(len(t.Locations), 1)},
		regs: map[string]flow{}}
	for _, d := range b.th.Regs {
		if d.Init.Kind == litmus.OperandLoc {
			b.regs[d.Name] = flow{loc: b.locIndex(d.Init.Name)}
		}
	}
	b.unread = t.Unread(thread)
	if layout == Adjacent {
		b.s.Wide = accessed(t, 64)
	}
	b.s.Narrow = [2]uint8{accessed(t, 8), accessed(t, 16)}
	wide := slices.ContainsFunc(b.th.Body, func(in litmus.Instr) bool { return in.Part > 0 })
	if b.s.Parts = PartsOf(t); layout == Adjacent && (t.Parted() || wide) {
		return nil, unsupported("parts of locations, or vectors, in the layout adjacent")
	}
	for i := range b.th.Body {
		if err := b.step(i); err != nil {
			return nil, err
		}
	}
	if origin != nil {
		b.s.copies(origin)
	}
	if n := b.s.Markers(); len(b.s.Entries) > MaxPositions || n > MaxMarkers {
		return nil, unsupported("thread %s has %d accesses and fences and %d dependencies (at most %d and %d markers)",
			b.th.Name, len(b.s.Entries), len(b.s.Deps), MaxPositions, MaxMarkers)
	}
	b.s.sort()
	return b.s, nil
}

// PartsOf returns the parts that a test has of its locations.
func PartsOf(t *litmus.Test) (list [MaxLocations]Part) {
	b := builder{t: t}
	for i := range t.Locations {
		if l := &t.Locations[i]; l.Of != "" {
			list[i] = Part{true, b.locIndex(l.Of), l.Offset}
		}
	}
	return list
}

// copies records which entries are the same instruction.
func (s *Spec) copies(origin []int) {
	first := map[int]int{}
	for k := range s.Entries {
		e := &s.Entries[k]
		if p, ok := first[origin[e.Instr]]; ok {
			e.Back = e.Pos - p
		} else {
			first[origin[e.Instr]] = e.Pos
		}
	}
}

// accessed returns the locations that some thread accesses as words of so many bits.
func accessed(t *litmus.Test, bits int) (mask uint8) {
	b := builder{t: t}
	for i := range t.Threads {
		th := &t.Threads[i]
		for k := range th.Body {
			if in := &th.Body[k]; in.IsAccess() && in.Type.Bits() == bits {
				if l := b.locIndex(th.AddrLoc(in)); l >= 0 {
					mask |= 1 << uint(l)
				}
			}
		}
	}
	return mask
}

type builder struct {
	t    *litmus.Test
	th   *litmus.Thread
	s    *Spec
	regs map[string]flow
	// unread is set for each instruction whose result nobody observes.
	unread []bool
	// skips lists the forward branches seen: the instructions before until run only if the
	// branch was not taken.
	skips []struct {
		until string
		from  posSet
	}
}

func (b *builder) locIndex(name string) int {
	for i := range b.t.Locations {
		if b.t.Locations[i].Name == name {
			return i
		}
	}
	return -1
}

func (b *builder) reg(name string) flow {
	if f, ok := b.regs[name]; ok {
		return f
	}
	return flow{loc: -1}
}

func (b *builder) operand(o litmus.Operand) flow {
	switch o.Kind {
	case litmus.OperandReg:
		return b.reg(o.Name)
	case litmus.OperandLoc:
		return flow{loc: b.locIndex(o.Name)}
	}
	return flow{loc: -1}
}

func (b *builder) step(i int) error {
	in := &b.th.Body[i]
	for _, l := range in.Labels {
		b.reach(l)
	}
	ctrl, guarded := b.control(in)
	if in.Op.IsAccess() || in.Op.IsFence() || in.Op == litmus.OpBar {
		return b.event(i, in, ctrl, guarded)
	}
	if in.Op == litmus.OpBra {
		from := posSet(0)
		if in.Guard != nil {
			from = b.reg(in.Guard.Reg).from
		}
		for _, s := range in.Src {
			from |= b.operand(s).from
		}
		b.skips = append(b.skips, struct {
			until string
			from  posSet
		}{in.Target, from})
		return nil
	}
	if in.Dst == "" {
		return nil
	}
	f := flow{loc: -1}
	for _, s := range in.Src {
		g := b.operand(s)
		f.from |= g.from
		if g.loc >= 0 && (in.Op == litmus.OpMov || in.Op == litmus.OpAdd || in.Op == litmus.OpSub || in.Op == litmus.OpCvt) {
			f.loc = g.loc
		}
	}
	b.define(in, f)
	return nil
}

// reach ends the region of every forward branch to the label.
func (b *builder) reach(label string) {
	keep := b.skips[:0]
	for _, s := range b.skips {
		if s.until != label {
			keep = append(keep, s)
		}
	}
	b.skips = keep
}

// control returns the reads that decide whether the instruction runs.
func (b *builder) control(in *litmus.Instr) (from posSet, guarded bool) {
	if in.Guard != nil {
		from |= b.reg(in.Guard.Reg).from
		guarded = true
	}
	for _, s := range b.skips {
		if b.isForward(in, s.until) {
			from |= s.from
			guarded = true
		}
	}
	return from, guarded
}

// isForward reports whether the label stands after the instruction.
func (b *builder) isForward(in *litmus.Instr, label string) bool {
	after := false
	for k := range b.th.Body {
		if after {
			for _, l := range b.th.Body[k].Labels {
				if l == label {
					return true
				}
			}
		}
		if &b.th.Body[k] == in {
			after = true
		}
	}
	return false
}

// define records a register's new value; a definition that may not happen keeps the register's
// previous value.
func (b *builder) define(in *litmus.Instr, f flow) {
	if _, may := b.control(in); may {
		old := b.reg(in.Dst)
		f.from |= old.from
		if f.loc < 0 {
			f.loc = old.loc
		}
	}
	b.regs[in.Dst] = f
}

func (b *builder) event(i int, in *litmus.Instr, ctrl posSet, guarded bool) error {
	pos := len(b.s.Entries)
	if pos >= MaxPositions {
		return unsupported("thread %s has more than %d accesses and fences", b.th.Name, MaxPositions)
	}
	e := Entry{Pos: pos, Instr: i, Guarded: guarded, Unread: b.unread[i]}
	b.depend(ctrl, pos, DepCtrl)
	if !in.Op.IsAccess() {
		if in.Op == litmus.OpBar && in.Barrier.ID.Kind != litmus.OperandConst {
			return unsupported("a barrier whose number is not constant")
		}
		e.Kind = KindOf(in, litmus.Generic)
		if _, ok := fenceCodes[e.Kind]; !ok {
			return unsupported("%v has no specification code", e.Kind)
		}
		if in.Op == litmus.OpBar && in.Barrier.Quorum.Kind != litmus.OperandNone {
			if e.Threads = int(in.Barrier.Quorum.Value); in.Barrier.Quorum.Kind != litmus.OperandConst || e.Threads <= 0 {
				return unsupported("a barrier whose number of threads is not constant")
			}
		}
		b.s.Entries = append(b.s.Entries, e)
		return nil
	}
	addr := flow{loc: b.locIndex(in.Addr.Loc)}
	if in.Addr.Reg != "" {
		addr = b.reg(in.Addr.Reg)
	}
	if addr.loc < 0 {
		return unsupported("thread %s: the location of %s is not known statically", b.th.Name, in.String())
	}
	if in.Addr.Offset != 0 && in.Part == 0 {
		return unsupported("thread %s: address offset in %s; name the bytes in the initial state (h=x+2)", b.th.Name, in.String())
	}
	e.Loc = addr.loc
	space := b.t.Locations[e.Loc].Space
	if space == litmus.Generic {
		space = litmus.Global
	}
	e.Kind = KindOf(in, space)
	if narrow := b.s.Narrow[0] | b.s.Narrow[1]; narrow>>uint(e.Loc)&1 == 1 && in.Word == nil {
		if err := b.narrow(in, &e); err != nil {
			return err
		}
	}
	if _, ok := accessCodes[e.Kind.coded()]; !ok && in.Word == nil {
		return unsupported("%v of %d bytes has no specification code", e.Kind, e.Kind.Width)
	}
	e.Signed = (in.Atom == litmus.AtomMin || in.Atom == litmus.AtomMax) && in.Type != litmus.U32 && in.Type != litmus.U64
	b.depend(addr.from, pos, DepAddr)
	data := posSet(0)
	for _, s := range in.Src {
		data |= b.operand(s).from
	}
	b.depend(data, pos, DepData)
	b.s.Entries = append(b.s.Entries, e)
	if in.Dst != "" {
		b.define(in, flow{from: 1 << uint(pos), loc: -1})
	}
	return nil
}

// narrow returns an error for an access of a byte or a 16-bit word that cannot be specified.
func (b *builder) narrow(in *litmus.Instr, e *Entry) error {
	switch name := b.t.Locations[e.Loc].Name; {
	case in.Op != litmus.OpLd && in.Op != litmus.OpSt:
		return unsupported("an atomic of %d bytes", e.Kind.Width)
	case e.Kind.Width != int(b.s.width(e.Loc)):
		return unsupported("accesses of several widths to %s, of which one is below 32 bits; give each width a name in the initial state (h=%s+0)", name, name)
	case in.Type == litmus.S8 || in.Type == litmus.S16:
		return unsupported("an access of type %v: narrow accesses are unsigned", in.Type)
	}
	return nil
}

func (b *builder) depend(from posSet, to int, kind DepKind) {
	for f := uint32(from); f != 0; f &= f - 1 {
		if p := bits.TrailingZeros32(f); p < to {
			b.s.Deps = append(b.s.Deps, Dep{From: p, To: to, Kind: kind})
		}
	}
}
