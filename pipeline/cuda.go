package pipeline

import (
	"optcheck/litmus"
	"optcheck/ptxgen"
	"optcheck/spec"
	"optcheck/target"
	"optcheck/toolchain"
)

// cudaRoad is CUDA C++, which nvcc or clang compiles to PTX and ptxas to machine code. It is
// for programs and mappings: litmus tests are not written in CUDA C++.
var cudaRoad = &Road{Vendor: target.NVIDIA, Source: CUDA, Tool: "nvcc", Language: "opencl", FlagsOf: "ptxas", Find: toolchain.DiscoverCUDA,
	of: func(tc *toolchain.Toolchain) (Pipeline, error) {
		kind, ok := tc.Kind.(*toolchain.Front)
		if !ok || tc.Ptxas == "" {
			return nil, nil
		}
		p, err := newPTX(tc)
		if err != nil {
			return nil, err
		}
		return &frontEnd{p, kind}, nil
	}}

type frontEnd struct {
	*assembler
	kind *toolchain.Front
}

func (p *frontEnd) Road() *Road { return cudaRoad }

func (p *frontEnd) Emit(*litmus.Test, string, ptxgen.Options) (*ptxgen.Unit, error) {
	return nil, &spec.Unsupported{Reason: "tests are not written in CUDA C++: programs (FILE.cu) and operations (optcheck mapping) are"}
}

func (p *frontEnd) Flags() []string { return []string{"--source", CUDA} }
