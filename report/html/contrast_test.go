package html

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestContrast(t *testing.T) {
	b, x, at := opened(t, 40)
	all := append(append(pages(x), editorFiles(t, folderOf(at))...), "index.html#class=optimised&level=O3")
	for _, dark := range []bool{false, true} {
		b.Dark(dark)
		for _, name := range all {
			b.Open(strings.TrimSuffix(at, "index.html") + name)
			require.Empty(t, b.LowContrast(), "%s, dark: %v", name, dark)
		}
	}
	b.Do(script(`document.querySelector("h1").style.color = "#777"`))
	require.NotEmpty(t, b.LowContrast(), "the check sees what it should")
}
