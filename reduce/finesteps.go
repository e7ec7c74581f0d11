package reduce

import (
	"fmt"
	"slices"

	"optcheck/litmus"
)

// conditionSteps each drop one term from condition and locations clause, with every comparison
// that contains it.
func conditionSteps(t *litmus.Test) []step {
	var list []step
	for _, x := range t.Terms() {
		// Another step may renumber the threads: this one identifies the thread by its own
		// number.
		id := 0
		if x.Kind == litmus.TermReg {
			id = t.Threads[x.Thread].Pos.Line
		}
		list = append(list, step{part: "condition", name: "condition without " + x.String(), apply: func(t *litmus.Test) bool {
			same := func(y litmus.Term) bool {
				return y.Kind == x.Kind && y.Name == x.Name && (x.Kind == litmus.TermLoc || t.Threads[y.Thread].Pos.Line == id)
			}
			if !slices.ContainsFunc(t.Terms(), same) {
				return false
			}
			mapTerms(t, func(y litmus.Term) (litmus.Term, bool) { return y, y.Kind == litmus.TermConst || !same(y) })
			return true
		}})
	}
	if _, plain := t.Cond.Expr.(litmus.Atom); t.Cond.Expr != nil && !plain || t.Cond.Quant != litmus.Exists {
		list = append(list, step{part: "condition", name: "condition as a conjunction", apply: func(t *litmus.Test) bool {
			flat := conjunction(t.Cond.Expr)
			t.Cond = litmus.Cond{Expr: flat}
			return true
		}})
	}
	return list
}

// conjunction combines the comparisons of an expression into one conjunction.
func conjunction(e litmus.Expr) litmus.Expr {
	var atoms []litmus.Expr
	var walk func(litmus.Expr)
	walk = func(e litmus.Expr) {
		switch e := e.(type) {
		case litmus.And:
			for _, x := range e.List {
				walk(x)
			}
		case litmus.Or:
			for _, x := range e.List {
				walk(x)
			}
		case litmus.Not:
			walk(e.X)
		case litmus.Atom:
			atoms = append(atoms, e)
		}
	}
	walk(e)
	switch len(atoms) {
	case 0:
		return nil
	case 1:
		return atoms[0]
	}
	return litmus.And{List: atoms}
}

// locationSteps drop unused locations and simplify the others.
func locationSteps(t *litmus.Test) []step {
	var list []step
	for i := range t.Locations {
		l := t.Locations[i]
		id := l.Pos.Line
		at := func(f func(t *litmus.Test, i int) bool) func(*litmus.Test) bool {
			return func(t *litmus.Test) bool {
				i := slices.IndexFunc(t.Locations, func(l litmus.Location) bool { return l.Pos.Line == id })
				return i >= 0 && f(t, i)
			}
		}
		list = append(list, step{part: "instructions", name: "without location " + l.Name, apply: at(func(t *litmus.Test, i int) bool {
			if used(t, t.Locations[i].Name) {
				return false
			}
			t.Locations = slices.Delete(t.Locations, i, i+1)
			return true
		})})
		if l.Init != 0 {
			list = append(list, step{part: "values", name: l.Name + " starts at 0",
				apply: at(func(t *litmus.Test, i int) bool { t.Locations[i].Init = 0; return true })})
		}
		if l.Space == litmus.Shared {
			list = append(list, step{part: "modifiers", name: l.Name + " in global memory", apply: at(func(t *litmus.Test, i int) bool {
				t.Locations[i].Space = litmus.Global
				for j := range t.Threads {
					for k := range t.Threads[j].Body {
						t.Threads[j].Body[k].Space = litmus.Generic
					}
				}
				return true
			})})
		}
	}
	return list
}

// used reports whether a thread, a register or another location names a
// location; the condition alone does not count.
func used(t *litmus.Test, name string) bool {
	for i := range t.Locations {
		if t.Locations[i].Alias == name || t.Locations[i].Of == name {
			return true
		}
	}
	for i := range t.Threads {
		th := &t.Threads[i]
		for _, d := range th.Regs {
			if d.Init == litmus.Loc(name) {
				return true
			}
		}
		for j := range th.Body {
			if th.Body[j].Addr.Loc == name || slices.Contains(th.Body[j].Src, litmus.Loc(name)) {
				return true
			}
		}
	}
	return false
}

