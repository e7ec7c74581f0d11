package model

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"optcheck/internal/patient"
	"optcheck/litmus"
	"optcheck/model/cat"
	"optcheck/model/internal/gen"
)

func TestModelErrorsHaveAPlace(t *testing.T) {
	dir := t.TempDir()
	write := func(name, src string) string {
		path := filepath.Join(dir, name)
		require.NoError(t, os.WriteFile(path, []byte(src), 0o644))
		return path
	}
	write("round1.cat", "include \"round2.cat\"\n")
	for _, c := range []struct{ name, src, want string }{
		{"unknown.cat", "PTX x\nacyclic po | nosuch as a\n", `unknown\.cat:2:14: .*nosuch`},
		{"type.cat", "PTX x\nlet a = po | W\nacyclic a\n", `type\.cat:2:\d+: `},
		{"syntax.cat", "PTX x\nacyclic po |\n", `syntax\.cat:\d+:\d+: `},
		{"round2.cat", "include \"round1.cat\"\n", `round[12]\.cat:1:\d+: `},
		{"missing.cat", "PTX x\ninclude \"there-is-none.cat\"\n", `missing\.cat:2:\d+: .*there-is-none`},
		{"ownco.cat", "X\nwith co from linearisations(W, 0)\nacyclic po | co\n", `ownco\.cat:2:1: .*coherence`},
	} {
		_, err := Load(write(c.name, c.src))
		require.Error(t, err, c.name)
		assert.Regexp(t, c.want, err.Error(), c.name)
	}
	_, err := Load("nosuch")
	require.ErrorContains(t, err, "ptx-2015")
	_, err = Load(filepath.Join(dir, "none.cat"))
	require.ErrorIs(t, err, os.ErrNotExist)
}

func TestRecursionWithoutFixpoint(t *testing.T) {
	m, err := Parse("bad", "bad.cat", "X\nlet rec r = r^-1 | (po \\ (_ ; r ; _))\nempty r as x\n")
	require.NoError(t, err)
	_, err = m.Judge(context.Background(), parse(t, gen.Writers(2)), Options{})
	require.ErrorContains(t, err, "bad.cat:2:")
	require.ErrorIs(t, err, cat.ErrNoFixpoint)
}

func TestTooManyThreads(t *testing.T) {
	_, err := load(t, "sc").Judge(context.Background(), parse(t, gen.Ring(40)), Options{})
	require.Error(t, err)
	assert.Regexp(t, `^test\.litmus:\d+:\d+: test ring40\.SB has 40 threads; at most 32`, err.Error())
}

func TestLimitsGiveNoVerdict(t *testing.T) {
	test := parse(t, gen.Ring(12))
	m := load(t, "sc")
	v, err := m.Judge(context.Background(), test, Options{MaxCandidates: 10})
	require.NoError(t, err)
	require.Equal(t, "limit of 10 candidates reached", v.Undecided)
	_, _, err = m.Outcomes(context.Background(), test, Options{MaxCandidates: 10})
	require.ErrorIs(t, err, ErrUndecided)

	ctx, cancel := context.WithTimeoutCause(context.Background(), 5*time.Millisecond, errors.New("time is up"))
	defer cancel()
	v, err = m.Judge(ctx, parse(t, gen.Ring(24)), Options{}) // of which there is no end
	require.NoError(t, err)
	require.Contains(t, v.Undecided, "time is up")

	var b strings.Builder
	sum, err := m.RunCommand(context.Background(), []*litmus.Test{test}, CommandOptions{Options: Options{MaxCandidates: 10}, NoTime: true}, &b)
	require.ErrorIs(t, err, ErrUndecided)
	require.Equal(t, 1, sum.Undecided)
	require.Contains(t, b.String(), "Undecided ring12.SB limit")
	for _, line := range []string{"\nOk\n", "\nNo\n", "Observation"} {
		require.NotContains(t, b.String(), line)
	}
}

