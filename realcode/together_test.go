package realcode

import (
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"optcheck/isa"
)

func TestMayTake(t *testing.T) {
	const body = "ld.global.u32 r1, [d1];\nld.relaxed.gpu.global.u32 r2, [d1];\nst.global.u32 [d2], r1;\nst.global.u32 [d2], r2;\nld.global.u32 r3, [d1];\nst.global.u32 [d2], r3;\n"
	for _, x := range []struct {
		name    string
		to, not int
		of      placed
		want    bool
	}{
		{"of its kind", 4, 0, placed{0, isa.RoleLoad, at("m", 8), false}, true},
		{"a store", 4, 0, placed{0, isa.RoleStore, at("m", 8), false}, false},
		{"elsewhere", 4, 0, placed{0, isa.RoleLoad, at("m", 12), false}, false},
		{"of an unknown base", 4, 0, placed{0, isa.RoleLoad, at("n", 8), false}, false},
		{"a weak one for a strong one", 1, 0, placed{0, isa.RoleLoad, at("m", 8), false}, false},
		{"a strong one for a strong one", 1, 0, placed{0, isa.RoleLoad, at("m", 8), true}, true},
		{"a weak one of a strong one", 0, 1, placed{0, isa.RoleLoad, at("m", 8), false}, true},
		{"a strong one of a strong one, for a weak one", 0, 1, placed{0, isa.RoleLoad, at("m", 8), true}, false},
		{"a strong one of a weak one, for a weak one", 4, 0, placed{0, isa.RoleLoad, at("m", 8), true}, true},
	} {
		c := matched(t, body, x.of)
		require.Equal(t, x.want, c.mayTake(0, x.to, x.not, map[rootPair]int64{{paramOf1, "m"}: 8}), x.name)
	}
}

func TestJoint(t *testing.T) {
	wide := placed{1, isa.RoleLoad, address{"m", 8, 8}, true}
	const body = "ld.relaxed.gpu.global.u32 r1, [d1+4];\nld.relaxed.gpu.global.u32 r2, [d1];\nst.global.u32 [d2], r1;\nst.global.u32 [d2+4], r2;\n"
	for _, x := range []struct {
		name, body string
		code       placed
		change     func(*checker)
		want       int32
	}{
		{"a neighbour's", body, wide, nil, 0}, {"no wider one", body, placed{1, isa.RoleLoad, at("m", 8), true}, nil, -1},
		{"a weak one", body, placed{1, isa.RoleLoad, address{"m", 8, 8}, false}, nil, -1},
		{"of a weak neighbour", body, wide, func(c *checker) { c.src.ops[1].Effect.Sem = "weak" }, -1},
		{"of another base", body, wide, func(c *checker) { c.src.ops[1].addr.root = "other" }, -1},
		{"of another function", body, wide, func(c *checker) { f := *c.src.ops[1].Func; c.src.ops[1].Func = &f }, -1},
		{"of another kind", "ld.relaxed.gpu.global.u32 r1, [d1+4];\nst.relaxed.gpu.global.u32 [d1], r1;\n",
			placed{1, isa.RoleStore, address{"m", 8, 8}, true}, nil, -1},
		{"it acquires", "ld.acquire.gpu.global.u32 r1, [d1+4];\nld.relaxed.gpu.global.u32 r2, [d1];\n", wide, nil, -1},
		{"it releases", "st.release.gpu.global.u32 [d1+4], 1;\nst.relaxed.gpu.global.u32 [d1], 1;\n",
			placed{1, isa.RoleStore, address{"m", 8, 8}, true}, nil, -1},
		{"a store", "st.relaxed.gpu.global.u32 [d1+4], 1;\nst.relaxed.gpu.global.u32 [d1], 1;\n",
			placed{1, isa.RoleStore, address{"m", 8, 8}, true}, nil, 0},
		{"an atomic", "atom.global.add.u32 r1, [d1+4], 1;\nld.relaxed.gpu.global.u32 r2, [d1];\n", wide, nil, -1},
		{"nobody's", body, placed{-1, isa.RoleLoad, address{"m", 8, 8}, true}, nil, -1},
		{"not its bytes", "ld.relaxed.gpu.global.u32 r1, [d1+8];\nld.relaxed.gpu.global.u32 r2, [d1];\n", wide, nil, -1},
		{"that has its bytes for another", "ld.relaxed.gpu.global.u32 r1, [d1+4];\nld.relaxed.gpu.global.u64 d3, [d1];\n",
			placed{1, isa.RoleLoad, address{"m", 8, 16}, true}, nil, -1},
		{"nobody knows where", "ld.relaxed.gpu.global.u32 r1, [r1*2];\nld.relaxed.gpu.global.u32 r2, [r1*2];\n", wide, nil, -1},
	} {
		c := matched(t, x.body, x.code)
		c.distance = map[rootPair]int64{{paramOf1, "m"}: 8, {"", "m"}: 8, {"other", "m"}: 8}
		if x.change != nil {
			x.change(c)
		}
		require.Equal(t, x.want, c.joint(0), x.name)
	}
}

