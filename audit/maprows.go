package audit

import (
	"slices"
	"strings"

	"optcheck/target"
)

// mapRow is one line of a table: an operation, what it becomes, and where.
type mapRow struct {
	op, group, machine, where string
}

// mapVariant is one way to compile: a toolchain at a level.
type mapVariant struct{ toolchain, level string }

// mapAxes are the targets and variants that occur in a mapping.
type mapAxes struct {
	targets []string
	at      map[string][]mapVariant // variants that a target was compiled with
	tcs     []string
	levels  []string
}

func axesOf(cells []MapCell) *mapAxes {
	a := &mapAxes{at: map[string][]mapVariant{}}
	for i := range cells {
		c := &cells[i]
		v := mapVariant{c.Toolchain, c.Level}
		if !slices.Contains(a.at[c.Target], v) {
			a.at[c.Target] = append(a.at[c.Target], v)
		}
		if !slices.Contains(a.targets, c.Target) {
			a.targets = append(a.targets, c.Target)
		}
		if !slices.Contains(a.tcs, c.Toolchain) {
			a.tcs = append(a.tcs, c.Toolchain)
		}
		if !slices.Contains(a.levels, c.Level) {
			a.levels = append(a.levels, c.Level)
		}
	}
	slices.SortFunc(a.targets, target.Compare)
	return a
}

// shown is what a table says of a cell.
func (c *MapCell) shown() string {
	switch c.Status {
	case MapMapped:
		return c.Machine
	case MapRefused:
		return "–"
	}
	return "unknown: " + c.Reason
}

// mapRows groups the cells of each operation by what it becomes, in the order
// of the first target that shows it.
func mapRows(cells []MapCell) []mapRow {
	axes := axesOf(cells)
	type set map[string][]mapVariant // by target
	var rows []mapRow
	for i := 0; i < len(cells); {
		op := cells[i].Op
		by := map[string]set{}
		var order []string
		begin := i
		for ; i < len(cells) && cells[i].Op == op; i++ {
			s := cells[i].shown()
			if by[s] == nil {
				by[s] = set{}
			}
			t := cells[i].Target
			by[s][t] = append(by[s][t], mapVariant{cells[i].Toolchain, cells[i].Level})
		}
		for _, t := range axes.targets {
			for j := begin; j < i; j++ {
				if s := cells[j].shown(); cells[j].Target == t && !slices.Contains(order, s) {
					order = append(order, s)
				}
			}
		}
		for _, s := range order {
			rows = append(rows, mapRow{op, cells[begin].Group, s, axes.where(by[s])})
		}
	}
	return rows
}

// where names a set of compilations: ranges of targets, each with the releases
// and levels if it is not all that the target was compiled with.
func (a *mapAxes) where(set map[string][]mapVariant) string {
	var parts []string
	for i := 0; i < len(a.targets); {
		q, ok := a.qualifier(a.targets[i], set)
		j := i + 1
		for ; j < len(a.targets); j++ {
			if p, is := a.qualifier(a.targets[j], set); is != ok || p != q {
				break
			}
		}
		if ok {
			part := a.targets[i]
			if j-i > 1 {
				part += "–" + a.targets[j-1]
			}
			if q != "" {
				part += " (" + q + ")"
			}
			parts = append(parts, part)
		}
		i = j
	}
	return strings.Join(parts, ", ")
}

// qualifier says with which releases and levels a target is in the set; "" means
// with all.
func (a *mapAxes) qualifier(target string, set map[string][]mapVariant) (string, bool) {
	in := set[target]
	if len(in) == 0 {
		return "", false
	}
	if len(in) == len(a.at[target]) {
		return "", true
	}
	levels := func(tc string, list []mapVariant) (l []string) {
		for _, v := range list {
			if v.toolchain == tc {
				l = append(l, v.level)
			}
		}
		return l
	}
	var parts []string
	same, begun, first := true, false, "" // one set of levels for all releases that have the target
	for _, tc := range a.tcs {
		all, some := levels(tc, a.at[target]), levels(tc, in)
		if len(all) == 0 {
			continue
		}
		if !begun {
			begun, first = true, strings.Join(some, " ")
		}
		same = same && first == strings.Join(some, " ")
		switch {
		case len(some) == 0:
		case len(some) == len(all):
			parts = append(parts, releaseOf(tc))
		default:
			parts = append(parts, releaseOf(tc)+" "+strings.Join(some, " "))
		}
	}
	if same {
		return first, true
	}
	return strings.Join(parts, ", "), true
}

// releaseOf shortens "ptxas 12.4.131" to "12.4".
func releaseOf(id string) string {
	_, v, ok := strings.Cut(id, " ")
	if !ok {
		return id
	}
	version, build, _ := strings.Cut(v, " ")
	if build != "" {
		return v // two builds of one version
	}
	p := strings.SplitN(version, ".", 3)
	if len(p) < 2 {
		return version
	}
	return p[0] + "." + p[1]
}
