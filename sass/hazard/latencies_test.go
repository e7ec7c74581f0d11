package hazard

import (
	"cmp"
	"flag"
	"fmt"
	"maps"
	"os"
	"slices"
	"strings"
	"testing"

	"optcheck/isa"
)

var (
	update = flag.Bool("update", false, "write latencies.txt from what the cubins do")
	cubins = flag.String("cubins", "", "patterns of files with machine code of compilers, separated by blanks")
)

// cell counts how compilers treat one pair of classes.
type cell struct {
	least, times, all int // the fewest cycles, how often they occur, how many dependencies there are
	example           string
}

// many is how many dependencies a pair must have to need more than others of its producer.
const many = 1000

// inference is what compilers do on one target.
type inference struct {
	cells map[string]*cell
	sets  map[string][2]int // by class with results: instructions, and those that set a scoreboard
	deps  int
}

func (n *inference) add(t *table, fn *isa.Func, d dep, file string) {
	if !d.again {
		n.deps++
	}
	switch {
	case d.kind == SetWait, d.kind == WAW, !d.fixed && !(d.kind == WAR && d.open):
		return
	}
	from, to := &fn.Insts[d.from], &fn.Insts[d.to]
	p, c := t.keys(d.kind, from, to, d.reg)
	k := d.kind.String() + " " + p + " " + c
	x := n.cells[k]
	if x == nil {
		x = &cell{least: horizon + 1}
		n.cells[k] = x
	}
	if !d.again {
		x.all++
	}
	if d.cycles < x.least {
		x.least, x.times = d.cycles, 0
		x.example = fmt.Sprintf("%s %s: %04x %s %s → %04x %s %s", file, fn.Name, from.Addr, from.Control, from.Text, to.Addr, to.Control, to.Text)
	}
	if d.cycles == x.least {
		x.times++
	}
}

// most is, by kind and producer, the most that a pair needs of which there are many; if there are none, the least of all.
// A rare pair is not said to need more.
func (n *inference) most() map[string]int {
	frequent, least := map[string]int{}, map[string]int{}
	for k, c := range n.cells {
		row := k[:strings.LastIndexByte(k, ' ')]
		if c.all >= many {
			frequent[row] = max(frequent[row], c.least)
		}
		if have, ok := least[row]; !ok || c.least < have {
			least[row] = c.least
		}
	}
	maps.Copy(least, frequent)
	return least
}

// write writes the cells of a target a line for each producer and kind.
func (n *inference) write(b *strings.Builder, rules *table) {
	rows, most := map[string]map[string]int{}, n.most()
	least := map[string]int{}
	for k, c := range n.cells {
		row := k[:strings.LastIndexByte(k, ' ')]
		if have, ok := least[row]; !ok || c.least < have {
			least[row] = c.least
		}
	}
	named := map[string]bool{"any": true}
	for _, names := range []map[string]string{rules.classes, rules.reader} {
		for _, unit := range names {
			named[unit] = true
		}
	}
	for k, c := range n.cells {
		if c.least >= horizon {
			continue
		}
		i := strings.LastIndexByte(k, ' ')
		if rows[k[:i]] == nil {
			rows[k[:i]] = map[string]int{}
		}
		if class, _, _ := strings.Cut(k[i+1:], "."); !strings.HasPrefix(k, "war") && (!named[class] || class == "bsync") {
			c.least = least[k[:i]] // an opcode of its own says as little
		}
		rows[k[:i]][k[i+1:]] = c.least
		if c.all < many && !strings.HasPrefix(k, "war") {
			rows[k[:i]][k[i+1:]] = min(c.least, most[k[:i]])
		}
	}
	for _, r := range slices.Sorted(maps.Keys(rows)) {
		b.WriteString(r)
		names := slices.SortedFunc(maps.Keys(rows[r]), func(x, y string) int { return cmp.Or(rows[r][x]-rows[r][y], strings.Compare(x, y)) })
		last := 0
		for _, c := range names {
			if rows[r][c] != last {
				last = rows[r][c]
				fmt.Fprintf(b, " %d", last)
			}
			b.WriteString(" " + c)
		}
		b.WriteString("\n")
	}
}

