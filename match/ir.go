package match

import (
	"strings"

	"optcheck/event"
	"optcheck/litmus"
	"optcheck/llvmir"
	"optcheck/optcheck"
	"optcheck/spec"
)

// Stages at which a finding about OpenCL C arises.
const (
	StageFrontEnd = "front end" // clang translated the source differently
	StageLibrary  = "library"   // libclc defines the function this way
	StagePasses   = "IR passes"
	StageBackEnd  = "back end"
)

// IR matches the LLVM IR of a thread with its test; s is the thread's specification.
func IR(list []llvmir.Access, s *spec.Spec, t *litmus.Test) *Kernel {
	params := parameters(t)
	acc := make([]access, len(list))
	for i := range list {
		a := &list[i]
		x := &acc[i]
		*x = access{class: classIR(a), loc: -1, volatile: a.Volatile, atomic: a.Ordering != "", maybe: a.Maybe,
			addr: a.Addr, data: a.Data, library: a.Op == llvmir.Call}
		if x.class == "" || x.class == fence {
			continue
		}
		if x.loc = (place{a.Global, a.Arg, a.Offset}).location(s, len(params), func(n int) bool { return a.Arg == params[n] }); x.loc < 0 {
			x.class = ""
		}
	}
	k := newKernel(acc, s)
	k.pathsOnly = true
	return k
}

// parameters returns the indices of the locations' parameters: a parameter of padding follows
// each location in local memory.
func parameters(t *litmus.Test) []int {
	shared, out := 0, make([]int, len(t.Locations))
	for i := range t.Locations {
		out[i] = i + shared
		if t.Locations[i].Space == litmus.Shared {
			shared++
		}
	}
	return out
}

func classIR(a *llvmir.Access) string {
	switch a.Op {
	case llvmir.Load:
		return load
	case llvmir.Store:
		return store
	case llvmir.AtomicRMW, llvmir.CmpXchg:
		return rmw
	case llvmir.Fence:
		return fence
	case llvmir.Call:
		switch {
		case strings.Contains(a.Detail, "atomic_"):
			return rmw
		case strings.Contains(a.Detail, "mem_fence") || strings.Contains(a.Detail, "s.waitcnt") || strings.Contains(a.Detail, "barrier"):
			return fence
		}
	}
	return ""
}

// whole reports whether the accesses are those of the test, in order and as strong, and no
// others.
func (k *Kernel) whole() bool {
	if k.extra {
		return false
	}
	for n := range k.s.Entries {
		e := &k.s.Entries[n]
		if e.IsFence() {
			continue
		}
		if !k.inOrder(n) {
			return false
		}
		if a := &k.acc[k.matched[n]]; e.Kind.Sem == litmus.SemVolatile && !a.volatile || e.Kind.Sem >= litmus.SemRelaxed && !a.atomic {
			return false
		}
	}
	return true
}

// StageIR returns the stage at which a finding about OpenCL C arose, given the IR after the
// front end and after the passes; "" if that is unknown.
func StageIR(front, middle *Kernel, f *event.Finding) string {
	switch f.Rule {
	case optcheck.FenceRemoved.ID, optcheck.FenceWeakened.ID, optcheck.InvalidateMissing.ID, optcheck.WritebackMissing.ID,
		optcheck.WaitMissing.ID, optcheck.WaitWeakened.ID:
		return fenceStage(front, middle, f.Access)
	}
	switch {
	case !front.keepsIR(f):
		return StageFrontEnd
	case !middle.keepsIR(f):
		return StagePasses
	}
	return StageBackEnd
}

func (k *Kernel) keepsIR(f *event.Finding) bool {
	if !k.whole() {
		return false
	}
	switch f.Rule {
	case optcheck.DependencyBroken.ID, optcheck.ControlChanged.ID:
		if n := f.Access; n >= 0 && n < len(k.matched) {
			return k.depends(n, k.matched[n])
		}
	}
	return true
}

// fenceStage returns the stage at which a fence, or the ordering of an access, was lost. It
// takes fence number n of the specification for fence number n of the IR, if both have as many.
// A fence that libclc does not implement by LLVM's fence is lost in the library.
func fenceStage(front, middle *Kernel, pos int) string {
	s := middle.s
	if pos < 0 || pos >= len(s.Entries) {
		return ""
	}
	if !s.Entries[pos].IsFence() {
		if !middle.whole() {
			return StagePasses
		}
		return StageBackEnd
	}
	n, want := 0, 0
	for _, e := range s.Entries {
		if e.IsFence() {
			want++
			if e.Pos < pos {
				n++
			}
		}
	}
	m := middle.fences()
	library := s.Entries[pos].Kind.Op == litmus.OpFence && s.Entries[pos].Kind.Scope == litmus.ScopeNone
	switch {
	case len(front.fences()) < want:
		return StageFrontEnd
	case library && (len(m) < want || m[min(n, len(m)-1)].library):
		return StageLibrary
	case len(m) < want:
		return StagePasses
	}
	return StageBackEnd
}

func (k *Kernel) fences() (out []*access) {
	for i := range k.acc {
		if k.acc[i].class == fence {
			out = append(out, &k.acc[i])
		}
	}
	return out
}
