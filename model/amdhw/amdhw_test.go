package amdhw

import (
	"context"
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"
)

// The systems of the families, as package optcheck has them.
var (
	gfx7   = System{Name: "GFX7", SharedL1: true}
	gfx942 = System{Name: "GFX942", SharedL1: true, Middle: true, WriteBack: true}
	gfx10  = System{Name: "GFX10", Middle: true}
)

// Counters of the tests, as on GFX10: vector loads, vector stores, the rest. GFX7
// counts stores with loads.
const (
	vm = iota + 1
	vs
	lgkm
)

const (
	x = iota
	y
	z
)

func constant(k uint32) Expr {
	return func(func(int) (uint32, bool)) (uint32, bool) { return k, true }
}

func reg(i int) Expr {
	return func(read func(int) (uint32, bool)) (uint32, bool) { return read(i) }
}

func count(c uint8, class uint8) []Count { return []Count{{c, class, true}} }

func ld(loc, r int, l Level) Op {
	return Op{Kind: Load, Text: fmt.Sprintf("load %d", loc), Loc: loc, Read: r, Level: l, Counts: count(vm, 1)}
}

func sload(loc, r int) Op {
	return Op{Kind: Load, Text: fmt.Sprintf("s_load %d", loc), Loc: loc, Read: r, Scalar: true, Counts: count(lgkm, 0)}
}

// st returns a store that counter c counts and that goes through to memory.
func st(loc int, k uint32, c uint8) Op {
	return Op{Kind: Store, Text: fmt.Sprintf("store %d", loc), Loc: loc, Read: -1, Through: true, Data: []Expr{constant(k)}, Counts: count(c, 1)}
}

func rmw(loc, r int, f func(uint32, []uint32) uint32) Op {
	return Op{Kind: RMW, Text: "atomic", Loc: loc, Read: r, Apply: f, Counts: count(vm, 1)}
}

func behind(o Op) Op { o.Through = false; return o }
func local(o Op) Op  { o.LDS, o.Counts = true, count(lgkm, 2); return o }
func when(o Op, e Expr) Op {
	o.Guard = e
	return o
}
func storing(o Op, e Expr) Op { o.Data = []Expr{e}; return o }

func wait(c uint8, n int) Op {
	return Op{Kind: Wait, Text: "wait", Read: -1, Until: []Until{{c, n}}}
}

var (
	inv1      = Op{Kind: Invalidate, Text: "inv first", Read: -1, First: true}
	invMiddle = Op{Kind: Invalidate, Text: "inv middle", Read: -1, Middle: true}
	invBoth   = Op{Kind: Invalidate, Text: "inv", Read: -1, First: true, Middle: true}
	dcache    = Op{Kind: Invalidate, Text: "s_dcache_inv", Read: -1, ScalarCache: true}
	wbl2      = Op{Kind: WriteBack, Text: "wbl2", Read: -1, Counts: count(vm, 1)}
	arrive    = Op{Kind: Arrive, Text: "signal", Read: -1}
	meet      = Op{Kind: Meet, Text: "barrier", Read: -1}
)

// program puts waves together, each in a work-group of its own.
func program(s System, threads ...[]Op) *Program {
	p := &Program{System: s, Init: make([]uint32, 3)}
	for i, ops := range threads {
		p.Threads = append(p.Threads, Thread{Ops: ops, Group: i, Reads: 4})
	}
	return p
}

// together puts the waves of a program into one work-group.
func together(p *Program) *Program {
	for i := range p.Threads {
		p.Threads[i].Group = 0
	}
	return p
}

// reaches reports whether a program can end so that a predicate holds, and whether
// it can without old lines in caches.
func reaches(t *testing.T, p *Program, bad func(*Final) bool) (any, fresh bool) {
	t.Helper()
	for _, p.Fresh = range []bool{false, true} {
		ends := 0
		require.NoError(t, Explore(context.Background(), p, func(f *Final, schedule func() []Step) error {
			ends++
			if bad(f) {
				if p.Fresh {
					fresh = true
				} else {
					any = true
				}
				require.NotEmpty(t, schedule())
			}
			return nil
		}))
		require.Positive(t, ends)
	}
	return any, fresh
}

