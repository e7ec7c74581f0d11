package cycle

import (
	"errors"
	"fmt"
	"slices"
	"strings"
)

// list reads the cycles of a part that names them.
func (q *part) list(p *Part) error {
	if len(p.Families)+len(p.Edges)+len(p.Annotations) > 0 {
		return field(errors.New("cycles have their own families, edges and annotations"), "cycles")
	}
	q.listed = map[string]*Cycle{}
	for i, text := range p.Cycles {
		scopes := p.Scopes
		if !strings.Contains(text, "*") {
			scopes = []string{""}
		} else if len(scopes) == 0 {
			return field(errors.New("a * needs scopes"), "cycles[%d]", i)
		}
		for _, sc := range scopes {
			word := sc
			if strings.Contains(text, "Membar") && sc == "gpu" {
				word = "gl"
			}
			c, err := Parse(strings.ReplaceAll(text, "*", word))
			if err != nil {
				return field(err, "cycles[%d]", i)
			}
			s, err := NewSpec(c, nil, nil, nil)
			if err != nil && c.needsCTA() {
				s, err = &Spec{Cycle: c}, nil // placed by the part's levels
			}
			if err != nil {
				return field(err, "cycles[%d]", i)
			}
			name := s.Cycle.Name()
			if q.listed[name] != nil {
				return field(fmt.Errorf("%s occurs twice", name), "cycles[%d]", i)
			}
			q.listed[name] = s.Cycle
			q.names = append(q.names, name)
		}
	}
	return nil
}

// needsCTA reports whether a cycle has barriers, which join threads of one CTA.
func (c *Cycle) needsCTA() bool {
	return slices.ContainsFunc(c.Edges, func(e Edge) bool { return e.Kind == Bar || e.Kind == BarRed || e.Kind == Mbar })
}

// each yields the tests of the listed cycles.
func (q *part) each(yield func(*Spec) bool) bool {
	for _, name := range q.names {
		c := q.listed[name]
		_, rots := c.family()
		rots = least(rots, func(r int) []uint32 { return c.turn(r).edgeKey() })
		rots = least(rots, func(r int) []uint32 { return c.turn(r).annKey() })
		for place := range Placements(c.Threads(), q.levels) {
			turns := least(rots, func(r int) []uint32 { return turnPlace(place, r) })
			if turns[0] != 0 {
				continue
			}
			schemes := q.schemes
			if !c.hasDep() {
				schemes = schemes[:1]
			}
			if !q.maps(c, slices.Clone(place), turns, schemes, yield) {
				return false
			}
		}
	}
	return true
}
