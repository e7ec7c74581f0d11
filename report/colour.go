package report

import (
	"bytes"
	"io"
	"regexp"
	"strings"
	"unicode/utf8"
)

// Colours of terminals, by the class that begins a line of the text.
var colours = []struct{ begin, code string }{{"MISCOMPILED: ", "1;31"}, {"CHANGED: ", "1;35"}, {"UNKNOWN: ", "1;33"}, {"OPTIMISED: ",
	"1;36"},
	{"NOT ALL WAS DONE: ", "1;31"}, {"NOT OF ONE KIND: ", "1;33"}, {"  known: ", "2"}, {"  may happen: ", "31"}, {"  next: ", "32"}}

// Screen returns a writer for a text report. Lines that are wider than width go on in the next one,
// below what they begin with; a width of 0 is none. With colours it gives lines those of a terminal:
// the first one, and those that begin with a class. It looks at the text alone, in which no name can
// begin a line.
func Screen(w io.Writer, width int, colours bool) io.WriteCloser {
	return &screen{w: w, first: true, width: width, colours: colours}
}

type screen struct {
	w       io.Writer
	line    []byte
	first   bool
	width   int
	colours bool
}

// Write writes the lines that are whole.
func (c *screen) Write(p []byte) (int, error) {
	c.line = append(c.line, p...)
	for {
		i := bytes.IndexByte(c.line, '\n')
		if i < 0 {
			return len(p), nil
		}
		if _, err := io.WriteString(c.w, c.paint(string(c.line[:i]))+"\n"); err != nil {
			return 0, err
		}
		c.line = c.line[i+1:]
	}
}

// Close writes what is left.
func (c *screen) Close() error {
	_, err := io.WriteString(c.w, c.paint(string(c.line)))
	c.line = nil
	return err
}

func (c *screen) paint(line string) string {
	first, rest := c.folded(line)
	if !c.colours {
		return first + rest
	}
	if c.first && line != "" {
		c.first = false
		return "\x1b[1m" + first + rest + "\x1b[0m"
	}
	for _, x := range colours {
		if strings.HasPrefix(first, x.begin) {
			return "\x1b[" + x.code + "m" + strings.TrimSuffix(x.begin, " ") + "\x1b[0m " + first[len(x.begin):] + rest
		}
	}
	return first + rest
}

// hanging is how far a line that goes on is indented further than it began.
const hanging = 4

// A line with so many gaps between its cells is a row of a table. It stays whole, since its columns
// say what the cells mean.
const tableGaps = 4

var gap = regexp.MustCompile(`\S  +`)

// folded breaks a line at blanks such that no piece is wider than a terminal; what has no
// blank stays whole.
func (c *screen) folded(line string) (first, rest string) {
	indent := len(line) - len(strings.TrimLeft(line, " ")) + hanging
	if c.width < 3*hanging || indent > c.width/2 {
		return line, ""
	}
	if strings.Contains(line, " | ") {
		return c.below(line, indent)
	}
	if len(gap.FindAllStringIndex(strings.TrimSpace(line), tableGaps)) == tableGaps {
		return line, ""
	}
	var out []string
	for {
		runes := []rune(line)
		if len(runes) <= c.width {
			break
		}
		at := c.width
		for at > indent && runes[at] != ' ' {
			at--
		}
		if at <= indent {
			break
		}
		out = append(out, strings.TrimRight(string(runes[:at]), " "))
		line = strings.Repeat(" ", indent) + strings.TrimLeft(string(runes[at:]), " ")
	}
	return joined(append(out, line))
}

// below breaks a line of codes side by side: those that do not fit stand below the second, or further left.
func (c *screen) below(line string, indent int) (first, rest string) {
	codes := strings.Split(line, " | ")
	out, second := codes[:1:1], utf8.RuneCountInString(codes[0])+1
	for _, code := range codes[1:] {
		last := &out[len(out)-1]
		if wide := *last + " | " + code; utf8.RuneCountInString(strings.TrimRight(wide, " ")) <= c.width {
			*last = wide
			continue
		}
		*last = strings.TrimRight(*last, " ")
		at := second
		if at+len("| ")+utf8.RuneCountInString(strings.TrimRight(code, " ")) > c.width {
			at = indent
		}
		out = append(out, strings.Repeat(" ", at)+"| "+code)
	}
	return joined(out)
}

// joined is the first of some lines, and what follows it.
func joined(lines []string) (first, rest string) {
	for _, l := range lines[1:] {
		rest += "\n" + l
	}
	return lines[0], rest
}
