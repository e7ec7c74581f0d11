package drive

import (
	"math"
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
	syncWords uint32   // counters of arrivals
	arena     bool     // the locations lie in one buffer
	homes     []int    // the device of each location
	own       int      // the location that is stressed, or -1
	active    []uint32 // for each device the units of the test that act there, as bits
}

// planner makes launches.
type planner struct {
	h    *ptxgen.Harness
	d    runner.Device
	t    Tuning
	inc  Incantations
	rnd  *rand.Rand
	lone bool // one instance per launch
	// threads is how many threads of the kernel a multiprocessor holds, 0 if that is
	// not known.
	threads int
	homes   []int
	devices int
	near    uint32 // of the launch; see Tuning
	every   uint32 // likewise
}

// newPlanner returns the planner of a job: its random choices depend on the
// seed and the incantations alone.
func newPlanner(h *ptxgen.Harness, d runner.Device, j Job) *planner {
	homes := make([]int, len(h.Widths))
	copy(homes, j.Homes)
	return &planner{h: h, d: d, t: j.Tuning, inc: j.Incantations, lone: (j.Lone || j.Tuning.Lone.Value > 0) && h.Form == ptxgen.FormFast,
		homes: homes, devices: 1,
		rnd: rand.New(rand.NewPCG(j.Seed, uint64(j.Incantations)))}
}

func floorPow2(n uint32) uint32 { return 1 << (bits.Len32(max(n, 1)) - 1) }

// resident is how many CTAs of so many threads the device holds at once.
func (p *planner) resident(threads uint32) uint32 {
	per := uint32(2048)
	if p.d.UnitThreads > 0 {
		per = uint32(p.d.UnitThreads)
	}
	if p.threads > 0 {
		per = min(per, uint32(p.threads))
	}
	if p.d.Type == "cpu" {
		per = threads
	}
	return uint32(max(p.d.Units, 1)) * max(per/threads, 1)
}

// launch makes the choices of one launch.
func (p *planner) launch() (*launch, error) {
	s := p.h.Shape
	p.flood()
	warps := p.warps()
	lanes := p.lanes()
	perCTA := warps / uint32(s.Warps) * lanes
	if p.permuted() {
		perCTA = warps * 32
	}
	blocks, stress := p.size(warps, perCTA)
	if p.lone {
		blocks, perCTA = 1, 1
		if s.Warps > 1 || s.Lanes > 1 {
			return nil, runner.Errorf(runner.ErrUnsupported, "run", "one instance a launch of a test whose CTAs have several threads")
		}
	}
	l := &launch{threads: warps * 32, instances: blocks * perCTA, blocks: blocks, set: map[string]uint32{}, homes: p.homes, own: -1,
		active: make([]uint32, p.devices)}
	for unit, device := range s.Devices {
		l.active[device%p.devices] |= 1 << unit
	}
	if p.permuted() {
		l.instances *= uint32(s.Ranks)
	}
	if p.lone {
		l.threads = 1
	}
	p.units(l, stress)
	l.set["log_lanes"] = uint32(bits.Len32(lanes)) - 1
	l.set["bank_step"], l.set["bank_rounds"] = p.draw(p.t.BankStride)&^3, p.draw(p.t.BankRounds)
	p.permute(l, warps, perCTA)
	if err := p.incantations(l, warps); err != nil {
		return nil, err
	}
	p.layout(l, perCTA)
	p.own(l)
	return l, nil
}

// permuted reports whether the kernel is of the permuted form.
func (p *planner) permuted() bool { return p.h.Form == ptxgen.FormPermuted }

// on reports whether an incantation is asked for.
func (p *planner) on(i Incantations) bool { return p.inc&i != 0 }

// draw is a knob's value.
func (p *planner) draw(k Knob) uint32 { return k.draw(p.rnd, p.on(Random)) }

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
	warps := least * floorPow2((p.draw(p.t.Warps)+least-1)/least)
	for warps > min(most, 32) && warps > least {
		warps /= 2
	}
	return warps
}

