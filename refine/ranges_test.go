package refine_test

import (
	"maps"
	"math"
	"math/bits"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"optcheck/emu"
	"optcheck/ir"
	"optcheck/isa"
	"optcheck/prove"
	"optcheck/ptx"
	ptxlower "optcheck/ptx/lower"
	"optcheck/refine"
	"optcheck/sass"
	"optcheck/sass/cubin"
	sasslower "optcheck/sass/lower"
	"optcheck/toolchain"
	"optcheck/toolchain/tested"
)

// TestRanges: a store to which numbers and conditions let nobody come is not missed; one that is only hard to reach is.
func TestRanges(t *testing.T) {
	for _, c := range []struct {
		name, body string
		unseen     int
	}{
		{"a second turn that the place of the thread does not allow", "mov.u32 %a, %tid.x; setp.gt.u32 %p, %a, 63; @%p bra E; L: st.global.u32 [%at], %a; add.u32 %a, %a, 64; " +
			"setp.lt.u32 %p, %a, 64; @%p bra M; bra E; M: st.global.u32 [%at+8], %a; bra L; E:", 0},
		{"a second turn of another bound", "mov.u32 %a, %n; and.b32 %a, %a, 1023; mul.lo.u32 %b, %a, %a; and.b32 %b, %b, 7; setp.gt.u32 %p, %b, 6; @!%p bra E; st.global.u32 [%at+8], %a; E:", 1},
		{"a rounded count", "mov.u32 %a, %tid.x; setp.gt.u32 %p, %a, 7; @%p bra E; max.s32 %b, %a, 0; add.s32 %b, %b, 7; sub.s32 %b, %b, %a; shr.u32 %b, %b, 3; " +
			"setp.lt.u32 %p, %b, 3; @%p bra E; st.global.u32 [%at+8], %b; E:", 0},
		{"both of two conditions", "setp.gt.u32 %p, %n, 9; setp.lt.u32 %q, %n, 9; and.pred %p, %p, %q; @%p st.global.u32 [%at+8], %n;", 0},
		{"one of two conditions, and what was compared has changed", "and.b32 %n, %n, 15; setp.gt.u32 %p, %n, 9; mul.lo.u32 %n, %n, %n; and.b32 %b, %n, 3; setp.ne.u32 %q, %b, 2; @%q bra E; " +
			"@%p st.global.u32 [%at+8], %n; E:", 1},
		{"numbers without a sign that have one", "setp.ge.s32 %p, %n, 0; @%p bra E; setp.lt.u32 %p, %n, 5; @%p st.global.u32 [%at+8], %n; E:", 1},
		{"numbers with a sign", "setp.lt.s32 %p, %n, 3; @%p bra E; setp.lt.s32 %p, %n, 2; @%p st.global.u32 [%at+8], %n; E:", 0},
		{"a number that grows", "mov.u32 %a, 0; L: setp.eq.u32 %p, %a, 1000000; @%p bra E; add.u32 %a, %a, 1; setp.lt.u32 %q, %a, %n; @%q bra L; st.global.u32 [%at], %a; bra F; E: st.global.u32 [%at+8], %n; F:", 1},
		{"a condition that two ways set", "setp.gt.u32 %q, %n, 100000; @%q bra J; setp.eq.u32 %p, %n, 77777; bra K; J: setp.eq.u32 %p, %n, 123456; K: @!%p bra E; " +
			"setp.gt.u32 %q, %n, 100000; @%q st.global.u32 [%at+8], %n; @!%q st.global.u32 [%at+12], %n; E:", 2},
		{"what a call has changed", "mov.u32 %b, 7; call (%b), g, (%n); setp.eq.u32 %p, %b, 123456; @%p st.global.u32 [%at+8], %b;", 1},
		{"more threads than a block has", "mov.u32 %a, %ntid.x; mov.u32 %b, %ntid.y; mul.lo.s32 %d, %a, %b; mov.u32 %e, %ntid.z; mad.lo.s32 %c, %d, %e, 511; setp.gt.u32 %p, %c, 1535; " +
			"@%p st.global.u32 [%at+8], %n;", 0},
		{"a rank beyond them", "mov.u32 %a, %tid.z; mov.u32 %b, %ntid.y; mov.u32 %d, %tid.y; mad.lo.s32 %c, %b, %a, %d; mov.u32 %e, %ntid.x; mov.u32 %f, %tid.x; " +
			"mad.lo.s32 %g, %c, %e, %f; setp.gt.u32 %p, %g, 1023; @%p st.global.u32 [%at+8], %n;", 0},
		{"no rank: another extent", "mov.u32 %d, %tid.y; mov.u32 %e, %ntid.y; mov.u32 %f, %tid.x; mad.lo.s32 %g, %d, %e, %f; setp.gt.u32 %p, %g, 99999; @%p st.global.u32 [%at+8], %n;", 1},
		{"no product: one extent twice", "mov.u32 %d, %ntid.x; mul.lo.s32 %g, %d, %d; setp.eq.u32 %p, %g, 998001; @%p st.global.u32 [%at+8], %n;", 1},
		{"a number with a sign between two bounds", "setp.lt.s32 %p, %n, 4000; @!%p bra E; setp.ge.s32 %p, %n, 40; @!%p bra E; setp.ge.s32 %p, %n, 5000; @%p st.global.u32 [%at+8], %n; E:", 1},
		{"between two bounds, each with its predicate", "setp.lt.s32 %p, %n, 4000; @!%p bra E; setp.ge.s32 %q, %n, 40; @!%q bra E; setp.ge.s32 %s, %n, 5000; @%s st.global.u32 [%at+8], %n; E:", 0},
		{"memory that is found", "call (%at2), malloc, (%at2); setp.ne.u64 %p, %at2, 0; @%p st.global.u32 [%at+8], %n;", 1},
		{"behind a call nothing is known", "call (%b), g, (%n); setp.gt.u32 %p, %b, 5; setp.lt.u32 %q, %b, 5; and.pred %p, %p, %q; @%p st.global.u32 [%at+8], %b;", 1},
	} {
		t.Run(c.name, func(t *testing.T) {
			m, err := ptx.Parse("t.ptx", []byte(`.version 7.8
.target sm_80
.address_size 64
.extern .func (.reg .u64 %m) malloc (.reg .u64 %v);
.func (.reg .u32 %y) g (.reg .u32 %x) { mul.lo.u32 %y, %x, %x; ret; }
.visible .entry k(.param .u64 out, .param .u32 number)
{
	.reg .b32 %n, %a, %b, %c, %d, %e, %f, %g; .reg .b64 %at, %at2; .reg .pred %p, %q, %s;
	ld.param.u64 %at, [out];
	ld.param.u32 %n, [number];
	mov.u64 %at2, 16;
	`+c.body+`
	st.global.u32 [%at+64], %n;
	ret;
}
`))
			require.NoError(t, err)
			p, err := ptxlower.Kernel(m, "k")
			require.NoError(t, err)
			res, err := refine.Compare(t.Context(), p, p, refine.Options{Runs: 1})
			require.NoError(t, err)
			require.Empty(t, res.Findings)
			require.Len(t, res.Unseen, c.unseen)
		})
	}
}

