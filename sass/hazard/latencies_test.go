package hazard

import (
	"cmp"
	"encoding/json"
	"flag"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"optcheck/isa"
	"optcheck/target"
)

var (
	update  = flag.Bool("update", false, "write latencies.txt from what the cubins do, and what -counted has")
	cubins  = flag.String("cubins", "", "patterns of files with machine code of compilers, separated by blanks")
	count   = flag.String("counts", "", "write what the cubins do to this file, for -counted")
	counted = flag.String("counted", "", "patterns of files that -counts wrote, here or elsewhere, separated by blanks")
)

// cell counts how compilers treat one pair of classes.
type cell struct {
	Least, Times, All int // the fewest cycles, how often they occur, how many dependencies there are
	Example           string
}

// edge is how often compilers must leave just the least for it to be what a pair needs; otherwise it happens to be the least.
const edge = 100

// inference is what compilers do on one target.
type inference struct {
	Cells map[string]*cell
	Sets  map[string][2]int // by class with results: instructions, and those that set a scoreboard
	Reads map[string]int    // by class: results that are read although no scoreboard was set
	Deps  int
}

// merge adds what was counted elsewhere.
func (n *inference) merge(o *inference) {
	n.Deps += o.Deps
	for k, x := range o.Sets {
		n.Sets[k] = [2]int{n.Sets[k][0] + x[0], n.Sets[k][1] + x[1]}
	}
	for k, x := range o.Reads {
		n.Reads[k] += x
	}
	for k, x := range o.Cells {
		c := n.Cells[k]
		switch {
		case c == nil:
			n.Cells[k] = x
		case x.Least < c.Least:
			x.All += c.All
			n.Cells[k] = x
		case x.Least == c.Least:
			c.Times += x.Times
			fallthrough
		default:
			c.All += x.All
		}
	}
}

func (n *inference) add(t *table, fn *isa.Func, d dep, file string) {
	if !d.again {
		n.Deps++
	}
	from, to := &fn.Insts[d.from], &fn.Insts[d.to]
	switch {
	case d.kind == SetWait, !d.fixed && !(d.kind == WAR && d.open), d.kind == WAW && (d.reg.Class != isa.ClassUGPR || t.class(from) == t.class(to)):
		return
	}
	if d.kind == RAW && from.Control.Write >= scoreboards {
		n.Reads[t.class(from)]++
	}
	p, c := t.keys(d.kind, from, to, d.reg)
	k := d.kind.String() + " " + p + " " + c
	x := n.Cells[k]
	if x == nil {
		x = &cell{Least: horizon + 1}
		n.Cells[k] = x
	}
	if !d.again {
		x.All++
	}
	if d.cycles < x.Least {
		x.Least, x.Times = d.cycles, 0
		x.Example = fmt.Sprintf("%s %s: %04x %s %s → %04x %s %s", file, fn.Name, from.Addr, from.Control, from.Text, to.Addr, to.Control, to.Text)
	}
	if d.cycles == x.Least {
		x.Times++
	}
}

// left reports whether a row is of operands that only a scoreboard tells to be read, of which the table has what compilers leave, not what is needed.
func left(row string) bool {
	return strings.HasPrefix(row, WAR.String()) && !strings.HasSuffix(row, ".u")
}

// write writes the cells of a target a line for each producer and kind.
func (n *inference) write(b *strings.Builder, rules *table) {
	rows, least, known := map[string]map[string]int{}, map[string]int{}, map[string]bool{}
	for k, c := range n.Cells {
		row := k[:strings.LastIndexByte(k, ' ')]
		known[row] = known[row] || c.Times >= edge || left(row)
		if have, ok := least[row]; !ok || c.Least < have {
			least[row] = c.Least
		}
	}
	named := map[string]bool{"any": true}
	for _, names := range []map[string]string{rules.classes, rules.reader} {
		for _, unit := range names {
			named[unit] = true
		}
	}
	for k, c := range n.Cells {
		i := strings.LastIndexByte(k, ' ')
		if c.Least >= horizon || !known[k[:i]] {
			continue
		}
		if rows[k[:i]] == nil {
			rows[k[:i]] = map[string]int{}
		}
		class, _, _ := strings.Cut(k[i+1:], ".")
		need := c.Least
		if !left(k[:i]) && (c.Times < edge || !named[class] && !matrix(class) || class == "bsync") {
			need = least[k[:i]] // what is rare, or an opcode of its own, says no more than the others
		}
		rows[k[:i]][k[i+1:]] = need
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
type census struct{ functions, instructions, dependencies, unjudged, unknown, findings, sure int }

// named names the pair of a finding as the table does.
func named(fn *isa.Func, f Finding) string {
	if f.Kind == SetWait {
		return f.Kind.String()
	}
	table, _ := tableOf(fn)
	p, c := table.keys(f.Kind, &fn.Insts[f.From], &fn.Insts[f.To], f.Reg)
	return f.Kind.String() + " " + p + " " + c
}

// TestHonest asserts that compilers wait for all registers.
func TestHonest(t *testing.T) {
	counts := map[string]*census{}
	all := 0
	pairs := map[string]int{} // of findings: how often
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
		if r.Unjudged > 0 {
			t.Logf("%s %s: %s is not understood", file, fn.Name, r.Example)
		}
		for _, f := range r.Findings {
			if f.Sure {
				c.sure++
			}
			key := fmt.Sprint(fn.Arch, " ", named(fn, f), " sure ", f.Sure)
			if pairs[key]++; pairs[key] == 1 {
				t.Errorf("%s: %s %s: %s %v: %s (%s)", key, file, fn.Name, f.Rule(), f.Reg, f.Missing(fn), fn.Insts[f.From].Control)
			}
		}
	})
	for _, key := range slices.Sorted(maps.Keys(pairs)) {
		t.Logf("%s: %d findings", key, pairs[key])
	}
	for _, arch := range slices.Sorted(maps.Keys(counts)) {
		t.Logf("%s %+v", arch, *counts[arch])
	}
	if all < 1000 {
		t.Errorf("only %d dependencies were judged", all)
	}
}

