package html

import (
	"fmt"
	"math/rand/v2"
	"net/url"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"optcheck/event"
)

// sample returns a set like those of real runs: n tests, three releases, four
// targets of which each release lacks one, levels and layouts.
func sample(n int) *event.Set {
	s := event.NewSet()
	add := func(e event.Event) {
		if err := s.Handle(e); err != nil {
			panic(err)
		}
	}
	releases := []string{"ptxas 9.2.1", "ptxas 11.8.89", "ptxas 12.4.131"}
	targets := []string{"sm_35", "sm_80", "sm_90", "sm_100"}
	c := &event.Config{Schema: event.Schema, Tool: "1.0", Spec: 2, Tests: n, Targets: targets, Levels: []string{"O0", "O3"},
		Layouts: []string{"pointers", "symbols", "offsets"}, Model: "default"}
	for _, r := range releases {
		c.Toolchains = append(c.Toolchains, event.Toolchain{ID: r, Build: "build of " + r, MaxPTX: "8.0"})
	}
	add(event.Event{Config: c})
	presets := []string{"corpus", "quick", ""}
	for t := range n {
		test := event.Test{Name: fmt.Sprintf("test%d", t), Hash: fmt.Sprint("h", t), Dialect: "GPU_PTX", Text: "text", Preset: presets[t%3]}
		add(event.Event{Test: &test})
		for i, r := range releases {
			for j, target := range targets {
				if j == 3-i {
					continue
				}
				for l, level := range c.Levels {
					for k, layout := range c.Layouts {
						add(event.Event{Cell: &event.Cell{Test: test.Name, Hash: test.Hash, Toolchain: r, Target: target, Level: level, Layout: layout,
							Result: sampleResult(t, i, j, l, k)}})
					}
				}
			}
		}
	}
	s.Config.Cells = len(s.Cells)
	return s
}

// sampleResult returns a result of one of every class.
func sampleResult(test, release, target, level, layout int) event.Result {
	code := fmt.Sprintf("%x", test*31+release*7+target*3+level)
	fence := event.Finding{Rule: "fence-weakened", Thread: 1, Access: 1, Detail: "#1 membar.gl became MEMBAR.CTA: its scope is narrower"}
	merged := event.Finding{Rule: "merged", Thread: 0, Access: 1,
		Detail: fmt.Sprintf("#0 and #1 are one instruction: LDG.E R%d", release+target)}
	switch {
	case level == 0 || test%2 == 0:
		return event.Result{Class: event.Preserved, Code: code}
	case test%7 == 1 && target == 0:
		return event.Result{Class: event.Miscompiled, Findings: []event.Finding{fence}, Code: code, Known: []string{"kepler"},
			Verdict: &event.Verdict{Model: "ptx-2015", Source: 3, Machine: 4, New: []string{"1:r1=1; 1:r2=0;"}, Lifted: "lifted",
				Race: event.RaceUnknown, RaceModel: "ptx-2015", RaceWhy: "no model says"}}
	case test%5 == 3:
		return event.Result{Class: event.Unknown, Reason: "a loop", Code: code}
	case test%3 == 2:
		return event.Result{Class: event.Unsupported, Reason: ".relaxed needs sm_70"}
	case layout == 2 || release == 2:
		return event.Result{Class: event.Optimised, Findings: []event.Finding{merged, {Rule: "reordered", Thread: 0, Access: 0,
			Detail: "STG"}}, Code: code,
			Verdict: &event.Verdict{Model: "ptx", Source: 3, Machine: 3, Lifted: "lifted",
				Race: []string{event.RaceFree, event.DataRace}[test/2%2], RaceModel: "ptx"}}
	}
	return event.Result{Class: event.Changed, Findings: []event.Finding{merged}, Code: code}
}

// shuffled returns the set with its cells in another order.
func shuffled(s *event.Set, seed uint64) *event.Set {
	out := event.NewSet()
	run := s.Run()
	rnd := rand.New(rand.NewPCG(seed, 1))
	rnd.Shuffle(len(run.Cells), func(i, j int) { run.Cells[i], run.Cells[j] = run.Cells[j], run.Cells[i] })
	rnd.Shuffle(len(run.Tests), func(i, j int) { run.Tests[i], run.Tests[j] = run.Tests[j], run.Tests[i] })
	if err := run.Replay(out); err != nil {
		panic(err)
	}
	return out
}

func TestNatural(t *testing.T) {
	words := []string{"sm_100", "sm_90a", "sm_9", "sm_90", "11.2.152", "9.2", "11.11", "a", ""}
	slices.SortFunc(words, natural)
	require.Equal(t, []string{"", "9.2", "11.2.152", "11.11", "a", "sm_9", "sm_90", "sm_90a", "sm_100"}, words)
}

