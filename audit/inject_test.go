package audit

import (
	"fmt"
	"slices"

	"optcheck/internal/fakeptxas"
	"optcheck/litmus"
	"optcheck/spec"
)

// injection is one wrong (or harmless) thing that a compiler could do to a
// thread, told twice: as an edit of the kernel for the fake compiler, and as an
// edit of the litmus test for the oracle.
type injection struct {
	kind string
	edit fakeptxas.Edit
	// apply makes the same change in a test that has the same thread.
	apply func(th *litmus.Thread)
	// strengthens is set if the change only adds strength: no rule forbids that.
	strengthens bool
	// also, if not nil, is apply in the strongest reading that the machine code
	// allows, where compilers map two spellings to one instruction.
	also func(th *litmus.Thread)
}

// injector lists the injections for one thread.
type injector struct {
	t      *litmus.Test
	th     *litmus.Thread
	thread int
	sm     int
	layout spec.Layout
	es     []spec.Entry
	out    []injection
}

// injections lists what can be done to a thread on a target, or nothing if the
// thread has no specification.
func injections(t *litmus.Test, thread, sm int, layout spec.Layout) []injection {
	s, err := spec.FromTest(t, thread, layout)
	if err != nil {
		return nil
	}
	in := &injector{t: t, th: &t.Threads[thread], thread: thread, sm: sm, layout: layout, es: s.Entries}
	for q := range in.es {
		for p := max(0, q-3); p < q; p++ {
			in.move(p, q)
			in.merge(p, q)
			in.forward(p, q)
			in.overwritten(p, q)
		}
		in.fence(q)
		in.access(q)
		in.unguard(q)
		in.twice(q)
		in.retarget(q)
	}
	in.cuts()
	return in.out
}

func (x *injector) instr(p int) *litmus.Instr { return &x.th.Body[x.es[p].Instr] }

func (x *injector) add(kind string, e fakeptxas.Edit, apply func(*litmus.Thread)) *injection {
	x.out = append(x.out, injection{kind: kind, edit: e, apply: apply})
	return &x.out[len(x.out)-1]
}

func letter(in *litmus.Instr) string {
	switch {
	case in.Op == litmus.OpLd:
		return "load"
	case in.Op == litmus.OpSt:
		return "store"
	case in.IsAccess():
		return "atomic"
	case in.Op == litmus.OpBar:
		return "barrier"
	}
	return "fence"
}

// move takes the access or fence q before p, if registers allow it: a
// compiler that broke data flow would compute other values.
func (x *injector) move(p, q int) {
	ip, iq := x.es[p].Instr, x.es[q].Instr
	moved := &x.th.Body[iq]
	for k := ip; k <= iq; k++ {
		y := &x.th.Body[k]
		if y.Op == litmus.OpBra || k > ip && len(y.Labels) > 0 {
			return
		}
		if k == iq {
			break
		}
		w := y.Writes()
		if w != "" && (slices.Contains(moved.Reads(), w) || w == moved.Writes()) || moved.Writes() != "" && slices.Contains(y.Reads(), moved.Writes()) {
			return
		}
	}
	what := "move " + letter(moved) + " over " + letter(x.instr(p))
	if moved.IsAccess() && x.instr(p).IsAccess() && x.es[p].Loc == x.es[q].Loc {
		what += ", same location"
	}
	x.add(what, fakeptxas.Edit{Op: fakeptxas.Move, Pos: q, Before: p}, func(th *litmus.Thread) {
		in := th.Body[iq]
		th.Body = slices.Insert(slices.Delete(slices.Clone(th.Body), iq, iq+1), ip, in)
	})
}

// between reports whether an instruction strictly between two positions does
// something.
func (x *injector) between(p, q int, f func(*litmus.Instr) bool) bool {
	return slices.ContainsFunc(x.th.Body[x.es[p].Instr+1:x.es[q].Instr], func(in litmus.Instr) bool { return f(&in) })
}

// writesLoc reports whether an instruction may write the location of position p,
// or may be skipped to.
func (x *injector) writesLoc(p int) func(*litmus.Instr) bool {
	return func(in *litmus.Instr) bool {
		for k := range x.es {
			if x.instr(k) == in || x.instr(k).Pos == in.Pos && x.instr(k).String() == in.String() {
				if in.IsWrite() && x.es[k].Loc == x.es[p].Loc {
					return true
				}
			}
		}
		return in.Op == litmus.OpBra || len(in.Labels) > 0
	}
}

