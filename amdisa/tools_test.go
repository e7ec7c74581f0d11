package amdisa

import (
	"bytes"
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// clangs lists the LLVM releases on the search path, oldest first. Tests that
// need one are skipped without, unless OPTCHECK_REQUIRE_TOOLS=1.
func clangs(t *testing.T) []string {
	var out []string
	for _, v := range []string{"14", "19", "22"} {
		_, err1 := exec.LookPath("clang-" + v)
		_, err2 := exec.LookPath("llvm-objdump-" + v)
		_, err3 := exec.LookPath("llvm-mc-" + v)
		if err1 == nil && err2 == nil && err3 == nil {
			out = append(out, v)
		}
	}
	if len(out) == 0 {
		if os.Getenv("OPTCHECK_REQUIRE_TOOLS") == "1" {
			t.Fatal("no clang with AMD back ends found")
		}
		t.Skip("no clang with AMD back ends found")
	}
	return out
}

// tool runs a program in a folder and returns what it prints.
func tool(t *testing.T, dir string, args ...string) (string, error) {
	ctx, cancel := context.WithTimeout(context.Background(), 2*time.Minute)
	defer cancel()
	cmd := exec.CommandContext(ctx, args[0], args[1:]...)
	cmd.Dir = dir
	var stdout, stderr bytes.Buffer
	cmd.Stdout, cmd.Stderr = &stdout, &stderr
	err := cmd.Run()
	if err != nil {
		t.Logf("%s: %v: %.300s", strings.Join(args, " "), err, stderr.String())
	}
	return stdout.String(), err
}

// compile gives the assembly of an OpenCL file, "" if the compiler refuses.
func compile(t *testing.T, dir, version, triple, target, level, src string, flags ...string) string {
	out := filepath.Join(dir, "k.s")
	args := append([]string{"clang-" + version, "-target", triple, "-mcpu=" + target, "-x", "cl", "-cl-std=CL2.0", "-Xclang", "-finclude-default-header", "-nogpulib", "-w", "-O" + level}, flags...)
	if _, err := tool(t, dir, append(args, "-S", src, "-o", out)...); err != nil {
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
	_, err := tool(t, dir, "llvm-mc-"+version, "-triple="+triple, "-mcpu="+target, "-filetype=obj", "in.s", "-o", "k.o")
	require.NoError(t, err)
	text, err := tool(t, dir, "llvm-objdump-"+version, "-d", "--mcpu="+target, "k.o")
	require.NoError(t, err)
	_ = os.Remove(obj)
	return text
}
