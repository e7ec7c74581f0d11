package lower_test

import (
	"strings"
	"testing"
)

// floatForms are instructions of floating-point numbers whose results are exactly rounded.
func floatForms() []string {
	var out []string
	for _, rnd := range strings.Fields("rn rz rm rp") {
		for _, mods := range []string{"", ".ftz", ".sat", ".ftz.sat"} {
			out = append(out, "f add."+rnd+mods+".f32 fd, fa, fb", "f sub."+rnd+mods+".f32 fd, fa, fb", "f mul."+rnd+mods+".f32 fd, fa, fb",
				"f fma."+rnd+mods+".f32 fd, fa, fb, fc")
		}
		out = append(out, each("add sub mul", "x $T."+rnd+".f64 xd, xa, xb")...)
		out = append(out, "x fma."+rnd+".f64 xd, xa, xb, xc")
		out = append(out, each("s32 u32", "f cvt."+rnd+".f32.$T fd, ra")...)
		out = append(out, each("s64 u64", "f cvt."+rnd+".f32.$T fd, la")...)
		out = append(out, each("s64 u64", "x cvt."+rnd+".f64.$T xd, la")...)
		out = append(out, "f cvt."+rnd+".f32.f64 fd, xa", "f cvt."+rnd+".ftz.sat.f32.f64 fd, xa")
	}
	for _, rnd := range strings.Fields("rni rzi rmi rpi") {
		out = append(out, each("s32 u32", "r cvt."+rnd+".$T.f32 rd, fa")...)
		out = append(out, each("s32 u32", "r cvt."+rnd+".ftz.$T.f32 rd, fa")...)
		out = append(out, each("s32 u32", "r cvt."+rnd+".$T.f64 rd, xa")...)
		out = append(out, each("s64 u64", "l cvt."+rnd+".$T.f32 ld, fa")...)
		out = append(out, each("s64 u64", "l cvt."+rnd+".$T.f64 ld, xa")...)
		out = append(out, each("s32 u32", "r cvt."+rnd+".$T.f16 rd, ha")...)
		out = append(out, "f cvt."+rnd+".f32.f32 fd, fa", "f cvt."+rnd+".ftz.f32.f32 fd, fa", "f cvt."+rnd+".sat.f32.f32 fd, fa",
			"x cvt."+rnd+".f64.f64 xd, xa", "h cvt."+rnd+".f16.f16 hd, ha")
	}
	for _, op := range []string{"min", "max"} {
		for _, mods := range []string{"", ".ftz", ".NaN", ".ftz.NaN", ".xorsign.abs"} {
			out = append(out, "f "+op+mods+".f32 fd, fa, fb")
		}
		out = append(out, "x "+op+".f64 xd, xa, xb")
		for _, mods := range []string{"", ".ftz", ".NaN", ".xorsign.abs", ".ftz.NaN.xorsign.abs"} {
			out = append(out, "h "+op+mods+".f16 hd, ha, hb", "r "+op+mods+".f16x2 rd, ra, rb")
		}
		for _, mods := range []string{"", ".NaN", ".xorsign.abs", ".NaN.xorsign.abs"} {
			out = append(out, "h "+op+mods+".bf16 hd, ha, hb", "r "+op+mods+".bf16x2 rd, ra, rb")
		}
	}
	for _, c := range strings.Fields("eq ne lt le gt ge equ neu ltu leu gtu geu num nan") {
		out = append(out, "p setp."+c+".f32 pd, fa, fb", "p setp."+c+".ftz.f32 pd, fa, fb", "p setp."+c+".f64 pd, xa, xb",
			"p setp."+c+".f16 pd, ha, hb", "p setp."+c+".f16x2 pd|pe, ra, rb; and.pred pe, pe, pa; xor.pred pd, pd, pe")
	}
	out = append(out, signs()...)
	for _, mods := range []string{"", ".ftz", ".sat", ".ftz.sat"} {
		out = append(out, "h add"+mods+".f16 hd, ha, hb", "h sub"+mods+".f16 hd, ha, hb", "h mul"+mods+".f16 hd, ha, hb",
			"r add"+mods+".f16x2 rd, ra, rb", "r sub"+mods+".f16x2 rd, ra, rb", "r mul"+mods+".f16x2 rd, ra, rb",
			"r fma.rn"+mods+".f16x2 rd, ra, rb, rc", "h fma.rn"+mods+".f16 hd, ha, hb, hc")
	}
	return append(out, "h fma.rn.relu.f16 hd, ha, hb, hc", "r fma.rn.relu.f16x2 rd, ra, rb, rc", "h fma.rn.bf16 hd, ha, hb, hc",
		"r fma.rn.bf16x2 rd, ra, rb, rc", "r fma.rn.relu.bf16x2 rd, ra, rb, rc",
		"h neg.f16 hd, ha", "r neg.f16x2 rd, ra", "h abs.f16 hd, ha", "r abs.f16x2 rd, ra", "r neg.bf16x2 rd, ra", "r abs.bf16x2 rd, ra",
		"f neg.f32 fd, fa", "f abs.f32 fd, fa", "f neg.ftz.f32 fd, fa", "f abs.ftz.f32 fd, fa", "x neg.f64 xd, xa", "x abs.f64 xd, xa",
		"f copysign.f32 fd, fa, fb", "x copysign.f64 xd, xa, xb", "p testp.finite.f32 pd, fa", "p testp.subnormal.f64 pd, xa",
		"p testp.normal.f32 pd, fa", "p testp.infinite.f32 pd, fa", "p testp.notanumber.f64 pd, xa", "p testp.number.f32 pd, fa",
		"f neg.f32 fd, fa; fma.rn.f32 fd, fd, fb, fc", "f abs.f32 fd, fb; fma.rn.f32 fd, fa, fd, fc; add.rn.f32 fd, fd, fa",
		"f add.rn.f32 fd, fa, 0f3f800000", "f mul.rn.f32 fd, fa, 0f40490fdb", "f fma.rn.f32 fd, fa, 0fbf000000, fc", "f fma.rn.f32 fd, fa, fb, 0f00000001",
		"x mul.rn.f64 xd, xa, 0d400921FB54442D18", "x add.rn.f64 xd, xa, 0d3FF0000000000000", "x fma.rn.f64 xd, xa, 0dBFE0000000000000, xb",
		"f selp.f32 fd, fa, fb, pa", "x selp.f64 xd, xa, xb, pa", "f slct.f32.s32 fd, fa, fb, rc", "r slct.s32.f32 rd, ra, rb, fc",
		"r set.gt.u32.f32 rd, fa, fb", "f set.le.ftz.f32.f32 fd, fa, fb", "r set.ne.u32.f64 rd, xa, xb", "r set.ge.f16x2.f16x2 rd, ra, rb",
		"r set.lt.bf16x2.bf16x2 rd, ra, rb", "r set.gt.u32.f16x2 rd, ra, rb", "r set.neu.ftz.s32.f16x2 rd, ra, rb", "r set.le.u32.bf16x2 rd, ra, rb",
		"p setp.lt.and.f32 pd|pe, fa, fb, pa; xor.pred pd, pd, pe", "p setp.geu.or.f64 pd|pe, xa, xb, !pb; and.pred pd, pd, pe",
		"x cvt.f64.f32 xd, fa", "x cvt.rn.f64.s32 xd, ra", "x cvt.rn.f64.u32 xd, ra", "f cvt.f32.f16 fd, ha", "x cvt.f64.f16 xd, ha",
		"h cvt.rn.f16.f32 hd, fa", "h cvt.rz.f16.f32 hd, fa", "h cvt.rn.bf16.f32 hd, fa", "h cvt.rn.f16.f64 hd, xa", "f cvt.sat.f32.f32 fd, fa",
		"h cvt.rn.relu.f16.f32 hd, fa", "h cvt.rn.relu.bf16.f32 hd, fa", "r cvt.rn.f16x2.f32 rd, fa, fb", "r cvt.rn.relu.bf16x2.f32 rd, fa, fb",
		"r cvt.rz.bf16x2.f32 rd, fa, fb",
		"r cvt.rzi.s8.f32 rd, fa", "r cvt.rzi.u16.f32 rd, fa", "r cvt.rni.s16.f64 rd, xa", "h cvt.rzi.u16.f16 hd, ha",
		"f cvt.rn.f32.s8 fd, ra", "f cvt.rn.f32.u16 fd, ha", "x cvt.rn.f64.s16 xd, ha", "h cvt.rn.f16.s32 hd, ra", "h cvt.rz.f16.u16 hd, ha",
		"f shr.u32 t, ra, 8; cvt.rn.f32.u8 fd, t", "f shr.u32 t, ra, 16; cvt.rn.f32.u16 fd, t",
		"f div.rn.f32 fd, fa, fb", "f div.rz.ftz.f32 fd, fa, fb", "x div.rn.f64 xd, xa, xb", "f sqrt.rn.f32 fd, fa", "f sqrt.rn.ftz.f32 fd, fa",
		"x sqrt.rn.f64 xd, xa", "f rcp.rn.f32 fd, fa", "f rcp.rp.f32 fd, fa", "x rcp.rn.f64 xd, xa", "x div.rz.f64 xd, xa, xb",
		"r max.f16x2 t, ra, rb; max.f16x2 rd, t, rc", "r min.bf16x2 t, ra, rb; min.bf16x2 rd, t, rc", "r max.NaN.f16x2 t, ra, rb; max.NaN.f16x2 rd, t, rc",
		"r max.f16x2 t, ra, rb; min.f16x2 rd, t, rc", "f cvt.sat.f32.f16 fd, ha", "r cvt.rn.satfinite.f16x2.f32 rd, fa, fb",
		"r cvt.rn.relu.satfinite.bf16x2.f32 rd, fa, fb", "h cvt.rz.satfinite.f16.f32 hd, fa", "h cvt.rn.relu.satfinite.bf16.f32 hd, fa",
		"r cvt.rn.tf32.f32 rd, fa", "r cvt.rz.relu.tf32.f32 rd, fa",
		"r mov.b32 {ha, hb}, ra; mov.b32 rd, {hb, ha}", "r mul.bf16x2 rd, ra, rb", "r add.bf16x2 rd, ra, rb")
}

