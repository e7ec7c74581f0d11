package prove

import (
	"encoding/binary"
	"math/bits"
	"slices"

	"optcheck/ir"
	"optcheck/prove/sat"
)

// blaster has the bits of terms as gates. What is not computed of gates (products of two variables, operations that are not understood
// further, memory) is an input, the same one for the same operands.
type blaster struct {
	x     *terms
	g     *gates
	bits  map[term][]sat.Lit
	seen  map[string][]sat.Lit // inputs by what they stand for
	reads map[[samples]uint64][]term
	// memory finds a read that gives the same as one: see sweeper.
	memory func(t term) (term, bool)
}

func newBlaster(x *terms) *blaster {
	return &blaster{x: x, g: newGates(&x.effort), bits: map[term][]sat.Lit{}, seen: map[string][]sat.Lit{},
		reads: map[[samples]uint64][]term{}}
}

// of are the bits of a term, the lowest first.
func (b *blaster) of(t term) []sat.Lit {
	if out, ok := b.bits[t]; ok {
		return out
	}
	out := b.make(t)
	b.bits[t] = out
	return out
}

func (b *blaster) args(n *node) [][]sat.Lit {
	out := make([][]sat.Lit, len(n.args))
	for i, a := range n.args {
		out[i] = b.of(a)
	}
	return out
}

// unknown are inputs that stand for a function of operands.
func (b *blaster) unknown(t term, n *node, args [][]sat.Lit) []sat.Lit {
	args = slices.Clone(args)
	if n.kind == opaque && commutes(&b.x.ops[n.value]) {
		slices.SortFunc(args[:2], slices.Compare)
	}
	key := []byte{byte(n.kind), n.w}
	key = binary.LittleEndian.AppendUint64(key, n.value)
	for _, a := range args {
		key = append(key, byte(len(a)))
		for _, l := range a {
			key = binary.LittleEndian.AppendUint32(key, uint32(l))
		}
	}
	if out, ok := b.seen[string(key)]; ok {
		return out
	}
	out := make([]sat.Lit, n.w)
	for i := range out {
		if out[i] = low; n.may>>i&1 == 1 {
			out[i] = b.input(t, i)
		}
	}
	b.seen[string(key)] = out
	return out
}

// multiple is a product of which nothing is computed: each of its bits is a function of as many bits of its factors.
func (b *blaster) multiple(t term, n *node) []sat.Lit {
	out := make([]sat.Lit, n.w)
	for i := range out {
		if n.may>>i&1 == 0 {
			continue // low
		}
		var factors [][]sat.Lit
		for _, a := range n.args {
			factors = append(factors, b.of(a)[:i+1])
		}
		slices.SortFunc(factors, slices.Compare)
		key := []byte{byte(n.kind), byte(i), byte(len(factors))}
		for _, c := range n.coefs {
			key = binary.LittleEndian.AppendUint64(key, c&ones(i+1))
		}
		for _, l := range slices.Concat(factors...) {
			key = binary.LittleEndian.AppendUint32(key, uint32(l))
		}
		if b.seen[string(key)] == nil {
			b.seen[string(key)] = []sat.Lit{b.input(t, i)}
		}
		out[i] = b.seen[string(key)][0]
	}
	return out
}

// bytes are what a read gives: each byte of a memory is the same in all reads.
func (b *blaster) bytes(t term, n node) (out []sat.Lit) {
	for i := range int(n.w) / 8 {
		at := b.x.add(n.args[1], b.x.num(b.x.width(n.args[1]), uint64(i)))
		key := []byte{byte(read), byte(n.space)}
		key = binary.LittleEndian.AppendUint32(binary.LittleEndian.AppendUint32(key, uint32(n.args[0])), uint32(at))
		if b.seen[string(key)] == nil {
			one := make([]sat.Lit, 8)
			for k := range one {
				one[k] = b.input(t, 8*i+k)
			}
			b.seen[string(key)] = one
		}
		out = append(out, b.seen[string(key)]...)
	}
	return out
}

// input is a bit of what is not computed of gates: as the term has it in the samples, and like that in other patterns.
func (b *blaster) input(t term, bit int) sat.Lit {
	return b.g.input(func() (sim signature) {
		for i := range 64 * patterns {
			v := chance(ir.Mix(uint64(t)+1<<40), i, b.x.width(t))
			if i < samples {
				v = b.x.vals[t][i]
			}
			sim[i/64] |= v >> bit & 1 << (i % 64)
		}
		return sim
	})
}

func (b *blaster) constant(v uint64, w int) []sat.Lit {
	out := make([]sat.Lit, w)
	for i := range out {
		out[i] = sat.Lit(v >> i & 1)
	}
	return out
}

