package drive

import (
	"fmt"
	"math/bits"
	"math/rand/v2"
	"strings"

	"optcheck/ptxgen"
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

// launch is one launch with all choices made.
type launch struct {
	set       map[string]uint32
	ctas      uint32
	threads   uint32
	instances uint32
	mul       []uint32
	stride    []uint32
	offset    []uint32
	shared    uint32 // bytes of dynamic shared memory
	blocks    uint32
}

// planner makes launches.
type planner struct {
	h    *ptxgen.Harness
	d    runner.Device
	t    Tuning
	inc  Incantations
	rnd  *rand.Rand
	lone bool // one instance per launch
}

// newPlanner returns the planner of a job: its random choices depend on the
// seed and the incantations alone.
func newPlanner(h *ptxgen.Harness, d runner.Device, j Job) *planner {
	return &planner{h: h, d: d, t: j.Tuning, inc: j.Incantations, lone: j.Lone, rnd: rand.New(rand.NewPCG(j.Seed, uint64(j.Incantations)))}
}

func floorPow2(n uint32) uint32 { return 1 << (bits.Len32(max(n, 1)) - 1) }

// resident is how many CTAs of so many threads the device holds at once.
func (p *planner) resident(threads uint32) uint32 {
	per := uint32(2048)
	if p.d.UnitThreads > 0 {
		per = uint32(p.d.UnitThreads)
	}
	if p.d.Type == "cpu" {
		per = threads
	}
	return uint32(max(p.d.Units, 1)) * max(per/threads, 1)
}

// launch makes the choices of one launch.
func (p *planner) launch() (*launch, error) {
	s := p.h.Shape
	on := func(i Incantations) bool { return p.inc&i != 0 }
	upto := func(n uint32) uint32 { // 0 … n-1
		if !on(Random) || n == 0 {
			return 0
		}
		return p.rnd.Uint32N(n)
	}
	odd := func() uint32 { return upto(1<<15)*2 + 1 }
	warps := max(p.t.Warps, uint32(s.Warps))
	if on(Random) {
		for warps = uint32(s.Warps) << upto(4); warps*32 > uint32(max(p.d.MaxBlock, 32)) || warps > 32; {
			warps /= 2
		}
	}
	for warps*32 > uint32(max(p.d.MaxBlock, 32)) && warps > uint32(s.Warps) {
		warps /= 2
	}
	if p.lone {
		warps = uint32(s.Warps)
	}
	lanes := 32 / uint32(s.Lanes)
	perCTA := warps / uint32(s.Warps) * lanes
	each := uint32(s.Units * s.Ranks)
	blocks := max(floorPow2(p.t.Instances/perCTA), 1)
	stress := uint32(0)
	if on(Stress) {
		stress = p.t.StressCTAs
	}
	if on(Stress) || on(Sync) || on(Random) {
		fit := p.resident(warps * 32)
		if on(Stress) {
			stress = min(stress, max(fit/2, 1))
			if on(Random) {
				stress = max(1, stress/4+upto(stress))
			}
			fit -= min(stress, fit-1)
		}
		limit := max(floorPow2(fit/each), 1)
		blocks = min(blocks, limit)
		if on(Stress) || on(Sync) {
			blocks = min(blocks, max(floorPow2(p.t.Blocks), 1))
		}
		if on(Random) {
			blocks = min(limit, 1<<upto(uint32(bits.Len32(limit))))
		}
	}
	if p.lone {
		blocks, perCTA, stress = 1, 1, 0
	}
	for uint64(blocks)*uint64(perCTA) > 1<<24 {
		blocks /= 2
	}
	l := &launch{threads: warps * 32, instances: blocks * perCTA, blocks: blocks, set: map[string]uint32{}}
	if p.lone && s.Warps == 1 && s.Lanes == 1 {
		l.threads = 1
	}
	test := uint32(s.Units) * blocks
	extra := uint32(0)
	if on(Stress) {
		extra = (stress + uint32(s.Ranks) - 1) / uint32(s.Ranks)
	}
	units := test + extra
	if on(Random) {
		units += upto(1 + units/16) // idle CTAs
	}
	l.ctas = units * uint32(s.Ranks)
	pattern, steps, err := p.t.pattern()
	if err != nil {
		return nil, err
	}
	mulUnit := uint32(1)
	if units > 1 && units < 1<<16 {
		for mulUnit = 1 + upto(units-1); gcd(mulUnit, units) != 1; {
			mulUnit = 1 + upto(units-1)
		}
	}
	if p.d.Type == "cpu" && !on(Random) && s.Units > 1 {
		// The cores of a CPU take their shares of the CTAs from the front and
		// from the back half of their numbers: one role after the other, with
		// an idle CTA that makes the step co-prime.
		units, mulUnit = units+1, uint32(s.Units)
		l.ctas = units * uint32(s.Ranks)
		for gcd(mulUnit, units) != 1 {
			units++
			l.ctas = units * uint32(s.Ranks)
		}
	}
	groups := warps / uint32(s.Warps)
	if p.lone {
		groups = 1
	}
	set := l.set
	set["units"], set["test_units"], set["stress_units"] = units, test, test+extra
	set["mul_unit"], set["add_unit"], set["add_rank"] = mulUnit, upto(units), upto(uint32(s.Ranks))
	set["mul_block"], set["add_block"], set["block_mask"] = odd(), upto(blocks), blocks-1
	set["mul_warp"], set["add_warp"], set["warp_mask"] = odd(), upto(warps), warps-1
	set["mul_group"], set["add_group"], set["group_mask"] = odd(), upto(groups), groups-1
	set["mul_lane"], set["add_lane"] = odd(), upto(lanes)
	set["log_cta"], set["inst_mask"], set["cta_mask"] = uint32(bits.Len32(perCTA))-1, l.instances-1, perCTA-1
	set["result_step"] = 4 * l.instances
	set["sync_bound"] = p.t.SyncBound
	if on(Sync) && each*warps > 1 {
		set["sync"] = each * warps
	}
	set["stress_slot"], set["idle_slot"] = ptxgen.MaxHarnessSlots, ptxgen.MaxHarnessSlots+1
	set["stress_lines"], set["stress_line"], set["stress_lane"] = max(p.t.StressLines, 1), p.t.StressLine, p.t.StressLane
	set["stress_pattern"], set["stress_steps"], set["stress_iterations"] = pattern, steps, p.t.StressRounds
	if on(Random) && on(Stress) {
		steps := 1 + upto(5)
		set["stress_steps"], set["stress_pattern"] = steps, upto(1<<steps)
		set["stress_lines"] = 1 + upto(p.t.StressLines)
	}
	set["warps"] = warps
	p.layout(l, perCTA, odd, upto)
	return l, nil
}

// layout chooses where the instances' locations lie.
func (p *planner) layout(l *launch, perCTA uint32, odd func() uint32, upto func(uint32) uint32) {
	for i, w := range p.h.Widths {
		stride := max(p.t.Stride, uint32(w))
		if p.inc&Banks != 0 && p.rnd.Uint32N(2) == 1 {
			stride = max(p.t.BankStride, uint32(w))
		}
		stride = (stride + uint32(w) - 1) / uint32(w) * uint32(w)
		l.mul = append(l.mul, odd())
		offset := upto(64) * 32
		if p.h.Shape.Shared[i] >= 0 {
			for stride > uint32(w) && uint64(perCTA)*uint64(stride) > p.d.Shared/uint64(len(p.h.Widths)+1) {
				stride /= 2
			}
			stride = stride / uint32(w) * uint32(w)
			offset = l.shared
			l.shared += perCTA * stride
		}
		l.stride = append(l.stride, stride)
		l.offset = append(l.offset, offset)
	}
}

func gcd(a, b uint32) uint32 {
	for b != 0 {
		a, b = b, a%b
	}
	return a
}
