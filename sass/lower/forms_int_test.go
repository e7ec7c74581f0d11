package lower_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"
)

// each makes forms of a pattern, in which $T stands for one of some words.
func each(words, pattern string) (out []string) {
	for _, w := range strings.Fields(words) {
		out = append(out, strings.ReplaceAll(pattern, "$T", w))
	}
	return out
}

// integerForms are instructions of integers.
func integerForms() []string {
	out := []string{
		"r add.cc.u32 rd, ra, rb; addc.u32 rd, rd, rc",
		"r add.cc.u32 t, ra, rb; addc.cc.u32 t, rc, rb; addc.u32 rd, ra, rc",
		"r sub.cc.u32 t, ra, rb; subc.cc.u32 t, rc, rb; subc.u32 rd, ra, rc",
		"r mad.lo.cc.u32 t, ra, rb, rc; madc.hi.u32 rd, ra, rb, rc",
		"r mad.hi.cc.u32 t, ra, rb, rc; addc.u32 rd, t, 5",
		"l add.cc.u64 le, la, lb; addc.u64 ld, lc, le",
		"r not.b32 rd, ra", "r cnot.b32 rd, ra", "l not.b64 ld, la",
		"r lop3.b32 rd, ra, rb, rc, 0x2d", "r lop3.b32 rd, ra, rb, 77, 0xe8",
		"r neg.s32 rd, ra", "r abs.s32 rd, ra", "l neg.s64 ld, la", "l abs.s64 ld, la",
		"r prmt.b32 rd, ra, rb, rc", "r prmt.b32 rd, ra, rb, 0x9a37", "r prmt.b32 rd, ra, 0, 0x4140",
		"r popc.b32 rd, ra", "r popc.b64 rd, la", "r clz.b32 rd, ra", "r clz.b64 rd, la", "r brev.b32 rd, ra", "l brev.b64 ld, la",
		"r bfi.b32 rd, ra, rb, rc, 7", "r bfi.b32 rd, ra, rb, 5, rc", "r bfi.b32 rd, ra, rb, 5, 9", "l and.b32 t, ra, 63; and.b32 rd, rb, 127; bfi.b64 ld, la, lb, t, rd",
		"r bmsk.clamp.b32 rd, ra, rb", "r bmsk.wrap.b32 rd, ra, rb",
		"r sad.s32 rd, ra, rb, rc", "r sad.u32 rd, ra, rb, rc",
		"r mul24.lo.s32 rd, ra, rb", "r mad24.hi.u32 rd, ra, rb, rc",
		"r selp.b32 rd, ra, rb, pa", "l selp.b64 ld, la, lb, pa", "r slct.s32.s32 rd, ra, rb, rc",
		"r dp4a.s32.u32 rd, ra, rb, rc", "r dp4a.u32.u32 rd, ra, rb, rc", "r dp4a.s32.s32 rd, ra, rb, rc",
		"r dp2a.lo.s32.u32 rd, ra, rb, rc", "r dp2a.hi.u32.s32 rd, ra, rb, rc", "r dp2a.hi.s32.s32 rd, ra, rb, rc",
		"p and.pred pd, pa, pb", "p xor.pred pd, pa, pb; or.pred pd, pd, pc", "p not.pred pd, pa",
		"p setp.lt.and.u32 pd|pe, ra, rb, pa; xor.pred pd, pd, pe", "p setp.ge.or.s64 pd|pe, la, lb, !pa; or.pred pd, pd, pe; and.pred pd, pd, pb",
		"p setp.eq.xor.s32 pd, ra, rb, pa", "p setp.gt.u32 pe, ra, rb; setp.lt.or.s32 pd, rb, rc, pe",
		"r set.gt.u32.s32 rd, ra, rb", "r mov.b32 rd, ra; @pa add.u32 rd, rd, rb; @!pb shl.b32 rd, rd, 3",
		"r sub.u32 t, ra, rb; min.s32 t, t, rc; max.s32 rd, t, 0", "r max.s32 t, ra, rb; max.s32 rd, t, rc",
		"r add.s32 t, ra, rb; max.s32 rd, t, rc", "r min.u32 t, ra, rb; min.u32 rd, t, rc", "r add.u32 t, ra, rb; min.u32 rd, t, rc",
		"r shl.b32 t, ra, 3; add.u32 rd, t, rb", "l shl.b64 le, la, 5; add.u64 ld, le, lb", "l cvt.s64.s32 le, ra; shl.b64 le, le, 4; add.u64 ld, le, lb",
		"l cvt.u64.u32 le, ra; shl.b64 le, le, 4; add.u64 ld, le, lb", "r mul.lo.u32 rd, ra, 5", "r mad.lo.u32 rd, ra, 17, rb",
		"r shr.u32 t, ra, 5; and.b32 rd, t, 0x3ff", "r shl.b32 t, ra, 9; shr.s32 rd, t, 20", "r and.b32 t, ra, rb; or.b32 t, t, rc; xor.b32 rd, t, ra",
		"l mul.wide.u32 le, ra, rb; sub.u64 ld, le, lc", "l mul.wide.s32 le, ra, rb; sub.s64 ld, lc, le", "l mad.wide.s32 ld, ra, rb, lc",
		"l mad.wide.u32 ld, ra, rb, lc", "l mad.lo.u64 ld, la, lb, lc", "l mul.hi.u64 ld, la, lb", "l mul.hi.s64 ld, la, lb",
		"l mad.hi.u64 ld, la, lb, lc", "r mad.hi.s32 rd, ra, rb, rc", "r mad.hi.u32 rd, ra, rb, rc", "r mul.hi.u32 t, ra, 0x4ec4ec4f; shr.u32 rd, t, 3",
		"r div.u32 rd, ra, 7", "r div.s32 rd, ra, 10", "r rem.u32 rd, ra, 1000", "l div.u64 ld, la, 100", "r rem.s32 rd, ra, -9",
		"r or.b32 t, rb, 1; div.u32 rd, ra, t", "r or.b32 t, rb, 1; rem.s32 rd, ra, t", "l or.b64 le, lb, 1; div.u64 ld, la, le",
		"l or.b64 le, lb, 1; rem.s64 ld, la, le", "r szext.clamp.s32 rd, ra, rb", "r szext.wrap.u32 rd, ra, rb",
		"r fns.b32 rd, ra, 3, 2", "r fns.b32 rd, ra, rb, rc", "r and.b32 t, rb, 31; fns.b32 rd, ra, t, rc",
		"r vabsdiff4.u32.u32.u32.add rd, ra, rb, rc", "r vabsdiff4.s32.s32.s32.add rd, ra, rb, rc",
		"r vmax2.s32.s32.s32 rd, ra, rb, rc", "r vmin2.u32.u32.u32 rd, ra, rb, rc", "r vadd4.u32.u32.u32 rd, ra, rb, rc",
		"r vmad.u32.u32.u32 rd, ra.h0, rb.b3, rc", "r vset.u32.u32.lt rd, ra, rb", "r vabsdiff.s32.s32.s32.add rd, ra, rb, rc",
	}
	out = append(out, each("lo.u32 hi.u32 hi.s32", "r mul.$T rd, ra, rb")...)
	for _, op := range []string{"add", "sub", "mul.lo", "min", "max"} {
		out = append(out, each("s32 u32", "r "+op+".$T rd, ra, rb")...)
		out = append(out, each("s64 u64", "l "+op+".$T ld, la, lb")...)
		out = append(out, each("s16 u16", "h "+op+".$T hd, ha, hb")...)
	}
	for _, op := range []string{"and", "or", "xor"} {
		out = append(out, "r "+op+".b32 rd, ra, rb", "l "+op+".b64 ld, la, lb", "h "+op+".b16 hd, ha, hb")
	}
	out = append(out, each("add.sat.s32 sub.sat.s32", "r $T rd, ra, rb")...)
	out = append(out, each("add.sat.s32 sub.sat.s32", "r $T rd, ra, 0x7fffffa")...) // the sign of a constant
	out = append(out, each("add.sat.s32 sub.sat.s32", "r $T rd, ra, -77")...)
	// what sm_90 makes one instruction
	for _, op := range []string{"max.s16x2", "min.u16x2", "max.s16x2.relu", "min.s16x2.relu", "max.relu.s32", "min.relu.s32"} {
		two := strings.NewReplacer(".relu", "").Replace(op)
		t := op[strings.LastIndex(op, ".")+1:]
		if t == "relu" {
			t = "s16x2"
		}
		out = append(out, fmt.Sprintf("r %s rd, ra, rb", op), fmt.Sprintf("r add.%s t, ra, rb; %s rd, t, rc", t, op),
			fmt.Sprintf("r %s t, ra, rb; %s rd, t, rc", two, op))
	}
	out = append(out, "r add.u16x2 rd, ra, rb", "r vabsdiff4.u32.u32.u32 rd, ra, rb, rc",
		"r vabsdiff4.s32.s32.s32 rd, ra, rb, rc")
	// the carry of a shifted sum with a negated operand
	out = append(out, "l shl.b64 le, la, 3; sub.u64 ld, lb, le", "l shl.b64 le, la, 6; sub.u64 ld, le, lb",
		"l cvt.s64.s32 le, ra; shl.b64 le, le, 7; sub.u64 ld, lb, le", "l cvt.s64.s32 le, ra; shl.b64 le, le, 8; sub.u64 ld, le, lb",
		"l cvt.u64.u32 le, ra; shl.b64 le, le, 31; sub.u64 ld, lb, le", "l neg.s64 le, la; shl.b64 le, le, 9; add.u64 ld, le, lb")
	// two carries of three addends, of which some are negated
	for _, f := range []string{"sub sub.u64 ld, le, lc", "add sub.u64 ld, le, lc", "add sub.u64 ld, lc, le", "sub add.u64 ld, le, lc", "sub sub.u64 ld, lc, le"} {
		first, second, _ := strings.Cut(f, " ")
		out = append(out, fmt.Sprintf("l %s.u64 le, la, lb; %s", first, second), fmt.Sprintf("l cvt.s64.s32 le, ra; %s.u64 le, lb, le; %s", first, second),
			fmt.Sprintf("l ld.param.u32 t, [n]; cvt.s64.s32 le, t; %s.u64 le, la, le; %s", first, second))
	}
	for _, op := range []string{"shl.b", "shr.u", "shr.s"} {
		out = append(out, fmt.Sprintf("r %s32 rd, ra, rb", op), fmt.Sprintf("l %s64 ld, la, rb", op), fmt.Sprintf("h %s16 hd, ha, rb", op),
			fmt.Sprintf("l %s64 ld, la, 37", op), fmt.Sprintf("r %s32 rd, ra, 11", op))
	}
	out = append(out, each("l.wrap l.clamp r.wrap r.clamp", "r shf.$T.b32 rd, ra, rb, rc")...)
	out = append(out, each("l.wrap r.clamp", "r shf.$T.b32 rd, ra, rb, 13")...)
	out = append(out, each("f4e b4e rc8 ecl ecr rc16", "r prmt.b32.$T rd, ra, rb, rc")...)
	out = append(out, each("u32 s32", "r bfe.$T rd, ra, rb, rc")...)
	out = append(out, each("u32 s32", "r bfe.$T rd, ra, 7, 9")...)
	out = append(out, each("u64 s64", "l and.b32 t, rb, 63; and.b32 rd, rc, 127; bfe.$T ld, la, t, rd")...)
	out = append(out, each("u32 s32 shiftamt.u32 shiftamt.s32", "r bfind.$T rd, ra")...)
	out = append(out, each("u64 s64 shiftamt.u64 shiftamt.s64", "r bfind.$T rd, la")...)
	for _, c := range []string{"eq", "ne", "lt", "le", "gt", "ge"} {
		out = append(out, each("s32 u32", "p setp."+c+".$T pd, ra, rb")...)
		out = append(out, each("s64 u64", "p setp."+c+".$T pd, la, lb")...)
	}
	for _, to := range []string{"s8", "u8", "s16", "u16"} {
		out = append(out, "r cvt.s32."+to+" rd, ra", "r cvt.sat."+to+".s32 rd, ra", "r cvt.sat."+to+".u32 rd, ra", "l cvt.u64."+to+" ld, la",
			"r cvt.sat."+to+".s64 rd, la")
	}
	return append(out, "l cvt.s64.s32 ld, ra", "r cvt.sat.s32.u32 rd, ra", "r cvt.sat.u32.s64 rd, la", "l cvt.sat.u64.s32 ld, ra", "r cvt.u32.u64 rd, la",
		"r cvt.pack.sat.u8.s32.b32 rd, ra, rb, rc", "r cvt.pack.sat.s16.s32 rd, ra, rb")
}

