package realcode

import (
	"fmt"
	"slices"
	"testing"

	"optcheck/isa"
	"optcheck/ptx"
)

// codeMutant is a change of machine code, after it was read, that the model forbids.
type codeMutant struct {
	kind, what string
	pos        ptx.Pos
	code       *isa.Func
}

// listing is the machine code of a kernel, with the operations that its lines name. What is
// illegal is told by these alone, not by what the checker takes for their images.
type listing struct {
	f     *isa.Func
	insts []isa.Inst
	ops   []*Op  // of each instruction, nil for none
	joint []bool // instructions that control may jump to
	out   []codeMutant
}

// codeMutants lists the changes of a kernel.
func codeMutants(src *source, f *isa.Func) []codeMutant {
	l := &listing{f: f, insts: f.Insts, ops: make([]*Op, len(f.Insts)), joint: make([]bool, len(f.Insts))}
	byLine := map[int]*Op{}
	for _, op := range src.ops {
		byLine[op.Inst.N] = op
	}
	reached := reachable(readMachine(&isa.Program{Funcs: []*isa.Func{f}}, f, 80).steps)
	for _, b := range f.Blocks {
		l.joint[b.First] = true
	}
	for i := range l.insts {
		if in := &l.insts[i]; !in.Guard.Never && reached[i] {
			l.ops[i] = byLine[in.Src.Line]
		}
	}
	for i := range l.insts {
		if op := l.ops[i]; op != nil && (op.strong() || op.Effect.Kind == ptx.Copy) {
			l.alone(i, op, &l.insts[i])
			l.async(i, op, &l.insts[i])
		}
		l.matrix(i, &l.insts[i])
	}
	return l.out
}

// add adds a change.
func (l *listing) add(kind string, i int, insts []isa.Inst) {
	f := *l.f
	f.Insts = insts
	f.BuildCFG()
	l.out = append(l.out, codeMutant{kind, fmt.Sprintf("%s %d: %s: %s", kind, l.ops[i].Inst.Pos.Line, l.ops[i].Inst.Text, l.insts[i].Text),
		l.ops[i].Inst.Pos, &f})
}

// one changes an instruction.
func (l *listing) one(kind string, i int, change func(*isa.Inst)) {
	insts := slices.Clone(l.insts)
	change(&insts[i])
	l.add(kind, i, insts)
}

func nothing(in *isa.Inst) {
	*in = isa.Inst{Addr: in.Addr, Op: "NOP", Text: "NOP", Src: in.Src, Role: isa.RoleNop, Target: -1}
}

// twice performs an instruction once more.
func (l *listing) twice(kind string, i int) {
	insts := slices.Insert(slices.Clone(l.insts), i, l.insts[i])
	for k := range insts {
		in := &insts[k]
		if in.Target > i {
			in.Target++
		}
		in.Targets = slices.Clone(in.Targets)
		for t := range in.Targets {
			if in.Targets[t] > i {
				in.Targets[t]++
			}
		}
	}
	l.add(kind+" twice", i, insts)
}

// alone changes one instruction.
func (l *listing) alone(i int, op *Op, in *isa.Inst) {
	e, m := &op.Effect, &in.Mem
	is := func(kinds ...ptx.Kind) bool { return slices.Contains(kinds, e.Kind) }
	access := in.Role.IsAccess() && spaceFits(e.Space, m.Space) && m.Atom != "CAST" && in.Op != "QSPC" &&
		(m.Space != isa.SpaceShared || e.Space == "shared")
	switch {
	case in.Op == "MEMBAR" && m.Scope >= scopes[e.Scope] && l.orders(i, op):
		l.one("fence dropped", i, nothing)
		if m.Scope > isa.ScopeCTA && scopes[e.Scope] > isa.ScopeCTA {
			l.one("fence narrowed", i, func(in *isa.Inst) { in.Mem.Scope = isa.ScopeCTA })
		}
		if e.Kind == ptx.Fence && e.Sem == "sc" && m.Strength == isa.FenceSC {
			l.one("fence weakened", i, func(in *isa.Inst) { in.Mem.Strength = isa.FenceAll })
		}
		l.moved(i, op)
	case in.Role == isa.RoleCache && m.Invalidate && e.Acquires() && l.needed(i):
		l.one("invalidation dropped", i, nothing)
		l.moved(i, op)
	case in.Op == "BAR" && is(ptx.Barrier, ptx.Arrive):
		l.one("barrier dropped", i, nothing)
		l.twice("barrier", i)
		l.moved(i, op)
	case in.Op == "LDGDEPBAR" && is(ptx.CopyCommit), in.Op == "DEPBAR" && is(ptx.CopyWait):
		l.one("group dropped", i, nothing)
	case access && is(ptx.Atomic, ptx.Reduction) && (in.Role == isa.RoleAtomic || in.Role == isa.RoleReduction):
		l.one("atomic dropped", i, nothing)
		l.twice("atomic", i)
		l.narrowed(i, op, in)
	case access && (is(ptx.Load) && in.Role == isa.RoleLoad && !op.Dead || is(ptx.Store) && in.Role == isa.RoleStore):
		if in.Role == isa.RoleStore || l.copies(i) == 1 { // one of several tests the old value again
			l.one("access dropped", i, nothing)
		}
		if in.Role == isa.RoleStore {
			l.twice("store", i)
		}
		if m.Strength == isa.Strong {
			l.one("access weakened", i, func(in *isa.Inst) { in.Mem.Strength, in.Mem.Scope = isa.Weak, isa.ScopeNone })
		}
		l.narrowed(i, op, in)
	}
}

