package optcheck

import (
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"optcheck/isa"
	"optcheck/litmus"
	"optcheck/sass"
	"optcheck/spec"
)

// kernel writes a disassembly for sm_80 around the given instructions and
// checks it. LITn stands for the nth literal of the specification.
func check(t *testing.T, s *spec.Spec, body string) *Result {
	t.Helper()
	r, err := NewChecker().check(sassCode(t, s, body), nil) // by hand, without a digest
	require.NoError(t, err)
	return r.Result
}

// sassCode is the kernel of check.
func sassCode(t *testing.T, s *spec.Spec, body string) *isa.Func {
	t.Helper()
	lits, err := s.Literals()
	require.NoError(t, err)
	var b strings.Builder
	b.WriteString("\tcode for sm_80\n\t\tFunction : k\n")
	addr := 0
	lines := strings.Split(strings.TrimSpace(body), "\n")
	lines = append(lines, "EXIT")
	for _, l := range lines {
		for i, x := range lits {
			l = strings.ReplaceAll(l, fmt.Sprintf("LIT%d", i), fmt.Sprintf("0x%x", x))
		}
		fmt.Fprintf(&b, "        /*%04x*/                   %s ;\n", addr, strings.TrimSpace(l))
		addr += 16
	}
	b.WriteString("\t\t..........\n")
	prog, err := sass.Parse("k.sass", []byte(b.String()))
	require.NoError(t, err)
	require.Empty(t, prog.Problems)
	require.Len(t, prog.Funcs, 1)
	return prog.Funcs[0]
}

func ids(fs []Finding) string {
	var s []string
	for _, f := range fs {
		s = append(s, f.Rule)
	}
	return strings.Join(s, " ")
}

func access(pos int, op litmus.Op, loc int) spec.Entry {
	return spec.Entry{Pos: pos, Loc: loc, Kind: spec.Kind{Op: op, Space: litmus.Global, Width: 4, Cache: litmus.CacheCG}}
}

// twoLoads returns ld.cg y; ld.cg x.
func twoLoads() *spec.Spec {
	return &spec.Spec{Locations: 2, Entries: []spec.Entry{access(0, litmus.OpLd, 1), access(1, litmus.OpLd, 0)}}
}

const results = `
	LOP3.LUT R10, R4, LIT0, RZ, 0x3c, !PT
	LOP3.LUT R11, R5, LIT1, RZ, 0x3c, !PT
	MOV R12, c[0x0][0x178]
	LOP3.LUT R12, R12, LIT2, RZ, 0x3c, !PT
	MOV R8, c[0x0][0x170]
	MOV R9, c[0x0][0x174]
	STG.E [R8.64], R10
	STG.E [R8.64+0x10], R11
	STG.E [R8.64+0x20], R12`

const addresses = `
	MOV R0, c[0x0][0x160]
	MOV R1, c[0x0][0x164]
	MOV R2, c[0x0][0x168]
	MOV R3, c[0x0][0x16c]`

// TestRules shows each rule on the smallest change that breaks it.
func TestRules(t *testing.T) {
	y, x := "\nLDG.E.STRONG.GPU R4, [R2.64]", "\nLDG.E.STRONG.GPU R5, [R0.64]"
	cases := []struct{ name, body, want string }{
		{"as written", y + x, ""},
		{"swapped", x + y, "reordered"},
		{"second gone", y + "\nMOV R5, RZ", "missing"},
		{"one load for both", y + "\nMOV R5, R4", "merged"},
		{"twice", y + y + x, "duplicated"},
		{"weak", y + "\nLDG.E R5, [R0.64]", "weakened"},
		{"narrow", y + "\nLDG.E.STRONG.SM R5, [R0.64]", "weakened"},
		{"wide scope is no finding", y + "\nLDG.E.STRONG.SYS R5, [R0.64]", ""},
		{"other location", y + "\nLDG.E.STRONG.GPU R5, [R2.64]", "retargeted"},
		{"beside the location", y + "\nLDG.E.STRONG.GPU R5, [R0.64+0x4]", "retargeted"},
		{"wider", y + "\nLDG.E.64.STRONG.GPU R6, [R0.64]\nMOV R5, R6", "width-changed"},
		{"a store that is not in the test", y + "\nSTG.E [R2.64], R4" + x, "extra-access"},
		{"under a predicate", y + "\nISETP.EQ.AND P0, PT, R4, 0x1, PT\n@P0 LDG.E.STRONG.GPU R5, [R0.64]", "control-changed"},
		{"spills are private", y + "\nMOV R20, c[0x0][0x28]\nSTL [R20], R4" + x, ""},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			r := check(t, twoLoads(), addresses+c.body+results)
			require.Equal(t, c.want, ids(r.Findings), "%v", r.Findings)
			if c.want == "" {
				require.Equal(t, Preserved, r.Class)
			} else {
				require.Equal(t, Changed, r.Class)
			}
		})
	}
}

