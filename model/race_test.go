package model

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"optcheck/litmus"
	"optcheck/litmus/corpus"
	"optcheck/model/internal/gen"
)

// ptxTest makes a test of dialect PTX of the code of its threads, each in a CTA of its own
// of one GPU unless places says otherwise.
func ptxTest(t testing.TB, places string, threads ...string) *litmus.Test {
	t.Helper()
	at := strings.Fields(places)
	var b strings.Builder
	b.WriteString("PTX t\n{ x=0; y=0; z=0; }\n")
	var rows [][]string
	for i, th := range threads {
		place := fmt.Sprintf("cta %d, gpu 0", i)
		if i < len(at) {
			place = strings.ReplaceAll(at[i], ",", ", ")
			place = strings.ReplaceAll(place, "=", " ")
		}
		sep := " |"
		if i == len(threads)-1 {
			sep = " ;\n"
		}
		fmt.Fprintf(&b, " P%d@%s%s", i, place, sep)
		for k, in := range strings.Split(th, ";") {
			for len(rows) <= k {
				rows = append(rows, make([]string, len(threads)))
			}
			rows[k][i] = strings.TrimSpace(in)
		}
	}
	for _, r := range rows {
		b.WriteString(" " + strings.Join(r, " | ") + " ;\n")
	}
	b.WriteString("exists (x=0)\n")
	x, err := litmus.Parse("t.litmus", []byte(b.String()))
	require.NoError(t, err, b.String())
	return x
}

// raceCase is a test whose races are known by the definition.
type raceCase struct {
	name, places string
	threads      []string
	want         Race
}

// guarded reads the data after a look at the flag.
const guarded = "; bne r0, 1, LC0; ld.weak r1, x; LC0:"

