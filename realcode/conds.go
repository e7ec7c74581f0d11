package realcode

import "fmt"

// conds numbers the conditions of a program: predicate registers, and comparisons
// that are made more than once, of operands that have not changed.
type conds struct {
	ids      map[string]int32
	sites    map[string]int     // comparison → how often it stands there
	operands map[string][]int32 // register → comparisons of it
}

func newConds() *conds {
	return &conds{ids: map[string]int32{}, sites: map[string]int{}, operands: map[string][]int32{}}
}

func (c *conds) id(name string) int32 {
	id, ok := c.ids[name]
	if !ok {
		id = int32(len(c.ids))
		c.ids[name] = id
	}
	return id
}

// comparison is a condition by its operands. Two that are each other's opposite
// have one key.
type comparison struct {
	key  string
	regs []string
	neg  bool
}

// compare makes a comparison of integers.
func compare(cmp, typ, a, b string, regs ...string) (c comparison, ok bool) {
	c.regs = regs
	switch cmp {
	case "eq", "ne":
		if b < a {
			a, b = b, a
		}
		c.key, c.neg = fmt.Sprint("eq ", a, " ", b), cmp == "ne"
	case "lt", "lo":
		c.key = fmt.Sprint("lt", typ, " ", a, " ", b)
	case "gt", "hi":
		c.key = fmt.Sprint("lt", typ, " ", b, " ", a)
	case "ge", "hs":
		c.key, c.neg = fmt.Sprint("lt", typ, " ", a, " ", b), true
	case "le", "ls":
		c.key, c.neg = fmt.Sprint("lt", typ, " ", b, " ", a), true
	default:
		return c, false
	}
	return c, true
}

// again gives the number of a comparison that is made more than once, and has its
// operands end what is known of it.
func (c *conds) again(x comparison) (int32, bool) {
	if c.sites[x.key] < 2 {
		return 0, false
	}
	id, old := c.ids[x.key]
	if !old {
		id = c.id(x.key)
		for _, r := range x.regs {
			c.operands[r] = append(c.operands[r], id)
		}
	}
	return id, true
}
