package event

import (
	"fmt"
	"io"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// TestStreams: what is no stream is refused with the line and why; runs in a row are read as such.
func TestStreams(t *testing.T) {
	const config = `{"config":{"schema":%d}}` + "\n"
	good := fmt.Sprintf(config, Schema)
	for text, want := range map[string]string{
		"":                                      "s: empty event stream",
		"\n \n":                                 "s: empty event stream",
		`{"stats":{}}` + "\n":                   "s:1: no event stream: the first line is no config",
		"\n\n" + `{"stats":{}}`:                 "s:3: no event stream",
		fmt.Sprintf(config, Schema+1):           fmt.Sprintf("s:1: event stream of schema %d, this tool reads %d to %d", Schema+1, oldestSchema, Schema),
		fmt.Sprintf(config, oldestSchema-1):     "s:1: event stream of schema",
		good + fmt.Sprintf(config, Schema+1):    "s:2: event stream of schema",
		good + `{"stats":{}} x`:                 "s:2: bad event: something stands behind it",
		good + `{"stats":{"cells":"x"}}`:        "s:2: bad event: stats.cells cannot be a JSON string",
		good + `{"stats":`:                      "s:2: bad event: the line is cut off",
		good + `{"stats":}`:                     "s:2: bad event: no JSON from byte 10 on",
		good + `{"more":1}`:                     `s:2: bad event: unknown field "more"`,
		good + `{}`:                             "s:2: bad event: not exactly one kind",
		good + strings.Repeat("\n", maxEmpty+1): "s:100002: no event stream: more than 100000 empty lines",
		good + `{"problem":{"detail":"` + strings.Repeat("x", maxLine): "s:2: line longer than 16777216 bytes",
	} {
		require.ErrorContains(t, Read("s", strings.NewReader(text), func(Event) error { return nil }), want, "%.80q", text)
	}
	require.EqualError(t, Read("s", io.MultiReader(strings.NewReader(good), cutOff{}), func(Event) error { return nil }), "s:2: the file is cut off")
	require.ErrorContains(t, Read("s", io.MultiReader(strings.NewReader(good), cutOff{io.ErrClosedPipe}), func(Event) error { return nil }), "s: io: read/write on closed pipe")
	var lines []int
	require.NoError(t, ReadLines("s", strings.NewReader("\n"+good+strings.Repeat("\n", maxEmpty-2)+`{"stats":{}}`+"\n"+fmt.Sprintf(config, oldestSchema)+"\n"), func(n int, _ Event) error {
		lines = append(lines, n)
		return nil
	}))
	require.Equal(t, []int{2, maxEmpty + 1, maxEmpty + 2}, lines)
	require.ErrorIs(t, Read("s", strings.NewReader(good), func(Event) error { return io.ErrNoProgress }), io.ErrNoProgress)
}

// cutOff is a reader that fails.
type cutOff struct{ err error }

func (c cutOff) Read([]byte) (int, error) {
	if c.err != nil {
		return 0, c.err
	}
	return 0, io.ErrUnexpectedEOF
}

// recorder is a handler that remembers what it was asked for, and fails if it is told to.
type recorder struct {
	did  []string
	fail map[string]error
}

func (r *recorder) do(what string) error {
	r.did = append(r.did, what)
	return r.fail[what]
}

func (r *recorder) Handle(Event) error { return r.do("handle") }

func (r *recorder) Flush() error { return r.do("flush") }

func (r *recorder) Close() error { return r.do("close") }

// TestTee: every handler gets every event until one fails; all are closed.
func TestTee(t *testing.T) {
	one, two := &recorder{fail: map[string]error{}}, &recorder{fail: map[string]error{}}
	tee := Tee{one, NewRun(), two}
	require.NoError(t, tee.Handle(Event{}))
	require.NoError(t, tee.Flush())
	require.NoError(t, tee.Close())
	require.Equal(t, []string{"handle", "flush", "close"}, one.did)
	require.Equal(t, one.did, two.did)
	for _, what := range []string{"handle", "flush", "close"} {
		one.fail[what], one.did, two.did = io.ErrShortWrite, nil, nil
	}
	require.ErrorIs(t, tee.Handle(Event{}), io.ErrShortWrite)
	require.ErrorIs(t, tee.Flush(), io.ErrShortWrite)
	require.Empty(t, two.did)
	require.ErrorIs(t, tee.Close(), io.ErrShortWrite)
	require.Equal(t, []string{"close"}, two.did)
	var b strings.Builder
	j := NewJSONLines(&b)
	require.NoError(t, j.Handle(Event{Stats: &Stats{}}))
	require.Empty(t, b.String())
	require.NoError(t, j.Flush())
	require.NotEmpty(t, b.String())
}
