package hazard

import (
	_ "embed"
	"fmt"
	"maps"
	"strconv"
	"strings"
	"sync"

	"optcheck/isa"
)

// What is known of instructions is in two files: rules.txt is written by hand, latencies.txt by a test from what compilers do
// (go test -run Latencies -update). A third, measured.txt, has what a chip showed.
//
//	class NAME OPCODE…             the opcodes that share a unit; OPCODE.MODIFIER where the modifier matters
//	variable CLASS…                results take a time that only a scoreboard tells
//	inorder UNIT CLASS…            results come in the order of issue within the unit
//	queue UNIT CLASS…              operands are read in the order of issue within the unit
//	reader UNIT CLASS…             addresses and data are read in the same stage
//	drains STALL AFTER CLASS…      AFTER cycles later all queues have read the operands of what stalls the issue for STALL cycles
//	early CLASS…                   predicates are there when the operands were read
//	late CLASS…                    uniform registers are read after the issue, too
//	prompt CLASS…                  operands are read at the issue, however long the results take
//	grouped CLASS…                 results and operands are waited for by groups, and added to in order of issue; see commits
//	bare CLASS…                    compilers leave out the scoreboard of a result of variable time: nobody knows whether they may
//	lags CLASS…                    uniform registers are read some cycles after the issue; see rows war
//	set-wait CYCLES                between setting a scoreboard and waiting for it
//	count-wait CYCLES              between DEPBAR and the use of what it has waited for
//	of TARGET LINE                 a line of a target alone, in place of that of all
//	same NAME TARGET               a target that is as another
//	target NAME…                   what follows is for these alone
//	raw|waw|war PRODUCER CYCLES CONSUMER… CYCLES CONSUMER…
//	harm TARGET raw|waw|war PRODUCER CYCLES CONSUMER… with so many cycles a chip gave wrong values
//
// PRODUCER and CONSUMER are a class and, behind a dot, a result or operand; see result and slot.
var (
	//go:embed rules.txt
	rulesText string
	//go:embed latencies.txt
	latenciesText string
	//go:embed measured.txt
	measuredText string
)

// table is what is known about the instructions of one target.
type table struct {
	classes                map[string]string
	traits                 map[string]trait // by class
	inOrder, queue, reader map[string]string
	setWait                int
	countWait              uint8
	drains                 map[string]drain
	// least are the fewest cycles between two issues, by kind, producer and consumer; without consumer those of all.
	least map[string]int
	// harm are the most cycles at which a chip gave wrong values, by kind, producer and consumer.
	harm map[string]int
	// most are the most cycles that any consumer of a class needs.
	most map[string]int
}

// trait is what the table says of a class.
type trait uint8

// The traits, see the table.
const (
	variable trait = 1 << iota
	early
	late
	prompt
	grouped
	bare
	lags
)

var traitNames = map[string]trait{"variable": variable, "early": early, "late": late, "prompt": prompt, "grouped": grouped, "bare": bare, "lags": lags}

// is reports whether a class has a trait.
func (t *table) is(class string, has trait) bool { return t.traits[class]&has != 0 }

// drain says when operands have been read for certain: after cycles behind an instruction, by what stalls the issue for so long.
type drain struct{ stall, after uint8 }

var tables = sync.OnceValue(func() map[string]*table {
	all, err := readTables(rulesText + "\n" + latenciesText + "\n" + measuredText)
	if err != nil {
		panic(err)
	}
	return all
})

// readTables reads the two files; the key of the rules of all targets is empty.
func readTables(text string) (map[string]*table, error) {
	base := &table{classes: map[string]string{}, traits: map[string]trait{}, drains: map[string]drain{}, inOrder: map[string]string{},
		queue: map[string]string{}, reader: map[string]string{}, least: map[string]int{}, most: map[string]int{}}
	all, now := map[string]*table{"": base}, base
	same := map[string]string{}
	var later [][]string
	for n, line := range strings.Split(text, "\n") {
		line, _, _ = strings.Cut(line, "#")
		f := strings.Fields(line)
		switch {
		case len(f) == 0:
		case f[0] == "target":
			c := *base
			c.classes, c.drains, c.traits = maps.Clone(base.classes), maps.Clone(base.drains), maps.Clone(base.traits)
			c.least, c.most, c.harm = map[string]int{}, map[string]int{}, map[string]int{}
			now = &c
			for _, name := range f[1:] {
				all[name] = now
			}
		case f[0] == "harm" && len(f) > 4 && all[f[1]] != nil:
			all[f[1]].measured(f[2]+" "+f[3]+" ", f[4:])
		case f[0] == "of" && len(f) > 3:
			later = append(later, f)
		case f[0] == "same" && len(f) == 3:
			same[f[1]] = f[2]
		case !now.line(f):
			return nil, fmt.Errorf("line %d of the hazard tables is not understood: %s", n+1, line)
		}
	}
	for _, f := range later {
		if t := all[f[1]]; t != nil && !t.line(f[2:]) {
			return nil, fmt.Errorf("a line of the hazard tables is not understood: %s", strings.Join(f, " "))
		}
	}
	for _, t := range all {
		t.overwrites()
	}
	for name, of := range same {
		all[name] = all[of]
	}
	return all, nil
}

