// Package match finds the accesses and fences of a test in LLVM IR and PTX, the languages
// between its source and its machine code. It says at which stage of a compilation a finding
// about the machine code arose: the first whose output lacks what the finding reports as gone.
package match

import (
	"slices"
	"strconv"
	"strings"

	"optcheck/litmus"
	"optcheck/spec"
)

// Classes of accesses.
const (
	load  = "ld"
	store = "st"
	rmw   = "rmw"
	fence = "fence"
)

// access is an access or fence of a kernel in either language.
type access struct {
	class string // "" if it has nothing to do with the test
	loc   int    // of the test, -1 for none
	// harmless is set if it goes to no location, but to results.
	harmless bool
	// space and atom are as in spec.Kind, "" if the language does not say; width is in bytes.
	space, atom string
	width       int
	volatile    bool
	atomic      bool // has an order, or is strong
	scope       int  // by scopeRank
	// release and acquire are set if it orders accesses in that way, sc if it is a sequentially
	// consistent fence.
	release, acquire, sc bool
	maybe                bool // some path avoids it
	// addr, data and cond list the accesses whose values flow into the address, the value and
	// the conditions.
	addr, data, cond []int
	through          bool // a dependency on its result is one on its operands
	library          bool // a call that a library resolves
}

// Kernel is a thread of a test in a language between source and machine code.
type Kernel struct {
	s       *spec.Spec
	acc     []access
	matched []int // by entry of the specification, the access; -1 for none, and for fences
	extra   bool  // something goes to a location, or to an unknown address, for no entry
	// pathsOnly is set if the language shows only that there is a condition, not which.
	pathsOnly bool
}

// newKernel matches accesses with entries: the nth access of a kind to a location is the nth
// such entry.
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

// place is an address in terms of the kernel's parameters and variables.
type place struct {
	global string
	arg    int
	offset int64
}

// location returns the location at a place, -1 for none. arg reports whether the nth location's
// parameter is that of the place, in the layout with one for each location.
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

// inOrder reports whether an access follows all those that precede it in the test.
func (k *Kernel) inOrder(n int) bool {
	for i := 0; i < n; i++ {
		if !k.s.Entries[i].IsFence() && (k.matched[i] < 0 || k.matched[i] > k.matched[n]) {
			return false
		}
	}
	return k.matched[n] >= 0
}

// depends reports whether access at, which is entry n, has all dependencies of that entry.
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

// flows reports whether an access is in a list, or among those from which the members of the
// list were computed.
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
