package verify

import (
	"errors"
	"fmt"

	"optcheck/emu"
	"optcheck/ir"
)

// object is a barrier object (mbarrier): who has arrived in its present phase, and what its phases so far make known to who waits.
type object struct {
	at         emu.Word
	block      int32 // whose shared memory has it
	agent      id    // stands for the copies that complete here
	phase      uint32
	open, done *message
}

// object is the barrier object at a place.
func (m *monitor) object(p emu.Place, pc int32, by id) (*object, error) {
	w := emu.WordOf(p, int(by.block))
	if x := m.objects[w]; x != nil {
		return x, nil
	}
	n := int32(len(m.objects))
	if n >= objectRows*emu.Lanes*int32(m.shape.blocks) {
		return nil, &emu.Cannot{Inst: int(pc), Why: "more barrier objects than are followed"}
	}
	row := n / int32(m.shape.blocks)
	x := &object{at: w, block: by.block, agent: id{n % int32(m.shape.blocks), m.shape.objects() + row/emu.Lanes, uint8(row % emu.Lanes)}}
	if other := int32(p.Addr >> 32); other != 0 {
		x.block = other - 1
	}
	m.objects[w] = x
	return x, nil
}

// value is what a barrier object holds.
func (m *monitor) value(x *object) uint64 {
	return uint64(m.grid.Memory.Now(x.at, emu.Integer)) | uint64(m.grid.Memory.Now(x.at+1, emu.Integer))<<32
}

// phases performs what may end phases of barrier objects, and notes whether it did.
func (m *monitor) phases(do func() error, objects ...*object) error {
	before := make([]uint64, len(objects))
	for i, x := range objects {
		before[i] = m.value(x) >> 63
	}
	if err := do(); err != nil {
		return err
	}
	for i, x := range objects {
		m.boxes.expected(m, x)
		if m.value(x)>>63 == before[i] || x.open == nil {
			continue
		}
		for _, r := range x.open.releases {
			x.done = x.done.add(r, m.shape)
		}
		x.open = nil
		x.phase++
	}
	return nil
}

// mbarrier is an operation on barrier objects. Their operations are atomic whatever their scope is; the scope decides whom an arrival is
// known to. PTX ISA, Parallel Synchronization and Communication Instructions: mbarrier.
func (m *monitor) mbarrier(w *emu.Warp, pc int32, a *ir.Access, act uint32, at *[emu.Lanes]emu.Place) (err error) {
	n := m.number(w)
	lanes(act, func(l int) {
		if err == nil {
			err = m.operate(w, n, pc, a, l, at)
		}
	})
	m.times[n]++
	return err
}

func (m *monitor) operate(w *emu.Warp, n int, pc int32, a *ir.Access, l int, at *[emu.Lanes]emu.Place) error {
	by, th, p := m.id(w, l), m.thread(n, l), at[l]
	p.Addr &^= 7
	x, err := m.object(p, pc, by)
	if err != nil {
		return err
	}
	t := touch{block: by.block, warp: by.warp, mask: 1 << l, time: m.times[n], pc: pc, size: 8, low: uint8(p.Addr), write: a.Kind != ir.Load}
	if a.Kind != ir.Store {
		t.strong, t.level = true, sameGPU
		th.reads, th.readAt = pc, p
	}
	m.now = current{w, a, l, p}
	m.abroad(&t, by, th, p)
	for range 2 {
		c := m.shadow.at(emu.WordOf(p, int(by.block)))
		m.uninitialised(c, &t, by, p)
		m.cells(c, &t, by, th, p, 4)
		p.Addr += 4
	}
	perform := func() error { return m.grid.Access(w, pc, a, 1<<l, at) }
	switch a.Kind {
	case ir.Store:
		x.open = nil
	case ir.Load:
		err = perform()
		if err == nil && x.done != nil && m.passed(w, pc, a, l) {
			if a.Sem == ir.Acquire {
				m.acquire(th, by, x.done, levelOf(a.Scope))
			}
			th.hear(x.done)
		}
		return err
	default:
		own, ok := m.says(&t, by, th, a)
		if a.Behind {
			own, ok = release{block: by.block, by: m.copier(by)}, true
			for k := range own.at {
				own.at[k] = m.shape.none().with(own.by, m.copiesOf(by).group, m.shape)
			}
		}
		if !ok {
			own = release{block: by.block, by: by}
		}
		x.open = x.open.add(own, m.shape)
	}
	err = m.phases(perform, x)
	var cannot *emu.Cannot
	if errors.As(err, &cannot) && cannot.Input {
		return &emu.Fault{Inst: int(pc), Thread: w.Threads[l].Index, Why: "more arrivals or bytes than the barrier object (mbarrier) waits for"}
	}
	return err
}

// passed reports whether a test of a barrier object finds that the phase is over: its result has not been computed yet.
func (m *monitor) passed(w *emu.Warp, pc int32, a *ir.Access, l int) bool {
	now := a.Data[0]
	for _, o := range m.found.program.Insts[pc].Post {
		if o.Code == ir.Xor && o.Src[0] == now {
			return (w.Reg(now, l)^w.Reg(o.Src[1], l))>>31&1 == 1
		}
	}
	return false
}

// waits says what a barrier object waits for, of a thread that waits there for ever.
func (m *monitor) waits(p emu.Place, block int32) string {
	p.Addr &^= 7
	x := m.objects[emu.WordOf(p, int(block))]
	if x == nil {
		return ""
	}
	arrivals, bytes := m.grid.Code.P.Mbarriers.Waits(m.value(x))
	return fmt.Sprintf(": the phase of the barrier object waits for %d arrivals and %d bytes more; %d phases were completed", arrivals, bytes, x.phase)
}

// proxied reports whether a fence of the async proxy follows an earlier operation on the way to what is known.
func (m *monitor) proxied(e *touch, k *clock) bool {
	x := *e
	x.warp += m.shape.proxied()
	return int(e.warp) >= m.shape.warps || m.ordered(&x, id{block: -1}, k)
}

// proxyFence makes all that a thread knows, and its own operations, known to the async proxy.
func (m *monitor) proxyFence(n, l int, by id) {
	th := m.thread(n, l)
	c := th.clock.with(by, m.times[n], m.shape).copy()
	for i, b := range c.blocks {
		if b == nil {
			continue
		}
		_, b = c.edit(int32(i), m.shape)
		for w := range m.shape.warps {
			r := b.editRow(m.shape.proxied()+int32(w), m.shape)
			for k := range r {
				r[k] = max(r[k], b.at(w, k, m.shape))
			}
		}
		c.blocks[i] = b
	}
	th.clock = c
}
