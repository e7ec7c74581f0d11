package litmus

import (
	"cmp"
	"fmt"
	"math/bits"
	"slices"
)

// checker gathers the faults of one test.
type checker struct {
	t      *Test
	errs   ErrorList
	addrs  []map[string]bool // per thread, registers that may hold an address
	memory bool              // memory may hold an address
	small  bool              // values are certain to be small
	size   map[string]int64  // bytes of a location, by its widest access
	bases  [][]string        // location of each access, "" if not known
	wrote  []map[string]bool // per thread, registers that are written
}

// Check reports whether the test makes sense: everything named is declared, once
// and of the right kind; every thread has a place; shared memory is used by
// one CTA only; branches have targets and no code is unreachable; qualifiers,
// types and operands are a combination that PTX has (PTX ISA, chapters on ld,
// st, atom, red, membar/fence, bar). It returns nil, an *Error or an ErrorList
// sorted by place.
func (t *Test) Check() error {
	c := &checker{t: t}
	c.addrs, c.memory = t.addresses()
	c.small = t.smallValues(c.addrs, c.memory)
	c.layout()
	c.locations()
	if len(t.Threads) == 0 {
		c.errorf(Pos{}, "the test has no threads")
	}
	for i := range t.Threads {
		c.thread(i)
	}
	c.shared()
	c.condition()
	slices.SortStableFunc(c.errs, func(a, b *Error) int {
		return cmp.Or(cmp.Compare(a.Pos.Line, b.Pos.Line), cmp.Compare(a.Pos.Col, b.Pos.Col))
	})
	return c.errs.err()
}

func (c *checker) errorf(pos Pos, format string, args ...any) {
	c.errs = append(c.errs, &Error{pos, fmt.Sprintf(format, args...)})
}

// layout determines the location of each access and the size of each location, which is that of
// its widest access without offset, or 4 bytes.
func (c *checker) layout() {
	c.size = map[string]int64{}
	c.bases = make([][]string, len(c.t.Threads))
	c.wrote = make([]map[string]bool, len(c.t.Threads))
	for i := range c.t.Threads {
		th := &c.t.Threads[i]
		c.bases[i] = make([]string, len(th.Body))
		c.wrote[i] = map[string]bool{}
		f := flow{th: th}
		f.index()
		masks := map[*Instr]bool{} // reported
		for j := range th.Body {
			in := &th.Body[j]
			c.wrote[i][in.Dst] = true
			for _, a := range append([]Addr{in.Addr}, in.More...) { // copies name what they move
				if d := th.Decl(a.Reg); in.Op == OpAsync && (a.Loc != "" || d != nil && d.Init.Kind == OperandLoc) {
					name := a.Loc
					if name == "" {
						name = d.Init.Name
					}
					c.size[name] = max(c.size[name], min(in.Bytes(), MaxBytes))
				}
			}
			if !in.IsAccess() {
				continue
			}
			f.mask = nil
			base := f.base(in)
			c.bases[i][j] = base
			if base != "" && (in.Addr.Offset == 0 || in.Part > 0) {
				c.size[base] = max(c.size[base], min(in.Addr.Offset, MaxBytes)+int64(in.Type.Bits()/8))
				if l := c.t.Location(base); l != nil && l.Of != "" && l.Offset < MaxBytes {
					c.size[l.Of] = max(c.size[l.Of], ceil2(l.Offset+c.size[base]))
				}
			}
			if f.mask != nil && !c.small && !masks[f.mask] {
				masks[f.mask] = true
				c.errorf(f.mask.Pos, "the mask of %s is no false dependency: the test's values may have the highest bit set", f.mask)
			}
		}
	}
}

func (c *checker) locations() {
	for i := range c.t.Locations {
		l := &c.t.Locations[i]
		if c.t.Location(l.Name) != l {
			c.errorf(l.Pos, "location %s is declared twice", l.Name)
		}
		c.part(l)
		if l.Alias == "" {
			continue
		}
		// An alias of an alias is another address of the same location.
		target, hops := c.t.Location(l.Alias), 0
		switch {
		case target == nil:
			c.errorf(l.Pos, "location %s aliases %s, which does not exist", l.Name, l.Alias)
		default:
			for ; target != nil && target.Alias != "" && hops < len(c.t.Locations); hops++ {
				target = c.t.Location(target.Alias)
			}
			if hops == len(c.t.Locations) {
				c.errorf(l.Pos, "location %s aliases %s in a circle", l.Name, l.Alias)
			}
		}
		if l.Proxy == ProxyNone || l.Proxy == ProxyAlias {
			c.errorf(l.Pos, "alias %s has no proxy", l.Name)
		}
	}
}

