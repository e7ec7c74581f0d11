package verify

import (
	"context"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// TestOld: loads that read old values show that two blocks may both find that the other does not want; with a fence between store and
// load one of them sees the other. A thread does not read an older value than it has read. All executions say the same.
func TestOld(t *testing.T) {
	m := module(t, "testdata/old.ptx")
	for kernel, want := range map[string]string{"both": "data-race", "one": "", "again": ""} {
		args := []Arg{{Name: "want", Buffer: true, Bytes: 8}, {Name: "data", Buffer: true, Bytes: 4}}
		o := &Options{Launch: Launch{Grid: [3]int{2, 1, 1}, Block: [3]int{1, 1, 1}, Args: args}, Schedules: 64, Unmended: true}
		r, err := Kernel(m, kernel, o)
		require.NoError(t, err)
		require.Empty(t, r.Unknown)
		require.Equal(t, want, counted(r), "%s\n%s", kernel, r.Text())
		x, err := All(context.Background(), m, kernel, o, time.Minute)
		require.NoError(t, err)
		if kernel != "again" { // traps are not followed there
			require.Equal(t, want != "", x.Answer == AnswerRace, x.Text())
		}
	}
}

// TestOldShown: the picture of a race that an old value led to shows what was read.
func TestOldShown(t *testing.T) {
	o := &Options{Launch: Launch{Grid: [3]int{2, 1, 1}, Block: [3]int{1, 1, 1}}, Schedules: 16, Executions: true}
	for _, name := range []string{"want", "data"} {
		o.Launch.Args = append(o.Launch.Args, Arg{Name: name, Buffer: true, Bytes: 8})
	}
	r, err := Kernel(module(t, "testdata/old.ptx"), "both", o)
	require.NoError(t, err)
	require.Contains(t, r.Found[0].Record, "=0x0, overwritten")
}
