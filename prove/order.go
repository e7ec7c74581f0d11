package prove

import "optcheck/ir"

// after lists where control may go from an instruction, as far as its text says.
func after(p *ir.Program, pc int32) []int32 {
	f, ok := p.Insts[pc].Do.(*ir.Flow)
	if !ok {
		return []int32{pc + 1}
	}
	switch f.Kind {
	case ir.Jump, ir.Call, ir.JumpAny, ir.JumpTogether, ir.JumpApart, ir.WarpSyncAt:
		return []int32{pc + 1, f.Target}
	case ir.Indirect:
		return append([]int32{pc + 1}, f.Targets...)
	}
	return []int32{pc + 1}
}

// order numbers the instructions so that those of a loop come before what is behind it (a weak topological order: Bourdoncle, 1993).
// States that meet are thus merged, and a loop is left when all its iterations are over.
type order struct {
	p     *ir.Program
	dfn   []int32
	num   int32
	stack []int32
	out   []int32 // instructions, the last one first
}

// ranks are the places of instructions in the order.
func ranks(p *ir.Program) []int32 {
	o := &order{p: p, dfn: make([]int32, len(p.Insts))}
	if len(p.Insts) > 0 {
		o.visit(0)
	}
	rank := make([]int32, len(p.Insts))
	for i, pc := range o.out {
		rank[pc] = int32(len(o.out) - i)
	}
	return rank
}

const finished = 1 << 30

func (o *order) visit(v int32) int32 {
	o.stack = append(o.stack, v)
	o.num++
	o.dfn[v] = o.num
	head, loop := o.dfn[v], false
	for _, w := range after(o.p, v) {
		if int(w) >= len(o.dfn) {
			continue
		}
		least := o.dfn[w]
		if least == 0 {
			least = o.visit(w)
		}
		if least <= head {
			head, loop = least, true
		}
	}
	if head != o.dfn[v] {
		return head
	}
	o.dfn[v] = finished
	top := o.pop()
	if loop {
		for top != v {
			o.dfn[top] = 0
			top = o.pop()
		}
		o.component(v)
	}
	o.out = append(o.out, v)
	return head
}

func (o *order) pop() int32 {
	top := o.stack[len(o.stack)-1]
	o.stack = o.stack[:len(o.stack)-1]
	return top
}

// component orders what is in the loop of a head.
func (o *order) component(v int32) {
	for _, w := range after(o.p, v) {
		if int(w) < len(o.dfn) && o.dfn[w] == 0 {
			o.visit(w)
		}
	}
}
