package refine

import (
	"errors"
	"fmt"
	"slices"

	"optcheck/emu"
	"optcheck/ir"
)

// run executes the warp and compares what is left at its end.
func (r *replay) run(c *comparison, ref *emu.Warp) error {
	most := 40*ref.Turns + 4096
	if r.grid.Cut {
		most = 2*ref.Turns + 2000 // behind the record nothing is compared
	}
	for !r.w.Done() {
		progress, err := r.w.Run(4096)
		var cut beyond
		switch fault := (*emu.Fault)(nil); {
		case errors.As(err, &cut):
			return nil
		case errors.As(err, &fault) && r.behind(fault.Thread%emu.Lanes):
			return nil
		case errors.As(err, &fault):
			a := &accuse{Rule: WrongAddress, Lane: max(0, fault.Thread%emu.Lanes), Pc: int32(fault.Inst), Why: fault.Why}
			if _, flows := r.w.Code.P.Insts[fault.Inst].Do.(*ir.Flow); flows {
				a.Rule = NotPerformed // a barrier of the warp
			}
			return a
		case err != nil:
			return err
		case !progress:
			return &emu.Cannot{Inst: -1, Why: "lanes wait for each other, where nobody waits for other warps"}
		case r.w.Turns > most && r.grid.Cut:
			return nil
		case r.w.Turns > most:
			return &accuse{Rule: DoesNotEnd, Pc: -1, Why: fmt.Sprintf("more than %d instructions where the program performs %d", most, ref.Turns)}
		}
	}
	if err := r.w.Complete(^uint32(0), r); err != nil {
		return err
	}
	for i, th := range r.lanes {
		if th == nil {
			continue
		}
		if err := th.end(i); err != nil {
			return err
		}
	}
	return nil
}

// behind reports whether a lane has come to the end of the record of a run that was cut: the program may have faulted there, too.
func (r *replay) behind(l int) bool {
	return l >= 0 && r.lanes[l] != nil && r.lanes[l].over()
}

func (r *replay) compared() (n int) {
	for _, th := range r.lanes {
		if th == nil {
			continue
		}
		n += th.at
		for _, e := range th.epochs {
			n += e.Len()
		}
	}
	return n
}

// end compares what is left of the record, and the weak stores of all epochs.
func (l *lane) end(n int) error {
	if l.open.all {
		return undecided
	}
	if !l.cut {
		for i := l.at; i < len(l.rec.Events); i++ {
			e := &l.rec.Events[i]
			if l.skippable(i) || e.Kind == emu.EventFence {
				continue
			}
			return &accuse{Rule: NotPerformed, Lane: n, Pc: -1, Event: e, Want: e.Value, Why: "the machine code does not perform it"}
		}
	}
	err := l.compareRegions(n, func(k int) bool { return free(&l.rec.Events[k]) })
	if err != nil { // a dropped acquire separates nothing; that is asked only now, since it takes runs of the program
		err = l.compareRegions(n, func(k int) bool { return free(&l.rec.Events[k]) || l.dropped(k) })
	}
	return err
}

// undecided is that the program's way is not known: undefined content decides it.
var undecided = &emu.Cannot{Inst: -1, Why: "what the program does depends on undefined content"}

// wanders reports whether undefined content decides which way the program's warp goes: the machine code may go another one than either content shows.
func (r *replay) wanders() bool {
	return slices.ContainsFunc(r.lanes[:], func(l *lane) bool { return l != nil && l.open.path })
}

// compareRegions compares the weak stores of the regions that remain if some synchronisations separate nothing.
func (l *lane) compareRegions(n int, joins func(event int) bool) error {
	want, got := l.regions(l.rec.Epochs, joins), l.regions(l.epochs, joins)
	for i := range want {
		var g *emu.Epoch
		if i < len(got) {
			g = got[i]
		}
		if l.cut && i >= len(got)-1 {
			break
		}
		if err := l.compareStores(n, i, want[i], g); err != nil {
			return err
		}
	}
	return nil
}

// regions joins the epochs between which the machine needs no instruction.
func (l *lane) regions(epochs []*emu.Epoch, joins func(event int) bool) (out []*emu.Epoch) {
	now := &emu.Epoch{}
	k := 0
	for _, e := range epochs {
		for w, s := range e.All() {
			now.At(w).Store(s.Mask, s.Value, s.Inst)
		}
		for k < len(l.rec.Events) && !l.rec.Events[k].Sync() {
			k++
		}
		if k < len(l.rec.Events) && !joins(k) {
			out = append(out, now)
			now = &emu.Epoch{}
		}
		k++
	}
	return append(out, now)
}

// compareStores compares the weak stores of a region.
func (l *lane) compareStores(n, region int, want, got *emu.Epoch) error {
	if sameStores(want, got) {
		return nil
	}
	for _, w := range sorted(want) {
		x, y := want.Of(w), got.Of(w)
		open := l.open.words[w]
		if is, any := l.open.nans[w]; any && (!is || nan(uint64(x.Value)) && nan(uint64(y.Value))) {
			open = ^uint32(0)
		}
		if d := (x.Mask ^ y.Mask) &^ open; d != 0 && x.Mask&^y.Mask&^open != 0 {
			return &accuse{Rule: NotPerformed, Lane: n, Pc: -1, Event: source(x), Word: w, Want: uint64(x.Value & x.Mask), Got: uint64(y.Value & y.Mask), Known: true,
				Why: fmt.Sprintf("%s: the program stores %#x, the machine code nothing", name(w), x.Value&x.Mask)}
		}
		if d := (x.Value ^ y.Value) & x.Mask & y.Mask &^ open; d != 0 {
			return &accuse{Rule: WrongValue, Lane: n, Pc: y.Inst, Event: source(x), Word: w, Want: uint64(x.Value & x.Mask), Got: uint64(y.Value & x.Mask), Known: true,
				Why: fmt.Sprintf("%s: the program stores %#x, the machine code %#x", name(w), x.Value&x.Mask, y.Value&x.Mask)}
		}
	}
	for _, w := range sorted(got) {
		if x, y := want.Of(w), got.Of(w); y.Mask&^x.Mask&^l.open.words[w] != 0 {
			return &accuse{Rule: ExtraAccess, Lane: n, Pc: y.Inst, Word: w, Got: uint64(y.Value & y.Mask),
				Why: fmt.Sprintf("%s: the machine code stores %#x, the program nothing", name(w), y.Value&y.Mask)}
		}
	}
	return nil
}

// sameStores reports whether two regions store the same, whoever does.
func sameStores(a, b *emu.Epoch) bool {
	return a.Equal(b, func(x, y emu.Stored) bool { return x.Mask == y.Mask && x.Value == y.Value })
}

func source(s emu.Stored) *emu.Event { return &emu.Event{Inst: s.Inst, Kind: emu.EventStore} }

func name(w emu.Word) string {
	if w.Shared() {
		return fmt.Sprintf("shared %#x", w.Addr())
	}
	return fmt.Sprintf("%#x", w.Addr())
}

func sorted(e *emu.Epoch) (words []emu.Word) {
	for w := range e.All() {
		words = append(words, w)
	}
	slices.Sort(words)
	return words
}
