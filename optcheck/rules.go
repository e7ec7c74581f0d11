package optcheck

import (
	"fmt"
	"slices"
	"strings"

	"optcheck/isa"
	"optcheck/litmus"
	"optcheck/spec"
)

// Rule is a property that machine code must have (or, for a note, one that a reader should know). Rules are values: a
// new check is a new value in Rules and a function in pass.run that reports it.
type Rule struct {
	ID      string
	Title   string
	Explain string
	Note    bool // a remark that does not make a kernel changed
	// Promoted is set for notes that become findings of a cell where a model says that they matter.
	Promoted bool
}

// Breakable reports whether a finding can be of the rule.
func (r *Rule) Breakable() bool { return !r.Note || r.Promoted }

// The rules.
var (
	Missing = &Rule{ID: "missing", Title: "an access is not in the machine code",
		Explain: `The value that the access should have produced, or the store that it should have
performed, comes from somewhere else or is gone. Typical causes: a load after a
store to the same location takes the stored value from the register (forwarding),
a dead store is removed, a load is replaced by a constant. For a concurrent
program the access mattered: another thread could have intervened. In a program
this is also an operation that a path of the machine code goes without, an acquire
without its invalidation, and a release without its fence.`}
	Merged = &Rule{ID: "merged", Title: "two accesses became one",
		Explain: `In a litmus test, two accesses are served by one machine instruction. Two loads of
one location became one load (common subexpression elimination: coRR can then never
be observed), or accesses to neighbouring words became one wide access. PTX lets
compilers merge weak accesses; volatile and relaxed ones to the same location
they should not. In a program only a merge that breaks an order is a finding: one
load serves for two although an acquire stands between them.`}
	Duplicated = &Rule{ID: "duplicated", Title: "an access is in the machine code more than once",
		Explain: `The machine code performs an access of the test twice on one path. A second store
can overwrite what another thread wrote in between; a second load can see another
value than the first.`}
	ExtraAccess = &Rule{ID: "extra-access", Title: "the machine code has an access that nobody wrote",
		Explain: `An access to memory that may be shared stands in the code without a counterpart
in the source. Stores that only keep marker results alive, and private memory
(stack, spills), are not counted. In a program only stores and atomics count.`}
	ExtraEffect = &Rule{ID: "extra-effect", Title: "an instruction does something that the test does not ask for",
		Explain: `An instruction that is no access, fence or barrier of the test acts on memory, on
caches, on other threads or on the kernel itself. Examples are a trap or breakpoint, a
discarded cache line, and a barrier that the test does not have. Prefetches, sleeping,
hints and counters of the profiler are known to be harmless and not reported.`}
	Retargeted = &Rule{ID: "retargeted", Title: "an access goes to another location than in the test",
		Explain: `By data flow the access is the test's, but its address is that of another
location, or cannot be shown to be that of its own.`}
	KindChanged = &Rule{ID: "kind-changed", Title: "an access became an access of another kind",
		Explain: `A load, store, atomic or reduction is there, but as another operation: an exchange
where the test has a compare-and-swap, a plain store where it has a reduction.`}
	ValueChanged = &Rule{ID: "value-changed", Title: "an access stores or combines another value than in the test",
		Explain: `What is stored, or an operand of an atomic (the value exchanged or added, the value
compared with, the new value), is not what the test has there. Both are functions
of what was read and of the test's constants; they are compared by evaluating them
for the same words, next to all constants, for single bits and for random words.`}
	WidthChanged = &Rule{ID: "width-changed", Title: "an access moves more or fewer bytes than in the test",
		Explain: `A wider access touches memory that the test's access does not touch; a narrower
one is not single-copy atomic over the test's width.`}
	Weakened = &Rule{ID: "weakened", Title: "an access is weaker in the machine code than as written",
		Explain: `The cache operator, strength or scope of the machine access does not reach what the
source asks for. ld.cg needs .CG before sm_70 and STRONG.GPU after, volatile needs
.CV/.WT or STRONG.SYS, and .relaxed, .acquire and .release need STRONG with at least
their scope. Shared-memory accesses have no strength in machine code. In a program
this is also another operation or type, another barrier or mbarrier, and a wait that
leaves more groups of copies in flight.`}
	Reordered = &Rule{ID: "reordered", Title: "accesses are not in the order as written",
		Explain: `In a litmus test, two accesses of a thread stand in the machine code in the other
order than in the test. Compilers do this with weak accesses that they can prove
disjoint (the layouts symbols and offsets). A weak outcome seen on hardware is then
possibly the compiler's doing. In a program less is a finding: the memory model may
require the order of the two, and no path of the PTX has that of the machine code.`}
	FenceRemoved = &Rule{ID: "fence-removed", Title: "a fence of the test is missing between its accesses",
		Explain: `No machine fence stands between the accesses before and the accesses after the
fence of the test. For release and acquire accesses, the fence that implements
them is meant: MEMBAR before a release store, an L1 invalidation after an acquire
load.`}
	FenceWeakened = &Rule{ID: "fence-weakened", Title: "a fence is weaker in the machine code than in the test",
		Explain: `A machine fence stands in the right place, but is too weak. Its scope is narrower, or it
is an acquire-release fence where the test has a sequentially consistent one, or the L1
invalidation that belongs to it is missing. Known case: for sm_35 and sm_37, ptxas 11.2
and 11.8 turn membar.gl into MEMBAR.CTA ; CCTL.IVALL in kernels in which no store
precedes the fence (the reading side of mp). The invalidation makes later loads miss the
L1, but nothing in the name of MEMBAR.CTA promises that earlier loads are performed with
respect to the whole GPU; it is reported so that a reader decides.`}
	DependencyBroken = &Rule{ID: "dependency-broken", Title: "a dependency of the test is gone",
		Explain: `In the test an address, a stored value or a condition is computed from what an
earlier access read; in the machine code no register data flow leads from that
access to it. A dependency that compilers can see through (r xor r) is removed
from -O1 on; one that they cannot (r and 0x80000000) should survive.`}
	ControlChanged = &Rule{ID: "control-changed", Title: "an access or fence is executed under another condition",
		Explain: `The test executes it always, the machine code only under a predicate or on one
path; or the other way round.`}
	Convergence = &Rule{ID: "convergence", Title: "lanes come together under another condition (programs)",
		Explain: `An operation that the lanes of a warp perform together (.sync) is in the machine code on
a path on which the PTX does not have it, or not on one on which it does. Or a barrier
of the warp stands where the PTX has none. Lanes that it waits for may not come.`}
	WrongValue = &Rule{ID: "wrong-value", Title: "another value is stored when both are executed (programs)",
		Explain: `The PTX and its machine code were executed on the same input; a thread stores another
value, or gives an atomic another operand. The finding names the input, the thread and
both values: optcheck emulate shows what the PTX does.`}
	WrongAddress = &Rule{ID: "wrong-address", Title: "another address is accessed when both are executed (programs)",
		Explain: `The PTX and its machine code were executed on the same input; a strong access of a
thread goes to another address than the PTX accesses next, or to one that is misaligned.`}
	NotPerformed = &Rule{ID: "not-performed", Title: "an operation is not performed when both are executed (programs)",
		Explain: `The PTX and its machine code were executed on the same input; a store, an atomic, a
barrier or a fence that a thread performs in the PTX is not performed by the machine code.`}
	DoesNotEnd = &Rule{ID: "does-not-end", Title: "the machine code does not end when both are executed (programs)",
		Explain: `The PTX and its machine code were executed on the same input; a warp ends in the PTX,
and in the machine code runs on for forty times as many instructions, or waits for ever.`}
	WitnessesDisagree = &Rule{ID: "witnesses-disagree", Title: "markers and line information name different instructions",
		Explain: `The marker's data flow leads to one instruction, the line information to another.
One of the two witnesses is wrong, so the match is not to be trusted.`}

	Crash = &Rule{ID: "crash", Title: "the compiler crashes",
		Explain: `The compiler breaks down at its input, alone with it and three times of three: it is
killed by a signal of its own making, or says itself that it has an internal error. It
may refuse an input, but not die of it. Crashes that say the same (standard error, without
addresses and numbers) at the same place (the instruction in the compiler's file that it is
killed at) are one. One that comes and goes is a failure of the machine, and so is a
compiler that somebody kills or that lacks memory.`}
	Hang = &Rule{ID: "hang", Title: "the compiler does not end",
		Explain: `The compiler exceeds its time limit (--timeout) at a small input, of at most 64 KiB, alone
with it and twice in a row. Compilers take a second for a megabyte.`}
	WaitMissing = &Rule{ID: "wait-missing", Title: "nothing waits for an access that must be complete (AMD)",
		Explain: `AMD hardware does not wait for memory by itself. Loads, stores and scalar loads are
counted while they are outstanding, and s_waitcnt (s_wait_loadcnt and its kin on gfx12,
WAIT_ACK on TeraScale) waits until a counter is low enough. Here an access may still be
outstanding where it must be complete. That is at an access that a fence, an acquire or
a release puts behind it, or behind a volatile access at the next one or the next
atomic. It is also at a later scalar access of the same location, or at an instruction
that uses the register which the load has yet to write. Who promises the order: for
fences and atomics with scope, the language and LLVM's memory model for the target; for
volatile accesses, LLVM's memory model, which has a wait behind each. For mem_fence it
is OpenCL 1.2 ("committed to memory before any loads and stores following the
mem_fence", and nothing between work-groups). For accesses of one location and for
registers it is the program itself.`}
	WaitWeakened = &Rule{ID: "wait-weakened", Title: "a wait is too weak to complete the access (AMD)",
		Explain: `A wait for the right counter stands between the accesses, but it lets too many
operations be outstanding. vmcnt(1) completes all but the newest; for operations that
complete in any order (scalar loads, FLAT) only 0 completes anything. Otherwise as
wait-missing.`}
	InvalidateMissing = &Rule{ID: "invalidate-missing", Title: "a cache is not invalidated behind an acquire (AMD)",
		Explain: `Behind an acquire load or fence of a scope that caches do not share, later loads must
not find what an earlier access left in the cache. The table of LLVM's memory model for
the target has what prevents it: buffer_wbinvl1 on GCN, buffer_gl0_inv and
buffer_gl1_inv on RDNA, buffer_inv on CDNA 3, global_inv on gfx12. The load must be
complete before the invalidation. A later load through the scalar cache needs
s_dcache_inv: the others do not reach it.`}
	WritebackMissing = &Rule{ID: "writeback-missing", Title: "a cache is not written back before a release (AMD)",
		Explain: `Where caches that the scope does not share keep written data (the L2 of CDNA 2
and 3, system scope on gfx12), a release must write them back: buffer_wbl2,
global_wb. The write-back must be complete before the releasing store.`}

	CachesUntouched = &Rule{ID: "caches-untouched", Note: true, Title: "a fence of OpenCL 1.2 does nothing to the caches (AMD)",
		Explain: `mem_fence of OpenCL 1.2 orders the accesses of a work-item, and the language says
that there is no mechanism for synchronisation between work-groups. Compilers may
therefore leave the caches alone; a test whose threads are in different work-groups
can then see stale values although the fence is as promised.`}
	ValueUnread = &Rule{ID: "value-unread", Note: true, Title: "what an access stores or combines could not be read",
		Explain: `The machine code computes a stored or combined value by instructions that cannot be
evaluated, so that it was not shown to be the test's. A cell is preserved then only
if its machine code, lifted, allows exactly what the test allows.`}
	ConditionUnread = &Rule{ID: "condition-unread", Note: true, Title: "the condition of a skipped access could not be read",
		Explain: `The access is conditional in the test and in the machine code, and depends on the same
reads. But its predicate cannot be evaluated there, so that it was not shown to be the
same condition. A cell is preserved then only if its machine code, lifted, allows
exactly what the test allows.`}
	LineLost = &Rule{ID: "line-lost", Note: true, Title: "line information does not name the access",
		Explain: `The compiler attributes machine accesses to lines that belong to none of the test's
accesses, or several to one line, so that line information tells no coherent story.
ptxas 11.2 does this from -O1 on for loads from named variables. The second witness is
silent here; marker and address alone speak.`}
	Interleaved = &Rule{ID: "interleaved", Note: true, Title: "an access of the harness stands between those of the test",
		Explain: `Only in kernels that run many instances. The compiler moved a store of results, to
memory that the test does not use, in front of a later access of the test. The
test's own accesses, their order and their fences are unharmed, and an access to
other memory in between allows no outcome that the test forbids; it may change
how often an outcome is seen.`}
	UnreadGone = &Rule{ID: "unread-gone", Note: true, Promoted: true, Title: "an access is gone whose result nobody observes",
		Explain: `Nobody observes what a load reads (_ or Results=final in the test), and the machine
code has no such load. Compilers may drop a weak or relaxed load whose result is not
used. The order that the load took part in may not go with it: the machine code
without the load is lifted, and if the model then allows more, the cell is
miscompiled by this rule. A volatile load, an acquire and an atomic are never
dropped in silence: see missing.`}
	Strengthened = &Rule{ID: "strengthened", Note: true, Promoted: true, Title: "the machine code is stronger than the test",
		Explain: `A wider scope, a stronger fence or an additional fence: legal, but the binary then
tests less than the source says.`}
	Uncompared = &Rule{ID: "uncompared", Note: true, Title: "what writes memory was performed by no run that was compared (programs)",
		Explain: `It makes a cell unknown, and is no sign of a mistake. A kernel is preserved only if
each operation that writes memory was performed by a run of the PTX that was compared
with a run of the machine code. The two outcomes of each condition must have been
compared as well, or the machine code must have the same comparison. A kernel that was
proved equal for all inputs needs no run. Here no proof was found, and no input reached
that, or the kernel has an instruction that optcheck does not execute: the reason stands
behind it. --execute 8 tries more inputs; reading the kernel decides.`}
	Aggregated = &Rule{ID: "aggregated", Note: true, Title: "the atomics of a warp are combined into one",
		Explain: `From -O1 on ptxas lets one lane of a warp perform an atomic addition (or a similar
operation) for all its lanes. With one test thread per warp this changes nothing.`}
)

