package device

import (
	"bytes"
	"context"
	"os"
	"slices"
	"strings"
	"syscall"
	"testing"

	"github.com/stretchr/testify/require"

	"optcheck/audit"
	"optcheck/internal/required"
	"optcheck/isa"
	"optcheck/litmus/corpus"
	"optcheck/optcheck"
	"optcheck/pipeline"
	"optcheck/ptxgen"
	"optcheck/runner"
	"optcheck/runner/drive"
	"optcheck/runner/opencl"
	"optcheck/spec"
)

// TestMain gives drivers their environment, which a C library reads at the start only.
func TestMain(m *testing.M) {
	if env := os.Environ(); !slices.Contains(env, opencl.Env[0]) {
		if exe, err := os.Executable(); err == nil {
			_ = syscall.Exec(exe, os.Args, append(env, opencl.Env...)) // what follows skips or fails
		}
	}
	os.Exit(m.Run())
}

// pocl opens the CPU device of PoCL.
func pocl(t *testing.T) runner.Session {
	t.Helper()
	b := opencl.New()
	devices, err := b.Devices(t.Context())
	i := slices.IndexFunc(devices, func(d runner.Device) bool { return d.Type == "cpu" })
	if err != nil || i < 0 {
		required.Missing(t, "no CPU device of OpenCL")
	}
	s, err := b.Open(t.Context(), devices[i].Index)
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, s.Close()) })
	return s
}

// TestPoCL runs tests on a CPU from end to end: PoCL's machine code is the test, and
// shows nothing that tso forbids.
func TestPoCL(t *testing.T) {
	s := pocl(t)
	j, err := NewJudge(audit.ModelsFor("")...)
	require.NoError(t, err)
	var got []*Result
	tune := drive.DefaultTuning(s.Device())
	o := Options{Tests: tests(t, "mp", "sb-inter", "mp-volatile"), Session: s, Compiler: &Compiler{Maker: pipeline.NewOpenCLMaker(s)},
		Judge:     j,
		Settings:  []drive.Setting{{Tuning: tune}, {Incantations: drive.Random, Tuning: tune}, {Form: ptxgen.FormPermuted, Tuning: tune}},
		Seed:      1,
		Instances: 1000, Emit: func(r *Result) { got = append(got, r) }}
	require.NoError(t, Run(t.Context(), o))
	ran := 0
	for _, r := range got {
		if r.Binary.State == "unsupported" {
			continue
		}
		ran++
		require.True(t, r.Ran(), "%s: %s", r.Test, r.Detail)
		require.True(t, r.Validated, "%s: %s", r.Test, r.Unvalidated)
		require.GreaterOrEqual(t, r.Instances, uint64(1000))
		require.Zero(t, r.Unexpected, r.Test)
		for _, x := range r.Outcomes {
			require.Equal(t, Allowed, x.Says[0], "%s: %v is forbidden by tso", r.Test, x.Values)
		}
	}
	require.Equal(t, 6, ran, "two tests under three settings")
}

// folded are tests of which clang computes something itself: it knows what a condition
// says where it holds, and that a manufactured dependency is zero.
var folded = []string{"dlb-lb", "dlb-lb+acq_rel.gpus", "dlb-lb+membar.gls", "lb+datas", "lb+datas-relaxed.gpus", "s+membar.gl+data"}

// TestPoCLCorpus: what the harness has in OpenCL C is the test when PoCL has compiled it,
// in both forms, or is told not to be. With OPTCHECK_FULL=1 all of the corpus.
func TestPoCLCorpus(t *testing.T) {
	c := &Compiler{Maker: pipeline.NewOpenCLMaker(pocl(t))}
	list, least := tests(t, "iriw", "lb+ctrls", "lb+datas", "2+2w+fence.sc.gpus"), 3
	if os.Getenv("OPTCHECK_FULL") == "1" {
		list, least = corpus.Tests(), 79
	}
	for form := range ptxgen.Forms {
		bins, err := c.Build(t.Context(), list, ptxgen.Form(form))
		require.NoError(t, err)
		n := 0
		for _, b := range bins {
			if b.State == "unsupported" || b.State == "compile-failed" {
				continue
			}
			require.Equal(t, !slices.Contains(folded, b.Test.Name), b.Validated, "%s %s: %s: %s", b.Test.Name, ptxgen.Form(form), b.State,
				b.Why)
			if !b.Validated {
				continue
			}
			n++
			require.Empty(t, b.Unlifted, b.Test.Name)
			require.NotEmpty(t, b.Machine, b.Test.Name)
			require.Positive(t, b.StressLoads)
			require.Positive(t, b.StressStores)
		}
		require.GreaterOrEqual(t, n, least)
	}
}

// TestPoCLBinaryRuns: what is loaded is what runs. Without its stores, mp reads zeros.
func TestPoCLBinaryRuns(t *testing.T) {
	s, ctx := pocl(t), t.Context()
	m := pipeline.NewOpenCLMaker(s)
	j, err := NewJudge("tso")
	require.NoError(t, err)
	c := &Compiler{Maker: edited{m, func(archive []byte, fn *isa.Func) []byte {
		for _, in := range slices.Concat(ofTest(t, m, fn)...) {
			if in.Role == isa.RoleStore {
				archive = dropped(t, archive, fn, in.Addr)
			}
		}
		return archive
	}}}
	var got []*Result
	o := Options{Tests: tests(t, "mp"), Session: s, Compiler: c, Judge: j,
		Settings: []drive.Setting{{Tuning: drive.DefaultTuning(s.Device())}}, Seed: 1,
		Instances: 1000, Unvalidated: true, Emit: func(r *Result) { got = append(got, r) }}
	require.NoError(t, Run(ctx, o))
	require.Len(t, got, 1)
	require.False(t, got[0].Validated)
	require.Len(t, got[0].Outcomes, 1)
	require.Equal(t, []int64{0, 0}, got[0].Outcomes[0].Values)
}

