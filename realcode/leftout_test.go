package realcode

import (
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"optcheck/ptx"
)

// TestLeftOut: of four turns of which the last one alone needs what it reads 12.4 leaves out the acquiring
// loads, and keeps their invalidations; 11.8 drops these, too. A load that each turn needs must not be left out.
func TestLeftOut(t *testing.T) {
	const dead, live = "add.u32 %r5, %r5, 0", "add.u32 %r5, %r5, %r2"
	left := module(t, "testdata/last.ptx")
	needed, err := ptx.Parse("last.ptx", []byte(strings.Replace(left.Plain(""), dead, live, 1)))
	require.NoError(t, err)
	for _, row := range []struct {
		release string
		m       *ptx.Module
		good    bool
	}{{"12.4", left, true}, {"11.8", left, false}, {"12.4", needed, false}} {
		by := map[int]string{}
		for _, st := range row.m.Func("last").Body {
			if st.Inst != nil && st.Inst.Text == live {
				by[st.Inst.N] = dead + ";"
			}
		}
		res := Check(row.m, changed(t, releases(t, row.release)[0], row.m, by, "sm_80", "O3").Program, 80)
		assert.Equal(t, row.good, len(res.Findings)+len(res.Unknown) == 0, "%s %v", row.release, res.Findings)
		assert.Equal(t, row.good, strings.Contains(fmt.Sprint(res.Notes), "its invalidation stays"), row.release)
	}
}
