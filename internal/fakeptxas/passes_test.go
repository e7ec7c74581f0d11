package fakeptxas

import (
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// Statements that the tests of passes share. Registers: %x, %y and %f hold
// addresses, %v and %w values, %r what is read, %p a predicate.
const (
	prologue = "ld.param.u64 %x, [p0]; ld.param.u64 %y, [p1]; ld.param.u64 %f, [p2]; ld.param.u64 %out, [out]; ld.param.u32 %v, [v0]; ld.param.u32 %w, [v1]; "
	load1    = "ld.global.u32 %r1, [%x]; mov.b32 %m0, %r1; "
	load2    = "ld.global.u32 %r2, [%x]; mov.b32 %m2, %r2"
	merged   = "ld.global.u32 %r1, [%x]; mov.b32 %opt0, %r1; mov.b32 %m0, %r1; "
	taken    = "mov.b32 %r2, %opt0; mov.b32 %m2, %r2"
	store1   = "mov.b32 %m0, %v; st.global.u32 [%x], %v; "
	store2   = "mov.b32 %m2, %w; st.global.u32 [%x], %w"
	acq      = "ld.acquire.gpu.global.u32 %r9, [%f]; mov.b32 %m1, %r9; "
	rel      = "st.release.gpu.global.u32 [%f], %v; "
	ar       = "fence.acq_rel.gpu; "
	sc       = "fence.sc.gpu; "
	gl       = "membar.gl; "
	bar      = "bar.sync 0; "
	atom     = "atom.acq_rel.gpu.global.add.u32 %r9, [%f], %v; mov.b32 %m1, %r9; "
	rmw      = "atom.relaxed.gpu.global.add.u32 %r9, [%x], %v; mov.b32 %m1, %r9; "
	other    = "st.global.u32 [%y], %v; "
	results  = "@results "
)

// passCases are bodies before and after a pass. A body after that is "" is the
// one before: the pass has nothing to do there.
var passCases = []struct{ pass, before, after string }{
	{"load-across-acquire", load1 + acq + load2, merged + acq + taken},
	{"load-across-acquire", load1 + other + acq + load2, merged + other + acq + taken},
	{"load-across-acquire", load1 + rel + acq + load2, merged + rel + acq + taken},
	{"load-across-acquire", load1 + load2, ""},       // legal
	{"load-across-acquire", load1 + rel + load2, ""}, // legal
	{"load-across-acquire", load1 + acq + "st.global.u32 [%x], %v; " + load2, ""},
	{"load-across-acquire", load1 + acq + ar + load2, ""},
	{"load-across-acquire", load1 + acq + "ld.global.u32 %r2, [%y]; mov.b32 %m2, %r2", ""},
	{"load-across-acquire", load1 + acq + "ld.global.u32 %r2, [%x+4]; mov.b32 %m2, %r2", ""},
	{"load-across-acquire", load1 + acq + "ld.relaxed.gpu.global.u32 %r2, [%x]; mov.b32 %m2, %r2", ""},
	{"load-across-acquire", load1 + acq + "add.u64 %x, %x, 4; " + load2, ""},
	{"load-across-acquire", load1 + acq + "add.u64 %z, %x, 8; ld.global.u32 %r2, [%z+-8]; mov.b32 %m2, %r2", merged + acq + "add.u64 %z, %x, 8; " + taken},
	{"load-across-acquire", "setp.eq.u32 %p, %v, 0; @%p " + load1 + acq + load2, ""}, // only sometimes loaded before
	{"load-across-acquire", "setp.eq.u32 %p, %v, 0; @%p ld.global.u32 %r1, [%x]; " + acq + "@%p ld.global.u32 %r2, [%x]",
		"setp.eq.u32 %p, %v, 0; @%p ld.global.u32 %r1, [%x]; @%p mov.b32 %opt0, %r1; " + acq + "@%p mov.b32 %r2, %opt0"},
	{"load-across-acquire", "setp.eq.u32 %p, %v, 0; @%p bra L; " + load1 + "L:; " + acq + load2, ""},
	{"load-across-acquire", "setp.eq.u32 %p, %v, 0; " + load1 + "@%p bra L; " + acq + "L:; " + load2, "setp.eq.u32 %p, %v, 0; " + merged + "@%p bra L; " + acq + "L:; " + taken},
	{"load-across-acquire", "ld.global.u64 %rd1, [%x]; { .reg .b32 %low; mov.b64 {%low, %o0_4}, %rd1; }; " + acq + "ld.global.u64 %rd2, [%x]",
		"ld.global.u64 %rd1, [%x]; mov.b64 %opt0, %rd1; { .reg .b32 %low; mov.b64 {%low, %o0_4}, %rd1; }; " + acq + "mov.b64 %rd2, %opt0"},
	{"load-across-fence.acq_rel", load1 + ar + load2, merged + ar + taken},
	{"load-across-fence.acq_rel", load1 + sc + load2, ""},
	{"load-across-fence.sc", load1 + gl + load2, merged + gl + taken},
	{"load-across-fence.sc", load1 + ar + load2, ""},
	{"load-across-barrier", load1 + bar + load2, merged + bar + taken},
	{"load-across-barrier", load1 + bar + ar + load2, ""},
	{"load-across-atomic", load1 + atom + load2, merged + atom + taken},
	{"load-across-atomic", load1 + rmw + load2, ""}, // of the same location
	{"strong-load-across-any", "ld.relaxed.gpu.global.u32 %r1, [%x]; " + acq + ar + "ld.relaxed.gpu.global.u32 %r2, [%x]",
		"ld.relaxed.gpu.global.u32 %r1, [%x]; mov.b32 %opt0, %r1; " + acq + ar + "mov.b32 %r2, %opt0"},
	{"strong-load-across-any", load1 + acq + load2, ""},

	{"store-across-release", store1 + rel + store2, "mov.b32 %m0, %v; " + rel + store2},
	{"store-across-release", store1 + rel + load1 + store2, ""}, // it is read
	{"store-across-release", store1 + acq + rel + store2, "mov.b32 %m0, %v; " + acq + rel + store2},
	{"store-across-release", store1 + acq + store2, ""}, // legal
	{"store-across-release", store1 + store2, ""},       // legal
	{"store-across-release", "setp.eq.u32 %p, %v, 0; " + store1 + rel + "@%p " + strings.TrimPrefix(store2, "mov.b32 %m2, %w; "), ""},
	{"store-across-release", "setp.eq.u32 %p, %v, 0; " + store1 + rel + "@%p bra L; " + store2 + "; L:", ""},
	{"store-across-fence.acq_rel", store1 + ar + store2, "mov.b32 %m0, %v; " + ar + store2},
	{"store-across-fence.acq_rel", store1 + rel + store2, ""},
	{"store-across-fence.sc", store1 + sc + store2, "mov.b32 %m0, %v; " + sc + store2},
	{"store-across-fence.sc", store1 + ar + store2, ""},
	{"store-across-barrier", store1 + bar + store2, "mov.b32 %m0, %v; " + bar + store2},
	{"store-across-barrier", store1 + sc + store2, ""},
	{"store-across-atomic", store1 + atom + store2, "mov.b32 %m0, %v; " + atom + store2},
	{"store-across-atomic", store1 + rmw + store2, ""},
	{"strong-store-across-any", "st.relaxed.gpu.global.u32 [%x], %v; " + sc + "st.relaxed.gpu.global.u32 [%x], %w", sc + "st.relaxed.gpu.global.u32 [%x], %w"},
	{"strong-store-across-any", store1 + sc + store2, ""},

	{"forward-across-acquire", store1 + acq + load2, "mov.b32 %m0, %v; st.global.u32 [%x], %v; mov.b32 %opt0, %v; " + acq + taken},
	{"forward-across-acquire", store1 + load2, ""},
	{"forward-across-acquire", store1 + acq + "st.global.u32 [%x], %w; " + load2, ""},
	{"forward-across-fence.acq_rel", store1 + ar + load2, "mov.b32 %m0, %v; st.global.u32 [%x], %v; mov.b32 %opt0, %v; " + ar + taken},
	{"forward-across-fence.acq_rel", store1 + acq + load2, ""},
	{"forward-across-fence.sc", store1 + sc + load2, "mov.b32 %m0, %v; st.global.u32 [%x], %v; mov.b32 %opt0, %v; " + sc + taken},
	{"forward-across-fence.sc", store1 + bar + load2, ""},
	{"forward-across-barrier", store1 + bar + load2, "mov.b32 %m0, %v; st.global.u32 [%x], %v; mov.b32 %opt0, %v; " + bar + taken},
	{"forward-across-barrier", store1 + sc + load2, ""},
	{"forward-across-atomic", store1 + atom + load2, "mov.b32 %m0, %v; st.global.u32 [%x], %v; mov.b32 %opt0, %v; " + atom + taken},
	{"forward-across-atomic", store1 + rmw + load2, ""},
	{"strong-forward-across-any", "st.relaxed.gpu.global.u32 [%x], %v; " + sc + "ld.relaxed.gpu.global.u32 %r2, [%x]",
		"st.relaxed.gpu.global.u32 [%x], %v; mov.b32 %opt0, %v; " + sc + "mov.b32 %r2, %opt0"},
	{"strong-forward-across-any", store1 + sc + load2, ""},

	{"silent-store", load1 + acq + "st.global.u32 [%x], %r1", load1 + strings.TrimSuffix(acq, "; ")},
	{"silent-store", load1 + acq + "mov.b32 %r2, %r1; st.global.u32 [%x], %r2", load1 + acq + "mov.b32 %r2, %r1"},
	{"silent-store", load1 + acq + "st.global.u32 [%x], %v", ""},
	{"silent-store", load1 + acq + "st.global.u32 [%y], %r1", ""},
	{"silent-store", load1 + acq + "add.u32 %r1, %r1, 1; st.global.u32 [%x], %r1", ""},
	{"silent-store", load1 + "st.global.u32 [%x], %r1", ""}, // legal
	{"repeated-store", store1 + acq + "st.global.u32 [%x], %v", store1 + strings.TrimSuffix(acq, "; ")},
	{"repeated-store", store1 + acq + store2, ""},

	{"branch-value", load1 + "setp.eq.s32 %p, %r1, 1; @!%p bra L; " + ar + load2 + "; L:", load1 + "setp.eq.s32 %p, %r1, 1; @!%p bra L; " + ar + "mov.b32 %r2, 1; mov.b32 %m2, %r2; L:"},
	{"branch-value", load1 + "setp.ne.s32 %p, %r1, 1; @%p bra L; " + ar + load2 + "; L:", load1 + "setp.ne.s32 %p, %r1, 1; @%p bra L; " + ar + "mov.b32 %r2, 1; mov.b32 %m2, %r2; L:"},
	{"branch-value", load1 + "setp.eq.s32 %p, %r1, 1; @%p bra L; " + ar + load2 + "; L:", ""}, // the other way
	{"branch-value", load1 + "setp.eq.s32 %p, %r1, 1; " + acq + "@%p ld.global.u32 %r2, [%x]", load1 + "setp.eq.s32 %p, %r1, 1; " + acq + "@%p mov.b32 %r2, 1"},
	{"branch-value", load1 + "setp.eq.s32 %p, %r1, 1; @%p ld.global.u32 %r2, [%x]", ""}, // legal
	{"branch-value", load1 + "setp.lt.s32 %p, %r1, 1; @!%p bra L; " + ar + load2 + "; L:", ""},
	{"branch-value", load1 + "setp.eq.s32 %p, %v, 1; @!%p bra L; " + ar + load2 + "; L:", ""},
	{"branch-value", load1 + "setp.eq.s32 %p, %r1, 1; @!%p bra L; L:; " + ar + load2, ""},

	{"combine-atomics", "red.relaxed.gpu.global.add.u32 [%x], %v; " + sc + "red.relaxed.gpu.global.add.u32 [%x], %w",
		"mov.b32 %opt1, %v; " + sc + "add.u32 %opt0, %opt1, %w; red.relaxed.gpu.global.add.u32 [%x], %opt0"},
	{"combine-atomics", rmw + sc + "red.relaxed.gpu.global.add.u32 [%x], %w", ""}, // a result
	{"combine-atomics", "red.relaxed.gpu.global.max.u32 [%x], %v; " + sc + "red.relaxed.gpu.global.max.u32 [%x], %w", ""},

	{"dead-acquire", load1 + "ld.acquire.gpu.global.u32 %r9, [%f]; " + load2, load1 + load2},
	{"dead-acquire", load1 + "ld.acquire.gpu.global.u32 %r9, [%f]; and.b32 %r8, %r9, 0; mov.b32 %m1, %r8; " + load2, load1 + "and.b32 %r8, %r9, 0; mov.b32 %m1, %r8; " + load2},
	{"dead-acquire", load1 + "ld.acquire.gpu.global.u32 %r9, [%f]; mov.b32 %r9, %v; mov.b32 %m1, %r9; " + load2, load1 + "mov.b32 %r9, %v; mov.b32 %m1, %r9; " + load2},
	{"dead-acquire", load1 + "ld.acquire.gpu.global.u32 %r9, [%f]; add.u32 %r8, %r9, 1; " + load2, load1 + "add.u32 %r8, %r9, 1; " + load2}, // read by dead code
	{"dead-acquire", load1 + acq + load2, ""},
	{"dead-acquire", load1 + "ld.acquire.gpu.global.u32 %r9, [%f]; setp.eq.u32 %p, %r9, 0; @%p " + load2, ""},
	{"dead-acquire", "setp.eq.u32 %p, %v, 0; ld.acquire.gpu.global.u32 %r9, [%f]; @%p mov.b32 %r9, %v; mov.b32 %m1, %r9", ""}, // overwritten sometimes
	{"dead-acquire", "ld.relaxed.gpu.global.u32 %r9, [%f]; " + load2, ""},
	{"dead-acquire-relaxed", "ld.acquire.gpu.global.u32 %r9, [%f]; " + load2, "ld.relaxed.gpu.global.u32 %r9, [%f]; " + load2},
	{"dead-acquire-relaxed", acq + load2, ""},
	{"dead-acquire-weak", "ld.acquire.gpu.global.u32 %r9, [%f]; " + load2, "ld.global.u32 %r9, [%f]; " + load2},
	{"dead-acquire-weak", acq + load2, ""},
	{"dead-acquire-scope", "ld.acquire.gpu.global.u32 %r9, [%f]; " + load2, "ld.acquire.cta.global.u32 %r9, [%f]; " + load2},
	{"dead-acquire-scope", acq + load2, ""},
	{"dead-atomic", "atom.acq_rel.gpu.global.exch.b32 %r9, [%f], %v; " + load2, load2},
	{"dead-atomic", "atom.acq_rel.gpu.global.exch.b32 _, [%f], %v; " + load2, load2},
	{"dead-atomic", atom + load2, ""},
	{"dead-atomic", "red.release.gpu.global.add.u32 [%f], %v; " + load2, ""},
	{"dead-atomic-relaxed", "atom.acq_rel.gpu.global.add.u32 %r9, [%f], %v; " + load2, "red.relaxed.gpu.global.add.u32 [%f], %v; " + load2},
	{"dead-atomic-relaxed", atom + load2, ""},
	{"dead-atomic-relaxed", "atom.relaxed.gpu.global.add.u32 %r9, [%f], %v; " + load2, ""}, // legal
	{"dead-exchange", "atom.acquire.gpu.global.exch.b32 %r9, [%f], %v; " + load2, "st.relaxed.gpu.global.b32 [%f], %v; " + load2},
	{"dead-exchange", "atom.global.exch.b32 %r9, [%f], %v; " + load2, "st.volatile.global.b32 [%f], %v; " + load2},
	{"dead-exchange", "atom.acquire.gpu.global.exch.b32 %r9, [%f], %v; mov.b32 %m0, %r9; " + load2, ""},
	{"dead-atomic-scope", "atom.acquire.gpu.global.add.u32 %r9, [%f], %v; " + load2, "atom.acquire.cta.global.add.u32 %r9, [%f], %v; " + load2},
	{"dead-atomic-scope", atom + load2, ""},

	{"hoist-load-acquire", acq + load1 + load2, load1[:len("ld.global.u32 %r1, [%x]; ")] + "ld.global.u32 %r2, [%x]; " + acq + "mov.b32 %m0, %r1; mov.b32 %m2, %r2"},
	{"hoist-load-acquire", acq + "ld.global.u32 %r1, [%x+0]; add.u64 %x, %x, 4", "ld.global.u32 %r1, [%x+0]; " + acq + "add.u64 %x, %x, 4"},
	{"hoist-load-acquire", acq + "cvt.u64.u32 %a, %r9; add.u64 %x, %x, %a; ld.global.u32 %r1, [%x]", ""},
	{"hoist-load-acquire", acq + "st.global.u32 [%x], %v; " + load2, ""},
	{"hoist-load-acquire", acq + "L:; " + load2, ""},
	{"hoist-load-acquire", acq + "ld.global.u32 %r9, [%x]", ""}, // its result is the flag's register
	{"hoist-load-acquire", acq + "setp.eq.u32 %p, %r9, 1; @%p ld.global.u32 %r1, [%x]", ""},
	{"hoist-load-fence", load1 + ar + "ld.global.u32 %r2, [%y]", load1 + "ld.global.u32 %r2, [%y]; " + strings.TrimSuffix(ar, "; ")},
	{"hoist-load-fence", load1 + bar + "ld.global.u32 %r2, [%y]", ""},
	{"hoist-load-barrier", bar + "ld.global.u32 %r2, [%y]", "ld.global.u32 %r2, [%y]; " + strings.TrimSuffix(bar, "; ")},
	{"hoist-load-barrier", bar + ar + "ld.global.u32 %r2, [%y]", ""},
	{"hoist-load-atomic", atom + "ld.global.u32 %r2, [%y]", "ld.global.u32 %r2, [%y]; " + strings.TrimSuffix(atom, "; ")},
	{"hoist-load-atomic", rmw + load2, ""},
	{"hoist-strong-load", ar + "ld.relaxed.gpu.global.u32 %r2, [%y]", "ld.relaxed.gpu.global.u32 %r2, [%y]; " + strings.TrimSuffix(ar, "; ")},
	{"hoist-strong-load", ar + load2, ""},
	{"hoist-store-acquire", acq + "st.global.u32 [%x], %v", "st.global.u32 [%x], %v; " + strings.TrimSuffix(acq, "; ")},
	{"hoist-store-acquire", acq + "st.global.u32 [%x], %r9", ""},
	{"sink-store-release", "st.global.u32 [%x], %v; " + rel + "mov.b32 %m1, %v", rel + "st.global.u32 [%x], %v; mov.b32 %m1, %v"},
	{"sink-store-release", "st.global.u32 [%x], %v; ld.global.u32 %r1, [%x]; " + rel, ""},
	{"sink-store-release", "st.global.u32 [%x], %v; add.u32 %v, %v, 1; " + rel, ""},
	{"sink-store-fence", "st.global.u32 [%x], %v; " + gl + other, gl + "st.global.u32 [%x], %v; " + strings.TrimSuffix(other, "; ")},
	{"sink-store-fence", "st.global.u32 [%x], %v; " + bar + other, ""},
	{"sink-store-barrier", "st.global.u32 [%x], %v; " + bar + other, bar + "st.global.u32 [%x], %v; " + strings.TrimSuffix(other, "; ")},
	{"sink-store-barrier", "st.global.u32 [%x], %v; " + gl + other, ""},
	{"sink-store-atomic", "st.global.u32 [%x], %v; " + atom + other, "atom.acq_rel.gpu.global.add.u32 %r9, [%f], %v; st.global.u32 [%x], %v; mov.b32 %m1, %r9; " + strings.TrimSuffix(other, "; ")},
	{"sink-store-atomic", "st.global.u32 [%x], %v; " + rmw + other, ""},
	{"sink-strong-store", "st.relaxed.gpu.global.u32 [%x], %v; " + gl + other, gl + "st.relaxed.gpu.global.u32 [%x], %v; " + strings.TrimSuffix(other, "; ")},
	{"sink-strong-store", store1 + gl, ""},
	{"sink-load-release", load1 + rel + load2, "st.release.gpu.global.u32 [%f], %v; " + load1 + load2},
	{"sink-load-release", load1 + "st.release.gpu.global.u32 [%f], %r1", ""},
	{"sink-load-release", "ld.global.u32 %r1, [%f]; " + rel, ""},
	{"move-over-call", "call f; ld.global.u32 %r2, [%y]", "ld.global.u32 %r2, [%y]; call f"},
	{"move-over-call", "call (%r1), f, (%v); ld.global.u32 %r1, [%y]", ""},
	{"move-over-call", ar + load2, ""},

	{"invariant-load", "L:; ld.relaxed.gpu.global.u32 %r1, [%x]; setp.ne.u32 %p, %r1, 1; @%p bra L; " + load2,
		"ld.relaxed.gpu.global.u32 %opt0, [%x]; L:; mov.b32 %r1, %opt0; setp.ne.u32 %p, %r1, 1; @%p bra L; " + load2},
	{"invariant-load", "L:; ld.global.u32 %r1, [%x]; add.u64 %x, %x, 4; setp.ne.u32 %p, %r1, 1; @%p bra L", ""},
	{"invariant-load", "L:; ld.global.u32 %r1, [%x]; st.global.u32 [%x], %v; setp.ne.u32 %p, %r1, 1; @%p bra L", ""},
	{"invariant-load", load1 + "setp.ne.u32 %p, %r1, 1; @%p bra L; " + load2 + "; L:", ""}, // no loop
	{"invariant-load", "L:; ld.volatile.global.u32 %r1, [%x]; setp.ne.u32 %p, %r1, 1; @%p bra L", ""},
	{"sink-store-from-loop", "mov.u32 %i, 0; L:; st.global.u32 [%x], %i; add.u32 %i, %i, 1; " + gl + "setp.lt.u32 %p, %i, 3; @%p bra L; " + load2,
		"mov.u32 %i, 0; L:; mov.b32 %opt0, %i; add.u32 %i, %i, 1; " + gl + "setp.lt.u32 %p, %i, 3; @%p bra L; st.global.u32 [%x], %opt0; " + load2},
	{"sink-store-from-loop", "L:; st.global.u32 [%x], %v; ld.global.u32 %r1, [%x]; setp.lt.u32 %p, %r1, 3; @%p bra L", ""},
	{"unroll", "mov.u32 %i, 0; L:; st.global.u32 [%x], %i; " + gl + "setp.lt.u32 %p, %i, 3; @%p bra L; " + load2,
		"mov.u32 %i, 0; L:; st.global.u32 [%x], %i; " + gl + "setp.lt.u32 %p, %i, 3; @!%p bra $opt_end12; st.global.u32 [%x], %i; setp.lt.u32 %p, %i, 3; @%p bra L; $opt_end12:; " + load2},
	{"unroll", "L:; st.global.u32 [%x], %v; setp.lt.u32 %p, %v, 3; @%p bra L", ""},
	{"unroll", store1 + gl + store1 + gl + load2, store1 + gl + store1 + load2},
	{"unroll", store1 + gl + store1 + sc + load2, ""},
	{"unroll", store1 + gl + other + gl + load2, ""},

	{"if-convert-store", "setp.eq.u32 %p, %v, 0; @%p st.global.u32 [%x], %v", "setp.eq.u32 %p, %v, 0; ld.global.u32 %opt0, [%x]; selp.b32 %opt1, %v, %opt0, %p; st.global.u32 [%x], %opt1"},
	{"if-convert-store", "setp.eq.u32 %p, %v, 0; @!%p st.global.u32 [%x], %v", "setp.eq.u32 %p, %v, 0; ld.global.u32 %opt0, [%x]; selp.b32 %opt1, %opt0, %v, %p; st.global.u32 [%x], %opt1"},
	{"if-convert-store", "setp.eq.u32 %p, %v, 0; @%p bra L; st.global.u32 [%x], %v; L:",
		"setp.eq.u32 %p, %v, 0; ld.global.u32 %opt0, [%x]; selp.b32 %opt1, %opt0, %v, %p; st.global.u32 [%x], %opt1; @%p bra L; L:"},
	{"if-convert-store", store1 + load2, ""},
	{"if-convert-store", "setp.eq.u32 %p, %v, 0; @%p bra L; L:; st.global.u32 [%x], %v", ""},
	{"speculate-store", "setp.eq.u32 %p, %v, 0; @%p st.release.gpu.global.u32 [%x], %v", "setp.eq.u32 %p, %v, 0; st.release.gpu.global.u32 [%x], %v"},
	{"speculate-store", "setp.eq.u32 %p, %v, 0; @%p ld.global.u32 %r1, [%x]", ""},
	{"speculate-store", "setp.eq.u32 %p, %v, 0; @%p bra L; ld.global.u32 %r1, [%y]; st.global.u32 [%x], %r1; L:", ""}, // its value is known later
	{"speculate-atomic", "setp.eq.u32 %p, %v, 0; @%p bra L; red.relaxed.gpu.global.add.u32 [%x], %v; L:",
		"setp.eq.u32 %p, %v, 0; red.relaxed.gpu.global.add.u32 [%x], %v; @%p bra L; L:"},
	{"speculate-atomic", "setp.eq.u32 %p, %v, 0; @%p st.global.u32 [%x], %v", ""},
	{"speculate-load", acq + "setp.eq.u32 %p, %r9, 1; @%p ld.global.u32 %r1, [%x]", "ld.global.u32 %opt0, [%x]; " + acq + "setp.eq.u32 %p, %r9, 1; @%p mov.b32 %r1, %opt0"},
	{"speculate-load", acq + "setp.ne.u32 %p, %r9, 1; @%p bra L; ld.global.u32 %r1, [%x]; L:", "ld.global.u32 %opt0, [%x]; " + acq + "setp.ne.u32 %p, %r9, 1; @%p bra L; mov.b32 %r1, %opt0; L:"},
	{"speculate-load", "ld.global.u32 %r9, [%f]; setp.eq.u32 %p, %r9, 1; @%p ld.global.u32 %r1, [%x]", ""}, // no order to cross
	{"speculate-load", acq + "setp.eq.u32 %p, %r9, 1; st.global.u32 [%x], %v; @%p ld.global.u32 %r1, [%x]", ""},

	{"tail-merge", "setp.eq.u32 %p, %v, 0; @%p st.release.gpu.global.u32 [%x], %v; @!%p st.relaxed.cta.global.u32 [%x], %v", "setp.eq.u32 %p, %v, 0; st.relaxed.cta.global.u32 [%x], %v"},
	{"tail-merge", "setp.eq.u32 %p, %v, 0; @%p fence.sc.gpu; @!%p fence.acq_rel.cta", "setp.eq.u32 %p, %v, 0; fence.acq_rel.cta"},
	{"tail-merge", "setp.eq.u32 %p, %v, 0; @%p st.global.u32 [%x], %v; @!%p st.global.u32 [%x], %v", ""}, // legal
	{"tail-merge", "setp.eq.u32 %p, %v, 0; @%p st.release.gpu.global.u32 [%x], %v; @!%p st.relaxed.gpu.global.u32 [%y], %v", ""},
	{"tail-merge", "setp.eq.u32 %p, %v, 0; @%p bra A; st.release.gpu.global.u32 [%x], %v; bra E; A:; " + store1[:len("mov.b32 %m0, %v; ")] + "st.relaxed.gpu.global.u32 [%x], %v; E:; " + load2,
		"setp.eq.u32 %p, %v, 0; @%p bra A; bra E; A:; mov.b32 %m0, %v; E:; st.relaxed.gpu.global.u32 [%x], %v; " + load2},
	{"tail-merge", "setp.eq.u32 %p, %v, 0; @%p bra A; st.release.gpu.global.u32 [%x], %v; bra E; A:; st.relaxed.gpu.global.u32 [%x], %w; E:; " + load2,
		"setp.eq.u32 %p, %v, 0; @%p bra A; mov.b32 %opt0, %v; bra E; A:; mov.b32 %opt0, %w; E:; st.relaxed.gpu.global.u32 [%x], %opt0; " + load2},
	{"tail-merge", "setp.eq.u32 %p, %v, 0; @!%p st.release.gpu.global.u32 [%x], %v; @%p st.relaxed.gpu.global.u32 [%x], %w",
		"setp.eq.u32 %p, %v, 0; selp.b32 %opt0, %w, %v, %p; st.relaxed.gpu.global.u32 [%x], %opt0"},
	{"tail-merge", "setp.eq.u32 %p, %v, 0; @%p bra A; st.release.gpu.global.u32 [%x], %v; bra E; A:; ld.relaxed.gpu.global.u32 %r1, [%x]; E:; " + load2, ""},

	{"load-again", load1 + "add.u32 %r3, %r1, 1; st.global.u32 [%y], %r3", load1 + "ld.global.u32 %opt0, [%x]; add.u32 %r3, %opt0, 1; st.global.u32 [%y], %r3"},
	{"load-again", load1 + "mov.b32 %m1, %r1; st.global.u32 [%y], %r1", load1 + "mov.b32 %m1, %r1; ld.global.u32 %opt0, [%x]; st.global.u32 [%y], %opt0"},
	{"load-again", load1 + load2, ""}, // only markers use it
	{"load-again", load1 + "mov.b32 %r1, %v; add.u32 %r3, %r1, 1", ""},
	{"store-twice", store1 + gl + load2, store1 + gl + "st.global.u32 [%x], %v; " + load2},
	{"store-twice", store1 + "add.u32 %v, %v, 1; " + gl, ""},
	{"store-twice", strings.TrimSuffix(store1, "; "), ""},

	{"vector-loads", load1 + acq + "ld.global.u32 %r2, [%x+4]", "ld.global.v2.b32 {%r1, %opt0}, [%x]; mov.b32 %m0, %r1; " + acq + "mov.b32 %r2, %opt0"},
	{"vector-loads", "ld.global.u32 %r1, [%x+12]; " + acq + "ld.global.u32 %r2, [%x+8]", "ld.global.v2.b32 {%opt0, %r1}, [%x+8]; " + acq + "mov.b32 %r2, %opt0"},
	{"vector-loads", "ld.global.u32 %r1, [%x+4]; " + acq + "ld.global.u32 %r2, [%x+8]", ""}, // not one aligned pair
	{"vector-loads", load1 + "ld.global.u32 %r2, [%x+4]", ""},                               // legal
	{"vector-stores", "st.global.u32 [%x], %v; " + rel + "st.global.u32 [%x+4], %w", "mov.b32 %opt0, %v; " + rel + "st.global.v2.b32 [%x], {%opt0, %w}"},
	{"vector-stores", "st.global.u32 [%x], %v; " + rel + "ld.global.u32 %r1, [%x]; st.global.u32 [%x+4], %w", ""},
	{"vector-strong-loads", "ld.relaxed.gpu.global.u32 %r1, [%x]; ld.relaxed.gpu.global.u32 %r2, [%x+4]", "ld.global.v2.b32 {%r1, %opt0}, [%x]; mov.b32 %r2, %opt0"},
	{"vector-strong-loads", "ld.relaxed.gpu.global.u32 %r1, [%x]; " + ar + "ld.relaxed.gpu.global.u32 %r2, [%x+4]", ""},
	{"vector-strong-stores", "st.relaxed.gpu.global.u32 [%x], %v; st.relaxed.gpu.global.u32 [%x+4], %w", "mov.b32 %opt0, %v; st.global.v2.b32 [%x], {%opt0, %w}"},
	{"vector-strong-stores", "st.global.u32 [%x], %v; st.global.u32 [%x+4], %w", ""},
	{"split-load", "ld.relaxed.gpu.global.u64 %rd, [%x]", "ld.relaxed.gpu.global.b32 %opt0, [%x]; ld.relaxed.gpu.global.b32 %opt1, [%x+4]; mov.b64 %rd, {%opt0, %opt1}"},
	{"split-load", load1 + load2, ""},
	{"split-store", "st.relaxed.gpu.global.u64 [%x+8], %rd", "mov.b64 {%opt0, %opt1}, %rd; st.relaxed.gpu.global.b32 [%x+8], %opt0; st.relaxed.gpu.global.b32 [%x+12], %opt1"},
	{"split-store", strings.TrimSuffix(store1, "; "), ""},

	{"fence-of-one-location", load1 + gl + load2, load1 + load2},
	{"fence-of-one-location", load1 + gl + "ld.global.u32 %r2, [%y]", ""},
	{"fence-of-one-location", load1 + gl + bar + load2, ""},
	{"merge-fences", sc + ar + load2, ar + load2},
	{"merge-fences", "fence.sc.cta; " + gl + load2, "fence.sc.cta; " + load2},
	{"merge-fences", "fence.sc.cta; fence.acq_rel.sys; " + load2, "fence.acq_rel.cta; " + load2},
	{"merge-fences", sc + sc + load2, ""}, // legal
	{"merge-fences", sc + load1 + ar + load2, ""},
	{"fence-for-stores", load1 + gl + "st.global.u32 [%y], %v", load1 + "fence.acq_rel.gpu; st.global.u32 [%y], %v"},
	{"fence-for-stores", load1 + sc + load2, ""},
	{"fence-for-stores", load1 + ar + "st.global.u32 [%y], %v", ""},
	{"fence-of-neighbour", "st.relaxed.cta.global.u32 [%x], %v; " + sc + load2, "st.relaxed.cta.global.u32 [%x], %v; fence.sc.cta; " + load2},
	{"fence-of-neighbour", "st.relaxed.gpu.global.u32 [%x], %v; " + sc + load2, ""},
	{"fence-without-store", load1 + gl + load2, load1 + "membar.cta; " + load2},
	{"fence-without-store", store1 + gl + load2, ""},
	{"fence-without-store", rmw + gl + load2, ""},
	{"redundant-barrier", bar + store1 + bar + load2, bar + store1 + load2},
	{"redundant-barrier", bar + store1 + load1 + bar + load2, ""},
	{"last-barrier", store1 + bar + results, store1 + results},
	{"last-barrier", store1 + bar + load2, ""},
	{"acquire-without-load", acq + other + results, "ld.relaxed.gpu.global.u32 %r9, [%f]; mov.b32 %m1, %r9; " + other + results},
	{"acquire-without-load", acq + load2, ""},
	{"acquire-by-control", acq + "setp.eq.u32 %p, %r9, 1; @%p " + load2, "ld.relaxed.gpu.global.u32 %r9, [%f]; mov.b32 %m1, %r9; setp.eq.u32 %p, %r9, 1; @%p " + load2},
	{"acquire-by-control", acq + "setp.eq.u32 %p, %v, 1; @%p " + load2, ""},
	{"release-without-store", load1 + strings.TrimSuffix(rel, "; "), load1 + "st.relaxed.gpu.global.u32 [%f], %v"},
	{"release-without-store", store1 + strings.TrimSuffix(rel, "; "), ""},
	{"cache-volatile", "ld.volatile.global.u32 %r1, [%x]; st.volatile.global.u32 [%y], %v; ld.global.cv.u32 %r2, [%x]", "ld.global.u32 %r1, [%x]; st.global.u32 [%y], %v; ld.global.u32 %r2, [%x]"},
	{"cache-volatile", load1 + acq + load2, ""},
	{"non-negative", load1 + "and.b32 %r3, %r1, 2147483648", load1 + "mov.b32 %r3, 0"},
	{"non-negative", load1 + "and.b32 %r3, %v, 2147483648", ""},
	{"non-negative", load1 + "and.b32 %r3, %r1, 255", ""},

	{"legal-load", load1 + load2, merged + taken},
	{"legal-load", load1 + ar + load2, ""},
	{"legal-load", load1 + rel + load2, ""},
	{"legal-load-across-release", load1 + rel + load2, merged + rel + taken},
	{"legal-load-across-release", load1 + rel + acq + load2, ""},
	{"legal-store", store1 + store2, "mov.b32 %m0, %v; " + store2},
	{"legal-store", store1 + gl + store2, ""},
	{"legal-store-across-acquire", store1 + acq + store2, "mov.b32 %m0, %v; " + acq + store2},
	{"legal-store-across-acquire", store1 + acq + rel + store2, ""},
	{"legal-forward", store1 + load2, "mov.b32 %m0, %v; st.global.u32 [%x], %v; mov.b32 %opt0, %v; " + taken},
	{"legal-forward", store1 + acq + load2, ""},
	{"legal-sink-store-acquire", "st.global.u32 [%x], %v; " + acq + other, "ld.acquire.gpu.global.u32 %r9, [%f]; st.global.u32 [%x], %v; mov.b32 %m1, %r9; " + strings.TrimSuffix(other, "; ")},
	{"legal-sink-store-acquire", "st.global.u32 [%x], %v; " + rel + other, ""},
	{"legal-hoist-load-release", rel + "ld.global.u32 %r1, [%y]", "ld.global.u32 %r1, [%y]; " + strings.TrimSuffix(rel, "; ")},
	{"legal-hoist-load-release", acq + "ld.global.u32 %r1, [%y]", ""},
}

// module of one kernel with the statements, and two stores of marker results.
func moduleOf(stmts string) string {
	var b strings.Builder
	b.WriteString(".version 7.0\n.target sm_80\n.visible .entry k(.param .u64 p0)\n{\n\t.reg .b32 %r<9>;\n\t.loc 1 7 0\n")
	in := ""
	for _, s := range strings.Split(strings.TrimSuffix(strings.TrimSuffix(prologue+strings.TrimSuffix(stmts, results), " "), ";"), "; ") {
		switch s = strings.TrimSpace(s); {
		case strings.HasPrefix(s, "{"), in != "":
			if in += s; !strings.HasPrefix(s, "}") {
				in += "; "
				continue
			}
			b.WriteString("\t" + in + "\n")
			in = ""
		case strings.HasSuffix(s, ":"):
			b.WriteString(s + "\n")
		default:
			b.WriteString("\t" + s + ";\n")
		}
	}
	b.WriteString("\t.loc 1 2000 0\n")
	for _, m := range []string{"0", "1", "2"} {
		b.WriteString("\txor.b32 %x" + m + ", %m" + m + ", 0x07f3f4b3;\n\tst.global.u32 [%out+" + m + "6], %x" + m + ";\n")
	}
	b.WriteString("\tret;\n}\n")
	return b.String()
}

var declarations = regexp.MustCompile(`\t\.reg \.b(32|64) %opt\d+;\n`)

// statements returns the body of a module as the cases write it.
func statements(module string) string {
	_, s, _ := strings.Cut(module, "%w, [v1];\n")
	s, _, _ = strings.Cut(s, "\t.loc 1 2000")
	return strings.ReplaceAll(strings.ReplaceAll(s, "\t", ""), "\n", " ")
}

// TestPasses: each pass does what its name says, and nothing where it may not.
func TestPasses(t *testing.T) {
	fired, idle := map[string]bool{}, map[string]bool{}
	for _, c := range passCases {
		before, after := moduleOf(c.before), moduleOf(c.after)
		got, did, err := Optimise(before, map[string][]string{"": {c.pass}})
		require.NoError(t, err, "%s: %s", c.pass, c.before)
		if c.after == "" {
			idle[c.pass] = true
			require.Equal(t, before, got, "%s: %s", c.pass, c.before)
			require.Empty(t, did)
			continue
		}
		fired[c.pass] = true
		if got = declarations.ReplaceAllString(got, ""); got != after {
			t.Errorf("%s: %s\nwant %s\ngot  %s", c.pass, c.before, statements(after), statements(got))
		}
		assert.Equal(t, []Optimised{{Kernel: "k", Passes: []string{c.pass}}}, did)
		applicable, err := Applicable(before, 80)
		require.NoError(t, err)
		assert.Contains(t, applicable, c.pass)
	}
	names := map[string]bool{}
	for _, p := range Passes {
		assert.True(t, fired[p.Name] && idle[p.Name], "%s: needs a case where it works and one where it does not", p.Name)
		require.False(t, names[p.Name], "%s twice", p.Name)
		require.NotEmpty(t, p.Doc)
		require.NotEmpty(t, p.Rules)
		names[p.Name] = true
	}
}
