package realcode

import "slices"

// orders is the question about all pairs at once: whether every word of all operations
// that synchronise, and one access more, is a word of the PTX. Then the words of each two
// of them are, whatever else may move. If not, pairs are asked one by one.
type orders struct {
	ptx           *graph // with the fence of a release, and the invalidation of an acquire, beside it
	code          *graph
	in            [][]int32 // nodes of code, by step
	inPTX, inCode []int32
	more          []bool
	strong        bool            // the answer without another access
	weak          map[string]bool // the answers with one, by its signature
}

// Letters of an operation in orders.
const (
	fenceOf = 3 + iota
	itself
	invalOf
	lettersOf = 3
)

// ordered reports whether all pairs of an operation have the order of the PTX, by that
// one question; false if it is not known.
func (c *checker) ordered(y int) bool {
	if c.orders == nil {
		c.orders = c.newOrders(c.loose, c.inLoose)
		if c.orders.ptx != nil && !c.orders.strong && c.exactly() == nil {
			c.orders = c.newOrders(c.exact, c.inExact)
		}
	}
	o := c.orders
	if c.src.ops[y].strong() || !o.strong {
		return o.strong
	}
	if c.signature[y] == "" || c.img[y].stutter {
		return false
	}
	yes, known := o.weak[c.signature[y]]
	if !known {
		yes = c.weakInOrder(y)
		o.weak[c.signature[y]] = yes
	}
	return yes
}

func (c *checker) inOrder(o *orders, p policy) bool {
	q := &c.question
	q.ptx, q.code, q.policy, q.inPTX, q.inCode, q.more = o.ptx, o.code, p, o.inPTX, o.inCode, o.more
	return q.check() == nil
}

// weakInOrder asks the question with a weak access.
func (c *checker) weakInOrder(y int) bool {
	o := c.orders
	set := func(letter int32) (free bool) {
		free = true
		mark := func(at *int32) {
			free = free && (*at == 0 || *at == letter || letter == 0)
			if *at <= 2 {
				*at = letter
			}
		}
		for _, n := range c.inPTX[y] {
			mark(&o.inPTX[n])
		}
		for _, i := range c.img[y].main {
			for _, n := range o.in[i] {
				mark(&o.inCode[n])
			}
		}
		return free
	}
	defer set(0)
	return set(2) && c.inOrder(o, policy{pieces: c.pieces(y)})
}

// newOrders asks the question of a graph of the code, with what synchronises marked as
// pairs do. There is no graph of the PTX if an instruction is of two operations.
func (c *checker) newOrders(code *graph, in [][]int32) *orders {
	o := &orders{code: code, in: in, weak: map[string]bool{}, inCode: make([]int32, len(code.next)), more: make([]bool, 3+lettersOf*len(c.src.ops))}
	g := &graph{letter: c.pg.letter, of: c.pg.of, next: slices.Clone(c.pg.next)}
	o.inPTX = make([]int32, len(g.next))
	taken := false
	for k, op := range c.src.ops {
		if !op.strong() || c.failed[k] {
			continue
		}
		var parts []int32
		add := func(part int32, at []int32) {
			letter := part + lettersOf*int32(k)
			for _, i := range at {
				for _, n := range in[i] {
					taken = taken || o.inCode[n] != 0
					o.inCode[n] = letter
				}
			}
			if len(at) > 0 {
				parts = append(parts, letter)
			}
		}
		e, img := &op.Effect, &c.img[k]
		if e.Releases() && e.Kind.IsAccess() {
			add(fenceOf, img.flush)
		}
		add(itself, img.main)
		if e.Acquires() {
			add(invalOf, img.inval)
		}
		o.more[itself+lettersOf*int32(k)] = img.stutter
		for _, n := range c.inPTX[k] {
			o.chain(g, n, parts)
		}
	}
	if !taken {
		o.ptx = g
		o.strong = c.inOrder(o, policy{})
	}
	return o
}

// chain has letters stand one after the other at a node.
func (o *orders) chain(g *graph, n int32, letters []int32) {
	for i, l := range letters {
		if i > 0 {
			g.next = append(g.next, g.next[n])
			o.inPTX = append(o.inPTX, 0)
			at := int32(len(g.next) - 1)
			g.next[n] = []int32{at}
			n = at
		}
		o.inPTX[n] = l
	}
}