// edited is a maker whose archives are changed.
type edited struct {
	pipeline.Maker
	edit func(archive []byte, fn *isa.Func) []byte
}

func (e edited) Make(ctx context.Context, list []*ptxgen.Harness) ([]pipeline.Made, map[int]error, error) {
	made, failed, err := e.Maker.Make(ctx, list)
	for i := range made {
		code, err := e.Decode(ctx, &made[i])
		if err != nil {
			return nil, nil, err
		}
		made[i].Image.Data = e.edit(made[i].Image.Data, code.Program.Funcs[0])
	}
	return made, failed, err
}

// ofTest is matched for the kernel of a test of the corpus.
func ofTest(t *testing.T, m pipeline.Maker, fn *isa.Func) [][]*isa.Inst {
	t.Helper()
	h, err := m.Emit(tests(t, strings.Split(fn.Name, "_")[1])[0], ptxgen.FormFast, spec.Pointers)
	require.NoError(t, err)
	require.Equal(t, h.Name, fn.Name)
	return matched(fn, optcheck.NewChecker().CheckHarness(fn, h.Check))
}

// matched are the instructions that accesses and fences of the test were matched to, by
// their text: LLVM copies the block of a role to where it cannot be reached.
func matched(fn *isa.Func, r *optcheck.HarnessResult) (list [][]*isa.Inst) {
	at := map[string]int{}
	for _, th := range r.Threads {
		for _, l := range th.Machine {
			if _, ok := at[l.Text]; l.Pos >= 0 && !ok {
				at[l.Text] = len(list)
				list = append(list, nil)
			}
		}
	}
	for i := range fn.Insts {
		in := &fn.Insts[i]
		if k, ok := at[in.Text]; ok && (in.Role.IsAccess() || in.Role == isa.RoleFence) {
			list[k] = append(list[k], in)
		}
	}
	return list
}

// dropped is an archive in which an instruction of its function is nothing.
func dropped(t *testing.T, archive []byte, fn *isa.Func, at uint64) []byte {
	t.Helper()
	return replaced(t, archive, at, int(behind(fn, at)-at), func(code []byte) {
		for i := range code {
			code[i] = 0x90
		}
	})
}

// replaced changes bytes of machine code. PoCL's shared objects have the code of a
// function where its address says, counted from the beginning of the file.
func replaced(t *testing.T, archive []byte, at uint64, n int, change func([]byte)) []byte {
	t.Helper()
	archive = bytes.Clone(archive)
	file := bytes.Index(archive, []byte("\x7fELF"))
	require.Positive(t, file)
	change(archive[file+int(at):][:n])
	return archive
}

// TestPoCLMutations: machine code that is changed in one place is never validated: an
// access or fence that is gone, a lock that is gone, two neighbours that are swapped.
func TestPoCLMutations(t *testing.T) {
	m, n, ctx := pipeline.NewOpenCLMaker(pocl(t)), 0, t.Context()
	for _, x := range tests(t, "mp", "mp+membar.gls", "iriw", "lb", "sb-inter", "cas-sl", "add+add.gpus", "2+2w+fence.sc.gpus") {
		h, err := m.Emit(x, ptxgen.FormFast, spec.Pointers)
		require.NoError(t, err)
		made, failed, err := m.Make(ctx, []*ptxgen.Harness{h})
		require.NoError(t, err)
		require.Empty(t, failed)
		check := func(archive []byte) (*isa.Func, *optcheck.HarnessResult) {
			made[0].Image.Data = archive
			code, err := m.Decode(ctx, &made[0])
			require.NoError(t, err)
			fn, err := code.Func(h.Name)
			if err != nil {
				return nil, &optcheck.HarnessResult{Class: optcheck.Unknown, Reason: err.Error()}
			}
			return fn, optcheck.NewChecker().CheckHarness(fn, h.Check)
		}
		good := made[0].Image.Data
		fn, r := check(good)
		require.True(t, r.Validated(), "%s: %s", x.Name, r.Why())
		list := matched(fn, r)
		require.NotEmpty(t, list, x.Name)
		refused := func(what string, in *isa.Inst, archive []byte) {
			_, r := check(archive)
			require.False(t, r.Validated(), "%s: %s at 0x%x: %s passes", x.Name, in.Text, in.Addr, what)
			n++
		}
		for i, copies := range list {
			drop, unlock, in := good, good, copies[0]
			for _, c := range copies {
				drop = dropped(t, drop, fn, c.Addr)
				unlock = replaced(t, unlock, c.Addr, 1, func(code []byte) { code[0] = 0x90 })
			}
			refused("dropped", in, drop)
			if strings.HasPrefix(in.Text, "lock ") {
				refused("without its lock", in, unlock)
			}
			if i == 0 || len(copies) > 1 || len(list[i-1]) > 1 || in.Role == isa.RoleFence || list[i-1][0].Role == isa.RoleFence {
				continue
			}
			a, b, end := list[i-1][0].Addr, in.Addr, behind(fn, in.Addr)
			if behind(fn, a) == b {
				refused("swapped with the one before", in, replaced(t, good, a, int(end-a), func(code []byte) {
					copy(code, append(bytes.Clone(code[b-a:]), code[:b-a]...))
				}))
			}
		}
	}
	t.Logf("%d mutants", n)
	require.Greater(t, n, 25)
}

// behind is the address of the instruction behind one.
func behind(fn *isa.Func, at uint64) uint64 {
	for i := range fn.Insts {
		if a := fn.Insts[i].Addr; a > at {
			return a
		}
	}
	return at
}
