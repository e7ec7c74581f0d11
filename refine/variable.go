package refine

import (
	"cmp"
	"encoding/binary"
	"math/bits"
	"slices"

	"optcheck/emu"
	"optcheck/ir"
)

// words is a set of what a value depends on: words of the kernel's parameters, by their numbers in a search, extents of the launch (ntid,
// nctaid), the place of the thread in them (tid, ctaid), what else there is of the launch, and memory.
type words uint64

const (
	maxWords         = 48
	extents          = maxWords // six: ntid, nctaid
	positions        = extents + 6
	ofLaunch   words = 1 << 62
	ofMemory   words = 1 << 63
	ofPosition words = 0x3f << positions
)

// ofSpecial is what a special register depends on.
func ofSpecial(r ir.SpecialReg) words {
	switch {
	case r >= ir.TidX && r <= ir.TidZ:
		return 1 << (positions + r - ir.TidX)
	case r >= ir.NtidX && r <= ir.NtidZ:
		return 1 << (extents + r - ir.NtidX)
	case r >= ir.CtaidX && r <= ir.CtaidZ:
		return 1 << (positions + 3 + r - ir.CtaidX)
	case r >= ir.NctaidX && r <= ir.NctaidZ:
		return 1 << (extents + 3 + r - ir.NctaidX)
	}
	return ofLaunch
}

// loaded is what lanes have loaded, and from where in global memory (0: elsewhere).
type origin struct{ addr, value [32]uint64 }

// mostThreads is the greatest number of threads of a launch that is chosen, fewStarted how many blocks run of a grid whose extent alone matters.
const (
	mostThreads = 1 << 13
	fewStarted  = 4
)

// extent is number n of those of the launch of an input.
func (in *Input) extent(n int) *int {
	if n < 3 {
		return &in.Block[n]
	}
	return &in.Grid[n-3]
}

// nearer are inputs on which the operands of a comparison are closer, equal, or past each other.
func (s *search) nearer(x *seen) (out []*Input) {
	if x.of.Float() {
		return s.nearerFloat(x)
	}
	d := x.distance()
	var each [][]*Input
	for n := range maxWords {
		if x.from>>n&1 == 1 {
			each = append(each, s.nearerParam(x, n, uint64(d)))
		}
	}
	out = append(inTurn(each), s.poked(x)...)
	return append(out, s.elsewhere(x)...)
}

// elsewhere are inputs on which memory holds other words, or that have another launch, as far as the operands of a comparison depend on that.
func (s *search) elsewhere(x *seen) (out []*Input) {
	d := x.distance()
	if x.from&ofMemory != 0 {
		for _, swap := range []Swap{{uint32(x.a), uint32(x.b)}, {uint32(x.b), uint32(x.a)}, {uint32(x.a), uint32(x.b) + 1}, {uint32(x.a), uint32(x.b) - 1},
			{uint32(x.b), uint32(x.a) + 1}, {uint32(x.b), uint32(x.a) - 1}} {
			in := *x.in
			in.Swaps = append(slices.Clone(x.in.Swaps), swap)
			if len(in.Swaps) <= 8 {
				out = append(out, &in)
			}
		}
		in := *x.in
		in.Seed += 3
		out = append(out, &in)
	}
	for n := range 6 {
		if (x.from>>(extents+n)|x.from>>(positions+n))&1 == 1 {
			out = append(out, s.nearerExtent(x, n, int(d))...)
		}
	}
	if x.from&ofLaunch != 0 {
		for i := range shapes {
			out = append(out, s.shaped(x.in, s.shape+i))
		}
		s.shape++
	}
	return slices.DeleteFunc(out, func(in *Input) bool { return in == nil })
}

// inTurn takes the first input of each list, then the second ones, and so on.
func inTurn(lists [][]*Input) (out []*Input) {
	for i, more := 0, true; more; i++ {
		more = false
		for _, l := range lists {
			if i < len(l) {
				out, more = append(out, l[i]), true
			}
		}
	}
	return out
}

