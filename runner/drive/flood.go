package drive

// A flood is a launch that is larger than what the device holds at once: its own traffic is stress.
// Its CTAs start in the order of their numbers, so that those of an instance meet if they have
// numbers close together (near).

// flood chooses whether a launch is one, and whether some of its CTAs stress beside the testing
// ones.
func (p *planner) flood() {
	p.near, p.every = 0, 0
	if p.on(Sync) || p.on(Stress) && p.t.StressEvery.High == 0 {
		return
	}
	if p.near = p.draw(p.t.Near); p.near > 0 && p.on(Stress) {
		p.every = max(p.draw(p.t.StressEvery), 2)
	}
}

// between returns for a flood with so many testing units how many there are with the stressing
// ones, and by what a unit's number is multiplied to be its place (modulo units): the last places
// stress. Units whose numbers are every apart have neighbouring places, since every times mul is
// units + 1, and so every such unit has one of the last places. Products have 32 bits.
func (p *planner) between(test uint32) (units, mul uint32) {
	for {
		mul = test/(p.every-1) + 1
		if units = mul*p.every - 1; uint64(units)*uint64(mul) < 1<<32 {
			return units, mul
		}
		p.every++
	}
}

// own lets the stress load from the memory of one of the locations: it does not change what the
// test can see, but when.
func (p *planner) own(l *launch) {
	if p.draw(p.t.StressOwn) == 0 || !p.on(Stress) || len(p.h.Widths) == 0 {
		return
	}
	i, lane := p.h.Root(p.rnd.IntN(len(p.h.Widths))), uint64(max(l.set["stress_lane"], l.set["bank_step"]))
	room := l.size(i)
	if p.h.Shape.Shared[i] >= 0 || room < 64*(lane+1) {
		return
	}
	l.own = i
	wrap := floorPow2(uint32(min(room-32*lane, maxCells)))
	l.set["stress_base"], l.set["stress_wrap"] = 0, wrap-1
	l.set["stress_lines"] = max(wrap/max(l.set["stress_line"], 4), 1)
	l.set["stress_loads"], l.set["stress_stores"] = l.set["stress_loads"]|l.set["stress_stores"], 0
}

// size is how many bytes of the memory of a location a launch uses.
func (l *launch) size(i int) uint64 {
	return uint64(l.offset[i]) + uint64(l.stride[i])*(uint64(l.set["inst_mask"])+1)
}
