package realcode

import (
	"slices"

	"optcheck/internal/flowgraph"
	"optcheck/ptx"
)

// live finds the values that matter in the end: those that something with an effect reads, and those that they are made
// of, through registers, parameters and calls.
type live struct {
	*source
	exits map[*ptx.Func][]int32    // where a function returns
	sites map[*ptx.Func][]callSite // where it is called
	// together are the operations that lanes of a warp perform together.
	together []callSite
	needed   map[written]bool // what is needed of what a step writes
	asked    map[needKey]bool // by those who read it
	work     []written
}

// callSite is a call, or another instruction, of a function.
type callSite struct {
	f  *ptx.Func
	at int32
}

// written is a register or parameter that a step writes.
type written struct {
	f    *ptx.Func
	at   int32
	cell int
	want extent
}

type needKey struct {
	f    *ptx.Func
	at   int32
	cell int
	want extent
}

// findDead tells of each operation whether nobody needs what it returns, and which of its registers.
func (s *source) findDead() {
	l := &live{source: s, exits: map[*ptx.Func][]int32{}, sites: map[*ptx.Func][]callSite{}, needed: map[written]bool{},
		asked: map[needKey]bool{}}
	for f, base := range s.entries {
		l.exits[f] = append(l.exits[f], int32(len(f.Body)))
		for i := range f.Body {
			in := f.Body[i].Inst
			if in == nil {
				continue
			}
			if in.Effect().Kind == ptx.Convergent {
				l.together = append(l.together, callSite{f, int32(i)})
			}
			if s.steps[base+int32(i)].ret {
				l.exits[f] = append(l.exits[f], int32(i))
			}
			if in.Name == "call" {
				for _, g := range s.callees(f, in) {
					l.sites[g] = append(l.sites[g], callSite{f, int32(i)})
				}
			}
		}
	}
	for f := range s.entries {
		for i := range f.Body {
			if in := f.Body[i].Inst; in != nil && !s.possible.Plain(in.N) {
				l.root(f, int32(i), in)
			}
		}
	}
	for len(l.work) > 0 {
		w := l.work[len(l.work)-1]
		l.work = l.work[:len(l.work)-1]
		l.made(w)
	}
	for _, op := range s.ops {
		op.Dead = true
		for _, r := range defined(op.Inst) {
			if l.needed[written{op.Func, op.at, r, one}] {
				op.Dead = false
				op.needs = append(op.needs, r)
			}
		}
	}
}

// root needs what an instruction reads that has an effect. Another load is left out if nobody needs its value, and so is
// what makes its address.
func (l *live) root(f *ptx.Func, at int32, in *ptx.Inst) {
	e := in.Effect()
	_, target, args := callOperands(in)
	_, _, stores := paramAt(in, "st")
	switch {
	case in.Name == "call" && len(l.callees(f, in)) > 0: // what is passed is needed if the function needs it
		l.reads(f, at, in.Guard)
		if target.Kind == ptx.Reg {
			l.reads(f, at, target.Reg)
		}
	case in.Name == "call":
		for _, r := range used(in) {
			l.reads(f, at, r)
		}
		for i := range args {
			l.names(f, at, &args[i])
		}
	case stores:
		l.reads(f, at, in.Guard)
	case in.Name == "bra" && in.Guard >= 0 && (l.goesOn(f, at) || l.reach[f].free[l.reach[f].block[at]]):
		return
	case e.Kind == ptx.Convergent && l.alone(f, at): // what it exchanges is needed if somebody needs the result
		if n := len(in.Args); in.Has("sync") && n > 0 && in.Args[n-1].Kind == ptx.Reg {
			l.reads(f, at, in.Args[n-1].Reg)
		}
	case e.Kind != ptx.None && e.Kind != ptx.Load, in.Name == "bra", in.Name == "brx", in.Guard >= 0 && len(defined(in)) == 0,
		e.Kind == ptx.Load && (e.Sem == "volatile" || e.Sem == "mmio"), in.Has("cc"): // a carry is no register
		for _, r := range used(in) {
			l.reads(f, at, r)
		}
		if e.Kind == ptx.Matrix { // a sum goes on from what was there
			for _, r := range defined(in) {
				l.reads(f, at, r)
			}
		}
	}
	if e.Kind != ptx.None && (e.Kind != ptx.Load || !e.Weak()) || in.Name == "exit" || in.Name == "trap" ||
		in.Guard >= 0 && len(defined(in)) == 0 {
		l.block(f, l.reach[f].block[at])
	}
	if _, _, loads := paramAt(in, "ld"); !loads && !stores && in.Name != "call" { // its address is taken: who reads it is not known
		for i := range in.Args {
			l.names(f, at, &in.Args[i])
		}
	}
}

// alone reports whether no lane performs an operation of a warp together with another instruction: of each other one that may be meant, one comes
// before the other on every path.
func (l *live) alone(f *ptx.Func, at int32) bool {
	if !f.Entry || f.Body[at].Inst.Guard >= 0 {
		return false
	}
	if len(l.together) > mostTogether {
		return false
	}
	r := l.reach[f]
	ordered := func(a, b int32) bool { return flowgraph.Dominates(r.above, a, b) || flowgraph.Dominates(r.above, b, a) }
	for _, o := range l.together {
		in := o.f.Body[o.at].Inst
		if in.Name != f.Body[at].Inst.Name || o.f.Entry && o.f != f {
			continue
		}
		if o.f != f || in.Guard >= 0 || !ordered(r.block[at], r.block[o.at]) {
			return false
		}
	}
	return true
}

