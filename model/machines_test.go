package model

import (
	"encoding/xml"
	"errors"
	"io"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"optcheck/litmus"
)

const weakMP = `PTX MP
""
{ x=0; y=0; }
 P0@cta 0,gpu 0 | P1@cta 1,gpu 0 ;
 st.weak x, 1   | ld.weak r1, y  ;
 st.weak y, 1   | ld.weak r2, x  ;
exists (1:r1 == 1 /\ 1:r2 == 0)
`

// TestSchedules: a machine shows how it comes to an outcome, in every form.
func TestSchedules(t *testing.T) {
	mp := parse(t, weakMP)
	m := load(t, "ugpu")
	x, err := m.Explain(t.Context(), mp, Options{})
	require.NoError(t, err)
	require.True(t, x.Machine)
	require.NotEmpty(t, x.Schedule)
	last := x.Schedule[len(x.Schedule)-1]
	require.Equal(t, 1, last.Thread)
	require.Contains(t, last.Text, "reads 0")
	for output, want := range map[Output]string{OutExplain: "ugpu allows", OutSVG: "<svg", OutDOT: "digraph"} {
		var b strings.Builder
		_, err := m.RunCommand(t.Context(), []*litmus.Test{mp}, CommandOptions{Output: output}, &b)
		require.NoError(t, err)
		require.Contains(t, b.String(), want)
		require.Contains(t, b.String(), "reads 0")
		if output == OutSVG {
			d := xml.NewDecoder(strings.NewReader(b.String()))
			for err = nil; err == nil; {
				_, err = d.Token()
			}
			require.ErrorIs(t, err, io.EOF)
		}
	}
	var b strings.Builder
	_, err = m.RunCommand(t.Context(), []*litmus.Test{mp}, CommandOptions{Output: OutExplain, JSON: true}, &b)
	require.NoError(t, err)
	require.Contains(t, b.String(), `"why":{"possible":true,"allowed":true,"schedule":[{"thread":0,`)
}

// TestMachineLimits: a bound is no verdict, and what a machine does not speak of is
// an error that says so.
func TestMachineLimits(t *testing.T) {
	m := load(t, "ugpu")
	v, err := m.Judge(t.Context(), parse(t, weakMP), Options{MaxCandidates: 3})
	require.NoError(t, err)
	require.Contains(t, v.Undecided, "limit of 3 states")
	_, err = m.Judge(t.Context(), known(t, "MP-rel-acq"), Options{})
	require.ErrorIs(t, err, ErrOutside)
	require.ErrorContains(t, err, "accesses are plain, volatile or atomic")
	require.False(t, errors.Is(err, ErrUndecided))
	_, err = m.Judge(t.Context(), parse(t, weakMP), Options{Co: CoTotal})
	require.ErrorContains(t, err, "leave the coherence option out")
	_, err = m.RunCommand(t.Context(), []*litmus.Test{known(t, "CoWW-weak")}, CommandOptions{Output: OutSVG}, io.Discard)
	require.ErrorContains(t, err, "no schedule to draw")
}

// TestCoherent: without its load array UGPU keeps loads of an address in order, and
// is otherwise the same.
func TestCoherent(t *testing.T) {
	for name, want := range map[string]Observation{"ugpu": Sometimes, "ugpu-coherent": Never} {
		require.Equal(t, want, judge(t, load(t, name), known(t, "CoRR-weak")).Observation, name)
		require.Equal(t, Sometimes, judge(t, load(t, name), parse(t, weakMP)).Observation, name)
	}
	a, b := load(t, "ugpu"), load(t, "ugpu-coherent")
	require.NotEqual(t, a.Hash(), b.Hash())
	src, err := Source("ugpu-coherent")
	require.NoError(t, err)
	require.NotContains(t, src, "load-array")
}
