package litmus

import (
	"flag"
	"os"
	"testing"

	"github.com/stretchr/testify/require"
)

var update = flag.Bool("update", false, "write docs/reference/instructions.md")

// TestInstructionsPage: the page is what the tables say.
func TestInstructionsPage(t *testing.T) {
	const page = "../docs/reference/instructions.md"
	want := string(AppendGrammar(nil))
	if *update {
		require.NoError(t, os.WriteFile(page, []byte(want), 0o644))
	}
	have, err := os.ReadFile(page)
	require.NoError(t, err)
	require.Equal(t, want, string(have), "go test ./litmus -run InstructionsPage -update writes it")
}
