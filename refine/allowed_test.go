package refine_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"optcheck/emu"
	"optcheck/ir"
	"optcheck/ptx"
	"optcheck/ptx/lower"
	"optcheck/refine"
)

// lowered is the kernel k of a text in PTX.
func lowered(t *testing.T, text string) *ir.Program {
	t.Helper()
	m, err := ptx.Parse("t.ptx", []byte(text))
	require.NoError(t, err)
	p, err := lower.Kernel(m, "k")
	require.NoError(t, err)
	return p
}

// program is a kernel with a body.
func program(t *testing.T, body string) *ir.Program {
	t.Helper()
	p := lowered(t, `.version 8.4
.target sm_90
.address_size 64
.visible .entry k(.param .u64 out)
{
	.reg .b32 %r<9>; .reg .b64 %d<9>; .reg .pred %p<3>;
	.shared .align 4 .b8 s[256];
	ld.param.u64 %d0, [out];
	mov.u32 %r0, %tid.x;
	mad.wide.u32 %d1, %r0, 4, %d0;
	mov.u32 %r1, s;
	mad.lo.u32 %r2, %r0, 4, %r1;
	xor.b32 %r3, %r2, 4;
	`+body+`
	ret;
}
`)
	for i := range p.Insts {
		require.Empty(t, p.Insts[i].Opaque, p.Insts[i].Text)
	}
	return p
}

// TestRacing: a difference of a thread says nothing if a data race, or undefined content, decides which places the program's thread accesses.
func TestRacing(t *testing.T) {
	require.True(t, refine.Accuses(false))
	require.False(t, refine.Accuses(true))
}

