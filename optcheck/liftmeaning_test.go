package optcheck

import (
	"math"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"optcheck/litmus"
	"optcheck/spec"
)

// liftedSource is the test whose machine code TestLiftedMeaning invents: x and y are words, w and v twice as wide, c and d the words of
// p.
const liftedSource = `GPU_PTX lifted
{
x=3; y=5; w=7; v=9; p=11;
0:.reg .s32 r1; 0:.reg .s64 r2; 0:.reg .s32 r3; 0:.reg .s32 r105; 0:.reg .b64 rd200; 0:.reg .b64 rdx = x;
}
 T0 ;
 ld.relaxed.gpu.s32 r1, [x] ;
 ld.relaxed.gpu.s64 r2, [w] ;
 xor.b32 r3, r1, 9 ;
 mov.s32 r105, 1 ;
 mov.b64 rd200, 1 ;
ScopeTree(grid(cta(warp T0)))
x: global, y: global, w: global, v: global, p: global
exists (0:r1=0 /\ 0:r2=0 /\ 0:r3=1)
`

// execution executes a thread of a test.
type execution struct {
	*rapid.T
	t      *litmus.Test
	regs   map[string]int64
	taints map[string]taint
	memory map[string]int64
	did    []*performed
}

// origin of the locations' addresses.
func (x *execution) address(a litmus.Addr) (string, taint) {
	if a.Reg == "" {
		return a.Loc, 0
	}
	at := x.regs[a.Reg]
	require.True(x, at >= 1000 && at%1000 == 0 && int(at/1000) <= len(x.t.Locations), "the address %d of %s", at, a.Reg)
	return x.t.Locations[at/1000-1].Name, x.taints[a.Reg]
}

func (x *execution) source(o litmus.Operand) (int64, taint) {
	if o.Kind == litmus.OperandReg {
		_, ok := x.taints[o.Name]
		require.True(x, ok, "%s is read and never written", o.Name)
		return x.regs[o.Name], x.taints[o.Name]
	}
	return o.Value, 0
}

// run executes the thread; reading accesses are numbered in order.
func (x *execution) run(th *litmus.Thread, number map[int]int) {
	for i, l := range x.t.Locations {
		x.memory[l.Name] = l.Init
		for _, d := range th.Regs {
			if d.Init.Kind == litmus.OperandLoc && d.Init.Name == l.Name {
				x.regs[d.Name], x.taints[d.Name] = int64(1000*(i+1)), 0
			}
		}
	}
	for i := range th.Body {
		in := &th.Body[i]
		cond := taint(0)
		if in.Dst != "" && x.t.Dialect == litmus.GPUPTX {
			require.NotNil(x, th.Decl(in.Dst), in.Dst)
		}
		if in.Guard != nil {
			g, t := x.source(litmus.Reg(in.Guard.Reg))
			if cond = t; (g != 0) == in.Guard.Neg { // what is not performed reads 0, and counts for no dependency
				if in.Dst != "" {
					x.regs[in.Dst], x.taints[in.Dst] = 0, 0
				}
				continue
			}
		}
		var a [3]int64
		data := taint(0)
		for k, o := range in.Src {
			v, t := x.source(o)
			a[k] = v
			data |= t
		}
		if !in.Op.IsAccess() {
			x.regs[in.Dst], x.taints[in.Dst] = in.Apply(a[0], a[1], a[2]), data|cond
			continue
		}
		loc, addr := x.address(in.Addr)
		p := &performed{loc: loc, addr: addr, data: data, cond: cond}
		before := x.memory[loc]
		x.memory[loc] = in.Type.Fit(map[bool]int64{true: a[0], false: before}[in.Op == litmus.OpSt || in.Atom == litmus.AtomExch])
		switch {
		case in.Atom == litmus.AtomAdd:
			x.memory[loc] = in.Type.Fit(before + a[0])
		case in.Atom == litmus.AtomCAS && in.Type.Fit(before) == in.Type.Fit(a[0]):
			x.memory[loc] = in.Type.Fit(a[1])
		}
		if p.wrote = uint64(x.memory[loc]); in.Type.Bits() == 32 {
			p.wrote &= math.MaxUint32
		}
		if in.Op == litmus.OpLd || in.Op == litmus.OpAtom {
			x.regs[in.Dst], x.taints[in.Dst] = in.Type.Fit(before), 0
			if r, ok := number[len(x.did)]; ok {
				x.taints[in.Dst] = 1 << r
			}
		}
		x.did = append(x.did, p)
	}
}

