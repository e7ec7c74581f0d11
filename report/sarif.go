package report

import (
	"bufio"
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"io"
	"path"
	"strings"

	"github.com/owenrumney/go-sarif/v3/pkg/report/v210/sarif"

	"optcheck/event"
	"optcheck/internal/plain"
	"optcheck/optcheck"
)

// Limits of a SARIF file: code scanning services refuse more results.
const (
	maxResults = 25_000
	maxMessage = 4 << 10
)

// sarifFingerprint names the fingerprint of results. It changes when the way
// in which it is computed does.
const sarifFingerprint = "optcheckFinding/v2"

// githubFingerprint is the only one that GitHub looks at. It would be made from
// the text of the line if it were missing; but a line of a litmus test holds
// accesses of several threads.
const githubFingerprint = "primaryLocationLineHash"

// The bases of the paths in a SARIF file.
const (
	sourceRoot = "%SRCROOT%"
	ownTests   = "OPTCHECK_TESTS"
)

// WriteSARIF writes the findings of a run as SARIF 2.1.0: one run, a result for
// each finding (see Group), with all cells that show it in its properties. Its rule
// and location are those of the first broken rule; the message and related locations
// have the others. Findings of miscompiled cells are errors, of changed and unknown
// cells warnings, of optimised cells notes. Known findings are suppressed;
// reason, if not nil, says why one of an ID is known. Files of tests are
// relative to where the audit ran; the text of tests without a file is in the
// list of artifacts.
func WriteSARIF(w io.Writer, r *event.Run, reason func(id string) string) error {
	s := &sarifWriter{run: r, reason: reason, from: newSources(r), artifact: map[string]int{}, rule: map[string]int{}, out: sarif.NewRun()}
	s.head()
	list := alertsOf(r)
	for i, a := range list {
		if i == maxResults {
			s.notify(sarif.LevelError, fmt.Sprintf("%d of %s %s left out: a file holds at most %d, the worst are in it", len(list)-i,
				plain.Count(len(list), "result"), plain.Form(len(list)-i, "is", "are"), maxResults))
			break
		}
		s.result(a)
	}
	return writeSARIF(w, sarif.NewReport().AddRun(s.out))
}

// writeSARIF writes a document without what says nothing: the library writes
// every list of the format, and numbers that mean that there is none.
func writeSARIF(w io.Writer, doc *sarif.Report) error {
	data, err := json.Marshal(doc)
	if err != nil {
		return fmt.Errorf("sarif: %w", err)
	}
	d := json.NewDecoder(bytes.NewReader(data))
	d.UseNumber()
	var tree any
	if err := d.Decode(&tree); err != nil {
		return fmt.Errorf("sarif: %w", err)
	}
	b := bufio.NewWriter(w)
	enc := json.NewEncoder(b)
	enc.SetEscapeHTML(false)
	enc.SetIndent("", " ")
	if err := enc.Encode(prune(tree)); err != nil {
		return fmt.Errorf("sarif: %w", err)
	}
	return b.Flush()
}

// prune drops empty lists and objects and the number -1, which is the default
// wherever the format has it. A run without results has an empty list of them,
// and what is in properties is ours.
func prune(v any) any {
	switch v := v.(type) {
	case map[string]any:
		for k, x := range v {
			if k == "properties" || k == "partialFingerprints" {
				continue
			}
			x = prune(x)
			v[k] = x
			if list, ok := x.([]any); ok && len(list) == 0 && k != "results" || x == json.Number("-1") {
				delete(v, k)
			} else if object, ok := x.(map[string]any); ok && len(object) == 0 {
				delete(v, k)
			}
		}
		if p, ok := v["properties"].(map[string]any); ok && len(p) == 0 {
			delete(v, "properties")
		}
	case []any:
		for i := range v {
			v[i] = prune(v[i])
		}
	}
	return v
}

type sarifWriter struct {
	run      *event.Run
	reason   func(string) string
	from     *sources
	out      *sarif.Run
	invoked  *sarif.Invocation
	artifact map[string]int // index by path
	rule     map[string]int // index by ID
}