// nearerParam changes a word of the parameters.
func (s *search) nearerParam(x *seen, n int, d uint64) (out []*Input) {
	at := s.offsets[n]
	wide := x.bits == 64 && at%8 == 0 && n+1 < len(s.offsets) && s.offsets[n+1] == at+4 && x.from>>(n+1)&1 == 1
	if x.bits == 64 && at%8 == 4 && n > 0 && s.offsets[n-1] == at-4 && x.from>>(n-1)&1 == 1 {
		return nil // the high word of one
	}
	v := s.param(x.in, at, wide)
	near := []uint64{v + d, v - d, v + d + 1, v - d - 1, v + d - 1, v - d + 1, x.b, x.a, 0}
	switch {
	case x.fault:
		near = []uint64{v + d, 0, v &^ 15, 1, v & 0xffff, v &^ 0xffff, 2}
	case !x.machine:
		var far []uint64
		for _, by := range s.scales(x.at) {
			far = append(far, v+d*by, v+(d+1)*by, v-d*by)
		}
		near = slices.Insert(near, 2, far...)
	}
	if !wide {
		for i := range near {
			near[i] &= 0xffffffff
		}
	}
	if !x.fault { // great numbers make loops without an end
		slices.SortStableFunc(near, func(a, b uint64) int { return cmp.Compare(bits.Len64(a|most), bits.Len64(b|most)) })
	}
	for _, to := range append(near, otherSizes(v)...) {
		out = append(out, s.with(x.in, at, wide, to))
	}
	return out
}

// otherSizes are numbers of things of which unrolled loops have another number of turns, or of turns that are left.
func otherSizes(v uint64) []uint64 {
	if v >= 2*most && v < mostThings {
		return []uint64{v + v/2, 2*v + 1, v/2 + 1, v/4 + 1, 3*v - 1, 7, 1}
	}
	v &= 2*most - 1
	return []uint64{v + 4, v + 16, v/2 + 1, v/2 - min(1, v/2), 2*v + 1, v/4 + 1, 3, 7, 2, 5, 13, 1, 11, 6}
}

// mostThings bounds the numbers of things that become greater still.
const mostThings = 1 << 24

// nearerExtent changes an extent of the launch, directly, or so that it has a thread in another place.
func (s *search) nearerExtent(x *seen, n, d int) (out []*Input) {
	v := *x.in.extent(n)
	only := n >= 3 && x.from>>(positions+n)&1 == 0 // no block's place
	near := []int{v + d, v - d, v + d + 1, v - d - 1, v + d - 1, v - d + 1, int(x.b & 0xffff), int(x.a & 0xffff), 1}
	if x.from>>(positions+n)&1 == 1 {
		at := x.at6[n] + 1
		near = append([]int{at + d, (at + d + 31) &^ 31, at - d, (at - d + 31) &^ 31, at + d + 1, at - d + 1}, near...)
	}
	for _, to := range otherSizes(uint64(v)) {
		near = append(near, int(to))
	}
	for _, to := range near {
		if to <= 0 {
			continue
		}
		if n == 0 && to > emu.Lanes { // a warp that is not whole gives others what is undefined
			out = append(out, s.extended(x.in, n, (to+emu.Lanes-1)/emu.Lanes*emu.Lanes))
		}
		if only && to > fewStarted {
			out = append(out, s.begun(x.in, n, to))
		} else {
			out = append(out, s.extended(x.in, n, to))
		}
	}
	return out
}

// extended is an input with another extent of its launch; nil if it may not have that.
func (s *search) extended(of *Input, n, v int) *Input {
	if s.o.Block != ([3]int{}) {
		return nil
	}
	in := *of
	in.Started = 0
	*in.extent(n) = v
	threads, blocks, most := 1, 1, 1024
	if b := s.program.Block; b != ([3]int{}) {
		if n < 3 && s.program.BlockFixed {
			return nil
		}
		most = min(most, b[0]*b[1]*b[2])
	}
	for i := range 3 {
		if c := max(in.Cluster[i], 1); n >= 3 {
			in.Grid[i] = (in.Grid[i] + c - 1) / c * c
		}
		threads, blocks = threads*in.Block[i], blocks*in.Grid[i]
	}
	if v > mostThreads || threads > most || threads*blocks > mostThreads {
		return nil
	}
	return &in
}

// begun is an input with another extent of its grid, of which few blocks have begun; nil if it may not have that.
func (s *search) begun(of *Input, n, v int) *Input {
	if s.o.Block != ([3]int{}) || of.Cluster != ([3]int{}) || v >= emu.MaxThreads {
		return nil
	}
	in := *of
	*in.extent(n) = v
	in.Started = fewStarted
	return &in
}

