package html

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"optcheck/event"
)

// devices returns a set with one test under three settings: seen, not seen, hung.
func devices(name string) *event.Set {
	s := event.NewSet()
	h := event.Histogram{Test: name, Hash: "h", Kind: "Allowed", Condition: "exists (0:r1=1)", Device: event.TestedDevice{ID: "cuda:0",
		Name: "GPU " + name, Driver: "580"}, Toolchain: "ptxas 13.0", Target: "sm_90",
		Validated: true, Setting: "none", Status: event.StatusDone, Instances: 1000, Weak: 10, Terms: []string{"0:r1"}, Models: []string{"ptx",
			"sc"}, Says: []string{"allowed", "forbidden"},
		Rate: &event.Rate{Rate: 0.01, Low: 0.005, High: 0.018,
			Reproducibility: 0.99995}, Before: event.Conditions{ClockMHz: 1980, Temperature: 35},
		Outcomes: []event.Outcome{{Values: []int64{0}, Count: 990, Effect: "sequentially consistent", Says: []string{"allowed", "allowed"}},
			{Values: []int64{1}, Count: 10, Weak: true, Effect: "hardware, allowed", Says: []string{"allowed", "forbidden"}}}}
	never, hung := h, h
	never.Setting, never.Weak, never.Rate = "sync", 0, &event.Rate{Excluded: 0.003, High: 0.004}
	never.Outcomes = []event.Outcome{{Values: []int64{0}, Count: 1000, Effect: "sequentially consistent",
		Says: []string{"allowed", "allowed"}}}
	never.Unseen = []event.Unseen{{Values: []int64{2}, Excluded: 0.003}}
	hung.Setting, hung.Status, hung.Detail, hung.Instances, hung.Weak, hung.Rate, hung.Outcomes = "stress",
		event.StatusTimeout, "hung", 0, 0, nil, nil
	s.Histograms = []event.Histogram{h, never, hung}
	s.AddTest(event.Test{Name: name, Hash: "h", Text: "GPU_PTX text"})
	return s
}

func TestRunBody(t *testing.T) {
	rs := NewRuns(devices("mp"))
	require.Len(t, rs.List, 1)
	x, ok := rs.ByID(rs.List[0].ID)
	require.True(t, ok)
	body, err := RunBody(rs, x)
	require.NoError(t, err)
	list, text := parsePage(t, string(body))
	harmless(t, list)
	for _, want := range []string{"exists (0:r1=1)", "ptx allows it; sc forbids it", "1,000", "> 99.9 %", "rates above 0.3 % are excluded",
		"timeout: hung", "hardware, allowed", "1980 MHz, 35 °C", "GPU_PTX text", "validated: every access", "never seen"} {
		require.Contains(t, text, want)
	}
	require.NotContains(t, text, "Not validated")
	require.Len(t, classed(list, "fp-bar"), 1, "one setting with an interval")
	require.Len(t, classed(list, "fp-unseen"), 1)
	require.Contains(t, text, "not run")
	p := newRunPage(rs, x)
	require.Equal(t, []agreement{{Model: "ptx", AllowedSeen: 2, AllowedUnseen: 1, Own: true}, {Model: "sc", AllowedSeen: 1,
		ForbiddenSeen: 1}}, p.Tables)

	// What was not validated says so before anything else.
	s := devices("mp")
	s.Histograms[1].Validated, s.Histograms[1].Unvalidated = false, "changed: merged"
	body, err = RunBody(NewRuns(s), NewRuns(s).List[0])
	require.NoError(t, err)
	require.Contains(t, string(body), "Not validated")
	require.Contains(t, string(body), "changed: merged")
	require.Equal(t, []soundRow{{Model: "ptx", Unvalidated: 1, Own: true}, {Model: "sc", Unvalidated: 1}}, soundness(NewRuns(s)))
}

func TestRunsBody(t *testing.T) {
	s := devices("mp")
	more := devices("sb").Histograms
	more[0].Outcomes[1].Effect = "hardware, forbidden"
	s.Histograms = append(s.Histograms, more...)
	rs := NewRuns(s)
	require.Len(t, rs.List, 2)
	require.Equal(t, []soundRow{{Model: "ptx", AllowedSeen: 2, Own: true}, {Model: "sc", ForbiddenSeen: 2}}, soundness(rs))
	body, err := RunsBody(rs, RunsOptions{})
	require.NoError(t, err)
	list, text := parsePage(t, string(body))
	harmless(t, list)
	require.Contains(t, text, "hardware, forbidden")
	require.Len(t, classed(list, "fp-bad"), 1)
	body, err = RunsBody(rs, RunsOptions{From: 1, Limit: 1, Before: "?from=0", Link: func(x *Run) string { return "" }})
	require.NoError(t, err)
	require.Contains(t, string(body), `href="?from=0"`)
	require.NotContains(t, string(body), ".html")
	_, err = RunsBody(rs, RunsOptions{From: 99, Limit: 5})
	require.NoError(t, err)
}

