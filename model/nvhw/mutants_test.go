package nvhw

import (
	"os"
	"testing"

	"optcheck/internal/mutants"
)

// TestMutants: every condition and every step of the machine is needed, not only the
// rules that TestIdioms takes away.
func TestMutants(t *testing.T) {
	if os.Getenv("OPTCHECK_MUTANTS") == "" {
		t.Skip("OPTCHECK_MUTANTS=1 tests each mutant: minutes")
	}
	mutants.Score(t, "TestIdioms|TestWeak|TestRefusals|TestRandom|TestKeys", equivalent, "state.go", "explore.go")
}

// equivalent are the mutants that are as good as the code, and why.
var equivalent = map[string]string{}
