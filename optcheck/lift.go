package optcheck

import (
	"fmt"
	"strings"

	"optcheck/isa"
	"optcheck/litmus"
	"optcheck/spec"
)

// Lifted is the machine code of one kernel as instructions of a litmus test
// again, still without the test's names and constants: kernels of equal
// machine code share it. LiftTest makes a test of it.
type Lifted struct {
	sm    int
	ops   []liftOp
	reads []liftRead    // by number of the reading event
	regs  map[int]*expr // what the access at a position read, by position
	key   string
	// Extra lists fences and invalidations that no instruction of the test asks
	// for: machine code that has some may allow less than the test.
	Extra []string
}

// liftOp is one access, fence or barrier of machine code.
type liftOp struct {
	event int
	// entry is the access or fence of the test that the instruction
	// implements, -1 if it implements none. Its source instruction is kept as
	// it is written, but for registers.
	entry int
	raw   litmus.Instr // without registers and location, if entry is -1
	typ   litmus.Type  // of a raw access
	// like is an entry of the same location and width whose type a raw access
	// takes, so that its values are written as the test's are; -1 for none.
	like int
	// unsigned is what the machine code says of a minimum or maximum.
	unsigned bool
	loc      int
	read     int // number of the reading event, or -1
	data     [][]*expr
	// addrDeps and dataDeps are reads on which address and data depend
	// although their values do not show it; ctrlDeps the same of the guard.
	addrDeps, dataDeps, ctrlDeps []int
	guard                        []guardTerm
	group                        int // words of one wide access; 0 for none
}

type guardTerm struct {
	e    *expr
	want bool
}

// liftRead is what is known of a reading event.
type liftRead struct {
	op    int // index into ops, -1 if its access was left out
	entry int // entry whose value it is, -1 if there is none
	wide  bool
	// chosen tells that the test's register is what was read only if the test
	// performs the access, although the machine code always does.
	chosen bool
}

// LiftError says why machine code could not be lifted, with the instruction.
type LiftError struct {
	Addr uint64
	Text string
	Why  string
}

// Error implements error.
func (e *LiftError) Error() string {
	return fmt.Sprintf("cannot lift %s at 0x%x: %s", e.Text, e.Addr, e.Why)
}

// Key identifies a Lifted by what it says: equal keys mean the same test.
func (l *Lifted) Key() string { return l.key }

// lifter turns a finished pass into a Lifted.
type lifter struct {
	p    *pass
	out  *Lifted
	bad  map[int]bool // entries whose machine code does not implement them
	done []bool       // events that are part of another one
	// results maps values to the atomics whose results they are.
	results map[value]int
}

// Lift turns the kernel checked last back into litmus instructions. It must be
// called right after Check or CheckAgainst. The error is a *LiftError where an
// instruction has no litmus meaning.
func (c *Checker) Lift() (*Lifted, error) {
	if c.last == nil || c.last.r == nil || c.last.r.Class == Unknown {
		return nil, fmt.Errorf("nothing was checked")
	}
	p := c.last
	l := &lifter{p: p, out: &Lifted{sm: p.abi.sm, regs: map[int]*expr{}}, bad: map[int]bool{}, results: map[value]int{}, done: make([]bool, len(p.tr.events))}
	for _, f := range p.r.Findings {
		switch f.Rule {
		case Weakened.ID, KindChanged.ID, WidthChanged.ID, FenceRemoved.ID, FenceWeakened.ID:
			l.bad[f.Access] = true
		}
	}
	l.inexact()
	if len(p.tr.calls) > 0 {
		return nil, l.errorAt(p.tr.calls[0], "a call, whose accesses are not seen")
	}
	for k, e := range p.s.Entries {
		// What the lanes of a warp compute from one combined atomic is what the
		// test's atomic returns.
		if ev := p.match[k]; ev >= 0 && e.Kind.Op == litmus.OpAtom && p.tr.events[ev].read >= 0 && p.oper[k] >= 0 {
			l.results[p.oper[k]] = p.tr.events[ev].read
		}
	}
	l.out.reads = make([]liftRead, len(p.tr.reads))
	for i := range l.out.reads {
		l.out.reads[i] = liftRead{op: -1, entry: -1}
	}
	l.parts()
	silent := l.silentFences()
	for ev := range p.tr.events {
		for _, k := range silent[ev] {
			l.out.ops = append(l.out.ops, liftOp{event: ev, entry: k, read: -1})
		}
		if err := l.event(ev); err != nil {
			return nil, err
		}
	}
	for _, k := range silent[len(p.tr.events)] {
		l.out.ops = append(l.out.ops, liftOp{event: len(p.tr.events), entry: k, read: -1})
	}
	if err := l.registers(); err != nil {
		return nil, err
	}
	l.out.key = l.out.identify()
	return l.out, nil
}

