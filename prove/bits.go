package prove

import (
	"encoding/binary"
	"math/bits"
	"slices"
)

// concat is terms side by side, the highest first.
func (x *terms) concat(parts ...term) term {
	w := 0
	for _, p := range parts {
		w += x.width(p)
	}
	flat := x.flat(parts)
	if len(flat) == 1 {
		return flat[0]
	}
	l := &linear{x: x, w: w}
	l.parts(flat, 1)
	return l.term()
}

// side is concat of parts of which is known that they are no sum.
func (x *terms) side(parts []term) term {
	flat := x.flat(parts)
	if len(flat) == 1 {
		return flat[0]
	}
	w := 0
	for _, p := range flat {
		w += x.width(p)
	}
	return x.intern(node{kind: cat, w: uint8(w), args: flat})
}

// flat joins neighbours that are one.
func (x *terms) flat(parts []term) []term {
	var out []term
	for _, p := range parts {
		list := []term{p}
		if x.kind(p) == cat {
			list = x.at(p).args
		}
		for _, q := range list {
			if n := len(out); n > 0 {
				if t, ok := x.joined(out[n-1], q); ok {
					out[n-1] = t
					continue
				}
			}
			out = append(out, q)
		}
	}
	return out
}

// joined is a part with the one below it, if they are one term.
func (x *terms) joined(hi, lo term) (term, bool) {
	h, l := x.at(hi), x.at(lo)
	w := int(h.w) + int(l.w)
	switch {
	case h.kind == konst && l.kind == konst:
		return x.num(w, h.value<<l.w|l.value), true
	case h.kind == ext && l.kind == ext && h.args[0] == l.args[0] && h.value == l.value+uint64(l.w):
		return x.ext(h.args[0], int(l.value), w), true
	case h.kind == ite && l.kind == ite && h.args[0] == l.args[0]:
		return x.ite(h.args[0], x.concat(h.args[1], l.args[1]), x.concat(h.args[2], l.args[2])), true
	case h.kind == sext:
		if bit := h.args[0]; bit == x.ext(lo, int(l.w)-1, 1) {
			return x.sext(lo, w), true
		}
	case h.kind == ext && h.w == 1 && hi == x.ext(lo, int(l.w)-1, 1):
		return x.sext(lo, w), true
	}
	return 0, false
}

// ext is w bits of a term from a bit on: made once, for terms share parts.
func (x *terms) ext(t term, from, w int) term {
	if from == 0 && w == x.width(t) {
		return t
	}
	key := window{t, from, w}
	out, ok := x.parts[key]
	if !ok || x.dividing {
		if out = x.cut(t, from, w); !x.dividing {
			x.parts[key] = out
		}
	}
	return out
}

// cut is ext of less than all bits.
func (x *terms) cut(t term, from, w int) term {
	defer x.deeper()()
	n := x.at(t)
	live := n.may >> from & ones(w)
	if live == 0 && w > 0 {
		return x.num(w, 0)
	}
	if k := bits.Len64(live); k < w {
		return x.zext(x.ext(t, from, k), w)
	}
	switch n.kind {
	case konst:
		return x.num(w, n.value>>from)
	case ext:
		return x.ext(n.args[0], int(n.value)+from, w)
	case cat:
		return x.extParts(n.args, from, w)
	case sext:
		y := n.args[0]
		switch wy := x.width(y); {
		case from+w <= wy:
			return x.ext(y, from, w)
		case from < wy:
			return x.sext(x.ext(y, from, wy-from), w)
		default:
			return x.sext(x.ext(y, wy-1, 1), w)
		}
	case and:
		return x.and(x.cuts(n.args, from, w)...)
	case xor:
		return x.xor(append(x.cuts(n.args, from, w), x.num(w, n.value>>from))...)
	case ite:
		return x.ite(n.args[0], x.ext(n.args[1], from, w), x.ext(n.args[2], from, w))
	case product:
		if from == 0 {
			return x.product(x.low(n.args, w)...)
		}
	case shl:
		if from == 0 {
			return x.shift(shl, x.ext(n.args[0], 0, w), n.args[1])
		}
	case sum:
		if r, ok := x.extSum(n, from, w); ok {
			return r
		}
	}
	return x.intern(node{kind: ext, w: uint8(w), value: uint64(from), args: []term{t}})
}

