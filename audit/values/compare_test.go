package values

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"optcheck/refine"
)

// TestCompareHunts: causes are the same by what they compute, and a report must be whole.
func TestCompareHunts(t *testing.T) {
	cause := func(s string, where ...string) *Cause {
		return &Cause{Signature: s, Where: where, Example: &Example{Finding: &refine.Finding{}}}
	}
	a := []*Cause{cause("sum -> iadd3"), cause("compare.16 sum.16 -> prmt")}
	require.Len(t, Lacking(a, []*Cause{cause("sum -> lop3")}), 1, "the same operations of the kernel")
	require.Len(t, Lacking(a, nil), 2)
	require.Empty(t, Lacking(a, []*Cause{cause("sum product -> iadd3 imad"), cause("compare.16 sum.16 -> prmt sel")}))

	r := &Report{Compilers: []string{"ptxas 1.0 sm_80 at O3", "ptxas 2.0 sm_80 at O3", "ptxas 2.0 sm_90 at O3"},
		Causes: []*Cause{cause("sum -> iadd3", "ptxas 2.0 sm_80 at O3"), cause("logic -> lop3", "ptxas 1.0 sm_80 at O3", "ptxas 2.0 sm_80 at O3")}}
	id, one, err := r.Only(func(id string) bool { return strings.HasSuffix(id, "1.0") })
	require.NoError(t, err)
	require.Equal(t, "ptxas 1.0", id)
	require.Len(t, one.Causes, 1)
	require.Len(t, r.Causes[1].Where, 2, "the report stays as it is")
	_, _, err = r.Only(func(string) bool { return true })
	require.ErrorContains(t, err, "that is ptxas 1.0 and ptxas 2.0")

	for text, want := range map[string]string{
		"":                  "not come to its end",
		"{}\n":              ErrNoHunt.Error(),
		"x\n":               ErrNoHunt.Error(),
		"{\"seed\":1}\n":    "not come to its end",
		"{\"seed\":1}\nx\n": "line 2",
		`{"seed":1,"report":{"causes_found":[null]}}`: "a cause without an example",
	} {
		_, err := ReadReport(strings.NewReader(text))
		require.ErrorContains(t, err, want, text)
	}
}
