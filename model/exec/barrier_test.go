package exec

import (
	"context"
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"optcheck/litmus"
)

// steps runs a test of loads, stores and bar.sync one instruction at a time, in
// every order: what barriers mean, said in the other way. It notes the states in
// which all threads have ended, and those in which nothing moves any more.
type steps struct {
	t             *litmus.Test
	pc            []int
	waits         []bool         // the thread has arrived at the barrier before pc
	arrivals      map[[2]int]int // of a thread at a barrier without a thread count
	count         map[[2]int]int // arrivals in the present phase of a barrier of a CTA
	mem           map[string]int64
	regs          map[litmus.Term]int64
	terms         []litmus.Term
	ended, frozen map[string]bool
	seen          map[string]bool
}

func (s *steps) state() string {
	var v []int64
	for _, x := range s.terms {
		if x.Kind == litmus.TermReg {
			v = append(v, s.regs[x])
		} else {
			v = append(v, s.mem[x.Name])
		}
	}
	return fmt.Sprint(v)
}

func (s *steps) over(t int) bool { return s.pc[t] == len(s.t.Threads[t].Body) && !s.waits[t] }

// free reports whether a thread need not wait at a barrier without a thread count.
func (s *steps) free(t, id int) bool {
	for u := range s.pc {
		if s.t.Threads[u].Place.CTA == s.t.Threads[t].Place.CTA && !s.over(u) && s.arrivals[[2]int{u, id}] < s.arrivals[[2]int{t, id}] {
			return false
		}
	}
	return true
}

func (s *steps) run() {
	here := fmt.Sprint(s.pc, s.waits, s.arrivals, s.count, s.state())
	if s.seen[here] {
		return
	}
	s.seen[here] = true
	moved, all := false, true
	for t := range s.pc {
		all = all && s.over(t)
		old := *s
		old.pc, old.waits = slices.Clone(s.pc), slices.Clone(s.waits)
		old.arrivals, old.count = maps.Clone(s.arrivals), maps.Clone(s.count)
		old.mem, old.regs = maps.Clone(s.mem), maps.Clone(s.regs)
		if s.step(t) {
			moved = true
			s.run()
		}
		*s = old
	}
	switch {
	case moved:
	case all:
		s.ended[s.state()] = true
	default:
		s.frozen[s.state()] = true
	}
}

func (s *steps) step(t int) bool {
	body := s.t.Threads[t].Body
	if s.waits[t] {
		b := s.barrier(t, s.pc[t]-1)
		if b.Quorum.Kind != litmus.OperandNone || !s.free(t, int(b.ID.Value)) {
			return false
		}
		s.waits[t] = false
		return true
	}
	if s.over(t) {
		return false
	}
	in := &body[s.pc[t]]
	s.pc[t]++
	switch in.Op {
	case litmus.OpLd:
		s.regs[litmus.Term{Kind: litmus.TermReg, Thread: t, Name: in.Dst}] = s.mem[in.Addr.Loc]
	case litmus.OpSt:
		s.mem[in.Addr.Loc] = in.Src[0].Value
	case litmus.OpBar:
		s.arrive(t, s.barrier(t, s.pc[t]-1))
	}
	return true
}

// barrier is a barrier of a thread with the number that it has now.
func (s *steps) barrier(t, at int) litmus.Barrier {
	b := s.t.Threads[t].Body[at].Barrier
	for _, o := range []*litmus.Operand{&b.ID, &b.Resource, &b.Quorum} {
		if o.Kind == litmus.OperandReg {
			*o = litmus.Const(s.regs[litmus.Term{Kind: litmus.TermReg, Thread: t, Name: o.Name}])
		}
	}
	return b
}

func (s *steps) arrive(t int, b litmus.Barrier) {
	s.waits[t] = true
	if b.Quorum.Kind == litmus.OperandNone {
		s.arrivals[[2]int{t, int(b.ID.Value)}]++
		return
	}
	at := [2]int{s.t.Threads[t].Place.CTA, int(b.ID.Value)}
	if s.count[at]++; int64(s.count[at]) < b.Quorum.Value {
		return
	}
	s.count[at] = 0
	for u := range s.pc {
		if s.waits[u] && s.t.Threads[u].Place.CTA == at[0] && s.barrier(u, s.pc[u]-1).ID == b.ID {
			s.waits[u] = false
		}
	}
}

