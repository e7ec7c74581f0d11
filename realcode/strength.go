package realcode

import (
	"fmt"
	"slices"
	"strings"

	"optcheck/isa"
	"optcheck/ptx"
)

// scopes of machine code; it has none for the cluster and takes that of the GPU.
var scopes = map[string]isa.Scope{"cta": isa.ScopeCTA, "cluster": isa.ScopeCluster, "gpu": isa.ScopeGPU, "sys": isa.ScopeSys}

// weaker says in which way an image is less than its operation, by the mapping of
// sm_70 and later; "" if it is not.
func weaker(op *Op, in *isa.Inst, sm int) string {
	e, m := &op.Effect, &in.Mem
	if in.Role == isa.RoleCache { // of a load that is left out
		return ""
	}
	switch e.Kind {
	case ptx.Fence:
		switch {
		case m.Scope < op.reach():
			return fmt.Sprintf("it needs the scope %s", scopeNames[op.reach()])
		case e.Sem == "sc" && sm >= 70 && m.Strength != isa.FenceSC:
			return "it needs a sequentially consistent fence"
		}
		return ""
	case ptx.ProxyFence:
		if in.Op == "MEMBAR" && m.Scope < scopes[e.Scope] {
			return fmt.Sprintf("it needs the scope %s", e.Scope)
		}
		return ""
	case ptx.CopyWait, ptx.BulkWait, ptx.MatrixWait:
		have, want := groups(in), int64(0)
		if n := len(op.Inst.Args); n > 0 {
			want = op.Inst.Args[n-1].Value
		}
		if have > want {
			return fmt.Sprintf("it leaves at most %d groups, the machine instruction %d", want, have)
		}
		return ""
	case ptx.Barrier, ptx.Arrive:
		return otherBarrier(op, in)
	case ptx.Load, ptx.Store, ptx.Atomic, ptx.Reduction:
	default:
		return ""
	}
	if e.Kind == ptx.Load && m.NonCoherent() {
		return "it is read through the cache of constants, which does not see what others write"
	}
	if (e.Kind == ptx.Atomic || e.Kind == ptx.Reduction) && in.Role.IsAccess() {
		if why := otherAtomic(op, m); why != "" {
			return why
		}
	}
	if e.Weak() || m.Space == isa.SpaceShared || m.Atom == "CAST" || sm < 70 { // CAST is the arm for shared memory
		return ""
	}
	switch {
	case m.Strength != isa.Strong && m.Strength != isa.MMIO:
		return "it needs a strong access"
	case e.Sem == "mmio" && m.Strength != isa.MMIO:
		return "it needs an access of kind mmio"
	case m.Scope < scopes[e.Scope]:
		return fmt.Sprintf("it needs the scope %s", e.Scope)
	case m.Width < op.elementWidth() && op.elementWidth() <= 8:
		return fmt.Sprintf("it has %d bytes, the machine instruction %d: accesses of different sizes do not synchronise", op.elementWidth(), m.Width)
	}
	return ""
}

var atomNames = map[string]string{"add": "ADD", "min": "MIN", "max": "MAX", "inc": "INC", "dec": "DEC", "and": "AND", "or": "OR",
	"xor": "XOR", "exch": "EXCH", "cas": "CAS"}

// otherAtomic says whether an atomic became another one. Loops that compare and
// swap can be any; POPC.INC counts lanes of an addition; to count up to the greatest
// number is to add.
func otherAtomic(op *Op, m *isa.Mem) string {
	e := &op.Effect
	want := atomNames[e.Atom]
	switch {
	case m.Atom == "" || want == "" || m.Atom == want || m.Atom == "CAS" || m.Atom == "CAST":
	case want == "INC" && m.Atom == "ADD" && op.adds:
	case want == "ADD" && (m.Atom == "POPC" || m.Atom == "INC" || m.Atom == "SAFEADD"):
	default:
		return fmt.Sprintf("it is .%s, the machine instruction %s", e.Atom, m.Atom)
	}
	if (e.Atom == "min" || e.Atom == "max") && m.Atom == want && len(e.Type) > 0 {
		if signed := e.Type[0] == 's'; (e.Type[0] == 's' || e.Type[0] == 'u') && m.Type != isa.AtomOther && signed != (m.Type == isa.AtomSigned) {
			return fmt.Sprintf("it is of type %s, the machine instruction is not", e.Type)
		}
	}
	return ""
}

