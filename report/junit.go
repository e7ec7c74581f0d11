package report

import (
	"bufio"
	"cmp"
	"encoding/xml"
	"fmt"
	"io"
	"strings"

	"optcheck/event"
	"optcheck/internal/plain"
)

// maxBody bounds the text of one case.
const maxBody = 8 << 10

// junitCase is one case: a cell, or a run on a device.
type junitCase struct {
	name, file string
	seconds    float64 // 0 is not known
	// outcome is "failure", "error" or "skipped", "" if the case is good; kind
	// and message belong to it, body says more.
	outcome, kind, message, body string
}

// junitSuite is a list of cases; at makes one of them.
type junitSuite struct {
	name       string
	properties [][2]string
	cases      []func() junitCase
	problems   []string
	counts     junitCounts
}

// add adds a case and counts it by its outcome.
func (s *junitSuite) add(outcome string, make func() junitCase) {
	s.cases = append(s.cases, make)
	s.counts.tests++
	switch outcome {
	case "failure":
		s.counts.failures++
	case "error":
		s.counts.errors++
	case "skipped":
		s.counts.skipped++
	}
}

// WriteJUnit writes a run as JUnit XML. A suite is a toolchain and a target, a
// case a test, level and layout. Failures are the cells that FailOn counts (with FailNever, those of
// FailNew), so that a server that reads them says what the exit code says; a known finding among them is
// skipped. What was found in another cell stands in its output. Cells that could not be decided are errors
// unless that is accepted, unsupported ones are skipped. With newOnly, known findings are skipped whatever
// FailOn says. Of runs on devices a suite is a device and a target, a case a test and a setting. If cells
// are missing, one more suite has an error.
func WriteJUnit(w io.Writer, r *event.Run, newOnly bool) error {
	j := &junitWriter{b: bufio.NewWriterSize(w, 1<<16)}
	suites := append(cellSuites(r, newJUnitRule(r, newOnly)), deviceSuites(r)...)
	suites = append(suites, runSuite(r, suites)...)
	var total junitCounts
	for i := range suites {
		total.add(suites[i].counts)
	}
	fmt.Fprint(j.b, xml.Header)
	j.open("testsuites", append([][2]string{{"name", "optcheck"}}, total.attributes()...)...)
	for i := range suites {
		j.suite(&suites[i])
	}
	j.close("testsuites")
	return j.b.Flush()
}

// cellSuites groups the cells by toolchain and target.
func cellSuites(r *event.Run, rule junitRule) []junitSuite {
	from := newSources(r)
	builds := map[string]string{}
	for _, t := range r.Config.Toolchains {
		builds[t.ID] = t.Build
	}
	at := map[[2]string]int{}
	var list []junitSuite
	for i, c := range r.All() {
		k := [2]string{c.Toolchain, c.Target}
		n, ok := at[k]
		if !ok {
			n = len(list)
			at[k] = n
			list = append(list, junitSuite{name: c.Toolchain + " " + c.Target,
				properties: [][2]string{{"toolchain", c.Toolchain}, {"build", builds[c.Toolchain]}, {"target", c.Target}}})
		}
		list[n].add(rule.outcome(c), func() junitCase {
			c := r.At(i)
			return cellCase(&c, from, rule)
		})
	}
	for _, p := range r.Problems {
		if n, ok := at[[2]string{p.Toolchain, p.Target}]; ok {
			list[n].problems = append(list[n].problems, p.String())
		}
	}
	return list
}

// junitRule is what makes a cell a failure.
type junitRule struct {
	on       event.FailOn
	newOnly  bool
	accepted bool // that cells are undecided
}

func newJUnitRule(r *event.Run, newOnly bool) junitRule {
	on := r.FailOn
	if on == "" || on == event.FailNever {
		on = event.FailNew
	}
	return junitRule{on, newOnly, r.Undecided() == ""}
}

// outcome is what a cell is in JUnit's words, "" if it is good.
func (j junitRule) outcome(c *event.Cell) string {
	known := len(c.Known) > 0
	switch {
	case c.Class == event.Preserved, c.HasFindings() && !j.on.Names(c.Class):
		return ""
	case c.Class == event.Unsupported, known && j.newOnly, c.Class == event.Unknown && (known || j.accepted):
		return "skipped"
	case !c.HasFindings() || len(c.Findings) == 0:
		return "error"
	case j.on.Counts(c):
		return "failure"
	}
	return "skipped" // a known finding
}