// TestAllowed: what machine code may do otherwise than its program.
func TestAllowed(t *testing.T) {
	const exchange = "st.shared.u32 [%r2], %r0; bar.warp.sync 0xffffffff; ld.shared.u32 %r4, [%r3]; bar.warp.sync 0xffffffff; "
	const quick = "st.shared.u32 [%r2], %r0; ld.shared.u32 %r4, [%r3]; "
	const back = "st.shared.u32 [%r2], %r4; bar.warp.sync 0xffffffff; ld.shared.u32 %r5, [%r3]; st.global.u32 [%d1], %r5;"
	const dead = "ld.acquire.gpu.u32 %r5, [%d1+1024]; "
	fenced := func(r string) string { return "membar.gl; ld.volatile.global.u32 " + r + ", [%d1+1024]; membar.gl; " }
	const after = "ld.global.u32 %r4, [%d1+2048]; st.global.u32 [%d1+256], %r4; "
	const count = "red.relaxed.gpu.global.add.u32 [%d1+1536], 1; "
	const nine = "st.shared.u32 [%r2], 9; "
	const show = "st.global.u32 [%d1], %r4; "
	const lower7 = "red.global.min.u32 [%d0], 7; "
	const pair, twice = "setp.gt.u32 %p2, %r0, 1; @%p2 bra E; ", lower7 + lower7 + "E:"
	const meeting = "vote.sync.ballot.b32 %r6, 1, 3; setp.eq.u32 %p1, %r0, 0; @%p1 " + lower7
	const apart = "@!%p1 bra A; vote.sync.ballot.b32 %r6, 1, 1; " + lower7 + "bra E; A: "
	two := func(q string, low, high int) string {
		return fmt.Sprintf(".reg .b128 %s; .reg .b64 %sl, %sh; mov.u64 %sl, %d; mov.u64 %sh, %d; mov.b128 %s, {%sl,%sh}; ", q, q, q, q, low, q, high, q, q, q)
	}
	exchange16 := func(low, high int) string {
		return two("%q", low, high) + "atom.global.exch.b128 %q, [%d0+4096], %q; mov.b128 {%ql,%qh}, %q; st.global.u64 [%d0+1024], %qh;"
	}
	swap16 := func(was, low, high int) string {
		return two("%q", 1, was) + two("%n", low, high) + "atom.global.cas.b128 %q, [%d0+4096], %q, %n; mov.b128 {%ql,%qh}, %q; st.global.u64 [%d0+1024], %qh;"
	}
	const wide = "mad.wide.u32 %d2, %r0, 8, %d0; ld.global.ca.v2.u32 {%r4,%r5}, [%d2+1024]; red.global.add.u32 [%d2+1024], 1; st.global.u32 [%d2+2048], %r5;"
	const whole = "mad.wide.u32 %d2, %r0, 8, %d0; ld.relaxed.gpu.global.u64 %d3, [%d2+1024]; mov.b64 {%r4,%r5}, %d3; st.global.u32 [%d2+2048], %r5;"
	part := func(at int) string {
		return fmt.Sprintf("mad.wide.u32 %%d2, %%r0, 8, %%d0; ld.relaxed.gpu.global.u32 %%r5, [%%d2+%d]; st.global.u32 [%%d2+2048], %%r5;", at)
	}
	const bulk = "cp.async.bulk.global.shared::cta.bulk_group [%d0+4096], [%r1], 16;"
	const added = "cp.reduce.async.bulk.global.shared::cta.bulk_group.add.u32 [%d0+4096], [%r1], 16;"
	const first = "setp.eq.u32 %p1, %r0, 31; "
	for _, c := range []struct {
		name, program, machine string
		rule                   refine.Rule // "" if it is allowed
	}{
		{"a barrier of the warp needs no instruction", exchange + "st.global.u32 [%d1], %r4;", quick + "st.global.u32 [%d1], %r4;", ""},
		{"twice", exchange + back, quick + "st.shared.u32 [%r2], %r4; ld.shared.u32 %r5, [%r3]; st.global.u32 [%d1], %r5;", ""},
		{"but not another lane", exchange + "st.global.u32 [%d1], %r4;", quick + "add.u32 %r4, %r4, 2; st.global.u32 [%d1], %r4;", refine.WrongValue},
		{"nor a load before the store", exchange + "st.global.u32 [%d1], %r4;",
			"ld.shared.u32 %r4, [%r3]; st.shared.u32 [%r2], %r0; st.global.u32 [%d1], %r4;", refine.WrongValue},
		{"relaxed atomics of different places change places", "red.global.add.u32 [%d1], 1; red.global.add.u32 [%d0+512], %r0;",
			"red.global.add.u32 [%d0+512], %r0; red.global.add.u32 [%d1], 1;", ""},
		{"not of one place", "red.global.add.u32 [%d0], 1; red.global.min.u32 [%d0], %r0;", "red.global.min.u32 [%d0], %r0; red.global.add.u32 [%d0], 1;",
			refine.WrongValue},
		{"not across a fence", "red.global.add.u32 [%d1], 1; membar.gl; red.global.add.u32 [%d0+512], %r0;",
			"red.global.add.u32 [%d0+512], %r0; membar.gl; red.global.add.u32 [%d1], 1;", refine.WrongAddress},
		{"one lane performs the minimum of all", "red.global.min.u32 [%d0], 7; red.global.and.b32 [%d0+4], 3;",
			first + "@%p1 red.global.min.u32 [%d0], 7; @%p1 red.global.and.b32 [%d0+4], 3;", ""},
		{"one lane for both, then each alone", pair + twice, pair + meeting + apart + "vote.sync.ballot.b32 %r6, 1, 2; " + lower7 + "E:", ""},
		{"then one does not", pair + twice, pair + meeting + apart + "vote.sync.ballot.b32 %r6, 1, 2; E:", refine.NotPerformed},
		{"nobody performs it", "red.global.min.u32 [%d0], 7; red.global.and.b32 [%d0+4], 3;", "red.global.and.b32 [%d0+4], 3;", refine.NotPerformed},
		{"one lane copies in bulk for all", bulk, first + "@%p1 " + bulk, ""},
		{"not another number of bytes", bulk, first + "@%p1 " + strings.Replace(bulk, "16;", "32;", 1), refine.ExtraAccess},
		{"nor if each adds", added, first + "@%p1 " + added, refine.NotPerformed},
		{"one lane adds for itself alone", "red.global.add.u32 [%d0], 7;", first + "@%p1 red.global.add.u32 [%d0], 7;", refine.NotPerformed},
		{"one acquire for two that nobody reads", "st.global.u32 [%d1], %r0; " + dead + dead + after, "st.global.u32 [%d1], %r0; " + dead + after, ""},
		{"each fence between loads that nobody reads", fenced("%r5") + fenced("%r6") + fenced("%r7"), fenced("%r5") + fenced("%r6") + fenced("%r7"), ""},
		{"one fence for two", fenced("%r5") + fenced("%r6") + fenced("%r7"), strings.ReplaceAll(fenced("%r5")+fenced("%r6")+fenced("%r7"), "membar.gl; membar.gl;", "membar.gl;"), ""},
		{"not one load too many", fenced("%r5") + fenced("%r6"), fenced("%r5") + fenced("%r6") + fenced("%r7"), refine.ExtraAccess},
		{"none", "st.global.u32 [%d1], %r0; " + dead + after, "st.global.u32 [%d1], %r0; " + after, ""}, // orders are compared elsewhere
		{"not of what somebody reads", dead + after + "st.global.u32 [%d1+512], %r5;", after + "mov.u32 %r5, 0; st.global.u32 [%d1+512], %r5;", refine.NotPerformed},
		{"nor if something else is stored", dead + after, dead + after + "st.global.u32 [%d1+512], %r4;", refine.ExtraAccess},
		{"an atomic that nobody reads is a reduction", "atom.acquire.gpu.global.add.u32 %r5, [%d1+1024], 3; " + after + count,
			"red.relaxed.gpu.global.add.u32 [%d1+1024], 3; " + after + count, ""},
		{"not one that somebody reads", "atom.acquire.gpu.global.add.u32 %r5, [%d1+1024], 3; " + after + count + "st.global.u32 [%d1+512], %r5;",
			"atom.relaxed.gpu.global.add.u32 %r5, [%d1+1024], 3; " + after + count + "st.global.u32 [%d1+512], %r5;", refine.NotPerformed},
		{"a maximum in shared memory that changes nothing is a load", nine + "atom.shared.max.u32 %r4, [%r2], 7; " + show, nine + "ld.shared.u32 %r4, [%r2]; " + show, ""},
		{"not one that does", nine + "atom.shared.max.u32 %r4, [%r2], 10; " + show, nine + "ld.shared.u32 %r4, [%r2]; " + show, refine.NotPerformed},
		{"16 bytes are exchanged", exchange16(1, 2), exchange16(1, 2), ""},
		{"the upper ones, too", exchange16(1, 2), exchange16(1, 3), refine.WrongValue},
		{"16 bytes are compared and swapped", swap16(2, 5, 6), swap16(2, 5, 6), ""},
		{"with the upper ones", swap16(2, 5, 6), swap16(3, 5, 6), refine.WrongValue},
		{"for the upper ones", swap16(2, 5, 6), swap16(2, 5, 7), refine.WrongValue},
		{"a cached load of more than an atomic behind it changes", wide, strings.Replace(wide, "ld.global.ca", "ld.relaxed.gpu.global", 1), ""},
		{"a load of the part that somebody reads", whole, part(1028), ""},
		{"not of the other one", whole, part(1024), refine.WrongValue},
		{"what is read as constant and has been written is open", "st.global.u32 [%d1+1024], %r0; ld.global.nc.u32 %r4, [%d1+1024]; " + show,
			"ld.global.nc.u32 %r4, [%d1+1024]; st.global.u32 [%d1+1024], %r0; " + show, ""},
		{"what is not read as constant is what was stored", "st.global.u32 [%d1+1024], %r0; ld.global.u32 %r4, [%d1+1024]; " + show,
			"st.global.u32 [%d1+1024], %r0; ld.global.nc.u32 %r4, [%d1+1024]; " + show, refine.WrongValue},
		{"also by others", "st.global.u32 [%d1+1024], %r0; bar.sync 0; mad.wide.u32 %d2, %r3, 1, %d0; ld.global.u32 %r4, [%d2+1024]; " + show,
			"st.global.u32 [%d1+1024], %r0; bar.sync 0; mad.wide.u32 %d2, %r3, 1, %d0; ld.global.nc.u32 %r4, [%d2+1024]; " + show, refine.WrongValue},
		{"behind a synchronisation, of whom nothing is known", "bar.sync 0; ld.global.u32 %r4, [%d1+2048]; " + show,
			"bar.sync 0; ld.global.nc.u32 %r4, [%d1+2048]; " + show, refine.WrongValue},
		{"not before the first", "ld.global.u32 %r4, [%d1+2048]; bar.sync 0; " + show, "ld.global.nc.u32 %r4, [%d1+2048]; bar.sync 0; " + show, ""},
		{"and not what the program reads as constant elsewhere", "ld.global.nc.u32 %r5, [%d1+2048]; bar.sync 0; ld.global.u32 %r4, [%d1+2048]; add.u32 %r4, %r4, %r5; " + show,
			"bar.sync 0; ld.global.nc.u32 %r4, [%d1+2048]; add.u32 %r4, %r4, %r4; " + show, ""},
		{"so is what is written later", "ld.global.nc.u32 %r4, [%d1+1024]; st.global.u32 [%d1+1024], %r0; " + show,
			"st.global.u32 [%d1+1024], %r0; ld.global.nc.u32 %r4, [%d1+1024]; " + show, ""},
		{"also a part of it", "st.global.u8 [%d1+1025], %r0; ld.global.nc.u32 %r4, [%d1+1024]; " + show,
			"ld.global.nc.u32 %r4, [%d1+1024]; st.global.u8 [%d1+1025], %r0; " + show, ""},
		{"not what nobody writes", "st.global.u32 [%d1+1024], %r0; ld.global.nc.u32 %r4, [%d1+2048]; " + show,
			"st.global.u32 [%d1+1024], %r0; mov.u32 %r4, 7; " + show, refine.WrongValue},
		{"nor the byte beside", "st.global.u8 [%d1+1025], %r0; ld.global.nc.u8 %r4, [%d1+1024]; " + show,
			"st.global.u8 [%d1+1025], %r0; ld.global.nc.u8 %r4, [%d1+1026]; " + show, refine.WrongValue},
		{"nor what is read in coherence", "st.global.u32 [%d1+1024], %r0; ld.global.u32 %r4, [%d1+1024]; " + show,
			"ld.global.u32 %r4, [%d1+1024]; st.global.u32 [%d1+1024], %r0; " + show, refine.WrongValue},
		{"nor what else is stored", "st.global.u32 [%d1+1024], %r0; ld.global.nc.u32 %r4, [%d1+1024]; " + show + "st.global.u32 [%d1+512], %r0;",
			"st.global.u32 [%d1+1024], %r0; ld.global.nc.u32 %r4, [%d1+1024]; " + show + "st.global.u32 [%d1+512], %r3;", refine.WrongValue},
	} {
		t.Run(c.name, func(t *testing.T) {
			source, machine := program(t, c.program), program(t, c.machine)
			machine.Machine = true
			res, err := refine.Compare(t.Context(), source, machine, refine.Options{Runs: 2, Grid: [3]int{1, 1, 1}, Block: [3]int{32, 1, 1}})
			require.NoError(t, err)
			require.Empty(t, res.Cannot)
			if c.rule == "" {
				require.Empty(t, res.Findings)
				require.NotZero(t, res.Compared)
				return
			}
			require.Len(t, res.Findings, 1)
			require.Equal(t, c.rule, res.Findings[0].Rule, res.Findings[0].Why)
		})
	}
}