func (l *lifter) errorAt(inst int, why string, args ...any) error {
	in := &l.p.tr.fn.Insts[inst]
	return &LiftError{Addr: in.Addr, Text: strings.TrimSuffix(in.Text, " ;"), Why: fmt.Sprintf(why, args...)}
}

// silentFences lists the fences of the test for which nothing is emitted
// although nothing is wrong (fence.acquire.cta), by the event in front of which
// they stand.
func (l *lifter) silentFences() map[int][]int {
	owned := map[int]bool{}
	for _, ks := range l.p.owner {
		for _, k := range ks {
			owned[k] = true
		}
	}
	out := map[int][]int{}
	for k, e := range l.p.s.Entries {
		if e.IsFence() && !owned[k] && !l.bad[k] {
			lo, _ := l.p.window(k, false, false)
			// Behind what already stands for earlier fences of the same place.
			at := lo + 1
			for at < len(l.p.tr.events) && !l.p.tr.events[at].role.IsAccess() && l.ownedBefore(at, k) {
				at++
			}
			out[at] = append(out[at], k)
		}
	}
	return out
}

func (l *lifter) ownedBefore(ev, k int) bool {
	for _, o := range l.p.owner[ev] {
		if o < k {
			return true
		}
	}
	return false
}

// parts marks the fences and invalidations that belong to another instruction:
// those in front of a release access, behind an acquire access, and the
// companions of a fence that say no more than it does.
func (l *lifter) parts() {
	p := l.p
	for ev := range p.tr.events {
		x := &p.tr.events[ev]
		if x.role != isa.RoleFence && x.role != isa.RoleCache {
			continue
		}
		if x.role == isa.RoleCache && !x.mem.Invalidate {
			l.done[ev] = true // CCTL.E.IV of one line, prefetches
			continue
		}
		for _, k := range p.owner[ev] {
			if !p.s.Entries[k].IsFence() && !l.bad[k] {
				l.done[ev] = true
			}
		}
		if len(p.owner[ev]) == 0 {
			l.done[ev] = l.implied(ev)
		}
	}
}

// implied reports whether a fence or invalidation without an entry of its own
// says nothing beyond its neighbours: no access stands between.
func (l *lifter) implied(ev int) bool {
	p := l.p
	x := &p.tr.events[ev]
	for _, step := range []int{-1, 1} {
		for o := ev + step; o >= 0 && o < len(p.tr.events); o += step {
			y := &p.tr.events[o]
			if y.role.IsAccess() {
				if step < 0 && x.role == isa.RoleCache && l.acquires(o) {
					return true
				}
				break
			}
			if y.role == isa.RoleBarrier {
				if x.mem.Scope <= isa.ScopeCTA {
					return true // the threads of a barrier are synchronised by it
				}
				continue
			}
			if y.role != isa.RoleFence || !p.runsWith(o, ev) {
				continue
			}
			if x.role == isa.RoleCache && step < 0 {
				return true
			}
			owned := len(p.owner[o]) > 0
			if x.role == isa.RoleFence && owned && y.mem.Scope >= x.mem.Scope && (y.mem.Strength == isa.FenceSC || x.mem.Strength != isa.FenceSC) {
				return true
			}
		}
	}
	return false
}

// acquires reports whether an event implements an acquire access.
func (l *lifter) acquires(ev int) bool {
	for _, k := range l.p.owner[ev] {
		if s := l.p.s.Entries[k].Kind.Sem; (s == litmus.SemAcquire || s == litmus.SemAcqRel) && !l.bad[k] {
			return true
		}
	}
	return false
}

