package bug

import (
	"context"
	"errors"
	"fmt"
	"path"
	"slices"
	"strings"

	"optcheck/event"
	"optcheck/pipeline"
	"optcheck/reduce"
	"optcheck/toolchain"
)

// crash is what the bundle of a crash or hang of a compiler is made of. There is no machine code to
// show, so its Makefile looks at how the compiler ends.
type crash struct {
	compiler, build string // ptxas 12.4.131
	target, level   string
	rule, detail    string
	source          string   // the name of the smallest program
	texts           []File   // programs and tests, the smallest program first
	command         []string // compiles it
	via             string   // the source of the pipeline
	interesting     string
	where           *reduce.Where
	manifest        *manifest
	tc              *toolchain.Toolchain
}

// BuildCrash builds the bundle of a crash or hang of ptxas at real PTX.
func BuildCrash(in *KernelInput) (*Bundle, error) {
	f := &in.Result.Min
	k := &kernelBundler{in: in, f: f, find: in.Result.Finding}
	c := &crash{compiler: f.Toolchain.ID, build: f.Toolchain.Build, target: f.Target, level: f.Level, rule: f.Signature.Rule,
		detail: in.Result.Finding.Detail, source: "min.ptx", texts: []File{{Name: "min.ptx", Data: []byte(in.Result.Kernel.String())}},
		command: k.recipe().args(), interesting: k.interesting(), where: in.Where, tc: f.Toolchain}
	if len(in.Result.Steps) > 0 {
		c.texts = append(c.texts, File{Name: "original.ptx", Data: []byte(in.Result.Whole.String())})
	}
	c.manifest = in.origin()
	return c.bundle(), nil
}

// SourceInput is everything that a bundle of a crash at CUDA C++ is made of.
type SourceInput struct {
	Result      *reduce.SourceResult
	Where       *reduce.Where
	Tool, Stamp string
	Host        Host
}

// BuildSource builds the bundle of a crash or hang of a compiler of CUDA C++.
func BuildSource(in *SourceInput) (*Bundle, error) {
	f := &in.Result.Min
	front, ok := f.Toolchain.Kind.(*toolchain.Front)
	if !ok {
		return nil, fmt.Errorf("%s does not compile CUDA C++", f.Toolchain.ID)
	}
	name := f.Front().Tool + " " + f.Front().Version
	c := &crash{compiler: name, build: front.Build, target: f.Target, rule: f.Signature.Rule, detail: in.Result.Crash.Full(), source: "min.cu",
		texts: []File{{Name: "min.cu", Data: []byte(f.Text)}}, command: front.Command(f.Target, f.Flags, "min.cu", "min.ptx"), via: pipeline.CUDA,
		where: in.Where, tc: f.Toolchain}
	if len(in.Result.Steps) > 0 {
		c.texts = append(c.texts, File{Name: "original.cu", Data: []byte(in.Result.Start.Text)})
	}
	args := []string{"reduce", "--check", "--quiet", "--finding", f.Signature.Rule, "--toolchains", strings.ReplaceAll(name, " ", "-"),
		"--targets", f.Target}
	for _, flag := range f.Flags { // a list value: commas and quotes have a meaning
		args = append(args, `--front-flags="`+strings.ReplaceAll(flag, `"`, `""`)+`"`)
	}
	c.interesting = interesting("min.cu", args)
	c.manifest = &manifest{Form: Forms[0], Stamp: in.Stamp, Optcheck: in.Tool, Finding: in.Result.Start.Address(), Smallest: f.Address(),
		Signature: f.Signature, Flags: append([]string{}, f.Flags...), Host: in.Host, Steps: append([]string{}, in.Result.Steps...)}
	return c.bundle(), nil
}

// crashed builds the bundle of a crash or hang at a test: the program that the road makes of it, with markers if it does
// not crash without.
func (b *bundler) crashed(ctx context.Context) error {
	for _, markers := range []bool{false, true} {
		p, err := b.road.emit(ctx, b.f.Toolchain, b.f.Level, markers)
		if err != nil {
			return err
		}
		_, err = b.road.compile(ctx, p, b.f.Toolchain, b.f.Level)
		x := pipeline.Crash(err, b.find.Thread, b.pipe.Compilers())
		if x == nil || x.Rule != b.find.Rule {
			if err != nil && !errors.Is(err, toolchain.ErrCompile) && !errors.Is(err, toolchain.ErrCrashed) {
				return err
			}
			continue
		}
		b.prog = p
		return b.crash(x)
	}
	return fmt.Errorf("%w: %s", ErrNotStandalone, b.f.Address())
}

