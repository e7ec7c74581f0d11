package main

import (
	"context"
	"embed"
	"errors"
	"fmt"
	"path/filepath"
	"runtime"
	"slices"
	"strings"

	"optcheck/event"
	"optcheck/internal/plain"
	"optcheck/isa"
	"optcheck/ptx"
	"optcheck/realcode"
	"optcheck/report/html"
	"optcheck/target"
	"optcheck/toolchain"
)

// maxTryProgram bounds the instructions of a program that somebody tries: PTX of CUDA C++ may be
// much longer than its text.
const maxTryProgram = 4000

//go:embed tryexamples
var tryExampleFiles embed.FS

// programExamples are programs to begin with, by kind and name.
var programExamples = func() map[string]map[string]string {
	out := map[string]map[string]string{tryPTX: {}, tryCUDA: {}}
	entries, err := tryExampleFiles.ReadDir("tryexamples")
	if err != nil {
		panic(err) // embedded
	}
	for _, e := range entries {
		text, err := tryExampleFiles.ReadFile("tryexamples/" + e.Name())
		if err != nil {
			panic(err)
		}
		what := map[bool]string{true: tryCUDA, false: tryPTX}[isCUDA(e.Name())]
		out[what][e.Name()] = string(text)
	}
	return out
}()

func ptxOffer() *html.Offer {
	return &html.Offer{What: tryPTX, Name: "PTX", Label: "PTX", First: html.Trial{Text: programExamples[tryPTX]["wait.ptx"]},
		Missing: "No ptxas was found on this machine. optcheck toolchain install cuda-12.4 gets one; start the server again then."}
}

func cudaOffer() *html.Offer {
	return &html.Offer{What: tryCUDA, Name: "CUDA C++", Label: "CUDA C++", First: html.Trial{Text: programExamples[tryCUDA]["wait.cu"]},
		Missing: "No front end of CUDA C++ was found on this machine. optcheck toolchain install nvcc-12.4 gets one; start the server again then."}
}

// beginProgram completes the offer of a kind of programs: the newest release is the first.
func (w *workbench) beginProgram(o *html.Offer) {
	o.One, o.Tool, o.Go, o.Levels = true, "release", "Compile and compare", realcode.Levels
	o.Lead = "One release compiles the kernel for one target. Lines that belong together have one colour; what is not as it should be stands in the margin."
	o.Result = "Here the machine code will stand."
	for name := range programExamples[o.What] {
		o.Tests = append(o.Tests, name)
	}
	slices.Sort(o.Tests)
	o.First.What, o.First.Level = o.What, "O3"
	w.newestFirst(o.Compilers)
	if len(o.Compilers) == 0 {
		return
	}
	o.Missing = ""
	o.First.Compilers = []string{o.Compilers[0].Value}
	var targets []string
	for _, c := range o.Compilers {
		targets = append(targets, w.tools[c.Value].tc.Targets...)
	}
	slices.SortFunc(targets, target.Compare)
	targets = slices.DeleteFunc(slices.Compact(targets), func(t string) bool { return target.Compare(t, "sm_70") < 0 })
	if len(targets) > 0 {
		o.Targets = []html.TargetChoice{{Vendor: target.NVIDIA, Targets: targets}}
		o.First.Targets = []string{firstTarget(targets)}
	}
}

// newestFirst sorts compilers: those of one front end together, its newest release first.
func (w *workbench) newestFirst(list []html.Compiler) {
	front := func(c html.Compiler) string { return w.tools[c.Value].tc.Compilers()[0].Tool }
	rank := map[string]int{}
	for _, c := range list {
		if _, ok := rank[front(c)]; !ok {
			rank[front(c)] = len(rank)
		}
	}
	slices.Reverse(list)
	slices.SortStableFunc(list, func(a, b html.Compiler) int { return rank[front(a)] - rank[front(b)] })
}

