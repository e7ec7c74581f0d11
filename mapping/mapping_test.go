package mapping

import (
	"bytes"
	"fmt"
	"os"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"optcheck/internal/required"
	"optcheck/isa"
	"optcheck/sass"
	"optcheck/toolchain"
)

func TestMapSequence(t *testing.T) {
	in := func(text string, block int, some bool, loop int) Inst {
		return Inst{Text: text, Block: block, Sometimes: some, Repeated: loop >= 0, loop: loop}
	}
	for want, list := range map[string][]Inst{
		"nothing":           nil,
		"A ; B":             {in("A", 0, false, -1), in("B", 1, false, -1)},
		"{A ; B} ; {C} ; D": {in("A", 1, true, -1), in("B", 1, true, -1), in("C", 2, true, -1), in("D", 3, false, -1)},
		"A ; (B ; {C})*":    {in("A", 0, false, -1), in("B", 1, false, 1), in("C", 2, true, 1)},
		"{(B ; C)*} ; (D)*": {in("B", 1, true, 1), in("C", 2, true, 1), in("D", 3, false, 3)},
	} {
		require.Equal(t, want, Sequence(list))
	}
}

func TestMapWhere(t *testing.T) {
	cell := func(tc, target, level, machine string) Cell {
		return Cell{Op: "op", Group: "loads", Toolchain: "ptxas " + tc + ".1", Target: target, Level: level, Status: Mapped, Machine: machine}
	}
	cells := []Cell{
		cell("11.8", "sm_70", "O0", "A"), cell("11.8", "sm_70", "O3", "A"), cell("11.8", "sm_80", "O0", "A"), cell("11.8", "sm_80", "O3", "B"), cell("11.8", "sm_90", "O0", "B"), cell("11.8", "sm_90", "O3", "B"),
		cell("12.4", "sm_70", "O0", "A"), cell("12.4", "sm_70", "O3", "A"), cell("12.4", "sm_80", "O0", "A"), cell("12.4", "sm_80", "O3", "B"), cell("12.4", "sm_90", "O0", "B"), cell("12.4", "sm_90", "O3", "C"),
		cell("12.4", "sm_100", "O0", "A"), cell("12.4", "sm_100", "O3", "A"),
	}
	var got []string
	for _, r := range Rows(cells) {
		got = append(got, r.Machine+": "+r.Where)
	}
	require.Equal(t, []string{"A: sm_70, sm_80 (O0), sm_100", "B: sm_80 (O3), sm_90 (11.8, 12.4 O0)", "C: sm_90 (12.4 O3)"}, got)
	require.Equal(t, []Change{{"op", "loads", "sm_90", "O3", "ptxas 11.8.1", "ptxas 12.4.1", "B", "C"}}, Diff(cells))
}

// TestMapSurroundings: if the accesses around an operation are not where they
// were written, nothing is said of the operation.
func TestMapSurroundings(t *testing.T) {
	parse := func(lines ...string) *isa.Func {
		text := "\t.section\t.text.m,\"ax\",@progbits\n\t.sectioninfo\t@\"SHI_REGISTERS=8\"\n.text.m:\n"
		for i, l := range lines {
			text += fmt.Sprintf("        /*%04x*/                   %s ;\n", 16*i, l)
		}
		prog, err := sass.Parse("x", []byte("\t.headerflags\t@\"EF_CUDA_TEXMODE_UNIFIED EF_CUDA_64BIT_ADDRESS EF_CUDA_SM80 EF_CUDA_VIRTUAL_SM(EF_CUDA_SM80)\"\n"+text))
		require.NoError(t, err)
		return prog.Funcs[0]
	}
	op := &Op{lead: 1, trail: 1}
	const first, fence, second = "STG.E.STRONG.SYS [R2.64], R4", "MEMBAR.SC.GPU", "STG.E.STRONG.SYS [R6.64], R4"
	list, err := mapSequence(parse(first, fence, second, "EXIT"), op)
	require.NoError(t, err)
	require.Equal(t, "MEMBAR.SC.GPU", Sequence(list))
	for _, bad := range [][]string{{fence, first, second, "EXIT"}, {first, second, fence, "EXIT"}, {first, "EXIT"}, {"@P0 " + first, fence, second, "EXIT"}} {
		_, err := mapSequence(parse(bad...), op)
		require.ErrorContains(t, err, "surroundings", bad)
	}
	_, err = mapSequence(parse(first, "FROBNICATE R1, R2", second, "EXIT"), op)
	require.ErrorContains(t, err, "unknown instruction")
}

