package amdisa

import (
	"bytes"
	"context"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"

	"optcheck/internal/patient"
	"optcheck/internal/required"
	"optcheck/toolchain"
)

// tested are the releases of LLVM that tests are made for.
var tested = []int{14, 19, 22}

var discovered = sync.OnceValue(func() map[string]*toolchain.Toolchain {
	out := map[string]*toolchain.Toolchain{}
	all, _ := toolchain.DiscoverLLVM(context.Background(), toolchain.Options{Env: os.Getenv, Runner: toolchain.NewRunner(0, patient.Long)})
	for _, tc := range all {
		if slices.Contains(tested, tc.Major()) && tc.Kind.(*toolchain.LLVM).Objdump != "" && tc.Kind.(*toolchain.LLVM).MC != "" {
			out[strconv.Itoa(tc.Major())] = tc
		}
	}
	return out
})

// clangs lists the LLVM releases that are installed, oldest first. Tests that
// need one are skipped without, unless OPTCHECK_REQUIRE_TOOLS=1.
func clangs(t *testing.T) []string {
	out := slices.Sorted(maps.Keys(discovered()))
	if os.Getenv("OPTCHECK_REQUIRE_TOOLS") == "1" {
		require.Len(t, out, len(tested), "releases of LLVM with llvm-mc and llvm-objdump: found %v", out)
	}
	if len(out) == 0 {
		required.Missing(t, "no clang with AMD back ends found")
	}
	return out
}

// tool runs a program of a release in a folder and returns what it prints.
func tool(t *testing.T, dir, version string, args ...string) (string, error) {
	ctx, cancel := context.WithTimeout(context.Background(), patient.Long)
	defer cancel()
	cmd := exec.CommandContext(ctx, args[0], args[1:]...)
	cmd.Dir = dir
	cmd.Env = discovered()[version].Kind.(*toolchain.LLVM).Environment()
	var stdout, stderr bytes.Buffer
	cmd.Stdout, cmd.Stderr = &stdout, &stderr
	err := cmd.Run()
	if err != nil {
		t.Logf("%s: %v: %.300s", strings.Join(args, " "), err, stderr.String())
	}
	return stdout.String(), err
}

// compile returns the assembly of an OpenCL file, "" if the compiler refuses.
func compile(t *testing.T, dir, version, triple, target, level, src string, flags ...string) string {
	out := filepath.Join(dir, "k.s")
	args := append([]string{discovered()[version].Kind.(*toolchain.LLVM).Clang, "-target", triple, "-mcpu=" + target, "-x", "cl", "-cl-std=CL2.0", "-Xclang",
		"-finclude-default-header", "-nogpulib", "-w", "-O" + level}, flags...)
	if _, err := tool(t, dir, version, append(args, "-S", src, "-o", out)...); err != nil {
		return ""
	}
	b, err := os.ReadFile(out)
	require.NoError(t, err)
	return string(b)
}

// disassemble assembles with llvm-mc and disassembles with llvm-objdump.
func disassemble(t *testing.T, dir, version, triple, target, asm string) string {
	in, obj := filepath.Join(dir, "in.s"), filepath.Join(dir, "k.o")
	require.NoError(t, os.WriteFile(in, []byte(asm), 0o600))
	_, err := tool(t, dir, version, discovered()[version].Kind.(*toolchain.LLVM).MC, "-triple="+triple, "-mcpu="+target, "-filetype=obj", "in.s", "-o", "k.o")
	require.NoError(t, err)
	text, err := tool(t, dir, version, discovered()[version].Kind.(*toolchain.LLVM).Objdump, "-d", "--mcpu="+target, "k.o")
	require.NoError(t, err)
	_ = os.Remove(obj)
	return text
}
