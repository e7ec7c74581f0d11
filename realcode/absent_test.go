package realcode

import (
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"optcheck/isa"
	"optcheck/ptx"
)

// TestAbsent: what it means that an operation has no instruction. In a row it is the first one of the kernel.
func TestAbsent(t *testing.T) {
	const finding, note, lost = "finding", "note", "lost"
	for _, x := range []struct {
		body   string
		sm     int
		inval  bool // its invalidation is there
		what   string
		said   string
		failed bool
		order  bool
		runs   bool // decide
	}{
		{"fence.sc.cta;", 60, false, note, "no instruction is needed", true, false, false},
		{"fence.sc.cta;", 70, false, finding, "no instruction in the machine code", true, false, false},
		{"fence.sc.gpu;", 60, false, finding, "no instruction in", true, false, false},
		{"fence.sc.cta;", 70, true, finding, "no instruction in", true, false, false},
		{"fence.acquire.cta;", 90, false, note, "no instruction is needed", true, false, false},
		{"fence.acquire.gpu;", 90, false, finding, "no instruction in", true, false, false},
		{"fence.acquire.gpu;", 90, true, note, "no instruction is needed", true, false, false},
		{"fence.release.cta;", 90, false, finding, "no instruction in", true, false, false},
		{"fence.acq_rel.gpu;", 90, true, finding, "no instruction in", true, false, false},
		{"ld.relaxed.gpu.global.u32 r1, [d1];", 90, false, note, "nobody uses what it reads, and it is left out", true, false, false},
		{"ld.relaxed.gpu.global.u32 r1, [d1]; st.global.u32 [d2], r1;", 90, false, finding, "no instruction in", true, false, true},
		{"ld.acquire.gpu.global.u32 r1, [d1];", 90, false, finding, "no instruction; nobody uses its result", true, true, false},
		{"ld.acquire.gpu.global.u32 r1, [d1];", 90, true, note, "the load is left out, its invalidation stays", false, false, false},
		{"ld.acquire.gpu.global.u32 r1, [d1]; st.global.u32 [d2], r1;", 90, false, finding, "no instruction in", true, false, false},
		{"ld.acquire.gpu.global.u32 r1, [d1]; st.global.u32 [d2], r1;", 90, true, finding, "no instruction in", true, false, true},
		{"st.relaxed.gpu.global.u32 [d1], 1; st.relaxed.gpu.global.u32 [d1], 2;", 90, false, note, "it is overwritten before", true, false,
			false},
		{"st.relaxed.gpu.global.u32 [d1], 1;", 90, false, finding, "no instruction in", true, false, false},
		{"st.release.gpu.global.u32 [d1], 1; st.relaxed.gpu.global.u32 [d1], 2;", 90, false, finding, "no instruction in", true, false, false},
		{"atom.global.add.u32 r1, [d1], 1;", 90, false, finding, "; nobody uses its result", true, false, false},
		{"atom.global.add.u32 r1, [d1], 1; st.global.u32 [d2], r1;", 90, false, finding, " in the machine code", true, false, false},
		{"red.global.add.u32 [d1], 1;", 90, false, finding, " in the machine code", true, false, false},
		{"cp.async.ca.shared.global [s], [d1], 4;", 90, false, finding, "no instruction in", true, false, false},
		{"st.global.u32 [d1], 1;", 90, false, lost, "", false, false, false},
		{"ld.global.u32 r1, [d1]; st.global.u32 [d2], r1;", 90, false, "", "", false, false, false},
		{"mbarrier.inval.shared.b64 [s];", 80, false, note, "no instruction was found for it", true, false, false},
		{"mbarrier.inval.shared.b64 [s];", 90, false, finding, "no instruction in", true, false, false},
		{"mbarrier.init.shared.b64 [s], 1;", 80, false, finding, "no instruction in", true, false, false},
		{"cp.async.mbarrier.arrive.shared.b64 [s]; cp.async.mbarrier.arrive.shared.b64 [s];", 80, false, note, "left to the next one", true,
			false, false},
		{"cp.async.mbarrier.arrive.noinc.shared.b64 [s]; cp.async.mbarrier.arrive.shared.b64 [s];", 80, false, finding, "no instruction in", true,
			false, false},
		{"cp.async.mbarrier.arrive.shared.b64 [s];", 80, false, finding, "no instruction in", true, false, false},
		{"fence.proxy.async;", 90, false, finding, "no instruction in", true, false, false},
		{"fence.mbarrier_init.release.cluster;", 90, false, note, "is needed for it, or none was found", true, false, false},
		{"wgmma.commit_group.sync.aligned;", 90, false, note, "is needed for it, or none was found", true, false, false},
		{"bar.arrive 0, 64;", 90, false, finding, "no instruction in", true, false, false},
	} {
		c := checkerOf(t, "", strings.ReplaceAll(x.body, ";", ";\n"))
		c.sm, c.mach.sm = x.sm, x.sm
		c.img[0].main = nil
		for range c.src.ops {
			c.mach.insts, c.mach.steps, c.owner = append(c.mach.insts, &isa.Inst{}), append(c.mach.steps, step{guard: -1, cond: -1}),
				append(c.owner, -1)
		}
		c.mach.addrs, c.orphaned = make([]address, len(c.src.ops)), true
		if x.inval {
			c.img[0].inval = []int32{0}
		}
		c.absent(0, c.src.ops[0], &c.img[0])
		said := fmt.Sprintf("%s, sm_%d: %+v", x.body, x.sm, c.res)
		require.Equal(t, x.what == finding, len(c.res.Findings) == 1, said)
		require.Equal(t, x.what == note, len(c.res.Notes) == 1, said)
		require.Equal(t, x.what == lost, len(c.lost) == 1, said)
		require.Equal(t, x.failed, c.failed[0], said)
		require.Contains(t, said, x.said)
		if x.what == finding {
			f := c.last()
			require.Equal(t, []any{Missing, x.order, x.runs}, []any{f.Rule, f.Order, f.computed}, said)
			require.Equal(t, strings.HasPrefix(x.body, "fence"), f.Fence != nil, said)
		}
	}
}

