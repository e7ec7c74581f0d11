package lower_test

import (
	"flag"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"optcheck/sass/lower"
)

var writeAgreed = flag.Bool("write-agreed", false, "write agreed.txt anew: forms of machine instructions in code that computes what its PTX does")

// TestAgreed writes agreed.txt, of all forms and programs that compilers at hand make.
func TestAgreed(t *testing.T) {
	if !*writeAgreed {
		t.Log("asked for by -write-agreed")
		return
	}
	targets := []string{"sm_80", "sm_90"}
	forms := append(differential(t, integerForms(), targets), differential(t, floatForms(), targets)...)
	forms = append(forms, executed(t)...)
	slices.Sort(forms)
	forms = slices.DeleteFunc(slices.Compact(forms), func(f string) bool { return f == "" || lower.HowKnown(f) == lower.Chip })
	head := "# Forms of instructions in code that ptxas 11.2, 11.8 and 12.4 made of PTX (sm_70 to sm_90, O0 and O3) and that, emulated, stores what the\n" +
		"# PTX does, of forms whose meaning an H200 has confirmed. TestAgreed makes this list.\n"
	require.NoError(t, os.WriteFile("agreed.txt", []byte(head+strings.Join(forms, "\n")+"\n"), 0o644))
}
