package spec

import "optcheck/litmus"

// Samples is the number of word choices that a digest covers.
const Samples = 64

// special lists words that conditions and masks of tests use. A digest does not decide a
// condition that compares with any other constant.
var special = [...]uint32{0, 1, 2, 3, 4, 5, 6, 7, 8, 16, 0x7fffffff, 0x80000000, 0x80000001, 0x40000000, 0xfffffffe, 0xffffffff}

// IsSpecial reports whether a digest covers the words on both sides of a constant.
func IsSpecial(k uint32) bool {
	return int32(k) >= -1 && int32(k) <= 7 || k >= 0x7fffffff && k <= 0x80000000
}

// Sample is a choice of words, the same for everybody who makes or compares a digest.
type Sample int

// Read implements Words: it returns a special word, or any word.
func (s Sample) Read(pos, word int) uint32 {
	h := mix(uint64(s)<<16 | uint64(pos)<<1 | uint64(word))
	if i := h >> 32 % 32; i < uint64(len(special)) {
		return special[i]
	}
	return uint32(h)
}

// Param implements Words; offset counts from the first parameter that stands for
// a constant of the test.
func (s Sample) Param(offset int64) uint32 {
	return uint32(mix(1<<62 | uint64(s)<<32 | uint64(offset)))
}

// mix returns the finaliser of splitmix64.
func mix(x uint64) uint64 {
	x += 0x9e3779b97f4a7c15
	x = (x ^ x>>30) * 0xbf58476d1ce4e5b9
	x = (x ^ x>>27) * 0x94d049bb133111eb
	return x ^ x>>31
}

// Digester hashes what a thread does for the samples: for each access whether it runs, and what
// it stores or combines; for atomics and barriers also what their codes omit. It omits whether
// a fence runs: machine code may have none for it.
type Digester struct{ sum uint64 }

// Entry adds the kind of an access or barrier.
func (d *Digester) Entry(e Entry) {
	signed := uint64(0)
	if e.Signed {
		signed = 1
	}
	d.add(uint64(e.Pos)<<40 | uint64(e.Threads)<<1 | signed)
}

// Action adds what an access does for a sample.
func (d *Digester) Action(e Entry, s Sample, a Action) {
	if e.IsFence() && e.Kind.Op != litmus.OpBar {
		return
	}
	d.add(1<<63 | uint64(s)<<8 | uint64(e.Pos))
	if !a.Runs {
		d.add(0)
		return
	}
	for _, x := range a.Operands {
		d.add(e.Kind.Cut(x))
	}
}

func (d *Digester) add(x uint64) { d.sum = mix(d.sum*31 + x) }

// Sum returns the digest, which is never 0.
func (d *Digester) Sum() uint32 {
	return uint32(mix(d.sum)%(1<<digestBits-1)) + 1
}

// shifted shifts parameter offsets to the first value.
type shifted struct {
	Sample
	by int64
}

// Param implements Words.
func (s *shifted) Param(offset int64) uint32 { return s.Sample.Param(offset - s.by) }

// AddDigest adds the digest of the code, which must be known, to the specification.
func (s *Spec) AddDigest() {
	d := &Digester{}
	for _, e := range s.Entries {
		d.Entry(e)
	}
	r, w := s.Code.Runner(), &shifted{by: s.ResultParam()}
	for i := range Sample(Samples) {
		w.Sample = i
		for pos, a := range r.Run(w) {
			d.Action(s.Entries[pos], i, a)
		}
	}
	s.Digest = d.Sum()
}
