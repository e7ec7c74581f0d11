package report

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"

	"optcheck/event"
	"optcheck/internal/plain"
)

// CodeChange is one change of memory instructions that a release makes in many cells:
// the same operation of the tests, other instructions.
type CodeChange struct {
	// Source is the operation as the tests write it, "membar.gl"; "" for instructions
	// that stand beside all operations, and Order for their order.
	Source string `json:"source"`
	// Left and Right are the instructions for it, without operands.
	Left    []string `json:"left"`
	Right   []string `json:"right"`
	Meaning string   `json:"meaning"`
	Cells   int      `json:"cells"`
	// Tests, Targets, Levels and Layouts are those of the cells, in their order.
	Tests   []string `json:"tests"`
	Targets []string `json:"targets"`
	Levels  []string `json:"levels"`
	Layouts []string `json:"layouts"`
	// Lines are where the operation stands in the program that Test is of; none in tests.
	Lines []int `json:"lines,omitempty"`
	// Test and At are the first of the cells, Thread its first thread that shows the change.
	Test   string       `json:"-"`
	At     event.Column `json:"-"`
	Thread Trio         `json:"-"`

	seen map[seenKey]bool
}

// seenKey is a word of one of the lists of a change.
type seenKey struct {
	list *[]string
	word string
}

// Order is the Source of a change that puts accesses into another order.
const Order = "order of accesses"

// Title names what the change is of, in words.
func (e *CodeChange) Title() string { return cmp.Or(e.Source, "beside the accesses of the test") }

// Instructions writes both sides in a line each.
func (e *CodeChange) Instructions() [2]string { return instructionLines(e.Left, e.Right) }

func instructionLines(left, right []string) [2]string {
	line := func(list []string) string {
		if n := len(list) - maxInstructions; n > 0 {
			list = append(slices.Clone(list[:maxInstructions]), plain.Number(n)+" more")
		}
		return cmp.Or(strings.Join(list, " ; "), "nothing")
	}
	return [2]string{line(left), line(right)}
}

// maxInstructions bounds the instructions of one side that are named.
const maxInstructions = 24

// Where says in how many cells the change is, of which tests, and where they are.
func (e *CodeChange) Where() string {
	return fmt.Sprintf("%s of %s: %s; %s at %s, layout %s", plain.Count(e.Cells, "cell"), plain.Count(len(e.Tests), "test"),
		named(e.Tests), strings.Join(e.Targets, " "), strings.Join(e.Levels, " "), strings.Join(e.Layouts, " "))
}

// Example names the cell that Thread is of, and where in its program the operation stands.
func (e *CodeChange) Example() string {
	s := readable(e.Test) + ", " + strings.Join([]string{e.At.Target, e.At.Level, e.At.Layout}, " ")
	if len(e.Lines) == 0 {
		return s
	}
	var lines []string
	for _, n := range e.Lines {
		lines = append(lines, fmt.Sprint(n))
	}
	return s + ", " + plain.Form(len(lines), "line ", "lines ") + named(lines)
}

// Trio is a thread of a test and what two releases make of it.
type Trio struct{ Left, Right event.ThreadListing }

// CodeChanges gathers what differs in the machine code of cells that two sides have.
type CodeChanges struct {
	by    map[string]*CodeChange
	pairs map[[2]string][]found
	// Same counts cells whose code differs in registers, addresses and order of other
	// instructions alone, Silent those of which a side does not list its instructions.
	Same, Silent int
}

// found is a change in a pair of listings.
type found struct {
	key, source string
	left, right []string
	thread      Trio
	lines       []int
}

// NewCodeChanges returns an empty collection.
func NewCodeChanges() *CodeChanges {
	return &CodeChanges{by: map[string]*CodeChange{}, pairs: map[[2]string][]found{}}
}

