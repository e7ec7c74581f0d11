package report

import (
	"cmp"
	"fmt"
	"io"
	"slices"
	"strings"

	"optcheck/event"
	"optcheck/internal/plain"
)

// maxSummary is what GitHub takes as the summary of a step.
const maxSummary = 1 << 20

// SummaryLimit returns the most that may be added to the summary of a GitHub step
// that has used bytes already.
func SummaryLimit(used int64) int { return int(max(0, maxSummary-used)) }

// minMarkdown is the room that a report needs at least: its head.
const minMarkdown = 4 << 10

// WriteMarkdown renders a run as Markdown: counts per toolchain and level, then
// the findings, worst first. With a limit above 0 it writes at most that many
// bytes and says how many findings are left out.
func WriteMarkdown(w io.Writer, r *event.Run, limit int) error {
	if limit > 0 && limit < minMarkdown {
		return fmt.Errorf("no room for a summary: %d bytes are left, %d needed", limit, minMarkdown)
	}
	m := &markdown{r: r, from: newSources(r), shown: map[string]bool{}, limit: limit}
	list := alertsOf(r)
	m.head(list)
	m.devices()
	class := ""
	for i, a := range list {
		if !m.alert(a, class) {
			fmt.Fprintf(&m.b, "\n%d of %s %s left out here, the worst are shown.\n", len(list)-i, plain.Count(len(list), "finding"),
				plain.Form(len(list)-i, "is", "are"))
			break
		}
		class = a.class
	}
	m.problems()
	if c := m.r.Config.Claims; c != "" {
		var lines []string
		for line := range strings.SplitSeq(c, "\n") {
			lines = append(lines, mdText(line))
		}
		m.add("\n" + strings.Join(lines, "\n") + "\n")
	}
	_, err := io.WriteString(w, m.b.String())
	return err
}

type markdown struct {
	r     *event.Run
	from  *sources
	b     strings.Builder
	shown map[string]bool // listings
	limit int
}

// reserve is kept free for what must stand after the findings.
const reserve = 1 << 10

// add writes a piece if there is room for it.
func (m *markdown) add(piece string) bool {
	if m.limit > 0 && m.b.Len()+len(piece) > m.limit-reserve {
		return false
	}
	m.b.WriteString(piece)
	return true
}

// head says how the run went, in a sentence and a table.
func (m *markdown) head(list []*alert) {
	fmt.Fprintf(&m.b, "# optcheck: %s\n", m.outcome(list))
	if why := cmp.Or(m.r.Broken(), m.r.Incomplete()); why != "" {
		fmt.Fprintf(&m.b, "\n**Not all was done:** %s.\n", mdText(why))
	}
	if m.r.Len() == 0 {
		return
	}
	classes := []string{event.Preserved, event.Optimised, event.Miscompiled, event.Changed, event.Unknown, event.Unsupported}
	for _, c := range []string{event.Invalid, event.Crashed} {
		if m.r.Classes()[c] > 0 {
			classes = slices.Insert(classes, 4, c)
		}
	}
	m.b.WriteString("\n| toolchain | level | " + strings.Join(classes, " | ") + " |\n|---|---|" + strings.Repeat("---:|", len(classes)) + "\n")
	by := map[[2]string]map[string]int{}
	var order [][2]string
	for _, c := range m.r.All() {
		k := [2]string{c.Toolchain, c.Level}
		if by[k] == nil {
			by[k] = map[string]int{}
			order = append(order, k)
		}
		by[k][c.Class]++
	}
	left := len(order)
	for _, k := range order {
		var b strings.Builder
		fmt.Fprintf(&b, "| %s | %s |", mdText(plain.Label(k[0])), mdText(plain.Label(k[1])))
		for _, c := range classes {
			fmt.Fprintf(&b, " %d |", by[k][c])
		}
		if !m.add(b.String() + "\n") {
			break
		}
		left--
	}
	if left > 0 {
		m.leftOut(left, "further line", " of this table")
	}
	if lines := limitsOf(m.r); len(lines) > 0 {
		for i, line := range lines {
			lines[i] = "- " + mdText(line)
		}
		m.add("\n" + strings.Join(lines, "\n") + "\n")
	}
}

// outcome sums a run up in a few words.
func (m *markdown) outcome(list []*alert) string {
	var n [4]int
	known, free := 0, 0
	for _, a := range list {
		n[weight(a.class)]++
		if v := a.verdict(); v != nil && v.Race == event.RaceFree {
			free++
		}
		if len(a.known()) > 0 {
			known++
		}
	}
	var parts []string
	for s, what := range []string{3: "error", 2: "warning", 1: "note"} {
		if n[s] > 0 {
			parts = append([]string{plain.Count(n[s], what)}, parts...)
		}
	}
	if known > 0 {
		parts[len(parts)-1] += fmt.Sprintf(" (%d of them known)", known)
	}
	if free > 0 {
		parts = append(parts, fmt.Sprintf("%d of all in race-free tests", free))
	}
	done := plain.Count(m.r.Config.Tests, "test") + " in " + plain.Count(m.r.Len(), "cell")
	if m.r.Len() == 0 {
		done = plain.Count(len(m.r.Histograms), "run") + " on a device"
	}
	if len(parts) == 0 {
		return done + ", nothing found"
	}
	return done + ", " + strings.Join(parts, ", ")
}

