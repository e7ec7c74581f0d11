package cycle

import (
	"errors"
	"fmt"

	"optcheck/litmus"
	"optcheck/spec"
)

// access is one memory access of a test as the classifier sees it.
type access struct {
	thread, at int // index in the thread's body
	dir        Dir
	ann        Ann
	loc        string
	value      int64 // written
	known      bool  // value is known
	read       int64 // what the outcome says it returned
	pinned     bool  // the outcome says so
	link       Edge  // from the access before it in the thread, com edges apart
	exact      bool  // link says all there is between the two
}

// facts is what the classifier knows about a test.
type facts struct {
	t     *litmus.Test
	acc   []access
	first []int // first access of each thread, and the end
	final map[string]int64
	atoms int // equations in the condition
}

// errNoCycle begins every reason why a test is not a cycle.
var errNoCycle = errors.New("not classified")

func noCycle(format string, args ...any) error {
	return fmt.Errorf("%w: %s", errNoCycle, fmt.Sprintf(format, args...))
}

// factsOf derives accesses, values and outcome from a test.
func factsOf(t *litmus.Test) (*facts, error) {
	if t.Loops() {
		return nil, noCycle("a thread has a loop")
	}
	f := &facts{t: t, final: map[string]int64{}}
	regs := map[litmus.Term]int64{}
	if err := f.outcome(t.Cond.Expr, regs); err != nil {
		return nil, err
	}
	for i := range t.Threads {
		f.first = append(f.first, len(f.acc))
		if err := f.thread(i, regs); err != nil {
			return nil, err
		}
	}
	f.first = append(f.first, len(f.acc))
	if len(f.acc) < 2 || len(f.acc) > maxEdges {
		return nil, noCycle("%d accesses (2 to %d)", len(f.acc), maxEdges)
	}
	return f, nil
}

func (f *facts) outcome(e litmus.Expr, regs map[litmus.Term]int64) error {
	switch e := e.(type) {
	case litmus.And:
		for _, x := range e.List {
			if err := f.outcome(x, regs); err != nil {
				return err
			}
		}
		return nil
	case litmus.Atom:
		l, r := e.Left, e.Right
		if l.Kind == litmus.TermConst {
			l, r = r, l
		}
		if e.Cmp != litmus.CmpEq || r.Kind != litmus.TermConst || l.Kind == litmus.TermConst {
			break
		}
		f.atoms++
		if l.Kind == litmus.TermLoc {
			f.final[l.Name] = r.Value
		} else {
			regs[l] = r.Value
		}
		return nil
	}
	return noCycle("the condition is no conjunction of equations")
}

// thread reads one thread, computing register values from the outcome.
func (f *facts) thread(i int, regs map[litmus.Term]int64) error {
	th := &f.t.Threads[i]
	deps, err := spec.FromTest(f.t, i, spec.Pointers)
	if err != nil {
		return noCycle("%v", err)
	}
	ev := evaluator{vals: map[string]int64{}}
	for _, d := range th.Regs {
		if d.Init.Kind == litmus.OperandConst {
			ev.vals[d.Name] = d.Init.Value
		}
	}
	position := map[int]int{} // access position in the specification → index in acc
	var between []spec.Entry
	for _, e := range deps.Entries {
		if e.IsFence() {
			between = append(between, e)
			continue
		}
		ev.upTo(th, e.Instr)
		in := &th.Body[e.Instr]
		a := access{thread: i, at: e.Instr, loc: f.t.Locations[e.Loc].Name, ann: annOf(in), exact: true}
		if in.Dst != "" {
			a.read, a.pinned = regs[litmus.Term{Kind: litmus.TermReg, Thread: i, Name: in.Dst}], false
			if _, ok := regs[litmus.Term{Kind: litmus.TermReg, Thread: i, Name: in.Dst}]; ok && lastWriter(th, e.Instr) {
				a.pinned = true
				ev.vals[in.Dst] = a.read
			} else {
				delete(ev.vals, in.Dst)
			}
		}
		if in.Op == litmus.OpRed {
			return noCycle("%s: a reduction returns nothing", in)
		}
		a.written(in, &ev)
		if len(f.acc) > f.first[i] {
			f.link(&a, &f.acc[len(f.acc)-1], in, between, deps, position, e.Pos)
		} else if len(between) > 0 {
			a.exact = false
		}
		between = nil
		position[e.Pos] = len(f.acc)
		f.acc = append(f.acc, a)
	}
	if len(between) > 0 && len(f.acc) > f.first[i] {
		f.acc[len(f.acc)-1].exact = false
	}
	return nil
}

// lastWriter reports whether no later instruction overwrites the register that
// instruction k sets, so that the final value is what k read.
func lastWriter(th *litmus.Thread, k int) bool {
	for j := k + 1; j < len(th.Body); j++ {
		if th.Body[j].Dst == th.Body[k].Dst {
			return false
		}
	}
	return true
}

