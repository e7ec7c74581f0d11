package ptxgen

import (
	"fmt"
	"slices"
	"strconv"

	"optcheck/litmus"
	"optcheck/spec"
)

// prologue computes, from the thread's number, its slot and instance and the addresses of the
// instance's locations.
func (e *harnessEmitter) prologue() {
	s := e.h.Shape
	e.f("\tmov.u32 %%cta, %%ctaid.x;\n\tmov.u32 %%thr, %%tid.x;\n")
	e.divide("%unit", "%rank", "%cta", s.Ranks)
	e.f("\tadd.u32 %%rank, %%rank, %s;\n", set("add_rank"))
	e.divide("", "%rank", "%rank", s.Ranks)
	e.f("\tmad.lo.u32 %%logical, %%unit, %s, %s;\n\trem.u32 %%logical, %%logical, %s;\n", set("mul_unit"), set("add_unit"), set("units"))
	e.f("\tsetp.lt.u32 %%testing, %%logical, %s;\n", set("test_units"))
	e.divide("%block", "%group", "%logical", s.Units)
	e.f("\tmul.lo.u32 %%block, %%block, %s;\n\tmad.lo.u32 %%block, %%group, %s, %%block;\n\tand.b32 %%block, %%block, %s;\n",
		set("mul_block"), set("add_block"), set("block_mask"))
	e.f("\tshr.u32 %%warp, %%thr, 5;\n\tmad.lo.u32 %%warp, %%warp, %s, %s;\n\tand.b32 %%warp, %%warp, %s;\n",
		set("mul_warp"), set("add_warp"), set("warp_mask"))
	e.f("\tand.b32 %%lane, %%thr, 31;\n")
	e.f("\tand.b32 %%ws, %%warp, %d;\n\tshr.u32 %%a0, %%warp, %d;\n", s.Warps-1, log2(s.Warps))
	e.f("\tand.b32 %%ls, %%lane, %d;\n\tshr.u32 %%a1, %%lane, %d;\n", s.Lanes-1, log2(s.Lanes))
	e.f("\tmad.lo.u32 %%slot, %%group, %d, %%rank;\n", s.Ranks)
	e.f("\tmad.lo.u32 %%slot, %%slot, %d, %%ws;\n\tmad.lo.u32 %%slot, %%slot, %d, %%ls;\n", s.Warps, s.Lanes)
	e.f("\tmul.lo.u32 %%a0, %%a0, %s;\n\tmad.lo.u32 %%a0, %%slot, %s, %%a0;\n\tand.b32 %%a0, %%a0, %s;\n",
		set("mul_group"), set("add_group"), set("group_mask"))
	e.f("\tmul.lo.u32 %%a1, %%a1, %s;\n\tmad.lo.u32 %%a1, %%slot, %s, %%a1;\n\tand.b32 %%a1, %%a1, %d;\n",
		set("mul_lane"), set("add_lane"), 32/s.Lanes-1)
	lanes := strconv.Itoa(log2(32 / s.Lanes))
	if e.h.Form.Banks() {
		lanes = set("log_lanes")
	}
	e.f("\tshl.b32 %%a0, %%a0, %s;\n\tor.b32 %%cinst, %%a0, %%a1;\n", lanes)
	e.f("\tshl.b32 %%a2, %%block, %s;\n\tor.b32 %%inst, %%a2, %%cinst;\n", set("log_cta"))
	e.f("\tsetp.lt.u32 %%p0, %%logical, %s;\n", set("stress_units"))
	if e.h.Form == FormDevices { // units that act elsewhere are idle here
		e.f("\tsetp.ge.and.u32 %%p0, %%logical, %s, %%p0;\n\tshr.u32 %%a0, %s, %%group;\n\tand.b32 %%a0, %%a0, 1;\n",
			set("test_units"), set("active"))
		e.f("\tsetp.ne.and.u32 %%testing, %%a0, 0, %%testing;\n")
	}
	e.f("\tselp.u32 %%other, %s, %s, %%p0;\n\tselp.u32 %%slot, %%slot, %%other, %%testing;\n", set("stress_slot"), set("idle_slot"))
	if e.h.Form.Banks() {
		e.banks()
	}
	if e.shared {
		e.f("\tmov.u32 %%win, %s_window;\n", e.h.Name)
	}
	for l := range e.t.Locations {
		e.location(l)
	}
	if e.shared {
		e.initShared()
	}
	for l := range e.t.Locations {
		if e.farther(l) {
			e.mapped(l)
		}
	}
}

