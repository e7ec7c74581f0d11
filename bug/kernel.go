package bug

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"optcheck/event"
	"optcheck/ptx"
	"optcheck/realcode"
	"optcheck/reduce"
	"optcheck/report"
	"optcheck/toolchain"
)

// KernelInput is everything that a bundle of a finding in real PTX is made of.
type KernelInput struct {
	Result     *reduce.KernelResult
	Where      *reduce.Where
	Toolchains []*toolchain.Toolchain // all that are installed
	Tool       string                 // version of optcheck
	Host       Host
	Stamp      string // as in Input
}

// kernelBundler builds the bundle of a finding in real PTX.
type kernelBundler struct {
	in   *KernelInput
	f    *reduce.KernelFinding
	find *realcode.Finding
	prog *program
	bad  *code
	good *code // of another release or level; nil if none is good
	// control is a program that differs in one thing and has no finding; its code is nil if
	// none of those tried is one.
	control     string
	controlName string
	controlCode *code
	ways        []Workaround
	out         Bundle
}

// BuildKernel builds the bundle of a finding in real PTX. It runs the compiler and disassembler
// a few times. The result depends only on its input and the tools.
func BuildKernel(ctx context.Context, in *KernelInput) (*Bundle, error) {
	b := &kernelBundler{in: in, f: &in.Result.Min, find: in.Result.Finding}
	for _, step := range []func(context.Context) error{b.code, b.controls} {
		if err := step(ctx); err != nil {
			return nil, err
		}
	}
	return &b.out, b.files()
}

func (b *kernelBundler) recipe() recipe {
	return recipe{b.f.Toolchain, b.f.Target, b.f.Level, nil, b.extent()}
}

// extent is what of the machine code the bundle compares.
func (b *kernelBundler) extent() extent { return extentOf(b.f.Signature.Rule, b.executed()) }

// whole is a complete module as a program; stores with .cs are its own.
func whole(text string) *program {
	return &program{text: text, header: "//", body: text, ambiguous: true}
}

// code compiles the smallest kernel here, and where it is good.
func (b *kernelBundler) code(ctx context.Context) error {
	b.prog = whole(b.in.Result.Kernel.String())
	var err error
	if b.bad, err = b.compiled(ctx, b.recipe(), b.prog); err != nil {
		return err
	}
	if b.extent() == controlled && !b.bad.flies(b.f.Signature.Rule) {
		return fmt.Errorf("%w: %s", ErrNotStandalone, b.f.Address())
	}
	tc, level := goodPlace(b.in.Where, b.in.Toolchains, b.f.Toolchain, b.f.Target, b.f.Level)
	if tc == nil {
		return nil
	}
	good, err := b.compiled(ctx, recipe{tc, b.f.Target, level, nil, b.extent()}, b.prog)
	if errors.Is(err, toolchain.ErrCompile) {
		return nil // an older release, for which the audit lowered the version
	} else if err != nil {
		return err
	}
	if !slices.Equal(view(good.lines, "text"), view(b.bad.lines, "text")) {
		b.good = good
	}
	return nil
}

// controls tries what programmers would try. The first that keeps everything is the control.
func (b *kernelBundler) controls(ctx context.Context) error {
	b.ways = lowerLevel(b.in.Where, b.f.Toolchain, b.f.Target)
	variants := kernelVariants(b.f.Module, b.find)
	if b.executed() {
		variants = hidden(b.f.Module, b.find.Kernel)
	}
	for _, v := range variants {
		m, err := ptx.Parse("control.ptx", v.text)
		if err != nil {
			continue
		}
		other := *b.f
		other.Module = m
		cell, _, err := other.Confirm(ctx)
		switch {
		case cell == nil:
			return err
		case cell.Class != realcode.Preserved:
			continue
		}
		b.ways = append(b.ways, Workaround{v.name})
		if b.controlCode == nil {
			b.control, b.controlName = string(v.text), v.name
			if b.controlCode, err = b.compiled(ctx, b.recipe(), whole(b.control)); err != nil {
				return err
			}
		}
	}
	return nil
}

// kernelVariant is a kernel with one change.
type kernelVariant struct {
	name string
	text []byte
}

// kernelVariants lists changes that may be workarounds.
func kernelVariants(m *ptx.Module, f *realcode.Finding) (out []kernelVariant) {
	first, second := instAt(m, f.First), instAt(m, f.Second)
	add := func(name string, edits ...ptx.Edit) {
		out = append(out, kernelVariant{name, m.Apply(edits...)})
	}
	if first == nil {
		return nil
	}
	e := first.Effect()
	fn := m.Func(f.First.Func)
	if regs := first.Defines(); len(regs) == 1 && e.Width > 0 && e.Width <= 8 {
		if params, ok := fn.AddParams(".param .u64 used"); ok {
			add("Store the result of "+first.Op+" to memory.", params, first.After(fmt.Sprintf(
				"\n\t{\n\t.reg .b64 %%used;\n\tld.param.u64 %%used, [used];\n\tst.global.b%d [%%used], %s;\n\t}", 8*e.Width, fn.Regs[regs[0]].Name)))
		}
	}
	scope := e.Scope
	if scope == "" {
		scope = "sys"
	}
	fence := "fence.acq_rel." + scope + ";"
	add("Put fence.acq_rel."+scope+" behind "+first.Op+".", first.After("\n\t"+fence))
	add("Put fence.acq_rel."+scope+" before "+first.Op+".", first.Before(fence+"\n\t"))
	if second != nil {
		add("Put fence.acq_rel."+scope+" before "+second.Op+".", second.Before(fence+"\n\t"))
	}
	for _, in := range []*ptx.Inst{first, second} {
		if in == nil || in.Name != "ld" && in.Name != "st" {
			continue
		}
		if e := in.Effect(); e.Kind.IsAccess() && e.Weak() {
			strong := strings.Replace(in.Text, in.Name+".", in.Name+".relaxed.gpu.", 1)
			add("Make "+in.Op+" "+in.Name+".relaxed.gpu.", in.Replace(strong+";"))
		}
	}
	return out
}