// saw returns the end at which the last thread read a in register 0 and b in register 1.
func saw(a, b uint32) func(*Final) bool {
	return func(f *Final) bool {
		r := f.Read[len(f.Read)-1]
		return r[0] == a && r[1] == b
	}
}

// bothZero returns the weak end of store buffering.
func bothZero(f *Final) bool { return f.Read[0][0] == 0 && f.Read[1][0] == 0 }

// bothSaw is the end at which two readers saw two stores in different orders.
func bothSaw(f *Final) bool {
	return f.Read[2][0] == 1 && f.Read[2][1] == 0 && f.Read[3][0] == 1 && f.Read[3][1] == 0
}

// TestKnownCases: small programs whose answer is known by hand. Always is what is
// possible whatever the caches hold, old what needs an old line.
func TestKnownCases(t *testing.T) {
	const never, old, always = "never", "old line", "always"
	type T = []Op
	writer := T{st(x, 1, vm), wait(vm, 0), st(y, 1, vm)}   // GFX7, GFX942
	writer10 := T{st(x, 1, vs), wait(vs, 0), st(y, 1, vs)} // GFX10
	reader := func(between ...Op) T {
		return append(append(T{ld(y, 0, Coherent)}, between...), ld(x, 1, Cached))
	}
	for _, c := range []struct {
		name string
		p    *Program
		bad  func(*Final) bool
		want string
	}{
		{"mp without waits", program(gfx7, T{st(x, 1, vm), st(y, 1, vm)}, T{ld(y, 0, Coherent), ld(x, 1, Coherent)}), saw(1, 0), always},
		{"mp, the reader does not wait", program(gfx7, writer, T{ld(y, 0, Coherent), ld(x, 1, Coherent)}), saw(1, 0), always},
		{"mp, the writer does not wait", program(gfx7, T{st(x, 1, vm), st(y, 1, vm)}, T{ld(y, 0, Coherent), wait(vm, 0), ld(x, 1, Coherent)}), saw(1, 0), always},
		{"mp with waits", program(gfx7, writer, T{ld(y, 0, Coherent), wait(vm, 0), ld(x, 1, Coherent)}), saw(1, 0), never},
		{"mp, a wait for the wrong counter", program(gfx10, T{st(x, 1, vs), wait(vm, 0), st(y, 1, vs)}, T{ld(y, 0, Coherent), wait(vm, 0), ld(x, 1, Coherent)}), saw(1, 0), always},
		{"mp, a wait that lets one through", program(gfx7, writer, T{ld(y, 0, Coherent), wait(vm, 1), ld(x, 1, Coherent)}), saw(1, 0), always},
		{"mp, a wait that lets a later one through", program(gfx7, writer, T{ld(y, 0, Coherent), ld(z, 2, Coherent), wait(vm, 1), ld(x, 1, Coherent)}), saw(1, 0), never},
		{"the same of scalar loads completes nothing", program(gfx7, writer, T{sload(y, 0), sload(z, 2), wait(lgkm, 1), ld(x, 1, Coherent)}), saw(1, 0), always},

		{"an old line of the L1", program(gfx7, writer, reader(wait(vm, 0))), saw(1, 0), old},
		{"the L1 invalidated", program(gfx7, writer, reader(wait(vm, 0), inv1)), saw(1, 0), never},
		{"the L1 invalidated before the flag is read", program(gfx7, writer, reader(inv1, wait(vm, 0))), saw(1, 0), old},
		{"a scalar load behind the invalidation of the L1", program(gfx7, writer, T{ld(y, 0, Coherent), wait(vm, 0), inv1, sload(x, 1)}), saw(1, 0), old},
		{"a scalar load behind that of its own cache", program(gfx7, writer, T{ld(y, 0, Coherent), wait(vm, 0), dcache, sload(x, 1)}), saw(1, 0), never},
		{"a scalar load without a wait", program(gfx7, writer, T{ld(y, 0, Coherent), inv1, dcache, sload(x, 1)}), saw(1, 0), always},
		{"a load under way fills its line behind the invalidation", program(gfx7, writer, T{ld(x, 2, Cached), ld(y, 0, Coherent), wait(vm, 2), inv1, wait(vm, 0), ld(x, 1, Cached)}), saw(1, 0), old},

		{"GFX10: both levels invalidated", program(gfx10, writer10, reader(wait(vm, 0), invMiddle, inv1)), saw(1, 0), never},
		{"GFX10: the first alone", program(gfx10, writer10, reader(wait(vm, 0), inv1)), saw(1, 0), old},
		{"GFX10: in the wrong order", program(gfx10, writer10, reader(wait(vm, 0), inv1, invMiddle)), saw(1, 0), old},
		{"GFX10: a load behind the first level", program(gfx10, writer10, T{ld(y, 0, Coherent), wait(vm, 0), ld(x, 1, BypassFirst)}), saw(1, 0), old},
		{"GFX10: the middle level suffices for it", program(gfx10, writer10, T{ld(y, 0, Coherent), wait(vm, 0), invMiddle, ld(x, 1, BypassFirst)}), saw(1, 0), never},
		{"GFX10: one work-group shares the middle level", together(program(gfx10, writer10, T{ld(y, 0, BypassFirst), wait(vm, 0), ld(x, 1, BypassFirst)})), saw(1, 0), never},
		{"GFX10: but not the first", together(program(gfx10, writer10, reader(wait(vm, 0)))), saw(1, 0), old},
		{"GFX10: nor does it order", together(program(gfx10, T{st(x, 1, vs), st(y, 1, vs)}, T{ld(y, 0, BypassFirst), wait(vm, 0), inv1, ld(x, 1, Cached)})), saw(1, 0), always},

		{"GFX7: one work-group needs no waits", together(program(gfx7, T{st(x, 1, vm), st(y, 1, vm)}, T{ld(y, 0, Cached), ld(x, 1, Cached)})), saw(1, 0), never},
		{"GFX7: but scalar loads do", together(program(gfx7, T{st(x, 1, vm), st(y, 1, vm)}, T{ld(y, 0, Cached), wait(vm, 0), dcache, sload(x, 1)})), saw(1, 0), always},
		{"GFX7: a barrier", together(program(gfx7, T{st(x, 1, vm), arrive, meet}, T{arrive, meet, ld(x, 0, Cached)})), saw(0, 0), never},
		{"GFX7: a barrier and a scalar load, the store not awaited", together(program(gfx7, T{st(x, 1, vm), arrive, meet}, T{arrive, meet, dcache, sload(x, 0)})), saw(0, 0), always},
		{"GFX7: a barrier and a scalar load, the store awaited", together(program(gfx7, T{st(x, 1, vm), wait(vm, 0), arrive, meet}, T{arrive, meet, sload(x, 0)})), saw(0, 0), old},
		{"GFX10: a barrier waits for no store", together(program(gfx10, T{st(x, 1, vs), arrive, meet}, T{arrive, meet, ld(x, 0, BypassFirst)})), saw(0, 0), always},
		{"GFX10: it does if that is awaited", together(program(gfx10, T{st(x, 1, vs), wait(vs, 0), arrive, meet}, T{arrive, meet, ld(x, 0, BypassFirst)})), saw(0, 0), never},
		{"LDS is in order", together(program(gfx10, T{local(st(x, 1, vs)), local(st(y, 1, vs))}, T{local(ld(y, 0, Cached)), local(ld(x, 1, Cached))})), saw(1, 0), never},
		{"LDS and memory are not", together(program(gfx10, T{st(x, 1, vs), local(st(y, 1, vs))}, T{local(ld(y, 0, Cached)), wait(lgkm, 0), ld(x, 1, BypassFirst)})), saw(1, 0), always},

		{"GFX942: a store that stays behind", program(gfx942, T{behind(st(x, 1, vm)), wait(vm, 0), st(y, 1, vm)}, reader(wait(vm, 0), invBoth)), saw(1, 0), always},
		{"GFX942: written back", program(gfx942, T{behind(st(x, 1, vm)), wbl2, wait(vm, 0), st(y, 1, vm)}, reader(wait(vm, 0), invBoth)), saw(1, 0), never},
		{"GFX942: the write-back is not awaited", program(gfx942, T{behind(st(x, 1, vm)), wbl2, st(y, 1, vm)}, reader(wait(vm, 0), invBoth)), saw(1, 0), always},
		{"GFX942: the L1 alone invalidated", program(gfx942, writer, reader(wait(vm, 0), inv1)), saw(1, 0), old},

		{"sb without waits", program(gfx10, T{st(x, 1, vs), ld(y, 0, Coherent)}, T{st(y, 1, vs), ld(x, 0, Coherent)}), bothZero, always},
		{"sb with waits", program(gfx10, T{st(x, 1, vs), wait(vs, 0), ld(y, 0, Coherent)}, T{st(y, 1, vs), wait(vs, 0), ld(x, 0, Coherent)}), bothZero, never},
		{"lb without waits", program(gfx10, T{ld(x, 0, Coherent), st(y, 1, vs)}, T{ld(y, 0, Coherent), st(x, 1, vs)}),
			func(f *Final) bool { return f.Read[0][0] == 1 && f.Read[1][0] == 1 }, always},
		{"lb with waits", program(gfx10, T{ld(x, 0, Coherent), wait(vm, 0), st(y, 1, vs)}, T{ld(y, 0, Coherent), wait(vm, 0), st(x, 1, vs)}),
			func(f *Final) bool { return f.Read[0][0] == 1 && f.Read[1][0] == 1 }, never},

		{"coRR of scalar loads", program(gfx7, T{st(x, 1, vm)}, T{sload(x, 0), sload(x, 1)}), saw(1, 0), always},
		{"coRR of scalar loads with a wait", program(gfx7, T{st(x, 1, vm)}, T{sload(x, 0), wait(lgkm, 0), sload(x, 1)}), saw(1, 0), old},
		{"coRR of vector loads", program(gfx7, T{st(x, 1, vm)}, T{ld(x, 0, Coherent), ld(x, 1, Coherent)}), saw(1, 0), never},
		{"a wave sees its own store", program(gfx7, T{st(x, 1, vm), ld(x, 0, Cached), ld(x, 1, Coherent)}), func(f *Final) bool { return f.Read[0][0] == 0 || f.Read[0][1] == 0 }, never},
		{"a scalar load need not", program(gfx7, T{st(x, 1, vm), sload(x, 0)}), saw(0, 0), always},
		{"awaited, it must, but for an old line", program(gfx7, T{st(x, 1, vm), wait(vm, 0), sload(x, 0)}), saw(0, 0), old},
		{"a store seen early by a third work-group", program(gfx7, T{st(x, 1, vm)}, T{ld(x, 0, Cached), wait(vm, 0), storing(st(y, 1, vm), reg(0))},
			T{ld(y, 0, Coherent), wait(vm, 0), inv1, ld(x, 1, Cached)}), saw(1, 0), always},
		{"GFX942: a store that stays behind, seen by one reader of two", program(gfx942, T{behind(st(x, 1, vm))}, T{st(y, 1, vm)},
			T{ld(x, 0, Coherent), wait(vm, 0), ld(y, 1, Coherent)}, T{ld(y, 0, Coherent), wait(vm, 0), ld(x, 1, Coherent)}), bothSaw, always},
		{"GFX942: one that goes through", program(gfx942, T{st(x, 1, vm)}, T{st(y, 1, vm)},
			T{ld(x, 0, Coherent), wait(vm, 0), ld(y, 1, Coherent)}, T{ld(y, 0, Coherent), wait(vm, 0), ld(x, 1, Coherent)}), bothSaw, never},
	} {
		t.Run(c.name, func(t *testing.T) {
			any, fresh := reaches(t, c.p, c.bad)
			got := never
			if fresh {
				got = always
				require.True(t, any, "possible without old lines, but not with them")
			} else if any {
				got = old
			}
			require.Equal(t, c.want, got)
		})
	}
}

