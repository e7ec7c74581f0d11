package main

import (
	"path"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

var (
	startsAt = regexp.MustCompile(`Starts at \[[^\]]*\]\(([^)]*)\)`)
	question = regexp.MustCompile(`(?m)^\| \d+ \| (.*) \| \[[^\]]*\]\(([^)#]*)#([^)]*)\) \| (.*) \|$`)
)

// section is what stands below a heading of a page, with the sections inside of it.
func section(text, anchor string) string {
	from, level := -1, 0
	bare := fenced.ReplaceAllStringFunc(text, func(code string) string { return strings.Repeat(" ", len(code)) }) // comments there look like headings
	for _, m := range mdHeading.FindAllStringIndex(bare, -1) {
		line := text[m[0]:m[1]]
		switch depth := len(line) - len(strings.TrimLeft(line, "#")); {
		case from >= 0 && depth <= level:
			return text[from:m[0]]
		case from < 0 && anchors(line)[anchor]:
			from, level = m[1], depth
		}
	}
	if from < 0 {
		return ""
	}
	return text[from:]
}

// TestQuestions: what each kind of new reader asks is answered on the page where that reader starts, or on one to which its text links.
func TestQuestions(t *testing.T) {
	const at = "docs/internals/questions.md"
	all := pages(t)
	kinds := strings.Split(all[at], "\n## ")[1:]
	require.Len(t, kinds, 5)
	for _, k := range kinds {
		name, text, _ := strings.Cut(k, "\n")
		m := startsAt.FindStringSubmatch(text)
		require.NotNil(t, m, name)
		start := path.Join(path.Dir(at), m[1])
		near := map[string]bool{start: true}
		for _, l := range mdLink.FindAllStringSubmatch(mdCode.ReplaceAllString(all[start], ""), -1) {
			file, _, _ := strings.Cut(l[1], "#")
			near[path.Join(path.Dir(start), file)] = true
		}
		list := question.FindAllStringSubmatch(text, -1)
		require.Len(t, list, 10, name)
		for _, q := range list {
			page := path.Join(path.Dir(at), q[2])
			assert.True(t, near[page], "%s: %s: %s does not link to %s", name, q[1], start, page)
			assert.Contains(t, strings.ReplaceAll(section(all[page], q[3]), "`", ""), q[4], "%s: %s: %s#%s", name, q[1], page, q[3])
		}
	}
}
