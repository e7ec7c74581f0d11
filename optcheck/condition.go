package optcheck

import (
	"fmt"
	"slices"
	"strings"

	"optcheck/spec"
)

// reader evaluates the predicates under which an event is performed, as functions
// of the words that matched accesses read.
type reader struct {
	p      *pass
	known  map[int]bool   // readings of matched accesses
	reads  []int          // readings that decide
	consts []uint32       // what words are compared with
	seen   map[value]bool // nodes that were gathered
	word   map[int]uint32 // the words at hand
	steps  int
}

// maxSamples bounds the combinations of words for which two conditions are
// compared, maxSteps the evaluation of one predicate, whose parts may be shared.
const (
	maxSamples = 1 << 14
	maxSteps   = 10_000
)

// checkCondition compares the condition in the machine code with that of the test.
// Both must be made of comparisons of words read with constants and with one
// another. What such a condition says depends only on how the words lie to the
// constants and to each other, so that words around the constants and around the
// ends of the two ranges decide: as many on each side as words are read, in all
// combinations. Anything else is left undecided, and says so.
func (p *pass) checkCondition(k, ev int, want *spec.Condition) {
	r := &reader{p: p, known: map[int]bool{}, seen: map[value]bool{}, word: map[int]uint32{}, consts: want.Consts()}
	at := map[int]int{} // position → reading
	for i, e := range p.s.Entries {
		if m := p.match[i]; m >= 0 && e.Reads() {
			at[i] = p.tr.events[m].read
			r.known[at[i]] = at[i] >= 0
		}
	}
	for _, pos := range want.Reads() {
		read, ok := at[pos]
		if !ok || read < 0 {
			return // reported as missing, or as of another kind
		}
		r.add(read)
	}
	when := p.tr.events[ev].when
	readable := true
	for _, s := range when {
		readable = readable && r.gather(s.pred)
	}
	words := around(r.consts, len(r.reads))
	total := 1
	for range r.reads {
		total = min(total*len(words), maxSamples+1)
	}
	if !readable || total > maxSamples {
		p.report(ConditionUnread, k, ev, "%s: the condition of %s could not be read", p.name(k), p.text(ev))
		return
	}
	for n := range total {
		for _, read := range r.reads {
			r.word[read] = words[n%len(words)]
			n /= len(words)
		}
		runs := true
		for _, s := range when {
			r.steps = 0
			v, ok := r.predicate(s.pred, 0)
			if !ok {
				p.report(ConditionUnread, k, ev, "%s: the condition of %s could not be read", p.name(k), p.text(ev))
				return
			}
			runs = runs && v == s.want
		}
		if runs != want.Holds(func(pos int) uint32 { return r.word[at[pos]] }) {
			p.report(ControlChanged, k, ev, "%s is executed under another condition: for instance when %s: %s", p.name(k), r.instance(at), p.text(ev))
			return
		}
	}
}

// around lists the words next to some constants and to the ends of the signed and
// the unsigned range, n on each side.
func around(consts []uint32, n int) []uint32 {
	var list []uint32
	for _, c := range append(slices.Clone(consts), 0, 1<<31) {
		for d := -n; d <= n; d++ {
			list = append(list, c+uint32(d))
		}
	}
	slices.Sort(list)
	return slices.Compact(list)
}

// instance says what accesses read.
func (r *reader) instance(at map[int]int) string {
	var list []string
	for i := range r.p.s.Entries {
		if read, ok := at[i]; ok && slices.Contains(r.reads, read) {
			list = append(list, fmt.Sprintf("%s reads 0x%x", r.p.name(i), r.word[read]))
		}
	}
	return strings.Join(list, " and ")
}

func (r *reader) add(read int) {
	if !slices.Contains(r.reads, read) {
		r.reads = append(r.reads, read)
	}
}

// gather collects the readings and constants of a predicate, and reports whether
// it is made of comparisons of words read by matched accesses.
func (r *reader) gather(v value) bool {
	if v < 0 || len(r.seen) > maxSteps {
		return false
	}
	if r.seen[v] {
		return true
	}
	r.seen[v] = true
	n := r.p.tr.pool.nodes[v]
	switch {
	case n.kind == kConst:
		return true
	case n.kind == kBits || n.kind == kSel && r.p.abi.amd != nil:
		for _, x := range []value{n.a, n.b, n.c} {
			if x != none && !r.gather(x) {
				return false
			}
		}
		return true
	case n.kind == kCmp:
		return r.operand(n.a) && r.operand(n.b)
	}
	return false
}

func (r *reader) operand(v value) bool {
	if c, ok := r.p.tr.pool.isConst(v); ok {
		r.consts = append(r.consts, c)
		return true
	}
	if v < 0 {
		return false
	}
	n := r.p.tr.pool.nodes[v]
	if n.kind != kLoad || n.b != 0 || !r.known[int(n.a)] {
		return false
	}
	r.add(int(n.a))
	return true
}

// predicate evaluates a predicate for the words at hand.
func (r *reader) predicate(v value, depth int) (holds, ok bool) {
	if r.steps++; v < 0 || depth > maxDepth || r.steps > maxSteps {
		return false, false
	}
	n := r.p.tr.pool.nodes[v]
	switch {
	case n.kind == kConst:
		return n.imm != 0, true
	case n.kind == kBits:
		idx := 0
		for _, x := range []value{n.a, n.b, n.c} {
			idx <<= 1
			if x == none {
				continue
			}
			h, ok := r.predicate(x, depth+1)
			if !ok {
				return false, false
			}
			if h {
				idx |= 1
			}
		}
		return n.imm>>idx&1 != 0, true
	case n.kind == kSel && r.p.abi.amd != nil:
		c, ok := r.predicate(n.c, depth+1)
		if !ok {
			return false, false
		}
		if c {
			return r.predicate(n.a, depth+1)
		}
		return r.predicate(n.b, depth+1)
	case n.kind == kCmp:
		a, okA := r.compared(n.a)
		b, okB := r.compared(n.b)
		return compare(uint8(n.imm), n.imm&cmpSigned != 0, a, b), okA && okB
	}
	return false, false
}

// compared is the value of a compared operand.
func (r *reader) compared(v value) (uint32, bool) {
	if c, ok := r.p.tr.pool.isConst(v); ok {
		return c, true
	}
	w, ok := r.word[int(r.p.tr.pool.nodes[v].a)]
	return w, ok
}
