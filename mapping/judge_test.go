package mapping

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"optcheck/internal/required"
	"optcheck/ptx"
	"optcheck/toolchain"
	"optcheck/toolchain/tested"
)

// instructions makes PTX of lines of the litmus dialect.
func instructions(t *testing.T, lines []string) []*ptx.Inst {
	t.Helper()
	text := ".version 8.4\n.target sm_70\n.address_size 64\n.visible .entry k()\n{\n.reg .b32 %r<10>;\n.reg .b64 %rd<2>;\n"
	for _, l := range lines {
		for _, r := range []string{"rd0", "rd1", "r1", "r2", "r9"} {
			l = strings.ReplaceAll(strings.ReplaceAll(l, " "+r+",", " %"+r+","), "["+r+"]", "[%"+r+"]")
		}
		text += l + ";\n"
	}
	m, err := ptx.Parse("k.ptx", []byte(text+"ret;\n}\n"))
	require.NoError(t, err, text)
	insts, _, err := operationPTX(m.Func("k"), false)
	require.NoError(t, err)
	return insts
}

// promises are all steps that promise something.
func promises() (out []step) {
	for _, scope := range []string{"cta", "gpu", "sys"} {
		for _, o := range cxxOrders {
			for _, kind := range []string{sLoad, sStore, sFence} {
				if kind == sLoad && (o == "release" || o == "acq_rel") || kind == sStore && (o == "acquire" || o == "acq_rel") || kind == sFence && o == "relaxed" {
					continue
				}
				out = append(out, step{kind: kind, order: o, scope: scope})
			}
			for _, rmw := range []string{"exch", "cas", "add"} {
				out = append(out, step{kind: sRMW, order: o, scope: scope, rmw: rmw})
			}
		}
	}
	return append(out, step{kind: sBarrier, scope: "cta"})
}

// TestVendorsMapping: the published mapping keeps everything, on new targets and old ones.
func TestVendorsMapping(t *testing.T) {
	j, err := newJudge()
	require.NoError(t, err)
	for _, s := range promises() {
		for _, name := range []string{"ptx", "ptx-2015-rmw"} {
			o := &operation{steps: []step{s}, insts: instructions(t, s.ptx("x", "r1", 0, 1, name == "ptx")), model: name}
			got, err := j.of(t.Context(), o)
			require.NoError(t, err)
			require.NotEqual(t, Unknown, got.Class, "%+v %s: %s", s, name, got.Reason)
			if name == "ptx" {
				require.Equal(t, Kept, got.Class, "%+v %s: %+v", s, name, got.Lost)
				require.Positive(t, got.Promised, "%+v", s)
			}
		}
	}
}

// TestWeakerMappings: whatever is weakened in the published mapping is lost, unless the
// language does not promise it.
func TestWeakerMappings(t *testing.T) {
	j, err := newJudge()
	require.NoError(t, err)
	weaken := map[string]*strings.Replacer{
		"scope":   strings.NewReplacer(".gpu", ".cta", ".sys", ".gpu"),
		"acquire": strings.NewReplacer(".acq_rel", ".release", ".acquire", ".relaxed"),
		"release": strings.NewReplacer(".acq_rel", ".acquire", ".release", ".relaxed"),
		"atomic":  strings.NewReplacer("ld.relaxed.gpu", "ld.weak", "ld.relaxed.sys", "ld.weak", "st.relaxed.gpu", "st.weak", "st.relaxed.sys", "st.weak"),
	}
	lost := 0
	for _, s := range promises() {
		lines := s.ptx("x", "r1", 0, 1, true)
		for what, r := range weaken {
			weaker := strings.Split(r.Replace(strings.Join(lines, "\n")), "\n")
			if slices.Equal(weaker, lines) || s.kind == sFence && what != "scope" || s.scope == "cta" && what == "scope" {
				continue
			}
			if s.order == "seq_cst" && what == "acquire" && s.kind == sRMW {
				continue // fence.sc orders what follows, too
			}
			o := &operation{steps: []step{s}, insts: instructions(t, weaker), model: "ptx"}
			got, err := j.of(t.Context(), o)
			require.NoError(t, err)
			require.Equal(t, Lost, got.Class, "%+v without %s: %v", s, what, weaker)
			require.NotEmpty(t, got.Lost[0].Source)
			require.NotEmpty(t, got.Lost[0].PTX)
			lost++
		}
		if s.order == "seq_cst" || s.kind == sFence || s.kind == sBarrier {
			rest := slices.DeleteFunc(slices.Clone(lines), func(l string) bool { return strings.HasPrefix(l, "fence") || strings.HasPrefix(l, "bar") })
			got, err := j.of(t.Context(), &operation{steps: []step{s}, insts: instructions(t, rest), model: "ptx"})
			require.NoError(t, err)
			require.Equal(t, Lost, got.Class, "%+v without its fence", s)
			lost++
		}
	}
	t.Log(lost, "weaker mappings")
	require.Greater(t, lost, 50)
}

func TestJudgeUnknown(t *testing.T) {
	j, err := newJudge()
	require.NoError(t, err)
	load := step{kind: sLoad, order: "relaxed", scope: "gpu"}
	got, err := j.of(t.Context(), &operation{steps: []step{load}, insts: instructions(t, []string{"fence.sc.gpu"}), model: "ptx"})
	require.NoError(t, err)
	require.Equal(t, Unknown, got.Class, "an operation without its access is no good news")
	got, err = j.of(t.Context(), &operation{model: "ptx"})
	require.NoError(t, err)
	require.Equal(t, Free, got.Class)
}