// The rules of registers in flight (package sass/hazard).
var (
	HazardRAW = &Rule{ID: "hazard-raw", Title: "a register is read before it is written (NVIDIA)",
		Explain: `NVIDIA's chips do not make an instruction wait for its registers: the compiler does, in
control codes that listings omit. Here an instruction reads a register that an earlier
one may have yet to write. Nothing waits for the scoreboard of the earlier one, it has
none, or, if it takes a fixed time, too few cycles lie between. The instruction computes
from the old content. Where that decides what a store, an access or a branch does, the
cell is miscompiled: no model allows a value that nobody wrote. Fewer cycles than
compilers leave on sm_90, where the chip showed no harm, leave a cell unknown
(docs/hazards.md).`}
	HazardWAW = &Rule{ID: "hazard-waw", Title: "a register is written before an earlier write, which then wins (NVIDIA)",
		Explain: `As hazard-raw: an instruction writes a register that an earlier one may have yet to write.
The earlier result overwrites the later one.`}
	HazardWAR = &Rule{ID: "hazard-war", Title: "a register is written before an earlier instruction has read it (NVIDIA)",
		Explain: `As hazard-raw: memory and other slow units read their operands some time after the
instruction was issued, and say so by a scoreboard. Here a register is overwritten before
that: a store stores, or an access addresses, what was computed later.`}
)

