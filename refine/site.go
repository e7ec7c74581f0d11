package refine

import (
	"cmp"
	"maps"
	"slices"

	"optcheck/ir"
)

// site is a place of an operation in a code: in an instruction, before its effect or behind it.
type site struct {
	inst int32
	post bool
	op   int
}

// of is the operation of a code there.
func (s site) of(p *ir.Program) *ir.Op {
	if s.post {
		return &p.Insts[s.inst].Post[s.op]
	}
	return &p.Insts[s.inst].Pre[s.op]
}

func (s site) compare(t site) int {
	return cmp.Or(cmp.Compare(s.inst, t.inst), cmp.Compare(bit(s.post), bit(t.post)), cmp.Compare(s.op, t.op))
}

// operations calls a function for what an instruction computes.
func operations(p *ir.Program, inst int32, do func(s site, o *ir.Op)) {
	for post, list := range [][]ir.Op{p.Insts[inst].Pre, p.Insts[inst].Post} {
		for k := range list {
			do(site{inst, post == 1, k}, &list[k])
		}
	}
}

// altered is a copy of a program that is changed.
type altered struct{ ir.Program }

func alter(p *ir.Program) *altered {
	q := &altered{*p}
	q.Consts, q.Insts = slices.Clone(p.Consts), slices.Clone(p.Insts)
	return q
}

// constant is a further register, with what it holds.
func (q *altered) constant(c ir.Const) ir.Reg {
	c.Reg = ir.Reg(q.Regs)
	q.Regs++
	q.Consts = append(q.Consts, c)
	return c.Reg
}

// own is an instruction whose operations are the copy's alone.
func (q *altered) own(i int32) *ir.Inst {
	in := &q.Insts[i]
	in.Pre, in.Post = slices.Clone(in.Pre), slices.Clone(in.Post)
	return in
}

// forced is a program whose comparisons at some sites have the given outcomes, whatever they compare: in all lanes, or, if lanes is not 0, in those.
// Those of loops have them so many iterations, and then the opposite ones; 0: for ever.
func forced(p *ir.Program, outcomes map[site]bool, how manner) *ir.Program {
	q := alter(p)
	one, most, lanes := q.constant(ir.Const{Value: 1}), q.constant(ir.Const{Value: how.iterations}), q.constant(ir.Const{Lanes: how.lanes})
	outcome := [2]ir.Reg{q.constant(ir.Const{}), one}
	for _, s := range slices.SortedFunc(maps.Keys(outcomes), func(a, b site) int { return b.compare(a) }) { // the last ones first
		in := q.own(s.inst)
		list := &in.Pre
		if s.post {
			list = &in.Post
		}
		o := &(*list)[s.op]
		dst, is := o.Dst, outcomes[s]
		var ops []ir.Op
		if how.lanes != 0 {
			o.Dst = q.constant(ir.Const{})
			ops = append(ops, *o)
		}
		if to := dst; how.iterations == 0 || !again(p, s.inst) {
			ops = append(ops, ir.Op{Code: ir.Mov, Type: ir.Pred, To: ir.Pred, Dst: to, Src: [4]ir.Reg{outcome[bit(is)], ir.None, ir.None, ir.None}})
		} else {
			count, cond := q.constant(ir.Const{}), ir.GT // it begins with 0
			if is {
				cond = ir.LE
			}
			ops = append(ops, ir.Op{Code: ir.Add, Type: ir.U64, To: ir.U64, Dst: count, Src: [4]ir.Reg{count, one, ir.None, ir.None}},
				ir.Op{Code: ir.Cmp, Type: ir.U64, To: ir.Pred, Cond: cond, Dst: to, Src: [4]ir.Reg{count, most, ir.None, ir.None}})
		}
		if how.lanes != 0 {
			ops = append(ops, ir.Op{Code: ir.Sel, Type: ir.Pred, To: ir.Pred, Dst: dst, Src: [4]ir.Reg{lanes, dst, o.Dst, ir.None}})
		}
		*list = slices.Replace(*list, s.op, s.op+1, ops...)
	}
	return &q.Program
}

// again reports whether control may come from an instruction back to it.
func again(p *ir.Program, at int32) bool {
	seen := map[int32]bool{}
	for todo := p.After(at); len(todo) > 0; {
		pc := todo[len(todo)-1]
		todo = todo[:len(todo)-1]
		switch {
		case pc == at:
			return true
		case int(pc) < len(p.Insts) && !seen[pc]:
			seen[pc] = true
			todo = append(todo, p.After(pc)...)
		}
	}
	return false
}
