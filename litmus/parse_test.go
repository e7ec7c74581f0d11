package litmus

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"optcheck/internal/patient"
)

// head is a test up to its first row of code, which is line 5.
const head = "GPU_PTX t\n{ x=0; y=0;\n0:.reg .s32 r0; 0:.reg .s32 r1; 0:.reg .b64 rx = x; 0:.reg .pred p;}\nT0 ;\n"

func TestParseErrors(t *testing.T) {
	known := ": GPU_PTX has " + GPUPTX.opcodeNames()
	for _, c := range []struct{ src, want string }{
		{"", "f:1:1: expected header GPU_PTX, PTX or GPU_OPENCL, found end of file"},
		{"\n\n  C x {}", `f:3:3: expected header GPU_PTX, PTX or GPU_OPENCL, found "C"`},
		{"PTX \n{}", "f:1:5: expected the test's name behind PTX"},
		{"PTX t\n;", `f:2:1: expected the initial state in braces, found ";"`},
		{"PTX t \"doc\n{", "f:1:7: doc string is not closed"},
		{"PTX t\n{ x=0", "f:2:6: expected ; or } in the initial state, found end of file"},
		{"PTX t\n(* (* *)\n{ x=0; }", "f:2:1: comment is not closed\nf:3:9: expected the initial state in braces, found end of file"},
		{"PTX t\n{ x=0; x=1; }\nP0;", "f:2:8: location x is initialised twice"},
		{"PTX t\n{ x=y; }\nP0;", "f:2:5: location x can only be initialised with a number"},
		{"PTX t\n{ r1=0; x=0; }\nP0;\nst.weak x, r1;", "f:4:12: r1 is a location of this test, so that it cannot be a register; a register is declared as P0:r1=0"},
		{"PTX t\n{ r1=0; x=0; }\nP0;\nld.weak r1, x;", "f:4:1: r1 is a location of this test, so that it cannot be a register"},
		{"PTX t\n{ P0:r0=r1; }\nP0;", "f:2:9: r1 names a register, not a location; to have a location of that name, write r1=0"},
		{"PTX t\n{ x=08; }\nP0;", "f:2:5: number 08 begins with 0: write it in decimal or with 0x"},
		{"PTX t\n{ x=9223372036854775808; }\nP0;", "f:2:5: malformed or too large number 9223372036854775808"},
		{"PTX t\n{ 64:r1=0; }\nP0;", "f:2:3: thread 64 is beyond the limit of 64 threads"},
		{"PTX t\n{ 2:r1=0; }\nP0;", "f:2:5: register of thread 2, but the test has 1 threads"},
		{"PTX t\n{ y @ weird aliases x; }\nP0;", `f:2:7: expected generic, constant, texture or surface, found "weird"`},
		{"GPU_PTX t\n{ 0:.reg s32 r0; }\nP0;", `f:2:10: expected a register's type behind .reg, found "s32"`},
		{"PTX t\n{}\nP0 P1;", `f:3:4: expected | or ; in the row of thread names, found "P1"`},
		{"PTX t\n{}\nP1;", "f:3:1: thread P1 stands in column 0: threads are numbered from 0 in order"},
		{"PTX t\n{}\nP0@gpu 0;", "f:3:1: thread P0 has no cta in its place"},
		{"PTX t\n{}\nP0@cta 0,cta 0;", "f:3:10: second cta in the place of thread P0"},
		{"PTX t\n{}\nP0@cta 0,cluster 0|P1@cta 1;", "f:3:20: thread P1: either all threads name their cluster or none"},
		{"PTX t\n{}\nP0@cta -1;", "f:3:8: number -1 is not in 0 to 1048576"},
		{head + "ld.cg.s32 r0,[rx] | ;", "f:5:21: row has more cells than the test has threads (1)"},
		{"PTX t\n{}\nP0|P1;\n ld r0, 1;", "f:4:2: row has 1 cells, but the test has 2 threads"},
		{head + "frob r0,r1 ;", `f:5:1: unknown instruction "frob"` + known},
		{head + "ld.cg.frob r0,[rx] ;", "f:5:6: unknown modifier .frob; it takes .weak .volatile .mmio .relaxed .acquire .cta .cluster .gpu .sys .global .shared" +
			" .ca .cg .cs .lu .cv .b8 .u8 .s8 .b16 .u16 .s16 .b32 .u32 .s32 .b64 .u64 .s64"},
		{head + "ld.cg.ca r0,[rx] ;", "f:5:6: second modifier of its kind: .ca"},
		{head + "mov.cg.s32 r0,1 ;", "f:5:4: mov takes no modifier .cg; it takes .b16 .u16 .s16 .b32 .u32 .s32 .b64 .u64 .s64 .pred"},
		{head + "  setp.eq.and.s32 p,r0,1,p ;", "f:5:10: setp takes no modifier .and; it takes .eq .ne .lt .le .gt .ge .b16 .u16 .s16 .b32 .u32 .s32 .b64 .u64 .s64"},
		{head + "setp.s32 p,r0,1 ;", "f:5:1: PTX has no setp.s32: add .eq, .ne, .lt, .le, .gt or .ge"},
		{head + "setp.eq.s32 p|p,r0,1 ;", `f:5:14: expected , and another operand, found "|"`},
		{head + "ld.cg.s32 r0 ;", `f:5:14: expected , and another operand, found ";"`},
		{head + "ld.cg.s32 r0,[rx+] ;", `f:5:18: expected a number, found "]"`},
		{head + "ld.cg.s32 r0,[rx+99999999999] ;", "f:5:18: offset 99999999999 does not fit 32 bits"},
		{head + "ld.cg.s32 r0,[rx ;", `f:5:18: expected ], found ";"`},
		{head + "ld.cg.s32 r0,[rx] r1 ;", `f:5:19: expected | or ; behind the instruction, found "r1"`},
		{head + "atom.s32 r0,[rx],1 ;", "f:5:1: PTX has no atom.s32: add .add, .min or .max"},
		{head + "membar ;", "f:5:1: PTX has no membar: add .cta, .gl or .sys"},
		{head + "fence.proxy ;", "f:5:1: expected fence.SEM.SCOPE or fence.proxy.KIND"},
		{head + "bar 0 ;", "f:5:1: PTX has no bar alone; write bar.sync or bar.arrive"},
		{head + "@ ld.s32 r0,[rx] ;", "f:5:3: expected a predicate behind @, found \"ld.s32\""},
		{head + "tld r0,[rx] ;", `f:5:1: unknown instruction "tld"` + known},
		{head + "ld.s32 r0,[rx]", `f:5:15: expected | or ; behind the instruction, found end of file`},
		{head + "frob ;\nld.s32 ;\n", "f:5:1: unknown instruction \"frob\"" + known + "\nf:6:8: expected a register, found \";\""},
		{head + "(grid (cta T0 T1))", "f:5:15: the test has no thread 1"},
		{head + "(grid (cta T0) (cta T0))", "f:5:21: thread T0 appears twice in the scope tree"},
		{head + "(cta (grid T0))", "f:5:7: grid cannot stand below its parent in the scope tree"},
		{head + "(frob T0)", `f:5:2: expected a level such as grid, cta or warp, found "frob"`},
		{head + "(cta T0) (cta T0", "f:5:15: thread T0 appears twice in the scope tree"},
		{head + "x: shared, x: global", "f:5:12: location x is both shared and global"},
		{head + "exists (0:r0=1", "f:5:15: expected ) or another relation, found end of file"},
		{head + "exists (0:r0 1)", `f:5:14: expected a comparison, found "1"`},
		{head + "exists (1:r0=1)", "f:5:9: the test has no thread 1"},
		{head + "exists (0:r0=1) exists (0:r0=1)", `f:5:17: expected the end of the test, found "exists"`},
		{head + "locations [3;]", "f:5:12: expected a location or a register to observe"},
		{head + "never (x=1)", `f:5:1: unknown instruction "never"` + known},
		{head + "exists (é=1)", `f:5:9: expected a term, found character "é"`},
	} {
		_, err := Parse("f", []byte(c.src))
		require.Error(t, err, "%s", c.src)
		require.Equal(t, c.want, err.Error(), "%s", c.src)
		var one *Error
		require.True(t, errors.As(err, &one))
		require.Equal(t, "f", one.Pos.File)
	}
}

