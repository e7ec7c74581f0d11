package program

import (
	"fmt"
	"slices"
	"strings"

	"optcheck/ptx"
	"optcheck/target"
	"optcheck/toolchain"
)

// Param is a parameter that rewritten kernels have beside the program's.
type Param struct{ Name, Type string }

// Params are those parameters, in order. All but the first are words.
//
//   - scratch: the memory that is stressed
//   - gx, gy, gz: the program's grid
//   - ba, bb: block n of the launch is block (ba·n + bb) mod blocks; those behind the
//     grid stress
//   - wa, wb: likewise for the full warps of a block
//   - rounds: of stress; loads, stores: bits of the up to five accesses of a round
//   - random: 1 if a round is one access drawn at random, of a line drawn at random
//   - step: by how many lines a warp goes on each round
//   - lines, line, lane, base, mask: round r of a warp w accesses
//     ((w + r·step) mod lines)·line + base, modulo mask+1, plus lane bytes for each lane
//   - seed: of what is drawn
//   - share: the per cent of the program's own blocks that stress, where none are added
var Params = func() (list []Param) {
	list = append(list, Param{"scratch", "u64"})
	for _, name := range strings.Fields("gx gy gz ba bb wa wb rounds loads stores random step lines line lane base mask seed share") {
		list = append(list, Param{name, "u32"})
	}
	return list
}()

// sequenceLength is how many accesses a round has at most.
const sequenceLength = 5

// placing are the parameters that ids follow from. Functions find them in a variable, in which each thread of a kernel stores them first.
var placing = strings.Fields("gx gy gz ba bb wa wb")

const placingVar = "optcheck_placing"

// declaration is that variable.
func declaration() string {
	return fmt.Sprintf(".global .align 4 .b8 %s[%d];\n", placingVar, 4*len(placing))
}

