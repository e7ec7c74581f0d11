package optcheck

import (
	"errors"
	"fmt"
	"strings"

	"optcheck/isa"
	"optcheck/litmus"
	"optcheck/spec"
)

// Lifted is the machine code of one kernel, turned back into instructions of a litmus test but still without the
// test's names and constants: kernels of equal machine code share it. LiftTest turns it into a test.
type Lifted struct {
	ops   []liftOp
	reads []liftRead    // by number of the reading event
	regs  map[int]*expr // what the access at a position read, by position
	key   string
	// Extra lists fences and invalidations that no instruction of the test asks for. Machine code that has some may
	// allow less than the test.
	Extra []string
}

// liftOp is one access, fence or barrier of machine code.
type liftOp struct {
	event int
	// entry is the access or fence of the test that the instruction implements, -1 if it implements none. The source
	// instruction then applies as written, except for its registers.
	entry int
	raw   litmus.Instr // without registers and location, if entry is -1
	typ   litmus.Type  // of a raw access
	// raised holds strength and scope if the machine code has more than the entry asks for, else nil.
	raised *litmus.Instr
	// texture is set for a load through the non-coherent cache.
	texture bool
	// like is an entry of the same location and width whose type a raw access takes, so that its values are written
	// like the test's; -1 for none.
	like int
	// unsigned reports whether a minimum or maximum of the machine code is unsigned.
	unsigned bool
	loc      int
	read     int // number of the reading event, or -1
	data     [][]*expr
	// addrDeps and dataDeps are the reads that the address and the data depend on without their values showing it;
	// ctrlDeps is the same for the guard.
	addrDeps, dataDeps, ctrlDeps []int
	guard                        []guardTerm
	group                        int // words of one wide access; 0 for none
	word                         int // which word of the reading event this one is, if group is set
	half                         half
}

// half says which word of a 64-bit location a 32-bit access uses.
type half uint8

const (
	noHalf half = iota
	lowHalf
	highHalf
)

type guardTerm struct {
	e    *expr
	want bool
}

// liftRead describes a read event.
type liftRead struct {
	op    int // index into ops, -1 if its access was left out
	entry int // entry whose value it is, -1 if there is none
	wide  bool
	// split is set if its words belong to several locations: each has a register.
	split bool
	// chosen is set if the test's register takes what was read only if the test performs the access, although the
	// machine code always performs it.
	chosen bool
	// half is set if only this half of the location was read; its register is that of the whole.
	half half
}

// LiftError says why machine code could not be lifted, and at which instruction.
type LiftError struct {
	Addr uint64
	Text string
	Why  string
}

// Error implements error.
func (e *LiftError) Error() string {
	return fmt.Sprintf("cannot lift %s at 0x%x: %s", e.Text, e.Addr, e.Why)
}

// Key implements LiftedCode: equal keys mean the same test.
func (l *Lifted) Key() string { return l.key }

// LiftedCode is the machine code of one kernel in a form that a model can judge: *Lifted, which LiftTest turns into a
// litmus test, or *LiftedAMD, which NewMachine turns into a program for AMD's memory system.
type LiftedCode interface {
	// Key identifies code by its meaning: code with equal keys means the same.
	Key() string
	// Size returns the approximate memory it takes, in bytes.
	Size() int
}

// meanings describes what the machine code of an architecture means as instructions of a litmus test.
type meanings interface {
	// family distinguishes architectures whose equal code means different things.
	family() string
	// access returns how strong an access is that implements none of the test's.
	access(role isa.Role, m isa.Mem) (litmus.Instr, bool)
	// texture reports whether a load bypasses the coherent caches, and if so why it cannot be lifted ("" if it can).
	texture(m isa.Mem) (yes bool, why string)
	// raised returns semantics, scope and cache operator of an access or fence that is stronger in the machine code
	// than its source asks for, else nil.
	raised(k spec.Kind, m isa.Mem) *litmus.Instr
	// inexact marks the entries whose machine code has other accesses between its parts.
	inexact(l *lifter)
	// belongs reports whether a fence or invalidation belongs to another instruction.
	belongs(l *lifter, ev int) bool
	// fence returns what a fence, barrier or invalidation that implements none of the test's means (OpNop for
	// nothing), or why it has no meaning.
	fence(l *lifter, ev int) (in litmus.Instr, why string)
}

