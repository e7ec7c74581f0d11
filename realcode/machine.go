package realcode

import (
	"strings"

	"optcheck/isa"
)

// machine is the machine code of one function and what it calls, as a program.
type machine struct {
	sm     int
	insts  []*isa.Inst
	steps  []step
	conds  conds
	addrs  []address
	behind []address // of copies: their mbarriers
	reach  []bool
	lane   []bool // comparisons with the number of the lane
	// lost are indirect branches without known targets, calls those of functions
	// that are elsewhere.
	lost, calls []*isa.Inst
	walks       map[*isa.Func]*regWalk
	// funcOf gives for steps where their function begins, returns where it comes back
	// to, if it is called once: of several calls nobody says which.
	funcOf  []int32
	returns map[int32][]int32
}

// readMachine lays out a function and all that it calls.
func readMachine(prog *isa.Program, root *isa.Func, sm int) *machine {
	m := &machine{sm: sm, conds: conds{}, walks: map[*isa.Func]*regWalk{}}
	byName := map[string]*isa.Func{}
	for _, f := range prog.Funcs {
		byName[f.Name] = f
	}
	base := map[*isa.Func]int32{}
	funcs := []*isa.Func{root}
	at := 0
	for i := 0; i < len(funcs); i++ {
		f := funcs[i]
		base[f] = int32(at)
		at += len(f.Insts)
		for k := range f.Insts {
			if g := callee(byName, &f.Insts[k]); g != nil {
				if _, ok := base[g]; !ok {
					base[g] = -1
					funcs = append(funcs, g)
				}
			}
		}
	}
	for _, f := range funcs {
		m.walks[f] = follow(f, base[f])
		m.lay(f, base, byName, prog.Consts)
	}
	m.reach = reachable(m.steps)
	m.returns = map[int32][]int32{}
	for i := range m.steps {
		for _, to := range m.steps[i].call {
			m.returns[to] = append(m.returns[to], int32(i)+1)
		}
	}
	for f, to := range m.returns {
		if len(to) > 1 {
			delete(m.returns, f)
		}
	}
	return m
}

// callee is the function in another section that a call goes to; none if a register says where.
func callee(byName map[string]*isa.Func, in *isa.Inst) *isa.Func {
	if in.Flow != isa.FlowCall || in.Target >= 0 || in.CallsRegister() {
		return nil
	}
	return byName[calledName(in)]
}

// calledName is the symbol that a call names.
func calledName(in *isa.Inst) string {
	for i := range in.Args {
		if s := in.Args[i].Sym; s != "" {
			return s
		}
	}
	return ""
}

// helper reports whether a call is of one of ptxas's own functions, which touch no
// memory: divisions, and warp operations that older machines lack.
func helper(in *isa.Inst) bool {
	name := calledName(in)
	return in.Flow == isa.FlowCall && strings.HasPrefix(name[strings.LastIndexByte(name, '$')+1:], "__cuda_") && !copiesBulk(in)
}

func (m *machine) condOf(r isa.Reg) int32 { return m.conds.id(r.String()) }

func isCond(r isa.Reg) bool { return r.Class == isa.ClassPred || r.Class == isa.ClassUPred }

func (m *machine) lay(f *isa.Func, base map[*isa.Func]int32, byName map[string]*isa.Func, consts map[int64]string) {
	from := base[f]
	pops := map[int][]int32{}
	for _, b := range f.Blocks {
		if in := &f.Insts[b.End-1]; in.Flow == isa.FlowPop {
			for _, s := range b.Succs {
				pops[b.End-1] = append(pops[b.End-1], from+int32(f.Blocks[s].First))
			}
		}
	}
	for i := range f.Insts {
		in := m.named(f, i, consts)
		sp := step{guard: -1, cond: -1, letter: -1, next: []int32{from + int32(i) + 1}}
		if isCond(in.Guard.Reg) && !in.Guard.Never {
			sp.guard, sp.guardNeg = m.condOf(in.Guard.Reg), in.Guard.Neg
		}
		if !in.Guard.Never {
			m.flow(in, &sp, from, base, byName, pops[i])
			m.knowledge(&f.Insts[i], &sp)
		}
		m.lane, m.funcOf = append(m.lane, m.walks[f].lane[i]), append(m.funcOf, from)
		m.insts, m.steps = append(m.insts, in), append(m.steps, sp)
	}
	m.addrs, m.behind = append(m.addrs, m.walks[f].out...), append(m.behind, m.walks[f].behind...)
}

