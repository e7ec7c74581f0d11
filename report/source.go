package report

import (
	"crypto/sha256"
	"encoding/hex"
	"net/url"
	"path"
	"path/filepath"
	"strings"

	"optcheck/event"
	"optcheck/internal/plain"
	"optcheck/litmus"
	"optcheck/spec"
)

// sourcePlace is where the source of an alert stands.
type sourcePlace struct {
	// file is a path with slashes: the test's file as it was given, or the name
	// that a test without a file gets in reports.
	file   string
	own    bool   // the file exists in the user's folders
	line   int    // of the access or fence; 1 if it is not known
	column int    // likewise
	text   string // of the access or fence, "" if it is not known
}

// textPlaces are lines and columns as in Test.
type textPlaces struct{ lines, columns [][]int }

// sources finds the source of alerts.
type sources struct {
	run   *event.Run
	tests map[[2]string]*event.Test
	texts map[*event.Test]textPlaces // of tests without a file
}

func newSources(r *event.Run) *sources {
	s := &sources{run: r, tests: map[[2]string]*event.Test{}, texts: map[*event.Test]textPlaces{}}
	for i := range r.Tests {
		t := &r.Tests[i]
		if k := [2]string{t.Name, t.Hash}; s.tests[k] == nil {
			s.tests[k] = t
		}
	}
	return s
}

// test returns the test of an alert, nil in streams without tests.
func (s *sources) test(a *alert) *event.Test { return s.tests[[2]string{a.test, a.hash}] }

func (s *sources) place(a *alert) sourcePlace {
	p := sourcePlace{line: 1, column: 1}
	t := s.test(a)
	switch {
	case t != nil && t.File != "":
		p.file, p.own = filepath.ToSlash(filepath.Clean(t.File)), true
	case t != nil && t.Preset != "":
		p.file = fileName(t.Preset) + "/" + fileName(a.test) + ".litmus"
	default:
		p.file = fileName(a.test) + ".litmus"
	}
	if t != nil {
		p.line, p.column = s.position(t, a.Thread, a.Access)
	}
	if t != nil && t.Origin != "" { // what its author wrote; the PTX may be gone
		p.file, p.own, p.line, p.column = filepath.ToSlash(filepath.Clean(t.Origin)), true, 1, 1
		if a.Access >= 0 && a.Access < len(t.OriginLines) {
			p.line = max(1, t.OriginLines[a.Access])
		}
		p.text = t.Tell(&a.Finding).Line
		return p
	}
	p.text = s.snippet(a)
	return p
}

// position returns the place of an access or fence in the test's file, or in its
// text if it has no file; line 1 if that is not known.
func (s *sources) position(t *event.Test, thread, access int) (line, column int) {
	at := textPlaces{t.Lines, t.Columns}
	if t.File == "" {
		known := false
		if at, known = s.texts[t]; !known {
			if parsed, err := litmus.Parse(t.Name, []byte(t.Text)); err == nil { // the text may be missing
				at.lines, at.columns = spec.Lines(parsed)
			}
			s.texts[t] = at
		}
	}
	of := func(list [][]int) int {
		if thread < 0 || thread >= len(list) || access < 0 || access >= len(list[thread]) {
			return 1
		}
		return max(1, list[thread][access])
	}
	return of(at.lines), of(at.columns)
}

// found is the test of an alert and the first of its cells, with the alert's finding as its only
// one; ok is false if it has none.
func (s *sources) found(a *alert) (t *event.Test, c event.Cell, ok bool) {
	if len(a.cells) == 0 || len(a.reasons) > 0 {
		return nil, c, false
	}
	c = *a.cells[0]
	if t = s.test(a); t == nil {
		t = &event.Test{Name: a.test}
	}
	c.Findings = c.Findings[:1] // the alert's own: what has none has a reason
	return t, c, true
}

// snippet returns the text of an alert's access in a listing.
func (s *sources) snippet(a *alert) string {
	for _, c := range a.cells {
		l := s.run.Listings[c.Code]
		if l == nil {
			continue
		}
		for _, t := range l.Threads {
			for _, line := range t.Source {
				if t.Thread == a.Thread && line.Pos == a.Access {
					return line.Text
				}
			}
		}
		return ""
	}
	return ""
}

// fileName turns a name into one path element without any meaning of its own.
// Different names stay different.
func fileName(name string) string {
	s := strings.Map(func(r rune) rune {
		if r == '/' || r == '\\' {
			return '_'
		}
		return r
	}, plain.Label(name))
	if strings.Trim(s, ".") == "" {
		s = "_" + s
	}
	if s != name {
		sum := sha256.Sum256([]byte(name))
		s += "-" + hex.EncodeToString(sum[:8])
	}
	return s
}

// uri writes a path as a URI reference. A relative path stays one.
func uri(file string) string {
	u := url.URL{Path: file}
	switch {
	case path.IsAbs(file):
		u.Scheme = "file"
	case len(file) > 2 && file[1] == ':' && file[2] == '/': // a drive of Windows
		u.Scheme, u.Path = "file", "/"+file
	}
	return u.String()
}
