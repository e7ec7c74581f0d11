package mapping

import (
	"io"
	"slices"
	"strings"

	"optcheck/internal/input"
	"optcheck/target"
)

// Row is one line of the mapping tables: an operation, what it becomes, and
// where: in words, and the releases and targets one by one. Class is what the models say of
// it, or what came of the comparison with its PTX, "" where there was neither, or that it is refused.
type Row struct {
	Op, Group, Machine, Where string
	Releases, Targets         []string
	Class                     string
}

// variant is one way to compile: a toolchain at a level.
type variant struct{ toolchain, level string }

// axes holds the targets and variants that occur in a mapping.
type axes struct {
	targets []string
	at      map[string][]variant // variants that a target was compiled with
	tcs     []string
	levels  []string
}

func axesOf(cells []Cell) *axes {
	a := &axes{at: map[string][]variant{}}
	for i := range cells {
		c := &cells[i]
		v := variant{c.Toolchain, c.Level}
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

// shown returns what a table says about a cell.
func (c *Cell) shown() string {
	switch c.Status {
	case Mapped:
		return c.front() + c.Machine
	case Refused:
		return "–"
	case Crashed:
		return "CRASHED: " + c.Reason
	}
	return "unknown: " + c.Reason
}

// compared is what came of the comparison of an operation of PTX with its machine code, "" where there was none.
func (c *Cell) compared() string {
	if c.PTX != "" || c.Status != Mapped {
		return ""
	}
	return c.Code
}

// kind is what cells of one row have in common.
func (c *Cell) kind() string { return c.compared() + " " + c.shown() }

// front is what a table says of the first of two compilers, and of the judgement.
func (c *Cell) front() string {
	if c.PTX == "" {
		return ""
	}
	s := c.PTX + " → "
	if c.Code == "changed" || c.Code == "miscompiled" {
		s = c.Code + " by ptxas: " + s
	}
	if j := c.Judgement; j != nil && j.Class == Lost {
		s = "LOST (" + j.Lost[0].Pattern + "): " + s
	}
	return s
}

// Rows groups the cells of each operation by what it becomes, in the order of the first target
// that shows it, and the operations by their groups. Cells of one operation must be adjacent.
func Rows(cells []Cell) []Row {
	all := axesOf(cells)
	type set map[string][]variant // by target
	var rows []Row
	for i := 0; i < len(cells); {
		op := cells[i].Op
		by, at := map[string]set{}, map[string]*Row{}
		var order []string
		begin := i
		for ; i < len(cells) && cells[i].Op == op; i++ {
			s := cells[i].kind()
			if by[s] == nil {
				by[s], at[s] = set{}, &Row{Op: op, Group: cells[i].Group, Machine: cells[i].shown(), Class: cells[i].class()}
			}
			t := cells[i].Target
			at[s].Releases, at[s].Targets = with(at[s].Releases, releaseOf(cells[i].Toolchain)), with(at[s].Targets, t)
			by[s][t] = append(by[s][t], variant{cells[i].Toolchain, cells[i].Level})
		}
		for _, t := range all.targets {
			for j := begin; j < i; j++ {
				if s := cells[j].kind(); cells[j].Target == t && !slices.Contains(order, s) {
					order = append(order, s)
				}
			}
		}
		for _, s := range order {
			at[s].Where = all.where(by[s])
			rows = append(rows, *at[s])
		}
	}
	var groups []string
	for _, r := range rows {
		groups = with(groups, r.Group)
	}
	slices.SortStableFunc(rows, func(a, b Row) int { return slices.Index(groups, a.Group) - slices.Index(groups, b.Group) })
	return rows
}

// with is a list with a word, once.
func with(list []string, word string) []string {
	if slices.Contains(list, word) {
		return list
	}
	return append(list, word)
}

// class is what became of the operation in a word.
func (c *Cell) class() string {
	if c.Status == Mapped && c.Judgement != nil {
		return c.Judgement.Class
	}
	if c.Status == Mapped {
		return c.compared()
	}
	return c.Status
}

// where describes a set of compilations: ranges of targets, each with the releases and levels
// unless it is all that the target was compiled with.
func (a *axes) where(set map[string][]variant) string {
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

// qualifier describes the releases and levels with which a target is in the set; "" means all.
func (a *axes) qualifier(target string, set map[string][]variant) (string, bool) {
	in := set[target]
	if len(in) == 0 {
		return "", false
	}
	if len(in) == len(a.at[target]) {
		return "", true
	}
	levels := func(tc string, list []variant) (l []string) {
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
	if first, second, ok := strings.Cut(id, " + "); ok {
		return strings.Split(first, " ")[0] + " " + releaseOf(first) + "+" + releaseOf(second)
	}
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

// ChangeRow is a change between two releases and where it was made.
type ChangeRow struct{ Op, Left, Right, From, To, Where string }

// ChangeRows groups the changes that Diff finds by what became what.
func ChangeRows(cells []Cell) []ChangeRow {
	type key struct{ op, left, right, from, to string }
	var order []key
	where := map[key][][2]string{} // levels and a target
	for _, c := range Diff(cells) {
		k := key{c.Op, c.Left, c.Right, c.From, c.To}
		if where[k] == nil {
			order = append(order, k)
		}
		list := where[k]
		if i := slices.IndexFunc(list, func(w [2]string) bool { return w[1] == c.Target }); i >= 0 {
			list[i][0] += " " + c.Level
			continue
		}
		where[k] = append(list, [2]string{c.Level, c.Target})
	}
	out := make([]ChangeRow, 0, len(order))
	for _, k := range order {
		var parts []string
		last := ""
		for _, w := range where[k] {
			if last == w[0] {
				parts[len(parts)-1] += " " + w[1]
				continue
			}
			last = w[0]
			parts = append(parts, w[0]+": "+w[1])
		}
		out = append(out, ChangeRow{k.op, k.left, k.right, k.from, k.to, strings.Join(parts, "; ")})
	}
	return out
}

// Read reads the cells that WriteJSON wrote.
func Read(file string, in io.Reader) ([]Cell, error) {
	return input.Table[Cell](file, in, "mapping", func(c *Cell) string { return c.Status })
}