func (b *blaster) make(t term) []sat.Lit {
	n := b.x.at(t)
	w := int(n.w)
	switch n.kind {
	case konst:
		return b.constant(n.value, w)
	case read:
		if r, ok := b.memory(t); ok {
			return b.of(r)
		}
		b.reads[b.x.vals[t]] = append(b.reads[b.x.vals[t]], t)
		return b.bytes(t, *n)
	case leaf:
		return b.unknown(t, n, nil)
	case sum:
		return b.sum(t, n)
	case product:
		return b.multiple(t, n)
	case ext:
		return b.of(n.args[0])[n.value : int(n.value)+w]
	}
	args := b.args(n)
	switch n.kind {
	case cat:
		var out []sat.Lit
		for i := len(args) - 1; i >= 0; i-- {
			out = append(out, args[i]...)
		}
		return out
	case sext:
		out := append([]sat.Lit(nil), args[0]...)
		for len(out) < w {
			out = append(out, args[0][len(args[0])-1])
		}
		return out
	case and, xor, ite:
		return b.bitwise(n, args)
	case eq:
		out := high
		for i := range args[0] {
			out = b.g.and(out, b.g.xor(args[0][i], args[1][i]).Not())
		}
		return []sat.Lit{out}
	case ult:
		return []sat.Lit{b.g.less(args[0], args[1])}
	case slt:
		return []sat.Lit{b.g.less(flipped(args[0]), flipped(args[1]))}
	case shl, shr, sar:
		return b.shift(n.kind, args[0], args[1])
	case opaque:
		if out, ok := b.counted(n, args); ok {
			return out
		}
	}
	return b.unknown(t, n, args)
}

// flipped has its highest bit inverted, so that signed numbers are in the order of unsigned ones.
func flipped(a []sat.Lit) []sat.Lit {
	out := append([]sat.Lit(nil), a...)
	out[len(out)-1] = out[len(out)-1].Not()
	return out
}

func (b *blaster) bitwise(n *node, args [][]sat.Lit) []sat.Lit {
	out := make([]sat.Lit, n.w)
	for i := range out {
		switch n.kind {
		case ite:
			out[i] = b.g.mux(args[0][0], args[1][i], args[2][i])
		case and:
			out[i] = high
			for _, a := range args {
				out[i] = b.g.and(out[i], a[i])
			}
		case xor:
			out[i] = sat.Lit(n.value >> i & 1)
			for _, a := range args {
				out[i] = b.g.xor(out[i], a[i])
			}
		}
	}
	return out
}

// shift is in steps of powers of two.
func (b *blaster) shift(k kind, a, by []sat.Lit) []sat.Lit {
	w := len(a)
	fill := low
	if k == sar {
		fill = a[w-1]
	}
	out := a
	for s, c := range by {
		now := make([]sat.Lit, w)
		for i := range now {
			from := -1
			if s < 6 {
				if from = i + 1<<s; k == shl {
					from = i - 1<<s
				}
			}
			other := fill
			if from >= 0 && from < w {
				other = out[from]
			}
			now[i] = b.g.mux(c, other, out[i])
		}
		out = now
	}
	return out
}

// mostDigits is how many additions a multiple may cost: of a greater one the product is an input.
const mostDigits = 5

// sum adds multiples, digit by digit of their factors (-1, 0 and 1).
func (b *blaster) sum(of term, n *node) []sat.Lit {
	w := int(n.w)
	if l, minus := b.x.variable(n); len(n.args) > 1 && (minus || n.value != 0) { // others differ from it in the constant alone
		v := b.of(l)
		if minus {
			out, _ := b.g.sum(b.constant(n.value, w), inverted(v), high)
			return out
		}
		out, _ := b.g.sum(v, b.constant(n.value, w), low)
		return out
	}
	if len(n.args) == 1 && n.value == 0 && digits(uint64(signed(n.coefs[0], w))) > mostDigits {
		return b.multiple(of, n)
	}
	total := b.constant(n.value, w)
	began := n.value != 0
	add := func(a []sat.Lit, at int, minus bool) {
		row := make([]sat.Lit, w)
		for i := range row {
			if row[i] = low; i >= at {
				row[i] = a[i-at]
			}
		}
		switch {
		case minus:
			total, _ = b.g.sum(total, inverted(row), high)
		case !began:
			total = row
		default:
			total, _ = b.g.sum(total, row, low)
		}
		began = true
	}
	for i, t := range n.args {
		a, k := b.of(t), signed(n.coefs[i], w)
		if digits(uint64(k)) > mostDigits {
			add(b.of(b.x.intern(node{kind: sum, w: n.w, args: []term{t}, coefs: []uint64{n.coefs[i]}})), 0, false)
			continue
		}
		for at := 0; k != 0 && at < w; at++ {
			if k&1 == 1 {
				minus := k&3 == 3
				if add(a, at, minus); minus {
					k++
				} else {
					k--
				}
			}
			k >>= 1
		}
	}
	return total
}

// variable is what a sum is without its constant, or what is subtracted from that.
func (x *terms) variable(n *node) (t term, minus bool) {
	coefs := slices.Clone(n.coefs)
	if k := signed(coefs[0], int(n.w)); k < 0 && signed(uint64(-k), int(n.w)) > 0 {
		minus = true
		for i := range coefs {
			coefs[i] = -coefs[i] & ones(int(n.w))
		}
	}
	return x.intern(node{kind: sum, w: n.w, args: n.args, coefs: coefs}), minus
}

// digits is how many digits of a factor are not 0.
func digits(k uint64) int {
	return bits.OnesCount64(k ^ 3*k) // of k and 3k, the non-adjacent form
}
