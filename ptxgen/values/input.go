package values

import (
	"encoding/binary"
	"math"
	"math/rand/v2"
)

// Input is the content of a thread's places in the input buffer, for all threads: integers at edges and at random, floats near one and
// at their edges. Number 0 is mild, later ones are wilder.
func (k *Kernel) Input(number int) (data []byte, n uint32) {
	r := rand.New(rand.NewPCG(k.Seed^0x9e3779b97f4a7c15, uint64(k.Number)<<8|uint64(number)))
	data = make([]byte, k.InBytes())
	for i := 0; i < len(data); i += 8 {
		binary.LittleEndian.PutUint64(data[i:], integer(r, number))
	}
	for t := range k.Threads {
		for _, c := range classes {
			base := data[t*InStride+c.in:]
			for i := range c.pool {
				switch c.letter {
				case "f":
					binary.LittleEndian.PutUint32(base[4*i:], math.Float32bits(float32(number64(r, 127))))
				case "g":
					binary.LittleEndian.PutUint64(base[8*i:], math.Float64bits(number64(r, 1023)))
				case "x":
					binary.LittleEndian.PutUint32(base[4*i:], uint32(half(r))|uint32(half(r))<<16)
				case "e":
					binary.LittleEndian.PutUint16(base[2*i:], half(r))
				}
			}
		}
	}
	return data, uint32([]uint64{5, 0, 33, 1, uint64(r.Uint32())}[number%5])
}

// integer is 64 bits that are worth trying, as one number, two, or four.
func integer(r *rand.Rand, number int) uint64 {
	edge := func(bits int) uint64 {
		mask := uint64(1)<<bits - 1
		switch r.IntN(6) {
		case 0:
			return uint64(r.IntN(4)-2) & mask
		case 1:
			return (1<<(bits-1) + uint64(r.IntN(3)-1)) & mask
		case 2:
			return (1<<r.IntN(bits) + uint64(r.IntN(3)-1)) & mask
		case 3:
			return uint64(r.IntN(256)) & mask
		}
		return r.Uint64() & mask
	}
	if number == 0 {
		return uint64(r.IntN(200)) | uint64(r.IntN(200))<<32
	}
	switch r.IntN(4) {
	case 0:
		return edge(64)
	case 1:
		return edge(16) | edge(16)<<16 | edge(16)<<32 | edge(16)<<48
	case 2:
		return r.Uint64()
	}
	return edge(32) | edge(32)<<32
}

// number64 is a float; bias is that of the exponent.
func number64(r *rand.Rand, bias int) float64 {
	sign := float64(1 - 2*r.IntN(2))
	switch r.IntN(8) {
	case 0:
		return sign * []float64{0, 1, 0.5, 2, 3, math.Inf(1), math.Inf(1), 1 << 24, 1<<31 - 1, 1 << 31, 1 << 32, 1e-3}[r.IntN(12)]
	case 1:
		return sign * math.Ldexp(1+r.Float64(), r.IntN(2*bias)-bias-20)
	case 2:
		return sign * float64(r.IntN(1000)) / 2
	}
	return sign * math.Ldexp(1+r.Float64(), r.IntN(12)-4)
}

// half is the bits of a half that is no NaN.
func half(r *rand.Rand) uint16 {
	if r.IntN(4) > 0 {
		return uint16(0x3000+r.IntN(0x1800)) | uint16(r.IntN(2))<<15
	}
	if x := uint16(r.Uint32()); x&0x7c00 != 0x7c00 {
		return x
	}
	return []uint16{0, 0x8000, 0x7c00, 0xfc00, 0x7bff, 1, 0x400, 0x3c00}[r.IntN(8)]
}
