package optcheck

// dominators returns the immediate dominator of each node of a graph: the last node before it on every path from the
// root. It is -1 for the root and for unreachable nodes. Lengauer and Tarjan, A Fast Algorithm for Finding Dominators
// in a Flowgraph, TOPLAS 1979, the simple version: n log n.
func dominators(n, root int, succs, preds func(int) []int) []int {
	t := &domTree{succs: succs, number: make([]int, n), parent: make([]int, n), ancestor: make([]int, n), best: make([]int, n),
		semi: make([]int, n)}
	idom := make([]int, n)
	for i := range n {
		t.number[i], t.ancestor[i], t.best[i], t.semi[i], idom[i] = -1, -1, i, i, -1
	}
	t.search(root)
	waiting := make([][]int, n) // by semidominator, nodes whose dominator is not settled
	for i := len(t.vertex) - 1; i > 0; i-- {
		w := t.vertex[i]
		p := t.parent[w]
		for _, v := range preds(w) {
			if t.number[v] < 0 {
				continue
			}
			if s := t.semi[t.eval(v)]; t.number[s] < t.number[t.semi[w]] {
				t.semi[w] = s
			}
		}
		waiting[t.semi[w]] = append(waiting[t.semi[w]], w)
		t.ancestor[w] = p
		for _, v := range waiting[p] {
			if u := t.eval(v); t.semi[u] != t.semi[v] {
				idom[v] = u
			} else {
				idom[v] = p
			}
		}
		waiting[p] = nil
	}
	for _, w := range t.vertex[1:] {
		if idom[w] != t.semi[w] {
			idom[w] = idom[idom[w]]
		}
	}
	return idom
}

// domTree is the depth-first tree of a graph, and the forest of the nodes processed so far.
type domTree struct {
	succs    func(int) []int
	number   []int // by node: its number in preorder, -1 if not reached
	vertex   []int // by number
	parent   []int
	ancestor []int // in the forest, compressed
	best     []int // on the compressed path: node with the smallest semidominator
	semi     []int
	path     []int
}

func (t *domTree) search(root int) {
	type step struct{ node, next int }
	visit := func(v int) step {
		t.number[v] = len(t.vertex)
		t.vertex = append(t.vertex, v)
		return step{v, 0}
	}
	t.parent[root] = -1
	todo := []step{visit(root)}
	for len(todo) > 0 {
		top := &todo[len(todo)-1]
		list := t.succs(top.node)
		if top.next == len(list) {
			todo = todo[:len(todo)-1]
			continue
		}
		s := list[top.next]
		top.next++
		if t.number[s] < 0 {
			t.parent[s] = top.node
			todo = append(todo, visit(s))
		}
	}
}

// eval returns the node with the smallest semidominator on the path from v to the root of its tree in the forest,
// excluding the root.
func (t *domTree) eval(v int) int {
	if t.ancestor[v] < 0 {
		return v
	}
	t.path = t.path[:0]
	for x := v; t.ancestor[t.ancestor[x]] >= 0; x = t.ancestor[x] {
		t.path = append(t.path, x)
	}
	for i := len(t.path) - 1; i >= 0; i-- {
		x := t.path[i]
		a := t.ancestor[x]
		if t.number[t.semi[t.best[a]]] < t.number[t.semi[t.best[x]]] {
			t.best[x] = t.best[a]
		}
		t.ancestor[x] = t.ancestor[a]
	}
	return t.best[v]
}
