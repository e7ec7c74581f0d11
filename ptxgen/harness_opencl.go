package ptxgen

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"optcheck/litmus"
	"optcheck/spec"
)

// EmitHarnessOpenCL returns the harness kernel of a test in OpenCL C 2.0, for devices without
// PTX. Parameters, markers and their meaning are those of EmitHarness, except that each
// parameter takes 8 bytes (HarnessParam.At): PoCL passes an array of them, and for drivers
// whose machine code nobody reads it does not matter.
//
// It supports the part of the test language that OpenCL C has: 32-bit loads, stores and
// atomics, fences, arithmetic and guards. Plain, cached and volatile accesses become volatile
// ones (which the compiler must keep and not reorder), the others C11 atomics of the same
// order.
func EmitHarnessOpenCL(t *litmus.Test, form Form, layout spec.Layout) (*Harness, error) {
	if err := bare(t); err != nil {
		return nil, err
	}
	t = t.Canonical()
	if t.Parted() || Program(t) {
		return nil, unsupported("parts of locations, asynchronous operations, mbarriers, or shared memory of other CTAs")
	}
	h, flat, origin, err := newHarness(t, form, layout)
	if err != nil {
		return nil, err
	}
	if h.Shape.Ranks > 1 || h.Shape.Full {
		return nil, unsupported("clusters and barriers in OpenCL C")
	}
	c := &clEmitter{h: h, t: t, flat: flat, origin: origin}
	for l := range t.Locations {
		if t.Locations[l].Space == litmus.Shared || h.Widths[l] != 4 {
			return nil, unsupported("shared and 64-bit locations in the OpenCL C harness")
		}
	}
	for i, x := range t.Terms() {
		s := Source{Term: x, Slot: i, Loc: -1}
		if x.Kind == litmus.TermLoc {
			s.Loc = slices.IndexFunc(t.Locations, func(l litmus.Location) bool { return l.Name == x.Name })
		}
		h.Terms = append(h.Terms, s)
		h.Slots++
	}
	var roles strings.Builder
	for i := range t.Threads {
		code, err := c.role(i).block()
		if err != nil {
			return nil, err
		}
		before := ""
		if form == FormPermuted {
			before = clInstance(h, i)
		}
		fmt.Fprintf(&roles, "  if (slot == role%d) {\n%s%s  }\n", i, before, code)
	}
	code := ""
	if form == FormPermuted {
		code = clPermuted(h, roles.String())
	} else {
		code = clPrologue(h) + roles.String() + clStress
	}
	h.Text = c.head() + code + "}\n"
	return h, nil
}

type clEmitter struct {
	h      *Harness
	t      *litmus.Test
	flat   *litmus.Test // without loops, as returned by unrolled
	origin [][]int
	roles  []*clRole
}

// head writes the kernel's parameters and lists them.
func (c *clEmitter) head() string {
	var ps []string
	add := func(k ParamKind, i int, name, typ string) (at int64) {
		at = int64(8 * len(ps))
		c.h.Params = append(c.h.Params, HarnessParam{Kind: k, Index: i, Name: name, Wide: strings.HasSuffix(typ, "*"), At: at})
		ps = append(ps, typ+" "+name)
		return at
	}
	check := c.h.Check
	if c.h.Layout == spec.Adjacent {
		add(ParamOut, 0, "out", "volatile global uint *")
	}
	for l := range c.t.Locations {
		check.Locations = append(check.Locations, add(ParamLocation, l, fmt.Sprintf("p%d", l), "global uchar *"))
	}
	if c.h.Layout != spec.Adjacent {
		add(ParamOut, 0, "out", "volatile global uint *")
	}
	check.Memory = append(check.Memory, add(ParamResults, 0, "results", "global uint *"))
	check.Scratch = add(ParamScratch, 0, "scratch", "volatile global uchar *")
	check.Counters = add(ParamCounters, 0, "counters", "volatile global uchar *")
	check.Counted = CounterStress
	check.Memory = append(check.Memory, check.Scratch, check.Counters)
	for k, r := range c.roles {
		for i := range r.stands {
			v := &r.stands[i]
			v.Offset, v.Bytes = add(ParamValue, 0, r.valueParam(i), "uint"), 4
			c.h.Params[len(c.h.Params)-1].Value = int64(uint32(v.Const))
		}
		values := r.copied(r.stands)
		r.spec.SetCode(&c.flat.Threads[k], values)
		c.h.Values = append(c.h.Values, values)
	}
	for i := range c.t.Threads {
		check.Roles = append(check.Roles, add(ParamRole, i, fmt.Sprintf("role%d", i), "uint"))
		v := c.h.Shape.Roles[i]
		if c.h.Form == FormPermuted {
			v = i
		}
		c.h.Params[len(c.h.Params)-1].Value = int64(v)
	}
	for l := range c.t.Locations {
		add(ParamMul, l, fmt.Sprintf("mul%d", l), "uint")
		add(ParamStride, l, fmt.Sprintf("stride%d", l), "uint")
		check.Offsets = append(check.Offsets, add(ParamOffset, l, fmt.Sprintf("offset%d", l), "uint"))
	}
	for _, s := range c.h.Form.Settings() {
		switch off := add(ParamSetting, 0, s, "uint"); s {
		case "stress_slot":
			check.Stress = off
		case "rounds":
			check.Rounds = off
		}
	}
	check.Sequences, check.Items = 1, true
	if c.h.Form == FormPermuted {
		check.Sequences = 2
	}
	add(ParamToken, 0, "tok", "uint")
	return "#pragma OPENCL EXTENSION cl_khr_int64_base_atomics : enable\nkernel void " + c.h.Name + "(" + strings.Join(ps, ", ") + ")\n{\n"
}