// overwrites computes how long a write must wait for an earlier one, of which no row is known: by how much later the earlier result is there for
// those that read both kinds of results, of which the least counts.
func (t *table) overwrites() {
	needs := map[string]int{}
	readers := map[string]map[string]int{} // by result, then by who reads it
	for k, n := range t.least {
		if f := strings.Fields(k); len(f) == 3 && f[0] == RAW.String() {
			if readers[f[1]] == nil {
				readers[f[1]] = map[string]int{}
			}
			readers[f[1]][f[2]] = n
		}
	}
	for p, earlier := range readers {
		for c, later := range readers {
			for r, n := range earlier {
				m, ok := later[r]
				if !ok {
					continue
				}
				need := max(1, n-m+1)
				if have, ok := needs[p+" "+c]; !ok || need < have {
					needs[p+" "+c] = need
				}
			}
		}
	}
	for pair, n := range needs {
		if key := WAW.String() + " " + pair; t.least[key] == 0 {
			t.least[key] = n
		}
	}
}

func (t *table) line(f []string) bool {
	named := map[string]map[string]string{"class": t.classes, "inorder": t.inOrder, "queue": t.queue, "reader": t.reader}
	switch {
	case traitNames[f[0]] != 0:
		for _, w := range f[1:] {
			t.traits[w] |= traitNames[f[0]]
		}
	case named[f[0]] != nil && len(f) > 2:
		for _, w := range f[2:] {
			named[f[0]][w] = f[1]
		}
	case f[0] == "drains" && len(f) > 3:
		before, err := strconv.ParseUint(f[1], 10, 6)
		after, wrong := strconv.ParseUint(f[2], 10, 6)
		for _, w := range f[3:] {
			t.drains[w] = drain{uint8(before), uint8(after)}
		}
		return err == nil && wrong == nil
	case f[0] == "set-wait" && len(f) == 2:
		n, err := strconv.Atoi(f[1])
		t.setWait = n
		return err == nil
	case f[0] == "count-wait" && len(f) == 2:
		n, err := strconv.ParseUint(f[1], 10, 6)
		t.countWait = uint8(n)
		return err == nil
	case (f[0] == "raw" || f[0] == "waw" || f[0] == "war") && len(f) > 3:
		t.row(f[0]+" "+f[1]+" ", f[2:])
	default:
		return false
	}
	return true
}

// row reads the numbers of one producer.
func (t *table) row(key string, words []string) {
	cycles := 0
	for _, w := range words {
		if n, err := strconv.Atoi(w); err == nil {
			cycles = n
			continue
		}
		t.least[key+w] = cycles
		class := strings.TrimSuffix(strings.Fields(key)[1], operandOf(strings.Fields(key)[1]))
		t.most[class] = max(t.most[class], cycles)
		if have, ok := t.least[key]; !ok || cycles < have {
			t.least[key] = cycles
		}
	}
}

// measured reads what a chip showed of one producer, which needs more than that whatever compilers do.
func (t *table) measured(key string, words []string) {
	cycles := 0
	for _, w := range words {
		if n, err := strconv.Atoi(w); err == nil {
			cycles = n
			continue
		}
		t.harm[key+w] = cycles
		producer := strings.Fields(key)[1]
		class := strings.TrimSuffix(producer, operandOf(producer))
		t.most[class] = max(t.most[class], cycles+1)
	}
}

// operandOf is the part of a name from the dot on.
func operandOf(name string) string {
	if i := strings.LastIndexByte(name, '.'); i >= 0 {
		return name[i:]
	}
	return ""
}

// need returns the fewest cycles that a dependency needs. Of a pair that the table does not have, it is the fewest that any
// consumer needs; known tells whether there is one. harm are the most cycles at which a chip gave wrong values, 0 for none.
func (t *table) need(kind Kind, from, to *isa.Inst, r isa.Reg) (cycles, harm int, known bool) {
	producer, consumer := t.keys(kind, from, to, r)
	key := kind.String() + " " + producer + " "
	harm = t.harm[key+consumer]
	cycles, known = t.least[key+consumer]
	if !known && kind != WAW {
		cycles, known = t.least[key]
	}
	return max(cycles, harm+1), harm, known || harm > 0
}

// keys names producer and consumer of a dependency as the table does.
func (t *table) keys(kind Kind, from, to *isa.Inst, r isa.Reg) (producer, consumer string) {
	producer = t.class(from) + "." + t.result(from, r)
	if kind == WAR {
		producer = t.class(from) + "." + slot(from, r)
	}
	if kind == RAW {
		return producer, t.consumer(to, r)
	}
	return producer, t.class(to) + "." + t.result(to, r)
}