func overwrites(reg string) func(*litmus.Instr) bool {
	return func(in *litmus.Instr) bool { return in.Writes() == reg }
}

// pair reports whether p and q are plain accesses of one location, of 32 bits
// and always executed.
func (x *injector) pair(p, q int, a, b litmus.Op) bool {
	return x.instr(p).Op == a && x.instr(q).Op == b && x.es[p].Loc == x.es[q].Loc && x.es[p].Kind.Width == 4 && x.es[q].Kind.Width == 4 &&
		!x.es[p].Guarded && !x.es[q].Guarded && !x.between(p, q, x.writesLoc(p))
}

// merge makes two loads of a location one.
func (x *injector) merge(p, q int) {
	if !x.pair(p, q, litmus.OpLd, litmus.OpLd) || x.between(p, q, overwrites(x.instr(p).Dst)) || x.instr(p).Dst == x.instr(q).Dst {
		return
	}
	kind, from, iq := "merge strong loads", x.instr(p).Dst, x.es[q].Instr
	if x.instr(p).Sem == litmus.SemNone && x.instr(q).Sem == litmus.SemNone {
		kind = "merge weak loads"
	}
	x.add(kind, fakeptxas.Edit{Op: fakeptxas.CopyReg, Pos: q, From: fmt.Sprintf("%%m%d", p)}, copyOf(iq, litmus.Reg(from)))
}

// copyOf makes an instruction a move of a value.
func copyOf(i int, value litmus.Operand) func(*litmus.Thread) {
	return func(th *litmus.Thread) {
		old := th.Body[i]
		th.Body[i] = litmus.Instr{Op: litmus.OpMov, Type: old.Type, Dst: old.Dst, Src: []litmus.Operand{value}, Pos: old.Pos}
	}
}

// forward makes a load take the value that the thread has stored.
func (x *injector) forward(p, q int) {
	if !x.pair(p, q, litmus.OpSt, litmus.OpLd) {
		return
	}
	v := x.instr(p).Src[0]
	if v.Kind == litmus.OperandReg && x.between(p, q, overwrites(v.Name)) {
		return
	}
	x.add("forward store", fakeptxas.Edit{Op: fakeptxas.CopyReg, Pos: q, From: fmt.Sprintf("%%m%d", p)}, copyOf(x.es[q].Instr, v))
}

// overwritten drops a store that the thread overwrites.
func (x *injector) overwritten(p, q int) {
	if x.instr(p).Op == litmus.OpSt && x.instr(q).Op == litmus.OpSt && x.es[p].Loc == x.es[q].Loc && !x.es[p].Guarded && !x.es[q].Guarded {
		x.drop("drop dead store", p)
	}
}

func (x *injector) drop(kind string, p int) {
	i := x.es[p].Instr
	if len(x.th.Body[i].Labels) > 0 {
		return
	}
	x.add(kind, fakeptxas.Edit{Op: fakeptxas.Delete, Pos: p}, func(th *litmus.Thread) { th.Body = slices.Delete(slices.Clone(th.Body), i, i+1) })
}

// change makes an instruction say something else.
func change(i int, f func(*litmus.Instr)) func(*litmus.Thread) {
	return func(th *litmus.Thread) { f(&th.Body[i]) }
}

var narrower = map[litmus.Scope][]litmus.Scope{
	litmus.ScopeSys: {litmus.ScopeGPU, litmus.ScopeCTA}, litmus.ScopeCluster: {litmus.ScopeCTA}, litmus.ScopeGPU: {litmus.ScopeCTA}}

var wider = map[litmus.Scope][]litmus.Scope{
	litmus.ScopeCTA: {litmus.ScopeGPU, litmus.ScopeSys}, litmus.ScopeCluster: {litmus.ScopeGPU}, litmus.ScopeGPU: {litmus.ScopeSys}}

