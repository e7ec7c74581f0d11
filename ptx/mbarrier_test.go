package ptx

import (
	"testing"

	"github.com/stretchr/testify/assert"
)

// TestRelaxedMbarrier: a relaxed arrival releases nothing, a relaxed wait acquires nothing; without a word they do.
func TestRelaxedMbarrier(t *testing.T) {
	for _, c := range []struct {
		mods               []string
		acquires, releases bool
	}{
		{[]string{"arrive", "shared", "b64"}, false, true},
		{[]string{"arrive", "release", "cluster", "shared", "b64"}, false, true},
		{[]string{"arrive_drop", "expect_tx", "shared", "b64"}, false, true},
		{[]string{"arrive_drop", "relaxed", "cluster", "shared", "b64"}, false, false},
		{[]string{"test_wait", "parity", "shared", "b64"}, true, false},
		{[]string{"try_wait", "acquire", "cluster", "shared", "b64"}, true, false},
		{[]string{"test_wait", "relaxed", "cluster", "shared", "b64"}, false, false},
	} {
		e := (&Inst{Name: "mbarrier", Mods: c.mods}).Effect()
		assert.Equal(t, c.acquires, e.Acquires(), c.mods)
		assert.Equal(t, c.releases, e.Releases(), c.mods)
	}
}