// MaxBytes is the largest size of a location.
const MaxBytes = 16

// ceil2 is the next power of two.
func ceil2(n int64) int64 { return 1 << bits.Len64(uint64(n-1)) }

// part checks a part of a location.
func (c *checker) part(l *Location) {
	if l.Of == "" {
		return
	}
	switch whole := c.t.Location(l.Of); {
	case whole == nil:
		c.errorf(l.Pos, "location %s is a part of %s, which does not exist", l.Name, l.Of)
	case whole.Of != "" || whole.Alias != "" || l.Alias != "":
		c.errorf(l.Pos, "location %s is a part of %s: only a location that is neither a part nor an alias has parts", l.Name, l.Of)
	case (whole.Space == Shared) != (l.Space == Shared) || l.Homed:
		c.errorf(l.Pos, "location %s lies where %s does: leave it out of the memory map", l.Name, l.Of)
	case l.Offset < 0 || l.Offset+max(c.size[l.Name], 1) > MaxBytes:
		c.errorf(l.Pos, "location %s does not lie in the %d bytes that a location may have", l.Name, MaxBytes)
	case l.Init != 0:
		c.errorf(l.Pos, "location %s has the initial value of %s", l.Name, l.Of)
	}
}

func (c *checker) thread(i int) {
	t, th := c.t, &c.t.Threads[i]
	if th.ID != i {
		c.errorf(th.Pos, "thread %s has number %d but stands at %d", th.Name, th.ID, i)
	}
	if !th.Placed {
		c.errorf(th.Pos, "thread %s has no place in the execution hierarchy", th.Name)
	}
	for j := range th.Regs {
		d := &th.Regs[j]
		if th.Decl(d.Name) != d {
			c.errorf(d.Pos, "register %s of thread %s is declared twice", d.Name, th.Name)
		}
		if t.Location(d.Name) != nil {
			c.errorf(d.Pos, "%s names both a register of thread %s and a location", d.Name, th.Name)
		}
		c.initial(d)
	}
	labels := map[string]bool{}
	for j := range th.Body {
		for _, l := range th.Body[j].Labels {
			if labels[l] {
				c.errorf(th.Body[j].Pos, "label %s is defined twice in thread %s", l, th.Name)
			}
			labels[l] = true
		}
	}
	for j := range th.Body {
		in := &th.Body[j]
		if in.Op == OpBra && !labels[in.Target] {
			c.errorf(in.Pos, "thread %s has no label %s", th.Name, in.Target)
		}
		c.instr(th, j)
	}
	c.unreachable(th)
	c.unset(th)
}

// initial checks a register's initial value.
func (c *checker) initial(d *RegDecl) {
	switch d.Init.Kind {
	case OperandConst:
		if !fits(d.Init.Value, d.Type) {
			c.errorf(d.Pos, "%d does not fit register %s of type %s", d.Init.Value, d.Name, d.Type)
		}
	case OperandLoc:
		l := c.t.Location(d.Init.Name)
		if l == nil {
			c.errorf(d.Pos, "register %s points to %s, which does not exist", d.Name, d.Init.Name)
			return
		}
		if d.Type != TypeNone && d.Type.Bits() != 64 && !(d.Type.Bits() == 32 && l.Space == Shared) {
			c.errorf(d.Pos, "register %s of type %s cannot hold the address of %s", d.Name, d.Type, l.Name)
		}
	}
}

// unreachable reports the first instruction of the thread that no path runs.
func (c *checker) unreachable(th *Thread) {
	target := map[string]int{}
	for i := range th.Body {
		for _, l := range th.Body[i].Labels {
			target[l] = i
		}
	}
	seen := make([]bool, len(th.Body))
	work := []int{0}
	for len(work) > 0 {
		i := work[len(work)-1]
		work = work[:len(work)-1]
		for ; i < len(th.Body) && !seen[i]; i++ {
			seen[i] = true
			in := &th.Body[i]
			if in.Op != OpBra {
				continue
			}
			if to, ok := target[in.Target]; ok {
				work = append(work, to)
			}
			if in.Guard == nil && in.Cmp == CmpNone {
				break
			}
		}
	}
	for i := range th.Body {
		if !seen[i] {
			c.errorf(th.Body[i].Pos, "%s cannot be reached", &th.Body[i])
			return
		}
	}
}