// barrierTest makes a test of two to four threads; barrier 0 has no thread count,
// the others each have one, of two or three. With read, each has one of two, and some have the number
// that was read last; with free, none has a thread count.
func barrierTest(r *rand.Rand, read, free bool) *litmus.Test {
	t := &litmus.Test{Dialect: litmus.PTX, Name: "B", Locations: []litmus.Location{{Name: "x"}, {Name: "y"}}}
	value := int64(0)
	for i := range 2 + r.IntN(3) {
		th := litmus.Thread{Name: fmt.Sprintf("P%d", i), ID: i, Placed: true, Place: litmus.Place{CTA: r.IntN(5) / 4, Warp: i}}
		last := litmus.Const(0)
		for k := range 1 + r.IntN(3) {
			loc := litmus.Addr{Loc: string("xy"[r.IntN(2)])}
			switch r.IntN(4) {
			case 0:
				reg := fmt.Sprintf("r%d", k)
				last = litmus.Reg(reg)
				th.Body = append(th.Body, litmus.Instr{Op: litmus.OpLd, Addr: loc, Dst: reg})
				t.Observed = append(t.Observed, litmus.Term{Kind: litmus.TermReg, Thread: i, Name: reg})
			case 1:
				value++
				th.Body = append(th.Body, litmus.Instr{Op: litmus.OpSt, Addr: loc, Src: []litmus.Operand{litmus.Const(value)}})
			default:
				b := litmus.Barrier{ID: litmus.Const(int64(r.IntN(3)))}
				if read && r.IntN(2) == 0 {
					b.ID = last
				}
				if read || b.ID.Value > 0 && !free {
					b.Resource, b.Quorum = b.ID, litmus.Const(b.ID.Value+1)
				}
				if read {
					b.Quorum = litmus.Const(2)
				}
				th.Body = append(th.Body, litmus.Instr{Op: litmus.OpBar, Barrier: b})
			}
		}
		t.Threads = append(t.Threads, th)
	}
	t.Observed = append(t.Observed, litmus.Term{Kind: litmus.TermLoc, Name: "x"}, litmus.Term{Kind: litmus.TermLoc, Name: "y"})
	t.Cond.Expr = litmus.True{}
	return t
}

// TestBlockedAgainstSteps compares both readings of executions that wait for ever
// with those of a machine that runs the test.
func TestBlockedAgainstSteps(t *testing.T) {
	prog, co := compileModel(t, "sc")
	e := NewEngine(prog, co)
	r := rand.New(rand.NewPCG(*seed, 17))
	frozen := 0
	for i := range count(t, 400) {
		test := barrierTest(r, i%3 == 1, i%3 == 2)
		p, err := Compile(test)
		require.NoError(t, err)
		s := &steps{t: test, pc: make([]int, len(test.Threads)), waits: make([]bool, len(test.Threads)), arrivals: map[[2]int]int{}, count: map[[2]int]int{},
			mem: map[string]int64{}, regs: map[litmus.Term]int64{}, terms: p.Terms, ended: map[string]bool{}, frozen: map[string]bool{}, seen: map[string]bool{}}
		s.run()
		if len(s.frozen) > 0 {
			frozen++
		}
		for _, mode := range []BlockedMode{BlockedDropped, BlockedCounted} {
			res, err := e.Run(context.Background(), p, Options{Blocked: mode})
			require.NoError(t, err)
			ended, blocked := map[string]bool{}, map[string]bool{}
			for _, st := range res.States {
				if st.Count > st.Blocked {
					ended[fmt.Sprint(st.Values)] = true
				}
				if st.Blocked > 0 {
					blocked[fmt.Sprint(st.Values)] = true
				}
			}
			if endsCount(test) {
				require.Subset(t, ended, s.ended, test)
				require.Equal(t, len(s.ended) > 0, len(ended) > 0, "a test ends, or none of its executions does: %v", test)
				require.Subset(t, blocked, onlyIf(mode == BlockedCounted, s.frozen), test)
			} else {
				require.Equal(t, s.ended, ended, test)
				require.Equal(t, onlyIf(mode == BlockedCounted, s.frozen), blocked, test)
			}
			require.Equal(t, len(s.frozen) > 0, res.Blocked, test)
		}
	}
	require.Greater(t, frozen, 10)
}

func onlyIf(yes bool, m map[string]bool) map[string]bool {
	if yes {
		return m
	}
	return map[string]bool{}
}

