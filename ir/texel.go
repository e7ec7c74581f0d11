package ir

import "math"

// Texture is a fetch from a texture. A kernel that reads a texture must not write it (PTX ISA 9.7.10), so what it gives is a function of
// the handle, the coordinates and the level. Only the host knows which one: the same pseudo-random function stands for it on both sides.
// Each handle has its kind of contents: small numbers of floating point, small integers, bits of any kind.
type Texture struct {
	// Geometry is the machine's name for it: 1D, 2D, 3D, ARRAY_1D, ARRAY_2D. Integral tells that coordinates are whole numbers of texels,
	// Gather that the result is one component of four texels, the one whose number is Component.
	Geometry  string
	Integral  bool
	Gather    bool
	Component int
	// Handle has 64 bits, the upper half 0; Layer is None where there are none, Level that of the mipmap.
	Handle, Layer, Level Reg
	Coords               []Reg
}

// Geometries are the geometries of textures with the number of their coordinates; those of arrays have layers, too.
var Geometries = map[string]int{"1D": 1, "2D": 2, "3D": 3, "ARRAY_1D": 1, "ARRAY_2D": 2}

// geometryNumber tells geometries apart in Op.Imm.
var geometryNumber = map[string]uint64{"1D": 1, "2D": 2, "3D": 3, "ARRAY_1D": 4, "ARRAY_2D": 5}

// Texels appends the operations that make four words of a fetch.
func (b *Builder) Texels(list *[]Op, t Texture) (words [4]Reg) {
	at := [3]Reg{None, None, None}
	copy(at[:], t.Coords)
	kind := geometryNumber[t.Geometry] << 8
	if t.Integral {
		kind |= 1 << 4
	}
	if t.Gather {
		kind |= 1<<5 | uint64(t.Component)<<6
	}
	place := b.texel(list, U64, kind, t.Handle, at[0], at[1], at[2])
	for i := range words {
		words[i] = b.texel(list, U32, uint64(i), place, t.Layer, t.Level)
	}
	return words
}

func (b *Builder) texel(list *[]Op, t Type, imm uint64, src ...Reg) Reg {
	d := b.Temp()
	b.To(list, d, Texel, t, src...).Imm = imm
	return d
}

// texel is the first step of a fetch (64 bits), which makes a key of handle and coordinates whose lowest bits are the kind of contents; or
// the second one, which makes a word of the key. All levels below 0 are level 0.
func texel(o *Op, s *[4]uint64, _ uint64) uint64 {
	h := Mix(s[0] + o.Imm)
	if o.Type == U64 {
		for _, v := range s[1:] {
			h = Mix(h ^ v)
		}
		return h&^3 | Mix(s[0])&3
	}
	level := s[2]
	if level>>31 != 0 {
		level = 0
	}
	h = Mix(Mix(h^s[1]) ^ level)
	switch s[0] & 3 {
	case 0:
		return h & 0xffffffff
	case 1:
		return h & 0xff
	}
	return uint64(math.Float32bits(float32(int64(h&0xffff)-0x4000) / 0x4000))
}

// Mix is the finaliser of SplitMix64.
func Mix(x uint64) uint64 {
	x += 0x9e3779b97f4a7c15
	x = (x ^ x>>30) * 0xbf58476d1ce4e5b9
	x = (x ^ x>>27) * 0x94d049bb133111eb
	return x ^ x>>31
}
