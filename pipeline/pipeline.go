// Package pipeline contains the paths from a litmus test to machine code that can be checked:
// the language of the kernels, the compilers, how their machine code is read, and at which
// stage a difference arose. Each kind of pipeline is a type; whatever compiles tests (audits,
// mappings, runs, bug reports) takes any of them.
//
// It decides nothing about the machine code: optcheck does.
package pipeline

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strings"

	"optcheck/event"
	"optcheck/litmus"
	"optcheck/ptxgen"
	"optcheck/sass"
	"optcheck/spec"
	"optcheck/toolchain"
)

// Languages of kernels.
const (
	PTX    = "ptx"
	OpenCL = "opencl"
	LLVMIR = "llvm-ir"
	CUDA   = "cuda"
)

// Road is a kind of pipeline: kernels in one language for the targets of one vendor.
type Road struct {
	Vendor string // of package target
	Source string // PTX, OpenCL, LLVMIR or CUDA
	// Tool is the first compiler of the road. The IDs of the toolchains that use the road by
	// default begin with it. It is "" for other roads.
	Tool string
	// Language names the language whose memory model gives a test its meaning: "ptx", "opencl";
	// "" if no model can judge the code.
	Language string
	// FlagsOf is the compiler that gets the flags of jobs: the one that makes machine code.
	FlagsOf string
	// Find finds the toolchains on this machine that can take this road.
	Find func(context.Context, toolchain.Options) ([]*toolchain.Toolchain, []error)

	// of returns the pipeline of a toolchain; nil if the toolchain cannot take this road. The
	// error is for one that lacks a tool.
	of func(*toolchain.Toolchain) (Pipeline, error)
}

// Roads lists the roads. The first of each vendor, and of each toolchain, is its default.
var Roads = []*Road{ptxRoad, llcRoad, cudaRoad, clRoad, irRoad}

// Usual returns the default road of a vendor, nil if it has none.
func Usual(vendor string) *Road {
	for _, r := range Roads {
		if r.Vendor == vendor {
			return r
		}
	}
	return nil
}

// Pipeline is one road with one toolchain. It is safe for concurrent use.
type Pipeline interface {
	// Road returns the kind of pipeline.
	Road() *Road
	// Compilers returns the compilers that process a kernel, in that order.
	Compilers() []toolchain.Compiler
	// Build identifies the compilers and the libraries that they link. Their output is valid
	// for this build alone.
	Build() (string, error)
	// Key identifies what Emit writes for a target: targets with equal keys, also of other
	// pipelines, take the same text.
	Key(target string) string
	// Emit writes a test, whose hash the caller knows. Errors are those of ptxgen.
	Emit(t *litmus.Test, hash string, o ptxgen.Options) (*ptxgen.Unit, error)
	// Way returns how a kernel of a unit is compiled for a target. The error is a
	// *spec.Unsupported if the toolchain cannot.
	Way(u *ptxgen.Unit, kernel int, target string) (Way, error)
	// Header returns the text that precedes kernels in listings.
	Header(w Way, target string) string
	// Compile compiles kernels to machine code. An error ends everything; the errors of units,
	// which may be *Lack or *Unread, are in the result.
	Compile(ctx context.Context, job *Job) (*Result, error)
	// Decode reads the output of a compiler. It waits for tools; the function that it returns
	// does the rest, which takes much more memory.
	Decode(ctx context.Context, where, target string, b *toolchain.Batch) (parse func() (*Code, error), err error)
	// Stages sets the stage at which each finding arose. It leaves unknown stages empty;
	// problems say why.
	Stages(ctx context.Context, job *Job, list []*Suspect) (problems []Problem, err error)
	// Means returns the test as the source language expresses it: tests with equal meaning are
	// one program.
	Means(t *litmus.Test) *litmus.Test
	// Flags returns the command-line options that choose this road.
	Flags() []string
}

// CommandLine is a pipeline with one compiler, whose command line people can repeat.
type CommandLine interface {
	Pipeline
	// Tool returns the compiler's name.
	Tool() string
	// Args returns the arguments with which Compile calls the compiler for a job of one file;
	// library is the file of libclc, if the way wants one.
	Args(job *Job, in, out, library string) []string
}

// IR is a pipeline that starts from LLVM IR.
type IR interface {
	Pipeline
	// Triple returns the target triple of IR for a target.
	Triple(target string) string
}

// RoadOf returns the default road of a toolchain. Its ID begins with the name of its first
// compiler. It returns nil if there is none.
func RoadOf(id string) *Road {
	tool, _, _ := strings.Cut(id, " ")
	for _, r := range Roads {
		if r.Tool == tool {
			return r
		}
	}
	return nil
}

