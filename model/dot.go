package model

import (
	"fmt"
	"io"
	"strings"
)

// DOT writes the execution as a graph for Graphviz, threads as clusters, the
// arrows of a violated cycle wide.
func (x *Execution) DOT(w io.Writer) error {
	var b strings.Builder
	title := x.Test.Name + ": allowed execution"
	if !x.Allowed {
		title = x.Test.Name + ": forbidden by " + x.Check
	}
	fmt.Fprintf(&b, "digraph %s {\n  label=%s; labelloc=t; fontname=\"DejaVu Sans\";\n", dotString(x.Test.Name), dotString(title))
	b.WriteString("  node [shape=box, style=rounded, fontname=\"DejaVu Sans\"];\n  edge [fontname=\"DejaVu Sans\", fontsize=11];\n")
	for i, th := range x.Test.Threads {
		fmt.Fprintf(&b, "  subgraph cluster_%d {\n    label=%s; color=\"#cfd8dc\";\n", i, dotString(th.Name))
		for e, ev := range x.Events {
			if ev.Thread == i {
				fmt.Fprintf(&b, "    e%d [label=%s];\n", e, dotString(ev.Name+": "+ev.Text+"\n"+ev.Instr))
			}
		}
		b.WriteString("  }\n")
	}
	for e, ev := range x.Events {
		if ev.Thread < 0 && x.used(e) {
			fmt.Fprintf(&b, "  e%d [label=%s, style=\"rounded,filled\", fillcolor=\"#eceff1\"];\n", e, dotString("init "+ev.Text))
		}
	}
	for _, e := range x.Edges {
		label, wide := e.Rel, ""
		if e.Step > 0 {
			label, wide = fmt.Sprintf("%d %s", e.Step, e.Rel), ", penwidth=3"
		}
		free := ""
		if e.Rel != "po" {
			free = ", constraint=false"
		}
		fmt.Fprintf(&b, "  e%d -> e%d [label=%s, color=\"%s\", fontcolor=\"%s\"%s%s];\n", e.From, e.To, dotString(label),
			relColor(e.Rel), relColor(e.Rel), wide, free)
	}
	b.WriteString("}\n")
	_, err := io.WriteString(w, b.String())
	return err
}

// dotString quotes a string for Graphviz.
func dotString(s string) string {
	s = strings.ReplaceAll(s, `\`, `\\`)
	s = strings.ReplaceAll(s, `"`, `\"`)
	return `"` + strings.ReplaceAll(s, "\n", `\n`) + `"`
}
