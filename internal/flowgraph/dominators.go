package flowgraph

// Dominates reports whether a node is on every way to another one, or is it; up are the immediate dominators.
func Dominates[N Node](up []N, a, b N) bool {
	for b >= 0 && b != a {
		b = up[b]
	}
	return b == a
}

// Dominators returns the immediate dominator of each node: the last one before it on every way from the entries. It is -1 for
// an entry, for what has none, and for what cannot be reached. Lengauer and Tarjan, A Fast Algorithm for Finding Dominators
// in a Flowgraph, TOPLAS 1979, the simple version: n log n.
func Dominators[N Node](n int, entries []N, next, before func(N) []N) []N {
	root := N(n) // is before all entries
	t := &tree[N]{number: make([]N, n+1), parent: make([]N, n+1), ancestor: make([]N, n+1), best: make([]N, n+1), semi: make([]N, n+1)}
	up := make([]N, n+1)
	for i := N(0); i <= root; i++ {
		t.number[i], t.ancestor[i], t.best[i], t.semi[i], up[i] = -1, -1, i, i, -1
	}
	t.next = func(v N) []N {
		if v == root {
			return entries
		}
		return next(v)
	}
	t.search(root)
	entry := make([]bool, n)
	for _, e := range entries {
		entry[e] = true
	}
	waiting := make([][]N, n+1) // by semidominator, nodes whose dominator is not settled
	for i := len(t.vertex) - 1; i > 0; i-- {
		w := t.vertex[i]
		p := t.parent[w]
		if entry[w] {
			t.semi[w] = root
		}
		for _, v := range before(w) {
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
				up[v] = u
			} else {
				up[v] = p
			}
		}
		waiting[p] = nil
	}
	for _, w := range t.vertex[1:] {
		if up[w] != t.semi[w] {
			up[w] = up[up[w]]
		}
	}
	for i := range up {
		if up[i] == root {
			up[i] = -1
		}
	}
	return up[:n]
}

// tree is the depth-first tree of a graph, and the forest of the nodes processed so far.
type tree[N Node] struct {
	next     func(N) []N
	number   []N // by node: its number in preorder, -1 if not reached
	vertex   []N // by number
	parent   []N
	ancestor []N // in the forest, compressed
	best     []N // on the compressed path: node with the smallest semidominator
	semi     []N
	path     []N
}

func (t *tree[N]) search(root N) {
	type step struct {
		node N
		at   int
	}
	visit := func(v N) step {
		t.number[v] = N(len(t.vertex))
		t.vertex = append(t.vertex, v)
		return step{v, 0}
	}
	t.parent[root] = -1
	todo := []step{visit(root)}
	for len(todo) > 0 {
		top := &todo[len(todo)-1]
		list := t.next(top.node)
		if top.at == len(list) {
			todo = todo[:len(todo)-1]
			continue
		}
		s := list[top.at]
		top.at++
		if t.number[s] < 0 {
			t.parent[s] = top.node
			todo = append(todo, visit(s))
		}
	}
}

// eval returns the node with the smallest semidominator on the path from v to the root of its tree in the forest,
// excluding the root.
func (t *tree[N]) eval(v N) N {
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
