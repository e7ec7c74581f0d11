package verify

import (
	"slices"

	"optcheck/ir"
)

// maxMended bounds the races for which a mending is sought, maxTried the places of a barrier that are tried for one.
const (
	maxMended = 4
	maxTried  = 24
)

// mender looks for edits after which a race is gone and nothing new is wrong.
type mender struct {
	o     Options
	p     *ir.Program
	lines Lines
	was   map[sourceKey]bool // what is found in the program as it is
	left  int64              // instructions of threads that may still be executed
}

// maxMending bounds the instructions of threads that a search for what mends may execute.
const maxMending = 1 << 26

// sourceKey is a finding by the instructions of the source, which edits do not move.
type sourceKey struct {
	rule Rule
	a, b int
}

func keyOf(p *ir.Program, f *Finding) sourceKey {
	k := sourceKey{f.Rule, p.Insts[f.First.Inst].Source, 0}
	if f.Second != nil {
		k.b = p.Insts[f.Second.Inst].Source
	}
	k.a, k.b = min(k.a, k.b), max(k.a, k.b)
	return k
}

// mend says of the races of a result what would mend them: the weakest barrier or the fewest fences.
func (o *Options) mend(p *ir.Program, lines Lines, r *Result) {
	m := &mender{o: *o, p: p, lines: lines, was: map[sourceKey]bool{}, left: maxMending}
	m.o.Unmended, m.o.Schedules, m.o.Inputs, m.o.Progress = true, min(o.Schedules, 3), 1, nil
	for _, f := range r.Found {
		if m.was[keyOf(p, f)] = true; readsOld(f.made.schedule) { // another schedule need not show it
			m.o.Schedules = max(m.o.Schedules, f.made.schedule+1)
		}
	}
	done := 0
	var far []*Finding
	for _, f := range r.Found {
		switch {
		case f.Rule != DataRace:
		case f.proxies:
			if done < maxMended {
				done++
				f.Mend = m.text(m.proxy(f))
			}
		case f.level > sameBlock:
			far = append(far, f)
		case done < maxMended:
			done++
			f.Mend = m.text(m.barrier(f))
		}
	}
	if len(far) > 0 {
		text := m.text(m.fences(far))
		for _, f := range far {
			f.Mend = text
		}
	}
}

func (m *mender) text(edits []edit) (out []string) {
	for _, e := range edits {
		out = append(out, e.text(m.p, m.lines))
	}
	return out
}

// mends reports whether edits take races away and bring nothing new.
func (m *mender) mends(edits []edit, races []*Finding) bool {
	if m.left <= 0 {
		return false
	}
	gone := map[sourceKey]bool{}
	for _, f := range races {
		gone[keyOf(m.p, f)] = true
	}
	p := apply(m.p, edits)
	for _, schedules := range []int{1, m.o.Schedules} { // most edits are seen to be wrong at once
		set := m.o.complete(p)
		set.Schedules = schedules
		r, _, err := set.found(p, m.lines)
		if err != nil || set.late() {
			return false
		}
		if m.left -= r.Steps; len(r.Unknown) > 0 {
			return false
		}
		for _, f := range r.Found {
			if k := keyOf(p, f); gone[k] || !m.was[k] {
				return false
			}
		}
	}
	return true
}

// proxy looks for one fence between the proxies: in front of what makes the first access known, behind that access, or in front of what the
// async proxy does.
func (m *mender) proxy(f *Finding) []edit {
	var tried []edit
	for i := range m.p.Insts {
		switch do := m.p.Insts[i].Do.(type) {
		case *ir.Barrier:
			tried = append(tried, edit{kind: proxyBefore, at: i})
		case *ir.Access:
			if do.Mbarrier && do.Kind == ir.Atomic {
				tried = append(tried, edit{kind: proxyBefore, at: i})
			}
		}
	}
	tried = append(tried[:min(len(tried), maxTried)], edit{kind: proxyAfter, at: f.First.Inst}, edit{kind: proxyBefore, at: f.Second.Inst})
	for _, e := range tried {
		if m.mends([]edit{e}, []*Finding{f}) {
			return []edit{e}
		}
	}
	return nil
}

