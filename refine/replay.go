package refine

import (
	"fmt"
	"math/bits"
	"slices"

	"optcheck/emu"
	"optcheck/ir"
)

// replay is the environment of one warp of machine code that runs alone against a record.
type replay struct {
	grid  *emu.Grid // of the program: records, memory with its past
	open  []*undefined
	lanes [emu.Lanes]*lane
	w     *emu.Warp
	// kinds are those of the program's accesses, if it is the program's warp that is replayed.
	kinds map[int32]emu.Kind
	// newest are the last stores of the warp to words, in the order of the machine code.
	newest emu.Words[newest]
	// eager: see reading.
	eager, met bool
	// crowded are read-modify-writes of the machine code that several lanes perform together at one place, in any run: each its own.
	crowded map[int32]bool
	// torn tells that a lane performed for others what these performed with others between, and uses what it found: others may find something
	// else.
	torn bool
}

// newest is what a lane has stored.
type newest struct {
	emu.Stored
	lane int
}

// lane is how far a thread of the machine code has come in the record of its thread of the program.
type lane struct {
	number   int // in its warp
	rec      *emu.Record
	open     *undefined
	at       int // next event
	time     uint64
	own      emu.Words[emu.Stored]
	epochs   []*emu.Epoch
	clock    uint64
	cut      bool // the program's run was cut: what is behind the record is not known
	absorbed int  // fences of the program that were taken for one of the machine's, since the last access
	// done are read-modify-writes that were performed ahead of others; found those of which a load is all that they need.
	done, found performed
	dead        func(event int) bool
	// late tells that a load on which nothing depends is left out if a later one can be the machine's.
	late bool
	// looked counts the events that were looked at to find those that accesses are.
	looked int64
}

// performed are numbers of events that were performed.
type performed []bool

func (p performed) has(i int) bool { return i < len(p) && p[i] }

func (p *performed) add(i int) {
	for len(*p) <= i {
		*p = append(*p, false)
	}
	(*p)[i] = true
}

// cost is what a replay took, in instructions of lanes. What it took to find events counts only where conditions are forced: that is tried
// more often than anything else.
func (r *replay) cost(c *comparison) int64 {
	n := r.w.Steps
	for _, l := range r.lanes {
		if l != nil && c.depth > 0 {
			n += l.looked / looks
		}
	}
	return n
}

// looks is how many events are looked at in the time of an instruction.
const looks = 32

// accuse is a difference, found while the machine code runs or at its end.
type accuse struct {
	Rule  Rule
	Lane  int
	Pc    int32 // of the machine code, -1 for none
	Event *emu.Event
	Word  emu.Word
	Want  uint64
	Got   uint64
	Why   string
	Known bool // Want and Got are values
}

func (a *accuse) Error() string { return a.Why }

// beyond is that a lane has come to the end of a record that was cut.
type beyond struct{}

func (beyond) Error() string { return "the record ends here" }

func (c *comparison) newReplay(in *Input, grid *emu.Grid, open []*undefined, code *emu.Code, l *emu.Launch, block, id int, p emu.Policy, how reading) *replay {
	r := &replay{grid: grid, open: open, eager: how.eager, met: how.met, crowded: c.crowded}
	if !code.P.Machine {
		r.kinds = c.kinds
	}
	r.w = emu.NewWarp(code, l, block, id, r, p)
	for i, t := range r.w.Threads {
		if t == nil {
			continue
		}
		n := t.Block*l.Threads() + t.Index
		r.lanes[i] = &lane{number: i, rec: grid.Records[n], open: open[n], epochs: []*emu.Epoch{nil}, cut: grid.Cut,
			late: how.late, dead: func(event int) bool { return c.dead(in, l, grid, n, event) }}
	}
	return r
}

// next is the event that the record has next, nil at its end.
func (l *lane) next() *emu.Event {
	if l.at < len(l.rec.Events) {
		return &l.rec.Events[l.at]
	}
	return nil
}

// over reports whether a lane has come to the end of a record that was cut: nothing is left that machine code must perform.
func (l *lane) over() bool {
	if !l.cut {
		return false
	}
	for i := l.at; i < len(l.rec.Events); i++ {
		if !free(&l.rec.Events[i]) && !l.done.has(i) && !l.found.has(i) {
			return false
		}
	}
	return true
}