// TestAbsentOnce: a weak store of which a rule of its own is broken already is not looked for by runs.
func TestAbsentOnce(t *testing.T) {
	c := checkerOf(t, "", "st.global.u32 [d1], 1;")
	c.failed[0], c.orphaned = true, true
	c.absent(0, c.src.ops[0], &images{})
	require.Empty(t, c.lost)
}

// leftTo asserts whether the first operation of a body may be left to others behind it; it may not if these are not found either.
func leftTo(t *testing.T, body string, may func(*checker, int) bool, want bool) {
	c := checkerOf(t, "", body)
	require.Equal(t, want, may(c, 0), body)
	for k := range c.img[1:] {
		c.img[k+1].main = nil
	}
	require.False(t, may(c, 0), "%s, not found", body)
}

// TestArrivalsLeft: an arrival of copies may be left to a later one of its mbarrier on every path, past nothing that synchronises.
func TestArrivalsLeft(t *testing.T) {
	const arrive = "cp.async.mbarrier.arrive.shared.b64 "
	for body, want := range map[string]bool{
		arrive + "[s];": true,
		"st.global.u32 [d1], 1; " + arrive + "[s];": true,
		"":                                  false,
		arrive + "[s+8];":                   false,
		"@c " + arrive + "[s];":             false,
		"bar.sync 0; " + arrive + "[s];":    false,
		"@c bra E; " + arrive + "[s]; E:\n": false,
		"@c exit; " + arrive + "[s];":       false,
		"st.volatile.global.u32 [d1], 1; " + arrive + "[s];": false,
		arrive + "[s]; bar.sync 0;":                          true,
	} {
		leftTo(t, arrive+"[s];\n"+strings.ReplaceAll(body, ";", ";\n"), (*checker).deferred, want)
	}
	unknown := checkerOf(t, "", arrive+"[r1*2];\n"+arrive+"[r1*2];\n")
	require.False(t, unknown.deferred(0), "of a place that nobody knows")
}

// TestOverwritten: a relaxed store may be left out before one of the same bytes that is as strong, on every path.
func TestOverwritten(t *testing.T) {
	const store = "st.relaxed.gpu.global.u32 "
	for body, want := range map[string]bool{
		store + "[d1], 2;":                                         true,
		"st.relaxed.sys.global.u32 [d1], 2;":                       true,
		"st.release.gpu.global.u32 [d1], 2;":                       true,
		"st.relaxed.cta.global.u32 [d1], 2;":                       false,
		"st.global.u32 [d1], 2;":                                   false,
		"@c " + store + "[d1], 2;":                                 false,
		"st.relaxed.gpu.global.u64 [d1], d2;":                      false,
		"st.relaxed.gpu.global.u16 [d1], 2;":                       false,
		store + "[d1+4], 2;":                                       false,
		store + "[d1+4], 2;" + store + "[d1], 2;":                  true,
		store + "[d2], 2;":                                         false,
		"atom.relaxed.gpu.global.exch.b32 r1, [d1], 2;":            false,
		"ld.relaxed.gpu.global.u32 r1, [d1];" + store + "[d1], 2;": false,
		"ld.relaxed.gpu.global.u32 r1, [d2];" + store + "[d1], 2;": true,
		"ld.acquire.gpu.global.u32 r1, [d2];" + store + "[d1], 2;": false,
		"fence.acq_rel.gpu;" + store + "[d1], 2;":                  false,
		"bar.sync 0;" + store + "[d1], 2;":                         false,
		"@c bra E;" + store + "[d1], 2; E:\n":                      false,
		"":                                                         false,
	} {
		leftTo(t, store+"[d1], 1;\n"+strings.ReplaceAll(body, ";", ";\n"), (*checker).overwritten, want)
	}
	unknown := checkerOf(t, "", store+"[r1*2], 1;\n"+store+"[r1*2], 2;\n")
	require.False(t, unknown.overwritten(0), "of a place that nobody knows")
}

