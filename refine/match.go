package refine

import (
	"encoding/binary"
	"fmt"
	"math/bits"
	"slices"

	"optcheck/emu"
	"optcheck/ir"
)

// free reports whether a synchronisation of the record needs no instruction of the machine: an acquire or release of a CTA's
// scope, whose threads share what they read through.
func free(e *emu.Event) bool {
	return e.Kind == emu.EventFence && e.Scope <= ir.CTA && e.Sem < ir.AcqRel || e.Kind == emu.EventWarpBarrier
}

// pendingFence is the fence that the record has before its next access, if the machine must have an instruction for it.
func (l *lane) pendingFence() *emu.Event {
	for i := l.at; i < len(l.rec.Events); i++ {
		e := &l.rec.Events[i]
		switch {
		case !e.Sync():
			return nil
		case e.Kind == emu.EventFence && !free(e) && !l.reduced(i):
			return e
		case e.Kind == emu.EventBarrier:
			return nil
		}
	}
	return nil
}

// nextOf is the next access of the record, if it is of a kind and place.
func (l *lane) nextOf(k emu.EventKind, p emu.Place) *emu.Event {
	for i := l.at; i < len(l.rec.Events); i++ {
		e := &l.rec.Events[i]
		if e.Sync() {
			continue
		}
		if e.Kind == k && e.Place == p {
			return e
		}
		return nil
	}
	return nil
}

// seek looks for the event that an access is. Between may stand what the table of allowed transformations lets go: see
// skippable. It reports the number of events to go over.
func (l *lane) seek(is func(e *emu.Event) bool) (skip int, ok bool) {
	for i := l.at; i < len(l.rec.Events); i++ {
		e := &l.rec.Events[i]
		l.looked++
		if !l.done.has(i) && is(e) {
			if !l.late || e.Kind != emu.EventLoad || e.Object || !l.dead(i) {
				return i - l.at, true
			}
			if !ok {
				skip, ok = i-l.at, true
			}
		}
		if !l.skippable(i) {
			break
		}
	}
	return skip, ok
}

// risen matches a relaxed access that the machine performs before others of other places. check and buf are as for events.
func (r *replay) risen(th *lane, kind emu.EventKind, a *ir.Access, p emu.Place, buf []byte, check bool) bool {
	i, ok := th.ahead(kind, p, len(buf))
	if !ok || len(buf) > 8 {
		return false
	}
	e := &th.rec.Events[i]
	if e.Bytes != len(buf) || p.Space == ir.Global && a.Scope < e.Scope && a.Scope != ir.NoScope ||
		check && !th.open.value(i) && emu.Number(buf) != e.Value {
		return false
	}
	if !check {
		copy(buf, binary.LittleEndian.AppendUint64(nil, e.Value))
		r.overlay(th, e.Place, bytesOf(e), false)
	}
	th.done.add(i)
	return true
}

// ahead looks for an access of a place behind others that are not performed yet: relaxed ones of different places are not ordered.
// It reports its number.
func (l *lane) ahead(kind emu.EventKind, p emu.Place, bytes int) (int, bool) {
	for i := l.at; i < len(l.rec.Events); i++ {
		l.looked++
		switch e := &l.rec.Events[i]; {
		case l.done.has(i):
		case e.Kind == kind && e.Place == p:
			return i, e.Sem <= ir.Relaxed
		case e.Sync() && !free(e) || e.Sem > ir.Relaxed && e.Kind != emu.EventStore, // a release orders what precedes it
			e.Place.Space == p.Space && e.Place.Addr < p.Addr+uint64(bytes) && p.Addr < e.Place.Addr+uint64(e.Bytes):
			return 0, false
		}
	}
	return 0, false
}

