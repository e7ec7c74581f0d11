package bug

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"

	"optcheck/ptx"
	"optcheck/refine"
)

// Of a finding of execution, the bundle shows all instructions of the kernel, and its counterexample: what Example says, in the form
// that optcheck replay reads.

// counterexample is the file that optcheck replay reads.
type counterexample struct {
	PTX       string          `json:"ptx"`
	Toolchain string          `json:"toolchain"`
	Target    string          `json:"target"`
	Level     string          `json:"level"`
	Finding   *refine.Finding `json:"finding"`
}

func (b *kernelBundler) counterexample() (string, error) {
	data, err := json.MarshalIndent(counterexample{b.prog.text, b.f.Toolchain.ID, b.f.Target, b.f.Level, b.find.Execution}, "", "  ")
	return string(data) + "\n", err
}

// replayScript executes the counterexample again.
func (b *kernelBundler) replayScript() string {
	return fmt.Sprintf(`#!/bin/sh
# Executes the counterexample in finding.json: the PTX and the machine code that ptxas makes of it, on the same input. Exit status 0: they do
# different things. With --device they also run on the GPU, as compiled without and with optimising.
# Other compilers: --toolchains, --targets, --levels.
cd "$(dirname "$0")" || exit 2
[ $# -gt 0 ] || set -- --toolchains %s --targets %s --levels %s
optcheck replay . "$@"
[ $? -eq 1 ]
`, b.f.Toolchain.Version, b.f.Target, b.f.Level)
}

// compiled compiles a program for this finding.
func (b *kernelBundler) compiled(ctx context.Context, r recipe, p *program) (*code, error) {
	return r.compile(ctx, p, b.find.Kernel)
}

// executed reports whether the finding is one of execution.
func (b *kernelBundler) executed() bool {
	return b.find.Execution != nil && b.find.Execution.Early == nil
}

// hidden are changes of a kernel that keep what it computes, but hide the result of one instruction from the optimiser: a parameter
// that is 0 at every launch is added to it.
func hidden(m *ptx.Module, kernel string) (out []kernelVariant) {
	f := m.Func(kernel)
	if f == nil {
		return nil
	}
	for _, st := range f.Body {
		in := st.Inst
		if in == nil || in.Guard >= 0 || in.Name == "ld" && in.Has("param") {
			continue
		}
		d := in.Defines()
		if len(d) != 1 {
			continue
		}
		reg := f.Regs[d[0]]
		bits := strings.TrimLeft(reg.Type, "bus")
		if bits != "16" && bits != "32" && bits != "64" {
			continue
		}
		params, ok := f.AddParams(".param .b" + bits + " zero")
		if !ok {
			continue
		}
		out = append(out, kernelVariant{"Add a parameter that is 0 at every launch to the result of " + in.Op + ": the optimiser does not know that it changes nothing.",
			m.Apply(params, in.After(fmt.Sprintf("\n\t{\n\t.reg .b%[1]s %%zero;\n\tld.param.b%[1]s %%zero, [zero];\n\txor.b%[1]s %[2]s, %[2]s, %%zero;\n\t}", bits, reg.Name)))})
	}
	return out
}

// shownInput is the counterexample in words.
func (b *kernelBundler) shownInput() string {
	x := b.find.Execution
	s := fmt.Sprintf("Launched with a grid of %v and blocks of %v on the input in %s, thread %d of block %d does this wrong: %s.\n", x.Input.Grid, x.Input.Block,
		fileSpan("finding.json"), x.Warp*32+x.Lane, x.Block, md(x.Why))
	if x.SourceText != "" {
		s += fmt.Sprintf("\n- PTX: %s\n", span(x.SourceText))
	}
	if x.MachineText != "" {
		s += fmt.Sprintf("- machine code: %s\n", span(fmt.Sprintf("%#x %s", x.MachineAddr, x.MachineText)))
	}
	return s + "\nBoth codes were executed by an emulator of PTX and of the machine code. `./replay.sh` does so again, and `./replay.sh --device` runs them on a GPU.\n"
}