// otherBarrier says whether a barrier of the CTA became one with another number, of another
// number of threads, or which brings together other values, as far as both say which.
func otherBarrier(op *Op, in *isa.Inst) string {
	if in.Op != "BAR" || op.Effect.Scope != "cta" {
		return ""
	}
	want := op.Inst.Args
	if op.Inst.Has("red") {
		for _, how := range []string{"popc", "and", "or"} {
			if op.Inst.Has(how) && !slices.Contains(in.Mods, strings.ToUpper(how)) {
				return fmt.Sprintf("it is .%s, the machine instruction is not", how)
			}
		}
		want = want[1 : len(want)-1]
	}
	have := in.Args
	for len(have) > 0 && have[len(have)-1].Kind == isa.OpdPred {
		have = have[:len(have)-1]
	}
	for i, what := range []string{"number", "number of threads"} {
		if i < len(want) && i < len(have) && want[i].Kind == ptx.Imm && have[i].Kind == isa.OpdImm && want[i].Value != have[i].Imm {
			return fmt.Sprintf("its %s is %d, that of the machine instruction %d", what, want[i].Value, have[i].Imm)
		}
	}
	if len(want) < 2 && len(have) > 1 && have[1].Kind == isa.OpdImm {
		return "it waits for all threads, the machine instruction for some"
	}
	return ""
}

// groups is how many groups of copies a wait leaves, 0 if it does not say.
func groups(in *isa.Inst) int64 {
	if n := len(in.Args); n > 0 && in.Args[n-1].Kind == isa.OpdImm {
		return in.Args[n-1].Imm
	}
	return 0
}

// less is an operation with another strength: what the machine code has of it.
func (op *Op) less(sem, scope string) *Op {
	out := *op
	out.Effect.Sem, out.Effect.Scope = sem, scope
	if op.Effect.Kind == ptx.Fence {
		in := *op.Inst
		in.Op = "fence." + sem + "." + scope
		out.Inst = &in
	}
	return &out
}

// fence is what is left of an operation, if it is a fence.
func (op *Op) fence(left *Op) *ptx.Effect {
	if op.Effect.Kind != ptx.Fence && op.Effect.Kind != ptx.ProxyFence {
		return nil
	}
	return &left.Effect
}

// as is what an image has of its operation: its scope, and its strength.
func (op *Op) as(in *isa.Inst) *Op {
	e := &op.Effect
	sem, scope := e.Sem, e.Scope
	if s := scopeNames[in.Mem.Scope]; s != "" && scopes[s] < scopes[scope] {
		scope = s
	}
	switch {
	case e.Kind == ptx.Fence && sem == "sc" && in.Mem.Strength != isa.FenceSC:
		sem = "acq_rel"
	case e.Kind.IsAccess() && in.Mem.Strength != isa.Strong && in.Mem.Strength != isa.MMIO:
		sem, scope = "weak", ""
	}
	return op.less(sem, scope)
}

// resized sets the width of what an image has of an operation; false if a litmus test has no such access.
func (op *Op) resized(width int) bool {
	e := &op.Effect
	op.sized = width
	return len(op.elements()) <= 1 && e.Width <= 8 && (width == 4 || width == 8 || (e.Kind == ptx.Load || e.Kind == ptx.Store) && (width == 1 || width == 2)) &&
		(e.Width >= 4 || e.Kind == ptx.Load || e.Kind == ptx.Store)
}

var scopeNames = map[isa.Scope]string{isa.ScopeCTA: "cta", isa.ScopeCluster: "cluster", isa.ScopeGPU: "gpu", isa.ScopeSys: "sys"}
