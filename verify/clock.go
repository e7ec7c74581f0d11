package verify

import "optcheck/emu"

// clock is what a thread knows of the past of all others: for each lane the time up to which its operations are ordered
// before what the thread does next. Clocks are immutable, so that threads which have synchronised share one.
type clock struct {
	blocks []*blockClock // nil where nothing is known
	// said is what sequentially consistent fences of the GPU in this past knew, heard what those knew that are in front of a strong write
	// which this past has observed; see fenced. Neither has such clocks itself.
	said, heard *clock
}

// blockClock is what is known of a block: all its threads up to floor, and of a warp more where it has a row. Rows behind
// those of the block's warps are those of others who act for them (see shape), for which the floor says nothing.
type blockClock struct {
	floor uint32
	warps []*row
}

type row = [emu.Lanes]uint32

// shape tells the number of blocks and of the warps of each. A clock has rows for each block: of its warps; of the asynchronous copies of
// their threads; and, in programs that use the async proxy or barrier objects, of the groups of bulk copies of their threads, of the groups of
// products of their warpgroups, of what their threads did by the generic proxy in front of a fence of the async proxy, and of the copies that
// complete at each barrier object.
type shape struct {
	blocks, warps int
	async         bool
}

// objectRows is how many rows there are for barrier objects, 32 in each.
const objectRows = 8

func (s shape) copies() int32   { return int32(s.warps) }
func (s shape) groups() int32   { return int32(2 * s.warps) }
func (s shape) products() int32 { return int32(3 * s.warps) }
func (s shape) proxied() int32  { return int32(4 * s.warps) }
func (s shape) objects() int32  { return int32(5 * s.warps) }

func (s shape) rows() int {
	if !s.async {
		return 2 * s.warps
	}
	return 5*s.warps + objectRows
}

func (s shape) none() *clock { return &clock{blocks: make([]*blockClock, s.blocks)} }

// copy is a clock of which blocks may be set.
func (c *clock) copy() *clock {
	out := *c
	out.blocks = append([]*blockClock(nil), c.blocks...)
	return &out
}

// fenced is a clock behind a sequentially consistent fence of the GPU. Such fences have one order, and synchronise in it. The run's order says
// nothing of other executions; but a fence in front of a strong write that this past has observed comes before this one in each execution in
// which the write is observed, or causality order would contradict the observation. PTX ISA, Fence-SC order and Causality.
func (c *clock) fenced(by id, time uint32, s shape) *clock {
	out := *join(c, c.heard, s)
	out.heard, out.said = nil, nil
	out.said = join(c.said, out.with(by, time, s), s)
	return &out
}

// hearing is a clock that has observed a write which such fences precede that knew what another clock does.
func (c *clock) hearing(said *clock, s shape) *clock {
	heard := join(c.heard, said, s)
	if heard == c.heard {
		return c
	}
	out := *c
	out.heard = heard
	return &out
}

// id is a lane: of warp number warp of a block; asynchronous copies of the lane have the warp behind all warps.
type id struct {
	block, warp int32
	lane        uint8
}

// get is the time up to which a lane's operations are known.
func (c *clock) get(x id, s shape) uint32 {
	b := c.blocks[x.block]
	switch {
	case b == nil:
		return 0
	case b.warps[x.warp] != nil:
		return b.warps[x.warp][x.lane]
	case int(x.warp) < s.warps:
		return b.floor
	}
	return 0
}

// edit is a copy of a clock in which a block may be changed.
func (c *clock) edit(block int32, s shape) (*clock, *blockClock) {
	out := c.copy()
	b := &blockClock{warps: make([]*row, s.rows())}
	if old := c.blocks[block]; old != nil {
		b.floor = old.floor
		copy(b.warps, old.warps)
	}
	out.blocks[block] = b
	return out, b
}

// editRow is a copy of the row of a warp, in a block clock that may be changed.
func (b *blockClock) editRow(warp int32, s shape) *row {
	r := new(row)
	if old := b.warps[warp]; old != nil {
		*r = *old
	} else if int(warp) < s.warps {
		for i := range r {
			r[i] = b.floor
		}
	}
	b.warps[warp] = r
	return r
}

// with adds that a lane is known up to a time.
func (c *clock) with(x id, time uint32, s shape) *clock {
	if c.get(x, s) >= time {
		return c
	}
	out, b := c.edit(x.block, s)
	b.editRow(x.warp, s)[x.lane] = time
	return out
}

// join knows what either clock does.
func join(a, b *clock, s shape) *clock {
	if a == b || b == nil {
		return a
	}
	if a == nil {
		return b
	}
	out := joinBlocks(a, b, s)
	if said, heard := join(a.said, b.said, s), join(a.heard, b.heard, s); said != a.said || heard != a.heard {
		if out == a {
			out = a.copy()
		}
		out.said, out.heard = said, heard
	}
	return out
}

func joinBlocks(a, b *clock, s shape) *clock {
	var out *clock
	for i, y := range b.blocks {
		x := a.blocks[i]
		if y == x || y == nil {
			continue
		}
		z := y
		if x != nil {
			z = joinBlock(x, y, s)
		}
		if z == x {
			continue
		}
		if out == nil {
			out = a.copy()
		}
		out.blocks[i] = z
	}
	if out == nil {
		return a
	}
	return out
}

func joinBlock(x, y *blockClock, s shape) *blockClock {
	if x.covers(y, s) {
		return x
	}
	if y.covers(x, s) {
		return y
	}
	out := &blockClock{max(x.floor, y.floor), make([]*row, len(x.warps))}
	for w := range out.warps {
		if x.warps[w] == y.warps[w] {
			out.warps[w] = x.warps[w]
			continue
		}
		r := new(row)
		for l := range r {
			r[l] = max(x.at(w, l, s), y.at(w, l, s))
		}
		out.warps[w] = r
	}
	return out
}

func (b *blockClock) at(warp, lane int, s shape) uint32 {
	switch {
	case b.warps[warp] != nil:
		return b.warps[warp][lane]
	case warp < s.warps:
		return b.floor
	}
	return 0
}

// covers reports whether a block clock knows all that another does.
func (b *blockClock) covers(o *blockClock, s shape) bool {
	if b == o {
		return true
	}
	for w := range b.warps {
		p, q := b.warps[w], o.warps[w]
		switch {
		case p == q && (p != nil || w >= s.warps || b.floor >= o.floor):
			continue
		case p == nil && q == nil:
			return false
		}
		for l := range emu.Lanes {
			if b.at(w, l, s) < o.at(w, l, s) {
				return false
			}
		}
	}
	return true
}
