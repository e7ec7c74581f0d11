package refine

import (
	"encoding/binary"
	"math"
	"slices"

	"optcheck/emu"
	"optcheck/ir"
)

// rankOf is a number of f32 or f64 as an integer, of which the greater is that of the greater number. It has 62 bits: two have a difference.
func rankOf(t ir.Type, v uint64) int64 {
	if t == ir.F32 {
		v = v << 32
	}
	n := int64(v &^ (1 << 63) >> 1)
	if v>>63 == 1 {
		n = -n
	}
	return n
}

// numberOf is a word as a number of f32 or f64.
func numberOf(t ir.Type, v uint64) float64 {
	if t == ir.F32 {
		return float64(math.Float32frombits(uint32(v)))
	}
	return math.Float64frombits(v)
}

// wordOf is the word of a number of f32 or f64.
func wordOf(t ir.Type, v float64) uint64 {
	if t == ir.F32 {
		return uint64(math.Float32bits(float32(v)))
	}
	return math.Float64bits(v)
}

// floatsNear are numbers in the place of v, of which a was made, that may make it b, less, or greater; and the ends of what there is.
func floatsNear(t ir.Type, v, a, b float64) []float64 {
	beside := func(x float64) []float64 {
		step := 1e-6
		if t == ir.F64 {
			step = 1e-14
		}
		return []float64{x, x * (1 + step), x * (1 - step)}
	}
	list := slices.Concat(beside(v*b/a), beside(v+b-a))
	return append(list, b, 2*b, -2*b, b/2, 0, -v, 1e30, math.Inf(1), 1e-30, math.NaN(), math.Inf(-1))
}

// integersNear are the same of an integer of which floating-point numbers are made.
func integersNear(v int64, a, b float64) (list []uint64) {
	for _, f := range []float64{float64(v) * b / a, float64(v) + b - a, b, 2 * b} {
		if math.Abs(f) < 1<<31 {
			list = append(list, uint64(int64(f)), uint64(int64(f)+1), uint64(int64(f)-1))
		}
	}
	return append(list, 0, 1<<31-1, 1<<23, uint64(-v))
}

// nearerFloat is nearer of floating-point numbers.
func (s *search) nearerFloat(x *seen) []*Input {
	used := s.used
	a, b := numberOf(x.of, x.a), numberOf(x.of, x.b)
	var each [][]*Input
	for n := range maxWords {
		if x.from>>n&1 == 0 {
			continue
		}
		at := s.offsets[n]
		var list []*Input
		switch k := used[at].kind; k {
		case emu.Float32, emu.Float64:
			t, wide := ir.F32, k == emu.Float64
			if wide {
				t = ir.F64
			}
			for _, f := range floatsNear(t, numberOf(t, s.param(x.in, at, wide)), a, b) {
				list = append(list, s.with(x.in, at, wide, wordOf(t, f)))
			}
		case emu.Pointer, emu.Shared, emu.Function:
		default:
			for _, v := range integersNear(int64(int32(s.param(x.in, at, false))), a, b) {
				list = append(list, s.with(x.in, at, false, v&0xffffffff))
			}
		}
		each = append(each, list)
	}
	each = append(each, s.pokedFloat(x, a, b))
	return append(inTurn(each), slices.DeleteFunc(s.elsewhere(x), func(in *Input) bool { return in == nil })...)
}

// pokedFloat is poked of floating-point numbers: each in the place of one, and before that all of them one after the other, as other lanes may
// read them. What is no such number is an integer.
func (s *search) pokedFloat(x *seen, a, b float64) (out []*Input) {
	for i, l := range x.loads {
		if l.addr == 0 {
			continue
		}
		have, want := a, b
		if i == 1 {
			have, want = b, a
		}
		var words []uint64
		if v := int64(int32(l.value)); v != 0 && v > -1<<23 && v < 1<<23 {
			words = integersNear(v, have, want)
		} else {
			for _, f := range floatsNear(x.of, numberOf(x.of, l.value), have, want) {
				words = append(words, wordOf(x.of, f))
			}
		}
		var all []byte
		lists := [][]byte{nil}
		for _, v := range words {
			data := binary.LittleEndian.AppendUint64(nil, v)[:x.bits/8]
			all, lists = append(all, data...), append(lists, data)
		}
		lists[0] = all
		for _, data := range lists {
			in := *x.in
			in.Memory = append(slices.Clone(in.Memory), Contents{l.addr, data})
			if len(in.Memory) <= 16 {
				out = append(out, &in)
			}
		}
	}
	return out
}