// TestRangesOfWarps: what lanes share may change where others may run; a set of lanes may be any; what decides about a jump decides so.
func TestRangesOfWarps(t *testing.T) {
	exit := &ir.Flow{Kind: ir.Exit, Cond: ir.None, Addr: ir.None, Bar: ir.None, Mask: ir.None}
	flow := func(k ir.FlowKind, to int32) *ir.Flow {
		f := *exit
		f.Kind, f.Target = k, to
		return &f
	}
	store := &ir.Access{Kind: ir.Store, Space: ir.Global, Bytes: 4, Elems: 1, Type: ir.U32, Data: []ir.Reg{0}, Addr: ir.None, Done: ir.None}
	number := func(dst ir.Reg, v uint64) func(b *ir.Builder) {
		return func(b *ir.Builder) { b.To(&b.Begin().Pre, dst, ir.Mov, ir.U32, b.Const(v)) }
	}
	does := func(e ir.Effect) func(b *ir.Builder) { return func(b *ir.Builder) { b.Begin().Do = e } }
	const x, shared, p, bar, other = 0, 1, 2, 3, 4
	where := func(r ir.Reg, c ir.Cond, v uint64, not bool) func(b *ir.Builder) {
		return func(b *ir.Builder) {
			in := b.Begin()
			b.To(&in.Pre, p, ir.Cmp, ir.U32, r, b.Const(v)).Cond = c
			in = b.Begin()
			in.Guard, in.Not, in.Do = p, not, store
		}
	}
	set, wait := flow(ir.BarrierSet, 4), flow(ir.BarrierWait, 0)
	set.Bar, wait.Bar = bar, other
	jump := func(to int32, not bool) func(b *ir.Builder) {
		f := flow(ir.Jump, to)
		f.Cond, f.Not = p, not
		return does(f)
	}
	compared := func(b *ir.Builder) {
		in := b.Begin()
		b.To(&in.Pre, x, ir.Mov, ir.U32, x)
		b.To(&in.Pre, p, ir.Cmp, ir.U32, x, b.Const(5)).Cond = ir.LT
	}
	lanes := func(guarded bool) func(b *ir.Builder) { // x are those below, other are those that run
		return func(b *ir.Builder) {
			b.Begin().Do = &ir.Special{Reg: ir.LaneMaskLT, Dst: x}
			in := b.Begin()
			if in.Do = (&ir.Warp{Kind: ir.ActiveMask, Dst: other, Mask: ir.None, Src: ir.None, Lane: ir.None, Clamp: ir.None, Pred: ir.None}); guarded {
				in.Guard = p
			}
		}
	}
	lower := func(b *ir.Builder) {
		in := b.Begin()
		o := b.To(&in.Pre, bar, ir.Lop3, ir.U32, x, b.Const(0), other)
		o.Imm = 0xa0
		b.To(&in.Pre, p, ir.Cmp, ir.U32, bar, b.Const(0)).Cond = ir.NE
	}
	guarded := func(e ir.Effect) func(b *ir.Builder) {
		return func(b *ir.Builder) {
			in := b.Begin()
			in.Guard, in.Do = p, e
		}
	}
	wide := func(b *ir.Builder) {
		in := b.Begin()
		b.To(&in.Pre, p, ir.Cmp, ir.U64, x, b.Const(1<<40)).Cond = ir.GE
		b.To(&in.Pre, other, ir.Mov, ir.U32, x)
	}
	vote := does(&ir.Warp{Kind: ir.ActiveMask, Dst: shared, Mask: ir.None, Src: ir.None, Lane: ir.None, Clamp: ir.None, Pred: ir.None})
	for name, c := range map[string]struct {
		insts []func(b *ir.Builder)
		at    int
		may   bool
	}{
		"shared":                               {[]func(*ir.Builder){number(shared, 5), where(shared, ir.EQ, 6, false)}, 2, false},
		"shared, others run":                   {[]func(*ir.Builder){number(shared, 5), does(flow(ir.Yield, 0)), where(shared, ir.EQ, 6, false)}, 3, true},
		"shared, behind a barrier":             {[]func(*ir.Builder){number(shared, 5), does(&ir.Barrier{ID: ir.None, Count: ir.None, Src: ir.None, Dst: ir.None}), where(shared, ir.EQ, 6, false)}, 3, true},
		"own, others run":                      {[]func(*ir.Builder){number(x, 5), does(flow(ir.Yield, 0)), where(x, ir.EQ, 6, false)}, 3, false},
		"a set by its number":                  {[]func(*ir.Builder){does(set), number(other, 1), does(wait), does(exit), does(store)}, 4, true},
		"behind a jump below 5":                {[]func(*ir.Builder){compared, jump(3, false), does(exit), where(x, ir.LT, 5, false)}, 4, true},
		"behind a jump not below 5":            {[]func(*ir.Builder){compared, jump(3, true), does(exit), where(x, ir.LT, 5, false)}, 4, false},
		"passed, not below 5":                  {[]func(*ir.Builder){compared, jump(4, false), where(x, ir.LT, 5, false), does(exit)}, 3, false},
		"passed, below 5":                      {[]func(*ir.Builder){compared, jump(4, true), where(x, ir.LT, 5, false), does(exit)}, 3, true},
		"the lowest lane is alone":             {[]func(*ir.Builder){lanes(false), lower, jump(5, true), does(exit), vote, where(shared, ir.EQ, 1<<32-1, false)}, 7, false},
		"one of those that have met is not":    {[]func(*ir.Builder){lanes(false), lower, jump(5, true), does(exit), does(flow(ir.WarpSync, 0)), vote, where(shared, ir.EQ, 1<<32-1, false)}, 8, true},
		"the lowest of those that vote is not": {[]func(*ir.Builder){lanes(true), lower, jump(5, true), does(exit), vote, where(shared, ir.EQ, 1<<32-1, false)}, 7, true},
		"others are taken along":               {[]func(*ir.Builder){compared, guarded(flow(ir.JumpAny, 3)), does(exit), where(x, ir.LT, 5, true)}, 4, true},
		"a part of a number is another one":    {[]func(*ir.Builder){wide, guarded(store)}, 1, true},
		"one with others below is not":         {[]func(*ir.Builder){lanes(false), lower, jump(5, false), does(exit), vote, where(shared, ir.EQ, 1<<32-1, false)}, 7, true},
	} {
		b := ir.NewBuilder("k")
		b.P.Machine = true
		for r := range 5 {
			if r == shared {
				b.UniformReg()
			} else {
				b.Reg()
			}
		}
		for _, make := range c.insts {
			make(b)
		}
		b.Begin().Do = exit
		known, ok := refine.Known(&b.P)
		require.True(t, ok, name)
		require.Equal(t, c.may, known[c.at] != nil, name)
		in, possible := &b.P.Insts[c.at], prove.NewPossible(&b.P)
		never := possible.Never(int32(c.at), ir.None, true) || in.Guard >= 0 && possible.Never(int32(c.at), in.Guard, !in.Not)
		require.False(t, c.may && never, name)
	}
}