// triedProgram is a program that somebody tries.
type triedProgram struct {
	name   string // of its file
	tc     *toolchain.Toolchain
	target string
	text   string
	ptx    []byte // of which it is made, or it is
	m      *ptx.Module
	lines  map[int]int // lines of the text, by number of the instruction
}

// tryProgram compiles a program and compares the machine code with it.
func (w *workbench) tryProgram(ctx context.Context, t html.Trial) (out html.Outcome, err error) {
	if len(t.Targets) != 1 {
		return out, errors.New("choose a target")
	}
	p := &triedProgram{name: "kernel.ptx", tc: w.tools[t.Compilers[0]].tc, target: t.Targets[0], text: t.Text, ptx: []byte(t.Text), lines: map[int]int{}}
	if t.What == tryCUDA {
		p.name = "kernel.cu"
		if err := p.front(ctx); err != nil {
			return out, placed(err)
		}
	}
	if p.m, err = ptx.Parse(p.name, p.ptx); err != nil {
		return out, placed(err)
	}
	if n := p.m.Insts; n > maxTryProgram {
		return out, fmt.Errorf("the program has %d instructions of PTX; here one may have %d (optcheck audit FILE takes any)", n, maxTryProgram)
	}
	p.place()
	code, set, err := p.audit(ctx, t.Level)
	out.Tried = []html.Tried{{Set: w.list.MarkSet(set)}}
	if code != nil {
		out.Codes = []html.TriedCode{*code}
	}
	return out, err
}

// front makes PTX of CUDA C++, which may include nothing but headers of the compiler and the system.
func (p *triedProgram) front(ctx context.Context) error {
	res, err := p.tc.CompileCUDA(ctx, toolchain.CUDAJob{Confined: true,
		Job: toolchain.Job{Target: p.target, Units: []toolchain.Unit{{Name: p.name, Text: p.text}}}})
	if err == nil {
		err = res.Failed[0]
	}
	if err == nil {
		p.ptx = res.Batches[0].Text
	}
	return err
}

// placed gives an error of a compiler or a reader its place in the text, if it has one.
func placed(err error) error {
	var tool *toolchain.Error
	var read *ptx.Error
	switch {
	case errors.As(err, &read):
		return &html.PlacedError{Line: read.Pos.Line, Col: read.Pos.Col, Message: read.Msg}
	case errors.As(err, &tool) && errors.Is(err, toolchain.ErrCompile):
		i := slices.IndexFunc(tool.Diagnostics, func(d toolchain.Diagnostic) bool { return d.Severity == "error" || d.Severity == "fatal" })
		if i >= 0 {
			d := tool.Diagnostics[i]
			return &html.PlacedError{Line: d.Line, Col: d.Col, Message: d.Message}
		}
	}
	return err
}

// place finds the line of the text of each instruction.
func (p *triedProgram) place() {
	for _, f := range p.m.Funcs {
		for _, st := range f.Body {
			if st.Inst != nil {
				p.lines[st.Inst.N] = p.line(st.Inst.Pos.Line, st.Inst.Loc)
			}
		}
	}
}

// line is the line of the text of a place in the PTX; 0 if it stands in a header.
func (p *triedProgram) line(at int, made ptx.Loc) int {
	switch {
	case !isCUDA(p.name):
		return at
	case filepath.Base(made.File) == p.name:
		return made.Line
	}
	return 0
}