// head writes what holds of the whole run.
func (s *sarifWriter) head() {
	driver := sarif.NewToolComponent().WithName("optcheck").WithVersion(s.run.Config.Tool).
		WithShortDescription(text("checks whether GPU compilers keep litmus tests as they were written"))
	s.out.WithTool(sarif.NewTool().WithDriver(driver)).WithColumnKind("unicodeCodePoints")
	for _, r := range append(optcheck.Rules[:len(optcheck.Rules):len(optcheck.Rules)], ownRules...) {
		if r.Breakable() {
			s.addRule(r)
		}
	}
	s.out.OriginalUriBaseIds = map[string]sarif.ArtifactLocation{
		sourceRoot: *sarif.NewArtifactLocation().WithDescription(message("the folder in which the audit ran")),
		ownTests:   *sarif.NewArtifactLocation().WithDescription(message("tests without a file: optcheck brings them along or generates them")),
	}
	why := s.run.Undone()
	s.invoked = sarif.NewInvocation().WithExecutionSuccessful(why == "")
	s.out.AddInvocation(s.invoked)
	if why != "" {
		s.notify(sarif.LevelError, why)
	}
	for _, p := range s.run.Problems {
		s.notify(sarif.LevelWarning, p.String())
	}
	for _, l := range limitsOf(s.run) {
		s.notify(sarif.LevelNote, l)
	}
	c := &s.run.Config
	s.out.Properties = sarif.NewPropertyBag().Add("tests", c.Tests).Add("cells", s.run.Len()).Add("classes", s.run.Classes()).
		Add("toolchains", c.Toolchains).Add("targets", c.Targets).Add("levels", c.Levels).Add("layouts", c.Layouts)
}

func (s *sarifWriter) notify(level, what string) {
	s.invoked.ToolExecutionNotifications = append(s.invoked.ToolExecutionNotifications,
		sarif.NewNotification().WithLevel(level).WithMessage(message(what)))
}

// addRule adds a rule and returns its index.
func (s *sarifWriter) addRule(r *optcheck.Rule) int {
	help := strings.ReplaceAll(r.Explain, "\n", " ")
	if help == "" {
		help = r.Title
	}
	d := sarif.NewReportingDescriptor().WithID(r.ID).WithName(camel(r.ID)).
		WithShortDescription(text(r.Title)).WithFullDescription(text(beginning(help))).WithHelp(text(help)).
		WithDefaultConfiguration(sarif.NewReportingConfiguration().WithLevel(sarif.LevelWarning))
	d.Properties = sarif.NewPropertyBag().Add("problem.severity", "warning").WithTags([]string{"compiler", "concurrency", "memory-model"})
	s.rule[r.ID] = len(s.out.Tool.Driver.Rules)
	s.out.Tool.Driver.Rules = append(s.out.Tool.Driver.Rules, d)
	return s.rule[r.ID]
}

// maxDescription is what GitHub shows of a rule's description.
const maxDescription = 1024

// beginning cuts a text to the sentences that fit into a description.
func beginning(s string) string {
	if len(s) <= maxDescription {
		return s
	}
	if i := strings.LastIndex(s[:maxDescription], ". "); i > 0 {
		return s[:i+1]
	}
	return plain.Clip(s, maxDescription)
}

// camel turns fence-weakened into FenceWeakened.
func camel(id string) string {
	var b strings.Builder
	for _, part := range strings.Split(id, "-") {
		if part != "" {
			b.WriteString(strings.ToUpper(part[:1]) + part[1:])
		}
	}
	return b.String()
}

func text(s string) *sarif.MultiformatMessageString {
	return sarif.NewMultiformatMessageString().WithText(s)
}

func message(s string) *sarif.Message { return sarif.NewTextMessage(plain.Clip(s, maxMessage)) }

// result adds a result.
func (s *sarifWriter) result(a *alert) {
	id := plain.Clip(plain.Line(a.Rule), plain.MaxName)
	index, ok := s.rule[id]
	if !ok {
		index = s.addRule(alertRule(id))
	}
	res := sarif.NewRuleResult(id).WithRuleIndex(index).WithLevel(sarifLevel(a.class)).WithMessage(message(a.title() + ": " + strings.Join(append([]string{a.text()}, a.flights()...), "\n")))
	res.Kind = "fail"
	fp := a.fingerprint()
	res.PartialFingerprints = map[string]string{sarifFingerprint: fp, githubFingerprint: fp + ":1"}
	res.AddLocation(s.location(a))
	for _, f := range a.further() {
		other := *a
		other.Finding = f
		res.RelatedLocations = append(res.RelatedLocations, s.location(&other).WithMessage(message(f.Rule+": "+f.Detail)))
	}
	s.flow(res, a)
	for _, k := range a.known() {
		why := "known finding " + k
		if s.reason != nil {
			if r := s.reason(k); r != "" {
				why += ": " + r
			}
		}
		res.AddSuppression(sarif.NewSuppression().WithKind("external").WithStatus("accepted").WithJustification(plain.Clip(why, maxMessage)))
	}
	bag := sarif.NewPropertyBag().Add("class", a.class).Add("test", plain.Label(a.test)).Add("testHash", a.hash)
	if len(a.cells) > 0 {
		bag.Add("cells", Places(a.cells)).Add("cellCount", len(a.cells))
		if t, c, ok := s.from.found(a); ok {
			if at := Address(t, &c); at != "" {
				bag.Add("finding", plain.Clip(plain.Line(at), maxMessage))
				if a.Executed {
					bag.Add("replay", plain.Clip(plain.Line(ShellLine("optcheck", "replay", at)), maxMessage))
				}
			}
		}
	}
	if a.Stage != "" {
		bag.Add("stage", a.Stage)
	}
	if len(a.reasons) > 0 {
		bag.Add("reasons", a.reasons)
	}
	if v := a.verdict(); v != nil {
		bag.Add("model", v.Model)
		if v.Race != "" {
			bag.Add("race", v.Race)
		}
		if len(v.New) > 0 {
			bag.Add("newOutcomes", v.New)
		}
		if len(v.Lost) > 0 {
			bag.Add("lostOutcomes", v.Lost)
		}
		if v.Check != "" {
			bag.Add("check", v.Check).Add("cycle", v.Cycle)
		}
		if len(v.Events) > 0 {
			bag.Add("cycleEvents", v.Events)
		}
	}
	res.WithProperties(bag)
	s.out.AddResult(res)
}