// barrier looks for one barrier between two accesses of a block: of the warp if both are in one, else of the block.
func (m *mender) barrier(f *Finding) []edit {
	kinds := [][2]editKind{{blockBefore, blockAfter}}
	if f.First.Thread.Thread/32 == f.Second.Thread.Thread/32 {
		kinds = slices.Insert(kinds, 0, [2]editKind{warpBefore, warpAfter})
	}
	for _, k := range kinds {
		for _, at := range m.between(f.First.Inst, f.Second.Inst) {
			e := []edit{{kind: k[0], at: at}}
			if m.mends(e, []*Finding{f}) {
				return e
			}
		}
		if e := []edit{{kind: k[1], at: f.First.Inst}}; m.mends(e, []*Finding{f}) {
			return e
		}
	}
	return nil
}

// between are places for a barrier: in front of the later access, then at the beginnings of lines between the two, or, if the
// first one is behind the other (in a loop), from it to the jump back, and from there.
func (m *mender) between(a, b int) []int {
	out := []int{b}
	add := func(from, to int) {
		for i := to - 1; i > from && len(out) < maxTried; i-- {
			if m.lines.at(m.p.Insts[i].Source).Source != m.lines.at(m.p.Insts[i-1].Source).Source || i == from+1 {
				out = append(out, i)
			}
		}
	}
	if a < b {
		add(a, b)
		return out
	}
	for i := a; i < len(m.p.Insts); i++ {
		if f, ok := m.p.Insts[i].Do.(*ir.Flow); ok && f.Kind == ir.Jump && int(f.Target) <= b {
			out = append(out, i)
			add(a, i)
			break
		}
	}
	return out
}

// fences looks for the fewest fences, and accesses made strong, that order accesses of different blocks: it begins with all
// that there could be, and takes away what is not needed, first halves, then single ones.
func (m *mender) fences(races []*Finding) []edit {
	all := m.sites(races)
	if len(all) == 0 || !m.mends(all, races) {
		return nil
	}
	for len(all) > 1 {
		half := all[len(all)/2:]
		if other := all[:len(all)/2]; m.mends(half, races) {
			all = half
		} else if m.mends(other, races) {
			all = other
		} else {
			break
		}
	}
	for i := 0; i < len(all); {
		if rest := slices.Delete(slices.Clone(all), i, i+1); m.mends(rest, races) {
			all = rest
		} else {
			i++
		}
	}
	return all
}

// maxSites bounds the places that a search for fences begins with.
const maxSites = 64

// sites are a fence in front of each strong write, one behind each strong read, and the racing accesses made strong: those that
// others wait for in a loop, or that have too small a scope.
func (m *mender) sites(races []*Finding) (out []edit) {
	racing := map[int]bool{}
	for _, f := range races {
		for _, s := range []*Side{&f.First, f.Second} {
			racing[s.Inst] = true
		}
	}
	for i := range m.p.Insts {
		a, ok := m.p.Insts[i].Do.(*ir.Access)
		if !ok || a.Space != ir.Global && a.Space != ir.Generic {
			continue
		}
		isStrong := a.Sem != ir.Weak
		if racing[i] && (isStrong || m.polled(i, a)) {
			out = append(out, edit{strong, i, ir.GPU})
			isStrong = true
		}
		if !isStrong {
			continue
		}
		if a.Kind != ir.Load {
			out = append(out, edit{fenceBefore, i, ir.GPU})
		}
		if a.Kind != ir.Store {
			out = append(out, edit{fenceAfter, i, ir.GPU})
		}
	}
	return out[:min(len(out), maxSites)]
}

// polled reports whether an access may be one that a thread waits for: a load at the end of a loop, or a store.
func (m *mender) polled(i int, a *ir.Access) bool {
	if a.Kind == ir.Store {
		return true
	}
	for k := i; k < min(i+8, len(m.p.Insts)); k++ {
		if f, ok := m.p.Insts[k].Do.(*ir.Flow); ok && f.Kind == ir.Jump && int(f.Target) <= i {
			return true
		}
	}
	return false
}
