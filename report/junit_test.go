package report

import (
	"bytes"
	"encoding/xml"
	"slices"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"optcheck/event"
	"optcheck/internal/plain"
)

type junitXML struct {
	XMLName xml.Name `xml:"testsuites"`
	junitXMLCounts
	Suites []struct {
		junitXMLCounts
		Name       string `xml:"name,attr"`
		Properties []struct {
			Name  string `xml:"name,attr"`
			Value string `xml:"value,attr"`
		} `xml:"properties>property"`
		Cases     []junitXMLCase `xml:"testcase"`
		SystemErr string         `xml:"system-err"`
	} `xml:"testsuite"`
}

type junitXMLCounts struct {
	Tests    int `xml:"tests,attr"`
	Failures int `xml:"failures,attr"`
	Errors   int `xml:"errors,attr"`
	Skipped  int `xml:"skipped,attr"`
}

type junitXMLMark struct {
	Type    string `xml:"type,attr"`
	Message string `xml:"message,attr"`
	Text    string `xml:",chardata"`
}

type junitXMLCase struct {
	Class   string        `xml:"classname,attr"`
	Name    string        `xml:"name,attr"`
	File    string        `xml:"file,attr"`
	Failure *junitXMLMark `xml:"failure"`
	Error   *junitXMLMark `xml:"error"`
	Skipped *junitXMLMark `xml:"skipped"`
	Out     string        `xml:"system-out"`
}

// parseJUnit reads the XML strictly and checks that the counts add up.
func parseJUnit(t require.TestingT, r *event.Run, newOnly bool) junitXML {
	var b bytes.Buffer
	require.NoError(t, WriteJUnit(&b, r, newOnly))
	require.True(t, utf8.Valid(b.Bytes()))
	var x junitXML
	d := xml.NewDecoder(&b)
	d.Strict = true
	require.NoError(t, d.Decode(&x))
	var total junitXMLCounts
	for _, s := range x.Suites {
		n := junitXMLCounts{Tests: len(s.Cases)}
		for _, c := range s.Cases {
			marks := 0
			for _, m := range []struct {
				is *junitXMLMark
				n  *int
			}{{c.Failure, &n.Failures}, {c.Error, &n.Errors}, {c.Skipped, &n.Skipped}} {
				if m.is != nil {
					marks++
					*m.n++
				}
			}
			require.LessOrEqual(t, marks, 1)
		}
		require.Equal(t, s.junitXMLCounts, n, s.Name)
		total.Tests += n.Tests
		total.Failures += n.Failures
		total.Errors += n.Errors
		total.Skipped += n.Skipped
	}
	require.Equal(t, x.junitXMLCounts, total)
	return x
}

// TestJUnit: classes become outcomes, and nothing is lost.
func TestJUnit(t *testing.T) {
	r := sample()
	r.FailOn = event.FailChanged
	x := parseJUnit(t, r, true)
	require.Equal(t, junitXMLCounts{Tests: 10, Failures: 3, Errors: 2, Skipped: 2}, x.junitXMLCounts)
	var names []string
	outcome := map[string]string{}
	for _, s := range x.Suites {
		names = append(names, s.Name)
		for _, c := range s.Cases {
			require.Equal(t, s.Name, c.Class)
			what := "good"
			switch {
			case c.Failure != nil:
				what = "failure " + c.Failure.Type + " " + c.Failure.Message
			case c.Error != nil:
				what = "error " + c.Error.Type + " " + c.Error.Message
			case c.Skipped != nil:
				what = "skipped " + c.Skipped.Message
			}
			outcome[s.Name+"/"+c.Name] = what
		}
	}
	require.Equal(t, []string{"ptxas 1.0 sm_35", "ptxas 2.0 sm_35", "ptxas 1.0 sm_80", "ptxas 2.0 sm_80"}, names)
	require.Equal(t, map[string]string{
		"ptxas 1.0 sm_35/mp O3 pointers":  "failure miscompiled fence-weakened: T1 #1 membar.gl became MEMBAR.CTA: its scope is narrower",
		"ptxas 2.0 sm_35/mp O3 pointers":  "failure miscompiled fence-weakened: T1 #1 membar.gl became MEMBAR.CTA: its scope is narrower",
		"ptxas 1.0 sm_35/lb O3 offsets":   "skipped needs sm_70",
		"ptxas 1.0 sm_80/coRR O3 offsets": "good",
		"ptxas 1.0 sm_80/lb O3 offsets":   "error unknown T0: no marker",
		"ptxas 2.0 sm_80/coRR O3 offsets": "good",
		"ptxas 2.0 sm_80/coRR O0 offsets": "good",
		"ptxas 2.0 sm_80/sb O3 offsets":   "failure changed reordered: T0 swapped (arose in the back end)",
		"ptxas 2.0 sm_80/sb O3 pointers":  "skipped known: old",
		"ptxas 2.0 sm_80/lb O3 offsets":   "error unknown timeout",
	}, outcome)
	mp := x.Suites[0].Cases[0]
	require.Equal(t, "lib/tests dir/mp.litmus", mp.File)
	require.Contains(t, mp.Failure.Text, "may happen: 1:r1=1; 1:r2=0;")
	require.Contains(t, x.Suites[2].SystemErr, "ptxas said no")
	require.Contains(t, x.Suites[3].Cases[0].Out, "merged")
	require.Equal(t, "c", x.Suites[3].Properties[1].Value)

	x = parseJUnit(t, r, false)
	require.Equal(t, junitXMLCounts{Tests: 10, Failures: 4, Errors: 2, Skipped: 1}, x.junitXMLCounts, "known or not")
	require.Contains(t, x.Suites[3].Cases[3].Failure.Text, "known: old")
}

