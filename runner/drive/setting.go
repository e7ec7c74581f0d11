package drive

import (
	"fmt"
	"strings"

	"optcheck/runner"
)

// Incantations is a set of the four incantations of the study (seed 000 Sec.
// 4.3). Its value plus one is the column of the study's Tab. 6.
type Incantations uint8

// The incantations.
const (
	Random Incantations = 1 << iota // thread randomisation
	Sync                            // thread synchronisation
	Banks                           // general bank conflicts
	Stress                          // memory stress
	None   Incantations = 0
	All    Incantations = 15
)

var incantationNames = []struct {
	i    Incantations
	name string
}{{Stress, "stress"}, {Banks, "banks"}, {Sync, "sync"}, {Random, "random"}}

// String lists the incantations: "stress+random"; "none" for the empty set.
func (i Incantations) String() string {
	var parts []string
	for _, n := range incantationNames {
		if i&n.i != 0 {
			parts = append(parts, n.name)
		}
	}
	if len(parts) == 0 {
		return "none"
	}
	return strings.Join(parts, "+")
}

// ParseIncantations reads what String writes; "all" is all sixteen sets in the
// order of Tab. 6. Several sets are separated by commas.
func ParseIncantations(s string) ([]Incantations, error) {
	if s == "all" {
		var list []Incantations
		for i := None; i <= All; i++ {
			list = append(list, i)
		}
		return list, nil
	}
	var list []Incantations
	for _, set := range strings.Split(s, ",") {
		i := None
		for _, w := range strings.Split(set, "+") {
			if w == "none" {
				continue
			}
			found := false
			for _, n := range incantationNames {
				if n.name == w {
					i |= n.i
					found = true
				}
			}
			if !found {
				return nil, fmt.Errorf("unknown incantation %q (stress, banks, sync, random, joined by +; none; all)", w)
			}
		}
		list = append(list, i)
	}
	return list, nil
}

// Tuning are the parameters of launches and incantations. Zero values are
// replaced by the defaults that DefaultTuning gives for the device.
type Tuning struct {
	Instances    uint32 // instances per launch without synchronisation and stress, at most
	Warps        uint32 // warps of a CTA
	Blocks       uint32 // CTAs per role, where synchronisation or stress is on
	StressCTAs   uint32
	StressLine   uint32 // bytes between stressed lines
	StressLines  uint32
	StressLane   uint32 // bytes between the lanes of a warp
	Pattern      string // of stress: "ld st", one to five of them
	StressRounds uint32
	SyncBound    uint32 // polls until a warp gives up waiting
	Stride       uint32 // bytes between neighbouring instances of a location
	BankStride   uint32 // the other stride, which makes lanes share a bank
	Launches     int    // different launches of a batch, where choices are random
}

// DefaultTuning returns the defaults for a device.
func DefaultTuning(d runner.Device) Tuning {
	if d.Type == "cpu" {
		return Tuning{Instances: 1 << 16, Warps: 32, Blocks: 64, StressCTAs: 1, StressLine: 64, StressLines: 16, Pattern: "ld st", StressRounds: 200,
			SyncBound: 1000, Stride: 4, BankStride: 64, Launches: 8}
	}
	return Tuning{Instances: 1 << 20, Warps: 8, Blocks: 64, StressCTAs: 256, StressLine: 128, StressLines: 64, Pattern: "ld st", StressRounds: 100,
		SyncBound: 2000, Stride: 4, BankStride: 128, Launches: 32}
}

// pattern packs a stress pattern: bit k is 1 if access k is a store.
func (t *Tuning) pattern() (word, steps uint32, err error) {
	for _, w := range strings.Fields(t.Pattern) {
		switch w {
		case "st":
			word |= 1 << steps
		case "ld":
		default:
			return 0, 0, fmt.Errorf("stress pattern %q: want ld and st", t.Pattern)
		}
		steps++
	}
	if steps < 1 || steps > 5 {
		return 0, 0, fmt.Errorf("stress pattern %q: want one to five accesses", t.Pattern)
	}
	return word, steps, nil
}