// TestMappingReal: facts of the founding study and of NVIDIA's documentation,
// one for each kind of operation and generation.
func TestMappingReal(t *testing.T) {
	cells, err := Run(t.Context(), Options{Toolchains: discovered(t, toolchain.Options{}), Targets: []string{"sm_35", "sm_60", "sm_70", "sm_80"}, Levels: []string{"O3"},
		Ops: []string{"fences", "st.release.gpu.global.u32", "ld.acquire.gpu.global.u32", "atom.shared.cas.b32"}})
	require.NoError(t, err)
	got := map[string]string{}
	for _, c := range cells {
		require.NotEqual(t, Unknown, c.Status, "%+v", c)
		require.Equal(t, c.Status == Mapped, c.Reason == "")
		got[c.Op+" "+releaseOf(c.Toolchain)+" "+c.Target] = c.shown()
		if c.Status == Refused && c.Target == "sm_60" && c.Op == "fence.sc.gpu" {
			require.Contains(t, c.Reason, "sm_70 or higher", "the compiler's own words")
		}
	}
	for at, want := range map[string]string{
		"membar.gl 11.2 sm_35":                 "MEMBAR.GL ; CCTL.IVALL",
		"membar.gl (between loads) 11.8 sm_35": "MEMBAR.CTA ; CCTL.IVALL", // the Kepler fence, see findings.md
		"membar.gl 11.2 sm_60":                 "MEMBAR.GL.IVALLD",
		"fence.sc.gpu 12.4 sm_60":              "–",
		"fence.sc.gpu 12.4 sm_80":              "MEMBAR.SC.GPU ; ERRBAR ; CCTL.IVALL",
		"st.release.gpu.global.u32 11.2 sm_70": "MEMBAR.ALL.GPU ; ERRBAR ; STG.E.STRONG.GPU",
		"ld.acquire.gpu.global.u32 12.4 sm_80": "LDG.E.STRONG.GPU ; CCTL.IVALL",
		"atom.shared.cas.b32 11.2 sm_35":       "(LDSLK ; @P STSCUL)*",
		"atom.shared.cas.b32 12.4 sm_80":       "ATOMS.CAS",
	} {
		require.Equal(t, want, got[at], at)
	}
}

// TestMappingDocument: the table in docs is what the command prints; a slice of
// the operations is compared, or everything with OPTCHECK_FULL=1.
func TestMappingDocument(t *testing.T) {
	o := Options{Toolchains: discovered(t, toolchain.Options{}), Ops: []string{"membar.*", "ld.acquire.*.global.u32", "st.release.*.global.u32", "atom.global.add.u32", "bar.*"}}
	if os.Getenv("OPTCHECK_FULL") == "1" {
		o.Ops = nil
	}
	doc, err := os.ReadFile("../docs/results/mapping.md")
	require.NoError(t, err)
	for _, tc := range o.Toolchains {
		if !strings.Contains(string(doc), tc.ID) {
			required.Missing(t, "the document does not speak of %s", tc.ID)
		}
	}
	if len(o.Toolchains) != 3 {
		required.Missing(t, "the document speaks of three releases")
	}
	cells, err := Run(t.Context(), o)
	require.NoError(t, err)
	var b bytes.Buffer
	require.NoError(t, WriteMarkdown(&b, cells))
	row := func(text string, ops map[string]bool) (rows []string) {
		for line := range strings.Lines(text) {
			if op, _, ok := strings.Cut(strings.TrimPrefix(line, "| `"), "` | "); ok && strings.HasPrefix(line, "| `") && (ops == nil || ops[op]) {
				rows = append(rows, line)
			}
		}
		return rows
	}
	ops := map[string]bool{}
	for _, c := range cells {
		ops[c.Op] = true
	}
	want := row(b.String(), nil)
	require.Greater(t, len(want), 40)
	require.Equal(t, want, row(string(doc), ops), "write it anew with: optcheck mapping --markdown")
}

func TestMapOps(t *testing.T) {
	seen := map[string]bool{}
	for _, op := range PTXOps() {
		require.False(t, seen[op.Name], op.Name)
		seen[op.Name] = true
		require.Contains(t, Groups, op.Group)
	}
	_, err := Run(t.Context(), Options{Toolchains: []*toolchain.Toolchain{{ID: "x", Kind: toolchain.CUDA{}, MaxPTX: "8.4", Targets: []string{"sm_80"}}}, Ops: []string{"frobnicate"}})
	require.ErrorContains(t, err, "no operation matches")
}

// BenchmarkMapping is the whole table: all operations, releases and targets, O0
// and O3.
func BenchmarkMapping(b *testing.B) {
	tcs := discovered(b, toolchain.Options{})
	for b.Loop() {
		cells, err := Run(b.Context(), Options{Toolchains: tcs})
		require.NoError(b, err)
		b.ReportMetric(float64(len(cells)), "cells")
	}
}
