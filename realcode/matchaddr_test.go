package realcode

import (
	"maps"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"optcheck/isa"
)

// placed is an access of machine code: its operation by its line (-1: none), its role and its address.
type placed struct {
	line   int
	role   isa.Role
	at     address
	strong bool
}

// matched is a checker of a kernel and accesses in global memory: those with an operation are its images.
func matched(t *testing.T, body string, code ...placed) *checker {
	t.Helper()
	c := checkerOf(t, "", body)
	insts := make([]isa.Inst, len(code))
	for i, x := range code {
		insts[i] = isa.Inst{Role: x.role, Mem: isa.Mem{Space: isa.SpaceGlobal, Strength: isa.Weak, Width: x.at.width}}
		if x.strong {
			insts[i].Mem.Strength, insts[i].Mem.Scope = isa.Strong, isa.ScopeGPU
		}
	}
	line := lineOf(insts...)
	c.mach, c.owner, c.byLine = line.mach, line.owner, map[int][]int32{}
	for k := range c.img {
		c.img[k].main = nil
	}
	for i, x := range code {
		if c.mach.addrs[i] = x.at; x.line >= 0 {
			c.owner[i], c.img[x.line].main = int32(x.line), append(c.img[x.line].main, int32(i))
		}
	}
	return c
}

// at is an address of four bytes.
func at(root string, offset int64) address { return address{root, offset, 4} }

const (
	twoStores = "st.global.u32 [d1], 1;\nst.global.u32 [d1+4], 2;\n"
	paramOf1  = "[k.p+0]"
)

// TestDistances: how far bases are apart is what most operations say, and is sure where at most one in five says something else.
func TestDistances(t *testing.T) {
	stores := func(n int) (body string) {
		for range n {
			body += "st.global.u32 [d1], 1;\n"
		}
		return body
	}
	says := func(offsets ...int64) (list []placed) {
		for k, o := range offsets {
			list = append(list, placed{k, isa.RoleStore, at("m", o), false})
		}
		return list
	}
	for _, x := range []struct {
		name        string
		body        string
		code        []placed
		known, sure bool
		distance    int64
	}{
		{"one", stores(1), says(8), true, false, 8}, {"four", stores(4), says(8, 8, 8, 8), true, true, 8},
		{"most", stores(3), says(8, 8, 0), true, false, 8},
		{"a tie", stores(2), says(8, 0), false, false, 0}, {"four of five", stores(5), says(8, 8, 8, 8, 0), true, true, 8},
		{"three of four", stores(4), says(8, 8, 8, 0), true, false, 8},
		{"wider ones, if there are no others", stores(1), []placed{{0, isa.RoleStore, address{"m", 8, 8}, false}}, true, false, 8},
		{"not wider ones, if there are", stores(2), []placed{{0, isa.RoleStore, address{"m", 8, 8}, false},
			{1, isa.RoleStore, at("m", 0), false}}, true, false, 0},
		{"not narrower ones", stores(1), []placed{{0, isa.RoleStore, address{"m", 8, 2}, false}}, false, false, 0},
		{"not of no known base", stores(1), []placed{{0, isa.RoleStore, at("", 8), false}}, false, false, 0},
		{"orphans, if nothing else is known", stores(1), []placed{{-1, isa.RoleStore, at("m", 8), false}}, true, false, 8},
		{"no orphan loads for a store", stores(1), []placed{{-1, isa.RoleLoad, at("m", 8), false}}, false, false, 0},
		{"no orphans of another width", stores(1), []placed{{-1, isa.RoleStore, address{"m", 8, 8}, false}}, false, false, 0},
		{"no orphans where something is known", stores(2), []placed{{0, isa.RoleStore, at("m", 8), false},
			{-1, isa.RoleStore, at("m", 4), false}}, true, false, 8},
		{"no weak orphan for a strong store", "st.relaxed.gpu.global.u32 [d1], 1;\n", []placed{{-1, isa.RoleStore, at("m", 8), false}}, false,
			false, 0},
		{"a strong orphan for one", "st.relaxed.gpu.global.u32 [d1], 1;\n", []placed{{-1, isa.RoleStore, at("m", 8), true}}, true, false, 8},
	} {
		c := matched(t, x.body, x.code...)
		got, sure := c.distances()
		d, known := got[rootPair{paramOf1, "m"}]
		require.Equal(t, []any{x.known, x.sure, x.distance}, []any{known, sure[rootPair{paramOf1, "m"}], d}, "%s: %v", x.name, got)
	}
	// A register may have had other values: half of what is said is not enough.
	c := matched(t, "ld.global.u64 d3, [d1];\nst.global.u32 [d3], 1;\nst.global.u32 [d3], 1;\nst.global.u32 [d3], 1;\nst.global.u32 [d3], 1;\n",
		placed{1, isa.RoleStore, at("m", 8), false}, placed{2, isa.RoleStore, at("m", 8), false}, placed{3, isa.RoleStore, at("m", 0), false},
		placed{4, isa.RoleStore, at("m", 4), false})
	got, _ := c.distances()
	require.Empty(t, got)
}