// take goes over the next event. A synchronisation begins an epoch.
func (l *lane) take() {
	e := l.next()
	l.at++
	l.absorbed = 0
	if e.Sync() {
		l.time = e.Time
		l.own.Clear()
		l.epochs = append(l.epochs, nil)
	}
}

func (l *lane) overlay(w emu.Word, mask, v uint32) {
	l.own.At(w).Store(mask, v, -1)
}

func (l *lane) see(m *emu.Memory, w emu.Word, time uint64, k emu.Kind) uint32 {
	v := m.At(w, time, k)
	if o := l.own.Get(w); o != nil {
		v = v&^o.Mask | o.Value&o.Mask
	}
	return v
}

// see is what a lane sees of a word. Machine code needs no instruction for a barrier of the warp, whose lanes are together anyway: what
// another lane has stored, and the program shows behind the next such barrier, is seen. Words that the program has not touched are of a
// kind.
func (r *replay) see(l int, w emu.Word, k emu.Kind) uint32 {
	th := r.lanes[l]
	v := th.see(r.grid.Memory, w, th.time, k)
	n := r.newest.Get(w)
	switch {
	case n == nil && r.met:
		return th.see(r.grid.Memory, w, r.meeting(th, w), k)
	case n == nil || n.lane == l:
		return v
	}
	for i := th.at; i < len(th.rec.Events); i++ {
		e := &th.rec.Events[i]
		if e.Sync() && !free(e) {
			break
		}
		if x := r.grid.Memory.At(w, e.Time, emu.Integer); e.Kind == emu.EventWarpBarrier && (x^n.Value)&n.Mask == 0 {
			return v&^n.Mask | x&n.Mask
		}
	}
	return v
}

// meeting is the time of the last barrier of the warp before a lane's next synchronisation until which no lane of the warp stores to a
// word; that of its last synchronisation if there is none.
func (r *replay) meeting(th *lane, w emu.Word) uint64 {
	time := th.time
	for i := th.at; i < len(th.rec.Events) && (!th.rec.Events[i].Sync() || free(&th.rec.Events[i])); i++ {
		e := &th.rec.Events[i]
		if e.Kind != emu.EventWarpBarrier {
			continue
		}
		if slices.ContainsFunc(r.lanes[:], func(o *lane) bool { return o != nil && o.storesUntil(w, e.Time) }) {
			break
		}
		time = e.Time
	}
	return time
}

// storesUntil reports whether a thread of the program stores to a word in the epochs from a lane's on that begin before a time.
func (l *lane) storesUntil(w emu.Word, time uint64) bool {
	n := l.epoch()
	for i := l.at; n < len(l.rec.Epochs); i++ {
		if l.rec.Epochs[n].Get(w) != nil {
			return true
		}
		for i < len(l.rec.Events) && !l.rec.Events[i].Sync() {
			i++
		}
		if i >= len(l.rec.Events) || l.rec.Events[i].Time >= time {
			return false
		}
		n++
	}
	return false
}

// Access replays accesses: strong ones against the events of the record, weak loads from what memory held. Those of a program have the
// fences of their releases and acquires in them.
func (r *replay) Access(w *emu.Warp, pc int32, a *ir.Access, act uint32, at *[emu.Lanes]emu.Place) error {
	fence := func(is, both ir.Sem) error {
		if w.Code.P.Machine || a.Sem != is && a.Sem != both {
			return nil
		}
		return r.Fence(w, pc, &ir.Fence{Sem: is, Scope: a.Scope}, act)
	}
	if err := fence(ir.Release, ir.AcqRel); err != nil {
		return err
	}
	if err := r.access(w, pc, a, act, at); err != nil {
		return err
	}
	return fence(ir.Acquire, ir.AcqRel)
}

