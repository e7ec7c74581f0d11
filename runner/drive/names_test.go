package drive

import (
	"bytes"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"optcheck/litmus"
	"optcheck/litmus/corpus"
	"optcheck/ptxgen"
	"optcheck/runner"
	"optcheck/spec"
)

// TestSpread: a test runs only on devices of one architecture, as many as it needs, and its locations lie on those.
func TestSpread(t *testing.T) {
	mp, _ := corpus.Lookup("mp")
	var divided *litmus.Test
	for x := range Divide(mp, 2) {
		divided = x
	}
	small, older := chip, chip
	small.Units, older.Target, older.Name = 3, "sm_80", "old"
	for _, x := range []struct {
		what    string
		layout  spec.Layout
		devices []runner.Device
		homes   []int
		want    string
	}{
		{"two", spec.Pointers, []runner.Device{chip, small}, []int{0, 1}, ""},
		{"another architecture", spec.Pointers, []runner.Device{chip, older}, nil, "are not of one architecture"},
		{"one device", spec.Pointers, []runner.Device{chip}, nil, "a test on 2 devices, there are 1"},
		{"a home too far", spec.Pointers, []runner.Device{chip, chip}, []int{0, 2}, "is to lie on device 2, there are 2"},
		{"no home", spec.Pointers, []runner.Device{chip, chip}, []int{-1, 0}, "is to lie on device -1"},
		{"neighbours", spec.Adjacent, []runner.Device{chip, chip}, []int{1, 1}, ""},
		{"neighbours apart", spec.Adjacent, []runner.Device{chip, chip}, []int{0, 1}, "neighbours in the memory of several devices"},
	} {
		h, err := ptxgen.EmitHarness(divided, "sm_90", ptxgen.FormDevices, x.layout)
		require.NoError(t, err)
		p := newPlanner(h, x.devices[0], Job{Tuning: DefaultTuning(chip), Homes: x.homes})
		if err := p.spread(x.devices); x.want != "" {
			require.ErrorIs(t, err, runner.ErrUnsupported, x.what)
			require.ErrorContains(t, err, x.want, x.what)
			continue
		}
		require.NoError(t, p.spread(x.devices), x.what)
		require.Equal(t, len(x.devices), p.devices)
		tuning := DefaultTuning(chip)
		tuning.Instances = Fixed(1 << 8)
		s, o, err := simulate(t, h, Job{Tuning: tuning, Instances: 1, Homes: x.homes}, x.devices...)
		require.NoError(t, err, x.what)
		require.Zero(t, o.Other)
		for d := range x.homes {
			require.Contains(t, s.on, runner.Buffer(d+1))
		}
	}
	h, err := ptxgen.EmitHarness(divided, "sm_90", ptxgen.FormDevices, spec.Pointers)
	require.NoError(t, err)
	p := newPlanner(h, chip, Job{Tuning: DefaultTuning(chip)})
	require.NoError(t, p.spread([]runner.Device{chip, small}))
	require.Equal(t, 3, p.d.Units, "the smallest decides how much is resident")
	p = newPlanner(harness(t, "mp", ptxgen.FormFast, spec.Pointers), chip, Job{Tuning: DefaultTuning(chip)})
	require.NoError(t, p.spread([]runner.Device{chip, older}), "other forms run on the first one")
	require.Equal(t, 1, p.devices)
}

// TestDivide: each way to place clusters on devices that are alike is there once, and threads of a cluster stay together.
func TestDivide(t *testing.T) {
	divided := 0
	for _, x := range corpus.Tests() {
		for devices := 1; devices < 4; devices++ {
			seen, together := map[string]bool{}, true
			for y := range Divide(x, devices) {
				if x.OnSeveralDevices() {
					require.Same(t, x, y)
					continue
				}
				divided++
				on, most := "", 0
				for i := range y.Threads {
					d := y.Threads[i].Place.GPU
					require.LessOrEqual(t, d, most, "devices are numbered as they come")
					most = max(most, d+1)
					on += fmt.Sprint(d)
					for j := range i {
						if x.Threads[i].Place.SameScope(x.Threads[j].Place, litmus.ScopeCluster) {
							together = together && d == y.Threads[j].Place.GPU
						}
					}
				}
				require.Equal(t, x.Name+"@"+on, y.Name)
				require.False(t, seen[on], "%s twice", y.Name)
				seen[on] = true
				require.Greater(t, most, 1, "several are used")
				require.LessOrEqual(t, most, devices)
			}
			require.True(t, together, x.Name)
			units := map[string]bool{}
			for i := range x.Threads {
				p := x.Threads[i].Place
				units[fmt.Sprint(slices.IndexFunc(x.Threads, func(q litmus.Thread) bool { return q.Place.SameScope(p, litmus.ScopeCluster) }))] = true
			}
			if !x.OnSeveralDevices() && !slices.ContainsFunc(x.Threads, func(th litmus.Thread) bool { return !th.Placed }) {
				// Partitions of so many units into at most so many parts, without that into one.
				ways := [4][6]int{{}, {0, 1, 1, 1, 1, 1}, {0, 1, 2, 4, 8, 16}, {0, 1, 2, 5, 14, 41}}
				require.Len(t, seen, ways[devices][len(units)]-1, "%s on %d", x.Name, devices)
			}
		}
	}
	require.Greater(t, divided, 50)
}

