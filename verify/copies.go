package verify

import (
	"fmt"

	"optcheck/emu"
	"optcheck/ir"
)

// copies are a thread's asynchronous copies: the numbers of its open groups, that of the products of its warpgroup (of lane 0 for the warp), and
// the last group of bulk copies that reads shared memory, with the instruction.
type copies struct {
	group, bulk, product uint32
	reads                uint32
	pc                   int32
}

// copier is the lane that stands for the asynchronous copies of a thread: they are ordered behind what the thread did before,
// and before what it does after it has waited for their group.
func (m *monitor) copier(x id) id {
	x.warp += m.shape.copies()
	return x
}

// issuing is the lane of a thread that has begun what a lane stands for: itself, if it stands for a thread.
func (m *monitor) issuing(x id) id {
	if by, ok := m.issuer[x]; ok {
		return by
	}
	switch {
	case x.warp >= m.shape.products():
		x.warp -= m.shape.products()
	case x.warp >= m.shape.groups():
		x.warp -= m.shape.groups()
	case x.warp >= m.shape.copies():
		x.warp -= m.shape.copies()
	}
	return x
}

// bulkCopier stands for the groups of bulk copies of a thread. Copies of group g have read at time 2g and written at 2g+1.
func (m *monitor) bulkCopier(x id) id {
	x.warp += m.shape.groups()
	return x
}

func (m *monitor) copiesOf(by id) *copies {
	g := m.groups[by]
	if g == nil {
		g = &copies{group: 1, bulk: 1, product: 1}
		m.groups[by] = g
	}
	return g
}

// Copy is an asynchronous copy, or a wait for some.
func (m *monitor) Copy(w *emu.Warp, pc int32, c *ir.Copy, act uint32, to, from *[emu.Lanes]emu.Place) error {
	if c.Warp() {
		return m.products(w, pc, c, act)
	}
	n := m.number(w)
	var err error
	lanes(act, func(l int) {
		by := m.id(w, l)
		g, th := m.copiesOf(by), m.thread(n, l)
		wait := func(agent id, time int64) {
			if time > 0 {
				th.clock = th.clock.with(agent, uint32(time), m.shape)
			}
		}
		switch {
		case err != nil:
		case c.Kind == ir.CopyAsync:
			m.copied(w, pc, c, l, g, to[l], from[l])
		case c.Kind == ir.CopyBulk, c.Kind == ir.CopyStore, c.Kind == ir.CopyReduce:
			err = m.bulk(w, pc, c, l, to[l], from[l])
		case c.Kind == ir.CopyCommit && c.Family == ir.BulkCopies:
			g.bulk++
		case c.Kind == ir.CopyCommit:
			g.group++
		case c.Kind == ir.CopyWait && c.Family == ir.BulkCopies:
			if done := int64(g.bulk) - 1 - int64(c.Groups); c.OnlyReads {
				wait(m.bulkCopier(by), 2*done)
			} else if done > 0 {
				wait(m.bulkCopier(by), 2*done+1)
			}
		case c.Kind == ir.CopyWait:
			wait(m.copier(by), int64(g.group)-1-int64(c.Groups))
		case c.Kind == ir.CopyWaitAll:
			wait(m.copier(by), int64(g.group))
			g.group++
		}
	})
	if err != nil || c.Kind >= ir.CopyBulk {
		return err
	}
	return m.grid.Copy(w, pc, c, act, to, from)
}

// copied is what a copy reads and writes.
func (m *monitor) copied(w *emu.Warp, pc int32, c *ir.Copy, l int, g *copies, to, from emu.Place) {
	by := m.id(w, l)
	as, th := m.copier(by), m.thread(m.number(w), l)
	t := touch{block: as.block, warp: as.warp, mask: 1 << l, time: g.group, pc: pc, size: 4}
	load, store := ir.Access{Kind: ir.Load, Bytes: 4}, ir.Access{Kind: ir.Store, Bytes: 4}
	m.now = current{w, &load, l, from}
	m.words(w, from, w.CopySize(c, l), &t, by, th, &load)
	t.write = true
	m.now = current{w, &store, l, to}
	m.words(w, to, c.Bytes, &t, by, th, &store)
}

