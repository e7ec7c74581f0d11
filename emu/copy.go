package emu

import (
	"encoding/binary"
	"fmt"

	"optcheck/ir"
)

// maxBulk bounds a bulk copy, in bytes.
const maxBulk = 1 << 18

// copy hands an asynchronous copy to the environment.
func (w *Warp) copy(pc int32, c *ir.Copy, act uint32) error {
	var to, from [Lanes]Place
	switch c.Kind {
	case ir.CopyAsync:
		for x := act; x != 0; x &= x - 1 {
			l := lowest(x)
			to[l] = w.at(ir.Shared, c.To, c.ToOffset, 32, l)
			from[l] = w.at(ir.Global, c.From, c.FromOffset, 64, l)
			if n := uint64(c.Bytes); !w.Code.P.Machine && misaligned(to[l].Addr|from[l].Addr, n) && !w.policy.Anywhere { // PTX ISA 9.7.9.25.3.1
				why := fmt.Sprintf("a copy of %d bytes from %#x to %#x, which is misaligned", n, from[l].Addr, to[l].Addr)
				return &Fault{int(pc), w.Threads[l].Index, why}
			}
		}
	case ir.CopyBulk:
		if w.Code.P.Machine { // an instruction of the warp, with operands that its lanes share
			act &= -act
		}
		for x := act; x != 0; x &= x - 1 {
			l := lowest(x)
			to[l] = w.at(c.ToSpace, c.To, c.ToOffset, 64, l)
			from[l] = w.at(c.FromSpace, c.From, c.FromOffset, 64, l)
			if why := w.misaligned(c, l, to[l], from[l]); why != "" {
				return &Fault{int(pc), w.Threads[l].Index, why}
			}
		}
	case ir.CopyStore, ir.CopyReduce:
		for x := act; x != 0; x &= x - 1 {
			l := lowest(x)
			to[l] = w.at(c.ToSpace, c.To, c.ToOffset, 64, l)
			if n := c.Bytes * c.Elems; to[l].Addr%uint64(n) != 0 {
				return &Fault{int(pc), w.Threads[l].Index, fmt.Sprintf("an asynchronous store of %d bytes to %#x, which is misaligned", n, to[l].Addr)}
			}
		}
	}
	return w.env.Copy(w, pc, c, act, &to, &from)
}

// misaligned says what is misaligned of a bulk copy: 16 bytes are asked for, of boxes of tensors 128 in shared memory (PTX ISA 9.7.9.25.4).
func (w *Warp) misaligned(c *ir.Copy, l int, to, from Place) string {
	switch {
	case c.Tensor && c.Mbarrier >= 0 && to.Addr&127 != 0:
		return fmt.Sprintf("a copy of a box of a tensor to %#x, which is misaligned", to.Addr)
	case c.Tensor && c.Mbarrier < 0 && from.Addr&127 != 0:
		return fmt.Sprintf("a copy of a box of a tensor from %#x, which is misaligned", from.Addr)
	case !c.Tensor && (to.Addr|from.Addr|w.bulkSize(c, l))&15 != 0:
		return fmt.Sprintf("a bulk copy of %d bytes from %#x to %#x, which is misaligned", w.bulkSize(c, l), from.Addr, to.Addr)
	}
	return ""
}

func (w *Warp) bulkSize(c *ir.Copy, l int) uint64 {
	if c.Size < 0 {
		return 0
	}
	return w.regs[c.Size][l] & 0xffffffff
}

// ObjectOf is where the barrier object of a lane's copy is.
func (w *Warp) ObjectOf(c *ir.Copy, l int) Place {
	return w.at(ir.Generic, c.Mbarrier, c.MbarrierOffset, 64, l)
}

// TensorMap is where the map of a lane's copy of a box of a tensor is.
func (w *Warp) TensorMap(c *ir.Copy, l int) Place {
	if c.Mbarrier >= 0 {
		return w.at(c.FromSpace, c.From, c.FromOffset, 64, l)
	}
	return w.at(c.ToSpace, c.To, c.ToOffset, 64, l)
}