// TestOrphans: which accesses are nobody's.
func TestOrphans(t *testing.T) {
	for name, x := range map[string]struct {
		change func(*checker)
		want   bool
	}{
		"as it is": {func(*checker) {}, true}, "a store": {func(c *checker) { c.mach.insts[0].Role = isa.RoleStore }, true},
		"an atomic":            {func(c *checker) { c.mach.insts[0].Role = isa.RoleAtomic }, false},
		"somebody's":           {func(c *checker) { c.owner[0] = 0 }, false},
		"never come to":        {func(c *checker) { c.mach.reach[0] = false }, false},
		"never performed":      {func(c *checker) { c.mach.insts[0].Guard.Never = true }, false},
		"which space it is in": {func(c *checker) { c.mach.insts[0].Op = "QSPC" }, false},
		"of the thread":        {func(c *checker) { c.mach.insts[0].Mem.Space = isa.SpaceLocal }, false},
		"a constant":           {func(c *checker) { c.mach.insts[0].Mem.Space = isa.SpaceConst }, false},
		"nobody knows where":   {func(c *checker) { c.mach.addrs[0].root = "" }, false},
		"what a loop compares": {func(c *checker) { c.mach.insts[0].Src.Line, c.mach.insts[1].Mem.Atom = c.src.ops[0].Inst.N, "CAS" }, false},
		"beside an atomic":     {func(c *checker) { c.mach.insts[0].Src.Line = c.src.ops[0].Inst.N }, true},
		"on the line of something": {func(c *checker) { c.mach.insts[0].Src.Line, c.mach.insts[1].Mem.Atom = c.src.ops[0].Inst.N+1, "CAS" },
			true},
	} {
		c := matched(t, "atom.global.add.u32 r1, [d1], 1;\nst.global.u32 [d2], r1;\n", placed{-1, isa.RoleLoad, at("m", 0), false},
			placed{0, isa.RoleAtomic, at("m", 0), true})
		c.byLine[c.src.ops[0].Inst.N] = []int32{1}
		x.change(c)
		require.Equal(t, x.want, slices.Equal(c.orphans(), []int32{0}), name)
	}
}

