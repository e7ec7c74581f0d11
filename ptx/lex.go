package ptx

import (
	"bytes"
	"sort"
)

// lexer walks over the text. Comments are blanks to it.
type lexer struct {
	file  string
	src   []byte // comments blanked
	at    int
	lines []int // where lines begin
	// before is how many lines of the file stand in front of the text.
	before int
}

func newLexer(file string, src []byte, before int) (*lexer, error) {
	l := &lexer{file: file, src: bytes.Clone(src), lines: []int{0}, before: before}
	for i, c := range src {
		if c == '\n' {
			l.lines = append(l.lines, i+1)
		}
	}
	if i := bytes.IndexByte(src, 0); i >= 0 {
		return nil, l.errorf(i, "a zero byte: this is no text")
	}
	return l, l.blankComments()
}

// blankComments replaces comments, not those in strings, by blanks.
func (l *lexer) blankComments() error {
	s := l.src
	for i := 0; i < len(s); i++ {
		switch {
		case s[i] == '"':
			end := bytes.IndexByte(s[i+1:], '"')
			if end < 0 {
				return l.errorf(i, "a string that does not end")
			}
			i += 1 + end
		case s[i] == '/' && i+1 < len(s) && s[i+1] == '/':
			for ; i < len(s) && s[i] != '\n'; i++ {
				s[i] = ' '
			}
		case s[i] == '/' && i+1 < len(s) && s[i+1] == '*':
			end := bytes.Index(s[i+2:], []byte("*/"))
			if end < 0 {
				return l.errorf(i, "a comment that does not end")
			}
			for to := i + 2 + end + 2; i < to; i++ {
				if s[i] != '\n' {
					s[i] = ' '
				}
			}
			i--
		}
	}
	return nil
}

func (l *lexer) pos(at int) Pos {
	n := sort.SearchInts(l.lines, at+1)
	return Pos{l.before + n, at - l.lines[n-1] + 1}
}

func (l *lexer) errorf(at int, format string, args ...any) error {
	return errorAt(l.file, l.pos(at), format, args...)
}

func (l *lexer) space() {
	for l.at < len(l.src) && isSpace(l.src[l.at]) {
		l.at++
	}
}

func isSpace(c byte) bool {
	return c == ' ' || c == '\t' || c == '\n' || c == '\r' || c == '\f' || c == '\v'
}

func isWord(c byte) bool {
	return c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c >= '0' && c <= '9' || c == '_' || c == '$' || c == '%' || c >= 0x80
}

// word reads a name; "" if there is none.
func (l *lexer) word() string {
	from := l.at
	for l.at < len(l.src) && isWord(l.src[l.at]) {
		l.at++
	}
	return string(l.src[from:l.at])
}

// peek is the next byte behind blanks, 0 at the end.
func (l *lexer) peek() byte {
	l.space()
	if l.at < len(l.src) {
		return l.src[l.at]
	}
	return 0
}

// line skips the rest of a line.
func (l *lexer) line() {
	for l.at < len(l.src) && l.src[l.at] != '\n' {
		l.at++
	}
}

// until reads up to one of the bytes outside of strings and brackets, and returns
// what stands before it. Which one it is, l.src[l.at] says.
func (l *lexer) until(stops string) (string, error) {
	from, depth := l.at, 0
	for ; l.at < len(l.src); l.at++ {
		switch c := l.src[l.at]; {
		case depth == 0 && bytes.IndexByte([]byte(stops), c) >= 0:
			return string(l.src[from:l.at]), nil
		case c == '"':
			for l.at++; l.at < len(l.src) && l.src[l.at] != '"'; l.at++ {
			}
		case c == '(' || c == '[' || c == '{':
			depth++
		case c == ')' || c == ']' || c == '}':
			depth--
			if depth < 0 {
				return "", l.errorf(l.at, "%q without its opening", c)
			}
		}
	}
	return "", l.errorf(from, "the file ends in the middle of this: %.40q; is it cut off?", bytes.TrimSpace(l.src[from:]))
}