// TestRangesHold: whatever kernels of PTX and of machine code do, and those that are changed at random, registers hold what is known of them
// where a thread performs an instruction, and none performs what is said not to be reachable.
func TestRangesHold(t *testing.T) {
	programs := kernels(t)
	r := rand.New(rand.NewPCG(32, 1))
	performed, narrow, apart := 0, 0, 0
	for _, p := range programs {
		for n := range 6 {
			q := p
			for range n { // the first one as it is
				q = changed(r, q)
			}
			known, ok := refine.Known(q)
			if !ok {
				continue
			}
			in := refine.Choose(q, [3]int{}, [3]int{}, r.Uint64()%6)
			trace := func(w *emu.Warp, pc int32, act uint32) {
				for x := act; x != 0; x &= x - 1 {
					l := bits.TrailingZeros32(x)
					require.NotNil(t, known[pc], "%s: not reachable: %s", q.Kernel, q.Insts[pc].Text)
					for reg, b := range known[pc] {
						if v := w.Reg(ir.Reg(reg), l); v < b[0] || v > b[1] {
							require.Fail(t, "another number", "%s: %#x (%s): register %d holds %#x, not %#x to %#x", q.Kernel, q.Insts[pc].Addr, q.Insts[pc].Text, reg, v, b[0], b[1])
						}
					}
				}
				if performed++; act != w.Group {
					apart++
				}
			}
			_, _ = refine.Execute(q, in, emu.Policy{MaxSteps: 1 << 14, Fill: r.Uint64(), Reverse: n%2 == 1, Apart: n%3 == 1, TrapEnds: true}, trace)
			for _, regs := range known {
				for _, b := range regs {
					if b[1]-b[0] < 1<<20 && b[0] != b[1] {
						narrow++
					}
				}
			}
		}
	}
	t.Logf("%d programs, %d instructions of warps, %d registers of instructions with bounds", len(programs), performed, narrow)
	require.Greater(t, performed, 100_000)
	require.Greater(t, narrow, 100_000)
	require.Greater(t, apart, 1000)
}