func TestInTurn(t *testing.T) {
	const body = "ld.relaxed.gpu.global.u32 r1, [d1];\nld.global.u32 r2, [d1];\nst.global.u32 [d2], r1;\nst.global.u32 [d2+4], r2;\n"
	load := func(line int, strong bool) placed { return placed{line, isa.RoleLoad, at("m", 8), strong} }
	for _, x := range []struct {
		name   string
		code   []placed
		images []int32
		main   [2][]int32
		moved  bool
	}{
		{"none has one", []placed{load(-1, true), load(-1, true)}, []int32{0, 1}, [2][]int32{{0}, {1}}, true},
		{"each has its own", []placed{load(0, true), load(1, true)}, []int32{0, 1}, [2][]int32{{0}, {1}}, false},
		{"one has both", []placed{load(0, true), load(0, true)}, []int32{0, 1}, [2][]int32{{0}, {1}}, true},
		{"the first has the second", []placed{load(-1, true), load(0, true)}, []int32{0, 1}, [2][]int32{{1}, {0}}, false},
		{"the first is less", []placed{load(-1, false), load(-1, true)}, []int32{0, 1}, [2][]int32{{1}, {0}}, false},
		{"both are less", []placed{load(-1, false), load(-1, false)}, []int32{0, 1}, [2][]int32{nil, nil}, false},
		{"too few", []placed{load(-1, true), load(-1, true)}, []int32{0}, [2][]int32{nil, nil}, false},
		{"a store", []placed{load(-1, true), {-1, isa.RoleStore, at("m", 8), true}}, []int32{0, 1}, [2][]int32{nil, nil}, false},
	} {
		c := matched(t, body, x.code...)
		c.inTurn([]int{0, 1}, x.images)
		require.Equal(t, x.main, [2][]int32{c.img[0].main, c.img[1].main}, x.name)
		require.Equal(t, x.moved, c.img[0].moved || c.img[1].moved, x.name)
		for k := range x.main {
			for _, i := range x.main[k] {
				require.Equal(t, int32(k), c.owner[i], x.name)
			}
		}
	}
	// The loads that are theirs, or nobody's, at their address.
	c := matched(t, body, load(0, true), load(-1, false), placed{-1, isa.RoleStore, at("m", 8), false},
		placed{-1, isa.RoleLoad, at("m", 12), false},
		placed{-1, isa.RoleLoad, address{"m", 8, 8}, false}, placed{-1, isa.RoleLoad, at("n", 8), false}, load(2, false), load(1, false))
	require.Equal(t, []int32{0, 1, 7}, c.loadsOf([]int{0, 1}, map[rootPair]int64{{paramOf1, "m"}: 8}))
	c.share(map[rootPair]int64{{paramOf1, "m"}: 8})
	require.Equal(t, [][]int32{{0}, {7}}, [][]int32{c.img[0].main, c.img[1].main}, "none lacks one")
	c = matched(t, body, load(-1, true), load(-1, false))
	c.share(map[rootPair]int64{{paramOf1, "m"}: 8})
	require.Equal(t, [][]int32{{0}, {1}}, [][]int32{c.img[0].main, c.img[1].main})
}

func TestBesideFences(t *testing.T) {
	const fence, release = "fence.acq_rel.gpu;\n", "st.release.gpu.global.u32 [d1], 1;\n"
	for _, x := range []struct {
		name   string
		body   string
		change func(*checker)
		want   []int32 // of the release
	}{
		{"a fence and a release", fence + release, nil, []int32{1}},
		{"a release and a release", "st.release.gpu.global.u32 [d2], 1;\n" + release,
			func(c *checker) { c.img[0].main, c.img[0].flush = []int32{0}, []int32{1} }, []int32{1}},
		{"one that acquires", fence + "ld.acquire.gpu.global.u32 r1, [d1];\n", nil, nil},
		{"it has one", fence + release, func(c *checker) { c.img[1].flush = []int32{2} }, []int32{2}},
		{"past a load that is left out", fence + "ld.global.u32 r1, [d1];\n" + release, nil, []int32{1}},
		{"not past a load", fence + "ld.global.u32 r1, [d1];\n" + release, func(c *checker) { c.img[1].main = []int32{2} }, nil},
		{"a weak store first", "st.global.u32 [d2], 1;\n" + release, nil, nil},
		{"an image between", fence + release, func(c *checker) { c.img[0].main = []int32{0, 2}; c.owner[1] = 5 }, nil},
		{"a jump between", fence + release, func(c *checker) {
			c.img[0].main = []int32{0, 2}
			c.mach.insts[1].Role, c.mach.steps[1].next = isa.RoleBranch, []int32{0}
		}, nil},
		{"a meeting between", fence + release, func(c *checker) {
			c.img[0].main = []int32{0, 2}
			c.mach.insts[1].Role = isa.RoleBranch
		}, []int32{2}},
		{"the last operation", fence, nil, nil},
	} {
		c := checkerOf(t, "", x.body)
		line := lineOf(make([]isa.Inst, 4)...)
		c.mach, c.owner = line.mach, line.owner
		for k := range c.img {
			c.img[k].main = nil
		}
		c.img[0].main = []int32{1, 0}
		if x.change != nil {
			x.change(c)
		}
		c.beside(0)
		last := len(c.img) - 1
		if last == 0 {
			require.Equal(t, []int32{0, 1}, slices.Sorted(slices.Values(c.img[0].main)), x.name)
			continue
		}
		require.Equal(t, x.want, c.img[last].flush, x.name)
		require.False(t, len(x.want) > 0 && x.want[0] < 2 && slices.Contains(c.img[0].main, x.want[0]), x.name)
	}
}
