package emu

import (
	"encoding/binary"
	"testing"

	"optcheck/ir"
)

// sum is a kernel: out[tid] = Σ i·i for i < tid, with a loop, then a barrier, then out[tid] += out[tid^1].
func sum(t testing.TB, n uint64) *Code {
	b := ir.NewBuilder("sum")
	tid, i, acc, p, addr, v, addr2 := b.Reg(), b.Reg(), b.Reg(), b.Reg(), b.Reg(), b.Reg(), b.Reg()
	b.P.Params = []ir.Var{{Name: "out", Size: 8}}
	out := b.Reg()
	do := func(e ir.Effect) { b.Begin().Do = e }
	op := func(dst ir.Reg, c ir.Code, ty ir.Type, src ...ir.Reg) *ir.Op {
		in := b.Begin()
		return b.To(&in.Pre, dst, c, ty, src...)
	}
	do(&ir.Access{Kind: ir.Load, Space: ir.Param, Bytes: 8, Elems: 1, Type: ir.U64, Addr: ir.None, Data: []ir.Reg{out}, Done: ir.None, AddrBits: 64})
	do(&ir.Special{Reg: ir.TidX, Dst: tid})
	op(i, ir.Mov, ir.U32, b.Const(0))
	op(acc, ir.Mov, ir.U32, b.Const(0))
	loop := int32(len(b.P.Insts))
	op(v, ir.Mul, ir.U32, i, i)
	op(acc, ir.Add, ir.U32, acc, v)
	op(i, ir.Add, ir.U32, i, b.Const(1))
	op(v, ir.Add, ir.U32, tid, b.Const(n))
	op(p, ir.Cmp, ir.U32, i, v).Cond = ir.LT
	do(&ir.Flow{Kind: ir.Jump, Cond: p, Target: loop, Mask: ir.None})
	op(addr, ir.Shl, ir.U64, tid, b.Const(2))
	op(addr, ir.Add, ir.U64, addr, out)
	do(&ir.Access{Kind: ir.Store, Space: ir.Global, Bytes: 4, Elems: 1, Type: ir.U32, Addr: addr, Data: []ir.Reg{acc}, Done: ir.None, AddrBits: 64})
	do(&ir.Barrier{Kind: ir.BarrierSync, ID: ir.None, Count: ir.None, Src: ir.None, Dst: ir.None})
	op(addr2, ir.Xor, ir.U64, addr, b.Const(4))
	do(&ir.Access{Kind: ir.Load, Space: ir.Global, Bytes: 4, Elems: 1, Type: ir.U32, Addr: addr2, Data: []ir.Reg{v}, Done: ir.None, AddrBits: 64})
	do(&ir.Barrier{Kind: ir.BarrierSync, ID: ir.None, Count: ir.None, Src: ir.None, Dst: ir.None})
	op(acc, ir.Add, ir.U32, acc, v)
	do(&ir.Access{Kind: ir.Store, Space: ir.Global, Bytes: 4, Elems: 1, Type: ir.U32, Addr: addr, Data: []ir.Reg{acc}, Done: ir.None, AddrBits: 64})
	do(&ir.Flow{Kind: ir.Exit, Cond: ir.None, Mask: ir.None})
	b.P.Funcs = []ir.Func{{Name: "sum", End: int32(len(b.P.Insts))}}
	c, err := Prepare(&b.P)
	if err != nil {
		t.Fatal(err)
	}
	return c
}

const out = 0x7f00_0000_0000

func launch(threads int) *Launch {
	return &Launch{Grid: [3]int{1, 1, 1}, Block: [3]int{threads, 1, 1}, Params: binary.LittleEndian.AppendUint64(nil, out)}
}

func squares(n uint64) (s uint64) {
	for i := uint64(0); i < max(n, 1); i++ {
		s += i * i
	}
	return s
}

func TestSum(t *testing.T) {
	for _, p := range []Policy{{}, {Reverse: true, Quantum: 7, Fill: ^uint64(0)}} {
		g, err := NewGrid(sum(t, 0), launch(96), NewMemory(func(Word, Kind) uint32 { return 0 }), p, true)
		if err != nil {
			t.Fatal(err)
		}
		if err := g.Run(); err != nil {
			t.Fatal(err)
		}
		for i := range uint64(96) {
			got := binary.LittleEndian.Uint32(g.Memory.Bytes(out+4*i, 4))
			if want := uint32(squares(i) + squares(i^1)); got != want {
				t.Errorf("%+v: thread %d: %d, want %d", p, i, got, want)
			}
		}
		r := g.Records[5]
		if len(r.Events) != 2 || len(r.Epochs) != 3 || r.Epochs[0].Len() != 1 || r.Epochs[1].Len() != 0 || r.Epochs[2].Len() != 1 {
			t.Errorf("record: %d events, epochs %v", len(r.Events), r.Epochs)
		}
	}
}