// modifiers lists what can be weakened or omitted in one instruction. A finding in a weaker
// program says more: semantics go down to none, scopes become narrower, and cache operators,
// state spaces and offsets are dropped.
func modifiers(in *litmus.Instr) []step {
	var list []step
	id, text := in.Pos.Line, in.String()
	add := func(what string, f func(in *litmus.Instr) bool) {
		list = append(list, onInstr("modifiers", what+" "+text, id, f))
	}
	for _, s := range weaker(in) {
		add("."+s.String(), func(in *litmus.Instr) bool { return setSem(in, s) })
	}
	for s := litmus.ScopeCTA; s < in.Scope; s++ {
		if s != litmus.ScopeCluster {
			add("."+s.String(), func(in *litmus.Instr) bool { in.Scope = s; return true })
		}
	}
	if in.Cache != litmus.CacheNone {
		add("no ."+in.Cache.String(), func(in *litmus.Instr) bool { in.Cache = litmus.CacheNone; return true })
		list[len(list)-1].cache = true
	}
	if in.Space != litmus.Generic {
		add("no ."+in.Space.String(), func(in *litmus.Instr) bool { in.Space = litmus.Generic; return true })
	}
	if in.Addr.Offset != 0 {
		add("no offset", func(in *litmus.Instr) bool { in.Addr.Offset = 0; return true })
	}
	for k, o := range in.Src {
		if o.Kind == litmus.OperandConst && o.Value != 0 && o.Value != 1 {
			list = append(list, onInstr("values", fmt.Sprintf("1 for %d in %s", o.Value, text), id, func(in *litmus.Instr) bool {
				in.Src[k].Value = 1
				return true
			}))
		}
	}
	return list
}

// jointSteps weaken all instructions of a kind at once: two loads merge only if both are weak
// and have the same cache operator, so neither can be simplified alone.
func jointSteps(t *litmus.Test) []step {
	each := func(t *litmus.Test, f func(in *litmus.Instr)) {
		for i := range t.Threads {
			for j := range t.Threads[i].Body {
				f(&t.Threads[i].Body[j])
			}
		}
	}
	var list []step
	var sems []litmus.Sem
	each(t, func(in *litmus.Instr) {
		if in.IsAccess() && in.Sem != litmus.SemNone && !slices.Contains(sems, in.Sem) {
			sems = append(sems, in.Sem)
		}
	})
	for _, s := range sems {
		list = append(list, step{part: "modifiers", name: "no ." + s.String() + " anywhere", apply: func(t *litmus.Test) bool {
			each(t, func(in *litmus.Instr) {
				if in.IsAccess() && in.Sem == s {
					setSem(in, litmus.SemNone)
				}
			})
			return true
		}})
	}
	list = append(list, step{part: "modifiers", name: "no cache operators", cache: true, apply: func(t *litmus.Test) bool {
		each(t, func(in *litmus.Instr) { in.Cache = litmus.CacheNone })
		return true
	}})
	for s := litmus.ScopeCTA; s < litmus.ScopeSys; s++ {
		if s == litmus.ScopeCluster {
			continue
		}
		list = append(list, step{part: "modifiers", name: "scopes no wider than ." + s.String(), apply: func(t *litmus.Test) bool {
			each(t, func(in *litmus.Instr) { in.Scope = min(in.Scope, s) })
			return true
		}})
	}
	return list
}