// Spellings that mean the same as another.
func TestSpellings(t *testing.T) {
	for _, c := range []struct{ src, want string }{
		{"ld.global.cg.s32 r0,[rx]", "ld.global.cg.s32 r0,[rx]"},
		{"ld.s32.cg.weak r0,[rx]", "ld.weak.cg.s32 r0,[rx]"},
		{"ld.cg.global.s32 r0, rx", "ld.global.cg.s32 r0,[rx]"},
		{"ld.relaxed.gpu.global.u32 r0, [ rx + 0 ]", "ld.relaxed.gpu.global.u32 r0,[rx]"},
		{"ld.mmio.relaxed.sys.u32 r0,[rx]", "ld.mmio.relaxed.sys.u32 r0,[rx]"},
		{"ld.shared::cta.u32 r0,[rx+-4]", "ld.shared.u32 r0,[rx-4]"},
		{"st.volatile.s32 x, r0", "st.volatile.s32 [x],r0"},
		{"st.wt.s32 [x+4],-1", "st.wt.s32 [x+4],-1"},
		{"atom.global.cas.b32 r0,[rx],0,1", "atom.global.cas.b32 r0,[rx],0,1"},
		{"atom.acquire.gpu.global.cas.b32 r0,[rx],0,1", "atom.acquire.gpu.global.cas.b32 r0,[rx],0,1"},
		{"red.release.sys.add.u32 [rx],0x10U", "red.release.sys.add.u32 [rx],16"},
		{"membar.gl", "membar.gl"},
		{"membar.sys", "membar.sys"},
		{"fence.gpu", "fence.gpu"},
		{"ld.sys.mmio.relaxed.u32 r0,[rx]", "ld.mmio.relaxed.sys.u32 r0,[rx]"},
		{"ld.u32.relaxed.sys.mmio r0,[rx]", "ld.mmio.relaxed.sys.u32 r0,[rx]"},
		{"fence.sc.gpu", "fence.sc.gpu"},
		{"fence.proxy.alias", "fence.proxy.alias"},
		{"mov r0,1", "mov r0,1"},
		{"mov.u64 rx, x", "mov.u64 rx,x"},
		{"cvt.u64.u32 rx,r0", "cvt.u64.u32 rx,r0"},
		{"and.b32 r0,r1,0x80000000", "and.b32 r0,r1,0x80000000"},
		{"and.b64 rx,rx,0x8000000000000000", "and.b64 rx,rx,-9223372036854775808"},
		{"mul.lo.s32 r0,r1,r1", "mul.lo.s32 r0,r1,r1"},
		{"setp.hs.u32 p,r0,1", "setp.ge.u32 p,r0,1"},
		{"setp.lo.u32 p,r0,1", "setp.lt.u32 p,r0,1"},
		{"selp.s32 r0,r1,2,p", "selp.s32 r0,r1,2,p"},
		{"@ ! p bra.uni L", "@!p bra L"},
		{"bar.sync 0", "bar.sync 0"},
		{"barrier.cta.sync.aligned 1,64", "bar.sync 1,64"},
		{"bar.arrive 1,64", "bar.arrive 1,64"},
		{"not.b32 r0,r1", "not.b32 r0,r1"},
		{"shl.b32 r0,r1,3", "shl.b32 r0,r1,3"},
		{"beq r0,1,L", "beq r0,1,L"},
		{"nop", "nop"},
	} {
		lt, err := Parse("f", []byte(head+" "+c.src+" ;\nL: ;"))
		require.NoError(t, err, c.src)
		require.Equal(t, c.want, lt.Threads[0].Body[0].String())
		requireRoundTrip(t, lt)
	}
}