// CopyEvent is the event of a bulk copy of a lane: Place is where to, Operand and ID are where from and its space, Compare is the size, and
// Result the place of the barrier object, if there is one. That of an asynchronous store has Bytes, and Operand and High are what it stores.
func (w *Warp) CopyEvent(pc int32, c *ir.Copy, l int, to, from Place) (Event, error) {
	e := Event{Kind: EventCopy, Inst: pc, Place: to, Operand: from.Addr, ID: uint64(from.Space), Compare: w.bulkSize(c, l)}
	if c.Tensor {
		var ok bool
		if e.Compare, ok = w.Launch.Boxes[w.TensorMap(c, l)]; !ok {
			return e, &Cannot{Inst: int(pc), Why: "not understood: the size of the tensor's box is not known: " + w.Code.P.Insts[pc].Text}
		}
	}
	if e.Compare > maxBulk {
		return e, &Cannot{Inst: int(pc), Why: fmt.Sprintf("a bulk copy of %d bytes", e.Compare), Input: true}
	}
	if c.Multicast {
		e.High = w.regs[c.Blocks][l]
	}
	if e.Atom = c.Atom; c.Atom != ir.NoAtom {
		e.Type = c.Type
	}
	if a := c.Stored(); c.Kind != ir.CopyBulk {
		var b [16]byte
		w.Stored(a, l, b[:])
		e.Bytes = a.Bytes * a.Elems
		e.Operand, e.ID, e.Compare, e.High = Number(b[:]), 0, uint64(e.Bytes), Number(b[8:])
		if c.Kind == ir.CopyReduce {
			e.Atom = a.Atom
			if a.Atom == ir.AtomMin || a.Atom == ir.AtomMax {
				e.Type = a.Type
			}
		}
	}
	if c.Mbarrier >= 0 {
		p := w.ObjectOf(c, l)
		if p.Space != ir.Shared || p.Addr%8 != 0 {
			return e, &Cannot{Inst: int(pc), Why: fmt.Sprintf("a barrier object at %s %#x", p.Space, p.Addr), Input: true}
		}
		e.Result = p.Addr
	}
	return e, nil
}

// Copy performs a copy, or waits for some. Bulk copies are performed at once.
func (g *Grid) Copy(w *Warp, pc int32, c *ir.Copy, act uint32, to, from *[Lanes]Place) error {
	switch {
	case c.Kind == ir.CopyProduct:
		return g.product(w, pc, c.Product, act)
	case c.Family == ir.Products && c.Kind == ir.CopyCommit:
		w.committed++
		return nil
	case c.Family == ir.Products && c.Kind == ir.CopyWait:
		return g.wait(w, c)
	}
	bulk := c.Kind == ir.CopyBulk || c.Kind == ir.CopyStore || c.Kind == ir.CopyReduce
	var err error
	g.lanesOf(act, func(l int) {
		switch {
		case err != nil:
		case bulk:
			err = g.bulk(w, pc, c, l, to[l], from[l])
		default:
			err = w.Async(pc, c, 1<<l, to, from, gridCopies{g, w})
		}
	})
	return err
}

// bulk performs a bulk copy, or an asynchronous store, by no thread: what it writes is in memory, and the barrier object has its bytes.
func (g *Grid) bulk(w *Warp, pc int32, c *ir.Copy, l int, to, from Place) error {
	e, err := w.CopyEvent(pc, c, l, to, from)
	if err != nil {
		return err
	}
	block, kind := w.Threads[l].Block, g.kind(pc, &ir.Access{Bytes: 4})
	var what [16]byte // of a store
	for _, part := range w.Parts(c, l, to, e) {
		dst := WordOf(part.To, block)
		switch {
		case c.Kind != ir.CopyBulk:
			err = g.stored(w, c, l, dst, &what)
		case c.Tensor && c.Mbarrier < 0: // what a tensor holds is not followed
		case c.Tensor:
			g.box(w, c, l, dst, e)
		case c.Atom != ir.NoAtom:
			// PTX ISA 9.7.9.25.5: an addition of f32 flushes subnormal numbers.
			a := &ir.Access{Kind: ir.Atomic, Atom: c.Atom, Type: c.Type, Bytes: c.Type.Bits() / 8, Elems: 1, FTZ: c.Type == ir.F32}
			err = g.reduce(a, dst, g.words(WordOf(from, block), int(e.Compare), kind))
		default:
			g.put(dst, g.words(WordOf(from, block), int(e.Compare), kind))
		}
		if err == nil && c.Mbarrier >= 0 {
			err = g.complete(pc, WordOf(part.Object, block), e.Compare)
		}
		if err != nil {
			return err
		}
	}
	g.record(w, l).event(e, 1, what[:e.Bytes])
	return nil
}

// box writes what a box of a tensor holds: it follows from the map and the place.
func (g *Grid) box(w *Warp, c *ir.Copy, l int, dst Word, e Event) {
	h := mix(e.Operand)
	for _, r := range c.Coords {
		h = mix(h ^ w.regs[r][l])
	}
	for i := range Word(e.Compare / 4) {
		g.Memory.Put(dst+i, uint32(mix(h+uint64(i))), nobody)
	}
}

// Part is where a bulk copy writes, and the barrier object that its bytes are reported to, if there is one.
type Part struct{ To, Object Place }

// Parts are those of a lane's copy: one for each block that it goes to.
func (w *Warp) Parts(c *ir.Copy, l int, to Place, e Event) []Part {
	if !c.Multicast {
		return []Part{{to, Place{ir.Shared, e.Result}}}
	}
	var out []Part
	own := w.Threads[l].Block
	in := func(addr uint64, rank int) Place {
		return Place{ir.Shared, w.Launch.shared(uint64(rank)<<rankShift|addr&(1<<rankShift-1), own)}
	}
	for r := range w.Launch.clusterBlocks() {
		if w.regs[c.Blocks][l]>>r&1 == 1 {
			out = append(out, Part{in(to.Addr, r), in(e.Result, r)})
		}
	}
	return out
}