// skippable is the table of what machine code may leave out.
//
//   - drop: a strong load on whose result nothing depends (see comparison.dead), with the fence of its acquire (the order that is lost with it is compared on
//     all paths, not here);
//   - reduce: the fence of an acquire that was a read-modify-write's on whose result nothing depends (likewise);
//   - merge: a relaxed store that the thread overwrites with nothing between, or that another one has just written;
//   - merge: an arrival behind copies, of which one serves for several;
//   - drop: a read-modify-write of shared memory that writes what it finds, behind a load of that;
//   - a fence of a CTA's scope, a barrier of the warp: the lanes share what they read through;
//   - rise: a relaxed access that was performed before others of other places (the order is compared on all paths, not here).
func (l *lane) skippable(i int) bool {
	ev := l.rec.Events
	e := &ev[i]
	switch {
	case free(e), l.done.has(i), l.found.has(i):
		return true
	case e.Kind == emu.EventLoad:
		return !e.Object && l.dead(i)
	case e.Kind == emu.EventFence && e.Sem == ir.Acquire && i > l.at && ev[i-1].Kind == emu.EventLoad:
		return true // behind a load that is
	case l.reduced(i):
		return true
	case e.Balanced: // one serves for all copies before it
		return i > 1 && ev[i-2].Balanced && ev[i-2].Place == e.Place && ev[i-2].Operand == e.Operand
	case e.Kind == emu.EventStore:
		for k := i + 1; k < len(ev) && k <= i+5 && !ev[k].Sync(); k++ {
			if ev[k].Kind == emu.EventStore && ev[k].Place == e.Place {
				return true
			}
		}
		return i > 0 && ev[i-1].Kind == emu.EventStore && ev[i-1].Place == e.Place && ev[i-1].Value == e.Value
	}
	return false
}

// dropped reports whether an event is the fence of an acquire that machine code may leave out, alone or with its load.
func (l *lane) dropped(i int) bool { return l.acquires(i, emu.EventLoad) || l.reduced(i) }

// reduced reports whether an event is the fence of a read-modify-write of which machine code may make one without a result,
// and so without an acquire.
func (l *lane) reduced(i int) bool { return l.acquires(i, emu.EventAtomic) }

// acquires reports whether an event is the fence of an acquire that read what nothing depends on, by an event of a kind.
func (l *lane) acquires(i int, k emu.EventKind) bool {
	ev := l.rec.Events
	return i > 0 && ev[i].Kind == emu.EventFence && ev[i].Sem == ir.Acquire && ev[i-1].Kind == k && ev[i-1].Inst == ev[i].Inst && !ev[i-1].Object && l.dead(i-1)
}

// events matches a strong access with the events of the record: one for each element, or several that lie in it. check
// compares values, else they are given.
func (r *replay) events(th *lane, kind emu.EventKind, a *ir.Access, p emu.Place, buf []byte, check bool) bool {
	from, end := p.Addr, p.Addr+uint64(len(buf))
	is := func(e *emu.Event) bool {
		return e.Kind == kind && e.Place.Space == p.Space && e.Place.Addr >= from && e.Place.Addr+uint64(e.Bytes) <= end &&
			(p.Space == ir.Shared || a.Scope >= e.Scope || a.Scope == ir.NoScope)
	}
	skip, ok := th.seek(is)
	if !ok {
		return kind == emu.EventLoad && r.narrower(th, a, p, buf) || r.risen(th, kind, a, p, buf, check)
	}
	n := 0 // bytes covered, by events in any order: elements of a vector have none
	i := th.at + skip
	for ; i < len(th.rec.Events) && n < len(buf) && is(&th.rec.Events[i]); i++ {
		e := &th.rec.Events[i]
		at := int(e.Place.Addr - from)
		if check && !th.open.value(i) && emu.Number(buf[at:at+min(e.Bytes, 8)]) != e.Value {
			return false
		}
		if !check {
			copy(buf[at:], bytesOf(e))
		}
		n += e.Bytes
	}
	if n != len(buf) {
		return false
	}
	for th.at < i {
		e := th.next()
		if !e.Sync() && !check && is(e) {
			r.overlay(th, e.Place, bytesOf(e), false)
		}
		th.take()
	}
	return true
}

// narrower matches a load of a part of what the program loads: the form of the code tells that it is less.
func (r *replay) narrower(th *lane, a *ir.Access, p emu.Place, buf []byte) bool {
	skip, ok := th.seek(func(e *emu.Event) bool {
		return e.Kind == emu.EventLoad && e.Place.Space == p.Space && !e.Object && e.Place.Addr <= p.Addr &&
			p.Addr+uint64(len(buf)) <= e.Place.Addr+uint64(e.Bytes) && (p.Space == ir.Shared || a.Scope >= e.Scope || a.Scope == ir.NoScope)
	})
	if !ok {
		return false
	}
	e := &th.rec.Events[th.at+skip]
	copy(buf, bytesOf(e)[p.Addr-e.Place.Addr:])
	for range skip + 1 {
		th.take()
	}
	r.overlay(th, e.Place, bytesOf(e), false)
	return true
}

