package event

import (
	"fmt"
	"slices"
	"strings"
)

// Near returns a thread with only those lines of its source that stand at one of the
// positions, or at most n lines from one, and what they became.
func (t ThreadListing) Near(n int, positions ...int) ThreadListing {
	near := make([]bool, len(t.Source))
	for i, l := range t.Source {
		if slices.Contains(positions, l.Pos) {
			for k := max(0, i-n); k <= min(len(near)-1, i+n); k++ {
				near[k] = true
			}
		}
	}
	out, kept := ThreadListing{Thread: t.Thread}, map[int]bool{}
	for i, l := range t.Source {
		if near[i] {
			out.Source, kept[l.Pos] = append(out.Source, l), true
		}
	}
	for i, l := range t.Machine {
		beside := i > 0 && kept[t.Machine[i-1].Pos] || i+1 < len(t.Machine) && kept[t.Machine[i+1].Pos]
		if kept[l.Pos] || l.Pos < 0 && beside {
			out.Machine = append(out.Machine, l)
		}
	}
	return out
}

// Look returns what a listing looks like without registers and addresses: listings of
// equal look show the same accesses in the same order.
func (l *Listing) Look() string {
	var b strings.Builder
	for _, t := range l.Threads {
		fmt.Fprintf(&b, "T%d", t.Thread)
		for _, lines := range [][]Line{t.Source, t.Machine} {
			b.WriteString("|")
			for _, x := range lines {
				word, _, _ := strings.Cut(x.Text, " ")
				fmt.Fprintf(&b, "%d %t %s;", x.Pos, x.Part, word)
			}
		}
	}
	return b.String()
}
