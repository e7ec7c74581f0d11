package audit

import (
	"bufio"
	"compress/gzip"
	"context"
	"encoding/json"
	"fmt"
	"os"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"optcheck/event"
	"optcheck/litmus"
	"optcheck/litmus/corpus"
	"optcheck/model/nvhw"
	"optcheck/optcheck"
	"optcheck/ptxgen/cycle"
	"optcheck/spec"
)

// chipSaw reads what a device has shown of the tests of a stored run, by their hashes.
func chipSaw(t *testing.T, file string) (saw map[string][]event.Histogram) {
	t.Helper()
	f, err := os.Open(file)
	require.NoError(t, err)
	defer f.Close()
	z, err := gzip.NewReader(f)
	require.NoError(t, err)
	saw = map[string][]event.Histogram{}
	lines := bufio.NewScanner(z)
	lines.Buffer(nil, 1<<24)
	for lines.Scan() {
		var e struct{ Histogram *event.Histogram }
		require.NoError(t, json.Unmarshal(lines.Bytes(), &e))
		if e.Histogram != nil && e.Histogram.Validated && e.Histogram.Status == "done" {
			saw[e.Histogram.Hash] = append(saw[e.Histogram.Hash], *e.Histogram)
		}
	}
	require.NoError(t, lines.Err())
	return saw
}

// chipTests returns every nth test of a preset, or of the corpus.
func chipTests(t *testing.T, preset string, nth int) (tests []*litmus.Test) {
	t.Helper()
	all := slices.Values(corpus.Tests())
	if preset != "corpus" {
		g, err := cycle.Preset(preset)
		require.NoError(t, err)
		all = g.Tests()
	}
	n := 0
	for x := range all {
		if n++; n%nth == 0 {
			tests = append(tests, x)
		}
	}
	return tests
}

// TestChipsAreHardware: whatever an H200 has shown of a test, the model of the hardware can
// do with its machine code: a rule that is stronger than the chip would be refuted here. The
// chip ran harness kernels by ptxas 13.0; the model runs those of an audit by the newest
// release at hand, in which what makes the markers may wait for results sooner. So what it
// cannot do it is asked for again without waits.
func TestChipsAreHardware(t *testing.T) {
	nth := 25
	if full() {
		nth = 1
	}
	for preset, file := range map[string]string{"divisions": "divisions/until95", "corpus": "corpus", "paper": "paper", "ptx": "ptx"} {
		saw, tcs := chipSaw(t, "../docs/results/h200/"+file+".jsonl.gz"), releases(t)
		o := Options{Tests: chipTests(t, preset, nth), Toolchains: tcs[len(tcs)-1:], Targets: []string{"sm_90"}, Levels: []string{"O3"},
			Layouts: []spec.Layout{spec.Pointers}, Hardware: true}
		jobs, err := o.plan()
		require.NoError(t, err)
		a := newAuditor(o, event.NewRun())
		var mu sync.Mutex
		n := map[string]int{}
		a.ran = func(hash string, x *litmus.Test, threads []optcheck.LiftedThread) {
			mu.Lock()
			defer mu.Unlock()
			can := ends(t, x, threads, 0)
			for _, h := range saw[hash] {
				n["histograms"]++
				for _, y := range h.Outcomes {
					n["outcomes"]++
					if within(h.Terms, y.Values, can) {
						continue
					}
					n["only without waits"]++
					assert.True(t, within(h.Terms, y.Values, ends(t, x, threads, 1<<nvhw.Scoreboard)),
						"%s %v %v was seen %d times, and the model cannot do it", h.Test, h.Terms, y.Values, y.Count)
				}
			}
		}
		require.NoError(t, a.run(context.Background(), jobs))
		require.Positive(t, n["histograms"], file)
		t.Logf("%s: %v", file, n)
	}
}

// ends returns all ends of a test's machine code without some rules of the model.
func ends(t *testing.T, x *litmus.Test, threads []optcheck.LiftedThread, without uint32) map[string][]string {
	t.Helper()
	m, err := optcheck.NewMachine(x, threads)
	require.NoError(t, err)
	m.(*optcheck.NVMachine).Without = without
	all, err := allEnds(t.Context(), m, x, threads)
	require.NoError(t, err)
	return all
}

// within reports whether one of some states in words has these values of these terms.
func within(terms []string, values []int64, states map[string][]string) bool {
	for state := range states {
		all := true
		for i, term := range terms {
			all = all && strings.Contains(" "+state, fmt.Sprintf(" %s=%d;", strings.Trim(term, "[]"), values[i]))
		}
		if all {
			return true
		}
	}
	return false
}
