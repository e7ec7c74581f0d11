package model

import (
	"context"
	"testing"

	"github.com/stretchr/testify/require"

	"optcheck/litmus"
)

func load(t testing.TB, name string) *Model {
	t.Helper()
	m, err := Load(name)
	require.NoError(t, err)
	return m
}

func parse(t testing.TB, src string) *litmus.Test {
	t.Helper()
	test, err := litmus.Parse("test.litmus", []byte(src))
	require.NoError(t, err)
	return test
}

func judge(t testing.TB, m *Model, test *litmus.Test) *Verdict {
	t.Helper()
	v, err := m.Judge(context.Background(), test, Options{})
	require.NoError(t, err)
	require.Empty(t, v.Undecided)
	return v
}

func TestSmoke(t *testing.T) {
	src := `PTX SB
{ x=0; y=0; }
 P0@cta 0,gpu 0          | P1@cta 1,gpu 0          ;
 st.relaxed.gpu x, 1     | st.relaxed.gpu y, 1     ;
 fence.sc.gpu            | fence.sc.gpu            ;
 ld.relaxed.gpu r0, y    | ld.relaxed.gpu r0, x    ;
exists (P0:r0 == 0 /\ P1:r0 == 0)
`
	for _, info := range Builtin() {
		v := judge(t, load(t, info.Name), parse(t, src))
		t.Log(info.Name, v.States, v.Observation, v.Candidates, v.Partial)
	}
}