// TestTogether: neighbours are on one device, wherever shared memory, which has none, is said to be.
func TestTogether(t *testing.T) {
	for _, x := range []struct {
		shared, homes []int
		want          bool
	}{
		{[]int{-1, -1}, []int{1, 1}, true},
		{[]int{-1, -1}, []int{0, 1}, false},
		{[]int{-1, 0, -1}, []int{1, 0, 1}, true},
		{[]int{0, -1, -1}, []int{0, 1, 0}, false},
		{[]int{0, -1, -1}, []int{0, 1, 1}, true},
		{[]int{1, -1}, []int{0, 1}, true},
		{[]int{0}, []int{0}, true},
	} {
		require.Equal(t, x.want, together(&ptxgen.Harness{Shape: ptxgen.Shape{Shared: x.shared}}, x.homes), x)
	}
}

// TestNoLocations: a test may access nothing.
func TestNoLocations(t *testing.T) {
	x, err := litmus.Parse("none", []byte("GPU_PTX none\n{ 0:r0=1; }\n T0@cta 0 ;\n membar.gl ;\nexists (0:r0=1)\n"))
	require.NoError(t, err)
	h, err := ptxgen.EmitHarness(x, "sm_90", ptxgen.FormFast, spec.Pointers)
	require.NoError(t, err)
	tuning := DefaultTuning(chip)
	tuning.Instances, tuning.StressOwn = Fixed(1<<8), Fixed(1)
	for _, inc := range []Incantations{None, Stress, All} {
		_, o, err := simulate(t, h, Job{Tuning: tuning, Incantations: inc, Instances: 1}, chip)
		require.NoError(t, err)
		require.Zero(t, o.Other)
	}
}

// TestHomes: locations lie where a setting says, and where it says nothing, where the test does.
func TestHomes(t *testing.T) {
	mp, neighbours := harness(t, "mp", ptxgen.FormFast, spec.Pointers), harness(t, "mp", ptxgen.FormFast, spec.Adjacent)
	shared := harness(t, "mp+relaxed.ctas-shared", ptxgen.FormFast, spec.Pointers)
	a, b := mp.Test.Locations[0].Name, mp.Test.Locations[1].Name
	for _, x := range []struct {
		h     *ptxgen.Harness
		place string
		want  string // placements, or an error
	}{
		{mp, "1", "[[1 1]]"}, {mp, "0", "[[0 0]]"}, {mp, "2", "there is no device 2 of 2"}, {mp, "-1", "there is no device -1 of 2"},
		{mp, "each", "[[0 0] [0 1] [1 0] [1 1]]"}, {neighbours, "each", "[[0 0] [1 1]]"},
		{mp, b + "=1", "[[0 1]]"}, {mp, a + "=1," + b + "=1", "[[1 1]]"}, {mp, "elsewhere=1", "[[0 0]]"}, {mp, "", "[[0 0]]"},
		{mp, a + "=2", "below 2"}, {mp, a + "=-1", "below 2"}, {mp, a, "below 2"}, {mp, a + "=1,", "below 2"},
		{shared, "each", "[[0 0]]"},
	} {
		got, err := Homes(x.place, x.h, 2)
		if !strings.HasPrefix(x.want, "[") {
			require.ErrorContains(t, err, x.want, x.place)
			continue
		}
		require.NoError(t, err, x.place)
		if x.h == shared {
			require.NotEmpty(t, got)
			for _, homes := range got {
				for l, d := range homes {
					require.True(t, x.h.Shape.Shared[l] < 0 || d == 0)
				}
			}
			continue
		}
		require.Equal(t, x.want, fmt.Sprint(got), x.place)
	}
	test := mp.Test.Clone()
	test.Locations[0].Homed, test.Locations[0].Device = true, 1
	h := *mp
	h.Test = test
	got, err := Homes("each", &h, 2)
	require.NoError(t, err)
	require.Equal(t, "[[1 0] [1 1]]", fmt.Sprint(got), "the test's own word counts")
	test.Locations[1].Homed = true
	n := *neighbours
	n.Test = test
	got, err = Homes("each", &n, 2)
	require.NoError(t, err)
	require.Equal(t, "[[1 0]]", fmt.Sprint(got), "which is refused when it is run")
}