func TestHostileRuns(t *testing.T) {
	for _, name := range []string{`<script>alert(1)</script>`, `" onmouseover="x`, strings.Repeat("B", 10<<10), "a\x1b\u202e", "../x"} {
		s := devices(name)
		for i := range s.Histograms {
			h := &s.Histograms[i]
			h.Condition, h.Setting, h.Status, h.Detail, h.Terms = name, name, name, name, []string{name}
			h.Models, h.Parameters, h.Toolchain = []string{name}, map[string]int64{name: 1}, name
			h.Says = []string{name, name, name} // more than models
			for k := range h.Outcomes {
				h.Outcomes[k].Effect, h.Outcomes[k].Says = name, []string{name, name, name}
			}
			if h.Rate != nil {
				h.Rate.Low, h.Rate.High, h.Rate.Rate = -5, 1e300, 1e-300
			}
		}
		rs := NewRuns(s)
		for _, x := range rs.List {
			require.Regexp(t, `^[0-9a-f]{20}$`, x.ID)
			body, err := RunBody(rs, x)
			require.NoError(t, err)
			list, _ := parsePage(t, string(body))
			harmless(t, list)
			require.Less(t, len(body), 100<<10)
		}
		body, err := RunsBody(rs, RunsOptions{})
		require.NoError(t, err)
		list, _ := parsePage(t, string(body))
		harmless(t, list)
	}
}

func TestSurvivalBody(t *testing.T) {
	d := func(scheme, kind, target, fate string) Dependency {
		return Dependency{Scheme: scheme, Kind: kind, Into: "ld", Space: "global", Bits: 64, Toolchain: "ptxas 12.4", Target: target,
			Level: "O3", Layout: "pointers", Fate: fate, Detail: "<b>"}
	}
	list := []Dependency{d("xor", "address", "sm_70", "removed"), d("xor", "address", "sm_80", "removed"), d("and", "address", "sm_70",
		"kept"), d("and", "address", "sm_80", "removed"),
		d("param", "data", "sm_70", "kept"), d("odd", "control", "sm_70", "surprise"), d("none", "control", "sm_70", "unsupported")}
	body, err := SurvivalBody(list, []Scheme{{"xor", "r xor r", "a reason"}})
	require.NoError(t, err)
	els, text := parsePage(t, string(body))
	harmless(t, els)
	for _, want := range []string{"✗ removed", "✓ kept", "≠ kept 1 of 2", "? 1 unknown", "– unsupported", "r xor r", "a reason",
		"address dependency by and into ld.global64"} {
		require.Contains(t, text, want)
	}
	require.Len(t, classed(els, "c-unknown"), 1, "what is not understood is never good news")
	mixed, more := mixedFates(list)
	require.Zero(t, more)
	require.Len(t, mixed, 1)
	require.Equal(t, []string{"sm_80"}, mixed[0].Targets)
	require.Equal(t, "✗ removed", fate{Removed: 3}.Text())
	require.Equal(t, "✗ removed 2 of 4, ? 2 unknown", fate{Removed: 2, Unknown: 2}.Text())
}

func TestMappingBody(t *testing.T) {
	body, err := MappingBody([]MappingRow{{Op: "ld", Group: "loads", Machine: "LDG", Where: "sm_70", Targets: []string{"sm_70"}, Class: "lost"},
		{Op: "ld", Group: "loads", Machine: "–", Where: "sm_80", Targets: []string{"sm_80"}, Class: "kept"},
		{Op: "st", Group: "stores", Machine: "<i>", Where: "sm_70", Targets: []string{"sm_70"}}},
		[]MappingChange{{Op: "ld", From: "A", To: "B", Where: "O3: sm_70", Left: "1", Right: "2"}})
	require.NoError(t, err)
	list, text := parsePage(t, string(body))
	harmless(t, list)
	require.Contains(t, text, "<i>")
	require.Contains(t, text, "1 → 2")
	require.Contains(t, string(body), `data-target="sm_80" data-class="kept"`)
	require.Contains(t, string(body), `<option>lost</option>`)
	require.Len(t, classed(list, "fp-map"), 3)
}
