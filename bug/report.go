package bug

import (
	"fmt"
	"strings"

	"optcheck/event"
	"optcheck/litmus"
	"optcheck/optcheck"
)

func (b *bundler) title() string {
	s := fmt.Sprintf("%s, %s -%s: %s", b.road.compiler(), b.f.Target, b.f.Level, b.headline())
	if in := b.instr(b.find.Access); in != nil {
		s += " (" + strings.TrimSpace(strings.SplitN(in.String(), " ", 2)[0]) + ")"
	}
	return oneLine(s)
}

// instr returns the access or fence at a position of the finding's thread.
func (b *bundler) instr(pos int) *litmus.Instr {
	n := 0
	th := b.thread()
	for i := range th.Body {
		in := &th.Body[i]
		if !in.IsAccess() && !in.IsFence() && in.Op != litmus.OpBar {
			continue
		}
		if n == pos {
			return in
		}
		n++
	}
	return nil
}

// section is a part of the report: a heading per form, "" to omit it.
type section struct {
	nvidia, llvm, amd string
	text              string
}

// report writes the report in the order of its form.
func (b *bundler) report() string {
	w := b.road.words()
	sections := map[string]section{
		"summary":    {"Summary", "Summary", "Problem Description", b.summary()},
		"claim":      {"What is claimed and what is not", "What is claimed and what is not", "What is claimed and what is not", b.claim()},
		"source":     {"Minimal source", "Reduced test case", "Minimal source", b.source()},
		"machine":    {capital(w.code), "Wrong " + w.code, capital(w.code), b.machine()},
		"expected":   {"Expected and actual behaviour", "Expected and actual behaviour", "Expected and actual behaviour", b.expected()},
		"why":        {"Why", "Analysis", "Additional Information", b.why()},
		"steps":      {"Steps to reproduce", "How to reproduce", "Steps to Reproduce", b.steps()},
		"versions":   {"Versions", "Versions", "Compiler Version", b.road.versions()},
		"os":         {"Operating system", "", "Operating System", md(b.in.Host.OS) + " (" + md(b.in.Host.Arch) + ")\n"},
		"cpu":        {"", "", "CPU", md(b.in.Host.CPU) + "\n"},
		"gpu":        {"GPU and driver", "GPU and driver", "GPU", b.hardware()},
		"range":      {"Regression range", "Regression range", "Regression range", b.regression()},
		"workaround": {"Workarounds", "Workarounds", "Workarounds", b.workaround()},
		"files":      {"Attached files", "Attached files", "Attached files", b.out.attached()},
	}
	order := []string{"summary", "claim", "source", "machine", "expected", "why", "steps", "versions", "os", "gpu",
		"range", "workaround", "files"}
	switch b.in.Form {
	case "llvm": // How to submit an LLVM bug report: reduced test, how to run it, which version, then the rest
		order = []string{"summary", "source", "steps", "machine", "expected", "versions", "os", "range", "claim", "why",
			"gpu", "workaround", "files"}
	case "amd": // the form of ROCm's issues: problem, OS, CPU, GPU, version, steps, additional information
		order = []string{"summary", "os", "cpu", "gpu", "versions", "steps", "source", "machine", "expected", "range",
			"why", "claim", "workaround", "files"}
	}
	var list [][2]string
	for _, name := range order {
		s := sections[name]
		if head := map[string]string{"nvidia": s.nvidia, "llvm": s.llvm, "amd": s.amd}[b.in.Form]; head != "" {
			list = append(list, [2]string{head, s.text})
		}
	}
	return document(b.title(), b.in.Stamp, list)
}

