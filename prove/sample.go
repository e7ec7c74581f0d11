package prove

import "optcheck/ir"

// edges are values at which arithmetic changes.
var edges = [...]uint64{0, 1, 2, 3, 7, 8, 15, 16, 31, 32, 33, 63, 0x7f, 0x80, 0xff, 0x100, 0x7fff, 0x8000, 0xffff, 0x10000, 0x7fffffff,
	0x80000000, 0xffffffff, 0xfffffffe, 0x80000001, 0xaaaaaaaa, 0x55555555, 1 << 63, 1<<63 - 1, ^uint64(0)}

// chance is a value of a leaf, or of memory, in sample i: one at which arithmetic changes, a small one, one near the greatest or the sign,
// a multiple of a power of two, or any.
func chance(seed uint64, i, w int) uint64 {
	r := ir.Mix(seed ^ ir.Mix(uint64(i)))
	v, small := ir.Mix(r), ir.Mix(r)&ones(int(r%16))
	switch i % 8 {
	case 0:
		v = edges[r%uint64(len(edges))]
	case 1:
		v = small
	case 2:
		v = ^small
	case 3:
		v = 1<<(w-1) + small&7 - r>>60
	case 4, 5:
		v &^= 7
	}
	return v & ones(w)
}

// sample evaluates a node whose arguments have their values.
func (x *terms) sample(n *node) (out [samples]uint64) {
	m := ones(int(n.w))
	switch n.kind {
	case leaf:
		for i := range out {
			out[i] = chance(ir.Mix(n.value), i, int(n.w))
		}
		return out
	case read:
		for i := range out {
			out[i] = x.look(n.args[0], n.args[1], n.space, int(n.w), i)
		}
		return out
	case start, written, stirred:
		return out
	}
	var args [4][samples]uint64
	for k, a := range n.args {
		if k < 4 {
			args[k] = x.vals[a]
		}
	}
	for i := range out {
		out[i] = x.eval(n, &args, i) & m
	}
	return out
}

// eval computes a node in a sample; args are the values of its first four arguments.
func (x *terms) eval(n *node, args *[4][samples]uint64, i int) uint64 {
	a, b := args[0][i], args[1][i]
	switch n.kind {
	case konst:
		return n.value
	case sum:
		v := n.value
		for k, t := range n.args {
			v += n.coefs[k] * x.vals[t][i]
		}
		return v
	case product:
		v := uint64(1)
		for _, t := range n.args {
			v *= x.vals[t][i]
		}
		return v
	case and:
		v := ^uint64(0)
		for _, t := range n.args {
			v &= x.vals[t][i]
		}
		return v
	case xor:
		v := n.value
		for _, t := range n.args {
			v ^= x.vals[t][i]
		}
		return v
	case cat:
		v := uint64(0)
		for _, t := range n.args {
			v = v<<x.width(t) | x.vals[t][i]
		}
		return v
	case ext:
		return a >> n.value
	case sext:
		return uint64(signed(a, x.width(n.args[0])))
	case ite:
		if a != 0 {
			return b
		}
		return args[2][i]
	case eq:
		return truth(a == b)
	case ult:
		return truth(a < b)
	case slt:
		w := x.width(n.args[0])
		return truth(signed(a, w) < signed(b, w))
	case shl:
		return shifted(a, b, int(n.w), false)
	case shr:
		return shifted(a, b, int(n.w), true)
	case sar:
		return uint64(signed(a, int(n.w)) >> min(b, 63))
	case opaque:
		s := [4]uint64{a, b, args[2][i], args[3][i]}
		return ir.Eval(&x.ops[n.value], &s, undefined)
	}
	panic("prove: a node without meaning")
}

// undefined is what an operation gives that nothing defines.
const undefined = 0x5bd1e995_9e3779b9

func truth(b bool) uint64 {
	if b {
		return 1
	}
	return 0
}

func shifted(v, by uint64, w int, right bool) uint64 {
	switch {
	case by >= uint64(w):
		return 0
	case right:
		return v >> by
	}
	return v << by
}

// look reads memory in sample i.
func (x *terms) look(mem, addr term, space ir.Space, w, i int) uint64 {
	at := x.vals[addr][i]
	var out uint64
	for k := range w / 8 {
		out |= x.byteAt(mem, at+uint64(k), space, i) << (8 * k)
	}
	return out
}

// byteAt is a byte of memory in sample i.
func (x *terms) byteAt(mem term, at uint64, space ir.Space, i int) uint64 {
	for {
		n := x.at(mem)
		switch n.kind {
		case start:
			return unit(uint64(space)^n.value<<32, at, i)
		case stirred:
			if x.vals[n.args[1]][i] != 0 {
				return unit(uint64(space)^ir.Mix(n.value+1), at, i)
			}
		case written:
			off := at - x.vals[n.args[1]][i]
			if x.vals[n.args[3]][i] != 0 && n.space == space && off < uint64(n.w/8) {
				return x.vals[n.args[2]][i] >> (8 * off) & 0xff
			}
		}
		mem = n.args[0]
	}
}

// unit is a byte of memory in sample i: of words, halves or bytes with values of chance.
func unit(seed, at uint64, i int) uint64 {
	n := uint64(4) >> (i / 8 % 3)
	return chance(ir.Mix(at/n)^seed, i, int(8*n)) >> (at % n * 8) & 0xff
}
