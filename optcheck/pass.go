package optcheck

import (
	"fmt"
	"sort"
	"strconv"
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
	abi    abi
	consts map[int64]string
	locs   []string         // names of locations, or nil
	oper   []value          // marker operand of each entry
	extra  map[[2]int]value // operands of further markers, by position and index
	match  []int            // entry → event, -1 if none
	word   []int            // entry → which word of the event's value
	owner  [][]int          // event → entries matched to it
	// shared lists the shared locations of the thread's own accesses, in
	// order of their index: the layout of the shared window.
	shared []int
	steps  int    // of the predicate that is being evaluated
	waits  *waits // AMD: the counters of outstanding operations
}

func newPass(tr *trace, s *spec.Spec, c *Checker) (*pass, error) {
	a, err := abiOf(tr.fn.Arch)
	if err != nil {
		return nil, err
	}
	n := len(s.Entries)
	p := &pass{tr: tr, s: s, abi: a, consts: c.Consts, locs: c.Locations,
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
		if seen[k] && p.oper[k] != m.oper {
			return nil, fmt.Errorf("the marker of access %d appears twice with different operands", k)
		}
		seen[k] = true
		p.oper[k] = m.oper
	}
	used := map[int]bool{}
	for _, e := range s.Entries {
		if !e.IsFence() && e.Kind.Space == litmus.Shared && !used[e.Loc] {
			used[e.Loc] = true
			p.shared = append(p.shared, e.Loc)
		}
	}
	sort.Ints(p.shared)
	return p, nil
}

