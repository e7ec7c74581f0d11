package refine

import (
	"cmp"
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

// forced is a program whose comparisons at some sites have the given outcomes, whatever they compare.
func forced(p *ir.Program, outcomes map[site]bool) *ir.Program {
	q := *p
	zero := ir.Reg(q.Regs)
	q.Regs += 2
	q.Consts = append(slices.Clone(p.Consts), ir.Const{Reg: zero}, ir.Const{Reg: zero + 1, Value: 1})
	q.Insts = slices.Clone(p.Insts)
	for s, is := range outcomes {
		in := &q.Insts[s.inst]
		in.Pre, in.Post = slices.Clone(in.Pre), slices.Clone(in.Post)
		o := s.of(&q)
		*o = ir.Op{Code: ir.Mov, Type: ir.Pred, To: ir.Pred, Dst: o.Dst, Src: [4]ir.Reg{zero + ir.Reg(bit(is)), ir.None, ir.None, ir.None}}
	}
	return &q
}
