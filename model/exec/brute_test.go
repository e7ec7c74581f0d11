package exec

import (
	"context"
	"encoding/binary"
	"flag"
	"fmt"
	"maps"
	"math/rand/v2"
	"os"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"optcheck/litmus"
	"optcheck/model/cat"
	"optcheck/model/internal/gen"
	"optcheck/model/rel"
)

var seed = flag.Uint64("seed", 1, "seed of the random tests")

// builtin lists the models with the tests that suit them.
var builtin = []struct {
	name string
	c    gen.Config
}{
	{"sc", gen.Config{MinThreads: 2, MaxThreads: 3, MaxInstr: 3, MaxAccesses: 6, Locations: 2, Strong: true, Atomics: true, Fences: true, Barriers: true, Deps: true}},
	{"tso", gen.Config{MinThreads: 2, MaxThreads: 3, MaxInstr: 3, MaxAccesses: 6, Locations: 2, Strong: true, Atomics: true, Fences: true, Barriers: true, Deps: true}},
	{"ptx-2015", gen.Config{MinThreads: 2, MaxThreads: 3, MaxInstr: 4, MaxAccesses: 6, Locations: 2, Membar: true, Deps: true}},
	{"ptx-2015-rmw", gen.Config{MinThreads: 2, MaxThreads: 3, MaxInstr: 4, MaxAccesses: 6, Locations: 2, Atomics: true, Membar: true, Deps: true}},
	{"ptx-6.0", gen.Config{MinThreads: 2, MaxThreads: 3, MaxInstr: 4, MaxAccesses: 5, Locations: 2, Strong: true, Atomics: true, Fences: true, Barriers: true, Deps: true}},
	{"ptx-7.5", gen.Config{MinThreads: 2, MaxThreads: 3, MaxInstr: 4, MaxAccesses: 5, Locations: 2, Strong: true, Atomics: true, Fences: true, Barriers: true, Proxies: true, Deps: true}},
	{"ptx", gen.Config{MinThreads: 2, MaxThreads: 3, MaxInstr: 4, MaxAccesses: 5, Locations: 2, Strong: true, Atomics: true, Fences: true, Barriers: true, Proxies: true, Deps: true}},
	{"ptx-async", gen.Config{MinThreads: 2, MaxThreads: 3, MaxInstr: 3, MaxAccesses: 4, Locations: 1, Strong: true, Atomics: true, Fences: true, Deps: true, Sizes: true}},
	{"ptx-bytes", gen.Config{MinThreads: 2, MaxThreads: 3, MaxInstr: 3, MaxAccesses: 4, Locations: 1, Strong: true, Atomics: true, Fences: true, Deps: true, Sizes: true}},
	{"opencl", gen.Config{MinThreads: 2, MaxThreads: 3, MaxInstr: 3, MaxAccesses: 6, Locations: 2, Strong: true, Atomics: true, Fences: true, Barriers: true, Deps: true}},
}

func compileModel(t testing.TB, name string) (*cat.Program, CoMode) {
	t.Helper()
	f, err := cat.ReadFile("../models/"+name+".cat", os.DirFS("../models"), cat.Library())
	require.NoError(t, err)
	p, err := cat.Compile(context.Background(), f, Signature())
	require.NoError(t, err)
	if f.Header == "PTX" {
		return p, CoPartial
	}
	return p, CoTotal
}

// brute is the obvious enumerator: every write for every read, every
// coherence order, every Fence-SC order, each put before the interpreter.
type brute struct {
	t      testing.TB
	it     *cat.Interp
	co     CoMode
	p      *Program
	g      graph
	base   interp
	size   int
	limit  int
	sf     bool // the model looks at sync_fence
	states map[string]bool
	count  map[string]int // executions by state, total orders only
	once   bool           // executions that differ in sync_fence alone count as one
}

func (b *brute) run(list [][]*Path, used []bool, pick []*Path) {
	if len(pick) < len(list) {
		for _, path := range list[len(pick)] {
			if !path.Cut {
				b.run(list, used, append(slices.Clone(pick), path))
			}
		}
		return
	}
	b.g.load(b.p, pick, used)
	bars := []rel.Rel{nil}
	if b.g.bars {
		bars, _ = b.g.phasings()
	}
	for _, bar := range bars {
		b.g.bar = bar
		b.base.static(&b.g)
		b.readFrom(map[int]int{}, 0)
	}
}

func (b *brute) readFrom(src map[int]int, i int) {
	if b.size > b.limit {
		return
	}
	if i < len(b.g.reads) {
		r := int(b.g.reads[i])
		for e := range b.g.events {
			if b.g.events[e].Kind == Write && b.g.events[e].Loc == b.g.events[r].Loc {
				src[r] = e
				b.readFrom(src, i+1)
			}
		}
		return
	}
	vals, ok, circular := b.solve(src)
	if !ok {
		return
	}
	b.coherence(src, vals, circular, 0, rel.NewRel(b.g.n))
}