func TestIndex(t *testing.T) {
	s := sample(40)
	before := s.Cells[5]
	x := NewIndex(s)
	require.Equal(t, before, s.Cells[5])
	require.Equal(t, []string{"ptxas 9.2.1", "ptxas 11.8.89", "ptxas 12.4.131"}, x.Toolchains)
	require.Equal(t, []string{"sm_35", "sm_80", "sm_90", "sm_100"}, x.Targets)
	require.Equal(t, []string{"corpus", "not told", "quick"}, x.Presets)
	require.Equal(t, []string{"fence-weakened", "merged", "reordered"}, x.Rules)
	require.Equal(t, event.RaceWords(), x.Races)
	class, race := 0, -1
	for _, g := range x.Groups.List { // the worst first, in a class those of tests without a race
		r := x.Result(g)
		if k := int(classIndex(r.Class)); k != class {
			class, race = k, -1
		}
		require.GreaterOrEqual(t, r.RaceRank(), race)
		race = r.RaceRank()
	}
	require.Len(t, x.cells, len(s.Cells))
	require.Zero(t, x.Duplicates)
	require.Equal(t, "sm_35 … sm_90", ranges(x.Targets, []bool{true, true, true, false}, "targets"))
	require.Equal(t, "sm_35, sm_80, sm_100", ranges(x.Targets, []bool{true, true, false, true}, "targets"))
	require.Equal(t, "all 4 targets", ranges(x.Targets, []bool{true, true, true, true}, "targets"))
	require.Equal(t, []string{"9.2.1", "11.8.89", "12.4.131"}, x.labels()[0])
}

func TestIndexDuplicates(t *testing.T) {
	s := sample(4)
	n := len(s.Cells)
	same, other := s.Cells[0], s.Cells[1]
	other.Result = s.AddResult("x", event.Result{Class: "surprising", Reason: "because"})
	s.Cells = append(s.Cells, same, other)
	x := NewIndex(s)
	require.Len(t, x.cells, n)
	require.Equal(t, 1, x.Duplicates)
	sel := x.Select(Filter{Class: []string{event.Unknown}, Text: "surprising"})
	require.Equal(t, 1, sel.Total.Sum(), "a class that nobody knows is undecided")
}

// naive chooses cells one by one.
func naive(x *Index, f Filter) (total Counts, groups map[string]int) {
	groups = map[string]int{}
	in := func(list []string, s string) bool { return len(list) == 0 || slices.Contains(list, s) }
	ids := map[uint32]string{}
	for _, g := range x.Groups.List {
		for _, i := range g.Cells {
			ids[i] = g.ID
		}
	}
	for i, c := range x.Set.All() {
		grouped := c.HasFindings() || c.Class == event.Unknown
		text := c.Test
		rule := len(f.Rule) == 0
		if grouped {
			text += c.Reason + strings.Join(c.Known, " ")
			for _, fi := range c.Findings {
				text += " " + fi.Rule + " " + fi.Detail
				rule = rule || slices.Contains(f.Rule, fi.Rule)
			}
		}
		known := f.Known == "" || grouped && (f.Known == "known") == (len(c.Known) > 0)
		words := true
		for w := range strings.FieldsSeq(f.Text) {
			words = words && strings.Contains(text, w)
		}
		race := len(f.Race) == 0 || grouped && slices.Contains(f.Race, c.RaceWord())
		if rule && known && race && words && in(f.Class, c.Class) && in(f.Release, c.Toolchain) && in(f.Target,
			c.Target) && in(f.Level, c.Level) &&
			in(f.Layout, c.Layout) && in(f.Preset, Preset(&x.Set.Tests[x.Set.Cells[i].Test])) {
			total[classIndex(c.Class)]++
			if id := ids[uint32(i)]; id != "" {
				groups[id]++
			}
		}
	}
	return total, groups
}

// someFilter makes a filter of words that occur, and some that do not.
func someFilter(x *Index, rnd *rand.Rand) Filter {
	var f Filter
	for i, l := range f.lists() {
		words := append(slices.Clone(x.words()[i]), "nothing")
		for rnd.IntN(3) == 0 {
			*l = append(*l, words[rnd.IntN(len(words))])
		}
	}
	f.Known = []string{"", "", "known", "new"}[rnd.IntN(4)]
	for rnd.IntN(4) == 0 {
		f.Race = append(f.Race, event.RaceWords()[rnd.IntN(3)])
	}
	f.Text = []string{"", "", "test1", "merged", "test3 reordered", "loop", "kepler 1"}[rnd.IntN(7)]
	return f
}

