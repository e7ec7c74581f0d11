package report

import (
	"fmt"
	"slices"
	"strings"

	"optcheck/event"
)

// Place is a block of the matrix: all cells of one toolchain with one of the
// targets, levels and layouts each.
type Place struct {
	Toolchain string   `json:"toolchain"`
	Targets   []string `json:"targets"`
	Levels    []string `json:"levels"`
	Layouts   []string `json:"layouts"`
}

// String writes a place in a line: "ptxas 12.4.131 sm_80 sm_90 at O2 O3, layout offsets".
func (p Place) String() string {
	s := fmt.Sprintf("%s %s at %s", p.Toolchain, strings.Join(p.Targets, " "), strings.Join(p.Levels, " "))
	if len(p.Layouts) == 1 && p.Layouts[0] == event.OwnLayout {
		return s
	}
	return s + ", layout " + strings.Join(p.Layouts, " ")
}

// Places covers cells exactly with few places, in the order of the cells.
func Places(cells []*event.Cell) []Place {
	var list []Place
	for _, c := range cells {
		list = append(list, Place{c.Toolchain, []string{c.Target}, []string{c.Level}, []string{c.Layout}})
	}
	list = joinPlaces(list, func(p *Place) *[]string { return &p.Levels })
	list = joinPlaces(list, func(p *Place) *[]string { return &p.Targets })
	return joinPlaces(list, func(p *Place) *[]string { return &p.Layouts })
}

// joinPlaces joins the places that are equal but for one list.
func joinPlaces(in []Place, list func(*Place) *[]string) []Place {
	at := map[string]int{}
	var out []Place
	for _, p := range in {
		own := *list(&p)
		*list(&p) = nil
		k := fmt.Sprintf("%q %q %q %q", p.Toolchain, p.Targets, p.Levels, p.Layouts)
		*list(&p) = own
		i, ok := at[k]
		if !ok {
			at[k] = len(out)
			out = append(out, p)
			continue
		}
		for _, s := range own {
			if l := list(&out[i]); !slices.Contains(*l, s) {
				*l = append(*l, s)
			}
		}
	}
	return out
}