// endsCount reports whether threads pass a barrier because others have ended. The
// machine lets them see what those did; for a model, an end orders nothing.
func endsCount(t *litmus.Test) bool {
	for id := range int64(3) {
		uses := map[int]int{} // by CTA
		for i := range t.Threads {
			n := 1
			for _, in := range t.Threads[i].Body {
				if in.Op == litmus.OpBar && in.Barrier.ID == litmus.Const(id) && in.Barrier.Quorum.Kind == litmus.OperandNone {
					n++
				}
			}
			cta := t.Threads[i].Place.CTA
			if uses[cta] != 0 && uses[cta] != n {
				return true
			}
			uses[cta] = n
		}
	}
	return false
}

// TestBarrierNumberRead: a barrier is the one whose number was read, and one that PTX does not have is no
// verdict; so is a count of threads.
func TestBarrierNumberRead(t *testing.T) {
	const src = `GPU_PTX read
{ x=0; n=%d; 0:.reg .b64 rd0 = x; 0:.reg .b64 rd1 = n; 0:.reg .s32 r2; 1:.reg .b64 rd0 = x; 1:.reg .s32 r1; }
 T0             | T1              ;
 ld.s32 r2,[rd1] | bar.sync 3,64   ;
 add.s32 r2,r2,%d | ld.s32 r1,[rd0] ;
 st.s32 [rd0],1 |                 ;
 bar.sync %s    |                 ;
ScopeTree(grid(cta(warp T0) (warp T1)))
x: global, n: global
exists (1:r1=0)
`
	prog, co := compileModel(t, "ptx")
	for _, c := range []struct {
		n, more int
		bar     string
		blocked bool
		states  string
		fault   string
	}{
		{n: 3, bar: "r2,64", states: "[[1]]"},
		{n: 2, more: 1, bar: "r2,64", states: "[[1]]"},
		{n: 2, bar: "r2,64", blocked: true, states: "[[0]]"},
		{n: 64, bar: "3,r2", states: "[[1]]"},
		{n: 32, more: 32, bar: "3,r2", states: "[[1]]"},
		{n: 15, more: 1, bar: "r2,64", states: "[]", fault: "PTX has no barrier 16"},
		{n: 33, bar: "3,r2", states: "[]", fault: "a barrier of 33 threads"},
	} {
		test, err := litmus.Parse("t", fmt.Appendf(nil, src, c.n, c.more, c.bar))
		require.NoError(t, err)
		p, err := Compile(test)
		require.NoError(t, err)
		res, err := NewEngine(prog, co).Run(context.Background(), p, Options{Blocked: BlockedCounted})
		require.NoError(t, err)
		if c.fault != "" {
			require.Contains(t, res.Undecided, c.fault)
			continue
		}
		require.Empty(t, res.Undecided)
		require.Equal(t, c.blocked, res.Blocked, "%+v", c)
		require.Equal(t, c.states, fmt.Sprint(stateValues(res)), "%+v", c)
	}
}

// TestBarrierCountsWarps: the thread counts of GPU_PTX are of whole warps.
func TestBarrierCountsWarps(t *testing.T) {
	const src = `GPU_PTX pair
{ x=0; 0:.reg .b64 rd0 = x; 1:.reg .s32 r1; 1:.reg .b64 rd0 = x; }
 T0             | T1              ;
 st.s32 [rd0],1 | bar.sync 1,%d   ;
 bar.sync 1,%d  | ld.s32 r1,[rd0] ;
ScopeTree(grid(cta%s))
x: global
exists (1:r1=0)
`
	prog, co := compileModel(t, "ptx")
	for _, c := range []struct {
		count   int
		warps   string
		blocked bool
		states  string
	}{
		{64, "(warp T0) (warp T1)", false, "[[1]]"},
		{32, "(warp T0) (warp T1)", false, "[[0] [1]]"}, // each warp alone
		{96, "(warp T0) (warp T1)", true, "[[0]]"},
		{64, "(warp T0 T1)", true, "[[0]]"}, // one warp waits for another
		{32, "(warp T0 T1)", false, "[[0] [1]]"},
	} {
		test, err := litmus.Parse("t", fmt.Appendf(nil, src, c.count, c.count, c.warps))
		require.NoError(t, err)
		p, err := Compile(test)
		require.NoError(t, err)
		res, err := NewEngine(prog, co).Run(context.Background(), p, Options{Blocked: BlockedCounted})
		require.NoError(t, err)
		require.Equal(t, c.blocked, res.Blocked, "%d %s", c.count, c.warps)
		require.Equal(t, c.states, fmt.Sprint(stateValues(res)), "%d %s", c.count, c.warps)
	}
}
