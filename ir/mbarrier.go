package ir

// Mbarriers is how a barrier object (mbarrier) lies in its eight bytes of shared memory. PTX leaves that open; machine code computes with it.
type Mbarriers uint8

// The layouts, as ptxas has them.
const (
	// Wide is that of sm_90 and later. From bit 1: 2^20 less the arrivals that a phase expects (20 bits); from bit 21: the bytes of
	// transactions that the phase waits for (22 bits, signed); from bit 43: 2^20 less the arrivals that it still waits for; bit 63: the
	// parity of the phase.
	Wide Mbarriers = iota
	// Narrow is that of sm_80 to sm_89, without transactions. The low word is 2^30 less the expected arrivals, the high one 2^31 less
	// the pending ones, with the parity at its top.
	Narrow
)

// MbarrierNumber names a number of a layout, for code that computes with barrier objects.
type MbarrierNumber uint8

// The numbers. A new object for n arrivals is (Pending-n) << PendingShift in the high word and (Expected-n) << ExpectedShift in the low one.
const (
	NoMbarrierNumber MbarrierNumber = iota
	MbarrierPending
	MbarrierPendingShift
	MbarrierExpected
	MbarrierExpectedShift
)

// Number is a number of the layout.
func (m Mbarriers) Number(n MbarrierNumber) uint64 {
	wide := [...]uint64{0, 1 << 20, 11, 1 << 20, 1}
	narrow := [...]uint64{0, 1 << 31, 0, 1 << 30, 0}
	if m == Narrow {
		return narrow[n]
	}
	return wide[n]
}

// arrivals are those that a phase can wait for, at most.
func (m Mbarriers) arrivals() uint64 { return m.Number(MbarrierPending) - 1 }

// mbarrier is a barrier object.
type mbarrier struct {
	expected, pending uint64
	bytes             int64
	phase             uint64
}

const (
	txShift = 21
	txBits  = 22
)

func (m Mbarriers) unpack(v uint64) (b mbarrier) {
	most := m.arrivals()
	b.expected = -(v & (1<<32 - 1) >> m.Number(MbarrierExpectedShift)) & (m.Number(MbarrierExpected) - 1)
	b.pending = -(v >> 32 >> m.Number(MbarrierPendingShift)) & most
	b.phase = v >> 63
	if m == Wide {
		b.bytes = int64(v<<(64-txShift-txBits)) >> (64 - txBits)
	}
	return b
}

func (m Mbarriers) pack(b mbarrier) uint64 {
	v := b.phase<<63 | (-b.pending&m.arrivals())<<m.Number(MbarrierPendingShift)<<32
	v |= (-b.expected & (m.Number(MbarrierExpected) - 1)) << m.Number(MbarrierExpectedShift)
	if m == Wide {
		v |= uint64(b.bytes) & (1<<txBits - 1) << txShift
	}
	return v
}

// Waits is how many arrivals, and how many more bytes of transactions, the phase of a barrier object waits for.
func (m Mbarriers) Waits(v uint64) (arrivals uint64, bytes int64) {
	b := m.unpack(v)
	return b.pending, b.bytes
}

// Arrive is what a barrier object is behind so many arrivals and so many more bytes of transactions. drop makes the next phases expect
// as many arrivals less. It is not defined (PTX ISA, 9.7.13.15) where there are more arrivals, or more bytes, than can be counted.
func (m Mbarriers) Arrive(v uint64, count uint32, bytes int32, drop bool) (result uint64, defined bool) {
	b := m.unpack(v)
	n := uint64(count)
	b.bytes += int64(bytes)
	if n > b.pending || drop && n > b.expected || m == Narrow && bytes != 0 || b.bytes < -(1<<20-1) || b.bytes > 1<<20-1 {
		return v, false
	}
	b.pending -= n
	if drop {
		b.expected -= n
	}
	if b.pending == 0 && b.bytes == 0 {
		b.pending, b.phase = b.expected, b.phase^1
	}
	return m.pack(b), true
}
