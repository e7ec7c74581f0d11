package report

import (
	"fmt"

	"optcheck/event"
	"optcheck/internal/plain"
)

// maxLimits bounds the lines on what preserved cells are not about.
const maxLimits = 8

// limits lists what preserved cells say that they are not about, with the number of those that say the same.
func limitsOf(r *event.Run) (lines []string) {
	var order []string
	n := map[string]int{}
	for _, c := range r.All() {
		if c.Class == event.Preserved && c.Reason != "" {
			if n[c.Reason]++; n[c.Reason] == 1 {
				order = append(order, c.Reason)
			}
		}
	}
	for i, reason := range order {
		if i == maxLimits {
			return append(lines, fmt.Sprintf("and %s like these", plain.Count(len(order)-i, "remark")))
		}
		lines = append(lines, fmt.Sprintf("of %d preserved: %s", n[reason], plain.Line(reason)))
	}
	return lines
}
