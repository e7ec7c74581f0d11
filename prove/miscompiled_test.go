package prove_test

import (
	"os"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"optcheck/prove"
	"optcheck/toolchain/tested"
)

// TestMiscompiled: of kernels that ptxas 12.4 compiles wrongly none is proved; one beside them that it compiles rightly is.
func TestMiscompiled(t *testing.T) {
	data, err := os.ReadFile("../realcode/testdata/values.ptx")
	require.NoError(t, err)
	texts := map[string]string{}
	for _, text := range strings.Split(string(data), ".visible .entry ")[1:] {
		name, _, _ := strings.Cut(text, "(")
		texts[name] = ".visible .entry " + text
	}
	list := lowered(t, tested.Release(t, "12.4"), texts)
	for _, wrong := range []string{"pair", "flushed", "saturated", "opposite", "table", "always"} {
		require.Contains(t, list, wrong)
		require.Falsef(t, prove.Prove(list[wrong].program, list[wrong].machine, prove.Thorough).Proved, "%s", wrong)
	}
	r := prove.Prove(list["cut"].program, list["cut"].machine, prove.Thorough)
	require.Truef(t, r.Proved, "cut: %s", r.Why)
}