// TestAtomics: read-modify-writes are atomic, and conditions hold what they say.
func TestAtomics(t *testing.T) {
	add := func(old uint32, _ []uint32) uint32 { return old + 1 }
	for _, s := range []System{gfx7, gfx942, gfx10} {
		for _, p := range []*Program{program(s, []Op{rmw(x, 0, add)}, []Op{rmw(x, 0, add)}), together(program(s, []Op{rmw(x, 0, add)}, []Op{rmw(x, 0, add)}))} {
			lost, _ := reaches(t, p, func(f *Final) bool { return f.Memory[x] != 2 || f.Read[0][0] == f.Read[1][0] })
			require.False(t, lost, s.Name)
		}
	}
	isZero := func(read func(int) (uint32, bool)) (uint32, bool) {
		w, ok := read(0)
		return map[bool]uint32{true: 1}[w == 0], ok
	}
	p := program(gfx7, []Op{st(y, 1, vm)}, []Op{ld(y, 0, Coherent), wait(vm, 0), when(st(x, 7, vm), isZero)})
	wrong, _ := reaches(t, p, func(f *Final) bool { return (f.Memory[x] == 7) != (f.Read[1][0] == 0) })
	require.False(t, wrong)
}

// TestNoAnswer: what the model does not know is refused, never judged.
func TestNoAnswer(t *testing.T) {
	explore := func(p *Program) error {
		return Explore(t.Context(), p, func(*Final, func() []Step) error { return nil })
	}
	require.ErrorIs(t, explore(program(gfx7, []Op{ld(x, 0, Cached), storing(st(y, 0, vm), reg(0))})), ErrHazard)
	require.ErrorIs(t, explore(program(gfx7, []Op{ld(x, 0, Cached), wait(vm, 1), storing(st(y, 0, vm), reg(0))})), ErrHazard)
	require.NoError(t, explore(program(gfx7, []Op{ld(x, 0, Cached), wait(vm, 0), storing(st(y, 0, vm), reg(0))})))
	require.ErrorIs(t, explore(program(gfx7, []Op{when(ld(x, 0, Cached), constant(0)), storing(st(y, 0, vm), reg(0))})), ErrRefused)
	mixed := program(gfx7, []Op{st(x, 1, vm)}, []Op{st(x, 1, vm)}, []Op{st(x, 1, vm)})
	mixed.Threads[1].Group = 0
	require.ErrorIs(t, explore(mixed), ErrRefused)
	three := together(program(gfx10, []Op{st(x, 1, vs)}, []Op{st(x, 1, vs)}, []Op{st(x, 1, vs)}))
	require.ErrorIs(t, explore(three), ErrRefused)
	require.ErrorIs(t, explore(program(gfx10, []Op{local(st(x, 1, vs))}, []Op{local(st(x, 1, vs))})), ErrRefused)

	cancelled, stop := context.WithCancel(t.Context())
	stop()
	require.ErrorIs(t, Explore(cancelled, program(gfx7, []Op{st(x, 1, vm)}), func(*Final, func() []Step) error { return nil }), context.Canceled)
	defer func(n int) { maxStates = n }(maxStates)
	maxStates = 2000
	var many [][]Op
	for range 8 {
		many = append(many, []Op{st(x, 1, vm), ld(y, 0, Cached), st(y, 2, vm), ld(z, 1, Cached), st(z, 3, vm), ld(x, 2, Cached)})
	}
	require.ErrorIs(t, explore(program(gfx7, many...)), ErrLimit)
}
