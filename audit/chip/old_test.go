package chip

import (
	"bytes"
	"compress/gzip"
	"io"
	"os"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"optcheck/litmus"
	"optcheck/litmus/corpus"
	"optcheck/report"
)

func oldTest(name string) *litmus.Test {
	t, _ := corpus.Lookup(name)
	return t
}

func oldFile(t testing.TB, name string) []byte {
	f, err := os.Open("../../docs/results/h200/" + name)
	require.NoError(t, err)
	defer f.Close()
	z, err := gzip.NewReader(f)
	require.NoError(t, err)
	data, err := io.ReadAll(z)
	require.NoError(t, err)
	return data
}

// TestReadOld: a campaign in the old form becomes a stream that says the same.
// The instances that satisfy the conditions are counted anew and must be those
// of the file.
func TestReadOld(t *testing.T) {
	data := oldFile(t, "corpus.jsonl.gz")
	require.True(t, IsOld(data))
	var stream bytes.Buffer
	w := report.NewJSONLines(&stream)
	configs, stats := 0, 0
	require.NoError(t, ReadOld("f", bytes.NewReader(data), oldTest, func(e report.Event) error {
		if e.Config != nil {
			configs++
		}
		if e.Stats != nil {
			stats++
		}
		return w.Handle(e)
	}))
	require.NoError(t, w.Close())
	require.Equal(t, bytes.Count(data, []byte(`{"event":"campaign"`)), configs, "the file joins several campaigns")
	require.Equal(t, configs, stats, "all came to their end")
	require.False(t, IsOld(stream.Bytes()))

	run := report.NewRun()
	require.NoError(t, report.Read("stream", &stream, run.Handle))
	require.Len(t, run.Histograms, bytes.Count(data, []byte(`{"event":"result"`)))
	require.Equal(t, "NVIDIA H200", run.Config.Campaign.Device.Name)
	require.Equal(t, 132, run.Config.Campaign.Device.Units)
	require.Equal(t, "ld st", run.Config.Campaign.Tuning["Pattern"])
	h := &run.Histograms[0]
	require.Equal(t, "2+2w", h.Test)
	require.Equal(t, uint64(6250816), h.Weak)
	require.Equal(t, "hardware, allowed", h.Outcomes[0].Effect)
	require.Equal(t, []string{"allowed", "allowed", "forbidden"}, h.Outcomes[0].Says)
	require.Equal(t, []string{"ptx", "ptx-2015", "sc"}, h.Models)
	require.Equal(t, uint64(20150314), h.Seed)
	require.NotEmpty(t, h.Image)
	require.Equal(t, 1980, h.Before.ClockMHz)
	unseen := 0
	for i := range run.Histograms {
		unseen += len(run.Histograms[i].Unseen)
	}
	require.Equal(t, bytes.Count(data, []byte(`"excluded_rate"`)), unseen)
}

// TestReadOldBad: what contradicts itself is refused with its line.
func TestReadOldBad(t *testing.T) {
	lines := strings.SplitN(string(oldFile(t, "table6.jsonl.gz")), "\n", 3)
	good := lines[0] + "\n" + lines[1] + "\n"
	none := func(report.Event) error { return nil }
	require.NoError(t, ReadOld("f", strings.NewReader(good), oldTest, none))
	for want, bad := range map[string]string{
		"f:2: bad result of coRR-volatile: 20971520 instances, 1 positive": strings.Replace(good, `"positive":0`, `"positive":1`, 1),
		"f:2: bad result of coRR-volatile: outcome of 1 values":            strings.Replace(good, `"values":[0,0]`, `"values":[0]`, 1),
		"f:1: bad event: a result before its campaign":                     lines[1],
		"no test of that name and hash":                                    strings.Replace(good, `"test":"coRR-volatile"`, `"test":"mp"`, 1),
		"f:1: bad campaign":                                                strings.Replace(good, `"seed":20150314`, `"seed":-1`, 1),
		"f:2: bad event: unknown kind \"bench\"":                           lines[0] + "\n" + `{"event":"bench"}`,
	} {
		require.ErrorContains(t, ReadOld("f", strings.NewReader(bad), oldTest, none), want)
	}
}

// FuzzReadOld: whatever a file holds, what is passed on is a stream that can be
// read again.
func FuzzReadOld(f *testing.F) {
	lines := strings.SplitN(string(oldFile(f, "table6.jsonl.gz")), "\n", 5)
	f.Add([]byte(strings.Join(lines[:4], "\n")))
	f.Add([]byte(`{"event":"campaign"}`))
	f.Fuzz(func(t *testing.T, data []byte) {
		var stream bytes.Buffer
		w := report.NewJSONLines(&stream)
		_ = ReadOld("f", bytes.NewReader(data), oldTest, w.Handle)
		require.NoError(t, w.Close())
		if stream.Len() > 0 {
			require.NoError(t, report.Read("stream", &stream, func(report.Event) error { return nil }))
		}
	})
}
