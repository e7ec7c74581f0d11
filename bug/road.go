package bug

import (
	"context"
	"errors"
	"fmt"

	"optcheck/audit"
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
	// particulars are sentences on this finding, to be put behind what is expected
	// and what is there; "" where nothing is to be said.
	particulars() (expected, actual string)
	// marked lists the bad code with the wrong instructions marked.
	marked() string

	// compiler names the compiler that the report is about.
	compiler() string
	words() words
	command() string
	makefile() string
	awk() string
	versions() string
}

// choose finds the road of the finding: that of its compiler, and of toolchains of
// two compilers that of the one in which it arose.
func (b *bundler) choose() (road, error) {
	tc := b.f.Toolchain
	switch {
	case tc.LLVM != nil:
		return &clRoad{bundler: b, ir: b.in.Audit.Source == audit.LLVMIR}, nil
	case tc.LLC == nil:
		return &ptxRoad{b}, nil
	case b.find.Stage == audit.StageLLC:
		return &llcRoad{b}, nil
	case b.find.Stage == audit.StagePtxas:
		return &irRoad{ptxRoad{b}}, nil
	}
	return nil, fmt.Errorf("%w: %s", ErrStage, b.f.Address())
}

// amd tells whether the finding is for an AMD target.
func (b *bundler) amd() bool {
	return b.f != nil && b.f.Toolchain != nil && b.f.Toolchain.LLVM != nil
}

// ptxRoad is PTX, ptxas and nvdisasm.
type ptxRoad struct{ *bundler }

func (b *ptxRoad) emit(_ context.Context, _ *toolchain.Toolchain, _ string, markers bool) (*program, error) {
	return newProgram(b.f, markers)
}

func (b *ptxRoad) expected() []string { return nil }

func (b *ptxRoad) particulars() (expected, actual string) { return "", "" }

func (b *ptxRoad) listing(c *code) []string { return view(c.lines, "text") }

func (b *ptxRoad) compiler() string { return b.f.Toolchain.ID }
