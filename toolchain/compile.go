package toolchain

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"regexp"
	"strings"
	"time"

	"golang.org/x/sync/errgroup"

	"optcheck/sass/cubin"
)

// Batch sizes unless a Job says otherwise; measured, see the package comment.
const (
	// DefaultBatchUnits is the largest number of units given to one ptxas.
	DefaultBatchUnits = 512
	// DefaultBatchBytes is the largest PTX text given to one ptxas, unless a
	// single unit is larger.
	DefaultBatchBytes = 2 << 20
	// DefaultMaxHangs is how many single units may each use up their time
	// limit before the rest of their batch is given up.
	DefaultMaxHangs = 8
)

// Job is a set of independent pieces of PTX to compile for one target.
type Job struct {
	// Target is the architecture, "sm_80".
	Target string
	// Level is the optimisation level, "O0" to "O3".
	Level string
	// LineInfo keeps the .loc lines in the cubin.
	LineInfo bool
	// Version is the PTX ISA version, "7.2"; used if Header is empty.
	Version string
	// Header holds the lines before the first unit: .version, .target,
	// .address_size, .file. Empty: the first three, from the fields above.
	Header string
	// Units are compiled together as far as possible. A symbol defined in one
	// must not be defined in another.
	Units []Unit
	// Flags are further arguments of ptxas.
	Flags []string
	// BatchUnits and BatchBytes bound what one process gets; 0: the defaults.
	BatchUnits, BatchBytes int
	// MaxHangs bounds the time lost to units that hang the compiler; 0: the
	// default.
	MaxHangs int
	// OneTry takes what happens once for a crash or hang of the compiler. It is for many jobs of which the last is
	// made sure of.
	OneTry bool
	// TrustMessages takes the units that ptxas's messages point at as refused,
	// with those messages, instead of compiling each of them alone to be sure.
	// It is for jobs in which many units are expected to be refused.
	TrustMessages bool
	// Timeout bounds a process that compiles one unit; 0: the Runner's limit.
	// Each further unit adds 100 ms, a hundred times what it needs.
	Timeout time.Duration
}

// Unit is one piece of PTX: complete functions and the module-scope variables
// they need.
type Unit struct {
	// Name stands for the unit in errors.
	Name string
	// Text is the PTX.
	Text string
}

// Result is what became of a Job: each unit is in exactly one batch or failed.
type Result struct {
	// Batches are in the order of their first units, whatever order they were
	// compiled in.
	Batches []Batch
	// Failed has, by index into Job.Units, the *Error of each unit that does
	// not compile.
	Failed map[int]error
}

// Batch is the machine code of some units.
type Batch struct {
	// Cubin is a complete CUDA ELF file, of ptxas.
	Cubin []byte
	// Text is an assembly listing, and Object an object file, of LLVM.
	Text, Object []byte
	// Units are the indices of the units in it, ascending.
	Units []int
	// Warnings is what the compiler printed although it succeeded.
	Warnings string
}

var (
	validTarget = regexp.MustCompile(`^sm_\d+[a-z]*$`)
	validLevel  = regexp.MustCompile(`^O[0-3]$`)
)

// Compile compiles the units of a job, many per process. A unit that ptxas
// refuses, crashes on or hangs on is found, reported alone in Result.Failed
// and does not keep any other unit from being compiled; how the units are
// spread over batches depends only on the job and on which units fail. The
// error is non-nil only if the job itself is malformed or ctx ended
// (ErrCancelled); everything else is the error of units.
func (t *Toolchain) Compile(ctx context.Context, job Job) (*Result, error) {
	if !validTarget.MatchString(job.Target) {
		return nil, fmt.Errorf("compile: bad target %q", job.Target)
	}
	if !validLevel.MatchString(job.Level) {
		return nil, fmt.Errorf("compile: bad level %q, want O0 to O3", job.Level)
	}
	if job.Header == "" {
		job.Header = fmt.Sprintf(".version %s\n.target %s\n.address_size 64\n", job.Version, job.Target)
	}
	job.Header = endLine(job.Header)
	return compileAll(ctx, ptxas{t}, &job)
}

