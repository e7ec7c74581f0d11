package herdlog_test

import (
	"bytes"
	"context"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"optcheck/litmus"
	"optcheck/litmus/corpus"
	"optcheck/litmus/herdlog"
	"optcheck/model"
	"optcheck/runner"
)

func test(t *testing.T, name string) *litmus.Test {
	t.Helper()
	x, ok := corpus.Lookup(name)
	require.True(t, ok, name)
	return x
}

func FuzzRead(f *testing.F) {
	f.Add("GPU_PTX mp\n{ x=0; }\nGenerated assembler\nTest mp Allowed\nHistogram (1 states)\n41018 *>1:r0=0; [x]=1;\nHash=0123\n")
	f.Add("Test a Allowed\nStates 1\n[x]=0x10; 0:r1=-5;\nNo\n")
	f.Add("Test a\nHistogram (2 states)\n1*>x=1;\n2:>x=2;\n")
	f.Fuzz(func(t *testing.T, src string) {
		_ = herdlog.Read("log", strings.NewReader(src), func(l *herdlog.Test) error {
			for _, s := range l.States {
				if s.Count < -1 {
					t.Fatal("negative count")
				}
			}
			return nil
		})
	})
}

// What is written is read back by the reader of logs with every state and
// count, for every test of the corpus.
func TestWrittenIsRead(t *testing.T) {
	tests := corpus.Tests()
	var log bytes.Buffer
	histograms := map[string]*runner.Histogram{}
	for i, x := range tests {
		h := runner.NewHistogram(x)
		n := len(x.Terms())
		for k := range 4 {
			v := make([]int64, n)
			for j := range v {
				v[j] = int64(k >> (j % 2) & 1)
			}
			require.NoError(t, h.Add(v, uint64(k+i)*1000000007))
		}
		histograms[x.Name] = h
		log.Write(logOf(x, h, "Device a\nTest b"))
	}
	seen := 0
	require.NoError(t, herdlog.Read("log", &log, func(l *herdlog.Test) error {
		seen++
		h := histograms[l.Name]
		require.NotNil(t, h, l.Name)
		outcomes := h.Outcomes()
		require.Len(t, l.States, len(outcomes))
		for i, s := range l.States {
			require.EqualValues(t, outcomes[i].Count, s.Count)
			for j, item := range s.Items {
				require.Equal(t, test(t, l.Name).Terms()[j], item.Term)
				require.Equal(t, outcomes[i].Values[j], item.Value)
			}
			require.Equal(t, h.Satisfies(test(t, l.Name).Cond, outcomes[i]), s.Mark)
		}
		require.Equal(t, test(t, l.Name).Hash(), l.Hash)
		return nil
	}))
	require.Equal(t, len(tests), seen)
}

// logOf returns the log of a histogram.
func logOf(x *litmus.Test, h *runner.Histogram, comments ...string) []byte {
	l := herdlog.Block{Name: x.Name, Kind: herdlog.Kind(x.Cond.Quant), Condition: x.Cond.String(), Hash: x.Hash(),
		Time: 1500 * time.Millisecond, Comments: comments}
	for i, t := range x.Terms() {
		l.Columns = append(l.Columns, herdlog.Column{Name: herdlog.Term(t), At: i})
	}
	for _, o := range h.Outcomes() {
		l.States, l.Counted, l.Mark = append(l.States, o.Values), append(l.Counted, o.Count), append(l.Mark, h.Satisfies(x.Cond, o))
	}
	l.Positive, l.Negative = h.Count(x.Cond)
	return l.Append(nil)
}

// TestWrittenIsJudged: an outcome that a model forbids is found in a log.
func TestWrittenIsJudged(t *testing.T) {
	mp := test(t, "mp")
	h := runner.NewHistogram(mp)
	require.NoError(t, h.Add([]int64{1, 1}, 7))
	require.NoError(t, h.Add([]int64{1, 0}, 3))
	var log bytes.Buffer
	log.Write(logOf(mp, h))
	require.Contains(t, log.String(), "Test mp Allowed\nHistogram (2 states)\n")
	require.Contains(t, log.String(), "\nOk\n\nWitnesses\nPositive: 3, Negative: 7\n")
	require.Contains(t, log.String(), "Observation mp Sometimes 3 7\nTime mp 1.50\n")
	for name, want := range map[string]int{"sc": 1, "ptx": 0} {
		m, err := model.Load(name)
		require.NoError(t, err)
		findings, n, err := m.CheckLog(context.Background(), "log", strings.NewReader(log.String()),
			func(string) *litmus.Test { return mp }, model.Options{})
		require.NoError(t, err)
		require.Equal(t, 1, n)
		require.Len(t, findings, want, name)
	}
}
