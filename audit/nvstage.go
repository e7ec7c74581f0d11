package audit

import (
	"strconv"
	"strings"

	"optcheck/litmus"
	"optcheck/optcheck"
	"optcheck/ptxtext"
	"optcheck/report"
	"optcheck/spec"
)

// Where a finding about LLVM IR for NVIDIA arose.
const (
	StageLLC   = "llc"   // the PTX that llc made is not the test any more
	StagePtxas = "ptxas" // that PTX still is
)

// ptxStages names for every finding of a cell the compiler at which it arose, by
// the PTX between the two. What cannot be read leaves the stage empty and is a
// problem.
func (w *worker) ptxStages(cell int) {
	c := &w.res.cells[cell]
	var seen [spec.MaxThreads]*PTXKernel
	for i := range c.Findings {
		f := &c.Findings[i]
		if f.Thread < 0 || f.Thread >= len(w.em.of[cell]) || f.Thread >= len(seen) {
			continue
		}
		k := seen[f.Thread]
		if k == nil {
			var err error
			if k, err = w.readPTX(cell, f.Thread); err != nil {
				w.problem("parse", "the PTX of llc: "+err.Error())
				return
			}
			seen[f.Thread] = k
		}
		f.Stage = k.Stage(f)
	}
}

// PTXKernel is a thread of a test as the PTX that llc made of it: matched[k] is the
// index of the access for entry k of the specification, -1 if there is none.
type PTXKernel struct {
	s       *spec.Spec
	acc     []ptxtext.Access
	matched []int
	extra   bool // something goes to a location, or who knows where, for no entry
}

// readPTX reads what llc made of a cell's thread.
func (w *worker) readPTX(cell, thread int) (*PTXKernel, error) {
	e := w.em.kernels[w.em.of[cell][thread]]
	return ReadPTX(e.name, w.ptx[w.units[w.em.of[cell][thread]]], w.em.units[cell].Kernels[thread].Spec, w.test(cell))
}

// ReadPTX reads an entry of the PTX that llc made of a thread of a test, whose
// specification is s. The text is that of one kernel, as ptxtext.Split gives it.
// The error is that of ptxtext.Accesses.
func ReadPTX(entry, text string, s *spec.Spec, t *litmus.Test) (*PTXKernel, error) {
	acc, err := ptxtext.Accesses(&ptxtext.Kernel{Name: entry, Text: text})
	if err != nil {
		return nil, err
	}
	return newPTXKernel(acc, s, t), nil
}

// Accesses are all accesses and fences of the kernel, those for arguments left out
// and those for results included, in the order of the text.
func (k *PTXKernel) Accesses() []ptxtext.Access { return k.acc }

// At is the index in Accesses of the access for an entry of the specification, or
// of the fence that does what a fence of the specification asks for; -1 for none.
func (k *PTXKernel) At(entry int) int {
	switch {
	case entry < 0 || entry >= len(k.matched):
		return -1
	case k.s.Entries[entry].IsFence():
		return k.fenceAt(entry)
	}
	return k.matched[entry]
}

// newPTXKernel matches accesses with entries: the nth access of a kind to a
// location is the nth such entry.
func newPTXKernel(acc []ptxtext.Access, s *spec.Spec, t *litmus.Test) *PTXKernel {
	k := &PTXKernel{s: s, acc: acc, matched: make([]int, len(s.Entries))}
	taken := make([]bool, len(acc))
	out := resultArg(s, t)
	for n, e := range s.Entries {
		k.matched[n] = -1
		if e.IsFence() {
			continue
		}
		for i := range acc {
			a := &acc[i]
			if !taken[i] && classOf(a.Op) == opOf(e.Kind) && ptxLocation(a, s, t) == e.Loc && a.Space == e.Kind.Space.String() &&
				(a.Atom == "" || a.Atom == e.Kind.Atom.String()) {
				k.matched[n], taken[i] = i, true
				break
			}
		}
	}
	for i := range acc {
		if !taken[i] && classOf(acc[i].Op) != "fence" && acc[i].Arg != out {
			k.extra = true
		}
	}
	return k
}

// resultArg is the index of the parameter for results.
func resultArg(s *spec.Spec, t *litmus.Test) int {
	switch s.Layout {
	case spec.Pointers:
		return len(t.Locations)
	case spec.Offsets:
		return 2
	}
	return 0
}

