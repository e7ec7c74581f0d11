package ptxgen

import (
	"fmt"
	"strings"
)

// clPermuted is harnessEmitter.permuted in OpenCL C.
func clPermuted(h *Harness, roles string) string {
	n := len(h.Test.Threads)
	return fmt.Sprintf(`  uint cta = get_group_id(0), thr = get_local_id(0), warp = thr >> 5, lane = thr & 31u;
  uint logical = (cta * mul_unit + add_unit) %% units;
  bool testing = logical < test_units;
  uint other = logical < stress_units ? stress_slot : idle_slot;
  uint pos = ((((cta * warps << 5) + thr >> order_shift) * order_mul + order_add) >> 16) %% %[1]du;
  uint rng = (cta * warps + warp) * 0x9e3779b1u + seed, done = 0, sum = 0, slot = other, round = 0;
  do {
  slot = testing ? order >> 4 * pos & 15u : other;
  pos += order_step;
  if (pos >= %[1]du) pos -= %[1]du;
  rng = rng * 1664525u + 1013904223u;
  if (sync && testing) {
    volatile global uint *arrived = (volatile global uint *)(counters + %[2]d + ((logical & sync_mask) * %[1]du + round) * %[3]du);
    if (lane == 0) atomic_inc(arrived);
    if (rng >> 24 < sync_share) {
      uint n = 0;
      while (*arrived < sync && ++n < sync_bound) {}
      if (n >= sync_bound && lane == 0) atom_inc((volatile global ulong *)(counters + %[4]d));
    }
  }
  if (testing && (rng >> 16 & 255u) < pre_share) `, n, CounterSync, SyncStride, CounterGaveUp) +
		clSequence("rng", "rng >> 8 & pre_mask") + roles + "  } while (++round != rounds);\n  if (slot == stress_slot) " +
		clSequence("cta * warps + (thr >> 5)", "stress_iterations") + clCounted
}

// clInstance is harnessEmitter.instance in OpenCL C.
func clInstance(h *Harness, role int) string {
	var b strings.Builder
	s := &h.Shape
	slot := s.Roles[role]
	unit, _, warp, lane := s.place(slot)
	index := func(coordinate, what, mask string, place, places, number int) string {
		q := max(2, pow2(places)) * (2*number + 1)
		return fmt.Sprintf("((1 + %du * mul_%s) * %s + %d + %du * add_%s & %s)", q, what, coordinate, place, q, what, mask)
	}
	fmt.Fprintf(&b, "  uint inst = %s << log_cta | %s << 5 | %s;\n", index("logical", "block", "block_mask", unit, s.Units, unit),
		index("warp", "warp", "warp_mask", warp, s.Warps, slot/s.Lanes), index("lane", "lane", "31u", lane, s.Lanes, slot))
	clLocations(&b, h)
	return b.String()
}
