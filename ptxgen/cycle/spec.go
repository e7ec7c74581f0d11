package cycle

import (
	"fmt"
	"slices"
	"strings"

	"optcheck/depgen"
	"optcheck/litmus"
)

// Spec defines a generated test: a cycle, the places of its threads, the state spaces of its
// locations, and the scheme of its dependencies.
type Spec struct {
	Cycle  *Cycle
	Place  []litmus.Place
	Map    []litmus.Space // Global or Shared
	Scheme *depgen.Scheme // nil means depgen.Default
	// Opportunities are what the test has beyond its cycle.
	Opportunities []Opportunity
}

// NewSpec returns the canonical form of a test: among all rotations of the cycle that keep the
// family's order of threads, the one whose edges, annotations, placement and map compare least.
// Two tests that are equal up to the names of threads, locations, registers and values have one
// canonical form. place and mem may be nil: different CTAs, global memory.
func NewSpec(c *Cycle, place []litmus.Place, mem []litmus.Space, scheme *depgen.Scheme) (*Spec, error) {
	if place == nil {
		for p := range Placements(c.Threads(), Levels{GPU: true}) {
			place = slices.Clone(p)
		}
	}
	if mem == nil {
		mem = slices.Repeat([]litmus.Space{litmus.Global}, c.locs)
	}
	if len(place) != c.Threads() || len(mem) != c.locs {
		return nil, fmt.Errorf("%d places and %d state spaces for %d threads and %d locations", len(place), len(mem), c.Threads(), c.locs)
	}
	if scheme == nil {
		scheme = depgen.Default
	}
	if err := c.placeable(place, mem); err != nil {
		return nil, err
	}
	first := (&Spec{Cycle: c, Place: place, Map: mem}).symmetries()[0]
	s := &Spec{Cycle: c.turn(first), Place: renumber(rotate(place, first)), Scheme: scheme}
	for _, v := range c.turnMap(mem, first) {
		s.Map = append(s.Map, litmus.Space(v))
	}
	return s, nil
}

// symmetries lists the first threads of the rotations that compare least: those of the
// canonical form, which differ only in names.
func (s *Spec) symmetries() []int {
	_, rots := s.Cycle.family()
	rots = least(rots, func(r int) []uint32 { return s.Cycle.turn(r).edgeKey() })
	rots = least(rots, func(r int) []uint32 { return s.Cycle.turn(r).annKey() })
	rots = least(rots, func(r int) []uint32 { return turnPlace(s.Place, r) })
	return least(rots, func(r int) []uint32 { return s.Cycle.turnMap(s.Map, r) })
}

// turnPlace returns the key of a placement when thread r comes first.
func turnPlace(place []litmus.Place, r int) []uint32 {
	var k []uint32
	for _, p := range renumber(rotate(place, r)) {
		for _, v := range placeKey(p) {
			k = append(k, uint32(v))
		}
	}
	return k
}

// turnMap returns the memory map when thread r comes first: locations are named in
// the order of their first event.
func (c *Cycle) turnMap(mem []litmus.Space, r int) []uint32 {
	var k []uint32
	seen := make([]bool, c.locs)
	for _, l := range rotate(c.loc, c.start[r]) {
		if !seen[l] {
			seen[l] = true
			k = append(k, uint32(mem[l]))
		}
	}
	return k
}

// placeable says why a cycle cannot be placed in this way: shared memory belongs to one CTA,
// and a barrier waits for all threads of a CTA.
func (c *Cycle) placeable(place []litmus.Place, mem []litmus.Space) error {
	owner := make([]int, c.locs)
	for i := range owner {
		owner[i] = -1
	}
	for i, l := range c.loc {
		if mem[l] != litmus.Shared {
			continue
		}
		if o := owner[l]; o < 0 {
			owner[l] = c.thread[i]
		} else if !place[o].SameScope(place[c.thread[i]], litmus.ScopeCTA) {
			return fmt.Errorf("location %s is shared memory, and threads %d and %d of different CTAs use it", locNames[l], o, c.thread[i])
		}
	}
	for i, a := range c.Ann {
		if a.Copy && mem[c.loc[i]] == litmus.Shared {
			return fmt.Errorf("location %s is shared memory, and a copy goes between it and global memory", locNames[c.loc[i]])
		}
	}
	return c.met(place)
}

