package ptxgen

// In the permuted form each thread of a launch plays every role of the test, in
// each round another one, each for another instance. A place in the scope tree has
// four coordinates (unit, rank, warp, lane), and so has a thread. For each role an
// affine map turns a coordinate of the thread into that of the instance:
//
//	index = (1 + q·m)·coordinate + place + q·a   (mod n)
//
// where n is the number of such units, warps or lanes, a power of two; q, another
// one, is at least the number of places; and m and a are settings, times an odd
// number that differs between roles. 1 + q·m is odd: each instance has the role
// once. Modulo q the coordinate is index − place: roles with different places are
// played by different units (warps, lanes), and those with one place by the same.
// So the scope tree holds by construction. Ranks of a cluster are turned.
//
// The order of the roles is a permutation of the launch, begun at a place that
// depends on the thread (or warp, or CTA).

// permuted writes the kernel except for its epilogue.
func (e *harnessEmitter) permuted() {
	s, n := e.h.Shape, len(e.bodies)
	e.f("\tmov.u32 %%cta, %%ctaid.x;\n\tmov.u32 %%thr, %%tid.x;\n")
	e.divide("%unit", "%rank", "%cta", s.Ranks)
	e.f("\tadd.u32 %%rank, %%rank, %s;\n", set("add_rank"))
	e.divide("", "%rank", "%rank", s.Ranks)
	e.f("\tmad.lo.u32 %%logical, %%unit, %s, %s;\n\trem.u32 %%logical, %%logical, %s;\n", set("mul_unit"), set("add_unit"), set("units"))
	e.f("\tsetp.lt.u32 %%testing, %%logical, %s;\n\tshr.u32 %%warp, %%thr, 5;\n\tand.b32 %%lane, %%thr, 31;\n", set("test_units"))
	e.f("\tsetp.lt.u32 %%p0, %%logical, %s;\n\tselp.u32 %%other, %s, %s, %%p0;\n", set("stress_units"), set("stress_slot"),
		set("idle_slot"))
	if e.shared {
		e.f("\tmov.u32 %%win, %s_window;\n", e.h.Name)
		e.initShared()
	}
	// Where the thread begins in the order of roles, and the choices of its warp.
	e.f("\tmul.lo.u32 %%a0, %%cta, %s;\n\tadd.u32 %%a1, %%a0, %%warp;\n\tshl.b32 %%a0, %%a0, 5;\n\tadd.u32 %%a0, %%a0, %%thr;\n",
		set("warps"))
	e.f("\tshr.u32 %%a0, %%a0, %s;\n\tmad.lo.u32 %%a0, %%a0, %s, %s;\n\tshr.u32 %%a0, %%a0, 16;\n", set("order_shift"),
		set("order_mul"), set("order_add"))
	e.divide("", "%pos", "%a0", n)
	e.f("\tmad.lo.u32 %%rng, %%a1, 0x9e3779b1, %s;\n", set("seed"))
	e.f("\tmov.u32 %%sum, 0;\n\tmov.u32 %%done, 0;\n\tmov.u32 %%round, 0;\n")
	e.sequence()
	e.f("$PLAY:\n\t.pragma \"nounroll\";\n\tshl.b32 %%a0, %%pos, 2;\n\tshr.u32 %%slot, %s, %%a0;\n\tand.b32 %%slot, %%slot, 15;\n",
		set("order"))
	e.f("\tselp.u32 %%slot, %%slot, %%other, %%testing;\n")
	e.f("\tadd.u32 %%pos, %%pos, %s;\n\tsetp.ge.u32 %%p0, %%pos, %d;\n\t@%%p0 sub.u32 %%pos, %%pos, %d;\n", set("order_step"), n, n)
	e.f("\t@!%%testing bra $READY_ALL;\n")
	e.loose()
	e.preStress()
	e.f("$READY_ALL:\n")
	e.roles("$PLAYED")
	e.f("$PLAYED:\n\tadd.u32 %%round, %%round, 1;\n\tsetp.ne.u32 %%p0, %%round, %s;\n\t@%%p0 bra $PLAY;\n", set("rounds"))
	e.f("\tsetp.ne.u32 %%p0, %%slot, %s;\n\t@%%p0 bra $COUNT;\n", set("stress_slot"))
	e.stressLoop()
	e.f("$COUNT:\n")
	e.counted()
}

