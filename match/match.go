// Package match finds the accesses and fences of a test in what stands between its
// source and its machine code, LLVM IR or PTX, and tells at which stage of a
// compilation a finding about the machine code arose: at the first whose output does
// not keep what the finding says is gone.
package match

import (
	"slices"
	"strconv"
	"strings"

	"optcheck/litmus"
	"optcheck/spec"
)

// The classes of accesses.
const (
	load  = "ld"
	store = "st"
	rmw   = "rmw"
	fence = "fence"
)

// access is an access or fence of a kernel in either language.
type access struct {
	class string // "" for what has nothing to do with the test
	loc   int    // of the test, -1 for none
	// harmless tells that it goes where no location is: to results.
	harmless bool
	// space and atom are as in spec.Kind, "" where the language does not say; width is
	// in bytes.
	space, atom string
	width       int
	volatile    bool
	atomic      bool // has an order, or is strong
	scope       int  // by scopeRank
	// release and acquire tell what it orders, sc that it is a fence for all of it.
	release, acquire, sc bool
	maybe                bool // some path passes it by
	// addr, data and cond list the accesses whose values flow into the address, the
	// value and the conditions.
	addr, data, cond []int
	through          bool // a dependency on what it gives is one on its operands
	library          bool // a call that is left to a library
}

// Kernel is a thread of a test in a language between source and machine code.
type Kernel struct {
	s       *spec.Spec
	acc     []access
	matched []int // by entry of the specification, the access; -1 for none, and for fences
	extra   bool  // something goes to a location, or who knows where, for no entry
	// pathsOnly tells that of a condition the language says only that there is one.
	pathsOnly bool
}

// newKernel matches accesses with entries: the nth access of a kind to a location is
// the nth such entry.
func newKernel(acc []access, s *spec.Spec) *Kernel {
	k := &Kernel{s: s, acc: acc, matched: make([]int, len(s.Entries))}
	taken := make([]bool, len(acc))
	for n := range s.Entries {
		e := &s.Entries[n]
		k.matched[n] = -1
		if e.IsFence() {
			continue
		}
		if i := slices.IndexFunc(acc, func(a access) bool { return a.is(e) }); i >= 0 {
			for ; i < len(acc); i++ {
				if !taken[i] && acc[i].is(e) {
					k.matched[n], taken[i] = i, true
					break
				}
			}
		}
	}
	for i := range acc {
		if a := &acc[i]; !taken[i] && a.class != "" && a.class != fence && !a.harmless {
			k.extra = true
		}
	}
	return k
}

// is reports whether an access is of the kind of an entry, and goes to its location.
func (a *access) is(e *spec.Entry) bool {
	return a.class == classOf(e.Kind) && a.loc == e.Loc && (a.space == "" || a.space == e.Kind.Space.String()) &&
		(a.atom == "" || a.atom == e.Kind.Atom.String())
}

func classOf(k spec.Kind) string {
	switch k.Op {
	case litmus.OpLd:
		return load
	case litmus.OpSt:
		return store
	case litmus.OpAtom, litmus.OpRed:
		return rmw
	}
	return fence
}

// place is what an address is made of.
type place struct {
	global string
	arg    int
	offset int64
}

// location returns the location at a place, -1 for none. arg tells whether the nth
// location's parameter is that of the place, in the layout that has one for each.
func (p place) location(s *spec.Spec, n int, arg func(n int) bool) int {
	switch s.Layout {
	case spec.Symbols:
		if i := strings.LastIndex(p.global, "_L"); i >= 0 {
			if n, err := strconv.Atoi(p.global[i+2:]); err == nil {
				return n
			}
		}
	case spec.Adjacent:
		if n, ok := s.LocationAt(p.offset); ok && (strings.HasSuffix(p.global, "_LG") || strings.HasSuffix(p.global, "_LS")) {
			return n
		}
	case spec.Offsets:
		if n, ok := s.LocationAt(p.offset); ok && (p.arg == 0 || p.arg == 1) {
			return n
		}
	default:
		for i := range n {
			if arg(i) {
				return i
			}
		}
	}
	return -1
}

// inOrder reports whether an access stands after all that are before it in the
// test.
func (k *Kernel) inOrder(n int) bool {
	for i := 0; i < n; i++ {
		if !k.s.Entries[i].IsFence() && (k.matched[i] < 0 || k.matched[i] > k.matched[n]) {
			return false
		}
	}
	return k.matched[n] >= 0
}

// depends reports whether all dependencies of an entry, which is the access at, are
// there.
func (k *Kernel) depends(n, at int) bool {
	for _, d := range k.s.Deps {
		if d.To != n {
			continue
		}
		if k.pathsOnly && d.Kind == spec.DepCtrl {
			if at >= 0 && !k.acc[at].maybe {
				return false
			}
			continue
		}
		if at < 0 || k.matched[d.From] < 0 {
			return false
		}
		from := k.acc[at].data
		switch d.Kind {
		case spec.DepAddr:
			from = k.acc[at].addr
		case spec.DepCtrl:
			from = k.acc[at].cond
		}
		if !k.flows(from, k.matched[d.From], map[int]bool{}) {
			return false
		}
	}
	return true
}

// flows reports whether an access is among some, or among what those were computed
// from.
func (k *Kernel) flows(list []int, from int, seen map[int]bool) bool {
	for _, i := range list {
		if i == from {
			return true
		}
		if !seen[i] && k.acc[i].through {
			seen[i] = true
			if k.flows(k.acc[i].data, from, seen) {
				return true
			}
		}
	}
	return false
}