// bytesOf are what an event read or wrote.
func bytesOf(e *emu.Event) []byte {
	b := binary.LittleEndian.AppendUint64(nil, e.Value)
	return binary.LittleEndian.AppendUint64(b, e.High)[:e.Bytes]
}

// acquired goes over the fences behind a load or read-modify-write that need no instruction. What asks a barrier object whether a phase is
// complete acquires something only if it is: the machine's invalidation stands under that condition.
func (r *replay) acquired(th *lane) {
	asked := th.at > 0 && th.rec.Events[th.at-1].Kind == emu.EventLoad && th.rec.Events[th.at-1].Object
	for e := th.next(); e != nil && e.Kind == emu.EventFence && (asked || free(e)) && e.Sem == ir.Acquire; e = th.next() {
		th.take()
	}
}

// Fence replays a fence, or an invalidation.
func (r *replay) Fence(_ *emu.Warp, _ int32, f *ir.Fence, act uint32) error {
	if f.Proxy != "" || f.Part {
		return nil
	}
	for l, th := range r.lanes {
		if act>>l&1 == 0 || th == nil {
			continue
		}
		invalidates := f.Sem == ir.Acquire
		took := false
		for {
			skip, ok := th.seek(func(e *emu.Event) bool {
				return e.Kind == emu.EventFence && (invalidates && e.Sem == ir.Acquire || !invalidates && e.Scope <= f.Scope)
			})
			if ok && !took && skip > 0 && !th.late && th.absorbed > 0 { // it is one that was taken with the one before it
				th.absorbed--
				break
			}
			// A second fence belongs to the first one if the program stores nothing between.
			if !ok || took && (skip > 0 || th.rec.Epochs[th.epoch()].Len() > 0) || skip > 0 && r.stores(th, skip) {
				break
			}
			absorbed := th.absorbed + int(bit(took))
			for range skip + 1 {
				th.take()
			}
			th.absorbed, took = absorbed, true
			if invalidates && !th.late {
				break
			}
		}
	}
	return nil
}

// epoch is the number of the epoch of the record in which a lane is.
func (l *lane) epoch() int { return len(l.epochs) - 1 }

// WarpBarrier replays a barrier of the warp: the program's, if it has one here.
// A WARPSYNC (b is nil then) may be there for an operation of the warp instead: it is none for a lane that has not stored what the program
// stores before its barrier.
func (r *replay) WarpBarrier(_ *emu.Warp, _ int32, b *ir.Barrier, act uint32) error {
	for l, th := range r.lanes {
		if act>>l&1 == 0 || th == nil {
			continue
		}
		if e := th.next(); e != nil && e.Kind == emu.EventWarpBarrier && (b != nil || !th.owes()) {
			th.take()
		}
	}
	return nil
}

// owes reports whether the program has stored something in the lane's epoch that the machine code has not.
func (l *lane) owes() bool {
	n := l.epoch()
	for w, s := range l.rec.Epochs[n].All() {
		if s.Mask&^l.epochs[n].Of(w).Mask != 0 {
			return true
		}
	}
	return false
}

