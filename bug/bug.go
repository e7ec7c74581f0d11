// Package bug turns a finding into a bundle that can be sent to the makers of a compiler: a
// report in the order in which they want it, the smallest test and program, the machine code
// with the difference marked, a picture of the execution that goes wrong, and two ways to
// reproduce it: with optcheck, and with the compiler alone (and nvdisasm, for ptxas).
//
// It does not find or reduce anything (audit and reduce do), and it does not send anything.
package bug

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"optcheck/audit"
	"optcheck/event"
	"optcheck/litmus"
	"optcheck/pipeline"
	"optcheck/reduce"
	"optcheck/toolchain"
)

// Forms lists the forms of a report, by its readers.
var Forms = []string{"nvidia", "llvm", "amd"}

// Input is everything that a bundle is made of.
type Input struct {
	// Result has the original finding (Start) and the smallest one (Min) with its cell and listing; they are
	// the same if nothing was reduced.
	*reduce.Result
	Where *reduce.Where
	// Toolchains are all that are installed.
	Toolchains []*toolchain.Toolchain
	Audit      audit.Options // what audits share
	Form       string        // one of Forms
	Tool       string        // version of optcheck
	Host       Host
	Run        *HardwareRun // nil if nothing was run
	// Stamp is a date for the report and the manifest; "" omits it, so that equal findings
	// produce equal files.
	Stamp string
}

// Host describes the machine that a bundle was made on.
type Host struct {
	OS   string `json:"os"`
	Arch string `json:"arch"`
	CPU  string `json:"cpu,omitempty"`
}

// HardwareRun is the result of a run on a device: a log of herd or litmus, and the device's
// description of itself.
type HardwareRun struct {
	GPU    string `json:"gpu"`
	Driver string `json:"driver"`
	Log    []byte `json:"-"`
}

// File is one file of a bundle. Names are fixed: nothing from a test or a toolchain enters
// them.
type File struct {
	Name string
	Data []byte
	Exec bool

	what string // it is, for the report; "" if that does not tell of it
}

// Bundle is a finished bundle.
type Bundle struct {
	Files []File
	Title string
}

// File returns the content of a file of the bundle, nil if there is none.
func (b *Bundle) File(name string) []byte {
	for i := range b.Files {
		if b.Files[i].Name == name {
			return b.Files[i].Data
		}
	}
	return nil
}

// ErrNotStandalone is wrapped by the error for a finding whose machine code is different in a
// kernel on its own.
var ErrNotStandalone = errors.New("the finding is not there in a program on its own")

// bundler builds one bundle.
type bundler struct {
	in   *Input
	f    *reduce.Finding
	find event.Finding // the broken rule
	pipe pipeline.Pipeline
	road road
	prog *program
	bad  *code
	good *code // nil if the compiler never gets it right
	ways []Workaround
	pic  *picture
	out  Bundle
}

// Build builds the bundle of a finding. It runs the compiler and disassembler a few times. The
// result depends only on its input and the tools.
func Build(ctx context.Context, in *Input) (*Bundle, error) {
	if !slices.Contains(Forms, in.Form) {
		return nil, fmt.Errorf("unknown form %q (%s)", in.Form, strings.Join(Forms, ", "))
	}
	b := &bundler{in: in, f: &in.Min}
	at := slices.IndexFunc(in.Cell.Findings, in.Min.Signature.Is)
	if at < 0 {
		return nil, fmt.Errorf("%w: %s", reduce.ErrNotThere, in.Min.Address())
	}
	b.find = in.Cell.Findings[at]
	var err error
	if b.pipe, err = pipeline.Of(b.f.Toolchain, in.Audit.Source); err != nil {
		return nil, err
	}
	if b.road, err = roads[roadOf(b.pipe)].choose(b); err != nil {
		return nil, err
	}
	if in.Cell.Class == event.Crashed {
		return &b.out, b.crashed(ctx)
	}
	for _, step := range []func(context.Context) error{b.code, b.picture, b.workarounds} {
		if err := step(ctx); err != nil {
			return nil, err
		}
	}
	b.files()
	return &b.out, nil
}

// add adds a file, and what it is, for the report.
func (b *Bundle) add(name, what, text string) {
	b.Files = append(b.Files, File{Name: name, Data: []byte(text), what: what})
}

// scripts adds what reproduces a finding: with some tools alone, and with optcheck.
func (b *Bundle) scripts(tools, makefile, awk, interesting string) {
	b.add("Makefile", "reproduces with "+tools+"; check.awk is its judge", makefile)
	b.add("check.awk", "", awk)
	b.add("interesting.sh", "the same with optcheck, for reducers", interesting)
	b.Files[len(b.Files)-1].Exec = true
}

// attached lists the files, and the manifest, which comes last.
func (b *Bundle) attached() string {
	var out strings.Builder
	for _, f := range append(slices.Clip(b.Files), File{Name: "manifest.json", what: "hashes, versions and flags"}) {
		if f.what != "" {
			fmt.Fprintf(&out, "- %s: %s\n", fileSpan(f.Name), f.what)
		}
	}
	return out.String()
}

// finish puts the report in front of all files, and the manifest, which lists them, behind them.
func (b *Bundle) finish(report string, m *manifest) {
	b.Files = slices.Insert(b.Files, 0, File{Name: "report.md", Data: []byte(report)})
	b.add("manifest.json", "", string(m.of(b)))
}

// files writes all files.
func (b *bundler) files() {
	out, w := &b.out, b.road.words()
	out.Title = b.title()
	out.add("test.litmus", "the smallest test", string(b.f.Test.Append(nil)))
	if len(b.in.Steps) > 0 {
		out.add("original.litmus", "the test as it was found", string(b.in.Start.Test.Append(nil)))
	}
	out.add(w.program, "the smallest program", b.prog.text)
	if b.prog.ir != "" {
		out.add("min.ll", "the LLVM IR that llc made it of", b.prog.ir)
	}
	out.add(w.bad, "its "+w.code, string(b.bad.text))
	if b.good != nil {
		out.add(w.good, w.code+" without the finding", string(b.good.text))
		out.add(w.diff, "the accesses of both, compared", b.diff())
	}
	if v := b.in.Cell.Verdict; v != nil && v.Lifted != "" {
		out.add("machine.litmus", "the machine code read back as a litmus test", v.Lifted)
	}
	if b.pic != nil && b.pic.svg != nil {
		out.add("execution.svg", "the execution in question", string(b.pic.svg))
	}
	if r := b.in.Run; r != nil && r.Log != nil {
		out.add("run.log", "what was seen on hardware", string(r.Log))
	}
	out.scripts(w.tools, b.road.makefile(), b.road.awk(), b.interesting())
	out.finish(b.report(), b.manifest())
}

// thread returns the thread of the smallest test in which the rule is broken.
func (b *bundler) thread() *litmus.Thread { return &b.f.Test.Threads[b.find.Thread] }

// shell quotes a word for a POSIX shell if necessary.
func shell(s string) string {
	plain := s != "" && strings.IndexFunc(s, func(r rune) bool {
		return !(r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9' || strings.ContainsRune("-_=./:,+@%", r))
	}) < 0
	if plain {
		return s
	}
	return "'" + strings.ReplaceAll(s, "'", `'\''`) + "'"
}
