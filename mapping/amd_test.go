package mapping

import (
	"bytes"
	"os"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"optcheck/amdisa"
	"optcheck/internal/required"
	"optcheck/toolchain"
)

// TestMappingAMDReal: rows of LLVM's published memory model of the targets
// (AMDGPU usage, "Memory Model"), which every release follows, and one of
// libclc's.
func TestMappingAMDReal(t *testing.T) {
	tcs := llvms(t)
	cells, err := Run(t.Context(), Options{Toolchains: tcs, Targets: []string{"tahiti", "gfx900", "gfx942", "gfx1030", "gfx1200"},
		Ops: []string{"load.global (alone)", "load.volatile.global", "load.*.device.global", "store.release.device.global", "fence.*", "fetch_add.acq_rel.device.global", "mem_fence.both", "atomic_work_item_fence.*"}})
	require.NoError(t, err)
	rows := map[string]string{
		"load.global (alone) tahiti":             "s_waitcnt lgkmcnt(0) ; s_load_dword",
		"load.volatile.global tahiti":            "buffer_load_dword glc ; s_waitcnt vmcnt(0)",
		"load.volatile.global gfx942":            "global_load_dword sc0 sc1 ; s_waitcnt vmcnt(0)",
		"load.acquire.device.global tahiti":      "buffer_load_dword glc ; s_waitcnt vmcnt(0) ; buffer_wbinvl1",
		"load.acquire.device.global gfx900":      "global_load_dword glc ; s_waitcnt vmcnt(0) ; buffer_wbinvl1_vol",
		"load.acquire.device.global gfx942":      "global_load_dword sc1 ; s_waitcnt vmcnt(0) ; buffer_inv sc1",
		"load.acquire.device.global gfx1200":     "global_load_b32 scope:SCOPE_DEV ; s_wait_loadcnt 0x0 ; global_inv scope:SCOPE_DEV",
		"load.relaxed.device.global gfx1030":     "global_load_dword glc dlc",
		"store.release.device.global gfx900":     "s_waitcnt vmcnt(0) ; global_store_dword",
		"store.release.device.global gfx942":     "buffer_wbl2 sc1 ; s_waitcnt vmcnt(0) ; global_store_dword sc1",
		"store.release.device.global gfx1030":    "s_waitcnt vmcnt(0) ; s_waitcnt_vscnt null, 0x0 ; global_store_dword",
		"fence.release.agent gfx900":             "s_waitcnt vmcnt(0) lgkmcnt(0)",
		"fence.seq_cst.wavefront gfx900":         "nothing",
		"fence.acquire.agent gfx942":             "s_waitcnt vmcnt(0) lgkmcnt(0) ; buffer_inv sc1",
		"fetch_add.acq_rel.device.global gfx942": "{buffer_wbl2 sc1 ; s_waitcnt vmcnt(0) ; global_atomic_add sc0 ; s_waitcnt vmcnt(0) ; buffer_inv sc1}",
	}
	seen := map[string]bool{}
	for _, c := range cells {
		at := c.Op + " " + c.Target
		require.NotEqual(t, Unknown, c.Status, "%+v", c)
		require.Equal(t, c.Status == Mapped, c.Reason == "")
		if want, ok := rows[at]; ok {
			require.Equal(t, want, c.Machine, "%s %s", at, c.Toolchain)
			seen[at] = true
		}
		switch {
		case strings.HasPrefix(c.Op, "atomic_work_item_fence") && c.Status == Refused:
			require.Contains(t, c.Reason, "the kernel calls")
		case at == "fence.release.agent gfx1200":
			require.Contains(t, c.Machine, "s_wait_storecnt 0x0 ; s_wait_loadcnt_dscnt 0x0", "the last wait is the fence's too")
		case at == "mem_fence.both gfx900" && strings.HasPrefix(c.Toolchain, "clang 19"):
			require.Equal(t, "s_waitcnt vmcnt(0) expcnt(0) lgkmcnt(0)", c.Machine)
		}
	}
	for at := range rows {
		_, target, _ := strings.Cut(at[strings.LastIndex(at, " "):], " ")
		for _, tc := range tcs {
			require.True(t, seen[at] || !tc.HasTarget(target), at)
		}
	}
}