// lifter turns a finished pass into a Lifted.
type lifter struct {
	means meanings
	p     *pass
	out   *Lifted
	bad   map[int]bool // entries that their machine code does not implement
	done  []bool       // events that are part of another one
	// results maps values to the atomics that return them.
	results map[value]int
}

// Size implements LiftedCode.
func (l *Lifted) Size() int { return 1000 + 2*len(l.key) }

// Lift turns checked machine code into a form that a model can judge. The error is a *LiftError if an instruction has
// no meaning in that form.
func (c *Checked) Lift() (LiftedCode, error) {
	if err := c.liftable(); err != nil {
		return nil, err
	}
	return c.pass.tr.arch.lift(c.pass)
}

// liftable says why nothing can be lifted at all.
func (c *Checked) liftable() error {
	if c.pass == nil || c.Class == Unknown {
		return errors.New("nothing was checked")
	}
	if calls := c.pass.tr.calls; len(calls) > 0 {
		return newLifter(c.pass, nil).errorAt(calls[0], "a call, whose accesses are not seen")
	}
	return nil
}

func newLifter(p *pass, means meanings) *lifter {
	return &lifter{p: p, means: means, out: &Lifted{regs: map[int]*expr{}}, bad: map[int]bool{}, results: map[value]int{},
		done: make([]bool, len(p.tr.events))}
}

// liftPass turns a kernel back into litmus instructions.
func liftPass(p *pass, means meanings) (LiftedCode, error) {
	l := newLifter(p, means)
	for _, f := range p.r.Findings {
		switch f.Rule {
		case Weakened.ID, KindChanged.ID, WidthChanged.ID, FenceRemoved.ID, FenceWeakened.ID:
			l.bad[f.Access] = true
		}
	}
	means.inexact(l)
	for v, k := range p.atomicResults() {
		l.results[v] = p.tr.events[p.match[k]].read
	}
	l.out.reads = make([]liftRead, len(p.tr.reads))
	for i := range l.out.reads {
		l.out.reads[i] = liftRead{op: -1, entry: -1}
	}
	l.companions()
	if p.harness {
		l.apart()
	}
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
	l.out.key = l.out.identify(means.family())
	return l.out, nil
}

func (l *lifter) errorAt(inst int, why string, args ...any) error {
	in := &l.p.tr.fn.Insts[inst]
	return &LiftError{Addr: in.Addr, Text: strings.TrimSuffix(in.Text, " ;"), Why: fmt.Sprintf(why, args...)}
}

// registers records what each reading access of the test has read in the machine code: by its own access, by that of
// another one, or by none.
func (l *lifter) registers() error {
	p := l.p
	for k, e := range p.s.Entries {
		if !e.Reads() || e.Unread {
			continue
		}
		if ev := p.match[k]; ev >= 0 && l.out.reads[p.tr.events[ev].read].half == noHalf {
			l.out.regs[k] = &expr{op: exLoad, read: p.tr.events[ev].read, word: p.word[k]}
			continue
		}
		seen := taint(0)
		x, err := l.expr(p.unguarded(p.oper[k]), 0, &seen)
		if err != nil {
			return fmt.Errorf("%s: what it read: %w", p.name(k), err)
		}
		l.out.regs[k] = x
		if hi, ok := p.extra[[2]int{k, spec.HighWord}]; ok && p.match[k] >= 0 {
			y, err := l.expr(p.unguarded(hi), p.tr.events[p.match[k]].inst, &seen)
			if err != nil {
				return err
			}
			l.out.regs[k] = &expr{op: exPair, args: []*expr{x, y}}
		}
	}
	return nil
}
