package optcheck

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"optcheck/internal/limits"
	"optcheck/isa"
	"optcheck/litmus"
	"optcheck/spec"
	"optcheck/target"
)

// TestDemands: on every target whose code has strengths, an access with semantics or a cache operator demands something, and a weak one
// nothing; on AMD's, it must avoid the scalar cache as well.
func TestDemands(t *testing.T) {
	sems := []litmus.Sem{litmus.SemNone, litmus.SemWeak, litmus.SemRelaxed, litmus.SemAcquire, litmus.SemRelease, litmus.SemVolatile,
		litmus.SemMMIO}
	for _, op := range []litmus.Op{litmus.OpLd, litmus.OpSt} {
		for _, sem := range sems {
			k := spec.Kind{Op: op, Sem: sem, Scope: litmus.ScopeSys, Width: 4, Space: litmus.Global}
			weak := sem == litmus.SemNone || sem == litmus.SemWeak
			require.Equal(t, weak, nvidia{sm: 80}.need(k) == need{}, "%+v", k)
			for _, name := range []string{"gfx900", "gfx90a", "gfx942", "gfx1030", "gfx1200"} {
				a, err := archOf(name)
				require.NoError(t, err)
				b, vector := a.(*amd).model.need(k)
				require.Equal(t, weak, !vector, "%s %+v", name, k)
				require.False(t, weak && b != amdBits{}, "%s %+v", name, k)
			}
		}
	}
	for cache, want := range map[litmus.CacheOp]string{litmus.CacheNone: "", litmus.CacheCA: "", litmus.CacheCG: "CG", litmus.CacheCV: "CV",
		litmus.CacheWT: "WT"} {
		n := nvidia{sm: 60}.need(spec.Kind{Op: map[bool]litmus.Op{true: litmus.OpSt, false: litmus.OpLd}[cache == litmus.CacheWT], Cache: cache})
		require.Equal(t, need{cache: want}, n, "%v", cache)
		n = nvidia{sm: 70}.need(spec.Kind{Op: litmus.OpLd, Cache: cache})
		require.Equal(t, cacheRank(want) > 0, n.strength == isa.Strong, "%v", cache)
	}
}

// TestReduces: a reduction implements an atomic that does not acquire, for it returns nothing to acquire by.
func TestReduces(t *testing.T) {
	for sem := litmus.SemNone; sem <= litmus.SemMMIO; sem++ {
		acquires := sem == litmus.SemAcquire || sem == litmus.SemAcqRel || sem == litmus.SemSC
		require.Equal(t, !acquires, mayReduce(spec.Entry{Unread: true, Kind: spec.Kind{Op: litmus.OpAtom, Sem: sem}}), "%v", sem)
		require.True(t, mayReduce(spec.Entry{Kind: spec.Kind{Op: litmus.OpRed, Sem: sem}}), "%v", sem)
	}
}