// TestLone: the operation without an image to whose address an orphan goes.
func TestLone(t *testing.T) {
	const load, dead = "ld.global.u32 r1, [d1];\nst.global.u32 [d2], r1;\n", "ld.acquire.gpu.global.u32 r2, [d1];\n"
	orphan := func(strong bool) placed { return placed{-1, isa.RoleLoad, at("m", 8), strong} }
	for _, x := range []struct {
		name, body string
		code       []placed
		want       int
	}{
		{"the one that lacks it", load, []placed{orphan(false)}, 0}, {"it has one", load,
			[]placed{orphan(false), {0, isa.RoleLoad, at("m", 8), false}}, -1},
		{"elsewhere", load, []placed{{-1, isa.RoleLoad, at("m", 12), false}}, -1},
		{"of another base", load, []placed{{-1, isa.RoleLoad, at("n", 8), false}}, -1},
		{"a store", load, []placed{{-1, isa.RoleStore, at("m", 8), false}}, -1},
		{"wider", load, []placed{{-1, isa.RoleLoad, address{"m", 4, 8}, false}}, 0},
		{"two lack it, and there is one", load + load, []placed{orphan(false)}, -1},
		{"two lack it, and there are two", load + load, []placed{orphan(false), orphan(false)}, 0},
		{"two lack it, and there is a store",
			"ld.global.u32 r1, [d1];\nst.global.u32 [d1], r1;\nld.global.u32 r1, [d1];\nst.global.u32 [d2], r1;\n",
			[]placed{orphan(false), {-1, isa.RoleStore, at("m", 8), false}}, -1},
		{"a dead acquire", dead, []placed{orphan(true)}, 0}, {"a dead acquire, of a weak one", dead, []placed{orphan(false)}, -1},
		{"a dead acquire comes last", dead + load, []placed{orphan(true)}, 1},
		{"a dead load", "ld.relaxed.gpu.global.u32 r2, [d1];\n", []placed{orphan(true)}, -1},
		{"a dead acquire of another scope", "ld.acquire.sys.global.u32 r2, [d1];\n", []placed{orphan(true)}, -1},
		{"a strong one that is weak", "ld.relaxed.gpu.global.u32 r2, [d1];\nst.global.u32 [d2], r2;\n", []placed{orphan(false)}, -1},
	} {
		c := matched(t, x.body, x.code...)
		require.Equal(t, x.want, c.lone(0, map[rootPair]int64{{paramOf1, "m"}: 8}), x.name)
	}
}

// TestParent: a copy of an access on the line of a fence is that of the nearest operation that it can be.
func TestParent(t *testing.T) {
	const body = "ld.global.u32 r1, [d1];\nst.global.u32 [d2], r1;\nfence.acq_rel.gpu;\nld.global.u32 r2, [d1];\nst.global.u32 [d2], r2;\nld.global.u32 r2, [d1+64];\nst.global.u32 [d2], r2;\n"
	const fence, orphan = 2, 2
	code := []placed{{0, isa.RoleLoad, at("m", 8), false}, {3, isa.RoleLoad, at("m", 8), false}, {-1, isa.RoleLoad, at("m", 8), false}}
	for _, x := range []struct {
		name   string
		change func(*checker)
		want   int
	}{
		{"the nearest, the last of two", func(*checker) {}, 3},
		{"the nearer one", func(c *checker) { c.src.ops[3].Inst.N += 9 }, 0},
		{"not on the line of the fence", func(c *checker) { c.mach.insts[orphan].Src.Line++ }, -1},
		{"elsewhere", func(c *checker) { c.mach.addrs[orphan].offset = 0 }, -1},
		{"one that has none", func(c *checker) { c.img[3].main = nil }, 0},
		{"a store", func(c *checker) { c.mach.insts[orphan].Role = isa.RoleStore }, -1},
		{"narrower", func(c *checker) { c.mach.addrs[orphan].width = 2 }, -1},
		{"wider", func(c *checker) { c.mach.addrs[orphan].width = 8 }, 3},
		{"strong", func(c *checker) { c.mach.insts[orphan].Mem.Strength = isa.Strong }, -1},
		{"a strong one of strong ones", func(c *checker) {
			c.mach.insts[orphan].Mem.Strength, c.src.ops[0].Effect.Sem = isa.Strong, "relaxed"
		}, 0},
		{"a weak one of strong ones", func(c *checker) { c.src.ops[0].Effect.Sem, c.src.ops[3].Effect.Sem = "relaxed", "relaxed" }, -1},
		{"the cache of constants of strong ones", func(c *checker) {
			c.mach.insts[orphan].Mem.Strength, c.src.ops[0].Effect.Sem, c.src.ops[3].Effect.Sem = isa.Constant, "relaxed", "relaxed"
		}, -1},
		{"by its register", func(c *checker) { c.mach.addrs[orphan].root = "?phi9.R2" }, 3},
		{"by its register, that of the first", func(c *checker) {
			c.mach.addrs[orphan].root, c.mach.insts[1].Args = "?phi9.R2", []isa.Operand{{Kind: isa.OpdMem, Off: 4}}
		}, 0},
		{"by a known base's register", func(c *checker) { c.mach.addrs[orphan].root = "?phi7.R2" }, -1},
		{"by a parameter", func(c *checker) { c.mach.addrs[orphan].root = "c0.16" }, -1},
	} {
		c := matched(t, body, code...)
		for i := range code {
			c.mach.insts[i].Args = []isa.Operand{{Kind: isa.OpdMem}}
		}
		c.mach.insts[orphan].Src.Line = c.src.ops[fence].Inst.N
		x.change(c)
		require.Equal(t, x.want, c.parent(orphan, map[rootPair]int64{{paramOf1, "m"}: 8, {"s", "?phi7.R2"}: 0}), x.name)
	}
}

