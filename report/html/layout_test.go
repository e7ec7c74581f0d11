package html

import (
	"fmt"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// folderOf is the folder of a page in a file.
func folderOf(at string) string { return filepath.Dir(strings.TrimPrefix(at, "file://")) }

// TestLayout: at the widths of a desk, a tablet and a phone, light and dark, no element is
// cut, and no page has a serious fault of accessibility.
func TestLayout(t *testing.T) {
	b, x, at := opened(t, 40)
	all := append(pages(x), editorFiles(t, folderOf(at))...)
	var bad []string
	for _, width := range []int{1400, 820, 390} {
		b.Width(width)
		for _, dark := range []bool{false, true} {
			b.Dark(dark)
			for _, name := range all {
				b.Open(strings.TrimSuffix(at, "index.html") + name)
				b.Do(script(`document.querySelectorAll(".try-cell").forEach((e) => { e.open = true; })`))
				for _, s := range append(b.Cut(), b.Faults()...) {
					bad = append(bad, fmt.Sprintf("%s at %d: %s", name, width, s))
				}
			}
		}
	}
	require.Empty(t, bad)
	b.Do(script(`document.querySelector("h1").style.cssText = "width: 3000px"`))
	require.NotEmpty(t, b.Cut(), "the check sees what it should")
	b.Do(script(`document.querySelector("a").textContent = ""; document.title = ""`))
	require.Len(t, b.Faults(), 2)
}