// copies is how many instructions of a kind there are on the line of one.
func (l *listing) copies(i int) (n int) {
	for k := range l.insts {
		if l.insts[k].Src.Line == l.insts[i].Src.Line && l.insts[k].Role == l.insts[i].Role {
			n++
		}
	}
	return n
}

func (l *listing) narrowed(i int, op *Op, in *isa.Inst) {
	if scopes[op.Effect.Scope] > isa.ScopeCTA && in.Mem.Scope > isa.ScopeCTA {
		l.one("scope narrowed", i, func(in *isa.Inst) { in.Mem.Scope = isa.ScopeCTA })
	}
}

// seen reports whether an instruction is an access that others can see.
func seen(in *isa.Inst) bool {
	return in.Role.IsAccess() && in.Mem.Space != isa.SpaceLocal && in.Mem.Space != isa.SpaceConst && in.Op != "QSPC" && !in.Guard.Never
}

// neighbour is the next instruction in a direction that is an access, a fence, a barrier or an
// invalidation; -1 if control comes, goes or may go elsewhere before.
func (l *listing) neighbour(i, dir int) int {
	for k := i + dir; k >= 0 && k < len(l.insts); k += dir {
		in := &l.insts[k]
		at := k // a leader between the two
		if dir < 0 {
			at = k + 1
		}
		if l.joint[at] {
			return -1
		}
		switch in.Role {
		case isa.RoleFence, isa.RoleBarrier, isa.RoleCache:
			return k
		case isa.RoleBranch:
			return -1
		}
		if seen(in) || in.Op == "LDGDEPBAR" || in.Op == "DEPBAR" {
			return k
		}
	}
	return -1
}

// orders reports whether a MEMBAR has something to order that no other one beside it does:
// accesses before, and, of a fence, behind.
func (l *listing) orders(i int, op *Op) bool {
	for _, dir := range []int{-1, 1} {
		for k := l.neighbour(i, dir); k >= 0; k = l.neighbour(k, dir) {
			if l.insts[k].Op == "MEMBAR" {
				return false
			} else if seen(&l.insts[k]) || l.insts[k].Role == isa.RoleBarrier {
				break
			}
		}
	}
	other := func(in isa.Inst) bool { return seen(&in) && in.Src.Line != op.Inst.N }
	writes := func(in isa.Inst) bool { return other(in) && in.Role != isa.RoleLoad }
	switch e := &op.Effect; {
	case e.Kind == ptx.Fence:
		return slices.ContainsFunc(l.insts[:i], other) && slices.ContainsFunc(l.insts[i:], other)
	case e.Kind.IsAccess() && e.Releases():
		return slices.ContainsFunc(l.insts[:i], writes)
	}
	return false
}

// needed reports whether a weak load follows an invalidation in the text before another one,
// and before control goes elsewhere.
func (l *listing) needed(i int) bool {
	for k := i + 1; k < len(l.insts); k++ {
		in, op := &l.insts[k], l.ops[k]
		switch {
		case in.Mem.Invalidate, in.Flow == isa.FlowExit && in.Guard == (isa.Guard{}), in.Flow == isa.FlowJump && in.Guard == (isa.Guard{}):
			return false
		case in.Role == isa.RoleLoad && in.Mem.Strength == isa.Weak && seen(in) && in.Mem.Space != isa.SpaceShared:
			return op != nil && op.Effect.Kind == ptx.Load && op.Effect.Space != "shared" && !op.Dead
		}
	}
	return false
}

// moved moves an instruction without registers over what stands beside it, if the two have
// to stay in their order.
func (l *listing) moved(i int, op *Op) {
	for _, dir := range []int{-1, 1} {
		k := l.neighbour(i, dir)
		if k < 0 || !l.kept(op, &l.insts[i], k, dir) || l.insts[i].Guard != l.insts[k].Guard {
			continue
		}
		insts := slices.Clone(l.insts)
		in := insts[i]
		insts = slices.Insert(slices.Delete(insts, i, i+1), k, in)
		l.add("moved", i, insts)
	}
}

