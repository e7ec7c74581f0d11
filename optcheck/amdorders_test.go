package optcheck

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"optcheck/isa"
	"optcheck/litmus"
	"optcheck/spec"
)

// TestAMDOrders: where no access is waited for, those are told to be unordered that a release, an acquire, a sequentially consistent or a
// volatile access orders, or the scalar unit reorders; of those an acquire orders, the first one.
func TestAMDOrders(t *testing.T) {
	told := 0
	for seed := range uint64(3000) {
		rnd := rand.New(rand.NewPCG(seed, 7))
		a, err := archOf([]string{"gfx900", "gfx1030", "gfx942"}[rnd.IntN(3)])
		require.NoError(t, err)
		c := &amdCheck{m: a.(*amd).model, told: map[[2]int]bool{}, w: &waits{}}
		n := 2 + rnd.IntN(4)
		tr := &trace{pool: newValuePool(), fn: &isa.Func{Insts: make([]isa.Inst, n)}}
		c.w.tr, c.w.model = tr, c.m
		c.pass = &pass{tr: tr, s: &spec.Spec{Locations: 2}, r: &Result{}, owner: make([][]int, n)}
		open := []openCounter{{counter: isa.CountVM}}
		for i := range n {
			e := spec.Entry{Pos: i, Loc: rnd.IntN(2), Kind: spec.Kind{Op: anyOf(rnd, []litmus.Op{litmus.OpLd, litmus.OpSt, litmus.OpAtom}),
				Width: 4,
				Space: anyOf(rnd, []litmus.Space{litmus.Global, litmus.Global, litmus.Shared}), Scope: litmus.ScopeSys,
				Sem: anyOf(rnd, []litmus.Sem{litmus.SemNone, litmus.SemRelaxed, litmus.SemAcquire, litmus.SemRelease, litmus.SemAcqRel, litmus.SemSC,
					litmus.SemVolatile})}}
			x := event{inst: i, read: -1, role: map[litmus.Op]isa.Role{litmus.OpLd: isa.RoleLoad, litmus.OpSt: isa.RoleStore,
				litmus.OpAtom: isa.RoleAtomic}[e.Kind.Op]}
			if x.mem.Space = isa.SpaceGlobal; e.Kind.Space == litmus.Shared {
				x.mem.Space = isa.SpaceShared
			}
			if e.Kind.Op == litmus.OpAtom {
				e.Kind.Atom = litmus.AtomAdd
			}
			if rnd.IntN(8) == 0 {
				e.Kind = spec.Kind{Op: litmus.OpFence, Sem: litmus.SemAcqRel}
				x.role = isa.RoleFence
			} else if x.role == isa.RoleLoad && x.mem.Space == isa.SpaceGlobal && rnd.IntN(4) == 0 {
				x.mem.Scalar = true
			}
			c.s.Entries = append(c.s.Entries, e)
			tr.events, c.match = append(tr.events, x), append(c.match, i)
			before := []pending{}
			for k := range i {
				before = append(before, pending{inst: k, open: open})
			}
			c.w.before = append(c.w.before, before)
		}
		if rnd.IntN(4) == 0 { // two of them stand the other way round
			i, j := rnd.IntN(n), rnd.IntN(n)
			c.match[i], c.match[j] = c.match[j], c.match[i]
			tr.events[i], tr.events[j] = tr.events[j], tr.events[i]
			tr.events[i].inst, tr.events[j].inst = i, j
		}
		want := ordered(c)
		for k, e := range c.s.Entries {
			if !e.IsFence() {
				c.synchronises(k, e)
			}
		}
		c.volatiles()
		c.sameLocation()
		text := fmt.Sprintf("seed %d of %+v at %v", seed, c.s.Entries, c.match)
		require.Equal(t, want, c.told, text)
		waits := slices.DeleteFunc(slices.Clone(c.r.Findings), func(f Finding) bool { return f.Rule != WaitMissing.ID })
		require.GreaterOrEqual(t, len(waits), len(want), text) // one pair may lack two orders
		told += len(want)
	}
	require.Greater(t, told, 2000)
}

// ordered is which accesses are to be complete when others begin, by definition.
func ordered(c *amdCheck) map[[2]int]bool {
	want := map[[2]int]bool{}
	es, sharedL1 := c.s.Entries, c.m.sharedL1
	has := func(k int, sems ...litmus.Sem) bool { return slices.Contains(sems, es[k].Kind.Sem) }
	at := func(k int) *event { return &c.tr.events[c.match[k]] }
	pair := func(i, j int, group bool) bool { // is i before j in the code, and not in order anyway?
		x, y := at(i), at(j)
		both, one := x.mem.Space == y.mem.Space && x.mem.Space == isa.SpaceShared, x.mem.Space != y.mem.Space || x.mem.Scalar || y.mem.Scalar
		return !es[i].IsFence() && !es[j].IsFence() && c.match[i] < c.match[j] && !both && (one || !(group && sharedL1))
	}
	for k, e := range es {
		group, sc := e.Kind.Space == litmus.Shared, has(k, litmus.SemSC)
		for i := range k {
			if has(k, litmus.SemRelease, litmus.SemAcqRel) || sc && (e.Writes() || has(i, litmus.SemSC)) {
				if !e.IsFence() && pair(i, k, group) {
					want[[2]int{i, k}] = true
				}
			}
		}
		for j := k + 1; j < len(es) && !e.IsFence(); j++ {
			if (has(k, litmus.SemAcquire, litmus.SemAcqRel) || sc && e.Reads()) && pair(k, j, group) {
				want[[2]int{k, j}] = true
				break
			}
		}
	}
	last := -1
	for k, e := range es {
		isVolatile := has(k, litmus.SemVolatile)
		if e.IsFence() || e.Kind.Space == litmus.Shared || !isVolatile && e.Kind.Op != litmus.OpAtom {
			continue
		}
		if last >= 0 && pair(last, k, false) {
			want[[2]int{last, k}] = true
		}
		if isVolatile {
			last = k
		}
	}
	for j := range es {
		for i := range j {
			if es[i].Loc == es[j].Loc && c.match[i] < c.match[j] && (at(i).mem.Scalar || at(j).mem.Scalar) {
				want[[2]int{i, j}] = true
			}
		}
	}
	return want
}