// InFlight reports whether a rule is about registers that are used while they are in flight.
func InFlight(rule string) bool {
	return rule == HazardRAW.ID || rule == HazardWAW.ID || rule == HazardWAR.ID
}

// Rules lists all rules in the order in which they are checked.
var Rules = []*Rule{Missing, Merged, Duplicated, ExtraAccess, ExtraEffect, Retargeted, KindChanged, ValueChanged, WidthChanged, Weakened,
	Reordered,
	FenceRemoved, FenceWeakened, DependencyBroken, ControlChanged, Convergence,
	WrongValue, WrongAddress, NotPerformed, DoesNotEnd, WitnessesDisagree, Crash, Hang,
	WaitMissing, WaitWeakened, InvalidateMissing, WritebackMissing, CachesUntouched, ValueUnread, ConditionUnread, LineLost, Interleaved,
	UnreadGone, Strengthened, Aggregated, Uncompared, HazardRAW, HazardWAW, HazardWAR}

// LookupRule returns the rule with an ID.
func LookupRule(id string) (*Rule, bool) {
	for _, r := range Rules {
		if r.ID == id {
			return r, true
		}
	}
	return nil, false
}

func checkMissing(p *pass) {
	for k, e := range p.s.Entries {
		if e.IsFence() || p.match[k] >= 0 {
			continue
		}
		detail := "no machine access stores its value"
		switch {
		case e.Unread && p.mayGo(e):
			p.report(UnreadGone, k, -1, "%s is gone: nobody observes what it reads", p.name(k))
			continue
		case e.Unread && e.Writes():
			detail = "nobody observes what it reads, but it writes too"
		case e.Unread:
			detail = "nobody observes what it reads, but others may be ordered by it"
		case e.Reads():
			detail = "its value is " + p.describe(p.oper[k], 0)
		}
		p.report(Missing, k, -1, "%s is gone: %s", p.name(k), detail)
	}
}