// event lifts one event.
func (l *lifter) event(ev int) error {
	p := l.p
	x := &p.tr.events[ev]
	if l.done[ev] || x.result && !p.onLocation(x) || x.arm {
		return nil
	}
	if !x.role.IsAccess() {
		return l.fence(ev)
	}
	if x.role == isa.RoleCopy {
		return l.errorAt(x.inst, "a copy from memory to memory")
	}
	if x.loop && !x.mem.Locked {
		return l.errorAt(x.inst, "it stands in a loop")
	}
	op := liftOp{event: ev, entry: l.implements(ev), read: x.read}
	if op.entry < 0 {
		if err := l.rawAccess(ev, &op); err != nil {
			return err
		}
	}
	op.unsigned = isAtomicRole(x.role) && !l.signed(ev)
	if err := l.guard(ev, &op); err != nil {
		return err
	}
	if err := l.data(ev, &op); err != nil {
		return err
	}
	op.addrDeps = bitsOf(l.beyondGuard(ev, op.entry, spec.DepAddr, x.addrT))
	if ok, err := l.words(ev, op); ok || err != nil {
		return err
	}
	loc, ok := p.locationOf(x)
	if !ok {
		return l.errorAt(x.inst, "its address %v is none of the test's locations", x.addr)
	}
	op.loc = loc
	l.add(op)
	return nil
}

func (l *lifter) add(op liftOp) {
	if op.read >= 0 {
		l.out.reads[op.read].op = len(l.out.ops)
		if ks := l.p.owner[op.event]; len(ks) > 0 {
			k := ks[0]
			l.out.reads[op.read].entry = k
			if v := l.p.oper[k]; v >= 0 && l.p.s.Entries[k].Guarded && len(op.guard) == 0 {
				kind := l.p.tr.pool.nodes[v].kind
				l.out.reads[op.read].chosen = kind == kSel || kind == kPhi
			}
		}
		l.out.reads[op.read].wide = l.width(op) == 8
	}
	l.out.ops = append(l.out.ops, op)
}

func (l *lifter) width(op liftOp) int {
	if op.entry >= 0 {
		return l.p.s.Entries[op.entry].Kind.Width
	}
	return op.typ.Bits() / 8
}

// implements returns the entry that an access satisfies, the one that asks for
// most if it serves several, or -1.
func (l *lifter) implements(ev int) int {
	best := -1
	for _, k := range l.p.owner[ev] {
		if !l.bad[k] && (best < 0 || demands(l.p.s.Entries[k].Kind) > demands(l.p.s.Entries[best].Kind)) {
			best = k
		}
	}
	return best
}

// demands ranks kinds of accesses by how much they ask for.
func demands(k spec.Kind) int {
	sem := map[litmus.Sem]int{litmus.SemRelaxed: 2, litmus.SemVolatile: 2, litmus.SemAcquire: 3, litmus.SemRelease: 3, litmus.SemAcqRel: 4, litmus.SemMMIO: 5}[k.Sem]
	cache := map[litmus.CacheOp]int{litmus.CacheCG: 1, litmus.CacheCV: 2, litmus.CacheWT: 2}[k.Cache]
	return 100*sem + 10*int(k.Scope) + cache
}

// rawAccess reads an access by the table of meanings.
func (l *lifter) rawAccess(ev int, op *liftOp) error {
	x := &l.p.tr.events[ev]
	m, ok := meaningOf(x.role, x.mem, l.p.abi.sm)
	if !ok {
		return l.errorAt(x.inst, "its strength has no meaning in the table")
	}
	op.raw = litmus.Instr{Sem: m.Sem, Scope: m.To, Cache: m.Op}
	switch x.role {
	case isa.RoleLoad:
		op.raw.Op = litmus.OpLd
	case isa.RoleStore:
		op.raw.Op = litmus.OpSt
	case isa.RoleAtomic, isa.RoleReduction:
		op.raw.Op = litmus.OpAtom
		if x.role == isa.RoleReduction {
			op.raw.Op = litmus.OpRed
			if op.raw.Sem == litmus.SemAcquire {
				op.raw.Sem = litmus.SemRelaxed // a reduction returns nothing to acquire by
			}
		}
		for a, name := range atomNames {
			if strings.HasPrefix(x.mem.Atom, name) {
				op.raw.Atom = a
			}
		}
		if op.raw.Atom == litmus.AtomNone {
			return l.errorAt(x.inst, "the atomic operation %q is not known", x.mem.Atom)
		}
	}
	op.typ = litmus.S32
	switch x.mem.Width {
	case 4, 12, 16:
	case 8:
		op.typ = litmus.S64
	default:
		return l.errorAt(x.inst, "an access of %d bytes", x.mem.Width)
	}
	if op.raw.Op == litmus.OpAtom || op.raw.Op == litmus.OpRed {
		if !l.signed(ev) {
			op.typ = map[litmus.Type]litmus.Type{litmus.S32: litmus.U32, litmus.S64: litmus.U64}[op.typ]
		}
		if op.raw.Atom == litmus.AtomCAS || op.raw.Atom == litmus.AtomExch {
			op.typ = map[litmus.Type]litmus.Type{litmus.S32: litmus.B32, litmus.U32: litmus.B32}[op.typ]
		}
		if op.typ == litmus.TypeNone {
			op.typ = litmus.B64
		}
	}
	op.raw.Type = op.typ
	op.like = l.like(ev)
	return nil
}