// banks lets the lanes behind the testing ones stress instead.
func (e *harnessEmitter) banks() {
	e.f("\tshr.u32 %%a1, %%a1, %s;\n\tsetp.ne.and.u32 %%p1, %%a1, 0, %%testing;\n\tselp.u32 %%slot, %s, %%slot, %%p1;\n",
		set("log_lanes"), set("stress_slot"))
	for _, x := range [][2]string{{"stress_lane", "bank_step"}, {"stress_iterations", "bank_rounds"}} {
		e.f("\tselp.u32 %s, %s, %s, %%p1;\n", set(x[0]), set(x[1]), set(x[0]))
	}
}

// divide writes the quotient (unless quo is empty) and the remainder of a division by a
// constant: ptxas divides by 1 and 2 inefficiently.
func (e *harnessEmitter) divide(quo, rem, a string, n int) {
	if quo != "" {
		if n&(n-1) == 0 {
			e.f("\tshr.u32 %s, %s, %d;\n", quo, a, log2(n))
		} else {
			e.f("\tdiv.u32 %s, %s, %d;\n", quo, a, n)
		}
	}
	if n&(n-1) == 0 {
		e.f("\tand.b32 %s, %s, %d;\n", rem, a, n-1)
	} else {
		e.f("\trem.u32 %s, %s, %d;\n", rem, a, n)
	}
}

// location computes the address of a location of the thread's instance. Among neighbours, the
// first one in a memory has an address of its own, which is masked: then compilers know that
// words at an even position in the cell can be accessed together.
func (e *harnessEmitter) location(l int) {
	id, mask, place := "%inst", set("inst_mask"), int64(e.h.Place(l))
	if first := e.h.first(l); first != l {
		e.f("\tadd.s64 %%hl%d, %%hl%d, %d;\n", l, first, place-int64(e.h.Place(first)))
		return
	}
	if e.space(l) == litmus.Shared {
		id, mask = "%cinst", set("cta_mask")
	}
	e.offset(l, id, mask, fmt.Sprintf("[offset%d]", l))
	if e.space(l) == litmus.Shared {
		e.f("\tld.param.u32 %%a4, [p%d];\n\tadd.u32 %%a3, %%a3, %%a4;\n\tadd.u32 %%a3, %%a3, %%win;\n", l)
		if cell := e.h.Check.Cell; cell > 0 {
			e.f("\tand.b32 %%a3, %%a3, %d;\n\tadd.u32 %%a3, %%a3, %d;\n", -cell, place)
		}
		e.f("\tcvt.u64.u32 %%hl%d, %%a3;\n", l)
		return
	}
	e.f("\tcvt.u64.u32 %%d0, %%a3;\n\tld.param.u64 %%d1, [p%d];\n\tadd.u64 %%hl%d, %%d1, %%d0;\n", l, l)
	if cell := e.h.Check.Cell; cell > 0 {
		e.f("\tand.b64 %%hl%d, %%hl%d, %d;\n\tadd.u64 %%hl%d, %%hl%d, %d;\n", l, l, -cell, l, l, place)
	}
}

// offset computes in %a3 the offset of an instance's cell.
func (e *harnessEmitter) offset(l int, id, mask, from string) {
	e.f("\tld.param.u32 %%a3, [mul%d];\n\tmul.lo.u32 %%a3, %%a3, %s;\n\tand.b32 %%a3, %%a3, %s;\n", l, id, mask)
	e.f("\tld.param.u32 %%a4, [stride%d];\n\tld.param.u32 %%a5, %s;\n\tmad.lo.u32 %%a3, %%a3, %%a4, %%a5;\n", l, from)
}

// initShared sets the shared locations of the CTA's instances and waits.
func (e *harnessEmitter) initShared() {
	e.f("\tsetp.gt.u32 %%p0, %%thr, %s;\n\t@%%p0 bra $READY;\n", set("cta_mask"))
	for l := range e.t.Locations {
		if e.space(l) != litmus.Shared || e.h.Root(l) != l {
			continue
		}
		e.offset(l, "%thr", set("cta_mask"), fmt.Sprintf("[window%d]", l))
		e.f("\tadd.u32 %%a3, %%a3, %%win;\n")
		if slices.Contains(mbarriers(e.t), l) {
			e.f("\tld.param.u32 %%a4, [initial%d_0];\n\tmbarrier.init.shared.b64 [%%a3], %%a4;\n", l)
			continue
		}
		for w := 0; w < e.h.Cells[l]/4; w++ {
			e.f("\tld.param.u32 %%a4, [initial%d_%d];\n\tst.shared.u32 [%%a3+%d], %%a4;\n", l, w, 4*w)
		}
	}
	e.f("$READY:\n")
	if e.h.Program {
		for _, in := range e.initialised() {
			e.f("\t%s;\n", in)
		}
		return
	}
	e.f("\tbar.sync %d;\n", HarnessBarrier)
}

