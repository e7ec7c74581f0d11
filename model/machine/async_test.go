package machine

import (
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"optcheck/litmus"
	"optcheck/litmus/corpus"
	"optcheck/model/exec"
	"optcheck/model/internal/gen"
)

// asyncLarge are tests that need more states than are tried here: reductions of eight elements, or two of four.
func asyncLarge(name string) bool {
	return strings.HasPrefix(name, "bulkred-f16") || strings.HasPrefix(name, "bulkred-bf16") ||
		slices.Contains([]string{"bulkred-both", "bulkred-two-unordered", "bulkred-f32-both", "bulkred-f32-order"}, name)
}

// asyncKnown are the tests of accesses of several sizes, proxies, and asynchronous operations.
func asyncKnown(t testing.TB) []*litmus.Test {
	list := corpus.Async()
	for _, g := range []string{"../testdata/async/*.litmus", "../testdata/known/*.litmus"} {
		files, err := filepath.Glob(g)
		require.NoError(t, err)
		for _, f := range files {
			x, err := litmus.ParseFile(f)
			require.NoError(t, err)
			list = append(list, x)
		}
	}
	return list
}

// judged is a test with the states that the axioms allow.
type judged struct {
	*exec.Program
	states [][]int64
}

// differs reports whether a machine has other states.
func (j *judged) differs(t testing.TB, m *Model, most int) (got [][]int64, differs, ok bool) {
	a, err := m.Run(t.Context(), j.Program, Options{MaxStates: most})
	if err != nil || a.Undecided != "" {
		return nil, false, false
	}
	return states(a), !slices.EqualFunc(states(a), j.states, slices.Equal), true
}

func asyncJudged(t testing.TB, e *exec.Engine, tests []*litmus.Test) (list []*judged) {
	for _, x := range tests {
		p, err := exec.Compile(x)
		require.NoError(t, err)
		r, err := e.Run(t.Context(), p, exec.Options{StatesOnly: true, MaxCandidates: 300_000})
		if err != nil || r.Undecided != "" {
			continue
		}
		list = append(list, &judged{p, states(r)})
	}
	return list
}

// TestAsyncTwin: on every test of the asynchronous corpus, and of the models, the machine and the axioms have the same final states.
func TestAsyncTwin(t *testing.T) {
	m := Asynchronous("ptx-async-op")
	n := 0
	for _, j := range asyncJudged(t, axioms(t, "ptx-async"), asyncKnown(t)) {
		if asyncLarge(j.Test.Name) {
			continue
		}
		got, differs, ok := j.differs(t, m, 100_000)
		require.True(t, ok, j.Test.Name)
		require.False(t, differs, "%s: machine %v, axioms %v", j.Test.Name, got, j.states)
		n++
	}
	t.Logf("%d tests", n)
	require.Greater(t, n, 600)
}

// TestAsyncMutations: without any one of its rules the machine is not the axioms' twin any more.
func TestAsyncMutations(t *testing.T) {
	known := asyncJudged(t, axioms(t, "ptx-async"), asyncKnown(t))
	for _, rule := range asyncRules {
		m, err := Asynchronous("ptx-async-op").Without(rule.Name)
		require.NoError(t, err)
		by := ""
		for _, j := range known {
			if asyncLarge(j.Test.Name) {
				continue
			}
			if _, differs, ok := j.differs(t, m, 100_000); ok && differs {
				by = j.Test.Name
				break
			}
		}
		t.Logf("%-22s %s", rule.Name, by)
		if by == "" {
			t.Errorf("nobody notices that rule %s is missing", rule.Name)
		}
	}
}

// TestAsyncTwinRandom: so have tests at random, of the words of random tests, and of asynchronous operations.
// Left out is cp.async.mbarrier.arrive without .noinc, as in TestCountersRandom.
func TestAsyncTwinRandom(t *testing.T) {
	want, most := 40, 5_000
	if os.Getenv("OPTCHECK_FULL") != "" {
		want, most = 500, 20_000
	}
	e, m := axioms(t, "ptx-async"), Asynchronous("ptx-async-op")
	plain := gen.Config{MinThreads: 2, MaxThreads: 3, MaxInstr: 4, MaxAccesses: 4, Locations: 2, Strong: true, Atomics: true, Fences: true, Deps: true,
		Sizes: true, Barriers: true, Proxies: true}
	for name, random := range map[string]func(r *rand.Rand, name string) *litmus.Test{
		"sizes, barriers, proxies": func(r *rand.Rand, name string) *litmus.Test { return gen.Test(r, plain, name) },
		"asynchronous":             func(r *rand.Rand, name string) *litmus.Test { return asyncRandom(t, r, name) },
	} {
		r := rand.New(rand.NewPCG(36, 15))
		n := 0
		for i := range 2 * want {
			x := random(r, fmt.Sprintf("R%d", i))
			for _, j := range asyncJudged(t, e, []*litmus.Test{x}) {
				got, differs, ok := j.differs(t, m, most)
				require.False(t, differs, "machine %v, axioms %v\n%s", got, j.states, x)
				if ok {
					n++
				}
			}
			if n == want {
				break
			}
		}
		t.Logf("%s: the same on %d tests", name, n)
		require.Equal(t, want, n)
	}
}