func (m *machine) flow(in *isa.Inst, sp *step, from int32, base map[*isa.Func]int32, byName map[string]*isa.Func, pops []int32) {
	here := sp.next[0]
	switch in.Flow {
	case isa.FlowJump:
		if in.Target < 0 {
			m.lost = append(m.lost, in)
			sp.next = nil
			return
		}
		sp.next = []int32{from + int32(in.Target)}
		if c, neg, ok := jumpCondition(in); ok {
			sp.cond, sp.condNeg = m.condOf(c), neg
		} else if mayFall(in) {
			sp.next = append(sp.next, here)
		}
	case isa.FlowIndirect:
		sp.next = nil
		for _, t := range in.Targets {
			sp.next = append(sp.next, from+int32(t))
		}
		if len(in.Targets) == 0 {
			m.lost = append(m.lost, in)
		}
	case isa.FlowPop:
		if len(pops) > 0 {
			sp.next = pops
		}
	case isa.FlowExit:
		sp.next = []int32{end}
		if c, neg, ok := jumpCondition(in); ok {
			sp.cond, sp.condNeg = m.condOf(c), neg
		}
	case isa.FlowReturn:
		sp.next, sp.ret = nil, true
	case isa.FlowTrap:
		sp.next = nil
	case isa.FlowCall:
		switch g := callee(byName, in); {
		case helper(in), copiesBulk(in):
		case in.Target >= 0 && strings.HasPrefix(calledName(in), ".L"):
			// A jump: nobody comes back from a label inside of a function.
			sp.next = []int32{from + int32(in.Target)}
		case in.Target >= 0:
			sp.call = []int32{from + int32(in.Target)}
		case g != nil:
			sp.call = []int32{base[g]}
		default:
			m.calls = append(m.calls, in)
		}
	}
}

// jumpCondition is the operand that decides whether a jump is taken.
func jumpCondition(in *isa.Inst) (isa.Reg, bool, bool) {
	for i := range in.Args {
		if o := &in.Args[i]; o.Kind == isa.OpdPred && !o.Zero {
			return o.Reg, o.Not, true
		}
	}
	return isa.Reg{}, false, false
}

// mayFall reports whether a jump tests something that is not known here: whether
// the warp has diverged, for example.
func mayFall(in *isa.Inst) bool {
	for _, x := range in.Mods {
		switch x {
		case "CONV", "DIV", "ANY", "ALL":
			return true
		}
	}
	for i := range in.Args {
		if in.Args[i].Kind == isa.OpdReg {
			return true
		}
	}
	return false
}

// knowledge says what an instruction does to conditions.
func (m *machine) knowledge(in *isa.Inst, sp *step) {
	for _, r := range in.Defs {
		if isCond(r) {
			sp.defs = append(sp.defs, m.condOf(r))
		}
	}
	for _, r := range in.Uses {
		if isCond(r) {
			sp.uses = append(sp.uses, m.condOf(r))
		}
	}
	for i := range in.Micro {
		mi := &in.Micro[i]
		if !isCond(mi.Dst) {
			continue
		}
		dst := m.condOf(mi.Dst)
		if a, ok := m.logic(mi); ok {
			a.dst = dst
			sp.sets = append(sp.sets, a)
			if a.fork { // both are decided at once, if the other matters any more
				sp.uses = append(sp.uses, a.src)
			}
		} else if p, ok := combined(mi); ok {
			sp.sets = append(sp.sets, assign{dst: dst, src: m.condOf(p.Reg), neg: p.Not, with: mi.Bool})
		}
	}
}

// combined recognises a comparison that is combined with a predicate, which may decide alone: the
// rest of an unrolled loop is performed if no turn was made yet, or there are more.
func combined(mi *isa.Micro) (pred isa.Operand, ok bool) {
	if mi.Op != isa.MicroSetp || len(mi.Src) < 3 || mi.Bool != "OR" && mi.Bool != "AND" {
		return pred, false
	}
	return mi.Src[2], mi.Src[2].Kind == isa.OpdPred && !mi.Src[2].Zero
}

// logic recognises constants, copies and inversions among operations on
// predicates.
func (m *machine) logic(mi *isa.Micro) (assign, bool) {
	if mi.Op != isa.MicroPlop {
		return assign{}, false
	}
	var of isa.Reg
	for _, o := range mi.Src {
		if o.Kind != isa.OpdPred || !o.Zero && of != (isa.Reg{}) && o.Reg != of {
			return assign{}, false
		}
		if !o.Zero {
			of = o.Reg
		}
	}
	eval := func(v bool) (uint32, bool) {
		w := make([]uint64, len(mi.Src))
		for i, o := range mi.Src {
			x := o.Zero || v
			if x != o.Not {
				w[i] = 1
			}
		}
		return mi.Eval(w)
	}
	t, ok := eval(true)
	f, _ := eval(false)
	switch {
	case !ok:
		return assign{}, false
	case t == f:
		return assign{src: -1, neg: t != 0}, true
	}
	return assign{src: m.condOf(of), neg: t == 0, fork: of != mi.Dst}, true
}

// reachable tells of each step whether control can come to it from the first.
func reachable(steps []step) []bool {
	seen := make([]bool, len(steps))
	work := []int32{0}
	for len(work) > 0 {
		i := work[len(work)-1]
		work = work[:len(work)-1]
		if i < 0 || int(i) >= len(steps) || seen[i] {
			continue
		}
		seen[i] = true
		s := &steps[i]
		work = append(work, s.next...)
		work = append(work, s.call...)
		if s.guard >= 0 || s.cond >= 0 || len(s.call) > 0 {
			work = append(work, i+1)
		}
	}
	return seen
}