// titles head the findings of a class.
var titles = map[string]string{event.Miscompiled: "Miscompiled: an outcome is possible that the test forbids",
	event.Changed:   "Changed: the machine code is not the test",
	event.Crashed:   "Crashed: the compiler breaks down, or does not end",
	event.Optimised: "Optimised: legal, but not the test", event.Unknown: "Undecided", event.Invalid: "Invalid: no compiler takes the file"}

// alert writes one finding, under a heading if the class before was another.
func (m *markdown) alert(a *alert, before string) bool {
	var b strings.Builder
	if a.class != before {
		title := titles[a.class]
		if title == "" {
			title = mdText(plain.Label(a.class))
		}
		fmt.Fprintf(&b, "\n## %s\n", title)
	}
	place := m.from.place(a)
	fmt.Fprintf(&b, "\n### %s: %s\n\n", mdCode(a.title()), mdText(plain.Label(a.Rule)))
	for i, line := range strings.Split(plain.Clip(a.text(), maxMessage), "\n") {
		if i > 0 {
			b.WriteString("  \n")
		}
		b.WriteString(mdText(line))
	}
	b.WriteString("\n")
	if lines := a.flights(); len(lines) > 0 {
		b.WriteString("\n" + mdBlock("text", plain.Clip(strings.Join(lines, "\n"), maxMessage)))
	}
	if place.own {
		fmt.Fprintf(&b, "\nAt %s.\n", mdCode(fmt.Sprintf("%s:%d", place.file, place.line)))
	}
	if t, c, ok := m.from.found(a); ok {
		var lines []string
		for _, x := range Commands(&m.r.Config, t, &c) {
			lines = append(lines, "# "+x.What, x.Line)
		}
		if len(lines) > 0 {
			b.WriteString("\n" + mdBlock("sh", strings.Join(lines, "\n")))
		}
	}
	code := ""
	for _, c := range a.cells {
		if l := m.r.Listings[c.Code]; l != nil && len(a.reasons) == 0 {
			if code = c.Code; !m.shown[code] {
				fmt.Fprintf(&b, "\nIn %s:\n\n%s", mdText(Places([]*event.Cell{c})[0].String()), m.listing(l, c.Findings))
			}
			break
		}
	}
	if !m.add(b.String()) {
		return false
	}
	m.shown[code] = true
	return true
}

// maxListing bounds a listing in bytes.
const maxListing = 16 << 10

func (m *markdown) listing(l *event.Listing, findings []event.Finding) string {
	var b strings.Builder
	if err := WriteListing(&b, l, findings); err != nil {
		return ""
	}
	return mdBlock("text", plain.Clip(b.String(), maxListing))
}

// devices writes a table of what devices did.
func (m *markdown) devices() {
	if len(m.r.Histograms) == 0 {
		return
	}
	m.b.WriteString("\n| test | device | setting | instances | weak | status |\n|---|---|---|---:|---:|---|\n")
	for i := range m.r.Histograms {
		h := &m.r.Histograms[i]
		status := h.Status
		if !h.Validated && h.Instances > 0 {
			status += ", not validated"
		}
		if !m.add(fmt.Sprintf("| %s | %s | %s | %d | %d | %s |\n", mdCode(plain.Label(h.Test)), mdText(plain.Label(h.Device.Name)), mdText(plain.Label(h.Setting)),
			h.Instances, h.Weak, mdText(plain.Label(status)))) {
			m.leftOut(len(m.r.Histograms)-i, "further run", "")
			break
		}
	}
}

// leftOut says how many of what there is no room for.
func (m *markdown) leftOut(n int, what, of string) {
	fmt.Fprintf(&m.b, "\n%s%s %s left out.\n", plain.Count(n, what), of, plain.Form(n, "is", "are"))
}

func (m *markdown) problems() {
	for i, p := range m.r.Problems {
		line := "- " + mdText(plain.Clip(p.String(), plain.MaxName*2)) + "\n"
		if i == 0 {
			line = "\n## Problems of the run\n\n" + line
		}
		if !m.add(line) {
			m.leftOut(len(m.r.Problems)-i, "further problem", "")
			return
		}
	}
}

// mdText writes a text such that Markdown shows it as it is, in one line. It is
// for text that does not begin a line.
func mdText(s string) string {
	var b strings.Builder
	for _, r := range plain.Line(s) {
		switch {
		case r == '<':
			b.WriteString("&lt;")
		case r == '>':
			b.WriteString("&gt;")
		case r == '&':
			b.WriteString("&amp;")
		case r == '$':
			b.WriteString("&#36;") // GitHub's formulas know no backslash
		case strings.ContainsRune("\\`*_[]|~#@", r):
			b.WriteByte('\\')
			b.WriteRune(r)
		default:
			b.WriteRune(r)
		}
	}
	return autolink.Replace(b.String())
}

// autolink keeps what looks like an address from becoming a link.
var autolink = strings.NewReplacer("://", "\\://", "www.", "www\\.", "WWW.", "WWW\\.")

// mdCode writes a text as inline code. A tag may stand in tables, where
// backquotes and bars would not go together.
func mdCode(s string) string { return "<code>" + mdText(s) + "</code>" }

// mdBlock writes lines as a block of code that they cannot end.
func mdBlock(language, s string) string {
	longest, run := 2, 0
	for _, r := range s {
		if run++; r != '`' {
			run = 0
		}
		longest = max(longest, run)
	}
	fence := strings.Repeat("`", longest+1)
	var b strings.Builder
	b.WriteString(fence + language + "\n")
	for _, line := range strings.Split(strings.TrimSuffix(s, "\n"), "\n") {
		b.WriteString(plain.Line(line) + "\n")
	}
	b.WriteString(fence + "\n")
	return b.String()
}