func (r *replay) access(w *emu.Warp, pc int32, a *ir.Access, act uint32, at *[emu.Lanes]emu.Place) error {
	if a.Behind {
		if err := w.Complete(act, r); err != nil {
			return err
		}
	}
	if a.Kind == ir.Atomic {
		return r.atomics(pc, a, act, at)
	}
	if a.Kind == ir.Store && a.Mbarrier {
		return r.object(pc, a, act, at)
	}
	for l, th := range r.lanes {
		if act>>l&1 == 0 || th == nil {
			continue
		}
		var err error
		n := a.Bytes * a.Elems
		if n > 64 {
			return &emu.Cannot{Inst: int(pc), Why: "an access of more than 64 bytes"}
		}
		var buf [64]byte
		if a.Kind == ir.Load {
			err = r.load(pc, a, l, at[l], buf[:n])
			w.Loaded(a, l, buf[:n])
		} else {
			w.Stored(a, l, buf[:n])
			err = r.store(pc, a, l, at[l], buf[:n])
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// strong reports whether an access is a strong one, and whether it may be one of the record's strong ones: machine code has
// no strength for shared memory.
func strong(a *ir.Access, p emu.Place) (is, may bool) {
	return a.Sem != ir.Weak && p.Space == ir.Global, a.Sem != ir.Weak || p.Space == ir.Shared
}

func (r *replay) load(pc int32, a *ir.Access, l int, p emu.Place, buf []byte) error {
	th := r.lanes[l]
	is, may := strong(a, p)
	if may && r.events(th, emu.EventLoad, a, p, buf, false) {
		r.acquired(th)
		return nil
	}
	if a.Mbarrier && th.over() {
		return beyond{}
	}
	if is && !r.cached(th, p, len(buf), l) {
		if e := th.pendingFence(); e != nil {
			return r.missing(l, pc, e)
		}
		if th.over() {
			return beyond{}
		}
		return r.unexpected(l, pc, p, "a strong load that the program does not perform here")
	}
	k, known := r.kinds[pc]
	if !known {
		k = emu.KindOf(a)
	}
	r.eachWord(p, l, len(buf), func(w emu.Word, mask uint32, shift uint, from int) {
		var v uint32
		if a.Constant && p.Space == ir.Global {
			v = r.stale(th, w, k)
		} else {
			v = r.see(l, w, k)
		}
		if may { // an atomic's word: what it will find
			if i := th.nextAtomic(p); i >= 0 && from < th.rec.Events[i].Bytes {
				e := &th.rec.Events[i]
				th.foundUnchanged(i, len(buf))
				mask := mask & uint32(1<<(8*min(e.Bytes-from, 4))-1) << shift
				v = v&^mask | uint32(e.Value>>(8*from))<<shift&mask
			}
		}
		emu.PutBytes(buf[from:], v&mask>>shift, mask>>shift)
	})
	return nil
}

// stale is what a lane reads of a word through the cache of constants: what was there before anybody wrote. Behind a synchronisation that
// is not what others may have written before that, unless the program promises that nobody does.
func (r *replay) stale(th *lane, w emu.Word, k emu.Kind) uint32 {
	v := r.grid.Memory.At(w, 0, k)
	if len(th.epochs) > 1 && !r.grid.Memory.Constant(w) {
		return ^v
	}
	return v
}

// nextAtomic is the read-modify-write of a place that is next in the record: machine code may perform it as a loop of a
// load and a compare-and-swap. It reports its number, or -1.
func (l *lane) nextAtomic(p emu.Place) int {
	for i := l.at; i < len(l.rec.Events); i++ {
		switch e := &l.rec.Events[i]; {
		case l.done.has(i), l.found.has(i) && e.Place != p:
		case e.Kind == emu.EventAtomic && e.Place == p && e.Atom == ir.AtomCAS && e.Bytes >= 4: // is an instruction of its own
			return -1
		case e.Kind == emu.EventAtomic && e.Place == p:
			return i
		case e.Kind != emu.EventFence && e.Kind != emu.EventWarpBarrier && e.Kind != emu.EventLoad:
			return -1
		}
	}
	return -1
}

// foundUnchanged tells that machine code has loaded what a read-modify-write of the record finds. In shared memory one that writes what it
// finds computes no more, and its fences: a maximum of 64 bits is a loop that swaps only a larger number in. That this is less is found on
// all paths, not here.
func (l *lane) foundUnchanged(i, bytes int) {
	if e := &l.rec.Events[i]; e.Place.Space == ir.Shared && bytes >= e.Bytes && e.Value == e.Result && e.High == e.Upper.Result {
		l.found.add(i)
	}
}

func (r *replay) eachWord(p emu.Place, l, n int, do func(w emu.Word, mask uint32, shift uint, from int)) {
	emu.EachWord(p, r.w.Threads[l].Block, n, do)
}

// cached reports whether the program accesses a word of a place with a cache operator, which machine code shows as a
// strong access, perhaps of its neighbours, too.
func (r *replay) cached(th *lane, p emu.Place, n, l int) (some bool) {
	r.eachWord(p, l, n, func(w emu.Word, _ uint32, _ uint, _ int) { some = some || th.rec.Cached[w] })
	return some
}

func (r *replay) store(pc int32, a *ir.Access, l int, p emu.Place, buf []byte) error {
	th := r.lanes[l]
	is, may := strong(a, p)
	if may && r.events(th, emu.EventStore, a, p, buf, true) {
		r.overlay(th, p, buf, true)
		return nil
	}
	if is && !r.cached(th, p, len(buf), l) {
		if e := th.pendingFence(); e != nil {
			return r.missing(l, pc, e)
		}
		if th.over() {
			return beyond{}
		}
		if e := th.nextOf(emu.EventStore, p); e != nil && e.Bytes == len(buf) {
			return &accuse{Rule: WrongValue, Lane: l, Pc: pc, Event: e, Want: e.Value, Got: emu.Number(buf), Known: true,
				Why: fmt.Sprintf("the program stores %#x there, the machine code %#x", e.Value, emu.Number(buf))}
		}
		return r.unexpected(l, pc, p, "a strong store that the program does not perform here")
	}
	r.overlay(th, p, buf, true)
	n := len(th.epochs) - 1
	if th.epochs[n] == nil {
		th.epochs[n] = &emu.Epoch{}
	}
	r.eachWord(p, l, len(buf), func(w emu.Word, mask uint32, shift uint, from int) {
		th.epochs[n].At(w).Store(mask, emu.Word32(buf[from:])<<shift, pc)
	})
	return nil
}

// overlay is what a lane knows of a place since it last synchronised: what it has read there, or stored.
func (r *replay) overlay(th *lane, p emu.Place, buf []byte, stored bool) {
	r.eachWord(p, th.number, len(buf), func(w emu.Word, mask uint32, shift uint, from int) {
		v := emu.Word32(buf[from:]) << shift
		th.overlay(w, mask, v)
		if stored {
			*r.newest.At(w) = newest{emu.Stored{Mask: mask, Value: v & mask}, th.number}
		}
	})
}

// Copy replays a copy, or a wait for some. An asynchronous one is a load, and a store where its thread waits for it.
func (r *replay) Copy(w *emu.Warp, pc int32, c *ir.Copy, act uint32, to, from *[emu.Lanes]emu.Place) error {
	switch c.Kind {
	case ir.CopyBulk:
		return r.bulk(w, pc, c, act, act, to, from)
	case ir.CopyStore, ir.CopyReduce:
		for x := act; x != 0; x &= x - 1 {
			if err := r.bulk(w, pc, c, x&-x, act, to, from); err != nil {
				return err
			}
		}
		return nil
	case ir.CopyProduct:
		return &emu.Cannot{Inst: int(pc), Why: "not understood: a product by a warpgroup"}
	}
	return w.Async(pc, c, act, to, from, r)
}

// CopyFrom is what an asynchronous copy of a lane reads.
func (r *replay) CopyFrom(pc int32, l int, from emu.Place, buf []byte) error {
	return r.load(pc, &ir.Access{Kind: ir.Load, Bytes: 4}, l, from, buf)
}

// CopyTo is what an asynchronous copy of a lane writes.
func (r *replay) CopyTo(pc int32, l int, to emu.Place, buf []byte) error {
	return r.store(pc, &ir.Access{Kind: ir.Store, Bytes: 4}, l, to, buf)
}

// object replays that a barrier object is made, which a warp of machine code does once, whichever lane does it in the program.
func (r *replay) object(pc int32, a *ir.Access, act uint32, at *[emu.Lanes]emu.Place) error {
	l := bits.TrailingZeros32(act)
	var buf [8]byte
	r.w.Stored(a, l, buf[:])
	made := false
	for k, th := range r.lanes { // lanes that make one object alike
		var b [8]byte
		if act>>k&1 == 0 || th == nil || at[k] != at[l] {
			continue
		}
		if r.w.Stored(a, k, b[:]); b == buf && r.events(th, emu.EventStore, a, at[l], buf[:], true) {
			r.overlay(th, at[l], buf[:], true)
			made = true
		}
	}
	if made {
		return nil
	}
	for _, among := range []uint32{act, r.w.Group, ^uint32(0)} {
		for k, th := range r.lanes {
			if among>>k&1 == 1 && th != nil && r.events(th, emu.EventStore, a, at[l], buf[:], true) {
				r.overlay(th, at[l], buf[:], true)
				return nil
			}
		}
	}
	if r.exhausted(r.w.Group) {
		return beyond{}
	}
	return r.unexpected(l, pc, at[l], "a barrier object that the program does not make here")
}

// bulk replays a bulk copy, which a warp of machine code performs once, by whatever lane's: what is copied is not read here, and the
// record has what it leaves. It serves for all active lanes that copy the same, unless each copy counts. An asynchronous store is each
// lane's own: by is the lane.
func (r *replay) bulk(w *emu.Warp, pc int32, c *ir.Copy, by, act uint32, to, from *[emu.Lanes]emu.Place) error {
	l := bits.TrailingZeros32(by)
	want, err := w.CopyEvent(pc, c, l, to[l], from[l])
	if err != nil {
		return err
	}
	same := func(e *emu.Event) bool {
		return e.Kind == emu.EventCopy && e.Place == want.Place && e.Operand == want.Operand && e.ID == want.ID && e.Compare == want.Compare &&
			e.Result == want.Result && e.Bytes == want.Bytes && e.High == want.High && e.Atom == want.Atom && e.Type == want.Type
	}
	among := []uint32{by}
	if c.Kind == ir.CopyBulk {
		among = []uint32{act, r.w.Group, ^uint32(0)}
	}
	again := c.Kind == ir.CopyBulk && c.Mbarrier < 0 && c.Atom == ir.NoAtom // to copy the same once more changes nothing
	made := false
	for _, among := range among {
		for k, th := range r.lanes {
			if among>>k&1 == 0 || th == nil {
				continue
			}
			if skip, ok := th.seek(same); ok && !r.stores(th, skip) {
				for range skip + 1 {
					th.take()
				}
				if made = true; !again {
					return nil
				}
			}
		}
		if made && among != act { // an instruction of the uniform datapath acts for the whole group
			return nil
		}
	}
	if made {
		return nil
	}
	if r.exhausted(r.w.Group) {
		return beyond{}
	}
	return r.unexpected(l, pc, to[l], "a copy that the program does not perform here")
}

// Clock gives the readings of the program.
func (r *replay) Clock(_ *emu.Warp, lane int, _ ir.SpecialReg) uint64 {
	r.lanes[lane].clock++
	return r.grid.Policy.Time(r.lanes[lane].clock)
}

func (r *replay) unexpected(l int, pc int32, p emu.Place, why string) error {
	th := r.lanes[l]
	a := &accuse{Rule: ExtraAccess, Lane: l, Pc: pc, Event: th.next(), Why: fmt.Sprintf("%s: %s %#x", why, p.Space, p.Addr)}
	if e := th.next(); e != nil && !e.Sync() && e.Place != p {
		a.Rule, a.Want, a.Got, a.Known = WrongAddress, e.Place.Addr, p.Addr, true
		a.Why = fmt.Sprintf("a strong access to %s %#x where the program accesses %s %#x", p.Space, p.Addr, e.Place.Space, e.Place.Addr)
	}
	return a
}

func (r *replay) missing(l int, pc int32, e *emu.Event) error {
	return &accuse{Rule: NotPerformed, Lane: l, Pc: pc, Event: e, Why: fmt.Sprintf("the fence (%s, %s) before it is missing", e.Sem, e.Scope)}
}
