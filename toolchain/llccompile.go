package toolchain

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"time"
)

// nvptxTriple is the target triple of all jobs of llc for NVIDIA.
const nvptxTriple = "nvptx64-nvidia-cuda"

// CompileIR compiles units of LLVM IR to PTX with llc, many per process, as
// Compile does PTX. Flags of the job are not used: they are ptxas's. Header holds
// what stands between the target triple and the first unit.
// Results are PTX modules, of the version MaxPTX. What llc refuses ("Cannot
// select") is a failure of the unit that it names, which the messages of its
// diagnostics tell.
func (t *Toolchain) CompileIR(ctx context.Context, job Job) (*Result, error) {
	if t.LLC == nil {
		return nil, fmt.Errorf("compile: %s has no llc", t.ID)
	}
	if !validTarget.MatchString(job.Target) {
		return nil, fmt.Errorf("compile: bad target %q", job.Target)
	}
	if !validLevel.MatchString(job.Level) {
		return nil, fmt.Errorf("compile: bad level %q, want O0 to O3", job.Level)
	}
	job.Header = fmt.Sprintf("target triple = %q\n", nvptxTriple) + endLine(job.Header)
	return compileAll(ctx, &llc{t: t, job: &job}, &job)
}

// llc is the compiler of LLVM IR for NVIDIA.
type llc struct {
	t   *Toolchain
	job *Job
}

func (l *llc) tool() string { return l.t.LLC.Path }

// diagnose reads LLVM's messages as those of clang.
func (l *llc) diagnose(stderr string) []Diagnostic { return (&clang{}).diagnose(stderr) }

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

// args are relative to the process's own folder. The version of PTX is the
// highest that both compilers know, so that llc has all instructions at hand.
func (l *llc) args() []string {
	return []string{"-mtriple=" + nvptxTriple, "-mcpu=" + l.job.Target, "-mattr=+ptx" + strings.ReplaceAll(l.t.MaxPTX, ".", ""),
		"-" + l.job.Level, "-filetype=asm", "batch.ll", "-o", "batch.ptx"}
}

func (l *llc) compile(ctx context.Context, job *Job, units []int) (Batch, error) {
	p := command{path: l.t.LLC.Path, timeout: job.Timeout, args: l.args(), env: append(l.t.LLC.env, "LLVM_DISABLE_SYMBOLIZATION=1")}
	if p.timeout <= 0 {
		p.timeout = l.t.Runner().timeout
	}
	p.timeout += time.Duration(max(0, len(units)-1)) * 100 * time.Millisecond
	if len(units) == 1 {
		p.input = job.Units[units[0]].Name
	}
	var err error
	if p.dir, err = os.MkdirTemp("", "optcheck-ll-"); err != nil {
		return Batch{}, p.hopeless(err)
	}
	defer os.RemoveAll(p.dir)
	if err := job.write(filepath.Join(p.dir, "batch.ll"), units); err != nil {
		return Batch{}, p.hopeless(err)
	}
	out, err := l.t.Runner().run(ctx, p)
	if err != nil {
		return Batch{}, llvmFailure(err)
	}
	text, err := readLimited(filepath.Join(p.dir, "batch.ptx"))
	if err == nil {
		err = l.check(string(text[:min(len(text), 1<<12)]))
	}
	if err != nil {
		e := p.fail(ErrInfrastructure, "exit status 0", err)
		e.ExitCode, e.Stderr = 0, string(out.stderr)
		return Batch{}, e
	}
	return Batch{Text: text, Warnings: string(out.stderr)}, nil
}

// llvmFailure tells refusals from breakdowns: LLVM aborts itself with a message
// when it cannot do what it is asked; without one it crashed.
func llvmFailure(err error) error {
	e, ok := err.(*Error)
	switch {
	case !ok:
	case errors.Is(e, ErrCompile) && !clangRefusal.MatchString(e.Stderr) && !clangBackEnd.MatchString(e.Stderr):
		e.Kind = ErrInfrastructure
	case errors.Is(e, ErrInfrastructure) && (e.Signal != "" || e.ExitCode == 134) && clangBackEnd.MatchString(e.Stderr) && !starved.MatchString(e.Stderr):
		e.Kind = ErrCompile
	}
	return err
}

// check demands that the head of a module is for the version and target that
// were asked for.
func (l *llc) check(head string) error {
	for _, want := range []string{".version " + l.t.MaxPTX, ".target " + l.job.Target} {
		_, rest, ok := strings.Cut(head, "\n"+want)
		if !ok || rest != "" && !strings.ContainsAny(rest[:1], "\n, ") {
			return fmt.Errorf("the module does not say %s", want)
		}
	}
	return nil
}
