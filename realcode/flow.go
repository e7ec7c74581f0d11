package realcode

import (
	"encoding/binary"
	"fmt"
	"slices"

	"optcheck/internal/limits"
)

// step is an instruction of either language, as far as control flow, conditions
// and the order of letters go.
type step struct {
	// next is where control goes if the instruction is executed; several where that
	// is not known. end stands for the end of the thread, and nothing follows a trap.
	next []int32
	// guard, if not -1, is the condition under which it is executed; cond that
	// under which a jump is taken: else control goes on behind it.
	guard, cond       int32
	guardNeg, condNeg bool
	defs, uses        []int32 // conditions
	sets              []assign
	call              []int32 // where a call may go
	ret               bool
	letter            int32 // what is compared, -1 if it is nothing
}

// end is the end of the thread.
const end = int32(-1)

// conds numbers the conditions of machine code by their names.
type conds map[string]int32

func (c conds) id(name string) int32 {
	id, ok := c[name]
	if !ok {
		id = int32(len(c))
		c[name] = id
	}
	return id
}

// assign is what an instruction is known to do to a condition: it becomes a
// constant, another condition, or one of unknown value that all of its kind share.
type assign struct {
	dst, src int32  // src -1: constant
	neg      bool   // of src; the constant itself
	fork     bool   // src may not be known: both cases are looked at
	with     string // OR, AND: dst is src with something unknown, and is known if src alone decides
}

// graph is a program with the knowledge of conditions unrolled into it, reduced to
// letters and branches. Node 0 is the start; control ends in node 1.
type graph struct {
	letter []int32
	of     []int32 // steps
	next   [][]int32
	back   [][]int32 // made when it is needed, like loops: the nodes in a loop
	loops  []bool
}

// maxDepth bounds nested calls.
const maxDepth = 12

type knownKey struct {
	at    int32
	stack int32
	facts string
}

// unroller makes a graph of a program.
type unroller struct {
	steps  []step
	live   []conditions // of which it matters what is known, by step
	track  conditions
	max    int
	ids    map[knownKey]int32
	visits []int        // nodes of each step
	work   [][]knownKey // to be expanded: the first nodes of their steps, the second ones …
	g      *graph
	stacks map[[2]int32]int32 // (stack, return address) → stack
	parent [][2]int32
	depth  []int
}

// conditions is a set of conditions; a nil one has none.
type conditions []uint64

func (s conditions) has(c int32) bool { return int(c/64) < len(s) && s[c/64]>>(c%64)&1 != 0 }

func (s conditions) add(c int32) { s[c/64] |= 1 << (c % 64) }

func newConditions(n int) conditions { return make(conditions, (n+63)/64) }

// everyCondition is the set of the first n.
func everyCondition(n int) conditions {
	s := newConditions(n)
	for i := range s {
		s[i] = ^uint64(0)
	}
	return s
}

// unroll gives the graph of a program, with what is known of the conditions in track. That
// may take more nodes than max, which is an error: then the graph is a part of it, with all steps
// to which there are ways, and paths that end as at a trap.
func unroll(steps []step, entry int32, conds int, track conditions, max int) (*graph, error) {
	u := &unroller{steps: steps, track: track, max: max, ids: map[knownKey]int32{}, g: &graph{}, visits: make([]int, len(steps)), stacks: map[[2]int32]int32{},
		parent: [][2]int32{{}}, depth: []int{0}}
	if track != nil {
		u.live = liveness(steps, conds)
	}
	u.node(-1, -1) // the start
	u.node(-1, -1) // the end
	first, err := u.at(entry, 0, nil)
	if err != nil {
		return nil, err
	}
	u.g.next[0] = []int32{first}
	for k, ok := u.pop(); ok && err == nil; k, ok = u.pop() {
		err = u.expand(k, u.ids[k])
	}
	return u.g.reduced(), err
}

// pop takes what is to be expanded next: of the steps with the fewest nodes.
func (u *unroller) pop() (k knownKey, ok bool) {
	i := slices.IndexFunc(u.work, func(w []knownKey) bool { return len(w) > 0 })
	if i < 0 {
		return k, false
	}
	last := len(u.work[i]) - 1
	k, u.work[i] = u.work[i][last], u.work[i][:last]
	return k, true
}

func (u *unroller) node(letter, of int32) int32 {
	u.g.letter = append(u.g.letter, letter)
	u.g.of = append(u.g.of, of)
	u.g.next = append(u.g.next, nil)
	return int32(len(u.g.next) - 1)
}

// facts are conditions with their values: condition<<1 | value, sorted.
type facts []int32

