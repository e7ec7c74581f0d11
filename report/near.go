package report

import "optcheck/event"

// Bounds of what is shown of a thread that is long, as those of real programs are.
const (
	longThread = 12 // lines
	around     = 2  // lines on each side of what is spoken of
)

// shortThread is Near for threads that are long; others stay whole.
func shortThread(t event.ThreadListing, positions ...int) event.ThreadListing {
	if len(t.Source) <= longThread {
		return t
	}
	return t.Near(around, positions...)
}

// accesses are the positions that findings name in a thread.
func accesses(findings []event.Finding, thread int) (out []int) {
	for _, f := range findings {
		if f.Thread == thread && f.Access >= 0 {
			out = append(out, f.Access)
		}
	}
	return out
}