func TestSpellingsPTX(t *testing.T) {
	for _, c := range []struct{ src, want string }{
		{"ld r0, 1", "ld r0, 1"}, {"ld.weak r0, 1", "ld r0, 1"}, {"ld r0, r1", "ld r0, r1"}, {"mov r0, r1", "ld r0, r1"},
		{"ld.weak r0, x", "ld.weak r0, x"}, {"ld.weak r0, [r1]", "ld.weak r0, [r1]"}, {"ld.weak r0, r1", "ld.weak r0, [r1]"},
		{"st.release.gpu x,r0", "st.release.gpu x, r0"},
		{"atom.acq_rel.sys.cas r0, x, 0, 1", "atom.acq_rel.sys.cas r0, x, 0, 1"},
		{"atom.relaxed.gpu.exch r0, x, r1", "atom.relaxed.gpu.exch r0, x, r1"},
		{"red.relaxed.cta.inc x, 1", "red.relaxed.cta.inc x, 1"},
		{"fence.proxy.texture", "fence.proxy.texture"}, {"tld.weak r0, x", "tld.weak r0, x"}, {"sust.weak x, 1", "sust.weak x, 1"},
		{"bar.cta.sync 1", "bar.cta.sync 1"}, {"bar.cta.arrive 1, r2, 3", "bar.cta.arrive 1, r2, 3"},
		{"bge r0, -1, LC00", "bge r0, -1, LC00"}, {"goto LC00", "goto LC00"}, {"bra LC00", "goto LC00"},
		{"div r0, r1, 2", "div r0, r1, 2"},
	} {
		lt, err := Parse("f", []byte("PTX t\n{x=0;}\nP0@cta 0,gpu 0;\n"+c.src+";\nLC00:;"))
		require.NoError(t, err, c.src)
		require.Contains(t, lt.String(), " "+c.want+" ")
		requireRoundTrip(t, lt)
	}
}

