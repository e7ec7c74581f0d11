package report

import (
	"bytes"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"optcheck/event"
	"optcheck/internal/plain"
)

var command = regexp.MustCompile(`^::(error|warning|notice) (?:file=([^,:\r\n]*),line=([1-9][0-9]*),col=([1-9][0-9]*),)?title=([^,:\r\n]*)::([^\r\n]*)$`)

// annotations parses what is written as GitHub's runner does and refuses all
// else.
func annotations(t require.TestingT, r *event.Run) (list [][]string, rest string) {
	var b bytes.Buffer
	require.NoError(t, WriteAnnotations(&b, r))
	for _, line := range strings.Split(strings.TrimSuffix(b.String(), "\n"), "\n") {
		if line == "" {
			continue
		}
		m := command.FindStringSubmatch(line)
		if m == nil {
			require.NotContains(t, line, "::")
			rest += line
			continue
		}
		list = append(list, m[1:])
	}
	require.LessOrEqual(t, len(list), 10)
	return list, rest
}

func TestAnnotations(t *testing.T) {
	list, rest := annotations(t, sample())
	require.Empty(t, rest)
	require.Len(t, list, 6)
	require.Equal(t, "notice", list[5][0])
	require.Contains(t, list[5][5], "%0AKnown: weak-loads")
	require.Equal(t, []string{"error", "lib/tests dir/mp.litmus", "9", "22", "optcheck%3A mp%3A fence-weakened"}, list[0][:5])
	require.Contains(t, list[0][5],
		"miscompiled, fence-weakened: T1 #1 membar.gl became MEMBAR.CTA: its scope is narrower%0AThe machine code allows 1:r1=1; 1:r2=0;, which")
	require.Equal(t, []string{"warning", "lib/sb.litmus", "1", "1"}, list[1][:4])
	require.Equal(t, []string{"warning", "", "", "", "optcheck%3A lb%3A undecided"}, list[3][:5])

	r := sample()
	r.Stats.Interrupted = true
	c := r.Cells[0]
	for range 20 {
		c.Test += "x"
		r.Cells = append(r.Cells, c)
	}
	list, rest = annotations(t, r)
	require.Len(t, list, 10)
	require.Contains(t, list[0][5], "interrupted")
	for _, a := range list {
		require.Equal(t, "error", a[0], "worst first")
	}
	require.Equal(t, "optcheck: 17 further findings have no annotation", rest)
}

// TestAnnotationsHostile: no name can begin a command or end a property.
func TestAnnotationsHostile(t *testing.T) {
	require.Equal(t, "100%25%0D%0A:,", commandData("100%\r\n:,"))
	require.Equal(t, "100%25%0D%0A%3A%2C", commandProperty("100%\r\n:,"))
	for _, name := range hostile {
		r := sample()
		r.Cells[0].Test, r.Tests[0].Name, r.Tests[0].File = name, name, name
		annotations(t, r)
	}
	rapid.Check(t, func(t *rapid.T) { annotations(t, genHostile().Draw(t, "run")) })
}

func markdownOf(t require.TestingT, r *event.Run, limit int) string {
	var b bytes.Buffer
	require.NoError(t, WriteMarkdown(&b, r, limit))
	if limit > 0 {
		require.LessOrEqual(t, b.Len(), limit)
	}
	return b.String()
}

func TestMarkdown(t *testing.T) {
	text := markdownOf(t, sample(), 0)
	for _, part := range []string{
		"# optcheck: 4 tests in 10 cells, 1 error, 4 warnings, 1 note (2 of them known)\n",
		"| ptxas 1.0 | O3 | 0 | 1 | 1 | 0 | 1 | 1 |\n",
		"\n## Miscompiled: an outcome is possible that the test forbids\n\n### <code>mp</code>: fence-weakened\n",
		"MEMBAR.CTA: its scope is narrower", "At <code>lib/tests dir/mp.litmus:9</code>.",
		"```text\n", "#1 membar.gl | MEMBAR.CTA\n", "Known: weak-loads", "## Problems of the run\n\n- compile ptxas",
	} {
		require.Contains(t, text, part)
	}
	order := []int{strings.Index(text, "## Miscompiled"), strings.Index(text, "## Changed"), strings.Index(text, "## Undecided"),
		strings.Index(text, "## Optimised")}
	require.IsIncreasing(t, order)
	require.NotContains(t, text, "Not all was done")
	r := sample()
	r.Config.Cells++
	require.Contains(t, markdownOf(t, r, 0), "**Not all was done:** the run is incomplete: 10 of 11 cells are there.")
	require.Contains(t, markdownOf(t, device(), 0), "<code>t1</code> | GPU | none | 10 | 10 | done |")
	require.Contains(t, markdownOf(t, device(), 0), "## Miscompiled")
}

// TestMarkdownLimit: a summary never is larger than it may be, keeps the worst
// and says what is missing.
func TestMarkdownLimit(t *testing.T) {
	r := sample()
	c := r.Cells[0]
	for range 5000 {
		c.Test += "x"
		r.Cells = append(r.Cells, c)
	}
	text := markdownOf(t, r, maxSummary)
	require.Greater(t, len(text), maxSummary/2)
	require.Contains(t, text, "### <code>mp</code>")
	require.Regexp(t, `\n[0-9]+ of 5006 findings are left out here, the worst are shown.\n`, text)
	require.Error(t, WriteMarkdown(&bytes.Buffer{}, r, 100))
	require.Equal(t, 0, SummaryLimit(maxSummary+1))
	require.Equal(t, 24, SummaryLimit(maxSummary-24))
}

var (
	mdTag   = regexp.MustCompile(`<[^>]*>`)
	mdFence = regexp.MustCompile("^`{3,}")
)

// TestMarkdownHostile: no name becomes markup, and a listing stays in its block.
func TestMarkdownHostile(t *testing.T) {
	check := func(t require.TestingT, r *event.Run) {
		text := markdownOf(t, r, 64<<10)
		fence := ""
		for _, line := range strings.Split(text, "\n") {
			f := mdFence.FindString(line)
			switch {
			case fence == "" && f != "":
				fence = f
				continue
			case fence != "" && line == fence:
				fence = ""
				continue
			case fence != "":
				require.NotContains(t, line, fence)
				continue
			}
			require.False(t, line != plain.Line(line), "%q", line)
			for _, tag := range mdTag.FindAllString(line, -1) {
				require.Contains(t, []string{"<code>", "</code>"}, tag)
			}
			bare := strings.NewReplacer(`\\`, "", "\\`", "", `\[`, "", `\://`, "").Replace(line)
			require.NotContains(t, bare, "`")
			require.NotContains(t, bare, "[")
			require.NotContains(t, bare, "://")
			require.NotContains(t, strings.NewReplacer(`\*`, "", "**Not all was done:**", "").Replace(bare), "*")
		}
		require.Empty(t, fence)
	}
	for _, name := range hostile {
		r := sample()
		r.Cells[0].Test, r.Tests[0].Name = name, name
		r.Listings["aa"].Threads[0].Machine[0].Text = name
		check(t, r)
	}
	rapid.Check(t, func(t *rapid.T) { check(t, genHostile().Draw(t, "run")) })
}
