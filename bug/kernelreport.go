package bug

import (
	"fmt"
	"strings"

	"optcheck/realcode"
)

func (b *kernelBundler) title() string {
	s := fmt.Sprintf("%s, %s -%s: %s", b.f.Toolchain.ID, b.f.Target, b.f.Level, b.headline())
	if f := b.f.Signature; f.First != "" {
		s += " (" + f.First
		if f.Second != "" {
			s += ", " + f.Second
		}
		s += ")"
	}
	return oneLine(s)
}

// report writes the report.
func (b *kernelBundler) report() (string, error) {
	side, err := b.sideBySide()
	if err != nil {
		return "", err
	}
	return document(b.out.Title, b.in.Stamp, [][2]string{
		{"Summary", b.summary()}, {"What is claimed and what is not", b.claim()}, {"Minimal source", b.source()},
		{"Machine code", b.machine(side)}, {"Expected and actual behaviour", b.expected()}, {"Why", b.why()},
		{"Steps to reproduce", b.steps()},
		{"Versions", versionsOf(b.f.Toolchain, b.good, b.in.Tool)},
		{"Operating system", md(b.in.Host.OS) + " (" + md(b.in.Host.Arch) + ")\n"},
		{"GPU and driver", "Nothing was run: the finding is in the machine code.\n"},
		{"Regression range", regressionOf(b.in.Where, b.f.Target, b.f.Level)}, {"Workarounds", workarounds(b.ways)},
		{"Attached files", b.out.attached()},
	}), nil
}

// place is an operation of the finding for a sentence.
func place(p *realcode.Place) string { return fmt.Sprintf("line %d, %s", p.Pos.Line, span(p.Text)) }

func (b *kernelBundler) summary() string {
	var out strings.Builder
	loses := "loses a property that its source has"
	if b.executed() {
		loses = "does something else than its source says"
	}
	fmt.Fprintf(&out, "Compiled by %s for %s at -%s, the kernel below %s: %s.\n\n",
		span(b.f.Toolchain.ID), span(b.f.Target), b.f.Level, loses, b.headline())
	if b.find.First != nil {
		fmt.Fprintf(&out, "> %s", place(b.find.First))
		if b.find.Second != nil {
			fmt.Fprintf(&out, ", and %s", place(b.find.Second))
		}
		fmt.Fprintf(&out, ": %s\n", md(b.find.Detail))
	}
	if r := b.in.Result; len(r.Steps) > 0 {
		fmt.Fprintf(&out, "\nIt was found in a kernel of %d instructions (%s), of which these are left.\n", r.Whole.Len(),
			fileSpan("original.ptx"))
	}
	return out.String()
}

func (b *kernelBundler) claim() string {
	v := b.find.Verdict
	if b.extent() == controlled {
		return claimInFlight
	}
	if b.executed() {
		return "**Claimed:** on the input in " + fileSpan("finding.json") + ", the machine code does something else than the PTX, whose results are defined there. " +
			"**Not claimed:** that it ran on a GPU, unless the report says so.\n"
	}
	if v == nil || v.Class != realcode.Miscompiled {
		return "**Claimed:** the machine code differs from the source in the way told above. **Not claimed:** that an outcome shows the " +
			"difference; no litmus test of it was found that does.\n"
	}
	return fmt.Sprintf("**Claimed:** the machine code, read as %s reads it, allows the outcome %s, and %s forbids it for the source (%s).\n\n"+
		"**Not claimed:** that the outcome has been seen on hardware, nor that the program that the kernel is of has such a "+
		"partner. The reading takes each machine instruction to be as strong as its name says; if the hardware gives it a stronger meaning, "+
		"the outcome may be impossible in practice.\n",
		fileSpan("machine.litmus"), span(v.Outcome), plainModel(v.Model), fileSpan("source.litmus"))
}

func (b *kernelBundler) source() string {
	s := "PTX (" + fileSpan("min.ptx") + "):\n\n" + block("", b.prog.text)
	if b.controlCode != nil {
		s += fmt.Sprintf("\nThe control (%s) differs in one thing, and has everything in its machine code: %s\n\n%s", fileSpan("control.ptx"),
			md(b.controlName), block("", b.control))
	}
	return s
}

func (b *kernelBundler) machine(side string) string {
	var out strings.Builder
	if side != "" {
		out.WriteString("Source and machine code (`-` gone, `<` moved away from here, `>` moved to here, `+` not in the source):\n\n" +
			block("", side) + "\n")
	}
	fmt.Fprintf(&out, "%s by `nvdisasm %s` (%s):\n\n%s", capital(b.extent().String()), b.recipe().listing(), fileSpan("bad.sass"),
		block("", strings.Join(view(b.bad.lines, "text"), "\n")))
	if b.good != nil {
		fmt.Fprintf(&out, "\nFor comparison, %s at -%s (%s):\n\n%s", span(b.good.tc.ID), b.good.level, fileSpan("good.sass"),
			block("diff", b.diff("good.sass", b.good)))
	}
	if b.controlCode != nil {
		fmt.Fprintf(&out, "\nThe control by the same compiler (%s):\n\n%s", fileSpan("control.sass"),
			block("diff", b.diff("control.sass", b.controlCode)))
	}
	return out.String()
}

func (b *kernelBundler) expected() string {
	expected := expectationOf(b.f.Signature.Rule)
	if b.find.Order {
		expected = orderExpectation + " As nobody uses what it returns, it need not be performed for that."
	}
	return fmt.Sprintf("Expected: %s\n\nActual: %s: %s\n", expected, b.headline(), md(b.find.Detail))
}

// capital begins a sentence.
func capital(s string) string { return strings.ToUpper(s[:1]) + s[1:] }

// headline says in a few words what happened.
func (b *kernelBundler) headline() string {
	if b.find.Order {
		return orderHeadline
	}
	return headlineOf(b.f.Signature.Rule)
}

func (b *kernelBundler) why() string {
	v := b.find.Verdict
	switch {
	case b.extent() == controlled:
		return whyInFlight(b.find.Flight)
	case b.executed():
		return b.shownInput()
	}
	if v == nil {
		return ""
	}
	s := fmt.Sprintf("The operations of the finding with a partner (%s). As the source has them:\n\n%s\nAs the machine code has them:\n\n%s",
		v.Pattern, block("", v.Source), block("", v.Machine))
	if v.Check != "" {
		s += fmt.Sprintf("\nFor the first, %s violates: %s The cycle is %s (po: program order; rf: reads from; fr: reads before; "+
			"co: coherence order), with\n\n%s",
			span(v.Outcome), plainCheck(v.Model, v.Check), span(v.Cycle), legend(v.Events))
	}
	return s
}

// legend lists the events of a cycle.
func legend(events []string) string {
	var out strings.Builder
	for _, e := range events {
		fmt.Fprintf(&out, "- %s\n", span(e))
	}
	return out.String()
}

func (b *kernelBundler) steps() string {
	s := "The finding is in the machine code: it is there every time. With ptxas and nvdisasm alone:\n\n" +
		block("sh", b.recipe().command()+"\nnvdisasm "+b.recipe().listing()+" min.cubin") +
		"\nor, with a verdict in the exit status (0: reproduced), `make PTXAS=… NVDISASM=…` in this folder"
	if b.controlCode != nil {
		s += "; `make control` shows that the control does not have it"
	}
	return s + ". With optcheck: `./interesting.sh`, which can also serve a reducer: `cvise ./interesting.sh min.ptx`.\n"
}