func cellCase(c *event.Cell, from *sources, rule junitRule) junitCase {
	j := junitCase{name: fmt.Sprintf("%s %s %s", plain.Label(c.Test), c.Level, c.Layout), kind: c.Class}
	about := &event.Test{Name: c.Test}
	if t := from.tests[[2]string{c.Test, c.Hash}]; t != nil {
		j.file, about = cmp.Or(t.Origin, t.File), t
	}
	var b strings.Builder
	for i, f := range c.Findings {
		line := sentence(about, &f)
		if i == 0 {
			j.message = line
		}
		fmt.Fprintln(&b, line)
		for _, line := range f.Flight.Text() {
			fmt.Fprintln(&b, "  "+plain.Line(line))
		}
	}
	if c.Verdict != nil && len(c.Findings) > 0 {
		WriteVerdict(&b, c.Verdict)
	}
	if len(c.Known) > 0 {
		fmt.Fprintf(&b, "known: %s\n", strings.Join(c.Known, ", "))
	}
	if c.Class == event.Preserved && c.Reason != "" {
		fmt.Fprintf(&b, "preserved, but: %s\n", plain.Line(c.Reason))
	}
	j.body = b.String()
	j.outcome = rule.outcome(c)
	switch {
	case j.outcome == "skipped" && len(c.Known) > 0:
		j.message = "known: " + strings.Join(c.Known, ", ")
	case j.outcome == "skipped" || j.outcome == "error":
		if j.message, j.body = c.Reason, ""; j.message == "" {
			j.message = c.Class + " without a reason"
		}
	case j.outcome == "failure" && len(c.Findings) > 1:
		j.message += fmt.Sprintf(" (and %s)", plain.Count(len(c.Findings)-1, "more finding"))
	}
	return j
}

// deviceSuites groups runs by device, toolchain and target.
func deviceSuites(r *event.Run) []junitSuite {
	at := map[[4]string]int{}
	var list []junitSuite
	for i := range r.Histograms {
		h := &r.Histograms[i]
		k := [4]string{h.Device.ID, h.Device.Name, h.Toolchain, h.Target}
		n, ok := at[k]
		if !ok {
			n = len(list)
			at[k] = n
			list = append(list, junitSuite{name: strings.Join(strings.Fields(strings.Join([]string{h.Device.Name,
				h.Toolchain, h.Target}, " ")), " "),
				properties: [][2]string{{"device", h.Device.Name}, {"driver", h.Device.Driver}, {"toolchain", h.Toolchain}, {"target", h.Target}}})
		}
		list[n].add(deviceCase(h).outcome, func() junitCase { return deviceCase(h) })
	}
	return list
}

func deviceCase(h *event.Histogram) junitCase {
	j := junitCase{name: plain.Label(h.Test) + " " + h.Setting, seconds: h.Seconds, kind: h.Status}
	var b strings.Builder
	fmt.Fprintf(&b, "%s, %d weak; seed %d\n", plain.Count(h.Instances, "instance"), h.Weak, h.Seed)
	for _, o := range h.Outcomes {
		fmt.Fprintf(&b, "%12d  %s %s\n", o.Count, h.StateText(o), o.Effect)
		if j.outcome == "" && (o.ByHardware() || o.ByCompiler()) {
			j.outcome, j.kind, j.message = "failure", ruleForbidden, h.StateText(o)+" "+o.Effect
			if o.ByCompiler() {
				j.kind = ruleCompiled
			}
		}
	}
	j.body = b.String()
	switch {
	case j.outcome != "":
	case failed(h):
		j.outcome, j.message = "error", h.Status+": "+firstOf(h.Detail)
	case h.Instances == 0:
		j.outcome, j.message, j.body = "skipped", strings.TrimSuffix(h.Status+": "+firstOf(h.Detail), ": "), ""
	}
	return j
}