// TestAMDWaits: an operation is outstanding if on some path from where it is issued no wait completes it, whatever the control flow.
func TestAMDWaits(t *testing.T) {
	outstanding, not := 0, 0
	for range 10 {
		rapid.Check(t, func(t *rapid.T) {
			fn := anyFlow(t)
			counts := []isa.Counter{isa.CountVM, isa.CountLGKM, isa.CountExp}
			below := func(n int) int { return rapid.IntRange(0, n-1).Draw(t, "n") }
			for i := range fn.Insts {
				in := &fn.Insts[i]
				switch below(3) {
				case 0:
					in.Counts = []isa.Counter{counts[below(3)]}
					if in.Role = isa.RoleLoad; below(3) == 0 {
						in.Counts = []isa.Counter{isa.CountVM, isa.CountLGKM}
					}
					in.Mem.Space = rapid.SampledFrom([]isa.Space{isa.SpaceGlobal, isa.SpaceGlobal, isa.SpaceShared, isa.SpaceGeneric}).Draw(t, "space")
					in.Mem.Scalar = below(4) == 0
				case 1:
					in.Waits, in.Role = []isa.Wait{{Counter: counts[below(3)], N: below(3)}}, isa.RoleWait
				}
			}
			w := newWaits(&trace{pool: newValuePool(), fn: fn}, &amdModel{expWAR: below(2) == 0, flatInOrder: below(2) == 0})
			require.False(t, w.unfinished)
			for op := range fn.Insts {
				reached := mayReach(w, fn, op)
				for at := range fn.Insts {
					require.Equal(t, reached[at], w.outstanding(op, at), "%d at %d of %+v", op, at, fn.Insts)
					if reached[at] {
						outstanding++
					} else {
						not++
					}
				}
			}
		})
	}
	require.Greater(t, outstanding, 200)
	require.Greater(t, not, 1000)
}

// mayReach says at which instructions an operation may be outstanding: it follows all paths, and knows of each counter how many later
// operations confirm in its order.
func mayReach(w *waits, fn *isa.Func, op int) []bool {
	type state struct {
		at   int
		open string // of each of its counters that memory confirms, how many have been issued since
	}
	out := make([]bool, len(fn.Insts))
	in := &fn.Insts[op]
	begin := map[isa.Counter]int{}
	for _, c := range in.Counts {
		if w.completes(op, c) {
			begin[c] = 0
		}
	}
	seen := map[state]bool{}
	reachable := map[int]bool{0: true}
	for todo := []int{0}; len(todo) > 0; todo = todo[1:] {
		for _, s := range fn.Blocks[todo[0]].Succs {
			if !reachable[s] {
				reachable[s] = true
				todo = append(todo, s)
			}
		}
	}
	var from func(at int, open map[isa.Counter]int)
	from = func(at int, open map[isa.Counter]int) { // behind instruction at, which is a block
		for _, s := range fn.Blocks[at].Succs {
			k := state{s, fmt.Sprint(open)}
			if seen[k] || len(open) == 0 {
				continue
			}
			seen[k] = true
			out[s] = true
			next := map[isa.Counter]int{}
			x := &fn.Insts[s]
			for c, newer := range open {
				class := w.class(op, in, c)
				if slices.ContainsFunc(x.Waits, func(wt isa.Wait) bool {
					return wt.Counter == c && (wt.N == 0 || class != inAnyOrder && newer >= wt.N)
				}) {
					continue
				}
				if slices.Contains(x.Counts, c) && w.class(s, x, c) == class && class != inAnyOrder {
					newer = min(newer+1, 4)
				}
				next[c] = newer
			}
			if s != op { // where it is issued again, it is another one
				from(s, next)
			}
		}
	}
	if reachable[op] {
		from(op, begin)
	}
	return out
}

// TestAMDIntricate: where the control flow is too intricate to be followed to the end, what is waited for is not known.
func TestAMDIntricate(t *testing.T) {
	var body strings.Builder
	for i := range 140 { // each step is reached soon by many operations, and late by few
		fmt.Fprintf(&body, "s_cbranch_scc0 .LA%d\nglobal_load_dword v9, v0, s[0:1]\ns_branch .LC%d\n.LA%d:\ns_nop 0\n"+
			"s_cbranch_scc1 .LB%d\ns_nop 0\n.LB%d:\ns_nop 0\n.LC%d:\ns_nop 0\n", i, i, i, i, i, i)
	}
	fn := amdCode(t, "gfx900", fenced(litmus.OpLd, litmus.SemNone, memFence), "global_load_dword v8, v0, s[0:1]\n"+body.String())
	tr := &trace{pool: newValuePool(), fn: fn}
	a, err := archOf("gfx900")
	require.NoError(t, err)
	require.True(t, newWaits(tr, a.(*amd).model).unfinished)
}
