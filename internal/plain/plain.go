// Package plain formats text for people: counts with the right word, and texts of any origin
// (names of files and tests, output of other programs) so that they cannot affect a terminal or
// the lines around them.
//
// It is for readers, not for programs: JSON, PTX and logs contain names unchanged.
package plain

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"
)

// Text makes visible whatever is invisible in a text or reorders its surroundings: it escapes
// control and format characters (including those that change the direction of writing) and
// bytes that are not UTF-8. Line ends and tabs stay. What a runner of pipelines would take for a
// command, since it reads what a job prints (::add-mask::x at the beginning of a line, ##[group]),
// is escaped, too.
func Text(s string) string { return (&scanner{lines: true, blank: true}).escape(s) }

// Line is Text for something that must stay on one line, such as a name: it escapes line ends
// and tabs, too.
func Line(s string) string { return (&scanner{blank: true}).escape(s) }

// MaxName bounds names in reports, in bytes.
const MaxName = 256

// Label returns a name of a test or file as reports show it: visible and not too long.
func Label(name string) string { return Clip(Line(name), MaxName) }

// Clip shortens a text to n bytes. What is cut is replaced by a hash of the
// whole, so that different texts stay different.
func Clip(s string, n int) string {
	if len(s) <= n {
		return s
	}
	sum := sha256.Sum256([]byte(s))
	end := max(0, n-20)
	for end > 0 && !utf8.RuneStart(s[end]) {
		end--
	}
	return fmt.Sprintf("%s…%s", s[:end], hex.EncodeToString(sum[:8]))
}

// hidden reports whether a character is not part of a visible line.
func hidden(r rune) bool {
	return unicode.Is(unicode.C, r) || r == '\u2028' || r == '\u2029' || r&0xfffe == 0xfffe
}

// scanner escapes a text that comes in pieces.
type scanner struct {
	lines  bool // line ends and tabs stay
	blank  bool // the line has nothing visible so far
	hashes int  // that the text ends with
}

// bad reports whether the next character must be escaped.
func (p *scanner) bad(r rune) bool {
	return r == utf8.RuneError || hidden(r) && !(p.lines && (r == '\n' || r == '\t')) || r == ':' && p.blank || r == '[' && p.hashes > 1
}

// next takes note of a character.
func (p *scanner) next(r rune) {
	p.blank = r == '\n' && p.lines || p.blank && (r == ' ' || r == '\t')
	if r == '#' {
		p.hashes++
	} else {
		p.hashes = 0
	}
}

func (p *scanner) escape(s string) string {
	var b strings.Builder
	done := 0 // what is before it is written
	for i, r := range s {
		if !p.bad(r) || r == utf8.RuneError && strings.HasPrefix(s[i:], "\ufffd") {
			p.next(r)
			continue
		}
		b.WriteString(s[done:i])
		done = i + max(1, utf8.RuneLen(r))
		switch {
		case r == utf8.RuneError:
			done = i + 1
			fmt.Fprintf(&b, `\x%02x`, s[i])
		case r == '\n':
			b.WriteString(`\n`)
		case r == '\t':
			b.WriteString(`\t`)
		case r < 0x10000:
			fmt.Fprintf(&b, `\u%04x`, r)
		default:
			fmt.Fprintf(&b, `\U%08x`, r)
		}
		p.blank, p.hashes = false, 0
	}
	if done == 0 {
		return s
	}
	return b.String() + s[done:]
}

// number is a type that can be counted.
type number interface {
	int | int32 | int64 | uint32 | uint64
}

// Count formats a number with what it counts: 1 cell, 2 cells, 2 processes. For irregular
// plurals use Form.
func Count[N number](n N, one string) string {
	ending := "s"
	if strings.HasSuffix(one, "s") {
		ending = "es"
	}
	word := Form(n, one, one+ending)
	if n < 0 {
		return strconv.FormatInt(int64(n), 10) + " " + word
	}
	return strconv.FormatUint(uint64(n), 10) + " " + word
}

// Number formats a number with its digits in groups of three: 1,234.
func Number[N number](n N) string {
	s := fmt.Sprint(n)
	for i := len(s) - 3; i > 0 && s[i-1] != '-'; i -= 3 {
		s = s[:i] + "," + s[i:]
	}
	return s
}

// Form returns the form of a word for a number: is or are, run or runs.
func Form[N number](n N, one, many string) string {
	if n == 1 {
		return one
	}
	return many
}