// run matches, applies every rule and classifies.
func (p *pass) run() {
	p.matchAll()
	checks := []func(*pass){checkMissing, checkMerged, checkValues, checkCalls, checkExtra, checkRetargeted, checkKind, checkWidth, checkStrength,
		checkOrder, checkLines, checkDeps, checkControl, checkFences, checkStronger, checkAggregated}
	if p.abi.amd != nil {
		checks = []func(*pass){checkMissing, checkMerged, checkValues, checkCalls, checkExtra, checkRetargeted, checkKind, checkWidth,
			checkStrengthAMD, checkOrder, checkLines, checkDeps, checkControl, checkOrderAMD, checkAggregated}
	}
	for _, check := range checks {
		check(p)
	}
	sort.SliceStable(p.r.Findings, func(i, j int) bool { return p.r.Findings[i].Access < p.r.Findings[j].Access })
	p.listing()
	p.r.Class = Preserved
	if len(p.r.Findings) > 0 {
		p.r.Class = Changed
	}
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

// text is the machine instruction of an event as printed.
func (p *pass) text(ev int) string { return strings.TrimSuffix(p.inst(ev).Text, " ;") }

// name is an entry in words: access 1 (ld.cg.global of location 0).
func (p *pass) name(pos int) string {
	e := p.s.Entries[pos]
	if e.IsFence() {
		return fmt.Sprintf("#%d %v", pos, e.Kind)
	}
	return fmt.Sprintf("#%d %v [%s]", pos, e.Kind, p.location(e.Loc))
}

// location names a location.
func (p *pass) location(i int) string {
	if i >= 0 && i < len(p.locs) {
		return p.locs[i]
	}
	return fmt.Sprintf("location %d", i)
}

// matchAll finds for each access of the specification the machine access that
// its marker's operand comes from.
func (p *pass) matchAll() {
	for k, e := range p.s.Entries {
		if !e.IsFence() && e.Reads() {
			p.matchRead(k)
		}
	}
	for k, e := range p.s.Entries {
		if !e.IsFence() && !e.Reads() {
			p.matchWrite(k, true)
		}
	}
	for k, e := range p.s.Entries {
		if !e.IsFence() && !e.Reads() && p.match[k] < 0 {
			p.matchWrite(k, false)
		}
	}
}

func (p *pass) assign(k, ev, word int) {
	p.match[k], p.word[k] = ev, word
	p.owner[ev] = append(p.owner[ev], k)
}

// matchRead follows the marker operand to the one access that produced it.
func (p *pass) matchRead(k int) {
	found := map[[2]int]bool{}
	p.tr.pool.visit()
	p.sources(p.oper[k], found)
	if len(found) == 1 {
		for s := range found {
			p.assign(k, p.tr.reads[s[0]], s[1])
		}
		return
	}
	if len(found) > 1 {
		p.matchArms(k, found)
		return
	}
	// An atomic's result may be computed from that of one combined access of
	// the warp (VOTE, POPC, SHFL around one ATOM): its taint names it.
	if p.s.Entries[k].Kind.Op == litmus.OpAtom {
		if ev := p.onlyAtomic(p.taintOfMarker(k), p.s.Entries[k]); ev >= 0 && p.tr.pool.shuffled(p.oper[k]) {
			p.assign(k, ev, 0)
		}
	}
}

// onlyAtomic returns the last of the atomics in a taint if nothing else is in
// it and all go to one address, else the only one that goes to the entry's
// location and is nobody's match, else -1: lanes that do not perform the atomic
// may still hold what an earlier one returned when the result is shuffled to
// them.
func (p *pass) onlyAtomic(t taint, e spec.Entry) int {
	last, own, same, count := -1, -1, true, 0
	for r, ev := range p.tr.reads {
		if t&(1<<uint(r)) == 0 {
			continue
		}
		x := &p.tr.events[ev]
		if x.role != isa.RoleAtomic {
			return -1
		}
		if last >= 0 && p.tr.events[last].addr != x.addr {
			same = false
		}
		last = ev
		if len(p.owner[ev]) == 0 && p.isLocation(x, e) {
			own, count = ev, count+1
		}
	}
	switch {
	case same:
		return last
	case count == 1:
		return own
	}
	return -1
}

// matchArms handles a value that comes from one of several accesses. The one
// on the entry's own line is the access itself; the others stay unmatched.
func (p *pass) matchArms(k int, found map[[2]int]bool) {
	best := [2]int{-1, 0}
	for s := range found {
		in := p.inst(p.tr.reads[s[0]])
		if in.Src.Line == k+1 && (best[0] < 0 || s[0] < best[0]) {
			best = s
		}
	}
	if best[0] >= 0 {
		p.assign(k, p.tr.reads[best[0]], best[1])
	}
}

func (p *pass) taintOfMarker(k int) taint {
	for _, m := range p.tr.markers {
		if m.m.Entry != nil && m.m.Entry.Pos == k {
			return m.t
		}
	}
	return 0
}

// sources collects the loads that a value may be, through selections and
// merges of control flow.
func (p *pass) sources(v value, out map[[2]int]bool) {
	if !p.tr.pool.first(v) {
		return
	}
	n := p.tr.pool.nodes[v]
	switch n.kind {
	case kLoad:
		out[[2]int{int(n.a), int(n.b)}] = true
	case kSel:
		p.sources(n.a, out)
		p.sources(n.b, out)
	case kPhi:
		p.sources(n.a, out)
		p.sources(n.b, out)
	}
}

// matchWrite finds the store or reduction whose data is the marker's operand.
// With strict set it must also go to the right location.
func (p *pass) matchWrite(k int, strict bool) {
	e := p.s.Entries[k]
	for ev := range p.tr.events {
		x := &p.tr.events[ev]
		if len(p.owner[ev]) > 0 || x.result || !writes(x.role) || !p.carries(x, p.oper[k], e.Kind.Op == litmus.OpRed, e.Guarded) {
			continue
		}
		if strict && !p.isLocation(x, e) {
			continue
		}
		if !strict && p.tr.fn.Insts[x.inst].Src.Line != 0 && p.tr.fn.Insts[x.inst].Src.Line != k+1 && p.lineTaken(ev) {
			continue
		}
		p.assign(k, ev, 0)
		if e.Kind.Op == litmus.OpRed {
			p.claimArms(k, ev)
		}
		return
	}
}

// claimArms marks the reductions that stand for the matched one on the other
// side of its predicate: a warp is split into lanes that combine and lanes that
// do not.
func (p *pass) claimArms(k, ev int) {
	x, e := &p.tr.events[ev], p.s.Entries[k]
	for o := range p.tr.events {
		y := &p.tr.events[o]
		if o != ev && y.role == isa.RoleReduction && len(p.owner[o]) == 0 && y.addr == x.addr && y.mem.Atom == x.mem.Atom &&
			x.condT == 0 && y.condT == 0 && p.byLane(x) && disjoint(x.when, y.when) && p.carries(y, p.oper[k], true, e.Guarded) {
			y.arm = true
		}
	}
}

// disjoint reports whether two sets of conditions exclude each other.
func disjoint(a, b []sense) bool {
	for _, s := range a {
		for _, t := range b {
			if s.pred != none && s.pred == t.pred && s.want != t.want {
				return true
			}
		}
	}
	return false
}

// runsWith reports whether an event runs whenever another does.
func (p *pass) runsWith(ev, with int) bool {
	x, y := &p.tr.events[ev], &p.tr.events[with]
	for _, s := range x.when {
		found := false
		for _, t := range y.when {
			found = found || s == t && s.pred != none
		}
		if !found {
			return false
		}
	}
	return true
}

// lineTaken reports whether an event's line is that of an entry which has its
// match already and whose value the event writes, too. Where the value is
// another's, the line is wrong: LLVM gives neighbouring stores one line.
func (p *pass) lineTaken(ev int) bool {
	l := p.inst(ev).Src.Line - 1
	if l < 0 || l >= len(p.match) || p.match[l] < 0 {
		return false
	}
	e := p.s.Entries[l]
	return p.carries(&p.tr.events[ev], p.oper[l], e.Kind.Op == litmus.OpRed, e.Guarded)
}

func writes(r isa.Role) bool {
	return r == isa.RoleStore || r == isa.RoleReduction || r == isa.RoleAtomic
}

// carries reports whether an event writes a value; for a reduction it may be
// computed from it, since compilers combine the reductions of a warp; for an
// access that may be skipped it may be selected by a predicate.
func (p *pass) carries(x *event, v value, derived, guarded bool) bool {
	seen := map[value]bool{}
	var find func(value) bool
	find = func(v value) bool {
		if v < 0 || seen[v] {
			return false
		}
		seen[v] = true
		for _, d := range x.data {
			if d == v || derived && p.combination(d, v) || guarded && p.selection(d, v) {
				return true
			}
		}
		// A store that may be skipped: its marker's operand is a selection of the
		// stored value and a filler.
		n := p.tr.pool.nodes[v]
		return (n.kind == kSel || n.kind == kPhi) && (find(n.a) || find(n.b))
	}
	return find(v)
}

// combination reports whether d is the combination of v over the lanes of a
// warp: a product with something that lanes decide, or what an instruction
// without word semantics (REDUX, XMAD) makes of it. A sum or a bitwise function
// with something else is none.
func (p *pass) combination(d, v value) bool {
	seen := map[value]bool{}
	var find func(value) bool
	find = func(d value) bool {
		if d < 0 || seen[d] {
			return false
		}
		seen[d] = true
		if d == v {
			return true
		}
		n := p.tr.pool.nodes[d]
		switch {
		case n.kind == kFun && n.imm != funPair:
			for i, x := range [3]value{n.a, n.b, n.c} {
				if find(x) && p.byLanes(n, i) {
					return true
				}
			}
		case n.kind == kFun || n.kind == kPhi || n.kind == kSel:
			return find(n.a) || find(n.b) || find(n.c)
		case n.kind == kOpaque:
			return find(n.c)
		}
		return false
	}
	return find(d)
}

// byLanes reports whether all operands of a function but one are decided by the
// lanes of the warp, not by constants of the program.
func (p *pass) byLanes(n node, but int) bool {
	for i, x := range [3]value{n.a, n.b, n.c} {
		if i != but && x != none && !p.tr.pool.lane(x) {
			return false
		}
	}
	return true
}

// selection reports whether v is one of the values that d may be.
func (p *pass) selection(d, v value) bool {
	p.tr.pool.visit()
	return p.selects(d, v)
}

func (p *pass) selects(d, v value) bool {
	if !p.tr.pool.first(d) {
		return false
	}
	n := p.tr.pool.nodes[d]
	if n.kind != kSel && n.kind != kPhi {
		return d == v
	}
	return p.selects(n.a, v) || p.selects(n.b, v)
}

// isLocation reports whether an event's address is that of the entry's location.
func (p *pass) isLocation(x *event, e spec.Entry) bool {
	loc, ok := p.locationOf(x)
	return ok && loc == e.Loc
}

// locationOf names the location behind an address, by the layout's rules.
func (p *pass) locationOf(x *event) (int, bool) {
	k := x.addr
	if k.base == baseBank {
		if name, ok := p.consts[k.num]; ok {
			k.base, k.name = baseSym, name
		}
	}
	switch p.s.Layout {
	case spec.Pointers:
		if size := p.abi.pointer(); k.base == baseParam && k.num%size == 0 && k.off == 0 {
			return int(k.num / size), true
		}
	case spec.Offsets:
		if size := p.abi.pointer(); k.base == baseParam && (k.num == 0 || k.num == size) && k.off >= 0 && k.off%spec.Stride == 0 &&
			(k.num == size) == (x.mem.Space == isa.SpaceShared) {
			return int(k.off / spec.Stride), true
		}
	case spec.Symbols:
		if k.base == baseSym && k.off == 0 {
			return symbolLocation(k.name)
		}
		if k.base == baseNone && x.mem.Space == isa.SpaceShared {
			return p.sharedLocation(k.off)
		}
		if k.base == baseBank && k.off == 0 {
			return p.bankLocation(k.num)
		}
	}
	return -1, false
}

// symbolLocation reads the location's index from a symbol emitted by ptxgen.
func symbolLocation(name string) (int, bool) {
	i := strings.LastIndex(name, "_L")
	if i < 0 {
		return -1, false
	}
	n, err := strconv.Atoi(name[i+2:])
	return n, err == nil
}

// sharedReserved is the size of the part of the shared window that sm_90 and
// later reserve.
const sharedReserved = 0x400

// sharedLocation maps an offset in the shared window to a location: the
// variables that the kernel uses lie there in order of declaration. From sm_90
// on the first kilobyte is reserved.
func (p *pass) sharedLocation(off int64) (int, bool) {
	if p.abi.sm >= 90 {
		off -= sharedReserved
	}
	i := off / spec.SharedStride
	if off < 0 || off%spec.SharedStride != 0 || i >= int64(len(p.shared)) {
		return -1, false
	}
	return p.shared[i], true
}

// bankLocation names a symbol known only by its slot in constant bank 4. The
// slots are taken in order of the locations that the thread uses.
func (p *pass) bankLocation(slot int64) (int, bool) {
	var slots []int64
	for i := range p.tr.events {
		x := &p.tr.events[i]
		if x.role.IsAccess() && x.addr.base == baseBank {
			slots = appendUnique(slots, x.addr.num)
		}
	}
	var locs []int64
	for _, e := range p.s.Entries {
		if !e.IsFence() && e.Kind.Space != litmus.Shared {
			locs = appendUnique(locs, int64(e.Loc))
		}
	}
	if len(slots) != len(locs) {
		return -1, false
	}
	for i, s := range slots {
		if s == slot {
			return int(locs[i]), true
		}
	}
	return -1, false
}

// appendUnique inserts x into a sorted set.
func appendUnique(s []int64, x int64) []int64 {
	i := sort.Search(len(s), func(i int) bool { return s[i] >= x })
	if i < len(s) && s[i] == x {
		return s
	}
	s = append(s, 0)
	copy(s[i+1:], s[i:])
	s[i] = x
	return s
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
		p.r.Machine = append(p.r.Machine, Line{Pos: pos, Text: p.text(ev), Part: part})
		if p.waits != nil {
			p.r.Machine = append(p.r.Machine, p.waits.behind(ev)...)
		}
	}
}