// TestNames: what names settings is read, and what is no such name is refused with those that are.
func TestNames(t *testing.T) {
	d := chip
	for text, want := range map[string]string{"none": "[none]", "stress+random": "[stress+random]", "random+stress,sync": "[stress+random sync]",
		"banks+none": "[banks]", "": "unknown incantation", "stress+": "unknown incantation", "stres": `"stres"`} {
		list, err := ParseIncantations(text)
		if strings.HasPrefix(want, "[") {
			require.NoError(t, err, text)
			require.Equal(t, want, fmt.Sprint(list))
		} else {
			require.ErrorContains(t, err, want, text)
		}
	}
	all, err := ParseIncantations("all")
	require.NoError(t, err)
	require.Len(t, all, 16)
	for i, x := range all {
		require.EqualValues(t, i, x)
		again, err := ParseIncantations(x.String())
		require.NoError(t, err)
		require.Equal(t, all[i:i+1], again)
	}
	for text, want := range map[string][]ptxgen.Form{"both": oneDevice, ptxgen.FormFast.String(): oneDevice[:1], ptxgen.FormPermuted.String(): oneDevice[1:]} {
		list, err := ParseForms(text)
		require.NoError(t, err)
		require.Equal(t, want, list)
	}
	_, err = ParseForms(ptxgen.FormDevices.String())
	require.ErrorContains(t, err, "unknown form")
	require.Equal(t, "permuted:stress", Setting{Form: ptxgen.FormPermuted, Incantations: Stress}.String())
	require.Equal(t, "stress", Setting{Incantations: Stress}.String())
	require.Equal(t, "x", Setting{Name: "x", Form: ptxgen.FormPermuted, Incantations: Stress}.String())

	envs := Environments(d, DefaultTuning(d))
	got, err := Find(envs, "all")
	require.NoError(t, err)
	require.Len(t, got, len(envs))
	got, err = Find(envs, "flood,no-str-")
	require.NoError(t, err)
	require.Equal(t, "[flood no-str-]", fmt.Sprint(got))
}

// TestTuning: parameters are numbers or ranges up to a bound, patterns one to five accesses; what is written is read.
func TestTuning(t *testing.T) {
	for text, want := range map[string]string{"warps=4": "warps=4 ", "warps=1..16": "warps=1..16 ", "warps=3..3": "warps=3 ", "warps=0x10": "warps=16 ",
		"warps=16777216": "warps=16777216 ", "warps=0..16777216": "warps=0..16777216 ",
		"stress-pattern=ld-st-st-ld-ld": "stress-pattern=ld-st-st-ld-ld", "stress-pattern=random": "stress-pattern=random", "launches=1": "launches=1", "launches=1024": "launches=1024"} {
		tuning := DefaultTuning(chip)
		require.NoError(t, tuning.Set(text), text)
		require.Contains(t, tuning.String()+" ", want)
	}
	for text, want := range map[string]string{"warps=16777217": "neither a number nor a range", "warps=2..1": "neither", "warps=x": "neither", "warps=1..x": "neither",
		"warps=-1": "neither", "warps": "warps: ", "wraps=1": "NAME=NUMBER", "launches=0": "from 1 to 1024", "launches=1025": "from 1 to 1024", "launches=x": "from 1",
		"stress-pattern=ld-ld-ld-ld-ld-ld": "one to five", "stress-pattern=": "one to five", "stress-pattern=ld-rd": "want ld and st"} {
		tuning := DefaultTuning(chip)
		require.ErrorContains(t, tuning.Set(text), want, text)
	}
	k, err := Knob{Value: 8}.parse("1..4")
	require.NoError(t, err)
	require.Equal(t, Knob{4, 1, 4}, k, "the value without random lies in the range")
	k, err = Knob{Value: 8}.parse("16..32")
	require.NoError(t, err)
	require.Equal(t, Knob{16, 16, 32}, k)

	names, help := TuningNames()
	require.Len(t, help, len(names))
	for i, n := range names {
		require.NotEmpty(t, help[i], n)
	}
	require.Subset(t, names, []string{"stride", "instances", "stress-own", "launches", "stress-pattern"})
	tuning := DefaultTuning(chip)
	loads, stores, steps, err := tuning.pattern(nil)
	require.NoError(t, err)
	require.Equal(t, [3]uint32{1, 2, 2}, [3]uint32{loads, stores, steps})
	require.NoError(t, tuning.Keep("stride=64"))
	require.NoError(t, tuning.change("stride=8"))
	require.Equal(t, Fixed(64), tuning.Stride, "a user's word counts")
	for _, s := range append(Environments(chip, tuning), Drawn(tuning, 1, 20)...) {
		require.Equal(t, Fixed(64), s.Tuning.Stride, s)
	}
	require.NoError(t, tuning.Keep("stress-pattern=st"))
	require.NoError(t, tuning.Keep("stress-rounds=9999"))
	for _, s := range Drawn(tuning, 1, 5) {
		require.Equal(t, "st", s.Tuning.Pattern)
		require.Equal(t, Fixed(9999), s.Tuning.StressRounds)
	}
}