// TestRegrouped: where the machine code has other lanes active together than the program, which asks for them, one lane of each warp says what differs.
func TestRegrouped(t *testing.T) {
	active := func(most int) *ir.Program {
		return program(t, fmt.Sprintf("ld.global.u32 %%r5, [%%d1+4096]; setp.gt.u32 %%p1, %%r5, %d; @%%p1 bra E; activemask.b32 %%r4; "+
			"red.global.add.u32 [%%d1], %%r4; E:", most))
	}
	source, machine := active(20), active(30)
	machine.Machine = true
	res, err := refine.Compare(t.Context(), source, machine, refine.Options{Runs: 2})
	require.NoError(t, err)
	require.Len(t, res.Findings, 1)
	require.Equal(t, refine.ExtraAccess, res.Findings[0].Rule)
}

// TestUnproved: a difference that rests on a form that no chip has confirmed says so, one beside it does not.
func TestUnproved(t *testing.T) {
	const both = "shl.b32 %r4, %r0, 1; add.u32 %r5, %r0, 7; st.global.u32 [%d1], %r5; st.global.u32 [%d1+512], %r4;"
	for _, c := range []struct{ name, machine, form string }{
		{"the value", "shl.b32 %r4, %r0, 2; add.u32 %r5, %r0, 7; st.global.u32 [%d1], %r5; st.global.u32 [%d1+512], %r4;", "shl.b32"},
		{"another value", "shl.b32 %r4, %r0, 1; add.u32 %r5, %r0, 8; st.global.u32 [%d1], %r5; st.global.u32 [%d1+512], %r4;", ""},
		{"a condition", "shl.b32 %r4, %r0, 1; setp.eq.u32 %p1, %r4, 62; add.u32 %r5, %r0, 7; @!%p1 st.global.u32 [%d1], %r5; st.global.u32 [%d1+512], %r4;", "shl.b32"},
		{"an address", "shl.b32 %r4, %r0, 1; cvt.u64.u32 %d2, %r4; add.u64 %d1, %d1, %d2; st.global.u32 [%d1], %r4;", "shl.b32"},
	} {
		t.Run(c.name, func(t *testing.T) {
			source, machine := program(t, both), program(t, c.machine)
			machine.Machine = true
			for i := range machine.Insts {
				machine.Insts[i].Unproved = machine.Insts[i].Form == "shl.b32"
			}
			res, err := refine.Compare(t.Context(), source, machine, refine.Options{Runs: 1, Grid: [3]int{1, 1, 1}, Block: [3]int{32, 1, 1}})
			require.NoError(t, err)
			require.Len(t, res.Findings, 1)
			if c.form == "" {
				require.Empty(t, res.Findings[0].Unproved)
				return
			}
			require.Equal(t, []string{c.form}, res.Findings[0].Unproved)
		})
	}
}

