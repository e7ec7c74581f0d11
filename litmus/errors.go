package litmus

import (
	"strconv"
	"strings"
)

// String formats the position as file:line:col, omitting unknown parts. An unknown position is
// "-".
func (p Pos) String() string {
	var b strings.Builder
	b.WriteString(p.File)
	if p.Line > 0 {
		if b.Len() > 0 {
			b.WriteByte(':')
		}
		b.WriteString(strconv.Itoa(p.Line))
		if p.Col > 0 {
			b.WriteByte(':')
			b.WriteString(strconv.Itoa(p.Col))
		}
	}
	if b.Len() == 0 {
		return "-"
	}
	return b.String()
}

// Error is one fault of a test at one place. It prints as
// file:line:col: message.
type Error struct {
	Pos Pos
	Msg string
}

func (e *Error) Error() string { return e.Pos.String() + ": " + e.Msg }

// ErrorList holds the faults found in one test, in the order of the text as
// far as it is known. It is never empty when returned as an error.
type ErrorList []*Error

// Error prints one fault per line.
func (l ErrorList) Error() string {
	s := make([]string, len(l))
	for i, e := range l {
		s[i] = e.Error()
	}
	return strings.Join(s, "\n")
}

// Unwrap gives errors.Is and errors.As access to the individual faults.
func (l ErrorList) Unwrap() []error {
	s := make([]error, len(l))
	for i, e := range l {
		s[i] = e
	}
	return s
}

// err returns nil, the only fault as *Error, or the list.
func (l ErrorList) err() error {
	switch len(l) {
	case 0:
		return nil
	case 1:
		return l[0]
	}
	return l
}