func (b *bundler) summary() string {
	var out strings.Builder
	fmt.Fprintf(&out, "Compiled by %s for %s at -%s, thread %s of the program below loses a property that its source has: %s.\n\n",
		span(b.road.compiler()), span(b.f.Target), b.f.Level, b.thread().Name, b.headline())
	fmt.Fprintf(&out, "> %s\n", md(b.find.Detail))
	for _, f := range b.in.Cell.Findings {
		if b.in.Min.Signature.Is(f) && f.Thread != b.find.Thread && f.Thread >= 0 && f.Thread < len(b.f.Test.Threads) {
			fmt.Fprintf(&out, ">\n> In %s: %s\n", md(b.f.Test.Threads[f.Thread].Name), md(f.Detail))
		}
	}
	if b.in.Start.Level != b.f.Level || b.in.Start.Layout != b.f.Layout {
		fmt.Fprintf(&out, "\n(Found at -%s with the layout %v; the reduced program shows it from -%s on.)\n",
			b.in.Start.Level, b.in.Start.Layout, b.f.Level)
	}
	v := b.in.Cell.Verdict
	switch {
	case v != nil && b.in.Cell.Class == event.Miscompiled:
		fmt.Fprintf(&out, "\n%s can end in %s; %s forbids that for the source.\n", b.road.words().compiled,
			span(outcomes(v.Shown(), 3)), plainModel(v.Model))
	case v != nil && v.Meaningless():
		fmt.Fprintf(&out, "\n%s.\n", v.RaceSentence())
	case v != nil && v.Unjudged == "":
		fmt.Fprintf(&out, "\n%s can show no outcome that %s forbids for the source: the change is legal under it.\n",
			b.road.words().compiled, plainModel(v.Model))
	}
	if v != nil && v.RaceModel != "" {
		switch v.Race {
		case event.RaceFree:
			fmt.Fprintf(&out, "\nBy %s the source has no data race.\n", plainModel(v.RaceModel))
		case event.DataRace:
			fmt.Fprintf(&out, "\nBy %s the source has a data race, to which it gives a meaning all the same.\n", plainModel(v.RaceModel))
		}
	}
	return out.String()
}

// outcomes formats a few final states for a sentence.
func outcomes(list []string, most int) string {
	var out []string
	for _, s := range list[:min(len(list), most)] {
		out = append(out, strings.TrimSuffix(s, ";"))
	}
	s := strings.Join(out, " or ")
	if len(list) > most {
		s += fmt.Sprintf(" (and %d more)", len(list)-most)
	}
	return s
}

func (b *bundler) claim() string {
	v := b.in.Cell.Verdict
	switch {
	case b.extent() == controlled:
		return claimInFlight
	case b.in.Cell.Class == event.Miscompiled && v != nil && v.Hardware != "":
		s := fmt.Sprintf(
			"**Claimed:** by LLVM's published memory model of %s, read as a machine that performs each instruction at any time until a wait says "+
				"otherwise and whose caches keep any line until they are invalidated, the machine code can end in %s, and %s forbids that for the source:\n\n",
			span(v.Hardware),
			span(outcomes(v.Shown(), 1)),
			plainModel(v.Model),
		)
		for i, step := range v.Schedule {
			s += fmt.Sprintf("%d. %s\n", i+1, span(step))
		}
		return s + "\n**Not claimed:** that the outcome has been seen on hardware. An old line must have been brought into the cache before: by another wave, or by an access to its neighbourhood.\n"
	case b.in.Cell.Class == event.Miscompiled && v != nil:
		s := fmt.Sprintf(
			"**Claimed:** the machine code, read as `machine.litmus` reads it, allows the outcome %s, and %s forbids it for the source.\n\n"+
				"**Not claimed:** that the outcome has been seen on hardware%s. The reading takes each machine instruction to be as strong as its name says; "+
				"if the hardware gives a weaker-looking instruction a stronger meaning, the outcome may be impossible in practice. In that case a word in the "+
				"documentation would settle it.\n",
			span(outcomes(v.Shown(), 1)),
			plainModel(v.Model),
			map[bool]string{true: " (see below for what was run)"}[b.in.Run != nil],
		)
		if n := modelNotes[v.Model]; n != "" {
			s += "\n" + n + "\n"
		}
		if n := b.road.words().note; n != "" {
			s += "\n" + n + "\n"
		}
		for _, o := range v.Others {
			s += fmt.Sprintf("\nUnder %s the verdict is: %s.\n", plainModel(o.Model), o.Class)
		}
		return s
	case v != nil && v.Meaningless():
		return "**This is not a report of a miscompilation:** " + v.RaceText() + ".\n\n**It is a report that the binary is not the test:** whoever " +
			"measures hardware with this program sees the compiler's choice and not the chip's.\n"
	case v != nil && v.Unjudged != "":
		return "**Claimed:** the machine code differs from the source in the way told above; " + v.RaceText() + ". **Not claimed:** that an outcome shows the difference.\n"
	case v != nil:
		return "**This is not a report of a miscompilation.** " + plainLegal(
			v,
		) + "\n\n**It is a report that the binary is not the test:** whoever " +
			"measures hardware with this program sees the compiler's choice and not the chip's.\n"
	}
	return "**Claimed:** the machine code differs from the source in the way told above. **Not claimed:** that the difference is illegal; no memory model was asked.\n"
}

