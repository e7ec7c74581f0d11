package event

import (
	"fmt"
	"strings"
)

// Severities are the classes from the worst on. Undecided cells stand between
// those that may be wrong and those that are not.
var Severities = []string{Miscompiled, Changed, Crashed, Unknown, Optimised, Invalid, Unsupported, Preserved}

// Signature identifies findings, reason and new outcomes, without the text of
// machine instructions: results of equal class and signature say the same.
func (c *Result) Signature() string {
	var b strings.Builder
	for _, f := range c.Findings {
		fmt.Fprintf(&b, "%s/%d/%d/%s;", f.Rule, f.Thread, f.Access, f.Stage)
		if c.Class == Crashed {
			b.WriteString(f.CrashKey())
		}
	}
	b.WriteString(c.Reason)
	if v := c.Verdict; v != nil {
		fmt.Fprintf(&b, "|%s|%q|%q", v.Model, v.New, v.SCNew)
		// What PTX says of the test itself goes with the test.
		if v.RaceModel == "" && v.Race+v.Unjudged != "" {
			fmt.Fprintf(&b, "|%s|%s", v.Race, v.Unjudged)
		}
	}
	return b.String()
}

// Says identifies what reports say of a result, whether it is known or not; ""
// if they list it nowhere, since nothing was found and that is certain.
func (c *Result) Says() string {
	if c.Class == Preserved || c.Class == Unsupported {
		return ""
	}
	return c.Class + "\x00" + c.Signature()
}

// CrashKey identifies the crash that a finding is of: what the compiler said, and where it was.
func (f *Finding) CrashKey() string { return f.Rule + "\x00" + f.Detail + "\x00" + f.At }

// Full is the detail of a finding, of a crash with its place.
func (f *Finding) Full() string {
	if f.At == "" {
		return f.Detail
	}
	return f.Detail + ", at " + f.At
}

// Text says what a finding is in one line: its detail, and where it arose.
func (f *Finding) Text() string { return fmt.Sprintf("T%d %s%s", f.Thread, f.Full(), arose(f.Stage)) }

// arose tells at which stage of the compiler a finding arose.
func arose(stage string) string {
	if stage == "" {
		return ""
	}
	if !strings.Contains(stage, " ") && stage != "library" { // a compiler
		return " (arose in " + stage + ")"
	}
	return " (arose in the " + stage + ")"
}
