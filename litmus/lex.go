package litmus

import (
	"fmt"
	"strconv"
	"strings"
	"unicode/utf8"
)

// Kinds of token that are not a single punctuation character; those are their
// own kind.
const (
	tEOF  byte = 0
	tWord byte = 'w' // name, mnemonic with its modifiers, .reg
	tNum  byte = 'n'
	tAnd  byte = 'A' // /\
	tOr   byte = 'O' // \/
	tEq   byte = 'E' // ==
	tNe   byte = 'N' // != or <>
	tLe   byte = 'L'
	tGe   byte = 'G'
	tBad  byte = '?' // a character that starts no token
)

// token is one token; text is a part of the source.
type token struct {
	kind byte
	text string
	line int
	col  int
}

// lexer splits the source into tokens. It holds one token of lookahead, tok; copying the struct
// saves the state.
type lexer struct {
	src   string
	off   int
	line  int
	start int // offset of the current line's first byte
	tok   token
}

const (
	chSpace = 1 << iota
	chWord
	chDigit
)

var chars = func() (t [256]byte) {
	for c := range 256 {
		switch b := byte(c); {
		case b == ' ' || b == '\t' || b == '\r' || b == '\n':
			t[c] = chSpace
		case b >= '0' && b <= '9':
			t[c] = chWord | chDigit
		case b >= 'a' && b <= 'z' || b >= 'A' && b <= 'Z' || b == '_' || b == '$' || b == '%' || b == '.':
			t[c] = chWord
		}
	}
	return t
}()

// skip skips white space and comments, including lines that begin with % and no name. It
// reports whether a comment is open at the end of the text, with the place where it began.
func (l *lexer) skip() (open bool, line, col int) {
	for l.off < len(l.src) {
		switch c := l.src[l.off]; {
		case c == '\n':
			l.off++
			l.line++
			l.start = l.off
		case chars[c]&chSpace != 0:
			l.off++
		case c == '/' && strings.HasPrefix(l.src[l.off:], "//"), c == '%' && l.banner():
			if i := strings.IndexByte(l.src[l.off:], '\n'); i >= 0 {
				l.off += i
			} else {
				l.off = len(l.src)
			}
		case c == '(' && strings.HasPrefix(l.src[l.off:], "(*"):
			line, col = l.line, l.off-l.start+1
			if !l.comment("(*", "*)") {
				return true, line, col
			}
		case c == '/' && strings.HasPrefix(l.src[l.off:], "/*"):
			line, col = l.line, l.off-l.start+1
			if !l.comment("", "*/") {
				return true, line, col
			}
		default:
			return false, 0, 0
		}
	}
	return false, 0, 0
}

// banner reports whether the % at the current place is the first character of its
// line and begins no register's name.
func (l *lexer) banner() bool {
	next := byte('%')
	if l.off+1 < len(l.src) {
		next = l.src[l.off+1]
	}
	return (next == '%' || chars[next]&chSpace != 0) && strings.TrimLeft(l.src[l.start:l.off], " \t\r") == ""
}

// comment skips a comment that ends with end; it nests if begin is not empty.
func (l *lexer) comment(begin, end string) bool {
	depth := 0
	for l.off < len(l.src) {
		rest := l.src[l.off:]
		switch {
		case depth > 0 && strings.HasPrefix(rest, end):
			l.off += 2
			if depth--; depth == 0 {
				return true
			}
		case depth == 0 || begin != "" && strings.HasPrefix(rest, begin):
			depth++
			l.off += 2
		default:
			if rest[0] == '\n' {
				l.line++
				l.start = l.off + 1
			}
			l.off++
		}
	}
	return false
}

// scan reads the next token into l.tok. The caller has skipped white space.
func (l *lexer) scan() {
	l.tok.line, l.tok.col = l.line, l.off-l.start+1
	if l.off >= len(l.src) {
		l.tok.kind, l.tok.text = tEOF, ""
		return
	}
	begin, c := l.off, l.src[l.off]
	switch {
	case chars[c]&chDigit != 0:
		for l.off < len(l.src) && chars[l.src[l.off]]&chWord != 0 && l.src[l.off] != '.' {
			l.off++
		}
		l.tok.kind = tNum
	case chars[c]&chWord != 0:
		l.word()
		l.tok.kind = tWord
	default:
		l.tok.kind = l.punctuation(c)
	}
	l.tok.text = l.src[begin:l.off]
}

// word reads a word; "::" belongs to it (.shared::cta).
func (l *lexer) word() {
	for l.off < len(l.src) {
		if chars[l.src[l.off]]&chWord != 0 {
			l.off++
		} else if strings.HasPrefix(l.src[l.off:], "::") {
			l.off += 2
		} else {
			return
		}
	}
}

func (l *lexer) punctuation(c byte) byte {
	var d byte
	if l.off+1 < len(l.src) {
		d = l.src[l.off+1]
	}
	l.off += 2
	switch {
	case c == '/' && d == '\\':
		return tAnd
	case c == '\\' && d == '/':
		return tOr
	case c == '=' && d == '=':
		return tEq
	case c == '!' && d == '=', c == '<' && d == '>':
		return tNe
	case c == '<' && d == '=':
		return tLe
	case c == '>' && d == '=':
		return tGe
	}
	l.off--
	if strings.IndexByte("(){}[]|;:,=<>~!@+-&*", c) >= 0 {
		return c
	}
	_, n := utf8.DecodeRuneInString(l.src[l.off-1:])
	l.off += n - 1
	return tBad
}

// peek returns the first character after the current token that is not white
// space, or 0. A comment in between hides it.
func (l *lexer) peek() byte {
	for i := l.off; i < len(l.src); i++ {
		if c := l.src[i]; chars[c]&chSpace == 0 {
			return c
		}
	}
	return 0
}

// number returns the value of a decimal or hexadecimal literal. Hexadecimal
// literals are bit patterns of up to 64 bits.
func number(text string, neg bool) (int64, error) {
	s := strings.TrimRight(text, "uU")
	if len(s) > 2 && s[0] == '0' && (s[1] == 'x' || s[1] == 'X') {
		u, err := strconv.ParseUint(s[2:], 16, 64)
		if err != nil {
			return 0, fmt.Errorf("malformed or too large number %s", text)
		}
		if neg {
			return -int64(u), nil
		}
		return int64(u), nil
	}
	if len(s) > 1 && s[0] == '0' {
		return 0, fmt.Errorf("number %s begins with 0: write it in decimal or with 0x", text)
	}
	if neg {
		s = "-" + s
	}
	v, err := strconv.ParseInt(s, 10, 64)
	if err != nil {
		return 0, fmt.Errorf("malformed or too large number %s", text)
	}
	return v, nil
}
