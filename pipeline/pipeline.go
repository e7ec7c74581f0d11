// Package pipeline has the roads from a litmus test to machine code that can be
// checked: what a test is written in, which compilers make what of it, how the
// machine code is read, and at which stage a difference arose. Each road is a type;
// whoever compiles tests (audits, mappings, runs, bug reports) takes any.
//
// It decides nothing about the machine code: optcheck does.
package pipeline

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"optcheck/litmus"
	"optcheck/ptxgen"
	"optcheck/report"
	"optcheck/sass"
	"optcheck/spec"
	"optcheck/toolchain"
)

// What kernels are written in.
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
	// Tool is the first compiler, with which the IDs of toolchains begin whose usual road
	// this is; "" for other roads.
	Tool string
	// Language is the memory model's name for what a test means in the source: "ptx",
	// "opencl"; "" if there is none by which the code could be judged.
	Language string
	// Find finds the toolchains of this machine that go this road.
	Find func(context.Context, toolchain.Options) ([]*toolchain.Toolchain, []error)

	// of returns the road of a toolchain; nil if it goes another one. The error is for
	// one that lacks a tool.
	of func(*toolchain.Toolchain) (Pipeline, error)
}

// Roads lists the roads. The first of a vendor, and of a toolchain, is the usual one.
var Roads = []*Road{ptxRoad, llcRoad, cudaRoad, clRoad, irRoad}

// Usual returns the usual road of a vendor, nil for one that has none.
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
	// Road says which one it is.
	Road() *Road
	// Compilers are those that a kernel passes through, in that order.
	Compilers() []toolchain.Compiler
	// Build identifies the compilers, and the libraries that they link: what they made is
	// theirs alone.
	Build() (string, error)
	// Key names what Emit writes for a target: targets with equal keys, also of other
	// pipelines, take the same text.
	Key(target string) string
	// Emit writes a test, whose hash the caller knows. Errors are those of ptxgen.
	Emit(t *litmus.Test, hash string, o ptxgen.Options) (*ptxgen.Unit, error)
	// Way says how a kernel of a unit is to be compiled for a target. The error is a
	// *spec.Unsupported if the toolchain cannot.
	Way(u *ptxgen.Unit, kernel int, target string) (Way, error)
	// Header is what stands before kernels that are shown.
	Header(w Way, target string) string
	// Compile makes machine code of kernels. The error is one that ends everything;
	// those of units, which may be *Lack or *Unread, are in the result.
	Compile(ctx context.Context, job *Job) (*Result, error)
	// Decode reads what a compiler made. It waits for tools; what it returns does the
	// rest, which takes much more memory.
	Decode(ctx context.Context, where, target string, b *toolchain.Batch) (parse func() (*Code, error), err error)
	// Stages tells for each finding at which stage it arose. What cannot be told stays
	// empty; problems say why.
	Stages(ctx context.Context, job *Job, list []*Suspect) (problems []Problem, err error)
	// Means returns the test as the source has it: tests that mean the same are one
	// program.
	Means(t *litmus.Test) *litmus.Test
	// Flags are the options of the command line that choose this road.
	Flags() []string
}

// CommandLine is a pipeline of one compiler, whose command line people can repeat.
type CommandLine interface {
	Pipeline
	// Tool is the compiler's name.
	Tool() string
	// Args are the arguments with which Compile calls the compiler for a job of one
	// file; library is the file of libclc, if the way wants one.
	Args(job *Job, in, out, library string) []string
}

// IR is a pipeline of LLVM IR.
type IR interface {
	Pipeline
	// Triple is the target triple that IR for a target names.
	Triple(target string) string
}

// RoadOf returns the usual road of a toolchain by its ID, which begins with its first
// compiler; nil if there is none.
func RoadOf(id string) *Road {
	tool, _, _ := strings.Cut(id, " ")
	for _, r := range Roads {
		if r.Tool == tool {
			return r
		}
	}
	return nil
}

// Of returns the pipeline of a toolchain for a source; "" is its usual one, and its
// only one where it has no other.
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

// Way is one way to compile kernels: those of one way go through a compiler together.
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
	Flags         []string // further arguments of the compiler that makes machine code
	// Plain compiles units as they are, as a person would: no line information is asked
	// for, nothing is put before them.
	Plain      bool
	BatchUnits int // 0 means the default of the toolchain package
	// Kept is the folder in which what a compiler made is kept, and from which it is
	// taken; "" for none. Roads may leave it unused.
	Kept string
	// Between, if not nil, sees and may change what the first of two compilers hands to
	// the second, by the kernel's name.
	Between func(kernel, text string) string
}

// Result is what became of a job.
type Result struct {
	toolchain.Result
	// Between has, by unit, what the first of two compilers made; nil where there is
	// only one.
	Between []string
	// Keep keeps what the compiler made; nil if that is not wanted.
	Keep func() error
}

// Suspect is a kernel with findings.
type Suspect struct {
	Test     *litmus.Test
	Spec     *spec.Spec
	Way      Way
	Unit     toolchain.Unit // equal names are equal kernels
	Between  string         // of it; see Result
	Findings []*report.Finding
}

// Problem is a failure beside the results: its kind is one of report.Problem.
type Problem struct{ Kind, Detail string }

// Lack is the error of a unit that a release has no instructions or no library for.
type Lack struct{ Reason string }

func (e *Lack) Error() string { return e.Reason }

// Unread is the error of output that is not understood.
type Unread struct{ Detail string }

func (e *Unread) Error() string { return e.Detail }

// Kind names the kind of an error for problem events: compile, timeout, parse or
// infrastructure.
func Kind(err error) string {
	var unread *Unread
	var parse *sass.Error
	switch {
	case errors.As(err, &unread), errors.As(err, &parse):
		return "parse"
	case errors.Is(err, toolchain.ErrTimeout):
		return "timeout"
	case errors.Is(err, toolchain.ErrCompile):
		return "compile"
	}
	return "infrastructure"
}

// Detail returns what an error says in a cell's reason: one line, but all of what is not
// understood.
func Detail(err error) string {
	if Kind(err) == "parse" {
		return err.Error()
	}
	return firstLine(err.Error())
}

// generation returns the number of a target's generation of PTX, -1 if it is not NVIDIA's.
func generation(name string) int {
	n, err := ptxgen.Generation(name)
	if err != nil {
		return -1
	}
	return n
}