// TestOwnStore: a load behind an acquire may read what the thread itself has stored, if nobody can have written since.
func TestOwnStore(t *testing.T) {
	const acquire, store = "ld.acquire.gpu.global.u32 r1, [d2];", "st.global.u32 [d1], 1;"
	for body, want := range map[string]bool{
		store + acquire:                                                true,
		acquire:                                                        false,
		"st.global.u32 [d1+4], 1;" + acquire:                           false,
		"st.global.u64 [d1], d2;" + acquire:                            false,
		"st.global.u16 [d1], 1;" + acquire:                             false,
		"st.global.u32 [d2], 1;" + acquire:                             false,
		store + "st.global.u32 [d1+4], 1;" + acquire:                   true,
		store + "st.global.u32 [d2], 1;" + acquire:                     true,
		store + "ld.global.u32 r2, [d1];" + acquire:                    true,
		store + "ld.acquire.gpu.global.u32 r2, [d2+8];" + acquire:      true,
		store + "st.release.gpu.global.u32 [d2], 1;" + acquire:         false,
		store + "fence.acq_rel.gpu;" + acquire:                         false,
		store + "red.relaxed.gpu.global.add.u32 [d1], 1;" + acquire:    false,
		store + "red.relaxed.gpu.global.add.u32 [d2], 1;" + acquire:    true,
		"@c bra N;" + store + "N:\n" + acquire:                         false,
		"@c bra N;" + store + "bra E; N:\n" + store + "E:\n" + acquire: true,
		store + "atom.acq_rel.gpu.global.add.u32 r1, [d2], 1;":         false,
		store + "atom.acquire.gpu.global.add.u32 r1, [d2], 1;":         true,
	} {
		c := checkerOf(t, "", strings.ReplaceAll(body+"ld.global.u32 r3, [d1];", ";", ";\n"))
		n := len(c.src.ops)
		require.Equal(t, want, c.own(n-2, c.src.ops[n-1]), body)
	}
}

// TestMergedValue: a load that is gone may have its value from an access behind which nothing acquires.
func TestMergedValue(t *testing.T) {
	const load = "ld.global.u32 r3, [d1]; st.global.u32 [d2], r3;"
	for body, want := range map[string]bool{ // whether it is a finding
		"ld.acquire.gpu.global.u32 r1, [d2];" + load: true,
		"ld.global.u32 r2, [d1];" + load:             false,
		load:                                         false,
		"ld.global.u32 r2, [d1]; ld.acquire.gpu.global.u32 r1, [d2];" + load:                    true,
		"st.global.u32 [d1], 1; ld.acquire.gpu.global.u32 r1, [d2];" + load:                     false,
		"ld.acquire.gpu.global.u32 r1, [d2]; ld.global.u32 r2, [d1];" + load:                    false,
		"ld.acquire.gpu.global.u32 r1, [d2];" + load + "ld.global.u32 r4, [d1];":                false,
		"ld.acquire.gpu.global.u32 r1, [d2]; ld.global.u32 r3, [d1];":                           false,
		"ld.acquire.gpu.global.u32 r1, [d2]; ld.global.u32 r3, [r1*2]; st.global.u32 [d2], r3;": false,
	} {
		c := checkerOf(t, "", strings.ReplaceAll(body, ";", ";\n"))
		at := -1
		for k, op := range c.src.ops {
			if op.Effect.Kind == ptx.Load && op.Inst.Args[0].Kind == ptx.Reg && op.Inst.Args[0].Reg == 4 {
				at = k
			}
			c.mach.insts = append(c.mach.insts, &isa.Inst{Mem: isa.Mem{Width: 4}})
		}
		c.img[at].main = nil
		c.merged(at, c.src.ops[at])
		require.Equal(t, want, len(c.res.Findings) == 1, body)
		require.Equal(t, want, c.failed[at], body)
		c = checkerOf(t, "", strings.ReplaceAll(body, ";", ";\n"))
		for range c.src.ops {
			c.mach.insts = append(c.mach.insts, &isa.Inst{Mem: isa.Mem{Width: 8}})
		}
		c.img[at].main = nil
		c.merged(at, c.src.ops[at])
		require.Empty(t, c.res.Findings, "%s, with wider accesses", body)
		c.orphaned = true
		c.merged(at, c.src.ops[at])
		require.Empty(t, c.res.Findings, "%s, with loads that nobody knows", body)
	}
}

