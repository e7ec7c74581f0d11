package report

import (
	"bufio"
	"fmt"
	"slices"
	"strings"

	"optcheck/event"
	"optcheck/internal/plain"
)

// maxUnjudged bounds the reasons that a text report names.
const maxUnjudged = 5

// writeHardware says what the model of the hardware made of the cells, if it was asked.
func writeHardware(b *bufio.Writer, r *event.Run) {
	judged, shown, wrong := 0, 0, 0
	reasons := map[string]int{}
	name := ""
	for _, c := range r.All() {
		switch h := c.Hardware; {
		case h == nil:
		case h.Unjudged != "":
			reason, _, _ := strings.Cut(h.Unjudged, ": cannot lift ")
			if reason != h.Unjudged {
				reason = "machine code that cannot be lifted"
			}
			reasons[reason]++
		default:
			judged, name = judged+1, h.Name
			if len(h.New) > 0 {
				shown++
				if c.Class != event.Miscompiled {
					wrong++
				}
			}
		}
	}
	if judged+len(reasons) == 0 {
		return
	}
	fmt.Fprintf(b, "\nThe model of the hardware %s ran the machine code of %s: ", name, plain.Count(judged, "cell"))
	switch {
	case wrong > 0:
		fmt.Fprintf(b, "%d can do what the test forbids, %d of them against the verdict\n", shown, wrong)
	case shown > 0:
		fmt.Fprintf(b, "%d can do what the test forbids, all of them miscompiled\n", shown)
	default:
		fmt.Fprintln(b, "none can do what the test forbids")
	}
	left := 0
	for i, reason := range byCount(reasons) {
		if i < maxUnjudged {
			fmt.Fprintf(b, "%8d  not run: %s\n", reasons[reason], plain.Line(reason))
		} else {
			left += reasons[reason]
		}
	}
	if left > 0 {
		fmt.Fprintf(b, "%8d  not run for other reasons\n", left)
	}
}

// byCount lists keys, those that count most first.
func byCount(n map[string]int) []string {
	var keys []string
	for k := range n {
		keys = append(keys, k)
	}
	slices.SortFunc(keys, func(a, b string) int {
		if n[a] != n[b] {
			return n[b] - n[a]
		}
		return strings.Compare(a, b)
	})
	return keys
}