// plainLegal describes what a change does to the outcomes.
func plainLegal(v *event.Verdict) string {
	s := fmt.Sprintf("Of the %d outcomes that %s allows for the test, the machine code allows %d, and no other.",
		v.Source, plainModel(v.Model), v.Machine)
	if v.Source == 1 && v.Machine == 1 {
		s = fmt.Sprintf("Under %s the machine code allows no outcome that the source does not allow.", plainModel(v.Model))
	}
	return s
}

func (b *bundler) source() string {
	var out strings.Builder
	out.WriteString("As a litmus test (" + fileSpan("test.litmus") + "):\n\n")
	out.WriteString(block("", b.f.Test.String()))
	out.WriteString("\n" + b.road.words().source + "\n\n")
	out.WriteString(block("", b.prog.text))
	return out.String()
}

func fileSpan(name string) string { return "[`" + name + "`](" + name + ")" }

func (b *bundler) expected() string {
	var out strings.Builder
	fmt.Fprintf(&out, "**Expected:** %s", b.expectation())
	expected, actual := b.road.particulars()
	out.WriteString(expected)
	if v := b.in.Cell.Verdict; b.in.Cell.Class == event.Miscompiled && v != nil {
		fmt.Fprintf(&out, " No execution ends in %s.", span(outcomes(v.Shown(), 1)))
	}
	fmt.Fprintf(&out, "\n\n**Actual:** %s.", md(strings.TrimSuffix(b.find.Detail, ".")))
	out.WriteString(actual)
	if v := b.in.Cell.Verdict; b.in.Cell.Class == event.Miscompiled && v != nil {
		fmt.Fprintf(&out, " The machine code allows %s.", span(outcomes(v.Shown(), 3)))
	}
	out.WriteByte('\n')
	return out.String()
}

func (b *bundler) why() string {
	var out strings.Builder
	if b.extent() == controlled {
		out.WriteString(whyInFlight(b.find.Flight))
	}
	if in := b.instr(b.find.Access); in != nil && b.road.promise(in) != "" {
		fmt.Fprintf(&out, "What the source asks for with %s (T%d #%d): %s\n\n", span(in.String()), b.find.Thread,
			b.find.Access, b.road.promise(in))
	}
	if v := b.in.Cell.Verdict; b.in.Cell.Class == event.Miscompiled && v != nil {
		fmt.Fprintf(&out, "The rule that forbids %s in the source, in %s:\n\n> %s\n", span(outcomes(v.Shown(), 1)),
			plainModel(v.Model), plainCheck(v.Model, v.Check))
	}
	if p := b.pic; p != nil && p.svg != nil {
		switch {
		case p.lost:
			fmt.Fprintf(
				&out,
				"The test as it was found, %s, asks for %s, which the compiled program cannot show any more. An execution of the source that ends so:\n\n",
				span(p.test),
				span(p.outcome),
			)
		case b.in.Cell.Class != event.Miscompiled:
			fmt.Fprintf(
				&out,
				"The test as it was found, %s, has %s. The compiled program has the same outcomes. In %s the outcome is %s:\n\n",
				span(p.test),
				span(p.outcome),
				plainModel(p.model),
				map[bool]string{true: "forbidden", false: "allowed"}[p.forbidden],
			)
		case p.cycle != "":
			fmt.Fprintf(
				&out,
				"\nThe execution that ends so contradicts itself: %s (po: program order; rf: reads from; fr: reads before; co: coherence order), with\n\n%s\n",
				span(p.cycle), legend(p.events),
			)
		default:
			out.WriteString("\n")
		}
		out.WriteString("![execution](execution.svg)\n")
	}
	if r, ok := optcheck.LookupRule(b.find.Rule); ok {
		fmt.Fprintf(&out, "\nThe rule of the checker, %s: %s\n", span(r.ID), md(strings.Join(strings.Fields(r.Explain), " ")))
	}
	return strings.TrimPrefix(out.String(), "\n")
}
