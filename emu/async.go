package emu

import "optcheck/ir"

// asyncCopies are the copies that a thread has begun (cp.async) and not waited for, oldest first, and the number of its open group.
type asyncCopies struct {
	left  []asyncCopy
	group int
}

type asyncCopy struct {
	pc    int32
	group int
	to    Place
	data  [16]byte
	bytes int
}

// Copies is memory as asynchronous copies see it: the accesses of a lane.
type Copies interface {
	CopyFrom(pc int32, lane int, from Place, buf []byte) error
	CopyTo(pc int32, lane int, to Place, buf []byte) error
}

// Async begins asynchronous copies, or waits for them. A copy reads when it begins and writes as late as it may, when its thread waits for it: what
// shared memory holds before is what a thread reads that does not wait (PTX ISA 9.7.9.25.3 leaves open when a copy is performed).
func (w *Warp) Async(pc int32, c *ir.Copy, act uint32, to, from *[Lanes]Place, m Copies) error {
	if c.Family != ir.Copies {
		return nil
	}
	if c.Bytes > 16 {
		return &Cannot{Inst: int(pc), Why: "a copy of more than 16 bytes"}
	}
	if w.async == nil {
		w.async = &[Lanes]asyncCopies{}
	}
	for x := act; x != 0; x &= x - 1 {
		l := lowest(x)
		var err error
		switch a := &w.async[l]; c.Kind {
		case ir.CopyAsync:
			n := asyncCopy{pc: pc, group: a.group, to: to[l], bytes: c.Bytes}
			err = m.CopyFrom(pc, l, from[l], n.data[:w.CopySize(c, l)])
			a.left = append(a.left, n)
		case ir.CopyCommit:
			a.group++
		case ir.CopyWait:
			err = a.complete(l, a.group-c.Groups, m)
		case ir.CopyWaitAll:
			a.group++
			err = a.complete(l, a.group, m)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// Complete performs all copies that lanes have begun.
func (w *Warp) Complete(act uint32, m Copies) error {
	if w.async == nil {
		return nil
	}
	for x := act; x != 0; x &= x - 1 {
		l := lowest(x)
		if err := w.async[l].complete(l, w.async[l].group+1, m); err != nil {
			return err
		}
	}
	return nil
}

// complete performs the copies of groups below one.
func (a *asyncCopies) complete(lane, group int, m Copies) error {
	n := 0
	for ; n < len(a.left) && a.left[n].group < group; n++ {
		if c := &a.left[n]; c.bytes > 0 {
			if err := m.CopyTo(c.pc, lane, c.to, c.data[:c.bytes]); err != nil {
				return err
			}
		}
	}
	a.left = a.left[n:]
	return nil
}

// gridCopies are the accesses of a warp's copies in a grid.
type gridCopies struct {
	g *Grid
	w *Warp
}

func (c gridCopies) CopyFrom(pc int32, lane int, from Place, buf []byte) error {
	c.g.load(c.w, pc, &ir.Access{Kind: ir.Load, Bytes: 4}, lane, from, buf)
	return nil
}

func (c gridCopies) CopyTo(pc int32, lane int, to Place, buf []byte) error {
	c.g.store(c.w, pc, &ir.Access{Kind: ir.Store, Bytes: 4}, lane, to, buf)
	return nil
}