// solve computes the values of the reads by waiting for those they need.
func (b *brute) solve(src map[int]int) (vals map[int]int64, ok, circular bool) {
	vals = map[int]int64{}
	eval := func(t int, v value) (int64, bool) {
		var known uint64
		var local [maxThreadEvents]int64
		for e, k := range vals {
			if int(b.g.events[e].Thread) == t {
				known |= 1 << (e - int(b.g.start[t]))
				local[e-int(b.g.start[t])] = k
			}
		}
		return b.g.paths[t].eval(v, known, local[:], &evalBuf{})
	}
	for range len(src) + 1 {
		for r, w := range src {
			if t := int(b.g.events[w].Thread); t < 0 {
				vals[r] = b.g.events[w].val.k
			} else if k, known := eval(t, b.g.events[w].val); known {
				vals[r] = k
			}
		}
	}
	for t, path := range b.g.paths {
		for _, c := range path.conds {
			if k, known := eval(t, c.v); known && (k == c.want) != c.eq {
				return nil, false, false
			}
		}
	}
	return vals, true, len(vals) < len(src)
}

// coherence extends co by every order of the writes of location l and later
// ones.
func (b *brute) coherence(src map[int]int, vals map[int]int64, circular bool, l int, co rel.Rel) {
	if l == len(b.g.writes) {
		b.fenceOrder(src, vals, circular, 0, co, rel.NewRel(b.g.n))
		return
	}
	ws := b.g.writes[l]
	var pairs [][2]int
	for i, x := range ws {
		for _, y := range ws[i+1:] {
			pairs = append(pairs, [2]int{int(x), int(y)})
		}
	}
	var choose func(i int)
	choose = func(i int) {
		if b.size > b.limit {
			return
		}
		if i < len(pairs) {
			x, y := pairs[i][0], pairs[i][1]
			co.Add(x, y)
			choose(i + 1)
			co.Remove(x, y)
			if b.g.attrs[x]&aIW != 0 {
				return
			}
			co.Add(y, x)
			choose(i + 1)
			co.Remove(y, x)
			if b.co == CoPartial {
				choose(i + 1)
			}
			return
		}
		twice := rel.NewRel(b.g.n)
		rel.Seq(twice, co, co)
		if rel.Subset(twice, co) && rel.Irreflexive(co) {
			b.coherence(src, vals, circular, l+1, rel.Clone(co))
		}
	}
	choose(0)
}

func (b *brute) fenceOrder(src map[int]int, vals map[int]int64, circular bool, i int, co, sf rel.Rel) {
	var pairs [][2]int
	for x := range b.g.events {
		for y := x + 1; y < b.g.n; y++ {
			ex, ey := &b.g.events[x], &b.g.events[y]
			if b.g.attrs[x]&b.g.attrs[y]&aSC == 0 || b.g.attrs[x]&aF == 0 {
				continue
			}
			if ex.Thread == ey.Thread {
				sf.Add(x, y)
			} else if b.sf && b.base.rels["sr"].Has(x, y) {
				pairs = append(pairs, [2]int{x, y})
			}
		}
	}
	before := maps.Clone(b.count)
	for bitsOf := range 1 << len(pairs) {
		s := rel.Clone(sf)
		for k, p := range pairs {
			if bitsOf>>k&1 == 0 {
				s.Add(p[0], p[1])
			} else {
				s.Add(p[1], p[0])
			}
		}
		if rel.Acyclic(s) {
			b.candidate(src, vals, circular, co, s)
		}
	}
	for k := range b.count {
		if b.once {
			b.count[k] = min(b.count[k], before[k]+1)
		}
	}
}

func (b *brute) candidate(src map[int]int, vals map[int]int64, circular bool, co, sf rel.Rel) {
	if b.size++; b.size > b.limit {
		return
	}
	n := b.g.n
	rf, fr := rel.NewRel(n), rel.NewRel(n)
	for r, w := range src {
		rf.Add(w, r)
		for e := range n {
			if co.Has(w, e) {
				fr.Add(r, e)
			}
		}
	}
	ex := &cat.Execution{N: n, Sets: b.base.sets, Rels: b.base.rels}
	ex.Rels["rf"], ex.Rels["co"], ex.Rels["fr"], ex.Rels["sync_fence"] = rf, co, fr, sf
	ex.Sets["FW"] = rel.NewSet(n)
	res, err := b.it.Run(context.Background(), ex, cat.RunOptions{})
	require.NoError(b.t, err)
	if !res.Allowed {
		return
	}
	require.False(b.t, circular, "a model allows values out of thin air")
	b.finals(vals, co, 0, nil)
}