// TestHalf: a loop that compares and swaps a word may be a read-modify-write of a half of it. What it leaves otherwise is not said to be right.
func TestHalf(t *testing.T) {
	const sum = ".reg .b16 %h<4>; mov.b16 %h0, 0x3c00; atom.relaxed.gpu.global.add.noftz.f16 %h1, [%d1+1024], %h0; st.global.u16 [%d1], %h1;"
	loop := func(number, left string) string {
		return ".reg .b16 %h<4>; .reg .b32 %v<3>; ld.global.u32 %v0, [%d1+1024]; mov.b16 %h2, " + number + "; L: mov.b32 {%h0,%h1}, %v0; " +
			"add.rn.f16 %h3, %h0, %h2; mov.b32 %v1, {" + left + "}; atom.relaxed.gpu.global.cas.b32 %v2, [%d1+1024], %v0, %v1; setp.ne.u32 %p1, %v2, %v0; " +
			"mov.u32 %v0, %v2; @%p1 bra L; st.global.u16 [%d1], %v2;"
	}
	for _, c := range []struct {
		what, machine string
		right         bool
	}{
		{"as it is", loop("0x3c00", "%h3,%h1"), true},
		{"another number", loop("0x4000", "%h3,%h1"), false},
		{"the other half, too", loop("0x3c00", "%h3,%h3"), false},
		{"halves exchanged", loop("0x3c00", "%h1,%h3"), false},
	} {
		source, machine := program(t, sum), program(t, c.machine)
		machine.Machine = true
		res, err := refine.Compare(t.Context(), source, machine, refine.Options{Runs: 2, Grid: [3]int{1, 1, 1}, Block: [3]int{32, 1, 1}})
		require.NoError(t, err)
		require.Empty(t, res.Findings, c.what)
		require.Equal(t, c.right, len(res.Cannot) == 0 && res.Runs > 0, "%s: %v", c.what, res.Cannot)
	}
}