// Add takes a cell whose code differs; c is it on one side, l and r what each side lists.
func (x *CodeChanges) Add(c *event.Cell, l, r *event.Listing) {
	if l == nil || r == nil {
		x.Silent++
		return
	}
	pair := [2]string{l.Code, r.Code}
	fs, ok := x.pairs[pair]
	if !ok {
		fs = compareListings(l, r)
		x.pairs[pair] = fs
	}
	if len(fs) == 0 {
		x.Same++
	}
	for _, f := range fs {
		e := x.by[f.key]
		if e == nil {
			e = &CodeChange{Source: f.source, Left: f.left, Right: f.right, Meaning: meaningOf(f.source, f.left, f.right), Test: c.Test,
				At:     event.Column{Toolchain: c.Toolchain, Target: c.Target, Level: c.Level, Layout: c.Layout},
				Thread: f.thread, seen: map[seenKey]bool{}}
			x.by[f.key] = e
		}
		e.Cells++
		if c.Test == e.Test {
			e.Lines = append(e.Lines, f.lines...)
		}
		for _, s := range []struct {
			list *[]string
			word string
		}{{&e.Tests, c.Test}, {&e.Targets, c.Target}, {&e.Levels, c.Level}, {&e.Layouts, c.Layout}} {
			if k := (seenKey{s.list, s.word}); !e.seen[k] {
				e.seen[k] = true
				*s.list = append(*s.list, s.word)
			}
		}
	}
}

// List returns the changes: what is weaker first, then what has no known order, what is
// stronger, what means the same; of those the one with most cells first.
func (x *CodeChanges) List() []*CodeChange {
	out := slices.Collect(maps.Values(x.by))
	for _, e := range out {
		slices.Sort(e.Levels)
		slices.Sort(e.Lines)
		e.Lines = slices.Compact(e.Lines)
	}
	slices.SortFunc(out, func(a, b *CodeChange) int {
		return cmp.Or(strengthOrder(a.Meaning)-strengthOrder(b.Meaning), b.Cells-a.Cells, cmp.Compare(a.Source, b.Source),
			slices.Compare(a.Left, b.Left), slices.Compare(a.Right, b.Right))
	})
	return out
}

// Rest says in sentences of how many cells nothing is listed, and why.
func (x *CodeChanges) Rest() (out []string) {
	if x.Same > 0 {
		out = append(out, plain.Count(x.Same, "cell")+" "+plain.Form(x.Same, "has", "have")+
			" the same memory instructions in the same order, and other registers, addresses or scheduling.")
	}
	if x.Silent > 0 {
		out = append(out, plain.Count(x.Silent, "cell")+" "+plain.Form(x.Silent, "differs", "differ")+
			" in machine code that a run does not list: an older optcheck made it; audit again to see more.")
	}
	return out
}

// compareListings lists what differs between two listings of one test.
func compareListings(l, r *event.Listing) []found {
	d := listingDiff{at: map[string]int{}}
	for i := range min(len(l.Threads), len(r.Threads)) {
		a, b := attached(l.Threads[i].Bare()), attached(r.Threads[i].Bare())
		ga, gb := grouped(a), grouped(b)
		for _, s := range append(slices.Clone(a.Source), event.Line{Pos: -1}) {
			if !slices.Equal(ga[s.Pos], gb[s.Pos]) {
				d.add(found{source: operation(s.Text), left: ga[s.Pos], right: gb[s.Pos]}, a, b, s)
			}
		}
		if oa, ob := orderOf(a), orderOf(b); len(oa) == len(ob) && !slices.EqualFunc(oa, ob, samePlace) {
			oa, ob = where(oa, ob)
			d.add(found{source: Order, left: texts(oa), right: texts(ob)}, a, b, oa...)
		}
	}
	return d.list
}

// listingDiff gathers what differs between two listings.
type listingDiff struct {
	list []found
	at   map[string]int // by key
}

