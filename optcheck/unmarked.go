package optcheck

import (
	"fmt"
	"slices"
	"strings"

	"optcheck/isa"
	"optcheck/litmus"
	"optcheck/spec"
)

// CheckUnmarked checks a kernel that carries no specification against one from outside: it matches accesses by kind
// and address instead of by markers. It finds out which address stands for which location by the kinds of accesses to
// each; if several assignments fit and the verdict depends on the choice, the result is Unknown. places fixes the
// addresses of locations, by location index, as messages spell them ("param+0x8"); nil fixes none.
//
// Values and dependencies through memory are not compared, and stores that only keep results (of a loaded value, to
// an address of no location) are ignored.
func (c *Checker) CheckUnmarked(fn *isa.Func, want *spec.Spec, places map[int]string) *Result {
	r := &Result{Func: fn.Name, Thread: want.Thread, Spec: want}
	tr, err := c.traceOf(fn, want)
	if err != nil {
		return r.unknown(err.Error())
	}
	if why := tr.undecidable(); why != "" {
		return r.unknown(why)
	}
	best := -1
	var fit []map[int]string
	for _, assign := range c.assignments(tr, want, places) {
		p, err := c.unmarkedPass(tr, want, nil)
		if err != nil {
			return r.unknown(err.Error())
		}
		switch score := p.matchPlaces(assign); {
		case score > best:
			best, fit = score, append(fit[:0:0], assign)
		case score == best:
			fit = append(fit, assign)
		}
	}
	if len(fit) > maxFit {
		return r.unknown(fmt.Sprintf("which address is which location cannot be told: %d assignments fit", len(fit)))
	}
	var results []*Result
	for _, assign := range fit {
		p, err := c.unmarkedPass(tr, want, &Result{Func: fn.Name, Thread: want.Thread, Spec: want})
		if err != nil {
			return r.unknown(err.Error())
		}
		p.matchPlaces(assign)
		p.runUnmarked()
		results = append(results, p.r)
	}
	for i, x := range results[1:] {
		if verdict(x) != verdict(results[0]) {
			return r.unknown(fmt.Sprintf("which address is which location cannot be told (%s or %s), and the verdict depends on it",
				c.spellPlaces(fit[0]), c.spellPlaces(fit[i+1])))
		}
	}
	return results[0]
}

// unmarkedPass returns a pass with its own copy of the events: what an event is taken for depends on the assignment.
func (c *Checker) unmarkedPass(tr *trace, want *spec.Spec, r *Result) (*pass, error) {
	own := *tr
	own.events = slices.Clone(tr.events)
	return newPass(&own, want, r, c)
}

// Bounds of the search for the addresses of locations: assignments that are tried, and equally good ones that are
// checked.
const (
	maxAssignments = 5040
	maxFit         = 120
)

func verdict(r *Result) string {
	var s []string
	for _, f := range r.Findings {
		s = append(s, fmt.Sprint(f.Rule, f.Access))
	}
	slices.Sort(s)
	return strings.Join(s, ",")
}

func (c *Checker) spellPlaces(assign map[int]string) string {
	var s []string
	for loc := range spec.MaxLocations {
		if a, ok := assign[loc]; ok {
			name := fmt.Sprintf("location %d", loc)
			if loc < len(c.Locations) {
				name = c.Locations[loc]
			}
			s = append(s, name+"="+a)
		}
	}
	return strings.Join(s, " ")
}

// place names the address of an event: as messages spell it, or, if the base is unknown, by the value that computes
// it.
func place(x *event) string {
	if x.addr.base != baseUnknown {
		return strings.Trim(x.addr.String(), "[]")
	}
	return fmt.Sprintf("address %d", x.lo)
}

// assignments lists the ways in which the locations of a specification can
// stand for addresses of the machine code.
func (c *Checker) assignments(tr *trace, want *spec.Spec, places map[int]string) (list []map[int]string) {
	var addrs []string
	space := map[string]bool{} // address → in shared memory
	for i := range tr.events {
		x := &tr.events[i]
		if a := place(x); x.role.IsAccess() && !slices.Contains(addrs, a) {
			addrs = append(addrs, a)
			space[a] = x.mem.Space == isa.SpaceShared
		}
	}
	var locs []int
	shared := map[int]bool{}
	for _, e := range want.Entries {
		if !e.IsFence() && !slices.Contains(locs, e.Loc) {
			locs = append(locs, e.Loc)
			shared[e.Loc] = e.Kind.Space == litmus.Shared
		}
	}
	slices.Sort(locs)
	cur := map[int]string{}
	used := map[string]bool{}
	var rec func(k int)
	rec = func(k int) {
		if len(list) >= maxAssignments {
			return
		}
		if k == len(locs) {
			m := map[int]string{}
			for l, a := range cur {
				m[l] = a
			}
			list = append(list, m)
			return
		}
		fixed, isFixed := places[locs[k]]
		any := false
		for _, a := range addrs {
			if used[a] || space[a] != shared[locs[k]] || isFixed && a != fixed {
				continue
			}
			any = true
			used[a], cur[locs[k]] = true, a
			rec(k + 1)
			delete(used, a)
			delete(cur, locs[k])
		}
		if !any || len(addrs) < len(locs) {
			rec(k + 1) // the location is not accessed at all
		}
	}
	rec(0)
	return list
}

// matchPlaces matches the accesses of the specification to those of the code, in order among accesses of one kind and
// address. It returns how many it could match.
func (p *pass) matchPlaces(assign map[int]string) (score int) {
	taken := make([]bool, len(p.tr.events))
	for k, e := range p.s.Entries {
		if e.IsFence() {
			continue
		}
		last := -1
		for ev := range p.tr.events {
			x := &p.tr.events[ev]
			if !x.role.IsAccess() || place(x) != assign[e.Loc] || !sameKind(x, e.Kind) {
				continue
			}
			last = ev
			if !taken[ev] {
				taken[ev] = true
				p.assign(k, ev, 0)
				score += 2
				break
			}
		}
		if p.match[k] < 0 && last >= 0 && e.Kind.Op == litmus.OpLd {
			p.assign(k, last, 0) // fewer loads than in the test: merged
			score++
		}
	}
	return score
}

// sameKind reports whether a machine access is of the kind of the test's.
func sameKind(x *event, k spec.Kind) bool {
	switch k.Op {
	case litmus.OpLd:
		return x.role == isa.RoleLoad
	case litmus.OpSt:
		return x.role == isa.RoleStore
	}
	if x.role != isa.RoleAtomic && x.role != isa.RoleReduction {
		return false
	}
	return x.mem.Atom == "" || countsByOne(x.mem.Atom, k.Atom) || k.Atom < litmus.AtomIncOne &&
		strings.HasPrefix(x.mem.Atom, atomNames[k.Atom])
}

// runUnmarked applies the rules that need no markers.
func (p *pass) runUnmarked() {
	a := p.tr.arch
	for ev := range p.tr.events {
		x := &p.tr.events[ev]
		if (x.role == isa.RoleStore || a.result(p, ev)) && p.keepsResult(x) {
			x.arm = true
		}
	}
	p.apply(checkMissing, checkMerged, checkCalls, checkExtra, checkWidth, checkOrder, checkDeps, checkControl, a.strength, a.order)
}

// keepsResult reports whether a store writes what accesses have read, or a
// constant, to an address that none of the test's accesses uses.
func (p *pass) keepsResult(x *event) bool {
	for ev := range p.tr.events {
		if len(p.owner[ev]) > 0 && place(&p.tr.events[ev]) == place(x) {
			return false
		}
	}
	return true
}