// TestLiftedMeaning: the test that machine code is lifted to accesses what the machine code accesses, writes what it writes, under
// the same conditions and with all of its dependencies.
func TestLiftedMeaning(t *testing.T) {
	src, err := litmus.Parse("lifted", []byte(liftedSource))
	require.NoError(t, err)
	want, err := spec.FromTest(src, 0, spec.Pointers)
	require.NoError(t, err)
	lifted := 0
	one := func(r *rapid.T) {
		d := &drawnLift{T: r, params: map[int64]uint32{}}
		values := []spec.Value{{Offset: 8, Bytes: 8, Const: int64(uint64(d.word())<<32 | uint64(d.word()))}, {Offset: 16, Bytes: 4,
			Const: int64(int32(d.word()))}}
		d.params = paramsOf(values)
		for _, l := range src.Locations {
			d.memory = append(d.memory, uint64(l.Init))
		}
		code := &Lifted{regs: map[int]*expr{}}
		var did []*performed
		number := map[int]int{} // of performed accesses: which read each is
		for range 1 + d.below(5) {
			o, p := d.op(src)
			if p != nil {
				if o.read >= 0 {
					number[len(did)] = o.read
				}
				did = append(did, p)
			}
			code.ops = append(code.ops, o)
		}
		code.reads = d.reads
		code.regs[0] = d.expr(2)
		if wide := d.pair(); wide[0].op == exLoad {
			code.regs[1] = wide[0]
		} else {
			code.regs[1] = &expr{op: exPair, args: []*expr{d.expr(1), d.expr(1)}}
		}
		for i, x := range d.reads {
			if x.entry >= 0 { // what the test's own access reads is in its register
				code.regs[x.entry] = &expr{op: exLoad, read: i}
			}
		}
		test := src.Clone()
		if d.below(2) == 0 {
			test.Dialect = litmus.PTX
		}
		list, err := LiftTest(test, []LiftedThread{{code, want, values}})
		if err != nil {
			return
		}
		lifted++
		require.Len(r, list, 1)
		require.NoError(r, list[0].Test.Check(), "%s", list[0].Test)
		x := &execution{T: r, t: list[0].Test, regs: map[string]int64{}, taints: map[string]taint{}, memory: map[string]int64{}}
		x.run(&x.t.Threads[0], number)
		text, done := list[0].Test.String(), taint(0)
		for r, runs := range d.done {
			if runs {
				done |= 1 << r
			}
		}
		require.Len(r, x.did, len(did), text)
		for i, p := range did {
			q := x.did[i]
			require.Equal(r, [2]any{p.loc, p.wrote}, [2]any{q.loc, q.wrote}, "access %d of\n%s", i, text)
			if p.data == allReads {
				q.data = done
			}
			require.Equal(r, [3]taint{p.addr & done, p.data & done, p.cond & done}, [3]taint{q.addr, q.data, q.cond},
				"what access %d depends on in\n%s", i, text)
		}
		r1 := d.is(code.regs[0])
		if w, ok := code.regs[0].eval(d.params, func(r int) (uint32, bool) { return uint32(d.read[r]), true }); ok {
			require.Equal(r, r1, w, "%+v", code.regs[0])
		}
		require.Equal(r, [2]uint32{r1, r1 ^ 9}, [2]uint32{uint32(x.regs["r1"]), uint32(x.regs["r3"])}, text)
		wide := code.regs[1]
		is := int64(0)
		if wide.op == exLoad {
			is = int64(d.read[wide.read])
		} else {
			is = int64(uint64(d.is(wide.args[1]))<<32 | uint64(d.is(wide.args[0])))
		}
		require.Equal(r, is, x.regs["r2"], text)
	}
	for range 10 {
		rapid.Check(t, one)
	}
	require.Greater(t, lifted, 500)
}
