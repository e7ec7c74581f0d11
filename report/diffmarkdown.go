package report

import (
	"fmt"
	"io"
	"strings"
)

// WriteComparisonMarkdown renders a comparison as Markdown, as WriteComparison does as text.
func WriteComparisonMarkdown(w io.Writer, x *Comparison, all bool) error {
	var b strings.Builder
	names := x.names()
	fmt.Fprintf(&b, "# %s → %s\n\n**%s**\n", mdText(names[0]), mdText(names[1]), mdText(x.Conclusion()))
	for _, s := range x.summary() {
		fmt.Fprintf(&b, "\n%s\n", mdText(s))
	}
	findings, unshown := shown(x.Findings, all)
	for _, f := range findings {
		fmt.Fprintf(&b, "\n## %s\n\n%s\n\nIn %s.\n\n", mdText(f.Title()), mdText(strings.Join(f.Lines(), "; ")), mdText(f.Count()))
		for _, p := range f.Where {
			fmt.Fprintf(&b, "- %s\n", mdText(p))
		}
		if len(f.Known) > 0 {
			fmt.Fprintf(&b, "\nKnown: %s\n", mdText(strings.Join(f.Known, ", ")))
		}
	}
	for _, line := range unshown {
		fmt.Fprintf(&b, "\n%s\n", line)
	}
	causes, more := shown(x.Causes(), all)
	for _, c := range causes {
		fmt.Fprintf(&b, "\n## %s\n", mdText(c.Title()))
		if c.Title() != c.Meaning {
			fmt.Fprintf(&b, "\n%s\n", mdText(capital(c.Meaning)))
		}
		for _, line := range c.Where() {
			fmt.Fprintf(&b, "\n%s\n", mdText(capital(line)))
		}
		if len(c.Changes) > 0 {
			fmt.Fprintf(&b, "\nSuch as %s:\n\n%s", mdText(c.Changes[0].Example()), mdBlock("text", c.Changes[0].sides("", names)))
		}
	}
	for _, section := range append([][]string{more}, x.rest()...) {
		for i, line := range section {
			fmt.Fprintf(&b, "%s%s\n", []string{"\n", "- "}[min(i, 1)], mdText(line))
		}
	}
	_, err := io.WriteString(w, b.String())
	return err
}