func (b *bundler) crash(x *event.Finding) error {
	w := b.road.words()
	c := &crash{compiler: b.road.compiler(), build: b.f.Toolchain.Build, target: b.f.Target, level: b.f.Level, rule: x.Rule, detail: x.Full(),
		source: w.program, texts: []File{{Name: w.program, Data: []byte(b.prog.text)}}, command: b.road.args(), via: b.in.Audit.Source,
		interesting: b.interesting(), where: b.in.Where, tc: b.f.Toolchain, manifest: b.origin()}
	if b.prog.ir != "" {
		c.texts = append(c.texts, File{Name: "min.ll", Data: []byte(b.prog.ir)})
	}
	c.texts = append(c.texts, File{Name: "test.litmus", Data: b.f.Test.Append(nil)})
	if len(b.in.Steps) > 0 {
		c.texts = append(c.texts, File{Name: "original.litmus", Data: b.in.Start.Test.Append(nil)})
	}
	b.out = *c.bundle()
	return nil
}

// bundle writes all files.
func (c *crash) bundle() *Bundle {
	out := &Bundle{Title: oneLine(fmt.Sprintf("%s %s for %s%s", c.compiler, c.verb(), c.target, c.at()))}
	out.Files = c.texts
	out.add("Makefile", "", c.makefile())
	out.add("interesting.sh", "", c.interesting)
	out.Files[len(out.Files)-1].Exec = true
	m := c.manifest
	m.Title, m.Command = out.Title, c.line()
	if c.where != nil {
		m.Range = &c.where.Range
	}
	m.tools(c.tc, nil, c.via)
	out.finish(c.report(out.Title), m)
	return out
}

func (c *crash) at() string {
	if c.level == "" {
		return ""
	}
	return " at -" + c.level
}

func (c *crash) hangs() bool { return c.rule == event.RuleHang }

func (c *crash) verb() string {
	if c.hangs() {
		return "does not end"
	}
	return "crashes"
}

func (c *crash) line() string { return commandLine(c.command) }

func (c *crash) report(title string) string {
	sections := [][2]string{
		{"Source", fmt.Sprintf("The smallest program found with the same end (%s):\n\n%s", fileSpan(c.source),
			block("", string(c.texts[0].Data)))},
		{"Expected and actual", "Expected: code, or a message that says what is wrong with the source.\n\nActual: " + md(c.detail) + "\n"},
		{"Steps", fmt.Sprintf("%s\nor `make %s=…` in this folder: exit status 0 says that it was reproduced.\n", block("sh", c.line()),
			c.variable())},
	}
	if c.where != nil {
		sections = append(sections, [2]string{"Releases", md(RangeText(c.where)) + "\n"})
	}
	sections = append(sections, [2]string{"Versions", md(c.compiler) + ", " + md(c.build) + "\n"})
	var names []string
	for _, f := range c.texts[1:] {
		names = append(names, fileSpan(f.Name))
	}
	if len(names) > 0 {
		sections = append(sections, [2]string{"Attached", strings.Join(names, ", ") + "\n"})
	}
	return document(title, c.manifest.Stamp, sections)
}

// variable is that of the Makefile for the compiler.
func (c *crash) variable() string { return strings.ToUpper(path.Base(c.command[0])) }

// makefile reproduces a crash: a shell tells of a process that a signal ended by a status from 129 on, timeout of
// one that did not end by 124, and of what a driver started, or of an internal error, the messages tell.
func (c *crash) makefile() string {
	words := make([]string, len(c.command))
	for i, w := range c.command {
		words[i] = makeWords([]string{w})
	}
	run := fmt.Sprintf("$(%s) %s", c.variable(), strings.Join(words[1:], " "))
	test := `test $$status -gt 128 -a $$status -lt 160 || \
	echo "$$said" | grep -Eiq 'died due to signal|internal (compiler )?error|assertion.* failed|error in backend'`
	if c.hangs() {
		run, test = "timeout 60 "+run, "test $$status -eq 124"
	}
	need := slices.Contains(c.command, "-x") && slices.Contains(c.command, "cuda")
	note := ""
	if need {
		note = "\n# clang finds CUDA by itself, or with CLANG='clang --cuda-path=/usr/local/cuda'."
	}
	return fmt.Sprintf(`# Exit status 0: reproduced. Found with %s (%s).%s
%s ?= %s

.PHONY: check
check:
	@status=0; said=$$(%s 2>&1) || status=$$?; rm -f %s; echo "$$said"; echo "exit status $$status"; %s
`, oneLine(c.compiler), oneLine(c.build), note, c.variable(), words[0], run, c.command[slices.Index(c.command, "-o")+1], test)
}
