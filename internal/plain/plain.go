// Package plain formats text for people: counts with the right word, and texts of any origin
// (names of files and tests, output of other programs) so that they cannot affect a terminal or
// the lines around them.
//
// It is for readers, not for programs: JSON, PTX and logs contain names unchanged.
package plain

import (
	"fmt"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"
)

// Text makes visible whatever is invisible in a text or reorders its surroundings: it escapes
// control and format characters (including those that change the direction of writing) and
// bytes that are not UTF-8. Line ends and tabs stay.
func Text(s string) string { return escape(s, true) }

// Line is Text for something that must stay on one line, such as a name: it escapes line ends
// and tabs, too.
func Line(s string) string { return escape(s, false) }

// hidden reports whether a character is not part of a visible line.
func hidden(r rune) bool {
	return unicode.Is(unicode.C, r) || r == '\u2028' || r == '\u2029' || r&0xfffe == 0xfffe
}

func escape(s string, lines bool) string {
	bad := func(r rune) bool {
		return r == utf8.RuneError || hidden(r) && !(lines && (r == '\n' || r == '\t'))
	}
	if !strings.ContainsFunc(s, bad) {
		return s
	}
	var b strings.Builder
	for i, r := range s {
		switch {
		case !bad(r):
			b.WriteRune(r)
		case r == utf8.RuneError && !strings.HasPrefix(s[i:], "\ufffd"):
			fmt.Fprintf(&b, `\x%02x`, s[i])
		case r == utf8.RuneError:
			b.WriteRune(r)
		case r == '\n':
			b.WriteString(`\n`)
		case r == '\t':
			b.WriteString(`\t`)
		case r < 0x10000:
			fmt.Fprintf(&b, `\u%04x`, r)
		default:
			fmt.Fprintf(&b, `\U%08x`, r)
		}
	}
	return b.String()
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
