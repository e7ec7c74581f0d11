package main

import (
	"regexp"
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

// private are words that mean something to nobody but their author, and the pages where they mean what they mean elsewhere.
var private = map[string][]string{
	`roads?`: nil, `houses?`: nil, `orphans?`: nil, `rooms?`: nil, `(?:turns? of|(?:a|one|each|other|first|some) turns?)`: nil,
	`images?`:                 {"docs/ci.md"}, // of containers
	`ways? (?:through|leads)`: nil,
	`has (?:been )?cured`:     nil, `used to`: nil, `no longer`: nil, `formerly`: nil, // history
}

// maxSentence is how many words a sentence may have.
const maxSentence = 35

var (
	fenced    = regexp.MustCompile("(?ms)^```.*?^```$|<!--.*?-->")
	codeWord  = regexp.MustCompile("`[^`\n]*`")
	endOfLine = regexp.MustCompile(`[.!?](?:[)*"]*)(?:\s|$)`)
)

// sentences are those of a page: of its paragraphs, its items and the cells of its tables.
func sentences(text string) (out []string) {
	text = fenced.ReplaceAllString(text, "")
	for _, par := range strings.Split(text, "\n") {
		for _, cell := range strings.Split(par, " | ") {
			cell = mdLink.ReplaceAllString(codeWord.ReplaceAllString(strings.Trim(cell, "|# -"), "x"), "]")
			out = append(out, endOfLine.Split(cell, -1)...)
		}
	}
	return out
}

// TestProse: what users read is at most 16 pages and 200 KB, without private words, and no sentence is too long.
func TestProse(t *testing.T) {
	list := guides(t, pages(t))
	require.LessOrEqual(t, len(list), 16)
	size := 0
	for page, text := range list {
		size += len(text)
		for _, s := range sentences(text) {
			if n := len(strings.Fields(s)); n > maxSentence {
				t.Errorf("%s: a sentence of %d words: %s", page, n, s)
			}
			for word, where := range private {
				if m := regexp.MustCompile(`(?i)\b` + word + `\b`).FindString(s); m != "" && (len(where) == 0 || where[0] != page) {
					t.Errorf("%s: %q is a private word: %s", page, m, s)
				}
			}
		}
	}
	require.LessOrEqual(t, size, 200<<10)
	require.LessOrEqual(t, strings.Count(list["README.md"], "\n"), 90)
	require.NotEmpty(t, list["docs/start.md"])
}

// TestSentences: the measure of sentences is what it says.
func TestSentences(t *testing.T) {
	long := strings.Repeat("word ", maxSentence)
	var n []int
	for _, s := range sentences("# A b\n\nOne two. " + long + "end: three.\n\n| a b | `c d e` f |\n\n```\n" + long + long + "\n```\n") {
		if k := len(strings.Fields(s)); k > 0 {
			n = append(n, k)
		}
	}
	require.Equal(t, []int{2, 2, maxSentence + 2, 2, 2}, n)
}
