package html

import (
	"encoding/base64"
	"encoding/binary"
	"encoding/json"
	"fmt"

	"optcheck/report"
)

// DataFile is the script with a run's cells, relative to the root of a report.
// It is a script because pages from the file system may load scripts, but not
// read other files.
const DataFile = "assets/data.js"

// columnar is a run as the script of the pages reads it. A cell takes a few
// bytes: tests follow each other, and in each the columns and kinds follow as
// differences.
type columnar struct {
	Words   [9][]string // in the order of Keys
	Labels  []string    // of releases
	Columns []int       // release, target, level, layout of each
	Tests   []string
	Presets []uint32 // by test
	Texts   []string // what groups refer to; the first is empty
	Groups  []columnarGroup
	Kinds   string // varints: class, group+1, code counted back from the next new one
	Cells   string // varints: for each test the number of cells, and for each column gap, kind counted back from the next new one
	// NumKinds and NumCells are how many there are.
	NumKinds, NumCells int
	Per                int // groups on a page of the list
}

// columnarGroup is a group; numbers refer to Texts unless said otherwise.
type columnarGroup struct {
	ID       string   `json:"i"`
	Test     uint32   `json:"t"` // position in Tests
	Class    uint8    `json:"c"`
	Says     uint32   `json:"s"` // equal numbers: equal findings
	New      bool     `json:"n,omitempty"`
	Rules    []int    `json:"r,omitempty"` // positions in the words of rules
	Findings [][5]int `json:"f,omitempty"` // rule, place, at, detail, stage
	More     int      `json:"m,omitempty"`
	Reason   int      `json:"w,omitempty"`
	Known    []int    `json:"k,omitempty"`
	Race     int      `json:"x,omitempty"`
}

// Data returns the content of DataFile.
func (x *Index) Data() ([]byte, error) {
	c := columnar{Words: x.words(), Labels: x.labels()[0], Presets: x.presets, Texts: []string{""}, NumKinds: len(x.kinds),
		NumCells: len(x.cells), Per: perPage}
	for _, k := range x.columns {
		c.Columns = append(c.Columns, k.toolchain, k.target, k.level, k.layout)
	}
	for _, t := range x.tests {
		c.Tests = append(c.Tests, Short(x.Set.Tests[t].Title(), maxName))
	}
	texts := map[string]int{"": 0}
	text := func(s string) int {
		n, ok := texts[s]
		if !ok {
			n = len(c.Texts)
			texts[s] = n
			c.Texts = append(c.Texts, s)
		}
		return n
	}
	for n, g := range x.Groups.List {
		c.Groups = append(c.Groups, x.columnarGroup(g, &x.groups[n], text))
	}
	c.Kinds, c.Cells = base64.StdEncoding.EncodeToString(x.packKinds()), base64.StdEncoding.EncodeToString(x.packCells())
	b, err := json.Marshal(&c) // escapes what could end a script
	if err != nil {
		return nil, fmt.Errorf("data of the report: %w", err)
	}
	return append(append([]byte("optcheckData="), b...), ";\n"...), nil
}

func (x *Index) columnarGroup(g *report.Group, i *groupInfo, text func(string) int) columnarGroup {
	r := x.Result(g)
	out := columnarGroup{ID: g.ID, Test: i.test, Class: i.class, Says: i.says, New: !i.known, Rules: i.rules,
		Reason: text(Short(r.Reason, maxDetail))}
	shown := shownFindings(&x.Set.Tests[g.Test], r)
	for _, f := range shown {
		out.Findings = append(out.Findings, [5]int{text(f.Rule), text(f.Place), text(f.At), text(f.Detail), text(f.Stage)})
	}
	out.More = len(r.Findings) - len(shown)
	for _, k := range knownNames(r) {
		out.Known = append(out.Known, text(k))
	}
	out.Race = text(r.RaceWord())
	return out
}

func (x *Index) packKinds() []byte {
	var b []byte
	next := uint32(1) // 0 is no code
	for _, k := range x.kinds {
		b = binary.AppendUvarint(append(b, k.class), uint64(k.group+1))
		b = binary.AppendUvarint(b, uint64(next-k.code))
		if k.code == next {
			next++
		}
	}
	return b
}

func (x *Index) packCells() []byte {
	var b []byte
	next := uint32(0)
	i := 0
	for test := range uint32(len(x.tests)) { // tests without cells too
		j := i
		for j < len(x.cells) && x.cells[j].test == test {
			j++
		}
		b = binary.AppendUvarint(b, uint64(j-i))
		column := uint32(0)
		for ; i < j; i++ {
			c := x.cells[i]
			b = binary.AppendUvarint(b, uint64(c.column-column))
			column = c.column + 1
			b = binary.AppendUvarint(b, uint64(next-c.kind))
			if c.kind == next {
				next++
			}
		}
	}
	return b
}
