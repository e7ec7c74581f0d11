package refine

import (
	"math"
	"slices"

	"optcheck/emu"
	"optcheck/ir"
)

// float is a word of a floating-point number near 1; low tells that it is the low one of a pair, pair and x are random numbers, the former
// the same for both.
func float(k emu.Kind, low bool, pair, x uint64) uint32 {
	switch {
	case k == emu.Float16:
		return 0x38003800 | uint32(x)&0x03ff03ff
	case k == emu.Float64 && low:
		return uint32(pair) &^ 0xffff
	case k == emu.Float64:
		return 0x3ff00000 | uint32(pair>>44)
	case x>>40&3 == 0:
		return 0xbf800000 | uint32(x)&0x00ffff00
	}
	return 0x3f000000 | uint32(x)&0x00ffff00
}

// The numbers at which floating-point arithmetic changes: zeros, the least and the greatest one, subnormal ones, one, infinities, and what is none.
var (
	edges32 = [...]uint32{0, 0x80000000, 1, 0x807fffff, 0x00800000, 0x7f7fffff, 0x3f800000, 0xbf800000, 0x7f800000, 0xff800000, 0x7fc00000}
	edges16 = [...]uint16{0, 0x8000, 1, 0x83ff, 0x0400, 0x7bff, 0x3c00, 0xbc00, 0x3f80, 0x7c00, 0xfc00, 0x7e00}
)

// edges64 are those of f64 that are none of f32.
var edges64 = [...]uint64{1, 0x800fffffffffffff, 0x0010000000000000, 0x7fefffffffffffff, 0xbff0000000000001}

// infinite is how many of the edges at the end of their list are no finite numbers.
const infinite = 3

// subnormal is a word of a subnormal number.
func subnormal(k emu.Kind, low bool, x uint64) uint32 {
	switch {
	case k == emu.Float16:
		return uint32(x) & 0x83ff83ff
	case k == emu.Float32:
		return uint32(x) & 0x807fffff
	case low:
		return uint32(x)
	}
	return uint32(x>>32) & 0x800fffff
}

// Half of the numbers of one extreme input of so many are subnormal, and the others ordinary: sums and products of them are subnormal, too.
const tinyOf, tinySeed = 6, 5

// extreme is a word of a floating-point number of any size. What is not finite is in two of three inputs: sums of it are not finite either.
func (in *Input) extreme(k emu.Kind, low bool, pair, x uint64) uint32 {
	if in.Seed%tinyOf == tinySeed {
		if pair>>45&1 == 0 {
			return subnormal(k, low, hash(pair))
		}
		return float(k, low, pair, x)
	}
	if in.Seed%3 == 2 && x>>45&15 != 0 {
		return float(k, low, pair, x)
	}
	finite := 0
	if in.Seed%3 == 0 {
		finite = infinite
	}
	switch k {
	case emu.Float16:
		return uint32(in.extreme16(x, finite)) | uint32(in.extreme16(hash(x), finite))<<16
	case emu.Float64:
		v := math.Float64bits(in.extremeOf(pair, finite))
		if pair>>40&7 == 1 && in.Seed%utmostOf != utmostSeed {
			v = edges64[pair>>20%uint64(len(edges64))]
		}
		if low {
			return uint32(v)
		}
		return uint32(v >> 32)
	}
	return math.Float32bits(float32(in.extremeOf(x, finite)))
}

// utmost are the numbers that are all that some extreme inputs have, one seed of so many: functions of two of them have cases of their own.
var utmost = [...]float64{0, math.Copysign(0, -1), math.Inf(1), math.Inf(-1)}

const utmostOf, utmostSeed = 12, 7

// extremeOf is a number of f32 or f64: one that the program compares with, or its neighbour, an edge, one with any exponent, or a small one. Some inputs
// have the utmost ones only.
func (in *Input) extremeOf(x uint64, finite int) float64 {
	switch n := len(in.Floats); {
	case in.Seed%utmostOf == utmostSeed:
		return utmost[x>>20%uint64(len(utmost))]
	case x>>40&3 == 0 && n > 0:
		v := math.Float64frombits(in.Floats[x>>20%uint64(n)])
		switch x >> 42 & 3 {
		case 0:
			return float64(math.Nextafter32(float32(v), float32(math.Inf(1))))
		case 1:
			return float64(math.Nextafter32(float32(v), float32(math.Inf(-1))))
		case 2:
			return -v
		}
		return v
	case x>>40&3 == 1:
		return float64(math.Float32frombits(edges32[x>>20%uint64(len(edges32)-finite)]))
	case x>>40&3 == 2:
		return math.Ldexp(1+float64(x&0xfffff)/(1<<20), int(x>>24%60)-30) * float64(1-2*int(x>>62&1))
	}
	return float64(math.Float32frombits(float(emu.Float32, true, 0, x)))
}

func (in *Input) extreme16(x uint64, finite int) uint16 {
	switch x >> 40 & 3 {
	case 0:
		return edges16[x>>20%uint64(len(edges16)-finite)]
	case 1:
		return uint16(x) & 0xbbff // no exponent of ones only
	}
	return uint16(float(emu.Float16, true, 0, x)) | uint16(x>>60<<15)
}

// floats are the numbers that comparisons of floating-point numbers compare with, as f64.
func floats(p *ir.Program) (out []uint64) {
	value := values(p)
	for i := range p.Insts {
		for _, o := range p.Insts[i].Pre {
			if o.Code != ir.Cmp || !o.Type.Float() {
				continue
			}
			for _, s := range o.Src[:2] {
				v, ok := value[s]
				if ok && o.Type == ir.F32 {
					v = math.Float64bits(float64(math.Float32frombits(uint32(v))))
				}
				if ok && (o.Type == ir.F32 || o.Type == ir.F64) && !slices.Contains(out, v) {
					out = append(out, v)
				}
			}
		}
	}
	slices.Sort(out)
	return out
}

// floating reports whether a program reads floating-point numbers of its input.
func (c *comparison) floating() bool {
	for i := range c.program.Insts {
		k, known := c.kinds[int32(i)]
		floats := k == emu.Float16 || k == emu.Float32 || k == emu.Float64
		if a, ok := c.program.Insts[i].Do.(*ir.Access); floats || ok && a.Kind == ir.Load && !known && a.Type.Float() {
			return true
		}
	}
	return false
}

// comparesFloats reports whether a program compares floating-point numbers.
func comparesFloats(p *ir.Program) bool {
	return slices.ContainsFunc(p.Insts, func(in ir.Inst) bool {
		return slices.ContainsFunc(in.Pre, func(o ir.Op) bool { return o.Type.Float() && (o.Code == ir.Cmp || o.Code == ir.TestP) })
	})
}
