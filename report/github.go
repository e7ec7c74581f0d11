package report

import (
	"bufio"
	"fmt"
	"io"
	"strings"

	"optcheck/event"
	"optcheck/internal/plain"
)

// maxAnnotations is the number of annotations of a step that GitHub shows.
const maxAnnotations = 10

// WriteAnnotations writes the findings of a run as workflow commands of GitHub
// Actions, worst first and new ones before known ones, ten at most: they become
// annotations of the tests' files. What is left out is counted in a last line. A
// run with cells missing is an error itself.
func WriteAnnotations(w io.Writer, r *event.Run) error {
	b := bufio.NewWriter(w)
	left := maxAnnotations
	if why := r.Incomplete(); why != "" {
		annotate(b, "error", sourcePlace{}, "optcheck: not all was done", why)
		left--
	}
	from := newSources(r)
	more := 0
	for _, a := range alertsOf(r) {
		if left == 0 {
			more++
			continue
		}
		left--
		p := from.place(a)
		annotate(b, []string{"notice", "notice", "warning", "error"}[weight(a.class)], p, "optcheck: "+a.title()+": "+plain.Label(a.Rule), a.text())
	}
	if more > 0 {
		fmt.Fprintf(b, "optcheck: %s %s no annotation\n", plain.Count(more, "further finding"), plain.Form(more, "has", "have"))
	}
	return b.Flush()
}

// annotate writes one workflow command, with a place if the user has the file.
func annotate(b *bufio.Writer, level string, at sourcePlace, title, message string) {
	fmt.Fprintf(b, "::%s ", level)
	if at.own {
		fmt.Fprintf(b, "file=%s,line=%d,col=%d,", commandProperty(at.file), at.line, at.column)
	}
	lines := strings.Split(plain.Clip(message, maxMessage), "\n")
	for i := range lines {
		lines[i] = plain.Line(lines[i])
	}
	fmt.Fprintf(b, "title=%s::%s\n", commandProperty(title), commandData(strings.Join(lines, "\n")))
}

var (
	escapeData     = strings.NewReplacer("%", "%25", "\r", "%0D", "\n", "%0A")
	escapeProperty = strings.NewReplacer("%", "%25", "\r", "%0D", "\n", "%0A", ":", "%3A", ",", "%2C")
)

// commandData escapes the message of a workflow command.
func commandData(s string) string { return escapeData.Replace(s) }

// commandProperty escapes the value of a property of a workflow command.
func commandProperty(s string) string { return escapeProperty.Replace(s) }
