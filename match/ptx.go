package match

import (
	"fmt"

	"optcheck/event"
	"optcheck/litmus"
	"optcheck/optcheck"
	"optcheck/ptx"
	"optcheck/spec"
)

// Stages at which a finding about LLVM IR for NVIDIA arises.
const (
	StageLLC   = "llc"   // the PTX that llc made is no longer the test
	StagePtxas = "ptxas" // that PTX still is
)

// PTXKernel is a thread of a test in the PTX that llc made of it.
type PTXKernel struct {
	Kernel
	list []PTXAccess
}

// PTX reads an entry of the PTX that llc made of a thread of a test, whose specification is s. Text and
// error are those of Accesses.
func PTX(entry, text string, s *spec.Spec, t *litmus.Test) (*PTXKernel, error) {
	list, err := Accesses(entry, text)
	if err != nil {
		return nil, err
	}
	return newPTX(list, s, t), nil
}

// Accesses lists what a kernel does to memory, in text order. The text is that of one kernel, as ptx.Module.Alone
// gives it. The error is that there is no such kernel in it, or one that is not understood.
func Accesses(entry, text string) ([]PTXAccess, error) {
	const head = ".version 8.0\n.target sm_90\n.address_size 64\n" // whatever it is: it says nothing of what stands there
	m, err := ptx.Parse("kernel", []byte(head+text))
	if err != nil {
		return nil, err
	}
	f := m.Func(entry)
	if f == nil || !f.Entry {
		return nil, fmt.Errorf("no entry %s", entry)
	}
	return accesses(f)
}

func newPTX(list []PTXAccess, s *spec.Spec, t *litmus.Test) *PTXKernel {
	results := resultArg(s, t)
	acc := make([]access, len(list))
	for i := range list {
		a, e := &list[i], list[i].Effect()
		x := &acc[i]
		*x = access{class: classPTX(a.Name), loc: -1, harmless: a.Arg == results, space: e.Space, atom: e.Atom, width: e.Width,
			atomic: a.Name == "atom" || a.Name == "red" || e.Sem != "" && e.Sem != "weak", scope: scopePTX(&e), maybe: a.maybe,
			addr: a.addr, data: a.data, cond: a.cond, through: a.Name == "atom"}
		if e.Kind != ptx.ProxyFence {
			x.sc = e.Sem == "sc"
			x.release = x.sc || e.Sem == "release" || e.Sem == "acq_rel"
			x.acquire = x.sc || e.Sem == "acquire" || e.Sem == "acq_rel"
		}
		if x.space == "generic" {
			x.space = ""
		}
		if a.offset == 0 || s.Layout == spec.Adjacent || s.Layout == spec.Offsets {
			x.loc = (place{a.global, a.Arg, a.offset}).location(s, len(t.Locations), func(n int) bool { return a.Arg == n })
		}
	}
	return &PTXKernel{*newKernel(acc, s), list}
}

// resultArg returns the index of the parameter for results.
func resultArg(s *spec.Spec, t *litmus.Test) int {
	switch s.Layout {
	case spec.Pointers:
		return len(t.Locations)
	case spec.Offsets:
		return 2
	}
	return 0
}

func classPTX(op string) string {
	switch op {
	case load, store:
		return op
	case "atom", "red":
		return rmw
	case "fence", "membar", "bar":
		return fence
	}
	return "?"
}

// Accesses returns all accesses and fences of the kernel in text order, including those for
// results but not those for arguments.
func (k *PTXKernel) Accesses() []PTXAccess { return k.list }

// At returns the index in Accesses of the access for an entry of the specification, or of the
// fence that does what a fence of the specification asks for; -1 for none.
func (k *Kernel) At(entry int) int {
	switch {
	case entry < 0 || entry >= len(k.matched):
		return -1
	case k.s.Entries[entry].IsFence():
		return k.fenceAt(entry)
	}
	return k.matched[entry]
}

// Stage returns the compiler that caused a finding: llc if the PTX already lacks what the
// finding reports as gone, or has what it reports as more, else ptxas; "" if that is unknown.
func (k *PTXKernel) Stage(f *event.Finding) string {
	ok, n := false, f.Access
	switch f.Rule {
	case optcheck.ExtraAccess.ID, optcheck.Duplicated.ID:
		ok = !k.extra
	case optcheck.ValueChanged.ID, optcheck.WitnessesDisagree.ID:
		return ""
	default:
		if n < 0 || n >= len(k.matched) {
			return ""
		}
		ok = k.keeps(f.Rule, n)
	}
	if ok {
		return StagePtxas
	}
	return StageLLC
}

// keeps reports whether an entry still has what a rule requires.
func (k *Kernel) keeps(rule string, n int) bool {
	e, at := &k.s.Entries[n], k.matched[n]
	switch rule {
	case optcheck.FenceRemoved.ID, optcheck.FenceWeakened.ID:
		return k.orders(n)
	case optcheck.ControlChanged.ID:
		at = k.At(n)
		return at >= 0 && k.acc[at].maybe == e.Guarded && (e.IsFence() || k.depends(n, at))
	case optcheck.DependencyBroken.ID:
		return k.depends(n, k.At(n))
	case optcheck.Weakened.ID:
		return at >= 0 && k.acc[at].strongAs(e.Kind)
	case optcheck.WidthChanged.ID:
		return at >= 0 && k.acc[at].width == e.Kind.Width
	case optcheck.Strengthened.ID:
		return at >= 0 && !k.acc[at].beyond(e.Kind)
	case optcheck.Reordered.ID:
		return k.inOrder(n)
	}
	return at >= 0 // missing, merged, retargeted, another kind
}
