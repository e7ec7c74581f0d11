package optcheck

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"optcheck/isa"
	"optcheck/litmus"
)

// TestResultSlots: stores of results are no accesses of the test, but only where a marker has its slot. Whatever is
// stored before, behind or between them is.
func TestResultSlots(t *testing.T) {
	accesses := addresses + "\nLDG.E.STRONG.GPU R4, [R2.64]\nLDG.E.STRONG.GPU R5, [R0.64]" + results
	for _, c := range []struct{ at, want string }{
		{"0x20", ""},
		{"0x24", ""},
		{"0x30", "extra-access"}, // there are three markers
		{"0x2c", ""},
		{"0x40", "extra-access"},
		{"-0x4", "extra-access"},
		{"0x22", "extra-access"},
	} {
		r := check(t, twoLoads(), accesses+"\nSTG.E [R8.64+"+c.at+"], R12")
		require.Equal(t, c.want, ids(r.Findings), "%s: %v", c.at, r.Findings)
	}
	r := check(t, twoLoads(), accesses+"\nMOV R20, c[0x0][0x180]\nMOV R21, c[0x0][0x184]\nSTG.E [R20.64], R12")
	require.Equal(t, "extra-access", ids(r.Findings), "another parameter: %v", r.Findings)
	r = check(t, twoLoads(), accesses+"\nSTS [0x0], R12")
	require.Equal(t, "extra-access", ids(r.Findings), "shared memory: %v", r.Findings)

	digest := "\nMOV R13, c[0x0][0x178]\nLOP3.LUT R13, R13, LIT3, RZ, 0x3c, !PT\nSTG.E [R8.64+0x30], R13"
	for at, want := range map[string]string{"0x30": "", "0x3c": "", "0x40": "extra-access"} { // it has a slot of its own
		s := twoLoads()
		s.Digest = 5
		r := check(t, s, accesses+digest+"\nSTG.E [R8.64+"+at+"], R12")
		require.Equal(t, want, ids(r.Findings), "%s: %v", at, r.Findings)
	}
}

// TestExtraBarrier: a barrier that the test does not have brings threads into step.
func TestExtraBarrier(t *testing.T) {
	y, x := "\nLDG.E.STRONG.GPU R4, [R2.64]", "\nLDG.E.STRONG.GPU R5, [R0.64]"
	for where, body := range map[string]string{"before": "\nBAR.SYNC 0x0" + y + x, "between": y + "\nBAR.SYNC 0x0" + x, "behind": y + x + "\nBAR.SYNC 0x0"} {
		r := check(t, twoLoads(), addresses+body+results)
		require.Equal(t, "extra-effect", ids(r.Findings), "%s: %v", where, r.Findings)
		require.Contains(t, r.Findings[0].Detail, "a barrier that the test does not have")
	}
}

