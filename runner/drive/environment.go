package drive

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"

	"optcheck/ptxgen"
	"optcheck/runner"
)

// Environments returns settings with names, built on a tuning: the eight of Sorensen
// and Donaldson, Exposing Errors Related to Weak Memory in GPU Applications (PLDI
// 2016, Sec. 4.2), which are four kinds of stress with (+) and without (-) randomised
// thread ids; and those that a hunt begins with.
//
//   - no-str: none
//   - sys-str: stressing CTAs go through the tuned sequence at lines of the tuned
//     distance, as many as the tuned spread
//   - rand-str: each launch has another sequence and other lines
//   - cache-str: the stress goes through memory of the size of the L2 cache
func Environments(d runner.Device, t Tuning) []Setting {
	e := &environments{t: t}
	e.study(d)
	e.hunt()
	e.floods()
	e.marches()
	return e.list
}

// environments gathers settings.
type environments struct {
	t    Tuning
	list []Setting
}

// add adds a setting with some of the parameters changed.
func (e *environments) add(name string, form ptxgen.Form, i Incantations, changes ...string) {
	s := Setting{Name: name, Form: form, Incantations: i, Tuning: e.t}
	for _, c := range changes {
		if err := s.Tuning.change(c); err != nil {
			panic("drive: environment " + name + ": " + err.Error()) // a constant of this file
		}
	}
	e.list = append(e.list, s)
}

// times is n times as many instances as usual.
func (e *environments) times(n uint32) string {
	return fmt.Sprintf("instances=%d", min(e.t.Instances.Value*n, maxKnob))
}

// study are the environments of the study.
func (e *environments) study(d runner.Device) {
	line := max(uint64(e.t.StressLine.Value), 32)
	whole := fmt.Sprintf("stress-lines=%d", min(max(d.L2, 1<<20)/line, maxKnob/2))
	for _, ids := range []struct {
		sign string
		i    Incantations
	}{{"-", None}, {"+", Random}} {
		e.add("no-str"+ids.sign, ptxgen.FormPermuted, ids.i)
		e.add("sys-str"+ids.sign, ptxgen.FormPermuted, ids.i|Stress)
		e.add("rand-str"+ids.sign, ptxgen.FormPermuted, ids.i|Stress, "stress-pattern=random", "stress-lines=1..1024",
			"stress-line=32..4096", "stress-lane=0..128")
		e.add("cache-str"+ids.sign, ptxgen.FormPermuted, ids.i|Stress, whole, "stress-lane=4")
	}
}