// describe says in words where a value comes from.
func (p *pass) describe(v value, depth int) string {
	if v == none || depth > 4 {
		return "unknown"
	}
	n := p.tr.pool.nodes[v]
	switch n.kind {
	case kConst:
		return fmt.Sprintf("the constant 0x%x", n.imm)
	case kParam:
		for k, o := range p.oper {
			if o == v && p.s.Entries[k].Writes() && !p.s.Entries[k].Reads() {
				return fmt.Sprintf("the value that %s stores (forwarded from a register)", p.name(k))
			}
		}
		return fmt.Sprintf("parameter word 0x%x", n.imm)
	case kLoad:
		return "that of " + p.text(p.tr.reads[n.a])
	case kSel:
		return p.describe(n.a, depth+1) + " or " + p.describe(n.b, depth+1)
	}
	return "computed from other values"
}

func checkMerged(p *pass) {
	for ev, ks := range p.owner {
		for _, k := range ks[min(1, len(ks)):] {
			p.report(Merged, k, ev, "%s and %s are one instruction: %s", p.name(ks[0]), p.name(k), p.text(ev))
		}
		if ev > 0 && len(ks) > 0 && len(p.owner[ev-1]) > 0 && p.tr.events[ev].inst == p.tr.events[ev-1].inst {
			p.report(Merged, ks[0], ev, "%s and %s are one instruction with two addresses: %s", p.name(p.owner[ev-1][0]), p.name(ks[0]), p.text(ev))
		}
	}
}