// prologue is what stands in front of the program's code: ids, and for further blocks
// the stress. Those of functions, which know no parameters, have the ids alone; tells stores for them what these follow from.
func prologue(m *ptx.Module, entry, tells bool) string {
	var b strings.Builder
	f := func(format string, args ...any) { fmt.Fprintf(&b, "\t"+format+"\n", args...) }
	load := func(to, name string) { f("ld.param.u32 %%optcheck_%s, [optcheck_%s];", to, name) }
	if !entry {
		load = func(to, name string) {
			f("ld.volatile.global.u32 %%optcheck_%s, [%s+%d];", to, placingVar, 4*slices.Index(placing, name))
		}
	}
	f("\n\t.reg .b32 %%optcheck_<16>;\n\t.reg .b64 %%optcheck_d<2>;\n\t.reg .pred %%optcheck_p<12>;")
	for _, r := range []string{"tid", "ctaid", "nctaid"} {
		f(".reg .b32 %%optcheck_%s_x, %%optcheck_%[1]s_y, %%optcheck_%[1]s_z;", r)
	}
	// The warp: 0 is the thread's number in its block, 1 its warp, 2 the full warps.
	f("mov.u32 %%optcheck_0, %%tid.z;\n\tmov.u32 %%optcheck_1, %%ntid.y;\n\tmov.u32 %%optcheck_2, %%tid.y;")
	f("mad.lo.u32 %%optcheck_0, %%optcheck_0, %%optcheck_1, %%optcheck_2;\n\tmov.u32 %%optcheck_3, %%ntid.x;\n\tmov.u32 %%optcheck_2, %%tid.x;")
	f("mad.lo.u32 %%optcheck_0, %%optcheck_0, %%optcheck_3, %%optcheck_2;")
	f("mov.u32 %%optcheck_2, %%ntid.z;\n\tmul.lo.u32 %%optcheck_2, %%optcheck_2, %%optcheck_1;")
	f("mul.lo.u32 %%optcheck_2, %%optcheck_2, %%optcheck_3;\n\tshr.u32 %%optcheck_2, %%optcheck_2, 5;\n\tshr.u32 %%optcheck_1, %%optcheck_0, 5;")
	// The block: 4 is its number.
	load("nctaid_x", "gx")
	load("nctaid_y", "gy")
	load("nctaid_z", "gz")
	load("4", "ba")
	load("5", "bb")
	f("mov.u32 %%optcheck_6, %%ctaid.x;\n\tmad.lo.u32 %%optcheck_4, %%optcheck_4, %%optcheck_6, %%optcheck_5;\n\tmov.u32 %%optcheck_6, %%nctaid.x;")
	f("rem.u32 %%optcheck_4, %%optcheck_4, %%optcheck_6;")
	f("mul.lo.u32 %%optcheck_5, %%optcheck_nctaid_x, %%optcheck_nctaid_y;\n\tmul.lo.u32 %%optcheck_6, %%optcheck_5, %%optcheck_nctaid_z;")
	if entry {
		f("setp.lt.u32 %%optcheck_p0, %%optcheck_4, %%optcheck_6;\n\t@%%optcheck_p0 bra $optcheck_ids;")
		stress(f, load, m)
		b.WriteString("$optcheck_ids:\n")
	}
	for i := 0; tells && i < len(placing); i++ {
		load("5", placing[i])
		f("st.volatile.global.u32 [%s+%d], %%optcheck_5;", placingVar, 4*i)
	}
	f("rem.u32 %%optcheck_ctaid_x, %%optcheck_4, %%optcheck_nctaid_x;\n\tdiv.u32 %%optcheck_6, %%optcheck_4, %%optcheck_nctaid_x;")
	f("rem.u32 %%optcheck_ctaid_y, %%optcheck_6, %%optcheck_nctaid_y;\n\tdiv.u32 %%optcheck_ctaid_z, %%optcheck_6, %%optcheck_nctaid_y;")
	// What is left of the last warp keeps its place.
	load("4", "wa")
	load("5", "wb")
	f("setp.ge.u32 %%optcheck_p0, %%optcheck_1, %%optcheck_2;\n\t@%%optcheck_p0 bra $optcheck_warp;")
	f("mad.lo.u32 %%optcheck_4, %%optcheck_4, %%optcheck_1, %%optcheck_5;\n\trem.u32 %%optcheck_4, %%optcheck_4, %%optcheck_2;")
	f("and.b32 %%optcheck_0, %%optcheck_0, 31;\n\tmad.lo.u32 %%optcheck_0, %%optcheck_4, 32, %%optcheck_0;")
	b.WriteString("$optcheck_warp:\n")
	f("mov.u32 %%optcheck_1, %%ntid.y;\n\trem.u32 %%optcheck_tid_x, %%optcheck_0, %%optcheck_3;\n\tdiv.u32 %%optcheck_0, %%optcheck_0, %%optcheck_3;")
	f("rem.u32 %%optcheck_tid_y, %%optcheck_0, %%optcheck_1;\n\tdiv.u32 %%optcheck_tid_z, %%optcheck_0, %%optcheck_1;")
	b.WriteString(programLabel + ":\n")
	return b.String()
}