func withFence(f spec.Kind) *spec.Spec {
	s := twoLoads()
	s.Entries[1].Pos = 2
	s.Entries = []spec.Entry{s.Entries[0], {Pos: 1, Kind: f}, s.Entries[1]}
	return s
}

const fenceResults = `
	LOP3.LUT R10, R4, LIT0, RZ, 0x3c, !PT
	MOV R12, c[0x0][0x178]
	LOP3.LUT R13, R12, LIT1, RZ, 0x3c, !PT
	LOP3.LUT R11, R5, LIT2, RZ, 0x3c, !PT
	LOP3.LUT R14, R12, LIT3, RZ, 0x3c, !PT
	MOV R8, c[0x0][0x170]
	MOV R9, c[0x0][0x174]
	STG.E [R8.64], R10
	STG.E [R8.64+0x10], R13
	STG.E [R8.64+0x20], R11
	STG.E [R8.64+0x30], R14`

func TestFences(t *testing.T) {
	y, x := "\nLDG.E.STRONG.GPU R4, [R2.64]", "\nLDG.E.STRONG.GPU R5, [R0.64]"
	sc := spec.Kind{Op: litmus.OpMembar, Scope: litmus.ScopeGPU}
	ar := spec.Kind{Op: litmus.OpFence, Sem: litmus.SemAcqRel, Scope: litmus.ScopeGPU}
	cta := spec.Kind{Op: litmus.OpMembar, Scope: litmus.ScopeCTA}
	bar := spec.Kind{Op: litmus.OpBar}
	aq := spec.Kind{Op: litmus.OpFence, Sem: litmus.SemAcquire, Scope: litmus.ScopeGPU}
	cases := []struct {
		name string
		kind spec.Kind
		body string
		want string
	}{
		{"as written", sc, y + "\nMEMBAR.SC.GPU\nERRBAR\nCCTL.IVALL" + x, ""},
		{"removed", sc, y + x, "fence-removed"},
		{"too early", sc, "\nMEMBAR.SC.GPU\nERRBAR\nCCTL.IVALL" + y + x, "fence-removed"},
		{"too late", sc, y + x + "\nMEMBAR.SC.GPU\nERRBAR\nCCTL.IVALL", "fence-removed"},
		{"narrower", sc, y + "\nMEMBAR.SC.CTA\nCCTL.IVALL" + x, "fence-weakened"},
		{"not sc", sc, y + "\nMEMBAR.ALL.GPU\nERRBAR\nCCTL.IVALL" + x, "fence-weakened"},
		{"no invalidation", sc, y + "\nMEMBAR.SC.GPU\nERRBAR" + x, "fence-weakened"},
		{"wider", sc, y + "\nMEMBAR.SC.SYS\nERRBAR\nCCTL.IVALL" + x, ""},
		{"acq_rel as written", ar, y + "\nMEMBAR.ALL.GPU\nERRBAR\nCCTL.IVALL" + x, ""},
		{"acq_rel by sc", ar, y + "\nMEMBAR.SC.GPU\nERRBAR\nCCTL.IVALL" + x, ""},
		{"cta needs no invalidation", cta, y + "\nMEMBAR.SC.CTA" + x, ""},
		{"accesses merged across", sc, y + "\nMEMBAR.SC.GPU\nERRBAR\nCCTL.IVALL\nMOV R5, R4", "fence-removed merged"},
		{"acquire is an invalidation", aq, y + "\nCCTL.IVALL" + x, ""},
		{"acquire by a full fence", aq, y + "\nMEMBAR.ALL.GPU\nERRBAR\nCCTL.IVALL" + x, ""},
		{"acquire removed", aq, y + x, "fence-removed"},
		{"acquire by a prefetch", aq, y + "\nCCTL.E.PF2 [R2.64]" + x, "fence-removed"},
		{"barrier", bar, y + "\nBAR.SYNC 0x0" + x, ""},
		{"another barrier", bar, y + "\nBAR.SYNC 0x1" + x, "extra-effect fence-removed"},
		{"a barrier whose number nobody knows", bar, y + "\nBAR.SYNC R4" + x, "extra-effect fence-removed"},
		{"warp synchronisation is no barrier", bar, y + "\nWARPSYNC 0xffffffff" + x, "fence-removed"},
		{"predicated", sc, y + "\nISETP.EQ.AND P0, PT, R4, 0x1, PT\n@P0 MEMBAR.SC.GPU\nERRBAR\nCCTL.IVALL" + x, "control-changed"},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			r := check(t, withFence(c.kind), addresses+c.body+fenceResults)
			require.Equal(t, c.want, ids(r.Findings), "%v", r.Findings)
		})
	}
}

