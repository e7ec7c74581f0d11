package spec

import (
	"slices"

	"optcheck/litmus"
)

// Condition is the condition under which an access runs, as a function of 32-bit
// words that earlier accesses read. It is a comparison of a word with a constant
// or with another word, or a logical function of such conditions.
type Condition struct {
	Pos    int // the access that reads
	Cmp    litmus.Cmp
	Signed bool
	// Other is 1 + the position of the access whose word is compared with that of
	// Pos; 0 for a comparison with Const.
	Other int
	Const int64
	// Op is OpAnd, OpOr or OpXor of Args, which are two or more; OpNop for a comparison.
	Op   litmus.Op
	Args []*Condition
	Neg  bool // the instruction runs if all that does not hold
}

// maxComparisons bounds the comparisons of a condition.
const maxComparisons = 32

// comparisons counts the comparisons of a condition.
func (c *Condition) comparisons() int {
	if len(c.Args) == 0 {
		return 1
	}
	n := 0
	for _, a := range c.Args {
		n += a.comparisons()
	}
	return n
}

// combined returns a logical function of conditions; nil if one of them is not
// known or the whole is too large.
func combined(op litmus.Op, args []*Condition) *Condition {
	n := 0
	for _, a := range args {
		if a == nil {
			return nil
		}
		n += a.comparisons()
	}
	switch {
	case len(args) == 0 || n > maxComparisons:
		return nil
	case len(args) == 1:
		return args[0]
	}
	return &Condition{Op: op, Args: args}
}

// Holds evaluates the condition for the words that accesses read, by position.
func (c *Condition) Holds(word func(pos int) uint32) bool {
	if len(c.Args) == 0 {
		x, y := word(c.Pos), uint32(c.Const)
		if c.Other > 0 {
			y = word(c.Other - 1)
		}
		a, b := int64(x), int64(y)
		if c.Signed {
			a, b = int64(int32(x)), int64(int32(y))
		}
		return c.Cmp.Holds(a, b) != c.Neg
	}
	r := c.Args[0].Holds(word)
	for _, a := range c.Args[1:] {
		h := a.Holds(word)
		switch c.Op {
		case litmus.OpAnd:
			r = r && h
		case litmus.OpOr:
			r = r || h
		default:
			r = r != h
		}
	}
	return r != c.Neg
}

// Reads returns the positions of the accesses whose words decide, sorted.
func (c *Condition) Reads() []int {
	var list []int
	c.each(func(x *Condition) {
		list = append(list, x.Pos)
		if x.Other > 0 {
			list = append(list, x.Other-1)
		}
	})
	slices.Sort(list)
	return slices.Compact(list)
}

// Consts returns the constants that words are compared with, in order.
func (c *Condition) Consts() []uint32 {
	var list []uint32
	c.each(func(x *Condition) {
		if x.Other == 0 {
			list = append(list, uint32(x.Const))
		}
	})
	return list
}

// each calls f for every comparison.
func (c *Condition) each(f func(*Condition)) {
	if len(c.Args) == 0 {
		f(c)
	}
	for _, a := range c.Args {
		a.each(f)
	}
}

// Equal reports whether two conditions are the same, comparison by comparison; nil
// equals nil alone.
func (c *Condition) Equal(d *Condition) bool {
	if c == nil || d == nil {
		return c == d
	}
	return c.Pos == d.Pos && c.Cmp == d.Cmp && c.Signed == d.Signed && c.Other == d.Other && c.Const == d.Const &&
		c.Op == d.Op && c.Neg == d.Neg && slices.EqualFunc(c.Args, d.Args, (*Condition).Equal)
}
