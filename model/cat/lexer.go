package cat

import "strings"

type tokKind uint8

const (
	tEOF tokKind = iota
	tVar
	tTag
	tString
	tKeyword
	tPunct
)

type token struct {
	kind tokKind
	text string // name without quote, string without quotes, keyword, symbol
	pos  Pos
}

// describe names a token in messages.
func (t token) describe() string {
	switch t.kind {
	case tEOF:
		return "end of file"
	case tTag:
		return "tag '" + t.text
	case tString:
		return "string \"" + t.text + "\""
	case tKeyword:
		return "keyword " + t.text
	case tVar:
		return "name " + t.text
	}
	return "\"" + t.text + "\""
}

var keywords = map[string]bool{
	"let": true, "rec": true, "and": true, "when": true, "in": true,
	"fun": true, "match": true, "with": true, "end": true, "begin": true,
	"try": true, "if": true, "then": true, "else": true, "not": true,
	"variant": true, "acyclic": true, "irreflexive": true, "empty": true,
	"subset": true, "as": true, "show": true, "unshow": true,
	"undefined_unless": true, "flag": true, "assert": true, "include": true,
	"procedure": true, "call": true, "enum": true, "forall": true, "do": true,
	"from": true, "debug": true, "catdep": true, "instructions": true,
	"default": true,
}

// Limits on the text of a model: models come from outside.
const (
	maxSource = 1 << 20 // bytes of one file
	maxDepth  = 500     // nesting of expressions and statements
)

type lexer struct {
	file string
	src  string
	off  int
	line int
	bol  int // offset of the line's first byte
}

// lex turns a file's text into tokens, the last one being tEOF.
func lex(file, src string) ([]token, error) {
	lx := &lexer{file: file, src: src, line: 1}
	if len(src) > maxSource {
		return nil, errorf(lx.pos(), "file is larger than %d bytes", maxSource)
	}
	var out []token
	for {
		t, err := lx.next()
		if err != nil {
			return nil, err
		}
		out = append(out, t)
		if t.kind == tEOF {
			return out, nil
		}
	}
}

func (lx *lexer) pos() Pos { return Pos{lx.file, lx.line, lx.off - lx.bol + 1} }

func (lx *lexer) newline() {
	lx.line++
	lx.bol = lx.off
}

// space skips blanks and comments.
func (lx *lexer) space() error {
	for lx.off < len(lx.src) {
		rest := lx.src[lx.off:]
		switch c := rest[0]; {
		case c == '\n':
			lx.off++
			lx.newline()
		case c == ' ' || c == '\t' || c == '\r':
			lx.off++
		case c == '#' || strings.HasPrefix(rest, "//"):
			n := strings.IndexByte(rest, '\n')
			if n < 0 {
				n = len(rest)
			}
			lx.off += n
		case strings.HasPrefix(rest, "(*"):
			if err := lx.comment(); err != nil {
				return err
			}
		default:
			return nil
		}
	}
	return nil
}

// comment skips a comment; comments nest.
func (lx *lexer) comment() error {
	start := lx.pos()
	depth := 0
	for lx.off < len(lx.src) {
		rest := lx.src[lx.off:]
		switch {
		case strings.HasPrefix(rest, "(*"):
			depth++
			lx.off += 2
		case strings.HasPrefix(rest, "*)"):
			depth--
			lx.off += 2
			if depth == 0 {
				return nil
			}
		default:
			lx.off++
			if rest[0] == '\n' {
				lx.newline()
			}
		}
	}
	return errorf(start, "comment is not closed")
}

func isAlpha(c byte) bool { return c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' }

// name returns the length of the name at the start of s, 0 if there is none.
// A minus sign is part of a name unless it begins an arrow.
func nameLen(s string) int {
	i := 0
	if strings.HasPrefix(s, "_") {
		i = 1
	}
	if i >= len(s) || !isAlpha(s[i]) {
		return 0
	}
	for i < len(s) {
		c := s[i]
		if c == '-' && strings.HasPrefix(s[i:], "->") {
			break
		}
		if !isAlpha(c) && (c < '0' || c > '9') && c != '_' && c != '.' && c != '-' {
			break
		}
		i++
	}
	if i < len(s) && s[i] == '\'' {
		i++
	}
	return i
}

// symbols in the order in which they are tried.
var symbols = []string{
	"||", "&&", "++", "->", "^-1", "(", ")", "{", "}", "[", "]", "_", "0",
	"|", "&", "*", "~", "+", `\`, "?", "=", ";", ",",
}

func (lx *lexer) next() (token, error) {
	if err := lx.space(); err != nil {
		return token{}, err
	}
	p := lx.pos()
	if lx.off >= len(lx.src) {
		return token{kind: tEOF, pos: p}, nil
	}
	rest := lx.src[lx.off:]
	if n := nameLen(rest); n > 0 {
		lx.off += n
		t := token{kind: tVar, text: rest[:n], pos: p}
		if keywords[t.text] {
			t.kind = tKeyword
		}
		return t, nil
	}
	switch rest[0] {
	case '\'':
		n := nameLen(rest[1:])
		if n == 0 {
			return token{}, errorf(p, "a quote must be followed by the name of a tag")
		}
		lx.off += 1 + n
		return token{kind: tTag, text: rest[1 : 1+n], pos: p}, nil
	case '"':
		return lx.str(p, rest)
	case '^':
		// herd's lexer allows blanks between the hat and the -1
		if s := strings.TrimLeft(rest[1:], " \t"); strings.HasPrefix(s, "-1") {
			lx.off += len(rest) - len(s) + 2
			return token{kind: tPunct, text: "^-1", pos: p}, nil
		}
		return token{}, errorf(p, "\"^\" must be followed by \"-1\"")
	}
	for _, s := range symbols {
		if strings.HasPrefix(rest, s) {
			lx.off += len(s)
			return token{kind: tPunct, text: s, pos: p}, nil
		}
	}
	return token{}, errorf(p, "unexpected character %q", []rune(rest[:min(4, len(rest))])[0])
}

func (lx *lexer) str(p Pos, rest string) (token, error) {
	n := strings.IndexByte(rest[1:], '"')
	if n < 0 {
		return token{}, errorf(p, "string is not closed")
	}
	text := rest[1 : 1+n]
	for i := 0; i < n+2; i++ {
		lx.off++
		if rest[i] == '\n' {
			lx.newline()
		}
	}
	return token{kind: tString, text: text, pos: p}, nil
}
