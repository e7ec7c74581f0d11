package html

import (
	"context"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"optcheck/report"
)

// Only an address of the web is a link: a file's name would lead nowhere from a
// page, and other schemes where nobody wants to go.
func TestKnownNoteWeb(t *testing.T) {
	gs := report.NewGroups(swapped(t, "mp"))
	for link, want := range map[string]bool{"https://example.org/x": true, "http://example.org": true,
		"docs/results/cuda.md": false, "javascript:alert(1)": false, "file:///etc/passwd": false, "": false} {
		assert.Equal(t, want, KnownNote{Link: link}.Web(), link)
		body, err := FindingBody(context.Background(), gs, gs.List[0], FindingHooks{
			Known: func(id string) (KnownNote, bool) { return KnownNote{ID: id, Link: link}, true }})
		require.NoError(t, err)
		assert.Equal(t, want, strings.Contains(string(body), `href="`+link+`" rel`), link)
		assert.Contains(t, string(body), link)
	}
}