// lanes is how many threads of a warp test for each place of a warp, a power of two; the
// others make bank conflicts. Where threads meet at barriers all of them test.
func (p *planner) lanes() uint32 {
	all := 32 / uint32(p.h.Shape.Lanes)
	if !p.on(Banks) || !p.h.Form.Banks() || p.h.Shape.Full {
		return all
	}
	return floorPow2(all - min(p.draw(p.t.BankLanes)/uint32(p.h.Shape.Lanes), all-1))
}

// size chooses the number of blocks, a power of two, and of stressing CTAs. Where CTAs wait for
// each other, stress is to act on them or those of an instance are far apart, all are resident at
// once.
func (p *planner) size(warps, perCTA uint32) (blocks, stress uint32) {
	least, ctas := uint32(1), uint32(p.h.Shape.Units*p.h.Shape.Ranks)
	if p.permuted() { // a block of the permuted form is a cluster that has the places of all
		least, ctas = uint32(pow2(p.h.Shape.Units)), uint32(p.h.Shape.Ranks)
	}
	blocks = floorPow2(p.draw(p.t.Instances) / perCTA)
	if n := p.draw(p.t.Equal); n > 0 {
		return p.equal(n, warps, perCTA, ctas, least)
	}
	if p.on(Stress|Sync|Random) && p.near == 0 {
		fit := p.resident(warps * 32)
		if p.on(Stress) {
			stress = min(max(p.draw(p.t.StressCTAs), 1), max(fit/2, 1))
			fit -= min(stress, fit-1)
		}
		blocks = min(blocks, floorPow2(fit/ctas))
		if p.on(Stress | Sync) {
			blocks = min(blocks, floorPow2(p.draw(p.t.Blocks)))
		} else {
			blocks = min(blocks, 1<<p.upto(uint32(bits.Len32(blocks))))
		}
	}
	return max(blocks, least), stress
}

// equal chooses so many blocks that a launch has about n instances, with what stress
// there is room for beside them.
func (p *planner) equal(n, warps, perCTA, ctas, least uint32) (blocks, stress uint32) {
	fit := p.resident(warps * 32)
	if p.permuted() {
		perCTA *= uint32(p.h.Shape.Ranks)
	}
	blocks = max(min(floorPow2(max(n/perCTA, 1)), floorPow2(max(fit/2/ctas, 1))), least)
	if p.on(Stress) {
		stress = min(max(p.draw(p.t.StressCTAs), 1), max(fit-min(fit, blocks*ctas), 1))
	}
	return blocks, stress
}

func pow2(n int) int { return 1 << bits.Len(uint(n-1)) }