// BenchmarkLanes counts instructions of lanes a second, of diverging loops.
func BenchmarkLanes(b *testing.B) {
	c := sum(b, 200)
	b.ResetTimer()
	var steps int64
	for range b.N {
		g, err := NewGrid(c, launch(256), NewMemory(func(Word, Kind) uint32 { return 0 }), Policy{}, false)
		if err != nil {
			b.Fatal(err)
		}
		if err := g.Run(); err != nil {
			b.Fatal(err)
		}
		steps += g.Steps
	}
	b.ReportMetric(float64(steps)/b.Elapsed().Seconds()/1e6, "Mlane-insts/s")
}

// traffic is a kernel whose loop loads, computes in f32, stores, and exchanges through shared memory: half of its instructions are accesses
// and operations of floating point.
func traffic(t testing.TB, n uint64) *Code {
	b := ir.NewBuilder("traffic")
	tid, i, p, addr, v, at := b.Reg(), b.Reg(), b.Reg(), b.Reg(), b.Reg(), b.Reg()
	b.P.Params = []ir.Var{{Name: "out", Size: 8}}
	do := func(e ir.Effect) { b.Begin().Do = e }
	op := func(dst ir.Reg, c ir.Code, ty ir.Type, src ...ir.Reg) *ir.Op {
		in := b.Begin()
		return b.To(&in.Pre, dst, c, ty, src...)
	}
	access := func(k ir.AccessKind, s ir.Space, addr ir.Reg, bits int) {
		do(&ir.Access{Kind: k, Space: s, Bytes: 4, Elems: 1, Type: ir.U32, Addr: addr, Data: []ir.Reg{v}, Done: ir.None, AddrBits: bits})
	}
	do(&ir.Access{Kind: ir.Load, Space: ir.Param, Bytes: 8, Elems: 1, Type: ir.U64, Addr: ir.None, Data: []ir.Reg{addr}, Done: ir.None, AddrBits: 64})
	do(&ir.Special{Reg: ir.TidX, Dst: tid})
	op(at, ir.Shl, ir.U32, tid, b.Const(2))
	op(addr, ir.Add, ir.U64, addr, at)
	op(i, ir.Mov, ir.U32, b.Const(0))
	loop := int32(len(b.P.Insts))
	access(ir.Load, ir.Global, addr, 64)
	op(v, ir.FFma, ir.F32, v, b.Const(0x3f800001), b.Const(0x3f000000))
	access(ir.Store, ir.Shared, at, 32)
	op(v, ir.FAdd, ir.F32, v, b.Const(0x3f800000))
	access(ir.Store, ir.Global, addr, 64)
	op(addr, ir.Add, ir.U64, addr, b.Const(4096))
	op(i, ir.Add, ir.U32, i, b.Const(1))
	op(p, ir.Cmp, ir.U32, i, b.Const(n)).Cond = ir.LT
	do(&ir.Flow{Kind: ir.Jump, Cond: p, Target: loop, Mask: ir.None})
	do(&ir.Flow{Kind: ir.Exit, Cond: ir.None, Mask: ir.None})
	b.P.Funcs = []ir.Func{{Name: "traffic", End: int32(len(b.P.Insts))}}
	c, err := Prepare(&b.P)
	if err != nil {
		t.Fatal(err)
	}
	return c
}

// BenchmarkTraffic counts instructions of lanes a second, of accesses that are recorded.
func BenchmarkTraffic(b *testing.B) {
	c := traffic(b, 64)
	b.ResetTimer()
	var steps int64
	for range b.N {
		g, err := NewGrid(c, launch(256), NewMemory(func(Word, Kind) uint32 { return 0x3f800000 }), Policy{}, true)
		if err != nil {
			b.Fatal(err)
		}
		if err := g.Run(); err != nil {
			b.Fatal(err)
		}
		steps += g.Steps
	}
	b.ReportMetric(float64(steps)/b.Elapsed().Seconds()/1e6, "Mlane-insts/s")
}

// TestDone: a run that nobody wants any more ends, as one that reaches its bound does.
func TestDone(t *testing.T) {
	done := make(chan struct{})
	close(done)
	g, err := NewGrid(sum(t, 1<<20), launch(32), NewMemory(func(Word, Kind) uint32 { return 0 }), Policy{Done: done, MaxSteps: 1 << 30}, false)
	if err != nil {
		t.Fatal(err)
	}
	if err := g.Run(); err != ErrSteps || g.Steps > 1<<16 {
		t.Errorf("%v after %d steps", err, g.Steps)
	}
}