// kept reports whether an instruction has to stay before, or behind, an access.
func (l *listing) kept(op *Op, in *isa.Inst, k, dir int) bool {
	to, of := &l.insts[k], l.ops[k]
	if !seen(to) || of == nil || !of.Effect.Kind.IsAccess() {
		return false
	}
	load := to.Role == isa.RoleLoad
	if load && of.Dead {
		return false
	}
	own := to.Src.Line == in.Src.Line
	switch {
	case in.Role == isa.RoleCache:
		return dir > 0 && load && of.Effect.Weak() && to.Mem.Space != isa.SpaceShared || dir < 0 && own
	case in.Op == "BAR":
		return true
	case op.Effect.Kind == ptx.Fence:
		return !own
	}
	return dir > 0 && own || dir < 0 && !own && !load && to.Mem.Space != isa.SpaceShared
}

// compiled is a module as one release compiles it, and what is said of its kernels.
type compiled struct {
	m    *ptx.Module
	prog *isa.Program
	sm   int
	read map[*ptx.Func]*source
}

// source reads a kernel once.
func (r *compiled) source(f *ptx.Func) (src *source, err error) {
	if r.read[f] == nil {
		if src, err = readSource(r.m, f); err != nil {
			return nil, err
		}
		if r.read == nil {
			r.read = map[*ptx.Func]*source{}
		}
		r.read[f] = src
	}
	return r.read[f], nil
}

// said is what is said of a kernel with other machine code.
func (r *compiled) said(f *ptx.Func, code *isa.Func) *Result {
	prog := *r.prog
	prog.Funcs = slices.Clone(prog.Funcs)
	prog.Funcs[slices.IndexFunc(prog.Funcs, func(g *isa.Func) bool { return g.Name == f.Name })] = code
	k := &Kernel{Name: f.Name}
	c := &checker{name: f.Name, sm: r.sm, res: &k.Result}
	src, err := r.source(f)
	if err == nil {
		err = c.check(src, f, &prog, code)
	}
	if err != nil {
		k.Unknown = append(k.Unknown, Finding{Kernel: f.Name, Detail: err.Error()})
	}
	return &k.Result
}

// try tries changes of some kernels, at most so many of each kind and kernel.
func (p *plan) try(r *compiled, w way, kernels []string, most int) {
	for _, f := range Roots(r.m) {
		at := slices.IndexFunc(r.prog.Funcs, func(g *isa.Func) bool { return g.Name == f.Name })
		src, err := r.source(f)
		if at < 0 || err != nil || !slices.Contains(kernels, f.Name) {
			continue
		}
		code := r.prog.Funcs[at]
		honest := r.said(f, code)
		accused, told := map[ptx.Pos]bool{}, map[string]bool{}
		for _, x := range slices.Concat(honest.Findings, honest.Unknown) {
			told[said(x)] = true
			if x.First != nil {
				accused[x.First.Pos] = true
			}
		}
		if i := slices.IndexFunc(honest.Unknown, func(x Finding) bool { return x.First == nil }); i >= 0 { // nothing was compared
			p.tally.leave(fmt.Sprintf("%s: %s: %s: unknown: %s", r.m.File, w, f.Name, honest.Unknown[i].Detail))
			continue
		}
		tried := map[string]int{}
		list := slices.DeleteFunc(codeMutants(src, code), func(x codeMutant) bool { return accused[x.pos] })
		p.random(r.m.File+f.Name+w.String()).Shuffle(len(list), func(i, j int) { list[i], list[j] = list[j], list[i] })
		for _, x := range list {
			if tried[x.kind]++; tried[x.kind] > most {
				continue
			}
			p.tally.judge(x.kind, w, r.said(f, x.code), told, "%s:%d: %s: %s: %s", r.m.File, x.pos.Line, w, f.Name, x.what)
		}
	}
}

// TestListings: what is taken from machine code, after it was read, is missed. Of real files at most
// OPTCHECK_MOST (2) changes of each kind and kernel are tried.
func TestListings(t *testing.T) {
	p, most := newPlan(t, "11.8", "12.4"), 1000
	if p.real {
		most = setting("OPTCHECK_MOST", 2)
	}
	p.each(t, func(m *ptx.Module) {
		for _, tc := range p.releases {
			w := oldest(tc, m)
			if code, err := Build(t.Context(), w.tc, m, w.target, w.level); err == nil {
				p.try(&compiled{m: m, prog: code.Program, sm: number(w.target)}, w, p.small(m), most)
			}
		}
	})
	p.report(t, "changes of machine code")
}
