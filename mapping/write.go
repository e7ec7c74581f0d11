package mapping

import (
	"bufio"
	"encoding/json"
	"fmt"
	"io"
	"slices"
	"strings"
	"text/tabwriter"
)

// WriteJSON writes a mapping as JSON lines, one for each cell.
func WriteJSON(w io.Writer, cells []Cell) error {
	b := bufio.NewWriter(w)
	enc := json.NewEncoder(b)
	enc.SetEscapeHTML(false)
	for i := range cells {
		if err := enc.Encode(map[string]*Cell{"mapping": &cells[i]}); err != nil {
			return err
		}
	}
	return b.Flush()
}

// WriteText writes a mapping for people: under each operation what it
// becomes and where.
func WriteText(w io.Writer, cells []Cell) error {
	tw := tabwriter.NewWriter(w, 0, 8, 2, ' ', 0)
	group, op := "", ""
	for _, r := range Rows(cells) {
		if r.Group != group {
			fmt.Fprintf(tw, "%s\n", strings.ToUpper(r.Group))
		}
		if r.Op != op {
			fmt.Fprintf(tw, "%s\n", r.Op)
		}
		group, op = r.Group, r.Op
		where := r.Where
		if slices.Contains(compared, r.Group) && r.Class != Refused {
			where = strings.TrimSpace(r.Class + " on " + where)
		}
		fmt.Fprintf(tw, "  %s\t%s\n", r.Machine, where)
	}
	return tw.Flush()
}

// WriteMarkdown writes a mapping as one table for each group.
func WriteMarkdown(w io.Writer, cells []Cell) error {
	b := bufio.NewWriter(w)
	group := ""
	rows := Rows(cells)
	judged := map[string]bool{}
	for i := range cells {
		judged[cells[i].Group] = judged[cells[i].Group] || cells[i].compared() != ""
	}
	for _, r := range rows {
		more, line := "", ""
		if judged[r.Group] {
			more, line = " judged |", "---|"
		}
		if r.Group != group {
			if group != "" {
				b.WriteString("\n")
			}
			group = r.Group
			fmt.Fprintf(b, "### %s\n\n| operation | machine sequence |%s where |\n|---|---|%s---|\n", strings.ToUpper(group[:1])+group[1:], more, line)
		}
		machine := r.Machine
		if machine != "–" && machine != "nothing" {
			machine = "`" + machine + "`"
		}
		switch {
		case more != "" && r.Machine == "–":
			more = " – |"
		case more != "":
			more = " " + r.Class + " |"
		}
		fmt.Fprintf(b, "| `%s` | %s |%s %s |\n", r.Op, machine, more, r.Where)
	}
	return b.Flush()
}

// Change is an operation that two releases map differently for a target.
type Change struct {
	Op     string `json:"op"`
	Group  string `json:"group"`
	Target string `json:"target"`
	Level  string `json:"level"`
	Left   string `json:"left"`
	Right  string `json:"right"`
	From   string `json:"from"`
	To     string `json:"to"`
}

// Diff lists what each release maps differently from the one before it, for the targets and
// levels that both have. An operation that neither maps is not a difference, even if the
// refusals have different words.
func Diff(cells []Cell) []Change {
	type key struct{ op, tc, target, level string }
	at := map[key]*Cell{}
	for i := range cells {
		c := &cells[i]
		at[key{c.Op, c.Toolchain, c.Target, c.Level}] = c
	}
	tcs := axesOf(cells).tcs
	var out []Change
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
			out = append(out, Change{a.Op, a.Group, a.Target, a.Level, a.Toolchain, b.Toolchain, a.shown(), b.shown()})
		}
	}
	return out
}

// WriteDiffText writes differences grouped by releases and by what
// became what.
func WriteDiffText(w io.Writer, cells []Cell) error {
	all := axesOf(cells)
	changes := Diff(cells)
	tw := tabwriter.NewWriter(w, 0, 8, 2, ' ', 0)
	for k := 1; k < len(all.tcs); k++ {
		left, right := all.tcs[k-1], all.tcs[k]
		// Where refers to the targets that both releases have.
		both := &axes{tcs: []string{left}, levels: all.levels, at: map[string][]variant{}}
		for _, t := range all.targets {
			for _, l := range all.levels {
				if slices.Contains(all.at[t], variant{left, l}) && slices.Contains(all.at[t], variant{right, l}) {
					both.at[t] = append(both.at[t], variant{left, l})
				}
			}
			if len(both.at[t]) > 0 {
				both.targets = append(both.targets, t)
			}
		}
		type change struct{ op, from, to string }
		sets := map[change]map[string][]variant{}
		var order []change
		for _, c := range changes {
			if c.Left != left {
				continue
			}
			x := change{c.Op, c.From, c.To}
			if sets[x] == nil {
				sets[x] = map[string][]variant{}
				order = append(order, x)
			}
			sets[x][c.Target] = append(sets[x][c.Target], variant{left, c.Level})
		}
		n, differ := opsIn(changes, left), "operations differ"
		if n == 1 {
			differ = "operation differs"
		}
		fmt.Fprintf(tw, "%s → %s: %d %s, on %d targets that both have\n", left, right, n, differ, len(both.targets))
		for _, x := range order {
			fmt.Fprintf(tw, "  %s\t%s\n    %s\n    → %s\n", x.op, both.where(sets[x]), x.from, x.to)
		}
	}
	return tw.Flush()
}

func opsIn(changes []Change, left string) int {
	seen := map[string]bool{}
	for _, c := range changes {
		if c.Left == left {
			seen[c.Op] = true
		}
	}
	return len(seen)
}

// Releases is how many toolchains have cells.
func Releases(cells []Cell) int { return len(axesOf(cells).tcs) }

// WriteDiffJSON writes differences as JSON lines.
func WriteDiffJSON(w io.Writer, cells []Cell) error {
	enc := json.NewEncoder(w)
	enc.SetEscapeHTML(false)
	for _, c := range Diff(cells) {
		if err := enc.Encode(map[string]Change{"mapping_change": c}); err != nil {
			return err
		}
	}
	return nil
}
