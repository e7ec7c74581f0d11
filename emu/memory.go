package emu

import (
	"math/bits"
	"slices"
	"sort"

	"optcheck/ir"
)

// Word is a place of four bytes: its number in global memory, or in the shared memory of a block.
type Word uint64

const sharedWord Word = 1 << 62

// WordOf is the word of a place that a thread of a block addresses.
func WordOf(p Place, block int) Word {
	if other := p.Addr >> 32; p.Space == ir.Shared && other != 0 {
		return sharedWord | Word(other-1)<<32 | Word(p.Addr&0xffffffff>>2)
	}
	if p.Space == ir.Shared {
		return sharedWord | Word(block)<<32 | Word(p.Addr>>2)
	}
	return Word(p.Addr >> 2)
}

// Shared reports whether a word is one of shared memory.
func (w Word) Shared() bool { return w&sharedWord != 0 }

// Addr is the address of its first byte, in its space.
func (w Word) Addr() uint64 {
	if w.Shared() {
		return uint64(w&0xffffffff) << 2
	}
	return uint64(w) << 2
}

// Kind is what a word is taken for at its first access, which is what its first content is made for.
type Kind uint8

// The kinds of first content.
const (
	Integer Kind = iota
	Bytes8       // an integer of 8, 16 or 64 bits
	Bytes16
	Integer64
	Float16
	Float32
	Float64
	Pointer  // an address, of 64 bits
	Index    // a number that becomes part of an address
	Index64  // one of 64 bits
	Offset   // one that is added to it as it is
	Shared   // an address of shared memory
	Function // the address of a function
	Flag     // what threads synchronise through: locks, flags, counters
)

const pageWords = 64

type page struct {
	now   [pageWords]uint32
	known uint64 // words whose first content is there
	put   uint64 // words that were written
	never uint64 // words that the program reads as constant: nobody writes them
	past  *[pageWords][]version
}

type version struct {
	time  uint64
	value uint32
	by    int32 // the thread of the launch that wrote it, or nobody
}

// nobody is who writes what no thread does: an asynchronous copy, the world outside of a launch.
const nobody = -1

// Memory has a content for each word of the address space, and remembers the past: what a word held when a thread
// last synchronised is what weak loads of the thread see.
type Memory struct {
	// First makes the content of a word before anybody wrote it. kind is that of the first access.
	First func(w Word, kind Kind) uint32
	// Time counts the stores, Changes those that changed a word.
	Time, Changes uint64
	// Forget drops the past: weak loads are to see the newest content.
	Forget bool
	pages  map[Word]*page
	recent [16]recent
}

// recent is a page that was used lately, and its number and 1.
type recent struct {
	n    Word
	page *page
}

// NewMemory is memory without content.
func NewMemory(first func(Word, Kind) uint32) *Memory {
	return &Memory{First: first, Time: 1, pages: map[Word]*page{}}
}

func (m *Memory) page(w Word) *page {
	n := w / pageWords
	r := &m.recent[(n^n>>26)%Word(len(m.recent))]
	if r.n == n+1 {
		return r.page
	}
	p := m.pages[n]
	if p == nil {
		p = &page{}
		m.pages[n] = p
	}
	r.n, r.page = n+1, p
	return p
}

// know makes sure that a word has its first content.
func (m *Memory) know(p *page, w Word, kind Kind) int {
	i := int(w % pageWords)
	if p.known>>i&1 == 0 {
		p.known |= 1 << i
		p.now[i] = m.First(w, kind)
	}
	return i
}

// Now is the newest content of a word.
func (m *Memory) Now(w Word, kind Kind) uint32 {
	p := m.page(w)
	return p.now[m.know(p, w, kind)]
}

// Constant reports whether the program reads a word as constant (ld.global.nc): it promises that nobody writes that.
func (m *Memory) Constant(w Word) bool { return m.page(w).never>>(w%pageWords)&1 != 0 }

func (m *Memory) constant(w Word) { m.page(w).never |= 1 << (w % pageWords) }

