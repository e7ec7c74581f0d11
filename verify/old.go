package verify

import (
	"encoding/binary"

	"optcheck/emu"
	"optcheck/ir"
)

// Strong loads may read what has been overwritten already, as long as nothing orders the overwriting write before them. Schedules in
// which some do so show executions that no order of the threads has. Coherence order is the order of the run, as is that of sequentially
// consistent fences: what the latter order is counted as known, so that no value is read that the model would not allow.

const (
	// maxPast bounds the writes of a place that are remembered, maxOld how often a thread reads old values of one: it sees new ones in the end.
	maxPast = 16
	maxOld  = 8
)

// old makes strong loads read old values in a run.
type old struct {
	random uint64
	fences *clock // what the sequentially consistent fences so far knew
	lanes  [emu.Lanes]uint32
	took   uint32 // the lanes of the access that is performed which read an old value
	last   uint32 // those of the last one
}

// history is what is known of the writes of a place that has strong accesses alone.
type history struct {
	past  []version
	count int        // of writes, those that are forgotten included
	marks []mark     // who has read what
	times map[id]int // how often a lane has read old values
}

// version is a value that a write has overwritten, with what it carried.
type version struct {
	value       uint32
	by          touch // the write that followed
	msg         *message
	last        touch
	held        bool
	chain, link uint32
}

// mark tells that an access has read the value of a number.
type mark struct {
	by     touch
	number int
}

func newOld(seed uint64, s shape) *old { return &old{random: seed | 1, fences: s.none()} }

func (o *old) next(n int) int {
	o.random ^= o.random << 13
	o.random ^= o.random >> 7
	o.random ^= o.random << 17
	return int(o.random >> 33 % uint64(n))
}

// overwrite remembers what a strong write is about to replace.
func (m *monitor) overwrite(s *strongCell, t *touch, p emu.Place, n int) {
	if m.old == nil || p.Space != ir.Global {
		return
	}
	if s.history == nil {
		s.history = &history{times: map[id]int{}}
	}
	h := s.history
	if h.count++; n != 4 || p.Addr&3 != 0 {
		h.past = h.past[:0]
		return
	}
	if len(h.past) == maxPast {
		h.past = append(h.past[:0], h.past[1:]...)
	}
	value := m.grid.Memory.Now(emu.WordOf(p, int(t.block)), emu.Flag)
	h.past = append(h.past, version{value, *t, s.msg, s.last, s.held, s.chain, s.link})
}

// choose gives the old value that a strong load reads, nil if it reads the last one.
func (m *monitor) choose(s *strongCell, t *touch, by id, k *clock) *version {
	h := s.history
	if m.old == nil || h == nil || m.now.a.Kind != ir.Load {
		return nil
	}
	least := h.count - len(h.past)
	for i := range h.marks {
		if x := &h.marks[i]; x.number > least && m.ordered(&x.by, by, k) {
			least = x.number
		}
	}
	first := h.count
	for first > least && !m.ordered(&h.past[len(h.past)-(h.count-first)-1].by, by, k) {
		first--
	}
	number := h.count
	if first < h.count && h.times[by] < maxOld && m.old.next(2) == 0 {
		number = first + m.old.next(h.count-first)
		h.times[by]++
	}
	var v *version
	if number < h.count {
		v = &h.past[len(h.past)-(h.count-number)]
	}
	h.mark(t, number)
	return v
}

// maxMarks bounds the reads that are remembered; behind that, old values are forgotten.
const maxMarks = 256

func (h *history) mark(t *touch, number int) {
	if len(h.marks) == maxMarks {
		h.marks, h.past = h.marks[:0], nil
	}
	h.marks = append(h.marks, mark{*t, number})
}

// reading lets a strong access read an old value while do looks at what it hears.
func (m *monitor) reading(s *strongCell, v *version, do func()) {
	if v == nil {
		do()
		return
	}
	now := version{0, touch{}, s.msg, s.last, s.held, s.chain, s.link}
	s.msg, s.last, s.held, s.chain, s.link = v.msg, v.last, v.held, v.chain, v.link
	do()
	s.msg, s.last, s.held, s.chain, s.link = now.msg, now.last, now.held, now.chain, now.link
	m.old.took |= 1 << m.now.lane
	m.old.lanes[m.now.lane] = v.value
}

// replace puts the old values into the registers of lanes that have read them.
func (o *old) replace(w *emu.Warp, a *ir.Access) {
	if o == nil {
		return
	}
	lanes(o.took, func(l int) {
		var b [4]byte
		binary.LittleEndian.PutUint32(b[:], o.lanes[l])
		w.Loaded(a, l, b[:])
	})
	o.last, o.took = o.took, 0
}

// read gives the old value that a lane read in the last access.
func (o *old) read(lane int) (uint32, bool) {
	if o == nil || o.last>>lane&1 == 0 {
		return 0, false
	}
	return o.lanes[lane], true
}
