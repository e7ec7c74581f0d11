package optcheck

import (
	"optcheck/internal/flowgraph"
	"optcheck/internal/limits"
	"optcheck/isa"
)

// flow is the control flow of a function in the form that the symbolic walk needs.
type flow struct {
	blocks  []isa.Block
	order   []int        // reachable blocks in reverse postorder
	pos     []int        // block → place in order, -1 if unreachable
	idom    []int        // block → its immediate dominator, -1 if there is none
	control [][]decision // block → the branches on which it is control dependent
	carried [][]int      // loop head → registers that the loop writes
	inLoop  []bool       // block → part of a loop
	loops   bool
	steps   int // steps left of limits.Steps
	marks   []int
	round   int
}

// decision is a branch that a block depends on: the block runs if the branch at the end of block at is taken, or if
// it is not.
type decision struct {
	at    int32
	taken bool
}

// newFlow analyses a function. Steps that may cost more than n log n draw on the budget limits.Steps; exhausting it
// is an error.
func newFlow(fn *isa.Func) (*flow, error) {
	n, lim := len(fn.Blocks), limits.Now()
	if err := limits.Check("blocks", n, lim.Blocks); err != nil {
		return nil, err
	}
	f := &flow{blocks: fn.Blocks, pos: make([]int, n), control: make([][]decision, n), carried: make([][]int, n),
		inLoop: make([]bool, n), marks: make([]int, n+1), steps: lim.Steps}
	edges := 0
	for i := range f.pos {
		f.pos[i] = -1
		edges += len(f.blocks[i].Succs)
	}
	if err := limits.Check("edges", edges, lim.Edges); err != nil || n == 0 {
		return f, err
	}
	next, before := func(b int) []int { return f.blocks[b].Succs }, func(b int) []int { return f.blocks[b].Preds }
	f.order = flowgraph.Order(n, []int{0}, next)
	for i, b := range f.order {
		f.pos[b] = i
	}
	if len(f.order) > 1 {
		f.idom = flowgraph.Dominators(n, []int{0}, next, before)
		later := flowgraph.Postdominators(n, next, before, func(b int) bool { return f.pos[b] >= 0 && f.exits(fn, b) })
		f.findControl(fn, later)
		f.findLoops(fn)
	}
	return f, f.over()
}

// over returns an error if the analysis has used up its budget.
func (f *flow) over() error {
	if f.steps >= 0 {
		return nil
	}
	return &limits.Error{Name: "steps", At: int64(limits.Now().Steps)}
}

// isLoopHead reports whether the edge from → head closes a loop.
func (f *flow) isLoopHead(head, from int) bool {
	return f.pos[head] >= 0 && f.pos[head] <= f.pos[from]
}

// dominator returns the last block on every path to a and on every path to b, which control reaches.
func (f *flow) dominator(a, b int) int {
	for a != b {
		if f.pos[a] > f.pos[b] {
			a = f.idom[a]
		} else {
			b = f.idom[b]
		}
		f.steps--
	}
	return a
}

// findControl computes control dependence: b depends on the branch that ends a if one way out of a always leads to b
// and another need not. For a successor s of a, the dependent blocks are s and its postdominators up to the
// postdominator of a (Ferrante, Ottenstein, Warren, The Program Dependence Graph, TOPLAS 1987, Sec. 3.1); and, if s
// cannot reach an end, whatever s reaches.
func (f *flow) findControl(fn *isa.Func, later []int) {
	ends := func(b int) bool { return later[b] >= 0 }
	for _, a := range f.order {
		last := &fn.Insts[f.blocks[a].End-1]
		conditional := last.Guard.Reg.Class != isa.ClassNone || len(f.blocks[a].Succs) > 1
		if last.Flow == isa.FlowNext || !conditional || !ends(a) {
			continue
		}
		f.round++
		for _, s := range f.blocks[a].Succs {
			d := decision{int32(a), f.blocks[s].First != f.blocks[a].End}
			if !ends(s) {
				f.decideAll(s, d)
				continue
			}
			for b := s; b != later[a]; b = later[b] {
				f.decide(b, d)
			}
		}
		if f.steps < 0 {
			return
		}
	}
}

// decide records that b depends on a branch. It returns false if it adds nothing.
func (f *flow) decide(b int, d decision) bool {
	f.steps--
	if b == int(d.at) || f.marks[b] == f.round {
		return false
	}
	f.marks[b] = f.round
	f.control[b] = append(f.control[b], d)
	return true
}

// decideAll records that everything reachable from b, which cannot reach an end, depends on a branch.
func (f *flow) decideAll(b int, d decision) {
	todo := []int{b}
	for len(todo) > 0 {
		b := todo[len(todo)-1]
		todo = todo[:len(todo)-1]
		if f.decide(b, d) {
			todo = append(todo, f.blocks[b].Succs...)
		}
	}
}

// exits reports whether control may leave the function at the end of a block.
func (f *flow) exits(fn *isa.Func, x int) bool {
	if len(f.blocks[x].Succs) == 0 {
		return true
	}
	last := &fn.Insts[f.blocks[x].End-1]
	return (last.Flow == isa.FlowExit || last.Flow == isa.FlowReturn) && !last.Guard.Never
}

// findLoops lists for each loop head the registers that the loop writes: their content on entry to an iteration is
// unknown.
func (f *flow) findLoops(fn *isa.Func) {
	writes := make([]registers, len(f.blocks))
	for _, b := range f.order {
		for i := f.blocks[b].First; i < f.blocks[b].End; i++ {
			for _, d := range fn.Insts[i].Defs {
				writes[b].add(regIndex(d))
			}
		}
	}
	for _, head := range f.order {
		var from []int
		for _, p := range f.blocks[head].Preds {
			if f.pos[p] >= 0 && f.isLoopHead(head, p) {
				from = append(from, p)
			}
		}
		if len(from) == 0 {
			continue
		}
		f.loops = true
		var written registers
		f.before(from, head, head, func(b int) {
			f.inLoop[b] = true
			written.join(writes[b])
		})
		f.inLoop[head] = true
		written.join(writes[head])
		f.carried[head] = written.list()
		f.steps -= len(f.carried[head])
		if f.steps < 0 {
			return
		}
	}
}

// before calls do for each block from which control can reach one of blocks, including these, without passing b or d.
// It stops when the budget is used up.
func (f *flow) before(blocks []int, b, d int, do func(int)) {
	f.round++
	f.marks[b], f.marks[d] = f.round, f.round
	todo := append([]int(nil), blocks...)
	for len(todo) > 0 && f.steps >= 0 {
		x := todo[len(todo)-1]
		todo = todo[:len(todo)-1]
		if f.marks[x] == f.round || f.pos[x] < 0 {
			continue
		}
		f.marks[x] = f.round
		f.steps -= 1 + len(f.blocks[x].Preds)
		do(x)
		todo = append(todo, f.blocks[x].Preds...)
	}
}

// ways returns which of the two ways out of d lead to p, and then to b, without passing b or d again.
func (f *flow) ways(d, p, b int) (out [2]bool) {
	if p == d {
		for i, s := range f.blocks[d].Succs {
			out[i] = s == b
		}
		return out
	}
	f.before([]int{p}, b, d, func(x int) {
		for i, s := range f.blocks[d].Succs {
			out[i] = out[i] || s == x
		}
	})
	return out
}
