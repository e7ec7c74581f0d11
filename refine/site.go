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

// forced is a program whose comparisons at some sites have the given outcomes, whatever they compare. Those of loops have them iterations times, and
// then the opposite ones; 0: for ever.
func forced(p *ir.Program, outcomes map[site]bool, iterations uint64) *ir.Program {
	q := *p
	zero := ir.Reg(q.Regs)
	q.Regs += 3
	q.Consts = append(slices.Clone(p.Consts), ir.Const{Reg: zero}, ir.Const{Reg: zero + 1, Value: 1}, ir.Const{Reg: zero + 2, Value: iterations})
	q.Insts = slices.Clone(p.Insts)
	op := func(c ir.Code, t, to ir.Type, cond ir.Cond, dst, a, b ir.Reg) ir.Op {
		return ir.Op{Code: c, Type: t, To: to, Cond: cond, Dst: dst, Src: [4]ir.Reg{a, b, ir.None, ir.None}}
	}
	for _, s := range slices.SortedFunc(maps.Keys(outcomes), func(a, b site) int { return b.compare(a) }) { // the last ones first
		in := &q.Insts[s.inst]
		list := &in.Pre
		if s.post {
			list = &in.Post
		}
		dst, is := (*list)[s.op].Dst, outcomes[s]
		*list = slices.Clone(*list)
		if iterations == 0 || !again(p, s.inst) {
			(*list)[s.op] = op(ir.Mov, ir.Pred, ir.Pred, 0, dst, zero+ir.Reg(bit(is)), ir.None)
			continue
		}
		count := ir.Reg(q.Regs)
		q.Regs++
		q.Consts = append(q.Consts, ir.Const{Reg: count}) // it begins with 0
		cond := ir.GT
		if is {
			cond = ir.LE
		}
		(*list)[s.op] = op(ir.Cmp, ir.U64, ir.Pred, cond, dst, count, zero+2)
		*list = slices.Insert(*list, s.op, op(ir.Add, ir.U64, ir.U64, 0, count, count, zero+1))
	}
	return &q
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
