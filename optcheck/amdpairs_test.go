package optcheck

import (
	"fmt"
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/require"

	"optcheck/isa"
	"optcheck/litmus"
	"optcheck/spec"
)

// TestFencePairs: where nothing is waited for, a fence lacks for each access before it that it orders the first access behind it that it
// orders with that one.
func TestFencePairs(t *testing.T) {
	found := 0
	for seed := range uint64(2000) {
		rnd := rand.New(rand.NewPCG(seed, 9))
		a, err := archOf(anyOf(rnd, []string{"gfx900", "gfx1030"}))
		require.NoError(t, err)
		n, pos := 6, 2+rnd.IntN(2)
		tr := &trace{pool: newValuePool(), fn: &isa.Func{Insts: make([]isa.Inst, n)}}
		c := &amdCheck{m: a.(*amd).model, told: map[[2]int]bool{}, w: &waits{tr: tr}}
		c.pass = &pass{tr: tr, s: &spec.Spec{Locations: 2}, r: &Result{}, owner: make([][]int, n)}
		for i := range n {
			e := spec.Entry{Pos: i, Kind: spec.Kind{Op: anyOf(rnd, []litmus.Op{litmus.OpLd, litmus.OpSt, litmus.OpAtom}), Width: 4,
				Space: anyOf(rnd, []litmus.Space{litmus.Global, litmus.Global, litmus.Shared})}}
			x := event{inst: i, read: -1, mem: isa.Mem{Space: isa.SpaceGlobal}, role: isa.RoleLoad}
			if e.Kind.Space == litmus.Shared {
				x.mem.Space = isa.SpaceShared
			}
			if i == pos || rnd.IntN(8) == 0 {
				e.Kind = spec.Kind{Op: litmus.OpFence, Sem: anyOf(rnd, []litmus.Sem{litmus.SemAcqRel, litmus.SemAcquire, litmus.SemRelease,
					litmus.SemSC}), Scope: anyOf(rnd, []litmus.Scope{litmus.ScopeNone, litmus.ScopeGPU}),
					Space: anyOf(rnd, []litmus.Space{litmus.Generic, litmus.Global, litmus.Shared})}
				x.role = isa.RoleFence
			}
			c.s.Entries, tr.events, c.match = append(c.s.Entries, e), append(tr.events, x), append(c.match, i)
			var before []pending
			for k := range i {
				before = append(before, pending{inst: k, open: []openCounter{{counter: isa.CountVM}}})
			}
			c.w.before = append(c.w.before, before)
		}
		f, es := amdFenceOf(c.s.Entries[pos].Kind), c.s.Entries
		want := map[[2]int]bool{}
		for i := range pos {
			for j := pos + 1; j < n; j++ {
				lds := es[i].Kind.Space == litmus.Shared && es[j].Kind.Space == litmus.Shared
				if es[i].IsFence() || es[j].IsFence() || !f.before(es[i]) || !f.after(es[j]) || lds || f.loose && es[i].Kind.Op == litmus.OpSt &&
					es[j].Kind.Op == litmus.OpLd {
					continue
				}
				want[[2]int{i, j}] = true
				break
			}
		}
		missing := c.pairs(pos, f)
		require.Equal(t, want, c.told, fmt.Sprintf("%d: %+v", seed, es))
		require.Len(t, missing, len(want))
		found += len(want)
	}
	require.Greater(t, found, 1000)
}

// TestCarries: the carry of a sum is known of constants alone, and the upper word of one where zeros are added to it.
func TestCarries(t *testing.T) {
	rnd := rand.New(rand.NewPCG(5, 6))
	carried, words := 0, 0
	for range 3000 {
		p := newValuePool()
		m := &machine{tr: &trace{pool: p}}
		src, mi := operands{none, none, none, none, none}, isa.Micro{}
		sum, constant, nonzero, flag := uint64(0), true, 0, false
		last := none
		for i := range 2 + rnd.IntN(3) {
			o := isa.Operand{Kind: isa.OpdReg}
			w := anyOf(rnd, []uint32{0, 0, 1, 1 << 31, 1<<32 - 1, rnd.Uint32()})
			if src[i] = p.constant(w); rnd.IntN(5) == 0 {
				src[i], constant = p.param(int64(4*i)), false
			}
			if rnd.IntN(8) == 0 {
				o.Kind, flag = isa.OpdPred, true
				src[i] = p.truth(true)
			}
			if src[i] != p.constant(0) {
				nonzero++
				last = src[i]
			}
			sum += uint64(w)
			mi.Src = append(mi.Src, o)
		}
		v, ok := m.carry(&mi, src)
		require.Equal(t, constant && !flag, ok, "a predicate counts as one: %v", src)
		if ok {
			require.Equal(t, p.truth(sum>>32 != 0), v)
			carried++
		}
		if v, ok = m.carryless(&mi, src); ok {
			require.Equal(t, last, v)
			words++
		}
		require.Equal(t, nonzero == 1 && !flag, ok, "%v", src)
	}
	require.Greater(t, carried, 500)
	require.Greater(t, words, 300)
}
