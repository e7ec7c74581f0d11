package refine

import (
	"errors"
	"slices"

	"optcheck/emu"
)

// occurrence is an instruction as an event of a thread: the same one of all threads. Of a loop's loads only that of the last
// iteration may matter.
type occurrence struct {
	inst  int32
	event int
}

// death is what was found of the loads of an occurrence: how many were tried, and whether something depended on one.
type death struct {
	tried int
	used  bool
}

// tries is how many loads of an occurrence are tried; occurrences how many of these there are: what comes later is used.
const (
	tries       = 3
	occurrences = 256
	trialSteps  = 1 << 23 // of all of them together
)

// dead reports whether nothing that a thread does depends on what one of its strong loads reads: the program is run
// again with another value.
func (c *comparison) dead(in *Input, l *emu.Launch, was *emu.Grid, thread, event int) bool {
	at := occurrence{was.Records[thread].Events[event].Inst, event}
	if c.unread == nil {
		c.unread = unread(c.program)
	}
	if c.unread[at.inst] {
		return true
	}
	d := c.deaths[at]
	if d == nil {
		d = &death{used: len(c.deaths) >= occurrences}
		c.deaths[at] = d
	}
	if d.used || d.tried >= tries {
		return !d.used
	}
	d.tried++
	for _, flip := range []byte{1, 0xa6} {
		if c.tried > trialSteps*c.size() {
			return false
		}
		if c.depends(in, l, was.Records[thread], &emu.Change{Thread: thread, Event: event, Flip: flip}) {
			d.used = true
			break
		}
	}
	return !d.used
}

// depends reports whether a thread does something else if one of its loads reads another value. The run ends where that shows.
func (c *comparison) depends(in *Input, l *emu.Launch, was *emu.Record, change *emu.Change) bool {
	g, err := c.prepared(c.source, in, l, fills[0])
	if err != nil {
		return true
	}
	g.Changed = change
	most, now := g.Policy.MaxSteps, g.Records[change.Thread]
	for g.Policy.MaxSteps = min(most, 1<<13); ; g.Policy.MaxSteps = min(most, 2*g.Policy.MaxSteps) {
		before := g.Steps
		err = g.Run()
		c.tried += g.Steps - before
		c.spent += g.Steps - before
		if !errors.Is(err, emu.ErrSteps) || g.Policy.MaxSteps == most || !began(was, now, change.Event) {
			break
		}
		g.Cut = false
	}
	return err != nil && !errors.Is(err, emu.ErrSteps) || !same(was, now, change.Event)
}

// began reports whether a record is the beginning of another one, but for what one load has read.
func began(all, now *emu.Record, but int) bool {
	n, k := len(now.Events), len(now.Epochs)-1
	if n > len(all.Events) || k >= len(all.Epochs) {
		return false
	}
	return same(&emu.Record{Events: all.Events[:n], Epochs: all.Epochs[:k]}, &emu.Record{Events: now.Events, Epochs: now.Epochs[:k]}, but)
}

// same reports whether two records are equal but for what one load has read.
func same(a, b *emu.Record, but int) bool {
	if len(a.Events) != len(b.Events) {
		return false
	}
	for i := range a.Events {
		x, y := a.Events[i], b.Events[i]
		x.Time, y.Time, x.Step, y.Step = 0, 0, 0, 0
		if i == but {
			x.Value, y.Value = 0, 0
		}
		if x != y {
			return false
		}
	}
	return slices.EqualFunc(a.Epochs, b.Epochs, func(x, y *emu.Epoch) bool {
		return x.Equal(y, func(a, b emu.Stored) bool { return a == b })
	})
}