// unset reports registers that are read though nothing ever sets them. Dialect PTX initialises
// registers to 0.
func (c *checker) unset(th *Thread) {
	if c.t.Dialect == PTX {
		return
	}
	set := map[string]bool{}
	for _, d := range th.Regs {
		set[d.Name] = d.Init.Kind != OperandNone
	}
	for i := range th.Body {
		set[th.Body[i].Dst] = true
	}
	for i := range th.Body {
		for _, r := range th.Body[i].Reads() {
			if !set[r] && th.Decl(r) != nil {
				c.errorf(th.Body[i].Pos, "register %s is read but never set", r)
				set[r] = true
			}
		}
	}
}

// shared reports shared locations that more than one CTA uses.
func (c *checker) shared() {
	for i := range c.t.Locations {
		l := &c.t.Locations[i]
		if l.Space != Shared {
			continue
		}
		if l.Homed {
			c.errorf(l.Pos, "shared location %s lies where its CTA is, not on a device that the memory map can name", l.Name)
		}
		first := -1
		for j := range c.t.Threads {
			th := &c.t.Threads[j]
			if !th.Placed || !th.Mentions(l.Name) {
				continue
			}
			if first < 0 {
				first = j
			} else if a := &c.t.Threads[first]; !a.Place.SameScope(th.Place, ScopeCluster) {
				c.errorf(l.Pos, "shared location %s is used by threads %s and %s of different CTAs", l.Name, a.Name, th.Name)
				break
			}
		}
	}
}

// Distributed reports whether threads of several CTAs of a cluster use one shared location, which is in the
// memory of the first one's CTA.
func (t *Test) Distributed() bool {
	for i := range t.Locations {
		first := -1
		for j := range t.Threads {
			if t.Locations[i].Space != Shared || !t.Threads[j].Mentions(t.Locations[i].Name) {
				continue
			}
			if first < 0 {
				first = j
			} else if !t.Threads[first].Place.SameScope(t.Threads[j].Place, ScopeCTA) {
				return true
			}
		}
	}
	return false
}

// Mentions reports whether the thread's text names the location.
func (th *Thread) Mentions(loc string) bool {
	for _, d := range th.Regs {
		if d.Init == Loc(loc) {
			return true
		}
	}
	for i := range th.Body {
		more := slices.ContainsFunc(th.Body[i].More, func(a Addr) bool { return a.Loc == loc })
		if more || th.Body[i].Addr.Loc == loc || slices.Contains(th.Body[i].Src, Loc(loc)) {
			return true
		}
	}
	return false
}

func (c *checker) condition() {
	for _, x := range c.t.Terms() {
		pos := c.t.Cond.Pos
		switch {
		case x.Kind == TermLoc:
			if c.t.Location(x.Name) == nil {
				c.errorf(pos, "condition speaks of location %s, which the test does not have", x.Name)
			}
		case x.Thread < 0 || x.Thread >= len(c.t.Threads):
			c.errorf(pos, "condition speaks of thread %d, which the test does not have", x.Thread)
		default:
			c.conditionReg(pos, x)
		}
	}
}

func (c *checker) conditionReg(pos Pos, x Term) {
	th := &c.t.Threads[x.Thread]
	d := th.Decl(x.Name)
	written := c.wrote[x.Thread][x.Name]
	switch {
	case d == nil && (c.t.Dialect.declared() || !written && !regLike(x.Name)):
		c.errorf(pos, "condition speaks of register %s, which thread %s does not have", x.Name, th.Name)
	case d != nil && d.Type == Pred:
		c.errorf(pos, "condition speaks of predicate %s: a predicate has no final value", x)
	case d != nil && d.Init.Kind == OperandLoc && !written:
		c.errorf(pos, "condition speaks of register %s, which holds an address", x)
	case d != nil && d.Init.Kind == OperandNone && !written && c.t.Dialect.declared():
		c.errorf(pos, "condition speaks of register %s, which is never set", x)
	}
}
