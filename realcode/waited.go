package realcode

import (
	"fmt"
	"strings"

	"optcheck/litmus"
	"optcheck/ptx"
)

// waited makes the slice of a wait for an mbarrier and an access behind it that the machine code performs before the phase is
// complete: another thread of the CTA comes to the location, and arrives.
func waited(wait, y *Op) *slice {
	kind := y.Effect.Kind
	if wait.Effect.Kind != ptx.MbarWait || kind != ptx.Load && kind != ptx.Store {
		return refused("there is no litmus test of a wait and %s", kind)
	}
	verb := "test_wait"
	if wait.Inst.Has("try_wait") {
		verb = "try_wait"
	}
	if verb += ".parity"; wait.Effect.Scope == "cluster" {
		verb += ".acquire.cluster"
	}
	waits := fmt.Sprintf("mbarrier.%s.shared.b64 r0, [b], 0", verb)
	access := scoped("ld", y.Effect.Sem, y.Effect.Scope) + " r1, [x]"
	partner, cond := "st.weak [x], 1", "1:r0=1 /\\ 1:r1=0"
	if kind == ptx.Store {
		access = scoped("st", y.Effect.Sem, y.Effect.Scope) + " [x], 1"
		partner, cond = "ld.weak r1, [x]", "1:r0=1 /\\ 0:r1=1"
	}
	if sem := y.Effect.Sem; sem != "weak" && sem != "" { // as strong as what it is to be compared with
		partner = strings.Replace(partner, ".weak", ".relaxed."+y.Effect.Scope, 1)
	}
	spaces := "b: shared"
	if y.Effect.Space == "shared" {
		spaces += ", x: shared"
	}
	test := func(name, first, second string) (*litmus.Test, error) {
		return litmus.Parse("slice", fmt.Appendf(nil, "PTX %s\n\"mbarrier, waited for\"\n{ x=0; b=1; }\n P0@cta 0, gpu 0 | P1@cta 0, gpu 0 ;\n"+
			" %s | %s ;\n mbarrier.arrive.shared.b64 _, [b] | %s ;\n%s\nexists (%s)\n", name, partner, first, second, spaces, cond))
	}
	out := &slice{pattern: "mbarrier, waited for"}
	var err error
	if out.source, err = test("source", waits, access); err == nil {
		out.machine, err = test("machine", access, waits)
	}
	if err != nil {
		return refused("%v", err)
	}
	return out
}