// clBanks is harnessEmitter.banks in OpenCL C.
const clBanks = `  bool bank = testing && lb >> log_lanes;
  slot = bank ? stress_slot : slot;
  stress_lane = bank ? bank_step : stress_lane;
  stress_iterations = bank ? bank_rounds : stress_iterations;
`

// clPrologue is harnessEmitter.prologue in OpenCL C.
func clPrologue(h *Harness) string {
	s := h.Shape
	active, idle, lanes, banks := "true", "true", strconv.Itoa(log2(32/s.Lanes)), "" // of the fast form
	if h.Form == FormDevices {
		active, idle = "(active >> group & 1u)", "logical >= test_units"
	}
	if h.Form.Banks() {
		lanes, banks = "log_lanes", clBanks
	}
	var b strings.Builder
	fmt.Fprintf(&b, `  uint cta = get_group_id(0), thr = get_local_id(0);
  uint logical = (cta * mul_unit + add_unit) %% units;
  uint group = logical %% %du;
  bool testing = logical < test_units && %s;
  uint block = (logical / %du * mul_block + group * add_block) & block_mask;
  uint warp = ((thr >> 5) * mul_warp + add_warp) & warp_mask, lane = thr & 31u;
  uint slot = (group * %du + (warp & %du)) * %du + (lane & %du);
  uint wb = ((warp >> %d) * mul_group + slot * add_group) & group_mask;
  uint lb = ((lane >> %d) * mul_lane + slot * add_lane) & %du;
  uint inst = block << log_cta | wb << %s | lb;
  slot = testing ? slot : %s && logical < stress_units ? stress_slot : idle_slot;
%s  if (sync && testing) {
    volatile global uint *arrived = (volatile global uint *)(counters + %d + block * %du);
    if (lane == 0) atomic_inc(arrived);
    uint n = 0;
    while (*arrived < sync && ++n < sync_bound) {}
    if (n >= sync_bound && lane == 0) atom_inc((volatile global ulong *)(counters + %d));
  }
`, s.Units, active, s.Units, s.Warps, s.Warps-1, s.Lanes, s.Lanes-1, log2(s.Warps), log2(s.Lanes), 32/s.Lanes-1,
		lanes, idle, banks, CounterSync, SyncStride, CounterGaveUp)
	clLocations(&b, h)
	return b.String()
}

// clLocations computes the addresses of the instance's locations.
func clLocations(b *strings.Builder, h *Harness) {
	for l := range h.Test.Locations {
		from := h.first(l)
		fmt.Fprintf(b, "  global uchar *l%d = p%d + ((inst * mul%d) & inst_mask) * stride%d + offset%d + %d;\n", l, from, from, from, from,
			h.Place(l))
	}
}

// clSequence performs the sequence of stress n times at a line.
func clSequence(line, times string) string {
	return fmt.Sprintf(`{
    volatile global uint *at = (volatile global uint *)(scratch
      + ((%s) %% stress_lines * stress_line + stress_base & stress_wrap) + lane * stress_lane);
    for (uint i = 0; i < (%s); i++, done += stress_steps) {
%s    }
  }
`, line, times, clSteps)
}

// clSteps holds the accesses of a sequence.
var clSteps = func() (s string) {
	for k := range spec.MaxSequence {
		s += fmt.Sprintf("      if (stress_loads >> %[1]d & 1u) sum ^= *at;\n      if (stress_stores >> %[1]d & 1u) *at = i;\n", k)
	}
	return s
}()

// clStress is harnessEmitter.stress in OpenCL C.
var clStress = "  uint done = 0, sum = 0;\n  if (slot == stress_slot) " + clSequence("cta * warps + (thr >> 5)",
	"stress_iterations") + clCounted

var clCounted = fmt.Sprintf(`  if (sum == %#xu) *(volatile global uint *)(counters + %d) = sum;
  if (done) atom_add((volatile global ulong *)(counters + %d), (ulong)done);
`, SeenSum, CounterSeen, CounterStress)

func hclReg(n string) string { return "q_" + reg(n)[3:] }
