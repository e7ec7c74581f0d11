package onlyinput

import (
	"testing"

	"golang.org/x/tools/go/analysis/analysistest"
)

// TestAnalyzer: what opens is found, as a call and as a value; what only writes, is allowed with a
// reason, stands in tests or is internal/input is not.
func TestAnalyzer(t *testing.T) {
	analysistest.Run(t, analysistest.TestData(), Analyzer, "a", "b", "optcheck/internal/input")
}