// At is the content of a word at a time.
func (m *Memory) At(w Word, time uint64, kind Kind) uint32 {
	p := m.page(w)
	i := m.know(p, w, kind)
	if p.past == nil {
		return p.now[i]
	}
	h := p.past[i]
	if len(h) == 0 || h[len(h)-1].time <= time {
		return p.now[i]
	}
	k := sort.Search(len(h), func(k int) bool { return h[k].time > time })
	return h[k-1].value // h[0] is the first content, at time 0
}

// Put writes a word. by is the thread of the launch, or nobody.
func (m *Memory) Put(w Word, v uint32, by int) {
	p := m.page(w)
	i := m.know(p, w, Integer)
	m.Time++
	p.put |= 1 << i
	if p.now[i] != v {
		m.Changes++
	}
	if m.Forget {
		p.now[i] = v
		return
	}
	if p.past == nil {
		p.past = new([pageWords][]version)
	}
	h := p.past[i]
	if len(h) == 0 {
		h = append(make([]version, 0, 2), version{value: p.now[i], by: nobody})
	}
	p.past[i] = append(h, version{m.Time, v, int32(by)})
	p.now[i] = v
}

// Written lists the words that were written, in order.
func (m *Memory) Written() (words []Word) {
	for n, p := range m.pages {
		for x := p.put; x != 0; x &= x - 1 {
			words = append(words, n*pageWords+Word(bits.TrailingZeros64(x)))
		}
	}
	slices.Sort(words)
	return words
}

// Fill gives words their first content: what a launch puts into memory.
func (m *Memory) Fill(addr uint64, data []byte) {
	for i, b := range data {
		w := Word((addr + uint64(i)) >> 2)
		p := m.page(w)
		k := m.know(p, w, Integer)
		sh := (addr + uint64(i)) & 3 * 8
		p.now[k] = p.now[k]&^(0xff<<sh) | uint32(b)<<sh
	}
}

// Bytes reads the newest content.
func (m *Memory) Bytes(addr uint64, n int) []byte {
	out := make([]byte, n)
	for i := range out {
		a := addr + uint64(i)
		out[i] = byte(m.Now(Word(a>>2), Integer) >> (a & 3 * 8))
	}
	return out
}

// Other is another content that a word has had than v, as far as the bits of mask are concerned; v if it always had that.
func (m *Memory) Other(w Word, v, mask uint32) uint32 {
	for _, x := range m.versions(w) {
		if (x.value^v)&mask != 0 {
			return x.value
		}
	}
	return v
}

// Racing is another content than v that a word was given by a thread at a time, with which a race is asked for; v if there is none.
func (m *Memory) Racing(w Word, v, mask uint32, race func(by int, time uint64) bool) uint32 {
	h := m.versions(w)
	for i := 1; i < len(h); i++ {
		if x := h[i]; (x.value^h[i-1].value)&mask != 0 && (x.value^v)&mask != 0 && race(int(x.by), x.time) {
			return x.value
		}
	}
	return v
}

// versions are the contents that a word has had, if somebody wrote it: the first one is that before.
func (m *Memory) versions(w Word) []version {
	p := m.pages[w/pageWords]
	if p == nil || p.past == nil {
		return nil
	}
	return p.past[w%pageWords]
}

// Touched are the words that somebody read, wrote or filled, with their first contents.
func (m *Memory) Touched() map[Word]uint32 {
	out := map[Word]uint32{}
	for n, p := range m.pages {
		for i, v := range p.now {
			if p.known>>i&1 == 0 {
				continue
			}
			if p.past != nil && len(p.past[i]) > 0 {
				v = p.past[i][0].value
			}
			out[n*pageWords+Word(i)] = v
		}
	}
	return out
}

// EachWord calls do for the words of n bytes at a place: mask has the bits of the word that are meant, from is the byte
// of the access that its lowest one is.
func EachWord(p Place, block, n int, do func(w Word, mask uint32, shift uint, from int)) {
	w := WordOf(p, block)
	off := int(p.Addr & 3)
	for from := 0; from < n; {
		k := min(4-off, n-from)
		do(w, uint32((uint64(1)<<(8*k)-1)<<(8*off)), uint(8*off), from)
		from += k
		off = 0
		w++
	}
}