// TestPeers: what files of other tools have.
func TestPeers(t *testing.T) {
	const body = "P0@cta 0,gpu 0 ;\nst.weak f1, 1 ;\nld.weak r0, rd1 ;\nld r2, r0 ;\n"
	lt, err := Parse("f", []byte("\ufeff%%%%%%%%%\n% Results %\n%%%%%%%%%\nPTX t\n\"what\"\n\"where\"\n{ f1=0; rd1=0; y @ generic aliases f1; }\n"+body+
		"locations [f1;]\nexists (f1=1 /\\ P0:r0=0 /\\ rd1=0)"))
	require.NoError(t, err)
	require.NoError(t, lt.Check())
	require.Equal(t, "what\nwhere", lt.Doc)
	require.Equal(t, "f1", lt.Threads[0].Body[0].Addr.Loc)
	require.Equal(t, "rd1", lt.Threads[0].Body[1].Addr.Loc)
	require.Equal(t, Reg("r0"), lt.Threads[0].Body[2].Src[0])
	requireRoundTrip(t, lt)
	plain, err := Parse("f", []byte("PTX t\n{ f1=0; rd1=0; y @ generic aliases f1; }\n"+body+"locations [f1;]\nexists (f1=1 /\\ P0:r0=0 /\\ rd1=0)"))
	require.NoError(t, err)
	require.Equal(t, plain.Hash(), lt.Hash())
	_, err = Parse("f", []byte("\ufeffC t"))
	require.EqualError(t, err, `f:1:1: expected header GPU_PTX, PTX or GPU_OPENCL, found "C"`)
	lt, err = Parse("f", []byte(head+"mov.b32 %r1, 1;\nL: ;\n%%% a row\n % of text\n(cta T0)"))
	require.NoError(t, err, "a register's name begins no comment")
	require.Len(t, lt.Threads[0].Body, 2)
}

func TestScopeTrees(t *testing.T) {
	for _, c := range []struct {
		tree string
		want [3]Place
	}{
		{"ScopeTree(grid(cta(warp T0) (warp T1) (warp T2)))", [3]Place{{}, {Warp: 1}, {Warp: 2}}},
		{"scopeTree (device (kernel (cta (warp T0)) (cta (warp T1)) (cta (warp T2))))", [3]Place{{}, {Cluster: 1}, {Cluster: 2}}},
		{"(device (kernel (cta T0 T1) (cta T2)))", [3]Place{{}, {Warp: 1}, {Cluster: 1}}},
		{"(cta (warp T0 T1)) (cta T2)", [3]Place{{}, {}, {Cluster: 1}}},
		{"(gpu 0 1 2)", [3]Place{{}, {Cluster: 1}, {Cluster: 2}}},
		{"(grid (cta T2) (cta T1, T0))", [3]Place{{}, {Warp: 1}, {Cluster: 1}}},
		{"(grid (cluster (cta T0) (cta T1)) (cluster (cta T2)))", [3]Place{{}, {CTA: 1}, {Cluster: 1}}},
		{"(system (gpu (cta T0)) (gpu (grid (cta T1)) (grid (cta T2))))", [3]Place{{}, {GPU: 1}, {GPU: 1, Grid: 1}}},
		{"(thread T0) (thread T1) (thread T2)", [3]Place{{}, {Cluster: 1}, {Cluster: 2}}},
	} {
		lt, err := Parse("f", []byte("GPU_PTX t\n{}\nT0|T1|T2;\n"+c.tree))
		require.NoError(t, err, c.tree)
		for i, want := range c.want {
			require.Equal(t, want, lt.Threads[i].Place, "%s thread %d", c.tree, i)
			require.True(t, lt.Threads[i].Placed)
		}
		requireRoundTrip(t, lt)
	}
}

func TestConditions(t *testing.T) {
	for _, c := range []struct{ src, want string }{
		{`exists (0:r0=1 /\ x=1)`, `exists (0:r0=1 /\ x=1)`},
		{`~exists ([x] == 1)`, `~exists (x=1)`},
		{`not exists x != -1`, `~exists (x!=-1)`},
		{`forall (T0:r0 <= 0x10 \/ (x>1 /\ y>=2) \/ 1<2)`, `forall (0:r0<=16 \/ x>1 /\ y>=2 \/ 1<2)`},
		{`exists (not (x=1) /\ ~ y=1)`, `exists (not (x=1) /\ not (y=1))`},
		{`exists ((x=1 \/ y=1) /\ true)`, `exists ((x=1 \/ y=1) /\ true)`},
		{`exists (x=1 /\ (y=1 /\ 0:r0=0:r1))`, `exists (x=1 /\ (y=1 /\ 0:r0=0:r1))`},
		{`exists (false)`, `exists (false)`},
	} {
		lt, err := Parse("f", []byte(head+c.src))
		require.NoError(t, err, c.src)
		require.Equal(t, c.want, lt.Cond.String())
		requireRoundTrip(t, lt)
	}
}

