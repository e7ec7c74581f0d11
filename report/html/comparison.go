package html

import (
	"cmp"
	"context"
	_ "embed"
	"errors"
	"fmt"

	"optcheck/report"
)

// maxCodeChanges bounds the changes of memory instructions on a page.
const maxCodeChanges = 200

// codeSection is what a page shows of changes of instructions.
type codeSection struct {
	Left, Right string
	List        []*report.Cause
	More        int
	Conclusion  string // of these alone
	Rest        []string
}

func newCodeSection(left, right string, list []*report.Cause, rest []string) codeSection {
	n := min(len(list), maxCodeChanges)
	return codeSection{left, right, list[:n], len(list) - n, report.Conclude(list, nil).Instructions(), rest}
}

// comparisonPage is the body of a page of its own for a comparison.
type comparisonPage struct {
	*report.Comparison
	Left, Right string
	Code        codeSection
	Only        [][]string
}

//go:embed comparison.tmpl
var comparisonText string

// WriteComparison makes a folder with a page of what two sides do differently. The folder
// is as Write wants it.
func WriteComparison(ctx context.Context, dir string, c *report.Comparison) error {
	left, right := cmp.Or(c.Left, "left"), cmp.Or(c.Right, "right")
	p := comparisonPage{Comparison: c, Left: left, Right: right, Code: newCodeSection(left, right, c.Causes(), c.Instructions.Rest())}
	for side, name := range []string{left, right} {
		if lines := c.Only[side].Lines(name); lines != nil {
			p.Only = append(p.Only, lines)
		}
	}
	body, err := execute(changesTemplate.Lookup("comparison"), p)
	if err != nil {
		return err
	}
	return writeAlone(ctx, dir, "Changes", &Page{Title: left + " → " + right, Body: body})
}

// writeAlone makes a folder of one page.
func writeAlone(ctx context.Context, dir, name string, p *Page) error {
	root, err := openFolder(dir)
	if err != nil {
		return fmt.Errorf("%s: %w", dir, err)
	}
	defer root.Close()
	w := &writer{ctx: ctx, root: root, wrote: map[string]int64{}}
	if err := w.root.MkdirAll("assets", 0o777); err != nil {
		return err
	}
	p.Nav, p.Here, p.Foot = []Link{{name, "index.html"}}, "index.html", "Made by optcheck."
	return errors.Join(w.file("index.html", p.Write), w.bytes(StyleFile, Style()), w.bytes(ScriptFile, Script()))
}