// TestRaces: what a load may read of a store that nothing orders with it accuses nobody, and hides nothing else.
func TestRaces(t *testing.T) {
	const store, meet, other = "st.shared.u32 [%r2], %r0; ", "bar.warp.sync 0xffffffff; ", "ld.shared.u32 %r4, [%r3]; "
	const show, old = "st.global.u32 [%d1], %r4; ", "mov.u32 %r4, 7; "
	const begin, end = store + meet + "add.u32 %r0, %r0, 64; ", meet + show
	for _, c := range []struct {
		name, program, machine string
		rule                   refine.Rule // "" if a race decides
	}{
		{"the newer of two", begin + store + other + end, begin + store + meet + other + end, ""},
		{"the older one, of a store behind it", begin + other + store + end, begin + store + meet + other + end, ""},
		{"one that nobody stores, but as open", begin + store + other + end, begin + store + old + end, ""},
		{"not with a barrier between", begin + store + meet + other + end, begin + store + meet + old + end, refine.WrongValue},
		{"nor before one", begin + other + meet + store + end, begin + meet + store + meet + other + end, refine.WrongValue},
		{"nor the lane's own", begin + store + "ld.shared.u32 %r4, [%r2]; " + end, begin + store + old + end, refine.WrongValue},
		{"nor another half of the word", begin + "ld.shared.u16 %r4, [%r2+2]; st.shared.u16 [%r3], %r0; " + end,
			begin + old + "st.shared.u16 [%r3], %r0; " + end, refine.WrongValue},
		{"a difference beside it is found", begin + store + other + end + "st.global.u32 [%d1+512], %r0;",
			begin + store + meet + other + end + "st.global.u32 [%d1+512], %r2;", refine.WrongValue},
	} {
		t.Run(c.name, func(t *testing.T) {
			source, machine := program(t, c.program), program(t, c.machine)
			machine.Machine = true
			res, err := refine.Compare(t.Context(), source, machine, refine.Options{Runs: 2, Grid: [3]int{1, 1, 1}, Block: [3]int{32, 1, 1}})
			require.NoError(t, err)
			if c.rule != "" {
				require.Len(t, res.Findings, 1)
				require.Equal(t, c.rule, res.Findings[0].Rule, res.Findings[0].Why)
				return
			}
			require.Empty(t, res.Findings)
			require.NotEmpty(t, res.Unseen, "the store of what a race decides")
			require.Equal(t, res.Unseen, res.Undefined)
			for why := range res.Cannot {
				require.Contains(t, why, "a data race of the program decides")
			}
			require.NotEmpty(t, res.Cannot)
		})
	}
}

