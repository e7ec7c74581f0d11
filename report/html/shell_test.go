package html

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"optcheck/internal/plain"
)

func TestPage(t *testing.T) {
	p := &Page{Title: `<script>alert(1)</script>`, Root: "../", Nav: []Link{{"Overview", "index.html"}, {"A & B", "b.html"}}, Here: "b.html",
		Crumbs: []Link{{"</nav>\u202e", "javascript:alert(1)"}}, Scripts: []string{"data.js"}, Foot: "<b>", Body: "<h1>x</h1>"}
	var b strings.Builder
	require.NoError(t, p.Write(&b))
	s := b.String()
	require.NotContains(t, s, "<script>alert")
	require.NotContains(t, s, "javascript:alert")
	require.NotContains(t, s, "\u202e")
	require.NotContains(t, s, "<b>")
	require.Contains(t, s, `<a href="../b.html" aria-current="page">A &amp; B</a>`)
	require.Contains(t, s, `<script src="../data.js" defer></script>`)
	require.Contains(t, s, "<h1>x</h1>")
	require.Equal(t, 1, strings.Count(s, "aria-current"))
}

func TestVisible(t *testing.T) {
	for in, want := range map[string]string{
		"plain ≈ text":     "plain ≈ text",
		"a\x00b\x1b[2J":    `a\u0000b\u001b[2J`,
		"x\u202ecod.exe":   `x\u202ecod.exe`,
		"a\u2028b\ufeff":   `a\u2028b\ufeff`,
		"bad \xff bytes":   `bad \xff bytes`,
		"\ufffd":           "\ufffd",
		"tag \U000e0041":   `tag \U000e0041`,
		"line\nand\ttab":   "line\nand\ttab",
		"\u0639\u0631 one": "\u0639\u0631 one", // letters written from right to left are letters
	} {
		require.Equal(t, want, plain.Text(in))
	}
	require.Equal(t, `a\nb`, Short("a\nb", 10))
	require.Equal(t, "éé… (10,000 characters)", Short(strings.Repeat("é", 10000), 2))
	require.Equal(t, "ab", Short("ab", 2))
}

func TestNumber(t *testing.T) {
	for n, want := range map[int]string{0: "0", 999: "999", 1000: "1,000", 167376: "167,376", -1234567: "-1,234,567", -123: "-123"} {
		require.Equal(t, want, plain.Number(n))
	}
	require.Equal(t, "< 0.1 %", percent(1, 100000))
	require.Equal(t, "> 99.9 %", percent(99999, 100000))
	require.Equal(t, "100 %", percent(3, 3))
	require.Equal(t, "33.3 %", percent(1, 3))
	require.Equal(t, "0 %", percent(0, 0))
}