// checkExtra reports accesses that no entry owns, as duplicates of a matched
// access where they repeat one.
func checkExtra(p *pass) {
	for ev := range p.tr.events {
		x := &p.tr.events[ev]
		if x.result && p.onLocation(x) {
			p.report(ExtraAccess, -1, ev, "%s stores a marker's result elsewhere than to the results", p.text(ev))
		}
		if !x.role.IsAccess() || x.result || x.arm || len(p.owner[ev]) > 0 {
			continue
		}
		dup := -1
		for o, ks := range p.owner {
			y := &p.tr.events[o]
			if len(ks) == 0 || y.addr != x.addr || y.mem.Space != x.mem.Space {
				continue
			}
			if y.role == x.role && (!writes(x.role) || slices.Equal(x.data, y.data)) {
				dup = ks[0]
			}
		}
		if dup >= 0 {
			p.report(Duplicated, dup, ev, "%s appears again: %s", p.name(dup), p.text(ev))
			continue
		}
		p.report(ExtraAccess, -1, ev, "%s has no counterpart in the test", p.text(ev))
	}
}

// onLocation reports whether a store of results goes anywhere but the result slots.
func (p *pass) onLocation(x *event) bool {
	slots := int64(p.s.Markers())
	if p.s.Digest != 0 {
		slots++
	}
	return x.mem.Space == isa.SpaceShared || x.addr.base != baseParam || x.addr.num != p.s.ResultParam()*p.tr.arch.pointer()/8 ||
		x.addr.off < 0 || x.addr.off >= slots*ResultStride || x.addr.off%4 != 0
}

func checkRetargeted(p *pass) {
	for k, e := range p.s.Entries {
		ev := p.match[k]
		if ev < 0 || p.owner[ev][0] != k {
			continue
		}
		x := &p.tr.events[ev]
		if loc, ok := p.wordLocation(x, p.placeOf(k, x)); !ok {
			p.report(Retargeted, k, ev, "%s has an address that is not its location's: %v in %s", p.name(k), x.addr, p.text(ev))
		} else if loc != e.Loc {
			p.report(Retargeted, k, ev, "%s goes to %s: %s", p.name(k), p.location(loc), p.text(ev))
		}
	}
}

