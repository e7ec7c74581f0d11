package html

import (
	"context"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"optcheck/internal/browsertest"
)

// BenchmarkOpen writes a report of more than 100,000 cells and opens it in
// Chromium: ms/open is from the start of the navigation to the end of the load,
// the filter and the list being there; ms/filter is one change of the filter.
// OPTCHECK_REPORT names a report to open instead.
func BenchmarkOpen(b *testing.B) {
	dir := os.Getenv("OPTCHECK_REPORT")
	var stats Stats
	if dir == "" {
		dir = b.TempDir()
		var err error
		stats, err = Write(context.Background(), dir, sample(1900), Options{})
		require.NoError(b, err)
	}
	tab := browsertest.New(b)
	var open, filter float64
	for b.Loop() {
		tab.Open(browsertest.FileURL(filepath.Join(dir, "index.html")))
		tab.Until(ready)
		open += browsertest.Eval[float64](tab, "performance.getEntriesByType('navigation')[0].loadEventEnd")
		filter += browsertest.Eval[float64](tab, `(() => { const t = performance.now(); history.replaceState(null, "", "#rule=merged&q=1"); dispatchEvent(new Event("hashchange"));
			document.body.getBoundingClientRect(); return performance.now() - t; })()`)
	}
	if stats.Cells > 0 {
		b.ReportMetric(float64(stats.Bytes)/1e6, "MB")
		b.ReportMetric(float64(stats.Cells), "cells")
		b.ReportMetric(float64(stats.Groups), "findings")
	}
	b.ReportMetric(open/float64(b.N), "ms/open")
	b.ReportMetric(filter/float64(b.N), "ms/filter")
}
