package bug

import (
	"fmt"
	"strings"
	"unicode"
)

// md escapes a text for running Markdown.
func md(s string) string {
	var out strings.Builder
	word := func(r rune) bool { return unicode.IsLetter(r) || unicode.IsDigit(r) }
	runes := []rune(oneLine(s))
	for i, r := range runes {
		inWord := i > 0 && i+1 < len(runes) && word(runes[i-1]) && word(runes[i+1])
		heading := i == 0 && (len(runes) == 1 || !word(runes[1])) // #1 is none
		if strings.ContainsRune("\\`*[]<>|&", r) || r == '_' && !inWord || (r == '#' || r == '-' || r == '+') && heading {
			out.WriteByte('\\')
		}
		out.WriteRune(r)
	}
	return out.String()
}

// span formats a text as a code span, whatever backticks it contains.
func span(s string) string {
	s = oneLine(s)
	fence := "`"
	for strings.Contains(s, fence) {
		fence += "`"
	}
	if len(fence) > 1 {
		return fence + " " + s + " " + fence
	}
	return fence + s + fence
}

// block formats a text as a code block, whatever fences it contains.
func block(lang, s string) string {
	fence := "```"
	for strings.Contains(s, fence) {
		fence += "`"
	}
	return fence + lang + "\n" + strings.TrimRight(s, "\n") + "\n" + fence + "\n"
}

// document is a report: its title, a stamp if there is one, and its sections, of which those without a text are left out.
func document(title, stamp string, sections [][2]string) string {
	var out strings.Builder
	fmt.Fprintf(&out, "# %s\n", md(title))
	if stamp != "" {
		fmt.Fprintf(&out, "\n%s\n", md(stamp))
	}
	for _, s := range sections {
		if s[1] != "" {
			fmt.Fprintf(&out, "\n## %s\n\n%s", s[0], s[1])
		}
	}
	return out.String()
}