// atomNames maps operations to the modifiers of machine atomics.
var atomNames = map[litmus.AtomOp]string{litmus.AtomAdd: "ADD", litmus.AtomInc: "INC", litmus.AtomDec: "DEC",
	litmus.AtomExch: "EXCH", litmus.AtomCAS: "CAS", litmus.AtomAnd: "AND", litmus.AtomOr: "OR",
	litmus.AtomXor: "XOR", litmus.AtomMin: "MIN", litmus.AtomMax: "MAX"}

func checkKind(p *pass) {
	for k, e := range p.s.Entries {
		ev := p.match[k]
		if ev < 0 {
			continue
		}
		x := &p.tr.events[ev]
		ok := false
		switch e.Kind.Op {
		case litmus.OpLd:
			ok = x.role == isa.RoleLoad
		case litmus.OpSt:
			ok = x.role == isa.RoleStore
		default:
			ok = x.role == isa.RoleAtomic || x.role == isa.RoleReduction && mayReduce(e)
			if ok && x.mem.Atom != "" {
				ok = p.operation(x, e)
			} else if ok {
				ok = x.mem.Locked
			}
		}
		if shared := x.mem.Space == isa.SpaceShared; (e.Kind.Space == litmus.Shared) != shared || x.mem.Space == isa.SpaceLocal {
			ok = false
		}
		if !ok {
			p.report(KindChanged, k, ev, "%s became %s", p.name(k), p.text(ev))
		}
	}
}

// mayReduce reports whether a reduction can implement an atomic: nobody observes its result, and it does not acquire.
func mayReduce(e spec.Entry) bool {
	s := e.Kind.Sem
	return e.Kind.Op == litmus.OpRed || s != litmus.SemAcquire && s != litmus.SemAcqRel && s != litmus.SemSC
}

func checkWidth(p *pass) {
	for k, e := range p.s.Entries {
		ev := p.match[k]
		if ev < 0 {
			continue
		}
		if w := p.tr.events[ev].mem.Width; w != e.Kind.Width {
			p.report(WidthChanged, k, ev, "%s moves %d bytes instead of %d: %s", p.name(k), w, e.Kind.Width, p.text(ev))
		}
	}
}

// checkOrder reports every access that precedes one that comes earlier in the test. Accesses served by one
// instruction are compared by the first of them.
func checkOrder(p *pass) {
	for j := range p.s.Entries {
		ev := p.match[j]
		if ev < 0 || p.owner[ev][0] != j {
			continue
		}
		var over []string
		for i := range j {
			o := p.match[i]
			if o > ev && p.owner[o][0] == i {
				over = append(over, p.name(i))
			}
		}
		if len(over) > 0 {
			p.report(Reordered, j, ev, "%s is performed before %s: %s", p.name(j), strings.Join(over, ", "), p.text(ev))
		}
	}
}

// checkLines compares the match by markers with the line information. Lines are a witness only if they are coherent:
// each matched access has the line of some access, and no two have the same. Otherwise the compiler has lost track of
// lines (ptxas 11.2 does for loads from named variables), which is noted.
func checkLines(p *pass) {
	coherent := true
	differs := make([]bool, len(p.s.Entries))
	used := map[int]int{}
	for k := range p.s.Entries {
		ev := p.match[k]
		if ev < 0 || p.owner[ev][0] != k {
			continue
		}
		line := p.inst(ev).Src.Line
		if line <= 0 {
			return // no line information
		}
		if line > len(p.s.Entries) || p.s.Entries[line-1].IsFence() || used[line] >= p.s.Copies(line) {
			coherent = false
		}
		used[line]++
		differs[k] = true
		for _, o := range p.owner[ev] {
			if line == p.s.Entries[o].Line() {
				differs[k] = false
			}
		}
	}
	p.r.Lines = coherent
	for k, d := range differs {
		if !d {
			continue
		}
		ev := p.match[k]
		rule := LineLost
		if coherent {
			rule = WitnessesDisagree
		}
		p.report(rule, k, ev, "%s is by its marker %s, which line information attributes to line %d instead of %d",
			p.name(k), p.text(ev), p.inst(ev).Src.Line, p.s.Entries[k].Line())
	}
}

