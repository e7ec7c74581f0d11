package verify

import (
	"math/bits"

	"optcheck/emu"
	"optcheck/ir"
)

// touch is an access that a word remembers: by lanes of one warp, at one time.
type touch struct {
	block, warp int32
	mask        uint32
	time        uint32
	pc          int32
	// Of a strong access: the level that its scope reaches, its size and the lowest bits of its address; others are weak.
	strong bool
	level  level
	size   uint8
	low    uint8
	write  bool
	async  bool // by the async proxy
	// adds is what a reduction does, if the order of those that do it does not matter.
	adds ir.Atom
	// Of a strong write: the number of its chain of read-modify-writes in its place, and its own in it.
	chain, link uint32
}

// cell is what a word, or a byte of it, remembers: the last weak write, the weak reads since that are not ordered before
// others, and the strong accesses; and what its value carries for those who acquire it.
type cell struct {
	write   touch
	written bool
	reads   []touch
	strong  *strongCell
	// bytes are the four bytes of the word, once one was accessed alone.
	bytes *[4]cell
}

// strongCell is the part of a cell that has been accessed strongly.
type strongCell struct {
	list []touch
	// of finds the last access of a kind of a lane in a long list.
	of map[strongKey]int
	// narrow is the narrowest scope, alike tells that all accesses have one size and place.
	narrow level
	alike  bool
	// adds is what all of the accesses do, if they are such reductions.
	adds ir.Atom

	last touch // the last strong write
	held bool  // it is what the word holds
	msg  *message
	// chain and link are those of the last write, seen the reads of it and of those before it in its chain: the newest ones.
	chain, link uint32
	seen        []touch
	history     *history // if old values may be read
}

// maxSeen bounds the reads that a place remembers.
const maxSeen = 128

// see remembers that a strong access has read what the place holds.
func (s *strongCell) see(t *touch) {
	r := *t
	r.chain, r.link = s.chain, s.link
	for i := range s.seen {
		if x := &s.seen[i]; x.chain == r.chain && x.block == r.block && x.warp == r.warp && x.mask == r.mask {
			return // the first one is before all others
		}
	}
	if len(s.seen) == maxSeen {
		s.seen = append(s.seen[:0], s.seen[maxSeen/2:]...)
	}
	s.seen = append(s.seen, r)
}

// observed reports whether a strong write was read, itself or the end of its chain, by an access that is ordered before what
// a lane does now at the place: causality order has observation followed by what is preserved of base causality.
func (m *monitor) observed(s *strongCell, e *touch, by id, k *clock) bool {
	for i := range s.seen {
		if r := &s.seen[i]; e.write && r.chain == e.chain && r.link >= e.link && m.ordered(r, by, k) {
			return true
		}
	}
	return false
}

// strongKey is a lane and a kind of access. A later access of a lane stands for an earlier one of its kind and scope alone: one with a wider scope is
// morally strong with more.
type strongKey struct {
	block, warp int32
	lane        uint8
	write       bool
	level       level
	size, low   uint8
}

func (t *touch) key() strongKey {
	return strongKey{t.block, t.warp, uint8(bits.TrailingZeros32(t.mask)), t.write, t.level, t.size, t.low}
}

// shortList is how many strong accesses are looked through one by one.
const shortList = 8

const pageWords = 64

type shadowPage [pageWords]cell

// shadow is what all words remember.
type shadow struct {
	pages map[emu.Word]*shadowPage
	last  *shadowPage
	lastN emu.Word
}

func newShadow() *shadow { return &shadow{pages: map[emu.Word]*shadowPage{}, lastN: ^emu.Word(0)} }

func (s *shadow) at(w emu.Word) *cell {
	n := w / pageWords
	if n != s.lastN {
		p := s.pages[n]
		if p == nil {
			p = new(shadowPage)
			s.pages[n] = p
		}
		s.last, s.lastN = p, n
	}
	return &s.last[w%pageWords]
}

// split gives the bytes of a cell memories of their own.
func (c *cell) split() *[4]cell {
	if c.bytes == nil {
		c.bytes = new([4]cell)
		for i := range c.bytes {
			b := &c.bytes[i]
			*b = *c
			b.bytes, b.reads = nil, append([]touch(nil), c.reads...)
			if c.strong != nil {
				b.strong = c.strong.clone()
			}
		}
	}
	return c.bytes
}

func (s *strongCell) clone() *strongCell {
	out := *s
	out.list = append([]touch(nil), s.list...)
	out.of = nil
	out.index()
	return &out
}

func (s *strongCell) index() {
	if len(s.list) <= shortList {
		return
	}
	s.of = map[strongKey]int{}
	for i := range s.list {
		s.of[s.list[i].key()] = i
	}
}

// self reports whether a lane wrote what the place holds.
func (s *strongCell) self(by id) bool {
	return s.held && s.last.block == by.block && s.last.warp == by.warp && s.last.mask == 1<<by.lane
}

// joins reports whether a strong access that reads observes what the place holds.
func (m *monitor) joins(s *strongCell, t *touch, by id) bool {
	return m.now.a.Kind != ir.Store && s.held && (s.self(by) || m.morallyStrong(&s.last, t))
}