// Names may be used ahead of what tells that they are locations.
func TestLateLocations(t *testing.T) {
	lt, err := Parse("f", []byte("GPU_PTX t\n{0:.reg .b64 r1;}\nT0;\nmov.u64 r1,z;\nst.s32 [z],1;\nld.s32 r1,[r9];\nr9: global"))
	require.NoError(t, err)
	require.Equal(t, Loc("z"), lt.Threads[0].Body[0].Src[0])
	require.Equal(t, Addr{Loc: "r9"}, lt.Threads[0].Body[2].Addr)
	requireRoundTrip(t, lt)
}

func TestParseFile(t *testing.T) {
	_, err := ParseFile(filepath.Join(t.TempDir(), "none.litmus"))
	require.ErrorIs(t, err, os.ErrNotExist)
	path := filepath.Join(t.TempDir(), "sb.litmus")
	require.NoError(t, os.WriteFile(path, []byte(fig12), 0o644))
	lt, err := ParseFile(path)
	require.NoError(t, err)
	require.Equal(t, Pos{path, 8, 1}, lt.Threads[0].Body[1].Pos.with(8, 1))
	require.Equal(t, path+":8:1", lt.Threads[0].Body[1].Pos.String())
	require.NoError(t, os.WriteFile(path, make([]byte, MaxFileBytes+1), 0o644))
	_, err = ParseFile(path)
	require.ErrorContains(t, err, "larger than")
}

func (p Pos) with(line, col int) Pos { return Pos{p.File, line, col} }

// Large and malformed input costs little and ends.
func TestHostile(t *testing.T) {
	big := func(s string) string { return strings.Repeat(s, (MaxFileBytes-2000)/len(s)) }
	chain := func(n int) string { // every register is written twice from the next
		var b strings.Builder
		for i := range n {
			r, s := "q"+strings.Repeat("a", i%50)+string(rune('a'+i%26)), "q"+strings.Repeat("a", (i+1)%50)+string(rune('a'+(i+1)%26))
			b.WriteString("add " + r + "," + s + "," + s + ";add " + r + "," + s + ",0;")
		}
		return b.String()
	}
	for name, src := range map[string]string{
		"parens":     head + "exists " + big("("),
		"nots":       head + "exists " + big("~"),
		"tree":       head + big("(grid "),
		"comments":   "PTX t\n" + big("(*"),
		"rows":       head + big(";"),
		"instrs":     head + big("nop;"),
		"labels":     head + big("L:"),
		"cells":      "PTX t\n{}\nP0|P1;\n" + big("nop|"),
		"locations":  "PTX t\n{" + big("x=0;"),
		"threads":    "PTX t\n{}\n" + big("P0|"),
		"terms":      head + "exists (" + big(`x=1/\`) + "x=1)",
		"mods":       head + "ld" + big(".uni"),
		"doc":        "PTX t\n\"" + big("\n"),
		"moves":      "PTX t\n{x=0;}\nP0;\n" + strings.Repeat("ld r0, r1;ld r1, r2;", 30000),
		"accesses":   "PTX t\n{x=0;P0:r0=x;}\nP0;\n" + strings.Repeat("ld.weak r1,[r0];add r0,r0,r2;", 30000),
		"chain":      "PTX t\n{x=0;P0:qa=x;}\nP0;\n" + chain(50) + "ld.weak r1,[qa];",
		"wide":       "PTX t\n{x=0;}\nP0;\n" + strings.Repeat("a", 1<<20) + ": nop;" + strings.Repeat("nop;", 60000),
		"goto":       "PTX t\n{x=0;}\nP0;\n" + strings.Repeat("L: ;goto L;", 20000),
		"characters": big("\xff"),
	} {
		start := time.Now()
		lt, err := Parse("f", []byte(src))
		if err == nil {
			_ = lt.Check()
			require.Less(t, len(lt.String()), 4*MaxFileBytes)
			require.Len(t, lt.Hash(), 32)
		}
		if d := time.Since(start); d > patient.Long {
			t.Errorf("%s took %v", name, d)
		} else {
			t.Logf("%s: %v", name, d)
		}
	}
}
