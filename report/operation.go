package report

import (
	"cmp"
	"fmt"
	"regexp"
	"slices"
	"strings"

	"optcheck/internal/plain"
)

// Operation is what two releases make of one operation at one place, whatever tests there
// are: instructions without operands, separated by " ; ", or OperationNothing,
// OperationRefused, OperationCrashed, OperationUnknown.
type Operation struct{ Name, Target, Level, Left, Right string }

// What an operation may be instead of instructions.
const (
	OperationNothing = "nothing"
	OperationRefused = "refused"
	OperationCrashed = "crashed"
	OperationUnknown = "unknown"
)

// OperationChange is one change of instructions with all operations that it is made of.
type OperationChange struct {
	Operations []string `json:"operations"`
	Targets    []string `json:"targets"`
	Levels     []string `json:"levels"`
	Left       string   `json:"left"`
	Right      string   `json:"right"`
	// Meaning says what the right side means beside the left one, by the names of
	// instructions; see CodeChange.
	Meaning string `json:"meaning"`
}

// Where names the operations and where they change.
func (c *OperationChange) Where() string {
	return fmt.Sprintf("%s: %s; %s at %s", plain.Count(len(c.Operations), "operation"), named(c.Operations), strings.Join(c.Targets, " "),
		strings.Join(c.Levels, " "))
}

// OperationChanges puts operations together that change alike, what gets weaker first.
// Operations that stay as they are have no place in it.
func OperationChanges(list []Operation) (out []*OperationChange) {
	by := map[[2]string]*OperationChange{}
	put := func(list *[]string, word string) {
		if !slices.Contains(*list, word) {
			*list = append(*list, word)
		}
	}
	for _, o := range list {
		k := [2]string{o.Left, o.Right}
		if o.Left == o.Right && o.Left != OperationUnknown {
			continue
		}
		c := by[k]
		if c == nil {
			c = &OperationChange{Left: o.Left, Right: o.Right, Meaning: operationMeaning(o.Left, o.Right)}
			by[k] = c
			out = append(out, c)
		}
		put(&c.Operations, o.Name)
		put(&c.Targets, o.Target)
		put(&c.Levels, o.Level)
	}
	slices.SortStableFunc(out, func(a, b *OperationChange) int {
		return cmp.Or(strengthOrder(a.Meaning)-strengthOrder(b.Meaning), len(b.Operations)-len(a.Operations))
	})
	return out
}

func operationMeaning(left, right string) string {
	list := func(s string) []string {
		if s == OperationNothing {
			return nil
		}
		return strings.Split(s, " ; ")
	}
	switch {
	case left == OperationUnknown || right == OperationUnknown:
		return unordered + ", or the same: what one side makes of it is not known"
	case left == OperationCrashed:
		return unordered + ": the left release crashes at it"
	case right == OperationCrashed:
		return unordered + ": the right release crashes at it"
	case left == OperationRefused:
		return unordered + ": the left release refuses it"
	case right == OperationRefused:
		return unordered + ": the right release refuses it"
	}
	l, r := list(left), list(right)
	if a, b, ok := comparable(l, r); ok {
		l, r = a, b
	}
	return meaningOf("", l, r)
}

// frame is what stands around an instruction: a guard, braces around what is executed on some
// paths, brackets around a loop.
var frame = regexp.MustCompile(`^([({]*(?:@!?U?P\d* )?)(.*?)([)}*]*)$`)

// comparable leaves the instructions whose strength is known, if the sequences are as long as
// each other, with the same frames and the same other instructions.
func comparable(left, right []string) (l, r []string, ok bool) {
	if len(left) != len(right) {
		return nil, nil, false
	}
	for i := range left {
		a, b := frame.FindStringSubmatch(left[i]), frame.FindStringSubmatch(right[i])
		if a[1] != b[1] || a[3] != b[3] {
			return nil, nil, false
		}
		_, knownA := powerOf(a[2:3])
		_, knownB := powerOf(b[2:3])
		switch {
		case knownA && knownB:
			l, r = append(l, a[2]), append(r, b[2])
		case a[2] != b[2]:
			return nil, nil, false
		}
	}
	return l, r, len(l) > 0
}