// strongly remembers a strong access of a cell.
func (m *monitor) strongly(s *strongCell, t *touch, by id) {
	joins := m.joins(s, t, by)
	if joins {
		s.see(t)
	}
	if t.write {
		if s.link++; !joins {
			s.chain++
			s.link = 0
		}
		t.chain, t.link = s.chain, s.link
		s.last, s.held = *t, true
	}
	s.put(t)
}

// put remembers a strong access in place of the lane's last one of its kind.
func (s *strongCell) put(t *touch) {
	if len(s.list) == 0 {
		s.narrow, s.alike, s.adds = t.level, true, t.adds
	} else if f := &s.list[0]; f.size != t.size || f.low != t.low {
		s.alike = false
	}
	s.narrow = min(s.narrow, t.level)
	if t.adds != s.adds {
		s.adds = ir.NoAtom
	}
	k := t.key()
	if s.of != nil {
		if i, ok := s.of[k]; ok {
			s.list[i] = *t
			return
		}
		s.of[k] = len(s.list)
		s.list = append(s.list, *t)
		return
	}
	for i := range s.list {
		if s.list[i].key() == k {
			s.list[i] = *t
			return
		}
	}
	s.list = append(s.list, *t)
	s.index()
}

// ordered reports whether all lanes of an earlier access are ordered before what a lane does now, with its clock.
func (m *monitor) ordered(e *touch, by id, c *clock) bool {
	mask := e.mask
	if e.block == by.block && e.warp == by.warp {
		mask &^= 1 << by.lane
	}
	if mask == 0 {
		return true
	}
	b := c.blocks[e.block]
	if b == nil {
		return false
	}
	r := b.warps[e.warp]
	if r == nil {
		return int(e.warp) < m.shape.warps && b.floor >= e.time
	}
	for ; mask != 0; mask &= mask - 1 {
		if r[bits.TrailingZeros32(mask)] < e.time {
			return false
		}
	}
	return true
}

// first is a lane of an earlier access that is not ordered before what a lane does now.
func (m *monitor) first(e *touch, by id, c *clock) uint8 {
	for x := e.mask; x != 0; x &= x - 1 {
		o := id{e.block, e.warp, uint8(bits.TrailingZeros32(x))}
		if o != by && c.get(o, m.shape) < e.time {
			return o.lane
		}
	}
	return uint8(bits.TrailingZeros32(e.mask))
}

// morallyStrong reports whether two strong accesses of a word are so: they cover the same bytes, and the scope of each has the
// other's thread. PTX ISA, Morally Strong Operations.
func (m *monitor) morallyStrong(a, b *touch) bool {
	l := m.apart(a.block, b.block)
	return a.strong && b.strong && a.size == b.size && a.low == b.low && a.level >= l && b.level >= l
}

// apart is the level of two blocks.
func (m *monitor) apart(a, b int32) level {
	switch {
	case a == b:
		return sameBlock
	case m.cluster[a] == m.cluster[b]:
		return sameCluster
	}
	return sameGPU
}

// check looks for races of an access of one lane with what a cell remembers, and remembers it.
func (m *monitor) check(c *cell, t *touch, by id, k *clock) {
	if c.written && (!m.ordered(&c.write, by, k) || t.async && !m.proxied(&c.write, k)) {
		m.race(&c.write, t, by, k)
	}
	if t.write {
		for i := range c.reads {
			if !m.ordered(&c.reads[i], by, k) || t.async && !m.proxied(&c.reads[i], k) {
				m.race(&c.reads[i], t, by, k)
			}
		}
	}
	if s := c.strong; s != nil && (!t.strong || !s.alike || t.level < sameGPU || s.narrow < sameGPU || s.list[0].size != t.size || s.list[0].low != t.low) {
		for i := range s.list {
			e := &s.list[i]
			if (e.write || t.write) && !m.morallyStrong(e, t) && !m.ordered(e, by, k) && !m.observed(s, e, by, k) || t.async && (e.write || t.write) && !m.proxied(e, k) {
				m.race(e, t, by, k)
			}
		}
	}
	switch {
	case t.strong:
		if c.strong == nil {
			c.strong = &strongCell{}
		}
		m.contest(c.strong, t, by, k)
		m.strongly(c.strong, t, by)
	case t.write:
		c.write, c.written = *t, true
		c.reads = c.reads[:0]
		if c.strong != nil {
			c.strong.held, c.strong.history = false, nil
		}
	default:
		m.read(c, t, by, k)
	}
}

// longReads is how many reads of a word are searched for those that are ordered before others.
const longReads = 16

// read remembers a weak read.
func (m *monitor) read(c *cell, t *touch, by id, k *clock) {
	for i := len(c.reads) - 1; i >= 0 && i >= len(c.reads)-longReads; i-- {
		if e := &c.reads[i]; e.warp == t.warp && e.block == t.block && e.time == t.time && e.pc == t.pc {
			e.mask |= t.mask
			return
		}
	}
	if n := len(c.reads); n > 0 && n <= longReads {
		kept := c.reads[:0]
		for i := range c.reads {
			if e := &c.reads[i]; !m.ordered(e, by, k) {
				kept = append(kept, *e)
			}
		}
		c.reads = kept
	} else if n > 0 {
		for i := range c.reads {
			if e := &c.reads[i]; e.warp == t.warp && e.block == t.block && m.ordered(e, by, k) {
				*e = *t
				return
			}
		}
	}
	c.reads = append(c.reads, *t)
}
