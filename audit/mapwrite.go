package audit

import (
	"bufio"
	"encoding/json"
	"fmt"
	"io"
	"slices"
	"strings"
	"text/tabwriter"
)

// WriteMappingJSON writes a mapping as JSON lines, one for each cell.
func WriteMappingJSON(w io.Writer, cells []MapCell) error {
	b := bufio.NewWriter(w)
	enc := json.NewEncoder(b)
	enc.SetEscapeHTML(false)
	for i := range cells {
		if err := enc.Encode(map[string]*MapCell{"mapping": &cells[i]}); err != nil {
			return err
		}
	}
	return b.Flush()
}

// WriteMappingText writes a mapping for people: under each operation what it
// becomes and where.
func WriteMappingText(w io.Writer, cells []MapCell) error {
	tw := tabwriter.NewWriter(w, 0, 8, 2, ' ', 0)
	group, op := "", ""
	for _, r := range mapRows(cells) {
		if r.group != group {
			fmt.Fprintf(tw, "%s\n", strings.ToUpper(r.group))
		}
		if r.op != op {
			fmt.Fprintf(tw, "%s\n", r.op)
		}
		group, op = r.group, r.op
		fmt.Fprintf(tw, "  %s\t%s\n", r.machine, r.where)
	}
	return tw.Flush()
}

// MapLegend says how to read the tables.
const MapLegend = "`–`: refused by the compiler. `@P`: predicated. `{…}`: on some paths only. `(…)*`: repeated until it succeeds. Registers and addresses are left out.\n" +
	"Without a bracket, a target means every release that has it and every level; `(12.4)`, `(O0)`, `(12.4 O0)` restrict that."

// WriteMappingMarkdown writes a mapping as one table for each group.
func WriteMappingMarkdown(w io.Writer, cells []MapCell) error {
	b := bufio.NewWriter(w)
	group := ""
	rows := mapRows(cells)
	for _, r := range rows {
		if r.group != group {
			if group != "" {
				b.WriteString("\n")
			}
			group = r.group
			fmt.Fprintf(b, "### %s\n\n| operation | machine sequence | where |\n|---|---|---|\n", strings.ToUpper(group[:1])+group[1:])
		}
		machine := r.machine
		if machine != "–" && machine != "nothing" {
			machine = "`" + machine + "`"
		}
		fmt.Fprintf(b, "| `%s` | %s | %s |\n", r.op, machine, r.where)
	}
	return b.Flush()
}

// MapChange is an operation that two releases map differently for a target.
type MapChange struct {
	Op     string `json:"op"`
	Group  string `json:"group"`
	Target string `json:"target"`
	Level  string `json:"level"`
	Left   string `json:"left"`
	Right  string `json:"right"`
	From   string `json:"from"`
	To     string `json:"to"`
}

// MappingDiff lists what each release maps differently from the one before it,
// for the targets and levels that both have. An operation that neither maps is
// no difference, whatever the words of the refusals.
func MappingDiff(cells []MapCell) []MapChange {
	type key struct{ op, tc, target, level string }
	at := map[key]*MapCell{}
	for i := range cells {
		c := &cells[i]
		at[key{c.Op, c.Toolchain, c.Target, c.Level}] = c
	}
	tcs := axesOf(cells).tcs
	var out []MapChange
	for k := 1; k < len(tcs); k++ {
		for i := range cells {
			a := &cells[i]
			if a.Toolchain != tcs[k-1] {
				continue
			}
			b := at[key{a.Op, tcs[k], a.Target, a.Level}]
			if b == nil || a.shown() == b.shown() {
				continue
			}
			out = append(out, MapChange{a.Op, a.Group, a.Target, a.Level, a.Toolchain, b.Toolchain, a.shown(), b.shown()})
		}
	}
	return out
}

// WriteMappingDiffText writes differences grouped by releases and by what
// became what.
func WriteMappingDiffText(w io.Writer, cells []MapCell) error {
	axes := axesOf(cells)
	changes := MappingDiff(cells)
	tw := tabwriter.NewWriter(w, 0, 8, 2, ' ', 0)
	for k := 1; k < len(axes.tcs); k++ {
		left, right := axes.tcs[k-1], axes.tcs[k]
		// Where is told among the targets that both releases have.
		both := &mapAxes{tcs: []string{left}, levels: axes.levels, at: map[string][]mapVariant{}}
		for _, t := range axes.targets {
			for _, l := range axes.levels {
				if slices.Contains(axes.at[t], mapVariant{left, l}) && slices.Contains(axes.at[t], mapVariant{right, l}) {
					both.at[t] = append(both.at[t], mapVariant{left, l})
				}
			}
			if len(both.at[t]) > 0 {
				both.targets = append(both.targets, t)
			}
		}
		type change struct{ op, from, to string }
		sets := map[change]map[string][]mapVariant{}
		var order []change
		for _, c := range changes {
			if c.Left != left {
				continue
			}
			x := change{c.Op, c.From, c.To}
			if sets[x] == nil {
				sets[x] = map[string][]mapVariant{}
				order = append(order, x)
			}
			sets[x][c.Target] = append(sets[x][c.Target], mapVariant{left, c.Level})
		}
		fmt.Fprintf(tw, "%s → %s: %d operations differ, on %d targets that both have\n", left, right, opsIn(changes, left), len(both.targets))
		for _, x := range order {
			fmt.Fprintf(tw, "  %s\t%s\n    %s\n    → %s\n", x.op, both.where(sets[x]), x.from, x.to)
		}
	}
	return tw.Flush()
}

func opsIn(changes []MapChange, left string) int {
	seen := map[string]bool{}
	for _, c := range changes {
		if c.Left == left {
			seen[c.Op] = true
		}
	}
	return len(seen)
}

// WriteMappingDiffJSON writes differences as JSON lines.
func WriteMappingDiffJSON(w io.Writer, cells []MapCell) error {
	enc := json.NewEncoder(w)
	enc.SetEscapeHTML(false)
	for _, c := range MappingDiff(cells) {
		if err := enc.Encode(map[string]MapChange{"mapping_change": c}); err != nil {
			return err
		}
	}
	return nil
}