// stress is the code of the blocks behind the grid. 4 and 6 are the block's number and
// the program's blocks, 1 and 2 the warp and the warps of a block, 0 the thread.
func stress(f func(string, ...any), load func(to, name string), m *ptx.Module) {
	ld, st := "ld.relaxed.gpu.global.u32", "st.relaxed.gpu.global.u32"
	if toolchain.CompareVersions(m.Version, "6.0") < 0 || target.Compare(strings.TrimRight(m.Target, "af"), "sm_70") < 0 {
		ld, st = "ld.volatile.global.u32", "st.volatile.global.u32"
	}
	load("5", "loads")
	load("7", "stores")
	for k := range sequenceLength {
		f("and.b32 %%optcheck_8, %%optcheck_5, %d;\n\tsetp.ne.u32 %%optcheck_p%d, %%optcheck_8, 0;", 1<<k, 1+k)
		f("and.b32 %%optcheck_8, %%optcheck_7, %d;\n\tsetp.ne.u32 %%optcheck_p%d, %%optcheck_8, 0;", 1<<k, 1+sequenceLength+k)
	}
	f("sub.u32 %%optcheck_4, %%optcheck_4, %%optcheck_6;\n\tmad.lo.u32 %%optcheck_1, %%optcheck_4, %%optcheck_2, %%optcheck_1;") // the warp among those that stress
	f("ld.param.u64 %%optcheck_d0, [optcheck_scratch];\n\tcvta.to.global.u64 %%optcheck_d0, %%optcheck_d0;")
	load("5", "lane")
	f("and.b32 %%optcheck_0, %%optcheck_0, 31;\n\tmul.wide.u32 %%optcheck_d1, %%optcheck_0, %%optcheck_5;\n\tadd.u64 %%optcheck_d0, %%optcheck_d0, %%optcheck_d1;")
	load("2", "step")
	load("3", "lines")
	load("4", "line")
	load("5", "base")
	load("6", "mask")
	load("7", "rounds")
	load("8", "seed")
	load("9", "random")
	f("mad.lo.u32 %%optcheck_8, %%optcheck_1, 2654435769, %%optcheck_8;\n\tmov.u32 %%optcheck_10, 0;\n\tmov.u32 %%optcheck_11, 0;")
	f("\n$optcheck_round:\n\t.pragma \"nounroll\";\n\tsetp.ge.u32 %%optcheck_p0, %%optcheck_10, %%optcheck_7;\n\t@%%optcheck_p0 bra $optcheck_end;")
	f("mad.lo.u32 %%optcheck_8, %%optcheck_8, 1664525, 1013904223;") // Numerical Recipes' generator
	f("setp.eq.u32 %%optcheck_p0, %%optcheck_9, 0;\n\t@%%optcheck_p0 bra $optcheck_at;")
	f("shr.u32 %%optcheck_1, %%optcheck_8, 8;\n\tand.b32 %%optcheck_12, %%optcheck_8, 128;")
	f("setp.ne.u32 %%optcheck_p1, %%optcheck_12, 0;\n\tsetp.eq.u32 %%optcheck_p%d, %%optcheck_12, 0;", 1+sequenceLength)
	f("\n$optcheck_at:\n\trem.u32 %%optcheck_12, %%optcheck_1, %%optcheck_3;\n\tmad.lo.u32 %%optcheck_12, %%optcheck_12, %%optcheck_4, %%optcheck_5;")
	f("and.b32 %%optcheck_12, %%optcheck_12, %%optcheck_6;\n\tcvt.u64.u32 %%optcheck_d1, %%optcheck_12;\n\tadd.u64 %%optcheck_d1, %%optcheck_d1, %%optcheck_d0;")
	for k := range sequenceLength {
		// ptxas deletes even a relaxed load whose value nobody needs.
		f("@%%optcheck_p%d %s %%optcheck_13, [%%optcheck_d1];\n\t@%%optcheck_p%[1]d xor.b32 %%optcheck_11, %%optcheck_11, %%optcheck_13;", 1+k, ld)
		f("@%%optcheck_p%d %s [%%optcheck_d1], %%optcheck_10;", 1+sequenceLength+k, st)
	}
	f("add.u32 %%optcheck_1, %%optcheck_1, %%optcheck_2;\n\tadd.u32 %%optcheck_10, %%optcheck_10, 1;\n\tbra $optcheck_round;")
	f("\n$optcheck_end:\n\tsetp.ne.u32 %%optcheck_p0, %%optcheck_11, 2654435769;\n\t@%%optcheck_p0 bra $optcheck_done;")
	f("%s [%%optcheck_d0], %%optcheck_11;\n\n$optcheck_done:\n\tret;", st)
}
