package optcheck

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"

	"optcheck/internal/mutants"
	"optcheck/isa"
	"optcheck/litmus"
	"optcheck/litmus/corpus"
	"optcheck/model/explore"
	"optcheck/ptxgen"
	"optcheck/spec"
)

// seeker makes wrong machine code of a stored cell, and asks everything that this package can say of it.
type seeker struct {
	splicers map[string]*splicer
	cell     *JudgedCell
	test     *litmus.Test
	layout   spec.Layout
	harness  *spec.Harness
	odd      bool // instructions become such as no compiler emits
}

// seekers are those of all cells.
func seekers(t *testing.T) (list []seeker) {
	t.Helper()
	cells := append(judgedCells(t), storedCells(t, "more")...)
	harnesses := x86Cells(t, &cells)
	all := splicers(cells)
	cells = append(cells, storedCells(t, "parts")...)
	for i := range cells {
		c := &cells[i]
		s := seeker{splicers: all, cell: c}
		var err error
		s.test, err = litmus.Parse("judged", []byte(c.Test))
		require.NoError(t, err)
		s.layout, err = spec.ParseLayout(c.Layout)
		require.NoError(t, err)
		if s.harness = harnesses[i]; c.Harness && s.harness == nil {
			h, err := ptxgen.EmitHarness(s.test, c.Target, c.Form, s.layout)
			require.NoError(t, err)
			s.harness = h.Check
		}
		list = append(list, s)
	}
	return list
}

// x86Cells adds what PoCL made of harnesses, and returns these by the numbers of their cells.
func x86Cells(t *testing.T, cells *[]JudgedCell) map[int]*spec.Harness {
	t.Helper()
	out := map[int]*spec.Harness{}
	for _, name := range []string{"mp+membar.gls", "cas-sl"} {
		h, fn := pocl(t, name)
		x, _ := corpus.Lookup(name)
		out[len(*cells)] = h
		*cells = append(*cells, JudgedCell{Test: x.String(), Toolchain: "pocl", Target: "x86", Level: "O2", Layout: spec.Pointers.String(),
			Kernels: []JudgedKernel{{Func: fn, Check: NewChecker()}}, Harness: true})
	}
	return out
}

// withCode is the first seed with which the checker knows the test, not only the digest in the machine code.
const withCode = 1_000_000

// says is what is said of a kernel of a cell, changed as a seed has it: changed code, another test, registers that may hold anything.
func (s *seeker) says(t *testing.T, kernel int, seed uint64) string {
	t.Helper()
	k, rounds := &s.cell.Kernels[kernel], mutants.Rounds(seed)
	rnd := rand.New(rand.NewPCG(rounds[0], uint64(kernel)))
	f := s.changed(rnd, k.Func, rnd.IntN(4))
	for _, seed := range rounds[1:] {
		rnd := rand.New(rand.NewPCG(seed, uint64(kernel)))
		f = s.changed(rnd, f, 1+rnd.IntN(2))
	}
	check := *k.Check
	if rnd.IntN(3) == 0 {
		check.Unsettled = anyUnsettled(rnd, f)
	}
	if s.harness != nil {
		r := check.CheckHarness(f, s.harness)
		said := fmt.Sprint(harnessSays(r), r.StressLoads, r.StressStores)
		for _, th := range r.Threads {
			said += full(&Checked{Result: th}, nil) + fmt.Sprint(th.Findings, th.Notes, th.Source)
		}
		return said
	}
	x := s.another(rnd, k.Thread)
	want, err := spec.FromTest(x, k.Thread, s.layout)
	if err != nil {
		return err.Error()
	}
	if want.Digest = k.Digest; rounds[0] >= withCode {
		flat, _, err := x.Unrolled()
		require.NoError(t, err)
		want.SetCode(&flat.Threads[k.Thread], k.Values)
	}
	r, err := check.CheckAgainst(f, want)
	said := full(r, err) + meaning(r)
	if r != nil {
		said += fmt.Sprint(r.Placed(), r.Wild(), r.Thread, r.Lines, r.Source, r.Machine, r.Findings, r.Notes)
		said += s.lifted(t, kernel, r, want)
	}
	own, err := check.Check(f)
	said += full(own, err)
	if rnd.IntN(3) == 0 {
		said += full(&Checked{Result: check.CheckUnmarked(f, want, anyPlaces(rnd, &check, f, want))}, nil)
	}
	if rnd.IntN(4) == 0 {
		accesses, err := check.Accesses(f, want.ResultParam())
		said += fmt.Sprint(accesses, err, CodeHash(f, check.Consts), ControlHash(f), LineHash(f))
	}
	return said
}

