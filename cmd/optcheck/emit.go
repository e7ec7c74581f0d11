package main

import (
	"cmp"
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"optcheck/litmus"
	"optcheck/ptxgen"
	"optcheck/spec"
	gpu "optcheck/target"
	"optcheck/toolchain"
)

// emitters print kernels for a vendor's targets. usual is the target where only the vendor
// was named: the default one is NVIDIA's.
var emitters = map[string]struct {
	usual string
	emit  func(env *environment, tests []*litmus.Test, source string, o ptxgen.Options) error
}{gpu.NVIDIA: {"", emitNVIDIA}, gpu.AMD: {"gfx900", emitAMD}} // OpenCL C differs for r600 only

// emitNVIDIA prints kernels for a target of NVIDIA's in PTX or LLVM IR.
func emitNVIDIA(env *environment, tests []*litmus.Test, source string, o ptxgen.Options) error {
	if sm, err := ptxgen.SM(o.Target); err != nil || sm > ptxgen.NewestSM {
		return fmt.Errorf("unknown target %q (up to sm_%d)", o.Target, ptxgen.NewestSM)
	}
	if source == "llvm-ir" {
		return emitLLVMIR(env, tests, toolchain.NVPTXTriple, "", o)
	}
	var v ptxgen.Version
	var body strings.Builder
	for _, t := range tests {
		u, err := ptxgen.Emit(t, o)
		if err != nil {
			return fmt.Errorf("%s: %w", t.Name, err)
		}
		v = max(v, u.Version)
		fmt.Fprintf(&body, "// %s\n%s\n", t.Name, u.Text)
	}
	_, err := fmt.Fprint(env.stdout, ptxgen.Header(v, o.Target), body.String())
	return err
}

// emitAMD prints kernels for an AMD target in OpenCL C or LLVM IR.
func emitAMD(env *environment, tests []*litmus.Test, source string, o ptxgen.Options) error {
	if source == "llvm-ir" {
		return emitLLVMIR(env, tests, toolchain.Triple(o.Target), ptxgen.HeaderAMD, o)
	}
	return emitOpenCL(env, tests, o)
}

// emitOpenCL prints kernels in OpenCL C; what each needs is said in front of it.
func emitOpenCL(env *environment, tests []*litmus.Test, o ptxgen.Options) error {
	for _, t := range tests {
		u, err := ptxgen.EmitOpenCL(t, o)
		if err != nil {
			return fmt.Errorf("%s: %w", t.Name, err)
		}
		for _, k := range u.Kernels {
			needs := "OpenCL C 1.2"
			if k.CL2 {
				needs = "OpenCL C 2.0"
			}
			if k.Library {
				needs += " and libclc"
			}
			if _, err := fmt.Fprintf(env.stdout, "// %s T%d: %s\n%s\n", t.Name, k.Thread, needs, k.Text); err != nil {
				return err
			}
		}
	}
	return nil
}

// emitLLVMIR prints kernels in LLVM IR for LLVM's back end of a triple.
func emitLLVMIR(env *environment, tests []*litmus.Test, triple, header string, o ptxgen.Options) error {
	if _, err := fmt.Fprintf(env.stdout, "; llc -mcpu=%s\ntarget triple = \"%s\"\n%s", o.Target, triple, header); err != nil {
		return err
	}
	for _, t := range tests {
		u, err := ptxgen.EmitLLVMIR(t, o)
		if err != nil {
			return fmt.Errorf("%s: %w", t.Name, err)
		}
		if _, err := fmt.Fprintf(env.stdout, "; %s\n%s\n", t.Name, u.Text); err != nil {
			return err
		}
	}
	return nil
}

func newEmitCmd(env *environment) *cobra.Command {
	var target, layout, source string
	var plain bool
	cmd := &cobra.Command{
		Use:   "emit TEST…",
		Short: "Print the kernels of a test in audit form",
		Long: `Print a test in audit form: one kernel per thread, values and
addresses unknown to the compiler, and the specification as xor markers at the end
of each thread. With --vendor amd, or for an AMD target, kernels are OpenCL C.`,
		Example: `  optcheck emit mp --target sm_90
  optcheck emit mp+relaxed.gpus --source llvm-ir --target sm_90
  optcheck emit cl-mp+mem_fences --target gfx900
  optcheck emit cl-mp+mem_fences --target gfx900 --source llvm-ir`,
		Args: cobra.MinimumNArgs(1),
		RunE: func(_ *cobra.Command, args []string) error {
			tests, err := loadTests(env, args)
			if err != nil {
				return err
			}
			if tests, err = env.sane(tests); err != nil {
				return err
			}
			if source != "ptx" && source != "llvm-ir" {
				return fmt.Errorf("unknown source %q (ptx, llvm-ir)", source)
			}
			l, err := spec.ParseLayout(layout)
			if err != nil {
				return err
			}
			own := gpu.Vendor(target)
			e := emitters[cmp.Or(own, gpu.NVIDIA)]
			asked, ok := emitters[env.settings.vendor]
			if !ok {
				return fmt.Errorf("unknown vendor %q (nvidia, amd)", env.settings.vendor)
			}
			if asked.usual != "" {
				if e = asked; own != "" && own != env.settings.vendor {
					target = e.usual
				}
			}
			return e.emit(env, tests, source, ptxgen.Options{Target: target, Layout: l, Plain: plain})
		},
	}
	cmd.Flags().StringVar(&target, "target", "sm_80", "target architecture")
	vendorFlag(cmd)
	cmd.Flags().StringVar(&source, "source", "ptx",
		"ptx (for AMD: OpenCL C), or llvm-ir (for LLVM's back ends alone; opaque pointers, LLVM 15 and newer)")
	cmd.Flags().StringVar(&layout, "layout", "pointers", "how locations are addressed: pointers, symbols, offsets")
	cmd.Flags().BoolVar(&plain, "plain", false, "without markers")
	return cmd
}