func (f facts) get(c int32) (v, ok bool) {
	i, found := slices.BinarySearch(f, c<<1)
	if found {
		return false, true
	}
	return true, i < len(f) && f[i] == c<<1|1
}

func (f facts) without(c int32) facts {
	i, _ := slices.BinarySearch(f, c<<1)
	if i < len(f) && f[i]>>1 == c {
		return slices.Delete(slices.Clone(f), i, i+1)
	}
	return f
}

func (f facts) with(c int32, v bool) facts {
	f = f.without(c)
	x := c << 1
	if v {
		x |= 1
	}
	i, _ := slices.BinarySearch(f, x)
	return slices.Insert(slices.Clone(f), i, x)
}

func (u *unroller) key(at, stack int32, f facts) knownKey {
	var b []byte
	if u.track != nil {
		live := u.live[at]
		for _, x := range f {
			if c := x >> 1; live.has(c) && u.track.has(c) {
				b = binary.AppendUvarint(b, uint64(x))
			}
		}
	}
	return knownKey{at, stack, string(b)}
}

// at is the node before a step, with what is known.
func (u *unroller) at(at, stack int32, f facts) (int32, error) {
	if at == end || int(at) >= len(u.steps) {
		return 1, nil
	}
	k := u.key(at, stack, f)
	if n, ok := u.ids[k]; ok {
		return n, nil
	}
	if len(u.g.next) > u.max {
		return 0, fmt.Errorf("more than %d places in the program, with what is known of conditions", u.max)
	}
	n := u.node(-1, at)
	u.ids[k] = n
	if u.visits[at]++; u.visits[at] > len(u.work) {
		u.work = append(u.work, nil)
	}
	u.work[u.visits[at]-1] = append(u.work[u.visits[at]-1], k)
	return n, nil
}

func decode(s string) (f facts) {
	for b := []byte(s); len(b) > 0; {
		x, n := binary.Uvarint(b)
		f, b = append(f, int32(x)), b[n:]
	}
	return f
}

// cases runs over both values of a condition, or the one that it is known to have.
func cases(f facts, c int32, do func(v bool, f facts) error) error {
	if v, ok := f.get(c); ok {
		return do(v, f)
	}
	if err := do(true, f.with(c, true)); err != nil {
		return err
	}
	return do(false, f.with(c, false))
}

// expand adds what follows a node.
func (u *unroller) expand(k knownKey, n int32) error {
	s := &u.steps[k.at]
	run := func(executed bool, f facts) error {
		if !executed {
			to, err := u.at(k.at+1, k.stack, f)
			u.link(n, to)
			return err
		}
		from := n
		if s.letter >= 0 {
			from = u.node(s.letter, k.at)
			u.link(n, from)
		}
		return u.execute(s, k, from, f)
	}
	if s.guard < 0 {
		return run(true, decode(k.facts))
	}
	return cases(decode(k.facts), s.guard, func(v bool, f facts) error { return run(v != s.guardNeg, f) })
}

func (u *unroller) link(from, to int32) {
	if !slices.Contains(u.g.next[from], to) {
		u.g.next[from] = append(u.g.next[from], to)
	}
}

// execute follows an instruction that is executed.
func (u *unroller) execute(s *step, k knownKey, from int32, f facts) error {
	if s.cond >= 0 {
		return cases(f, s.cond, func(v bool, f facts) error {
			to := []int32{k.at + 1}
			if v != s.condNeg {
				to = s.next
			}
			return u.goTo(s, k, from, to, f)
		})
	}
	var vals []assign
	for _, d := range s.sets {
		if d.src < 0 {
			vals = append(vals, assign{dst: d.dst, src: -1, neg: d.neg})
		} else if v, ok := f.get(d.src); ok {
			if v = v != d.neg; d.with == "" || v == (d.with == "OR") {
				vals = append(vals, assign{dst: d.dst, src: -1, neg: v})
			}
		} else if d.fork && u.track.has(d.src) && u.live[min(int(k.at)+1, len(u.live)-1)].has(d.src) {
			return cases(f, d.src, func(_ bool, f facts) error { return u.execute(s, k, from, f) })
		}
	}
	for _, d := range s.defs {
		f = f.without(d)
	}
	for _, v := range vals {
		f = f.with(v.dst, v.neg)
	}
	return u.goTo(s, k, from, s.next, f)
}

