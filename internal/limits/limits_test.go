package limits

import (
	"context"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

func TestParse(t *testing.T) {
	l, err := Default().Parse([]string{"bytes=2k", "blocks=20k", "judge=90s", "steps=7", "bytes=1G"})
	require.NoError(t, err)
	require.Equal(t, int64(1<<30), l.Bytes)
	require.Equal(t, 20_000, l.Blocks)
	require.Equal(t, 90*time.Second, l.Judge)
	require.Equal(t, 7, l.Steps)
	require.Equal(t, Default().Events, l.Events)
	for _, bad := range []string{"", "blocks", "blocks=", "blocks=0", "blocks=-1", "blocks=1G1", "blocks=9G", "bytes=99999999999999999999",
		"judge=5", "judge=-1s", "Blocks=1"} {
		_, err := Default().Parse([]string{bad})
		require.Error(t, err, bad)
	}
	require.Len(t, Default().Table(), len(Names()))
}

func TestErrors(t *testing.T) {
	require.NoError(t, Check("blocks", 5, 5))
	require.EqualError(t, Check("blocks", 6, 5), "more than 5 blocks; --limits blocks=N allows more")
	Use(Limits{Judge: time.Millisecond})
	defer Use(Default())
	ctx, cancel := Judging(t.Context())
	defer cancel()
	<-ctx.Done()
	var slow *Slow
	require.ErrorAs(t, context.Cause(ctx), &slow)
	require.EqualError(t, slow, "judging takes longer than 1ms; --limits judge=TIME allows more")
}
