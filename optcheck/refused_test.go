package optcheck

import (
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"optcheck/isa"
	"optcheck/litmus"
	"optcheck/spec"
)

// TestRefused: what is no function, or too much of one, is unknown for a reason, whoever asks.
func TestRefused(t *testing.T) {
	loads := func(n int) *isa.Func {
		return sassCode(t, twoLoads(), strings.Repeat("LDG.E R2, [R4.64]\n", n)+strings.TrimSpace(results))
	}
	whole := loads(1)
	c := NewChecker()
	for _, x := range []struct {
		name, why string
		fn        *isa.Func
	}{
		{"empty", "function without instructions", &isa.Func{Name: "k"}},
		{"flat", "function without control flow", &isa.Func{Name: "k", Insts: whole.Insts}},
	} {
		for n, want := range []*spec.Spec{nil, twoLoads()} {
			r, err := c.check(x.fn, want)
			require.NoError(t, err)
			require.Equal(t, [2]any{Unknown, x.why}, [2]any{r.Class, r.Reason}, "%s %d", x.name, n)
			_, err = r.Lift()
			require.ErrorContains(t, err, "nothing was checked")
			_, err = r.LiftMachine()
			require.ErrorContains(t, err, "nothing was checked")
			require.True(t, r.Wild(), "nothing is known of its registers")
			r.Release() // is of no use, and does no harm
		}
		_, err := c.Accesses(x.fn, 0)
		require.EqualError(t, err, x.why)
		r := c.CheckUnmarked(x.fn, twoLoads(), nil)
		require.Equal(t, [2]any{Unknown, x.why}, [2]any{r.Class, r.Reason}, x.name)
		h := c.CheckHarness(x.fn, &spec.Harness{Specs: []*spec.Spec{twoLoads()}})
		require.Equal(t, Unknown, h.Class, x.name)
		require.False(t, h.Validated(), x.name)
	}
	for n, many := range map[int]bool{maxReads - 2: false, maxReads: false, maxReads + 1: true, maxReads + 40: true} {
		r, err := c.check(loads(n), nil)
		require.NoError(t, err)
		require.Equal(t, many, r.Reason == fmt.Sprintf("more than %d reads in one kernel", maxReads), "%d reads: %s", n, r.Reason)
	}
}

// TestRelease: memory that a check gives back serves the next one, which says the same, and what was given back is lifted no more.
func TestRelease(t *testing.T) {
	cells := seekers(t)
	for i := 0; i < len(cells); i += 40 {
		s := &cells[i]
		if s.harness != nil {
			continue
		}
		k := &s.cell.Kernels[0]
		want, err := spec.FromTest(s.test, k.Thread, s.layout)
		require.NoError(t, err)
		want.Digest = k.Digest
		var first string
		for n := range 3 {
			r, err := k.Check.CheckAgainst(k.Func, want)
			said := full(r, err) + meaning(r)
			if n == 0 {
				first = said
			}
			require.Equal(t, first, said, "%s, %d", s.test.Name, n)
			if r.pass == nil {
				continue
			}
			pool := r.pass.tr.pool
			r.Release()
			require.Nil(t, r.pass)
			again := pools.Get().(*valuePool)
			require.NotNil(t, again)
			if again != pool { // the pool of pools may forget
				pools.Put(again)
			}
			_, err = r.Lift()
			require.ErrorContains(t, err, "nothing was checked")
			r.Release()
		}
	}
}

// TestThreads: a test is lifted, and a machine built, of all its threads or not at all.
func TestThreads(t *testing.T) {
	cells := seekers(t)
	lifts := 0
	for i := range cells {
		s := &cells[i]
		if len(s.cell.Kernels) != len(s.test.Threads) || len(s.test.Threads) < 2 || s.harness != nil {
			continue
		}
		var codes, machines []LiftedThread
		for n := range s.cell.Kernels {
			k := &s.cell.Kernels[n]
			want, err := spec.FromTest(s.test, k.Thread, s.layout)
			require.NoError(t, err)
			want.Digest = k.Digest
			r, err := k.Check.CheckAgainst(k.Func, want)
			require.NoError(t, err)
			if l, err := r.Lift(); err == nil {
				codes = append(codes, LiftedThread{l, want, k.Values})
			}
			if l, err := r.LiftMachine(); err == nil {
				machines = append(machines, LiftedThread{l, want, k.Values})
			}
		}
		if len(codes) < len(s.test.Threads) || len(machines) < len(s.test.Threads) {
			continue
		}
		_, err := LiftTest(s.test, codes)
		if err != nil {
			continue
		}
		_, err = LiftTest(s.test, codes[1:])
		require.ErrorContains(t, err, "threads of machine code for the")
		_, err = NewMachine(s.test, machines[1:])
		require.ErrorContains(t, err, "threads of machine code for the")
		_, err = NewMachine(s.test, nil)
		require.ErrorContains(t, err, "0 threads of machine code for the")
		_, err = NewMachine(&litmus.Test{Name: "none"}, nil)
		require.ErrorContains(t, err, "0 threads of machine code for the 0 of test none")
		_, err = LiftTest(s.test, machines)
		require.ErrorContains(t, err, "was not lifted to litmus instructions")
		_, err = NewMachine(s.test, codes)
		require.ErrorContains(t, err, "was not lifted to operations")
		for what, edit := range map[string]func(x *litmus.Test){
			"is an alias":              func(x *litmus.Test) { x.Locations[len(x.Locations)-1].Alias = x.Locations[0].Name },
			"is a part of another":     func(x *litmus.Test) { x.Locations[len(x.Locations)-1].Of = x.Locations[0].Name },
			"threads of several grids": func(x *litmus.Test) { x.Threads[len(x.Threads)-1].Place.Grid++ },
		} {
			x := s.test.Clone()
			edit(x)
			_, err = NewMachine(x, machines)
			require.ErrorContains(t, err, what)
		}
		x := s.test.Clone()
		x.Threads[len(x.Threads)-1].Place.GPU++
		_, err = NewMachine(x, machines)
		require.ErrorContains(t, err, "threads of several grids")
		if lifts++; lifts == 20 {
			return
		}
	}
	t.Fatalf("only %d tests could be lifted", lifts)
}

// TestBreakable: which rules a finding can be of, and which are about registers in flight.
func TestBreakable(t *testing.T) {
	for _, r := range Rules {
		require.Equal(t, strings.HasPrefix(r.ID, "hazard-"), InFlight(r.ID), r.ID)
		require.Equal(t, !r.Note || r == UnreadGone || r == Strengthened, r.Breakable(), r.ID)
		got, ok := LookupRule(r.ID)
		require.True(t, ok)
		require.Same(t, r, got)
	}
	_, ok := LookupRule("hazard")
	require.False(t, ok)
	require.False(t, InFlight("hazard"))
	for i, want := range []string{"preserved", "changed", "unsupported", "unknown", "unknown", "unknown"} {
		require.Equal(t, want, Class(i).String())
	}
}
