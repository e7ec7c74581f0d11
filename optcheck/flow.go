package optcheck

import "optcheck/isa"

// flow is the control flow of a function as the symbolic walk needs it.
type flow struct {
	blocks  []isa.Block
	order   []int   // reachable blocks in reverse postorder
	pos     []int   // block → place in order, -1 if unreachable
	control [][]int // block → branching blocks on which it is control dependent
	carried [][]int // loop head → registers that the loop writes
	inLoop  []bool  // block → part of a loop
	loops   bool
}

func newFlow(fn *isa.Func) *flow {
	f := &flow{blocks: fn.Blocks}
	n := len(f.blocks)
	f.pos = make([]int, n)
	f.control = make([][]int, n)
	f.carried = make([][]int, n)
	f.inLoop = make([]bool, n)
	for i := range f.pos {
		f.pos[i] = -1
	}
	if n == 0 {
		return f
	}
	seen := make([]bool, n)
	var post []int
	var visit func(int)
	visit = func(b int) {
		seen[b] = true
		// Later successors first, so that reverse postorder follows the text.
		for i := len(f.blocks[b].Succs) - 1; i >= 0; i-- {
			if s := f.blocks[b].Succs[i]; !seen[s] {
				visit(s)
			}
		}
		post = append(post, b)
	}
	visit(0)
	for i := len(post) - 1; i >= 0; i-- {
		f.pos[post[i]] = len(f.order)
		f.order = append(f.order, post[i])
	}
	if len(f.order) > 1 {
		f.findControl(fn)
		f.findLoops(fn)
	}
	return f
}

// isLoopHead reports whether the edge from → head closes a loop.
func (f *flow) isLoopHead(head, from int) bool {
	return f.pos[head] >= 0 && f.pos[head] <= f.pos[from]
}

// findControl computes control dependence: b depends on the branch that ends a
// if one way out of a always leads to b and another need not.
func (f *flow) findControl(fn *isa.Func) {
	for _, a := range f.order {
		last := &fn.Insts[f.blocks[a].End-1]
		conditional := last.Guard.Reg.Class != isa.ClassNone || len(f.blocks[a].Succs) > 1
		if last.Flow == isa.FlowNext || !conditional {
			continue
		}
		for _, b := range f.order {
			if b != a && f.avoidable(fn, a, b) && f.leads(fn, a, b) >= 0 {
				f.control[b] = append(f.control[b], a)
			}
		}
	}
}

// leads returns the successor of a from which b cannot be avoided, -1 if there
// is none.
func (f *flow) leads(fn *isa.Func, a, b int) int {
	for _, s := range f.blocks[a].Succs {
		if s == b || f.reaches(s, b) && !f.avoidable(fn, s, b) {
			return s
		}
	}
	return -1
}

// taken reports whether b runs if the branch that ends a is taken, rather than
// if it is not.
func (f *flow) taken(fn *isa.Func, a, b int) bool {
	s := f.leads(fn, a, b)
	return s >= 0 && f.blocks[s].First != f.blocks[a].End
}

func (f *flow) reaches(a, b int) bool {
	seen := make([]bool, len(f.blocks))
	var dfs func(int) bool
	dfs = func(x int) bool {
		for _, s := range f.blocks[x].Succs {
			if s == b {
				return true
			}
			if !seen[s] {
				seen[s] = true
				if dfs(s) {
					return true
				}
			}
		}
		return false
	}
	return dfs(a)
}

// avoidable reports whether the function can end on a path from a that misses b.
func (f *flow) avoidable(fn *isa.Func, a, b int) bool {
	seen := make([]bool, len(f.blocks))
	var dfs func(int) bool
	dfs = func(x int) bool {
		if x == b || seen[x] {
			return false
		}
		seen[x] = true
		if f.exits(fn, x) {
			return true
		}
		for _, s := range f.blocks[x].Succs {
			if dfs(s) {
				return true
			}
		}
		return false
	}
	return dfs(a)
}

// exits reports whether control may leave the function at the end of a block.
func (f *flow) exits(fn *isa.Func, x int) bool {
	if len(f.blocks[x].Succs) == 0 {
		return true
	}
	last := &fn.Insts[f.blocks[x].End-1]
	return (last.Flow == isa.FlowExit || last.Flow == isa.FlowReturn) && !last.Guard.Never
}

// findLoops lists for each loop head the registers that the loop writes: what
// they hold on entry to an iteration is not known.
func (f *flow) findLoops(fn *isa.Func) {
	for _, from := range f.order {
		for _, head := range f.blocks[from].Succs {
			if !f.isLoopHead(head, from) {
				continue
			}
			f.loops = true
			written := map[int]bool{}
			for _, b := range f.natural(head, from) {
				f.inLoop[b] = true
				blk := f.blocks[b]
				for i := blk.First; i < blk.End; i++ {
					for _, d := range fn.Insts[i].Defs {
						if r := regIndex(d); r >= 0 {
							written[r] = true
						}
					}
				}
			}
			for r := 0; r < regCountAMD; r++ {
				if written[r] {
					f.carried[head] = append(f.carried[head], r)
				}
			}
		}
	}
}

// leadsTo reports whether control may come from block a to block x without
// passing b or d.
func (f *flow) leadsTo(a, x, b, d int) bool {
	seen := make([]bool, len(f.blocks))
	seen[b], seen[d] = true, true
	todo := []int{a}
	for len(todo) > 0 {
		y := todo[len(todo)-1]
		todo = todo[:len(todo)-1]
		if seen[y] {
			continue
		}
		if y == x {
			return true
		}
		seen[y] = true
		todo = append(todo, f.blocks[y].Succs...)
	}
	return false
}

// dominates reports whether every path to b passes d.
func (f *flow) dominates(d, b int) bool { return d == 0 || !f.leadsTo(0, b, d, d) }

// natural returns the blocks of the loop that the edge from → head closes:
// those from which from is reached without passing head.
func (f *flow) natural(head, from int) []int {
	in := map[int]bool{head: true}
	out := []int{head}
	todo := []int{from}
	for len(todo) > 0 {
		b := todo[len(todo)-1]
		todo = todo[:len(todo)-1]
		if in[b] || f.pos[b] < 0 {
			continue
		}
		in[b] = true
		out = append(out, b)
		todo = append(todo, f.blocks[b].Preds...)
	}
	return out
}