// asyncWords are instructions of random tests: %d is the number of a register, or a value.
var asyncWords = []string{"st.weak x, %d", "st.relaxed.gpu x, %d", "st.weak s, %d", "ld.weak r%d, x", "ld.relaxed.gpu r%d, x", "ld.weak r%d, s",
	"@p ld.weak r%d, s", "ld.weak.u16 r%d, x", "st.release.gpu y, %d", "ld.acquire.gpu r%d, y", "ld.global.nc.u32 r%d, x", "fence.acq_rel.gpu",
	"fence.acq_rel.cluster", "bar.cta.sync 0", "bar.sync 1, 64", "bar.arrive 1, 64", "bar.warp.sync 3",
	"cp.async.ca.shared.global [s], [x], 4", "cp.async.commit_group", "cp.async.wait_all", "cp.async.wait_group 1", "cp.async.wait_group 0",
	"cp.async.mbarrier.arrive.noinc.shared.b64 [b]",
	"cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [s], [x], 16, [b]", "mbarrier.arrive.expect_tx.shared.b64 _, [b], 16",
	"cp.async.bulk.global.shared::cta.bulk_group [x], [s], 16", "cp.reduce.async.bulk.global.shared::cta.bulk_group.add.u32 [x], [s], 16",
	"cp.async.bulk.commit_group", "cp.async.bulk.wait_group 0", "cp.async.bulk.wait_group.read 0", "fence.proxy.async", "fence.proxy.async",
	"fence.proxy.async.global", "st.async.weak.shared::cluster.mbarrier::complete_tx::bytes.b32 [s], %d, [b]",
	"mbarrier.expect_tx.relaxed.cta.shared.b64 [b], 4", "mbarrier.arrive.shared.b64 _, [b]", "mbarrier.arrive.shared.b64 t, [b]",
	"mbarrier.test_wait.parity.shared.b64 p, [b], 0", "mbarrier.test_wait.parity.shared.b64 p, [b], 1",
	"mbarrier.arrive.relaxed.cta.shared.b64 _, [b]", "mbarrier.test_wait.parity.relaxed.cta.shared.b64 p, [b], 0",
	"barrier.cluster.arrive", "barrier.cluster.wait", "barrier.cluster.arrive.relaxed", "atom.add.relaxed.gpu.u32 r%d, x, 1",
	"atom.exch.relaxed.gpu.b64 r%d, x, 3", "ld.volatile.v2.u32 {r%d, r9}, [x]",
	"fence.proxy.async::generic.acquire.sync_restrict::shared::cluster.cluster", "fence.proxy.async::generic.release.sync_restrict::shared::cta.cluster",
	"fence.acquire.sync_restrict::shared::cluster.cluster", "fence.release.sync_restrict::shared::cta.cluster", "fence.proxy.async.shared::cta",
	"fence.sc.gpu", "fence.sc.cta", "atom.add.relaxed.gpu.u64 r%d, x, 1", "mbarrier.arrive_drop.shared.b64 _, [b]",
	"red.async.relaxed.cluster.shared::cluster.mbarrier::complete_tx::bytes.add.u32 [s], %d, [b]", "vote.sync.any.pred q, p, 3",
	"bar.red.popc.u32 r%d, 0, p"}

// asyncRandom is a test of two or three threads, the third in another CTA of the cluster, of few of the words.
func asyncRandom(t testing.TB, r *rand.Rand, name string) *litmus.Test {
	threads, rows := 2+r.IntN(2), 2+r.IntN(3)
	words := slices.Clone(asyncWords)
	r.Shuffle(len(words), func(i, j int) { words[i], words[j] = words[j], words[i] })
	words = append(words[:4+r.IntN(8):11], "ld.weak r%d, x", "st.weak x, %d")
	var b, seen strings.Builder
	fmt.Fprintf(&b, "PTX %s\n{ x=0; y=0; s=0; b=%d; }\n P0@cta 0, cluster 0, gpu 0 | P1@cta 0, cluster 0, gpu 0", name, 1+r.IntN(2))
	if threads == 3 {
		b.WriteString(" | P2@cta 1, cluster 0, gpu 0")
	}
	n := 0
	for range rows {
		for th := range threads {
			w := words[r.IntN(len(words))]
			if th == 2 && (strings.ContainsAny(w, "[{") || strings.Contains(w, " s") || strings.Contains(w, "warp")) {
				w = "st.relaxed.gpu x, %d"
			}
			if strings.Contains(w, "%d") {
				n++
				w = strings.ReplaceAll(w, "%d", strconv.Itoa(n%9))
			}
			if i := strings.Index(strings.Replace(w, "{r", " r", 1), " r"); i > 0 {
				reg, _, _ := strings.Cut(strings.TrimLeft(w[i+1:], "{r"), ",")
				fmt.Fprintf(&seen, "P%d:r%s; ", th, reg)
			}
			b.WriteString([]string{" ;\n ", " | ", " | "}[th] + w)
		}
	}
	fmt.Fprintf(&b, " ;\ns: shared, b: shared\nlocations [x; s; %s]\nexists (x=1)\n", seen.String())
	x, err := litmus.Parse(name, []byte(b.String()))
	require.NoError(t, err, b.String())
	return x
}
