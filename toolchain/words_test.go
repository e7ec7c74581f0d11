package toolchain

import (
	"path/filepath"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// TestWords: targets and levels come from files, too. What is none is no argument of a compiler.
func TestWords(t *testing.T) {
	bad := []string{"", "-o", "sm_80 -o x", "sm_80\n", "sm_80/../x", "O3 -fplugin=x", "-O3", "O4", "@x", "../x", "sm_", "gfx900=x", "$(x)"}
	tool := filepath.Join(t.TempDir(), "none")
	ptxas := fake(t, time.Minute)
	for _, word := range bad {
		for _, job := range []Job{{Target: word, Level: "O3"}, {Target: "sm_80", Level: word}} {
			_, err := ptxas.Compile(t.Context(), job)
			require.ErrorContains(t, err, "compile: bad ", word)
			_, err = (&Toolchain{Kind: &LLC{Path: tool}}).CompileIR(t.Context(), job)
			require.ErrorContains(t, err, "compile: bad ", word)
			if job.Target == word {
				_, err = (&Toolchain{Kind: &Front{Path: tool}}).CompileCUDA(t.Context(), CUDAJob{Job: job})
				require.ErrorContains(t, err, "compile: bad ", word)
			} else {
				job.Target = "gfx900"
			}
			_, err = (&Toolchain{Kind: &LLVM{Clang: tool}}).CompileLLVM(t.Context(), LLVMJob{Job: job})
			require.ErrorContains(t, err, "compile: bad ", word)
		}
	}
	require.Zero(t, ptxas.Runner().Stats().Processes)
}

// TestToolEnvironment: tools see nothing of the user's environment, and no home in which somebody
// could leave a configuration for them.
func TestToolEnvironment(t *testing.T) {
	t.Setenv("NVCC_APPEND_FLAGS", "-o x")
	t.Setenv("LD_PRELOAD", "")
	t.Setenv("CPATH", "/")
	env := toolEnv("/opt/bin/ptxas")
	require.Contains(t, env, "HOME=/nonexistent")
	for _, kv := range env {
		require.NotRegexp(t, "^(NVCC|LD_|CPATH)", kv)
	}
}