func classOf(op string) string {
	switch op {
	case "ld", "st":
		return op
	case "atom", "red":
		return "rmw"
	case "fence", "membar", "bar":
		return "fence"
	}
	return "?"
}

// ptxLocation is the location that an access goes to, -1 for none.
func ptxLocation(a *ptxtext.Access, s *spec.Spec, t *litmus.Test) int {
	switch s.Layout {
	case spec.Symbols:
		if i := strings.LastIndex(a.Global, "_L"); i >= 0 && a.Offset == 0 {
			if n, err := strconv.Atoi(a.Global[i+2:]); err == nil {
				return n
			}
		}
	case spec.Adjacent:
		if n, ok := s.LocationAt(a.Offset); ok && (strings.HasSuffix(a.Global, "_LG") || strings.HasSuffix(a.Global, "_LS")) {
			return n
		}
	case spec.Offsets:
		if n, ok := s.LocationAt(a.Offset); ok && (a.Arg == 0 || a.Arg == 1) {
			return n
		}
	default:
		if a.Arg >= 0 && a.Arg < len(t.Locations) && a.Offset == 0 {
			return a.Arg
		}
	}
	return -1
}

// Stage tells by what compiler a finding arose: by llc, if the PTX already lacks
// what the finding says is gone, else by ptxas; "" if that cannot be said.
func (k *PTXKernel) Stage(f *report.Finding) string {
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
		e := &k.s.Entries[n]
		switch f.Rule {
		case optcheck.FenceRemoved.ID, optcheck.FenceWeakened.ID:
			ok = k.fence(n)
		case optcheck.ControlChanged.ID:
			ok = k.guarded(n)
		case optcheck.DependencyBroken.ID:
			ok = k.depends(n)
		case optcheck.Weakened.ID:
			ok = k.matched[n] >= 0 && strongAs(&k.acc[k.matched[n]], e.Kind)
		case optcheck.WidthChanged.ID:
			ok = k.matched[n] >= 0 && k.acc[k.matched[n]].Width == e.Kind.Width
		case optcheck.Reordered.ID:
			ok = k.inOrder(n)
		default: // missing, merged, retargeted, another kind
			ok = k.matched[n] >= 0
		}
	}
	if ok {
		return StagePtxas
	}
	return StageLLC
}

// inOrder reports whether an access stands behind all that are before it in the
// test.
func (k *PTXKernel) inOrder(n int) bool {
	for i := 0; i < n; i++ {
		if !k.s.Entries[i].IsFence() && (k.matched[i] < 0 || k.matched[i] > k.matched[n]) {
			return false
		}
	}
	return k.matched[n] >= 0
}

// guarded reports whether an access or fence is conditional as in the test.
func (k *PTXKernel) guarded(n int) bool {
	if k.s.Entries[n].IsFence() {
		i := k.fenceAt(n)
		return i >= 0 && k.acc[i].Maybe == k.s.Entries[n].Guarded
	}
	return k.matched[n] >= 0 && k.acc[k.matched[n]].Maybe == k.s.Entries[n].Guarded && k.depends(n)
}

// depends reports whether all dependencies of an entry are there.
func (k *PTXKernel) depends(n int) bool {
	at := k.matched[n]
	if k.s.Entries[n].IsFence() {
		at = k.fenceAt(n)
	}
	for _, d := range k.s.Deps {
		if d.To != n {
			continue
		}
		if at < 0 || k.matched[d.From] < 0 {
			return false
		}
		flows := k.acc[at].Data
		switch d.Kind {
		case spec.DepAddr:
			flows = k.acc[at].Addr
		case spec.DepCtrl:
			flows = k.acc[at].Cond
		}
		if !k.flows(flows, k.matched[d.From], map[int]bool{}) {
			return false
		}
	}
	return true
}

// flows reports whether an access is among some or among what those were
// computed from: a dependency through an atomic's operands is one.
func (k *PTXKernel) flows(list []int, from int, seen map[int]bool) bool {
	for _, i := range list {
		if i == from {
			return true
		}
		if !seen[i] && k.acc[i].Op == "atom" {
			seen[i] = true
			if k.flows(k.acc[i].Data, from, seen) {
				return true
			}
		}
	}
	return false
}