// hunt is what a hunt begins with: both forms, dense and sparse, in step and not.
func (e *environments) hunt() {
	e.add("dense", ptxgen.FormFast, None, e.times(4))
	e.add("dense-wide", ptxgen.FormFast, None, e.times(4), "warps=32")
	e.add("dense-random", ptxgen.FormFast, Random)
	e.add("sparse", ptxgen.FormFast, Random, "stride=16..1024")
	e.add("meet", ptxgen.FormFast, Sync|Random, "stride=4..512", "sync-bound=50..2000")
	e.add("meet-stress", ptxgen.FormFast, Sync|Random|Stress, "stride=4..512", "stress-pattern=random", "stress-lines=1..256",
		"stress-rounds=20..400")
	e.add("conflict", ptxgen.FormFast, Random|Banks, "bank-lanes=1..31", "stride=4..128")
	e.add("roles", ptxgen.FormPermuted, Random, "stride=4..16")
	e.add("roles-sparse", ptxgen.FormPermuted, Random, "stride=32..1024", "warps=1..16")
	e.add("roles-meet", ptxgen.FormPermuted, Random|Sync, "stride=4..512", "sync-bound=20..1000", "sync-groups=1..64", "blocks=16..1024")
	e.add("roles-pre", ptxgen.FormPermuted, Random|Stress, "stride=4..512", "stress-ctas=1", "pre-rounds=1..63", "pre-share=10..100",
		"stress-pattern=random", "blocks=16..1024")
	e.add("roles-all", ptxgen.FormPermuted, Random|Stress|Sync, "stride=4..512", "stress-pattern=random", "stress-lines=1..256",
		"stress-rounds=20..400",
		"pre-rounds=0..63", "blocks=16..1024")
	e.add("roles-arena", ptxgen.FormPermuted, Random, "distance=8..4096", "stride=4..512")
	// Lines that hold locations of several instances, as accesses of few and of many lines meet.
	e.add("roles-mixed", ptxgen.FormPermuted, Random, "distance=4..32", "mixed=1", "scatter=0..100", "stride=4..64", "blocks=16..1024")
	e.add("roles-crowd", ptxgen.FormPermuted, Random|Sync|Stress, "distance=4..32", "mixed=1", "scatter=0..100", "stride=4..64",
		"warps=1..8", "blocks=64..1024", "sync-groups=1", "sync-bound=50..1000", "stress-pattern=random", "stress-lines=1..16",
		"stress-rounds=10..100", "pre-rounds=0..63")
	// Short waits, little stress in front, many instances.
	e.add("roles-burst", ptxgen.FormPermuted, Random|Sync|Stress, "warps=4..24", "blocks=128..512", "stride=12", "offset=21..174",
		"stress-ctas=12..232", "stress-line=208..2056", "stress-lines=328", "stress-lane=4", "stress-rounds=10", "pre-share=1..79",
		"pre-rounds=9", "sync-bound=14", "sync-share=17", "sync-groups=24", "order-shift=4..7", "stress-pattern=random")
	// Much stress beside instances that lie close together.
	e.add("roles-queue", ptxgen.FormPermuted, Random|Sync|Stress, "warps=8", "blocks=64", "stride=8", "distance=2..83", "stress-ctas=352",
		"stress-line=264", "stress-lines=2..325", "stress-rounds=49", "pre-share=6", "pre-rounds=0..1", "sync-bound=11..518",
		"sync-share=10..23", "sync-groups=31", "order-shift=4", "stress-pattern=random")
	e.add("roles-knot", ptxgen.FormPermuted, Random|Stress, "distance=8..256", "mixed=1", "scatter=30..100", "stride=4..192", "warps=2..8",
		"blocks=128..512", "stress-ctas=4..320", "stress-pattern=random", "stress-lines=1..8", "stress-rounds=30..134",
		"pre-share=0..28", "pre-rounds=0..15")
}

// floods are as many instances as memory is fast, those that meet in CTAs beside each other: traffic is the stress.
func (e *environments) floods() {
	most := min(e.t.Instances.Value*8, maxKnob)
	flood := []string{"near=1..16", fmt.Sprintf("instances=%d..%d", most/32, most), "scatter=0..100", "stride=4..64", "warps=1..32"}
	for _, x := range []struct {
		name    string
		form    ptxgen.Form
		changes []string
	}{
		{"flood", ptxgen.FormFast, nil},
		{"roles-flood", ptxgen.FormPermuted, nil},
		{"roles-flood-near", ptxgen.FormPermuted, []string{"near=1", "scatter=0..30", "stride=4..8", "warps=4..32"}},
		{"roles-flood-far", ptxgen.FormPermuted, []string{"near=32..512"}},
		{"roles-flood-scattered", ptxgen.FormPermuted, []string{"scatter=100"}},
		{"roles-flood-mixed", ptxgen.FormPermuted, []string{"distance=4..32", "mixed=1"}},
	} {
		e.add(x.name, x.form, Random, slices.Concat(flood, x.changes)...)
	}
}

// marches are floods in which the lanes of a warp access one line, and CTAs lines one after the other: fast, and in step. Large
// CTAs, and those of an instance apart, show most; what stresses between them keeps the test's lines on their way.
func (e *environments) marches() {
	march := []string{e.times(4), "near=1", "stride=4", "scatter=0", "offset=0"}
	beside := append(march, "warps=32", "stress-every=17", "stress-own=1", "stress-line=128", "stress-rounds=5")
	e.add("march-stress", ptxgen.FormFast, Stress, beside...)
	e.add("march-far", ptxgen.FormFast, Stress, append(beside, e.times(16), "stress-every=33")...)
	e.add("march-random", ptxgen.FormFast, Stress|Random,
		append(beside, "warps=16..32", "stress-every=9..33", "stress-rounds=1..5", "stress-lane=4")...)
	// The order of roles is that of a whole CTA.
	e.add("roles-march", ptxgen.FormPermuted, Random, append(march, "near=1..16", "warps=8", "order-shift=8")...)
	e.add("roles-march-drawn", ptxgen.FormPermuted, Random, append(march, "warps=8", "offset=0..2016")...)
}