// TestProfile: a profile is what was written, and holds of the device, driver and compiler that it was made for.
func TestProfile(t *testing.T) {
	p := &Profile{Device: "chip", Driver: "1", Compiler: "ptxas 12", Tuning: map[string]string{"stride": "64", "warps": "1..8"}}
	var b bytes.Buffer
	require.NoError(t, p.Write(&b))
	require.Contains(t, b.String(), "\n  \"device\": \"chip\",\n", "a user may edit it")
	again, err := ReadProfile(&b)
	require.NoError(t, err)
	require.Equal(t, p, again)
	tuning := DefaultTuning(chip)
	require.NoError(t, p.Apply(&tuning))
	require.Equal(t, []string{"stride", "warps"}, tuning.Kept)
	require.Equal(t, Fixed(64), tuning.Stride)
	d := runner.Device{Name: "chip", Driver: "1"}
	require.Empty(t, p.Differs(d, "ptxas 12"))
	require.Equal(t, `it is for compiler "ptxas 12", this is "ptxas 11"`, p.Differs(d, "ptxas 11"))
	require.Contains(t, p.Differs(runner.Device{Name: "chip", Driver: "2"}, "ptxas 12"), `driver "1"`)
	require.Contains(t, p.Differs(runner.Device{Name: "other", Driver: "1"}, "ptxas 12"), `device "chip"`)
	for _, bad := range []string{"{", `{"devise":"x"}`, `{"tuning":{"stride":"x"}}`} {
		_, err := ReadProfile(strings.NewReader(bad))
		require.ErrorContains(t, err, "profile: ", bad)
	}
}

// TestDomain: values that are given are the likeliest; what a test begins with and stores is expected beside a few of them.
func TestDomain(t *testing.T) {
	mp, _ := corpus.Lookup("mp")
	require.Equal(t, [][]int64{{0, 1}, {0, 1}}, Domain(mp, nil))
	require.Equal(t, [][]int64{{7, 0, 1}, {0, 1}}, Domain(mp, [][]int64{{7}}))
	require.Equal(t, [][]int64{{1, 0}, {0, 1}}, Domain(mp, [][]int64{{1}, nil}))
	require.Equal(t, [][]int64{{5, 6, 7, 0}, {5, 6, 7, 8, 9}}, Domain(mp, [][]int64{{5, 6, 7}, {5, 6, 7, 8, 9}}))
	x := mp.Clone()
	x.Locations[0].Init = 9
	require.Equal(t, [][]int64{{0, 9, 1}, {0, 9, 1}}, Domain(x, nil))
	// Of constants those count that are stored or moved, however many where none is given.
	x, err := litmus.Parse("x", []byte("GPU_PTX x\n{ x=0; 0:.reg .s32 r0; 0:.reg .s32 r1; 0:.reg .s32 r2; }\n T0@cta 0 ;\n st.s32 [x],2 ;\n mov.s32 r0,3 ;\n ld.s32 r1,[x] ;\n"+
		" add.s32 r2,r1,17 ;\n st.s32 [x],4 ;\n st.s32 [x],5 ;\nexists (0:r1=2 /\\ 0:r2=1)\n"))
	require.NoError(t, err)
	require.Equal(t, [][]int64{{0, 2, 3, 4, 5}, {8, 0, 2, 3}}, Domain(x, [][]int64{{}, {8}}))
	// Where there are many terms, values that are given stand alone.
	for n, want := range map[int][]int64{6: {7, 0, 1}, 7: {7}} {
		x := mp.Clone()
		for i := len(x.Terms()); i < n; i++ {
			x.Observed = append(x.Observed, litmus.Term{Kind: litmus.TermReg, Name: fmt.Sprint("r", 10+i)})
		}
		require.Len(t, x.Terms(), n)
		require.Equal(t, want, Domain(x, [][]int64{{7}})[0])
	}
}
