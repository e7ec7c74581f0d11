package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"

	"github.com/spf13/cobra"

	"optcheck/event"
	"optcheck/internal/input"
	"optcheck/internal/limits"
	"optcheck/internal/plain"
	"optcheck/isa"
	"optcheck/optcheck"
	"optcheck/pipeline"
	"optcheck/report"
	"optcheck/spec"
	"optcheck/target"
	"optcheck/toolchain"
)

// readInput reads a file, or standard input for "-".
func readInput(env *environment, file string) ([]byte, error) {
	var data []byte
	var err error
	limit := limits.Now().Bytes
	if file == "-" {
		data, err = input.Read("standard input", input.Until(env.ctx, env.stdin), limit)
	} else {
		data, err = input.ReadFile(file, limit)
	}
	if errors.Is(err, input.ErrTooLarge) {
		err = fmt.Errorf("%w; --limits bytes=N allows more", err)
	}
	return data, err
}

// loadCode reads machine code: a cubin, which is disassembled by the release
// that built it as far as that can be told, or a disassembly.
func loadCode(ctx context.Context, env *environment, file string) (*pipeline.Code, error) {
	if err := expect(file, wantCode); err != nil {
		return nil, err
	}
	data, err := readInput(env, file)
	if err != nil {
		return nil, err
	}
	if !bytes.HasPrefix(data, []byte("\x7fELF")) {
		return pipeline.ParseDump(file, data)
	}
	amd, of := toolchain.IsAMDObject(data), env.forFile()
	if amd {
		of = of.forVendor(target.AMD)
	}
	tcs, err := discover(ctx, of)
	if err != nil {
		return nil, err
	}
	if amd {
		return pipeline.LoadObject(ctx, file, data, tcs)
	}
	return pipeline.LoadCubin(ctx, file, data, tcs)
}

// checkedKernel is one line of check --json.
type checkedKernel struct {
	File     string          `json:"file"`
	Kernel   string          `json:"kernel"`
	Target   string          `json:"target"`
	Thread   int             `json:"thread"`
	Class    string          `json:"class"`
	Findings []event.Finding `json:"findings,omitempty"`
	Notes    []event.Finding `json:"notes,omitempty"`
	Lines    bool            `json:"line_information"`
	Code     string          `json:"code"`
	Reason   string          `json:"reason,omitempty"`
}

func newCheckCmd(env *environment) *cobra.Command {
	var asJSON, claims bool
	var against againstFlags
	cmd := &cobra.Command{
		Use:   "check FILE… | PTX CUBIN",
		Short: "Check a binary or a disassembly by the specification inside it",
		Long: `Check every kernel of a cubin or AMD code object, of a disassembly by cuobjdump,
nvdisasm or llvm-objdump, or of clang's assembly output for AMD, that carries a
specification. Kernels without one are counted and left alone. Use - for
standard input.

A file of PTX and a cubin that was made of it are compared with each other, as
optcheck audit does with PTX (docs/internals/comparing-programs.md).`,
		Example: `  optcheck check kernel.cubin
  cuobjdump -sass kernel.cubin | optcheck check - --json
  optcheck check mp.sass --against mp --place x=param+0x8`,
		Args: cobra.MinimumNArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			if filepath.Ext(args[0]) == ".ptx" && len(args) == 2 {
				if err := onlyFlags(cmd, "PTX and a cubin are compared with each other alone", append(cubinFlags, "json")); err != nil {
					return err
				}
				return checkProgram(cmd.Context(), env, args[0], args[1], asJSON, report.TextOptions{Claims: claims})
			}
			gate, err := env.settings.gate()
			if err != nil {
				return err
			}
			want, err := against.load(env)
			if err != nil {
				return err
			}
			var errs []error
			run := event.NewRun()
			for _, file := range args {
				if want != nil {
					err = want.check(cmd.Context(), env, run, file, asJSON)
				} else {
					err = checkFile(cmd.Context(), env, run, file, asJSON)
				}
				errs = append(errs, err)
			}
			if err := errors.Join(errs...); err != nil {
				return err
			}
			return gate.done(run)
		},
	}
	jsonFlag(cmd, &asJSON, jsonLines+", one object per kernel")
	against.register(cmd)
	claimsFlag(cmd, &claims)
	cmd.Flags().StringSlice("toolchains", nil, "disassemble cubins with these toolchains only")
	failOnFlag(cmd)
	allowUnknownFlag(cmd)
	timeoutFlag(cmd, fileTimeout)
	disassemblerFlag(cmd)
	return cmd
}