// TestOpened: where undefined content decides between an access and what begins an epoch, all that a thread does depends on it.
func TestOpened(t *testing.T) {
	store, fence := emu.Event{Kind: emu.EventStore}, emu.Event{Kind: emu.EventFence}
	stores, fences := &emu.Record{Events: []emu.Event{store}, Epochs: []*emu.Epoch{nil}}, &emu.Record{Events: []emu.Event{fence}, Epochs: []*emu.Epoch{nil, nil}}
	require.True(t, refine.Opened(stores, fences))
	require.True(t, refine.Opened(fences, stores))
	require.False(t, refine.Opened(stores, stores))
}

// TestUndefinedContent: a store of undefined content counts as compared only where the machine code stores the same function of it.
func TestUndefinedContent(t *testing.T) {
	const asks, show = "shfl.sync.down.b32 %r4, %r0, 16, 31, 0xffffffff; ", "st.global.u32 [%d1], %r5;"
	const sum = asks + "add.u32 %r5, %r4, %r0; "
	for _, c := range []struct {
		name, machine string
		compared      bool
	}{
		{"the same", sum, true},
		{"the other way around", asks + "add.u32 %r5, %r0, %r4; ", true},
		{"what is defined of it is another", sum + "add.u32 %r5, %r5, 1; ", false},
		{"it is left out, as if it were 0", "mov.u32 %r5, %r0; ", false},
		{"it is left out, as if it were the other content", "add.u32 %r5, %r0, 0x5a5a5a5a; ", false},
		{"it is taken twice", sum + "add.u32 %r5, %r5, %r4; ", false},
		{"a constant", "mov.u32 %r5, 7; ", false},
	} {
		t.Run(c.name, func(t *testing.T) {
			source, machine := program(t, sum+show), program(t, c.machine+show)
			machine.Machine = true
			res, err := refine.Compare(t.Context(), source, machine, refine.Options{Runs: 2, Grid: [3]int{1, 1, 1}, Block: [3]int{16, 1, 1}})
			require.NoError(t, err)
			require.Empty(t, res.Findings)
			require.Equal(t, c.compared, len(res.Unseen) == 0)
			require.Equal(t, res.Unseen, res.Undefined)
		})
	}
}