// units chooses the number of clusters (or CTAs): testing, stressing and idle
// ones, and which are which.
func (p *planner) units(l *launch, stress uint32) {
	s, set := p.h.Shape, l.set
	test := uint32(s.Units) * l.blocks
	if p.permuted() {
		test = l.blocks
	}
	extra := (stress + uint32(s.Ranks) - 1) / uint32(s.Ranks)
	units := test + extra
	units += p.upto(1 + units/16) // idle CTAs
	mul := uint32(1)
	if units < 1<<16 && p.near == 0 { // products have 32 bits
		for mul = 1 + p.upto(units-1); gcd(mul, units) != 1; {
			mul = 1 + p.upto(units-1)
		}
	}
	if p.every > 0 {
		units, mul = p.between(test)
		extra = units - test
	} else if p.d.Type == "cpu" && !p.on(Random) && s.Units > 1 && !p.permuted() {
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
	if p.near > 0 {
		set["add_unit"] = 0
	}
}

// permute chooses how blocks, warps and lanes are dealt to slots and instances.
func (p *planner) permute(l *launch, warps, perCTA uint32) {
	set := l.set
	set["block_mask"], set["warp_mask"] = l.blocks-1, warps-1
	set["log_cta"], set["inst_mask"], set["cta_mask"] = uint32(bits.Len32(perCTA))-1, uint32(pow2(int(l.instances)))-1, perCTA-1
	set["result_step"] = 4 * l.instances
	set["warps"] = warps
	if p.permuted() {
		p.roles(set)
		return
	}
	lanes, groups := 32/uint32(p.h.Shape.Lanes), warps/uint32(p.h.Shape.Warps)
	if p.lone {
		lanes, groups = 1, 1
	}
	set["mul_block"], set["add_block"] = p.odd(), p.upto(l.blocks)
	if p.near > 0 {
		set["mul_block"], set["add_block"] = 1, p.upto(p.near)
	}
	set["mul_warp"], set["add_warp"] = p.odd(), p.upto(warps)
	set["mul_group"], set["add_group"], set["group_mask"] = p.odd(), p.upto(groups), groups-1
	if p.h.Shape.Lanes > 1 { // it moves each slot to another warp, those of one warp, too
		set["add_group"] = 0
	}
	set["mul_lane"], set["add_lane"] = p.odd(), p.upto(lanes)
}

// roles chooses the permutations of the permuted form, and the order of the roles.
func (p *planner) roles(set map[string]uint32) {
	for _, name := range []string{"block", "warp", "lane"} {
		set["mul_"+name], set["add_"+name] = p.upto(1<<16), p.upto(1<<16)
	}
	if p.near > 0 {
		set["mul_block"], set["add_block"] = 0, p.upto(p.near)
	}
	n := uint32(len(p.h.Shape.Roles))
	order := make([]int, n)
	for i := range order {
		order[i] = i
	}
	if p.on(Random) {
		order = p.rnd.Perm(int(n))
	}
	for i, role := range order {
		set["order"] |= uint32(role) << (4 * i)
	}
	for set["order_step"] = 1 + p.upto(n); gcd(set["order_step"], n) != 1; {
		set["order_step"] = 1 + p.upto(n)
	}
	set["rounds"], set["order_shift"] = n, min(p.draw(p.t.OrderShift), 31)
	set["order_mul"], set["order_add"], set["seed"] = 0x9e3779b1, p.upto(1<<31), p.upto(1<<31)
}

// incantations sets the parameters of synchronisation and stress.
func (p *planner) incantations(l *launch, warps uint32) (err error) {
	set := l.set
	set["sync_bound"] = p.draw(p.t.SyncBound)
	if n := uint32(p.h.Shape.Units*p.h.Shape.Ranks) * warps; p.on(Sync) && n > 1 {
		set["sync"], l.syncWords = n, l.blocks
	}
	set["stress_slot"], set["idle_slot"] = ptxgen.MaxHarnessSlots, ptxgen.MaxHarnessSlots+1
	set["stress_lines"], set["stress_line"], set["stress_lane"] = max(p.draw(p.t.StressLines),
		1), p.draw(p.t.StressLine)&^3, p.draw(p.t.StressLane)&^3
	set["stress_base"], set["stress_wrap"] = p.draw(p.t.StressBase)&^3, math.MaxUint32
	if w := p.draw(p.t.StressWrap); w > 0 {
		set["stress_wrap"] = floorPow2(max(w, 4)) - 1
	}
	set["stress_iterations"] = p.draw(p.t.StressRounds)
	if p.permuted() {
		p.loose(l, warps)
	}
	set["stress_loads"], set["stress_stores"], set["stress_steps"], err = p.t.pattern(p.rnd)
	return err
}

// loose sets the parameters of the barriers and of the stress in front of rounds.
func (p *planner) loose(l *launch, warps uint32) {
	set, share := l.set, func(k Knob) uint32 { return (min(p.draw(k), 100)*256 + 99) / 100 }
	if p.on(Sync) {
		groups := floorPow2(min(max(p.draw(p.t.SyncGroups), 1), l.blocks))
		l.syncWords = groups * uint32(len(p.h.Shape.Roles))
		set["sync"] = l.blocks / groups * uint32(p.h.Shape.Ranks) * warps
		set["sync_mask"], set["sync_share"] = groups-1, share(p.t.SyncShare)
	}
	if p.on(Stress) {
		set["pre_share"], set["pre_mask"] = share(p.t.PreShare), floorPow2(p.draw(p.t.PreRounds)+1)-1
	}
}

func gcd(a, b uint32) uint32 {
	for b != 0 {
		a, b = b, a%b
	}
	return a
}
