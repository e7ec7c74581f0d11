package audit

import (
	"cmp"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"sort"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"optcheck/litmus/corpus"
	"optcheck/model"
	"optcheck/ptxgen"
	"optcheck/spec"
)

// controlTargets are the targets of the positive controls with the release that
// compiles for each: every generation and every release.
var controlTargets = []struct{ target, release string }{
	{"sm_35", "11.2"}, {"sm_50", "11.8"}, {"sm_60", "12.4"}, {"sm_70", "11.2"}, {"sm_75", "11.8"}, {"sm_80", "12.4"}, {"sm_86", "11.2"}, {"sm_90", "12.4"},
}

// TestControlOracle: labels that follow from the paper and the vendor's model by
// hand.
func TestControlOracle(t *testing.T) {
	o := &oracle{models: map[string]*model.Model{}, known: map[string][]string{}}
	for _, c := range []struct {
		test, target string
		thread       int
		kind         string
		legal        bool
	}{
		{"mp+membar.gls", "sm_50", 1, "drop fence", false},
		{"mp+fence.sc.gpus", "sm_80", 0, "narrow fence", false},
		{"sb+fence.sc.gpus", "sm_80", 0, "fence.sc to fence.acq_rel", false},
		{"mp+fence.sc.gpus", "sm_80", 0, "fence.sc to fence.acq_rel", true},
		{"mp+release.gpu+acquire.gpu", "sm_80", 1, "weaken load", false},
		{"mp", "sm_80", 1, "move load over load", true},
		{"coRR", "sm_50", 1, "merge weak loads", true},
		{"lb+datas", "sm_50", 0, "cut dependency", false},
		{"mp", "sm_80", 0, "add fence", true},
		{"mp+bar.syncs", "sm_80", 1, "move load over barrier", false},
	} {
		x, ok := corpus.Lookup(c.test)
		require.True(t, ok, c.test)
		x = x.ObserveAll()
		sm, err := ptxgen.SM(c.target)
		require.NoError(t, err)
		n := 0
		for _, j := range injections(x, c.thread, sm, spec.Pointers) {
			if j.kind != c.kind {
				continue
			}
			y := x.Clone()
			j.apply(&y.Threads[c.thread])
			require.NoError(t, y.Check())
			legal, err := o.legal(t.Context(), c.target, x, y)
			require.NoError(t, err)
			require.Equal(t, c.legal, legal, "%s: %s\n%s", c.test, c.kind, y)
			n++
		}
		require.Positive(t, n, "%s: %s", c.test, c.kind)
	}
}

// tally counts controls of one kind.
type tally struct{ legal, legalRight, illegal, illegalRight int }

// TestControls: a compiler that does wrong things is found out, and one that
// does unusual but legal things is not accused. The labels come from an oracle:
// the model's answer about the litmus test with the same change.
func TestControls(t *testing.T) {
	s := newControlSuite(t)
	t.Logf("seed %d (OPTCHECK_CONTROLS_SEED)", s.seed)
	rounds := 1
	if full() {
		rounds = 3
	}
	kinds, targets := map[string]*tally{}, map[string]int{}
	total := &tally{}
	var wrong []string
	for round := range rounds {
		for i, x := range controlTargets {
			if s.real[x.release] == nil {
				continue
			}
			s.choose(i + round)
			for _, c := range s.target(t, x.target, x.release, round) {
				right := slices.Contains(c.want(), c.got.Class)
				targets[c.at.target]++
				for _, k := range append([]string{""}, c.kinds...) {
					n := kinds[k]
					if n == nil {
						n = &tally{}
						kinds[k] = n
					}
					n.count(c.legal, right)
				}
				total.count(c.legal, right)
				if !right {
					wrong = append(wrong, c.String())
				}
				if r := c.wrongRule(); r != "" {
					wrong = append(wrong, r+"\n"+c.String())
				}
			}
		}
	}
	var b strings.Builder
	fmt.Fprintf(&b, "%-40s %15s %15s\n", "injection", "illegal found", "legal accepted")
	for _, k := range sortedKeys(kinds) {
		n := kinds[k]
		fmt.Fprintf(&b, "%-40s %7d of %4d %7d of %4d\n", cmp.Or(k, "all"), n.illegalRight, n.illegal, n.legalRight, n.legal)
	}
	injected := 0
	for k, n := range s.used {
		injected += n
		if kinds[k] == nil {
			t.Logf("no control has the injection %q, which was made %d times", k, n)
		}
	}
	t.Logf("%d kernels injected; %d controls, by target %v\n%snot counted: %v", injected, total.legal+total.illegal, targets, b.String(), s.skipped)
	for i, w := range wrong {
		if i < 40 {
			t.Error(w)
		}
	}
	if dir := os.Getenv("OPTCHECK_CONTROLS_OUT"); dir != "" {
		require.NoError(t, os.WriteFile(filepath.Join(dir, "controls.txt"), []byte(b.String()+strings.Join(wrong, "\n")), 0o600))
	}
	require.Empty(t, wrong, "%d of %d controls", len(wrong), total.legal+total.illegal)
	require.GreaterOrEqual(t, total.legal+total.illegal, 200)
	require.GreaterOrEqual(t, len(kinds)-1, 40, "kinds of injections")
	require.GreaterOrEqual(t, total.illegal, 100)
	require.GreaterOrEqual(t, total.legal, 50)
}

func (n *tally) count(legal, right bool) {
	one := 0
	if right {
		one = 1
	}
	if legal {
		n.legal++
		n.legalRight += one
	} else {
		n.illegal++
		n.illegalRight += one
	}
}

// String says what the oracle and the pipeline disagree on.
func (c *control) String() string {
	var b strings.Builder
	label := "illegal"
	if c.legal {
		label = "legal"
	}
	fmt.Fprintf(&b, "%s %s %s %s: %s (%s) is called %s %s", c.at.test, c.at.target, c.at.level, c.at.layout, strings.Join(c.kinds, " and "), label, c.got.Class, c.got.Reason)
	for _, f := range c.got.Findings {
		fmt.Fprintf(&b, "\n  T%d #%d %s: %s", f.Thread, f.Access, f.Rule, f.Detail)
	}
	if v := c.got.Verdict; v != nil {
		fmt.Fprintf(&b, "\n  new %v\n%s", v.New, v.Lifted)
	}
	fmt.Fprintf(&b, "\nthe oracle judged\n%s", c.changed)
	return b.String()
}

func sortedKeys[V any](m map[string]V) []string {
	keys := make([]string, 0, len(m))
	for k := range m {
		keys = append(keys, k)
	}
	sort.Strings(keys)
	return keys
}
