package html

import (
	_ "embed"
	"fmt"
	"html/template"
	"strings"
)

// ProgramsFile is the page of programs that were tested under stress.
const ProgramsFile = "programs.html"

// Program is what is known of a program: its tests, its fences, and what they cost.
type Program struct {
	Name, About string
	Tests       []ProgramTest
	Hardened    []ProgramHardened
	Costs       []ProgramCost
}

// ProgramTest is an environment in which a program ran. Rates are from 0 to 1. Class is
// that of a binary which is not the program.
type ProgramTest struct {
	Environment, Stress, Where, Fences, First, Class string
	Runs, Errors, Timeouts                           uint64
	Rate, Low, High                                  float64
	Effective                                        bool
}

// ProgramHardened is what hardening found.
type ProgramHardened struct {
	Where, Environment, Summary string
	Fences                      []ProgramFence
	Narrower, Machine, Demands  []ProgramNote
	Code                        []CodeLine
}

// ProgramFence is a fence of the result.
type ProgramFence struct {
	Site    int
	Access  string
	Line    int
	Without string // what was wrong without it
	Verdict string
}

// ProgramNote is a line of two or three parts.
type ProgramNote struct{ What, Result, Detail string }

// ProgramCost is what a variant costs. Times are in microseconds, energies in
// millijoules, 0 for unknown; more is against the program as it is, in per cent.
type ProgramCost struct {
	Where, Variant    string
	Fences            int
	Median, Low, High float64
	MoreTime          float64
	Energy, Watts     float64
	MoreEnergy        float64
	Wrong             int
}

// CodeLine is a line of a program. Site is that of an access behind which a fence can
// stand, 0 for none; Fenced tells that one of the result does.
type CodeLine struct {
	N      int
	Text   string
	Site   int
	Fenced bool
	Cut    bool // lines before it are left out
}

//go:embed programs.tmpl
var programsText string

var programsTemplate = template.Must(template.New("programs").Funcs(funcs).Funcs(template.FuncMap{
	"notes": func(title string, list []ProgramNote) map[string]any {
		return map[string]any{"Title": title, "List": list}
	},
	"rate":  func(x float64) string { return fmt.Sprintf("%.4g %%", 100*x) },
	"micro": func(x float64) string { return fmt.Sprintf("%.1f µs", x) },
	"milli": func(x float64) string {
		if x == 0 {
			return "–"
		}
		return fmt.Sprintf("%.3f mJ", x)
	},
	"more": func(x float64) string { return fmt.Sprintf("%+.1f %%", x) },
}).Parse(programsText))

// maxCodeLines bounds the code that is shown of a program: beyond it, only the lines
// around accesses are.
const maxCodeLines = 400

// Code makes the lines of a text. sites are the sites by line, fenced those of the
// result.
func Code(text string, sites map[int]int, fenced map[int]bool) (out []CodeLine) {
	lines := strings.Split(strings.TrimRight(text, "\n"), "\n")
	near := func(n int) bool {
		for k := n - 2; k <= n+2; k++ {
			if sites[k] != 0 {
				return true
			}
		}
		return false
	}
	cut := false
	for i, line := range lines {
		n := i + 1
		if len(lines) > maxCodeLines && !near(n) {
			cut = true
			continue
		}
		out = append(out, CodeLine{N: n, Text: line, Site: sites[n], Fenced: sites[n] != 0 && fenced[sites[n]], Cut: cut})
		cut = false
	}
	return out
}

// ProgramsBody is the page of programs.
func ProgramsBody(list []Program) (template.HTML, error) { return execute(programsTemplate, list) }