// TestWide: a weak operation without an image has the wider access of a neighbour, if nothing between the two synchronises.
func TestWide(t *testing.T) {
	wide := placed{0, isa.RoleStore, address{"m", 8, 8}, false}
	for _, x := range []struct {
		name, body string
		code       []placed
		change     func(*checker)
		want       []int32 // images of the second
	}{
		{"of a neighbour", twoStores, []placed{wide}, nil, []int32{0}},
		{"it has one", twoStores, []placed{wide, {1, isa.RoleStore, at("m", 12), false}}, nil, []int32{1}},
		{"no wider one", twoStores, []placed{{0, isa.RoleStore, at("m", 8), false}}, nil, nil},
		{"not these bytes", twoStores, []placed{{0, isa.RoleStore, address{"m", 4, 8}, false}}, nil, nil},
		{"of an unknown base", twoStores, []placed{{0, isa.RoleStore, address{"n", 8, 8}, false}}, nil, nil},
		{"of another base", "st.global.u32 [d2], 1;\nst.global.u32 [d1+4], 2;\n", []placed{wide}, nil, nil},
		{"a barrier between", "st.global.u32 [d1], 1;\nbar.sync 0;\nst.global.u32 [d1+4], 2;\n", []placed{wide}, nil, nil},
		{"another kind", "ld.global.u32 r1, [d1];\nst.global.u32 [d1+4], r1;\n", []placed{{0, isa.RoleLoad, address{"m", 8, 8}, false}}, nil,
			nil},
		{"strong", "st.global.u32 [d1], 1;\nst.relaxed.gpu.global.u32 [d1+4], 2;\n", []placed{wide}, nil, nil},
		{"of a strong one", "st.relaxed.gpu.global.u32 [d1], 1;\nst.global.u32 [d1+4], 2;\n", []placed{wide}, nil, nil},
		{"of one that its address told", twoStores, []placed{wide}, func(c *checker) { c.img[0].moved = true }, nil},
		{"that is another's by now", twoStores, []placed{wide}, func(c *checker) { c.owner[0] = 1 }, nil},
		{"nobody knows where", "st.global.u32 [d1], 1;\nst.global.u32 [r1*2], 2;\n", []placed{wide}, nil, nil},
	} {
		c := matched(t, x.body, x.code...)
		if x.change != nil {
			x.change(c)
		}
		last := len(c.src.ops) - 1
		c.wide(map[rootPair]int64{{paramOf1, "m"}: 8, {"", "m"}: 8})
		require.Equal(t, x.want, c.img[last].main, x.name)
		require.Equal(t, len(x.want) > 0 && x.name != "it has one", c.img[last].moved, x.name)
	}
}