// Barrier replays a barrier of the block: nobody waits, the record says what was seen behind it.
func (r *replay) Barrier(w *emu.Warp, pc int32, b *ir.Barrier, act uint32) (bool, error) {
	for l, th := range r.lanes {
		if act>>l&1 == 0 || th == nil {
			continue
		}
		id := uint64(0)
		if b.Kind >= ir.BarrierCluster {
			id = emu.ClusterEvent(b.Kind)
		}
		if b.ID >= 0 {
			id = w.Reg(b.ID, l) & 0xffffffff
		}
		skip, ok := th.seek(func(e *emu.Event) bool { return e.Kind == emu.EventBarrier && e.ID == id })
		if !ok || r.stores(th, skip) {
			if !ok && th.over() {
				return false, beyond{}
			}
			return false, &accuse{Rule: ExtraAccess, Lane: l, Pc: pc, Event: th.next(), Why: fmt.Sprintf("barrier %d, which the program does not reach here", id)}
		}
		for range skip {
			th.take()
		}
		e := th.next()
		if got := w.Contributes(b, l); b.Kind == ir.BarrierRed && e.Barrier == ir.BarrierRed && got != e.Operand && !th.open.operand(th.at) {
			return false, &accuse{Rule: WrongValue, Lane: l, Pc: pc, Event: e, Want: e.Operand, Got: got, Known: true,
				Why: fmt.Sprintf("the program gives %d to a reduction at a barrier, the machine code %d", e.Operand, got)}
		}
		w.Threads[l].SetResult(e.Reduced)
		if b.Dst >= 0 {
			w.SetReg(b.Dst, l, e.Reduced)
		}
		th.take()
	}
	return false, nil
}

// stores reports whether the next events store something: a fence or barrier does not go over them.
func (r *replay) stores(th *lane, n int) bool {
	for i := range n {
		k := th.rec.Events[th.at+i].Kind
		if (k == emu.EventStore || k == emu.EventAtomic || k == emu.EventCopy) && !th.done.has(th.at+i) && !th.found.has(th.at+i) {
			return true
		}
	}
	return false
}

// alone reports whether a read-modify-write may be one for several lanes: no two lanes have performed the instruction together at one place.
func (r *replay) alone(pc int32, act uint32, at *[emu.Lanes]emu.Place) bool {
	if !r.w.Code.P.Machine {
		return false
	}
	for x := act; x != 0 && !r.crowded[pc]; x &= x - 1 {
		first := bits.TrailingZeros32(x)
		for y := x & (x - 1); y != 0; y &= y - 1 {
			if at[bits.TrailingZeros32(y)] == at[first] {
				r.crowded[pc] = true
				break
			}
		}
	}
	return !r.crowded[pc]
}

// atomics replays read-modify-writes: each lane's own, or one for several lanes together.
func (r *replay) atomics(pc int32, a *ir.Access, act uint32, at *[emu.Lanes]emu.Place) error {
	alone := r.alone(pc, act, at)
	for x := act; x != 0; x &= x - 1 {
		l := bits.TrailingZeros32(x)
		if r.lanes[l] == nil {
			continue
		}
		known := []uint32{r.w.Voted[l], r.w.Group}
		if known[0] == 0 { // nobody asked who is there
			known = append(known, ^uint32(0))
		}
		if alone && r.aggregate(a, l, act, known, at, !r.eager) || r.atomic(a, l, at[l]) || alone && r.aggregate(a, l, act, append(known, ^uint32(0)), at, false) {
			if r.torn {
				return &emu.Cannot{Inst: int(pc), Why: "lanes perform together, and use, what the program's perform with others between", Input: true}
			}
			continue
		}
		th := r.lanes[l]
		if e := th.pendingFence(); e != nil {
			return r.missing(l, pc, e)
		}
		if r.partly(a, l, at[l]) {
			continue
		}
		if r.exhausted(r.w.Voted[l] | r.w.Group) {
			return beyond{}
		}
		if th.narrower(at[l], a.Bytes) {
			return &emu.Cannot{Inst: int(pc), Why: "a read-modify-write of a word for one of a part of it"}
		}
		if e := th.nextOf(emu.EventAtomic, at[l]); e != nil {
			var b [16]byte
			r.w.Stored(a, l, b[:a.Bytes])
			return &accuse{Rule: WrongValue, Lane: l, Pc: pc, Event: e, Want: e.Operand, Got: emu.Number(b[:]), Known: true,
				Why: fmt.Sprintf("the program performs %s with %#x there, the machine code %s with %#x", e.Atom, e.Operand, a.Atom, emu.Number(b[:]))}
		}
		return r.unexpected(l, pc, at[l], "a read-modify-write that the program does not perform here")
	}
	return nil
}

