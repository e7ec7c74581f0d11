package optcheck

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"optcheck/isa"
	"optcheck/litmus"
	"optcheck/spec"
)

// pass is the state of checking one kernel.
type pass struct {
	tr     *trace
	s      *spec.Spec
	r      *Result
	consts map[int64]string
	locs   []string         // names of locations, or nil
	oper   []value          // marker operand of each entry
	extra  map[[2]int]value // operands of further markers, by position and index
	match  []int            // entry → event, -1 if none, as for fences
	word   []int            // entry → which word of the event's value
	owner  [][]int          // event → entries matched to it
	// shared lists the shared locations of the thread's own accesses, in
	// order of their index: the layout of the shared window.
	shared []int
	// waits holds the counters of outstanding operations, nil where the hardware waits by itself.
	waits *waits
	// harness is set for a kernel that runs many instances, which meet at barriers before and after the test.
	harness bool
}

func newPass(tr *trace, s *spec.Spec, r *Result, c *Checker) (*pass, error) {
	n := len(s.Entries)
	p := &pass{tr: tr, s: s, r: r, consts: c.Consts, locs: c.Locations,
		oper: make([]value, n), match: make([]int, n), word: make([]int, n), owner: make([][]int, len(tr.events)), extra: map[[2]int]value{}}
	seen := make([]bool, n)
	for i := range p.match {
		p.match[i], p.oper[i] = -1, none
	}
	for _, m := range tr.markers {
		if o := m.m.Operand; o != nil {
			if old, ok := p.extra[*o]; ok && old != m.oper {
				return nil, fmt.Errorf("the marker of operand %d of access %d appears twice with different operands", o[1], o[0])
			}
			p.extra[*o] = m.oper
		}
		if m.m.Entry == nil {
			continue
		}
		k := m.m.Entry.Pos
		if k >= n {
			return nil, fmt.Errorf("there is a marker of access %d, and the specification has only %d", k, n)
		}
		if seen[k] && p.oper[k] != m.oper {
			return nil, fmt.Errorf("the marker of access %d appears twice with different operands", k)
		}
		seen[k] = true
		if !s.Entries[k].Unread {
			p.oper[k] = m.oper
		}
	}
	used := map[int]bool{}
	for _, e := range s.Entries {
		if !e.IsFence() && e.Kind.Space == litmus.Shared && !used[s.Whole(e.Loc)] {
			used[s.Whole(e.Loc)] = true
			p.shared = append(p.shared, s.Whole(e.Loc))
		}
	}
	slices.Sort(p.shared)
	return p, nil
}

// run matches the entries and applies every rule.
func (p *pass) run() {
	p.matchAll()
	a := p.tr.arch
	p.apply(checkMissing, checkMerged, checkValues, checkCalls, checkExtra, checkRetargeted, checkKind, checkWidth, a.strength,
		checkOrder, checkLines, checkDeps, checkControl, a.order, checkEffects, a.stronger, checkAggregated, checkCode)
}

// apply applies rules and classifies the kernel.
func (p *pass) apply(checks ...func(*pass)) {
	for _, check := range checks {
		check(p)
	}
	slices.SortStableFunc(p.r.Findings, func(f, g Finding) int { return cmp.Compare(f.Access, g.Access) })
	p.listing()
	if len(p.r.Findings) > 0 {
		p.r.Class, p.r.Undecided = Changed, ""
	}
}

// found reports whether there is a finding of a rule about an entry.
func (p *pass) found(rule *Rule, pos int) bool {
	return slices.ContainsFunc(p.r.Findings, func(f Finding) bool { return f.Rule == rule.ID && f.Access == pos })
}

// report adds a finding of a rule about the entry at position pos (-1: none)
// and the event ev (-1: none).
func (p *pass) report(rule *Rule, pos, ev int, format string, args ...any) {
	f := Finding{Rule: rule.ID, Thread: p.s.Thread, Access: pos, Detail: fmt.Sprintf(format, args...), Addr: -1}
	if ev >= 0 {
		f.Addr = int64(p.inst(ev).Addr)
	}
	if rule.Note {
		p.r.Notes = append(p.r.Notes, f)
		return
	}
	p.r.Findings = append(p.r.Findings, f)
}

func (p *pass) inst(ev int) *isa.Inst { return &p.tr.fn.Insts[p.tr.events[ev].inst] }

// text returns the machine instruction of an event as printed.
func (p *pass) text(ev int) string { return strings.TrimSuffix(p.inst(ev).Text, " ;") }

// name returns an entry in words: access 1 (ld.cg.global of location 0).
func (p *pass) name(pos int) string {
	e := p.s.Entries[pos]
	if e.IsFence() {
		return fmt.Sprintf("#%d %v", pos, e.Kind)
	}
	return fmt.Sprintf("#%d %v [%s]", pos, e.Kind, p.location(e.Loc))
}

// location names a location.
func (p *pass) location(i int) string {
	if i < len(p.locs) {
		return p.locs[i]
	}
	return fmt.Sprintf("location %d", i)
}

// listing fills the side-by-side lines of the result.
func (p *pass) listing() {
	for k := range p.s.Entries {
		p.r.Source = append(p.r.Source, Line{Pos: k, Text: p.name(k)})
	}
	for ev := range p.tr.events {
		x := &p.tr.events[ev]
		if x.result {
			continue
		}
		pos := -1
		if o := p.owner[ev]; len(o) > 0 {
			pos = o[0]
		}
		part := pos < 0 && !x.role.IsAccess()
		if pos >= 0 && !p.s.Entries[pos].IsFence() && !x.role.IsAccess() {
			part = true
		}
		p.r.Machine = append(p.r.Machine, Line{Pos: pos, Text: p.text(ev), Part: part, Addr: p.inst(ev).Addr})
		if p.waits != nil {
			p.r.Machine = append(p.r.Machine, p.waits.behind(ev)...)
		}
	}
}
