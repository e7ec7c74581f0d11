package verify

import (
	"fmt"
	"slices"
	"strings"

	"optcheck/internal/plain"
)

// Text is a result for people.
func (r *Result) Text() string {
	var b strings.Builder
	fmt.Fprintf(&b, "%s: %s, grid %d,%d,%d, block %d,%d,%d: %s\n", plain.Line(r.File), plain.Line(r.Name), r.Grid[0], r.Grid[1], r.Grid[2], r.Block[0], r.Block[1],
		r.Block[2], r.Verdict())
	if len(r.Chose) > 0 {
		fmt.Fprintf(&b, "  chosen: %s\n", plain.Line(strings.Join(r.Chose, ", ")))
	}
	if r.Hidden > 0 {
		fmt.Fprintf(&b, "  %s not shown\n", plain.Count(r.Hidden, "known finding"))
	}
	if r.Every {
		fmt.Fprintln(&b, "  every schedule of these values does the same")
	}
	for _, f := range r.Found {
		f.text(&b)
	}
	for _, u := range r.Unknown {
		fmt.Fprintf(&b, "  not known: %s\n", plain.Line(u))
	}
	return b.String()
}

// Count is the number of findings that count, or of races alone.
func (r *Result) Count(races bool) (n int) {
	for _, f := range r.Found {
		if !f.Minor() && (!races || f.Rule == DataRace) {
			n++
		}
	}
	return n
}

// Restore gives findings that were read from JSON what they say only by whether they count.
func (r *Result) Restore() {
	for _, f := range r.Found {
		f.astray = !f.Counts && !f.Minor()
	}
}

// Verdict is what was found out, in a phrase.
func (r *Result) Verdict() string {
	switch {
	case r.Count(false) > 0:
		return plain.Count(r.Count(false), "finding")
	case len(r.Unknown) > 0:
		return "unknown"
	case len(r.Found) > 0 && !slices.ContainsFunc(r.Found, func(f *Finding) bool { return !f.SameValue }):
		return fmt.Sprintf("nothing found in %s but races that change no value", plain.Count(len(r.Runs), "run"))
	case len(r.Found) > 0:
		return fmt.Sprintf("nothing found in %s but what the program may exclude", plain.Count(len(r.Runs), "run"))
	}
	return fmt.Sprintf("nothing found in %s", plain.Count(len(r.Runs), "run"))
}

// Conclusion is what was found out about several kernels, in a line; nothing of one, whose verdict says it.
func Conclusion(all []*Result) string {
	if len(all) < 2 {
		return ""
	}
	found, unknown := 0, 0
	for _, r := range all {
		switch {
		case r.Count(false) > 0:
			found++
		case len(r.Unknown) > 0:
			unknown++
		}
	}
	return fmt.Sprintf("%d kernels: %d with findings, %d unknown, %d with nothing found\n", len(all), found, unknown, len(all)-found-unknown)
}

// Brief is what was found out, in a line: the rules that are broken, each once.
func (r *Result) Brief() string {
	var rules []string
	for _, f := range r.Found {
		if s := string(f.Rule); !f.Minor() && !slices.Contains(rules, s) {
			rules = append(rules, s)
		}
	}
	switch {
	case len(rules) > 0:
		return strings.Join(rules, ", ")
	case len(r.Unknown) > 0:
		return "unknown: " + r.Unknown[0]
	}
	return r.Verdict()
}

// Text is a finding for people.
func (f *Finding) Text() string {
	var b strings.Builder
	f.text(&b)
	return b.String()
}