// complete reports bytes of a copy to a barrier object.
func (g *Grid) complete(pc int32, object Word, bytes uint64) error {
	v := uint64(g.Memory.Now(object, Integer)) | uint64(g.Memory.Now(object+1, Integer))<<32
	v, ok := g.Code.P.Mbarriers.Arrive(v, 0, -int32(bytes), false)
	if !ok {
		return tooMany(pc)
	}
	g.Memory.Put(object, uint32(v), nobody)
	g.Memory.Put(object+1, uint32(v>>32), nobody)
	return nil
}

// words are n bytes of memory, which begin with a word, and are of a kind.
func (g *Grid) words(from Word, n int, kind Kind) []byte {
	out := make([]byte, n)
	for i := 0; i < n; i += 4 {
		binary.LittleEndian.PutUint32(out[i:], g.Memory.Now(from+Word(i/4), kind))
	}
	return out
}

// put writes whole words by no thread.
func (g *Grid) put(to Word, data []byte) {
	for i := 0; i < len(data); i += 4 {
		g.Memory.Put(to+Word(i/4), binary.LittleEndian.Uint32(data[i:]), nobody)
	}
}

// reduce combines what is given with what memory holds, element by element.
func (g *Grid) reduce(a *ir.Access, to Word, what []byte) error {
	result, old := make([]byte, len(what)), g.words(to, len(what), Integer)
	for i := 0; i < len(what); i += a.Bytes {
		if err := Combine(g.Code.P.Mbarriers, a, result[i:i+a.Bytes], old[i:i+a.Bytes], what[i:i+a.Bytes], nil); err != nil {
			return err
		}
	}
	g.put(to, result)
	return nil
}

// stored performs an asynchronous store, or reduction, of whole words, and returns what it is of.
func (g *Grid) stored(w *Warp, c *ir.Copy, l int, to Word, what *[16]byte) error {
	a := c.Stored()
	w.Stored(a, l, what[:])
	n := a.Bytes * a.Elems
	if c.Kind == ir.CopyReduce {
		return g.reduce(a, to, what[:n])
	}
	g.put(to, what[:n])
	return nil
}

func tooMany(pc int32) error {
	return &Cannot{Inst: int(pc), Why: "more arrivals or bytes than a barrier object waits for", Input: true}
}

// arrive computes what an arrival leaves of a barrier object.
func arrive(m ir.Mbarriers, a *ir.Access, result []byte, old, operand [8]byte) error {
	by := binary.LittleEndian.Uint64(operand[:])
	v, ok := m.Arrive(binary.LittleEndian.Uint64(old[:]), uint32(by), int32(by>>32), a.Atom == ir.AtomDrop)
	if !ok {
		return tooMany(-1)
	}
	binary.LittleEndian.PutUint64(result, v)
	return nil
}

// readModifyWrite performs one, or those that an arrival behind copies, which are performed by then, consists of; and of a narrow barrier
// object an arrival that drops, which is an addition to the arrivals that phases expect and an arrival.
func (g *Grid) readModifyWrite(w *Warp, pc int32, a *ir.Access, l int, p Place) error {
	if a.Atom == ir.AtomDrop && g.Code.P.Mbarriers == ir.Narrow {
		expects, arrives := *a, *a
		expects.Atom, expects.Bytes, expects.Type, expects.Dst = ir.AtomAdd, 4, ir.U32, nil
		arrives.Atom = ir.AtomArrive
		if err := g.atomic(w, pc, &expects, l, p); err != nil {
			return err
		}
		return g.atomic(w, pc, &arrives, l, p)
	}
	if a.Atom != ir.AtomArriveBehind {
		return g.atomic(w, pc, a, l, p)
	}
	r := g.record(w, l)
	from := len(r.Events)
	one, another := *a, *a
	one.Data, one.Behind, another.Data = a.Data[:1], false, a.Data[1:2]
	if g.Code.P.Mbarriers == ir.Narrow {
		one.Atom, one.Bytes, one.Type, p.Addr = ir.AtomAdd, 4, ir.U32, p.Addr+4
		another.Atom = ir.AtomArrive
		one.Data, another.Data = a.Data[2:3], a.Data[3:4]
	}
	if err := g.atomic(w, pc, &one, l, p); err != nil {
		return err
	}
	p.Addr &^= 7
	err := g.atomic(w, pc, &another, l, p)
	for i := range r.Events[from:] {
		r.Events[from+i].Balanced = true
	}
	return err
}

// CopySize is how many bytes of a copy a lane reads; the rest of what it writes is zero.
func (w *Warp) CopySize(c *ir.Copy, l int) int {
	n := uint64(c.Bytes)
	if c.Size >= 0 {
		n = min(n, w.regs[c.Size][l]&0xffffffff)
	}
	if c.Ignore >= 0 && (w.regs[c.Ignore][l] != 0) != c.IgnoreNot {
		n = 0
	}
	return int(n)
}
