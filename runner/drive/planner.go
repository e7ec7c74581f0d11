package drive

import (
	"math/bits"
	"math/rand/v2"

	"optcheck/ptxgen"
	"optcheck/runner"
)

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
	warps := p.warps()
	perCTA := warps / uint32(s.Warps) * (32 / uint32(s.Lanes))
	blocks, stress := p.size(warps, perCTA)
	if p.lone {
		blocks, perCTA, stress = 1, 1, 0
	}
	l := &launch{threads: warps * 32, instances: blocks * perCTA, blocks: blocks, set: map[string]uint32{}}
	if p.lone && s.Warps == 1 && s.Lanes == 1 {
		l.threads = 1
	}
	p.units(l, stress)
	p.permute(l, warps, perCTA)
	if err := p.incantations(l, warps); err != nil {
		return nil, err
	}
	p.layout(l, perCTA)
	return l, nil
}

// on reports whether an incantation is asked for.
func (p *planner) on(i Incantations) bool { return p.inc&i != 0 }

// upto draws from 0 to n-1; it is 0 without thread randomisation.
func (p *planner) upto(n uint32) uint32 {
	if !p.on(Random) || n == 0 {
		return 0
	}
	return p.rnd.Uint32N(n)
}

// odd draws an odd multiplier: one that permutes the numbers below any power
// of two. It is 1 without thread randomisation.
func (p *planner) odd() uint32 { return p.upto(1<<15)*2 + 1 }

// warps chooses the warps of a CTA: a power of two times those of the test.
func (p *planner) warps() uint32 {
	least, most := uint32(p.h.Shape.Warps), uint32(max(p.d.MaxBlock, 32))/32
	if p.lone {
		return least
	}
	warps := max(p.t.Warps, least)
	if p.on(Random) {
		warps = least << p.upto(4)
	}
	for warps > min(most, 32) && warps > least {
		warps /= 2
	}
	return warps
}

// size chooses the number of blocks, a power of two, and of stressing CTAs. Where
// CTAs wait for each other or stress is to act on them, all are resident at once.
func (p *planner) size(warps, perCTA uint32) (blocks, stress uint32) {
	blocks = max(floorPow2(p.t.Instances/perCTA), 1)
	if p.on(Stress | Sync | Random) {
		fit := p.resident(warps * 32)
		if p.on(Stress) {
			stress = min(p.t.StressCTAs, max(fit/2, 1))
			if p.on(Random) {
				stress = max(1, stress/4+p.upto(stress))
			}
			fit -= min(stress, fit-1)
		}
		limit := max(floorPow2(fit/uint32(p.h.Shape.Units*p.h.Shape.Ranks)), 1)
		blocks = min(blocks, limit)
		if p.on(Stress | Sync) {
			blocks = min(blocks, max(floorPow2(p.t.Blocks), 1))
		}
		if p.on(Random) {
			blocks = min(limit, 1<<p.upto(uint32(bits.Len32(limit))))
		}
	}
	for uint64(blocks)*uint64(perCTA) > 1<<24 {
		blocks /= 2
	}
	return blocks, stress
}

// units chooses the number of clusters (or CTAs): testing, stressing and idle
// ones, and which are which.
func (p *planner) units(l *launch, stress uint32) {
	s, set := p.h.Shape, l.set
	test := uint32(s.Units) * l.blocks
	extra := (stress + uint32(s.Ranks) - 1) / uint32(s.Ranks)
	units := test + extra
	units += p.upto(1 + units/16) // idle CTAs
	mul := uint32(1)
	if units > 1 && units < 1<<16 {
		for mul = 1 + p.upto(units-1); gcd(mul, units) != 1; {
			mul = 1 + p.upto(units-1)
		}
	}
	if p.d.Type == "cpu" && !p.on(Random) && s.Units > 1 {
		// The cores of a CPU take their shares of the CTAs from the front and
		// from the back half of their numbers: one role after the other, with
		// idle CTAs that make the step co-prime.
		mul = uint32(s.Units)
		for units++; gcd(mul, units) != 1; {
			units++
		}
	}
	l.ctas = units * uint32(s.Ranks)
	set["units"], set["test_units"], set["stress_units"] = units, test, test+extra
	set["mul_unit"], set["add_unit"], set["add_rank"] = mul, p.upto(units), p.upto(uint32(s.Ranks))
}

// permute chooses how blocks, warps and lanes are dealt to slots and instances.
func (p *planner) permute(l *launch, warps, perCTA uint32) {
	set, lanes := l.set, 32/uint32(p.h.Shape.Lanes)
	groups := warps / uint32(p.h.Shape.Warps)
	if p.lone {
		groups = 1
	}
	set["mul_block"], set["add_block"], set["block_mask"] = p.odd(), p.upto(l.blocks), l.blocks-1
	set["mul_warp"], set["add_warp"], set["warp_mask"] = p.odd(), p.upto(warps), warps-1
	set["mul_group"], set["add_group"], set["group_mask"] = p.odd(), p.upto(groups), groups-1
	set["mul_lane"], set["add_lane"] = p.odd(), p.upto(lanes)
	set["log_cta"], set["inst_mask"], set["cta_mask"] = uint32(bits.Len32(perCTA))-1, l.instances-1, perCTA-1
	set["result_step"] = 4 * l.instances
	set["warps"] = warps
}

// incantations sets the parameters of synchronisation and stress.
func (p *planner) incantations(l *launch, warps uint32) error {
	pattern, steps, err := p.t.pattern()
	if err != nil {
		return err
	}
	set := l.set
	set["sync_bound"] = p.t.SyncBound
	if n := uint32(p.h.Shape.Units*p.h.Shape.Ranks) * warps; p.on(Sync) && n > 1 {
		set["sync"] = n
	}
	set["stress_slot"], set["idle_slot"] = ptxgen.MaxHarnessSlots, ptxgen.MaxHarnessSlots+1
	set["stress_lines"], set["stress_line"], set["stress_lane"] = max(p.t.StressLines, 1), p.t.StressLine, p.t.StressLane
	set["stress_pattern"], set["stress_steps"], set["stress_iterations"] = pattern, steps, p.t.StressRounds
	if p.on(Random) && p.on(Stress) {
		steps = 1 + p.upto(5)
		set["stress_steps"], set["stress_pattern"] = steps, p.upto(1<<steps)
		set["stress_lines"] = 1 + p.upto(p.t.StressLines)
	}
	return nil
}

// layout chooses where the instances' locations lie.
func (p *planner) layout(l *launch, perCTA uint32) {
	for i, w := range p.h.Widths {
		stride := max(p.t.Stride, uint32(w))
		if p.inc&Banks != 0 && p.rnd.Uint32N(2) == 1 {
			stride = max(p.t.BankStride, uint32(w))
		}
		stride = (stride + uint32(w) - 1) / uint32(w) * uint32(w)
		l.mul = append(l.mul, p.odd())
		offset := p.upto(64) * 32
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