// TestDeadTogether: nobody needs what a warp computes together, unless lanes may perform it with those of another instruction.
func TestDeadTogether(t *testing.T) {
	const load, vote = "ld.global.u32 r1, [d1]; setp.ne.u32 e, r1, 0;", "vote.sync.ballot.b32 r2, e, -1;"
	for body, want := range map[string]bool{ // whether the load is dead
		load:                                    true,
		load + vote:                             true,
		load + vote + "st.global.u32 [d2], r2;": false,
		load + "@c " + vote:                     false,
		load + vote + vote:                      true,
		load + vote + "@c " + vote:              false,
		load + "@c vote.sync.ballot.b32 r2, c, -1;" + vote:                                          false,
		load + "@c bra N; " + vote + " bra E; N:\n" + vote + "E:\n":                                 false,
		load + "@c bra N; " + vote + " N:\n" + vote:                                                 false,
		load + "@c bra N; " + vote + " bra E; N:\n shfl.sync.idx.b32 r3, r4, 0, 31, -1; E:\n":       true,
		load + "@c exit; " + vote:                                                                   true,
		load + vote + "call f;":                                                                     false,
		load + vote + "call g;":                                                                     true,
		"ld.global.u32 r1, [d1]; vote.sync.ballot.b32 r2, c, r1;":                                   false,
		"ld.global.u32 r1, [d1]; add.cc.u32 r2, r1, 1; addc.u32 r3, r4, 0; st.global.u32 [d2], r3;": false,
		"ld.global.u32 r1, [d1]; add.u32 r2, r1, 1; addc.u32 r3, r4, 0; st.global.u32 [d2], r3;":    true,
		"ld.global.u32 r1, [d1]; call (r2), h, (r1);":                                               false,
		"ld.global.u64 d3, [d1]; ld.global.u32 r2, [d3];":                                           true,
		"ld.global.u64 d3, [d1]; ld.volatile.global.u32 r2, [d3];":                                  false,
		"ld.global.u64 d3, [d1]; ld.mmio.relaxed.sys.global.u32 r2, [d3];":                          false,
		"ld.global.u64 d3, [d1]; ld.relaxed.gpu.global.u32 r2, [d3];":                               true,
		"ld.global.u64 d3, [d1]; atom.global.add.u32 r2, [d3], 1;":                                  false,
		load + strings.Repeat(vote, mostTogether):                                                   true,
		load + strings.Repeat(vote, mostTogether+1):                                                 false,
	} {
		c := checkerOf(t, ".func f() { .reg .pred e; .reg .b32 r; vote.sync.ballot.b32 r, e, -1; ret; }\n.func g() { ret; }\n.func (.reg .u32 o) h(.reg .u32 i) { mov.u32 o, i; ret; }\n",
			".reg .pred e;\n"+strings.ReplaceAll(body, ";", ";\n"))
		require.Equal(t, want, c.src.ops[0].Dead, body)
	}
	m, err := ptx.Parse("k.ptx", []byte(".version 7.0\n.target sm_70\n.address_size 64\n.func f(.reg .u64 d)\n{\n.reg .pred e; .reg .b32 r<3>;\n"+
		"ld.global.u32 r1, [d];\nsetp.ne.u32 e, r1, 0;\nvote.sync.ballot.b32 r2, e, -1;\nret;\n}\n"))
	require.NoError(t, err)
	src, err := readSource(m, m.Func("f"))
	require.NoError(t, err)
	require.False(t, src.ops[0].Dead, "who calls it may perform one, too")
	m, err = ptx.Parse("k.ptx", []byte(".version 7.0\n.target sm_70\n.address_size 64\n.visible .entry k(.param .u64 p)\n{\n.reg .pred c, e; .reg .b32 r<3>; .reg .b64 d;\n"+
		"ld.param.u64 d, [p];\nld.global.u32 r1, [d];\nsetp.ne.u32 e, r1, 0;\nvote.sync.ballot.b32 r2, e, -1;\n@c ret;\n}\n"))
	require.NoError(t, err)
	src, err = readSource(m, m.Func("k"))
	require.NoError(t, err)
	require.True(t, src.ops[0].Dead, "control goes past the last instruction")
}
