package refine

import "optcheck/emu"

// sorted is a word of a number that grows with its address, or shrinks if the seed is odd: what a thread reads too much, or too little, is the greatest
// one then, or the least. Small numbers begin again.
func (in *Input) sorted(w emu.Word, k emu.Kind) uint32 {
	n := uint32(w.Addr()>>2) & 0xffff
	if in.Seed%2 == 1 {
		n = 0xffff - n
	}
	order := func(n uint32) [2]uint32 { // of two parts of a word: the one with the lower address first
		if in.Seed%2 == 1 {
			return [2]uint32{2*n + 1, 2 * n}
		}
		return [2]uint32{2 * n, 2*n + 1}
	}
	half := order(n)
	switch k {
	case emu.Bytes8:
		a, b := order(half[0]), order(half[1])
		return a[0]&0x7f | a[1]&0x7f<<8 | b[0]&0x7f<<16 | b[1]&0x7f<<24
	case emu.Bytes16:
		return half[0]&0x7fff | half[1]&0x7fff<<16
	case emu.Float16:
		return (0x3c00 + half[0]&0x3ff) | (0x3c00+half[1]&0x3ff)<<16
	case emu.Float32:
		return 0x3f800000 + n<<7
	case emu.Float64, emu.Integer64:
		switch {
		case k == emu.Float64 && w&1 == 1:
			return 0x3ff00000 + n>>1<<4
		case k == emu.Integer64 && w&1 == 0:
			return n >> 1
		}
		return 0
	}
	return n
}

// filled are inputs like one, in which memory holds numbers that grow, such that shrink, and the utmost ones.
func filled(of *Input) (list []*Input) {
	add := func(w World, seed uint64) {
		in := *of
		in.World, in.Seed = w, seed
		list = append(list, &in)
	}
	add(Sorted, of.Seed&^1)
	add(Sorted, of.Seed|1)
	for n := range uint64(mostUtmost) {
		add(Extreme, of.Seed-of.Seed%utmostOf+n*utmostOf+utmostSeed)
	}
	return list
}

// mostUtmost is how many of the last ones there are.
const mostUtmost = 4
