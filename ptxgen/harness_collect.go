package ptxgen

import (
	"fmt"
	"strings"

	"optcheck/spec"
)

// CollectName is the name of the collector: the kernel that counts the outcomes of a launch and
// resets its locations. It serves all tests.
const CollectName = "optcheck_collect"

// Layout of the collector's buffers.
const (
	// TermWords is the size of a term's row in the table: slot, number of
	// values, weight, values.
	TermWords     = 16
	MaxTermValues = TermWords - 3
	// MaxBins bounds the histogram, which a CTA keeps in shared memory.
	MaxBins = 8192
	// SampleWords is the size of a sample of an outcome without a bin; the first row holds
	// their number. MaxSamples are kept.
	SampleWords = 32
	MaxSamples  = 64
)

// CollectPointers and CollectSettings name the collector's parameters, in order. They are
// followed, for each of spec.MaxLocations locations, by the words of CollectLocation.
var (
	CollectPointers = []string{"results", "hist", "samples", "table", "counters"}
	CollectSettings = []string{"inst_count", "inst_mask", "terms", "other", "result_step", "locations", "sync_words"}
	CollectLocation = []string{"mul", "stride", "offset", "initial", "high", "width", "slot", "cell"}
)

// MaxLocations is the number of locations that the collector supports.
const MaxLocations = spec.MaxLocations

// NoSlot is the slot of a location that is not a term.
const NoSlot = 0xffffffff

// EmitCollect returns the collector for a target.
func EmitCollect(target string) (text string, v Version, err error) {
	sm, err := SM(target)
	if err != nil {
		return "", 0, err
	}
	var b strings.Builder
	f := func(format string, args ...any) { fmt.Fprintf(&b, format, args...) }
	f(".extern .shared .align 16 .b8 optcheck_bins[];\n.visible .entry %s(", CollectName)
	for l := 0; l < spec.MaxLocations; l++ {
		f(".param .u64 p%d, ", l)
	}
	for _, p := range CollectPointers {
		f(".param .u64 %s, ", p)
	}
	for i, p := range CollectSettings {
		if i > 0 {
			f(", ")
		}
		f(".param .u32 %s", p)
	}
	for _, p := range CollectLocation {
		for l := 0; l < spec.MaxLocations; l++ {
			f(", .param .u32 %s%d", p, l)
		}
	}
	f(")\n{\n\t.reg .b32 %%a<32>;\n\t.reg .b64 %%d<16>;\n\t.reg .pred %%p<4>;\n")
	for _, p := range CollectPointers {
		f("\t.reg .b64 %%s_%s;\n\tld.param.u64 %%s_%s, [%s];\n", p, p, p)
	}
	for _, p := range CollectSettings {
		f("\t.reg .b32 %%s_%s;\n\tld.param.u32 %%s_%s, [%s];\n", p, p, p)
	}
	collectHead(f)
	for l := 0; l < spec.MaxLocations; l++ {
		collectLocation(f, l)
	}
	collectTail(f)
	return b.String(), max(minVersion(target, sm), 63), nil
}

