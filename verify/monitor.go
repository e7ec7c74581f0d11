package verify

import (
	"math/bits"
	"slices"

	"optcheck/emu"
	"optcheck/ir"
)

// monitor stands between the warps of a run and its grid, and keeps what is ordered before what.
type monitor struct {
	grid    *emu.Grid
	shape   shape
	threads [][]thread // by warp of the launch
	times   []uint32   // of warps
	cluster []int32    // of blocks
	shadow  *shadow
	bars    map[barKey]*bar
	groups  map[id]*copies
	objects map[emu.Word]*object
	issuer  map[id]id // who began the last copy that completes at a barrier object
	meets   map[int32]*meeting
	follow  map[int32][]bool // the instructions that can follow one
	remotes map[remote]uint32
	layout  *layout
	found   *findings

	boxes *boxes

	// contested tells that a value may depend on the schedule.
	contested bool

	// deaf leaves out what acquires would order, so that barriers alone do; together, if not nil, sees each barrier that opens.
	deaf     bool
	together func(x *bar)
	orders   *runOrders // if not nil, gathers which strong accesses are ordered
	old      *old       // if not nil, strong loads may read what has been overwritten

	// origins, if not nil, follow what addresses depend on.
	origins *origins
	// now is the access that is being checked.
	now current
	// the last join, which the lanes of a warp repeat
	joinA, joinB, joined *clock
}

// current is an access of a lane that is being checked.
type current struct {
	w    *emu.Warp
	a    *ir.Access
	lane int
	at   emu.Place
}

// thread is what a thread knows and has said.
type thread struct {
	clock *clock
	// released are its last releases by a fence, for readers at each level.
	released [levels]*published
	// reads is the instruction of its last read from memory, and what it read.
	reads  int32
	readAt emu.Place
	// heard are the messages of strong reads, for a fence that follows.
	heard []*message
	// last is the instruction of its last access, -1 if there is none.
	last int32
	// after are what the barriers of the cluster order before what it does now, whether they make memory known or not.
	after []**clock
	// met, if not nil, is what a barrier of the cluster tells it; arrived is how often it has arrived there.
	met     **clock
	arrived int
}

// published is a thread's clock when it released.
type published struct {
	clock *clock
	time  uint32
}

func newMonitor(g *emu.Grid, l *layout, f *findings) *monitor {
	n := g.Launch.Blocks()
	m := &monitor{grid: g, shape: shape{n, (g.Launch.Threads() + emu.Lanes - 1) / emu.Lanes, usesAsync(f.program)}, layout: l, found: f,
		cluster: make([]int32, n), times: make([]uint32, len(g.Warps)), contested: !fixed(f.program),
		shadow: newShadow(), bars: map[barKey]*bar{}, groups: map[id]*copies{}, objects: map[emu.Word]*object{}, issuer: map[id]id{},
		meets: map[int32]*meeting{}, remotes: map[remote]uint32{}, follow: map[int32][]bool{}}
	for i := range m.cluster {
		m.cluster[i] = clusterOf(g.Launch, i)
	}
	none := m.shape.none()
	for range g.Warps {
		t := make([]thread, emu.Lanes)
		for i := range t {
			t[i].clock, t[i].last = none, -1
		}
		m.threads = append(m.threads, t)
	}
	for i := range m.times {
		m.times[i] = 1
	}
	m.followRegisters()
	g.Opened = m.opened
	g.Through(m)
	return m
}

// number is the warp's number in the launch.
func (m *monitor) number(w *emu.Warp) int { return m.block(w)*m.shape.warps + w.ID }

func (m *monitor) block(w *emu.Warp) int { return w.Data.(*emu.Block).Number }

func (m *monitor) id(w *emu.Warp, lane int) id {
	return id{int32(m.block(w)), int32(w.ID), uint8(lane)}
}

func lanes(mask uint32, do func(l int)) {
	for ; mask != 0; mask &= mask - 1 {
		do(bits.TrailingZeros32(mask))
	}
}

// join is the join of two clocks.
func (m *monitor) join(a, b *clock) *clock {
	if m.joinA != a || m.joinB != b {
		m.joinA, m.joinB, m.joined = a, b, join(a, b, m.shape)
	}
	return m.joined
}

// thread is a thread, with what it has learnt by a barrier of the cluster that it has passed.
func (m *monitor) thread(n, l int) *thread {
	th := &m.threads[n][l]
	if th.met != nil {
		th.clock = join(th.clock, *th.met, m.shape)
		th.met = nil
	}
	return th
}

// usesAsync reports whether a program uses the async proxy, or barrier objects.
func usesAsync(p *ir.Program) bool {
	return slices.ContainsFunc(p.Insts, func(in ir.Inst) bool {
		switch do := in.Do.(type) {
		case *ir.Copy:
			return do.Kind != ir.CopyAsync && do.Family != ir.Copies || do.Kind >= ir.CopyBulk
		case *ir.Access:
			return do.Mbarrier
		}
		return false
	})
}

