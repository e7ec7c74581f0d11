package prove

import "optcheck/ir"

// order numbers the instructions so that those of a loop come before what is behind it (a weak topological order: Bourdoncle, 1993).
// States that meet are thus merged, and a loop is left when all its iterations are over.
type order struct {
	p     *ir.Program
	dfn   []int32
	num   int32
	stack []int32
	out   []int32         // instructions, the last one first
	first map[int32]int32 // of the head of a loop: where its instructions begin in out
}

// ranking are the places of instructions in an order, and its loops.
type ranking struct {
	p    *ir.Program
	rank []int32
	last map[int32]int32 // of the head of a loop: the rank of its last instruction
	once map[int32]bool  // of the heads that were asked for: see leavesOnce
}

func ranks(p *ir.Program) *ranking {
	o := &order{p: p, dfn: make([]int32, len(p.Insts)), first: map[int32]int32{}}
	for pc := range p.Insts { // what nothing leads to, too: its text may not say all
		if o.dfn[pc] == 0 {
			o.visit(int32(pc))
		}
	}
	r := &ranking{p: p, rank: make([]int32, len(p.Insts)), last: map[int32]int32{}, once: map[int32]bool{}}
	n := int32(len(o.out))
	for i, pc := range o.out {
		r.rank[pc] = n - int32(i)
	}
	for head, i := range o.first {
		r.last[head] = n - i
	}
	return r
}

// in reports whether an instruction is one of the loop of a head.
func (r *ranking) in(pc, head int32) bool {
	return int(pc) < len(r.rank) && r.rank[pc] >= r.rank[head] && r.rank[pc] <= r.last[head]
}

// leavesOnce reports whether the only way out of a loop is one edge.
func (r *ranking) leavesOnce(head int32) bool {
	once, known := r.once[head]
	if !known {
		once = r.edgesOut(head) == 1
		r.once[head] = once
	}
	return once
}

// edgesOut counts the edges out of a loop, at most to 2: an instruction that leaves the code, or a function, is no single one.
func (r *ranking) edgesOut(head int32) (edges int) {
	for pc := range r.rank {
		if !r.in(int32(pc), head) {
			continue
		}
		if f, ok := r.p.Insts[pc].Do.(*ir.Flow); ok && (f.Kind == ir.Exit || f.Kind == ir.Trap || f.Kind == ir.Return || f.Kind == ir.Call) {
			return 2
		}
		for _, to := range r.p.After(int32(pc)) {
			if !r.in(to, head) {
				edges++
			}
		}
	}
	return edges
}

const finished = 1 << 30

func (o *order) visit(v int32) int32 {
	o.stack = append(o.stack, v)
	o.num++
	o.dfn[v] = o.num
	head, loop := o.dfn[v], false
	for _, w := range o.p.After(v) {
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
		o.first[v] = int32(len(o.out))
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
	for _, w := range o.p.After(v) {
		if int(w) < len(o.dfn) && o.dfn[w] == 0 {
			o.visit(w)
		}
	}
}
