package match

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"optcheck/event"
	"optcheck/litmus"
	"optcheck/litmus/corpus"
	"optcheck/llvmir"
	"optcheck/optcheck"
	"optcheck/spec"
)

func kernel(t *testing.T, name string, thread int) (*spec.Spec, *litmus.Test) {
	test, ok := corpus.Lookup(name)
	require.True(t, ok, name)
	s, err := spec.FromTest(test, thread, spec.Pointers)
	require.NoError(t, err)
	return s, test
}

// TestPTX: what of a thread is still there in PTX, and which of two compilers a finding
// is therefore of.
func TestPTX(t *testing.T) {
	s, test := kernel(t, "mp+fence.sc.gpus", 0) // st x; fence; st y
	const whole = "st.weak.global.u32 [%rd1], 1;\nfence.sc.gpu;\nst.weak.global.u32 [%rd2], 1;\n"
	stage := func(body, rule string, access int) string {
		text := ".visible .entry k(.param .u64 k_param_0, .param .u64 k_param_1, .param .u64 k_param_2)\n{\n.reg .b64 %rd<4>;\n" +
			"ld.param.u64 %rd1, [k_param_0];\nld.param.u64 %rd2, [k_param_1];\n" + body + "ret;\n}\n"
		k, err := PTX("k", text, s, test)
		require.NoError(t, err)
		return k.Stage(&event.Finding{Rule: rule, Access: access})
	}
	for _, c := range []struct {
		body   string
		rule   *optcheck.Rule
		access int
		want   string
	}{
		{whole, optcheck.Missing, 0, StagePtxas},
		{whole, optcheck.FenceRemoved, 1, StagePtxas},
		{whole, optcheck.Reordered, 2, StagePtxas},
		{whole, optcheck.ExtraAccess, -1, StagePtxas},
		{whole, optcheck.ValueChanged, 0, ""},
		{whole, optcheck.Missing, 9, ""},
		{strings.Replace(whole, "fence.sc.gpu;\n", "", 1), optcheck.FenceRemoved, 1, StageLLC},
		{strings.Replace(whole, "sc.gpu", "sc.cta", 1), optcheck.FenceRemoved, 1, StageLLC},
		{strings.Replace(whole, "sc.gpu", "acq_rel.gpu", 1), optcheck.FenceWeakened, 1, StageLLC},
		{strings.Replace(whole, "fence.sc.gpu", "membar.gl", 1), optcheck.FenceRemoved, 1, StagePtxas},
		{strings.Replace(whole, "[%rd1]", "[%rd2]", 1), optcheck.Missing, 0, StageLLC},
		{whole + "st.weak.global.u32 [%rd2], 1;\n", optcheck.Duplicated, 2, StageLLC},
		{"st.weak.global.u32 [%rd2], 1;\nfence.sc.gpu;\nst.weak.global.u32 [%rd1], 1;\n", optcheck.Reordered, 2, StageLLC},
	} {
		require.Equal(t, c.want, stage(c.body, c.rule.ID, c.access), "%s %d in\n%s", c.rule.ID, c.access, c.body)
	}
}

// TestPTXStronger: what is stronger than the test is llc's if its PTX already is.
func TestPTXStronger(t *testing.T) {
	for _, c := range []struct{ test, atom, want string }{
		{"add.cta+add.gpu-inter", "atom.relaxed.cta.global.add.u32", StagePtxas},
		{"add.cta+add.gpu-inter", "atom.global.add.u32", StageLLC},
		{"add.cta+add.gpu-inter", "atom.relaxed.sys.global.add.u32", StageLLC},
		{"add.cta+add.gpu-inter", "atom.acquire.cta.global.add.u32", StageLLC},
		{"add.cta+add.gpu-inter", "atom.release.cta.global.add.u32", StageLLC},
	} {
		s, test := kernel(t, c.test, 0)
		text := ".visible .entry k(.param .u64 k_param_0, .param .u64 k_param_1)\n{\n.reg .b64 %rd<4>;\n.reg .b32 %r<3>;\n" +
			"ld.param.u64 %rd1, [k_param_0];\n" + c.atom + " %r1, [%rd1], 1;\nret;\n}\n"
		k, err := PTX("k", text, s, test)
		require.NoError(t, err)
		require.Equal(t, c.want, k.Stage(&event.Finding{Rule: optcheck.Strengthened.ID, Access: 0}), c.atom)
	}
	s, test := kernel(t, "mp+fence.sc.gpus", 0)
	text := ".visible .entry k(.param .u64 k_param_0, .param .u64 k_param_1, .param .u64 k_param_2)\n{\n.reg .b64 %rd<4>;\n" +
		"ld.param.u64 %rd1, [k_param_0];\nld.param.u64 %rd2, [k_param_1];\nst.weak.global.u32 [%rd1], 1;\nfence.sc.gpu;\nst.volatile.global.u32 [%rd2], 1;\nret;\n}\n"
	k, err := PTX("k", text, s, test)
	require.NoError(t, err)
	for n, want := range map[int]string{0: StagePtxas, 2: StageLLC} {
		require.Equal(t, want, k.Stage(&event.Finding{Rule: optcheck.Strengthened.ID, Access: n}))
	}
}

// TestIR: a finding is of the first stage whose output lacks something.
func TestIR(t *testing.T) {
	s, test := kernel(t, "mp+fence.sc.gpus", 0)
	whole := []llvmir.Access{{Op: llvmir.Store, Arg: 0, Ordering: "monotonic"}, {Op: llvmir.Fence, Arg: -1, Ordering: "seq_cst"},
		{Op: llvmir.Store, Arg: 1, Ordering: "monotonic"}}
	plain := []llvmir.Access{{Op: llvmir.Store, Arg: 0}, whole[1], whole[2]}
	swapped := []llvmir.Access{whole[2], whole[1], whole[0]}
	unfenced := []llvmir.Access{whole[0], whole[2]}
	twice := append(append([]llvmir.Access{}, whole...), whole[2])
	elsewhere := append(append([]llvmir.Access{}, whole...), llvmir.Access{Op: llvmir.Store, Arg: 7})
	for _, c := range []struct {
		name          string
		front, middle []llvmir.Access
		rule          *optcheck.Rule
		access        int
		want          string
	}{
		{"nothing", whole, whole, optcheck.Missing, 0, StageBackEnd},
		{"results", elsewhere, elsewhere, optcheck.Missing, 0, StageBackEnd},
		{"order", whole, swapped, optcheck.Reordered, 2, StagePasses},
		{"order at first", swapped, swapped, optcheck.Reordered, 2, StageFrontEnd},
		{"a store more", whole, twice, optcheck.ExtraAccess, -1, StagePasses},
		{"an order", whole, plain, optcheck.Weakened, 0, StagePasses},
		{"a fence", whole, unfenced, optcheck.FenceRemoved, 1, StagePasses},
		{"a fence at first", unfenced, unfenced, optcheck.FenceRemoved, 1, StageFrontEnd},
		{"a fence at last", whole, whole, optcheck.FenceRemoved, 1, StageBackEnd},
		{"no such access", whole, whole, optcheck.FenceRemoved, 9, ""},
	} {
		got := StageIR(IR(c.front, s, test), IR(c.middle, s, test), &event.Finding{Rule: c.rule.ID, Access: c.access})
		require.Equal(t, c.want, got, c.name)
	}
}