// TestMappingAMDSurroundings: without the accesses that were written around an
// operation nothing is said of it, and only what is attributed to its line
// belongs to it.
func TestMappingAMDSurroundings(t *testing.T) {
	const listing = `	.amdgcn_target "amdgcn-amd-amdhsa--gfx900"
	.text
	.globl	m
	.type	m,@function
	.file	1 "." "audit.litmus"
m:                                      ; @m
	.loc	1 1048576 1
	global_store_dword v0, v1, s[0:1]
	ds_write_b32 v2, v1
	global_load_dword v3, v0, s[0:1] offset:256
	ds_read_b32 v4, v2 offset:256
	.loc	1 1048577 1
	s_waitcnt vmcnt(0) lgkmcnt(0)
	.loc	1 1048576 1
	ds_write_b32 v2, v1 offset:512
	s_endpgm
`
	op := &Op{cl: &clOp{}}
	sequence := func(text string) ([]Inst, error) {
		prog, err := amdisa.ParseFor("x", []byte(text), "gfx900")
		require.NoError(t, err)
		require.Empty(t, prog.Problems)
		return amdSequence(prog.Funcs[0], op)
	}
	list, err := sequence(listing)
	require.NoError(t, err)
	require.Equal(t, "s_waitcnt vmcnt(0) lgkmcnt(0)", Sequence(list))
	for _, gone := range []string{"	ds_write_b32 v2, v1 offset:512\n", "	ds_read_b32 v4, v2 offset:256\n", "	global_store_dword v0, v1, s[0:1]\n"} {
		_, err := sequence(strings.Replace(listing, gone, "", 1))
		require.ErrorContains(t, err, "surroundings", gone)
	}
}

// TestMappingAMDUnoptimised: at O0 no wait is for a private variable, and lanes are
// not combined.
func TestMappingAMDUnoptimised(t *testing.T) {
	cells, err := Run(t.Context(), Options{Toolchains: llvms(t), Targets: []string{"gfx900"}, Levels: []string{"O0"},
		Ops: []string{"load.*.device.global", "fence.release.agent", "fetch_add.acq_rel.device.global*", "mem_fence.both"}})
	require.NoError(t, err)
	rows := map[string]string{
		"load.relaxed.device.global":                  "global_load_dword glc",
		"load.acquire.device.global":                  "global_load_dword glc ; s_waitcnt vmcnt(0) ; buffer_wbinvl1_vol",
		"fence.release.agent":                         "s_waitcnt vmcnt(0) lgkmcnt(0)",
		"fetch_add.acq_rel.device.global (no result)": "s_waitcnt vmcnt(0) ; global_atomic_add ; s_waitcnt vmcnt(0) ; buffer_wbinvl1_vol",
	}
	seen := 0
	for _, c := range cells {
		if c.Status == Refused {
			require.Regexp(t, "has no (llc|libclc)", c.Reason)
			continue
		}
		require.Equal(t, Mapped, c.Status, "%+v", c)
		if want, ok := rows[c.Op]; ok {
			require.Equal(t, want, c.Machine, "%s %s", c.Op, c.Toolchain)
			seen++
		}
	}
	require.GreaterOrEqual(t, seen, len(rows))
}

