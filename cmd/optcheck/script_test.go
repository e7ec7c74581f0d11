package main

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/rogpeppe/go-internal/testscript"

	"optcheck/runner/cuda"
	"optcheck/runner/opencl"
	"optcheck/toolchain"
	"optcheck/toolchain/tested"
)

// TestMain lets scripts run the program as the command optcheck.
func TestMain(m *testing.M) {
	testscript.Main(m, map[string]func(){"optcheck": main, "hostile-worker": hostileWorker})
}

// TestScript runs the command-line tests. The condition [tools] holds where
// real compilers are installed, [llvm] where clang is, [llc] where
// llc compiles for NVIDIA, [cuda] where nvcc 12.4 is, [opencl] where OpenCL has a device;
// OPTCHECK_REQUIRE_TOOLS=1 demands them all. [gpu] holds where CUDA has one.
func TestScript(t *testing.T) {
	tcs, _ := tested.CUDA(context.Background(), toolchain.Options{})
	llvm, _ := tested.LLVM(context.Background(), toolchain.Options{})
	pairs, _ := tested.LLC(context.Background(), toolchain.Options{})
	fronts, _ := tested.Fronts(context.Background(), toolchain.Options{})
	cpus, _ := opencl.New().Devices(context.Background())
	gpus, _ := cuda.New().Devices(context.Background())
	there := map[string]bool{"tools": len(tcs) > 0, "llvm": len(llvm) > 0, "llc": len(pairs) > 0, "opencl": len(cpus) > 0,
		"cuda": slices.ContainsFunc(fronts, func(t *toolchain.Toolchain) bool { return t.Name == "nvcc-12.4" }) && len(tcs) > 0}
	managed := toolchain.ManagedDir(os.Getenv)
	golden, err := filepath.Abs("../../audit/testdata/golden")
	if err != nil {
		t.Fatal(err)
	}
	scripts, err := filepath.Abs("../../scripts")
	if err != nil {
		t.Fatal(err)
	}
	testscript.Run(t, testscript.Params{
		Dir: "testdata/script",
		Setup: func(e *testscript.Env) error {
			// Scripts see no compilers of the machine unless they ask for them.
			e.Setenv("GOLDEN", golden)
			e.Setenv("CUBINS", filepath.Join(scripts, "../sass/cubin/testdata"))
			e.Setenv("SCRIPTS", scripts)
			e.Setenv("H200", filepath.Join(scripts, "../docs/results/h200"))
			e.Setenv("HOME", e.WorkDir)
			e.Setenv("COLUMNS", "0") // scripts look at whole lines
			e.Setenv("MANAGED", managed)
			e.Setenv("REALCACHE", filepath.Dir(filepath.Dir(managed)))
			return nil
		},
		Condition: func(c string) (bool, error) {
			has, known := there[c]
			switch {
			case c == "gpu":
				return len(gpus) > 0, nil
			case known && !has && os.Getenv("OPTCHECK_REQUIRE_TOOLS") == "1":
				return false, fmt.Errorf("%s is not on this machine, and OPTCHECK_REQUIRE_TOOLS=1", c)
			case !known:
				return false, fmt.Errorf("no condition %q", c)
			}
			return has, nil
		},
	})
}