func instAt(m *ptx.Module, p *realcode.Place) *ptx.Inst {
	if p == nil || m.Func(p.Func) == nil {
		return nil
	}
	for _, st := range m.Func(p.Func).Body {
		if st.Inst != nil && st.Inst.Pos == p.Pos {
			return st.Inst
		}
	}
	return nil
}

// files writes all files.
func (b *kernelBundler) files() error {
	out := &b.out
	out.Title = b.title()
	out.add("min.ptx", "the smallest kernel", b.prog.text)
	if len(b.in.Result.Steps) > 0 {
		out.add("original.ptx", "the kernel as it was found, on its own", b.in.Result.Whole.String())
	}
	out.add("bad.sass", "its machine code", string(b.bad.text))
	if b.good != nil {
		out.add("good.sass", "that of a release or level without the finding", string(b.good.text))
		out.add("sass.diff", "what is compared of both", b.diff("good.sass", b.good))
	}
	if b.controlCode != nil {
		out.add("control.ptx", "the control", b.control)
		out.add("control.sass", "its machine code", string(b.controlCode.text))
	}
	if v := b.find.Verdict; v != nil {
		out.add("source.litmus", "the operations of the finding and a partner", v.Source)
		out.add("machine.litmus", "the same with what the machine code has in their place", v.Machine)
	}
	if b.executed() {
		text, err := b.counterexample()
		if err != nil {
			return err
		}
		out.add("finding.json", "the counterexample: launch, parameters, memory, the value that is expected and the one that is stored", text)
		out.add("replay.sh", "executes it again; with `--device` on a GPU, too", b.replayScript())
		out.Files[len(out.Files)-1].Exec = true
	}
	out.scripts("ptxas and nvdisasm", b.makefile(), b.judge(), b.interesting())
	report, err := b.report()
	if err != nil {
		return err
	}
	out.finish(report, b.manifest())
	return nil
}

// judge is the script that tells bad from good code.
func (b *kernelBundler) judge() string {
	how := viewOf(b.f.Signature.Rule, false, b.bad, b.good)
	if b.good == nil {
		how = views[len(views)-1]
	}
	list := func(c *code) string {
		if c == nil {
			return ""
		}
		return awkString(strings.Join(view(c.lines, how), " | "))
	}
	return judge(b.find.Kernel, how, list(b.bad), list(b.good), true, b.extent())
}

// origin is the manifest of where a finding is from.
func (in *KernelInput) origin() *manifest {
	r := in.Result
	return &manifest{Form: Forms[0], Stamp: in.Stamp, Optcheck: in.Tool, Finding: r.Start.Address(), Smallest: r.Min.Address(),
		Signature: r.Min.Signature, Flags: []string{}, Host: in.Host, Steps: append([]string{}, r.Steps...)}
}

func (b *kernelBundler) manifest() *manifest {
	m := b.in.origin()
	m.Title, m.Command, m.Ways = b.out.Title, b.recipe().command(), b.ways
	if v := b.find.Verdict; v != nil {
		m.Model, m.New = v.Model, []string{v.Outcome}
	}
	if b.in.Where != nil {
		m.Range = &b.in.Where.Range
	}
	m.tools(b.f.Toolchain, b.good, "")
	return m
}

func (b *kernelBundler) diff(name string, good *code) string {
	return diffOf(name, "bad.sass", b.find.Kernel, good, b.bad, b.extent(), func(c *code) []string { return view(c.lines, "text") })
}

// makefile reproduces the finding, and shows that the control does not have it.
func (b *kernelBundler) makefile() string {
	if b.controlCode == nil {
		return b.recipe().makefile()
	}
	return b.recipe().makefile() + `
# The program that differs in one thing: exit status 0 says that it does not have the finding.
.PHONY: control
control:
	$(PTXAS) -arch=$(ARCH) $(OPT) $(FLAGS) control.ptx -o control.cubin
	$(NVDISASM) ` + b.recipe().listing() + ` control.cubin > control.out
	@! awk -f check.awk control.out
	@rm -f control.cubin control.out
`
}

func (b *kernelBundler) interesting() string {
	args := []string{"reduce", "--check", "--quiet", "--finding", b.f.Signature.Rule, "--class", b.f.Signature.Class,
		"--toolchains", b.f.Toolchain.Version, "--targets", b.f.Target, "--levels", b.f.Level}
	return interesting("min.ptx", args)
}

// sideBySide shows the operations of the PTX and the machine code.
func (b *kernelBundler) sideBySide() (string, error) {
	var side bytes.Buffer
	cell := b.in.Result.Cell
	var l *event.Listing
	err := realcode.NewProgram(b.f.Module, realcode.Origin{}).Events(cell, func(e event.Event) error {
		if e.Listing != nil {
			l = e.Listing
		}
		if e.Cell != nil && l != nil {
			return report.WriteListing(&side, l, e.Cell.Findings)
		}
		return nil
	})
	return side.String(), err
}