// fence drops, weakens, strengthens and adds fences.
func (x *injector) fence(p int) {
	in, i := x.instr(p), x.es[p].Instr
	if p > 0 && in.Op != litmus.OpBar && len(in.Labels) == 0 {
		add := litmus.Instr{Op: litmus.OpMembar, Scope: litmus.ScopeGPU, Pos: in.Pos}
		x.add("add fence", fakeptxas.Edit{Op: fakeptxas.Insert, Pos: p, To: "membar.gl;"}, func(th *litmus.Thread) {
			th.Body = slices.Insert(slices.Clone(th.Body), i, add)
		}).strengthens = true
	}
	if in.Op != litmus.OpFence && in.Op != litmus.OpMembar {
		return
	}
	x.drop("drop fence", p)
	spell := func(sem litmus.Sem, s litmus.Scope) string {
		y := *in
		y.Sem, y.Scope = sem, s
		return spec.KindOf(&y, litmus.Generic).String() + ";"
	}
	respell := func(kind string, sem litmus.Sem, s litmus.Scope) *injection {
		return x.add(kind, fakeptxas.Edit{Op: fakeptxas.Respell, Pos: p, From: spell(in.Sem, in.Scope), To: spell(sem, s)},
			change(i, func(y *litmus.Instr) { y.Sem, y.Scope = sem, s }))
	}
	for _, s := range narrower[in.Scope] {
		respell("narrow fence", in.Sem, s)
	}
	for _, s := range wider[in.Scope] {
		respell("widen fence", in.Sem, s).strengthens = true
	}
	if in.Op == litmus.OpFence && in.Sem == litmus.SemSC {
		respell("fence.sc to fence.acq_rel", litmus.SemAcqRel, in.Scope)
	}
	if in.Op == litmus.OpFence && in.Sem == litmus.SemAcqRel {
		respell("fence.acq_rel to fence.sc", litmus.SemSC, in.Scope).strengthens = true
	}
}

// qualified returns how an access begins in PTX: operation, semantics and scope.
func qualified(in *litmus.Instr) string {
	s := map[litmus.Op]string{litmus.OpLd: "ld", litmus.OpSt: "st", litmus.OpAtom: "atom", litmus.OpRed: "red"}[in.Op]
	if in.Sem != litmus.SemNone && in.Sem != litmus.SemWeak {
		s += "." + in.Sem.String()
	}
	if in.Scope != litmus.ScopeNone {
		s += "." + in.Scope.String()
	}
	return s + "."
}

// weaker lists the semantics below one, for an operation.
func weaker(in *litmus.Instr) []litmus.Sem {
	switch in.Sem {
	case litmus.SemAcquire, litmus.SemRelease:
		return []litmus.Sem{litmus.SemRelaxed}
	case litmus.SemAcqRel:
		return []litmus.Sem{litmus.SemRelaxed, litmus.SemAcquire, litmus.SemRelease}
	case litmus.SemRelaxed, litmus.SemVolatile:
		if in.Op == litmus.OpLd || in.Op == litmus.OpSt {
			return []litmus.Sem{litmus.SemNone}
		}
	}
	return nil
}

// access weakens and strengthens an access, or drops a store.
func (x *injector) access(p int) {
	in, i := x.instr(p), x.es[p].Instr
	if !in.IsAccess() || in.Sem == litmus.SemMMIO {
		return
	}
	if in.Op == litmus.OpSt && !x.es[p].Guarded {
		x.drop("drop store", p)
	}
	respell := func(kind string, sem litmus.Sem, s litmus.Scope) *injection {
		y := *in
		y.Sem, y.Scope = sem, s
		j := x.add(kind, fakeptxas.Edit{Op: fakeptxas.Respell, Pos: p, From: qualified(in), To: qualified(&y)},
			change(i, func(z *litmus.Instr) { z.Sem, z.Scope = sem, s }))
		if s == litmus.ScopeCTA && sem == litmus.SemRelaxed && in.Op != litmus.OpSt {
			// The machine has one instruction for relaxed and acquire at CTA scope.
			j.also = change(i, func(z *litmus.Instr) { z.Sem, z.Scope = litmus.SemAcquire, s })
		}
		return j
	}
	for _, sem := range weaker(in) {
		s := in.Scope
		if sem == litmus.SemNone {
			s = litmus.ScopeNone
		}
		respell("weaken "+letter(in), sem, s)
	}
	if in.Cache == litmus.CacheNone {
		for _, s := range narrower[in.Scope] {
			respell("narrow "+letter(in), in.Sem, s)
		}
		for _, s := range wider[in.Scope] {
			respell("widen "+letter(in), in.Sem, s).strengthens = true
		}
		switch {
		case in.Sem == litmus.SemNone && (in.Op == litmus.OpLd || in.Op == litmus.OpSt):
			sem, s := litmus.SemVolatile, litmus.ScopeNone
			if x.sm >= 70 {
				sem, s = litmus.SemRelaxed, litmus.ScopeGPU
			}
			respell("strengthen "+letter(in), sem, s).strengthens = true
		case in.Sem == litmus.SemRelaxed && in.Op == litmus.OpLd:
			respell("strengthen load", litmus.SemAcquire, in.Scope).strengthens = true
		case in.Sem == litmus.SemRelaxed && in.Op == litmus.OpSt:
			respell("strengthen store", litmus.SemRelease, in.Scope).strengthens = true
		}
	}
	if in.Cache == litmus.CacheCG {
		x.add("drop cache operator", fakeptxas.Edit{Op: fakeptxas.Respell, Pos: p, From: ".cg.", To: "."}, change(i, func(z *litmus.Instr) { z.Cache = litmus.CacheNone }))
	}
}