// TestPossibleHolds: no thread of such kernels of PTX and of machine code, with all that they call, does what is said to be impossible.
func TestPossibleHolds(t *testing.T) {
	r := rand.New(rand.NewPCG(32, 2))
	h := &holds{t: t, r: r}
	for _, p := range kernels(t) {
		for n := range 5 {
			q := p
			for range n {
				q = changed(r, q)
			}
			if len(q.Insts) <= 600 {
				h.ask(q, n)
			}
		}
	}
	t.Logf("%d questions, %d ruled out, %d where something is called, %d instructions of warps", h.asked, h.never, h.called, h.seen)
	require.Greater(t, h.never, 1000)
	require.Greater(t, h.called, 100)
	require.Greater(t, h.seen, 100_000)
}

// holds asks what is impossible, and looks whether it is seen.
type holds struct {
	t                          *testing.T
	r                          *rand.Rand
	asked, never, called, seen int
}

type claimed struct {
	at  int32
	reg ir.Reg
	is  bool
}

// ask asks of each fifth instruction.
func (h *holds) ask(q *ir.Program, n int) {
	possible, ruledOut := prove.NewPossible(q), map[int32][]claimed{}
	calls := slices.ContainsFunc(q.Insts, func(in ir.Inst) bool {
		f, ok := in.Do.(*ir.Flow)
		return ok && (f.Calls || f.Kind == ir.Call || f.Kind == ir.CallAt)
	})
	for i := range q.Insts {
		in := &q.Insts[i]
		if i%5 != n {
			continue
		}
		list := []claimed{{int32(i), ir.None, true}}
		regs := []ir.Reg{in.Guard}
		for _, o := range in.Pre {
			if o.Code == ir.Sel {
				regs = append(regs, o.Src[0])
			}
		}
		for _, reg := range regs {
			list = append(list, claimed{int32(i), reg, true}, claimed{int32(i), reg, false})
		}
		for _, w := range list {
			if h.asked++; (w.reg >= 0 || w.is) && possible.Never(w.at, w.reg, w.is) {
				ruledOut[w.at] = append(ruledOut[w.at], w)
				if h.never++; calls {
					h.called++
				}
			}
		}
	}
	trace := func(w *emu.Warp, pc int32, act uint32) {
		h.seen++
		for _, x := range ruledOut[pc] {
			for y := w.Group; y != 0; y &= y - 1 {
				l := bits.TrailingZeros32(y)
				was := x.reg == ir.None || (w.Reg(x.reg, l)&1 == 1) == x.is
				require.False(h.t, was, "%s: %d %s: register %d, %v", q.Kernel, pc, q.Insts[pc].Text, x.reg, x.is)
			}
		}
	}
	for seed := range uint64(4) {
		in := refine.Choose(q, [3]int{}, [3]int{}, seed)
		_, _ = refine.Execute(q, in, emu.Policy{MaxSteps: 1 << 13, Fill: h.r.Uint64(), Reverse: n%2 == 1, Apart: n%3 == 1, TrapEnds: true}, trace)
	}
}

