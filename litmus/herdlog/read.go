package herdlog

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"strconv"
	"strings"

	"optcheck/litmus"
)

// Test is one test's block of a log of herd or litmus, or of the tool of
// 2015.
type Test struct {
	Name   string
	Kind   string // Allowed, Forbidden, Required, or "" if the log says none
	States []State
	Hash   string
	// Source is the test's text if the log contains it, with the line where it starts.
	Source     string
	SourceLine int
	Line       int // of the line "Test NAME KIND"
}

// State is one final state of a log.
type State struct {
	Items []Item
	Count int64 // how often it was seen; -1 in a model's log
	Mark  bool  // the log says that it satisfies the condition
	Line  int
}

// Item is one "name=value" of a state; Term has the name resolved.
type Item struct {
	Term  litmus.Term
	Value int64
}

// Limits of the reader: logs come from outside.
const (
	maxLine   = 1 << 20
	maxStates = 1 << 20 // of one test
	maxItems  = 1 << 10 // of one state
	maxSource = 1 << 20
)

// Read reads a log and calls f for each test in order. It skips lines that it does not know. A
// state that cannot be read, an inconsistent number of states, or a block that ends early is an
// error with its line.
func Read(name string, r io.Reader, f func(*Test) error) error {
	l := &reader{name: name, in: bufio.NewReaderSize(r, 1<<16)}
	for {
		line, err := l.line()
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			return err
		}
		if err := l.take(line, f); err != nil {
			return err
		}
	}
	if l.left > 0 {
		return l.errorf("the log ends in the middle of test %s: %d states are missing", l.test.Name, l.left)
	}
	return l.flush(f)
}

type reader struct {
	name   string
	in     *bufio.Reader
	n      int
	test   *Test
	left   int // states to come
	source strings.Builder
	inSrc  bool
	srcAt  int
}

func (l *reader) errorf(format string, args ...any) error {
	return fmt.Errorf("%s:%d: %s", l.name, l.n, fmt.Sprintf(format, args...))
}

// line returns the next line without its line end.
func (l *reader) line() (string, error) {
	var b []byte
	for {
		part, err := l.in.ReadSlice('\n')
		b = append(b, part...)
		if len(b) > maxLine {
			l.n++
			return "", l.errorf("line is longer than %d bytes", maxLine)
		}
		if errors.Is(err, bufio.ErrBufferFull) {
			continue
		}
		if err != nil && (len(b) == 0 || !errors.Is(err, io.EOF)) {
			return "", err
		}
		l.n++
		return strings.TrimRight(string(b), "\r\n"), nil
	}
}

func (l *reader) flush(f func(*Test) error) error {
	t := l.test
	l.test = nil
	if t == nil {
		return nil
	}
	return f(t)
}

func (l *reader) take(line string, f func(*Test) error) error {
	if l.left > 0 {
		l.left--
		s, err := l.state(line)
		if err != nil {
			return err
		}
		l.test.States = append(l.test.States, s)
		return nil
	}
	words := strings.Fields(line)
	first := ""
	if len(words) > 0 {
		first = words[0]
	}
	switch {
	case first == "Test" && (len(words) == 2 || len(words) == 3 && isKind(words[2])):
		if err := l.flush(f); err != nil {
			return err
		}
		l.test = &Test{Name: words[1], Line: l.n}
		if len(words) == 3 {
			l.test.Kind = words[2]
		}
		l.test.Source, l.test.SourceLine = l.source.String(), l.srcAt
		l.source.Reset()
		l.inSrc = false
	case l.test != nil && l.test.States == nil && (first == "States" && len(words) == 2 || first == "Histogram"):
		return l.count(words)
	case l.test != nil && strings.HasPrefix(line, "Hash="):
		l.test.Hash = line[len("Hash="):]
	case (first == "GPU_PTX" || first == "PTX") && len(words) >= 2:
		l.inSrc, l.srcAt = true, l.n
		l.source.Reset()
		l.source.WriteString(line + "\n")
	case l.inSrc && endsSource(line):
		l.inSrc = false
	case l.inSrc:
		if l.source.Len() > maxSource {
			return l.errorf("the test's text is longer than %d bytes", maxSource)
		}
		l.source.WriteString(line + "\n")
	}
	return nil
}