// Drawn returns settings whose parameters are drawn from wide ranges, each with
// ranges of its own: the same for the same seed.
func Drawn(t Tuning, seed uint64, n int) []Setting {
	rnd := rand.New(rand.NewPCG(seed, 7))
	var list []Setting
	for k := range n {
		s := Setting{Name: fmt.Sprintf("drawn-%d", k+1), Form: ptxgen.Form(min(rnd.IntN(4), 1)), Incantations: Random, Tuning: t}
		for _, i := range []Incantations{Sync, Stress, Banks} {
			if rnd.IntN(2) == 0 {
				s.Incantations |= i
			}
		}
		if !slices.Contains(t.Kept, "stress-pattern") {
			s.Tuning.Pattern = randomPattern
		}
		s.Tuning.knobs(func(name, _ string, k *Knob) bool {
			if w, ok := wide[name]; ok && !slices.Contains(t.Kept, name) {
				a, b := w.draw(rnd, true), w.draw(rnd, true)
				if rnd.IntN(2) == 0 {
					b = a
				}
				*k = Knob{min(a, b), min(a, b), max(a, b)}
			}
			return true
		})
		// A launch shall not stress for longer than it tests.
		most := max(stressAccesses/(s.Tuning.StressCTAs.High*s.Tuning.Warps.High), 8)
		if k := &s.Tuning.StressRounds; !slices.Contains(t.Kept, "stress-rounds") {
			*k = Knob{min(k.Value, most), min(k.Low, most), min(k.High, most)}
		}
		list = append(list, s)
	}
	return list
}

// stressAccesses is about how often the warps of a launch that is drawn perform the
// sequence of stress.
const stressAccesses = 1 << 18

// wide are the ranges that Drawn draws from.
var wide = map[string]Knob{
	"warps": {0, 1, 32}, "blocks": {0, 4, 1024}, "stride": {0, 4, 2048}, "distance": {0, 0, 256}, "offset": {0, 0, 4096},
	"stress-ctas": {0, 1, 512}, "stress-line": {0, 32, 4096}, "stress-lines": {0, 1, 1024}, "stress-lane": {0, 0,
		8}, "stress-rounds": {0, 10, 1000},
	"pre-share": {0, 0, 100}, "pre-rounds": {0, 0, 31}, "sync-bound": {0, 10, 2000}, "sync-share": {0, 10, 100}, "sync-groups": {0, 1, 128},
	"order-shift": {0, 0, 10}, "scatter": {0, 30, 300}, "mixed": {0, 0, 1}, "near": {0, 0, 64},
}

// Hunt is the name for the environments that adaptive runs begin with: those that showed most
// of what others had seen on Hopper chips, or something that no other one did.
const Hunt = "hunt"

const hunted = "roles-knot,flood,sys-str+,roles-crowd,roles-burst,meet-stress,roles-queue,roles-all,roles-flood,roles-flood-near," +
	"cache-str+,dense-wide,march-stress,march-far,march-random,roles-march,roles-march-drawn"

// Find returns the settings with some names, separated by commas; all is all.
func Find(list []Setting, names string) ([]Setting, error) {
	switch names {
	case "all":
		return list, nil
	case Hunt:
		names = hunted
	}
	var out []Setting
	for _, n := range strings.Split(names, ",") {
		at := -1
		for i := range list {
			if list[i].Name == n {
				at = i
			}
		}
		if at < 0 {
			var known []string
			for i := range list {
				known = append(known, list[i].Name)
			}
			return nil, fmt.Errorf("unknown environment %q (%s; all; hunt)", n, strings.Join(known, ", "))
		}
		out = append(out, list[at])
	}
	return out, nil
}