// audit compares the program with its machine code. The code is nil if there is no cell.
func (p *triedProgram) audit(ctx context.Context, level string) (*html.TriedCode, *event.Set, error) {
	set, code := event.NewSet(), &html.TriedCode{}
	o := realcode.Options{Toolchains: []*toolchain.Toolchain{p.tc}, Targets: []string{p.target}, Levels: []string{level}, Execute: realcode.Runs,
		Jobs: runtime.GOMAXPROCS(0), Code: func(_ *realcode.Cell, prog *isa.Program) { code.Funcs = p.machine(prog) }}
	program := realcode.NewProgram(p.m, p.origin())
	config := realcode.Config(&o, []*realcode.Program{program})
	config.Tool = version()
	if err := set.Handle(event.Event{Config: config}); err != nil {
		return nil, set, err
	}
	for i := range program.Tests {
		if err := set.Handle(event.Event{Test: &program.Tests[i]}); err != nil {
			return nil, set, err
		}
	}
	done := false
	err := realcode.Audit(ctx, o, p.m, func(c *realcode.Cell) error {
		done = true
		code.Toolchain, code.Target, code.Level, code.Class, code.Reason = c.Toolchain, c.Target, c.Level, c.Class, c.Reason
		if c.Result != nil {
			code.Findings = p.findings(c.Result)
		}
		return program.Events(c, set.Handle)
	})
	if !done {
		return nil, set, err
	}
	if isCUDA(p.name) {
		code.Between = p.between()
	}
	return code, set, err
}

func (p *triedProgram) origin() realcode.Origin {
	if isCUDA(p.name) {
		return realcode.Origin{File: p.name, Text: p.text}
	}
	return realcode.Origin{}
}

// machine is the machine code with the lines of the text.
func (p *triedProgram) machine(prog *isa.Program) (out []html.TriedFunc) {
	for _, f := range prog.Funcs {
		x := html.TriedFunc{Name: plain.Demangled(f.Name)}
		last := len(f.Insts) // behind it NOPs fill the section
		for last > 0 && f.Insts[last-1].Op == "NOP" {
			last--
		}
		labels := labelsOf(f.Insts[:last])
		for i := range f.Insts[:last] {
			in := &f.Insts[i]
			if l := labels[i]; l != "" {
				x.Lines = append(x.Lines, html.TriedLine{Text: l + ":"})
			}
			x.Lines = append(x.Lines, html.TriedLine{At: fmt.Sprintf("%04x", in.Addr), Text: in.Text, Line: p.lines[in.Src.Line]})
		}
		out = append(out, x)
	}
	return out
}

// labelsOf are the labels that branches name, by the instruction that they stand before.
func labelsOf(list []isa.Inst) map[int]string {
	out := map[int]string{}
	for i := range list {
		for _, o := range list[i].Args {
			if o.Kind == isa.OpdLabel && o.Sym != "" && list[i].Target >= 0 && list[i].Target < len(list) {
				out[list[i].Target] = o.Sym
			}
		}
	}
	return out
}

// between is the PTX that a front end made, with the lines of the text.
func (p *triedProgram) between() (out []html.TriedLine) {
	of := map[int]int{} // by line of the PTX
	for _, f := range p.m.Funcs {
		for _, st := range f.Body {
			if st.Inst != nil {
				of[st.Inst.Pos.Line] = p.lines[st.Inst.N]
			}
		}
	}
	for i, text := range strings.Split(string(p.ptx), "\n") {
		out = append(out, html.TriedLine{At: fmt.Sprint(i + 1), Text: text, Line: of[i+1]})
	}
	return out
}

// findings are what stands in the margin: what was found, what is unknown, and what the model allows.
func (p *triedProgram) findings(r *realcode.Result) (out []html.TriedFinding) {
	for i, list := range [][]realcode.Finding{r.Findings, r.Unknown, r.Notes} {
		for _, f := range list {
			x := html.TriedFinding{Rule: string(f.Rule), Message: f.Detail, Bad: i == 0}
			if x.Rule == "" {
				x.Rule = [...]string{"finding", "unknown", "note"}[i]
			}
			if f.First != nil {
				x.Message = f.First.Text + ": " + f.Detail
				if x.Line = p.line(f.First.Pos.Line, f.First.Made); x.Line > 0 {
					x.Col = map[bool]int{true: f.First.Made.Col, false: f.First.Pos.Col}[isCUDA(p.name)]
				}
			}
			out = append(out, x)
		}
	}
	return out
}
