package html

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
)

// Code is the machine code of a program beside the text that it was made of.
type TriedCode struct {
	Toolchain, Target, Level string
	Class, Reason            string
	Funcs                    []TriedFunc
	// Between is the code between the text and the machine code: the PTX of CUDA C++.
	Between  []TriedLine
	Findings []TriedFinding
}

// TriedFunc is a function of the machine code.
type TriedFunc struct {
	Name  string
	Lines []TriedLine
}

// TriedLine is a line of code. Line is the line of the text that it was made of, 0 if that is not known.
type TriedLine struct {
	At   string // where it stands in its own code
	Text string
	Line int
}

// TriedFinding is a finding at a line of the text, 0 if it is at none. Bad is that it is no note.
type TriedFinding struct {
	Line, Col     int
	Rule, Message string
	Bad           bool
}

// Severity is how the margin shows the finding.
func (f TriedFinding) Severity() string {
	if f.Bad {
		return "error"
	}
	return "info"
}

// Bounds of what is shown of a program.
const (
	maxTriedLines    = 4000 // of all functions together
	maxTriedFindings = 50
	codeColours      = 8
)

// codeView is a TriedCode with its colours.
type codeView struct {
	TriedCode
	Source  []sourceLine // of the text
	More    int          // lines of the machine code that are not shown
	Others  int          // findings that are not shown
	colours map[int]string
}

type sourceLine struct {
	N      int
	Text   string
	Colour string
}

// Colour is the class that all that was made of a line has: neighbours differ, and the first
// one comes again after the last.
func (v *codeView) Colour(line int) string { return v.colours[line] }

func codeViews(codes []TriedCode, text string) (out []*codeView) {
	for _, c := range codes {
		v := &codeView{TriedCode: c, colours: map[int]string{}}
		v.bound()
		var made []int
		for _, f := range v.Funcs {
			for _, l := range f.Lines {
				made = append(made, l.Line)
			}
		}
		slices.Sort(made)
		lines := strings.Split(text, "\n")
		for _, n := range slices.Compact(made) {
			if n > 0 && n <= len(lines) {
				v.colours[n] = fmt.Sprintf("c%d", len(v.colours)%codeColours)
			}
		}
		for i, l := range lines {
			v.Source = append(v.Source, sourceLine{i + 1, clip(strings.TrimRight(l, "\r"), 400), v.colours[i+1]})
		}
		out = append(out, v)
	}
	return out
}

// bound leaves of a program what there is room for.
func (v *codeView) bound() {
	v.Funcs = slices.Clone(v.Funcs)
	left := maxTriedLines
	for i := range v.Funcs {
		f := &v.Funcs[i]
		n := min(left, len(f.Lines))
		v.More += len(f.Lines) - n
		f.Lines, left = f.Lines[:n], left-n
	}
	v.Between, v.Findings = v.Between[:min(len(v.Between), maxTriedLines)], slices.Clone(v.Findings)
	slices.SortStableFunc(v.Findings, func(a, b TriedFinding) int {
		return cmp.Or(strings.Compare(a.Severity(), b.Severity()), cmp.Compare(a.Line, b.Line))
	})
	if n := len(v.Findings) - maxTriedFindings; n > 0 {
		v.Findings, v.Others = v.Findings[:maxTriedFindings], n
	}
}

// listedLines are lines of code for the template.
type listedLines struct {
	View  *codeView
	Label string
	Lines []TriedLine
}

// List is some of the code with what the template needs to show it.
func (v *codeView) List(label string, lines []TriedLine) listedLines {
	return listedLines{v, "code of " + Short(label, 120), lines}
}