func isKind(s string) bool { return s == "Allowed" || s == "Forbidden" || s == "Required" }

// endsSource reports whether a line is one that follows a test's text in logs.
func endsSource(line string) bool {
	for _, p := range []string{"Generated", "%%%", "Test ", "Histogram", "#START", "==", "optcheck", "Machine"} {
		if strings.HasPrefix(line, p) {
			return true
		}
	}
	return false
}

// count reads "States N" or "Histogram (N states)".
func (l *reader) count(words []string) error {
	if len(words) < 2 {
		return l.errorf("expected a number of states")
	}
	n, err := strconv.Atoi(strings.TrimPrefix(words[1], "("))
	if err != nil || n < 0 || n > maxStates {
		return l.errorf("number of states %q: expected 0 to %d", words[1], maxStates)
	}
	l.left = n
	l.test.States = []State{}
	return nil
}

// state reads "41018 :>1:r0=0; [x]=0;", with "*>" for a state that satisfies
// the condition, or the state alone.
func (l *reader) state(line string) (State, error) {
	s := State{Count: -1, Line: l.n}
	rest := strings.TrimSpace(line)
	if i := strings.Index(rest, ">"); i > 0 && (rest[i-1] == ':' || rest[i-1] == '*') {
		n, err := strconv.ParseInt(strings.TrimSpace(rest[:i-1]), 10, 64)
		if err != nil || n < 0 {
			return s, l.errorf("%q is no count of a state", rest[:i-1])
		}
		s.Count, s.Mark = n, rest[i-1] == '*'
		rest = rest[i+1:]
	}
	for _, part := range strings.Split(rest, ";") {
		if part = strings.TrimSpace(part); part == "" {
			continue
		}
		name, value, ok := strings.Cut(part, "=")
		if !ok || len(s.Items) >= maxItems {
			return s, l.errorf("%q is no part of a state; expected name=value", clip(part))
		}
		k, err := parseValue(strings.TrimSpace(value))
		if err != nil {
			return s, l.errorf("value of %s: %v", clip(name), err)
		}
		x, err := parseTerm(strings.TrimSpace(name))
		if err != nil {
			return s, l.errorf("%v", err)
		}
		s.Items = append(s.Items, Item{x, k})
	}
	return s, nil
}

func clip(s string) string {
	if len(s) > 60 {
		return s[:60] + "…"
	}
	return s
}

// parseValue reads a decimal or hexadecimal number.
func parseValue(s string) (int64, error) {
	k, err := strconv.ParseInt(s, 0, 64)
	if err != nil {
		if u, e := strconv.ParseUint(s, 0, 64); e == nil {
			return int64(u), nil
		}
		return 0, fmt.Errorf("%q is no number", clip(s))
	}
	return k, nil
}

// parseTerm reads 0:r1, P0:r1, x or [x].
func parseTerm(s string) (litmus.Term, error) {
	if thread, reg, ok := strings.Cut(s, ":"); ok {
		n, err := strconv.Atoi(strings.TrimLeft(thread, "PT"))
		if err != nil || n < 0 || reg == "" {
			return litmus.Term{}, fmt.Errorf("%q is no register; expected thread:register", clip(s))
		}
		return litmus.Term{Kind: litmus.TermReg, Thread: n, Name: reg}, nil
	}
	s = strings.TrimSuffix(strings.TrimPrefix(s, "["), "]")
	if s == "" {
		return litmus.Term{}, errors.New("a state has a value without a name")
	}
	return litmus.Term{Kind: litmus.TermLoc, Name: s}, nil
}