// TestExtended: a narrow load leaves in its register what it reads, extended by zeros or by its sign as its modifiers say.
func TestExtended(t *testing.T) {
	for mod, want := range map[string]func(uint32) uint32{
		"U8": func(w uint32) uint32 { return uint32(uint8(w)) }, "U16": func(w uint32) uint32 { return uint32(uint16(w)) },
		"S8": func(w uint32) uint32 { return uint32(int8(w)) }, "S16": func(w uint32) uint32 { return uint32(int16(w)) },
		"": func(w uint32) uint32 { return w },
	} {
		width := map[string]int{"U8": 1, "S8": 1, "U16": 2, "S16": 2, "": 4}[mod]
		in := isa.Inst{Role: isa.RoleLoad, Mods: []string{"E", mod}, Mem: isa.Mem{Width: width}}
		p := &pass{tr: &trace{fn: &isa.Func{Insts: []isa.Inst{in}}, reads: []int{0}, events: []event{{role: isa.RoleLoad, mem: in.Mem}}}}
		for _, w := range []uint32{0, 1, 0x7f, 0x80, 0xff, 0x7fff, 0x8000, 0xffff, 0x12348765, 1<<32 - 1} {
			require.Equal(t, want(w), p.read(0, w), "%s of %x", mod, w)
		}
	}
	for op, want := range map[string]extension{
		"buffer_load_dword": {}, "buffer_load_ubyte": {zero: true}, "buffer_load_ushort": {zero: true}, "buffer_load_sbyte": {},
		"scratch_load_u8": {zero: true}, "scratch_load_i8": {}, "buffer_load_ubyte_d16": {zero: true, half: "l"},
		"buffer_load_ubyte_d16_hi": {zero: true, half: "h"}, "buffer_load_sbyte_d16": {half: "l"}, "scratch_load_d16_u8": {zero: true, half: "l"},
		"scratch_load_d16_hi_i8": {half: "h"}, "scratch_store_d16_hi_b8": {half: "h"}, "buffer_load_short_d16": {zero: true, half: "l"},
	} {
		width := 1
		if strings.Contains(op, "short") {
			width = 2
		}
		require.Equal(t, want, extended(&isa.Inst{Op: op, Mem: isa.Mem{Width: width}}), op)
	}
}

// TestOpaqueApart: what two instructions compute of which only the sources are known is not the same, nor are two results of one.
func TestOpaqueApart(t *testing.T) {
	for _, name := range []string{"sm_80", "sm_52", "gfx900", "x86-64"} {
		a, err := archOf(name)
		require.NoError(t, err)
		reg := isa.Operand{Kind: isa.OpdReg, Reg: isa.Reg{Class: isa.ClassGPR, Num: 1}, Words: 1}
		for n := range 5 {
			mi := isa.Micro{Op: isa.MicroOpaque, Dst: isa.Reg{Class: isa.ClassGPR, Num: 2}, Src: slices.Repeat([]isa.Operand{reg}, n)}
			fn := &isa.Func{Arch: name, Insts: make([]isa.Inst, 2)}
			p := newValuePool()
			m := &machine{arch: a, tr: &trace{pool: p, fn: fn, arch: a}, guardV: none, cur: takeState(regMax)}
			m.cur.v[regIndex(reg.Reg)] = p.param(0)
			seen := map[value]bool{}
			for i := range 2 {
				for k := range 2 {
					v, _ := m.micro(i, k, &mi)
					require.False(t, seen[v], "%s with %d sources", name, n)
					seen[v] = true
				}
			}
		}
	}
}

// TestManySummands: the summands of a sum are told, whose number is bounded, and with the constants they are the sum.
func TestManySummands(t *testing.T) {
	for _, n := range []int{1, 5, maxTerms / 3, 3 * maxTerms} {
		p := newValuePool()
		list := make([]value, 0, n)
		for i := range int64(n) {
			list = append(list, p.addConst(p.param(4*i), 3))
		}
		for len(list) > 1 {
			list = append(list[2:], p.add(list[0], list[1]))
		}
		e := newEvaluator(&pass{tr: &trace{pool: p}, s: &spec.Spec{}})
		e.set(someWords{1, 2, 3, 5, 7, 11, 13})
		told, sum := 0, uint32(0)
		sum += p.terms(list[0], func(v value) {
			w, ok := e.eval(v, 0)
			require.True(t, ok)
			told, sum = told+1, sum+w
		})
		want, ok := e.eval(list[0], 0)
		require.True(t, ok)
		require.Equal(t, want, sum)
		require.LessOrEqual(t, told, maxTerms)
		require.Equal(t, n < maxTerms/2, told == n, "%d of %d", told, n)
	}
}

