package main

import (
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// guides are the pages that a user reads: those of the first table of docs/README.md, and the front page.
func guides(t *testing.T, all map[string]string) map[string]string {
	_, list, ok := strings.Cut(all["docs/README.md"], "## Guides")
	require.True(t, ok)
	list, _, _ = strings.Cut(list, "\n## ")
	out := map[string]string{"README.md": all["README.md"]}
	for _, m := range mdLink.FindAllStringSubmatch(list, -1) {
		require.NotEmpty(t, all["docs/"+m[1]], m[1])
		out["docs/"+m[1]] = all["docs/"+m[1]]
	}
	return out
}

// unread are the pages that nobody reads from top to bottom: reference, what the program has written, and the list of changes.
var unread = []string{"CHANGELOG.md", "docs/reference/", "docs/example-report", "docs/reports/", "docs/results/mapping"}

// written are the pages that people have written and read.
func written(all map[string]string) map[string]string {
	out := map[string]string{}
	for page, text := range all {
		if !slices.ContainsFunc(unread, func(p string) bool { return strings.HasPrefix(page, p) }) {
			out[page] = text
		}
	}
	return out
}

// private are words that mean something to nobody but their author, and the pages where they mean what they mean elsewhere.
var private = map[string][]string{
	`roads?`: nil, `houses?`: nil, `orphans?`: nil, `rooms?`: nil, `(?:turns? of|(?:a|one|each|other|first|some) turns?)`: nil,
	`images?`:                 {"docs/ci.md"}, // of containers
	`ways? (?:through|leads)`: nil,
	`(?:has been )?cured`:     nil, `used to`: nil, `no longer`: nil, `formerly`: nil, // history
}

// maxSentence is how many words a sentence may have.
const maxSentence = 35

var (
	fenced    = regexp.MustCompile("(?ms)^```.*?^```$|<!--.*?-->")
	indented  = regexp.MustCompile(`(?m)(^\n)((?:    .*\n)+)`) // code, behind an empty line
	codeWord  = regexp.MustCompile("`[^`\n]*`")
	listed    = regexp.MustCompile(`\bx(?:, x)+\b`) // names in code, one behind the other
	endOfLine = regexp.MustCompile(`[.!?](?:[)*"]*)(?:\s|$)`)
)

// prose is a page without its code.
func prose(text string) string {
	return indented.ReplaceAllString(fenced.ReplaceAllString(text, ""), "$1")
}

// sentences are those of a page: of its paragraphs, its items and the cells of its tables. A list of names in a cell is a word.
func sentences(text string) (out []string) {
	for _, par := range strings.Split(prose(text), "\n") {
		for _, cell := range strings.Split(par, " | ") {
			cell = mdLink.ReplaceAllString(codeWord.ReplaceAllString(strings.Trim(cell, "|# -"), "x"), "]")
			if strings.HasPrefix(par, "|") {
				cell = listed.ReplaceAllString(cell, "x")
			}
			out = append(out, endOfLine.Split(cell, -1)...)
		}
	}
	return out
}

// wrapped is the first line of a page that goes on in the next one, "" if each paragraph is a line: else a sentence could hide.
func wrapped(text string) string {
	lines := strings.Split(prose(text), "\n")
	for i, l := range lines[:len(lines)-1] {
		if next := lines[i+1]; paragraph.MatchString(l) && continued.MatchString(next) {
			return l
		}
	}
	return ""
}

var (
	paragraph = regexp.MustCompile(`^\s*[^\s|#<!]`)
	continued = regexp.MustCompile(`^\s*(?:[^\s|#<!*+\d-]|\*\*|\d+[^.\d]|-\S)`)
)

// TestProse: of all that people have written, a paragraph is a line, no sentence is too long, and no word is private.
func TestProse(t *testing.T) {
	all := written(pages(t))
	require.NotEmpty(t, all["docs/internals/running.md"])
	require.NotEmpty(t, all["docs/hostile.md"])
	for page, text := range all {
		if l := wrapped(text); l != "" {
			t.Errorf("%s: a paragraph of several lines: %s", page, l)
		}
		for _, s := range sentences(text) {
			if n := len(strings.Fields(s)); n > maxSentence {
				t.Errorf("%s: a sentence of %d words: %s", page, n, s)
			}
			for word, where := range private {
				if m := regexp.MustCompile(`(?i)\b` + word + `\b`).FindString(s); m != "" && !slices.Contains(where, page) {
					t.Errorf("%s: %q is a private word: %s", page, m, s)
				}
			}
		}
	}
}

// TestGuides: what users read is at most 15 pages beside the front page, and 200 KB.
func TestGuides(t *testing.T) {
	list := guides(t, pages(t))
	require.NotEmpty(t, list["docs/start.md"])
	require.LessOrEqual(t, len(list), 16)
	size := 0
	for _, text := range list {
		size += len(text)
	}
	require.LessOrEqual(t, size, 200<<10)
	require.LessOrEqual(t, strings.Count(list["README.md"], "\n"), 90)
	require.Equal(t, 1, strings.Count(list["README.md"], "!["), "pictures of the front page")
	t.Logf("%d pages, %d bytes; README.md %d lines", len(list), size, strings.Count(list["README.md"], "\n"))
}

// TestSentences: the measure of sentences is what it says.
func TestSentences(t *testing.T) {
	long := strings.Repeat("word ", maxSentence)
	var n []int
	for _, s := range sentences("# A b\n\nOne two. " + long + "end: three.\n\n| a b | `c d e` f | `g`, `h`, `i` |\n\n```\n" + long + long + "\n```\n\n    " + long + "\n") {
		if k := len(strings.Fields(s)); k > 0 {
			n = append(n, k)
		}
	}
	require.Equal(t, []int{2, 2, maxSentence + 2, 2, 2, 1}, n)
	require.Equal(t, "- one", wrapped("# a\n\none\n\n- one\n  two\n"))
	require.Equal(t, "a", wrapped("a\n**b** c\n"))
	require.Empty(t, wrapped("# a\none\n\n- one\n- two\n\n1. a\n2. b\n\n| a |\n|---|\n\n    code\n    code\n"))
}