func (u *unroller) goTo(s *step, k knownKey, from int32, to []int32, f facts) error {
	stack := k.stack
	switch {
	case len(s.call) > 0:
		if u.depth[stack] >= maxDepth {
			return fmt.Errorf("calls are nested more than %d deep: is there recursion?", maxDepth)
		}
		key := [2]int32{stack, k.at + 1}
		inner, ok := u.stacks[key]
		if !ok {
			inner = int32(len(u.parent))
			u.stacks[key] = inner
			u.parent, u.depth = append(u.parent, key), append(u.depth, u.depth[stack]+1)
		}
		stack, to = inner, s.call
	case s.ret && stack != 0:
		up := u.parent[stack]
		stack, to = up[0], []int32{up[1]}
	case s.ret:
		to = []int32{end}
	}
	for _, t := range to {
		n, err := u.at(t, stack, f)
		if err != nil {
			return err
		}
		u.link(from, n)
	}
	return nil
}

// followers says which steps may follow one: behind a return all that stand behind a call.
func followers(steps []step) func(i int) []int32 {
	var sites []int32
	for i := range steps {
		if len(steps[i].call) > 0 {
			sites = append(sites, int32(i)+1)
		}
	}
	return func(i int) []int32 {
		s := &steps[i]
		to := s.next
		switch {
		case len(s.call) > 0:
			to = s.call
		case s.ret:
			to = sites
		}
		if s.guard >= 0 || s.cond >= 0 {
			to = append(slices.Clone(to), int32(i)+1)
		}
		return to
	}
}

// liveness says at which steps the value of a condition still matters. Calls and
// returns are followed without their pairing.
func liveness(steps []step, conds int) []conditions {
	words := (conds + 63) / 64
	live := make([]conditions, len(steps))
	backing := make([]uint64, words*len(steps))
	for i := range steps {
		live[i] = backing[i*words : (i+1)*words]
	}
	after := followers(steps)
	before := make([][]int32, len(steps))
	for i := range steps {
		for _, to := range after(i) {
			if to >= 0 && int(to) < len(steps) {
				before[to] = append(before[to], int32(i))
			}
		}
	}
	work := make([]int32, len(steps))
	for i := range work {
		work[i] = int32(i)
	}
	in := make([]bool, len(steps))
	out := make(conditions, words)
	for len(work) > 0 {
		i := work[len(work)-1]
		work = work[:len(work)-1]
		in[i] = false
		s := &steps[i]
		clear(out)
		for _, t := range after(int(i)) {
			if t >= 0 && int(t) < len(steps) {
				for w := range out {
					out[w] |= live[t][w]
				}
			}
		}
		if s.guard < 0 {
			for _, d := range s.defs {
				out[d/64] &^= 1 << (d % 64)
			}
		}
		use := func(c int32) {
			if c >= 0 {
				out.add(c)
			}
		}
		use(s.guard)
		use(s.cond)
		for _, c := range s.uses {
			use(c)
		}
		if !slices.Equal(out, live[i]) {
			copy(live[i], out)
			for _, p := range before[i] {
				if !in[p] {
					in[p] = true
					work = append(work, p)
				}
			}
		}
	}
	return live
}

// reduced leaves out nodes that neither have a letter nor branch.
func (g *graph) reduced() *graph {
	n := len(g.next)
	to := make([]int32, n)
	for i := range to {
		to[i] = -1
	}
	skip := func(x int32) int32 { // the first node from x on that stays
		var path []int32
		for to[x] < 0 && x > 1 && g.letter[x] < 0 && len(g.next[x]) == 1 {
			to[x] = x // ends walks in circles
			path = append(path, x)
			x = g.next[x][0]
		}
		if to[x] >= 0 {
			x = to[x]
		}
		for _, p := range path {
			to[p] = x
		}
		return x
	}
	out := &graph{}
	ids := make([]int32, n)
	for i := range ids {
		ids[i] = -1
	}
	var order []int32
	id := func(x int32) int32 {
		x = skip(x)
		if ids[x] < 0 {
			ids[x] = int32(len(order))
			order = append(order, x)
		}
		return ids[x]
	}
	id(0)
	id(1)
	for i := 0; i < len(order); i++ {
		x := order[i]
		out.letter, out.of = append(out.letter, g.letter[x]), append(out.of, g.of[x])
		var next []int32
		for _, y := range g.next[x] {
			if y = id(y); !slices.Contains(next, y) {
				next = append(next, y)
			}
		}
		out.next = append(out.next, next)
	}
	return out
}

// maxNodes bounds a graph. Of a program without what is known of conditions it has up to two a step.
func maxNodes() int { return 5 * limits.Now().Edges / 2 }

// following lists the steps that may follow one in its function.
func following(steps []step, i int32) (out []int32) {
	s := &steps[i]
	for _, t := range append(slices.Clone(s.next), i+1) {
		if t >= 0 && int(t) < len(steps) && !slices.Contains(out, t) && (t != i+1 || s.guard >= 0 || s.cond >= 0 || slices.Contains(s.next, t)) {
			out = append(out, t)
		}
	}
	return out
}
