package realcode

import (
	"testing"

	"github.com/stretchr/testify/require"
)

func TestDemandTmp(t *testing.T) {
	m := module(t, "../program/testdata/dot/dot.ptx")
	d, err := Demanded(t.Context(), m, []string{"dotp"})
	require.NoError(t, err)
	t.Log(d.Open)
	for _, x := range d.List {
		t.Log(x.First.Text, " ... ", x.Second.Text, x.Pattern, x.Outcome)
	}
	if len(d.List) > 0 { t.Log(d.List[0].Test, d.List[0].Fenced) }
}
