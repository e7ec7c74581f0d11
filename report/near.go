package report

import "slices"

// Bounds of what is shown of a thread that is long, as those of real programs are.
const (
	longThread = 12 // lines
	around     = 2  // lines on each side of what is spoken of
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

// shortThread is Near for threads that are long; others stay whole.
func shortThread(t ThreadListing, positions ...int) ThreadListing {
	if len(t.Source) <= longThread {
		return t
	}
	return t.Near(around, positions...)
}

// accesses are the positions that findings name in a thread.
func accesses(findings []Finding, thread int) (out []int) {
	for _, f := range findings {
		if f.Thread == thread && f.Access >= 0 {
			out = append(out, f.Access)
		}
	}
	return out
}
