package ptxgen

import (
	"fmt"
	"math/bits"
	"slices"
	"strings"

	"optcheck/litmus"
	"optcheck/spec"
)

// harnessEmitter writes one harness kernel.
type harnessEmitter struct {
	emitter
	h      *Harness
	bodies []*body
	blocks []string // the code of each role
	shared bool     // the test has shared locations
}

// set returns the register that holds a setting.
func set(name string) string { return "%s_" + name }

// locate moves a previously computed location address into a register.
func (e *harnessEmitter) locate(dst string, loc, bits int) string {
	if bits == 32 {
		return fmt.Sprintf("cvt.u32.u64 %s, %%hl%d;", dst, loc)
	}
	return fmt.Sprintf("mov.u64 %s, %%hl%d;", dst, loc)
}

// kernel writes everything.
func (e *harnessEmitter) kernel() error {
	for l := range e.t.Locations {
		e.shared = e.shared || e.space(l) == litmus.Shared
	}
	for i, s := range e.h.Check.Specs {
		k := &body{e: &e.emitter, th: &e.t.Threads[i], spec: s, regs: map[string]litmus.Type{}, prefix: fmt.Sprintf("t%d_", i)}
		if e.origin != nil {
			k.loops(e.origin[i])
			if err := k.count(); err != nil {
				return err
			}
		}
		if err := k.run(); err != nil {
			return err
		}
		e.bodies = append(e.bodies, k)
	}
	if err := e.sources(); err != nil {
		return err
	}
	for i := range e.bodies {
		if err := e.role(i); err != nil {
			return err
		}
	}
	e.params()
	out := e.b
	var code strings.Builder
	e.b = &code
	if e.h.Form == FormPermuted {
		e.permuted()
	} else {
		e.prologue()
		e.sync()
		e.roles("$DONE")
		e.stress()
	}
	e.epilogue()
	e.b = out
	e.declare()
	e.b.WriteString(code.String())
	e.f("}\n")
	return nil
}

// roles writes the blocks of the roles; a thread goes to done after its own.
func (e *harnessEmitter) roles(done string) {
	for i, blk := range e.blocks {
		e.f("\tsetp.ne.u32 %%p0, %%slot, %%role%d;\n\t@%%p0 bra $NOT%d;\n%s\tbra %s;\n$NOT%d:\n", i, i, blk, done, i)
	}
}

// sources assigns each term of the final state, and each value read that is not a term, its
// place among the results.
func (e *harnessEmitter) sources() error {
	for _, t := range e.t.Terms() {
		s := Source{Term: t, Slot: -1, Loc: -1}
		if t.Kind == litmus.TermLoc {
			l := slices.IndexFunc(e.t.Locations, func(l litmus.Location) bool { return l.Name == t.Name })
			if e.h.Root(l) != l {
				return unsupported("the final value of %s, which is a part of another location", t.Name)
			}
			s.Wide = e.h.Widths[l] == 8
			if e.space(l) != litmus.Shared {
				s.Loc = l // the collector reads it
			}
		} else {
			s.Wide = e.bodies[t.Thread].regs[t.Name].Bits() == 64
		}
		s.Slot = e.slot(s.Wide)
		e.h.Terms = append(e.h.Terms, s)
	}
	return nil
}

func (e *harnessEmitter) slot(wide bool) int {
	n := e.h.Slots
	e.h.Slots++
	if wide {
		e.h.Slots++
	}
	return n
}

