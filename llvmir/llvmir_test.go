package llvmir_test

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"optcheck/internal/required"
	"optcheck/llvmir"
	"optcheck/toolchain"
	"optcheck/toolchain/tested"
)

// TestMain also is the child that reads with a library.
func TestMain(m *testing.M) {
	if len(os.Args) == 3 && os.Args[1] == llvmir.ChildCommand {
		if err := llvmir.Main(os.Args[2], "k", os.Stdin, os.Stdout); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		return
	}
	os.Exit(m.Run())
}

// child reads IR with a library in a process of its own.
func child(t *testing.T, lib string, text []byte) ([]llvmir.Func, error) {
	cmd := exec.Command(os.Args[0], llvmir.ChildCommand, lib)
	cmd.Stdin = strings.NewReader(string(text))
	var errs strings.Builder
	cmd.Stderr = &errs
	out, err := cmd.Output()
	if err != nil {
		return nil, fmt.Errorf("%w: %s", err, errs.String())
	}
	return llvmir.Decode(out)
}

// body returns the function that has the kernel's accesses.
func body(t *testing.T, funcs []llvmir.Func) []llvmir.Access {
	for _, f := range funcs {
		if strings.HasPrefix(f.Name, "__clang_ocl_kern_imp_") {
			return f.Accesses
		}
	}
	require.Len(t, funcs, 1)
	return funcs[0].Accesses
}

// check: the accesses of testdata are those of the kernel that it was made of.
func check(t *testing.T, name string, acc []llvmir.Access) {
	var got []string
	for _, a := range acc {
		got = append(got, a.String())
	}
	require.Equal(t, []string{
		"load volatile arg 0",
		"fence acquire agent",
		"load acquire agent-one-as arg 1+64",
		"atomicrmw add monotonic workgroup-one-as arg 0",
		"cmpxchg acq_rel one-as arg 0",
		"store volatile arg 2",
		"store arg 1+128",
	}, got, name)
	require.Equal(t, []int{0}, acc[2].Addr, "%s: the address depends on the first load", name)
	require.Equal(t, []int{2}, acc[3].Data, name)
	require.Contains(t, acc[6].Data, 4, name)
	require.Equal(t, []int{0}, acc[5].Data, name)
}

func TestTyped(t *testing.T) {
	for _, stage := range []string{"front", "middle"} {
		file := filepath.Join("testdata", "14-"+stage+".ll")
		text, err := os.ReadFile(file)
		require.NoError(t, err)
		funcs, err := llvmir.ReadTyped(file, text)
		require.NoError(t, err)
		check(t, file, body(t, funcs))
	}
	_, err := llvmir.ReadTyped("bad.ll", []byte("define void @f() { bogus }"))
	require.ErrorContains(t, err, "bad.ll")
}

// TestLibrary reads the IR of each release with its own library, and that of 14
// with both readers.
func TestLibrary(t *testing.T) {
	tcs, _ := tested.LLVM(context.Background(), toolchain.Options{})
	n := 0
	for _, tc := range tcs {
		if tc.Kind.(*toolchain.LLVM).LibLLVM == "" {
			continue
		}
		for _, stage := range []string{"front", "middle"} {
			file := filepath.Join("testdata", fmt.Sprintf("%d-%s.ll", tc.Major(), stage))
			text, err := os.ReadFile(file)
			if err != nil {
				continue
			}
			funcs, err := child(t, tc.Kind.(*toolchain.LLVM).LibLLVM, text)
			require.NoError(t, err, file)
			check(t, file, body(t, funcs))
			n++
			// What the library does not like is an error of the child's.
			_, err = child(t, tc.Kind.(*toolchain.LLVM).LibLLVM, []byte("define void @f() { bogus }"))
			require.ErrorContains(t, err, "bogus")
		}
	}
	if n == 0 {
		required.Missing(t, "no libLLVM here")
	}
}

func FuzzTyped(f *testing.F) {
	for _, stage := range []string{"front", "middle"} {
		if text, err := os.ReadFile("testdata/14-" + stage + ".ll"); err == nil {
			f.Add(text)
		}
	}
	f.Fuzz(func(t *testing.T, text []byte) {
		funcs, err := llvmir.ReadTyped("fuzz", text)
		if err != nil {
			require.Nil(t, funcs)
		}
	})
}
