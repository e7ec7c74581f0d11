package report

import (
	"slices"
	"strings"
)

// What a change of instructions means.
const (
	weaker    = "weaker"
	unordered = "another"
	stronger  = "stronger"
	equal     = "equal"
)

// strengthOrder orders meanings by how soon a reader should see them.
func strengthOrder(meaning string) int {
	return slices.IndexFunc([]string{weaker, unordered, stronger, equal}, func(w string) bool { return strings.HasPrefix(meaning, w) })
}

// power is what instructions of NVIDIA's do to the order of memory, by their names: the
// strength and scope of the access, the kind and scope of the strongest fence, and
// whether the L1 is invalidated.
type power struct {
	access, scope     int
	fence, fenceScope int
	invalidates       int
}

var (
	scopeWords    = map[string]int{"CTA": 1, "SM": 1, "VC": 1, "GPU": 2, "GL": 2, "SYS": 3}
	strengthWords = map[string]int{"CG": 1, "STRONG": 1, "CV": 2, "WT": 2, "MMIO": 2}
	fenceWords    = map[string]int{"ALL": 1, "SC": 2}
	memoryWords   = []string{"LD", "LDG", "LDS", "LDL", "ST", "STG", "STS", "STL", "ATOM", "ATOMG", "ATOMS", "RED", "LDSM", "LDSLK", "STSCUL"}
	besideWords   = []string{"ERRBAR", "CGAERRBAR", "DEPBAR", "NOP",
		"BAR", "WARPSYNC"} // .DEFER_BLOCKING says how a warp waits, not what it orders
)

// powerOf reads instructions; ok is false if one of them is not known here.
func powerOf(list []string) (p power, ok bool) {
	for _, text := range list {
		parts := strings.Split(text, ".")
		of := func(words map[string]int) (n int) {
			for _, w := range parts[1:] {
				n = max(n, words[w])
			}
			return n
		}
		switch {
		case parts[0] == "MEMBAR" || parts[0] == "FENCE":
			// The widest fence counts, of equal ones the strictest.
			if s, k := of(scopeWords), of(fenceWords); s > p.fenceScope || s == p.fenceScope && k > p.fence {
				p.fenceScope, p.fence = s, k
			}
			if slices.Contains(parts, "IVALLD") {
				p.invalidates = 1
			}
		case parts[0] == "CCTL":
			if slices.Contains(parts, "IVALL") || slices.Contains(parts, "IVALLP") {
				p.invalidates = 1
			}
		case slices.Contains(memoryWords, parts[0]):
			p.access, p.scope = max(p.access, of(strengthWords)), max(p.scope, of(scopeWords))
		case !slices.Contains(besideWords, parts[0]):
			return p, false
		}
	}
	return p, true
}

func (p power) covers(q power) bool {
	return p.access >= q.access && p.scope >= q.scope && p.invalidates >= q.invalidates &&
		(p.fenceScope > q.fenceScope && p.fence >= q.fence || p.fenceScope == q.fenceScope && p.fence >= q.fence)
}

// meaningOf says what instructions on the right mean beside those on the left, by the
// names of their modifiers. That the machine code is still the test is for the class of
// its cells to say.
func meaningOf(source string, left, right []string) string {
	a, ok := powerOf(left)
	b, ok2 := powerOf(right)
	switch {
	case source == Order:
		return unordered + " order of the same accesses"
	case len(left) == 0:
		return unordered + ": instructions where there were none"
	case len(right) == 0:
		return unordered + ": nothing is left of it"
	case !ok || !ok2:
		return unordered + " sequence, of which no order of strength is known"
	case a == b:
		return equal + ": the access, its widest fence and the invalidation of the L1 are the same"
	case b.covers(a):
		return stronger + by(a, b)
	case a.covers(b):
		return weaker + by(b, a)
	}
	return unordered + " strength: each side has something that the other lacks"
}

// by names what q has more than p.
func by(p, q power) string {
	var words []string
	for _, x := range []struct {
		more bool
		word string
	}{{q.access > p.access, "the strength of the access"}, {q.scope > p.scope, "the scope of the access"},
		{q.fence > p.fence, "the kind of the fence"}, {q.fenceScope > p.fenceScope, "the scope of the fence"},
		{q.invalidates > p.invalidates, "the invalidation of the L1"}} {
		if x.more {
			words = append(words, x.word)
		}
	}
	return " by " + strings.Join(words, " and ")
}
