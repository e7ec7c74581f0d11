package optcheck

import (
	"fmt"

	"optcheck/isa"
	"optcheck/target"
)

// An arch is everything that the checker knows about one architecture. Control flow, the symbolic walk, matching, and
// the comparison of values, conditions and text order are the same for all of them.
//
// A new architecture is a type in a file of its own that embeds plain, and a registration: see nv.go and amd.go.
type arch interface {
	evaluation
	ordering
	lifting
}

// evaluation describes how machine code computes: the calling convention, and whatever its instructions do beyond
// micro-operations, accesses and branches.
type evaluation interface {
	// registers returns the size of the register file; see regIndex.
	registers() int
	// predicated reports whether single instructions run under predicates, so that a definition and its use under the
	// same predicate belong together.
	predicated() bool
	// launch sets up the state that a kernel finds at its entry.
	launch(m *machine, st *state)
	// pointer returns the size in bytes of a pointer among the parameters.
	pointer() int64
	// shared returns the offset at which a kernel's own shared memory begins.
	shared() int64
	// bank returns what word off of a constant bank holds: a parameter, a constant, or an unknown word.
	bank(m *machine, bank int, off int64) value
	// symbol returns the address that a word of a constant bank holds (the imm of a kBank).
	symbol(word uint64) (key, bool)
	// address evaluates the address operand of an access.
	address(m *machine, in *isa.Inst) (value, key)
	// onStack reports whether an access to thread-private memory goes to the stack, which holds spills and the
	// thread's variables.
	onStack(m *machine, in *isa.Inst) bool
	// guard evaluates the predicate of an instruction: none if it always runs. off reports that it never does.
	guard(m *machine, in *isa.Inst) (v value, t taint, off bool)
	// branch records in m.preds the predicate under which a branch is taken.
	branch(m *machine, in *isa.Inst, guard value)
	// instruction evaluates what an instruction does beyond its micro-operations. It returns true if that was all.
	instruction(m *machine, i int, in *isa.Inst, guard value, t taint) bool
	// micro evaluates micro-operation k of an instruction. It returns false if the general evaluation is right.
	micro(m *machine, inst, k int, mi *isa.Micro, src operands) (value, bool)
	// content returns a register's value as the current instruction sees it.
	content(m *machine, v value) value
	// join returns the value of a register that is x after one path and y after the other. It returns false if
	// control flow alone decides.
	join(m *machine, x, y value, st, q *state, known *join) (value, bool)
	// holds reports whether a condition is known to hold and so decides nothing.
	holds(m *machine, s sense) bool
}

// ordering describes what an architecture promises about memory, and how its compilers express it.
type ordering interface {
	// effect reports whether an instruction has an effect that no test asks for.
	effect(in *isa.Inst) bool
	// strength checks that accesses are as strong as the test's.
	strength(p *pass)
	// order checks fences, barriers and the parts of synchronising accesses.
	order(p *pass)
	// stronger notes accesses and fences that are stronger than the test asks for.
	stronger(p *pass)
	// barrier returns the number of threads that a barrier waits for, 0 for all, -1
	// if the code does not tell.
	barrier(in *isa.Inst) int
	// result reports whether an access without an entry only fetches what another one read, as the machine's
	// convention requires.
	result(p *pass, ev int) bool
}

// lifting turns machine code into a form that a model can judge.
type lifting interface {
	lift(p *pass) (LiftedCode, error)
	// liftMachine returns operations for a model of the hardware.
	liftMachine(p *pass) (LiftedCode, error)
	// beyond describes what a preserved kernel has beyond its test, so that only a model can tell whether it allows
	// more; "" for nothing.
	beyond(c *Checked) string
}

// architectures maps vendors to the architecture of their targets.
var architectures = map[string]func(target.Target) arch{}

// register adds the architecture of a vendor's targets. It returns true, so that a package variable can call it.
func register(vendor string, of func(target.Target) arch) bool {
	architectures[vendor] = of
	return true
}

// archOf returns the architecture of a target, given by its name in listings.
func archOf(name string) (arch, error) {
	t, _ := target.Of(name)
	if of := architectures[t.Vendor]; of != nil {
		return of(t), nil
	}
	return nil, fmt.Errorf("target %q has no known calling convention", name)
}