func TestSelect(t *testing.T) {
	x := NewIndex(sample(40))
	rnd := rand.New(rand.NewPCG(1, 2))
	for range 400 {
		f := someFilter(x, rnd)
		sel := x.Select(f)
		total, groups := naive(x, f)
		require.Equal(t, total, sel.Total, "%+v", f)
		got := map[string]int{}
		for n, cells := range sel.Groups {
			if cells > 0 {
				got[x.Groups.List[n].ID] = cells
			}
		}
		require.Equal(t, groups, got, "%+v", f)
		var sum Counts
		for _, c := range sel.Columns {
			for k, n := range c {
				sum[k] += n
			}
		}
		require.Equal(t, total, sum)
		for n, w := range x.Races {
			g := f
			g.Race = []string{w}
			want, _ := naive(x, g)
			require.Equal(t, want.Sum(), sel.Facets["race"][n], "%+v with race=%s", f, w)
		}
		// A facet says what choosing only that value would give.
		for i := range f.lists() {
			words := x.words()[i]
			for n, w := range words {
				g := f
				*g.lists()[i] = []string{w}
				want, _ := naive(x, g)
				require.Equal(t, want.Sum(), sel.Facets[Keys[i]][n], "%+v with %s=%s", f, Keys[i], w)
			}
		}
		l := x.List(View{Filter: f, Per: 10000}, sel)
		require.Len(t, l.Rows, len(groups))
		back, err := ParseFilter(f.Values())
		require.NoError(t, err)
		require.Equal(t, f, back)
	}
}

func TestParseFilter(t *testing.T) {
	_, err := ParseFilter(url.Values{"known": {"maybe"}})
	require.ErrorContains(t, err, "must be known or new")
	_, err = ParseFilter(url.Values{"q": {strings.Repeat("x", 10000)}})
	require.Error(t, err)
}

func TestBlocks(t *testing.T) {
	s := sample(8)
	for _, c := range []event.Cell{
		{Test: "amd", Hash: "h", Toolchain: "clang 14", Target: "gfx900", Level: "O2", Layout: "pointers",
			Result: event.Result{Class: event.Unsupported}},
		{Test: "amd", Hash: "h", Toolchain: "clang 19", Target: "gfx900", Level: "O2", Layout: "pointers",
			Result: event.Result{Class: event.Preserved}}} {
		require.NoError(t, s.Handle(event.Event{Cell: &c}))
	}
	x := NewIndex(s)
	bs, _ := x.blocks(x.Select(Filter{}).Columns)
	require.Len(t, bs, 2)
	require.Equal(t, []string{"clang 14", "clang 19"}, bs[0].Toolchains)
	require.Len(t, bs[0].Rows, 1)
	require.Equal(t, event.Unsupported, bs[0].Rows[0].Squares[0][1].Class)
	require.Equal(t, "clang 19 gfx900 O2: 1 preserved", bs[0].Rows[0].Squares[1][1].Label)
	require.Empty(t, bs[0].Rows[0].Squares[1][0].Class)
	require.Len(t, bs[1].Rows, 4)
	var miscompiled int
	for _, r := range bs[1].Rows {
		for _, sq := range r.Squares {
			for _, b := range sq {
				if b.Class == event.Miscompiled {
					require.Equal(t, "3", b.Count)
					miscompiled++
				}
			}
		}
	}
	require.Equal(t, 3, miscompiled, "sm_35 at O3 of each release")
}

// TestWide: what a file names must not be multiplied.
func TestWide(t *testing.T) {
	s := event.NewSet()
	for i := range 3000 {
		n := fmt.Sprint(i)
		require.NoError(t, s.Handle(event.Event{Test: &event.Test{Name: n, Hash: n, Preset: "p" + n}}))
		for _, target := range []string{"t" + n, "shared"} {
			require.NoError(t, s.Handle(event.Event{Cell: &event.Cell{Test: n, Hash: n, Toolchain: "x " + n, Target: target,
				Level: "O" + n, Layout: "l" + n,
				Result: event.Result{Class: event.Changed, Findings: []event.Finding{{Rule: "r" + n}}}}}))
		}
	}
	// One test with every word once.
	for i := range 3000 {
		n := fmt.Sprint(i)
		require.NoError(t, s.Handle(event.Event{Cell: &event.Cell{Test: "wide", Toolchain: "x " + n, Target: "t" + n,
			Level: "O" + n, Layout: "l" + n,
			Result: event.Result{Class: event.Unknown, Reason: "x"}}}))
	}
	x := NewIndex(s)
	g, ok := x.Groups.ByID(x.Groups.OfTest(3000)[0].ID)
	require.True(t, ok)
	page, err := FindingBody(t.Context(), x.Groups, g, FindingHooks{})
	require.NoError(t, err)
	require.Less(t, len(page), 1<<20)
	require.Equal(t, 9000, x.Select(Filter{}).Total.Sum())
	require.Equal(t, 2, x.Select(Filter{Preset: []string{"p7"}}).Total.Sum())
	body, err := x.Overview(View{})
	require.NoError(t, err)
	require.Contains(t, string(body), "A matrix of 3,000 releases, 3,001 targets and 3,000 levels is too large to be drawn.")
	require.Less(t, len(body), 2<<20)
	require.LessOrEqual(t, len(x.Neighbours()), maxPairs)
	changes, err := x.Changes(x.Neighbours())
	require.NoError(t, err)
	require.Less(t, len(changes), 4<<20)
}
