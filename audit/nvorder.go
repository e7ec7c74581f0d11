package audit

import (
	"optcheck/litmus"
	"optcheck/ptxtext"
	"optcheck/spec"
)

// scopeRank orders PTX's scopes. An atomic without one is for the GPU, and
// volatile is for the system (PTX ISA, Memory Consistency Model).
var scopeRank = map[string]int{"cta": 1, "cluster": 2, "gpu": 3, "gl": 3, "sys": 4}

func scopeOf(a *ptxtext.Access) int {
	switch {
	case a.Sem == "volatile" || a.Sem == "mmio":
		return scopeRank["sys"]
	case a.Scope == "" && (a.Op == "atom" || a.Op == "red"):
		return scopeRank["gpu"]
	}
	return scopeRank[a.Scope]
}

// wanted is the scope of a kind; an atomic's is the GPU's unless it says
// otherwise.
func wanted(k spec.Kind) int {
	if k.Scope == litmus.ScopeNone && (k.Op == litmus.OpAtom || k.Op == litmus.OpRed) {
		return scopeRank["gpu"]
	}
	return scopeRank[k.Scope.String()]
}

// strongAs reports whether an access is as strong as a kind and for as many, its
// order left aside.
func strongAs(a *ptxtext.Access, k spec.Kind) bool {
	isStrong := a.Op == "atom" || a.Op == "red" || a.Sem != "" && a.Sem != "weak"
	if k.Op == litmus.OpLd || k.Op == litmus.OpSt {
		if k.Sem < litmus.SemVolatile {
			return true
		}
	}
	return isStrong && scopeOf(a) >= wanted(k)
}

// orders reports what an access or fence orders: what precedes it before it, and
// itself before what follows.
func orders(a *ptxtext.Access) (release, acquire bool) {
	switch a.Sem {
	case "release":
		return true, false
	case "acquire":
		return false, true
	case "acq_rel", "sc":
		return true, true
	}
	return a.Op == "membar", a.Op == "membar"
}

// fence reports whether a fence, or the order of an access, is there.
func (k *PTXKernel) fence(n int) bool {
	e := &k.s.Entries[n]
	if e.IsFence() {
		i := k.fenceAt(n)
		return i >= 0
	}
	at := k.matched[n]
	if at < 0 {
		return false
	}
	release := e.Kind.Sem == litmus.SemRelease || e.Kind.Sem == litmus.SemAcqRel
	acquire := e.Kind.Sem == litmus.SemAcquire || e.Kind.Sem == litmus.SemAcqRel
	hasRelease, hasAcquire := orders(&k.acc[at])
	if scopeOf(&k.acc[at]) < wanted(e.Kind) {
		hasRelease, hasAcquire = false, false
	}
	// A fence beside it does the same.
	for i := at - 1; i >= 0 && classOf(k.acc[i].Op) == "fence" && !hasRelease; i-- {
		r, _ := orders(&k.acc[i])
		hasRelease = r && scopeOf(&k.acc[i]) >= wanted(e.Kind)
	}
	for i := at + 1; i < len(k.acc) && classOf(k.acc[i].Op) == "fence" && !hasAcquire; i++ {
		_, a := orders(&k.acc[i])
		hasAcquire = a && scopeOf(&k.acc[i]) >= wanted(e.Kind)
	}
	return (hasRelease || !release) && (hasAcquire || !acquire)
}

// fenceAt is the index of a fence that is as strong as an entry and stands
// between the accesses before and after it, -1 if there is none.
func (k *PTXKernel) fenceAt(n int) int {
	lo, hi := -1, len(k.acc)
	for i, m := range k.matched {
		switch {
		case m < 0:
		case i < n:
			lo = max(lo, m)
		case i > n:
			hi = min(hi, m)
		}
	}
	want := k.s.Entries[n].Kind
	for i := lo + 1; i < hi; i++ {
		a := &k.acc[i]
		if classOf(a.Op) != "fence" || scopeOf(a) < scopeRank[want.Scope.String()] {
			continue
		}
		release, acquire := orders(a)
		sc := a.Op == "membar" || a.Sem == "sc"
		switch want.Sem {
		case litmus.SemSC:
			release, acquire = sc, sc
		case litmus.SemAcquire:
			release = true
		case litmus.SemRelease:
			acquire = true
		}
		if release && acquire {
			return i
		}
	}
	return -1
}

// ScopeRank orders scopes from the narrowest, 1 for a CTA, to the widest, 4 for the
// system; 0 stands for none. An atomic without a scope has the GPU's.
func ScopeRank(k spec.Kind) int { return wanted(k) }
