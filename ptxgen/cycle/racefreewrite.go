package cycle

import (
	"fmt"
	"slices"

	"optcheck/litmus"
)

// guard lets a thread continue after a synchronising read only if it has read the value.
func (a *acknowledger) guard(s int) {
	e := &a.syncs[s]
	e.on = true
	n := &a.nodes[e.acquire]
	r := &a.nodes[e.read]
	n.after = append(n.after, a.leave(r.thread, r.in.Dst, e.value)...)
}

// leave ends a thread unless a register has a value.
func (a *acknowledger) leave(thread int, reg string, value int64) []litmus.Instr {
	a.added++
	a.asked = append(a.asked, litmus.Atom{Left: litmus.Term{Kind: litmus.TermReg, Thread: thread, Name: reg}, Cmp: litmus.CmpEq,
		Right: litmus.Term{Kind: litmus.TermConst, Value: value}})
	if !slices.Contains(a.guarded, thread) {
		a.guarded = append(a.guarded, thread)
	}
	bra := litmus.Instr{Op: litmus.OpBra, Target: a.label(thread)}
	if a.t.Dialect == litmus.PTX {
		bra.Cmp, bra.Src = litmus.CmpNe, []litmus.Operand{litmus.Reg(reg), litmus.Const(value)}
		return []litmus.Instr{bra}
	}
	p := a.reg(thread, "p", litmus.Pred)
	bra.Guard = &litmus.Guard{Reg: p}
	typ := litmus.S32
	if d := a.t.Threads[thread].Decl(reg); d != nil && d.Type.Bits() == 64 {
		typ = litmus.S64
	}
	return []litmus.Instr{{Op: litmus.OpSetp, Cmp: litmus.CmpNe, Type: typ, Dst: p, Src: []litmus.Operand{litmus.Reg(reg),
		litmus.Const(value)}}, bra}
}

// acknowledge makes b wait for x: a release after x, an acquire and a guard before b.
func (a *acknowledger) acknowledge(x, b int) {
	p, q := &a.nodes[x], &a.nodes[b]
	scope := litmus.ScopeSys
	for _, s := range []litmus.Scope{litmus.ScopeGPU, litmus.ScopeCTA} {
		if a.place(x).SameScope(a.place(b), s) {
			scope = s
		}
	}
	loc := a.location()
	store := litmus.Instr{Op: litmus.OpSt, Type: litmus.S32, Sem: litmus.SemRelease, Scope: scope, Addr: a.address(p.thread, loc),
		Src: []litmus.Operand{litmus.Const(1)}}
	load := litmus.Instr{Op: litmus.OpLd, Type: litmus.S32, Sem: litmus.SemAcquire, Scope: scope, Addr: a.address(q.thread, loc),
		Dst: a.reg(q.thread, "r", litmus.S32)}
	p.after = append(p.after, store)
	q.before = append(append(q.before, load), a.leave(q.thread, load.Dst, 1)...)
	p.next = append(p.next, b)
}

// location declares a location for an acknowledgement.
func (a *acknowledger) location() string {
	for i := 0; ; i++ {
		name := fmt.Sprintf("ack%d", i)
		if !a.taken(name) {
			a.t.Locations = append(a.t.Locations, litmus.Location{Name: name, Space: litmus.Global})
			slices.SortStableFunc(a.t.Locations, func(x, y litmus.Location) int { return litmus.CompareLocations(x.Name, y.Name) })
			return name
		}
	}
}

func (a *acknowledger) taken(name string) bool {
	if a.t.Location(name) != nil {
		return true
	}
	for i := range a.t.Threads {
		th := &a.t.Threads[i]
		if th.Decl(name) != nil || slices.ContainsFunc(th.Body, func(in litmus.Instr) bool {
			return in.Dst == name ||
				slices.Contains(in.Reads(), name)
		}) {
			return true
		}
	}
	return false
}

// address returns a location's address in a thread.
func (a *acknowledger) address(thread int, loc string) litmus.Addr {
	if a.t.Dialect == litmus.PTX {
		return litmus.Addr{Loc: loc}
	}
	r := a.reg(thread, "rd", litmus.B64)
	th := &a.t.Threads[thread]
	th.Regs[len(th.Regs)-1].Init = litmus.Loc(loc)
	return litmus.Addr{Reg: r}
}

// reg returns a new register of a thread, which need not be declared in dialect PTX.
func (a *acknowledger) reg(thread int, prefix string, t litmus.Type) string {
	for i := 100; ; i++ {
		name := fmt.Sprintf("%s%d", prefix, i)
		if a.taken(name) || slices.ContainsFunc(a.asked, func(e litmus.Expr) bool { return e.(litmus.Atom).Left.Name == name }) {
			continue
		}
		th := &a.t.Threads[thread]
		if a.t.Dialect != litmus.PTX {
			th.Regs = append(th.Regs, litmus.RegDecl{Name: name, Type: t})
		}
		return name
	}
}

// label is the label after the last instruction of a thread.
func (a *acknowledger) label(thread int) string {
	for i := 0; ; i++ {
		if name := fmt.Sprintf("END%d_%d", thread, i); !a.taken(name) {
			return name
		}
	}
}

// write inserts the additions into the threads and the condition.
func (a *acknowledger) write() {
	for i := range a.t.Threads {
		th := &a.t.Threads[i]
		var body []litmus.Instr
		list := a.threads[i]
		for k := range th.Body {
			if len(list) == 0 || a.nodes[list[0]].at != k {
				body = append(body, th.Body[k])
				continue
			}
			n := &a.nodes[list[0]]
			body = append(append(append(body, n.before...), th.Body[k]), n.after...)
			list = list[1:]
		}
		if slices.Contains(a.guarded, i) {
			body = append(body, litmus.Instr{Op: litmus.OpNop, Labels: []string{a.label(i)}})
		}
		th.Body = body
	}
	if a.t.Cond.Quant == litmus.Forall {
		return
	}
	var list []litmus.Expr
	switch e := a.t.Cond.Expr.(type) {
	case litmus.And:
		list = slices.Clone(e.List)
	case litmus.True, nil:
	default:
		list = append(list, e)
	}
	for _, x := range a.asked {
		if !slices.Contains(list, x) {
			list = append(list, x)
		}
	}
	a.t.Cond.Expr = litmus.And{List: list}
	if len(list) == 1 {
		a.t.Cond.Expr = list[0]
	}
}
