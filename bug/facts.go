package bug

import (
	"fmt"
	"strings"

	"optcheck/reduce"
	"optcheck/toolchain"
)

func (b *bundler) steps() string {
	var out strings.Builder
	w := b.road.words()
	out.WriteString("The finding is in the " + w.code + ": it is there every time. With " + w.tools + " alone:\n\n")
	fmt.Fprintf(&out, "%s", block("sh", b.road.command()+w.after))
	fmt.Fprintf(&out, "\nor, with a verdict in the exit status (0: reproduced), `%s` in this folder. ", w.make)
	fmt.Fprintf(&out, "With optcheck: `./interesting.sh`, which can also serve a reducer: `cvise ./interesting.sh test.litmus`.\n")
	return out.String()
}

func (b *ptxRoad) versions() string { return versionsOf(b.f.Toolchain, b.good, b.in.Tool) }

// versionsOf tells the versions of ptxas, that of good code included, and of optcheck.
func versionsOf(tc *toolchain.Toolchain, good *code, optcheck string) string {
	var out strings.Builder
	out.WriteString("| tool | version | build | highest PTX |\n|---|---|---|---|\n")
	fmt.Fprintf(&out, "| ptxas | %s | %s | %s |\n", md(tc.Version), md(tc.Build), md(tc.MaxPTX))
	fmt.Fprintf(&out, "| nvdisasm | of the same release | | |\n| optcheck | %s | | |\n", md(optcheck))
	if good != nil && good.tc != tc {
		fmt.Fprintf(&out, "| ptxas, for comparison | %s | %s | %s |\n", md(good.tc.Version), md(good.tc.Build), md(good.tc.MaxPTX))
	}
	return out.String()
}

func (b *bundler) hardware() string {
	r := b.in.Run
	if r == nil {
		return "Nothing was run: the finding is in the " + b.road.words().code + ".\n"
	}
	s := "GPU: " + md(r.GPU) + "; driver: " + md(r.Driver) + "."
	if r.Log != nil {
		s += " What was seen is in " + fileSpan("run.log") + "."
	}
	return s + "\n"
}

func (b *bundler) regression() string { return regressionOf(b.in.Where, b.f.Target, b.f.Level) }

// regressionOf tells which releases have a finding on a target, at a level.
func regressionOf(w *reduce.Where, target, level string) string {
	if w == nil {
		return "Not looked for.\n"
	}
	var out strings.Builder
	fmt.Fprintf(
		&out,
		"For %s at -%s: %s.\n\nWhere the smallest test shows the finding (all targets at -%s, the other levels for %s only):\n\n",
		span(target),
		level,
		RangeText(w),
		level,
		span(target),
	)
	out.WriteString("| release | level | smallest test | targets |\n|---|---|---|---|\n")
	for _, g := range w.Groups() {
		fmt.Fprintf(&out, "| %s | %s | %s | %s |\n", md(g.Toolchain), g.Level, md(g.What), strings.Join(g.Targets, " "))
	}
	return out.String()
}

// RangeText describes the first bad and last good release in a sentence.
func RangeText(w *reduce.Where) string {
	r := w.Range
	s := "first bad release " + r.FirstBad
	if r.LastGood != "" {
		s += ", last good " + r.LastGood
	} else {
		s += ", the oldest of those installed that knows the target"
	}
	if r.NextGood != "" {
		return s + ", good again in " + r.NextGood
	}
	return s + "; last bad release " + r.LastBad + ", the newest of those"
}

func (b *bundler) workaround() string { return workarounds(b.ways) }

func workarounds(ways []Workaround) string {
	if len(ways) == 0 {
		return "None of those tried keeps the program as written.\n"
	}
	var out strings.Builder
	out.WriteString("Each was compiled with this release for this target and checked; with each the machine code is as written:\n\n")
	for _, w := range ways {
		fmt.Fprintf(&out, "- %s\n", md(w.What))
	}
	return out.String()
}
