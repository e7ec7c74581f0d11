package report

import (
	"bytes"
	"io"
	"strings"
)

// Colours of terminals, by the class that begins a line of the text.
var colours = []struct{ begin, code string }{{"MISCOMPILED: ", "1;31"}, {"CHANGED: ", "1;35"}, {"UNKNOWN: ", "1;33"}, {"OPTIMISED: ",
	"1;36"},
	{"NOT ALL WAS DONE: ", "1;31"}, {"NOT OF ONE KIND: ", "1;33"}, {"  known: ", "2"}, {"  new: ", "31"}}

// Coloured returns a writer that gives the lines of WriteText the colours of a terminal:
// the first one, and those that begin with a class. It looks at the text alone, in which
// no name can begin a line.
func Coloured(w io.Writer) io.WriteCloser { return &coloured{w: w, first: true} }

type coloured struct {
	w     io.Writer
	line  []byte
	first bool
}

// Write writes the lines that are whole.
func (c *coloured) Write(p []byte) (int, error) {
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
func (c *coloured) Close() error {
	_, err := io.WriteString(c.w, c.paint(string(c.line)))
	c.line = nil
	return err
}

func (c *coloured) paint(line string) string {
	if c.first && line != "" {
		c.first = false
		return "\x1b[1m" + line + "\x1b[0m"
	}
	for _, x := range colours {
		if strings.HasPrefix(line, x.begin) {
			return "\x1b[" + x.code + "m" + strings.TrimSuffix(x.begin, " ") + "\x1b[0m " + line[len(x.begin):]
		}
	}
	return line
}