// compiled are the modules whose machine code is looked at, too.
var compiled = map[string]string{"turns.ptx": "sm_80", "execute.ptx": "sm_90", "constants.ptx": "sm_80", "table.ptx": "sm_90", "loops.ptx": "sm_90", "calls.ptx": "sm_80",
	"control.ptx": "sm_90", "atomics.ptx": "sm_80", "uniform.ptx": "sm_90", "ls-bh.ptx": "sm_90", "order-mp.ptx": "sm_80", "chains.ptx": "sm_80"}

// read is what kernels has read.
var read []*ir.Program

// kernels are kernels of PTX, and their machine code where there is a compiler. Nobody changes them.
func kernels(t *testing.T) []*ir.Program {
	t.Helper()
	if read == nil {
		read = readKernels(t)
	}
	return read
}

func readKernels(t *testing.T) (out []*ir.Program) {
	var files []string
	for _, pattern := range []string{"../realcode/testdata/*.ptx", "../sass/lower/testdata/*.ptx", "testdata/*.ptx", "../program/cases/order-mp/order-mp.ptx", "../program/cases/ls-bh/ls-bh.ptx"} {
		more, err := filepath.Glob(pattern)
		require.NoError(t, err)
		files = append(files, more...)
	}
	tc := tested.Release(t, "12.4")
	for _, file := range files {
		text, err := os.ReadFile(file)
		require.NoError(t, err)
		m, err := ptx.Parse(file, text)
		if err != nil {
			continue
		}
		var code *isa.Program
		var cub *cubin.File
		if gpu := compiled[filepath.Base(file)]; gpu != "" {
			res, err := tc.Compile(t.Context(), toolchain.Job{Target: gpu, Level: "O3", Header: "//", Units: []toolchain.Unit{{Name: "unit", Text: string(text)}}})
			require.NoError(t, err)
			require.Empty(t, res.Failed)
			listing, err := tc.Disassemble(t.Context(), res.Batches[0].Cubin, toolchain.DisasmOptions{})
			require.NoError(t, err)
			code, err = sass.Parse("listing", listing)
			require.NoError(t, err)
			cub, err = cubin.Parse(res.Batches[0].Cubin)
			require.NoError(t, err)
		}
		for _, f := range m.Funcs {
			if !f.Entry {
				continue
			}
			if p, err := ptxlower.Kernel(m, f.Name); err == nil {
				out = append(out, p)
			}
			if code == nil {
				continue
			}
			if p, err := sasslower.Kernel(code, cub, f.Name); err == nil {
				out = append(out, p)
			}
		}
	}
	return out
}

