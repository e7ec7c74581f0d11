package program

import (
	"fmt"
	"math/bits"
	"math/rand/v2"
	"slices"
	"strings"

	"optcheck/runner"
	"optcheck/runner/drive"
)

// Environment is a way to run a program: stress of one kind or none, ids randomised or
// not. Its names are those of drive.Environments: no-str-, sys-str+.
type Environment struct {
	Name string `json:"name"`
	// Stress tells that further blocks stress, IDs that ids are randomised.
	Stress bool `json:"stress"`
	IDs    bool `json:"ids"`

	random bool // each access is drawn: rand-str
	sweep  bool // all of the memory is gone through: cache-str
	ctas   bool // tuning says how many blocks stress
	tuning drive.Tuning
}

// Environments are the eight of Sorensen and Donaldson (PLDI 2016, Sec. 4.2, Tab. 5)
// with what was tuned for a device: sys-str goes through its sequence, at lines of its
// distance, as many as its spread.
func Environments(d runner.Device, t drive.Tuning) (list []Environment) {
	for _, s := range drive.Environments(d, t) {
		if !strings.HasSuffix(strings.TrimRight(s.Name, "+-"), "-str") {
			continue
		}
		list = append(list, Environment{Name: s.Name, Stress: s.Incantations&drive.Stress != 0, IDs: s.Incantations&drive.Random != 0,
			random: strings.HasPrefix(s.Name, "rand"), sweep: strings.HasPrefix(s.Name, "cache"),
			ctas: slices.Contains(t.Kept, "stress-ctas"), tuning: s.Tuning})
	}
	return list
}

// Stressing says what the stress is of a run that takes length times as long as without
// it: counts of another one are not gone on with.
func (e *Environment) Stressing(length float64) string {
	if !e.Stress {
		return ""
	}
	text := fmt.Sprintf("%g times", length)
	if e.ctas {
		text += fmt.Sprintf(", %v blocks", e.tuning.StressCTAs)
	}
	if !e.random && !e.sweep {
		text += fmt.Sprintf(", %s, %d lines of %d, lane %d", e.tuning.Pattern, e.tuning.StressLines.Value, e.tuning.StressLine.Value,
			e.tuning.StressLane.Value)
	}
	return text
}

// Native reports whether an environment runs a program as it is.
func (e *Environment) Native() bool { return !e.Stress && !e.IDs }

// The share of a program's blocks that stress beside them, in per cent (Sec. 4.2), where
// stress-ctas is not set.
const stressLow, stressHigh = 15, 50

// draw chooses the arguments of a launch and its number of blocks. room is the size of
// the scratch memory, a power of two; inside tells that the program's own blocks stress.
func (e *Environment) draw(rnd *rand.Rand, l *Launch, room, rounds uint32, inside bool) (blocks uint32, args []uint32) {
	own := uint32(l.Blocks())
	extra, share := uint32(0), uint32(0)
	if e.Stress {
		share = stressLow + rnd.Uint32N(stressHigh-stressLow+1)
		extra = max(1, uint32(uint64(own)*uint64(share)/100))
		if k := e.tuning.StressCTAs; e.ctas {
			extra = max(1, k.Low+rnd.Uint32N(k.High-k.Low+1))
			share = uint32(min(100, uint64(extra)*100/uint64(own)))
		}
	}
	stressing := extra
	if inside {
		extra = 0
	}
	blocks = own + extra
	warps := l.Block[0] * l.Block[1] * l.Block[2] / 32
	// Without randomisation blocks keep their order, and those that stress start first.
	ba, bb, wa, wb := uint32(1), own, uint32(1), uint32(0)
	if e.IDs {
		ba, bb = affine(rnd, blocks)
		wa, wb = affine(rnd, max(1, warps))
	}
	bb %= blocks
	v := map[string]uint32{"gx": l.Grid[0], "gy": l.Grid[1], "gz": l.Grid[2], "ba": ba, "bb": bb, "wa": wa, "wb": wb,
		"lines": 1, "line": 4, "mask": room - 1, "seed": rnd.Uint32()}
	if e.Stress {
		v["rounds"], v["share"] = rounds, share
		e.stress(rnd, v, room, stressing*max(1, warps))
	}
	for _, p := range Params[1:] {
		args = append(args, v[p.Name])
	}
	return blocks, args
}

// stress chooses what warps that stress do.
func (e *Environment) stress(rnd *rand.Rand, v map[string]uint32, room, warps uint32) {
	switch {
	case e.random:
		v["random"], v["line"], v["lines"] = 1, 4, room/4
	case e.sweep:
		const line = 128 // a warp accesses a line, word by word
		v["loads"], v["stores"], v["line"], v["lane"], v["lines"], v["step"] = 1, 1, line, 4, room/line, warps
	default:
		for k, w := range strings.Fields(e.tuning.Pattern) {
			v[map[string]string{"ld": "loads", "st": "stores"}[w]] |= 1 << k
		}
		v["line"], v["lines"] = e.tuning.StressLine.Value, e.tuning.StressLines.Value
		v["lane"] = e.tuning.StressLane.Value
		v["base"] = rnd.Uint32N(room/4) &^ 127
	}
}

// affine draws n ↦ (a·n + b) mod size, a permutation whose products fit into 32 bits.
func affine(rnd *rand.Rand, size uint32) (a, b uint32) {
	a, b = 1, rnd.Uint32N(size)
	for range 64 {
		c := 1 + rnd.Uint32N(size)
		if high, low := bits.Mul32(c, size); gcd(c, size) == 1 && high == 0 && low <= 1<<32-1-size {
			return c, b
		}
	}
	return a, b
}

func gcd(a, b uint32) uint32 {
	for b != 0 {
		a, b = b, a%b
	}
	return a
}

// Named returns the environments with some names, separated by commas; all is all.
func Named(list []Environment, names string) (out []Environment, err error) {
	if names == "all" {
		return list, nil
	}
	var known []string
	for _, e := range list {
		known = append(known, e.Name)
	}
	for name := range strings.SplitSeq(names, ",") {
		i := slices.Index(known, name)
		if i < 0 {
			return nil, fmt.Errorf("unknown environment %q (%s; all)", name, strings.Join(known, ", "))
		}
		out = append(out, list[i])
	}
	return out, nil
}