// checkValues compares the remaining operands of accesses with their markers.
func checkValues(p *pass) {
	for _, m := range p.tr.markers {
		if !m.recovered || m.m.Entry == nil || m.m.Entry.Reads() {
			continue // what a load has read is another rule's matter
		}
		if k := m.m.Entry.Pos; p.match[k] >= 0 {
			p.report(ValueChanged, k, p.match[k], "%s stores a constant that the test computes: %s", p.name(k), p.text(p.match[k]))
		}
	}
	for k, e := range p.s.Entries {
		ev := p.match[k]
		if ev < 0 || p.tr.events[ev].mem.Locked {
			continue // the loop of a lock computes what it stores
		}
		x := &p.tr.events[ev]
		for _, i := range e.Operands() {
			want, ok := p.extra[[2]int{k, i}]
			if !ok {
				continue // a lost marker makes the specification incomplete
			}
			if !p.hasOperand(x, e, i, want) {
				what := fmt.Sprintf("operand %d", i)
				if i == spec.HighWord {
					what = "the upper word"
				}
				p.report(ValueChanged, k, ev, "%s: %s is not the test's: %s", p.name(k), what, p.text(ev))
			}
		}
	}
}

// hasOperand reports whether an event has the value as its operand.
func (p *pass) hasOperand(x *event, e spec.Entry, i int, want value) bool {
	if i == spec.HighWord {
		if e.Reads() {
			p.tr.pool.visit()
			return p.isWord(want, x.read, 1)
		}
		return len(x.data) > 1 && p.selection(want, x.data[1])
	}
	words := e.Kind.Width / 4
	if i*words >= len(x.data) {
		return false
	}
	d := x.data[i*words]
	aggregated := e.Kind.Atom != litmus.AtomCAS && e.Kind.Atom != litmus.AtomExch
	return p.selection(want, d) || p.selection(d, want) && e.Guarded || aggregated && p.combinedOf(d, want, e.Guarded)
}

// isWord reports whether a value is the given word of a read, perhaps through selections.
func (p *pass) isWord(v value, read, word int) bool {
	if !p.tr.pool.first(v) {
		return false
	}
	n := p.tr.pool.nodes[v]
	switch n.kind {
	case kLoad:
		return int(n.a) == read && int(n.b) == word
	case kSel, kPhi:
		return p.isWord(n.a, read, word) || p.isWord(n.b, read, word)
	}
	return false
}

// checkEffects reports instructions with effects that the test does not ask for.
func checkEffects(p *pass) {
	for _, i := range p.tr.effects {
		in := &p.tr.fn.Insts[i]
		p.r.Findings = append(p.r.Findings, Finding{Rule: ExtraEffect.ID, Thread: p.s.Thread, Access: -1,
			Detail: "the test does not ask for " + trim(in.Text), Addr: int64(in.Addr)})
	}
	first, last := 0, len(p.tr.events)
	if p.harness {
		first, last = len(p.tr.events), -1
		for _, ev := range p.match {
			if ev >= 0 {
				first, last = min(first, ev), max(last, ev)
			}
		}
	}
	for ev := first; ev < last; ev++ {
		if p.tr.events[ev].role == isa.RoleBarrier && len(p.owner[ev]) == 0 {
			p.report(ExtraEffect, -1, ev, "a barrier that the test does not have: %s", p.text(ev))
		}
	}
}

// checkCalls reports calls, whose accesses the checker cannot see.
func checkCalls(p *pass) {
	for _, i := range p.tr.calls {
		in := &p.tr.fn.Insts[i]
		p.r.Findings = append(p.r.Findings, Finding{Rule: ExtraAccess.ID, Thread: p.s.Thread, Access: -1,
			Detail: "a call, whose accesses are not seen: " + in.Text, Addr: int64(in.Addr)})
	}
}

// checkAggregated notes atomics that one lane performs for its warp.
func checkAggregated(p *pass) {
	for k, e := range p.s.Entries {
		ev := p.match[k]
		if ev < 0 || e.Kind.Op != litmus.OpAtom && e.Kind.Op != litmus.OpRed {
			continue
		}
		x := &p.tr.events[ev]
		if x.cond && x.condT == 0 && !e.Guarded {
			p.report(Aggregated, k, ev, "%s is performed by one lane of the warp: %s", p.name(k), p.text(ev))
		}
	}
}