// strong returns a strong access of the harness's own: relaxed where the target has it,
// volatile before.
func (e *harnessEmitter) strong(op string) string {
	if e.sm >= 70 {
		return op + ".relaxed.gpu.global.u32"
	}
	return op + ".volatile.global.u32"
}

// add returns an atomic addition of the harness's own; its counters are in the memory of one of
// the devices.
func (e *harnessEmitter) add(t string) string {
	if e.h.Form == FormDevices {
		return "red.relaxed.sys.global.add." + t
	}
	return "red.global.add." + t
}

// polled returns the load with which the harness waits.
func (e *harnessEmitter) polled() string {
	if e.h.Form == FormDevices {
		return "ld.relaxed.sys.global.u32"
	}
	return e.strong("ld")
}

// sync lets the testing CTAs of a block wait for one another, for a bounded
// time.
func (e *harnessEmitter) sync() {
	e.f("\tsetp.eq.u32 %%p0, %s, 0;\n\t@%%p0 bra $SYNCED;\n\t@!%%testing bra $SYNCED;\n", set("sync"))
	e.f("\tmad.wide.u32 %%d0, %%block, %d, %%counters;\n\tsetp.ne.u32 %%p0, %%lane, 0;\n\t@%%p0 bra $WAIT;\n", SyncStride)
	e.f("\t%s [%%d0+%d], 1;\n$WAIT:\n\tmov.u32 %%a6, 0;\n", e.add("u32"), CounterSync)
	e.poll()
}

// poll waits until the counter at d0 has reached sync, for a bounded time.
func (e *harnessEmitter) poll() {
	e.f("$SPIN:\n\t%s %%a7, [%%d0+%d];\n\tsetp.ge.u32 %%p0, %%a7, %s;\n\t@%%p0 bra $SYNCED;\n", e.polled(), CounterSync, set("sync"))
	e.f("\tadd.u32 %%a6, %%a6, 1;\n\tsetp.lt.u32 %%p0, %%a6, %s;\n\t@%%p0 bra $SPIN;\n", set("sync_bound"))
	e.f("\tsetp.ne.u32 %%p0, %%lane, 0;\n\t@%%p0 bra $SYNCED;\n\t%s [%%counters+%d], 1;\n$SYNCED:\n", e.add("u64"), CounterGaveUp)
}

// stress makes the threads of stressing CTAs access the scratch memory, in each iteration with
// the sequence of accesses that the settings name.
func (e *harnessEmitter) stress() {
	e.f("\tmov.u32 %%sum, 0;\n\tmov.u32 %%done, 0;\n")
	e.f("\tsetp.ne.u32 %%p0, %%slot, %s;\n\t@%%p0 bra $DONE;\n", set("stress_slot"))
	e.sequence()
	e.stressLoop()
	e.counted()
}

// sequence turns the settings that name the sequence of accesses into predicates.
func (e *harnessEmitter) sequence() {
	for k := range spec.MaxSequence {
		e.f("\tand.b32 %%a0, %s, %d;\n\tsetp.ne.u32 %%ld%d, %%a0, 0;\n", set("stress_loads"), 1<<k, k)
		e.f("\tand.b32 %%a0, %s, %d;\n\tsetp.ne.u32 %%st%d, %%a0, 0;\n", set("stress_stores"), 1<<k, k)
	}
}

// stressLoop is the loop of the stressing CTAs, in which a warp stays at its line.
func (e *harnessEmitter) stressLoop() {
	e.f("\tshr.u32 %%a0, %%thr, 5;\n\tmad.lo.u32 %%a0, %%cta, %s, %%a0;\n", set("warps"))
	e.accesses("STRESS", "%a0", set("stress_iterations"))
}