var raceCases = []raceCase{
	{"mp, release and acquire, read if the flag is set", "", []string{"st.weak x, 1; st.release.gpu y, 1", "ld.acquire.gpu r0, y" + guarded}, RaceNone},
	{"mp, release and acquire, read anyway", "", []string{"st.weak x, 1; st.release.gpu y, 1", "ld.acquire.gpu r0, y; ld.weak r1, x"}, RaceUniform},
	{"mp, relaxed", "", []string{"st.weak x, 1; st.relaxed.gpu y, 1", "ld.relaxed.gpu r0, y" + guarded}, RaceUniform},
	{"mp, release alone", "", []string{"st.weak x, 1; st.release.gpu y, 1", "ld.relaxed.gpu r0, y" + guarded}, RaceUniform},
	{"mp, scopes too narrow", "", []string{"st.weak x, 1; st.release.cta y, 1", "ld.acquire.cta r0, y" + guarded}, RaceUniform},
	{"mp in a CTA", "cta=0,gpu=0 cta=0,gpu=0", []string{"st.weak x, 1; st.release.cta y, 1", "ld.acquire.cta r0, y" + guarded}, RaceNone},
	{"mp, fences", "", []string{"st.weak x, 1; fence.acq_rel.gpu; st.relaxed.gpu y, 1", "ld.relaxed.gpu r0, y; fence.acq_rel.gpu" + guarded}, RaceNone},
	{"mp, fence.sc", "", []string{"st.weak x, 1; fence.sc.gpu; st.relaxed.gpu y, 1", "ld.relaxed.gpu r0, y; fence.sc.gpu" + guarded}, RaceNone},
	{"mp, weak flag", "", []string{"st.weak x, 1; fence.acq_rel.gpu; st.weak y, 1", "ld.weak r0, y; fence.acq_rel.gpu" + guarded}, RaceUniform},
	{"all strong", "", []string{"st.relaxed.gpu x, 1; st.relaxed.gpu y, 1", "ld.relaxed.gpu r0, y; ld.relaxed.gpu r1, x"}, RaceNone},
	{"strong, one of too narrow a scope", "", []string{"st.relaxed.gpu x, 1", "ld.relaxed.cta r1, x"}, RaceUniform},
	{"strong, on two GPUs", "cta=0,gpu=0 cta=0,gpu=1", []string{"st.relaxed.sys x, 1", "ld.relaxed.gpu r1, x"}, RaceUniform},
	{"volatile is strong", "", []string{"st.volatile x, 1", "ld.volatile r1, x"}, RaceNone},
	{"weak stores", "", []string{"st.weak x, 1", "st.weak x, 2"}, RaceUniform},
	{"loads alone", "", []string{"ld.weak r0, x", "ld.weak r0, x"}, RaceNone},
	{"one thread", "", []string{"st.weak x, 1; ld.weak r0, x; st.weak x, 2"}, RaceNone},
	{"atomics", "", []string{"atom.relaxed.gpu.add r0, x, 1", "atom.relaxed.gpu.add r0, x, 1"}, RaceNone},
	{"an atomic and a weak load", "", []string{"atom.relaxed.gpu.add r0, x, 1", "ld.weak r0, x"}, RaceUniform},
	{"a barrier", "cta=0,gpu=0 cta=0,gpu=0", []string{"st.weak x, 1; bar.cta.sync 0", "bar.cta.sync 0; ld.weak r0, x"}, RaceNone},
	{"two barriers", "cta=0,gpu=0 cta=0,gpu=0", []string{"st.weak x, 1; bar.cta.sync 0", "bar.cta.sync 1; ld.weak r0, x"}, RaceUniform},
	{"a spin", "", []string{"st.weak x, 1; st.release.gpu y, 1", "LC0: ld.acquire.gpu r0, y; bne r0, 1, LC0; ld.weak r1, x"}, RaceNone},
	{"a spin that is relaxed", "", []string{"st.weak x, 1; st.release.gpu y, 1", "LC0: ld.relaxed.gpu r0, y; bne r0, 1, LC0; ld.weak r1, x"}, RaceUniform},
	{"a spin that looks at data", "", []string{"st.weak x, 1; st.release.gpu y, 1", "LC0: ld.acquire.gpu r0, y; ld.weak r1, x; bne r0, 1, LC0"}, RaceUniform},
	{"the data is given back and taken again", "", []string{"st.weak x, 1; st.release.gpu y, 1; ld.acquire.gpu r2, z; bne r2, 1, LC1; st.weak x, 2; LC1:",
		"ld.acquire.gpu r0, y; bne r0, 1, LC0; ld.weak r1, x; st.release.gpu z, 1; LC0:"}, RaceNone},
	{"given back without a release", "", []string{"st.weak x, 1; st.release.gpu y, 1; ld.acquire.gpu r2, z; bne r2, 1, LC1; st.weak x, 2; LC1:",
		"ld.acquire.gpu r0, y; bne r0, 1, LC0; ld.weak r1, x; st.relaxed.gpu z, 1; LC0:"}, RaceUniform},
	{"two sizes, both strong", "", []string{"st.relaxed.gpu.u32 x, 1", "ld.relaxed.gpu.u64 r0, x"}, RaceMixed},
	{"two bytes of a word", "", []string{"st.relaxed.gpu.u8 x, 1", "st.relaxed.gpu.u8 [x+1], 1; ld.relaxed.gpu.u8 r0, [x+2]"}, RaceNone},
	{"a byte of a word", "", []string{"st.relaxed.gpu.u32 x, 1", "ld.relaxed.gpu.u8 r0, [x+2]"}, RaceMixed},
	{"two sizes in order", "", []string{"st.weak.u64 x, 1; st.release.gpu.u32 y, 1", "ld.acquire.gpu.u32 r0, y; bne r0, 1, LC0; ld.weak.u32 r1, x; LC0:"}, RaceNone},
	{"two sizes, elsewhere a race of one", "", []string{"st.weak.u64 x, 1; st.weak.u32 y, 1", "ld.weak.u64 r1, x; ld.weak.u32 r0, y"}, RaceUniform},
}

// TestPTXRace: the definition, on the shapes of the manual and of the literature. Weak
// data after a flag is free of races only if it is read after a look at the flag.
func TestPTXRace(t *testing.T) {
	for _, c := range raceCases {
		x := ptxTest(t, c.places, c.threads...)
		before := x.Hash()
		got, err := PTXRace(t.Context(), x, Options{})
		require.NoError(t, err, c.name)
		assert.Equal(t, c.want, got, "%s:\n%s", c.name, x)
		require.Equal(t, before, x.Hash(), "the test was changed")
	}
}