// weaker lists the semantics below that of an instruction.
func weaker(in *litmus.Instr) []litmus.Sem {
	switch in.Sem {
	case litmus.SemWeak, litmus.SemVolatile, litmus.SemRelaxed:
		return []litmus.Sem{litmus.SemNone}
	case litmus.SemMMIO, litmus.SemAcquire, litmus.SemRelease:
		if in.Op == litmus.OpFence {
			return nil
		}
		return []litmus.Sem{litmus.SemNone, litmus.SemRelaxed}
	case litmus.SemAcqRel:
		if in.Op == litmus.OpFence {
			return []litmus.Sem{litmus.SemAcquire, litmus.SemRelease}
		}
		return []litmus.Sem{litmus.SemNone, litmus.SemRelaxed, litmus.SemAcquire, litmus.SemRelease}
	case litmus.SemSC:
		return []litmus.Sem{litmus.SemAcqRel}
	}
	return nil
}

func setSem(in *litmus.Instr, s litmus.Sem) bool {
	in.Sem = s
	if s == litmus.SemNone {
		in.Scope = litmus.ScopeNone
	}
	return true
}

// plainType returns the simplest type of 32 bits that an operation has.
func plainType(in *litmus.Instr) litmus.Type {
	switch in.Op {
	case litmus.OpAnd, litmus.OpOr, litmus.OpXor, litmus.OpNot, litmus.OpShl:
		return litmus.B32
	case litmus.OpAtom, litmus.OpRed:
		switch in.Atom {
		case litmus.AtomAdd, litmus.AtomInc, litmus.AtomDec, litmus.AtomMin, litmus.AtomMax:
			return litmus.U32
		}
		return litmus.B32
	}
	return litmus.S32
}

// typeSteps give the data registers of a thread the type s32, one register at a
// time, with the instructions that use it; and instructions without registers
// for data on their own.
func typeSteps(th *litmus.Thread) []step {
	var list []step
	thread := th.Pos.Line
	for _, d := range th.Regs {
		if d.Type == litmus.Pred || d.Type == litmus.TypeNone || d.Type == litmus.S32 || d.Init.Kind == litmus.OperandLoc {
			continue
		}
		name := d.Name
		list = append(list, step{part: "types", name: th.Name + ":" + name + " as s32",
			apply: func(t *litmus.Test) bool { return retype(t, thread, name) }})
	}
	for j := range th.Body {
		in := &th.Body[j]
		if want := plainType(in); in.Type != litmus.TypeNone && in.Type != litmus.Pred && in.Type != want {
			list = append(list, onInstr("types", "."+want.String()+" for "+in.String(), in.Pos.Line, func(in *litmus.Instr) bool {
				in.Type = plainType(in)
				return true
			}))
		}
	}
	return list
}

func retype(t *litmus.Test, thread int, reg string) bool {
	i := slices.IndexFunc(t.Threads, func(th litmus.Thread) bool { return th.Pos.Line == thread })
	if i < 0 {
		return false
	}
	th := &t.Threads[i]
	d := th.Decl(reg)
	if d == nil || d.Type == litmus.S32 {
		return false
	}
	d.Type = litmus.S32
	for j := range th.Body {
		in := &th.Body[j]
		data := in.Dst == reg || slices.Contains(in.Src, litmus.Reg(reg))
		if data && in.Type != litmus.TypeNone && in.Type != litmus.Pred {
			in.Type = plainType(in)
		}
	}
	return true
}

// placeSteps simplify the placement: one grid on one GPU, then every thread in
// a CTA of its own.
func placeSteps(t *litmus.Test) []step {
	if len(t.Threads) == 0 {
		return nil
	}
	return []step{
		{part: "placement", name: "each thread in a CTA of its own", apply: func(t *litmus.Test) bool {
			for i := range t.Threads {
				t.Threads[i].Place, t.Threads[i].Placed = litmus.Place{Cluster: i}, true
			}
			return true
		}},
		{part: "placement", name: "one grid on one GPU", apply: func(t *litmus.Test) bool {
			seen := map[[3]int]int{}
			for i := range t.Threads {
				p := &t.Threads[i].Place
				k := [3]int{p.GPU, p.Grid, p.Cluster}
				if _, ok := seen[k]; !ok {
					seen[k] = len(seen)
				}
				p.GPU, p.Grid, p.Cluster = 0, 0, seen[k]
			}
			return true
		}},
	}
}