// poked are inputs in which memory holds something else in the place from which an operand was loaded.
func (s *search) poked(x *seen) (out []*Input) {
	for i, l := range x.loads {
		if l.addr == 0 {
			continue
		}
		have, want := x.a, x.b
		if i == 1 {
			have, want = want, have
		}
		d := want - have
		near := []uint64{l.value + d, want, l.value + d + 1, l.value + d - 1, l.value ^ have ^ want, l.value &^ 15}
		if k := bits.TrailingZeros64(l.value); have != 0 && l.value>>k != have { // a shifted part
			for k := range 32 {
				if l.value>>k&0xff == have&0xff {
					near = append(near, l.value+d<<k)
				}
			}
		}
		for _, v := range near[:min(len(near), 8)] {
			in := *x.in
			data := binary.LittleEndian.AppendUint64(nil, v)
			if x.bits < 64 {
				data = data[:4]
			}
			in.Memory = append(slices.Clone(in.Memory), Contents{l.addr, data})
			if len(in.Memory) <= 16 {
				out = append(out, &in)
			}
		}
	}
	return out
}

// secants are inputs for which a comparison would be equal if its distance grew with one number of the input as between two.
func (s *search) secants(a, b *seen) (out []*Input) {
	if a.bits != b.bits {
		return nil
	}
	both := a.from & b.from
	x, y := a.distance(), b.distance()
	for n := range extents + 6 {
		if (both>>n|both&ofPosition>>6>>n)&1 == 0 {
			continue
		}
		value := func(in *Input) int64 {
			if n >= extents {
				return int64(*in.extent(n - extents))
			}
			return int64(s.param(in, s.offsets[n], false))
		}
		v, w := value(a.in), value(b.in)
		if v == w || x == y {
			continue
		}
		for _, d := range []int64{0, 1, -1} {
			to := w - int64(float64(y)*float64(w-v)/float64(y-x)) + d
			switch {
			case to < 0 || to >= 1<<32:
			case n < extents:
				out = append(out, s.with(b.in, s.offsets[n], false, uint64(to)))
			case to > 0:
				if in := s.extended(b.in, n-extents, int(to)); in != nil {
					out = append(out, in)
				}
			}
		}
	}
	return out
}

func (s *search) param(in *Input, at int64, wide bool) uint64 {
	if at < 0 || at+4 > int64(len(in.Params)) || wide && at+8 > int64(len(in.Params)) {
		return 0
	}
	if wide {
		return binary.LittleEndian.Uint64(in.Params[at:])
	}
	return uint64(binary.LittleEndian.Uint32(in.Params[at:]))
}

// with is an input with another parameter.
func (s *search) with(of *Input, at int64, wide bool, v uint64) *Input {
	in := *of
	in.Params = slices.Clone(of.Params)
	switch {
	case at < 0 || at+4 > int64(len(in.Params)):
	case wide && at+8 <= int64(len(in.Params)):
		binary.LittleEndian.PutUint64(in.Params[at:], v)
	default:
		put(in.Params[at:], uint32(v))
	}
	return &in
}

// shapes are launches to try: in the last ones rows do not begin with a warp.
var shapes = [][2][3]int{{{2, 1, 1}, {32, 1, 1}}, {{1, 1, 1}, {256, 1, 1}}, {{3, 2, 1}, {32, 2, 1}}, {{1, 1, 1}, {512, 1, 1}}, {{2, 2, 1}, {16, 16, 1}},
	{{1, 1, 1}, {1024, 1, 1}}, {{1, 1, 2}, {8, 8, 2}}, {{5, 1, 1}, {1, 1, 1}}, {{1, 1, 1}, {100, 1, 1}}, {{1, 1, 1}, {40, 4, 1}}, {{1, 1, 1}, {136, 4, 1}}}

// shaped is an input with another launch, unless it is given.
func (s *search) shaped(of *Input, n int) *Input {
	in := *of
	if s.o.Block == ([3]int{}) {
		in.Grid, in.Block = shapes[n%len(shapes)][0], shapes[n%len(shapes)][1]
		if b := s.program.Block; b != ([3]int{}) && (s.program.BlockFixed || in.Block[0]*in.Block[1]*in.Block[2] > b[0]*b[1]*b[2]) {
			in.Block = b
		}
	}
	return &in
}