func (f *Finding) text(b *strings.Builder) {
	fmt.Fprintf(b, "  %s", f.Rule)
	if f.Possible() && f.Rule != Early {
		fmt.Fprint(b, " (with values that were chosen)")
	}
	if f.Where != "" {
		fmt.Fprintf(b, ": %s", plain.Line(f.Where))
	}
	fmt.Fprintln(b)
	f.First.text(b)
	if f.Second != nil {
		f.Second.text(b)
	}
	if f.Why != "" {
		fmt.Fprintf(b, "    %s\n", plain.Line(f.Why))
	}
	for _, n := range f.Notes() {
		fmt.Fprintf(b, "    %s\n", n)
	}
	if f.Record != "" {
		fmt.Fprintln(b, "    what the threads did:")
		for line := range strings.Lines(f.Record) {
			fmt.Fprintf(b, "    %s\n", plain.Line(strings.TrimRight(line, "\n")))
		}
	}
	for i, m := range f.Mends() {
		fmt.Fprintf(b, "    %s%s\n", strings.Repeat("  ", min(i, 1)), m)
	}
}

// Mends are the parts of what would mend a finding.
func (f *Finding) Mends() (out []string) {
	for i, m := range f.Mend {
		out = append(out, map[bool]string{true: "would be mended by ", false: "together with "}[i == 0]+plain.Line(m))
	}
	return out
}

// Notes are what is known of a finding beside what is wrong.
func (f *Finding) Notes() (out []string) {
	if len(f.Known) > 0 {
		out = append(out, "known: "+plain.Line(strings.Join(f.Known, ", ")))
	}
	if f.SameValue {
		out = append(out, "every write that was seen stores what is there already")
	}
	if f.Unless != "" {
		out = append(out, "not seen with "+plain.Line(f.Unless))
	}
	if f.astray {
		out = append(out, "seen only where what was chosen led to wrong addresses")
	}
	return append(out, fmt.Sprintf("seen %s, first with %s", plain.Count(f.Count, "time"), f.Run))
}

// Detail tells a finding from others of its rule: the memory, the operations, and what is wrong.
func (f *Finding) Detail() string {
	parts := []string{f.Where, f.First.Text}
	if f.Second != nil {
		parts = append(parts, f.Second.Text)
	}
	return plain.Line(strings.Join(slices.DeleteFunc(append(parts, f.Why), func(s string) bool { return s == "" }), "; "))
}

// Says is a finding in a sentence or two.
func (f *Finding) Says() string {
	parts := []string{string(f.Rule)}
	for _, s := range []string{f.Where, f.Why} {
		if s != "" {
			parts = append(parts, s)
		}
	}
	out := plain.Line(strings.Join(parts, ": "))
	if len(f.Mend) > 0 {
		out += "; would be mended by " + plain.Line(strings.Join(f.Mend, " together with "))
	}
	return out
}

func (s *Side) text(b *strings.Builder) {
	place := Line{s.Line, s.File, s.Source, s.Col}.String()
	if place != "" {
		place += ": "
	}
	by := ""
	if s.Async {
		by = ", by " + article(s.Does)
	}
	fmt.Fprintf(b, "    %s%s%s\n", plain.Line(place), s.Thread, by)
	if s.Written != "" {
		fmt.Fprintf(b, "      | %s\n", plain.Line(s.Written))
	}
	fmt.Fprintf(b, "      %s\n", plain.Line(s.Text))
}

// article is a name with its indefinite article.
func article(name string) string {
	if name != "" && strings.ContainsRune("aeiou", rune(name[0])) {
		return "an " + name
	}
	return "a " + name
}

// Text is a line for people.
func (n *Need) Text() string {
	says := "not noticed"
	switch {
	case len(n.Noticed) > 0:
		says = fmt.Sprintf("noticed: %v", n.Noticed)
	case len(n.Unknown) > 0:
		says = "not noticed, " + plain.Line(n.Unknown[0])
	case len(n.Loses) > 0:
		says = fmt.Sprintf("no race, but the strong accesses of lines %d and %d are ordered no more", n.Loses[0].Line, n.Loses[1].Line)
	case n.Ordered:
		says = "not noticed: all that conflicts with it is ordered with it in each run"
	case n.With != nil:
		says = fmt.Sprintf("not noticed: line %d does the same", n.With.Line)
	case n.Every:
		says = "not noticed, nor is it needed in any schedule of these values"
	}
	return fmt.Sprintf("  line %d, %s, %s: %s\n", n.Line, plain.Line(n.Side.Text), n.Change, says)
}