// partly replays one try of a loop that performs a read-modify-write of a part of a word: it compares and swaps the word, and leaves the
// rest of it as it is.
func (r *replay) partly(a *ir.Access, l int, p emu.Place) bool {
	th := r.lanes[l]
	if a.Atom != ir.AtomCAS || a.Elems != 1 || a.Bytes > 8 {
		return false
	}
	skip, ok := th.seek(func(e *emu.Event) bool {
		return e.Kind == emu.EventAtomic && e.Bytes < a.Bytes && e.Place.Space == p.Space && e.Place.Addr >= p.Addr &&
			e.Place.Addr+uint64(e.Bytes) <= p.Addr+uint64(a.Bytes) && (p.Space == ir.Shared || a.Scope >= e.Scope || a.Scope == ir.NoScope)
	})
	if !ok || r.fencesAmong(th, skip) {
		return false
	}
	i := th.at + skip
	e := &th.rec.Events[i]
	var now, operand, compared [8]byte
	r.eachWord(p, l, a.Bytes, func(w emu.Word, mask uint32, shift uint, from int) {
		emu.PutBytes(now[from:a.Bytes], r.see(l, w, emu.KindOf(a))&mask>>shift, mask>>shift)
	})
	part := e.Place.Addr - p.Addr
	with := func(v uint64) (b [8]byte) {
		b = now
		copy(b[part:part+uint64(e.Bytes)], binary.LittleEndian.AppendUint64(nil, v))
		return b
	}
	r.w.Stored(a, l, operand[:a.Bytes])
	r.w.Compared(a, l, compared[:a.Bytes])
	found := with(e.Value)
	done := compared == found
	open, other := th.open.operand(i), with(emu.Number(compared[part:]))
	if e.Atom == ir.AtomCAS && other != with(e.Compare) && !open {
		return false
	}
	fails := e.Atom == ir.AtomCAS && compared == other && !done // by the part: that ends the loop
	if done || fails {
		wanted, own := with(e.Result), emu.Number(operand[part:])
		if open || sameNumber(e.Type, own&(1<<(8*e.Bytes)-1), e.Result) {
			wanted = with(own)
		}
		if operand != wanted && !fails {
			return false
		}
		for range skip + 1 {
			th.take()
		}
		r.overlayResult(l, e)
		r.acquired(th)
	}
	r.w.Old(a, l, found[:a.Bytes])
	if a.Done >= 0 {
		r.w.SetReg(a.Done, l, map[bool]uint64{true: 1}[done])
	}
	return true
}

// sameNumber reports whether two results of one operation are the same: which NaN one is that is none is open.
func sameNumber(t ir.Type, a, b uint64) bool {
	if t == ir.F16x2 || t == ir.BF16x2 {
		half := map[ir.Type]ir.Type{ir.F16x2: ir.F16, ir.BF16x2: ir.BF16}[t]
		return sameNumber(half, a&0xffff, b&0xffff) && sameNumber(half, a>>16, b>>16)
	}
	none := plainFloat(t, 1<<t.Bits()-1)
	return a == b || t.Float() && plainFloat(t, a) == none && plainFloat(t, b) == none
}

// exhausted reports whether the record of one of the lanes was cut, and it has come to its end.
func (r *replay) exhausted(lanes uint32) bool {
	for k, th := range r.lanes {
		if lanes>>k&1 == 1 && th != nil && th.over() {
			return true
		}
	}
	return false
}

// narrower reports whether the next read-modify-write of the record is one of a part of what the machine accesses.
func (l *lane) narrower(p emu.Place, bytes int) bool {
	for i := l.at; i < len(l.rec.Events); i++ {
		if e := &l.rec.Events[i]; e.Kind == emu.EventAtomic {
			return e.Place.Space == p.Space && e.Bytes < bytes && e.Place.Addr >= p.Addr && e.Place.Addr < p.Addr+uint64(bytes)
		}
	}
	return false
}

