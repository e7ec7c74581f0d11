package ptxgen

import "optcheck/litmus"

// nvScopes maps PTX's scopes to LLVM's names in the NVPTX back end; system has none (LLVM,
// NVPTXUsage, Memory Scopes; LLVM 20 and later distinguish them).
var nvScopes = map[litmus.Scope]string{litmus.ScopeCTA: "block", litmus.ScopeCluster: "cluster",
	litmus.ScopeGPU: "device", litmus.ScopeSys: ""}

// nvCheck returns why LLVM IR cannot express a test in PTX, as an *spec.Unsupported error, or
// nil.
func nvCheck(t *litmus.Test, sm int) error {
	if t.Dialect == litmus.OpenCL {
		return unsupported("a test in OpenCL C has no PTX")
	}
	if t.Extended() || t.Distributed() {
		return unsupported("asynchronous operations, mbarriers, or shared memory of other CTAs")
	}
	for i := range t.Locations {
		if t.Locations[i].Alias != "" {
			return unsupported("location %s is an alias; kernels in audit form have no virtual aliases", t.Locations[i].Name)
		}
		if t.Locations[i].Of != "" {
			return unsupported("location %s is a part of another; LLVM IR is emitted for whole locations", t.Locations[i].Name)
		}
	}
	for i := range t.Threads {
		for j := range t.Threads[i].Body {
			in := &t.Threads[i].Body[j]
			if _, err := requirement(spelled(in, in.Space), sm); err != nil {
				return err
			}
			if err := nvInstr(in); err != nil {
				return err
			}
		}
	}
	return nil
}

func nvInstr(in *litmus.Instr) error {
	switch in.Op {
	case litmus.OpMembar, litmus.OpFenceProxy, litmus.OpBar:
		return unsupported("LLVM IR has no counterpart of %v", in.Op)
	case litmus.OpLd, litmus.OpSt, litmus.OpAtom, litmus.OpRed, litmus.OpFence:
	default:
		return nil
	}
	if in.Cache != litmus.CacheNone {
		return unsupported("LLVM IR has no cache operators")
	}
	if in.Op == litmus.OpRed {
		return unsupported("LLVM IR has no red: the back end chooses between atom and red")
	}
	if in.Sem == litmus.SemVolatile || in.Sem == litmus.SemMMIO {
		return unsupported(".%v is not said with a scope in LLVM IR", in.Sem)
	}
	if in.Scope != litmus.ScopeNone {
		if _, ok := nvScopes[in.Scope]; !ok {
			return unsupported("LLVM's NVPTX has no scope %v", in.Scope)
		}
	}
	if in.Scope == litmus.ScopeNone && (in.Op == litmus.OpFence || irOrders[in.Sem] != "") {
		return unsupported("an ordered operation without a scope")
	}
	if in.Op == litmus.OpFence && irOrders[in.Order()] == "" {
		return unsupported("a fence without an order")
	}
	if in.Addr.Offset != 0 {
		return unsupported("an offset in an address")
	}
	if in.Op == litmus.OpAtom && in.Atom != litmus.AtomCAS && irRMW[in.Atom] == "" {
		return unsupported("LLVM IR has no atom.%v", in.Atom)
	}
	return nil
}
