package nvidia_test

import (
	"fmt"
	"os"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"optcheck/ptx"
	"optcheck/refine"
	"optcheck/refine/nvidia"
	"optcheck/sass"
	"optcheck/sass/cubin"
	"optcheck/toolchain"
	"optcheck/toolchain/tested"
)

// change is an edit of a program.
type change struct{ old, new string }

// TestNoticed: a kernel that waits for other grids, that calls the CUDA system, meets at barrier objects, asks which lanes are active or has parameters that ptxas aligns elsewhere
// is executed; a wrong value, address, count or condition beside that is noticed.
func TestNoticed(t *testing.T) {
	tc := tested.Release(t, "12.4")
	for file, changes := range map[string][]change{
		"grids.ptx": {{}, {"ra, 7, t", "ra, 9, t"}, {"q+4096", "q+4100"}, {"[p]", "[p+4]"}, {"st.global.u32 [q], ra;", ""}},
		"system.ptx": {{}, {"ra, 7, t", "ra, 9, t"}, {"pa, t, 40", "pa, t, 8"}, {"[q], ra", "[q], r"}, {"setp.eq.u64", "setp.ne.u64"},
			{"ra, ra, r", "ra, ra, t"}},
		"mbarrier.ptx": {{}, {"[%r3], %r2;", "[%r3], 32;"}, {"%p2, [%r3], 1;", "%p2, [%r3], 0;"}, {"[%r6], [%d3], 4", "[%r6], [%d3+4], 4"}},
		"aligned.ptx":  {{}, {"map+4", "map+8"}, {"[n]", "[map]"}},
		"active.ptx":   {{}, {"popc.b32 w, g", "popc.b32 w, f"}, {"and.b32 r, v, 7", "and.b32 r, v, 3"}, {"pl, i, 5", "pl, i, 4"}},
		"made.ptx":     {{}, {"[b], ny", "[b], nx"}, {"data+12", "data+16"}},
		"reduced.ptx":  {{}, {"setp.eq", "setp.ne"}, {"n, 0, h", "n, 0, !h"}, {"v, v, 3", "v, v, 7"}, {"h, v, 1", "h, v, 2"}},
	} {
		data, err := os.ReadFile("../../sass/lower/testdata/" + file)
		if os.IsNotExist(err) {
			data, err = os.ReadFile("testdata/" + file)
		}
		require.NoError(t, err)
		head, body, _ := strings.Cut(string(data), ".visible")
		kernel := func(i int) string { return fmt.Sprint("k", i) }
		named := func(text string, i int) string { return strings.Replace(text, ".entry k(", ".entry "+kernel(i)+"(", 1) }
		for _, target := range []string{"sm_80", "sm_90"} {
			for _, level := range []string{"O0", "O3"} {
				if file == "grids.ptx" && target == "sm_80" {
					continue // the instructions of sm_90
				}
				job := toolchain.Job{Target: target, Level: level, Header: head}
				for i, c := range changes {
					require.Contains(t, body, c.old)
					text := named(".visible"+strings.Replace(body, c.old, c.new, 1), i)
					job.Units = append(job.Units, toolchain.Unit{Name: kernel(i), Text: text})
				}
				cub, listing := compiled(t, tc, job)
				for i, c := range changes {
					var block [3]int
					if file == "made.ptx" {
						block = [3]int{16, 8, 1} // two threads of each warp make the object
					}
					m, err := ptx.Parse(file, []byte(named(string(data), i)))
					require.NoError(t, err)
					got := executed(t, m, cub, string(listing), kernel(i), block)
					require.Equal(t, c.old == "", len(got.Findings) == 0, "%s %s %s %q %v", file, target, level, c.new, got.Findings)
					require.Positive(t, got.Runs+len(got.Findings), "%s %s %s %v", file, target, level, got.Cannot)
				}
			}
		}
	}
}

// TestApart: lanes that machine code takes for together may be apart: what it does then (BRA.DIV) is executed, too, and what is wrong there is
// noticed. The edits are of the machine code, at the last place that has the text.
func TestApart(t *testing.T) {
	tc := tested.Release(t, "12.4")
	data, err := os.ReadFile("testdata/apart.ptx")
	require.NoError(t, err)
	m, err := ptx.Parse("apart.ptx", data)
	require.NoError(t, err)
	head, body, _ := strings.Cut(string(data), ".visible")
	cub, listing := compiled(t, tc, toolchain.Job{Target: "sm_90", Level: "O3", Header: head, Units: []toolchain.Unit{{Name: "unit", Text: ".visible" + body}}})
	require.Contains(t, string(listing), "BRA.DIV")
	for _, c := range []change{{}, {"STS [R4], R5", "STS [R4], R3"}, {"STS [R4], R5", "STS [R4+0x4], R5"}, {"STS [R4], R5", "NOP"}, {"LDS R3, [R4+0x20]", "LDS R3, [R4+0x24]"},
		{"@!P0 IMAD.IADD R3, R3, 0x1, R6", "@!P0 IMAD.IADD R3, R3, 0x1, R4"}, {"0xf, RZ, 0xc0", "0x7, RZ, 0xc0"}} {
		at := strings.LastIndex(string(listing), c.old)
		require.GreaterOrEqual(t, at, 0, c.old)
		got := executed(t, m, cub, string(listing[:at])+c.new+string(listing[at+len(c.old):]), "k", [3]int{})
		require.Equal(t, c.old == "", len(got.Findings) == 0, "%q %v", c.new, got.Findings)
		if c.old == "" {
			require.Empty(t, got.Unwritten)
		} else {
			require.False(t, got.Findings[0].Both, "%q: it shows where lanes are apart alone", c.new)
		}
	}
}