// runSuite returns the suite of what concerns the run as a whole: nothing, if it is
// complete and without problems of its own.
func runSuite(r *event.Run, others []junitSuite) []junitSuite {
	said := 0
	for i := range others {
		said += len(others[i].problems)
	}
	s := junitSuite{name: "optcheck"}
	if said < len(r.Problems) {
		names := map[string]bool{}
		for i := range others {
			names[others[i].name] = true
		}
		for _, p := range r.Problems {
			if !names[p.Toolchain+" "+p.Target] {
				s.problems = append(s.problems, p.String())
			}
		}
	}
	why := cmp.Or(r.Broken(), r.Incomplete())
	if why == "" && r.Len()+len(r.Histograms) == 0 {
		why = "the run has no cells"
	}
	if why == "" && len(s.problems) == 0 {
		return nil
	}
	c := junitCase{name: "the run is complete"}
	if why != "" {
		c.outcome, c.kind, c.message = "error", "incomplete", why
	}
	s.add(c.outcome, func() junitCase { return c })
	return []junitSuite{s}
}

// junitCounts are the numbers of cases by outcome.
type junitCounts struct{ tests, failures, errors, skipped int }

func (n *junitCounts) add(o junitCounts) {
	n.tests += o.tests
	n.failures += o.failures
	n.errors += o.errors
	n.skipped += o.skipped
}

func (n *junitCounts) attributes() [][2]string {
	return [][2]string{{"tests", fmt.Sprint(n.tests)}, {"failures", fmt.Sprint(n.failures)}, {"errors", fmt.Sprint(n.errors)},
		{"skipped", fmt.Sprint(n.skipped)}}
}

// junitWriter writes XML. Errors of writing come out of Flush.
type junitWriter struct{ b *bufio.Writer }

func (j *junitWriter) suite(s *junitSuite) {
	name := plain.Label(s.name)
	j.open("testsuite", append([][2]string{{"name", name}}, s.counts.attributes()...)...)
	if len(s.properties) > 0 {
		j.open("properties")
		for _, p := range s.properties {
			j.empty("property", [2]string{"name", p[0]}, [2]string{"value", p[1]})
		}
		j.close("properties")
	}
	for _, make := range s.cases {
		j.testCase(name, make())
	}
	if len(s.problems) > 0 {
		j.element("system-err", strings.Join(s.problems, "\n"))
	}
	j.close("testsuite")
}

func (j *junitWriter) testCase(suite string, c junitCase) {
	attrs := [][2]string{{"classname", suite}, {"name", c.name}}
	if c.file != "" {
		attrs = append(attrs, [2]string{"file", c.file})
	}
	if c.seconds > 0 {
		attrs = append(attrs, [2]string{"time", fmt.Sprintf("%.3f", c.seconds)})
	}
	if c.outcome == "" && c.body == "" {
		j.empty("testcase", attrs...)
		return
	}
	j.open("testcase", attrs...)
	switch {
	case c.outcome == "":
		j.element("system-out", c.body)
	case c.outcome == "skipped":
		j.empty("skipped", [2]string{"message", c.message})
		if c.body != "" {
			j.element("system-out", c.body)
		}
	default:
		j.element(c.outcome, c.body, [2]string{"type", c.kind}, [2]string{"message", c.message})
	}
	j.close("testcase")
}

func (j *junitWriter) tag(name, end string, attrs [][2]string) {
	fmt.Fprintf(j.b, "<%s", name)
	for _, a := range attrs {
		fmt.Fprintf(j.b, ` %s="`, a[0])
		_ = xml.EscapeText(j.b, []byte(plain.Clip(plain.Line(a[1]), maxMessage))) // the writer keeps its error
		fmt.Fprint(j.b, `"`)
	}
	fmt.Fprint(j.b, end)
}

func (j *junitWriter) open(name string, attrs ...[2]string)  { j.tag(name, ">\n", attrs) }
func (j *junitWriter) empty(name string, attrs ...[2]string) { j.tag(name, "/>\n", attrs) }
func (j *junitWriter) close(name string)                     { fmt.Fprintf(j.b, "</%s>\n", name) }

func (j *junitWriter) element(name, text string, attrs ...[2]string) {
	j.tag(name, ">", attrs)
	lines := strings.Split(plain.Clip(strings.TrimSuffix(text, "\n"), maxBody), "\n")
	for i, l := range lines {
		if i > 0 {
			fmt.Fprintln(j.b)
		}
		_ = xml.EscapeText(j.b, []byte(plain.Line(l)))
	}
	j.close(name)
}