// compileAll compiles the batches of a job.
func compileAll(ctx context.Context, c compiler, job *Job) (*Result, error) {
	batches := split(*job)
	parts := make([]*bisection, len(batches))
	group, ctx := errgroup.WithContext(ctx)
	probe := &headerProbe{}
	for i, units := range batches {
		parts[i] = &bisection{compiler: c, job: job, probe: probe, failed: map[int]error{}}
		group.Go(func() error { return parts[i].all(ctx, units) })
	}
	if err := group.Wait(); err != nil {
		return nil, err
	}
	res := &Result{Failed: map[int]error{}}
	for _, p := range parts {
		res.Batches = append(res.Batches, p.sorted()...)
		maps.Copy(res.Failed, p.failed)
	}
	return res, nil
}

// split makes few batches of the units, in order and within the bounds, of about the
// same cost each: a compiler's time is proportional to the text that it reads (see the
// package comment). It does not look at the number of cores: which kernels share a module
// must not depend on the machine.
func split(job Job) [][]int {
	maxUnits, maxBytes := job.BatchUnits, job.BatchBytes
	if maxUnits <= 0 {
		maxUnits = DefaultBatchUnits
	}
	if maxBytes <= 0 {
		maxBytes = DefaultBatchBytes
	}
	left := 0 // bytes that are in no batch yet
	for _, u := range job.Units {
		left += len(u.Text)
	}
	var batches [][]int
	for first := 0; first < len(job.Units); {
		count := max((len(job.Units)-first+maxUnits-1)/maxUnits, (left+maxBytes-1)/maxBytes, 1)
		even := (left + count - 1) / count
		var batch []int
		size := 0
		for i := first; i < len(job.Units) && len(batch) < maxUnits; i++ {
			n := len(job.Units[i].Text)
			if len(batch) > 0 && (size >= even || size+n > maxBytes) {
				break
			}
			batch, size = append(batch, i), size+n
		}
		batches = append(batches, batch)
		first, left = first+len(batch), left-size
	}
	return batches
}

func endLine(s string) string {
	if s == "" || strings.HasSuffix(s, "\n") {
		return s
	}
	return s + "\n"
}

// ptxas is the compiler of PTX.
type ptxas struct{ t *Toolchain }

func (p ptxas) tool() string { return p.t.Ptxas }

func (p ptxas) diagnose(stderr string) []Diagnostic { return parseDiagnostics(stderr) }

func (p ptxas) compile(ctx context.Context, job *Job, units []int) (Batch, error) {
	data, warnings, err := p.t.ptxas(ctx, job, units)
	return Batch{Cubin: data, Warnings: warnings}, err
}

// ptxas compiles the given units in one process.
func (t *Toolchain) ptxas(ctx context.Context, job *Job, units []int) (data []byte, warnings string, err error) {
	p := process{command: command{path: t.Ptxas, args: job.args()}, folder: "ptx", source: "batch.ptx",
		result: "batch.cubin", what: "cubin", failure: unspoken}
	if len(units) > 0 {
		p.check = checkCubin
	}
	return p.compile(ctx, t.Runner(), job, units)
}

// refusal is what ptxas prints when it refuses its input.
var refusal = regexp.MustCompile(`(?m)^ptxas\b.*\b(error|fatal)\s*:`)

// unspoken: a failure without a word is no refusal but a breakdown.
func unspoken(err error) error {
	if e, ok := err.(*Error); ok && e.Kind == ErrCompile && !refusal.MatchString(e.Stderr) {
		e.Kind = ErrInfrastructure
	}
	return err
}

// args are relative to the process's own folder, so that neither messages nor
// debug information depend on where that is.
func (job *Job) args() []string {
	args := []string{"-arch=" + job.Target, "-" + job.Level}
	if job.LineInfo {
		args = append(args, "-lineinfo")
	}
	args = append(args, job.Flags...)
	return append(args, "batch.ptx", "-o", "batch.cubin")
}

// checkCubin demands that a cubin has a function.
func checkCubin(data []byte) error {
	functions, err := cubin.Functions(data)
	if err == nil && len(functions) == 0 {
		err = errors.New("cubin without a function")
	}
	return err
}