// TestStepsEnd: an analysis of control flow that takes more steps than it may is an error, whatever takes them.
func TestStepsEnd(t *testing.T) {
	defer limits.Use(limits.Default())
	fn := &isa.Func{Arch: "sm_80"}
	for i := range 300 { // nested loops whose blocks may be left
		in := isa.Inst{Addr: uint64(16 * i), Op: "BRA", Role: isa.RoleBranch, Flow: isa.FlowJump, Target: (i * 7) % 300,
			Guard: isa.Guard{Reg: isa.Reg{Class: isa.ClassPred, Num: 1}}}
		fn.Insts = append(fn.Insts, in)
	}
	fn.Insts = append(fn.Insts, isa.Inst{Op: "EXIT", Role: isa.RoleBranch, Flow: isa.FlowExit, Target: -1})
	fn.BuildCFG()
	_, err := newFlow(fn)
	require.NoError(t, err)
	for steps := range 40 {
		l := limits.Default()
		l.Steps = steps * 10
		limits.Use(l)
		_, err := newFlow(fn)
		require.Error(t, err, fmt.Sprint(steps))
	}
}

// TestMixedThreads: a machine has threads of one vendor's machine code.
func TestMixedThreads(t *testing.T) {
	found := map[string][]LiftedThread{}
	var x *litmus.Test
	cells := seekers(t)
	for i := range cells {
		s := &cells[i]
		if len(s.test.Threads) != 2 || s.harness != nil {
			continue
		}
		for n := range s.cell.Kernels {
			k := &s.cell.Kernels[n]
			want, err := spec.FromTest(s.test, k.Thread, s.layout)
			require.NoError(t, err)
			want.Digest = k.Digest
			r, err := k.Check.CheckAgainst(k.Func, want)
			require.NoError(t, err)
			if l, err := r.LiftMachine(); err == nil && x == nil || err == nil && s.test.Name == x.Name {

				x = s.test
				vendor := target.Vendor(s.cell.Target)
				found[vendor] = append(found[vendor], LiftedThread{l, want, k.Values})
			}
		}
	}
	require.Len(t, found, 2)
	for _, order := range [][2]string{{target.NVIDIA, target.AMD}, {target.AMD, target.NVIDIA}} {
		_, err := NewMachine(x, []LiftedThread{found[order[0]][0], found[order[1]][0]})
		require.ErrorContains(t, err, "thread 1 is not of")
	}
}

// TestManyCalls: to follow calls has an end, however many there are of functions that reach all of the code.
func TestManyCalls(t *testing.T) {
	const n = 8000
	fn := &isa.Func{Arch: "sm_80"}
	for i := range n {
		fn.Insts = append(fn.Insts, isa.Inst{Addr: uint64(16 * i), Op: "CALL", Flow: isa.FlowCall, Target: 13 * i % n, Role: isa.RoleBranch})
	}
	fn.BuildCFG()
	_, err := followed(fn)
	require.EqualError(t, err, "more than 20000000 steps; --limits steps=N allows more")
	fn.Insts = fn.Insts[:100]
	for i := range fn.Insts {
		fn.Insts[i].Target %= 100
	}
	fn.BuildCFG()
	_, err = followed(fn)
	require.NoError(t, err)
}

// TestCallsBack: a call is followed wherever the function stands that it calls: behind the call, or in front of it.
func TestCallsBack(t *testing.T) {
	at := func(i int, flow isa.Flow, target int) isa.Inst {
		return isa.Inst{Addr: uint64(16 * i), Op: "X", Flow: flow, Target: target, Role: isa.RoleBranch}
	}
	fn := &isa.Func{Arch: "sm_80", Insts: []isa.Inst{at(0, isa.FlowJump, 3), at(1, isa.FlowNext, -1), at(2, isa.FlowReturn, -1),
		at(3, isa.FlowCall, 1), at(4, isa.FlowExit, -1)}}
	fn.BuildCFG()
	got, err := followed(fn)
	require.NoError(t, err)
	reached := got.Reachable()
	for b := range got.Blocks {
		require.False(t, reached[b] && got.Insts[got.Blocks[b].End-1].Flow == isa.FlowCall, got.Insts)
	}
}
