package refine

import (
	"slices"

	"optcheck/ir"
)

// ofWarp is what is known of the lanes of a group of machine code, as long as none joins it.
type ofWarp struct {
	// holds says which lanes registers hold.
	holds map[ir.Reg]laneSet
	// alone tells that the group has one lane.
	alone bool
}

// laneSet is a set of lanes, as a word.
type laneSet uint8

const (
	below      laneSet   = iota + 1 // those below the own one, whether they run or not
	active                          // those of the group, or of one that it was a part of
	lowerOnes                       // those of the group below the own one
	loneResult = 1 << 31            // the greatest word of one lane
)

// meet forgets what is known of a group which others may join.
func (k *known) meet() {
	k.warp.alone = false
	for r, s := range k.warp.holds {
		if s != below {
			delete(k.warp.holds, r)
		}
	}
}

// joinWarp keeps what holds of both.
func (k *known) joinWarp(from *known) (changed bool) {
	for r, s := range k.warp.holds {
		if from.warp.holds[r] != s {
			delete(k.warp.holds, r)
			changed = true
		}
	}
	changed = changed || k.warp.alone && !from.warp.alone
	k.warp.alone = k.warp.alone && from.warp.alone
	return changed
}

// lanesOf is the set that an operation makes of sets.
func (k *known) lanesOf(o *ir.Op) laneSet {
	table := o.Imm
	switch {
	case o.Type.Bits() < 32 || o.Type.Float():
		return 0
	case o.Code == ir.Mov && o.Src[0] >= 0:
		return k.warp.holds[o.Src[0]]
	case o.Code == ir.And:
		table = 0xc0
	case o.Code != ir.Lop3:
		return 0
	}
	var rows [3]uint64 // the bits of below, active and the operand that is none, by rows of the table
	for i, r := range o.Src[:3] {
		bits := [...]uint64{0xf0, 0xcc, 0xaa}[i]
		switch {
		case r >= 0 && k.warp.holds[r] == below:
			rows[0] = bits
		case r >= 0 && k.warp.holds[r] == active:
			rows[1] = bits
		case r < 0 || k.regs[r] == bounds{}: // zero
			rows[2] = ^bits & 0xff
		}
	}
	if rows[0] == 0 || rows[1] == 0 || rows[2] == 0 || (table^rows[0]&rows[1])&rows[2] != 0 {
		return 0
	}
	return lowerOnes
}

// alias takes over what is known of a register for one that holds the same.
func (k *known) alias(from, to ir.Reg, bits int) {
	same := func(list []fact) []fact {
		for _, f := range list {
			if f.of.Bits() > bits || f.a != from && f.b != from {
				continue
			}
			if f.a == from {
				f.a = to
			}
			if f.b == from {
				f.b = to
			}
			list = append(slices.Clip(list), f)
		}
		return list
	}
	for p, t := range k.truths {
		if t.about(from) {
			k.truths[p] = truth{same(t.yes), same(t.no)}
		}
	}
}
