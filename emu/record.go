package emu

import (
	"encoding/binary"
	"math"

	"optcheck/ir"
)

// EventKind is what a thread did that others can observe one by one.
type EventKind uint8

// The kinds of events.
const (
	EventLoad EventKind = iota // strong
	EventStore
	EventAtomic
	EventCopy // a bulk copy: see Warp.CopyEvent
	EventFence
	EventBarrier
	EventWarpBarrier
)

// Event is a strong access of one element, a fence or a barrier.
type Event struct {
	Kind  EventKind
	Inst  int32
	Place Place
	Bytes int
	Sem   ir.Sem
	Scope ir.Scope
	Atom  ir.Atom
	Type  ir.Type
	// Value is what a load read, a store wrote, a read-modify-write found; Operand and Compare what the latter
	// was given, Result what it left. High are the upper eight bytes of elements of 16.
	Value, Operand, Compare, Result uint64
	High                            uint64
	// Upper are those of a read-modify-write's operand, of what it compares with, and of its result.
	Upper    Upper
	Volatile bool
	// Object tells that it is an access to a barrier object, Behind that it is an arrival behind copies, Balanced that it is one of the two of
	// an arrival that its phase expects in addition: together they change no count.
	Object, Behind, Balanced bool
	// Of a barrier: its number and count as the thread gave it, what bar.red gave back.
	ID, Count uint64
	Barrier   ir.BarrierKind
	Reduced   uint64
	// Time is that of memory at which the thread went on behind a synchronisation.
	Time uint64
	// Step of a read-modify-write numbers those of its warp: lanes that performed it together have the same one.
	Step int64
}

// Upper are the upper eight bytes of what a read-modify-write of 16 has besides what it found.
type Upper struct{ Operand, Compare, Result uint64 }

// Sync reports whether an event begins an epoch.
func (e *Event) Sync() bool { return e.Kind >= EventFence }

// Stored is what weak stores left of a word in an epoch.
type Stored struct {
	Mask, Value uint32
	Inst        int32 // of the last one
}

// Epoch is what a thread stored weakly between two synchronisations.
type Epoch = Words[Stored]

// synced is when a thread synchronised; warp tells that it did with its warp alone.
type synced struct {
	at   uint64
	warp bool
}

// Record is what a thread did.
type Record struct {
	Events []Event
	Epochs []*Epoch // one more than there are synchronisations
	// Time is that of the last synchronisation, times are those of all.
	Time  uint64
	times []synced
	// Cached are words that were accessed with a cache operator.
	Cached map[Word]bool

	keep     bool
	own      Words[Stored] // what it wrote or read strongly since the last synchronisation
	spinning spinning
	clock    uint64
	pending  *Event
}

func newRecord(keep bool) *Record {
	return &Record{keep: keep, Epochs: []*Epoch{nil}}
}

// over puts what the thread itself wrote over the content of a word.
func (r *Record) over(w Word, v uint32) uint32 {
	o := r.own.Get(w)
	if o == nil {
		o = r.Epochs[len(r.Epochs)-1].Get(w)
	}
	if o != nil {
		return v&^o.Mask | o.Value&o.Mask
	}
	return v
}

// overlay remembers what a thread wrote or read strongly, over what it stored weakly; v is the word, mask what of it is meant.
func (r *Record) overlay(w Word, mask, v uint32) {
	o := r.own.Get(w)
	if o == nil {
		o = r.own.At(w)
		if e := r.Epochs[len(r.Epochs)-1].Get(w); e != nil {
			*o = *e
		}
	}
	o.Value = o.Value&^mask | v&mask
	o.Mask |= mask
}

// stored remembers what a thread stored weakly; over tells that its loads see it so.
func (r *Record) stored(w Word, mask, v uint32, inst int32, over bool) {
	if !r.keep {
		if over {
			r.overlay(w, mask, v)
		}
		return
	}
	e := &r.Epochs[len(r.Epochs)-1]
	if *e == nil {
		*e = &Epoch{}
	}
	(*e).At(w).Store(mask, v, inst)
	if r.own.Get(w) != nil {
		r.overlay(w, mask, v)
	}
}

// Store puts what an instruction stores over what is there.
func (s *Stored) Store(mask, v uint32, inst int32) {
	s.Mask, s.Value, s.Inst = s.Mask|mask, s.Value&^mask|v&mask, inst
}

// sync begins an epoch.
func (r *Record) sync(e Event) {
	r.own.Clear()
	if r.keep {
		r.Events = append(r.Events, e)
		r.Epochs = append(r.Epochs, nil)
		r.times = append(r.times, synced{e.Time, e.Kind == EventWarpBarrier})
	}
}

// epoch is when an epoch began, and when it ended. Without barriers of the warp it is longer: other warps do not meet at them.
func (r *Record) epoch(n int, warp bool) (from, to uint64) {
	counts := func(i int) bool { return warp || !r.times[i].warp }
	for i := min(n, len(r.times)) - 1; i >= 0; i-- {
		if counts(i) {
			from = r.times[i].at
			break
		}
	}
	for ; n < len(r.times); n++ {
		if counts(n) {
			return from, r.times[n].at
		}
	}
	return from, math.MaxUint64
}

func (r *Record) cached(p Place, block, n int) {
	if !r.keep {
		return
	}
	if r.Cached == nil {
		r.Cached = map[Word]bool{}
	}
	EachWord(p, block, n, func(w Word, _ uint32, _ uint, _ int) { r.Cached[w] = true })
}

// Number is the little-endian number of up to eight bytes.
func Number(b []byte) uint64 {
	var w [8]byte
	copy(w[:], b)
	return binary.LittleEndian.Uint64(w[:])
}

// event records a strong load or store, element by element.
func (r *Record) event(e Event, elems int, buf []byte) {
	if !r.keep {
		return
	}
	for i := range elems {
		x := e
		x.Place.Addr += uint64(i * e.Bytes)
		b := buf[i*e.Bytes : (i+1)*e.Bytes]
		x.Value = Number(b)
		if len(b) > 8 {
			x.High = Number(b[8:])
		}
		r.Events = append(r.Events, x)
	}
}

func (r *Record) atomic(e Event, elems int, old, operand, compared, result []byte) {
	if !r.keep {
		return
	}
	for i := range elems {
		x := e
		at, end := i*e.Bytes, (i+1)*e.Bytes
		x.Place.Addr += uint64(at)
		x.Value, x.Operand, x.Compare, x.Result = Number(old[at:end]), Number(operand[at:end]), Number(compared[at:end]), Number(result[at:end])
		if e.Bytes > 8 {
			at += 8
			x.High, x.Upper = Number(old[at:end]), Upper{Number(operand[at:end]), Number(compared[at:end]), Number(result[at:end])}
		}
		r.Events = append(r.Events, x)
	}
}
