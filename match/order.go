package match

import (
	"optcheck/litmus"
	"optcheck/ptx"
	"optcheck/spec"
)

// scopeRank orders PTX's scopes.
var scopeRank = map[string]int{"cta": 1, "cluster": 2, "gpu": 3, "sys": 4}

// scopePTX is the rank of a scope; that of a barrier says nothing.
func scopePTX(e *ptx.Effect) int {
	switch e.Kind {
	case ptx.Barrier, ptx.Arrive, ptx.Await:
		return 0
	}
	if e.Sem == "mmio" {
		return scopeRank["sys"]
	}
	return scopeRank[e.Scope]
}

// ScopeRank returns the rank of a scope, from 1 for a CTA, the narrowest, to 4 for the system;
// 0 stands for none. An atomic without a scope has the GPU's.
func ScopeRank(k spec.Kind) int {
	if k.Scope == litmus.ScopeNone && (k.Op == litmus.OpAtom || k.Op == litmus.OpRed) {
		return scopeRank["gpu"]
	}
	return scopeRank[k.Scope.String()]
}

// strongAs reports whether an access is as strong as a kind, and of at least its scope,
// regardless of its ordering.
func (a *access) strongAs(k spec.Kind) bool {
	if (k.Op == litmus.OpLd || k.Op == litmus.OpSt) && k.Sem < litmus.SemVolatile {
		return true
	}
	return a.atomic && a.scope >= ScopeRank(k)
}

// beyond reports whether an access has more strength, a wider scope or more order than a kind.
func (a *access) beyond(k spec.Kind) bool {
	weak := (k.Op == litmus.OpLd || k.Op == litmus.OpSt) && k.Sem < litmus.SemVolatile
	switch {
	case weak:
		return a.atomic
	case a.scope > ScopeRank(k) && k.Sem != litmus.SemVolatile:
		return true
	}
	return a.release && k.Sem != litmus.SemRelease && k.Sem != litmus.SemAcqRel || a.acquire && k.Sem != litmus.SemAcquire && k.Sem != litmus.SemAcqRel
}

// orders reports whether a fence, or the ordering of an access, is present.
func (k *Kernel) orders(n int) bool {
	e := &k.s.Entries[n]
	if e.IsFence() {
		return k.fenceAt(n) >= 0
	}
	at := k.matched[n]
	if at < 0 {
		return false
	}
	want := ScopeRank(e.Kind)
	release := e.Kind.Sem != litmus.SemRelease && e.Kind.Sem != litmus.SemAcqRel
	acquire := e.Kind.Sem != litmus.SemAcquire && e.Kind.Sem != litmus.SemAcqRel
	a := &k.acc[at]
	release, acquire = release || a.release && a.scope >= want, acquire || a.acquire && a.scope >= want
	// A fence next to it does the same.
	for i := at - 1; i >= 0 && k.acc[i].class == fence && !release; i-- {
		release = k.acc[i].release && k.acc[i].scope >= want
	}
	for i := at + 1; i < len(k.acc) && k.acc[i].class == fence && !acquire; i++ {
		acquire = k.acc[i].acquire && k.acc[i].scope >= want
	}
	return release && acquire
}

// fenceAt returns the index of a fence between the accesses before and after an entry that is
// as strong as the entry, -1 if there is none.
func (k *Kernel) fenceAt(n int) int {
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
		if a.class != fence || a.scope < scopeRank[want.Scope.String()] {
			continue
		}
		release, acquire := a.release, a.acquire
		switch want.Sem {
		case litmus.SemSC:
			release, acquire = a.sc, a.sc
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