// accesses performs the sequence the given number of times at line number at (modulo the
// lines), unrolled. It overwrites a1, a2, d0, p0.
func (e *harnessEmitter) accesses(label, at, times string) {
	e.f("\trem.u32 %%a1, %s, %s;\n\tmad.lo.u32 %%a1, %%a1, %s, %s;\n\tand.b32 %%a1, %%a1, %s;\n\tmad.lo.u32 %%a1, %%lane, %s, %%a1;\n",
		at, set("stress_lines"), set("stress_line"), set("stress_base"), set("stress_wrap"), set("stress_lane"))
	e.f("\tcvt.u64.u32 %%d0, %%a1;\n\tadd.u64 %%d0, %%d0, %%scratch;\n\tmov.u32 %%a1, 0;\n")
	e.f("$%[1]s:\n\t.pragma \"nounroll\";\n\tsetp.ge.u32 %%p0, %%a1, %[2]s;\n\t@%%p0 bra $%[1]s_END;\n", label, times)
	for k := range spec.MaxSequence {
		// ptxas deletes even a relaxed load whose value nobody needs.
		e.f("\t@%%ld%d %s %%a2, [%%d0];\n\t@%%ld%d xor.b32 %%sum, %%sum, %%a2;\n\t@%%st%d %s [%%d0], %%a1;\n", k,
			e.strong("ld"), k, k, e.strong("st"))
	}
	e.f("\tadd.u32 %%done, %%done, %s;\n\tadd.u32 %%a1, %%a1, 1;\n\tbra $%[2]s;\n$%[2]s_END:\n", set("stress_steps"), label)
}

// counted adds a thread's stress accesses to the counter.
func (e *harnessEmitter) counted() {
	e.f("\tsetp.ne.u32 %%p0, %%sum, %#x;\n\t@%%p0 bra $SEEN;\n\tst.global.u32 [%%counters+%d], %%sum;\n$SEEN:\n", SeenSum, CounterSeen)
	e.f("\tsetp.eq.u32 %%p0, %%done, 0;\n\t@%%p0 bra $DONE;\n")
	e.f("\tcvt.u64.u32 %%d1, %%done;\n\t%s [%%counters+%d], %%d1;\n", e.add("u64"), CounterStress)
}

// epilogue saves the final content of shared locations that are terms.
func (e *harnessEmitter) epilogue() {
	e.f("$DONE:\n")
	var terms []Source
	for _, s := range e.h.Terms {
		if s.Term.Kind == litmus.TermLoc && s.Loc < 0 {
			terms = append(terms, s)
		}
	}
	pending := e.pending()
	held := len(terms)+len(pending) > 0
	switch {
	case e.t.Distributed(): // other CTAs have done with this one's memory
		e.f("\tbarrier.cluster.arrive;\n\tbarrier.cluster.wait;\n")
	case held:
		e.f("\tbar.sync %d;\n", HarnessBarrier)
	}
	if held {
		e.f("\t@!%%testing bra $END;\n\tsetp.gt.u32 %%p0, %%thr, %s;\n\t@%%p0 bra $END;\n", set("cta_mask"))
		if e.h.Form != FormPermuted {
			e.f("\tshl.b32 %%a2, %%block, %s;\n\tor.b32 %%a9, %%a2, %%thr;\n\tmad.lo.u32 %%a10, %%group, %d, %%rank;\n",
				set("log_cta"), e.h.Shape.Ranks)
		}
	}
	for _, m := range pending {
		e.complete(m)
	}
	for i, s := range terms {
		l := 0
		for j := range e.t.Locations {
			if e.t.Locations[j].Name == s.Term.Name {
				l = j
			}
		}
		if e.h.Form != FormPermuted {
			e.f("\tsetp.ne.u32 %%p0, %%a10, %d;\n\t@%%p0 bra $KEPT%d;\n", e.h.Shape.Shared[l], i)
		} else {
			e.blockOf(e.h.Shape.Shared[l])
			e.f("\tor.b32 %%a9, %%a8, %%thr;\n")
		}
		e.offset(l, "%thr", set("cta_mask"), fmt.Sprintf("[window%d]", l))
		e.f("\tadd.u32 %%a3, %%a3, %%win;\n\tmad.wide.u32 %%d0, %%a9, 4, %%results;\n")
		for w := 0; w < e.h.Widths[l]/4; w++ {
			e.f("\tld.shared.u32 %%a6, [%%a3+%d];\n\tmad.wide.u32 %%d1, %s, %d, %%d0;\n\tst.global.u32 [%%d1], %%a6;\n", 4*w,
				set("result_step"), s.Slot+w)
		}
		e.f("$KEPT%d:\n", i)
	}
	if held {
		e.f("$END:\n")
	}
	e.f("\tret;\n")
}