// changed is a function with some changes.
func (s *seeker) changed(rnd *rand.Rand, of *isa.Func, changes int) *isa.Func {
	f := *of
	f.Insts = slices.Clone(of.Insts)
	var at []int // what does something
	for i := range f.Insts {
		if in := &f.Insts[i]; in.Role != isa.RoleNop && in.Target != i {
			at = append(at, i)
		}
	}
	sp := &splicer{rnd: rnd, pool: s.splicers[vendorOf(s.cell.Target)].pool}
	for range changes {
		if len(at) == 0 {
			break
		}
		if i := anyOf(rnd, at); s.odd && rnd.IntN(4) > 0 {
			oddly(sp, &f, i)
		} else if rnd.IntN(2) == 0 {
			anyOf(rnd, spliced)(sp, &f, i)
		} else {
			anyOf(rnd, seeks)(sp, &f, i)
		}
	}
	f.BuildCFG()
	return &f
}

// seeks are further ways in which a function is changed.
var seeks = []func(s *splicer, f *isa.Func, i int) bool{
	single(leftOut), single(swapped), single(weakened), single(always), single(elsewhere), single(negated),
	single(valued), single(computed), single(atomic),
	func(s *splicer, f *isa.Func, i int) bool { // one more instruction
		in := *anyOf(s.rnd, s.pool)
		if s.rnd.IntN(2) == 0 {
			in = anyOf(s.rnd, f.Insts)
		}
		if in.Target >= 0 || in.Targets != nil || in.Flow != isa.FlowNext {
			return false
		}
		in.Line, in.Src = f.Insts[i].Line, f.Insts[i].Src
		f.Insts = slices.Insert(f.Insts, i, in)
		for n := range f.Insts {
			x := &f.Insts[n]
			if x.Addr = uint64(16 * n); x.Target > i {
				x.Target++
			}
			if x.Targets != nil {
				x.Targets = nil
			}
		}
		return true
	},
	func(s *splicer, f *isa.Func, i int) bool { // another offset
		in := &f.Insts[i]
		k := slices.IndexFunc(in.Args, func(o isa.Operand) bool { return o.Kind == isa.OpdMem || o.Kind == isa.OpdConst })
		if k < 0 {
			return false
		}
		in.Args = slices.Clone(in.Args)
		in.Args[k].Off += []int64{-8, -4, 1, 2, 4, 8, 16, 1 << 20}[s.rnd.IntN(8)]
		return true
	},
	func(s *splicer, f *isa.Func, i int) bool { // of another strength, scope or space
		m := &f.Insts[i].Mem
		if *m == (isa.Mem{}) {
			return false
		}
		switch s.rnd.IntN(3) {
		case 0:
			m.Strength = isa.Strength(s.rnd.IntN(int(isa.FenceSC) + 1))
		case 1:
			m.Scope = isa.Scope(s.rnd.IntN(int(isa.ScopeSys) + 1))
		case 2:
			m.Cache = []string{"", "CI", "CG", "CV", "L1"}[s.rnd.IntN(5)]
		}
		return true
	},
	func(s *splicer, f *isa.Func, i int) bool { // the same instruction as another one, with other registers
		in, as := &f.Insts[i], anyOf(s.rnd, f.Insts)
		if len(in.Micro) == 0 || len(as.Micro) == 0 {
			return false
		}
		in.Micro = slices.Clone(in.Micro)
		dst := in.Micro[0].Dst
		in.Micro[0] = as.Micro[0]
		in.Micro[0].Dst = dst
		return true
	},
}

// single is a change of a list of instructions that keeps its length.
func single(do func([]isa.Inst, int) bool) func(s *splicer, f *isa.Func, i int) bool {
	return func(_ *splicer, f *isa.Func, i int) bool { return do(f.Insts, i) }
}

// anyUnsettled are registers of instructions that may hold anything.
func anyUnsettled(rnd *rand.Rand, f *isa.Func) (list []Unsettled) {
	for range 1 + rnd.IntN(3) {
		in := anyOf(rnd, f.Insts)
		if regs := append(slices.Clone(in.Uses), in.Defs...); len(regs) > 0 {
			list = append(list, Unsettled{in.Addr, anyOf(rnd, regs), rnd.IntN(2) == 0})
		}
	}
	return list
}

// anyPlaces fixes addresses of locations, or none.
func anyPlaces(rnd *rand.Rand, c *Checker, f *isa.Func, want *spec.Spec) map[int]string {
	tr, err := c.traceOf(f, want)
	if err != nil || len(tr.events) == 0 || len(want.Entries) == 0 || rnd.IntN(2) == 0 {
		return nil
	}
	return map[int]string{anyOf(rnd, want.Entries).Loc: place(&tr.events[rnd.IntN(len(tr.events))])}
}