// role writes the block of one thread.
func (e *harnessEmitter) role(i int) error {
	k := e.bodies[i]
	var lits []uint32
	if !e.h.Program {
		var err error
		if lits, err = k.spec.Literals(); err != nil {
			return unsupported("%v", err)
		}
	}
	out := e.b
	var b strings.Builder
	e.b = &b
	defer func() { e.b = out }()
	e.f("\t{\n")
	k.declare()
	e.f("\t.reg .b64 %%ra, %%rk;\n\t.reg .b32 %%rv, %%rw;\n")
	if e.h.Form == FormPermuted {
		e.instance(i)
	}
	e.f("\t.loc 1 %d 0\n%s%s\t.loc 1 %d 0\n", LineOther, k.prologue.String(), k.code.String(), LineResult)
	e.f("\tmad.wide.u32 %%ra, %%inst, 4, %%results;\n")
	store := func(slot int, r string) {
		if slot > 0 {
			e.f("\tmad.wide.u32 %%rk, %s, %d, %%ra;\n\tst.global.u32 [%%rk], %s;\n", set("result_step"), slot, r)
			return
		}
		e.f("\tst.global.u32 [%%ra], %s;\n", r)
	}
	for _, s := range e.h.Terms {
		if s.Term.Kind != litmus.TermReg || s.Term.Thread != i {
			continue
		}
		r := reg(s.Term.Name)
		switch t, known := k.regs[s.Term.Name]; {
		case !known:
			e.f("\tmov.u32 %%rv, 0;\n")
			store(s.Slot, "%rv")
		case t == litmus.Pred:
			e.f("\tselp.u32 %%rv, 1, 0, %s;\n", r)
			store(s.Slot, "%rv")
		case s.Wide:
			e.f("\tmov.b64 {%%rv, %%rw}, %s;\n", r)
			store(s.Slot, "%rv")
			store(s.Slot+1, "%rw")
		default:
			store(s.Slot, r)
		}
	}
	for _, en := range k.spec.Entries {
		if en.Reads() && !en.Unread && !e.kept(i, k, en) {
			store(e.slot(false), fmt.Sprintf("%%m%d", en.Pos))
		}
	}
	if e.h.Program {
		e.finished(k)
		e.f("\t}\n")
	} else {
		e.f("\tsetp.eq.u32 %%p1, %s, 0;\n\t@%%p1 bra $QUIET;\n", set("markers"))
		k.results(lits)
		e.f("$QUIET:\n\t}\n")
	}
	e.blocks = append(e.blocks, b.String())
	return nil
}

// kept reports whether the value that an access reads is, unmodified, a term of the final
// state.
func (e *harnessEmitter) kept(thread int, k *body, en spec.Entry) bool {
	body := e.flat.Threads[thread].Body
	dst, writes := body[en.Instr].Dst, 0
	for i := range body {
		if body[i].Dst == dst {
			writes++
		}
	}
	return writes == 1 && slices.Contains(e.t.Terms(), litmus.Term{Kind: litmus.TermReg, Thread: thread, Name: dst})
}

// params lists the parameters and their offsets.
func (e *harnessEmitter) params() {
	h, at := e.h, int64(0)
	add := func(p HarnessParam) int64 {
		size := int64(4)
		if p.Wide {
			size = 8
		}
		at = (at + size - 1) &^ (size - 1)
		p.At = at
		at += size
		h.Params = append(h.Params, p)
		return p.At
	}
	c, out := h.Check, HarnessParam{Kind: ParamOut, Wide: true, Name: "out"}
	if h.Layout == spec.Adjacent {
		add(out)
	}
	for l := range max(len(e.t.Locations), 1) {
		c.Locations = append(c.Locations, add(HarnessParam{Kind: ParamLocation, Index: l, Wide: true, Name: fmt.Sprintf("p%d", l)}))
	}
	if h.Layout != spec.Adjacent {
		add(out)
	}
	c.Memory = append(c.Memory, add(HarnessParam{Kind: ParamResults, Wide: true, Name: "results"}))
	c.Scratch = add(HarnessParam{Kind: ParamScratch, Wide: true, Name: "scratch"})
	c.Counters = add(HarnessParam{Kind: ParamCounters, Wide: true, Name: "counters"})
	c.Counted = CounterStress
	c.Memory = append(c.Memory, c.Scratch, c.Counters)
	e.valueParams(add)
	for i := range e.bodies {
		v := int64(h.Shape.Roles[i])
		if h.Form == FormPermuted {
			v = int64(i)
		}
		c.Roles = append(c.Roles, add(HarnessParam{Kind: ParamRole, Index: i, Name: fmt.Sprintf("role%d", i), Value: v}))
	}
	e.locationParams(add)
	for _, s := range h.Form.Settings() {
		off := add(HarnessParam{Kind: ParamSetting, Name: s})
		switch s {
		case "stress_slot":
			c.Stress = off
		case "rounds":
			c.Rounds = off
		}
	}
	c.Sequences = 1
	if h.Form == FormPermuted {
		c.Sequences = 2
	}
	add(HarnessParam{Kind: ParamToken, Name: "tok"})
}