// loose is a barrier before a round for some of the warps of a group of CTAs; each of them
// waits with some probability and for a bounded time.
func (e *harnessEmitter) loose() {
	e.f("\tmad.lo.u32 %%rng, %%rng, 1664525, 1013904223;\n\tsetp.eq.u32 %%p0, %s, 0;\n\t@%%p0 bra $SYNCED;\n", set("sync"))
	e.f("\tand.b32 %%a0, %%logical, %s;\n\tmad.lo.u32 %%a0, %%a0, %d, %%round;\n\tmad.wide.u32 %%d0, %%a0, %d, %%counters;\n",
		set("sync_mask"), len(e.bodies), SyncStride)
	e.f("\tsetp.ne.u32 %%p0, %%lane, 0;\n\t@%%p0 bra $ARRIVED;\n\tred.global.add.u32 [%%d0+%d], 1;\n$ARRIVED:\n", CounterSync)
	e.f("\tshr.u32 %%a0, %%rng, 24;\n\tsetp.ge.u32 %%p0, %%a0, %s;\n\t@%%p0 bra $SYNCED;\n\tmov.u32 %%a6, 0;\n", set("sync_share"))
	e.poll()
}

// preStress lets some warps perform the stress sequence a random number of times before a
// round, each at a line of its own.
func (e *harnessEmitter) preStress() {
	e.f("\tshr.u32 %%a3, %%rng, 16;\n\tand.b32 %%a3, %%a3, 255;\n\tsetp.ge.u32 %%p0, %%a3, %s;\n\t@%%p0 bra $BEFORE_END;\n",
		set("pre_share"))
	e.f("\tshr.u32 %%a3, %%rng, 8;\n\tand.b32 %%a3, %%a3, %s;\n", set("pre_mask"))
	e.accesses("BEFORE", "%rng", "%a3") // ends at $BEFORE_END
}

// place returns the coordinates of a slot.
func (s *Shape) place(slot int) (unit, rank, warp, lane int) {
	lane, slot = slot%s.Lanes, slot/s.Lanes
	warp, slot = slot%s.Warps, slot/s.Warps
	return slot / s.Ranks, slot % s.Ranks, warp, lane
}

// index computes an index of the instance from a coordinate of the thread: dst may
// not be it.
func (e *harnessEmitter) index(dst, coordinate, mul, add, mask string, place, places, number int) {
	q := max(2, pow2(places)) * (2*number + 1)
	e.f("\tmul.lo.u32 %s, %s, %d;\n\tmad.lo.u32 %s, %s, %s, %s;\n", dst, mul, q, dst, dst, coordinate, coordinate)
	e.f("\tmad.lo.u32 %s, %s, %d, %s;\n\tadd.u32 %s, %s, %d;\n\tand.b32 %s, %s, %s;\n", dst, add, q, dst, dst, dst, place, dst, dst, mask)
}

// blockOf computes in a8 the first of the instances whose threads of a CTA of the test
// (unit·Ranks+rank) are in this CTA.
func (e *harnessEmitter) blockOf(cta int) {
	s := e.h.Shape
	unit, rank := cta/s.Ranks, cta%s.Ranks
	e.index("%a8", "%logical", set("mul_block"), set("add_block"), set("block_mask"), unit, s.Units, unit)
	if s.Ranks > 1 {
		e.f("\tadd.u32 %%a7, %%rank, %d;\n", s.Ranks-rank)
		e.divide("", "%a7", "%a7", s.Ranks)
		e.f("\tmad.lo.u32 %%a8, %%a8, %d, %%a7;\n", s.Ranks)
	}
	e.f("\tshl.b32 %%a8, %%a8, %s;\n", set("log_cta"))
}

// instance computes the instance that the thread plays a role of, and the addresses
// of its locations.
func (e *harnessEmitter) instance(role int) {
	s := e.h.Shape
	slot := s.Roles[role]
	_, _, warp, lane := s.place(slot)
	e.blockOf(slot / (s.Warps * s.Lanes))
	e.index("%a9", "%warp", set("mul_warp"), set("add_warp"), set("warp_mask"), warp, s.Warps, slot/s.Lanes)
	e.index("%a10", "%lane", set("mul_lane"), set("add_lane"), "31", lane, s.Lanes, slot)
	e.f("\tshl.b32 %%a9, %%a9, 5;\n\tor.b32 %%cinst, %%a9, %%a10;\n\tor.b32 %%inst, %%a8, %%cinst;\n")
	for l := range e.t.Locations {
		e.location(l)
	}
	// A branch that is never taken: with the addresses in the same block as the accesses, ptxas
	// performs weak loads in the order in which these become available.
	e.f("\tsetp.eq.u32 %%p0, %%slot, %s;\n\t@%%p0 bra $PLAYED;\n", set("stress_slot"))
}