func annOf(in *litmus.Instr) Ann {
	a := Ann{Sem: in.Sem, Scope: in.Scope, Cache: in.Cache}
	if a.Sem == litmus.SemWeak {
		a.Sem = litmus.SemNone
	}
	if in.Op == litmus.OpAtom {
		a.Atom = in.Atom
	}
	return a
}

// written determines what the access writes, and whether it counts as a read.
func (a *access) written(in *litmus.Instr, ev *evaluator) {
	switch {
	case in.Op == litmus.OpLd:
		a.dir = Read
		return
	case in.Op == litmus.OpSt:
		a.dir = Write
		a.value, a.known = ev.operand(in.Src[0])
		return
	}
	v, ok := ev.operand(in.Src[len(in.Src)-1])
	a.dir = Write
	switch in.Atom {
	case litmus.AtomExch:
		a.value, a.known = v, ok
	case litmus.AtomAdd:
		if ok && v == 0 {
			a.dir = Read
		}
		a.value, a.known = a.read+v, ok && a.pinned
	case litmus.AtomCAS:
		expect, ok2 := ev.operand(in.Src[0])
		if ok && ok2 && v == expect {
			a.dir = Read
		}
		a.value, a.known = v, ok && ok2 && a.pinned && a.read == expect
	}
}

// link determines what the thread has between two neighbouring accesses.
func (f *facts) link(a, prev *access, in *litmus.Instr, between []spec.Entry, deps *spec.Spec, position map[int]int, pos int) {
	e := Edge{Kind: Po, Same: a.loc == prev.loc, Src: prev.dir, Dst: a.dir}
	kinds := map[spec.DepKind]Kind{spec.DepAddr: Addr, spec.DepData: Data, spec.DepCtrl: Ctrl}
	for _, d := range deps.Deps {
		if d.To != pos {
			continue
		}
		k, ok := kinds[d.Kind]
		if !ok || position[d.From] != len(f.acc)-1 || e.Kind != Po {
			a.exact = false // a dependency from farther away, or a second one
			continue
		}
		e.Kind, e.Src = k, Read
	}
	if in.Guard != nil && e.Kind != Ctrl {
		a.exact = false
	}
	for _, b := range between {
		fence := e
		fence.Op, fence.Sem, fence.Scope = b.Kind.Op, b.Kind.Sem, b.Kind.Scope
		switch {
		case b.Kind.Op == litmus.OpBar && e.Kind == Po:
			e.Kind = Bar
		case e.Kind == Po && e.Op == litmus.OpNop && fence.fence() != "":
			e = fence
			e.Kind = Fence
		case e.Kind == Ctrl && b.Guarded && e.Op == litmus.OpNop && fence.fence() != "":
			e = fence
		default:
			a.exact = false
		}
	}
	a.link = e
}

// evaluator computes the values of registers that the outcome determines.
type evaluator struct {
	vals map[string]int64
	done int
}

func (ev *evaluator) operand(o litmus.Operand) (int64, bool) {
	switch o.Kind {
	case litmus.OperandConst:
		return o.Value, true
	case litmus.OperandReg:
		v, ok := ev.vals[o.Name]
		return v, ok
	}
	return 0, false
}

// upTo evaluates the instructions before index k that do not access memory.
func (ev *evaluator) upTo(th *litmus.Thread, k int) {
	for ; ev.done < k; ev.done++ {
		in := &th.Body[ev.done]
		if in.Op.IsAccess() || in.Dst == "" {
			continue
		}
		if v, ok := ev.alu(in); ok {
			ev.vals[in.Dst] = v
		} else {
			delete(ev.vals, in.Dst)
		}
	}
}

func (ev *evaluator) alu(in *litmus.Instr) (int64, bool) {
	var v [2]int64
	var ok [2]bool
	for i := range min(2, len(in.Src)) {
		v[i], ok[i] = ev.operand(in.Src[i])
	}
	same := len(in.Src) == 2 && in.Src[0] == in.Src[1]
	switch in.Op {
	case litmus.OpMov, litmus.OpCvt:
		return v[0], ok[0]
	case litmus.OpXor:
		return v[0] ^ v[1], same || ok[0] && ok[1]
	case litmus.OpSub:
		return v[0] - v[1], same || ok[0] && ok[1]
	case litmus.OpAnd:
		if ok[1] && (v[1] == 0 || v[1] == 1<<31) {
			return 0, true // values are small
		}
		return v[0] & v[1], ok[0] && ok[1]
	case litmus.OpShr:
		if ok[1] && v[1] == 31 {
			return 0, true
		}
	case litmus.OpAdd:
		return v[0] + v[1], ok[0] && ok[1]
	case litmus.OpSelp:
		return v[0], ok[0] // guards of false dependencies hold
	}
	return 0, false
}