// exception is a form that a release, or one target of it, does not have, or gets wrong.
type exception struct{ release, target, form, why string }

var exceptions = []exception{
	{"11.2", "", "bmsk", "since 7.6"}, {"11.2", "", "szext", "since 7.6"},
	{"", "sm_80", ".xorsign", "sm_86"}, {"", "sm_80", "set.lt.bf16x2", "sm_90"}, {"", "sm_80", "mul.bf16x2", "sm_90"}, {"", "sm_80", "add.bf16x2", "sm_90"},
	{"", "sm_80", "16x2", "sm_90"}, {"", "sm_80", "relu.s32", "sm_90"}, {"11.8", "", "16x2", "since 8.0"}, {"11.8", "", "relu.s32", "since 8.0"},
	{"11.2", "", "satfinite", "since 8.1"}, {"11.8", "", "satfinite", "since 8.1"}, {"", "sm_80", "satfinite", "sm_90"},
	{"11.8", "", "tf32", "since 8.1"}, {"", "sm_80", "tf32", "sm_90"},
	{"11.2", "", ".rz.ftz.sat.f32", "ptxas 11.2 does not flush the operands of sums and differences"},
	{"11.2", "", ".rm.ftz.sat.f32", "the same"}, {"11.2", "", ".rp.ftz.sat.f32", "the same"},
}

func (e *exception) lacks(release, target, form string) bool {
	return (e.release == "" || e.release == release) && (e.target == "" || e.target == target) && strings.Contains(form, e.form)
}

func lacks(release, target, form string) bool {
	return slices.ContainsFunc(exceptions, func(e exception) bool { return e.lacks(release, target, form) })
}

func TestIntegerForms(t *testing.T) {
	differential(t, integerForms(), []string{"sm_80", "sm_90"})
}
