package prove

import (
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/require"

	"optcheck/ir"
	"optcheck/prove/sat"
)

// codes are the operations of integers.
var codes = []ir.Code{ir.Mov, ir.Add, ir.Sub, ir.Carry, ir.Borrow, ir.Mul, ir.MulHi, ir.And, ir.Or, ir.Xor, ir.Not, ir.Lop3, ir.Shl, ir.Shr,
	ir.Funnel, ir.Min, ir.Max, ir.Abs, ir.Neg, ir.Sel, ir.Cmp, ir.Clz, ir.Popc, ir.Brev, ir.Find, ir.Ext, ir.Bfe, ir.Bfi, ir.Mask, ir.Sgxt, ir.Perm, ir.Dot4,
	ir.Dot2, ir.Sad, ir.Join, ir.HighWord, ir.Nth, ir.Div, ir.Rem, ir.Add, ir.Sub, ir.Lop3, ir.Sel, ir.Cmp, ir.Ext, ir.Join}

// words32 are the operations that are of words.
var words32 = map[ir.Code]bool{ir.Funnel: true, ir.Mask: true, ir.Sgxt: true, ir.Perm: true, ir.Dot4: true, ir.Dot2: true,
	ir.Nth: true, ir.Join: true}

// random makes terms by operations of all kinds: each is held against ir.Eval as it is made.
func random(r *rand.Rand, n int) (x *terms, list []term) {
	x = newTerms(1 << 18)
	for _, w := range []int{1, 8, 16, 32, 32, 32, 64, 10} {
		list = append(list, x.named(w, string(rune('a'+len(list))), true))
	}
	for range n {
		o := &ir.Op{Code: codes[r.IntN(len(codes))], Type: ir.U8 + ir.Type(r.IntN(8)), Imm: uint64(r.IntN(256)), Cond: ir.Cond(r.IntN(6))}
		switch {
		case words32[o.Code]:
			if o.Type = ir.U32; o.Code == ir.Sgxt && r.IntN(2) == 0 {
				o.Type = ir.S32
			}
		case o.Code == ir.Bfe || o.Code == ir.Bfi:
			o.Type = [...]ir.Type{ir.U32, ir.S32, ir.U64, ir.S64}[r.IntN(4)]
		case r.IntN(2) == 0:
			o.Type = ir.U32
		}
		if o.To = o.Type; o.Code == ir.Ext {
			o.To = ir.U8 + ir.Type(r.IntN(8))
		}
		switch o.Code {
		case ir.Perm:
			o.Imm = uint64(r.IntN(9)) % 7 * uint64(r.IntN(2))
		case ir.Dot2, ir.Dot4:
			o.Imm &= 7
		case ir.Add, ir.Sub:
			if o.Type == ir.S32 {
				o.Mode = ir.Sat * ir.Mode(r.IntN(2))
			}
		case ir.Shl, ir.Shr, ir.Mask, ir.Sgxt:
			o.Mode = ir.Wrap * ir.Mode(r.IntN(2))
		case ir.Funnel:
			o.Mode = ir.Wrap*ir.Mode(r.IntN(2)) | ir.High*ir.Mode(r.IntN(2)) | ir.Left*ir.Mode(r.IntN(2))
		}
		var s [4]term
		for k := range s {
			switch r.IntN(4) {
			case 0:
				s[k] = x.num(64, edges[r.IntN(len(edges))])
			case 1:
				s[k] = x.num(64, uint64(r.IntN(66)))
			default:
				s[k] = list[max(0, len(list)-1-r.IntN(12))]
			}
		}
		if o.Code == ir.Sel || o.Code == ir.Carry || o.Code == ir.Borrow {
			k := [...]int{0, 2}[truth(o.Code != ir.Sel)]
			s[k] = x.resize(s[k], 1)
		}
		list = append(list, x.op(o, &s))
	}
	return x, list
}

// TestTerms: terms are what the emulator computes, however they are simplified.
func TestTerms(t *testing.T) {
	for seed := range uint64(40) {
		require.NotPanics(t, func() {
			defer func() {
				if e, ok := recover().(disagreement); ok {
					t.Errorf("seed %d: operation %d of %s with mode %#x, number %#x of %#x", seed, e.op.Code, e.op.Type, e.op.Mode, e.op.Imm, e.args)
				}
			}()
			random(rand.New(rand.NewPCG(seed, 1)), 60)
		})
	}
}

// TestGates: the gates of terms compute what the terms are in each sample, also where equal ones are made one.
func TestGates(t *testing.T) {
	for seed := range uint64(10) {
		x, list := random(rand.New(rand.NewPCG(seed, 2)), 40)
		b := newBlaster(x)
		b.g.reduces = seed%2 == 1
		for _, r := range list {
			b.of(r)
		}
		for i := range samples {
			value := make([]bool, len(b.g.ins))
			given := make([]bool, len(b.g.ins))
			for r, bits := range b.bits { // what the gates are given
				switch k := x.kind(r); {
				case k == leaf || k == product || k == opaque:
					for at, l := range bits {
						if b.g.ins[l.Var()][0] < 0 && l > 1 {
							value[l.Var()], given[l.Var()] = x.vals[r][i]>>at&1 == 1 != (l&1 == 1), true
						}
					}
				}
			}
			for v, in := range b.g.ins {
				if in[0] >= 0 {
					of := func(l sat.Lit) bool { return value[l.Var()] != (l&1 == 1) }
					value[v] = of(in[0]) && of(in[1])
					given[v] = (given[in[0].Var()] || in[0] < 2) && (given[in[1].Var()] || in[1] < 2)
				}
			}
			for _, r := range list {
				for at, l := range b.of(r) {
					if given[l.Var()] || l < 2 {
						want := x.vals[r][i]>>at&1 == 1
						require.Equalf(t, want, value[l.Var()] != (l&1 == 1), "seed %d, sample %d, bit %d of %s", seed, i, at, x.text(r, 3))
					}
				}
			}
		}
	}
}

// TestReduced: numbers that are computed in other ways are the same gates, and those that differ on few inputs are not.
func TestReduced(t *testing.T) {
	x := newTerms(1 << 16)
	p, q := x.named(32, "p", true), x.named(32, "q", true)
	b := newSweeper(x).b
	b.g.reduces = true
	and, or, xor := x.and(p, q), x.or(p, q), x.xor(p, q)
	require.NotEqual(t, x.add(p, q), x.add(and, or))
	require.Equal(t, b.of(x.add(p, q)), b.of(x.add(and, or)))
	require.Equal(t, b.of(x.sub(or, and)), b.of(xor))
	require.Equal(t, b.of(x.ult(p, q)), b.of(x.not(x.or(x.ult(q, p), x.eq(p, q)))))
	rare := x.eq(x.xor(p, x.num(32, 0x12345678)), q)
	require.NotEqual(t, b.of(x.ite(rare, p, q)), b.of(q))
	mem, at := x.intern(node{kind: start}), x.named(64, "at", true)
	word := x.load(mem, place{ir.Global, at, 4}, x.num(1, 1))
	low, high := x.load(mem, place{ir.Global, at, 2}, x.num(1, 1)), x.load(mem, place{ir.Global, x.add(at, x.num(64, 2)), 2}, x.num(1, 1))
	require.Equal(t, b.of(word), b.of(x.concat(high, low)))
}