// TestMappingR600: what TeraScale has, and that the rest is refused in the
// compiler's words.
func TestMappingR600(t *testing.T) {
	tcs := llvms(t)
	targets, levels := []string{"cypress", "cayman"}, []string{"O0", "O2"}
	cells, err := Run(t.Context(), Options{Toolchains: tcs, Targets: targets, Levels: levels,
		Ops: []string{"load.global", "load.local", "load.acquire.device.local", "store.global", "store.local", "store.release.device.*", "fetch_add.relaxed.device.global*",
			"exchange.acq_rel.work_group.local", "mem_fence.global", "barrier.both"}})
	require.NoError(t, err)
	rows := map[string]string{"load.global": "VTX_READ_32", "load.local": "LDS_READ_RET", "load.acquire.device.local": "LDS_CMPST",
		"store.global cypress": "MEM_RAT_CACHELESS STORE_RAW", "store.global cayman": "MEM_RAT_CACHELESS STORE_DWORD", "store.local": "LDS_WRITE",
		"store.release.device.global": "MEM_RAT ATOMIC_XCHG_INT", "store.release.device.local": "LDS_WRXCHG", "exchange.acq_rel.work_group.local": "LDS_WRXCHG_RET",
		"fetch_add.relaxed.device.global (no result)": "MEM_RAT ATOMIC_ADD", "barrier.both": "GROUP_BARRIER"}
	seen := map[string]int{}
	for _, c := range cells {
		want, ok := rows[c.Op]
		if !ok {
			want, ok = rows[c.Op+" "+c.Target]
		}
		// At O0 the result is kept in a variable, and returning atomics cannot be selected.
		if ok && (c.Level == "O2" || c.Group != "reductions") && !(c.Status == Refused && strings.Contains(c.Reason, "has no libclc")) {
			require.Equal(t, want, c.Machine, "%+v", c)
			seen[c.Op+" "+c.Target]++
			continue
		}
		require.Equal(t, Refused, c.Status, "%+v", c)
		require.Regexp(t, "the compiler cannot: |has no libclc", c.Reason, c.Op)
	}
	for _, target := range targets {
		for op := range rows {
			if op, at, one := strings.Cut(op, " c"); !one || target == "c"+at {
				require.Positive(t, seen[op+" "+target], "%s %s", op, target)
			}
		}
	}
}

// TestMappingAMDOptions: what is not mapped is said.
func TestMappingAMDOptions(t *testing.T) {
	seen := map[string]bool{}
	for _, op := range CLOps() {
		require.False(t, seen[op.Name], op.Name)
		seen[op.Name] = true
		require.Contains(t, Groups, op.Group)
	}
	amd := &toolchain.Toolchain{ID: "clang", Targets: []string{"gfx900"}, Kind: &toolchain.LLVM{}}
	nvidia := &toolchain.Toolchain{ID: "ptxas", Kind: toolchain.CUDA{}, MaxPTX: "8.4", Targets: []string{"sm_80"}}
	for want, o := range map[string]Options{
		"different vendors":    {Toolchains: []*toolchain.Toolchain{nvidia, amd}},
		"no operation matches": {Toolchains: []*toolchain.Toolchain{amd}, Ops: []string{"membar.gl"}},
	} {
		_, err := Run(t.Context(), o)
		require.ErrorContains(t, err, want)
	}
}

// TestMappingAMDDocument: the table in docs is what the command prints, for the
// releases that it speaks of.
func TestMappingAMDDocument(t *testing.T) {
	text, err := os.ReadFile("../docs/results/mapping-amd.md")
	require.NoError(t, err)
	doc := string(text)
	var tcs []*toolchain.Toolchain
	for _, tc := range llvms(t) {
		if strings.Contains(doc, tc.ID) {
			tcs = append(tcs, tc)
		}
	}
	if len(tcs) != 3 {
		required.Missing(t, "the document speaks of three releases")
	}
	cells, err := Run(t.Context(), Options{Toolchains: tcs, Ops: []string{"fence.*.agent", "mem_fence.*", "load.acquire.*.global"},
		Targets: []string{"tahiti", "gfx803", "gfx900", "gfx90a", "gfx942", "gfx1030", "gfx1100", "gfx1200"}})
	require.NoError(t, err)
	var b bytes.Buffer
	require.NoError(t, WriteMarkdown(&b, cells))
	rows := 0
	for line := range strings.Lines(b.String()) {
		if strings.HasPrefix(line, "| `") {
			rows++
			require.Contains(t, doc, line, "write it anew with the command in the document")
		}
	}
	require.Greater(t, rows, 40)
}