// finals goes through all choices of a last write per location.
func (b *brute) finals(vals map[int]int64, co rel.Rel, l int, last []int) {
	if l < len(b.g.writes) {
		if len(b.g.writes[l]) == 0 {
			b.finals(vals, co, l+1, append(slices.Clone(last), -1))
			return
		}
		for _, x := range b.g.writes[l] {
			if rel.IsEmpty(co.Row(int(x))) {
				b.finals(vals, co, l+1, append(slices.Clone(last), int(x)))
			}
		}
		return
	}
	eval := func(t int, v value) int64 {
		var local [maxThreadEvents]int64
		for e, k := range vals {
			if int(b.g.events[e].Thread) == t {
				local[e-int(b.g.start[t])] = k
			}
		}
		k, _ := b.g.paths[t].eval(v, ^uint64(0), local[:], &evalBuf{})
		return k
	}
	var state []int64
	for i, x := range b.p.Terms {
		k := b.p.termIdx[i]
		if x.Kind == litmus.TermReg {
			state = append(state, eval(x.Thread, b.g.paths[x.Thread].finals[k]))
			continue
		}
		l := &b.p.locs[k]
		whole, bytes := int64(0), [16]byte{}
		for c := l.first; c < l.first+l.n; c++ {
			whole = b.p.init(int(c))
			if last[c] >= 0 && b.g.events[last[c]].Thread >= 0 {
				ev := &b.g.events[last[c]]
				whole = eval(int(ev.Thread), ev.val)
			}
			for i := range b.p.cells[c].size {
				bytes[b.p.cells[c].off+i] = byte(whole >> (8 * i))
			}
		}
		if l.n > 1 {
			whole = int64(int32(binary.LittleEndian.Uint32(bytes[:])))
		}
		state = append(state, whole)
	}
	b.states[fmt.Sprint(state)] = true
	b.count[fmt.Sprint(state)]++
}

// count returns how many random tests per model are compared with brute force.
func count(t testing.TB, short int) int {
	if s := os.Getenv("OPTCHECK_MODEL_TESTS"); s != "" {
		n, err := strconv.Atoi(s)
		require.NoError(t, err)
		return n
	}
	if testing.Short() {
		return short / 10
	}
	return short
}

func TestAgainstBruteForce(t *testing.T) {
	for _, m := range builtin {
		t.Run(m.name, func(t *testing.T) {
			t.Parallel()
			prog, co := compileModel(t, m.name)
			e := NewEngine(prog, co)
			it, err := cat.NewInterp(prog)
			require.NoError(t, err)
			r := rand.New(rand.NewPCG(*seed, 7))
			done, states, n := 0, 0, count(t, 150)
			if m.c.Sizes {
				n /= 3 // they have more events
			}
			for done < n {
				test := gen.Test(r, m.c, "R")
				if k, ok := agree(t, e, it, co, test); ok {
					done++
					states += k
				}
			}
			t.Logf("%d tests, %d states", done, states)
		})
	}
}

// agree compares the engine with brute force on one test; false if the test
// is too large for brute force.
func agree(t testing.TB, e *Engine, it *cat.Interp, co CoMode, test *litmus.Test) (int, bool) {
	whole, err := Compile(test)
	require.NoError(t, err)
	p := whole
	if e.parts {
		p = whole.split()
	}
	list, _, err := p.paths(&Options{Unroll: 2}, &pathMem{}, false)
	require.NoError(t, err)
	used := make([]bool, len(p.cells))
	for _, paths := range list {
		for _, path := range paths {
			require.Empty(t, path.Fault)
			for _, ev := range path.Events {
				if ev.Loc >= 0 {
					used[ev.Loc] = true
				}
			}
		}
	}
	b := &brute{t: t, it: it, co: co, p: p, limit: 800, sf: e.sf >= 0, once: e.lazy != nil, states: map[string]bool{}, count: map[string]int{}}
	b.run(list, used, nil)
	if b.size > b.limit {
		return 0, false
	}
	eager := NewEngine(e.prog, co) // looks at every partial execution
	eager.deepFrom, eager.saturateFrom = 0, 0
	every := NewEngine(e.prog, co) // tries all partial orders
	every.eager.minimal = false
	if every.lazy != nil {
		every.lazy.minimal = false
	}
	for k, e := range []*Engine{e, e, eager, every} {
		only := k == 1
		res, err := e.Run(context.Background(), whole, Options{StatesOnly: only})
		require.NoError(t, err)
		require.Empty(t, res.Undecided)
		var got, want []string
		for _, s := range res.States {
			got = append(got, fmt.Sprint(s.Values))
			if co == CoTotal && !only {
				require.EqualValues(t, b.count[fmt.Sprint(s.Values)], s.Count, "executions of state %v of\n%s", s.Values, test)
			}
		}
		for s := range b.states {
			want = append(want, s)
		}
		slices.Sort(got)
		slices.Sort(want)
		require.Equal(t, strings.Join(want, "\n"), strings.Join(got, "\n"), "brute force and engine differ on\n%s", test)
	}
	return len(b.states), true
}