// bulk is a bulk copy: it reads and writes by the async proxy, as one of the thread's groups, or as one of those that complete at barrier
// objects. An asynchronous store, or reduction, writes by the generic proxy, and completes at a barrier object: PTX ISA, Async proxy.
func (m *monitor) bulk(w *emu.Warp, pc int32, c *ir.Copy, l int, to, from emu.Place) error {
	by, th := m.id(w, l), m.thread(m.number(w), l)
	if unknown, err := m.unknownBox(w, pc, c, l, to); unknown {
		return err
	}
	e, err := w.CopyEvent(pc, c, l, to, from)
	if err != nil {
		return err
	}
	parts := w.Parts(c, l, to, e)
	inside := func(p emu.Place) {
		if !m.layout.inside(p, e.Compare) {
			m.suspect(OutOfBounds, pc, by, p, fmt.Sprintf("a bulk copy of %d bytes at %#x", e.Compare, p.Addr))
		}
	}
	g := m.copiesOf(by)
	t := touch{block: by.block, warp: m.bulkCopier(by).warp, mask: 1 << l, time: 2 * g.bulk, pc: pc, size: 4, async: c.Kind == ir.CopyBulk}
	objects, err := m.completing(c, parts, pc, by)
	if err != nil {
		return err
	}
	if len(objects) > 0 {
		objects[0].stands(&t)
	}
	if t.async && !(c.Tensor && c.Mbarrier >= 0) { // what a tensor holds is not followed
		inside(from)
		load := ir.Access{Kind: ir.Load, Bytes: 4}
		m.now = current{w, &load, l, from}
		m.words(w, from, int(e.Compare), &t, by, th, &load)
	}
	t.time, t.write = 2*g.bulk+1, true
	if c.Tensor && c.Mbarrier < 0 {
		parts = nil
	}
	for i, part := range parts {
		if len(objects) > 0 {
			objects[i].stands(&t)
		}
		inside(part.To)
		m.written(w, c, l, part.To, int(e.Compare), &t, by, th)
	}
	if len(objects) == 0 && from.Space == ir.Shared {
		g.reads, g.pc = g.bulk, pc
	}
	for _, x := range objects {
		done := release{block: x.block, by: x.agent}
		for k := range done.at {
			done.at[k] = m.shape.none().with(x.agent, x.phase+1, m.shape)
		}
		x.open = x.open.add(done, m.shape)
	}
	return m.phases(func() error { return m.grid.Copy(w, pc, c, 1<<l, lane(l, to), lane(l, from)) }, objects...)
}

// completing are the barrier objects that a copy completes at.
func (m *monitor) completing(c *ir.Copy, parts []emu.Part, pc int32, by id) (out []*object, err error) {
	if c.Mbarrier < 0 {
		return nil, nil
	}
	for _, part := range parts {
		x, err := m.object(part.Object, pc, by)
		if err != nil {
			return nil, err
		}
		m.issuer[x.agent] = by
		out = append(out, x)
	}
	return out, nil
}

// stands makes an access one of the copies that complete in the object's present phase.
func (x *object) stands(t *touch) {
	t.block, t.warp, t.mask, t.time = x.agent.block, x.agent.warp, 1<<x.agent.lane, x.phase+1
}

// written is what a bulk copy or an asynchronous store writes. Reductions are relaxed, asynchronous ones at the scope of
// the cluster, bulk ones of the GPU: PTX ISA 9.7.13.8, 9.7.9.25.5.
func (m *monitor) written(w *emu.Warp, c *ir.Copy, l int, to emu.Place, size int, t *touch, by id, th *thread) {
	store := ir.Access{Kind: ir.Store, Bytes: 4}
	if m.now = (current{w, &store, l, to}); c.Atom == ir.NoAtom {
		m.words(w, to, size, t, by, th, &store)
		return
	}
	store = ir.Access{Kind: ir.Atomic, Bytes: c.Type.Bits() / 8, Type: c.Type, Atom: c.Atom, Sem: ir.Relaxed, Scope: ir.Cluster}
	if c.Kind == ir.CopyBulk {
		store.Scope = ir.GPU
	}
	t.strong, t.level, t.size, t.adds = true, levelOf(store.Scope), uint8(store.Bytes), adds(&store)
	for off := 0; off < size; off += store.Bytes {
		p := emu.Place{Space: to.Space, Addr: to.Addr + uint64(off)}
		t.low, m.now.at = uint8(p.Addr), p
		m.words(w, p, store.Bytes, t, by, &thread{clock: th.clock}, &store)
	}
}

func lane(l int, p emu.Place) *[emu.Lanes]emu.Place {
	var out [emu.Lanes]emu.Place
	out[l] = p
	return &out
}

// left notes bulk copies out of shared memory for which nobody has waited when all threads have ended.
func (m *monitor) left() {
	for n := range m.threads {
		for l := range m.threads[n] {
			by := id{int32(n / m.shape.warps), int32(n % m.shape.warps), uint8(l)}
			if g := m.groups[by]; g != nil && g.reads > 0 && m.thread(n, l).clock.get(m.bulkCopier(by), m.shape) < 2*g.reads {
				m.at(CopyLeft, g.pc, by, emu.Place{}, "the thread ends without a cp.async.bulk.wait_group for the copy")
			}
		}
	}
}