// TestApproximate: a difference behind approximate functions counts if it is far beyond what their errors make of the results, or is none of values.
func TestApproximate(t *testing.T) {
	text := func(body string) *ir.Program {
		return lowered(t, `.version 8.4
.target sm_90
.address_size 64
.visible .entry k(.param .u64 out, .param .u64 in)
{
	.reg .b32 %r<9>; .reg .b64 %d<9>; .reg .pred %p<3>; .reg .f32 %f<9>;
	ld.param.u64 %d0, [out]; ld.param.u64 %d2, [in];
	mov.u32 %r0, %tid.x; mad.wide.u32 %d1, %r0, 4, %d0; mad.wide.u32 %d2, %r0, 4, %d2;
	ld.global.f32 %f1, [%d2];
	`+body+`
	ret;
}
`)
	}
	program := "ex2.approx.f32 %f2, %f1; sin.approx.f32 %f3, %f1; st.global.f32 [%d1], %f2; st.global.f32 [%d1+4096], %f3;"
	for body, doubtful := range map[string]bool{
		"ex2.approx.f32 %f2, %f1; sin.approx.f32 %f3, %f1; st.global.f32 [%d1+4096], %f3;":                                                                                         false, // nothing is stored
		"ex2.approx.f32 %f2, %f1; mul.f32 %f2, %f2, 0f3fc00000; sin.approx.f32 %f3, %f1; st.global.f32 [%d1], %f2; st.global.f32 [%d1+4096], %f3;":                                 false, // one and a half times
		"ex2.approx.f32 %f2, %f1; mov.b32 %r1, %f2; xor.b32 %r1, %r1, 4; mov.b32 %f2, %r1; sin.approx.f32 %f3, %f1; st.global.f32 [%d1], %f2; st.global.f32 [%d1+4096], %f3;":      true,  // a rounding
		"ex2.approx.f32 %f2, %f1; sin.approx.f32 %f3, %f1; mov.b32 %r1, %f3; xor.b32 %r1, %r1, 0x4000; mov.b32 %f3, %r1; st.global.f32 [%d1], %f2; st.global.f32 [%d1+4096], %f3;": true,  // as much as PTX allows near zeros of the sine
	} {
		machine := text(body)
		machine.Machine = true
		res, err := refine.Compare(t.Context(), text(program), machine, refine.Options{Runs: 2})
		require.NoError(t, err)
		require.Len(t, res.Findings, 1, body)
		require.Equal(t, doubtful, res.Findings[0].Approximate, body)
	}
}