// raceFlagged returns the definition as a flag on the executions of ptx: slow, and as plain as
// can be. without takes a part of the definition away.
func raceFlagged(t testing.TB, without string) *Model {
	t.Helper()
	src, err := Source(RaceModel)
	require.NoError(t, err)
	require.Contains(t, src, "~empty race as data-race")
	src = strings.Replace(src, "~empty race", "flag ~empty race", 1)
	if without != "" {
		require.Contains(t, src, without)
		src = strings.Replace(src, without, "", 1)
	}
	m, err := Parse("flagged", "flagged.cat", src)
	require.NoError(t, err)
	return m
}

func flagged(t testing.TB, m *Model, x *litmus.Test) bool {
	t.Helper()
	v, err := m.Judge(t.Context(), x, Options{Blocked: BlockedCounted, Unroll: 3})
	require.NoError(t, err)
	require.Empty(t, v.Undecided)
	return slices.Contains(v.Flags, "data-race")
}

// TestPTXRaceIsTheFlag: the search for an execution with a race finds one exactly where
// one of all executions has the flag, on the tests with known verdicts and the corpus.
func TestPTXRaceIsTheFlag(t *testing.T) {
	m := raceFlagged(t, "")
	mixed, err := races("flag ~empty race as data-race")
	require.NoError(t, err)
	files, err := filepath.Glob("testdata/*/*.litmus")
	require.NoError(t, err)
	var tests []*litmus.Test
	for _, f := range files {
		x, err := litmus.ParseFile(f)
		require.NoError(t, err)
		tests = append(tests, x)
	}
	for _, c := range raceCases {
		tests = append(tests, ptxTest(t, c.places, c.threads...))
	}
	tests = append(tests, corpus.Tests()...)
	racy := 0
	for _, x := range tests {
		got, err := PTXRace(t.Context(), x, Options{})
		require.NoError(t, err, x.Name)
		by := m
		if Vendor(x) == AsyncModel {
			by = mixed
		}
		require.Equal(t, flagged(t, by, x), got != RaceNone, x.String())
		if got != RaceNone {
			racy++
		}
	}
	t.Logf("%d of %d tests have a data race", racy, len(tests))
	require.Greater(t, racy, 20)
	require.Greater(t, len(tests)-racy, 20)
}

// TestPTXRaceMutants: every part of the definition decides a case.
func TestPTXRaceMutants(t *testing.T) {
	for _, part := range []string{" & loc", " \\ id", " \\ (IW * _)", " \\ (_ * IW)", " \\ (morally-strong & same-size)",
		" & same-size", " \\ causality", " \\ (causality^-1)"} {
		m := raceFlagged(t, part)
		killed := false
		for _, c := range raceCases {
			killed = killed || flagged(t, m, ptxTest(t, c.places, c.threads...)) != (c.want != RaceNone)
		}
		require.True(t, killed, "no case notices that %q is missing", part)
	}
}

// TestPTXRaceLimits: what was not looked at is never said to be free of races.
func TestPTXRaceLimits(t *testing.T) {
	counts := ptxTest(t, "", "LC0: ld.relaxed.gpu r0, x; add r1, r1, 1; st.relaxed.gpu y, r1; bne r0, 1, LC0", "st.relaxed.gpu x, 1")
	_, err := PTXRace(t.Context(), counts, Options{})
	require.ErrorIs(t, err, ErrUndecided)
	require.ErrorContains(t, err, "more often than 16 times")

	large := parse(t, gen.Ring(9))
	_, err = PTXRace(t.Context(), large, Options{MaxCandidates: 1})
	require.Error(t, err)
	ctx, cancel := context.WithCancelCause(t.Context())
	cancel(errors.New("enough"))
	_, err = PTXRace(ctx, ptxTest(t, "", "st.relaxed.gpu x, 1; st.relaxed.gpu y, 1", "ld.relaxed.gpu r0, y; ld.relaxed.gpu r1, x"), Options{})
	if err != nil {
		require.ErrorContains(t, err, "enough")
	}
}
