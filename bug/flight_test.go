package bug

import (
	"context"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"optcheck/audit"
	"optcheck/internal/fakeptxas"
	"optcheck/internal/required"
	"optcheck/litmus/corpus"
	"optcheck/optcheck"
	"optcheck/ptx"
	"optcheck/reduce"
	"optcheck/spec"
	"optcheck/toolchain"
	"optcheck/toolchain/tested"
)

// hasty returns a compiler whose code waits for no scoreboard, and the one that it is made of.
func hasty(t *testing.T) (fake, real *toolchain.Toolchain) {
	t.Helper()
	tcs, _ := tested.CUDA(t.Context(), toolchain.Options{})
	found, err := toolchain.Find(tcs, "12.4")
	if err != nil {
		required.Missing(t, "%v", err)
	}
	real = found[0]
	dir := t.TempDir()
	require.NoError(t, fakeptxas.Build(dir, real.Nvdisasm, real.Cuobjdump))
	require.NoError(t, (&fakeptxas.Config{Real: real.Ptxas, Hasty: true}).Write(dir))
	found, errs := tested.CUDA(context.Background(), toolchain.Options{Cache: "off",
		Env: func(key string) string { return map[string]string{"OPTCHECK_TOOLCHAIN_DIRS": dir}[key] }})
	require.Empty(t, errs)
	require.Len(t, found, 1)
	return found[0], real
}

// judged runs the Makefile of a bundle about a register in flight with the compiler that it is about, and with one whose code waits.
func judged(t *testing.T, b *Bundle, bad, right *toolchain.Toolchain) {
	t.Helper()
	dir := filepath.Join(t.TempDir(), "bundle")
	require.NoError(t, b.WriteDir(dir))
	out, code := runMake(t, dir, bad)
	require.Equal(t, 0, code, out)
	require.Contains(t, out, "\nREPRODUCED: the instructions and their control codes are those of the finding")
	report := string(b.File("report.md"))
	require.Contains(t, report, "nvdisasm -c -hex")
	require.Contains(t, report, ": HAZARD: nothing waits for it")
	out, code = runMake(t, dir, right)
	require.NotEqual(t, 0, code, out)
	require.Contains(t, out, "\nNOT REPRODUCED: ")
}

// TestInFlight: the script of a bundle about a register in flight judges control codes. Code that differs in them alone is right.
func TestInFlight(t *testing.T) {
	needs(t, "make", "awk")
	bad, right := hasty(t)
	t.Run("test", func(t *testing.T) {
		lt, ok := corpus.Lookup("mp+membar.gl+addr")
		require.True(t, ok)
		f := &reduce.Finding{Test: lt, Toolchain: bad, Target: "sm_80", Level: "O3", Layout: spec.Pointers,
			Signature: reduce.Signature{Rule: optcheck.HazardRAW.ID}}
		res, err := reduce.Run(t.Context(), f, reduce.Options{})
		require.NoError(t, err)
		where, err := reduce.Locate(t.Context(), &res.Min, []*toolchain.Toolchain{bad}, audit.Options{})
		require.NoError(t, err)
		b, err := Build(t.Context(), &Input{Result: res, Where: where,
			Toolchains: []*toolchain.Toolchain{bad, right}, Form: "nvidia", Tool: "test", Host: Host{OS: "Debian", Arch: "amd64"}})
		require.NoError(t, err)
		judged(t, b, bad, right)
	})
	t.Run("program", func(t *testing.T) {
		m, err := ptx.Parse("k.ptx", []byte(`.version 7.0
.target sm_80
.address_size 64
.visible .entry k(.param .u64 a, .param .u64 b)
{
	.reg .b64 %rd<3>;
	.reg .b32 %r<2>;
	ld.param.u64 %rd1, [a];
	ld.param.u64 %rd2, [b];
	ld.global.u32 %r1, [%rd1];
	add.u32 %r1, %r1, 3;
	st.global.u32 [%rd2], %r1;
	ret;
}
`))
		require.NoError(t, err)
		f, err := reduce.Find(t.Context(), m, optcheck.HazardRAW.ID, []*toolchain.Toolchain{bad}, []string{"sm_80"}, []string{"O3"})
		require.NoError(t, err)
		res, err := reduce.RunKernel(t.Context(), f, reduce.KernelOptions{})
		require.NoError(t, err)
		b, err := BuildKernel(t.Context(), &KernelInput{Result: res, Toolchains: []*toolchain.Toolchain{bad, right}, Tool: "test", Host: Host{OS: "Debian", Arch: "amd64"}})
		require.NoError(t, err)
		judged(t, b, bad, right)
	})
}
