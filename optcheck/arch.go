package optcheck

import (
	"fmt"

	"optcheck/isa"
	"optcheck/spec"
	"optcheck/target"
)

// An arch is everything that the checker knows of one architecture. Control flow, the
// symbolic walk, matching, and the comparison of values, conditions and text order are
// the same for all of them.
//
// A new architecture is a type in a file of its own that embeds plain, and a
// registration: nv.go and amd.go are the examples.
type arch interface {
	evaluation
	ordering
	lifting
}

// evaluation is how machine code computes: its calling convention and what its
// instructions have beyond micro-operations, accesses and branches.
type evaluation interface {
	// registers is the size of the register file, see regIndex.
	registers() int
	// predicated reports whether single instructions run under predicates, so that
	// a definition and its use under the same one belong together.
	predicated() bool
	// launch puts what a kernel finds at its entry into a state.
	launch(m *machine, st *state)
	// pointer is the size in bytes of a pointer among the parameters.
	pointer() int64
	// shared is the offset at which a kernel's own shared memory begins.
	shared() int64
	// bank is what word off of a constant bank holds: a parameter, a constant, or
	// a word of which nothing is known.
	bank(m *machine, bank int, off int64) value
	// symbol is the address that a word of a constant bank is (the imm of a kBank).
	symbol(word uint64) (key, bool)
	// address evaluates the address operand of an access.
	address(m *machine, in *isa.Inst) (value, key)
	// onStack reports whether an access to thread-private memory goes to the stack,
	// where spills and the thread's variables are.
	onStack(m *machine, in *isa.Inst) bool
	// guard evaluates the predicate of an instruction, none if it always runs; off
	// reports that it never does.
	guard(m *machine, in *isa.Inst) (v value, t taint, off bool)
	// branch notes in m.preds the predicate under which a branch is taken.
	branch(m *machine, in *isa.Inst, guard value)
	// instruction evaluates what is more than its micro-operations, true if that
	// was all.
	instruction(m *machine, i int, in *isa.Inst, guard value, t taint) bool
	// micro evaluates micro-operation k of an instruction, false for one that the
	// general evaluation does as well.
	micro(m *machine, inst, k int, mi *isa.Micro, src operands) (value, bool)
	// content is what a register's value is for the instruction being evaluated.
	content(m *machine, v value) value
	// join is the value of a register that is x after one path and y after the
	// other, false if control flow alone decides.
	join(m *machine, x, y value, st, q *state) (value, bool)
	// holds reports whether a condition is known to hold, so that it decides nothing.
	holds(m *machine, s sense) bool
	// finish looks at the whole trace.
	finish(m *machine)
}

// ordering is what an architecture promises of memory, and how its compilers spell it.
type ordering interface {
	// effect reports whether an instruction has an effect that no test asks for.
	effect(in *isa.Inst) bool
	// strength checks that accesses are as strong as the test's.
	strength(p *pass)
	// order checks fences, barriers and what synchronising accesses consist of.
	order(p *pass)
	// stronger notes what has more strength than was asked for.
	stronger(p *pass)
	// barrier returns the number of threads that a barrier waits for, 0 for all, -1
	// if the code does not tell.
	barrier(in *isa.Inst) int
	// result reports whether an access that no entry owns is how the machine hands
	// over what another one read.
	result(p *pass, ev int) bool
	// below returns variants of an access that are each weaker, by one property, than
	// one of a kind must be.
	below(k spec.Kind, m isa.Mem) []isa.Mem
	// needs returns what a fence must be: sequentially consistent, and followed by an
	// invalidation.
	needs(k spec.Kind) (sc, invalidate bool)
}

// lifting makes of machine code what a model can judge.
type lifting interface {
	lift(p *pass) (LiftedCode, error)
	// liftMachine makes operations of a model of the hardware.
	liftMachine(p *pass) (LiftedCode, error)
	// beyond says what a preserved kernel has beyond its test, so that only a model can
	// tell whether it allows more; "" for nothing.
	beyond(c *Checked) string
}

// architectures has the architecture of each vendor's targets.
var architectures = map[string]func(target.Target) arch{}

// register adds the architecture of a vendor's targets.
func register(vendor string, of func(target.Target) arch) bool {
	architectures[vendor] = of
	return true
}

// archOf returns the architecture of a target, by the name that listings give it.
func archOf(name string) (arch, error) {
	t, _ := target.Of(name)
	if of := architectures[t.Vendor]; of != nil {
		return of(t), nil
	}
	return nil, fmt.Errorf("target %q has no known calling convention", name)
}
