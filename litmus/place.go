package litmus

// The levels of the execution hierarchy, as indices of a path.
const (
	levelGPU = iota
	levelGrid
	levelCluster
	levelCTA
	levelWarp
	levelThread
	levels
)

// levelOf returns the level of a word of a scope tree. It accepts the words of CUDA, OpenCL and
// the 2015 tool.
func levelOf(s string) int {
	switch s {
	case "device", "gpu", "agent":
		return levelGPU
	case "kernel", "grid":
		return levelGrid
	case "cluster":
		return levelCluster
	case "cta", "block", "work_group", "wg":
		return levelCTA
	case "warp", "sub_group", "wavefront":
		return levelWarp
	case "thread":
		return levelThread
	case "sys", "system":
		return -2
	}
	return -1
}

// treeState numbers the nodes of a scope tree.
type treeState struct {
	fresh int
}

// scopeTree reads ScopeTree(grid(cta(warp T0) (warp T1))) or (device (kernel (cta (warp P0))
// (cta (warp P1)))) or several such trees. Omitted levels: a grid and a GPU are shared by
// everything below their parent, the others are separate for each child.
func (p *parser) scopeTree() bool {
	if p.tok.kind == tWord {
		p.next()
	}
	p.placed = true
	st := &treeState{}
	var path [levels]int
	if p.tok.kind != '(' {
		return p.errorf(p.pos(), "expected (, found %s", p.found())
	}
	for p.accept('(') {
		if p.tok.kind == tWord && levelOf(p.tok.text) == -2 { // (system (gpu …) …)
			p.next()
			for p.accept('(') {
				if !p.treeNode(st, -1, path) {
					return false
				}
			}
			if !p.expect(')', "( or ) in the scope tree") {
				return false
			}
			continue
		}
		if !p.treeNode(st, -1, path) {
			return false
		}
	}
	return true
}

// treeNode reads NAME child… ) below a node of level parent.
func (p *parser) treeNode(st *treeState, parent int, path [levels]int) bool {
	if p.tok.kind != tWord || levelOf(p.tok.text) < 0 {
		return p.errorf(p.pos(), "expected a level such as grid, cta or warp, found %s", p.found())
	}
	level := levelOf(p.tok.text)
	if level <= parent {
		return p.errorf(p.pos(), "%s cannot stand below its parent in the scope tree", p.tok.text)
	}
	st.descend(&path, parent, level)
	st.fresh++
	path[level] = st.fresh
	p.next()
	for {
		switch p.tok.kind {
		case '(':
			p.next()
			if !p.treeNode(st, level, path) {
				return false
			}
		case tWord, tNum:
			if !p.treeThread(st, level, path) {
				return false
			}
		case ',':
			p.next()
		default:
			return p.expect(')', "a thread, ( or ) in the scope tree")
		}
	}
}

// descend numbers the omitted levels between parent and level.
func (st *treeState) descend(path *[levels]int, parent, level int) {
	for l := parent + 1; l < level; l++ {
		path[l] = 0
		if l >= levelCluster {
			st.fresh++
			path[l] = st.fresh
		}
	}
}

func (p *parser) treeThread(st *treeState, level int, path [levels]int) bool {
	pos := p.pos()
	i, ok := p.threadRef()
	if !ok {
		return false
	}
	if i >= len(p.t.Threads) {
		return p.errorf(pos, "the test has no thread %d", i)
	}
	th := &p.t.Threads[i]
	if th.Placed {
		return p.errorf(pos, "thread %s appears twice in the scope tree", th.Name)
	}
	st.descend(&path, level, levelThread)
	th.Placed = true
	th.Place = Place{path[levelGPU], path[levelGrid], path[levelCluster], path[levelCTA], path[levelWarp]}
	return true
}

func (p Place) path() [5]int { return [5]int{p.GPU, p.Grid, p.Cluster, p.CTA, p.Warp} }

// sharedLevels returns how many levels, from the top, two places share.
func sharedLevels(a, b [5]int) int {
	n := 0
	for n < len(a) && a[n] == b[n] {
		n++
	}
	return n
}

// canonicalPlaces renumbers the places of the threads so that at each level numbers count from
// 0 in the order of the threads. Which threads share which levels does not change.
func canonicalPlaces(threads []Thread) {
	var old [MaxThreads][5]int
	for i := range threads {
		if i == MaxThreads {
			return
		}
		old[i] = threads[i].Place.path()
	}
	for i := range threads {
		if !threads[i].Placed {
			continue
		}
		var path [5]int
		for l := range path {
			next, found := 0, false
			for j := range i {
				if !threads[j].Placed {
					continue
				}
				q := threads[j].Place.path()
				switch n := sharedLevels(old[i], old[j]); {
				case n > l:
					path[l], found = q[l], true
				case n == l:
					next = max(next, q[l]+1)
				}
			}
			if !found {
				path[l] = next
			}
		}
		threads[i].Place = Place{path[0], path[1], path[2], path[3], path[4]}
	}
}

// nextWarp returns the first warp number that no placed thread of the CTA has.
func nextWarp(threads []Thread, at Place) int {
	n := 0
	for i := range threads {
		if threads[i].Placed && threads[i].Place.SameScope(at, ScopeCTA) {
			n = max(n, threads[i].Place.Warp+1)
		}
	}
	return n
}

// clustered reports whether some cluster holds more than one CTA, judging by the numbers that
// Parse assigns: a CTA that is alone is number 0.
func (t *Test) clustered() bool {
	for i := range t.Threads {
		if t.Threads[i].Place.CTA != 0 {
			return true
		}
	}
	return false
}
