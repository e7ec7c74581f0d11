package bug

import (
	"fmt"
	"strings"

	"optcheck/reduce"
)

// BuildCrash builds the bundle of a crash or hang of a compiler at real PTX: there is no machine code
// to show, so the Makefile looks at how ptxas ends.
func BuildCrash(in *KernelInput) (*Bundle, error) {
	b := &kernelBundler{in: in, f: &in.Result.Min, find: in.Result.Finding}
	b.out.Title = fmt.Sprintf("%s %s for %s at -%s", b.f.Toolchain.ID, crashVerb(b.f), b.f.Target, b.f.Level)
	b.add("report.md", b.crashReport())
	b.add("min.ptx", in.Result.Kernel.String())
	if len(in.Result.Steps) > 0 {
		b.add("original.ptx", in.Result.Whole.String())
	}
	b.add("Makefile", b.crashMakefile())
	b.out.Files = append(b.out.Files, File{Name: "interesting.sh", Data: []byte(b.interesting()), Exec: true})
	m := &manifest{Title: b.out.Title, Form: Forms[0], Stamp: in.Stamp, Optcheck: in.Tool, Finding: in.Result.Start.Address(),
		Smallest: b.f.Address(), Signature: b.f.Signature, Flags: []string{}, Command: b.recipe().command(), Host: in.Host,
		Steps: append([]string{}, in.Result.Steps...)}
	if in.Where != nil {
		m.Range = &in.Where.Range
	}
	m.tools(b.f.Toolchain, nil, "")
	b.add("manifest.json", string(m.of(&b.out)))
	return &b.out, nil
}

func crashVerb(f *reduce.KernelFinding) string {
	if f.Signature.Rule == "hang" {
		return "does not end"
	}
	return "crashes"
}

func (b *kernelBundler) crashReport() string {
	var out strings.Builder
	fmt.Fprintf(&out, "# %s\n\n", md(b.out.Title))
	if b.in.Stamp != "" {
		fmt.Fprintf(&out, "%s\n\n", md(b.in.Stamp))
	}
	fmt.Fprintf(&out, "## Source\n\nThe smallest kernel with the same end (%s):\n\n%s\n", fileSpan("min.ptx"), block("", b.in.Result.Kernel.String()))
	fmt.Fprintf(&out, "## Expected and actual\n\nExpected: machine code, or a message that says what is wrong with the source.\n\nActual: %s\n\n",
		md(b.find.Detail))
	fmt.Fprintf(&out, "## Steps\n\n%s\nor `make PTXAS=…` in this folder: exit status 0 says that it was reproduced.\n", block("sh", b.recipe().command()))
	if b.in.Where != nil {
		fmt.Fprintf(&out, "\n## Releases\n\n%s\n", md(RangeText(b.in.Where)))
	}
	fmt.Fprintf(&out, "\n## Versions\n\n%s, %s\n", md(b.f.Toolchain.ID), md(b.f.Toolchain.Build))
	return out.String()
}

// crashMakefile reproduces a crash: a shell tells of a process that a signal ended by a status above
// 128, and timeout of one that did not end by 124.
func (b *kernelBundler) crashMakefile() string {
	run, test := strings.Replace(b.recipe().command(), "ptxas", "$(PTXAS)", 1), "test $$status -gt 128"
	if b.f.Signature.Rule == "hang" {
		run, test = "timeout 60 "+run, "test $$status -eq 124"
	}
	return fmt.Sprintf("# Exit status 0: reproduced.\nPTXAS ?= ptxas\n\n.PHONY: check\ncheck:\n\t@status=0; %s || status=$$?; rm -f min.cubin; echo \"exit status $$status\"; %s\n",
		run, test)
}