// census counts what Check says of the functions of one target.
type census struct{ functions, instructions, dependencies, unjudged, unknown, findings int }

// TestHonest asserts that compilers wait for all registers.
func TestHonest(t *testing.T) {
	counts := map[string]*census{}
	all, shown := 0, 0
	load(t, *cubins, func(file string, fn *isa.Func) {
		c := counts[fn.Arch]
		if c == nil {
			c = &census{}
			counts[fn.Arch] = c
		}
		r := Check(fn)
		c.functions++
		c.instructions += len(fn.Insts)
		c.dependencies += r.Dependencies
		c.unjudged += r.Unjudged
		c.findings += len(r.Findings)
		all += r.Dependencies
		if r.Unknown != "" {
			c.unknown++
			t.Log(file, fn.Name, r.Unknown)
		}
		for _, f := range r.Findings {
			if shown++; shown <= 40 {
				t.Errorf("%s %s: %s %v: %s (%s, sure %v)", file, fn.Name, f.Rule(), f.Reg, f.Missing(fn), fn.Insts[f.From].Control, f.Sure)
			}
		}
	})
	for _, arch := range slices.Sorted(maps.Keys(counts)) {
		t.Logf("%s %+v", arch, *counts[arch])
	}
	if all < 1000 {
		t.Errorf("only %d dependencies were judged", all)
	}
}

// TestLatencies writes, with -update -cubins PATTERNS, latencies.txt anew; it asserts nothing.
func TestLatencies(t *testing.T) {
	if !*update {
		return
	}
	all, err := readTables(rulesText + "\n" + latenciesText)
	if err != nil {
		t.Fatal(err)
	}
	rules, _ := readTables(rulesText)
	found := map[string]*inference{}
	load(t, *cubins, func(file string, fn *isa.Func) {
		n := found[fn.Arch]
		if n == nil {
			n = &inference{cells: map[string]*cell{}, sets: map[string][2]int{}}
			found[fn.Arch] = n
		}
		table := rules[""]
		if all[fn.Arch] != nil {
			c := *table
			c.variable, c.unread = all[fn.Arch].variable, all[fn.Arch].unread
			table = &c
		}
		for i := range fn.Insts {
			if in := &fn.Insts[i]; len(in.Defs) > 0 {
				x := n.sets[table.class(in)]
				x[0]++
				if in.Control.Write < scoreboards {
					x[1]++
				}
				n.sets[table.class(in)] = x
			}
		}
		if !follow(fn, table, 1<<40, func(d dep) { n.add(table, fn, d, file) }) {
			t.Errorf("%s: %s: too many steps", file, fn.Name)
		}
	})
	parts := map[string]string{} // by target; what no cubin is for stays as it is
	head, rest, _ := strings.Cut(latenciesText, "\ntarget ")
	for _, part := range strings.Split(rest, "\ntarget ") {
		arch, _, _ := strings.Cut(part, " ")
		parts[arch] = part
	}
	for arch, n := range found {
		var b strings.Builder
		fmt.Fprintf(&b, "%s # inferred from %d dependencies\n", arch, n.deps)
		for _, c := range slices.Sorted(maps.Keys(n.sets)) {
			if x := n.sets[c]; x[1]*10 >= x[0]*9 && x[0] > 1 && !rules[""].variable[c] {
				fmt.Fprintln(&b, "variable", c)
			}
		}
		n.write(&b, rules[""])
		parts[arch] = b.String()
	}
	text := head
	for _, arch := range slices.Sorted(maps.Keys(parts)) {
		text += "\ntarget " + parts[arch]
	}
	if err := os.WriteFile("latencies.txt", []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
}