// Access checks an access, and lets the grid perform it.
func (m *monitor) Access(w *emu.Warp, pc int32, a *ir.Access, act uint32, at *[emu.Lanes]emu.Place) error {
	m.origins.places(at)
	if m.old != nil {
		m.old.last = 0
	}
	if err := m.layout.check(m, w, pc, a, act, at); err != nil {
		return err
	}
	if a.Mbarrier {
		return m.mbarrier(w, pc, a, act, at)
	}
	if a.Constant && a.Kind == ir.Load && a.Space == ir.ConstBank {
		return m.grid.Access(w, pc, a, act, at)
	}
	n := m.number(w)
	lanes(act, func(l int) {
		m.now = current{w, a, l, at[l]}
		m.touch(w, n, pc, a, l, at[l])
	})
	if a.Sem != ir.Weak && a.Kind != ir.Load {
		m.times[n]++
	}
	err := m.grid.Access(w, pc, a, act, at)
	m.old.replace(w, a)
	return err
}

// touch is an access of one lane.
func (m *monitor) touch(w *emu.Warp, n int, pc int32, a *ir.Access, l int, p emu.Place) {
	by, th := m.id(w, l), m.thread(n, l)
	if th.last = pc; a.Kind != ir.Store {
		th.reads, th.readAt = pc, p
	}
	t := touch{block: by.block, warp: by.warp, mask: 1 << l, time: m.times[n], pc: pc, write: a.Kind != ir.Load, size: uint8(a.Bytes)}
	if a.Sem != ir.Weak {
		t.strong, t.level, t.adds = true, levelOf(a.Scope), adds(a)
	}
	for e := range a.Elems {
		q := emu.Place{Space: p.Space, Addr: p.Addr + uint64(e*a.Bytes)}
		t.low = uint8(q.Addr)
		m.words(w, q, a.Bytes, &t, by, th, a)
	}
}

// words checks an element of an access, word by word.
func (m *monitor) words(w *emu.Warp, p emu.Place, n int, t *touch, by id, th *thread, a *ir.Access) {
	m.abroad(t, by, th, p)
	for off := 0; off < n; {
		k := min(4-int(p.Addr&3), n-off)
		c := m.shadow.at(emu.WordOf(p, int(by.block)))
		m.uninitialised(c, t, by, p)
		if t.strong {
			m.strongWord(c, t, by, th, p, k, a)
		} else {
			m.cells(c, t, by, th, p, k)
		}
		off += k
		p.Addr += uint64(k)
	}
}

// strongWord checks a strong access of a word, or of bytes of it.
func (m *monitor) strongWord(c *cell, t *touch, by id, th *thread, p emu.Place, n int, a *ir.Access) {
	if c.strong == nil {
		c.strong = &strongCell{}
	}
	s := c.strong
	m.orders.note(m, s, t, by, th.clock)
	var v *version
	switch {
	case t.write:
		m.overwrite(s, t, p, n)
	case a.Elems == 1 && a.Bytes == 4 && c.bytes == nil:
		v = m.choose(s, t, by, th.clock)
	}
	m.reading(s, v, func() {
		msg := m.listen(s, t, by, th, a)
		m.cells(c, t, by, th, p, n)
		if t.write {
			m.speak(s, t, by, th, a, msg)
			if s.history != nil {
				s.history.mark(t, s.history.count)
			}
		}
	})
}

// cells checks a word, or bytes of it.
func (m *monitor) cells(c *cell, t *touch, by id, th *thread, p emu.Place, n int) {
	if c.bytes == nil && n == 4 {
		m.check(c, t, by, th.clock)
		return
	}
	b := c.split()
	for i := range n {
		m.check(&b[int(p.Addr&3)+i], t, by, th.clock)
	}
	if t.write {
		c.written = true
	}
	if t.write && !t.strong && c.strong != nil {
		c.strong.held = false
	}
}

// uninitialised reports a read of shared memory that nobody wrote.
func (m *monitor) uninitialised(c *cell, t *touch, by id, p emu.Place) {
	if p.Space != ir.Shared || m.now.a.Kind == ir.Store || c.written || c.strong != nil && len(c.strong.list) > 0 {
		return
	}
	m.at(Uninitialised, t.pc, by, p, "")
}

// listen takes in what a strong access hears, and gives the message that what it writes will carry on.
func (m *monitor) listen(s *strongCell, t *touch, by id, th *thread, a *ir.Access) (msg *message) {
	if m.joins(s, t, by) {
		msg = s.msg
	}
	if msg != nil && (a.Kind == ir.Load || len(a.Dst) > 0) { // a reduction acquires nothing
		if a.Sem == ir.Acquire || a.Sem == ir.AcqRel {
			m.acquire(th, by, msg, levelOf(a.Scope))
		}
		th.hear(msg)
		th.clock = th.clock.hearing(msg.said, m.shape)
	}
	if a.Kind == ir.Store && s.self(by) && s.msg != nil { // a release of the same place is also one of what the thread writes there later
		for _, r := range s.msg.releases {
			if r.by == by {
				msg = &message{releases: []release{r}}
			}
		}
	}
	return msg
}