func (x *terms) cuts(args []term, from, w int) []term {
	out := make([]term, len(args))
	for i, a := range args {
		out[i] = x.ext(a, from, w)
	}
	return out
}

func (x *terms) extParts(parts []term, from, w int) term {
	var out []term // the lowest first
	at := 0
	for _, p := range slices.Backward(parts) {
		pw := x.width(p)
		lo, hi := max(from, at), min(from+w, at+pw)
		if lo < hi {
			out = append(out, x.ext(p, lo-at, hi-lo))
		}
		at += pw
	}
	slices.Reverse(out)
	return x.concat(out...)
}

// extSum is a part of a sum: its low bits, or what is multiplied by 2^from if the rest does not carry.
func (x *terms) extSum(n *node, from, w int) (term, bool) {
	if w == 1 && from == 0 {
		var odd []term
		for i, a := range n.args {
			if n.coefs[i]&1 == 1 {
				odd = append(odd, x.ext(a, 0, 1))
			}
		}
		return x.xor(append(odd, x.num(1, n.value))...), true
	}
	rest := &node{kind: sum, w: n.w, value: n.value & ones(from)}
	l := &linear{x: x, w: w, c: n.value >> from}
	for i, a := range n.args {
		if n.coefs[i]&ones(from) == 0 {
			if w > 1 {
				l.add(x.ext(a, 0, w), n.coefs[i]>>from)
			}
			continue
		}
		rest.args, rest.coefs = append(rest.args, a), append(rest.coefs, n.coefs[i])
	}
	if lo, hi, ok := x.interval(rest); from > 0 && (!ok || lo < 0 || uint64(hi) > ones(from)) {
		if w == 1 || len(rest.args) == len(n.args) && n.value>>from == 0 {
			return 0, false
		}
		r := &linear{x: x, w: int(n.w), c: rest.value, args: rest.args, coefs: rest.coefs}
		l.add(x.ext(r.term(), from, w), 1)
	}
	if w == 1 && from > 0 {
		return 0, false
	}
	return l.term(), true
}

// zext extends by zeros, sext by the sign, resize cuts or extends by zeros.
func (x *terms) zext(t term, w int) term {
	if x.width(t) == w {
		return t
	}
	return x.concat(x.num(w-x.width(t), 0), t)
}

func (x *terms) sext(t term, w int) term {
	n := x.at(t)
	switch {
	case int(n.w) == w:
		return t
	case n.kind == konst:
		return x.num(w, uint64(signed(n.value, int(n.w))))
	case n.kind == sext:
		return x.sext(n.args[0], w)
	case n.may>>(n.w-1) == 0:
		return x.zext(t, w)
	}
	return x.intern(node{kind: sext, w: uint8(w), args: []term{t}})
}

func (x *terms) resize(t term, w int) term {
	if x.width(t) > w {
		return x.ext(t, 0, w)
	}
	return x.zext(t, w)
}

// not is the complement.
func (x *terms) not(t term) term { return x.xor(t, x.num(x.width(t), ones(x.width(t)))) }

// or: a ^ b ^ a&b.
func (x *terms) or(a, b term) term { return x.xor(a, b, x.and(a, b)) }

// mostBorders bounds into how many parts a bitwise operation is divided.
const mostBorders = 5

// split divides a bitwise operation at the borders of its operands' parts, and in words.
func (x *terms) split(args []term, do func(parts []term) term) (term, bool) {
	w := x.width(args[0])
	border := uint64(0)
	for _, a := range args {
		n := x.at(a)
		if n.kind != cat {
			continue
		}
		at := 0
		for _, p := range slices.Backward(n.args) {
			at += x.width(p)
			if at < w {
				border |= 1 << at
			}
		}
	}
	if bits.OnesCount64(border) > mostBorders {
		border = 0
	}
	if w == 64 {
		border |= 1 << 32
	}
	if border == 0 {
		return 0, false
	}
	var out []term
	from := 0
	for at := 1; at <= w; at++ {
		if at < w && border>>at&1 == 0 {
			continue
		}
		out = append(out, do(x.cuts(args, from, at-from)))
		from = at
	}
	slices.Reverse(out)
	return x.concat(out...), true
}

