package html

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"optcheck/internal/browsertest"
)

// TestAxe: axe-core finds nothing wrong with any kind of page, in both themes, on a desktop
// and on a phone.
func TestAxe(t *testing.T) {
	b, x, at := opened(t, 12)
	all := append(append(pages(x), editorFiles(t, folderOf(at))...), "index.html#class=optimised&level=O3")
	for _, as := range []struct {
		width int
		dark  bool
	}{{1400, false}, {1400, true}, {390, false}, {390, true}} {
		b.Width(as.width)
		b.Dark(as.dark)
		for _, name := range all {
			b.Open(strings.TrimSuffix(at, "index.html") + name)
			require.Empty(t, b.Axe(), "%s, %+v", name, as)
		}
	}
	browsertest.Eval[bool](b, `(document.querySelector("h1").style.color = "#777", document.documentElement.lang = "", true)`)
	require.NotEmpty(t, b.Axe(), "the check sees what it should")
}