// another is the cell's test, or one of which an instruction is another.
func (s *seeker) another(rnd *rand.Rand, thread int) *litmus.Test {
	if rnd.IntN(2) == 0 {
		return s.test
	}
	x := s.test.Clone()
	body := &x.Threads[thread].Body
	if len(*body) == 0 {
		return s.test
	}
	anyOf(rnd, testEdits).do(body, rnd.IntN(len(*body)))
	if x.Check() != nil {
		return s.test
	}
	return x
}

// lifted says what test and what machine the changed kernel is together with the others as they are.
func (s *seeker) lifted(t *testing.T, kernel int, r *Checked, want *spec.Spec) string {
	t.Helper()
	if len(s.cell.Kernels) != len(s.test.Threads) {
		return ""
	}
	said := ""
	for machine, lift := range []func(r *Checked) (LiftedCode, error){(*Checked).Lift, (*Checked).LiftMachine} {
		var threads []LiftedThread
		for i := range s.cell.Kernels {
			k, r, want := &s.cell.Kernels[i], r, want
			if i != kernel {
				want, _ = spec.FromTest(s.test, k.Thread, s.layout)
				want.Digest = k.Digest
				r, _ = k.Check.CheckAgainst(k.Func, want)
			}
			l, err := lift(r)
			if err != nil {
				break
			}
			threads = append(threads, LiftedThread{l, want, k.Values})
		}
		if len(threads) < len(s.test.Threads) {
			continue
		}
		if machine == 0 {
			list, err := LiftTest(s.test, threads)
			said += fmt.Sprint(err)
			for _, l := range list {
				said += fmt.Sprint(l.Test, l.Equal)
			}
			continue
		}
		m, err := NewMachine(s.test, threads)
		said += fmt.Sprint(err)
		if err == nil {
			said += firstRuns(t, s.test, threads, m)
		}
	}
	return said
}

// firstRuns says how the first runs of a machine end.
func firstRuns(t *testing.T, x *litmus.Test, threads []LiftedThread, m Machine) (said string) {
	t.Helper()
	enough, n := errors.New("enough"), 0
	err := m.Explore(t.Context(), true, func(f *explore.Final, schedule func() []explore.Step) error {
		regs, err := MachineState(x, threads, f)
		said += fmt.Sprint(regs, f.Memory, err)
		if n++; n == 8 {
			said += fmt.Sprint(schedule())
			return enough
		}
		return nil
	})
	return said + fmt.Sprint(err)
}

// sought are the tries of all kernels, and behind them those of composed words, of drawn instructions, and of
// walks that are changed, twice: those of the second time are of code with other waits. Behind these are drawn
// instructions as kernels for devices, and at the end the kernels with odd instructions.
func sought(t *testing.T) *mutants.Tries {
	t.Helper()
	cells := seekers(t)
	x := &mutants.Tries{
		Says: func(t *testing.T, cell, kernel int, seed uint64) string {
			switch {
			case cell >= 3*len(cells)+3*drawnCells:
				s := cells[cell-3*len(cells)-3*drawnCells]
				s.odd = true
				return s.says(t, kernel, seed)
			case cell >= 3*len(cells)+2*drawnCells:
				return viewsSay(cells[0].splicers, kernel, seed)
			case cell >= 2*len(cells)+2*drawnCells:
				return cells[cell-2*len(cells)-2*drawnCells].passSays(t, kernel, seed, true)
			case cell >= len(cells)+2*drawnCells:
				return cells[cell-len(cells)-2*drawnCells].passSays(t, kernel, seed, false)
			case cell >= len(cells)+drawnCells:
				return walksSay(cells[0].splicers, kernel, seed)
			case cell >= len(cells):
				return wordsSay(t, kernel, seed)
			}
			return cells[cell].says(t, kernel, seed)
		},
		Fresh: func() {
			states, pools = sync.Pool{New: states.New}, sync.Pool{New: pools.New}
		},
	}
	for i := range cells {
		var sizes []int
		for _, k := range cells[i].cell.Kernels {
			sizes = append(sizes, len(k.Func.Insts))
		}
		x.Sizes = append(x.Sizes, sizes)
	}
	for _, kernels := range []int{len(wordTargets), len(walkTargets)} {
		for range drawnCells {
			x.Sizes = append(x.Sizes, make([]int, kernels))
		}
	}
	x.Sizes = append(append(x.Sizes, x.Sizes[:len(cells)]...), x.Sizes[:len(cells)]...)
	for range drawnCells {
		x.Sizes = append(x.Sizes, make([]int, len(walkTargets)))
	}
	x.Sizes = append(x.Sizes, x.Sizes[:len(cells)]...)
	return x
}

// TestSought: what is said of wrong machine code that was sought because it distinguishes this package from one with a mistake is what was
// said before; -update writes it, internal/mutants/seek seeks more.
func TestSought(t *testing.T) { sought(t).Test(t, "testdata/sought.txt", *update) }