// speak makes the message of what a strong access has written.
func (m *monitor) speak(s *strongCell, t *touch, by id, th *thread, a *ir.Access, msg *message) {
	if own, ok := m.says(t, by, th, a); ok {
		msg = msg.add(own, m.shape)
	}
	if own := th.clock.said; own != nil {
		out := message{said: own}
		if msg != nil {
			out.releases, out.said = msg.releases, join(msg.said, own, m.shape)
		}
		msg = &out
	}
	s.msg, s.last, s.held = msg, *t, true
}

// maxHeard bounds the messages that a thread remembers for a fence that follows.
const maxHeard = 256

func (th *thread) hear(msg *message) {
	n := len(th.heard)
	if n > 0 && th.heard[n-1] == msg {
		return
	}
	if n >= maxHeard {
		th.heard = append(th.heard[:0], th.heard[n/2:]...)
	}
	th.heard = append(th.heard, msg)
}

// says is what a strong write of a thread releases: all before it, if it is a release itself, or what was before a fence.
func (m *monitor) says(t *touch, by id, th *thread, a *ir.Access) (r release, ok bool) {
	r = release{block: by.block, by: by}
	for l, p := range th.released {
		if p != nil {
			r.at[l], ok = p.clock.with(by, p.time, m.shape), true
		}
	}
	if a.Sem == ir.Release || a.Sem == ir.AcqRel {
		ok = true
		for l := sameBlock; l <= levelOf(a.Scope); l++ {
			r.at[l] = th.clock.with(by, t.time, m.shape)
		}
	}
	return r, ok
}

// release is a release of a lane by a fence.
func (m *monitor) release(n, l int, up level) {
	th := m.thread(n, l)
	p := &published{th.clock, m.times[n]}
	for k := sameBlock; k <= up; k++ {
		th.released[k] = p
	}
}

// acquire takes in those releases of a message that are morally strong with an acquire at a level.
func (m *monitor) acquire(th *thread, by id, msg *message, up level) {
	if m.deaf {
		return
	}
	for i := range msg.releases {
		r := &msg.releases[i]
		if l := m.apart(r.block, by.block); l <= up && r.at[l] != nil {
			th.clock = m.join(th.clock, r.at[l])
		}
	}
}

// Fence is a fence of lanes.
func (m *monitor) Fence(w *emu.Warp, pc int32, f *ir.Fence, act uint32) error {
	if f.Proxy == "async" && m.shape.async {
		n := m.number(w)
		lanes(act, func(l int) { m.proxyFence(n, l, m.id(w, l)) })
		m.times[n]++
	}
	if f.Proxy == "" || f.Proxy == "mbarrier_init" {
		n, up := m.number(w), levelOf(f.Scope)
		lanes(act, func(l int) {
			th := m.thread(n, l)
			if f.Sem != ir.Release {
				by := m.id(w, l)
				for _, h := range th.heard {
					m.acquire(th, by, h, up)
				}
				if up == sameGPU {
					th.heard = th.heard[:0]
				}
			}
			if f.Sem == ir.SC && m.old != nil {
				th.clock = join(th.clock, m.old.fences, m.shape)
				m.old.fences = join(m.old.fences, th.clock.with(m.id(w, l), m.times[n], m.shape), m.shape)
			}
			if f.Sem == ir.SC && up == sameGPU {
				th.clock = th.clock.fenced(m.id(w, l), m.times[n], m.shape)
			}
			if f.Sem != ir.Acquire {
				m.release(n, l, up)
			}
		})
		m.times[n]++
	}
	return m.grid.Fence(w, pc, f, act)
}

// WarpBarrier orders the lanes that have met.
func (m *monitor) WarpBarrier(w *emu.Warp, pc int32, b *ir.Barrier, act uint32) error {
	n := m.number(w)
	var all *clock
	lanes(act, func(l int) { all = join(all, m.thread(n, l).clock, m.shape) })
	c, block := all.edit(int32(m.block(w)), m.shape)
	r := block.editRow(int32(w.ID), m.shape)
	lanes(act, func(l int) { r[l] = m.times[n] })
	lanes(act, func(l int) { m.threads[n][l].clock = c })
	m.times[n]++
	return m.grid.WarpBarrier(w, pc, b, act)
}

// Clock is the grid's.
func (m *monitor) Clock(w *emu.Warp, lane int, r ir.SpecialReg) uint64 {
	return m.grid.Clock(w, lane, r)
}