// like returns the entry whose type a raw access takes: its own one, or another
// of the location.
func (l *lifter) like(ev int) int {
	p := l.p
	x := &p.tr.events[ev]
	if ks := p.owner[ev]; len(ks) > 0 && p.s.Entries[ks[0]].Kind.Width == x.mem.Width {
		return ks[0]
	}
	loc, ok := p.locationOf(x)
	for k, e := range p.s.Entries {
		if ok && !e.IsFence() && e.Loc == loc && e.Kind.Width == min(x.mem.Width, 8) {
			return k
		}
	}
	return -1
}

// signed reports whether an atomic takes its words as signed.
func (l *lifter) signed(ev int) bool {
	for _, mod := range l.p.inst(ev).Mods {
		if mod == "S32" || mod == "S64" {
			return true
		}
	}
	return false
}

// guard reads the condition under which an event is performed. An atomic that
// one lane performs for its warp is performed.
func (l *lifter) guard(ev int, op *liftOp) error {
	x := &l.p.tr.events[ev]
	condT := x.condT &^ l.own(ev)
	if !x.cond || condT == 0 && x.mem.Locked {
		return nil
	}
	seen := taint(0)
	for _, s := range x.when {
		if isAtomicRole(x.role) && l.p.tr.pool.lane(s.pred) {
			continue // which lane performs it for its warp
		}
		e, err := l.expr(s.pred, x.inst, &seen)
		if err != nil {
			return err
		}
		op.guard = append(op.guard, guardTerm{e, s.want})
	}
	op.ctrlDeps = bitsOf(condT &^ seen)
	return nil
}

// own is the reading event itself as a set: the loop around a lock, and the
// stored value in it, depend on what the access reads.
func (l *lifter) own(ev int) taint {
	if r := l.p.tr.events[ev].read; r >= 0 {
		return 1 << uint(r)
	}
	return 0
}

// data reads what an access stores or combines.
func (l *lifter) data(ev int, op *liftOp) error {
	p := l.p
	x := &p.tr.events[ev]
	if x.role == isa.RoleLoad {
		return nil
	}
	seen := l.own(ev)
	if x.mem.Locked || x.cond && x.condT == 0 && isAtomicRole(x.role) {
		if len(p.owner[ev]) > 0 {
			return l.combined(ev, op)
		}
		v, ok := p.ofOneLane(x)
		if !ok {
			return l.errorAt(x.inst, "an atomic made of several instructions that is none of the test's")
		}
		e, err := l.expr(v, x.inst, &seen)
		if err != nil {
			return err
		}
		op.data = [][]*expr{{e}}
		op.dataDeps = bitsOf(x.dataT &^ seen)
		return nil
	}
	words := max(x.mem.Width/4, 1)
	for i := range len(x.data) / words {
		var ws []*expr
		for w := range words {
			e, err := l.expr(x.data[i*words+w], x.inst, &seen)
			if err != nil && isAtomicRole(x.role) && len(p.owner[ev]) > 0 && len(x.data) == words {
				return l.combined(ev, op) // a warp's operands, combined
			}
			if err != nil {
				return err
			}
			ws = append(ws, e)
		}
		op.data = append(op.data, ws)
	}
	op.dataDeps = bitsOf(l.beyondGuard(ev, op.entry, spec.DepData, x.dataT) &^ seen)
	return nil
}

