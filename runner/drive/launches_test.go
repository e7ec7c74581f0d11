package drive

import (
	"flag"
	"fmt"
	"os"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"optcheck/litmus/corpus"
	"optcheck/ptxgen"
	"optcheck/runner"
	"optcheck/spec"
)

var update = flag.Bool("update", false, "write what environments launch")

// TestLaunches: a run can be repeated by its seed: what an environment launches with one is what it launched before.
// Where results shall come from other launches, -update writes them anew.
func TestLaunches(t *testing.T) {
	mp, _ := corpus.Lookup("mp")
	shared, _ := corpus.Lookup("mp+relaxed.ctas-shared")
	var b strings.Builder
	for _, d := range []runner.Device{{Type: "gpu", Units: 132, UnitThreads: 2048, MaxBlock: 1024, Shared: 48 << 10, L2: 50 << 20},
		{Type: "cpu", Units: 8, MaxBlock: 4096, Shared: 32 << 10}} {
		list := append(Environments(d, DefaultTuning(d)), Drawn(DefaultTuning(d), 1, 12)...)
		for i := None; i <= All; i++ {
			list = append(list, Setting{Form: ptxgen.Form(i & 1), Incantations: i, Tuning: DefaultTuning(d)})
		}
		(&Tuning{}).knobs(func(name, _ string, _ *Knob) bool {
			s := Setting{Name: name, Form: ptxgen.Form(len(list) & 1), Incantations: All, Tuning: DefaultTuning(d)}
			require.NoError(t, s.Tuning.Set(name+"=8..90"))
			list = append(list, s)
			return true
		})
		for _, s := range list {
			for _, x := range []struct {
				of     string
				layout spec.Layout
			}{{"mp", spec.Pointers}, {"neighbours", spec.Adjacent}, {"shared", spec.Pointers}} {
				test := mp
				if s.Name != "" && x.of != "mp" {
					continue
				}
				if x.of == "shared" {
					test = shared
				}
				h, err := ptxgen.EmitHarness(test, "sm_90", s.Kernel(), x.layout)
				require.NoError(t, err)
				l, err := newPlanner(h, d, Job{Incantations: s.Incantations, Tuning: s.Tuning, Seed: 1}).launch()
				require.NoError(t, err)
				fmt.Fprintf(&b, "%s %v %s: %+v\n", d.Type, s, x.of, *l)
			}
		}
	}
	const file = "testdata/launches.txt"
	if *update {
		require.NoError(t, os.WriteFile(file, []byte(b.String()), 0o644))
	}
	want, err := os.ReadFile(file)
	require.NoError(t, err)
	got, kept := strings.Split(b.String(), "\n"), strings.Split(string(want), "\n")
	require.Len(t, got, len(kept))
	for i := range got {
		require.Equal(t, kept[i], got[i])
	}
}

// TestFull: lanes that make bank conflicts do not test, but where threads meet at barriers all of them do.
func TestFull(t *testing.T) {
	tuning := DefaultTuning(chip)
	tuning.BankLanes = Fixed(16)
	for i, want := range map[Incantations][2]uint32{Banks: {4, 5}, Stress: {5, 5}} {
		for k, full := range []bool{false, true} {
			h := *harness(t, "mp", ptxgen.FormBanks, spec.Pointers)
			h.Shape.Full = full
			l, err := newPlanner(&h, chip, Job{Tuning: tuning, Incantations: i}).launch()
			require.NoError(t, err)
			require.Equal(t, want[k], l.set["log_lanes"], "%v %v", i, full)
		}
	}
}