// changed is a program with another operation, constant, condition or guard somewhere.
func changed(r *rand.Rand, p *ir.Program) *ir.Program {
	q := *p
	q.Insts, q.Consts = slices.Clone(p.Insts), slices.Clone(p.Consts)
	if len(q.Consts) > 0 && r.IntN(3) == 0 {
		c := &q.Consts[r.IntN(len(q.Consts))]
		c.Value = []uint64{0, 1, 7, 31, 255, 0x7fffffff, 0x80000000, 0xffffffff, c.Value + 1, c.Value - 1, c.Value << 1, q.Consts[r.IntN(len(q.Consts))].Value}[r.IntN(12)]
		return &q
	}
	codes := []ir.Code{ir.Add, ir.Sub, ir.Mul, ir.And, ir.Or, ir.Xor, ir.Shl, ir.Shr, ir.Min, ir.Max, ir.Mov, ir.Rem, ir.Div, ir.Lop3}
	for range 100 {
		in := &q.Insts[r.IntN(len(q.Insts))]
		if f, ok := in.Do.(*ir.Flow); ok && f.Cond >= 0 {
			g := *f
			g.Not = !g.Not
			in.Do = &g
			return &q
		}
		if in.Guard >= 0 {
			in.Not = !in.Not
			return &q
		}
		if len(in.Pre) == 0 {
			continue
		}
		in.Pre = slices.Clone(in.Pre)
		switch o := &in.Pre[r.IntN(len(in.Pre))]; {
		case o.Type.Float() || o.Type == ir.B128 || o.Code > ir.Cmp:
			continue
		case o.Code == ir.Cmp && r.IntN(2) == 0:
			o.Cond = ir.Cond(r.IntN(int(ir.GE) + 1))
		case o.Code == ir.Cmp:
			o.Src[0], o.Src[1] = o.Src[1], o.Src[0]
		case o.Type == ir.Pred:
			o.Code = []ir.Code{ir.And, ir.Or, ir.Xor, ir.Mov}[r.IntN(4)]
		default:
			o.Code, o.Imm = codes[r.IntN(len(codes))], o.Imm^uint64(r.IntN(256))
		}
		return &q
	}
	return &q
}