// TestJUnitFails: JUnit's failures are the cells that --fail-on counts, and its errors those that make the exit code 2.
func TestJUnitFails(t *testing.T) {
	counts := func(on event.FailOn, newOnly bool, allow int) junitXMLCounts {
		r := sample() // with 2 miscompiled cells, 2 changed ones of which 1 is known, 2 optimised, 2 unknown, 1 unsupported
		r.FailOn, r.AllowUnknown = on, allow
		return parseJUnit(t, r, newOnly).junitXMLCounts
	}
	require.Equal(t, junitXMLCounts{10, 2, 2, 1}, counts("", false, 0))
	require.Equal(t, junitXMLCounts{10, 2, 2, 1}, counts(event.FailNew, false, 1))
	require.Equal(t, junitXMLCounts{10, 2, 0, 3}, counts(event.FailNever, false, 2))
	require.Equal(t, junitXMLCounts{10, 2, 2, 1}, counts(event.FailMiscompiled, false, 0))
	require.Equal(t, junitXMLCounts{10, 4, 2, 1}, counts(event.FailChanged, false, 0))
	require.Equal(t, junitXMLCounts{10, 3, 2, 2}, counts(event.FailChanged, true, 0))
	require.Equal(t, junitXMLCounts{10, 6, 2, 1}, counts(event.FailOptimised, false, 0))
	require.Equal(t, junitXMLCounts{10, 0, 2, 1}, counts(event.FailUnknown, false, 0))

	r := sample()
	for i := range r.Cells {
		if r.Cells[i].Class == event.Miscompiled || r.Cells[i].Class == event.Unknown {
			r.Cells[i].Known = []string{"seen"}
		}
	}
	require.Equal(t, junitXMLCounts{10, 0, 0, 5}, parseJUnit(t, r, false).junitXMLCounts, "what is known fails nothing")
	r.FailOn = event.FailMiscompiled
	require.Equal(t, junitXMLCounts{10, 2, 0, 3}, parseJUnit(t, r, false).junitXMLCounts)
}

// TestJUnitLimits: a preserved cell says what it is not about.
func TestJUnitLimits(t *testing.T) {
	r := sample()
	i := slices.IndexFunc(r.Cells, func(c event.Cell) bool { return c.Class == event.Preserved })
	r.Cells[i].Reason = "nothing in it synchronises or is strong"
	var said []string
	for _, s := range parseJUnit(t, r, false).Suites {
		for _, c := range s.Cases {
			if strings.Contains(c.Out, "preserved, but: "+r.Cells[i].Reason) {
				said = append(said, s.Name+" "+c.Name)
			}
		}
	}
	require.Equal(t, []string{r.Cells[i].Toolchain + " " + r.Cells[i].Target + " " + r.Cells[i].Test + " " + r.Cells[i].Level + " " + r.Cells[i].Layout}, said)
}

// TestJUnitIncomplete: missing cells and runs without cells are errors.
func TestJUnitIncomplete(t *testing.T) {
	r := sample()
	r.Stats.Interrupted = true
	r.Problems = append(r.Problems, event.Problem{Kind: "infrastructure", Detail: "disk full"})
	x := parseJUnit(t, r, true)
	last := x.Suites[len(x.Suites)-1]
	require.Equal(t, "optcheck", last.Name)
	require.Contains(t, last.Cases[0].Error.Message, "interrupted")
	require.Equal(t, "infrastructure: disk full", last.SystemErr)
	require.Equal(t, 1, parseJUnit(t, event.NewRun(), false).Errors)
}

// TestJUnitDevice: forbidden outcomes are failures, runs that hang errors.
func TestJUnitDevice(t *testing.T) {
	x := parseJUnit(t, device(), false)
	require.Equal(t, junitXMLCounts{Tests: 4, Failures: 1, Errors: 1, Skipped: 1}, x.junitXMLCounts)
	require.Contains(t, x.Suites[0].Cases[1].Failure.Message, "forbidden")
}

// TestJUnitHostile: valid XML for any text, and names stay apart.
func TestJUnitHostile(t *testing.T) {
	r := sample()
	cell := r.Cells[0]
	r.Cells = nil
	for _, name := range hostile {
		cell.Test = name
		r.Cells = append(r.Cells, cell)
	}
	r.Config.Cells = len(r.Cells)
	names := map[string]bool{}
	for _, c := range parseJUnit(t, r, true).Suites[0].Cases {
		require.Less(t, len(c.Name), 400)
		require.False(t, c.Name != plain.Line(c.Name), "%q", c.Name)
		names[c.Name] = true
	}
	require.Len(t, names, len(hostile))
	rapid.Check(t, func(t *rapid.T) { parseJUnit(t, genHostile().Draw(t, "run"), rapid.Bool().Draw(t, "new only")) })
}