// TestRanges: stores of the machine code to which numbers let no thread come need no run. Edits of the machine code that let one come, or that leave
// open whether one does, are noticed.
func TestRanges(t *testing.T) {
	tc := tested.Release(t, "12.4")
	data, err := os.ReadFile("testdata/ranges.ptx")
	require.NoError(t, err)
	m, err := ptx.Parse("ranges.ptx", data)
	require.NoError(t, err)
	head, body, _ := strings.Cut(string(data), ".visible")
	cub, listing := compiled(t, tc, toolchain.Job{Target: "sm_90", Level: "O3", Header: head, Units: []toolchain.Unit{{Name: "unit", Text: ".visible" + body}}})
	for _, c := range []change{{}, {"R5.reuse, 0x3, PT", "R5.reuse, 0x1, PT"}, {"R5.reuse, 0x3, PT", "R5.reuse, 0x0, PT"}, {"P0, PT, R11, 0x7, PT", "P0, PT, R11, 0xff, PT"},
		{"@!P0 EXIT", "@P0 EXIT"}, {"-R11, 0x7, R0", "-R11, 0x27, R0"}, {"R5, RZ, 0x3, R0", "R5, RZ, 0x1, R0"}, {"-R11, 0x7, R0", "R11, 0x7, R0"},
		{"ISETP.GE.U32.AND P0", "ISETP.GE.U32.OR P0"}, {"ISETP.GE.U32.AND P0", "ISETP.LE.U32.AND P0"}, {"VIMNMX R0, RZ, R11, !PT", "IMAD.MOV.U32 R0, RZ, RZ, R11"}} {
		at := strings.Index(string(listing), c.old)
		require.GreaterOrEqual(t, at, 0, c.old)
		got := executed(t, m, cub, string(listing[:at])+c.new+string(listing[at+len(c.old):]), "k", [3]int{})
		honest := c.old == "" || strings.HasPrefix(c.new, "IMAD.MOV") // the maximum of a number without a sign and 0
		require.Equal(t, honest, len(got.Findings)+len(got.Unwritten) == 0, "%q %v %v", c.new, got.Findings, got.Unwritten)
		if honest {
			require.Empty(t, got.Unseen)
		}
	}
}

// compiled is machine code, as a file and as text.
func compiled(t *testing.T, tc *toolchain.Toolchain, job toolchain.Job) (file, listing []byte) {
	t.Helper()
	res, err := tc.Compile(t.Context(), job)
	require.NoError(t, err)
	require.Empty(t, res.Failed)
	file = res.Batches[0].Cubin
	listing, err = tc.Disassemble(t.Context(), file, toolchain.DisasmOptions{})
	require.NoError(t, err)
	return file, listing
}

// executed compares a kernel of a module with machine code.
func executed(t *testing.T, m *ptx.Module, file []byte, listing, kernel string, block [3]int) *refine.Result {
	t.Helper()
	p, err := sass.Parse("listing", []byte(listing))
	require.NoError(t, err)
	f, err := cubin.Parse(file)
	require.NoError(t, err)
	got, err := nvidia.Compare(t.Context(), m, p, f, kernel, refine.Options{Runs: 2, Grid: [3]int{2, 1, 1}, Block: block})
	require.NoError(t, err)
	return got
}

// TestForced: what stands behind conditions that no input meets is compared where both codes are made to go there. Edits of the machine code
// there, or of the conditions, leave it open. The edits are of the last place that has the text.
func TestForced(t *testing.T) {
	tc := tested.Release(t, "12.4")
	data, err := os.ReadFile("testdata/forced.ptx")
	require.NoError(t, err)
	m, err := ptx.Parse("forced.ptx", data)
	require.NoError(t, err)
	head, body, _ := strings.Cut(string(data), ".visible")
	cub, listing := compiled(t, tc, toolchain.Job{Target: "sm_90", Level: "O3", Header: head, Units: []toolchain.Unit{{Name: "unit", Text: ".visible" + body}}})
	p, err := cubin.Parse(cub)
	require.NoError(t, err)
	for _, c := range []change{{}, {"R7, R11, 0x3, R4", "R7, R11, 0x5, R4"}, {"STG.E desc[UR4][R2.64], R7", "NOP"}, {"[R2.64], R7", "[R2.64+0x2], R7"},
		{"[R4.64+0x1000]", "[R4.64+0x1002]"}, {"R4, R4, 0x2, R2", "R4, R4, 0x4, R2"}, {"@!P1 STG.E", "@P1 STG.E"}, {"@!P1 STG.E", "STG.E"},
		{"0x1b873593, PT", "0x1b873592, PT"}, {"NE.U32.AND P1, PT, R5", "LE.U32.AND P1, PT, R5"}, {"@P1 BRA", "@!P1 BRA"}, {"@P1 BRA", "BRA"},
		{"R9, R6, PT", "R9, R4, PT"}, {"NE.U32.AND P1, PT, R9", "GT.U32.AND P1, PT, R9"}, {"R5, RZ, 0xd", "R5, RZ, 0xe"}, {"+0x4], R9", "+0x4], R7"},
		{"+0x4], R9", "+0x8], R9"}} {
		at := strings.LastIndex(string(listing), c.old)
		require.GreaterOrEqual(t, at, 0, c.old)
		prog, err := sass.Parse("listing", []byte(string(listing[:at])+c.new+string(listing[at+len(c.old):])))
		require.NoError(t, err)
		got, err := nvidia.Compare(t.Context(), m, prog, p, "k", refine.Options{Runs: 2, Search: 1 << 22, Shared: true})
		require.NoError(t, err)
		require.Equal(t, c.old == "", len(got.Findings)+len(got.Unseen)+len(got.Unwritten)+len(got.Undecided) == 0, "%q", c.new)
		if c.old == "" {
			require.Equal(t, 2, got.Forced)
		}
	}
}