// TestAcrossSynchronisation: a weak access without an image has the wider one of a neighbour that stands elsewhere, or that synchronises.
func TestAcrossSynchronisation(t *testing.T) {
	const stores = "st.global.u32 [d1+4], 2;\nst.release.gpu.global.u32 [d1], 1;\n"
	wide := func(line int) placed { return placed{line, isa.RoleStore, address{"m", 8, 8}, true} }
	for _, x := range []struct {
		name, body string
		code       []placed
		want       []int32 // images of the first
	}{
		{"of a release", stores, []placed{wide(1)}, []int32{0}}, {"no wider one", stores, []placed{{1, isa.RoleStore, at("m", 8), true}}, nil},
		{"of an unknown base", stores, []placed{{1, isa.RoleStore, address{"n", 8, 8}, true}}, nil},
		{"of another base", "st.global.u32 [d2+4], 2;\nst.release.gpu.global.u32 [d1], 1;\n", []placed{wide(1)}, nil},
		{"too far away", "st.global.u32 [d1+8], 2;\nst.release.gpu.global.u32 [d1], 1;\n", []placed{wide(1)}, nil},
		{"it has one", stores, []placed{wide(1), {0, isa.RoleStore, at("m", 12), false}}, []int32{1}},
		{"a strong one", "st.relaxed.gpu.global.u32 [d1+4], 2;\nst.release.gpu.global.u32 [d1], 1;\n", []placed{wide(1)}, nil},
		{"of an atomic", "st.global.u32 [d1+4], 2;\natom.global.exch.b32 r1, [d1], 1;\n", []placed{{1, isa.RoleAtomic, address{"m", 8, 8}, true}},
			nil},
		{"a load of one that acquires", "ld.global.u32 r1, [d1+4];\nld.acquire.gpu.global.u32 r2, [d1];\nst.global.u32 [d2], r1;\n",
			[]placed{{1, isa.RoleLoad, address{"m", 8, 8}, true}}, []int32{0}},
		{"a load of a weak one", "ld.global.u32 r1, [d1+4];\nbar.sync 0;\nld.global.u32 r2, [d1];\nst.global.u32 [d2], r1;\n",
			[]placed{{2, isa.RoleLoad, address{"m", 8, 8}, false}}, nil},
		{"a dead load", "ld.global.u32 r1, [d1+4];\nld.acquire.gpu.global.u32 r2, [d1];\n", []placed{{1, isa.RoleLoad, address{"m", 8, 8}, true}},
			nil},
		{"a load of a store", "ld.global.u32 r1, [d1+4];\nst.release.gpu.global.u32 [d1], r1;\n", []placed{wide(1)}, nil},
		{"behind a barrier", "st.global.u32 [d1+4], 2;\nbar.sync 0;\nst.global.u32 [d1], 1;\n",
			[]placed{{2, isa.RoleStore, address{"m", 8, 8}, false}}, []int32{0}},
		{"bytes that are another's", "st.global.u32 [d1+4], 2;\nst.global.u32 [d1+4], 3;\nst.release.gpu.global.u32 [d1], 1;\n",
			[]placed{wide(2), {1, isa.RoleStore, at("m", 12), false}}, []int32{0}},
		{"bytes that it has for another", "st.global.u32 [d1+4], 2;\nst.global.u64 [d1], d2;\n",
			[]placed{{1, isa.RoleStore, address{"m", 8, 16}, false}}, nil},
	} {
		c := matched(t, x.body, x.code...)
		c.across(map[rootPair]int64{{paramOf1, "m"}: 8})
		require.Equal(t, x.want, c.img[0].main, x.name)
	}
	// One of several is the one in the block of the neighbour; else each may be.
	const three = "st.global.u32 [d1+4], 2;\n@c bra L;\nst.global.u32 [d1+4], 3;\nst.release.gpu.global.u32 [d1], 1;\nL:\n"
	c := matched(t, three, wide(2))
	c.across(map[rootPair]int64{{paramOf1, "m"}: 8})
	require.Equal(t, [][]int32{nil, {0}}, [][]int32{c.img[0].main, c.img[1].main})
	require.False(t, c.img[1].moved)
	c = matched(t, "st.global.u32 [d1+4], 2;\nst.global.u32 [d1+4], 3;\nbar.sync 0;\nM:\nst.global.u32 [d1], 1;\n",
		placed{3, isa.RoleStore, address{"m", 8, 8}, false})
	c.across(map[rootPair]int64{{paramOf1, "m"}: 8})
	require.Equal(t, [][]int32{{0}, {0}}, [][]int32{c.img[0].main, c.img[1].main})
	require.True(t, c.img[0].moved && c.img[1].moved)
}

