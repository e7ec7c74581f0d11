package drive

import "optcheck/spec"

// maxCells bounds the bytes from the first to the last instance of a location.
const maxCells = 1 << 30

// scatter draws the multiplier that permutes the instances of a location: 1 leaves them in order,
// and the lanes of a warp access few lines.
func (p *planner) scatter() uint32 {
	if n := p.draw(p.t.Scatter); n < 100 && p.upto(100) >= n {
		return 1
	}
	return p.odd()
}

// adjacent chooses where the cells of neighbours lie.
func (p *planner) adjacent(l *launch, perCTA uint32) {
	cell, cells, mul := uint32(p.h.Check.Cell), uint64(l.set["inst_mask"])+1, p.odd()
	stride, base := p.draw(p.t.Stride), p.draw(p.t.Offset)/cell*cell
	if p.inc&Banks != 0 && p.rnd.Uint32N(2) == 1 {
		stride = p.draw(p.t.BankStride)
	}
	stride = (max(stride, 1) + cell - 1) / cell * cell
	step := func(room, cells uint64) uint32 {
		s := stride
		for s > cell && cells*uint64(s) > room {
			s = max(s/2/cell*cell, cell)
		}
		return s
	}
	l.arena = true
	for i := range p.h.Widths {
		s, at := step(maxCells, cells), base
		if p.h.Shape.Shared[i] >= 0 {
			s, at = step(p.d.Shared/2, uint64(perCTA)), 0
			l.shared = perCTA * s
		}
		l.mul, l.stride, l.offset = append(l.mul, mul), append(l.stride, s), append(l.offset, at+p.h.Place(i))
	}
}

// layout chooses where the instances' locations lie.
func (p *planner) layout(l *launch, perCTA uint32) {
	if p.h.Layout == spec.Adjacent {
		p.adjacent(l, perCTA)
		return
	}
	n, cells := uint32(len(p.h.Widths)), uint64(l.set["inst_mask"])+1
	stride, distance, mul := p.draw(p.t.Stride), p.distance(cells), p.scatter()
	mixed := distance > 0 && p.draw(p.t.Mixed) > 0
	if p.inc&Banks != 0 && p.rnd.Uint32N(2) == 1 {
		stride = p.draw(p.t.BankStride)
	}
	l.arena = distance > 0
	base := p.draw(p.t.Offset)
	for i, w := range p.h.Cells {
		step, room, cells := max(stride, distance*n), uint64(maxCells), cells
		shared := p.h.Shape.Shared[i] >= 0
		if shared {
			step, room, cells = stride, p.d.Shared/uint64(n+1), uint64(perCTA)
		}
		w := uint32(w)
		step = (max(step, w) + w - 1) / w * w
		for step > max(w, distance*n) && cells*uint64(step) > room {
			step = max(step/2/w*w, w, distance*n)
		}
		offset := base/w*w + uint32(i)*distance
		switch {
		case shared:
			l.shared = (l.shared + w - 1) / w * w
			offset = l.shared
			l.shared += perCTA * step
		case distance == 0:
			mul, base = p.scatter(), p.draw(p.t.Offset)
		case mixed:
			mul = p.scatter()
		}
		l.mul, l.stride, l.offset = append(l.mul, mul), append(l.stride, step), append(l.offset, offset)
	}
	for i := range p.h.Cells { // a part lies in its location
		r := p.h.Root(i)
		l.mul[i], l.stride[i], l.offset[i] = l.mul[r], l.stride[r], l.offset[r]+uint32(p.h.Test.Locations[i].Offset)
	}
}

// distance is that of an instance's locations in the arena, 0 if they lie in memory
// of their own: those that begin with different values do, and shared ones.
func (p *planner) distance(cells uint64) uint32 {
	d, n := p.draw(p.t.Distance), uint64(len(p.h.Widths))
	if n == 0 {
		return 0
	}
	for i := range p.h.Widths {
		if p.homes[i] != p.homes[0] || p.h.Shape.Shared[i] >= 0 ||
			p.h.Test.Locations[i].Init != p.h.Test.Locations[0].Init || p.h.Cells[i] != p.h.Cells[0] || p.h.Root(i) != i {
			return 0
		}
	}
	w := uint32(p.h.Cells[0])
	d = d / w * w
	for uint64(d)*n*cells > maxCells {
		d = d / 2 / w * w
	}
	return d
}