func TestDependencies(t *testing.T) {
	s := twoLoads()
	s.Deps = []spec.Dep{{From: 0, To: 1, Kind: spec.DepAddr}}
	res := strings.Replace(results, "MOV R8, c[0x0][0x170]",
		"MOV R13, c[0x0][0x178]\n\tLOP3.LUT R13, R13, LIT3, RZ, 0x3c, !PT\n\tMOV R8, c[0x0][0x170]", 1) +
		"\n\tSTG.E [R8.64+0x30], R13"
	body := "\nLDG.E.STRONG.GPU R4, [R2.64]\nLOP3.LUT R6, R4, 0x80000000, RZ, 0xc0, !PT\nIADD3 R0, P0, R6, c[0x0][0x160], RZ\nIADD3.X R1," +
		" RZ, c[0x0][0x164], RZ, P0, !PT\nLDG.E.STRONG.GPU R5, [R0.64]"
	require.Equal(t, Preserved, check(t, s, addresses+body+res).Class)
	cut := strings.Replace(body, "R4, 0x80000000", "RZ, 0x80000000", 1)
	require.Equal(t, "dependency-broken", ids(check(t, s, addresses+cut+res).Findings))
	// r xor r is always zero, but in the machine the dependency is there.
	xor := strings.Replace(body, "R4, 0x80000000, RZ, 0xc0", "R4, R4, RZ, 0x3c", 1)
	require.Equal(t, Preserved, check(t, s, addresses+xor+res).Class)
}

// TestUndecided: what cannot be decided is unknown, with the reason.
func TestUndecided(t *testing.T) {
	y, x := "\nLDG.E.STRONG.GPU R4, [R2.64]", "\nLDG.E.STRONG.GPU R5, [R0.64]"
	r := check(t, twoLoads(), addresses+y+"\nFROBNICATE R1"+x+results)
	require.Equal(t, Unknown, r.Class)
	require.Contains(t, r.Reason, "FROBNICATE")
	r = check(t, twoLoads(), addresses+y+x+strings.Replace(results, "LIT0", "0x1234", 1))
	require.Equal(t, Unknown, r.Class)
	require.Contains(t, r.Reason, "1 of 2 markers found")
	r = check(t, twoLoads(), addresses+y+x+results+"\nLOP3.LUT R20, R5, LIT0, RZ, 0x3c, !PT")
	require.Equal(t, Unknown, r.Class)
	require.Contains(t, r.Reason, "twice")
	r = check(t, twoLoads(), addresses+y+x+results+"\nBRX R20 -0x100")
	require.Equal(t, Unknown, r.Class)
	require.Contains(t, r.Reason, "an indirect branch")
}

// TestTraps: a trap is no effect of its own only where what the launch has set decides about it alone: the size of the stack.
func TestTraps(t *testing.T) {
	for what, x := range map[string]struct {
		operands string
		harmless bool
	}{
		"the stack":             {"R1, c[0x0][0x28]", true},
		"what is read":          {"R4, 0x1", false},
		"what is read, and it":  {"R4, c[0x0][0x28]", false},
		"a parameter":           {"R16, 0x7", false},
		"a parameter, and it":   {"R16, c[0x0][0x28]", false},
		"what nobody knows":     {"R17, 0x1", false},
		"what nobody knows, it": {"R17, c[0x0][0x28]", false},
		"nothing":               {"RZ, 0x1", false},
	} {
		r := check(t, twoLoads(), addresses+"\nMOV R1, c[0x0][0x28]\nMOV R16, c[0x0][0x178]\nMUFU.RCP R17, R16\nLDG.E.STRONG.GPU R4, [R2.64]\n"+
			"ISETP.LT.U32.AND P0, PT, "+x.operands+", PT\n@P0 BRA 0xb0\nBPT.TRAP 0x1\nLDG.E.STRONG.GPU R5, [R0.64]"+results)
		require.Equal(t, x.harmless, !strings.Contains(ids(r.Findings), "extra-effect"), "%s: %v", what, r.Findings)
	}
}

// TestRulesExplained: every rule has an ID, a title and an explanation of its own.
func TestRulesExplained(t *testing.T) {
	seen := map[string]bool{}
	for _, r := range Rules {
		require.NotEmpty(t, r.Title)
		require.Greater(t, len(r.Explain), 80, r.ID)
		require.False(t, seen[r.ID])
		seen[r.ID] = true
		got, ok := LookupRule(r.ID)
		require.True(t, ok)
		require.Same(t, r, got)
	}
}