// mostTogether is how many operations of warps a program may have for alone to compare them with each other.
const mostTogether = 512

// block needs what decides that a block is come to.
func (l *live) block(f *ptx.Func, b int32) {
	r := l.reach[f]
	key := needKey{f, b, -1, whole}
	if l.asked[key] {
		return
	}
	l.asked[key] = true
	for _, d := range r.deciding[b] {
		last := int32(len(f.Body))
		if int(d)+1 < len(r.first) {
			last = r.first[d+1]
		}
		for i := last - 1; i >= r.first[d]; i-- {
			if in := f.Body[i].Inst; in != nil {
				l.reads(f, i, in.Guard)
				break
			}
		}
		l.block(f, d)
	}
}

// goesOn reports whether a jump goes to where control comes without it.
func (l *live) goesOn(f *ptx.Func, at int32) bool {
	base := l.entries[f]
	behind := func(i int32) int32 {
		for int(i) < len(f.Body) && f.Body[i].Inst == nil {
			i++
		}
		return i
	}
	to := l.source.steps[base+at].next
	return len(to) == 1 && behind(to[0]-base) == behind(at+1)
}

// names needs all of a parameter that an operand names.
func (l *live) names(f *ptx.Func, at int32, o *ptx.Operand) {
	if o.Kind == ptx.Sym {
		if c, ok := l.reach[f].names[o.Name]; ok {
			l.need(f, at, c, whole)
		}
	}
	for i := range o.Elems {
		l.names(f, at, &o.Elems[i])
	}
}

// reads needs a register, if it is one.
func (l *live) reads(f *ptx.Func, at int32, reg int) {
	if reg >= 0 {
		l.need(f, at, reg, one)
	}
}

// need needs what a step reads: what may have written it.
func (l *live) need(f *ptx.Func, at int32, cell int, want extent) {
	key := needKey{f, at, cell, want}
	if l.reach[f].tired() { // then it is the same everywhere
		key.at = entry
	}
	if l.asked[key] {
		return
	}
	l.asked[key] = true
	for _, d := range l.reach[f].defs(at, cell, want) {
		w := written{f, d, cell, want}
		if d != entry && cell < len(f.Regs) {
			w.want = one
		}
		if !l.needed[w] {
			l.needed[w] = true
			l.work = append(l.work, w)
		}
	}
}

// made needs what makes a value.
func (l *live) made(w written) {
	if w.at == entry {
		l.passed(w)
		return
	}
	in := w.f.Body[w.at].Inst
	l.block(w.f, l.reach[w.f].block[w.at])
	if in.Name == "call" {
		rets, _, _ := callOperands(in)
		for i := range rets {
			if rets[i].Kind == ptx.Sym && l.reach[w.f].names[rets[i].Name] == w.cell || rets[i].Kind == ptx.Reg && rets[i].Reg == w.cell {
				l.returned(w, in, i)
			}
		}
		return
	}
	if len(defined(in)) == 1 && l.possible.Constant(in.N) { // whatever it is made of
		l.reads(w.f, w.at, in.Guard)
		return
	}
	for _, r := range used(in) {
		l.need(w.f, w.at, r, one)
	}
	if name, at, ok := paramAt(in, "ld"); ok {
		l.need(w.f, w.at, l.reach[w.f].name(name), at)
	}
}

// passed needs what the callers of a function pass for a parameter.
func (l *live) passed(w written) {
	k := l.reach[w.f].parameter(w.f.Params, w.cell)
	if k < 0 {
		return
	}
	for _, c := range l.sites[w.f] {
		_, _, args := callOperands(c.f.Body[c.at].Inst)
		if k >= len(args) {
			continue
		}
		switch a := &args[k]; a.Kind {
		case ptx.Sym:
			l.need(c.f, c.at, l.reach[c.f].name(a.Name), w.want)
		case ptx.Reg:
			l.need(c.f, c.at, a.Reg, one)
		}
	}
}

// returned needs what functions return at a call.
func (l *live) returned(w written, in *ptx.Inst, k int) {
	for _, g := range l.callees(w.f, in) {
		if k >= len(g.Returns) {
			continue
		}
		cell, want := l.reach[g].cell(g.Returns[k]), w.want
		if cell < len(g.Regs) {
			want = one
		}
		for _, at := range l.exits[g] {
			l.need(g, at, cell, want)
		}
	}
}

// parameter is the number of the parameter that has a cell, -1 if none has.
func (r *reach) parameter(list []ptx.Var, cell int) int {
	return slices.IndexFunc(list, func(v ptx.Var) bool { return r.cell(v) == cell })
}

// cell is the cell of a parameter.
func (r *reach) cell(v ptx.Var) int {
	if v.Space == "reg" {
		return slices.IndexFunc(r.f.Regs, func(x ptx.Register) bool { return x.Name == v.Name })
	}
	return r.name(v.Name)
}
