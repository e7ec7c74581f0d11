package serve

import (
	"net/http"
	"testing"

	"github.com/stretchr/testify/require"
)

// TestFirstPage: the first page of a million cells is no larger than 300 KB. How soon it
// comes is BenchmarkMillion's to measure.
func TestFirstPage(t *testing.T) {
	if testing.Short() {
		t.Skip("makes a million cells")
	}
	_, h := newServer(t, Options{Source: &fixed{million(10_000)}})
	page := ask(t, h, "/", http.StatusOK)
	require.Contains(t, page, "decided cells")
	require.Less(t, len(page), 300_000)
	t.Logf("%d bytes", len(page))
}