// mostMonomials bounds what conjunctions are multiplied out to.
const mostMonomials = 16

// and is the conjunction, bit by bit: an exclusive or of products, as long as that is short.
func (x *terms) and(args ...term) term {
	defer x.deeper()()
	w := x.width(args[0])
	mask := ones(w)
	var list []term
	var gather func(args []term)
	gather = func(args []term) {
		for _, a := range args {
			switch n := x.at(a); n.kind {
			case konst:
				mask &= n.value
			case and:
				gather(n.args)
			default:
				list = append(list, a)
			}
		}
	}
	gather(args)
	slices.Sort(list)
	list = slices.Compact(list)
	key := make([]byte, 0, 64)
	for _, a := range append(list, term(mask), term(mask>>32), term(w)) {
		key = binary.LittleEndian.AppendUint32(key, uint32(a))
	}
	if t, ok := x.ands[string(key)]; ok {
		return t
	}
	t := x.conjunction(list, mask, w)
	x.ands[string(key)] = t
	return t
}

// conjunction is the one of different terms and a constant.
func (x *terms) conjunction(list []term, mask uint64, w int) term {
	live := mask
	for _, a := range list {
		live &= x.may(a)
	}
	switch {
	case live == 0 || w == 1 && x.opposite(list):
		return x.num(w, 0)
	case len(list) == 0:
		return x.num(w, mask)
	case len(list) == 1 && mask&x.may(list[0]) == x.may(list[0]):
		return list[0]
	case len(list) == 1 && w > 1:
		if t, ok := x.masked(list[0], mask); ok {
			return t
		}
	}
	if mask != ones(w) {
		list = append(list, x.num(w, mask))
	}
	if t, ok := x.split(list, func(p []term) term { return x.and(p...) }); ok {
		return t
	}
	for i, a := range list {
		n := x.at(a)
		if n.kind != xor || w == 1 && len(n.args) == 1 {
			continue
		}
		rest := slices.Delete(slices.Clone(list), i, i+1)
		if len(rest) == 0 {
			break
		}
		other := x.and(rest...)
		count := 1
		if o := x.at(other); o.kind == xor {
			count = len(o.args) + 1
		}
		most := mostMonomials
		if w > 1 {
			most /= 4
		}
		if (len(n.args)+1)*count > most {
			continue
		}
		var out []term
		for _, m := range n.args {
			out = append(out, x.and(m, other))
		}
		if n.value != 0 {
			out = append(out, x.and(x.num(w, n.value), other))
		}
		return x.xor(out...)
	}
	return x.intern(node{kind: and, w: uint8(w), args: sorted(list)})
}

// opposite reports whether a term and its complement are in a list.
func (x *terms) opposite(list []term) bool {
	return slices.ContainsFunc(list, func(t term) bool {
		n := x.at(t)
		return n.kind == xor && len(n.args) == 1 && n.value == 1 && slices.Contains(list, n.args[0])
	})
}

// factors are what a condition is the conjunction of.
func (x *terms) factors(t term) []term {
	if n := x.at(t); n.kind == and {
		return n.args
	}
	return []term{t}
}

// united is the exclusive or of two conjunctions that differ in one factor: p ^ p&q is p&~q, p&q ^ p&~q is p.
func (x *terms) united(a, b term) (term, bool) {
	p, q := x.factors(a), x.factors(b)
	if len(p) > len(q) {
		p, q = q, p
	}
	var alone []term
	for _, t := range q {
		if !slices.Contains(p, t) {
			alone = append(alone, t)
		}
	}
	if len(alone) != 1 {
		return 0, false
	}
	rest := slices.DeleteFunc(slices.Clone(q), func(t term) bool { return t == alone[0] })
	if len(p) == len(q)-1 {
		return x.and(append(rest, x.not(alone[0]))...), true
	}
	if slices.Contains(p, x.not(alone[0])) {
		return x.and(append(rest, x.num(1, 1))...), true
	}
	return 0, false
}

// mostUnited bounds the conjunctions of which pairs are looked at.
const mostUnited = 8

