package realcode

import (
	"strings"

	"optcheck/isa"
	"optcheck/ptx"
)

// proxy is which proxies a fence is between; "" if it is none that is known, or one that needs no instruction: that of the
// initialisation of mbarriers.
func proxy(in *ptx.Inst) string {
	for _, x := range []string{"async", "alias", "tensormap::generic"} {
		if in.Has(x) {
			return x
		}
	}
	return ""
}

// proxyFence reports whether an instruction is what a fence between proxies becomes: a view of memory, the
// fence of all memory where addresses are aliases, the invalidation of the map of a tensor, or the fence
// of its release.
func proxyFence(op *Op, in *isa.Inst) bool {
	fence := in.Role == isa.RoleFence && in.Op == "MEMBAR"
	switch proxy(op.Inst) {
	case "alias":
		return fence && in.Mem.Strength == isa.FenceSC
	case "tensormap::generic":
		return op.Effect.Sem == "release" && fence || op.Effect.Sem == "acquire" && in.Op == "UTMACCTL"
	case "async":
		return in.Role == isa.RoleFence && in.Op == "FENCE"
	}
	return false
}

// between reports whether a fence between proxies orders an operation: an asynchronous one, what tells other
// threads that they may perform one, or an access to the memory that it is about.
func between(fence, op *Op) bool {
	e := &op.Effect
	switch {
	case e.Kind == ptx.Bulk || e.Kind == ptx.Barrier || e.Kind == ptx.Arrive || e.Kind == ptx.MbarArrive:
		return true
	case !e.Kind.IsAccess() || proxy(fence.Inst) != "async" && proxy(fence.Inst) != "alias":
		return false
	}
	of := fence.Inst.Mods[len(fence.Inst.Mods)-1]
	return !strings.HasPrefix(of, "global") && !strings.HasPrefix(of, "shared") || e.Space == "generic" || strings.HasPrefix(of, e.Space)
}