// collectHead clears the CTA's histogram and the counters of arrivals, and
// opens the loop over instances: a0 thread of the CTA, a1 threads of a CTA, a2
// instance, a3 step.
func collectHead(f func(string, ...any)) {
	f("\tmov.u32 %%a0, %%tid.x;\n\tmov.u32 %%a1, %%ntid.x;\n\tmov.u32 %%a4, %%ctaid.x;\n\tmov.u32 %%a5, %%nctaid.x;\n")
	f("\tmov.u32 %%a6, %%a0;\n$ZERO:\n\tsetp.gt.u32 %%p0, %%a6, %%s_other;\n\t@%%p0 bra $ZEROED;\n")
	f("\tmov.u32 %%a20, optcheck_bins;\n\tmad.lo.u32 %%a7, %%a6, 4, %%a20;\n\tmov.u32 %%a8, 0;\n\tst.shared.u32 [%%a7], %%a8;\n" +
		"\tadd.u32 %%a6, %%a6, %%a1;\n\tbra $ZERO;\n$ZEROED:\n")
	f("\tmov.u32 %%a20, optcheck_bins;\n\tbar.sync 0;\n\tmad.lo.u32 %%a2, %%a4, %%a1, %%a0;\n\tmul.lo.u32 %%a3, %%a1, %%a5;\n")
	f("\tmov.u32 %%a6, %%a2;\n\tmov.u32 %%a8, 0;\n$SYNC:\n\tsetp.ge.u32 %%p0, %%a6, %%s_sync_words;\n\t@%%p0 bra $LOOP;\n")
	f("\tmad.wide.u32 %%d0, %%a6, %d, %%s_counters;\n\tst.global.u32 [%%d0+%d], %%a8;\n\tadd.u32 %%a6, %%a6, %%a3;\n\tbra $SYNC;\n",
		SyncStride, CounterSync)
	f("$LOOP:\n\tsetp.ge.u32 %%p0, %%a2, %%s_inst_count;\n\t@%%p0 bra $FLUSH;\n\tmad.wide.u32 %%d1, %%a2, 4, %%s_results;\n")
}

// collectLocation copies a location's final value, if it is a term, and resets the location.
func collectLocation(f func(string, ...any), l int) {
	f("\tsetp.le.u32 %%p0, %%s_locations, %d;\n\t@%%p0 bra $TERMS;\n", l)
	for i, p := range CollectLocation[:7] {
		f("\tld.param.u32 %%a%d, [%s%d];\n", 8+i, p, l) // a8 mul … a14 slot
	}
	f("\tmul.lo.u32 %%a8, %%a8, %%a2;\n\tand.b32 %%a8, %%a8, %%s_inst_mask;\n\tmad.lo.u32 %%a8, %%a8, %%a9, %%a10;\n")
	f("\tcvt.u64.u32 %%d2, %%a8;\n\tld.param.u64 %%d3, [p%d];\n\tadd.u64 %%d2, %%d2, %%d3;\n", l)
	f("\tsetp.eq.u32 %%p1, %%a14, 0x%x;\n\tsetp.ne.u32 %%p2, %%a13, 8;\n\t@%%p1 bra $RESET%d;\n", uint32(NoSlot), l)
	f("\tld.global.u32 %%a15, [%%d2];\n\tmad.wide.u32 %%d3, %%s_result_step, %%a14, %%d1;\n\tst.global.u32 [%%d3], %%a15;\n")
	f("\t@%%p2 bra $RESET%d;\n\tld.global.u32 %%a15, [%%d2+4];\n\tcvt.u64.u32 %%d4, %%s_result_step;\n\tadd.u64 %%d3, %%d3, %%d4;\n"+
		"\tst.global.u32 [%%d3], %%a15;\n", l)
	f("$RESET%d:\n\tld.param.u32 %%a15, [cell%d];\n\tst.global.u32 [%%d2], %%a11;\n", l, l)
	f("\tmov.u32 %%a16, 0;\n\tsetp.gt.u32 %%p2, %%a15, 4;\n\t@%%p2 st.global.u32 [%%d2+4], %%a12;\n")
	f("\tsetp.gt.u32 %%p2, %%a15, 8;\n\t@%%p2 st.global.u32 [%%d2+8], %%a16;\n\t@%%p2 st.global.u32 [%%d2+12], %%a16;\n")
}

