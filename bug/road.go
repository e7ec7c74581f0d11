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

// ErrStage is wrapped by the error for a finding of two compilers of which it is
// not known in which one it arose.
var ErrStage = errors.New("it is not known in which compiler the finding arose")

// road is how the program of a bundle becomes what is looked at: what it is written
// in, which tools make what of it, and how that is told and repeated.
type road interface {
	// emit writes the program for a toolchain and level, with or without markers.
	emit(ctx context.Context, tc *toolchain.Toolchain, level string, markers bool) (*program, error)
	// compile compiles a program as the bundle's Makefile does.
	compile(ctx context.Context, p *program, tc *toolchain.Toolchain, level string) (*code, error)
	// shows tells whether what was made of a program has the finding.
	shows(p *program, c *code) bool
	// expected lists, in the coarsest view, the instructions that a right compiler
	// would write; nil if that cannot be said.
	expected() []string
	// listing is what of the code is compared line by line.
	listing(c *code) []string
	// particulars are sentences on this finding, to be put after what is expected
	// and what is there; "" where nothing is to be said.
	particulars() (expected, actual string)
	// marked lists the bad code with the wrong instructions marked.
	marked() string

	// compiler names the compiler that the report is about.
	compiler() string
	words() words
	// promise says what the source asks for with an access or fence, "" if nothing is
	// to be said.
	promise(in *litmus.Instr) string
	// variants are changes that may be workarounds, and whether they are made of all
	// threads, for what a compiler never does is to be mended everywhere.
	variants() (list []variant, everywhere bool)
	command() string
	makefile() string
	awk() string
	versions() string
}

// roads are those of findings, by vendor and source of the pipelines that programs go
// through. program is a finding's test for people, where no bundle is made.
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

// chooseCompiler chooses the road of that of two compilers in which a finding arose.
func chooseCompiler(b *bundler) (road, error) {
	switch b.find.Stage {
	case match.StageLLC:
		return &llcRoad{b}, nil
	case match.StagePtxas:
		return &irRoad{ptxRoad{b}}, nil
	}
	return nil, fmt.Errorf("%w: %s", ErrStage, b.f.Address())
}

// roadOf returns the place in roads of a pipeline.
func roadOf(p pipeline.Pipeline) [2]string { return [2]string{p.Road().Vendor, p.Road().Source} }

// forms give the form of a report by whose compiler a finding is of.
var forms = map[string]string{"clang": "llvm", "llc": "llvm"}

// FormOf returns the form in which the makers of the compiler that a finding is of ask for
// reports.
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