// Of returns the pipeline of a toolchain for a source; "" means its default, or the only one
// that it has.
func Of(tc *toolchain.Toolchain, source string) (Pipeline, error) {
	if source != "" && !slices.ContainsFunc(Roads, func(r *Road) bool { return r.Source == source }) {
		return nil, fmt.Errorf("unknown source %q (ptx, opencl, llvm-ir, cuda)", source)
	}
	var only Pipeline
	var sources []string
	for _, r := range Roads {
		p, err := r.of(tc)
		switch {
		case p == nil && err == nil:
			continue
		case source == "" || source == r.Source:
			return p, err
		}
		only, sources = p, append(sources, r.Source)
	}
	switch {
	case len(sources) == 1 && source != LLVMIR && source != CUDA:
		return only, nil
	case source == LLVMIR:
		return nil, lackLLC(tc)
	}
	return nil, fmt.Errorf("%s does not compile %s (%s)", tc.ID, source, strings.Join(sources, ", "))
}

func lackLLC(tc *toolchain.Toolchain) error {
	return fmt.Errorf("%s has no llc, which compiles LLVM IR", tc.ID)
}

// Way is one way to compile kernels: kernels of one way go through a compiler together.
type Way struct {
	Version ptxgen.Version // of PTX; 0 if there is none
	CL2     bool           // OpenCL C 2.0 instead of 1.2
	Library bool           // libclc is linked
}

// Compare orders ways.
func (w Way) Compare(x Way) int {
	less := func(a, b bool) int { return cmp.Compare(map[bool]int{true: 1}[a], map[bool]int{true: 1}[b]) }
	return cmp.Or(cmp.Compare(w.Version, x.Version), less(w.Library, x.Library), less(w.CL2, x.CL2))
}

// Job is a set of kernels to be compiled in one way.
type Job struct {
	Target, Level string
	Way           Way
	Units         []toolchain.Unit
	Flags         []string // further arguments for the compiler that makes machine code
	// Plain compiles units as a person would: without line information, and with nothing added
	// before them.
	Plain      bool
	BatchUnits int // 0 means the default of the toolchain package
	// Kept is the folder from which a compiler's output is taken, and in which it is kept; ""
	// for none. Roads need not use it.
	Kept string
	// Between, if not nil, sees and may change what the first of two compilers passes to the
	// second, by the kernel's name.
	Between func(kernel, text string) string
}

// Result is the result of a job.
type Result struct {
	toolchain.Result
	// Between holds the output of the first of two compilers, by unit; nil if there is only
	// one.
	Between []string
	// PTX is the module of a unit alone, as the assembler got it; nil if the road has none.
	PTX func(unit int) string
	// Keep stores the compiler's output; nil if that is not wanted.
	Keep func() error
}

// Suspect is a kernel with findings.
type Suspect struct {
	Test     *litmus.Test
	Spec     *spec.Spec
	Way      Way
	Unit     toolchain.Unit // kernels with equal names are equal
	Between  string         // see Result
	Findings []*event.Finding
}

// Problem is a failure reported beside the results: its kind is one of report.Problem.
type Problem struct{ Kind, Detail string }

// Lack is the error of a unit for which a release lacks an instruction or a library.
type Lack struct{ Reason string }

func (e *Lack) Error() string { return e.Reason }

// Unread is the error of output that is not understood.
type Unread struct{ Detail string }

func (e *Unread) Error() string { return e.Detail }

// Kind returns the kind of an error for problem events: crash, compile, timeout, parse or
// infrastructure.
func Kind(err error) string {
	var unread *Unread
	var parse *sass.Error
	switch {
	case errors.As(err, &unread), errors.As(err, &parse):
		return event.ProblemParse
	case errors.Is(err, toolchain.ErrCrashed):
		return event.ProblemCrash
	case errors.Is(err, toolchain.ErrTimeout):
		return event.ProblemTimeout
	case errors.Is(err, toolchain.ErrCompile):
		return event.ProblemCompile
	}
	return event.ProblemInfrastructure
}

// Crash returns what the error of a kernel says of a compiler that crashes or hangs, nil if it is
// another failure. compilers are those that process the kernel.
func Crash(err error, thread int, compilers []toolchain.Compiler) *event.Finding {
	var e *toolchain.Error
	if !errors.As(err, &e) || e.Crash() == "" {
		return nil
	}
	f := &event.Finding{Rule: event.RuleCrash, Thread: thread, Access: -1, Detail: filepath.Base(e.Tool) + ": " + e.Crash(), At: e.At}
	if errors.Is(err, toolchain.ErrHung) {
		f.Rule = event.RuleHang
	}
	for _, c := range compilers {
		if len(compilers) > 1 && c.Path == e.Tool {
			f.Stage = c.Tool
		}
	}
	return f
}

// Detail returns an error for a cell's reason: one line, but the whole message if output was
// not understood.
func Detail(err error) string {
	if Kind(err) == "parse" {
		return err.Error()
	}
	return firstLine(err.Error())
}

// generation returns the PTX generation of a target, -1 if it is not NVIDIA's.
func generation(name string) int {
	n, err := ptxgen.Generation(name)
	if err != nil {
		return -1
	}
	return n
}