// valueParams are those of values that the bodies take, the wide ones first.
func (e *harnessEmitter) valueParams(add func(HarnessParam) int64) {
	h := e.h
	for _, wide := range []bool{true, false} {
		for _, k := range e.bodies {
			for i, t := range k.values {
				if (t.Bits() == 64) == wide {
					v := &k.stands[i]
					v.Offset = add(HarnessParam{Kind: ParamValue, Wide: wide, Name: k.valueParam(i), Value: v.Const})
					if v.Bytes = 4; wide {
						v.Bytes = 8
					}
				}
			}
		}
	}
	for i, k := range e.bodies {
		values := k.copied(k.stands)
		if !h.Program {
			k.spec.SetCode(&e.flat.Threads[i], values)
		}
		h.Values = append(h.Values, slices.Clone(values))
	}
}

// locationParams are those that say where the locations of an instance lie, and what shared ones hold at first.
func (e *harnessEmitter) locationParams(add func(HarnessParam) int64) {
	h, c := e.h, e.h.Check
	for l := range e.t.Locations {
		add(HarnessParam{Kind: ParamMul, Index: l, Name: fmt.Sprintf("mul%d", l)})
		add(HarnessParam{Kind: ParamStride, Index: l, Name: fmt.Sprintf("stride%d", l)})
		c.Offsets = append(c.Offsets, add(HarnessParam{Kind: ParamOffset, Index: l, Name: fmt.Sprintf("offset%d", l)}))
		if e.space(l) == litmus.Shared {
			c.Memory = append(c.Memory, add(HarnessParam{Kind: ParamWindow, Index: l, Name: fmt.Sprintf("window%d", l)}))
			if h.Root(l) != l {
				continue
			}
			for w := 0; w < h.Cells[l]/4; w++ {
				add(HarnessParam{Kind: ParamInitial, Index: l, Word: w, Name: fmt.Sprintf("initial%d_%d", l, w),
					Value: int64(initialWord(e.t.Locations[l].Init, w))})
			}
		}
	}
}

// declare writes the entry's head and registers.
func (e *harnessEmitter) declare() {
	if e.shared {
		e.f(".extern .shared .align 16 .b8 %s_window[];\n", e.h.Name)
	}
	e.f(".visible .entry %s(", e.h.Name)
	for i, p := range e.h.Params {
		if i > 0 {
			e.f(", ")
		}
		t := "u32"
		if p.Wide {
			t = "u64"
		}
		e.f(".param .%s %s", t, p.Name)
	}
	e.f(")\n")
	if e.h.Shape.Clusters {
		e.f(".reqnctapercluster %d, 1, 1\n", e.h.Shape.Ranks)
	}
	e.f("{\n" +
		"\t.reg .b32 %%cta, %%thr, %%unit, %%rank, %%logical, %%group, %%block, %%warp, %%lane, %%ws, %%ls, %%slot, %%cinst, %%inst, %%other;\n")
	e.f("\t.reg .b32 %%a<12>, %%sum, %%done;\n\t.reg .b64 %%d<4>;\n"+
		"\t.reg .pred %%p<4>, %%testing, %%ld<%[1]d>, %%st<%[1]d>;\n", spec.MaxSequence)
	e.f("\t.reg .b64 %%results, %%scratch, %%counters;\n\t.reg .b32 %%win, %%round, %%pos, %%rng;\n")
	for l := range e.t.Locations {
		e.f("\t.reg .b64 %%hl%d;\n", l)
		if e.farther(l) {
			e.f("\t.reg .b64 %%hf%d;\n", l)
		}
	}
	for i := range e.bodies {
		e.f("\t.reg .b32 %%role%d;\n", i)
	}
	for _, s := range e.h.Form.Settings() {
		e.f("\t.reg .b32 %s;\n", set(s))
	}
	e.f("\t.loc 1 %d 0\n", LineOther)
	for _, s := range e.h.Form.Settings() {
		e.f("\tld.param.u32 %s, [%s];\n", set(s), s)
	}
	for i := range e.bodies {
		e.f("\tld.param.u32 %%role%d, [role%d];\n", i, i)
	}
	for _, s := range []string{"results", "scratch", "counters"} {
		e.f("\tld.param.u64 %%%s, [%s];\n", s, s)
	}
}

// initialWord is a word of what a location holds at first.
func initialWord(init int64, w int) uint32 { return uint32(uint64(init) >> (32 * w)) }

func log2(n int) int { return bits.Len(uint(n)) - 1 }