// TestWidened: whether a wider access has the bytes of two operations, also where only wider ones tell where their base is.
func TestWidened(t *testing.T) {
	const body = "st.release.gpu.global.u32 [d1], 1;\nst.global.u32 [d1+4], 2;\nst.global.u32 [d1+12], 2;\nst.global.u32 [d2], 2;\n"
	for name, x := range map[string]struct {
		code   []placed
		of     int
		known  map[rootPair]int64
		want   bool
		byWeak bool
	}{
		"its bytes": {[]placed{{0, isa.RoleStore, address{"m", 8, 8}, true}}, 1, map[rootPair]int64{{paramOf1, "m"}: 8},
			true, false},
		"not its bytes": {[]placed{{0, isa.RoleStore, address{"m", 4, 8}, true}}, 2, map[rootPair]int64{{paramOf1, "m"}: 8},
			false, false},
		"next to it, of what is not known": {[]placed{{0, isa.RoleStore, address{"m", 4, 8}, true}}, 1,
			map[rootPair]int64{{paramOf1, "m"}: 4096}, true, false},
		"not next to it": {[]placed{{0, isa.RoleStore, address{"m", 4, 8}, true}}, 2,
			map[rootPair]int64{{paramOf1, "m"}: 4096}, false, false},
		"exactly as wide": {[]placed{{0, isa.RoleStore, address{"m", 4, 16}, true}}, 2,
			map[rootPair]int64{{paramOf1, "m"}: 4096}, true, false},
		"another tells where the base is": {[]placed{{0, isa.RoleStore, address{"m", 4, 8}, true}, {1, isa.RoleStore, at("m", 12), false}}, 1,
			map[rootPair]int64{{paramOf1, "m"}: 4096}, false, false},
		"another one of another base": {[]placed{{0, isa.RoleStore, address{"m", 4, 8}, true}, {3, isa.RoleStore, at("m", 12), false}}, 1,
			map[rootPair]int64{{paramOf1, "m"}: 4096}, true, false},
		"another one of another base, there": {[]placed{{0, isa.RoleStore, address{"m", 4, 8}, true}, {1, isa.RoleStore, at("n", 12), false}}, 1,
			map[rootPair]int64{{paramOf1, "m"}: 4096}, true, false},
		"a wider one tells nothing": {[]placed{{0, isa.RoleStore, address{"m", 4, 8}, true},
			{1, isa.RoleStore, address{"m", 12, 8}, false}}, 1, map[rootPair]int64{{paramOf1, "m"}: 4096}, true, false},
		"weak": {[]placed{{0, isa.RoleStore, address{"m", 4, 8}, true}}, 1,
			map[rootPair]int64{{paramOf1, "m"}: 4096}, false, true},
		"nothing is known": {[]placed{{0, isa.RoleStore, address{"m", 4, 8}, true}}, 1, nil, false, false},
	} {
		c := matched(t, body, x.code...)
		if x.byWeak {
			c.src.ops[0].Effect.Sem = "weak"
		}
		require.Equal(t, x.want, c.widened(c.mach.addrs[0], c.src.ops[0], c.src.ops[x.of].addr, maps.Clone(x.known)), name)
	}
}

// TestMayTake: whether an image of one operation is one of another, by its class and address.
// TestJoint: which instruction performs a strong access together with a neighbour.
// TestInTurn: loads of one address have their images in their order, as far as these are no less than they are.
// TestBesideFences: of the fences on a line, the last goes to the release that follows and has none, if nothing stands between.
