package event

import (
	"cmp"
	"fmt"
	"path/filepath"
	"strings"

	"optcheck/internal/plain"
)

// Title is what a finding is in: a test by its name, a kernel by its own, with the file that its author wrote.
func (t *Test) Title() string {
	if t.Dialect != Program {
		return plain.Label(t.Name)
	}
	return t.Kernel() + " in " + plain.Label(cmp.Or(t.Origin, t.File))
}

// Kernel is the name of a program's kernel, as its author wrote it.
func (t *Test) Kernel() string {
	kernel := t.Name[strings.LastIndexByte(t.Name, ':')+1:]
	return plain.Clip(plain.Line(plain.Demangled(kernel)), plain.MaxName)
}

// FileTitle is the file of a program: that of its author, and which front end made PTX of it if one did.
func (t *Test) FileTitle() string {
	_, by, made := strings.Cut(t.File, "@")
	if t.Origin == "" || !made {
		return plain.Label(t.File)
	}
	return plain.Label(t.Origin) + " (PTX by " + plain.Label(strings.TrimSuffix(by, ".ptx")) + ")"
}

// Told is a finding as reports tell it: where its author finds it, and what stands there.
type Told struct {
	Place string // FILE:LINE:COLUMN of what the author wrote, "" if no file has it
	Line  string // what stands in that line of CUDA C++, "" if it is not at hand
	Text  string // what is found
}

// Tell finds the place of a finding.
func (t *Test) Tell(f *Finding) (x Told) {
	x.Text = f.Text()
	at := func(list [][]int) int {
		if f.Thread < 0 || f.Thread >= len(list) || f.Access < 0 || f.Access >= len(list[f.Thread]) {
			return 0
		}
		return list[f.Thread][f.Access]
	}
	line, column := at(t.Lines), at(t.Columns)
	if t.Dialect == Program {
		x.Text = strings.TrimPrefix(f.Full()+arose(f.Stage), fmt.Sprintf("%d:%d ", line, column))
	}
	if line == 0 || t.File == "" {
		return x
	}
	x.Place = fmt.Sprintf("%s:%d:%d", plain.Label(t.File), line, column)
	if made, text := t.madeOf(line); made != "" {
		x.Place, x.Line = plain.Line(made), plain.Line(text)
	}
	return x
}

// madeOf is the place that a line of PTX was made of, by the excerpt that the text of a program is.
func (t *Test) madeOf(line int) (place, text string) {
	if t.Origin == "" {
		return "", ""
	}
	begin := fmt.Sprintf("%d: ", line)
	for s := range strings.Lines(t.Text) {
		s = strings.TrimSuffix(s, "\n")
		if made, ok := strings.CutPrefix(s, "// "); ok {
			place, text, _ = strings.Cut(made, ": ")
		} else if strings.HasPrefix(s, begin) {
			break
		}
	}
	if file, n, ok := strings.Cut(place, ":"); ok && file == filepath.Base(t.Origin) {
		place = t.Origin + ":" + n
	}
	return place, text
}

// LineOf is the line of a program's file at which a finding stands, that of CUDA C++ if PTX was made of it; 0 if none is known.
func (t *Test) LineOf(f *Finding) int {
	lines := t.OriginLines
	if t.Origin == "" && len(t.Lines) > 0 {
		lines = t.Lines[0]
	}
	if f.Access < 0 || f.Access >= len(lines) {
		return 0
	}
	return lines[f.Access]
}
