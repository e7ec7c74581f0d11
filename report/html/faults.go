package html

import (
	"context"
	_ "embed"
	"errors"
	"fmt"
	"html/template"
	"io/fs"

	"optcheck/internal/plain"
	"optcheck/report"
)

//go:embed faults.tmpl
var faultsText string

var faultsTemplate = template.Must(template.New("faults").Funcs(funcs).Funcs(template.FuncMap{
	// Pictures are made by this program, and what they show is escaped there.
	"svg": func(s string) template.HTML { return template.HTML(s) },
}).Parse(faultsText))

// WriteFaults makes a folder with a page of what programs themselves do wrong; folders are taken as by Write.
func WriteFaults(ctx context.Context, dir, tool string, kernels []report.FaultKernel) error {
	root, err := openFolder(dir)
	if err != nil {
		return fmt.Errorf("%s: %w", dir, err)
	}
	defer root.Close()
	n := 0
	for i := range kernels {
		n += len(kernels[i].Faults)
	}
	headline := plain.Count(n, "finding") + " in " + plain.Count(len(kernels), "kernel")
	body, err := execute(faultsTemplate, map[string]any{"Headline": headline, "Kernels": kernels})
	if err != nil {
		return err
	}
	w := &writer{ctx: ctx, root: root, wrote: map[string]int64{}}
	for _, d := range []string{"assets", "f"} {
		if err := root.Mkdir(d, 0o777); err != nil && !errors.Is(err, fs.ErrExist) {
			return err
		}
	}
	page := &Page{Title: headline, Nav: []Link{{"Kernels", "index.html"}}, Here: "index.html", Foot: "Made by optcheck " + Short(tool, 80) + ".", Body: body}
	return errors.Join(w.file("index.html", page.Write), w.bytes(StyleFile, Style()), w.bytes(ScriptFile, Script()), w.clean())
}
