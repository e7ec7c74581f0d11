package bug

import (
	"cmp"
	"context"
	"errors"
	"fmt"

	"optcheck/litmus"
	"optcheck/match"
	"optcheck/pipeline"
	"optcheck/reduce"
	"optcheck/target"
	"optcheck/toolchain"
)

// ErrStage is wrapped by the error for a finding of a toolchain with two compilers if it is
// unknown in which of them it arose.
var ErrStage = errors.New("it is not known in which compiler the finding arose")

// road is how the program of a bundle becomes the code that is examined: the language, the
// tools that process it, and how the report describes and repeats that.
type road interface {
	// emit writes the program for a toolchain and level, with or without markers.
	emit(ctx context.Context, tc *toolchain.Toolchain, level string, markers bool) (*program, error)
	// compile compiles a program as the bundle's Makefile does.
	compile(ctx context.Context, p *program, tc *toolchain.Toolchain, level string) (*code, error)
	// shows reports whether the code made from a program has the finding.
	shows(p *program, c *code) bool
	// expected lists, in the coarsest view, the instructions that a correct compiler would
	// emit; nil if that is unknown.
	expected() []string
	// listing returns the part of the code that is compared line by line.
	listing(c *code) []string
	// particulars returns sentences on this finding, to follow the descriptions of the expected
	// and the actual code; "" if there is nothing to add.
	particulars() (expected, actual string)
	// marked lists the bad code with the wrong instructions marked.
	marked() string

	// compiler names the compiler that the report is about.
	compiler() string
	words() words
	// promise says what the source requires with an access or fence, "" if there is nothing to
	// say.
	promise(in *litmus.Instr) string
	// variants returns changes that may be workarounds. everywhere is set if they must be made
	// in all threads: what a compiler never does right must be mended everywhere.
	variants() (list []variant, everywhere bool)
	command() string
	args() []string // the command in words
	makefile() string
	awk() string
	versions() string
}

// roads maps the vendor and source of a pipeline to the road of its findings. program formats a
// finding's test for people, where no bundle is made.
var roads = map[[2]string]struct {
	choose  func(*bundler) (road, error)
	program func(*bundler) (*program, error)
}{
	{target.NVIDIA, pipeline.PTX}: {
		func(b *bundler) (road, error) { return &ptxRoad{b}, nil },
		func(b *bundler) (*program, error) { return newProgram(b.f, false) }},
	{target.NVIDIA, pipeline.LLVMIR}: {chooseCompiler, wholeIR},
	{target.AMD, pipeline.OpenCL}: {
		func(b *bundler) (road, error) { return &clRoad{bundler: b}, nil },
		wholeCL},
	{target.AMD, pipeline.LLVMIR}: {
		func(b *bundler) (road, error) { return &clRoad{bundler: b, ir: true}, nil },
		wholeIR},
}

// chooseCompiler returns the road of the one of two compilers in which a finding arose.
func chooseCompiler(b *bundler) (road, error) {
	switch b.find.Stage {
	case match.StageLLC:
		return &llcRoad{b}, nil
	case match.StagePtxas:
		return &irRoad{ptxRoad{b}}, nil
	}
	return nil, fmt.Errorf("%w: %s", ErrStage, b.f.Address())
}

// roadOf returns the key of a pipeline in roads.
func roadOf(p pipeline.Pipeline) [2]string { return [2]string{p.Road().Vendor, p.Road().Source} }

// forms maps compilers to the form of report that their makers want.
var forms = map[string]string{"clang": "llvm", "llc": "llvm"}

// FormOf returns the form in which the makers of a finding's compiler want reports.
func FormOf(f *reduce.Finding) string {
	list := f.Toolchain.Compilers()
	tool := list[0].Tool
	if len(list) > 1 {
		tool = f.Signature.Stage
	}
	return cmp.Or(forms[tool], Forms[0])
}

// ptxRoad is PTX, ptxas and nvdisasm.
type ptxRoad struct{ *bundler }

func (b *ptxRoad) emit(_ context.Context, _ *toolchain.Toolchain, _ string, markers bool) (*program, error) {
	return newProgram(b.f, markers)
}

func (b *ptxRoad) expected() []string { return nil }

func (b *ptxRoad) particulars() (expected, actual string) { return "", "" }

func (b *ptxRoad) listing(c *code) []string { return view(c.lines, "text") }

func (b *ptxRoad) promise(in *litmus.Instr) string { return promise(in) }

func (b *ptxRoad) variants() ([]variant, bool) { return variants, false }

func (b *ptxRoad) compiler() string { return b.f.Toolchain.ID }