// atomic replays the read-modify-write of one lane. A compare-and-swap may be one try of a loop that performs another one.
func (r *replay) atomic(a *ir.Access, l int, p emu.Place) bool {
	th := r.lanes[l]
	var operand, compared [64]byte
	n := a.Bytes * a.Elems
	r.w.Stored(a, l, operand[:n])
	r.w.Compared(a, l, compared[:n])
	skip, ok := th.seek(func(e *emu.Event) bool {
		return e.Kind == emu.EventAtomic && e.Place == p && e.Behind == a.Behind && (e.Atom != ir.AtomArriveBehind || e.Operand == emu.Number(operand[:8]))
	})
	i := th.at + skip
	if !ok {
		skip = 0
		if i, ok = th.ahead(emu.EventAtomic, p, a.Bytes); !ok {
			return false
		}
	}
	e := th.rec.Events[i]
	if e.Bytes != a.Bytes || p.Space == ir.Global && a.Scope < e.Scope && a.Scope != ir.NoScope {
		return false
	}
	for k := range a.Elems {
		if i+k >= len(th.rec.Events) {
			return false
		}
		f := &th.rec.Events[i+k]
		b := k * a.Bytes
		kind, wanted := plainAtom(f)
		if f.Atom == a.Atom {
			kind, wanted = f.Atom, f.Operand
		}
		is := func(bytes []byte, low, high uint64) bool {
			return th.open.operand(i+k) || emu.Number(bytes) == low && (len(bytes) <= 8 || emu.Number(bytes[8:]) == high)
		}
		same := kind == a.Atom && is(operand[b:b+a.Bytes], wanted, f.Upper.Operand) && (a.Atom != ir.AtomCAS || is(compared[b:b+a.Bytes], f.Compare, f.Upper.Compare))
		if !same && a.Bytes > 8 {
			return false
		}
		if !same && a.Atom == ir.AtomCAS && f.Atom != ir.AtomCAS {
			if emu.Number(compared[:8]) != f.Value { // a try that fails
				r.give(a, l, f, false)
				return true
			}
			same = sameNumber(f.Type, emu.Number(operand[:8]), f.Result) || th.open.operand(i+k)
		}
		if !same && a.Atom == ir.AtomExch && f.Result == emu.Number(operand[:8]) && f.Atom != ir.AtomCAS {
			same = f.Atom == ir.AtomExch
		}
		if !same {
			return false
		}
	}
	if r.fencesAmong(th, skip) {
		return false
	}
	for range skip {
		th.take()
	}
	for k := range a.Elems {
		f := &th.rec.Events[i+k]
		r.overlayResult(l, f)
		r.give(a, l, f, true)
		th.done.add(i + k)
	}
	for th.at < len(th.rec.Events) && th.done.has(th.at) {
		th.take()
	}
	r.acquired(th)
	return true
}

// fencesAmong reports whether an event that needs a fence of the machine stands among the next ones.
func (r *replay) fencesAmong(th *lane, n int) bool {
	for i := range n {
		e := &th.rec.Events[th.at+i]
		if e.Kind == emu.EventFence && !free(e) && e.Sem != ir.Acquire {
			return true
		}
	}
	return false
}

// give writes the old value, and whether a compare-and-swap succeeded.
func (r *replay) give(a *ir.Access, l int, e *emu.Event, done bool) {
	r.w.Old(a, l, bytesOf(e))
	if a.Done >= 0 {
		if a.Atom == ir.AtomCAS && e.Atom == ir.AtomCAS {
			done = e.Value == e.Compare && e.High == e.Upper.Compare
		}
		v := uint64(0)
		if done {
			v = 1
		}
		r.w.SetReg(a.Done, l, v)
	}
}

func (r *replay) overlayResult(l int, e *emu.Event) {
	b := binary.LittleEndian.AppendUint64(nil, e.Result)
	b = binary.LittleEndian.AppendUint64(b, e.Upper.Result)
	r.overlay(r.lanes[l], e.Place, b[:e.Bytes], true)
}

// aggregate replays a read-modify-write that one lane performs for several of its warp, of which each has the same one next:
// their operands together are its operand. The lanes of the record ran in order, so the old value is the lowest one's. together tells that only
// those are meant that performed it together; among are those that may be meant: who voted which lane performs it, who is there, or all.
func (r *replay) aggregate(a *ir.Access, l int, act uint32, among []uint32, at *[emu.Lanes]emu.Place, together bool) bool {
	if a.Elems != 1 || a.Bytes > 8 || a.Type.Float() {
		return false
	}
	if ir.Combining[a.Atom] == 0 {
		return false
	}
	return slices.ContainsFunc(among, func(lanes uint32) bool { return r.aggregateOf(a, l, act, lanes, at, together) })
}

