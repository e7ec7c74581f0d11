package html

import (
	"cmp"
	"slices"
	"strings"

	"optcheck/event"
)

// facts are what every overview of an index says, whatever its filter. They
// are found once: each takes a look at all cells.
type facts struct {
	all     *Selection
	reasons []reasonCount // why cells are unsupported, the most frequent first
	tests   int           // that have cells
	models  []string      // that verdicts name
}

// known returns the facts of an index.
func (x *Index) known() *facts {
	x.once.Do(func() {
		f := &x.facts
		f.all = x.Select(Filter{})
		for i := range x.cells {
			if i == 0 || x.cells[i].test != x.cells[i-1].test {
				f.tests++
			}
		}
		s := x.Set
		cells := make([]int, len(s.Results))
		for _, c := range s.Cells {
			cells[c.Result]++
		}
		n := map[string]int{}
		for i := range s.Results {
			r := &s.Results[i]
			if r.Class == event.Unsupported && cells[i] > 0 {
				n[r.Reason] += cells[i]
			}
			if v := r.Verdict; v != nil && len(f.models) < 20 && !slices.Contains(f.models, v.Model) {
				f.models = append(f.models, v.Model)
			}
		}
		slices.Sort(f.models)
		for reason, cells := range n {
			f.reasons = append(f.reasons, reasonCount{reason, cells})
		}
		slices.SortFunc(f.reasons, func(a, b reasonCount) int {
			return cmp.Or(b.Cells-a.Cells, strings.Compare(a.Reason, b.Reason))
		})
	})
	return &x.facts
}

// everything returns what the filter that chooses all chooses.
func (x *Index) everything() *Selection { return x.known().all }