func TestFrontOps(t *testing.T) {
	for name, list := range map[string][]Op{"cuda": CUDAOps(), "llvm-ir": IROps()} {
		seen := map[string]bool{}
		for _, op := range list {
			require.False(t, seen[op.Name], op.Name)
			seen[op.Name] = true
			require.Equal(t, 1, strings.Count(op.front.text, "NAME"), op.Name)
		}
		t.Log(name, len(list))
		require.Greater(t, len(list), 500, name)
	}
}

// TestOperationPTX: the stack, parameters and the result are no part of an operation, and
// loops are shown.
func TestOperationPTX(t *testing.T) {
	const text = `.version 8.4
.target sm_70
.address_size 64
.visible .entry k(.param .u64 p)
{
	.local .align 8 .b8 __local_depot0[8];
	.reg .b64 %SP;
	.reg .b64 %SPL;
	.reg .pred %p<2>;
	.reg .b32 %r<5>;
	.reg .b64 %rd<5>;
	mov.u64 %SPL, __local_depot0;
	cvta.local.u64 %SP, %SPL;
	ld.param.u64 %rd1, [p];
	add.u64 %rd2, %SP, 0;
	st.volatile.u64 [%rd2], %rd1;
	ld.volatile.u64 %rd3, [%SP+0];
	ld.relaxed.gpu.u32 %r1, [%rd3];
$L:
	atom.acquire.gpu.cas.b32 %r2, [%rd3], %r1, 1;
	setp.ne.u32 %p1, %r2, %r1;
	@%p1 bra $L;
	st.global.u32 [%rd1], %r2;
	ret;
}
`
	m, err := ptx.Parse("k.ptx", []byte(text))
	require.NoError(t, err)
	insts, shown, err := operationPTX(m.Func("k"), true)
	require.NoError(t, err)
	require.Equal(t, "ld.relaxed.gpu.u32 ; (atom.acquire.gpu.cas.b32)*", shown)
	require.Len(t, insts, 2)
	m, err = ptx.Parse("k.ptx", []byte(strings.Replace(text, "st.global.u32 [%rd1]", "st.release.gpu.u32 [%rd1]", 1)))
	require.NoError(t, err)
	_, _, err = operationPTX(m.Func("k"), true)
	require.ErrorContains(t, err, "not the store of the result")
}

// TestMappingFrontsReal: operations through the front ends of this machine, with known
// rows: Tab. 5 of the study by nvcc, and what LLVM made of orders before 20.
func TestMappingFrontsReal(t *testing.T) {
	pairs, _ := tested.Pairs(t.Context(), toolchain.Options{})
	pairs = slices.DeleteFunc(pairs, func(tc *toolchain.Toolchain) bool { return tc.Name != "nvcc-12.4+cuda-12.4" })
	if len(pairs) == 0 {
		required.Missing(t, "no nvcc 12.4; optcheck toolchain install nvcc-12.4 installs it")
	}
	cells, err := Run(t.Context(), Options{Toolchains: pairs, Targets: []string{"sm_80"}, Ops: []string{"asplos-2015", "load.*.device.i32", "load.seq_cst.device.u8"}})
	require.NoError(t, err)
	rows := map[string]string{
		"Tab. 5 atomicCAS":              "atom.global.cas.b32",
		"Tab. 5 __threadfence":          "membar.gl",
		"Tab. 5 __threadfence_block":    "membar.cta",
		"Tab. 5 store to global int":    "st.global.u32",
		"Tab. 5 load from volatile int": "ld.volatile.global.u32",
		"Fig. 2 lock (+)":               "(atom.global.cas.b32)* ; membar.gl",
		"load.seq_cst.device.i32":       "fence.sc.gpu ; ld.acquire.gpu.b32",
		"load.relaxed.device.i32":       "ld.relaxed.gpu.b32",
	}
	seen := 0
	for _, c := range cells {
		if c.Op == "load.seq_cst.device.u8" {
			require.Equal(t, Refused, c.Status, "%+v", c)
			require.Contains(t, c.Reason, "1 or 2 byte")
			continue
		}
		require.Equal(t, Mapped, c.Status, "%+v", c)
		require.Contains(t, []string{Kept, Free}, c.Judgement.Class, c.Op)
		require.Equal(t, "preserved", c.Code, c.Op)
		if want, ok := rows[c.Op]; ok {
			require.Equal(t, want, c.PTX, c.Op)
			seen++
		}
	}
	require.Equal(t, len(rows), seen)
}

func TestMappingIRReal(t *testing.T) {
	pairs, _ := tested.LLC(t.Context(), toolchain.Options{})
	pairs = slices.DeleteFunc(pairs, func(tc *toolchain.Toolchain) bool { return tc.Name != "llvm-19+cuda-12.4" })
	if len(pairs) == 0 {
		required.Missing(t, "no llc 19 with ptxas 12.4")
	}
	cells, err := Run(t.Context(), Options{Toolchains: pairs, Targets: []string{"sm_70"}, Ops: []string{"atomicrmw add.*.device.global.i32", "load.acquire.device.global.i32"}})
	require.NoError(t, err)
	got := map[string]string{}
	for _, c := range cells {
		if got[c.Op] = c.Status; c.Status == Mapped {
			got[c.Op] = fmt.Sprint(c.PTX, " ", c.Judgement.Class, " ", c.Code)
		}
	}
	require.Equal(t, map[string]string{
		"atomicrmw add.monotonic.device.global.i32": "atom.global.add.u32 kept preserved",
		"atomicrmw add.acquire.device.global.i32":   "atom.global.add.u32 lost preserved",
		"atomicrmw add.release.device.global.i32":   "atom.global.add.u32 lost preserved",
		"atomicrmw add.acq_rel.device.global.i32":   "atom.global.add.u32 lost preserved",
		"atomicrmw add.seq_cst.device.global.i32":   "atom.global.add.u32 lost preserved",
		"load.acquire.device.global.i32":            Refused,
	}, got)
}