// aggregateOf is aggregate for some of the lanes.
func (r *replay) aggregateOf(a *ir.Access, l int, act, among uint32, at *[emu.Lanes]emu.Place, together bool) bool {
	p := at[l]
	own, ok := r.lanes[l].nextAggregated(p)
	if !ok {
		return false
	}
	first := r.lanes[l].rec.Events[own]
	var group []int
	op := ir.Op{Code: ir.Combining[a.Atom], Type: a.Type}
	var total uint64
	for k, th := range r.lanes {
		if th == nil || among>>k&1 == 0 || k != l && act>>k&1 == 1 && at[k] == p {
			continue
		}
		i, ok := th.nextAggregated(p)
		if !ok {
			continue
		}
		e := &th.rec.Events[i]
		if together && (e.Inst != first.Inst || e.Step != first.Step) {
			continue
		}
		kind, operand := plainAtom(e)
		if kind != a.Atom || e.Bytes != a.Bytes || k == l && r.fencesAmong(th, i-th.at) {
			continue
		}
		if len(group) == 0 {
			total = operand
		} else {
			total = ir.Eval(&op, &[4]uint64{total, operand}, 0)
		}
		group = append(group, k)
	}
	var b [8]byte
	r.w.Stored(a, l, b[:a.Bytes])
	if len(group) < 2 || !slices.Contains(group, l) || emu.Number(b[:]) != total {
		return false
	}
	var due uint64 // what the next one of the group finds
	for i, k := range group {
		th := r.lanes[k]
		at, _ := th.nextAggregated(p)
		e := &th.rec.Events[at]
		if i == 0 {
			first, due = *e, e.Value
		}
		r.torn = r.torn || len(a.Dst) > 0 && e.Value != due
		due = e.Result
		r.overlayResult(k, e)
		th.perform(at)
		r.acquired(th)
		if f := th.next(); k != l && f != nil && f.Kind == emu.EventFence && f.Sem == ir.Acquire && f.Inst == e.Inst {
			th.take() // the invalidation of the lane that performs it is that of all: the cache is the SM's
		}
	}
	r.give(a, l, &first, true)
	return true
}

// nextAggregated finds the read-modify-write of a place that a lane has next, behind the release that is its own: the lane that
// performs it for others performs their fence as well. It may rise before relaxed ones of other places.
func (l *lane) nextAggregated(p emu.Place) (i int, ok bool) {
	for i := l.at; i < len(l.rec.Events); i++ {
		switch e := &l.rec.Events[i]; {
		case e.Kind != emu.EventAtomic || l.done.has(i):
		case e.Place == p:
			return i, l.aggregates(i)
		case !e.Balanced:
			return 0, false
		}
	}
	return 0, false
}

// aggregates reports whether all that stands before a read-modify-write is a release of its own or need not be performed.
func (l *lane) aggregates(at int) bool {
	for i := l.at; i < at; i++ {
		e := &l.rec.Events[i]
		if own := e.Kind == emu.EventFence && e.Sem == ir.Release && l.rec.Events[i+1].Inst == e.Inst; !own && !l.skippable(i) {
			return false
		}
	}
	return true
}

// perform goes over a read-modify-write of the record, and over what stands before it unless that is still to be performed.
func (l *lane) perform(i int) {
	l.done.add(i)
	for k := l.at; k < i; k++ {
		if l.rec.Events[k].Kind == emu.EventAtomic && !l.done.has(k) {
			return
		}
	}
	for l.at <= i || l.at < len(l.rec.Events) && l.done.has(l.at) {
		l.take()
	}
}

// plainAtom is the operation of an event: an increment without a limit is an addition.
func plainAtom(e *emu.Event) (ir.Atom, uint64) {
	if e.Atom == ir.AtomArriveBehind {
		return ir.AtomArrive, e.Operand
	}
	if e.Atom == ir.AtomInc && e.Operand == ^uint64(0)>>(64-8*min(e.Bytes, 8)) {
		return ir.AtomAdd, 1
	}
	return e.Atom, e.Operand
}