// hasDep reports whether the scheme matters.
func (c *Cycle) hasDep() bool {
	for _, e := range c.Edges {
		if e.Kind == Addr || e.Kind == Data || e.Kind == Ctrl {
			return true
		}
	}
	return false
}

// Name returns the test's name, which ParseName reads back.
func (s *Spec) Name() string {
	n := s.Cycle.Name() + "-" + placeName(s.Place) + "-" + mapName(s.Map)
	if s.Scheme != nil && s.Scheme != depgen.Default && s.Cycle.hasDep() {
		n += "-" + s.Scheme.Name
	}
	for _, o := range s.Opportunities {
		n += opportunityMark + o.String()
	}
	return n
}

// ParseName reads a name that Spec.Name made and returns the test's canonical
// form.
func ParseName(name string) (*Spec, error) {
	parent, mutation, mutant := strings.Cut(name, mutantMark)
	if mutant {
		p, err := ParseName(parent)
		if err != nil {
			return nil, err
		}
		return p.mutant(mutation)
	}
	name, opportunities, err := SplitName(name)
	if err != nil {
		return nil, err
	}
	i := placeAt(name)
	if i < 0 {
		return nil, fmt.Errorf("name %q has no placement such as -p0::p1", name)
	}
	c, err := ParseCycleName(name[:i])
	if err != nil {
		return nil, fmt.Errorf("name %q: %w", name, err)
	}
	placement, rest, _ := strings.Cut(name[i+1:], "-")
	memory, scheme, named := strings.Cut(rest, "-")
	place, err := parsePlace(placement, c.Threads())
	if err != nil {
		return nil, fmt.Errorf("name %q: %w", name, err)
	}
	mem, err := parseMap(memory, c.locs)
	if err != nil {
		return nil, fmt.Errorf("name %q: %w", name, err)
	}
	var sch *depgen.Scheme
	if named {
		if sch, err = depgen.Lookup(scheme); err != nil {
			return nil, fmt.Errorf("name %q: %w", name, err)
		}
	}
	s, err := NewSpec(c, place, mem, sch)
	if err != nil {
		return nil, err
	}
	if s.Opportunities = opportunities; len(opportunities) > 0 {
		if _, err := s.composed(); err != nil {
			return nil, err
		}
	}
	return s, nil
}

// placeAt finds the placement in a name: the first -p followed by a digit.
func placeAt(name string) int {
	for i := 0; i+2 < len(name); i++ {
		if name[i] == '-' && name[i+1] == 'p' && name[i+2] >= '0' && name[i+2] <= '9' {
			return i
		}
	}
	return -1
}

// PlacedSpec returns the canonical form of a cycle with placement and memory map
// as names spell them: p0::p1 and xgys, of the threads and locations in the
// order that the canonical cycle has them. Empty strings mean the defaults of
// NewSpec.
func PlacedSpec(c *Cycle, place, mem string, scheme *depgen.Scheme) (*Spec, error) {
	s, err := NewSpec(c, nil, nil, scheme)
	if err != nil && place == "" {
		return nil, err
	}
	if err == nil {
		c = s.Cycle
	}
	var ps []litmus.Place
	var m []litmus.Space
	if place != "" {
		if ps, err = parsePlace(place, c.Threads()); err != nil {
			return nil, err
		}
	}
	if mem != "" {
		if m, err = parseMap(mem, c.locs); err != nil {
			return nil, err
		}
	}
	return NewSpec(c, ps, m, scheme)
}