// add adds a difference of lines of the source. What many of them have in common is one.
func (d *listingDiff) add(f found, a, b event.ThreadListing, lines ...event.Line) {
	f.key = f.source + "\x00" + strings.Join(f.left, ";") + "\x00" + strings.Join(f.right, ";")
	i, ok := d.at[f.key]
	if !ok {
		var positions []int
		for _, l := range lines[:min(len(lines), around)] {
			positions = append(positions, l.Pos)
		}
		f.thread = Trio{shortThread(a, positions...), shortThread(b, positions...)}
		i = len(d.list)
		d.at[f.key], d.list = i, append(d.list, f)
	}
	for _, l := range lines {
		if l.At > 0 {
			d.list[i].lines = append(d.list[i].lines, l.At)
		}
	}
}

func samePlace(a, b event.Line) bool { return a.Pos == b.Pos }

// where cuts two orders down to what is between the first and the last difference, if they
// are long.
func where(a, b []event.Line) (l, r []event.Line) {
	if len(a) <= longThread {
		return a, b
	}
	from, to := 0, len(a)
	for samePlace(a[from], b[from]) {
		from++
	}
	for samePlace(a[to-1], b[to-1]) {
		to--
	}
	return a[from:to], b[from:to]
}

func texts(lines []event.Line) (out []string) {
	for _, l := range lines {
		out = append(out, l.Text)
	}
	return out
}

// attached gives what no access was found for to the access that it serves: what
// invalidates a cache to the one before it, fences and waits to the one after them.
func attached(t event.ThreadListing) event.ThreadListing {
	machine := slices.Clone(t.Machine)
	next := -1
	for i := len(machine) - 1; i >= 0; i-- {
		l := &machine[i]
		before := strings.HasPrefix(l.Text, "CCTL") || strings.Contains(l.Text, "_inv")
		if l.Pos >= 0 {
			next = l.Pos
		} else if !before {
			l.Pos = next
		}
	}
	last := -1
	for i := range machine {
		if machine[i].Pos < 0 {
			machine[i].Pos = last
		}
		last = machine[i].Pos
	}
	t.Machine = machine
	return t
}

// grouped lists the instructions that stand for each access, by position.
func grouped(t event.ThreadListing) map[int][]string {
	out := map[int][]string{}
	for _, l := range t.Machine {
		out[max(l.Pos, -1)] = append(out[max(l.Pos, -1)], mnemonic(l.Text))
	}
	return out
}

// orderOf lists the accesses in machine order, each once.
func orderOf(t event.ThreadListing) (out []event.Line) {
	source, seen := map[int]event.Line{}, map[int]bool{}
	for _, s := range t.Source {
		source[s.Pos] = s
	}
	for _, l := range t.Machine {
		if s, ok := source[l.Pos]; ok && !l.Part && !seen[l.Pos] {
			seen[l.Pos] = true
			out = append(out, s)
		}
	}
	return out
}

// operation returns the word of a source line that says what it does: "#0 ld.cg [x]" is ld.cg.
func operation(text string) string {
	words := strings.Fields(text)
	if len(words) > 1 && strings.HasPrefix(words[0], "#") {
		words = words[1:]
	}
	if len(words) == 0 {
		return ""
	}
	return words[0]
}

// mnemonic returns an instruction without operands: its word with modifiers, of AMD's also
// those that stand after the operands.
func mnemonic(text string) string {
	words := strings.Fields(text)
	for len(words) > 1 && strings.HasPrefix(words[0], "@") {
		words = words[1:]
	}
	if len(words) == 0 {
		return ""
	}
	out := words[0]
	if out != strings.ToLower(out) {
		return out
	}
	for _, w := range words[1:] {
		if slices.Contains(cacheWords, w) || strings.HasPrefix(w, "scope:") || strings.HasPrefix(w, "th:") || strings.Contains(w, "cnt(") {
			out += " " + w
		}
	}
	return out
}

// cacheWords are AMD's modifiers that say how an access goes through the caches.
var cacheWords = []string{"glc", "slc", "dlc", "scc", "sc0", "sc1", "nt"}
