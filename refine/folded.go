package refine

import (
	"slices"

	"optcheck/ir"
)

// row is how many threads a row of a folded block has: fewer than a warp has lanes.
const row = 8

// folded is an input like one with the threads of a block in rows: a thread's place in its row does not tell its lane. None if the block may
// have no rows, or has some.
func (c *comparison) folded(of *Input) []*Input {
	in := *of
	if c.o.Block != ([3]int{}) || c.program.BlockFixed || in.Block[0]%row != 0 || in.Block[1]*in.Block[2] != 1 {
		return nil
	}
	in.Block[0], in.Block[1] = row, in.Block[0]/row
	return []*Input{&in}
}

// asksLanes reports whether something depends on which lane of its warp a thread is.
func asksLanes(p *ir.Program) bool {
	return slices.ContainsFunc(p.Insts, func(in ir.Inst) bool {
		switch do := in.Do.(type) {
		case *ir.Warp:
			return true
		case *ir.Special:
			return do.Reg >= ir.LaneID && do.Reg <= ir.LaneMaskGT
		}
		return false
	})
}