// masked is a term of which a mask leaves few runs of bits.
func (x *terms) masked(t term, mask uint64) (term, bool) {
	w := x.width(t)
	mask &= x.may(t)
	if bits.OnesCount64(mask&^(mask<<1)) > 4 {
		return 0, false
	}
	var parts []term
	for at := 0; at < w; {
		one := mask >> at & 1
		n := 1
		for at+n < w && mask>>(at+n)&1 == one {
			n++
		}
		if one == 1 {
			parts = append(parts, x.ext(t, at, n))
		} else {
			parts = append(parts, x.num(n, 0))
		}
		at += n
	}
	slices.Reverse(parts)
	return x.concat(parts...), true
}

// xor is the exclusive or.
func (x *terms) xor(args ...term) term {
	defer x.deeper()()
	w := x.width(args[0])
	value := uint64(0)
	var list []term
	var gather func(args []term)
	gather = func(args []term) {
		for _, a := range args {
			switch n := x.at(a); n.kind {
			case konst:
				value ^= n.value
			case xor:
				value ^= n.value
				gather(n.args)
			default:
				list = append(list, a)
			}
		}
	}
	gather(args)
	slices.Sort(list)
	out := list[:0]
	for i := 0; i < len(list); i++ {
		if i+1 < len(list) && list[i] == list[i+1] {
			i++
			continue
		}
		out = append(out, list[i])
	}
	list = out
	switch {
	case len(list) == 0:
		return x.num(w, value)
	case len(list) == 1 && value == 0:
		return list[0]
	}
	if len(list) == 1 && value == ones(w) && x.kind(list[0]) != cat {
		if n := x.at(list[0]); n.kind == sum && w > 1 { // -1 - a
			return x.sub(x.num(w, value), list[0])
		}
		return x.intern(node{kind: xor, w: uint8(w), value: value, args: slices.Clone(list)})
	}
	for i := 0; w == 1 && i < len(list) && len(list) <= mostUnited; i++ {
		for k := range i {
			if t, ok := x.united(list[i], list[k]); ok {
				rest := slices.Delete(slices.Delete(slices.Clone(list), i, i+1), k, k+1)
				return x.xor(append(rest, t, x.num(1, value))...)
			}
		}
	}
	if w > 1 {
		all := list
		if value != 0 {
			all = append(slices.Clone(list), x.num(w, value))
		}
		if x.apart(all) {
			return x.add(all...)
		}
		if t, ok := x.split(all, func(p []term) term { return x.xor(p...) }); ok {
			return t
		}
	}
	return x.intern(node{kind: xor, w: uint8(w), value: value, args: slices.Clone(list)})
}

// apart reports whether no bit may be 1 in two of the terms.
func (x *terms) apart(args []term) bool {
	busy := uint64(0)
	for _, a := range args {
		if busy&x.may(a) != 0 {
			return false
		}
		busy |= x.may(a)
	}
	return true
}

// ite is c ? a : b.
func (x *terms) ite(c, a, b term) term {
	defer x.deeper()()
	n := x.at(c)
	switch {
	case a == b || n.kind == konst && n.value != 0:
		return a
	case n.kind == konst:
		return b
	case x.width(a) == 1:
		return x.xor(b, x.and(c, x.xor(a, b)))
	case n.kind == xor && n.value == 1:
		return x.ite(x.not(c), b, a)
	}
	b = x.divided(c, b)
	if n.kind == eq {
		a = x.where(n.args[0], n.args[1], a)
	}
	if m := x.at(a); m.kind == ite && m.args[0] == c {
		return x.ite(c, m.args[1], b)
	}
	if m := x.at(b); m.kind == ite && m.args[0] == c {
		return x.ite(c, a, m.args[2])
	}
	t := x.intern(node{kind: ite, w: uint8(x.width(a)), args: []term{c, a, b}})
	if n := x.at(c); n.kind == ult && x.kind(n.args[1]) == konst { // by a constant
		return x.divided(x.num(1, 0), t)
	}
	return t
}

// where is what a term, or its complement, comes to where it is a constant.
func (x *terms) where(t, v, in term) term {
	if in == t {
		return v
	}
	if n := x.at(in); n.kind == xor && len(n.args) == 1 && n.args[0] == t {
		return x.xor(v, x.num(int(n.w), n.value))
	}
	return in
}