// checkFile checks the kernels of one file and adds what they are to a run.
func checkFile(ctx context.Context, env *environment, run *event.Run, file string, asJSON bool) error {
	code, err := loadCode(ctx, env, file)
	if err != nil {
		return err
	}
	checked, without := 0, 0
	c := optcheck.NewChecker()
	c.Consts = code.Consts
	for _, fn := range code.Program.Kernels() {
		c.Literals = code.Literals[fn.Name]
		r, err := c.Check(fn)
		if errors.Is(err, spec.ErrNoSpec) {
			without++
			continue
		}
		checked++
		if err := printResult(env, run, file, code, fn, r.Result, asJSON); err != nil {
			return err
		}
	}
	if checked == 0 {
		return noSpec(file, without)
	}
	if without > 0 {
		env.tell("%s: %s no specification and %s left alone", file, plain.Count(without, "kernel")+plain.Form(without, " carries", " carry"),
			plain.Form(without, "was", "were"))
	}
	if n := len(code.Program.Problems); n > 0 {
		p := code.Program.Problems[0]
		return fmt.Errorf("%s:%d: not understood: %s (%s)", file, p.Line, p.Text, plain.Count(n, "such line"))
	}
	return nil
}

// noSpec is the error of a file none of whose kernels can be checked.
func noSpec(file string, kernels int) error {
	if kernels == 0 {
		return fmt.Errorf("%s: no kernel in it", file)
	}
	dir := filepath.Dir(file)
	test := filepath.Join(dir, "test.litmus")
	if _, err := os.Stat(filepath.Join(dir, "manifest.json")); err == nil && file != "-" {
		return fmt.Errorf("%s: the program of a bundle, which has no specification inside on purpose: make -C %s compares its instructions, "+
			"optcheck check %s --against %s its accesses", file, dir, file, test)
	}
	return fmt.Errorf("%s: %s, none with a specification inside; check kernels of optcheck emit, or name the test with --against", file,
		plain.Count(kernels, "kernel"))
}

// printResult prints what a kernel is, and adds it to a run.
func printResult(env *environment, run *event.Run, file string, code *pipeline.Code, fn *isa.Func, r *optcheck.Result, asJSON bool) error {
	run.Cells = append(run.Cells, event.Cell{Result: event.Result{Class: r.Class.String(), Reason: r.Reason}})
	if asJSON {
		h := optcheck.CodeHash(fn, code.Consts)
		return env.lines().Encode(checkedKernel{File: file, Kernel: fn.Name, Target: fn.Arch, Thread: r.Thread, Class: r.Class.String(),
			Findings: findings(r.Findings), Notes: findings(r.Notes), Lines: r.Lines, Code: fmt.Sprintf("%x", h[:8]), Reason: r.Reason})
	}
	fmt.Fprintf(env.text, "%s %s: %v", fn.Name, fn.Arch, r.Class)
	if r.Reason != "" {
		fmt.Fprintf(env.text, " (%s)", r.Reason)
	}
	fmt.Fprintln(env.text)
	for _, f := range r.Findings {
		fmt.Fprintf(env.text, "  %s: %s\n", f.Rule, f.Detail)
	}
	for _, f := range r.Notes {
		fmt.Fprintf(env.text, "  note, %s: %s\n", f.Rule, f.Detail)
	}
	return nil
}

func findings(in []optcheck.Finding) (out []event.Finding) {
	for _, f := range in {
		out = append(out, event.Finding{Rule: f.Rule, Thread: f.Thread, Access: f.Access, Detail: f.Detail})
	}
	return out
}