// TestUnawaited: an acquire of CTA scope is one only if its value has come before anything behind it is issued: an
// access of another location, or of one that is not known, on whatever path.
func TestUnawaited(t *testing.T) {
	s := twoLoads()
	s.Entries[0].Kind.Sem, s.Entries[0].Kind.Scope, s.Entries[0].Kind.Cache = litmus.SemAcquire, litmus.ScopeCTA, 0
	s.Entries[1].Kind.Cache = 0
	const result = "\nMOV R12, c[0x0][0x178]\nLOP3.LUT R12, R12, LIT2, RZ, 0x3c, !PT\nMOV R8, c[0x0][0x170]\nMOV R9, c[0x0][0x174]"
	const acquire, data = "\nLDG.E.STRONG.SM R4, [R2.64]", "\nLDG.E R5, [R0.64]"
	for _, c := range []struct {
		name, between string
		waits         string // the instruction that waits
		lost          string // the instruction that does not
		before        string
		noCodes       bool
	}{
		{"a wait", "\nNOP", "NOP", "", "", false},
		{"the data waits", "", "LDG.E R5, [R0.64]", "", "", false},
		{"nothing waits", "\nNOP", "", "LDG.E R5, [R0.64]", "", false},
		{"waited too late", "", "LOP3.LUT R10", "LDG.E R5, [R0.64]", "", false},
		{"the same location", "\nLDG.E.STRONG.SM R14, [R2.64]\nNOP", "NOP", "", "", false},
		{"an address that is not known", "\nLDG.E R14, [R16.64]\nNOP", "NOP", "LDG.E R14, [R16.64]", "", false},
		{"an invalidation", "\nCCTL.IVALL\nNOP", "NOP", "CCTL.IVALL", "", false},
		{"a later barrier", "\nDEPBAR.LE SB0, 0x0", "", "", "", false},
		{"a branch around the wait", "\nISETP.EQ.AND P0, PT, R14, R15, PT\n@P0 BRA 0x80\nMOV R30, RZ", "MOV R30", "LDG.E R5, [R0.64]", "", false},
		{"a wait on the way that is taken alone", "\nISETP.EQ.AND P0, PT, R14, R15, PT\n@P0 BRA 0x90\nNOP\nBRA 0xa0\nMOV R30, RZ", "MOV R30", "LDG.E R5, [R0.64]", "", false},
		{"a wait on both", "\nISETP.EQ.AND P0, PT, R14, R15, PT\n@P0 BRA 0x90\nMOV R30, RZ\nBRA 0xa0\nMOV R30, R14", "MOV R30", "", "", false},
		{name: "an access in a block before", before: "\nLDG.E R14, [R0.64]\nISETP.EQ.AND P0, PT, R14, R15, PT\n@P0 BRA 0x80\nNOP", between: "\nMOV R30, RZ", waits: "MOV R30"},
		{name: "no control codes", noCodes: true},
		{name: "a store of a result", between: result + "\nSTG.E [R8.64+0x20], R12\nNOP", waits: "NOP"},
		{name: "a store beside the results", between: result + "\nSTG.E [R8.64+0x40], R12\nNOP", waits: "NOP",
			lost: "STG.E [R8.64+0x40], R12"},
		{"another barrier", "\nDEPBAR.LE SB1, 0x0", "", "LDG.E R5, [R0.64]", "", false},
	} {
		fn := sassCode(t, s, addresses+c.before+acquire+c.between+data+results)
		for i := range fn.Insts {
			in := &fn.Insts[i]
			in.Control = isa.Control{Kind: isa.ControlFields, Write: isa.NoBarrier, Read: isa.NoBarrier}
			text := strings.TrimSuffix(strings.TrimSpace(in.Text), " ;")
			if strings.HasPrefix(text, "LDG.E.STRONG.SM R4") {
				in.Control.Write = 0
			}
			if c.waits != "" && strings.HasPrefix(text, c.waits) {
				in.Control.Wait = 1
			}
			if c.noCodes {
				in.Control = isa.Control{}
			}
		}
		r, err := NewChecker().check(fn, nil)
		require.NoError(t, err)
		var lost []string
		for _, f := range r.Findings {
			if f.Rule == FenceRemoved.ID {
				lost = append(lost, f.Detail)
			}
		}
		if c.lost == "" {
			require.Empty(t, lost, c.name)
			continue
		}
		require.Len(t, lost, 1, "%s: %v", c.name, r.Findings)
		require.Contains(t, lost[0], "before "+c.lost+" is issued", c.name)
	}
}

// TestUnawaitedWeak: what is lifted from an acquire that nothing waits for is relaxed, and a weak load stays one.
func TestUnawaitedWeak(t *testing.T) {
	s := twoLoads()
	s.Entries[0].Kind.Sem, s.Entries[0].Kind.Scope, s.Entries[0].Kind.Cache = litmus.SemAcquire, litmus.ScopeCTA, 0
	s.Entries[1].Kind.Cache = 0
	for waits, sem := range map[bool]litmus.Sem{true: 0, false: litmus.SemRelaxed} { // 0: it is the test's
		fn := sassCode(t, s, addresses+"\nLDG.E.STRONG.SM R4, [R2.64]\nNOP\nLDG.E R14, [R2.64]\nLDG.E R5, [R0.64]"+results)
		for i := range fn.Insts {
			in := &fn.Insts[i]
			in.Control = isa.Control{Kind: isa.ControlFields, Write: isa.NoBarrier, Read: isa.NoBarrier}
			switch text := strings.TrimSpace(in.Text); {
			case strings.HasPrefix(text, "LDG.E.STRONG.SM R4"):
				in.Control.Write = 0
			case strings.HasPrefix(text, "NOP") && waits:
				in.Control.Wait = 1
			}
		}
		r, err := NewChecker().check(fn, nil)
		require.NoError(t, err)
		code, err := r.Lift()
		require.NoError(t, err)
		var sems []litmus.Sem
		for _, o := range code.(*Lifted).ops {
			sems = append(sems, o.raw.Sem)
		}
		require.Equal(t, []litmus.Sem{sem, litmus.SemWeak, 0}, sems)
	}
}