func TestFloatForms(t *testing.T) {
	differential(t, floatForms(), []string{"sm_80", "sm_90"})
	differential(t, []string{"f cvt.f32.f16 fd, ha", "f cvt.sat.f32.f16 fd, ha", "x cvt.f64.f16 xd, ha"}, []string{"sm_70", "sm_75"})
}

// signs are forms whose operands are negated, or without their signs, and comparisons that depend on another predicate.
func signs() (out []string) {
	for _, c := range strings.Fields("eq ne lt le gt ge equ neu ltu leu gtu geu") {
		for i, b := range strings.Fields("and or xor") {
			last := []string{"pa", "!pb"}[i%2]
			other := []string{"!pa", "pb"}[i%2]
			out = append(out, "p setp."+c+"."+b+".f32 pd, fa, fb, "+last, "p setp."+c+"."+b+".f32 pd, fa, 0f3f000000, "+other,
				"p abs.f32 fd, fa; setp."+c+"."+b+".f32 pd, fd, fb, "+other, "p abs.f32 fd, fa; setp."+c+"."+b+".f32 pd, fd, 0f7f800000, "+last)
		}
		out = append(out, "p setp."+c+".or.f32 pd, fa, fb, !pa", "p setp."+c+".and.f32 pd, fa, fb, !pa", "p setp."+c+".or.f32 pd, fa, fb, pb",
			"p abs.f32 fd, fa; abs.f32 fc, fb; setp."+c+".f32 pd, fd, fc", "p neg.f32 fd, fb; setp."+c+".f32 pd, fa, fd",
			"p abs.f32 fd, fb; neg.f32 fd, fd; setp."+c+".f32 pd, fa, fd", "f set."+c+".f32.f32 fd, fa, fb", "f abs.f32 fd, fa; set."+c+".f32.f32 fd, fd, fb",
			"f set."+c+".f32.f32 fd, fa, 0f40000000")
	}
	const a, c = "abs.f32 fd, fa; ", "abs.f32 fd, fc; "
	const number = "min.f32 fd, fa, 0f7f800000; abs.f32 fd, fd; " // the sign of what is none is open
	for _, minus := range []string{"", "neg.f32 fd, fd; "} {
		out = append(out, "f "+a+minus+"mul.rn.f32 fd, fd, fb", "f "+a+minus+"mul.rn.f32 fd, fd, 0f4b800000", "f "+a+minus+"add.rn.f32 fd, fd, fb",
			"f "+a+minus+"fma.rn.f32 fd, fd, fb, fc", "f "+a+minus+"fma.rn.f32 fd, fd, fb, 0f3f000000", "f "+a+minus+"fma.rn.f32 fd, fd, 0f3f000000, fc",
			"f "+c+minus+"fma.rn.f32 fd, fa, fb, fd", "f "+c+minus+"fma.rn.f32 fd, fa, 0f3f000000, fd", "f "+number+minus+"selp.f32 fd, fd, fb, pa",
			"f "+number+minus+"selp.f32 fd, fb, fd, !pa", "f "+number+minus+"selp.f32 fd, fb, fd, pb", "f "+number+minus+"selp.f32 fd, fd, 0f3f000000, pa",
			"x "+number+minus+"cvt.f64.f32 xd, fd", "x abs.f64 xd, xa; mul.rn.f64 xd, xd, xb", "x neg.f64 xd, xb; mul.rn.f64 xd, xa, xd")
		for _, t := range strings.Fields("u8 u16 u32 s8 s16 s32") {
			out = append(out, "r "+a+minus+"cvt.rni."+t+".f32 rd, fd")
		}
	}
	return append(out, "f shr.s32 rd, ra, 24; cvt.rn.f32.s32 fd, rd", "f shr.u32 rd, ra, 24; cvt.rn.f32.u32 fd, rd",
		"x shr.u32 rd, ra, 24; cvt.rn.f64.u32 xd, rd", "r sub.s32 rd, ra, rb; max.s32 rd, rd, 7", "r sub.s32 rd, ra, rb; min.s32 rd, rd, rc",
		"r sub.s32 rd, ra, rb; max.s32 rd, rd, rc; max.s32 rd, rd, 0", "r sub.u32 rd, ra, rb; min.u32 rd, rd, rc", "r shl.b32 rd, ra, 3; sub.u32 rd, rb, rd")
}