// TestBounds: the result of an operation is within its bounds, whatever its operands are within theirs.
func TestBounds(t *testing.T) {
	r := rand.New(rand.NewPCG(32, 2))
	codes := []ir.Code{ir.Mov, ir.Add, ir.Sub, ir.Carry, ir.Borrow, ir.Mul, ir.MulHi, ir.Div, ir.Rem, ir.And, ir.Or, ir.Xor, ir.Not, ir.Lop3, ir.Shl, ir.Shr, ir.Funnel,
		ir.Min, ir.Max, ir.Abs, ir.Neg, ir.Sel, ir.Cmp, ir.Clz, ir.Popc, ir.Brev, ir.Find, ir.Ext, ir.Bfe, ir.Bfi, ir.Mask, ir.Sgxt, ir.Perm, ir.Dot4, ir.Dot2, ir.Sad, ir.Nth,
		ir.Join, ir.HighWord}
	kinds := []ir.Type{ir.Pred, ir.U8, ir.U16, ir.U32, ir.U64, ir.S8, ir.S16, ir.S32, ir.S64}
	number := func() uint64 { return r.Uint64() >> r.IntN(64) }
	tight := map[ir.Code]bool{}
	for range 400_000 {
		o := ir.Op{Code: codes[r.IntN(len(codes))], Type: kinds[r.IntN(len(kinds))], To: kinds[1+r.IntN(len(kinds)-1)], Cond: ir.Cond(r.IntN(6)), Imm: r.Uint64() & 255,
			Mode: []ir.Mode{0, 0, 0, ir.Wrap, ir.Sat, ir.Left, ir.High, ir.Relu}[r.IntN(8)], Src: [4]ir.Reg{0, 1, 2, 3}}
		if o.Type == ir.Pred && o.Code >= ir.Funnel && o.Code != ir.Sel {
			continue
		}
		of, s := map[ir.Reg][2]uint64{}, [4]uint64{}
		for i := range s {
			a, b := number(), number()
			if r.IntN(3) == 0 {
				b = a + uint64(r.IntN(3))
			}
			a, b = min(a, b), max(a, b)
			of[ir.Reg(i)] = [2]uint64{a, b}
			s[i] = []uint64{a, b, a + (b-a)/2, a + r.Uint64()%max(b-a, 1)}[r.IntN(4)]
		}
		low, high := refine.ResultOf(&o, of)
		for _, undefined := range []uint64{0, ^uint64(0)} {
			if v := ir.Eval(&o, &s, undefined); v < low || v > high {
				require.Fail(t, "out of bounds", "%+v of %#x within %#x: %#x, not %#x to %#x", o, s, of, v, low, high)
			}
		}
		tight[o.Code] = tight[o.Code] || o.Type.Bits() == 64 && high < 1<<60
	}
	for _, c := range []ir.Code{ir.Add, ir.Sub, ir.Mul, ir.And, ir.Or, ir.Lop3, ir.Shl, ir.Shr, ir.Min, ir.Max, ir.Div, ir.Rem, ir.Sel} {
		require.True(t, tight[c], "code %d", c)
	}
}