func TestCancelledRunIsAnError(t *testing.T) {
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	var tests []*litmus.Test
	for i := range 100 {
		test := parse(t, gen.Ring(10))
		test.Name = fmt.Sprint("T", i)
		tests = append(tests, test)
	}
	_, err := load(t, "sc").RunCommand(ctx, tests, CommandOptions{}, &strings.Builder{})
	require.Error(t, err)
}

func TestDuplicateNames(t *testing.T) {
	test := parse(t, gen.Ring(2))
	_, err := load(t, "sc").RunCommand(context.Background(), []*litmus.Test{test, test}, CommandOptions{}, &strings.Builder{})
	require.ErrorContains(t, err, "two tests have the name ring2.SB")
}

// Two threads that spin on a lock: paths without end, bounded by unrolling.
const spinLock = `PTX spin
{ l=0; x=0; }
 P0@cta 0,gpu 0                        | P1@cta 1,gpu 0                        ;
 L0:                                   | L1:                                   ;
 atom.acquire.gpu.cas r0, l, 0, 1      | atom.acquire.gpu.cas r0, l, 0, 1      ;
 bne r0, 0, L0                         | bne r0, 0, L1                         ;
 ld.weak r1, x                         | ld.weak r1, x                         ;
 add r1, r1, 1                         | add r1, r1, 1                         ;
 st.weak x, r1                         | st.weak x, r1                         ;
 st.release.gpu l, 0                   | st.release.gpu l, 0                   ;
forall (x == 2)
`

func TestSpinningThreadsEndSoon(t *testing.T) {
	test := parse(t, spinLock)
	for _, name := range []string{"sc", "tso", "ptx", "ptx-6.0", "opencl"} {
		m := load(t, name)
		start := time.Now()
		v := judge(t, m, test)
		require.Less(t, time.Since(start), patient.Long, name)
		require.True(t, v.Cut, name)
		require.Equal(t, Always, v.Observation, "%s: %v", name, v.States)
	}
	v, err := load(t, "ptx").Judge(context.Background(), test, Options{Unroll: 4})
	require.NoError(t, err)
	require.Equal(t, Always, v.Observation)
}

func TestManyWriters(t *testing.T) {
	v := judge(t, load(t, "sc"), parse(t, gen.Writers(8)))
	// 8! orders, and of 9 × 9 pairs of values those that do not go back.
	require.EqualValues(t, 40320*45, v.Positive+v.Negative)
	require.EqualValues(t, 81-9-8+1+8, len(v.States)) // (0,0), (0,i), (i,j): all but (i,0)
	require.Less(t, v.Candidates, uint64(10_000))
	// With the last value observed, symmetry must not hide states.
	test := parse(t, gen.Writers(4))
	test.Observed = append(test.Observed, litmus.Term{Kind: litmus.TermLoc, Name: "x"})
	w := judge(t, load(t, "sc"), test)
	require.EqualValues(t, 24*15, w.Positive+w.Negative)
	finals := map[int64]uint64{}
	for _, s := range w.States {
		finals[s.Values[2]] += s.Count
	}
	require.Len(t, finals, 4)
	for k := int64(2); k <= 4; k++ {
		require.Equal(t, finals[1], finals[k])
	}
}

func TestBarrierThatNeverCompletes(t *testing.T) {
	v := judge(t, load(t, "ptx"), parse(t, `PTX blocked
{ x=0; }
 P0@cta 0,gpu 0     | P1@cta 0,gpu 0 ;
 bar.cta.sync 0,0,3 | bar.cta.sync 0,0,3 ;
 st.weak x, 1       | st.weak x, 2   ;
exists (x == 1)
`))
	require.True(t, v.Blocked)
	require.Empty(t, v.States)
}

func TestSharedMemoryOfTwoCTAs(t *testing.T) {
	test := parse(t, gen.Ring(2))
	test.Locations[0].Space = litmus.Shared
	_, err := load(t, "ptx").Judge(context.Background(), test, Options{})
	require.ErrorContains(t, err, "shared memory")
}