// sarifLevel returns the level of a class.
func sarifLevel(class string) string {
	switch weight(class) {
	case 3:
		return sarif.LevelError
	case 1:
		return sarif.LevelNote
	}
	return sarif.LevelWarning
}

// fingerprint identifies an alert from run to run: by the test's name, what was
// found where in the test, and whether it is known. Lines, machine code, releases
// of the tool and of compilers are not in it.
func (a *alert) fingerprint() string {
	h := sha256.New()
	fmt.Fprintf(h, "%q %q %q", a.test, a.class, a.Rule)
	if len(a.cells) > 0 {
		fmt.Fprintf(h, " %q %q", a.cells[0].Signature(), a.known())
	}
	return hex.EncodeToString(h.Sum(nil)[:16])
}

// flow adds the way of a wrong content through the machine code, each instruction at the line that it was made of.
func (s *sarifWriter) flow(res *sarif.Result, a *alert) {
	steps := a.Flight.Steps()
	if len(steps) == 0 {
		return
	}
	flow := sarif.NewThreadFlow()
	for i := range steps {
		x, p := &steps[i], s.from.place(a)
		if t := s.from.test(a); x.Of > 0 && t != nil && t.Origin == "" {
			p.line, p.column, p.text = x.Of, 1, x.Source
		}
		text := strings.Join(append([]string{x.String()}, x.Says...), "; ")
		flow.AddLocation(sarif.NewThreadFlowLocation().WithLocation(s.at(a, p).WithMessage(message(plain.Line(text)))))
	}
	res.AddCodeFlow(sarif.NewCodeFlow().AddThreadFlow(flow))
}

// languageOf is the language of a file in the words of SARIF where it has one.
func languageOf(file string) string {
	switch ext := path.Ext(file); ext {
	case ".cu":
		return "cplusplus"
	case ".ptx":
		return "ptx"
	}
	return "litmus"
}

// location returns where an alert is shown: the line of the access in the test.
func (s *sarifWriter) location(a *alert) *sarif.Location { return s.at(a, s.from.place(a)) }

func (s *sarifWriter) at(a *alert, p sourcePlace) *sarif.Location {
	base := ownTests
	if p.own {
		base = sourceRoot
	}
	at := sarif.NewArtifactLocation().WithURI(uri(p.file))
	if !strings.HasPrefix(*at.URI, "file:") {
		at.WithURIBaseID(base)
	}
	index, ok := s.artifact[p.file]
	if !ok {
		index = len(s.out.Artifacts)
		s.artifact[p.file] = index
		art := sarif.NewArtifact().WithLocation(at).WithRoles([]string{"analysisTarget"}).WithSourceLanguage(languageOf(p.file))
		if t := s.from.test(a); t != nil && !p.own {
			art.WithContents(sarif.NewArtifactContent().WithText(t.Text))
		}
		s.out.AddArtifact(art)
	}
	region := sarif.NewRegion().WithStartLine(p.line).WithStartColumn(p.column).WithEndLine(p.line)
	if p.text != "" {
		region.WithSnippet(sarif.NewArtifactContent().WithText(p.text))
	}
	here := *at
	loc := sarif.NewLocation().WithPhysicalLocation(sarif.NewPhysicalLocation().
		WithArtifactLocation(here.WithIndex(index)).WithRegion(region))
	switch {
	case a.about != nil && a.about.Dialect == event.Program:
		loc.AddLogicalLocation(sarif.NewLogicalLocation().WithName(a.about.Kernel()).WithFullyQualifiedName(plain.Label(a.test)).WithKind("function"))
	case a.Thread >= 0:
		loc.AddLogicalLocation(sarif.NewLogicalLocation().WithName(fmt.Sprintf("T%d", a.Thread)).
			WithFullyQualifiedName(fmt.Sprintf("%s/T%d", plain.Label(a.test), a.Thread)).WithKind("function"))
	}
	return loc
}