// collectTail finds the bin of an instance, counts it, and finally adds the CTA's counts to the
// histogram.
func collectTail(f func(string, ...any)) {
	f("$TERMS:\n\tmov.u32 %%a16, 0;\n\tmov.u32 %%a17, 0;\n\tmov.u32 %%a18, 0;\n") // a16 bin, a17 term, a18 unknown values
	f("$TERM:\n\tsetp.ge.u32 %%p0, %%a17, %%s_terms;\n\t@%%p0 bra $COUNT;\n\tmad.wide.u32 %%d2, %%a17, %d, %%s_table;\n", 4*TermWords)
	f("\tld.global.nc.u32 %%a8, [%%d2];\n\tld.global.nc.u32 %%a9, [%%d2+4];\n\tld.global.nc.u32 %%a10, [%%d2+8];\n")
	f("\tmad.wide.u32 %%d3, %%s_result_step, %%a8, %%d1;\n\tld.global.u32 %%a11, [%%d3];\n\tmov.u32 %%a12, 0;\n")
	f("$VALUE:\n\tsetp.ge.u32 %%p0, %%a12, %%a9;\n\t@%%p0 bra $UNKNOWN;\n\tmad.wide.u32 %%d4, %%a12, 4, %%d2;\n" +
		"\tld.global.nc.u32 %%a13, [%%d4+12];\n")
	f("\tsetp.eq.u32 %%p0, %%a13, %%a11;\n\t@%%p0 bra $FOUND;\n\tadd.u32 %%a12, %%a12, 1;\n\tbra $VALUE;\n$UNKNOWN:\n\tmov.u32 %%a18, 1;\n")
	f("$FOUND:\n\tmad.lo.u32 %%a16, %%a12, %%a10, %%a16;\n\tadd.u32 %%a17, %%a17, 1;\n\tbra $TERM;\n")
	f("$COUNT:\n\tsetp.eq.u32 %%p0, %%a18, 0;\n\t@%%p0 bra $BIN;\n\tmov.u32 %%a16, %%s_other;\n")
	f("\tatom.global.add.u32 %%a8, [%%s_samples], 1;\n\tsetp.ge.u32 %%p0, %%a8, %d;\n\t@%%p0 bra $BIN;\n", MaxSamples)
	f("\tadd.u32 %%a8, %%a8, 1;\n\tmad.wide.u32 %%d5, %%a8, %d, %%s_samples;\n\tmov.u32 %%a17, 0;\n", 4*SampleWords)
	f("$SAMPLE:\n\tsetp.ge.u32 %%p0, %%a17, %%s_terms;\n\t@%%p0 bra $BIN;\n\tmad.wide.u32 %%d2, %%a17, %d, %%s_table;\n"+
		"\tld.global.nc.u32 %%a8, [%%d2];\n", 4*TermWords)
	f("\tmad.wide.u32 %%d3, %%s_result_step, %%a8, %%d1;\n\tld.global.u32 %%a11, [%%d3];\n\tmad.wide.u32 %%d4, %%a17, 4, %%d5;\n" +
		"\tst.global.u32 [%%d4], %%a11;\n\tadd.u32 %%a17, %%a17, 1;\n\tbra $SAMPLE;\n")
	f("$BIN:\n\tmad.lo.u32 %%a7, %%a16, 4, %%a20;\n\tred.shared.add.u32 [%%a7], 1;\n\tadd.u32 %%a2, %%a2, %%a3;\n\tbra $LOOP;\n")
	f("$FLUSH:\n\tbar.sync 0;\n\tmov.u32 %%a6, %%a0;\n$ADD:\n\tsetp.gt.u32 %%p0, %%a6, %%s_other;\n\t@%%p0 bra $END;\n")
	f("\tmad.lo.u32 %%a7, %%a6, 4, %%a20;\n\tld.shared.u32 %%a8, [%%a7];\n\tsetp.eq.u32 %%p0, %%a8, 0;\n\t@%%p0 bra $NONE;\n")
	f("\tmad.wide.u32 %%d2, %%a6, 8, %%s_hist;\n\tcvt.u64.u32 %%d3, %%a8;\n\tred.global.add.u64 [%%d2], %%d3;\n$NONE:\n" +
		"\tadd.u32 %%a6, %%a6, %%a1;\n\tbra $ADD;\n$END:\n\tret;\n}\n")
}
