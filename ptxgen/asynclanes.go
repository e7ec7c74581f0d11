package ptxgen

import (
	"fmt"
	"slices"

	"optcheck/litmus"
)

// performers lets all lanes that the thread's masks name perform it, so that an execution of the kernel shows what they do together: the
// own lane as the test says, with values and predicates of the others that differ from it.
func (k *body) performers() {
	for i := range k.th.Body {
		in := &k.th.Body[i]
		if in.Async == nil || !in.Async.Warp() {
			continue
		}
		mask := in.Mask() | 1<<k.lane()
		if k.lanes != 0 && mask != k.lanes && in.Async.Kind != litmus.WarpActive || len(mbarriers(k.e.t)) > 0 {
			k.lanes = 0 // lanes that one mask names and another does not, or that arrive: the own one alone
			break
		}
		k.lanes |= mask
	}
	if k.lanes != 0 {
		k.p(".reg .b32 %%rel, %%in;\n\t.reg .b64 %%rel64;\n\t.reg .pred %%odd;\n\tshr.u32 %%in, %#x, %%me;\n\tand.b32 %%in, %%in, 1;"+
			"\n\tsetp.eq.u32 %%other, %%in, 0;", k.lanes)
		k.p("sub.s32 %%rel, %%me, %d;\n\tcvt.s64.s32 %%rel64, %%rel;\n\tand.b32 %%in, %%rel, 1;\n\tsetp.ne.u32 %%odd, %%in, 0;", k.lane())
	}
}

// byLane is the register of what a lane gives to an operation of its warp.
func (k *body) byLane(value string, t litmus.Type) string {
	if k.lanes == 0 {
		return value
	}
	k.given++
	r := fmt.Sprintf("%%g%d", k.given)
	switch {
	case t == litmus.Pred:
		k.c(".reg .pred %s;\n\txor.pred %s, %s, %%odd;", r, r, value)
	case t.Bits() == 64:
		k.c(".reg .b64 %s;\n\tadd.s64 %s, %s, %%rel64;", r, r, value)
	default:
		k.c(".reg .b32 %s;\n\tadd.s32 %s, %s, %%rel;", r, r, value)
	}
	return r
}

// lane is the number of the thread of a warp that performs the test.
func (k *body) lane() int {
	if slices.ContainsFunc(k.th.Body, func(in litmus.Instr) bool { return in.Async != nil && in.Async.Warp() }) {
		return k.e.t.Lane(k.th.ID)
	}
	return 0
}
