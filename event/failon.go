package event

import "slices"

// FailOn is which cells make a run fail: the value of --fail-on. JUnit calls the same cells failures.
type FailOn string

// The values, each with what it adds to the one before; the last two stand alone.
const (
	FailNew         FailOn = "new"
	FailMiscompiled FailOn = "miscompiled"
	FailChanged     FailOn = "changed"
	FailOptimised   FailOn = "optimised"
	FailUnknown     FailOn = "unknown"
	FailNever       FailOn = "never"
)

// FailOns are the values in this order, with the cells that each counts in words.
var FailOns = []struct {
	Value FailOn
	Cells string
}{
	{FailNew, "a `miscompiled` or `crashed` cell that is not a known finding (the default)"},
	{FailMiscompiled, "a `miscompiled` or `crashed` cell, known or not; an undecided cell"},
	{FailChanged, "the same, or a `changed` cell"},
	{FailOptimised, "the same, or an `optimised` cell: whatever is not the program as written"},
	{FailUnknown, "an undecided cell, and no other"},
	{FailNever, "nothing"},
}

// failing are the classes of decided cells that a value names.
var failing = map[FailOn][]string{
	FailNew:         {Miscompiled, Crashed},
	FailMiscompiled: {Miscompiled, Crashed},
	FailChanged:     {Miscompiled, Crashed, Changed},
	FailOptimised:   {Miscompiled, Crashed, Changed, Optimised},
}

// Names reports whether cells of a class count, Unknown standing for undecided ones.
func (f FailOn) Names(class string) bool {
	if class == Unknown {
		return f != FailNew && f != FailNever
	}
	return slices.Contains(failing[f], class)
}

// Counts reports whether a decided cell counts.
func (f FailOn) Counts(c *Cell) bool {
	return c.Class != Unknown && f.Names(c.Class) && !(f == FailNew && len(c.Known) > 0)
}