// TestLatencies writes, with -update -cubins PATTERNS, latencies.txt anew; it asserts nothing. With -counts FILE it writes what it
// counted; -counted FILES add what was counted elsewhere.
func TestLatencies(t *testing.T) {
	if !*update && *count == "" {
		return
	}
	found := map[string]*inference{}
	of := func(arch string) *inference {
		if found[arch] == nil {
			found[arch] = &inference{Cells: map[string]*cell{}, Sets: map[string][2]int{}, Reads: map[string]int{}}
		}
		return found[arch]
	}
	if *counted == "" || *cubins != "" {
		countAll(t, of)
	}
	for _, p := range strings.Fields(*counted) {
		files, err := filepath.Glob(p)
		if err != nil {
			t.Fatal(err)
		}
		for _, file := range files {
			data, err := os.ReadFile(file)
			var more map[string]*inference
			if err == nil {
				err = json.Unmarshal(data, &more)
			}
			if err != nil {
				t.Fatal(file, err)
			}
			for arch, n := range more {
				of(arch).merge(n)
			}
		}
	}
	if *count != "" {
		data, err := json.Marshal(found)
		if err == nil {
			err = os.WriteFile(*count, data, 0o644)
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	if *update {
		writeLatencies(t, found)
	}
}

// countAll counts what the cubins do.
func countAll(t *testing.T, of func(arch string) *inference) {
	all, err := readTables(rulesText + "\n" + latenciesText)
	if err != nil {
		t.Fatal(err)
	}
	rules, _ := readTables(rulesText)
	load(t, *cubins, func(file string, fn *isa.Func) {
		sm, _ := target.SM(fn.Arch)
		arch := fmt.Sprintf("sm_%d", sm)
		n, table := of(arch), rules[""]
		if all[arch] != nil {
			c := *table
			c.classes, c.traits, c.drains = all[arch].classes, all[arch].traits, all[arch].drains
			table = &c
		}
		for i := range fn.Insts {
			if in := &fn.Insts[i]; len(in.Defs) > 0 {
				x := n.Sets[table.class(in)]
				x[0]++
				if in.Control.Write < scoreboards {
					x[1]++
				}
				n.Sets[table.class(in)] = x
			}
		}
		if !follow(fn, table, 1<<40, 0, func(d dep) { n.add(table, fn, d, file) }) {
			t.Errorf("%s: %s: too many steps", file, fn.Name)
		}
	})
}

// keep takes over what the table has of a target: what other code was seen to do.
func (n *inference) keep(rows string) {
	variable := map[string]bool{}
	for i, line := range strings.Split(rows, "\n") {
		f := strings.Fields(line)
		switch {
		case i == 0 && len(f) > 4:
			deps, _ := strconv.Atoi(f[4])
			n.Deps += deps
		case len(f) == 2 && f[0] == "variable":
			variable[f[1]] = true
			x := n.Sets[f[1]]
			n.Sets[f[1]] = [2]int{x[0] + edge, x[1] + edge}
		}
		if len(f) < 4 || !slices.Contains([]string{RAW.String(), WAW.String(), WAR.String()}, f[0]) {
			continue
		}
		if class := strings.TrimSuffix(f[1], operandOf(f[1])); f[0] == RAW.String() && !variable[class] {
			n.Reads[class]++ // a row is of what was read without a scoreboard
		}
		cycles := 0
		for _, w := range f[2:] {
			if c, err := strconv.Atoi(w); err == nil {
				cycles = c
			} else {
				more := inference{Cells: map[string]*cell{f[0] + " " + f[1] + " " + w: {Least: cycles, Times: edge}}}
				n.merge(&more)
			}
		}
	}
}

// writeLatencies writes what was found to latencies.txt. Targets of which nothing was found stay as they are.
func writeLatencies(t *testing.T, found map[string]*inference) {
	all, _ := readTables(rulesText + "\n" + latenciesText)
	parts := map[string]string{}
	head, rest, _ := strings.Cut(latenciesText, "\ntarget ")
	for _, part := range strings.Split(rest, "\ntarget ") {
		arch, _, _ := strings.Cut(part, " ")
		parts[arch] = part
	}
	for arch, n := range found {
		rules := all[arch]
		if rules == nil {
			rules = all[""]
		}
		n.keep(parts[arch])
		var b strings.Builder
		fmt.Fprintf(&b, "%s # inferred from %d dependencies\n", arch, n.Deps)
		for _, c := range slices.Sorted(maps.Keys(n.Sets)) {
			if x := n.Sets[c]; x[1]*10 >= x[0]*9 && n.Reads[c] == 0 && x[0] > 1 && !all[""].is(c, variable) {
				fmt.Fprintln(&b, "variable", c)
			}
		}
		n.write(&b, rules)
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
