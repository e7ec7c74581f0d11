package report

import (
	"testing"

	"github.com/stretchr/testify/require"

	"optcheck/event"
)

// TestMarkdownText: what tests and tools are called is text in Markdown, never markup.
func TestMarkdownText(t *testing.T) {
	for in, want := range map[string]string{
		"a<b>c": "a&lt;b&gt;c", "a&b": "a&amp;b", "$x$": "&#36;x&#36;", "*_[]|~#@`\\": "\\*\\_\\[\\]\\|\\~\\#\\@\\`\\\\", "mp+po": "mp+po",
	} {
		require.Equal(t, want, mdText(in))
	}
}

// TestJUnitKnown: a case names what its findings are known as, if they are.
func TestJUnitKnown(t *testing.T) {
	c := &event.Cell{Test: "mp", Level: "O3", Layout: "pointers", Result: event.Result{Class: event.Optimised, Findings: []event.Finding{{Rule: "merged", Detail: "d"}}}}
	require.NotContains(t, cellCase(c, &sources{}, junitRule{on: event.FailChanged}).body, "known")
	c.Known = []string{"a", "b"}
	require.Contains(t, cellCase(c, &sources{}, junitRule{on: event.FailChanged}).body, "known: a, b\n")
}

// TestShortThread: a thread as long as may be is shown whole, and of a longer one what is near the positions.
func TestShortThread(t *testing.T) {
	for lines, want := range map[int]int{longThread: longThread, longThread + 1: 1 + 2*around} {
		thread := event.ThreadListing{}
		for i := range lines {
			thread.Source = append(thread.Source, event.Line{Pos: i})
		}
		require.Len(t, shortThread(thread, 6).Source, want)
	}
}