func TestFaultIsNoVerdict(t *testing.T) {
	v, err := load(t, "sc").Judge(context.Background(), parse(t, `PTX fault
{ x=0; P0:.reg .b64 r1 = x; }
 P0@cta 0,gpu 0       ;
 ld.relaxed.gpu r0, x ;
 add.s64 r1, r1, 8    ;
 st.weak [r1], 1      ;
exists (P0:r0 == 0)
`), Options{})
	require.NoError(t, err)
	require.Contains(t, v.Undecided, "which is no location")
}

// A model without a check on values out of thin air: values that justify
// themselves are drawn from those that the test can write.
func TestSelfJustifyingValues(t *testing.T) {
	m, err := Parse("weak", "weak.cat", "X\nempty 0 as nothing\n")
	require.NoError(t, err)
	v := judge(t, m, parse(t, `PTX LB-ctrls
{ x=0; y=0; }
 P0@cta 0,gpu 0         | P1@cta 1,gpu 0         ;
 ld.relaxed.gpu r0, x   | ld.relaxed.gpu r0, y   ;
 bne r0, 1, L0          | bne r0, 1, L1          ;
 st.relaxed.gpu y, 1    | st.relaxed.gpu x, 1    ;
 L0:                    | L1:                    ;
exists (P0:r0 == 1 /\ P1:r0 == 1)
`))
	require.Equal(t, Sometimes, v.Observation)
	v = judge(t, m, parse(t, `PTX LB-copy
{ x=0; y=0; }
 P0@cta 0,gpu 0         | P1@cta 1,gpu 0         ;
 ld.relaxed.gpu r0, x   | ld.relaxed.gpu r0, y   ;
 st.relaxed.gpu y, r0   | st.relaxed.gpu x, r0   ;
exists (P0:r0 == 42)
`))
	require.Equal(t, Never, v.Observation)
}

func TestConcurrentUse(t *testing.T) {
	m := load(t, "ptx")
	files, err := filepath.Glob("testdata/known/*.litmus")
	require.NoError(t, err)
	var tests []*litmus.Test
	var want [][][]int64
	for _, f := range files {
		test, err := litmus.ParseFile(f)
		require.NoError(t, err)
		tests, want = append(tests, test), append(want, values(judge(t, m, test)))
	}
	var wg sync.WaitGroup
	for range 8 {
		wg.Go(func() {
			for i, test := range tests {
				v, err := m.Judge(context.Background(), test, Options{})
				assert.NoError(t, err)
				assert.Equal(t, want[i], values(v))
			}
		})
	}
	wg.Wait()
}

// Two racing weak writes, each ordered before a different reader that sees the
// other one: only possible while nothing orders the writes.
func TestCoOverride(t *testing.T) {
	test := parse(t, `PTX racing-writes
{ x=0; y=0; z=0; }
 P0@cta 0,gpu 0      | P1@cta 1,gpu 0      | P2@cta 2,gpu 0       | P3@cta 3,gpu 0       ;
 st.weak x, 1        | st.weak x, 2        | ld.acquire.gpu r0, y | ld.acquire.gpu r0, z ;
 st.release.gpu y, 1 | st.release.gpu z, 1 | ld.weak r1, x        | ld.weak r1, x        ;
exists (P2:r0 == 1 /\ P2:r1 == 2 /\ P3:r0 == 1 /\ P3:r1 == 1)
`)
	for _, name := range []string{"ptx-6.0", "ptx-7.5", "ptx"} {
		m := load(t, name)
		total, err := m.Judge(context.Background(), test, Options{Co: CoTotal})
		require.NoError(t, err)
		require.Equal(t, Never, total.Observation)
		require.Equal(t, Sometimes, judge(t, m, test).Observation)
	}
	for _, s := range []string{"", "total", "partial"} {
		_, err := ParseCo(s)
		require.NoError(t, err)
	}
	_, err := ParseCo("sideways")
	require.Error(t, err)
}