// unguard executes an access whatever its predicate says.
func (x *injector) unguard(p int) {
	in, i := x.instr(p), x.es[p].Instr
	if in.IsAccess() && in.Guard != nil {
		x.add("speculate "+letter(in), fakeptxas.Edit{Op: fakeptxas.Unguard, Pos: p}, change(i, func(z *litmus.Instr) { z.Guard = nil }))
	}
}

// twice makes an access a second time.
func (x *injector) twice(p int) {
	in, i := x.instr(p), x.es[p].Instr
	if !in.IsAccess() || in.Dst != "" && slices.Contains(in.Reads(), in.Dst) {
		return
	}
	x.add("duplicate "+letter(in), fakeptxas.Edit{Op: fakeptxas.Twice, Pos: p}, func(th *litmus.Thread) {
		again := th.Body[i]
		again.Labels = nil
		th.Body = slices.Insert(slices.Clone(th.Body), i+1, again)
	})
}

// retarget lets an access go to the location of another one of the thread.
func (x *injector) retarget(p int) {
	in, i := x.instr(p), x.es[p].Instr
	untouched := func(reg string) bool {
		d := x.th.Decl(reg)
		return d != nil && d.Init.Kind == litmus.OperandLoc && !slices.ContainsFunc(x.th.Body, func(y litmus.Instr) bool { return y.Writes() == reg })
	}
	if !in.IsAccess() || x.layout == spec.Symbols || in.Addr.Reg == "" || !untouched(in.Addr.Reg) {
		return
	}
	for q := range x.es {
		to := x.instr(q).Addr.Reg
		if x.instr(q).IsAccess() && to != "" && untouched(to) && x.es[q].Loc != x.es[p].Loc && x.es[q].Kind.Space == x.es[p].Kind.Space {
			x.add("retarget "+letter(in), fakeptxas.Edit{Op: fakeptxas.Respell, Pos: p, From: "[%q_" + in.Addr.Reg + "]", To: "[%q_" + to + "]"},
				change(i, func(z *litmus.Instr) { z.Addr.Reg = to }))
		}
	}
}

// cuts replaces the masked value that a manufactured dependency goes through by
// the constant that it always is.
func (x *injector) cuts() {
	for i := range x.th.Body {
		in := &x.th.Body[i]
		if in.Op != litmus.OpAnd || in.Guard != nil || in.Type.Bits() != 32 || in.Src[0].Kind != litmus.OperandReg || in.Src[1].Kind != litmus.OperandConst ||
			uint32(in.Src[1].Value) != 0x80000000 {
			continue
		}
		// As ptxgen spells it; an edit that does not fit is an error of the fake.
		from := fmt.Sprintf("and.b32 %%q_%s, %%q_%s, %d;", in.Dst, in.Src[0].Name, in.Src[1].Value)
		x.add("cut dependency", fakeptxas.Edit{Op: fakeptxas.Replace, From: from, To: fmt.Sprintf("mov.b32 %%q_%s, 0;", in.Dst)},
			copyOf(i, litmus.Const(0)))
	}
}