// beyondGuard takes the reads that decide an access's guard out of a set on
// which its address or data depend: code under a predicate often sets up its
// operands under that predicate too. What the test says depends stays.
func (l *lifter) beyondGuard(ev, entry int, kind spec.DepKind, t taint) taint {
	x := &l.p.tr.events[ev]
	out := t &^ x.condT
	if entry < 0 {
		return out
	}
	for _, d := range l.p.s.Deps {
		if d.To == entry && d.Kind == kind && l.p.match[d.From] >= 0 {
			if r := l.p.tr.events[l.p.match[d.From]].read; r >= 0 {
				out |= t & (1 << uint(r))
			}
		}
	}
	return out
}

func isAtomicRole(r isa.Role) bool { return r == isa.RoleAtomic || r == isa.RoleReduction }

// ofOneLane is the operand of a combined atomic that is none of the test's: of
// the product with the number of lanes, the other factor, since a test thread
// is alone in its warp.
func (p *pass) ofOneLane(x *event) (value, bool) {
	if x.mem.Locked || x.mem.Width != 4 || len(x.data) != 1 {
		return none, false
	}
	n := p.tr.pool.nodes[x.data[0]]
	if n.kind != kFun || n.imm != uint64(isa.MicroMul)<<8 {
		return none, false
	}
	for _, f := range [][2]value{{n.a, n.b}, {n.b, n.a}} {
		if p.tr.pool.nodes[f[1]].kind == kOpaque && !p.tr.pool.reads(f[1]) && !p.tr.pool.contains(f[1], kParam) {
			return f[0], true
		}
	}
	return none, false
}

// combined reads the operands of an atomic where the machine code combines
// those of a warp's lanes, or computes the new value in a loop: from its
// markers.
func (l *lifter) combined(ev int, op *liftOp) error {
	p := l.p
	k := p.owner[ev][0]
	e, inst := p.s.Entries[k], p.tr.events[ev].inst
	for _, f := range p.r.Findings {
		if f.Rule == ValueChanged.ID && f.Access == k {
			return l.errorAt(inst, "its operands are not the test's")
		}
	}
	seen := l.own(ev)
	var vs []value
	for _, i := range e.Operands() {
		if v, ok := p.extra[[2]int{k, i}]; ok && i != spec.HighWord {
			vs = append(vs, p.unguarded(v))
		}
	}
	if e.Kind.Op == litmus.OpRed {
		vs = []value{p.unguarded(p.oper[k])}
	}
	for _, v := range vs {
		w, err := l.expr(v, inst, &seen)
		if err != nil {
			return err
		}
		ws := []*expr{w}
		if e.Kind.Width == 8 {
			hi := *w
			switch w.op {
			case exParam:
				hi.k += 4
			case exLoad:
				hi.word++
			default:
				return l.errorAt(inst, "the upper word of a combined operand is not known")
			}
			ws = append(ws, &hi)
		}
		op.data = append(op.data, ws)
	}
	op.dataDeps = bitsOf(p.tr.events[ev].dataT &^ seen)
	return nil
}

// words splits a wide access that no entry has as such into its words; done
// tells that it did.
func (l *lifter) words(ev int, op liftOp) (done bool, err error) {
	p := l.p
	x := &p.tr.events[ev]
	words := x.mem.Width / 4
	if op.entry >= 0 || words < 2 || x.role == isa.RoleAtomic || x.role == isa.RoleReduction {
		return false, nil
	}
	if _, ok := l.wordLocation(x, 1); !ok && words == 2 {
		return false, nil // one 64-bit location, or an error that locationOf tells
	}
	for w := range words {
		one := op
		one.group = ev + 1
		one.typ, one.raw.Type = litmus.S32, litmus.S32
		loc, ok := l.wordLocation(x, w)
		if !ok {
			return true, l.errorAt(x.inst, "byte %d of the access is at none of the test's locations", 4*w)
		}
		one.loc = loc
		if x.role == isa.RoleStore {
			one.data = [][]*expr{{op.data[0][w]}}
		} else if w > 0 {
			return true, l.errorAt(x.inst, "a load of several locations at once")
		}
		l.add(one)
	}
	return true, nil
}

func (l *lifter) wordLocation(x *event, w int) (int, bool) {
	y := *x
	y.addr.off += int64(4 * w)
	return l.p.locationOf(&y)
}