// TestFloatBounds: the same of floating-point numbers, and what comparisons of them may say.
func TestFloatBounds(t *testing.T) {
	r := rand.New(rand.NewPCG(32, 3))
	arity := map[ir.Code]int{ir.FAdd: 2, ir.FMul: 2, ir.FFma: 3, ir.FDiv: 2, ir.FSqrt: 1, ir.FRcp: 1, ir.FCvt: 1, ir.FToI: 1, ir.IToF: 1, ir.FRint: 1, ir.Min: 2, ir.Max: 2,
		ir.Abs: 1, ir.Neg: 1, ir.Mov: 1, ir.Sel: 3, ir.Cmp: 2, ir.CopySign: 2, ir.Approx: 1}
	codes := slices.Sorted(maps.Keys(arity))
	floats, ints := []ir.Type{ir.F32, ir.F64, ir.F16}, []ir.Type{ir.U8, ir.U16, ir.U32, ir.U64, ir.S8, ir.S16, ir.S32, ir.S64}
	edges := []uint64{0, 1, 0x7f800000, 0x7f7fffff, 0x7f800001, 0x3f800000, 0x00800000, 0x80000000, 0x7ff << 52, 0x7ff<<52 - 1, 0x3ff << 52, 1 << 63, 1 << 52}
	tight := map[ir.Code]bool{}
	for range 600_000 {
		o := ir.Op{Code: codes[r.IntN(len(codes))], Type: floats[r.IntN(3)], To: floats[r.IntN(3)], Cond: ir.Cond(r.IntN(16)),
			Mode: ir.Mode(r.IntN(4)) | []ir.Mode{0, 0, 0, ir.FTZ, ir.Sat, ir.NaN, ir.XorSign, ir.SatFinite, ir.AnyNaN}[r.IntN(9)], Src: [4]ir.Reg{0, 1, 2, 3}}
		switch o.Code {
		case ir.IToF:
			o.Type = ints[r.IntN(len(ints))]
		case ir.FToI:
			o.To = ints[r.IntN(len(ints))]
		case ir.Approx:
			o.Type, o.Imm = ir.F32, uint64(ir.ApproxEx2)
		}
		for i := arity[o.Code]; i < 4; i++ {
			o.Src[i] = ir.None
		}
		of, s := map[ir.Reg][2]uint64{}, [4]uint64{}
		for i := range s {
			width := o.Type.Bits()
			if o.Code == ir.Sel && i == 0 {
				width = 1
			}
			number := func() uint64 {
				v := r.Uint64() >> r.IntN(64)
				switch r.IntN(4) {
				case 0:
					v = edges[r.IntN(len(edges))]
				case 1:
					v = uint64(math.Float32bits(r.Float32() * 100))
				case 2:
					v = math.Float64bits(r.Float64() * 100)
				}
				return v & (^uint64(0) >> (64 - width))
			}
			a, b := number(), number()
			a, b = min(a, b), max(a, b)
			of[ir.Reg(i)] = [2]uint64{a, b}
			s[i] = []uint64{a, b, a + (b-a)/2, a + r.Uint64()%max(b-a, 1)}[r.IntN(4)]
		}
		v := ir.Eval(&o, &s, []uint64{0, ^uint64(0)}[r.IntN(2)])
		if low, high := refine.ResultOf(&o, of); v < low || v > high {
			require.Fail(t, "out of bounds", "%+v of %#x within %#x: %#x, not %#x to %#x", o, s, of, v, low, high)
		} else {
			tight[o.Code] = tight[o.Code] || high < 0x7f7fffff
		}
		if o.Code != ir.Cmp {
			continue
		}
		if may := refine.MayBe(&o, of); !may[v&1] {
			require.Fail(t, "an outcome", "%+v of %#x within %#x: %d", o, s, of, v)
		} else {
			tight[ir.Cmp] = tight[ir.Cmp] || !may[1-v&1]
		}
	}
	for _, c := range []ir.Code{ir.FAdd, ir.FMul, ir.FFma, ir.FSqrt, ir.FCvt, ir.FToI, ir.IToF, ir.FRint, ir.Min, ir.Max, ir.Mov, ir.Sel, ir.Cmp} {
		require.True(t, tight[c], "code %d", c)
	}
}
