package audit

import (
	"bufio"
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"slices"
	"strings"
)

// maxTableLine and maxTableCells bound the tables that are read from files.
const (
	maxTableLine  = 1 << 20
	maxTableCells = 5_000_000
)

// ReadDeps reads the survival matrix that WriteDepsJSON wrote. Errors name file
// and line.
func ReadDeps(file string, in io.Reader) ([]DepCell, error) {
	return readTable[DepCell](file, in, "dependency", func(c *DepCell) string { return c.Fate })
}

// ReadMapping reads the cells that WriteMappingJSON wrote.
func ReadMapping(file string, in io.Reader) ([]MapCell, error) {
	return readTable[MapCell](file, in, "mapping", func(c *MapCell) string { return c.Status })
}

// readTable reads JSON lines, objects with one key that names what they hold.
// What is said of each cell must not be empty.
func readTable[T any](file string, in io.Reader, kind string, says func(*T) string) ([]T, error) {
	sc := bufio.NewScanner(in)
	sc.Buffer(make([]byte, 0, 1<<16), maxTableLine)
	var out []T
	for line := 1; sc.Scan(); line++ {
		if len(bytes.TrimSpace(sc.Bytes())) == 0 {
			continue
		}
		d := json.NewDecoder(bytes.NewReader(sc.Bytes()))
		d.DisallowUnknownFields()
		e := map[string]json.RawMessage{}
		err := d.Decode(&e)
		if err == nil && (len(e) != 1 || e[kind] == nil) {
			err = fmt.Errorf("no %s", kind)
		}
		var c T
		if err == nil {
			d = json.NewDecoder(bytes.NewReader(e[kind]))
			d.DisallowUnknownFields()
			err = d.Decode(&c)
		}
		if err == nil && says(&c) == "" {
			err = fmt.Errorf("a %s that says nothing", kind)
		}
		if err == nil && len(out) == maxTableCells {
			err = fmt.Errorf("more than %d cells", maxTableCells)
		}
		if err != nil {
			return nil, fmt.Errorf("%s:%d: %w", file, line, err)
		}
		out = append(out, c)
	}
	if err := sc.Err(); err != nil {
		return nil, fmt.Errorf("%s: %w", file, err)
	}
	if len(out) == 0 {
		return nil, fmt.Errorf("%s: no %s in this file", file, kind)
	}
	return out, nil
}

// MapRow is one line of the mapping tables: an operation, what it becomes, and
// where.
type MapRow struct{ Op, Group, Machine, Where string }

// MapRows groups cells of equal operations by what these become, as the tables
// show them. Cells of one operation must follow each other.
func MapRows(cells []MapCell) []MapRow {
	rows := mapRows(cells)
	out := make([]MapRow, 0, len(rows))
	for _, r := range rows {
		out = append(out, MapRow{r.op, r.group, r.machine, r.where})
	}
	return out
}

// MapChangeRow is a change between two releases and where it was made.
type MapChangeRow struct{ Op, Left, Right, From, To, Where string }

// MapChangeRows groups what MappingDiff finds by what became what.
func MapChangeRows(cells []MapCell) []MapChangeRow {
	type key struct{ op, left, right, from, to string }
	var order []key
	where := map[key][][2]string{} // levels and a target
	for _, c := range MappingDiff(cells) {
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
	out := make([]MapChangeRow, 0, len(order))
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
		out = append(out, MapChangeRow{k.op, k.left, k.right, k.from, k.to, strings.Join(parts, "; ")})
	}
	return out
}