// fence lifts a fence, barrier or invalidation that is no part of another
// instruction.
func (l *lifter) fence(ev int) error {
	p := l.p
	x := &p.tr.events[ev]
	op := liftOp{event: ev, entry: -1, read: -1}
	for _, k := range p.owner[ev] {
		if p.s.Entries[k].IsFence() && !l.bad[k] {
			op.entry = k
		}
	}
	if err := l.guard(ev, &op); err != nil {
		return err
	}
	if op.entry < 0 {
		raw, ok := l.rawFence(x)
		if ok && x.role == isa.RoleFence && !x.mem.Invalidate && x.mem.Scope > isa.ScopeCTA && l.stale(ev) {
			// Later weak loads may still find old values in the L1.
			if raw.Sem != litmus.SemAcqRel {
				return l.errorAt(x.inst, "no invalidation of the L1 stands between it and a later weak load")
			}
			raw.Sem = litmus.SemRelease
		}
		if !ok {
			return l.errorAt(x.inst, "it has no meaning in the table")
		}
		if raw.Op == litmus.OpNop {
			return nil
		}
		op.raw = raw
		if len(p.owner[ev]) == 0 {
			l.out.Extra = append(l.out.Extra, p.text(ev))
		}
	}
	l.out.ops = append(l.out.ops, op)
	return nil
}

// rawFence reads a fence by the table of meanings; OpNop means nothing.
func (l *lifter) rawFence(x *event) (litmus.Instr, bool) {
	switch x.role {
	case isa.RoleCache:
		if l.p.abi.sm < 70 {
			return litmus.Instr{Op: litmus.OpNop}, true
		}
		return litmus.Instr{Op: litmus.OpFence, Sem: invalidateMeans, Scope: litmus.ScopeSys}, true
	case isa.RoleBarrier:
		in := &l.p.tr.fn.Insts[x.inst]
		if in.Op != "BAR" || len(in.Args) == 0 || in.Args[0].Kind != isa.OpdImm && !in.Args[0].Zero {
			return litmus.Instr{}, false
		}
		arrive := len(in.Mods) > 0 && in.Mods[0] == "ARV"
		return litmus.Instr{Op: litmus.OpBar, Barrier: litmus.Barrier{Arrive: arrive, ID: litmus.Const(in.Args[0].Imm)}}, true
	}
	m, ok := meaningOf(x.role, isa.Mem{Strength: x.mem.Strength, Scope: x.mem.Scope}, l.p.abi.sm)
	if !ok {
		return litmus.Instr{}, false
	}
	if m.Sem == litmus.SemNone {
		return litmus.Instr{Op: litmus.OpMembar, Scope: m.To}, true
	}
	return litmus.Instr{Op: litmus.OpFence, Sem: m.Sem, Scope: m.To}, true
}

// registers records what each reading access of the test has read in the
// machine code: its own access, that of another one, or no access at all.
func (l *lifter) registers() error {
	p := l.p
	for k, e := range p.s.Entries {
		if e.IsFence() || !e.Reads() {
			continue
		}
		if ev := p.match[k]; ev >= 0 && p.tr.events[ev].read >= 0 {
			l.out.regs[k] = &expr{op: exLoad, read: p.tr.events[ev].read, word: p.word[k]}
			continue
		}
		seen := taint(0)
		v := p.oper[k]
		if e.Guarded {
			v = p.unguarded(v)
		}
		x, err := l.expr(v, 0, &seen)
		if err != nil {
			return fmt.Errorf("%s: what it read: %w", p.name(k), err)
		}
		l.out.regs[k] = x
	}
	return nil
}

// unguarded is the value that a guarded access read: its marker's operand is a
// selection between that and the token.
func (p *pass) unguarded(v value) value {
	if v < 0 {
		return v
	}
	token := func(x value) bool {
		n := p.tr.pool.nodes[x]
		return n.kind == kParam && int64(n.imm) > p.s.ResultParam()
	}
	if n := p.tr.pool.nodes[v]; n.kind == kSel || n.kind == kPhi {
		if n.b >= 0 && token(n.b) && !token(n.a) {
			return n.a
		}
		if n.a >= 0 && token(n.a) {
			return n.b
		}
	}
	return v
}

func bitsOf(t taint) []int {
	var out []int
	for i := 0; t != 0; i, t = i+1, t>>1 {
		if t&1 != 0 {
			out = append(out, i)
		}
	}
	return out
}
