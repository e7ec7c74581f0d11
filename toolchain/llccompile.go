package toolchain

import (
	"context"
	"errors"
	"fmt"
	"strings"
)

// NVPTXTriple is the target triple of all jobs of llc for NVIDIA.
const NVPTXTriple = "nvptx64-nvidia-cuda"

// CompileIR compiles units of LLVM IR to PTX with llc, many per process, as
// Compile does PTX. Flags of the job are not used: they are ptxas's. Header holds
// what stands between the target triple and the first unit.
// Results are PTX modules, of the version MaxPTX. What llc refuses ("Cannot
// select") is a failure of the unit that it names, which the messages of its
// diagnostics tell.
func (t *Toolchain) CompileIR(ctx context.Context, job Job) (*Result, error) {
	kind, ok := t.Kind.(*LLC)
	if !ok {
		return nil, fmt.Errorf("compile: %s has no llc", t.ID)
	}
	if !validTarget.MatchString(job.Target) {
		return nil, fmt.Errorf("compile: bad target %q", job.Target)
	}
	if !validLevel.MatchString(job.Level) {
		return nil, fmt.Errorf("compile: bad level %q, want O0 to O3", job.Level)
	}
	job.Header = fmt.Sprintf("target triple = %q\n", NVPTXTriple) + endLine(job.Header)
	return compileAll(ctx, &llc{t: t, kind: kind, job: &job}, &job)
}

// llc is the compiler of LLVM IR for NVIDIA.
type llc struct {
	t    *Toolchain
	kind *LLC
	job  *Job
}

func (l *llc) tool() string { return l.kind.Path }

// diagnose reads LLVM's messages as those of clang.
func (l *llc) diagnose(stderr string) []Diagnostic { return (&clang{}).diagnose(stderr) }

// CannotSelect is how LLVM begins what it says where it refuses: llc aborts behind it.
const CannotSelect = "Cannot select: "

// gaveUp: llc works on one function after the other and ends at the first that
// it cannot select instructions for.
func (l *llc) gaveUp(stderr string) string {
	if !clangBackEnd.MatchString(stderr) {
		return ""
	}
	for _, d := range l.diagnose(stderr) {
		if d.Severity == "fatal" {
			return d.Unit
		}
	}
	return ""
}

// args are relative to the process's own folder.
func (l *llc) args() []string { return l.t.ArgsIR(l.job.Target, l.job.Level, "batch.ll", "batch.ptx") }

// ArgsIR are the arguments with which llc compiles a file of LLVM IR to PTX: what
// CompileIR uses, for people to repeat it. The version of PTX is the highest that
// both compilers know, so that llc has all instructions at hand.
func (t *Toolchain) ArgsIR(target, level, input, output string) []string {
	return []string{"-mtriple=" + NVPTXTriple, "-mcpu=" + target, "-mattr=+ptx" + strings.ReplaceAll(t.MaxPTX, ".", ""),
		"-" + level, "-filetype=asm", input, "-o", output}
}

func (l *llc) compile(ctx context.Context, job *Job, units []int) (Batch, error) {
	p := process{command: command{path: l.kind.Path, args: l.args(), env: l.kind.env}, folder: "ll",
		source: "batch.ll", result: "batch.ptx", what: "output", failure: llvmFailure, check: l.check}
	text, warnings, err := p.compile(ctx, l.t.Runner(), job, units)
	if err != nil {
		return Batch{}, err
	}
	return Batch{Text: text, Warnings: warnings}, nil
}

// llvmFailure tells refusals from breakdowns: LLVM aborts itself with a message
// when it cannot do what it is asked; without one it crashed.
func llvmFailure(err error) error {
	e, ok := err.(*Error)
	switch {
	case !ok:
	case errors.Is(e, ErrCompile) && !clangRefusal.MatchString(e.Stderr) && !clangBackEnd.MatchString(e.Stderr):
		e.Kind = ErrInfrastructure
	case errors.Is(e, ErrInfrastructure) && (e.Signal != "" || e.ExitCode == 134) &&
		clangBackEnd.MatchString(e.Stderr) && !starved.MatchString(e.Stderr):
		e.Kind = ErrCompile
	}
	return err
}

// check demands that the head of a module is for the version and target that
// were asked for.
func (l *llc) check(module []byte) error {
	head := string(module[:min(len(module), 1<<12)])
	for _, want := range []string{".version " + l.t.MaxPTX, ".target " + l.job.Target} {
		_, rest, ok := strings.Cut(head, "\n"+want)
		if !ok || rest != "" && !strings.ContainsAny(rest[:1], "\n, ") {
			return fmt.Errorf("the module does not say %s", want)
		}
	}
	return nil
}
