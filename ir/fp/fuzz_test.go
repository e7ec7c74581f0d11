package fp

import "testing"

func FuzzArithmetic(f *testing.F) {
	o := newOperands(6)
	for i := range 64 {
		x := o.floats(arithmetic[i%4])
		f.Add(uint8(i), x[0], x[1], x[2])
	}
	f.Fuzz(func(t *testing.T, how uint8, a, b, c uint64) {
		format, r := arithmetic[how%4], allRounds[how/4%5]
		mask := format.sign()<<1 - 1
		checkExact(t, format, r, a&mask, b&mask, c&mask)
		for flags := range Flags(16) { // no panic, and no bits above the width
			m := Mode{Round: r, Flags: flags}
			for _, v := range []uint64{Add(format, m, a, b), FMA(format, m, a, b, c), Div(format, m, a, b), Sqrt(format, m, a),
				Min(format, flags<<2, a, b), Integral(format, m, a), Neg(format, flags, a),
				Convert(format, format, m, a), Convert(format, F32, m, b)} {
				if v&^mask != 0 {
					t.Errorf("%#x is too wide for %v", v, ptxName[format])
				}
			}
		}
	})
}

// sink keeps the compiler from removing what is measured.
var sink uint64

func benchmark(b *testing.B, f Format, m Mode, op func(f Format, m Mode, a, b, c uint64) uint64) {
	o := newOperands(7)
	var x [1 << 10][3]uint64
	for i := range x { // numbers of programs: about 1, and rarely special
		for k := range x[i] {
			x[i][k] = near(f, o.rng.NormFloat64())
		}
	}
	i := 0
	for b.Loop() {
		v := &x[i&(len(x)-1)]
		sink = op(f, m, v[0], v[1], v[2])
		i++
	}
	b.ReportMetric(float64(b.N)/b.Elapsed().Seconds()/1e6, "M/s")
}

func BenchmarkFMA(b *testing.B) {
	for _, f := range arithmetic {
		for _, m := range []Mode{{}, {Flags: FTZ}, {Round: RZ}} {
			name := ptxName[f] + "." + roundNames[m.Round]
			if m.Flags != 0 {
				name += ".ftz"
			}
			b.Run(name, func(b *testing.B) { benchmark(b, f, m, FMA) })
		}
	}
}

func BenchmarkAdd(b *testing.B) {
	for _, f := range arithmetic {
		b.Run(ptxName[f], func(b *testing.B) {
			benchmark(b, f, Mode{}, func(f Format, m Mode, x, y, _ uint64) uint64 { return Add(f, m, x, y) })
		})
	}
}

func BenchmarkMul(b *testing.B) {
	for _, f := range arithmetic {
		b.Run(ptxName[f], func(b *testing.B) {
			benchmark(b, f, Mode{}, func(f Format, m Mode, x, y, _ uint64) uint64 { return Mul(f, m, x, y) })
		})
	}
}
