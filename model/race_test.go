package model

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
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

const (
	lock     = "LC0: atom.acquire.gpu.cas r0, y, 0, 1; bne r0, 0, LC0; ld.weak r1, x; add r1, r1, 1; st.weak x, r1; st.release.gpu y, 0"
	exchange = "LC0: atom.acquire.gpu.exch r0, y, 1; bne r0, 0, LC0; ld.weak r1, x; add r1, r1, 1; st.weak x, r1; st.release.gpu y, 0"
)

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
	{"two barriers, at which both wait for ever", "cta=0,gpu=0 cta=0,gpu=0", []string{"st.weak x, 1; bar.cta.sync 0", "bar.cta.sync 1; ld.weak r0, x"}, RaceNone},
	{"between two barriers", "cta=0,gpu=0 cta=0,gpu=0", []string{"bar.cta.sync 0; st.weak x, 1; bar.cta.sync 1", "bar.cta.sync 0; ld.weak r0, x; bar.cta.sync 1"}, RaceUniform},
	{"a spin", "", []string{"st.weak x, 1; st.release.gpu y, 1", "LC0: ld.acquire.gpu r0, y; bne r0, 1, LC0; ld.weak r1, x"}, RaceNone},
	{"a spin that is relaxed", "", []string{"st.weak x, 1; st.release.gpu y, 1", "LC0: ld.relaxed.gpu r0, y; bne r0, 1, LC0; ld.weak r1, x"}, RaceUniform},
	{"a spin that looks at data", "", []string{"st.weak x, 1; st.release.gpu y, 1", "LC0: ld.acquire.gpu r0, y; ld.weak r1, x; bne r0, 1, LC0"}, RaceUniform},
	{"a spin that never ends", "", []string{"LC0: ld.acquire.gpu r0, y; bne r0, 1, LC0", "st.weak x, 1", "ld.weak r1, x"}, RaceUniform},
	{"a spin that never ends, behind the race", "", []string{"st.weak x, 1; LC0: ld.acquire.gpu r0, y; bne r0, 1, LC0", "ld.weak r1, x"}, RaceUniform},
	{"a spin that never ends, and a race that nobody comes to", "", []string{"LC0: ld.acquire.gpu r0, y; bne r0, 1, LC0; st.weak x, 1", "ld.weak r1, x"}, RaceNone},
	{"a spin that never ends, before a barrier", "cta=0,gpu=0 cta=0,gpu=0 cta=1,gpu=0", []string{"LC0: ld.acquire.gpu r0, y; bne r0, 1, LC0; bar.cta.sync 0",
		"st.weak x, 1; bar.cta.sync 0", "ld.weak r1, x"}, RaceUniform},
	{"a spin that never ends, before the only barrier of the race", "cta=0,gpu=0 cta=0,gpu=0 cta=1,gpu=0", []string{
		"LC0: ld.acquire.gpu r0, y; bne r0, 1, LC0; bar.cta.sync 0", "bar.cta.sync 0; st.weak x, 1", "ld.weak r1, x"}, RaceNone},
	{"a lock by compare-and-swap", "", []string{lock, lock, lock, lock}, RaceNone},
	{"a lock by exchange", "", []string{exchange, exchange, exchange}, RaceNone},
	{"a lock that is taken relaxed", "", []string{strings.Replace(lock, "acquire", "relaxed", 1), lock}, RaceUniform},
	{"a register of an iteration that was left", "", []string{"st.weak x, 1; st.release.gpu y, 1",
		"LC0: ld.acquire.gpu r0, y; beq r0, 1, LC1; ld.relaxed.gpu r2, z; bra LC0; LC1: bne r2, 1, LC2; st.weak w, 1; LC2:",
		"st.relaxed.gpu z, 1; ld.weak r1, w"}, RaceUniform},
	{"a loop that stores what is new", "", []string{"LC0: atom.relaxed.gpu.cas r0, y, 0, 1; beq r0, 0, LC0", "ld.relaxed.gpu r0, y; bne r0, 1, LC0; st.weak x, 1; LC0:", "ld.weak r0, x"}, RaceUniform},
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
		if !strings.Contains(c.name, "never ends") && !strings.HasPrefix(c.name, "a lock by") { // see TestPTXRaceLoops; too large
			tests = append(tests, ptxTest(t, c.places, c.threads...))
		}
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

// TestPTXRaceLoops: executions with one spin iteration, and threads that stay in a loop, are as good as all executions of
// random threads that may also leave a loop for good, each time they come to it.
func TestPTXRaceLoops(t *testing.T) {
	m := raceFlagged(t, "")
	pieces := []string{"st.weak x, 1", "st.weak x, 3", "ld.weak r1, x", "ld.weak r3, x", "st.release.gpu y, 1", "st.relaxed.gpu y, 1", "fence.acq_rel.gpu", "ld.relaxed.gpu r2, z",
		"%[1]s: %[2]sld.acquire.gpu r0, y; bne r0, 1, %[1]s", "%[1]s: %[2]sld.relaxed.gpu r0, y; bne r0, 1, %[1]s",
		"%[1]s: %[2]sld.relaxed.gpu r0, y; ld.weak r1, x; bne r0, 1, %[1]s", "%[1]s: %[2]satom.acquire.gpu.cas r0, z, 0, 1; bne r0, 0, %[1]s",
		"%[1]s: %[2]satom.relaxed.gpu.exch r0, z, 1; bne r0, 0, %[1]s", "st.release.gpu z, 0",
		"%[1]s: %[2]sld.relaxed.gpu r0, y; beq r0, 1, %[1]sX; ld.relaxed.gpu r2, z; bra %[1]s; %[1]sX: bne r2, 1, %[1]sY; st.weak x, 2; %[1]sY:"}
	r := rand.New(rand.NewPCG(1, 1))
	seen := map[Race]int{}
	for range 240 {
		var plain, leaves []string
		for range 2 {
			var a, b []string
			for k := range 1 + r.IntN(3) {
				piece := pieces[r.IntN(len(pieces))]
				if !strings.Contains(piece, "%") {
					a, b = append(a, piece), append(b, piece)
					continue
				}
				label := fmt.Sprintf("LC%d", k)
				a, b = append(a, fmt.Sprintf(piece, label, "")), append(b, fmt.Sprintf(piece, label, "ld.relaxed.sys r9, g; bne r9, 0, END; "))
			}
			plain, leaves = append(plain, strings.Join(a, "; ")), append(leaves, strings.Join(b, "; ")+"; END:")
		}
		x := ptxTest(t, "", plain...)
		got, err := PTXRace(t.Context(), x, Options{})
		if errors.Is(err, ErrUndecided) {
			continue // the last iteration of a loop leaves a register behind
		}
		require.NoError(t, err, x)
		y := ptxTest(t, "", append(leaves, "st.relaxed.sys g, 1")...)
		v, err := m.Judge(t.Context(), y, Options{Blocked: BlockedCounted, Unroll: 2, MaxCandidates: 10_000})
		require.NoError(t, err)
		if v.Undecided == "" {
			require.Equal(t, slices.Contains(v.Flags, "data-race"), got != RaceNone, "%s\n%s", x, y)
			seen[got]++
		}
	}
	t.Log(seen)
	require.Greater(t, min(seen[RaceNone], seen[RaceUniform]), 20)
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
